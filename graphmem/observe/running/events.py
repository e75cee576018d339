"""Check the events that agents report; an invalid event gives a reason.

An event is for example a tool call or a message. Agents and their hooks are other people's programs. They send duplicates, late and
unordered events, wrong times, and texts of ten megabytes. Each problem is counted under a key of `REASONS` and shown to the caller. The
functions of this module do not raise errors for invalid input, and never block the agent.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from graphmem.observe.counts.guard import stripped
from graphmem.observe.model import EVENT_KINDS, Event
from graphmem.runtime.texts.private_passages import all_without_private, without_private

TEXT_BYTES: Final = 4_096  # of a message or a tool's output, in UTF-8
STRIPPED_CHARACTERS: Final = 65_536  # of a message that is searched for injected memories, which are far shorter
ARGUMENT_CHARACTERS: Final = 16_384  # of one argument; only counts and hashes of edited texts are kept
ARGUMENTS: Final = 64  # in one event, and values in one list
ID_CHARACTERS: Final = 200
TOOL_CHARACTERS: Final = 100
MAX_BATCH: Final = 10_000  # events of one call of `observe`
AHEAD: Final = timedelta(minutes=5)  # clock difference that is accepted
EARLIEST: Final = datetime(2000, 1, 1, tzinfo=UTC)
MAX_STEP: Final = 1 << 31

REASONS: Final[dict[str, str]] = {
    "no_session": "names no session",
    "unknown_kind": "is of an unknown kind",
    "not_an_event": "is not an object, or has a field of the wrong type",
    "duplicate": "is a duplicate of an earlier event",
    "flood": "is over the limit of events of one session",
    "over_batch": "is over the limit of one call",
    "too_many_sessions": "belongs to a session over the limit of open sessions",
    "after_end": "came after its session's end; the session continues under a new id",
    "late": "came after events of later steps; accepted",
    "future": "had a time in the future; accepted with the current time",
    "clock_back": "had a time before the event before it; accepted with that event's time",
    "text_cut": "had a message or output over 4 KiB; cut and accepted",
    "args_cut": "had arguments too long or too many; cut and accepted",
}

_NAMES: Final = {"sessionId": "session_id", "session": "session_id", "time": "at", "timestamp": "at", "type": "kind"}


class Checked(NamedTuple):
    """The result of checking one reported event.

    `event` is None if the event was refused. `reasons` say why it was refused or what was changed.
    """

    event: Event | None
    reasons: tuple[str, ...]  # keys of REASONS
    mark: int  # hash of the input: equal for duplicates
    timed: bool  # it had a time


def checked(raw: object, now: datetime, session_id: str = "") -> Checked:
    """Validate one reported event and cut its values to the allowed size.

    Args:
        raw: a mapping with the fields of `Event`; camel-case names such as `sessionId` are accepted too.
        now: current time of this machine.
        session_id: the session of an event that does not name one.

    Returns:
        The event with all values within limits, or None if it is refused; and reasons, which say what was changed or why the event was
            refused. An event without a step number has step -1.
    """
    if isinstance(raw, Event):
        raw = raw._asdict()
    if not isinstance(raw, Mapping):
        return Checked(None, ("not_an_event",), 0, False)
    given = {_NAMES.get(name, name): value for name, value in raw.items() if isinstance(name, str)}
    session = given.get("session_id") or session_id
    if not isinstance(session, str) or not session.strip() or len(session) > ID_CHARACTERS:
        return Checked(None, ("no_session",), 0, False)
    kind = given.get("kind")
    if kind not in EVENT_KINDS:
        return Checked(None, ("unknown_kind",), 0, False)
    try:
        step, at, ok, tokens = _step(given.get("step")), _moment(given.get("at")), _truth(given.get("ok")), _count(given.get("tokens"))
    except (TypeError, ValueError, OverflowError):
        return Checked(None, ("not_an_event",), 0, False)
    reasons: list[str] = []
    text, tool, args = given.get("text"), given.get("tool"), given.get("args")
    text = "" if text is None else text if isinstance(text, str) else _as_text(text)
    tool = tool[:TOOL_CHARACTERS] if isinstance(tool, str) else ""
    if isinstance(args, str):
        args = _parsed(args)
    text = without_private(text)  # before any cut, which could remove an end tag
    whole = len(text)
    text = stripped(text) if whole <= STRIPPED_CHARACTERS else text  # injected memory text is not evidence; see observe.guard
    text, was_cut = _cut_text(text, both_ends=kind in ("tool_result", "failure"))
    if was_cut:
        reasons.append("text_cut")
        if tokens is None and kind == "tool_result":
            tokens = whole // 4  # text that is cut away cost tokens as well
    plain: dict[str, Any] = {}
    if isinstance(args, Mapping) and args:
        plain, cut = _plain_args(all_without_private(dict(args)))
        if cut:
            reasons.append("args_cut")
    if at is not None and at > now + AHEAD:
        reasons.append("future")
        at = now
    event = Event(session.strip(), step, at or now, str(kind), tool, plain, ok, text, tokens)
    return Checked(event, tuple(reasons), _mark(event, whole, given.get("at")), at is not None)


def in_order(events: Iterable[Checked]) -> list[Checked]:
    """Sort the events of each session by step, and drop refused events.

    Only events of the same session exchange positions with each other. For example, A2 B1 A1 becomes A1 B1 A2. An event without a step
    number stays after its session's preceding event.
    """
    came = [one for one in events if one.event is not None]
    keyed: dict[str, list[tuple[int, int]]] = {}
    for place, one in enumerate(came):
        session, step = (one.event.session_id, one.event.step) if one.event is not None else ("", -1)
        own = keyed.setdefault(session, [])
        own.append((step if step >= 0 else own[-1][0] if own else -1, place))
    ordered = {session: iter(sorted(own)) for session, own in keyed.items()}
    return [came[next(ordered[one.event.session_id])[1]] for one in came if one.event is not None]


def _mark(event: Event, whole: int, at: object) -> int:
    """Return a hash of an event, by which duplicates are recognised.

    The hash covers session, step, kind, tool, outcome, text and arguments. It also covers `whole`, the length of the uncut text, and `at`,
    the time as reported.
    """
    seen = hashlib.blake2b(digest_size=8)
    seen.update(
        f"{event.session_id}\x1f{event.step}\x1f{event.kind}\x1f{event.tool}\x1f{at}\x1f{event.ok}\x1f{whole}\x1f".encode(
            "utf-8", "replace"
        )
    )
    seen.update(event.text.encode("utf-8", "replace"))
    for name, value in event.args.items():
        seen.update(f"\x1f{name}={value}".encode("utf-8", "replace"))
    return int.from_bytes(seen.digest(), "big") >> 1  # fits a signed 64-bit number


def _cut_text(text: str, *, both_ends: bool) -> tuple[str, bool]:
    """Cut a string to TEXT_BYTES of UTF-8; return it and whether it was cut.

    With `both_ends`, the beginning and the end are kept, because tools usually print the subject first and the error last. Otherwise only
    the beginning is kept.
    """
    if len(text) <= TEXT_BYTES // 4 or (len(text) <= TEXT_BYTES and text.isascii()):
        return text, False
    encoded = text[: TEXT_BYTES * 4].encode("utf-8", "replace") if not both_ends else b""
    if not both_ends:
        if len(text) <= TEXT_BYTES and len(encoded) <= TEXT_BYTES:
            return text, False
        return encoded[:TEXT_BYTES].decode("utf-8", "ignore"), True
    if len(text) <= TEXT_BYTES and len(text.encode("utf-8", "replace")) <= TEXT_BYTES:
        return text, False
    half = TEXT_BYTES // 2 - 4
    head = text[:half].encode("utf-8", "replace")[:half].decode("utf-8", "ignore")
    tail = text[-half:].encode("utf-8", "replace")[-half:].decode("utf-8", "ignore")
    return f"{head}\n…\n{tail}", True


def _plain_args(args: Mapping[object, object]) -> tuple[dict[str, Any], bool]:
    """Return (a tool's arguments as plain values, whether anything was cut).

    Strings, lists and mappings are cut to a limited size. Values nested more than two levels deep are dropped.
    """
    plain: dict[str, Any] = {}
    cut = len(args) > ARGUMENTS
    for name, value in list(args.items())[:ARGUMENTS] if cut else args.items():
        if isinstance(value, str) and len(value) <= ARGUMENT_CHARACTERS:
            plain[str(name)[:TOOL_CHARACTERS]] = value
        else:
            plain[str(name)[:TOOL_CHARACTERS]], shortened = _bounded(value, 2)
            cut = cut or shortened
    return plain, cut


def _bounded(value: object, depth: int) -> tuple[object, bool]:
    if isinstance(value, str):
        return value[:ARGUMENT_CHARACTERS], len(value) > ARGUMENT_CHARACTERS
    if value is None or isinstance(value, (bool, int)):
        return (value, False) if not isinstance(value, int) or abs(value) < 1 << 62 else (0, True)
    if isinstance(value, float):
        return (value, False) if math.isfinite(value) else (None, True)
    if depth > 0 and isinstance(value, (list, tuple)):
        inner = [_bounded(one, depth - 1) for one in value[:ARGUMENTS]]
        return [one for one, _ in inner], len(value) > ARGUMENTS or any(cut for _, cut in inner)
    if depth > 0 and isinstance(value, Mapping):
        named = {str(name)[:TOOL_CHARACTERS]: _bounded(one, depth - 1) for name, one in list(value.items())[:ARGUMENTS]}
        return {name: one for name, (one, _) in named.items()}, len(value) > ARGUMENTS or any(cut for _, cut in named.values())
    return None, True


def _parsed(text: str) -> object:
    """Parse a tool's arguments that arrive as JSON inside a string.

    The result is None if the string is too long or not JSON.
    """
    if len(text) > ARGUMENT_CHARACTERS * 4:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _as_text(value: object) -> str:
    """Return the strings inside a tool's structured result, one per line.

    Nested lists and mappings are searched to a limited depth.
    """
    found: list[str] = []

    def walk(one: object, depth: int) -> None:
        if len(found) > ARGUMENTS or depth > 4:
            return
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, Mapping):
            for inner in one.values():
                walk(inner, depth + 1)
        elif isinstance(one, (list, tuple)):
            for inner in one:
                walk(inner, depth + 1)

    walk(value, 0)
    return "\n".join(found)


def _step(value: object) -> int:
    if value is None:
        return -1
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise TypeError
    step = int(value)
    if not 0 <= step < MAX_STEP:
        raise ValueError
    return step


def _moment(value: object) -> datetime | None:
    """Parse a time: ISO 8601, or seconds or milliseconds since 1970.

    The result is None if `value` is None or "". A time without a time zone is UTC. An invalid value raises TypeError or ValueError.
    """
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        raise TypeError
    if isinstance(value, (int, float)):
        moment = datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
    elif isinstance(value, str):
        moment = datetime.fromisoformat(value.strip())
    elif isinstance(value, datetime):
        moment = value
    else:
        raise TypeError
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    if moment < EARLIEST:
        raise ValueError
    return moment


def _truth(value: object) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise TypeError
    return value


def _count(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1 << 40:
        raise ValueError
    return int(value)
