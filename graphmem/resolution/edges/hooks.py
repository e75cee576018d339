"""Find the methods of a class that a library's base class calls.

The table `derived` in `frameworks.toml` lists these methods. An example is `clean_email` of a form of Django.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from graphmem.parsing.facts import CALL
from graphmem.resolution.framework_tables.framework_rows import Derived
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.terms import last_name

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
    ancestors = inference.mro(symbol)
    outside = [f"{one[1]}.{one[2]}" for one in ancestors if not isinstance(one, Symbol)]
    rows = [row for row in entry.frameworks.derived if any(fnmatchcase(name, base) for name in outside for base in row.bases)]
    for owner in ancestors if rows else ():
        if not isinstance(owner, Symbol):
            continue
        around = inference.project.entry(owner)
        inference.project.touch_members(owner)
        for name in around.names(owner.index):
            if inference.owner(symbol, name) is owner:
                yield from (one for one in inference.functions(owner, name) if any(_calls(row, around, one) for row in rows))


def _calls(row: Derived, entry: FileEntry, method: Symbol) -> bool:
    """Whether a library's base class calls a method of its subclasses.

    `row` is the table row of the base class. It lists the called methods by patterns of their names, or by their decorators.
    """
    if any(fnmatchcase(method.name, pattern) for pattern in row.members):
        return True
    terms = entry.terms
    written = [terms[index] for index in entry.definitions[method.index].decorators] if row.decorators else []
    return any(last_name(terms[one[1]] if one[0] == CALL else one) in row.decorators for one in written)
