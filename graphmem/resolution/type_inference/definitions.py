"""Find the definitions that a name refers to, following re-exports.

Type inference resolves type aliases and returns only the final type. The functions of this module return the aliases, too.

A binding of a name is a place that gives the name its meaning, such as `x = f()`, `import x`, `def x` or a parameter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.resolution.files.file_entry import FileEntry, Place
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.values.symbol import CLASS_KINDS, FUNCTION_KINDS, Symbol
from graphmem.resolution.values.types import CLASS, MODULE, NAMESPACE, Atom, ordered

if TYPE_CHECKING:
    from graphmem.parsing.facts import Import
    from graphmem.resolution.interfaces.inference import Inference

Symbols = frozenset[Symbol]

LAST_LINE: Final = 1 << 30
"""A line number after all others. Annotations see the whole scope."""

_NONE: Final[Symbols] = frozenset()
_TYPES: Final = CLASS_KINDS | {"type"}
_ANY: Final = _TYPES | FUNCTION_KINDS


def type_named(inference: Inference, entry: FileEntry, scope: int, name: str) -> Symbols:
    """Return the types that a name in an annotation refers to.

    A name that is not a type does not hide a type of an outer scope. In a class with the field `date: date`, the annotation refers to the
    type `date`.
    """
    while scope >= 0:
        found, around = _NONE, -1
        for key in rules_of(entry).type_names(name):
            for place in inference.lookup(entry, scope, key, LAST_LINE) or ():
                found |= placed(inference, place, key, anything=False)
                if place.entry is entry and place.slot.kind == "binding" and place.scope > 0:
                    around = max(around, entry.definitions[place.scope].parent)
        if found or around >= scope:
            return found
        scope = around
    return _NONE


def placed(inference: Inference, place: Place, name: str, *, anything: bool) -> Symbols:
    """Return the definitions to which one binding of a name leads.

    `place` is the binding: a definition, an import or an assignment. The result has the classes, types and type aliases. It also has
    functions and variables if `anything` is True.
    """
    entry, scope, slot = place
    if slot.kind == "definition":
        symbol = entry.symbols[slot.index]
        return frozenset((symbol,)) if symbol.kind in (_ANY if anything else _TYPES) else _NONE
    if slot.kind == "import":
        return imported(inference, entry, entry.facts.imports[slot.index], anything=anything)
    if slot.kind != "binding":
        return _NONE
    others = (entry.symbols[other.index] for other in entry.names(scope).get(name, ()) if other.kind == "definition")
    found = frozenset(symbol for symbol in others if symbol.kind == "type")
    variable = entry.variables.get((scope, name))
    if variable is not None and (anything or rules_of(entry).is_type_variable(entry, slot.index)):
        found |= {variable}
    return found


def imported(inference: Inference, entry: FileEntry, found: Import, *, anything: bool) -> Symbols:
    """Return the definitions that the name in an import statement refers to.

    `found` is the import in the file `entry`. Functions and variables are returned only if `anything` is True.
    """
    if not found.name or found.name == "*":
        return _NONE
    if found.kind == "reexport" and not found.module:  # `export { local as name }`
        return _bound(inference, entry, found.name, anything)
    symbols = _NONE
    for atom in ordered(rules_of(entry).import_targets(inference, entry, found)):
        symbols |= member(inference, entry, atom, found.name, anything=anything)
    return symbols


def member(inference: Inference, entry: FileEntry, owner: Atom, name: str, *, anything: bool) -> Symbols:
    """Return the definitions of a name that is a member of `owner`.

    `owner` is a module, a package or a class. For a package, only members that the file `entry` can see are returned. Functions and
    variables are returned only if `anything` is True.
    """
    if owner[0] == CLASS:
        return _of_class(inference, owner[1], name, anything)
    modules = [owner] if owner[0] == MODULE else []
    if owner[0] == NAMESPACE:
        modules += rules_of(entry).package_files(inference, owner, name)
    symbols = _NONE
    for module in modules:
        target = inference.project.file(module[1])
        if target is not None:
            ask = inference.project.solver.ask
            symbols |= ask(target.memo, ("given", name, anything), _given, inference, target, name, anything)
    return symbols


def _of_class(inference: Inference, symbol: Symbol, name: str, anything: bool) -> Symbols:
    """Return the definitions of a name that is a member of a class.

    If the class does not define the name, the first base class that defines it is used. Functions and variables are returned only if
    `anything` is True.
    """
    symbols = _NONE
    for key in rules_of(inference.project.entry(symbol)).type_names(name):
        owner = inference.owner(symbol, key)
        if isinstance(owner, Symbol):
            entry = inference.project.entry(owner)
            for slot in entry.names(owner.index).get(key, ()):
                symbols |= placed(inference, Place(entry, owner.index, slot), key, anything=anything)
    return symbols


def _given(inference: Inference, target: FileEntry, name: str, anything: bool) -> Symbols:
    """Return the definitions that a file exports under a name.

    Re-exported names are followed to the files that define them. Functions and variables are returned only if `anything` is True.
    """
    names, imports = rules_of(target).given(inference, target, name)
    symbols = _NONE
    for one in names:
        symbols |= _bound(inference, target, one, anything)
    for found in imports:
        symbols |= imported(inference, target, found, anything=anything)
        if symbols:
            break
    return symbols


def _bound(inference: Inference, target: FileEntry, name: str, anything: bool) -> Symbols:
    """Return the definitions that a file binds to a name at its top level.

    Functions and variables are returned only if `anything` is True.
    """
    symbols = _NONE
    for key in rules_of(target).type_names(name):
        for place in inference.module_places(target.path, key) or ():
            symbols |= placed(inference, place, key, anything=anything)
    return symbols
