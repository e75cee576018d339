"""Find the methods of base classes that a method overrides."""

from __future__ import annotations

from graphmem.parsing.facts import written_name
from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.interfaces.inference import Inference
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.type_inference.names import is_type_parameter
from graphmem.resolution.values.symbol import Symbol


def overridden(inference: Inference, entry: FileEntry, symbol: Symbol, parent: Symbol) -> list[Symbol]:
    """Return the methods that a method overrides, in the nearest base class.

    In a language with overloads, the parameters of both methods must have the same number and types. Base classes without such a method
    are skipped. If no base class has such a method, types are not compared, because a type may have several names. Then the result is the
    method with the same number of parameters, in the nearest base class that has exactly one.

    Args:
        inference: finds the base classes.
        entry: the file of the method.
        symbol: the method.
        parent: the class of the method.
    """
    owner = inference.owner(parent, symbol.name, after=parent)
    otherwise: list[Symbol] = []
    while isinstance(owner, Symbol):
        methods = inference.functions(owner, symbol.name)
        if not rules_of(entry).has_overloads:
            return methods
        as_many = _with_as_many(inference, entry, symbol, methods)
        if alike := [one for one in as_many if _has_types_of(inference, entry, symbol, one)]:
            return alike
        if len(as_many) == 1:
            otherwise = otherwise or as_many
        owner = inference.owner(parent, symbol.name, after=owner)
    return otherwise


def _with_as_many(inference: Inference, entry: FileEntry, symbol: Symbol, methods: list[Symbol]) -> list[Symbol]:
    """Return the methods with the same number of parameters as `symbol`."""
    count = len(entry.definitions[symbol.index].parameters)
    return [one for one in methods if len(inference.project.definition(one).parameters) == count]


def _has_types_of(inference: Inference, entry: FileEntry, symbol: Symbol, other: Symbol) -> bool:
    """Whether the parameter types of two methods have the same names.

    Both methods have the same number of parameters. A type parameter in the overridden method `other` stands for any type.
    """
    around = inference.project.entry(other)
    pairs = zip(entry.definitions[symbol.index].parameters, around.definitions[other.index].parameters, strict=True)
    for own, base in pairs:
        if base.annotation >= 0 and own.annotation >= 0 and not is_type_parameter(around, other.index, base.annotation):
            written = written_name(entry.terms, own.annotation), written_name(around.terms, base.annotation)
            if all(written) and written[0] != written[1]:
                return False
    return True
