"""Texts of hovers and code lenses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.runtime.safe_text import inert

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.answers import CoAccessHit, SymbolDetail
    from graphmem.answers.outline import OutlineEntry

SHOWN: Final = 3  # names of a list


def hover_text(found: SymbolDetail, moves: Sequence[CoAccessHit]) -> str:
    """Return the Markdown text that an editor shows for a symbol.

    It has the signature, callers, tests, memories and related files.
    """
    one = found.symbol
    signature = one.signature or f"{one.kind} {one.qualname or one.name or one.path}"
    lines = ["```", inert(signature).replace("```", ""), "```"]
    if found.doc:
        lines += [_plain(found.doc.strip().partition("\n\n")[0])]
    tests = {site.symbol.id for site in found.tests}
    callers = [
        site.symbol.qualname or site.symbol.path for site in found.callers if site.symbol.id not in tests and not site.symbol.is_test
    ]
    lines += _list("callers", callers, "callers" in found.cut)
    lines += _list("tests", [site.symbol.qualname or site.symbol.path for site in found.tests], "tests" in found.cut)
    for memory in found.known.memories:
        doubt = f" ({memory.doubt})" if memory.doubt else ""
        lines += [f"**{memory.type}** {_plain(memory.content)}{_plain(doubt)}"]
    lines += _list("changes along", [hit.path for hit in moves])
    return "\n\n".join(["\n".join(lines[:3]), *lines[3:]])


def lens_title(entry: OutlineEntry) -> str:
    """Return the title of a code lens: `12 callers · 3 tests · 1 trap`."""
    counts = ((entry.callers, "caller"), (entry.tests, "test"), (entry.traps, "trap"), (entry.memories - entry.traps, "note"))
    return " · ".join(f"{count:,} {noun}{'s' * (count != 1)}" for count, noun in counts if count)


def _list(title: str, names: Sequence[str], cut: bool = False) -> list[str]:
    if not names:
        return []
    unique = list(dict.fromkeys(names))
    more = f" and {len(unique) - SHOWN:,} more" if len(unique) > SHOWN else ""
    return [f"{len(unique):,}{' or more' * cut} {title}: " + ", ".join(f"`{inert(one).replace('`', '')}`" for one in unique[:SHOWN]) + more]


def _plain(text: str) -> str:
    """Return a text without the markup, links and images of Markdown."""
    escaped = inert(" ".join(text.split()))
    for sign in "\\`*_[]<>!#|":
        escaped = escaped.replace(sign, f"\\{sign}")
    return escaped.replace("://", ":\u200b//")
