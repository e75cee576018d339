"""Interfaces of type inference, for its own parts and for language rules.

`evaluation.Evaluation` implements these interfaces. Its parts (the modules `names`, `classes`, `functions`, `narrowing` and `containers`)
and the rules of a language use only the interfaces. So none of these modules depends on another one.

A binding of a name is a place that gives the name its meaning, such as `x = f()`, `import x`, `def x` or a parameter. A type is a set of
alternatives (atoms): the type of `x` may be `A | B`.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from graphmem.parsing.facts import TermIndex
from graphmem.resolution.files.file_entry import FileEntry, Place
from graphmem.resolution.files.project import Project
from graphmem.resolution.interfaces.call import Call
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.types import Atom, Base, Func, Instance, Module, Receiver, Type


class AsksNames(Protocol):
    """The part of the type inference interface for names."""

    def lookup(self, entry: FileEntry, scope: int, name: str, line: int) -> Sequence[Place] | None:
        """Return the bindings that can define a name at a line.

        An example of a binding is `x = f()`. The result is None if nothing binds the name.
        """
        ...

    def receiver(self, entry: FileEntry, scope: int, value: Type, name: str) -> Type:
        """Return the type of the object whose member `x.name` is.

        `value` is the type of `x`. If it is empty, a private name can tell the class, as `__name` does in Python.
        """
        ...

    def beside_variable(self, entry: FileEntry, scope: int, base: TermIndex, line: int) -> Type:
        """Return the module that has the same name as a local variable.

        In Rust, `error::of(x)` refers to the module `error`, even if a local variable has this name.
        """
        ...

    def scope_of_callee(self, entry: FileEntry, scope: int, name: str, line: int) -> int:
        """Return the scope in which the name of a called function is looked up.

        Usually it is `scope`. It is the enclosing scope if a local variable has the name, but the call does not mean the variable, as in
        Java.
        """
        ...

    def slot(self, place: Place) -> Type:
        """Return the type that a name gets from one binding, such as `x = f()`."""
        ...

    def defined(self, symbol: Symbol) -> Type:
        """Return the type of the name that `def` or `class` binds.

        The type is the class or function itself. If the definition is decorated, the types that the decorators return are added.
        """
        ...

    def binding(self, entry: FileEntry, position: int) -> Type:
        """Return the type that an assignment, `for` or `with` gives its variable.

        `position` is the statement's position among the bindings of the file.
        """
        ...

    def declared(self, entry: FileEntry, scope: int, term: TermIndex) -> Type:
        """Return the type that an annotation declares; empty for the index -1.

        The annotation is given by its position in the file's list of expressions.
        """
        ...

    def hook_for_missing(self, module: Module, name: str) -> list[Symbol]:
        """Return the function that a module runs for a missing name.

        In Python, the function is `__getattr__` of the module. The result is a list, which is empty without such a function.
        """
        ...

    def module_places(self, path: str, name: str) -> list[Place] | None:
        """Return the bindings that define a name at the top level of a module."""
        ...

    def module_member(self, module: Atom, name: str) -> Type:
        """Return the type of a member `name` of a module.

        The member is a definition, an import or a submodule.
        """
        ...

    def taken(self, entry: FileEntry, module: Atom, name: str) -> Type:
        """Return the type of the name `b` in `from a import b`."""
        ...


class AsksClasses(Protocol):
    """The part of the type inference interface for classes and attributes."""

    def mro(self, symbol: Symbol) -> tuple[Base, ...]:
        """Return the class and its ancestors in method resolution order."""
        ...

    def bases(self, symbol: Symbol) -> tuple[Base, ...]:
        """Return the direct base classes of a class, in source order."""
        ...

    def project_classes(self, symbol: Symbol) -> frozenset[Symbol]:
        """Return a class and its ancestors, without those outside the project."""
        ...

    def is_enum(self, symbol: Symbol) -> bool:
        """Whether a class is an enumeration, whose members are its instances."""
        ...

    def owner(self, symbol: Symbol, name: str, after: Symbol | None = None) -> Base | None:
        """Return the class that defines an attribute, in method resolution order.

        If no class of the project defines it, the result is the first base class outside the project (an `EXT` tuple). None if the class
        has no such base. With `after`, only classes after this one in the order are searched, as `super()` does.
        """
        ...

    def attribute(self, value: Type, name: str) -> Type:
        """Return the type of an attribute `x.name`, given the type of `x`.

        A type is a set of alternatives, such as `A` or `B`. The result is the union of the attribute's types for all alternatives.
        """
        ...

    def attribute_of(self, atom: Atom, name: str) -> Type:
        """Return the type of an attribute for one alternative of the owner's type.

        In `x.name`, the type of `x` may be `A | B`. Its alternatives are an object of `A` and an object of `B`. `atom` is one of them.
        """
        ...

    def answers_for_missing(self, symbol: Symbol, name: str) -> bool:
        """Whether a class defines a hook for missing attributes (`__getattr__`).

        The result is False if `name`, the missing attribute, begins with `__`.
        """
        ...

    def methods_beginning(self, value: Type, prefix: str) -> Type:
        """Return a value's methods whose names begin with a prefix."""
        ...

    def methods_of(self, atom: Receiver, prefix: str) -> list[Atom]:
        """Return an object's bound methods whose names begin with a prefix."""
        ...

    def method_result(self, receiver: Instance, name: str) -> Type:
        """Return the result type of calling a method without arguments."""
        ...

    def functions(self, owner: Symbol, name: str) -> list[Symbol]:
        """Return the functions of a given name that a class itself defines.

        They are in source order. Overload signatures are left out if there is an implementation.
        """
        ...


