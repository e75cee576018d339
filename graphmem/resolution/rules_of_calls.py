"""What calls give in a language: parameters, results, operators, libraries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

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


class CallRules:
    """Calls of functions that pass nothing along by themselves."""

    constructors: Sequence[str] = ()
    """Methods that run when a class is called, in the order they run."""

    call_method: str = ""
    """Method that runs when an instance is called; "" where instances cannot be."""

    has_overloads: bool = False
    """True where functions of one name are told apart by their parameters."""

    functions_take_types: bool = False
    """True where a function or a type in front of brackets is given types in them, and no element is taken: `Map[int](…)`."""

    decorators_are_types: bool = False
    """True where what stands before a definition is no function that is called, but a type that says something of it (`@Named("x")`)."""

    libraries_give_anything: bool = False
    """True where what a library's function gives may be an object of the project, so that its methods may be found by name."""

    libraries_hand_back: bool = False
    """True where a library that is given a class of the project as a type argument may give objects of it: `Pointer[T].Load()`."""

    type_tests: Collection[str] = ()
    """Functions that ask whether something is an instance of their second argument."""

    def function_attribute(self, inference: Inference, function: Func, name: str) -> Type:
        """An attribute of a function."""
        return EMPTY

    def constructed(self, inference: Inference, function: Symbol) -> Type:
        """What `new` makes of a function."""
        return EMPTY

    def call_external(self, inference: Inference, atom: Outside, call: Call) -> Type | None:
        """What calling something outside the project gives, where the library is known; None where it is not."""
        return None

    def given_outside(self, inference: Inference, atom: Outside, call: Call) -> Collection[Symbol]:
        """Classes of the project of which something outside may give objects because a call of it is given them."""
        return ()

    def container_method(self, inference: Inference, container: Container, name: str, call: Call) -> Type:
        """What a method of a list, dictionary … gives."""
        return EMPTY

    def result(self, inference: Inference, symbol: Symbol, value: Type) -> Type:
        """What calling a function gives, from what its body returns or declares: wraps results of coroutines and the like."""
        return value

    def decorate(self, inference: Inference, entry: FileEntry, symbol: Symbol, decorator: int, current: Type) -> Type:
        """What a decorator adds to the things the decorated name may be."""
        return EMPTY

    def implicit_argument(self, inference: Inference, symbol: Symbol, index: int) -> Type:
        """What a framework passes for a parameter nobody passes in the source (test fixtures)."""
        return EMPTY

    def implicit_calls(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """Functions a framework runs for a definition because of how it is written (test fixtures)."""
        return ()

    def operations(self, entry: FileEntry, term: int) -> Sequence[tuple[int, str]]:
        """Methods the language calls for an operator, a subscript, a loop or a block: (term of the receiver, name)."""
        return ()

    def implied(self, inference: Inference, entry: FileEntry, reference: Reference) -> Iterable[tuple[Symbol, int]]:
        """What the language runs besides at a call or an operation, where more than a name decides: a function, among how many it was."""
        return ()

    def operated(self, inference: Inference, receiver: Instance, sign: str, *, is_unary: bool) -> Type:
        """What an operator gives whose left, or only, operand is an object of a class."""
        return EMPTY

    def iterated(self, inference: Inference, receiver: Instance) -> Type:
        """One element of an object of a class."""
        return EMPTY

    def next_step(self, name: str) -> str:
        """The method called again and again on what a special method gave; "" for none."""
        return ""

    def runs_on_definition(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """Functions of the project the language runs when it comes to the definition of a class."""
        return ()

    def called_through(self, package: str, dotted: str) -> Sequence[str]:
        """Methods a function outside the project calls on its first argument."""
        return ()

    def takes(self, definition: Definition, positional: int, keywords: Sequence[str], *, bound: bool) -> bool:
        """True when a call with so many arguments can be meant for this definition."""
        return True

    def may_be(self, given: Instance | ExtInstance, classes: Collection[Symbol], outside: Collection[tuple[str, str]]) -> bool:
        """False when something from outside cannot be passed for a parameter of these types."""
        return True
