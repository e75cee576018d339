"""Parse SCIP symbols and compare them with names in sources.

A symbol is `scheme manager package version descriptors`, or `local id`. The descriptors are the path to a definition: `namespace/`,
`type#`, `term.`, `meta:`, `macro!`, `method(disambiguator).`, `[type parameter]` and `(parameter)`. Indexers write some names differently
from the source. The function `spells` knows these differences.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from graphmem.runtime.data.tables import read_table

LONGEST: Final = 1_000  # maximum characters of a symbol to parse, from its end; real names are shorter
NAMESPACE, TYPE, META, METHOD, LOCAL = "/", "#", ":", "()", "local"
_HEADER: Final = re.compile(4 * r"((?:[^ ]|  )*+) ")  # scheme, manager, package and version; spaces inside are doubled
_NAME: Final = r"(?:`(?P<quoted{0}>(?:[^`]|``)*+)`|(?P<plain{0}>[^\s`/#.:!()\[\]]++))"
_DESCRIPTOR: Final = re.compile(
    rf"{_NAME.format(1)}(?P<suffix>\([^()]*+\)\.|[/#.:!])|\[{_NAME.format(2)}\]|\({_NAME.format(3)}\)",
)
_LAST: Final = re.compile(r"(?:(?<!`)`((?:[^`]|``)++)`|(?<![\w$+-])([\w$+-]++))(\([^()]*+\)\.|[#.:!/])$")
_ACCESSOR: Final = re.compile(r"(?:<(?:get|set)>|(?:get|set)_)(.+)|(?:get|set|is)([A-Z].*)")
_MARKS: Final = "'\"`@:#&$"  # of quoted keys, Ruby's symbols and variables, private names, PHP's variables


@dataclass(frozen=True, slots=True)
class ScipNames:
    """The content of `grammars/scip.toml`, which explains the keys."""

    constructors: frozenset[str]
    constructor_words: frozenset[str]
    modules: frozenset[str]


_NAMES: Final = read_table("scip.toml", ScipNames)


class Symbol(NamedTuple):
    """The name of a SCIP symbol, and the name of the owner of the symbol.

    For example, the method `close` of the class `File` has the owner `File`.
    """

    name: str  # "" if it has none
    suffix: str  # NAMESPACE, TYPE, META, METHOD, LOCAL, or "." "!" "[]" "(parameter)"; "" if it cannot be parsed
    owner: str  # name of the previous descriptor
    owner_symbol: str  # the symbol without its last descriptor; "" if it cannot be parsed

    @property
    def is_constructor(self) -> bool:
        """Whether the SCIP symbol is the constructor of a type."""
        return self.suffix == METHOD and self.owner_symbol.endswith(TYPE) and (self.name in _NAMES.constructors or self.name == self.owner)

    @property
    def is_module(self) -> bool:
        """Whether a SCIP symbol stands for a file, a package or a namespace.

        Source code refers to such a symbol by its path, or not at all.
        """
        return self.suffix == NAMESPACE or (self.suffix == META and self.name in _NAMES.modules)


def parsed(symbol: str) -> Symbol:
    """Return the name in a SCIP symbol, and the name of its owner.

    The names are the last two parts (descriptors) of the symbol. The owner is, for example, the class of a method.
    """
    return _parsed(symbol) if len(symbol) <= LONGEST else _tail(symbol[-LONGEST:])


@lru_cache(maxsize=1 << 16)
def _parsed(symbol: str) -> Symbol:
    if symbol.startswith("local "):
        return Symbol("", LOCAL, "", "")
    header = _HEADER.match(symbol)
    at, last, before = header.end() if header else len(symbol), None, None
    while (found := _DESCRIPTOR.match(symbol, at)) is not None:
        before, last, at = last, found, found.end()
    if header is None or last is None or at != len(symbol):
        return _tail(symbol)
    return Symbol(_name(last), _suffix(last), _name(before) if before is not None else "", symbol[: last.start()])


def _tail(symbol: str) -> Symbol:
    """Return the last name of a malformed SCIP symbol, and its kind.

    The owner in the result is always "". If the symbol has no name at its end, the name and the kind are "", too.
    """
    found = _LAST.search(symbol)
    if found is None:
        return Symbol("", "", "", "")
    return Symbol((found[1] or found[2]).replace("``", "`"), METHOD if found[3][0] == "(" else found[3], "", "")


def _name(found: re.Match[str]) -> str:
    quoted = found["quoted1"] or found["quoted2"] or found["quoted3"]
    return quoted.replace("``", "`") if quoted else found["plain1"] or found["plain2"] or found["plain3"] or ""


def _suffix(found: re.Match[str]) -> str:
    suffix = found["suffix"]
    if suffix is None:
        return "[]" if found[0][0] == "[" else "(parameter)"
    return METHOD if suffix[0] == "(" else str(suffix)


class Parts(NamedTuple):
    """The parts of a global SCIP symbol, which other files can refer to."""

    scheme: str
    package: str  # without its manager and its version
    namespace: str  # the first descriptor, if it is a namespace
    rest: str  # the remaining descriptors


@lru_cache(maxsize=1 << 16)
def split(symbol: str) -> Parts | None:
    """Split a SCIP symbol into its parts.

    The result is None if the symbol is local, does not match the grammar, or has no namespace first.
    """
    header = _HEADER.match(symbol) if len(symbol) <= LONGEST and not symbol.startswith("local ") else None
    first = _DESCRIPTOR.match(symbol, header.end()) if header is not None else None
    if header is None or first is None or first["suffix"] != NAMESPACE:
        return None
    return Parts(header[1], header[3], _name(first), symbol[first.end() :])


def bare(text: str) -> str:
    """Return a name without quotes or marks, such as `a` for `'a'` or `#a`.

    Some languages write quotes or marks around a name.
    """
    return text.strip(_MARKS)


def spells(symbol: Symbol, text: str) -> bool:
    """Whether the word `text` of a source file is the name of a SCIP symbol.

    Indexers write some names differently from the source:

    - `name0` and `name1` stand for properties `name` of object literals.
    - `<init>` and `.ctor` stand for constructors.
    - `<get>area` and `getArea` stand for accessors of the property `area`.
    - `operator+` stands for the operator `+`.
    """
    name = symbol.name
    if text == name:
        return True
    written = bare(text)
    if written and written in (name, bare(name), name.rstrip("0123456789"), bare(name.rstrip("0123456789")), name.rstrip("=")):
        return True
    if symbol.is_constructor and (written == symbol.owner or written in _NAMES.constructor_words):
        return True
    if name.startswith("operator") and text:
        return name.startswith(text) or name.endswith(text)
    accessor = _ACCESSOR.fullmatch(name)
    if accessor is None:
        return False
    inner = accessor[1] or accessor[2]
    return written in (inner, inner[:1].lower() + inner[1:])
