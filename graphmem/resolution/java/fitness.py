"""Score how well arguments fit parameters in Java.

The best fit is a subtype, then a widened number, then `Object`, and last a boxed value. An array fits only an array or `Object`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.resolution.java.tables import LIBRARY
from graphmem.resolution.values.fitness import ANY, CONVERTED, DERIVED, EXACT, IMPOSSIBLE
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.types import (
    BOX,
    EXTI,
    FUNC,
    INST,
    LAM,
    TUP,
    Atom,
    Box,
    ExtInstance,
    Instance,
    Package,
    Type,
    join_all,
    ordered,
)

if TYPE_CHECKING:
    from graphmem.resolution.interfaces.inference import Inference

JAVA: Final = Package("java.lang")
NUMBERS: Final = ("byte", "short", "int", "long", "float", "double")
"""Primitive numbers; each is widened to those after it."""

PRIMITIVES: Final = frozenset(["boolean", "char", *NUMBERS])
BOXES: Final = LIBRARY.boxes
UNBOXED: Final = {boxed: primitive for primitive, boxed in BOXES.items()}
FINAL: Final = frozenset(["String", "Class", *PRIMITIVES, *UNBOXED])
ARRAYS: Final = frozenset(["array", "tuple"])
"""Kinds of containers that are arrays; a parameter that collects arguments is a `tuple`."""

_ABOVE: Final = LIBRARY.above
_OF_NUMBERS: Final = ("Number", "Comparable", "Serializable")
_OF_ENUMS: Final = ("Enum", "Comparable", "Serializable")
_OF_ARRAYS: Final = ("Cloneable", "Serializable")
_WIDENED: Final = 390
_STEP: Final = 10
_OBJECT: Final = 50
"""Points of an object for a parameter of type `Object`."""

TYPE_PARAMETER: Final = 60
"""Points of an argument for a parameter whose type is a type parameter without a bound."""

_UNKNOWN: Final = 40
"""Points of an argument whose relation to the declared type is unknown."""


def fit(inference: Inference, given: Type, declared: Type) -> int:
    """Score how well an argument fits a Java parameter; -1 if it does not.

    `given` is the type of the argument, and `declared` that of the parameter. A higher score is a better fit.
    """
    points = 0
    for atom in ordered(given):
        best = max((_fit(inference, atom, one) for one in declared), default=0)
        if best < 0:
            return IMPOSSIBLE
        points = max(points, best)
    return points


def _fit(inference: Inference, given: Atom, declared: Atom) -> int:
    if declared[0] == INST or declared[0] == EXTI or declared[0] == BOX:
        if given == declared:
            return EXACT
        if given[0] == EXTI:
            return _of_library(given, declared)
        if given[0] == INST:
            return _of_project(inference, given, declared)
        if given[0] == BOX or given[0] == TUP:
            return _of_container(inference, given, declared) if given[0] == BOX else _UNKNOWN
        if given[0] == LAM or given[0] == FUNC:
            return _of_function(declared)
    return 0


def is_unknown(atom: Atom) -> bool:
    """Whether `atom` is the unknown type of a call of Java's library."""
    return atom[0] == EXTI and ("(" in atom[2] or "[" in atom[2])


def _name(atom: Atom) -> str:
    """Return the simple name of an external type; "" for a project's type."""
    if atom[0] != EXTI:
        return ""
    return "String" if atom[1] == JAVA and atom[2] == "str" else atom[2].rpartition(".")[2]


def _of_library(given: ExtInstance, declared: Instance | ExtInstance | Box) -> int:
    if is_unknown(given):
        return 0
    name, wanted = _name(given), _name(declared)
    if name == wanted:
        return EXACT
    if name in PRIMITIVES:
        return _of_primitive(name, wanted)
    if declared[0] == INST:
        return IMPOSSIBLE
    if declared[0] == BOX:
        return IMPOSSIBLE if declared[1] in ARRAYS or name in FINAL else _UNKNOWN
    if wanted == "Object":
        return _OBJECT
    if name in UNBOXED and wanted in PRIMITIVES:
        steps = _widened(UNBOXED[name], wanted)
        return CONVERTED - steps if steps >= 0 else IMPOSSIBLE
    above = _ABOVE.get(name, _OF_NUMBERS if name in UNBOXED else ())
    if wanted in above:
        return DERIVED - above.index(wanted)
    return IMPOSSIBLE if name in FINAL or wanted in FINAL or name == "Object" else _UNKNOWN


