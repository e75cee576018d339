"""Project-specific synonyms that expand a query."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from graphmem.projection.words.text import normalise

Aliases = Mapping[str, Sequence[str]]  # term -> its synonyms; one direction

NO_ALIASES: Final[Aliases] = MappingProxyType({})


def expand(query: str, aliases: Aliases) -> tuple[str, list[str]]:
    """Return a query with synonyms appended, and one note for each term used.

    `aliases` maps a term to its synonyms. A term is found in the query as whole words, whatever their case and punctuation. Synonyms that
    the query has already are not appended. Synonyms are not expanded again.
    """
    if not aliases:
        return query, []
    words = f" {normalise(query)} "
    added: list[str] = []
    notes: list[str] = []
    for term in sorted(aliases):
        wanted = normalise(term)
        if wanted and re.search(f" {re.escape(wanted)} ", words):
            fresh = [one for one in aliases[term] if f" {normalise(one)} " not in words]
            if fresh:
                added += fresh
                notes.append(f"{term} also means {', '.join(fresh)}")
    return " ".join([query, *added]), notes
