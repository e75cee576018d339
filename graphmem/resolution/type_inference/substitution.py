"""Replace parameters in a function's result type by a call's arguments.

A result type may refer to a parameter, to a type parameter such as `T`, or to the receiver's type. For `def f(x): return x`, the result of
`f(A())` is an `A`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from graphmem.resolution.interfaces.call import Call
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.type_inference.parameters import Parameters
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.types import (
    BOX,
    CLASS,
    EMPTY,
    EXT,
    FUNC,
    INST,
    LAM,
    MADE,
    PARAM,
    PARTIAL,
    SELFTYPE,
    TUP,
    TYPEVAR,
    Atom,
    Func,
    Type,
    anonymous,
    box,
    join,
    join_all,
    one,
    ordered,
    partial,
    tuple_of,
)

if TYPE_CHECKING:
    from graphmem.resolution.interfaces.inference import Inference


class Substitution:
    """Replaces parameters in result types by the arguments of calls."""

    def __init__(self, inference: Inference, parameters: Parameters) -> None:
        self.inference = inference
        self.project = inference.project
        self.parameters = parameters

    def substituted(self, value: Type, function: Func, call: Call) -> Type:
        """Return the result type of one call, from the function's result type.

        `value` is the function's result type, in which parameters may stand for their own types (see `returned`). They are replaced by the
        types of the arguments of `call`. For `def f(x): return x`, the result of `f(A())` is an `A`.
        """
        _, symbol, receiver = function
        if not any(_mentions(atom, symbol) for atom in value):
            return value
        offset = self.parameters.filled_by_receiver(symbol, receiver)
        variables: dict[str, Type] | None = None

        def given_for(index: int) -> Type:
            if index < offset and receiver is not None:
                return frozenset((receiver,))
            given = self.parameters.argument(symbol, index, call, offset)
            if given is not None:
                return given
            parameter = self.project.definition(symbol).parameters[index]
            return self.parameters.default(symbol, index) if parameter.default >= 0 else self.parameters.parameter(symbol, index)

        def replace(atom: Atom) -> Type:  # must not refer to itself: one reference cycle per call slows the garbage collector
            nonlocal variables
            if atom[0] == PARAM and atom[1] is symbol:
                return given_for(atom[2])
            if atom[0] == MADE and atom[1] is symbol:
                return self.inference.made_of(given_for(atom[2]), atom[3])
            if atom[0] == SELFTYPE:
                if receiver is None:
                    return rules_of(self.project.entry(symbol)).made_by(self.inference, symbol)
                return one((INST, receiver[1], False)) if receiver[0] == CLASS else frozenset((receiver,))
            if atom[0] == TYPEVAR:
                if variables is None:
                    variables = self._type_variables(symbol, call, receiver, offset)
                return variables.get(atom[1], EMPTY)
            return frozenset((atom,))

        return rewrite(value, replace)

    def _type_variables(self, symbol: Symbol, call: Call, receiver: Atom | None, offset: int) -> dict[str, Type]:
        """Infer type parameters such as `T` from the arguments of a call.

        The result maps names to types. `symbol` is the called function. `offset` is the number of parameters that `receiver` fills.
        """
        entry = self.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        written = rules_of(entry).type_arguments(self.inference, symbol, call)
        found: dict[str, Type] = {}
        for index, parameter in enumerate(definition.parameters):
            if parameter.annotation < 0:
                continue
            scope = symbol.index if rules_of(entry).header_is_inside else definition.parent
            declared = self.inference.declared(entry, scope, parameter.annotation)
            if any(_mentions_variable(atom) for atom in declared):
                given = one(receiver) if index < offset and receiver is not None else self.parameters.argument(symbol, index, call, offset)
                if given is not None:
                    self._match(declared, self.inference.expanded(given), found)
        return {**found, **written}

    def _match(self, declared: Type, given: Type, found: dict[str, Type]) -> None:
        for atom in ordered(declared):
            if atom[0] == TYPEVAR:
                found[atom[1]] = join(found.get(atom[1], EMPTY), given)
            elif atom[0] == BOX and atom[1] == "class":
                for other in ordered(given):
                    if other[0] in (CLASS, EXT):
                        self._match(atom[2][0], join_all(self.inference.instances(frozenset((other,)))), found)
            elif atom[0] == BOX and atom[1] == "callable":
                for other in ordered(given):
                    if other[0] == FUNC:
                        self._match(atom[2][0], self.inference.expanded(self.inference.returned(other[1])), found)
                    elif other[0] == LAM:
                        self._match(atom[2][0], self.inference.expanded(other[1]), found)
                    elif other[0] == CLASS:
                        self._match(atom[2][0], one((INST, other[1], True)), found)
            elif atom[0] == BOX:
                for other in ordered(given):
                    if other[0] == BOX and len(other[2]) == len(atom[2]):
                        for left, right in zip(atom[2], other[2], strict=True):
                            self._match(left, self.inference.expanded(right), found)
                    elif other[0] == TUP and atom[2]:
                        self._match(atom[2][0], self.inference.expanded(join_all(other[1])), found)


def _mentions(atom: Atom, symbol: Symbol) -> bool:
    if atom[0] == PARAM or atom[0] == MADE:
        return atom[1] is symbol
    if atom[0] == TYPEVAR or atom[0] == SELFTYPE:
        return True
    parts = _parts(atom)
    return bool(parts) and any(_mentions(inner, symbol) for part in parts for inner in part)


def _mentions_variable(atom: Atom) -> bool:
    return atom[0] == TYPEVAR or any(_mentions_variable(inner) for part in _parts(atom) for inner in part)


def _parts(atom: Atom) -> Sequence[Type]:
    if atom[0] == BOX:
        return atom[2]
    if atom[0] == TUP:
        return atom[1]
    if atom[0] == LAM or atom[0] == PARTIAL:
        return (atom[1],)
    return ()


def rebound(value: Type, owner: Symbol, method_of: Callable[[Symbol], Type]) -> Type:
    """Bind methods that an object stores in itself to the object's own class.

    The base class `owner` may contain `self.steps = [self.first]`. In an object of a subclass, the list has the method `first` of the
    subclass. `value` is the type of the attribute in the base class. `method_of` returns the subclass's method for a method of `owner`.
    """

    def is_stored(atom: Atom) -> bool:
        return atom[0] == FUNC and atom[2] is not None and atom[2][0] == INST and atom[2][1] is owner and atom[1].kind == "method"

    def replace(atom: Atom) -> Type:
        return method_of(atom[1]) if atom[0] == FUNC and is_stored(atom) else one(atom)

    return rewrite(value, replace) if any(_has(atom, is_stored) for atom in value) else value


def _has(atom: Atom, accepts: Callable[[Atom], bool]) -> bool:
    """Whether the function `accepts` is true of an atom, or of a part of it.

    An atom is one alternative of a type. The parts of the container `list[A]` are the alternatives of its elements, here `A`.
    """
    return accepts(atom) or any(_has(inner, accepts) for part in _parts(atom) for inner in part)


def rewrite(value: Type, replace: Callable[[Atom], Type]) -> Type:
    """Replace every member of a union type, also inside containers.

    `replace` maps one member, such as a class, to a type. If it maps `A` to `B`, `list[A]` becomes `list[B]`.
    """
    found = EMPTY
    for atom in ordered(value):
        if atom[0] == BOX:
            found = join(found, box(atom[1], *(rewrite(part, replace) for part in atom[2])))
        elif atom[0] == TUP:
            found = join(found, tuple_of([rewrite(part, replace) for part in atom[1]]))
        elif atom[0] == LAM:
            found = join(found, anonymous(rewrite(atom[1], replace)))
        elif atom[0] == PARTIAL:
            found = join(found, partial(rewrite(atom[1], replace)))
        else:
            found = join(found, replace(atom))
    return found
