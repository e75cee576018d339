"""Interfaces of inference, as its parts and the language rules use them.

`evaluation.Evaluation` implements them. Callers import only this module, so that `names`, `classes`, `functions` and the
rules of a language do not depend on each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from graphmem.resolution.call import Call
from graphmem.resolution.file_entry import FileEntry, Place
from graphmem.resolution.project import Project
from graphmem.resolution.symbol import Symbol
from graphmem.resolution.types import Atom, Base, Func, Instance, Receiver, Type


class AsksNames(Protocol):
    """The part of the inference interface that answers what names refer to."""

    def lookup(self, entry: FileEntry, scope: int, name: str, line: int) -> Sequence[Place] | None:
        """Return the places that can define a name at a line; None for none."""
        ...

    def slot(self, place: Place) -> Type:
        """Return the value that a slot gives its name."""
        ...

    def defined(self, symbol: Symbol) -> Type:
        """Return the value of a definition's name."""
        ...

    def binding(self, entry: FileEntry, position: int) -> Type:
        """Return the value that an assignment, `for` or `with` gives its target."""
        ...

    def declared(self, entry: FileEntry, scope: int, term: int) -> Type:
        """Return the type that an annotation names; the empty type for -1."""
        ...

    def module_places(self, path: str, name: str) -> list[Place] | None:
        """Return the places that define a name as a member of a module."""
        ...

    def module_member(self, module: Atom, name: str) -> Type:
        """Return the type of a member of a module.

        The member is a definition, an import or a submodule.
        """
        ...

    def taken(self, entry: FileEntry, module: Atom, name: str) -> Type:
        """Return the value of a name that a file imports from a module."""
        ...


class AsksClasses(Protocol):
    """The part of the inference interface about base classes and attributes."""

    def mro(self, symbol: Symbol) -> tuple[Base, ...]:
        """Return the class and its ancestors in method resolution order."""
        ...

    def bases(self, symbol: Symbol) -> tuple[Base, ...]:
        """Return the direct bases in source order."""
        ...

    def project_classes(self, symbol: Symbol) -> frozenset[Symbol]:
        """Return the project classes in the resolution order, itself included."""
        ...

    def is_enum(self, symbol: Symbol) -> bool:
        """Whether a class is an enumeration, whose members are its instances."""
        ...

    def owner(self, symbol: Symbol, name: str, after: Symbol | None = None) -> Base | None:
        """Return the class in the resolution order that defines an attribute.

        The first outside base if no class of the project defines it. None if there is none.
        """
        ...

    def attribute(self, value: Type, name: str) -> Type:
        """Return the union of an attribute's types over all atoms of a type."""
        ...

    def attribute_of(self, atom: Atom, name: str) -> Type:
        """Return the type of an attribute of one atom."""
        ...

    def answers_for_missing(self, symbol: Symbol, name: str) -> bool:
        """Whether a class defines a hook for missing attributes."""
        ...

    def methods_beginning(self, value: Type, prefix: str) -> Type:
        """Return the methods whose names begin with a prefix."""
        ...

    def methods_of(self, atom: Receiver, prefix: str) -> list[Atom]:
        """Return the bound methods of an object whose names begin with a prefix."""
        ...

    def method_result(self, receiver: Instance, name: str) -> Type:
        """Return the result of calling a method without arguments."""
        ...

    def functions(self, owner: Symbol, name: str) -> list[Symbol]:
        """Return the functions a class itself defines by a name, in source order."""
        ...


class AsksCalls(Protocol):
    """The part of the inference interface about calls and their results."""

    def returned(self, symbol: Symbol) -> Type:
        """Return a function's result before arguments are substituted."""
        ...

    def body_result(self, symbol: Symbol) -> Type:
        """Return the type that a function's body returns, ignoring declarations."""
        ...

    def called(self, callee: Type, call: Call) -> Type:
        """Return the union of the results of calling the atoms of a type."""
        ...

    def called_blindly(self, callee: Type, call: Call) -> Type:
        """Return the result of calling a type with unknown arguments."""
        ...

    def call_atom(self, atom: Atom, call: Call) -> Type:
        """Return the result of calling one atom."""
        ...

    def substituted(self, value: Type, function: Func, call: Call) -> Type:
        """Replace a function's parameters in a result by the call's arguments."""
        ...


class Inference(AsksNames, AsksClasses, AsksCalls, Protocol):
    """The inference interface: types of expressions, names, classes and calls."""

    project: Project
    below: Callable[[Symbol], Sequence[Symbol]]

    def term(self, entry: FileEntry, scope: int, index: int, line: int) -> Type:
        """Return the type of a term at a line of a scope."""
        ...

    def expanded(self, value: Type) -> Type:
        """Replace the parameters in a type by the types known for them."""
        ...

    def receivers(self, entry: FileEntry, scope: int, line: int) -> list[Type]:
        """Return the receivers that blocks imply at a line, innermost first."""
        ...

    def is_steady(self, entry: FileEntry, scope: int, index: int) -> bool:
        """True when a term has the same type on every line of a scope."""
        ...

    def instances(self, value: Type) -> Iterator[Type]:
        """Yield instances of the classes in a type."""
        ...

    def element(self, value: Type) -> Type:
        """Return the element type of an iterable."""
        ...

    def awaited(self, value: Type) -> Type:
        """Return the result of awaiting a value."""
        ...
