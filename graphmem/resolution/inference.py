"""The questions of inference, as its parts and the rules of languages ask them.

`evaluation.Evaluation` answers them. Whoever asks imports this page alone, so that `names`, `classes`, `functions` and the
rules of a language know nothing of one another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from graphmem.resolution.call import Call
from graphmem.resolution.file_entry import FileEntry, Place
from graphmem.resolution.project import Project
from graphmem.resolution.symbol import Symbol
from graphmem.resolution.types import Atom, Base, Func, Instance, Type


class AsksNames(Protocol):
    """What a name means."""

    def lookup(self, entry: FileEntry, scope: int, name: str, line: int) -> Sequence[Place] | None:
        """The places that can have given a name its value at a line of a scope; None if none does."""
        ...

    def slot(self, place: Place) -> Type:
        """The value a slot gives its name."""
        ...

    def defined(self, symbol: Symbol) -> Type:
        """The value of a definition's name."""
        ...

    def binding(self, entry: FileEntry, position: int) -> Type:
        """The value an assignment (or for, with, …) gives its target."""
        ...

    def declared(self, entry: FileEntry, scope: int, term: int) -> Type:
        """The type an annotation names; the empty one for -1."""
        ...

    def module_places(self, path: str, name: str) -> list[Place] | None:
        """What a name means as a member of a module."""
        ...

    def module_member(self, module: Atom, name: str) -> Type:
        """A name taken from a module: what it defines or imports, or a module below it."""
        ...

    def taken(self, entry: FileEntry, module: Atom, name: str) -> Type:
        """A name a file takes from a module."""
        ...


class AsksClasses(Protocol):
    """What classes inherit, and what an attribute is."""

    def mro(self, symbol: Symbol) -> tuple[Base, ...]:
        """The class and what it inherits from, in look-up order."""
        ...

    def bases(self, symbol: Symbol) -> tuple[Base, ...]:
        """Direct bases in the order written."""
        ...

    def project_classes(self, symbol: Symbol) -> frozenset[Symbol]:
        """The classes of the project in the class's look-up order, itself included."""
        ...

    def is_enum(self, symbol: Symbol) -> bool:
        """True for a class that enumerates its attributes."""
        ...

    def owner(self, symbol: Symbol, name: str, after: Symbol | None = None) -> Base | None:
        """The class in the look-up order that has an attribute; the first outside base when none has; or None."""
        ...

    def attribute(self, value: Type, name: str) -> Type:
        """An attribute of any of these."""
        ...

    def attribute_of(self, atom: Atom, name: str) -> Type:
        """An attribute of one thing."""
        ...

    def answers_for_missing(self, symbol: Symbol, name: str) -> bool:
        """True when a class has a method of its own for attributes that do not exist."""
        ...

    def methods_beginning(self, value: Type, prefix: str) -> Type:
        """Methods of these objects whose names begin with some text."""
        ...

    def method_result(self, receiver: Instance, name: str) -> Type:
        """What calling a method without arguments gives."""
        ...

    def functions(self, owner: Symbol, name: str) -> list[Symbol]:
        """The functions a class itself defines under a name, in source order."""
        ...


class AsksCalls(Protocol):
    """What functions take and give."""

    def returned(self, symbol: Symbol) -> Type:
        """What calling a function gives, before arguments are put in."""
        ...

    def body_result(self, symbol: Symbol) -> Type:
        """What the body of a function returns, whatever it declares."""
        ...

    def called(self, callee: Type, call: Call) -> Type:
        """What calling any of these gives."""
        ...

    def called_blindly(self, callee: Type, call: Call) -> Type:
        """What calling any of these gives when the arguments are not those of the call at hand."""
        ...

    def call_atom(self, atom: Atom, call: Call) -> Type:
        """What calling one thing gives."""
        ...

    def substituted(self, value: Type, function: Func, call: Call) -> Type:
        """A result with the call's arguments in the place of the function's parameters."""
        ...


class Inference(AsksNames, AsksClasses, AsksCalls, Protocol):
    """What expressions are, and everything it takes to find out."""

    project: Project
    below: Callable[[Symbol], Sequence[Symbol]]

    def term(self, entry: FileEntry, scope: int, index: int, line: int) -> Type:
        """The type of a term as code at this line of this scope sees it."""
        ...

    def expanded(self, value: Type) -> Type:
        """The type with parameters replaced by what is known of them."""
        ...

    def is_steady(self, entry: FileEntry, scope: int, index: int) -> bool:
        """True when a term is the same on every line of a scope."""
        ...

    def instances(self, value: Type) -> Iterator[Type]:
        """Instances of the classes a type stands for."""
        ...

    def element(self, value: Type) -> Type:
        """One element of an iterable."""
        ...

    def awaited(self, value: Type) -> Type:
        """What awaiting a value gives."""
        ...
