"""Infer element types of containers from statements like `x.append(y)`.

The list of a file's bindings has the places where names and attributes get values, such as `x = f()`, and also the `return` statements.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import ATTR
from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.types import BOX, CLASS, EMPTY, INST, TUP, TYPEVAR, Atom, Box, Type, box, join, ordered, tuple_of

if TYPE_CHECKING:
    from graphmem.resolution.interfaces.inference import Inference

FILLED: Final = frozenset({"list", "set", "dict"})
"""Kinds of containers into which statements put values."""

_FILLABLE: Final = FILLED | {"map"}

HOLDING: Final = FILLED | {"iter", "tuple"}
"""Kinds of containers whose items a loop reads."""


def is_vague(value: Type) -> bool:
    """Whether a type has a container whose items have an imprecise type.

    A container is a list, set or dict. The type of items is imprecise if it is unknown, a class object, a type variable, or only declared
    as callable. Calling such an item may run code that the type does not name.
    """
    return any(atom[0] == BOX and atom[1] in FILLED and _has_vague_items(atom) for atom in value)


def holds_callables(declared: Type) -> bool:
    """Whether the items of a declared container or iterator may be called.

    For `handlers: Iterable[Callable]`, the result is True. The caller then also needs the types of the values that code puts into the
    container, because these types are more exact than the declaration.
    """
    return any(
        atom[0] == BOX and atom[1] in HOLDING and any(_is_open(inner) or holds_callables(part) for part in atom[2][-1:] for inner in part)
        for atom in declared
    )


def _has_vague_items(container: Box) -> bool:
    return any(not part or any(_is_open(inner) for inner in part) or is_vague(part) for part in container[2][-1:])


def _is_open(atom: Atom) -> bool:
    if atom[0] == TUP:
        return any(_is_open(inner) for part in atom[1] for inner in part)
    return atom[0] == CLASS or atom[0] == TYPEVAR or (atom[0] == BOX and atom[1] == "callable")


def filled(inference: Inference, entry: FileEntry, value: Type, positions: Iterable[int]) -> Type:
    """Add the types of elements put in later to the type of a container.

    After `x = []`, the statement `x.append(A())` makes the type of `x` a `list[A]`. `value` is the type before, and the result the type
    after such statements. `positions` has the statements, as indices in the file's list of bindings.
    """
    kinds = sorted({atom[1] for atom in value if atom[0] == BOX and atom[1] in _FILLABLE})
    for position in positions if kinds else ():
        binding = entry.facts.bindings[position]
        if binding.scope:
            inference.project.touch_top(entry, entry.top_name(binding.scope))
        given = inference.expanded(inference.term(entry, binding.scope, binding.value, binding.line))
        for kind in kinds:
            value = join(value, _holding(inference, kind, given))
    return value


def _holding(inference: Inference, kind: str, given: Type) -> Type:
    """Return the type of a container made from elements of other containers.

    An example is `list(xs)`. `kind` is the kind of the new container, here `list`. `given` is the type of the other containers, here of
    `xs`. The elements of a `dict` are its values. A `dict` made from a `dict` also gets the keys.
    """
    found = EMPTY
    for atom in ordered(given):
        if atom[0] == BOX and atom[1] == "dict":
            found = join(found, box("dict", *atom[2]) if kind == "dict" else box(kind, atom[2][-1]))
        elif items := inference.element(frozenset((atom,))):
            pairs = items if kind != "map" else tuple_of((EMPTY, items))
            found = join(found, box("dict", EMPTY, items) if kind == "dict" else box(kind, pairs, *((items,) if kind == "map" else ())))
    return found


def filled_attribute(inference: Inference, owner: Symbol, name: str, value: Type) -> Type:
    """Add the types of elements put in later to the type of an attribute.

    The attribute `name` of the class `owner` holds a container of the type `value`. After `self.names = []`, the statement
    `item.names.append(A())` in any file makes its type a `list[A]`. An attribute without a container keeps its type.
    """
    if not any(atom[0] == BOX and atom[1] in FILLED for atom in value):
        return value
    project = inference.project
    entry = project.entry(owner)
    value = filled(inference, entry, value, entry.member_fills.get(owner.index, {}).get(name, ()))
    sites, _ = project.call_sites(f"+{name}", owner.path)
    for site in sites:
        other = project.files[site.path]
        project.touch("passed", site.path, other.symbols[site.scope].qualname, f"+{name}")
        target = other.terms[site.term]
        base = inference.expanded(inference.term(other, site.scope, target[1], site.line)) if target[0] == ATTR else EMPTY
        if any(atom[0] in (INST, CLASS) and owner in inference.project_classes(atom[1]) for atom in base if atom[0] in (INST, CLASS)):
            value = filled(inference, other, value, other.fills_at(site))
    return value


def assigned_elsewhere(inference: Inference, owner: Symbol, name: str) -> Type:
    """Return the type of the values that other code assigns to an attribute.

    `owner` is the class with the attribute `name`. An example is `item.name = value` in a function outside the class, where `item` is
    an object of the class.
    """
    found, project = EMPTY, inference.project
    sites, _ = project.call_sites(f"={name}", owner.path)
    for site in sites:
        entry = project.files[site.path]
        project.touch("passed", site.path, entry.symbols[site.scope].qualname, f"={name}")
        target = entry.terms[site.term]
        base = inference.expanded(inference.term(entry, site.scope, target[1], site.line)) if target[0] == ATTR else EMPTY
        if any(atom[0] == INST and owner in inference.project_classes(atom[1]) for atom in base):
            for binding in entry.facts.bindings:
                if binding.target == site.term and binding.scope == site.scope and binding.line == site.line:
                    found = join(found, inference.term(entry, site.scope, binding.value, site.line))
    return found
