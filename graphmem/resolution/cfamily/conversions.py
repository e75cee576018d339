"""Constructors that C++ runs to convert the argument of a call.

With `void find(Slice name)` and `Slice(const std::string&)`, the call `find("a")` runs the constructor.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from graphmem.parsing.facts import STRING
from graphmem.resolution.cfamily.fitness import declared_of, fit
from graphmem.resolution.scoped.classes import CONSTRUCTOR
from graphmem.resolution.values.terms import call_at
from graphmem.resolution.values.types import EXTI

if TYPE_CHECKING:
    from graphmem.parsing.facts import Parameter, Reference, Term
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference
    from graphmem.resolution.values.symbol import Symbol
    from graphmem.resolution.values.types import Type


def conversions(inference: Inference, entry: FileEntry, reference: Reference, function: Symbol) -> Iterator[tuple[Symbol, int]]:
    """Yield the constructors that convert a call's arguments.

    `function` is the called function. A constructor of a parameter's class converts the argument. Each item is (constructor, number of
    constructors of that class that fit equally well).
    """
    other = inference.project.entry(function)
    _, _, arguments, _ = call_at(entry.terms, reference.term)
    for argument, parameter in zip(arguments, other.definitions[function.index].parameters, strict=False):
        given = inference.expanded(inference.term(entry, reference.scope, argument, reference.line))
        yield from conversion(inference, function, parameter, entry.terms[argument], given)


def conversion(inference: Inference, function: Symbol, parameter: Parameter, term: Term, given: Type) -> Iterator[tuple[Symbol, int]]:
    """Yield the constructor that converts one argument of `function`.

    `term` is the argument, `given` its type, and `parameter` the parameter that gets it. Each item is (constructor, number of constructors
    of that class that fit equally well).
    """
    declared = declared_of(inference, function, parameter.annotation)
    if declared.is_pointer or declared.is_open or len(declared.classes) != 1:
        return
    if term[0] == STRING or (given and all(atom[0] == EXTI for atom in given)):
        (made,) = declared.classes
        yield from _makers(inference, made, term, given)


def _makers(inference: Inference, made: Symbol, term: Term, given: Type) -> Iterator[tuple[Symbol, int]]:
    scored: list[tuple[int, Symbol]] = []
    for maker in inference.functions(made, CONSTRUCTOR):
        definition = inference.project.definition(maker)
        if len(definition.parameters) == 1 and not definition.signature.startswith("explicit"):
            points = fit(term, given, declared_of(inference, maker, definition.parameters[0].annotation))
            if points is not None and points > 0:
                scored.append((points, maker))
    most = max((points for points, _ in scored), default=0)
    best = [maker for points, maker in scored if points == most]
    if len(best) == 1:
        yield best[0], 1
