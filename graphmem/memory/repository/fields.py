"""Validate single values of a memory."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from graphmem.errors import BadInputError
from graphmem.memory.texts.text import clipped
from graphmem.memory.texts.types import TYPE_ALIASES, TYPES, classify
from graphmem.runtime.texts.naming import in_project

if TYPE_CHECKING:
    from graphmem.embedding.base import F32

_Word = TypeVar("_Word", bound=str)
PATH_CHARACTERS: Final = 1_024

DETAILS_BYTES: Final = 16_384
MAX_DEPTH: Final = 6  # levels of nested details

EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(2200, 1, 1, tzinfo=UTC)

# C0 and C1 control characters except tab and line ends: they hide text from a reader, or end it for a parser.
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]")


def refuse(field: str, message: str, *, value: object = None) -> BadInputError:
    """Return the error for an invalid field of a memory.

    Args:
        field: name of the field.
        message: `<what is wrong>; <what to do>`; the second part becomes the field `limit` of the error.
        value: the invalid value, or a measure of it; None if the message says enough.
    """
    return BadInputError(message, argument=field, field=field, limit=message.partition("; ")[2], value=value)


def quoted(value: object) -> str:
    """Return a shortened representation of a value, for errors."""
    return clipped(repr(value), 60)


def text(field: str, value: object, most: int, *, least: int = 1, lines: bool = True) -> str:
    """Check a string of a memory for its length and control characters.

    `field` is the name of the field in errors. The string must have `least` to `most` characters. Returns the text without outer white
    space, with Unix line ends; with `lines=False`, on one line. Lone surrogates (halves of a UTF-16 pair) are refused.
    """
    if not isinstance(value, str):
        raise refuse(field, f"{field} must be a string, not of type {type(value).__name__}; pass a string", value=type(value).__name__)
    if len(value) > most:
        raise refuse(
            field,
            f"{field} is {len(value):,} characters long, and at most {most:,} are allowed; shorten it, or write several memories",
            value=len(value),
        )
    if _SURROGATE.search(value):
        raise refuse(field, f"{field} contains half of a UTF-16 surrogate pair; decode the string correctly and try again")
    if at := _CONTROL.search(value):
        raise refuse(
            field,
            f"{field} contains the control character U+{ord(at.group()):04X} at position {at.start()}; remove it and try again",
            value=at.start(),
        )
    clean: str = value.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not lines and "\n" in clean:
        clean = " ".join(clean.split())
    if len(clean) < least:
        raise refuse(field, f"{field} is empty; write {least} to {most:,} characters")
    return clean


def choice(field: str, value: object, allowed: Sequence[_Word]) -> _Word:
    """Check that a value is one of the words `allowed`; return it.

    Raises:
        BadInputError: the value is not allowed; the message names `field`.
    """
    for word in allowed:
        if word == value:
            return word
    raise refuse(field, f"{field} is {quoted(value)}; use one of {', '.join(allowed)}", value=quoted(value))


def type_of(value: object, content: str) -> str:
    """Return the memory type that `value` names, or guess it from `content`.

    `value` may be a name that another tool uses. The type is guessed if `value` is None or "".
    """
    if value is None or value == "":
        return classify(content)
    if isinstance(value, str):
        name = value.strip().lower().replace("-", "_").replace(" ", "_")
        name = TYPE_ALIASES.get(name, name)
        if name in TYPES:
            return name
    raise refuse("type", f"unknown type of memory {quoted(value)}; use one of {', '.join(TYPES)}, or omit the type", value=quoted(value))


def _is_number(value: object) -> bool:
    """Whether a value is a number that a float can hold, and no truth value."""
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an integer of more than 308 digits
        return False


def number(field: str, value: Any, low: float, high: float) -> float:
    """Check that a value is a number from `low` to `high`; return it.

    `field` is the name of the field in errors. NaN and infinity are refused.
    """
    if not _is_number(value) or not low <= value <= high:
        raise refuse(field, f"{field} is {quoted(value)}; use a number from {low:g} to {high:g}", value=quoted(value))
    return float(value)


def texts(field: str, value: object, most: int, characters: int) -> tuple[str, ...]:
    """Check a list of strings; return the distinct ones in their order.

    `field` is the name of the field, for error messages. `most` is the maximum number of strings, and `characters` the maximum length of
    each.
    """
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise refuse(
            field, f"{field} must be a list of strings, not of type {type(value).__name__}; pass a list", value=type(value).__name__
        )
    if len(value) > most:
        raise refuse(field, f"{field} has {len(value):,} entries; give at most {most}", value=len(value))
    return tuple(dict.fromkeys(text(field, one, characters, lines=False) for one in value))


def path(field: str, value: object, root: str) -> str:
    """Check the path of a file; return it relative to the project's root.

    The result has '/' as separator. An absolute path must be below the root. A path that leads out of the project is refused.
    """
    given = in_project(text(field, value, PATH_CHARACTERS, lines=False), root)
    name = given.replace("\\", "/") if _DRIVE.match(given) or ("\\" in given and "/" not in given) else given
    if name.startswith("/") or name.partition("/")[0] == "~" or _DRIVE.match(name):
        below = root.rstrip("/") + "/"
        if not root or not name.startswith(below):
            raise refuse(
                field,
                f"{field} has a path outside the project, {quoted(given)}; give the path of a file from the project's root",
                value=quoted(given),
            )
        name = name.removeprefix(below)
    parts = [part for part in PurePosixPath(name).parts if part != "."]
    if ".." in parts or not parts:
        raise refuse(
            field,
            f"{field} has a path outside the project, {quoted(given)}; give the path of a file from the project's root",
            value=quoted(given),
        )
    return "/".join(parts)


def moment(field: str, value: object) -> datetime:
    """Convert a datetime or an ISO 8601 string to a datetime in UTC.

    A string without a zone is taken as UTC. A datetime without a zone is refused.
    """
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            raise refuse(
                field, f"{field} is {quoted(value)}, not a time in ISO 8601; write for example 2026-01-31T12:00:00Z", value=quoted(value)
            ) from None
        value = value.replace(tzinfo=UTC) if value.tzinfo is None else value
    if not isinstance(value, datetime):
        raise refuse(field, f"{field} must be a time, not {quoted(value)}; pass a datetime, or a string in ISO 8601", value=quoted(value))
    if value.tzinfo is None:
        raise refuse(field, f"the time {field} has no time zone; add one, such as Z for UTC")
    if not EARLIEST <= value <= LATEST:
        raise refuse(field, f"{field} is {value.isoformat()}; use a time from {EARLIEST.year} to {LATEST.year}", value=value.isoformat())
    return value.astimezone(UTC)


def vector_of(value: object, dim: int | None) -> F32:
    """Check the vector of a memory; return it as float32.

    The vector must be finite and not zero. Its length must be `dim`, unless `dim` is None.
    """
    try:
        vector = np.asarray(value, np.float32)
    except (TypeError, ValueError):
        raise refuse(
            "vector", f"the vector of a memory must be a list of numbers, not of type {type(value).__name__}; pass the output of the model"
        ) from None
    if vector.ndim != 1 or not vector.size or (dim is not None and vector.size != dim):
        wanted = f"{dim} numbers" if dim is not None else "a list of numbers"
        raise refuse(
            "vector",
            f"the vector of a memory must be {wanted}, not of shape {vector.shape}; use a vector of the named model",
            value=vector.shape,
        )
    if not np.isfinite(vector).all() or not vector.any():
        raise refuse("vector", "the vector of a memory is zero or has NaN or infinite values; compute the vector again")
    return vector


def _step(value: object) -> bool:
    keys = {"order": int, "description": str, "file": str, "line": int}
    return isinstance(value, Mapping) and all(key in keys and isinstance(inner, keys[key]) for key, inner in value.items())


# Typed extras: the requirement in words, and its test.
EXTRA_KINDS: Final[dict[str, tuple[str, Callable[[object], bool]]]] = {
    "text": ("a string", lambda value: isinstance(value, str)),
    "number": ("a finite number", _is_number),
    "count": ("a whole number of 0 or more", lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0),
    "time": ("a time in ISO 8601", lambda value: isinstance(value, str) and moment("time", value) is not None),
    "texts": ("a list of strings", lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value)),
    "steps": ("a list of {order, description, file, line}", lambda value: isinstance(value, list) and all(map(_step, value))),
}


def details_of(value: Any, type_: str) -> str | None:
    """Check the additional fields of a memory's type; return them as JSON.

    If the type declares its fields, other field names are refused.
    """
    if value is None:
        return None
    encoded = encoded_json("details", value)
    schema = {extra.name: extra for extra in TYPES[type_].extras}
    if missing := sorted(name for name, extra in schema.items() if extra.required and name not in value):
        raise refuse("details", f"the details of a {type_} lack {', '.join(missing)}; add the missing fields", value=", ".join(missing))
    if schema and (extra := sorted(set(value) - set(schema))):
        raise refuse(
            "details",
            f"the details of a {type_} have the unknown fields {', '.join(map(quoted, extra))}; use "
            f"{', '.join(schema)}, and put the rest in the content",
            value=", ".join(extra),
        )
    for name, inner in value.items():
        if name in schema:
            words, fits = EXTRA_KINDS[schema[name].kind]
            if not fits(inner):
                raise refuse(f"details.{name}", f"details.{name} is {quoted(inner)}; use {words}", value=quoted(inner))
    return encoded


def encoded_json(field: str, value: object) -> str:
    """Check that `value` can be stored; encode it as JSON with sorted keys.

    `value` must be a small, shallow mapping, without NaN, control characters or lone surrogates. `field` is its name in errors.
    """
    if not isinstance(value, Mapping):
        raise refuse(field, f"{field} must be an object, not of type {type(value).__name__}; pass an object", value=type(value).__name__)
    _plain(field, value, MAX_DEPTH)
    encoded = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if len(encoded.encode()) > DETAILS_BYTES:
        raise refuse(
            field,
            f"{field} has {len(encoded.encode()):,} bytes of JSON, and at most {DETAILS_BYTES:,} are allowed; shorten it",
            value=len(encoded.encode()),
        )
    return encoded


def _plain(field: str, value: object, depth: int) -> None:
    if depth < 0:
        raise refuse(field, f"{field} is nested deeper than {MAX_DEPTH} levels; reduce the nesting")
    if isinstance(value, Mapping):
        for key, inner in value.items():
            text(f"{field} key", key, 100, lines=False)
            _plain(field, inner, depth - 1)
    elif isinstance(value, list):
        for inner in value:
            _plain(field, inner, depth - 1)
    elif isinstance(value, str):
        text(field, value, DETAILS_BYTES, least=0)
    elif isinstance(value, float) and not math.isfinite(value):
        raise refuse(field, f"{field} has the value {value}, which JSON cannot represent; omit it", value=str(value))
    elif value is not None and not isinstance(value, (bool, int, float)):
        raise refuse(
            field,
            f"{field} has a value of type {type(value).__name__}, which JSON cannot represent; convert it to a JSON type",
            value=type(value).__name__,
        )
