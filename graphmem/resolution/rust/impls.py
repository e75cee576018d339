"""Choose among methods of one type from several `impl Trait<A> for T`.

A type is a set of alternatives: the type of `x` may be `A | B`.

`reference` is the use that is resolved: a call, a read, a write or an operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import CALL, LITERAL, NEW, TermIndex
from graphmem.resolution.rust.tables import LIBRARY
from graphmem.resolution.type_inference.names import is_type_parameter
from graphmem.resolution.values.terms import call_at
from graphmem.resolution.values.types import BOX, EXTI, INST, TUP, Type, ordered

if TYPE_CHECKING:
    from graphmem.parsing.facts import Reference
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference
    from graphmem.resolution.values.symbol import Symbol


_MAKERS: Final = LIBRARY.object_makers
"""Functions of library types that return an object of the type."""


def fitting_arguments(inference: Inference, entry: FileEntry, reference: Reference, methods: Sequence[Symbol]) -> Sequence[Symbol]:
    """Return the methods that fit the arguments of a call best.

    A method does not fit if an argument has another type than its parameter. If no method fits, all are returned.
    """
    if entry.terms[reference.term][0] not in (CALL, NEW):
        return methods
    _, _, arguments, _ = call_at(entry.terms, reference.term)
    given = [_kinds_of_argument(inference, entry, reference, argument) for argument in arguments]
    if not any(given):
        return methods
    points = {method: _points(inference, method, given) for method in methods}
    best = max(points.values())
    return [method for method in methods if points[method] == best] if best >= 0 else methods


def _kinds_of_argument(inference: Inference, entry: FileEntry, reference: Reference, argument: TermIndex) -> frozenset[object]:
    """Return comparison keys for the possible types of an argument.

    The result is empty for a literal such as `1`, because a number fits parameters of several types.
    """
    if entry.terms[argument][0] == LITERAL:
        return frozenset()
    return _kinds(inference.expanded(inference.term(entry, reference.scope, argument, reference.line)))


def _points(inference: Inference, method: Symbol, given: Sequence[frozenset[object]]) -> int:
    """Return how many arguments fit a method's parameters; -1 if one does not.

    `given` has the comparison keys of each argument's type. An argument of unknown type is not counted, and does not give -1.
    """
    entry = inference.project.entry(method)
    definition = entry.definitions[method.index]
    found = 0
    for parameter, kinds in zip(definition.parameters, given[-len(definition.parameters) :] if definition.parameters else (), strict=False):
        if not kinds or parameter.annotation < 0 or is_type_parameter(entry, method.index, parameter.annotation):
            continue
        wanted = _kinds(inference.declared(entry, method.index, parameter.annotation))
        if wanted:
            if wanted.isdisjoint(kinds):
                return -1
            found += 1
    return found


def _kinds(value: Type) -> frozenset[object]:
    """Return a comparison key for each alternative of a type.

    Classes, types of libraries, containers and tuples have keys. The result is empty if any alternative, such as a trait, has no key.
    """
    found: set[object] = set()
    for atom in ordered(value):
        if atom[0] == INST and atom[1].kind != "interface":
            found.add(atom[1])
        elif atom[0] == EXTI and (name := _type_name(atom[2])):
            found.add(name)
        elif atom[0] == BOX or atom[0] == TUP:
            found.add(atom[1] if atom[0] == BOX else "tuple")
        else:
            return frozenset()
    return frozenset(found)


def _type_name(dotted: str) -> str:
    """Return the name of a library's type: `String` for `String.new()`.

    `dotted` is the name of the type, or a call such as `String.new()` that creates an object. For other calls and for subscripts, the
    result is "".
    """
    before, _, made = dotted.removesuffix("()").rpartition(".")
    if dotted.endswith("()") and made in _MAKERS:
        return before.rpartition(".")[2]
    return "" if "(" in dotted or "[" in dotted else made
