"""Types in comments of Ruby: `@param [Name] value`, `@return [Name]`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import ATTR, EITHER, INDEX, NAME, TermIndex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from graphmem.parsing.terms import TermBuilder

_TAG: Final = re.compile(r"@(?P<tag>param|return)\s+(?P<before>\w+\s+)?\[(?P<type>[^\]\n]+)\](?:\s+[*&]*(?P<after>\w+))?")
_CONSTANT: Final = re.compile(r"(?:::)?[A-Z]\w*(?:::[A-Z]\w*)*")
_LIST: Final = re.compile(r"(?:Array|Set|Enumerable|Enumerator)[<(](.*)[>)]")

_OF_LANGUAGE: Final = frozenset(
    {
        *("Array", "BasicObject", "Boolean", "Class", "Enumerable", "Enumerator", "FalseClass", "Fixnum", "Float", "Hash", "IO"),
        *("Integer", "Method", "Module", "NilClass", "Numeric", "Object", "Proc", "Range", "Regexp", "Set", "String", "Symbol"),
        *("Time", "TrueClass", "Void"),
    }
)
"""Types that say nothing about classes of the project."""


def declared_types(builder: TermBuilder, text: str) -> Mapping[str, TermIndex]:
    """Map parameters and "return" to the types that a comment declares."""
    found: dict[str, TermIndex] = {}
    for match in _TAG.finditer(text) if "[" in text and "@" in text else ():
        name = "return" if match["tag"] == "return" else (match["before"] or match["after"] or "").strip()
        terms = list(_types(builder, match["type"])) if name and name not in found else []
        if terms:
            found[name] = terms[0] if len(terms) == 1 else builder.add((EITHER, tuple(terms)))
    return found


def _types(builder: TermBuilder, text: str) -> Iterator[TermIndex]:
    """Yield an expression for each type in a list such as `A, Array<B>, nil`.

    Types of Ruby itself, such as `nil` and `String`, are left out. A collection such as `Set<B>` becomes `Array[B]`.
    """
    for part in _parts(text):
        inside = _LIST.fullmatch(part)
        if inside is not None:
            for term in _types(builder, inside[1]):
                yield builder.add((INDEX, builder.add((NAME, "Array")), term))
        elif part not in _OF_LANGUAGE and _CONSTANT.fullmatch(part):
            first, *others = part.removeprefix("::").split("::")
            term = builder.add((NAME, f"::{first}" if part.startswith("::") else first))
            for name in others:
                term = builder.add((ATTR, term, name))
            yield term


def _parts(text: str) -> Iterator[str]:
    """Split a type into its alternatives at commas and `|` outside brackets."""
    depth, start = 0, 0
    for position, sign in enumerate(text):
        depth += (sign in "<({") - (sign in ">)}")
        if sign in ",|" and depth == 0:
            yield text[start:position].strip()
            start = position + 1
    yield text[start:].strip()
