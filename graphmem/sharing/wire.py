"""Format of an operation on a shared memory, as machines exchange it.

An operation has the new values of the fields that its author changed in one memory. An operation also has the ids of the operations whose
values it replaces. So a reader can distinguish a later change from a concurrent one. Operations come from other machines, so `decoded`
checks every field.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

import orjson

from graphmem.memory.repository.fields import moment, text
from graphmem.memory.repository.validate import CONTENT_CHARACTERS
from graphmem.memory.texts.text import TITLE_CHARACTERS
from graphmem.memory.texts.types import COUNTS, LABELS, ORIGINS, RELATIONS, ROLES, SCOPES, SOURCES, STATUSES, TYPES, VISIBILITIES

VERSION: Final = 1
_SKIPPED: Final = "graphmem skips this change, so you need not do anything"
MAX_BYTES: Final = 1 << 20  # of one operation
MAX_PARTS: Final = 10_000  # ids or elements in one operation
_REQUIRED: Final = ("id", "device", "hlc", "person", "at", "memory")
_NAME: Final = 4_000  # characters of a name, an id or a title


class Write(NamedTuple):
    """A new value that a change gives to one field of a memory."""

    value: Any
    seen: tuple[str, ...] = ()  # operations that wrote the values it replaces
    auto: bool = False  # no person decided it
    over: tuple[str, ...] = ()  # of `status`: operations that wrote the text that the author saw


class Op(NamedTuple):
    """A change of one memory by one author, as machines exchange it."""

    id: str
    device: str
    hlc: int  # hybrid logical clock: microseconds, never behind an operation that the device has seen
    person: str
    at: str  # time of the change on the author's machine, ISO 8601
    memory: str
    set: Mapping[str, Write] = {}
    counts: Mapping[str, int] = {}  # what is added to each counter
    add: tuple[str, ...] = ()  # elements: tags, links to code, relations
    drop: Mapping[str, tuple[str, ...]] = {}  # element -> the operations whose addition is taken back
    is_new: bool = False  # the author made the memory; counters then begin at `counts`
    forget: tuple[str, ...] | None = None  # erased for good; holds the operations that wrote the erased text
    revive: tuple[str, ...] = ()  # `forget` operations that it takes back
    upto: int = 0  # last number of the shared log that the author had read
    of: str = ""  # the operation that wrote this text first; its author stays the author


class UnreadableOpError(ValueError):
    """Error: a change from another machine has a missing or invalid field."""


class NewerOpError(Exception):
    """Error: a change from another machine was written by a newer graphmem."""


def encoded(op: Op) -> bytes:
    """Encode a change of a memory as bytes, without empty fields."""
    parts = {name: value for name, value in op._asdict().items() if name in _REQUIRED or value}
    parts["set"] = {name: list(write) for name, write in op.set.items()}
    if op.forget is not None:
        parts["forget"] = list(op.forget)
    return orjson.dumps({"v": VERSION, **parts})


def decoded(data: bytes) -> Op:
    """Decode the bytes of a change of a memory, and check each field.

    Raises:
        NewerOpError: a newer graphmem wrote the change.
        UnreadableOpError: a field is missing or invalid.
    """
    if len(data) > MAX_BYTES:
        raise UnreadableOpError(f"a change in the team's database has {len(data):,} bytes, which is too large; {_SKIPPED}")
    try:
        found = orjson.loads(data)
        if not isinstance(found, dict):
            raise UnreadableOpError(f"a change in the team's database is not a JSON object; {_SKIPPED}")
        if isinstance(found.get("v"), int) and found["v"] > VERSION:
            raise NewerOpError
        op = Op(
            id=_id(found["id"]),
            device=_text(found["device"]),
            hlc=_whole(found["hlc"]),
            person=_text(found["person"]),
            at=_time(found["at"]),
            memory=_text(found["memory"]),
            set={name: _write(name, value) for name, value in dict(found.get("set") or {}).items()},
            counts={_one_of(COUNTS)(name): _whole(value) for name, value in dict(found.get("counts") or {}).items()},
            add=tuple(map(element, found.get("add") or ())),
            drop={element(name): _ids(ids) for name, ids in dict(found.get("drop") or {}).items()},
            is_new=found.get("is_new") is True,
            forget=_ids(found["forget"]) if "forget" in found else None,
            revive=_ids(found.get("revive") or ()),
            upto=_whole(found.get("upto") or 0),
            of=_id(found["of"]) if found.get("of") else "",
        )
    except (KeyError, TypeError, ValueError, orjson.JSONDecodeError) as error:
        raise UnreadableOpError(str(error)) from error
    if not op.memory:
        raise UnreadableOpError(f"a change in the team's database names no memory; {_SKIPPED}")
    if max(len(op.add), len(op.drop)) > MAX_PARTS:
        raise UnreadableOpError(f"a change in the team's database has more than {MAX_PARTS} tags and links; {_SKIPPED}")
    return op


def element(given: Any) -> str:
    """Check a tag, link or relation of a memory; return its standard spelling.

    `given` and the result are JSON arrays: `["tag", name]`, `["about", label, role, name]` or `["relates", memory id, kind, confidence,
    automatic]`.
    """
    parts = orjson.loads(given)
    match parts:
        case ["tag", str(name)] if 0 < len(name) <= _NAME:
            pass
        case ["about", str(label), str(role), str(name)] if label in LABELS and role in ROLES and 0 < len(name) <= _NAME:
            pass
        case ["relates", str(to), str(kind), int() | float() as sure, bool()] if to and kind in RELATIONS and 0 <= sure <= 1:
            pass
        case _:
            raise ValueError(f"a change in the team's database must add a tag, link or relation of a memory, not {given!r:.80}; {_SKIPPED}")
    return spelled(*parts)


def spelled(*parts: object) -> str:
    """Return the JSON of a tag, link or relation, such as `["tag", "slow"]`."""
    return orjson.dumps(parts).decode()


# ---- fields


def _text(value: object, most: int = _NAME) -> str:
    if not isinstance(value, str) or len(value) > most:
        raise ValueError(
            f"a change of a memory from another machine is invalid: the value {value!r:.60} must be a string of at most {most} "
            f"characters; {_SKIPPED}"
        )
    return value


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 62:
        raise ValueError(
            f"a change of a memory from another machine is invalid: the value {value!r:.60} must be a whole number of 0 or more; {_SKIPPED}"
        )
    return value


def _time(value: object) -> str:
    if datetime.fromisoformat(_text(value)).tzinfo is None:
        raise ValueError(f"a change of a memory from another machine is invalid: the time {value!r} has no time zone; {_SKIPPED}")
    moment("time", value)  # the database of each machine has the same range
    return str(value)


def _maybe(check: Callable[[object], object]) -> Callable[[object], object]:
    return lambda value: None if value is None else check(value)


def _one_of(allowed: Any) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in allowed:
            raise ValueError(
                f"a change of a memory from another machine is invalid: the value {value!r:.60} must be one of "
                f"{', '.join(allowed)}; {_SKIPPED}"
            )
        return value

    return check


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise ValueError(
            f"a change of a memory from another machine is invalid: the value {value!r:.60} must be a number from 0 to 1; {_SKIPPED}"
        )
    return float(value)


def _days(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value <= 0:
        raise ValueError(
            f"a change of a memory from another machine is invalid: the value {value!r:.60} must be a positive number of days; {_SKIPPED}"
        )
    return float(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"a change of a memory from another machine is invalid: the value {value!r:.60} must be true or false; {_SKIPPED}")
    return value


def _object(value: object) -> str:
    if not isinstance(orjson.loads(_text(value, MAX_BYTES)), dict):
        raise ValueError(
            f"a change of a memory from another machine is invalid: its fields `work_unit` and `details` must be JSON objects; {_SKIPPED}"
        )
    return str(value)


def _words(value: Any) -> list[Any]:
    content, since = value
    return [text("content", content, CONTENT_CHARACTERS), _time(since)]


def _title(value: object) -> str:
    return text("title", value, TITLE_CHARACTERS, lines=False)


def _status(value: Any) -> list[Any]:
    name, until, deprecated = value
    return [_one_of(STATUSES)(name), _maybe(_time)(until), _maybe(_time)(deprecated)]


FIELDS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "text": _words,  # [content, valid_from]
    "title": _maybe(_title),  # None: the first sentence of the content
    "status": _status,  # [status, valid_to, deprecated_at]
    "type": _one_of(TYPES),
    "source": _one_of(SOURCES),
    "scope": _one_of([one for one in SCOPES if one != "user"]),
    "visibility": _one_of([one for one in VISIBILITIES if one != "personal"]),
    "origin": _one_of(ORIGINS),
    "confidence": _share,
    "importance": _share,
    "needs_review": _flag,
    "user_verified": _flag,
    "disputed": _flag,
    "contaminated": _flag,
    "created_at": _time,
    "updated_at": _time,
    "last_accessed_at": _maybe(_time),
    "half_life_days": _maybe(_days),
    "commit_sha": _maybe(_text),
    "work_unit": _maybe(_object),
    "details": _maybe(_object),
}


def _write(name: str, given: Any) -> Write:
    value, seen, auto, over = given
    return Write(None if value is None and name == "text" else FIELDS[name](value), _ids(seen), _flag(auto), _ids(over))


def _id(value: object) -> str:
    return str(uuid.UUID(_text(value)))


def _ids(values: object) -> tuple[str, ...]:
    if not isinstance(values, (list, tuple)) or len(values) > MAX_PARTS:
        raise ValueError(
            f"a change of a memory from another machine is invalid: each of its lists of earlier changes must have at most {MAX_PARTS} "
            f"ids; {_SKIPPED}"
        )
    return tuple(map(_id, values))
