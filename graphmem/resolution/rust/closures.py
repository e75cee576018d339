"""Infer the types of parameters of closures in Rust.

The type of a parameter follows from the function that calls the closure.

The queries in `types.scm` and the language helper bind such a parameter to a call of the pseudo-function `PARAMETER`, which this module
evaluates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import CALL, STRING
from graphmem.resolution.interfaces.call import Call
from graphmem.resolution.rust.tables import LIBRARY
from graphmem.resolution.values.types import BOX, BUILTIN, CLASS, EMPTY, FUNC, SELFTYPE, TUP, Container, Type, join, join_all, ordered

if TYPE_CHECKING:
    from graphmem.resolution.interfaces.inference import Inference
    from graphmem.resolution.values.symbol import Symbol


_PAIRS: Final = LIBRARY.closures_of_pairs
_WITH_STATE: Final = LIBRARY.closures_with_state
_OF_ERROR: Final = LIBRARY.closures_of_error
_FIRST_OF_TWO: Final = ("map_or_else", 0)
_NO_ITEM: Final = LIBRARY.closures_of_nothing


def passed_to_closure(inference: Inference, call: Call) -> Type:
    """Return the type of the value that a called function passes to a closure.

    For `a` in `items.sort_by(|a, b| …)`, it is an item of `items`. The parser writes the type of `a` as an artificial call `PARAMETER(call,
    closure, parameter)`, which is the argument `call`. Its arguments are the call of `sort_by`, the position of the closure among the
    arguments of that call, and the position of `a` among the parameters of the closure.
    """
    terms = call.entry.terms
    outer, argument, index = (terms[term] for term in call.args)
    if outer[0] != CALL or argument[0] != STRING or index[0] != STRING:
        return EMPTY
    _, called, arguments, _ = outer
    given = Call(inference, call.entry, call.scope, call.line, called, arguments, ())
    place = int(argument[1]), int(index[1])
    found = EMPTY
    for atom in ordered(inference.expanded(call.term(called))):
        if atom[0] == BUILTIN:
            found = join(found, _given_by_library(inference, atom[1], atom[2], place, given))
        elif atom[0] == FUNC:
            found = join(found, _declared(inference, atom[1], place, len(arguments)))
    return found


def _declared(inference: Inference, function: Symbol, place: tuple[int, int], count: int) -> Type:
    """Return the declared type of a parameter of a function's parameter.

    `place` has the position of the parameter that is a function, and the position of a parameter of this function. For `fn each(f: impl
    Fn(&Item))` and the place (0, 0), the result is `Item`. `count` is the number of arguments, which may begin with the receiver.
    """
    entry = inference.project.entry(function)
    parameters = entry.definitions[function.index].parameters
    position = place[0] - (count == len(parameters) + 1)
    if not 0 <= position < len(parameters):
        return EMPTY
    declared = inference.declared(entry, function.index, parameters[position].annotation)
    parts = (atom[2][1:] for atom in declared if atom[0] == BOX and atom[1] == "callable")
    found = join_all(part[place[1]] for part in parts if place[1] < len(part))
    return frozenset(atom for atom in found if atom[0] != SELFTYPE)


def _given_by_library(inference: Inference, container: Container, name: str, place: tuple[int, int], call: Call) -> Type:
    """Return the type of the value that a library method passes to a closure.

    `place` has the position of the closure among the arguments of `call`, and that of the closure's parameter. For `values.fold(0, |sum, x|
    …)` and the place (1, 1), it is an item of `values`.
    """
    argument, index = place
    if name in _NO_ITEM or container[0] == CLASS:
        return EMPTY
    parts = container[2] if container[0] == BOX else ()
    kind = container[1] if container[0] == BOX else ""
    if kind == "result" and len(parts) > 1 and (name in _OF_ERROR or (name, argument) == _FIRST_OF_TWO):
        return EMPTY if index else parts[1]
    if kind == "map" and name == "and_modify":
        return parts[1]
    if kind == "map" and name in ("retain", "extract_if"):
        return join_all(atom[1][index] for atom in parts[0] if atom[0] == TUP and index < len(atom[1]))
    items = inference.element(frozenset((container,)))
    if name in _WITH_STATE:
        return items if index else call.argument(0) or EMPTY
    return items if index == 0 or name in _PAIRS else EMPTY
