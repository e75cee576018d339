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
    """The part of the inference interface that resolves names."""

    def lookup(self, entry: FileEntry, scope: int, name: str, line: int) -> Sequence[Place] | None:
        """Return the bindings (places) that can define a name at a line.

        None if there are none.
        """
        ...

    def slot(self, place: Place) -> Type:
        """Return the type that one binding (a slot) gives its name."""
        ...

    def defined(self, symbol: Symbol) -> Type:
        """Return the type of the name that a definition binds."""
        ...

    def binding(self, entry: FileEntry, position: int) -> Type:
        """Return the type that an assignment, `for` or `with` gives its target."""
        ...

    def declared(self, entry: FileEntry, scope: int, term: int) -> Type:
        """Return the type that an annotation names; the empty type for -1."""
        ...

    def module_places(self, path: str, name: str) -> list[Place] | None:
        """Return the bindings (places) of a name that is a member of a module."""
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
        """Return a class and its ancestors, without those outside the project."""
        ...

    def is_enum(self, symbol: Symbol) -> bool:
        """Whether a class is an enumeration, whose members are its instances."""
        ...

    def owner(self, symbol: Symbol, name: str, after: Symbol | None = None) -> Base | None:
        """Return the class in the resolution order that defines an attribute.

        If no class of the project defines it, the result is the first external base (`EXT`). None if there is none.
        """
        ...

    def attribute(self, value: Type, name: str) -> Type:
        """Return the type of an attribute `x.name`, given the type of `x`.

        It is the union over all alternatives (atoms) of that type.
        """
        ...

    def attribute_of(self, atom: Atom, name: str) -> Type:
        """Return the type of an attribute of one atom (one alternative of a type)."""
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
        """Return the functions that a class itself defines under a name.

        They are in source order. Overload signatures are left out if there is an implementation.
        """
        ...


class AsksCalls(Protocol):
    """The part of the inference interface about calls and their results."""

    def returned(self, symbol: Symbol) -> Type:
        """Return the type of a function's result before arguments are substituted.

        It may contain the function's parameters (`PARAM`, `TYPEVAR`, `SELFTYPE`), which `substituted` replaces by the arguments of a call.
        """
        ...

    def body_result(self, symbol: Symbol) -> Type:
        """Return the type that a function's body returns, ignoring declarations."""
        ...

    def called(self, callee: Type, call: Call) -> Type:
        """Return the result type of a call, given the type of the callee.

        It is the union over all alternatives (atoms) of that type.
        """
        ...

    def called_blindly(self, callee: Type, call: Call) -> Type:
        """Return the result type of a call whose arguments are unknown."""
        ...

    def call_atom(self, atom: Atom, call: Call) -> Type:
        """Return the result type of calling one atom (one alternative of a type)."""
        ...

    def substituted(self, value: Type, function: Func, call: Call) -> Type:
        """Replace a function's parameters in a result type by a call's arguments."""
        ...


class Inference(AsksNames, AsksClasses, AsksCalls, Protocol):
    """The inference interface: types of expressions, names, classes and calls."""

    project: Project
    below: Callable[[Symbol], Sequence[Symbol]]

    def term(self, entry: FileEntry, scope: int, index: int, line: int) -> Type:
        """Return the type of an expression (a term) at a line of a scope.

        `index` is the position of the expression in the file's list of terms.
        """
        ...

    def expanded(self, value: Type) -> Type:
        """Replace each function parameter in a type by the parameter's own type.

        The annotation, the default or the callers of the function give that type.
        """
        ...

    def receivers(self, entry: FileEntry, scope: int, line: int) -> list[Type]:
        """Return the receivers that blocks imply at a line, innermost first.

        In Kotlin, the receiver inside `x.apply { … }` is `x`.
        """
        ...

    def is_steady(self, entry: FileEntry, scope: int, index: int) -> bool:
        """True when a term has the same type on every line of a scope."""
        ...

    def instances(self, value: Type) -> Iterator[Type]:
        """Yield the type of an instance of each class in a type.

        For the class `A`, this is the type of `A()`.
        """
        ...

    def element(self, value: Type) -> Type:
        """Return the element type of an iterable."""
        ...

    def awaited(self, value: Type) -> Type:
        """Return the result of awaiting a value."""
        ...
