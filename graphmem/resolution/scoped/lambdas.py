"""Types that the code around a lambda gives to its parameters.

`parsing/languages/kotlin_lambdas.py`, `lambda_values.py` and `ruby_blocks.py` write the types as calls of pseudo-functions, and explain
these functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import ATTR, CALL, NAME, NEW, TermIndex
from graphmem.parsing.languages.kotlin_lambdas import ARGUMENT, DECLARED, FUNCTION, LAST, PARAMETER, RESULT
from graphmem.parsing.languages.ruby_blocks import RESULT as BLOCK_RESULT
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.values.declared_types import closed
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.types import BOX, CLASS, EMPTY, FUNC, INST, TYPEVAR, UNTYPED, Atom, Type, box, join, join_all, one, ordered

if TYPE_CHECKING:
    from graphmem.parsing.facts import Parameter
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.call import Call
    from graphmem.resolution.interfaces.inference import Inference

OF_BLOCK: Final = one((TYPEVAR, BLOCK_RESULT))
"""The result of the block that a method gets; each call of the method replaces it."""

_RESULT: Final = 0
_RECEIVER: Final = 1
"""Positions of the parts of a function type; those of the parameters follow."""

_OTHERWISE: Final = 2
"""Position of the argument of `<parameter>` that has the type if the project does not tell it."""


def function_type(inference: Inference, entry: FileEntry, scope: int, term: TermIndex) -> Type:
    """Return the function type that `<function>(result, …)` stands for."""
    found = entry.terms[term]
    if found[0] != CALL or entry.terms[found[1]] != (NAME, FUNCTION):
        return EMPTY
    return join(one((UNTYPED,)), _of_parts(inference, entry, scope, found[2]))


def _alias(inference: Inference, call: Call) -> Type:
    """Return the function type for which an alias stands.

    For `typealias Handler = (Item) -> Unit`, the arguments of `call` are the parts of the function type: the result and the parameters.
    """
    return _of_parts(inference, call.entry, call.scope, call.args)


def _of_parts(inference: Inference, entry: FileEntry, scope: int, parts: Sequence[TermIndex]) -> Type:
    return box("callable", *(closed(inference.declared(entry, scope, part)) for part in parts))


def _argument(inference: Inference, call: Call) -> Type:
    """Return the declared type of the parameter that gets a lambda.

    The arguments of `call` are the call to which the lambda is passed, and the place of the lambda among its arguments.
    """
    outer = call.entry.terms[call.args[0]]
    place = call.literal(1) or LAST
    if outer[0] not in (CALL, NEW):
        return EMPTY
    _, callee, arguments, named = outer
    written = call.entry.terms[callee]
    if written[0] == ATTR and not inference.project.knows_name(written[2]):
        return EMPTY  # a function of a library, such as `map`
    count, keywords = len(arguments), [name for name, _ in named]
    found = EMPTY
    for atom in ordered(inference.expanded(call.term(callee))):
        if atom[0] == BOX and atom[1] == "callable":
            inner = atom[2][_RECEIVER + 1 :]
            index = len(inner) - 1 if place == LAST else int(place) if place.isdecimal() else -1
            found = join(found, inner[index] if 0 <= index < len(inner) else EMPTY)
        for symbol in _functions(inference, call, atom):
            entry = inference.project.entry(symbol)
            definition = entry.definitions[symbol.index]
            rules = rules_of(entry)
            by_receiver = atom[0] == FUNC and atom[2] is not None and atom[2][0] != CLASS and rules.extended_by_parameter(definition)
            parameter = _placed(definition.parameters[int(by_receiver) :], place)
            if parameter is not None and rules.takes(definition, count + int(by_receiver), keywords, bound=True):
                found = join(found, rules.function_type(inference, entry, symbol.index, parameter.annotation))
    return found


def _functions(inference: Inference, call: Call, atom: Atom) -> Iterator[Symbol]:
    """Yield the functions and classes that a call of a value can run.

    `atom` is one of the types that the value may have.
    """
    if atom[0] == FUNC or atom[0] == CLASS:
        yield atom[1]
    method = rules_of(call.entry).call_method
    owner = inference.owner(atom[1], method) if atom[0] in (CLASS, INST) and method else None
    if isinstance(owner, Symbol):
        yield from inference.functions(owner, method)


def _placed(parameters: tuple[Parameter, ...], place: str) -> Parameter | None:
    if place == LAST:  # a parameter that collects arguments takes no lambda after the parentheses
        return parameters[-1] if parameters and parameters[-1].kind != "rest" else None
    if place.isdecimal():
        return parameters[int(place)] if int(place) < len(parameters) else None
    return next((parameter for parameter in parameters if parameter.name == place), None)


def _declared(inference: Inference, call: Call) -> Type:
    return rules_of(call.entry).function_type(inference, call.entry, call.scope, call.args[0])


def _result(inference: Inference, call: Call) -> Type:
    return _part(_functions_in(inference, call.argument(0) or EMPTY), _RESULT)


def _parameter(inference: Inference, call: Call) -> Type:
    functions, index = _functions_in(inference, call.argument(0) or EMPTY), _RECEIVER + int(call.literal(1) or 0)
    found = _part(functions, index)
    is_missing = bool(functions) and (index == _RECEIVER or all(index >= len(parts) for parts in functions))
    return found if found or is_missing or len(call.args) < _OTHERWISE + 1 else inference.expanded(call.argument(_OTHERWISE) or EMPTY)


def _functions_in(inference: Inference, value: Type) -> list[Sequence[Type]]:
    """Return the parts of each function type in a type.

    The parts are the types of the result, of the receiver and of the parameters, in this order.
    """
    return [atom[2] for atom in ordered(inference.expanded(value)) if atom[0] == BOX and atom[1] == "callable"]


def _part(functions: Sequence[Sequence[Type]], index: int) -> Type:
    """Return one part of some function types, such as the type of the result.

    `functions` has the parts of each function type. The types at position `index` are joined.
    """
    return join_all(parts[index] for parts in functions if index < len(parts))


def _of_block(inference: Inference, call: Call) -> Type:
    """Return the placeholder for the result of a block."""
    return OF_BLOCK


PSEUDO: Final[Mapping[str, Callable[[Inference, Call], Type]]] = {
    ARGUMENT: _argument,
    BLOCK_RESULT: _of_block,
    DECLARED: _declared,
    FUNCTION: _alias,
    PARAMETER: _parameter,
    RESULT: _result,
}
"""Functions that evaluate calls of the pseudo-functions."""
