"""Score how well arguments and operands fit parameters in C and C++.

Inferred types do not distinguish a pointer from an object. Therefore the source text of the argument and of the parameter is compared, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.parsing.facts import ATTR, INDEX, LITERAL, NAME, STRING, TermIndex
from graphmem.resolution.type_inference.names import is_type_parameter
from graphmem.resolution.values.fitness import CONVERTED, EXACT, IMPOSSIBLE
from graphmem.resolution.values.types import EXTI, INST, Type

if TYPE_CHECKING:
    from graphmem.parsing.facts import Term
    from graphmem.resolution.interfaces.inference import Inference
    from graphmem.resolution.values.symbol import Symbol

TEXTS: Final = frozenset(["basic_string", "string", "string_view", "wstring"])
"""Classes of the library that hold text and take a pointer to characters."""

NUMBERS: Final = frozenset(["bool", "char", "double", "float", "int", "long", "short", "signed", "unsigned", "size_t", "ssize_t"]) | {
    f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
ARGUMENTS: Final = "va_list"
"""The type of a list of arguments. No other type converts to it."""

_CHARACTERS: Final = frozenset(["char", "wchar_t", "char8_t", "char16_t", "char32_t"])
_EMPTY_POINTER: Final = 350
"""Points of a null pointer, which fits every pointer."""


def written(terms: Sequence[Term], index: TermIndex) -> str:
    """Return the last part of a type's name: `string` for `std::string`.

    `index` is the position of the type in the list of expressions `terms`. Type arguments are left out. The result is "" if the type has
    no name.
    """
    found = terms[index] if index >= 0 else None
    while found is not None and found[0] == INDEX:
        found = terms[found[1]]
    return str(found[-1]).rpartition("::")[2] if found is not None and found[0] in (NAME, ATTR) else ""


def is_number(name: str) -> bool:
    """Return whether a type such as `int` or `unsigned long` is a number."""
    return bool(name) and all(word in NUMBERS for word in name.split())


class Declared(NamedTuple):
    """The declared type of a parameter.

    For `const char *name`, `is_pointer` is True and `name` is `char`.
    """

    is_pointer: bool
    name: str
    is_open: bool
    """Whether the type is a type parameter, or not written."""

    classes: frozenset[Symbol]
    plain: str
    """The name of the library's type for which `name` is an alias, else `name`."""


def declared_of(inference: Inference, function: Symbol, annotation: TermIndex) -> Declared:
    """Return the declared type of a parameter of `function`.

    `annotation` is the parameter's type, as a position in the list of expressions of the function's file.
    """
    memo = inference.project.entry(function).memo
    found: Declared = inference.project.solver.ask(
        memo, ("declared", function.index, annotation), _declared, inference, function, annotation
    )
    return found


def _declared(inference: Inference, function: Symbol, annotation: TermIndex) -> Declared:
    entry = inference.project.entry(function)
    types = inference.declared(entry, entry.definitions[function.index].parent, annotation)
    term = entry.terms[annotation] if annotation >= 0 else None
    is_pointer = term is not None and term[0] == INDEX and entry.terms[term[1]] == (NAME, "*")
    name = written(entry.terms, term[2] if is_pointer and term is not None and term[0] == INDEX else annotation)
    is_open = annotation < 0 or is_type_parameter(entry, function.index, annotation)
    outside = {atom[2].rpartition(".")[2] for atom in types if atom[0] == EXTI}
    plain = outside.pop() if len(outside) == len(types) == 1 else name
    return Declared(is_pointer, name, is_open, frozenset(atom[1] for atom in types if atom[0] == INST), plain)


def fit(argument: Term, given: Type, declared: Declared) -> int | None:
    """Score how well an argument in C or C++ fits a parameter.

    `argument` is the argument's expression, and `given` is its inferred type. `declared` is the type of the parameter. A higher score is a
    better fit. None means that the source text does not decide, so the caller must compare the types.
    """
    is_pointer, _, is_open, classes, name = declared
    if is_open:
        return None
    if argument[0] in (STRING, LITERAL) and classes and not is_pointer and all(one.kind == "enum" for one in classes):
        return IMPOSSIBLE
    if name == ARGUMENTS:
        return EXACT if any(atom[0] == EXTI and atom[2] == ARGUMENTS for atom in given) else IMPOSSIBLE
    if argument[0] == STRING:
        if is_pointer:
            return EXACT if name in _CHARACTERS else CONVERTED if name == "void" else IMPOSSIBLE
        return IMPOSSIBLE if is_number(name) else CONVERTED + (name in TEXTS)
    enums = [atom[1].name for atom in given if atom[0] == INST and atom[1].kind == "enum"]
    if enums and len(enums) == len(given):
        return EXACT if name in enums and not is_pointer else CONVERTED if is_number(name) and not is_pointer else IMPOSSIBLE
    if argument[0] == LITERAL:
        return _of_literal(argument[1], name, is_pointer=is_pointer)
    if given and all(atom[0] == EXTI and atom[2].rpartition(".")[2] in TEXTS for atom in given):
        if is_pointer or is_number(name):
            return IMPOSSIBLE
        return EXACT if any(name == atom[2].rpartition(".")[2] for atom in given if atom[0] == EXTI) else CONVERTED
    return None


def fit_pointer(declared: Declared) -> int | None:
    """Score how well a pointer fits a parameter of the type `declared`.

    The result is None if the caller must compare the types of the pointer and the parameter.
    """
    if declared.is_open or declared.is_pointer:
        return None if declared.is_open or declared.classes else EXACT
    if is_number(declared.plain):
        return IMPOSSIBLE
    return 0 if declared.classes else CONVERTED


def fit_value(given: Type, declared: Declared) -> int | None:
    """Score how well a value that is not a pointer fits a parameter.

    `given` is the type of the value, and `declared` that of the parameter. The result is None if the caller must compare the types of the
    value and the parameter.
    """
    if declared.is_pointer and declared.classes and any(atom[0] == INST for atom in given):
        return 0
    numbers = [atom[2].rpartition(".")[2] for atom in given if atom[0] == EXTI]
    if declared.is_open or len(numbers) != len(given) or not numbers or not all(map(is_number, numbers)):
        return None
    if declared.is_pointer or declared.classes:
        return 0
    return (EXACT if declared.plain in numbers else CONVERTED + 1) if is_number(declared.plain) else None


def _of_literal(kind: str, name: str, *, is_pointer: bool) -> int | None:
    if kind == "none":
        return _EMPTY_POINTER if is_pointer else IMPOSSIBLE if is_number(name) else CONVERTED
    if is_pointer:
        return IMPOSSIBLE if kind in ("bool", "char") else 0
    if name in TEXTS:
        return IMPOSSIBLE
    return (EXACT if name == kind else CONVERTED + 1) if is_number(name) else None
