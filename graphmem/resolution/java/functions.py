"""Find the function that a functional interface of Java stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import INDEX, NAME, TermIndex
from graphmem.resolution.java.fitness import JAVA
from graphmem.resolution.java.tables import LIBRARY
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.terms import items_or_itself, last_name
from graphmem.resolution.values.types import CLASS, EMPTY, EXTI, Type, box, join_all, one, ordered

if TYPE_CHECKING:
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference
    from graphmem.resolution.packages import PackageRules

_ANYTHING: Final = one((EXTI, JAVA, "Object", None))
"""The bound of a type parameter that may be any class."""

_PLACES: Final = ("first", "second")
_FUNCTIONS: Final = {name: tuple(map(_PLACES.index, places)) for name, places in LIBRARY.functions.items()}


def function_type(rules: PackageRules, inference: Inference, entry: FileEntry, scope: int, annotation: TermIndex) -> Type:
    """Return the type of the function that a functional interface stands for.

    `annotation` is the interface, such as `Function<A, B>`. The result is a container with the types of the function's result, receiver and
    parameters. It is empty if the interface is not known to be functional.
    """
    if annotation < 0:
        return EMPTY
    found = entry.terms[annotation]
    base, arguments = (found[1], items_or_itself(entry.terms, found[2])) if found[0] == INDEX else (annotation, ())
    given = [inference.declared(entry, scope, argument) - _ANYTHING for argument in arguments]
    classes = [atom[1] for atom in ordered(rules.objects(inference, entry, scope, base)) if atom[0] == CLASS]
    if classes:
        return join_all(_of_interface(inference, symbol, given) for symbol in classes)
    positions = _FUNCTIONS.get(last_name(entry.terms[base]), ())
    return _function([given[position] if position < len(given) else EMPTY for position in positions]) if positions else EMPTY


def _function(parameters: list[Type]) -> Type:
    return box("callable", EMPTY, EMPTY, *parameters)


def _of_interface(inference: Inference, symbol: Symbol, given: list[Type]) -> Type:
    """Return the type of the function that a project's interface stands for.

    `symbol` is the interface, and `given` are its type arguments. The interface must have exactly one abstract method.
    """
    entry = inference.project.entry(symbol)
    methods = [at for at, one in enumerate(entry.definitions) if one.parent == symbol.index and "abstract" in one.modifiers]
    if symbol.kind != "interface" or len(methods) != 1:
        return EMPTY
    names = _type_parameters(entry, symbol)
    parameters: list[Type] = []
    for parameter in entry.definitions[methods[0]].parameters:
        written = entry.terms[parameter.annotation] if parameter.annotation >= 0 else None
        place = names.index(written[1]) if written is not None and written[0] == NAME and written[1] in names else -1
        declared = given[place] if 0 <= place < len(given) else inference.declared(entry, methods[0], parameter.annotation) - _ANYTHING
        parameters.append(declared)
    return _function(parameters)


def _type_parameters(entry: FileEntry, symbol: Symbol) -> list[str]:
    """Return the names of the type parameters in the header of an interface."""
    before, bracket, rest = entry.definitions[symbol.index].signature.partition("<")
    if not bracket or not before.rstrip().endswith(symbol.name):
        return []
    return [words[0] for part in rest.partition(">")[0].split(",") if (words := part.split())]
