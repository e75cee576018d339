"""Result types of JavaScript's built-in functions that return an argument.

A table lists functions that return an argument or a part of one. Examples are an element of an array, the value of a promise, and a wrapped
component.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.resolution.ecmascript import third_party
from graphmem.resolution.ecmascript.tables import LIBRARY
from graphmem.resolution.ecmascript.third_party import first, type_arguments
from graphmem.resolution.values.types import (
    BOX,
    EMPTY,
    EXTI,
    OBJ,
    TUP,
    UNTYPED,
    Container,
    Outside,
    Package,
    Type,
    box,
    join,
    join_all,
    one,
    ordered,
    partial,
    tuple_of,
)

if TYPE_CHECKING:
    from graphmem.resolution.interfaces.call import Call
    from graphmem.resolution.interfaces.inference import Inference

PACKAGE: Final = Package("ecmascript")
"""Package name for the globals of the language and the platform."""

Known = Callable[["Inference", "Call"], Type]

GLOBALS: Final = LIBRARY.globals

COMMON_METHODS: Final = LIBRARY.common
"""Method names too common to identify a target when the receiver's type is unknown."""


METHODS_OF_FUNCTIONS: Final = "Function"
"""Box kind for a function whose own method is accessed: `run.bind` in `run.bind(this)`."""

# Generic types of the language, grouped by how their arguments describe the values they hold.
ARRAYS: Final = {name: kind for kind, names in LIBRARY.containers.items() for name in names}
MAPS: Final = LIBRARY.maps
TRANSPARENT: Final = LIBRARY.transparent
TYPE_HELPERS: Final = LIBRARY.type_helpers

GLOBAL_TYPES: Final = GLOBALS | ARRAYS.keys() | MAPS | TRANSPARENT | TYPE_HELPERS
"""Type names that need no import in an annotation."""

EXTENDED_TYPES: Final = LIBRARY.extended_types
"""Types of the platform to which projects add members, beside `GLOBAL_TYPES`."""


def _element(inference: Inference, call: Call) -> Type:
    return inference.element(inference.expanded(call.argument(0) or EMPTY))


def _array_from(inference: Inference, call: Call) -> Type:
    element = _element(inference, call)
    mapper = call.argument(1)
    return box("list", element if mapper is None else _given(inference, mapper, call, element))


def _array_of(inference: Inference, call: Call) -> Type:
    return box("list", call.rest(0))


def _set(inference: Inference, call: Call) -> Type:
    return box("set", join(_element(inference, call), join_all(type_arguments(inference, call))))


def _array(inference: Inference, call: Call) -> Type:
    return box("list", join_all(type_arguments(inference, call)))


def _map(inference: Inference, call: Call) -> Type:
    keys = values = EMPTY
    said = type_arguments(inference, call)
    if len(said) == 2:
        keys, values = said
    for pair in ordered(inference.expanded(_element(inference, call))):
        if pair[0] == TUP and len(pair[1]) == 2:
            keys, values = join(keys, pair[1][0]), join(values, pair[1][1])
        elif pair[0] == BOX and pair[1] == "list":
            keys, values = join(keys, pair[2][0]), join(values, pair[2][0])
    return box("dict", keys, values)


def _promise(inference: Inference, call: Call) -> Type:
    return box("await", inference.awaited(inference.expanded(call.argument(0) or EMPTY)))


def _promise_all(inference: Inference, call: Call) -> Type:
    found = EMPTY
    for atom in ordered(inference.expanded(call.argument(0) or EMPTY)):
        if atom[0] == TUP:
            found = join(found, tuple_of([inference.awaited(inference.expanded(part)) for part in atom[1]]))
        else:
            found = join(found, box("list", inference.awaited(inference.element(frozenset((atom,))))))
    return box("await", found)


def _promise_race(inference: Inference, call: Call) -> Type:
    return box("await", inference.awaited(_element(inference, call)))


def _values(inference: Inference, call: Call) -> Type:
    found = EMPTY
    for atom in ordered(inference.expanded(call.argument(0) or EMPTY)):
        if atom[0] == OBJ:
            found = join(found, join_all(value for _, value in atom[1]))
        elif atom[0] == BOX and atom[1] == "dict":
            found = join(found, atom[2][1])
        elif atom[0] == BOX and atom[2]:
            found = join(found, atom[2][0])
    return box("list", found)


def _entries(inference: Inference, call: Call) -> Type:
    text = one((EXTI, PACKAGE, "str", None))
    return box("list", tuple_of([text, inference.element(_values(inference, call))]))


def _all(inference: Inference, call: Call) -> Type:
    """Return the type of `Object.assign(a, b, …)`.

    The call returns its first argument with the members of the others. So the type is the union of the arguments' types.
    """
    return call.rest(0)


def _new_promise(inference: Inference, call: Call) -> Type:
    return box("await", join_all(type_arguments(inference, call)))