class AsksCalls(Protocol):
    """The part of the type inference interface for calls and their results."""

    def returned(self, symbol: Symbol) -> Type:
        """Return a function's result type, independent of a call's arguments.

        The type may contain parameters of the function (`PARAM`, `TYPEVAR` and `SELFTYPE` tuples). For each call, `substituted` replaces
        them by the arguments.
        """
        ...

    def body_result(self, symbol: Symbol) -> Type:
        """Return the type that the body of a function returns.

        The declared result type is ignored.
        """
        ...

    def called(self, callee: Type, call: Call) -> Type:
        """Return the result type of a call, given the type of the called value.

        A type is a set of alternatives, such as several functions. The result is the union of their results.
        """
        ...

    def called_blindly(self, callee: Type, call: Call) -> Type:
        """Return the result type of a call whose arguments are not known."""
        ...

    def call_atom(self, atom: Atom, call: Call) -> Type:
        """Return the result type of calling one alternative of a callee's type.

        In `f()`, the type of `f` is a set of alternatives, such as several functions. `atom` is one of them.
        """
        ...

    def substituted(self, value: Type, function: Func, call: Call) -> Type:
        """Return the result type of one call, from the function's result type.

        `value` is the function's result type, in which parameters may stand for their own types (see `returned`). They are replaced by the
        types of the arguments of `call`. For `def f(x): return x`, the result of `f(A())` is an `A`.
        """
        ...


class Inference(AsksNames, AsksClasses, AsksCalls, Protocol):
    """The type inference interface: types of expressions, names and calls."""

    project: Project
    below: Callable[[Symbol], Sequence[Symbol]]

    def term(self, entry: FileEntry, scope: int, index: TermIndex, line: int) -> Type:
        """Infer the type of an expression at a line of a scope.

        A scope is a function, a class or the module. `index` is the position of the expression in the file's list of expressions,
        `FileFacts.terms`.
        """
        ...

    def expanded(self, value: Type) -> Type:
        """Replace each parameter in a type by the type of the parameter.

        A type may contain a function's parameter (a `PARAM` tuple) as a placeholder. The parameter's annotation, its default or the callers
        of the function give its type.
        """
        ...

    def made_of(self, value: Type, name: str) -> Type:
        """Return the types of the objects that a call creates if it calls classes.

        The call is `value.name()`, or `value()` if `name` is "". `value` is the type of the expression before the dot.
        """
        ...

    def receivers(self, entry: FileEntry, scope: int, line: int) -> list[Type]:
        """Return the implicit receivers at a line, the innermost first.

        In Kotlin, the receiver inside the block of `x.apply { … }` is `x`.
        """
        ...

    def is_steady(self, entry: FileEntry, scope: int, index: TermIndex) -> bool:
        """Whether an expression has the same type on every line of a scope.

        A scope is a function, a class or the module. Only strings, names and attributes of names are checked. For other expressions the
        result is False.
        """
        ...

    def instances(self, value: Type) -> Iterator[Type]:
        """Yield the type of an instance of each class in a type.

        For the class `A`, this is the type of `A()`.
        """
        ...

    def element(self, value: Type) -> Type:
        """Return the type of the elements of an iterable, as in `for x in items`."""
        ...

    def entered(self, value: Type) -> Type:
        """Return the type of `x` in `with value as x`."""
        ...

    def awaited(self, value: Type) -> Type:
        """Return the type of `await x` for a value `x`."""
        ...
