"""Find the metaclass of a Python class.

Code for Python 2 and 3 gives the metaclass with `six`: `@add_metaclass(M)` and `class A(with_metaclass(M, Base))`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import CALL, TermIndex
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.terms import last_name
from graphmem.resolution.values.types import CLASS

if TYPE_CHECKING:
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference

_ADDING: Final = "add_metaclass"
"""Name of the decorator that gives a class a metaclass."""

_WITH: Final = "with_metaclass"
"""Name of the function that returns a base with a metaclass."""


def metaclasses(inference: Inference, symbol: Symbol) -> list[Symbol]:
    """Return the metaclass of a class, in a list.

    The first class in the method resolution order that declares a metaclass decides. The list is empty if no class declares one, or if the
    metaclass is external.
    """
    for candidate in inference.mro(symbol):
        if not isinstance(candidate, Symbol):
            continue
        entry = inference.project.entry(candidate)
        definition = entry.definitions[candidate.index]
        for term in _declared(entry, candidate):
            atoms = inference.expanded(inference.term(entry, definition.parent, term, definition.start_line))
            return sorted((atom[1] for atom in atoms if atom[0] == CLASS), key=lambda s: s.place)
    return []


def run_on_definition(inference: Inference, symbol: Symbol) -> list[Symbol]:
    """Return the functions of the project that get a class when it is defined.

    These are `__new__` and `__init__` of the metaclass, and `__init_subclass__` of a base class.
    """
    found: list[Symbol] = []
    for metaclass in metaclasses(inference, symbol):
        for name in ("__new__", "__init__"):
            owner = inference.owner(metaclass, name)
            if isinstance(owner, Symbol):
                found += inference.functions(owner, name)
    owner = inference.owner(symbol, "__init_subclass__", after=symbol)
    if isinstance(owner, Symbol):
        found += inference.functions(owner, "__init_subclass__")
    return found


def _declared(entry: FileEntry, symbol: Symbol) -> Iterator[TermIndex]:
    """Yield the expressions by which a class itself declares its metaclass."""
    definition = entry.definitions[symbol.index]
    yield from (term for keyword, term in definition.bases if keyword == "metaclass")
    for name, terms in ((_ADDING, definition.decorators), (_WITH, [term for keyword, term in definition.bases if not keyword])):
        for term in terms:
            yield from _arguments(entry, term, name)[:1]


def written_bases(entry: FileEntry, term: TermIndex) -> Sequence[TermIndex]:
    """Return the bases in `with_metaclass(M, A, B)`; empty for another base."""
    return _arguments(entry, term, _WITH)[1:]


def _arguments(entry: FileEntry, term: TermIndex, name: str) -> Sequence[TermIndex]:
    """Return the arguments of the decorator or base `name(…)`; else empty."""
    found = entry.terms[term]
    if found[0] != CALL or last_name(entry.terms[found[1]]) != name:
        return ()
    _, _, arguments, _ = found
    return arguments
