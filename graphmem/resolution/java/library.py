"""Results of Java's operators and of common methods of its library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from graphmem.parsing.languages.java import ARITHMETIC
from graphmem.resolution.java.fitness import BOXES, JAVA, NUMBERS, UNBOXED
from graphmem.resolution.java.tables import LIBRARY
from graphmem.resolution.types import EMPTY, EXTI, Outside, Package, Type, box, one

if TYPE_CHECKING:
    from graphmem.resolution.call import Call
    from graphmem.resolution.inference import Inference

Containers = Mapping[str, tuple[str, tuple[int, ...]]]
"""Names of container types -> the kind of container, and the type arguments of its parts."""

_RESULTS: Final = {name: kind for kind, names in LIBRARY.results.items() for name in names}
_ARRAYS: Final = LIBRARY.arrays
_FACTORIES: Final = LIBRARY.factories
_OF_ARGUMENTS: Final = LIBRARY.arguments


def result(inference: Inference, atom: Outside, call: Call, containers: Containers) -> Type | None:
    """Return the result type of a call of Java's library; None if unknown.

    Most methods are found by name alone in a table. This is possible because a listed method, such as `length`, has the same result in all
    classes of the library.
    """
    _, package, dotted, given = atom
    if package == JAVA and dotted == ARITHMETIC:
        return _arithmetic(inference, call)
    owner, _, name = dotted.rpartition(".")
    if given is not None or not owner:
        return None
    if name in _RESULTS:
        return one((EXTI, JAVA, _RESULTS[name], None))
    if name in _ARRAYS:
        return box("array", one((EXTI, JAVA, _ARRAYS[name], None)))
    if package == JAVA and name == "valueOf" and (owner == "String" or owner in UNBOXED):
        return one((EXTI, JAVA, owner, None))
    if name in _FACTORIES and owner[:1].isupper() and "." not in owner:
        return _made(inference, package, owner, call, containers)
    return _promoted(inference, call) if package == JAVA and owner == "Math" and name in _OF_ARGUMENTS else None


def _made(inference: Inference, package: Package, owner: str, call: Call, containers: Containers) -> Type:
    """Return the object of a library class that its static method makes.

    `owner` is the class. A container has elements of the types of the arguments.
    """
    kind, parts = containers.get(owner, ("", ()))
    if not kind:
        return one((EXTI, package, owner, None))
    return box(kind, *(inference.expanded(call.rest(0)) if len(parts) == 1 else EMPTY for _ in parts))


def _arithmetic(inference: Inference, call: Call) -> Type:
    """Return the type of an operator's result: string, boolean or number."""
    sides = [_names(inference, call, position) for position in range(len(call.args))]
    for side in sides:
        if "String" in side or "str" in side:
            return one((EXTI, JAVA, "String", None))
    if all(side == {"boolean"} for side in sides):
        return one((EXTI, JAVA, "boolean", None))
    return _promoted(inference, call)


def _promoted(inference: Inference, call: Call) -> Type:
    """Return the widest number type of an operator's operands, at least `int`.

    The result is empty if an operand is not known to be a number.
    """
    widest = NUMBERS.index("int")
    for position in range(len(call.args)):
        names = _names(inference, call, position)
        if not names:
            return EMPTY
        for name in names:
            number = "int" if name in ("char", "Character") else UNBOXED.get(name, name)
            if number not in NUMBERS:
                return EMPTY
            widest = max(widest, NUMBERS.index(number))
    return one((EXTI, JAVA, NUMBERS[widest], None))


def _names(inference: Inference, call: Call, position: int) -> set[str]:
    value = inference.expanded(call.argument(position) or EMPTY)
    return {atom[2] if atom[0] == EXTI and (atom[2] in BOXES or atom[1] == JAVA) else "" for atom in value}
