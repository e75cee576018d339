"""Results of Java's operators and of common methods of its library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from graphmem.parsing.languages.java import ARITHMETIC, CLASS_LITERAL
from graphmem.resolution.java.fitness import BOXES, JAVA, NUMBERS, UNBOXED
from graphmem.resolution.java.tables import JDK, LIBRARY
from graphmem.resolution.packages import mapped
from graphmem.resolution.values.types import BOX, EMPTY, EXTI, Outside, Package, Type, box, join_all, one, ordered

if TYPE_CHECKING:
    from graphmem.resolution.interfaces.call import Call
    from graphmem.resolution.interfaces.inference import Inference

Containers = Mapping[str, tuple[str, tuple[int, ...]]]
"""Names of container types -> the kind of container, and the type arguments of its parts."""

_RESULTS: Final = {name: kind for kind, names in LIBRARY.results.items() for name in names}
_ARRAYS: Final = LIBRARY.arrays
_FACTORIES: Final = JDK.factories
_MADE_OF: Final = LIBRARY.made_of
_ITSELF: Final = LIBRARY.itself
_OF_ARRAY: Final = LIBRARY.of_array
_KINDS: Final = {name: kind for kind, names in LIBRARY.kinds.items() for name in names}
_OF_ARGUMENTS: Final = LIBRARY.arguments


def result(inference: Inference, atom: Outside, call: Call, containers: Containers) -> Type | None:
    """Return the result type of a call of Java's library; None if unknown.

    `containers` tells which library classes are containers. Most methods are found by name alone in a table. This is possible because a
    listed method, such as `length`, has the same result in all classes of the library.
    """
    _, package, dotted, given = atom
    if package == JAVA and dotted == ARITHMETIC:
        return _arithmetic(inference, call)
    if package == JAVA and dotted == CLASS_LITERAL:
        return one((EXTI, JAVA, "Class", None))
    owner, _, name = dotted.rpartition(".")
    if given is not None or not owner:
        return None
    if package.partition(".")[0] in LIBRARY.standard:
        if name in _FACTORIES.get(owner, ()):
            return _made(inference, package, f"{owner}.{name}", call, containers)
        if name in _ITSELF.get(owner, ()):
            return inference.expanded(call.argument(0) or EMPTY) or None
        if name in _OF_ARRAY.get(owner, ()):
            listed = inference.expanded(call.rest(0))
            return box(_KINDS[name], _elements(listed) or listed)
    if name in _RESULTS:
        return one((EXTI, JAVA, _RESULTS[name], None))
    if name in _ARRAYS:
        return box("array", one((EXTI, JAVA, _ARRAYS[name], None)))
    return _promoted(inference, call) if package == JAVA and owner == "Math" and name in _OF_ARGUMENTS else None


def _made(inference: Inference, package: Package, dotted: str, call: Call, containers: Containers) -> Type:
    """Return the type of the object that a library's static method creates.

    `dotted` has the class and the method. The elements of a container are the arguments, or come from them.
    """
    owner, _, name = dotted.rpartition(".")
    kind, parts = containers.get(owner, ("", ()))
    if not kind:
        return one((EXTI, package, owner, None))
    given = inference.expanded(call.rest(0))
    if len(parts) > 1:
        copied = frozenset(atom for atom in given if atom[0] == BOX and atom[1] == kind and name in _MADE_OF["elements"])
        return copied or box(kind, *(EMPTY for _ in parts))
    if name in _MADE_OF["elements"]:
        return box(kind, _elements(given))
    if name in _MADE_OF["results"]:
        return box(kind, mapped(inference, call.argument(0) or EMPTY))
    if name in _MADE_OF["first"]:
        return box(kind, inference.expanded(call.argument(0) or EMPTY))
    if len(call.args) == 1 and kind != "optional" and all(atom[0] == BOX and atom[1] == "array" for atom in given):
        inside = _elements(given)
        if all(atom[0] != EXTI or atom[2] not in BOXES for atom in inside):  # a primitive array is one element
            return box(kind, inside)
    return box(kind, given)


def _elements(given: Type) -> Type:
    """Return the type of the elements in `given`.

    `given` is a type of arrays, collections or streams.
    """
    return join_all(atom[2][0] for atom in ordered(given) if atom[0] == BOX and len(atom[2]) == 1)


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
