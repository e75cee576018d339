"""Write the text of hovers and code lenses in an editor."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from graphmem.runtime.texts.safe_text import inert

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.answers import SymbolInfo
    from graphmem.answers.hover import Hover
    from graphmem.answers.outline import OutlineEntry

SHOWN: Final = 3  # names of a list


def hover_text(found: Hover) -> str:
    """Return a symbol's signature, callers, tests and memories as Markdown.

    Files that often change together with the symbol's file are listed, too.
    """
    one = found.symbol
    if one is None:
        return ""
    signature = one.signature or f"{one.kind} {shown_name(one) or one.name or one.path}"
    lines = ["\n".join(["```", inert(signature).replace("```", ""), "```"])]
    if found.doc:
        lines += [_plain(found.doc.strip().partition("\n\n")[0])]
    lines += _list("caller", distinct_names(found.callers), found.caller_count)
    lines += _list("caller", distinct_names(found.implementation_callers), found.implementation_caller_count, " of an implementation")
    lines += _list("user", distinct_names(found.users), found.user_count)
    kind = "implementation" if found.is_abstract or one.kind == "interface" else "override" if one.kind == "method" else "subclass"
    lines += _list(kind, distinct_names(found.implementations), found.implementation_count)
    lines += _list("test", distinct_names(found.tests), found.test_count)
    if found.test_helpers and not found.test_count:
        lines += [f"No test uses it directly; test code does: {_names(distinct_names(found.test_helpers))}"]
    for memory in found.known.memories:
        doubt = f" ({memory.doubt})" if memory.doubt else ""
        lines += [f"**{memory.type}** {_plain(memory.content)}{_plain(doubt)}"]
    moves = [hit.path for hit in found.moves_along]
    if moves:
        lines += [f"Changes along with {_names(moves)}"]
    if found.is_stale:
        lines += ["_The file changed since it was indexed._"]
    return "\n\n".join(lines)


def lens_title(entry: OutlineEntry) -> str:
    """Return the counts of a symbol, such as `12 callers · 3 tests · 1 trap`.

    A trap is a memory that warns of a mistake. Any other memory is counted as a note. Counts of 0 are left out.
    """
    counts = (
        (entry.callers, "caller"),
        (entry.users, "user"),
        (entry.tests, "test"),
        (entry.traps, "trap"),
        (entry.memories - entry.traps, "note"),
    )
    return " · ".join(f"{count:,} {noun}{'s' * (count != 1)}" for count, noun in counts if count)


def shown_name(symbol: SymbolInfo) -> str:
    """Return a symbol's name for a list; a whole file has its path."""
    return symbol.path if symbol.kind == "module" or not symbol.qualname else symbol.qualname


def distinct_names(symbols: Sequence[SymbolInfo]) -> list[str]:
    """Return a name for each symbol, with its file if the name says little.

    Equal names get the shortest end of the path that differs: `GET (users/route.ts)`. A symbol that stands for a file has its path.
    """
    names = [shown_name(one) for one in symbols]
    repeated = {name for name, count in Counter(names).items() if count > 1}
    return [
        f"{name} ({_end_of_path(one.path, [two.path for two, other in zip(symbols, names, strict=True) if other == name])})"
        if name in repeated and one.path
        else name
        for one, name in zip(symbols, names, strict=True)
    ]


def _end_of_path(path: str, paths: Sequence[str]) -> str:
    """Return the shortest end of a path that no other path of `paths` has."""
    parts = path.split("/")
    others = [one for one in paths if one != path]
    ends = ("/".join(parts[-count:]) for count in range(1, len(parts) + 1))
    return next((end for end in ends if not any(one == end or one.endswith("/" + end) for one in others)), path)


def _list(noun: str, names: Sequence[str], count: int, rest: str = "") -> list[str]:
    if not count:
        return []
    more = f" and {count - len(names):,} more" if count > len(names) else ""
    plural = "" if count == 1 else "es" if noun.endswith("s") else "s"
    return [f"{count:,} {noun}{plural}{rest}: {_names(names)}{more}"]


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"`{inert(one).replace('`', '')}`" for one in names)


def _plain(text: str) -> str:
    """Escape a string, so that Markdown shows no markup, links or images."""
    escaped = inert(" ".join(text.split()))
    for sign in "\\`*_[]<>!#|":
        escaped = escaped.replace(sign, f"\\{sign}")
    return escaped.replace("://", ":\u200b//")
