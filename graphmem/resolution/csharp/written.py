"""Compare the written types of arguments and parameters in C#.

Inferred types leave out the type arguments of delegates and of library types. So `Func<T, bool>` and `Func<T, string>` are told apart by
their source text.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.parsing.facts import ATTR, CALL, INDEX, LAMBDA, LITERAL, NAME, NEW, STRING, TYPED, TermIndex
from graphmem.resolution.csharp.tables import LIBRARY
from graphmem.resolution.files.file_entry import Place
from graphmem.resolution.values.fitness import ANY, CONVERTED, DERIVED, EXACT, IMPOSSIBLE
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.terms import children, items_or_itself, last_name
from graphmem.resolution.values.types import CLASS, FUNC, INST, ordered

if TYPE_CHECKING:
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.call import Argument
    from graphmem.resolution.interfaces.inference import Inference

DELEGATES: Final = LIBRARY.functions
"""Generic types of the library that stand for functions; none converts to another."""

MAX_STEPS: Final = 4
"""Most variables and calls that are followed from a value to a written type."""

_OBJECTS: Final = frozenset(("Object", "dynamic", "object"))
_SAME: Final = {
    "Boolean": "bool",
    "Char": "char",
    "Double": "double",
    "Int32": "int",
    "Int64": "long",
    "Object": "object",
    "String": "string",
}
_OF_CLASS: Final = CONVERTED - 10
"""Points of an argument for a type parameter of the class, which the receiver has bound to some type."""


class Written(NamedTuple):
    """A type as the source writes it: `Func<T, bool>`."""

    name: str
    """The last part of the name; "" for an unknown type."""

    arguments: tuple[Written, ...] = ()
    is_open: bool = False
    """Whether the name is a type parameter."""


UNKNOWN: Final = Written("")


def of_annotation(entry: FileEntry, scope: int, term: TermIndex) -> Written:
    """Return the type that an annotation names, as the source writes it."""
    found = entry.terms[term] if term >= 0 else None
    if found is None:
        return UNKNOWN
    if found[0] == INDEX:
        name = last_name(entry.terms[found[1]])
        return Written(name, tuple(of_annotation(entry, scope, item) for item in items_or_itself(entry.terms, found[2])))
    name = last_name(found)
    return Written(_SAME.get(name, name), (), found[0] == NAME and declares_parameter(entry, scope, name) >= 0)


def declares_parameter(entry: FileEntry, scope: int, name: str) -> int:
    """Return the method or class that declares a type parameter.

    The methods and classes around `scope` are searched. The result is -1 if none declares `name`.
    """
    while scope > 0 and name not in names_of_parameters(entry, entry.symbols[scope]):
        scope = entry.definitions[scope].parent
    return scope if scope > 0 else -1


def names_of_parameters(entry: FileEntry, symbol: Symbol) -> tuple[str, ...]:
    """Return the names of a class's or method's type parameters, in order."""
    kept: dict[int, tuple[str, ...]] = entry.kept.setdefault("type parameters", {})
    found = kept.get(symbol.index)
    if found is None:
        before, bracket, rest = entry.definitions[symbol.index].signature.partition("<")
        while bracket and not before.rstrip().endswith(symbol.name):  # the type of the result comes first
            more, bracket, rest = rest.partition("<")
            before = "" if "(" in more else more
            bracket = "" if "(" in more else bracket
        names = rest.partition(">")[0].split(",") if bracket and "(" not in before else ()
        found = kept[symbol.index] = tuple(words[-1] for name in names if (words := name.split()))
    return found


def is_inferred(entry: FileEntry, symbol: Symbol) -> bool:
    """Whether a method has type parameters that a call need not write.

    This is so if each type parameter occurs in the type of a parameter, so the arguments of a call determine it.
    """
    names = names_of_parameters(entry, symbol)
    if not names:
        return False
    todo = [parameter.annotation for parameter in entry.definitions[symbol.index].parameters if parameter.annotation >= 0]
    used: set[str] = set()
    while todo:
        term = entry.terms[todo.pop()]
        used.add(last_name(term))
        todo += children(term)
    return used.issuperset(names)


def of_value(inference: Inference, entry: FileEntry, scope: int, line: int, term: TermIndex, steps: int = MAX_STEPS) -> Written:
    """Return the type of a value, as the source writes it.

    The value is the expression `term` at a line. It may be a variable, a field, a property, a literal, a new object or the result of a
    function of the project. The type is unknown if several declarations write different types. `steps` limits the number of declarations
    that are followed.
    """
    found = entry.terms[term] if term >= 0 and steps > 0 else None
    if found is None:
        return UNKNOWN
    if found[0] == STRING:
        return Written("string")
    if found[0] == LITERAL:
        return Written(found[1]) if found[1] in ("bool", "char", "double", "int") else UNKNOWN
    if found[0] == NEW:
        return of_annotation(entry, scope, found[1])
    if found[0] == TYPED:
        return of_annotation(entry, scope, found[1])
    if found[0] == NAME:
        return _only(_of_place(inference, place, line, steps) for place in inference.lookup(entry, scope, found[1], line) or ())
    if found[0] == ATTR:
        return _only(_of_member(inference, entry, scope, line, term, steps))
    return _of_result(inference, entry, scope, line, term, steps) if found[0] == CALL else UNKNOWN


def _only(found: Iterator[Written]) -> Written:
    known = set(found)
    return known.pop() if len(known) == 1 else UNKNOWN


def _of_place(inference: Inference, place: Place, line: int, steps: int) -> Written:
    entry, scope, slot = place
    if slot.kind == "parameter":
        return of_annotation(entry, scope, entry.definitions[scope].parameters[slot.index].annotation)
    if slot.kind == "definition":
        definition = entry.definitions[slot.index]
        return of_annotation(entry, slot.index, definition.returns) if "property" in definition.modifiers else UNKNOWN
    if slot.kind != "binding":
        return UNKNOWN
    binding = entry.facts.bindings[slot.index]
    if binding.annotation >= 0:
        return of_annotation(entry, scope, binding.annotation)
    if binding.op != "assign" or binding.scope != scope:
        return UNKNOWN
    return of_value(inference, entry, scope, binding.line, binding.value, steps - 1)


def _of_member(inference: Inference, entry: FileEntry, scope: int, line: int, term: TermIndex, steps: int) -> Iterator[Written]:
    found = entry.terms[term]
    if found[0] != ATTR:
        return
    for atom in ordered(inference.expanded(inference.term(entry, scope, found[1], line))):
        owner = inference.owner(atom[1], found[2]) if atom[0] in (INST, CLASS) else None
        if isinstance(owner, Symbol):
            other = inference.project.entry(owner)
            for slot in other.names(owner.index).get(found[2], ()):
                yield _of_place(inference, Place(other, owner.index, slot), line, steps)


def _of_result(inference: Inference, entry: FileEntry, scope: int, line: int, term: TermIndex, steps: int) -> Written:
    """Return the type of a call's result, as the source writes it.

    For `expression.Compile()`, it is the function type `F` of an `Expression<F>`. `steps` limits the number of declarations that are
    followed.
    """
    found = entry.terms[term]
    if found[0] != CALL:
        return UNKNOWN
    called = entry.terms[found[1]]
    if called[0] == ATTR and called[2] == "Compile":
        held = of_value(inference, entry, scope, line, called[1], steps - 1)
        return held.arguments[0] if held.name == "Expression" and held.arguments else UNKNOWN
    functions = [atom[1] for atom in ordered(inference.expanded(inference.term(entry, scope, found[1], line))) if atom[0] == FUNC]
    return _only(_returned(inference, function) for function in functions)


def _returned(inference: Inference, function: Symbol) -> Written:
    """Return the declared result type of a function, without type parameters."""
    entry = inference.project.entry(function)
    return _closed(of_annotation(entry, function.index, entry.definitions[function.index].returns))


def _closed(written: Written) -> Written:
    if written.is_open:
        return UNKNOWN
    return written._replace(arguments=tuple(map(_closed, written.arguments))) if written.arguments else written


class Fitting:
    """Scores how well one argument fits parameters, by the written types.

    Args:
        inference: finds the declarations of values.
        argument: the argument.
        finals: the types without subclasses.
    """

    def __init__(self, inference: Inference, argument: Argument, finals: frozenset[str]) -> None:
        self.inference = inference
        self.argument = argument
        self.finals = finals

    def points(self, function: Symbol, annotation: TermIndex) -> int | None:
        """Score how well the argument fits a parameter.

        `annotation` declares the parameter. None means that the written types do not decide.
        """
        entry = self.inference.project.entry(function)
        wanted = of_annotation(entry, function.index, annotation)
        if wanted.is_open:
            around = declares_parameter(entry, function.index, wanted.name)
            return None if around == function.index else self._of_class(entry.symbols[around], wanted.name)
        if self.argument.entry.terms[self.argument.term][0] == LAMBDA:
            return IMPOSSIBLE if wanted.name in _OBJECTS or wanted.name in self.finals else None
        if not wanted.arguments and wanted.name in self.finals:
            return None
        given = self._value(self.argument.term)
        if not given.name or not wanted.name:
            return None
        if not wanted.arguments and not given.arguments:
            return EXACT if wanted.name == given.name and not given.is_open else None
        return _fit(given, wanted, self.finals) or None

    def _of_class(self, owner: Symbol, name: str) -> int | None:
        """Score the fit for a type parameter of the class whose method is called.

        `owner` is the class, and `name` the type parameter. None means that the declaration of
        the receiver does not write that type.
        """
        receiver = self._value(self.argument.receiver)
        names = names_of_parameters(self.inference.project.entry(owner), owner)
        if receiver.name != owner.name or len(receiver.arguments) != len(names) or name not in names:
            return None
        wanted, given = receiver.arguments[names.index(name)], self._value(self.argument.term)
        if not wanted.name or not given.name:
            return _OF_CLASS
        if wanted == given:
            return EXACT
        return IMPOSSIBLE if wanted.is_open or given.is_open or {wanted.name, given.name} <= self.finals else _OF_CLASS

    def _value(self, term: TermIndex) -> Written:
        entry, scope, line = self.argument.entry, self.argument.scope, self.argument.line
        return of_value(self.inference, entry, scope, line, term)


def _fit(given: Written, wanted: Written, finals: frozenset[str]) -> int:
    """Score how well the written type `given` fits the type `wanted`.

    `finals` are the types without subclasses. The result is -1 if the type does not fit, and 0 if that is unknown.
    """
    if not given.name or not wanted.name:
        return 0
    if wanted.is_open:
        return ANY - 100
    if given.name == wanted.name and given.is_open == wanted.is_open:
        if len(given.arguments) == len(wanted.arguments):
            return _of_arguments(given, wanted, finals)
        return CONVERTED if not wanted.arguments else IMPOSSIBLE  # a `Task<T>` is a `Task`
    if wanted.name in _OBJECTS:
        return CONVERTED
    if given.is_open or {given.name, wanted.name} <= finals:
        return IMPOSSIBLE
    is_function = [one.name in DELEGATES for one in (given, wanted)]
    if all(is_function) or (any(is_function) and (given.name in finals or wanted.name in finals)):
        return IMPOSSIBLE
    return 0


def _of_arguments(given: Written, wanted: Written, finals: frozenset[str]) -> int:
    """Score how well the type arguments of two types of one name fit.

    `given` is the type of an argument, `wanted` that of the parameter, and `finals` are the types without subclasses. The result is `EXACT`
    if all are equal. Each type argument that is a type parameter of the function lowers the score.
    """
    total = EXACT
    for left, right in zip(given.arguments, wanted.arguments, strict=True):
        points = _fit(left, right, finals)
        if points == IMPOSSIBLE or (right.name in _OBJECTS and left.name in finals):
            return IMPOSSIBLE
        total -= (EXACT - points) // (4 * len(wanted.arguments)) if points else DERIVED // (4 * len(wanted.arguments))
    return total
