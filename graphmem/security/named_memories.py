"""Find memory ids and visibilities in the arguments of an operation."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, cast

from graphmem.errors import ForbiddenError

Arguments = tuple[Any, ...]
Keywords = Mapping[str, Any]


def _no_names(args: Arguments, kwargs: Keywords) -> Iterable[str]:
    return ()


def _first(args: Arguments, kwargs: Keywords) -> Iterable[str]:
    return (args[0] if args else kwargs["id"],)


def _winner_and_loser(args: Arguments, kwargs: Keywords) -> Iterable[str]:
    winner, loser = (*args, *(kwargs[name] for name in ("winner", "loser") if name in kwargs), None)[:2]
    if loser is None:  # all memories that conflict with the winner, seen or not
        raise ForbiddenError(
            "the conflict cannot be resolved, because the token cannot read every memory that conflicts with the winner; "
            "pass the id of the wrong memory as `loser`",
            needs="visibility",
            verb="resolve_conflict",
        )
    return cast("tuple[str, str]", (winner, loser))


def _ids(args: Arguments, kwargs: Keywords) -> Iterable[str]:
    return cast("Iterable[str]", args[0] if args else kwargs["ids"])


def _level(args: Arguments, kwargs: Keywords) -> Iterable[str]:
    return (kwargs["visibility"],) if kwargs.get("visibility") is not None else ()


def _default_level(args: Arguments, kwargs: Keywords) -> Iterable[str]:
    return (kwargs.get("visibility") or "project",)


def _levels_of_items(args: Arguments, kwargs: Keywords) -> Iterable[str]:
    return [one.get("visibility") or "project" for one in (args[0] if args else kwargs["items"])]


def _named_by(item: Mapping[str, Any]) -> list[str]:
    """Return the ids of existing memories that a new memory refers to.

    `item` has the fields of the new memory.
    """
    return [*(item.get("derived_from") or ()), *(item.get("required_with") or ())]


def _related(args: Arguments, kwargs: Keywords) -> Iterable[str]:
    return _named_by(kwargs)


def _related_of_items(args: Arguments, kwargs: Keywords) -> Iterable[str]:
    return [one for item in (args[0] if args else kwargs["items"]) for one in _named_by(item)]


def given_ids(verb: str, args: Arguments, kwargs: Keywords) -> list[str]:
    """Return the ids that a caller chose for new memories.

    `args` and `kwargs` are the arguments of the operation `verb`. Only `remember` and `remember_many` store new memories; the result is
    empty for other operations.
    """
    return [item["id"] for item in items_of(verb, args, kwargs) if isinstance(item.get("id"), str)]


def items_of(verb: str, args: Arguments, kwargs: Keywords) -> Sequence[Mapping[str, Any]]:
    """Return the new memories in the arguments of an operation.

    `verb` is the operation's name. Only `remember` and `remember_many` store new memories; the result is empty for other operations.
    """
    return (kwargs,) if verb == "remember" else (args[0] if args else kwargs["items"]) if verb == "remember_many" else ()


def with_ids(verb: str, args: Arguments, kwargs: Keywords) -> tuple[Arguments, dict[str, object]]:
    """Return the arguments of a call, with an id for each new memory.

    Each new memory gets an id, because a memory with an id is never merged with another author's memory. An id that the caller chose is
    kept.
    """
    if verb == "remember":
        return args, {**kwargs, "id": kwargs.get("id") or str(uuid.uuid4())}
    if verb == "remember_many":
        items = [{**item, "id": item.get("id") or str(uuid.uuid4())} for item in items_of(verb, args, kwargs)]
        return (items, *args[1:]) if args else (), dict(kwargs) if args else {**kwargs, "items": items}
    return args, dict(kwargs)


def with_full_ids(verb: str, args: Arguments, kwargs: Keywords, full: Mapping[str, str]) -> tuple[Arguments, dict[str, Any]]:
    """Return the arguments of a call, with full ids of existing memories.

    A short id means another memory to a caller who sees fewer memories. So the operation, which sees all memories, gets the ids of those
    memories that the caller sees.

    Args:
        verb: name of the operation.
        args: positional arguments of the call.
        kwargs: keyword arguments of the call.
        full: maps each id in the arguments to the full id of the memory that it means to the caller.
    """
    if verb == "remember":
        return args, _with(kwargs, _RELATED, full)
    if verb == "remember_many":
        items = [_with(item, _RELATED, full) for item in items_of(verb, args, kwargs)]
        return (items, *args[1:]) if args else (), dict(kwargs) if args else {**kwargs, "items": items}
    first = 2 if verb == "resolve_conflict" else 1
    return (*(_in_full(one, full) for one in args[:first]), *args[first:]), _with(kwargs, _EXISTING, full)


_EXISTING: Final = ("id", "ids", "winner", "loser")
_RELATED: Final = ("derived_from", "required_with")
"""Arguments with ids of existing memories; `id` of a new memory is not one of them."""


def _with(fields: Keywords, names: Iterable[str], full: Mapping[str, str]) -> dict[str, Any]:
    return {name: _in_full(value, full) if name in names else value for name, value in fields.items()}


def _in_full(given: Any, full: Mapping[str, str]) -> Any:
    if given is None:
        return None
    return full[given] if isinstance(given, str) else [full[one] for one in given]


_Reads = Callable[[Arguments, Keywords], Iterable[str]]

# For each operation with sight NAMED: the memory ids in its arguments, and the visibilities it would set.
TARGETS: Final[Mapping[str, tuple[_Reads, _Reads]]] = MappingProxyType(
    {
        "remember": (_related, _default_level),
        "remember_many": (_related_of_items, _levels_of_items),
        "note_use": (_ids, _no_names),
        "update_memory": (_first, _level),
        "forget": (_first, _no_names),
        "pin": (_first, _no_names),
        "verify": (_first, _no_names),
        "dispute": (_first, _no_names),
        "resolve_conflict": (_winner_and_loser, _no_names),
    }
)
