"""Rules of a language for calls.

They cover parameters, results, operators and libraries.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphmem.resolution.types import (
    EMPTY,
    Container,
    ExtInstance,
    Func,
    Instance,
    Outside,
    Type,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Definition, Reference
    from graphmem.resolution.call import Call
    from graphmem.resolution.file_entry import FileEntry
    from graphmem.resolution.inference import Inference
    from graphmem.resolution.symbol import Symbol


class Run(NamedTuple):
    """A method that the language calls on an operand.

    It is the first of `names` that the operand's class has.
    """

    operand: int  # term
    names: Sequence[str]


class Through(NamedTuple):
    """What a function outside the project does with some of its arguments.

    It calls the first of `names` that the argument's class has. Without names, it calls the argument itself.
    """

    names: Sequence[str]
    first: int = 0  # positional arguments from here
    last: int = 1  # to before here
    keyword: str = ""  # or the argument of this name


class CallRules:
    """Default rules: calls pass no implicit values."""

    constructors: Sequence[str] = ()
    """Methods that run when a class is called, in order."""

    call_method: str = ""
    """Method that runs when an instance is called; "" for none."""

    has_overloads: bool = False
    """Whether parameters distinguish functions of one name."""

    functions_take_types: bool = False
    """Whether brackets after a function or type contain types: `Map[int](…)`.

    No element is taken then.
    """

    decorators_are_types: bool = False
    """Whether a decorator is a type, not a called function: `@Named("x")`."""

    libraries_give_anything: bool = False
    """Whether a library function may return an object of the project.

    Its methods may then be found by name.
    """

    libraries_hand_back: bool = False
    """Whether a library returns objects of a class given as a type argument.

    An example is `Pointer[T].Load()`.
    """

    type_tests: Collection[str] = ()
    """Functions that test for an instance of their second argument."""

    def function_attribute(self, inference: Inference, function: Func, name: str) -> Type:
        """An attribute of a function."""
        return EMPTY

    def constructed(self, inference: Inference, function: Symbol) -> Type:
        """Result of `new` on a function."""
        return EMPTY

    def call_external(self, inference: Inference, atom: Outside, call: Call) -> Type | None:
        """Result of calling an external function, or None if unknown."""
        return None

    def given_outside(self, inference: Inference, atom: Outside, call: Call) -> Collection[Symbol]:
        """Classes of the project passed to an external call.

        The external function may return objects of them.
        """
        return ()

    def container_method(self, inference: Inference, container: Container, name: str, call: Call) -> Type:
        """Result of a method of a list, dictionary or other container."""
        return EMPTY

    def result(self, inference: Inference, symbol: Symbol, value: Type) -> Type:
        """Result of a call, from the values that the body returns or declares.

        Results of coroutines and the like are wrapped.
        """
        return value

    def decorate(self, inference: Inference, entry: FileEntry, symbol: Symbol, decorator: int, current: Type) -> Type:
        """Meanings that a decorator adds to the decorated name."""
        return EMPTY

    def implicit_argument(self, inference: Inference, symbol: Symbol, index: int) -> Type:
        """Value that a framework passes for a parameter, such as a test fixture."""
        return EMPTY

    def implicit_calls(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """Functions that a framework runs for a definition, such as test fixtures."""
        return ()

    def operations(self, entry: FileEntry, term: int) -> Sequence[Run]:
        """Methods that the language calls for an operation.

        Operations are operators, subscripts, loops and blocks.
        """
        return ()

    def implied(self, inference: Inference, entry: FileEntry, reference: Reference) -> Iterable[tuple[Symbol, int]]:
        """Functions that the language also runs at a call or an operation.

        These are cases where more than a name decides. Each comes with the number of alternatives.
        """
        return ()

    def operated(self, inference: Inference, receiver: Instance, sign: str, *, is_unary: bool) -> Type:
        """Result of an operator whose first operand is an object of a class."""
        return EMPTY

    def iterated(self, inference: Inference, receiver: Instance) -> Type:
        """One element of an object of a class."""
        return EMPTY

    def next_step(self, name: str) -> str:
        """Method called repeatedly on a special method's result; "" for none."""
        return ""

    def runs_on_definition(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """Functions of the project that run when a class is defined."""
        return ()

    def called_through(self, package: str, dotted: str) -> Sequence[Through]:
        """Return what a function outside the project does with its arguments."""
        return ()

    def takes(self, definition: Definition, positional: int, keywords: Sequence[str], *, bound: bool) -> bool:
        """Whether a call with this number of arguments can mean this definition."""
        return True

    def overload_group(self, entry: FileEntry, symbol: Symbol) -> tuple[str, int, str]:
        """The key of functions among which the arguments of a call choose."""
        return symbol.path, entry.definitions[symbol.index].parent, symbol.name

    def overrides(self, inference: Inference, base: Symbol, method: Symbol) -> bool:
        """Whether a method of a subclass overrides one of the same name."""
        return True

    def may_run(self, entry: FileEntry, other: FileEntry) -> bool:
        """Whether a call in one file can run an override in another."""
        return True

    def may_be(self, given: Instance | ExtInstance, classes: Collection[Symbol], outside: Collection[tuple[str, str]]) -> bool:
        """Whether an external value can be passed for a parameter of these types."""
        return True
