"""Lines about symbols and memories in answers to agents."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from graphmem.answers.code import calls_told
from graphmem.answers.memory import age, code_since
from graphmem.answers.search import STRUCTURE, unanswered
from graphmem.knowledge import is_held
from graphmem.mcp_server.budget import fitted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.answers import MemoryInfo, MemoryRelation, NearbyMemories, SearchAnswer, Site, SymbolInfo
    from graphmem.answers.code import KnownCalls


def place(symbol: SymbolInfo) -> str:
    """Return a symbol as `path:line name`.

    For a symbol of a used package, the result is only its name.
    """
    return f"{symbol.path}:{symbol.start_line} {symbol.qualname}" if symbol.path else symbol.qualname


def memory_lines(found: NearbyMemories, budget: int) -> str:
    """Return memories about the code of an answer as text, one line each.

    `budget` is the maximum number of tokens. The result is "" without memories.
    """
    now = datetime.now(UTC)
    rows = [
        f"- {'warning: ' * one.trap}{one.type} #{one.short_id} {age(one.created_at, now)}: {one.title}; about {one.about}"
        + (f" ({one.doubt})" if one.doubt else "")
        for one in found.memories
    ]
    if found.more:
        rows.append(f"- {found.more} more; `search` with `kinds` memory finds them")
    if found.held:
        rows.append(f"- {found.held} more wait for a person's review: text from outside")
    return fitted(["known about this code (`get` reads one):"], rows, budget, "raise `budget`") if rows else ""


def line_of(info: MemoryInfo) -> str:
    """Return a memory as one line: its title, and reasons to doubt it."""
    return "(waits for a person's review)" if is_held(info) else f"{info.title}{doubt_about(info)}"


def title_of(one: MemoryRelation) -> str:
    """Return the title of a memory that is related to another memory.

    Returns "" for a candidate, a memory that may not have been reviewed yet.
    """
    return "" if one.status == "candidate" else f" {one.title}"


def doubt_about(info: MemoryInfo) -> str:
    """Return reasons to doubt a memory, in parentheses; "" without any."""
    said = [word for word in ("text from outside" if info.contaminated else "", code_since(info)) if word]
    return f" ({'; '.join(said)})" if said else ""


def site_line(site: Site) -> str:
    """Return a use of a symbol as one line, with its confidence and rule."""
    return f"- {place(site.symbol)} {site.confidence:.2f} {site.rule}{f' in {site.cell}' if site.cell else ''}"


def missing_notes(answer: SearchAnswer) -> list[str]:
    """Return sentences about the search methods that returned no result.

    A search also looks for modules and call flows, which exist only after they were derived from the graph. If they do not exist, but
    there are other hits, the result has no sentence about them. Otherwise the sentence would cost tokens in each search.
    """
    return unanswered({name: reason for name, reason in answer.missing.items() if name not in STRUCTURE or not answer.hits})


def calls_of(rows: Sequence[KnownCalls]) -> str:
    """Return, as text, the measured share of calls that graphmem finds, or "".

    `rows` has one share for each language of the answer. The result begins with a semicolon, to be appended to a sentence. It is "" if
    `rows` is empty.
    """
    told = calls_told(rows)
    return f"; {told}" if told else ""