CALLS: Final[Mapping[tuple[str, str], Known]] = {
    (PACKAGE, "Array.from"): _array_from,
    (PACKAGE, "Array.of"): _array_of,
    (PACKAGE, "Array"): _array,
    (PACKAGE, "Set"): _set,
    (PACKAGE, "WeakSet"): _set,
    (PACKAGE, "WeakMap"): _map,
    (PACKAGE, "Promise"): _new_promise,
    (PACKAGE, "Map"): _map,
    (PACKAGE, "Promise.resolve"): _promise,
    (PACKAGE, "Promise.all"): _promise_all,
    (PACKAGE, "Promise.allSettled"): _promise_all,
    (PACKAGE, "Promise.race"): _promise_race,
    (PACKAGE, "Promise.any"): _promise_race,
    (PACKAGE, "Object.values"): _values,
    (PACKAGE, "Object.entries"): _entries,
    (PACKAGE, "Object.assign"): _all,
    **{(PACKAGE, f"Object.{name}"): first for name in ("freeze", "seal", "defineProperty", "defineProperties", "setPrototypeOf")},
    (PACKAGE, "structuredClone"): first,
    **third_party.CALLS,
}
"""(package, name) of an external function → its result type."""


def _given(inference: Inference, callback: Type, call: Call, *passed: Type) -> Type:
    """Return the result type of a callback, given the types of its arguments.

    The further arguments of this function, `passed`, are these types. `call` is the call to which the callback was passed.
    """
    inner = type(call)(inference, call.entry, call.scope, call.line, passed=passed)
    return inference.expanded(inference.called(inference.expanded(callback), inner))


_SAME: Final = LIBRARY.same
_EACH: Final = LIBRARY.each
"""Array methods that call a function with each element."""

_ELEMENT: Final = LIBRARY.elements


def container_method(inference: Inference, container: Container, name: str, call: Call) -> Type:
    """Return the type of a method call on an array, set, map or promise."""
    if container[0] == TUP:
        _, items, _ = container
        kind = "list"
        parts: tuple[Type, ...] = (join_all(items),)
        same = box(kind, *parts)
    elif container[0] == BOX:
        _, kind, parts, _ = container
        same = frozenset((container,))
    else:
        return EMPTY
    if kind == "await":
        return _promise_method(inference, same, parts[0], name, call)
    if kind == METHODS_OF_FUNCTIONS:
        return partial(parts[0])
    if not parts:
        return EMPTY
    element = parts[-1]
    if kind == "dict":
        if name == "get":
            return element
        if name in ("values", "keys"):
            return box("iter", element if name == "values" else parts[0])
        return box("iter", tuple_of([parts[0], element])) if name == "entries" else same if name == "set" else EMPTY
    if name in _SAME or name == "add":
        return same
    if name in _ELEMENT:
        return element
    if name in ("values", "keys"):
        return box("iter", element)
    if name == "entries":
        return box("iter", tuple_of([one((EXTI, PACKAGE, "int", None)), element]))
    if name in ("map", "flatMap"):
        given = _given(inference, call.argument(0) or EMPTY, call, element)
        return box("list", given if name == "map" else join(inference.element(given), EMPTY))
    if name == "flat":
        return box("list", inference.element(inference.expanded(element)))
    if name in ("reduce", "reduceRight"):
        initial = call.argument(1)
        return _given(inference, call.argument(0) or EMPTY, call, initial if initial is not None else element, element)
    return EMPTY


def callback_parameter(inference: Inference, container: Container, name: str, argument: int, index: int) -> Type:
    """Return the type that a container's method passes to its callback.

    For `xs.map(callback)`, this is the type of the elements of `xs`.

    Args:
        inference: infers the types of expressions.
        container: the array, set, map or promise whose method is called.
        name: name of the method.
        argument: position of the callback among the method's arguments.
        index: position of the parameter of the callback.
    """
    element = inference.element(frozenset((container,)))
    kind = container[1] if container[0] == BOX else "tuple"
    if kind == "await":
        return inference.awaited(frozenset((container,))) if name == "then" and argument == 0 and index == 0 else EMPTY
    if container[0] == BOX and kind == "dict":
        return (container[2][1], container[2][0])[index] if name == "forEach" and index < 2 else EMPTY
    if argument or kind not in ("list", "tuple", "set", "iter"):
        return EMPTY
    if name in _EACH and index == 0:
        return element
    if name in ("sort", "toSorted") and index < 2:
        return element
    return element if name in ("reduce", "reduceRight") and index == 1 else EMPTY


def _promise_method(inference: Inference, same: Type, given: Type, name: str, call: Call) -> Type:
    if name == "then":
        return box("await", inference.awaited(_given(inference, call.argument(0) or EMPTY, call, given)))
    return same if name in ("catch", "finally") else EMPTY


def outside_type(atom: Outside) -> Type:
    """Return the type of an external type name without type arguments.

    `Array` gives an array of unknown elements, and `Promise` an external object.
    """
    _, package, dotted, _ = atom
    if package == PACKAGE:
        if dotted in ARRAYS:
            return box(ARRAYS[dotted], EMPTY)
        if dotted in MAPS:
            return box("dict", EMPTY, EMPTY)
        if dotted in TYPE_HELPERS:
            return one((UNTYPED,))
    return one((EXTI, package, dotted, None))


def known_generic(name: str, parts: Sequence[Type]) -> Type:
    """Return the type of a built-in generic type such as `Promise<User>`.

    `name` is the generic type, here `Promise`. `parts` are the types in its angle brackets, of which there must be at least one.
    """
    if name in ARRAYS:
        return box(ARRAYS[name], parts[0])
    if name in MAPS:
        return box("dict", parts[0], parts[1] if len(parts) > 1 else EMPTY)
    if name in TRANSPARENT:
        return parts[0]
    return one((UNTYPED,))