def _of_primitive(name: str, wanted: str) -> int:
    if wanted in PRIMITIVES:
        steps = _widened(name, wanted)
        return _WIDENED - _STEP * steps if steps >= 0 else IMPOSSIBLE
    boxed = BOXES[name]
    if wanted == boxed:
        return CONVERTED
    if wanted == "Object":
        return _OBJECT - _STEP
    return CONVERTED - _STEP if wanted in _ABOVE.get(boxed, _OF_NUMBERS) else IMPOSSIBLE


def _widened(name: str, wanted: str) -> int:
    """Return the number of steps to widen one primitive type to another.

    `name` is widened to `wanted`, for example `int` to `long`. The result is 0 for the same type, and negative if `name` cannot be widened
    to `wanted`.
    """
    if name == wanted:
        return 0
    first = "short" if name == "char" else name
    if first not in NUMBERS or wanted not in NUMBERS or (name == "char" and wanted == "short"):
        return -1
    return NUMBERS.index(wanted) - NUMBERS.index(first)


def _of_project(inference: Inference, given: Instance, declared: Instance | ExtInstance | Box) -> int:
    line = inference.mro(given[1])
    if declared[0] == INST:
        return max(DERIVED - line.index(declared[1]), CONVERTED) if declared[1] in line else IMPOSSIBLE
    wanted = _name(declared)
    if wanted == "Object":
        return _OBJECT
    if wanted in FINAL or (declared[0] == BOX and declared[1] in ARRAYS):
        return IMPOSSIBLE
    outside = [base[2].rpartition(".")[2] for base in line if not isinstance(base, Symbol)]
    if wanted in outside or (inference.is_enum(given[1]) and wanted in _OF_ENUMS):
        return DERIVED - _STEP
    return _UNKNOWN if outside or given[1].kind == "interface" else IMPOSSIBLE


def _of_container(inference: Inference, given: Box, declared: Instance | ExtInstance | Box) -> int:
    wanted = _name(declared)
    if given[1] in ARRAYS:
        if declared[0] == BOX and declared[1] in ARRAYS:
            return _of_array(inference, given, declared)
        return _OBJECT if wanted == "Object" or wanted in _OF_ARRAYS else IMPOSSIBLE
    if declared[0] == BOX:
        if given[1] == declared[1]:
            return DERIVED
        return CONVERTED if declared[1] == "iterable" and given[1] == "list" else IMPOSSIBLE
    if wanted == "Object":
        return _OBJECT
    return IMPOSSIBLE if declared[0] == INST or wanted in FINAL else _UNKNOWN


def _of_array(inference: Inference, given: Box, declared: Box) -> int:
    """Score how well an array fits a parameter that is an array.

    `given` and `declared` are the types of the array and of the parameter. Elements of primitive types must have the same type. Other
    elements may be of a subtype.
    """
    element, wanted = (join_all(box[2][:1]) for box in (given, declared))
    of_values, wants_values = (any(_name(atom) in PRIMITIVES for atom in value) for value in (element, wanted))
    if of_values or wants_values:
        return EXACT if element == wanted else IMPOSSIBLE
    points = fit(inference, element, wanted) if wanted else DERIVED
    return ANY + points // 8 if points >= 0 else IMPOSSIBLE


def _of_function(declared: Instance | ExtInstance | Box) -> int:
    """Score how well a lambda fits a parameter of the type `declared`.

    A lambda fits an interface, and a library type that may be an interface.
    """
    if declared[0] == INST:
        return _UNKNOWN if declared[1].kind == "interface" else IMPOSSIBLE
    if declared[0] == BOX:
        return _UNKNOWN if declared[1] == "holder" else IMPOSSIBLE
    wanted = _name(declared)
    return IMPOSSIBLE if wanted in FINAL or wanted in ("Object", "CharSequence", "Number") else _UNKNOWN
