"""Words that a project uses for one thing: a query with one of them also looks for the others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from graphmem.projection.text import normalise

Aliases = Mapping[str, Sequence[str]]  # term -> what else it stands for; one way

NO_ALIASES: Final[Aliases] = MappingProxyType({})


def expand(query: str, aliases: Aliases) -> tuple[str, list[str]]:
    """The query followed by what its terms stand for, and one sentence for each term that was expanded.

    A term is found as whole words, after normalisation, so that case and punctuation do not matter. Expansions are not expanded again.
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
                notes.append(f"{term} also stands for {', '.join(fresh)}")
    return " ".join([query, *added]), notes
