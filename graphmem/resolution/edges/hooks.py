"""Find the methods of a class that a library's base class calls.

The table `derived` in `frameworks.toml` lists methods of known libraries. An example is `clean_email` of a form of Django. A method that
calls the method of the same name on `super()` extends a method of the library, as in `def open(self): return super().open()`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from graphmem.parsing.facts import ATTR, CALL
from graphmem.resolution.framework_tables.framework_rows import Derived
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.terms import call_at, last_name

if TYPE_CHECKING:
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference


def hooks(inference: Inference, entry: FileEntry, symbol: Symbol) -> Iterator[Symbol]:
    """Yield the methods of a class that its base classes in libraries call.

    `symbol` is the class, and `entry` its file. Methods that the class has from base classes of the project are included, unless the class
    overrides them.
    """
    if not entry.frameworks.derived:
        return
    bases = [one for one in inference.mro(symbol) if not isinstance(one, Symbol)]
    outside = [f"{one[1]}.{one[2]}" for one in bases]
    rows = [row for row in entry.frameworks.derived if any(fnmatchcase(name, base) for name in outside for base in row.bases)]
    found = dict.fromkeys(_listed(inference, symbol, rows)) if rows else {}
    if any(rules_of(entry).calls_own_methods(base) for base in bases):
        found |= dict.fromkeys(_extending(inference, entry, symbol))
    yield from found


def _listed(inference: Inference, symbol: Symbol, rows: Sequence[Derived]) -> Iterator[Symbol]:
    """Yield the methods of a class that table rows of its bases list."""
    for owner in inference.mro(symbol):
        if not isinstance(owner, Symbol):
            continue
        around = inference.project.entry(owner)
        inference.project.touch_members(owner)
        for name in around.names(owner.index):
            if inference.owner(symbol, name) is owner:
                yield from (one for one in inference.functions(owner, name) if any(_calls(row, around, one) for row in rows))


def _extending(inference: Inference, entry: FileEntry, symbol: Symbol) -> Iterator[Symbol]:
    """Yield the methods of a class itself that extend a library's method.

    Such a method calls the method of the same name on `super()`, which no class of the project defines. Special methods are left out,
    because the language calls them.
    """
    for name in entry.names(symbol.index):
        methods = [one for one in inference.functions(symbol, name) if _calls_super(entry, one)] if name in entry.calls else []
        if methods and not name.startswith("__") and not isinstance(inference.owner(symbol, name, after=symbol), Symbol):
            yield from methods


def _calls(row: Derived, entry: FileEntry, method: Symbol) -> bool:
    """Whether a library's base class calls a method of its subclasses.

    `row` is the table row of the base class. It lists the called methods by patterns of their names, or by their decorators.
    """
    if any(fnmatchcase(method.name, pattern) for pattern in row.members):
        return True
    terms = entry.terms
    written = [terms[index] for index in entry.definitions[method.index].decorators] if row.decorators else []
    return any(last_name(terms[one[1]] if one[0] == CALL else one) in row.decorators for one in written)


def _calls_super(entry: FileEntry, method: Symbol) -> bool:
    """Whether a method calls the method of the same name on `super()`."""
    terms, is_super = entry.terms, rules_of(entry).is_super_call
    for position in entry.calls.get(method.name, ()):
        reference = entry.facts.references[position] if position >= 0 else None
        if reference is not None and reference.scope == method.index:
            called = terms[call_at(terms, reference.term)[1]]
            if called[0] == ATTR and is_super(entry, called[1]):
                return True
    return False
