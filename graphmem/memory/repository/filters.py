"""Filters for a list of memories, and named orders to sort the list by."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from graphmem.errors import BadInputError
from graphmem.knowledge import MemoryRow
from graphmem.memory.repository.fields import refuse, type_of
from graphmem.memory.texts.types import LIVE_STATUSES, SEEDED, SOURCES, STATUSES, TRAPS


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryQuery:
    """A filter on memories. All given fields must match.

    A field with a list of values matches if any of the values does.
    """

    types: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()  # default: the live ones (candidate, confirmed, pinned)
    tags: tuple[str, ...] = ()  # any of these
    files: tuple[str, ...] = ()  # about one of these files or files below these directories, or about a symbol in one
    symbols: tuple[str, ...] = ()  # about one of these nodes, by id
    session: str = ""  # learnt in this session
    origin: str = ""
    scope: str = ""
    visibility: str = ""
    text: str = ""  # all of these words occur, in any order, case-insensitive
    min_confidence: float = 0.0
    needs_review: bool | None = None
    disputed: bool | None = None
    contaminated: bool | None = None
    user_verified: bool | None = None
    as_of: str = ""  # ISO 8601: the memories believed at that time, including superseded ones

    @classmethod
    def of(cls, value: MemoryQuery | Mapping[str, Any] | None) -> MemoryQuery:
        """Build a filter on memories from a mapping of field names to values.

        Raises:
            BadInputError: a field name or a value is unknown.
        """
        if isinstance(value, MemoryQuery):
            return value
        known = {one.name for one in fields(cls)}
        given = dict(value or {})
        if unknown := sorted(set(given) - known):
            raise refuse(
                "filter", f"the filter of memories has the unknown field {unknown[0]!r}; use {', '.join(sorted(known))}", value=unknown[0]
            )
        lists = {name for name in known if isinstance(getattr(cls(), name), tuple)}
        plain: dict[str, Any] = {}
        for name, one in given.items():
            if one is not None:
                plain[name] = tuple([one] if isinstance(one, str) else one) if name in lists else one
        query = cls(**plain)
        for name, words, allowed in (("sources", query.sources, SOURCES), ("statuses", query.statuses, STATUSES)):
            for word in words:
                if word not in allowed:
                    raise refuse(
                        f"filter.{name}",
                        f"{name} in the filter of memories has the unknown value {word!r}; use one of {', '.join(allowed)}",
                        value=word,
                    )
        return replace(query, types=tuple(type_of(one, "") for one in query.types))

    def accepts(self, row: MemoryRow) -> bool:
        """Return whether a memory passes all filters that need only `row`.

        The filters `files`, `symbols`, `session` and `as_of` need further data. They are ignored here; the module `read` checks them.
        """
        return (
            (not self.types or row.type in self.types)
            and (not self.sources or row.source in self.sources)
            and ((bool(self.as_of) and not self.statuses) or row.status in (self.statuses or LIVE_STATUSES))
            and (not self.tags or not set(self.tags).isdisjoint(row.tags))
            and (not self.origin or row.origin == self.origin)
            and (not self.scope or row.scope == self.scope)
            and (not self.visibility or row.visibility == self.visibility)
            and (not self.text or self._has_words(row))
            and row.confidence >= self.min_confidence
            and self.needs_review in (None, row.needs_review)
            and self.disputed in (None, row.disputed)
            and self.contaminated in (None, row.contaminated)
            and self.user_verified in (None, row.user_verified)
        )

    def _has_words(self, row: MemoryRow) -> bool:
        """Whether each word of the filter occurs in a memory, in any order."""
        told = f"{row.title}\n{row.content}".casefold()
        return all(word in told for word in self.text.casefold().split())


def worth(row: MemoryRow) -> float:
    """Return how useful a memory is to a newcomer.

    The usefulness is trust × confidence × (1 + ln(1 + number of uses and confirmations)).
    """
    return SOURCES[row.source].trust * row.confidence * (1 + math.log1p(row.used_count + row.confirmed_count))


_FIRST: Final = TRAPS | {"decision"}  # types that a newcomer reads first

# Name -> (key, largest first); ties by id. "worth" puts pinned memories first, then warnings and decisions. In it and in "newest",
# seeded ones come last: an index run writes them all at once, so that they would hide what was learnt.
SORTS: Final[dict[str, tuple[Callable[[MemoryRow], Any], bool]]] = {
    "newest": (lambda row: (row.source != SEEDED, row.created_at), True),
    "oldest": (lambda row: row.created_at, False),
    "updated": (lambda row: row.updated_at, True),
    "importance": (lambda row: row.importance, True),
    "confidence": (lambda row: row.confidence, True),
    "strength": (lambda row: row.strength, True),
    "used": (lambda row: row.used_count, True),
    "worth": (lambda row: (row.status == "pinned", row.source != SEEDED, row.type in _FIRST, worth(row)), True),
}


def ordered(rows: list[MemoryRow], sort: str) -> list[MemoryRow]:
    """Sort memories by a named order, such as "newest"; ties by id.

    Raises:
        BadInputError: the order is unknown.
    """
    if sort not in SORTS:
        raise BadInputError(f"unknown order {sort!r} of memories; use one of {', '.join(SORTS)}", argument="sort", value=sort)
    key, reverse = SORTS[sort]
    return sorted(sorted(rows, key=lambda row: row.id), key=key, reverse=reverse)
