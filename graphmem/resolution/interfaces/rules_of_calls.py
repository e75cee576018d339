"""Interface of the rules of a language for calls.

The rules cover parameters, results, operators and libraries.

A type is a set of alternatives: the type of `x` may be `A | B`.

`reference` is the use that is resolved: a call, a read, a write or an operation. `entry` is a parsed file. `scope` is a function, a class
or the module in it, given as its position among the file's definitions; 0 is the module.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphmem.parsing.facts import NO_TERM, TermIndex
from graphmem.resolution.values.fitness import ANY
from graphmem.resolution.values.types import (
    EMPTY,
    Atom,
    Container,
    ExtInstance,
    Func,
    Instance,
    Outside,
    Type,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Definition, Reference
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.call import Argument, Call
    from graphmem.resolution.interfaces.inference import Inference
    from graphmem.resolution.values.symbol import Symbol


class Run(NamedTuple):
    """A method that the language calls on an operand: `__len__` for `if x`.

    `names` are methods in order of preference. The first one that the operand's class has is called.
    """

    operand: TermIndex
    names: Sequence[str]
    container: TermIndex = NO_TERM  # the container of a key; if it is an object of a project class, its own methods run instead
    first: tuple[TermIndex, Sequence[str]] | None = None  # of a reflected method: the left operand, and its methods that run first


class Through(NamedTuple):
    """A call that an external function makes to some of its arguments.

    `names` are methods in order of preference. For each argument, the first one that the argument's class has is called. Without names, the
    argument itself is called.
    """

    names: Sequence[str]
    first: int = 0  # position of the first of these arguments
    last: int = 1  # position after the last of them
    keyword: str = ""  # or the name of a keyword argument; "*" for all keyword arguments
    elements: bool = False  # whether the method is called on the elements of the argument
    needs: str = ""  # another method that the argument's class must have
    receiver: bool = False  # whether the receiver of the call takes the place of the arguments


class CallRules:
    """Default rules for calls, for a language without implicit calls."""

    constructors: Sequence[str] = ()
    """Methods that run when a class is called, in order."""

    many_methods: int = 0
    """Least number of possible classes of a receiver for which their methods share the confidence; 0 if they never do."""

    call_method: str = ""
    """Method that runs when an instance is called; "" for none."""

    values_are_checked: bool = False
    """Whether a method that was passed as a value must accept the call's arguments."""

    header_is_inside: bool = False
    """Whether the types in a function's header are looked up in the scope of the function, because type parameters are."""

    has_overloads: bool = False
    """Whether parameters distinguish functions of one name."""

    final_types: frozenset[str] = frozenset()
    """Types of the language's library that have no subclasses."""

    value_types: frozenset[str] = frozenset()
    """Types of the language's library that do not accept null."""

    overloads_are_inherited: bool = False
    """Whether functions of base classes are overloads of those of a class."""

    defaults_stand_apart: bool = False
    """Whether a declaration elsewhere may give a function's parameters defaults.

    The number of arguments alone then excludes no function.
    """

    collects_last: bool = False
    """Whether a function that collects arguments in a list is called only if no other accepts them."""

    lists_of_arguments: frozenset[str] = frozenset(["list"])
    """Kinds of containers that can be passed for a parameter that collects arguments."""

    has_extensions: bool = False
    """Whether functions can extend a type from outside."""

    placeholders: Type = EMPTY
    """Alternatives that stand for results of a caller's block; in the method itself, such a result is unknown."""

    string_type: str = ""
    """Type of a string literal in the language's library; "" if it has no name."""

    extensions_come_last: bool = False
    """Whether a call runs an extension function if no method of the receiver's class accepts the arguments.

    The receiver is then a parameter of the extension function, by which overloads differ.
    """

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

    methods_are_declared_once: bool = False
    """Whether `declared_once` chooses among the methods of a name."""

    libraries_hand_back: bool = False
    """Whether a library returns objects of a class given as a type argument.

    An example is `Pointer[T].Load()`.
    """

    components: tuple[str, ...] = ()
    """Endings of files that each contain one component. The default export of such a file is the component."""

    calls_extensions: bool = True
    """Whether `item.show()` can call a function that extends the type of `item` from outside."""

    links_routes: bool = False
    """Whether a call that names a route refers to its handler."""

    never_missing: Collection[str] = ()
    """Modules of the standard library, by the first part of their names."""

    identity_signs: Collection[str] = ()
    """Operators that tell whether two values are the same object."""

    type_tests: Collection[str] = ()
    """Functions that test for an instance of their second argument."""

    def function_attribute(self, inference: Inference, function: Func, name: str) -> Type:
        """Return the type of an attribute `f.name` of a function `f`."""
        return EMPTY

    def constructed(self, inference: Inference, function: Symbol) -> Type:
        """Return the type of `new f()` for a function `f`."""
        return EMPTY

    def call_external(self, inference: Inference, atom: Outside, call: Call) -> Type | None:
        """Return the result type of an external call; None if it is unknown."""
        return None

    def given_outside(self, inference: Inference, atom: Outside, call: Call) -> Collection[Symbol]:
        """Return the project classes that a call passes to an external function.

        In `load(User)`, the class is `User`. The external function may return objects of these classes.
        """
        return ()

    def class_made(self, inference: Inference, symbol: Symbol, call: Call) -> Type:
        """Return the class that a call of a metaclass makes.

        `symbol` is the called class. The result is empty if it is not a metaclass.
        """
        return EMPTY

    def made_by_hook(self, inference: Inference, symbol: Symbol, call: Call) -> Type:
        """Return the type of a class call, if a method of the class decides it.

        `symbol` is the called class. In Python, an example of such a method is `__new__`. If the call simply creates an object of the
        class, the result is empty.
        """
        return EMPTY

    def container_method(self, inference: Inference, container: Container, name: str, call: Call) -> Type:
        """Return the type of a method call on a list or other container."""
        return EMPTY

    def result(self, inference: Inference, symbol: Symbol, value: Type) -> Type:
        """Return the type that a caller gets from a function.

        `value` is the type that the function's body returns or its declaration states. For a coroutine, the result is a wrapper that gives
        `value` when awaited.
        """
        return value

    def type_arguments(self, inference: Inference, symbol: Symbol, call: Call) -> Mapping[str, Type]:
        """Return the types that a call writes for type parameters, by name.

        `symbol` is the called function. By default there are none.
        """
        return {}

    def function_type(self, inference: Inference, entry: FileEntry, scope: int, annotation: TermIndex) -> Type:
        """Return the type of a function that a parameter or variable declares.

        It is a container `callable` with the types of the result, of the receiver and of the parameters. `annotation` is the declared type.
        """
        return inference.declared(entry, scope, annotation)

    def declares_own_class(self, entry: FileEntry, position: int) -> bool:
        """Whether a method declares the class of its receiver as its result.

        `position` is the method, as a position among the file's definitions. An example is `static func make() -> Self` in Swift.
        """
        return False

    def made_by(self, inference: Inference, symbol: Symbol) -> Type:
        """Return the type of the object that a method returns by itself.

        `symbol` is the method. The type is used where a call does not give the receiver, such as a call on an unknown class. By default it
        is unknown.
        """
        return EMPTY

    def decorate(self, inference: Inference, entry: FileEntry, symbol: Symbol, decorator: TermIndex, current: Type) -> Type:
        """Return the types that a decorator adds to the decorated function's name.

        `symbol` is the function, `decorator` is the decorator, and `current` is the type of the name before the decorator is applied. By
        default, nothing is added.
        """
        return EMPTY

    def implicit_argument(self, inference: Inference, symbol: Symbol, index: int) -> Type:
        """Return the type of the value that a framework passes for a parameter.

        An example is a test fixture.
        """
        return EMPTY

    def used_as(self, inference: Inference, symbol: Symbol, index: int) -> Type:
        """Infer the type of an unannotated parameter from its used attributes.

        If a function reads `x.read` and `x.close`, the type of the parameter `x` is a class that has both attributes.
        """
        return EMPTY

    def implicit_calls(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """Return the functions that a framework runs for a function.

        `symbol` is the function. An example is a test: pytest runs its fixtures before it.
        """
        return ()

    def operations(self, entry: FileEntry, scope: int, term: TermIndex) -> Sequence[Run]:
        """Return the methods that the language calls for an expression in a scope.

        Such expressions are operators, subscripts, loops and `with` blocks. For example, `a + b` calls `__add__`.
        """
        return ()

    def implied(self, inference: Inference, entry: FileEntry, reference: Reference) -> Iterable[tuple[Symbol, int]]:
        """Return the functions that the language also runs at a call or operation.

        In C++, an example is the operator function that `a + b` runs. Each item is (function, number of alternatives). If the number is 1,
        the function runs. If it is greater, only one of the alternatives runs.
        """
        return ()

    def conversions(self, inference: Inference, entry: FileEntry, reference: Reference, function: Symbol) -> Iterable[tuple[Symbol, int]]:
        """Return the constructors that a call runs to convert its arguments.

        `function` is the called function. In C++, an example is the constructor `Slice(const char*)` for a parameter of the class `Slice`.
        Each item is (constructor, number of alternatives of which one runs).
        """
        return ()

    def operated(self, inference: Inference, receiver: Instance, sign: str, *, is_unary: bool) -> Type:
        """Return the result type of an operator on an object of a project class.

        `receiver` is the left operand, and `sign` is the operator, such as `+`. `is_unary` is True for an operator with one operand, such
        as `-a`.
        """
        return EMPTY

    def iterated(self, inference: Inference, receiver: Instance) -> Type:
        """Return the type of the variable of a loop over an object.

        `receiver` is the object, whose class is in the project. By default the type is unknown.
        """
        return EMPTY

    def part_of_tuple(self, inference: Inference, receiver: Instance, position: int) -> Type:
        """Return the type of an item of an object that is also a tuple.

        `receiver` is the object, and `position` the position of the item. In Python, an object of a `NamedTuple` class is also a tuple. The
        result is empty for other objects.
        """
        return EMPTY

    def next_step(self, name: str) -> str:
        """Return the method that fetches the next element: `__next__` in Python.

        `name` is the method that created the iterator, such as `__iter__`. The result is "" if `name` does not create an iterator.
        """
        return ""

    def runs_on_definition(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """Return the functions of the project that run when a class is defined.

        In Python, an example is `__init_subclass__` of a base class.
        """
        return ()

    def runs_on_instantiation(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """Return the functions that run before the constructors of a class.

        In Python, an example is `__call__` of the metaclass.
        """
        return ()

    def runs_as_call(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """Return the functions that run in place of a constructor.

        In Kotlin, `Name()` calls `invoke` of the object `Name`, or of the companion of an interface `Name`.
        """
        return ()

    def called_through(self, package: str, dotted: str) -> Sequence[Through]:
        """Return the calls that an external function makes to its arguments.

        The function is given by its package and dotted name. For `sorted(items, key=f)`, an example is the call of `f`.
        """
        return ()

    resuming: frozenset[str] = frozenset()
    """Methods whose implicit call runs the body of a generator or coroutine."""

    attribute_readers: Collection[tuple[str, str]] = ()
    """External functions that read the attribute of their first argument that their second argument names."""

    def takes(self, definition: Definition, positional: int, keywords: Sequence[str], *, bound: bool) -> bool:
        """Return whether a function accepts the arguments of a call.

        `positional` is the number of positional arguments, and `keywords` are the names of the others. `bound` is True if the receiver
        fills the first parameter of a method. By default the result is True.
        """
        return True

    def bases_in_library(self, name: str) -> Collection[str]:
        """Return the base classes that a class of the language's library has."""
        return ()

    def extensions(self, inference: Inference, entry: FileEntry, receiver: Atom, name: str) -> Sequence[Symbol]:
        """Return the extension functions of a given name that fit a receiver.

        An extension function adds a method to a type from outside, as `fun String.trimmed()` does in Kotlin.
        """
        return ()

    def unknown_extensions(self, inference: Inference, entry: FileEntry, receiver: Type, name: str) -> Sequence[Symbol]:
        """Return the extension functions that may fit a value of unknown type.

        An extension function adds a method to a type from outside, as `fun String.trimmed()` does in Kotlin.
        """
        return ()

    def member_of_library(self, member: Atom) -> Type:
        """Return the type of a member of a library type; empty if unknown.

        `member` is the external name of the member, such as `Widget.title` in a package.
        """
        return EMPTY

    def extended_by_parameter(self, definition: Definition) -> bool:
        """Whether a function extends the class of its first parameter.

        Such a function is called as a method. In C#, an example is `static int Words(this string text)`, called as `text.Words()`.
        """
        return False

    def overload_group(self, entry: FileEntry, symbol: Symbol) -> tuple[str, int, str]:
        """Return the key that all overloads of a function share.

        A call chooses one of the functions with the same key. The key is (path, position of the enclosing scope, name).
        """
        return symbol.path, entry.definitions[symbol.index].parent, symbol.name

    def overrides(self, inference: Inference, base: Symbol, method: Symbol) -> bool:
        """Return whether a method overrides a method of the same name in a base."""
        return True

    def methods_of_self(self, inference: Inference, entry: FileEntry, scope: int, name: str) -> Sequence[Symbol] | None:
        """Return the methods that a call on `self` may run, if a rule knows them.

        The rule serves a receiver of a class outside the project, such as `self` in a Rust `impl` for a built-in type. `name` is the called
        method, and `scope` contains the call. The result is None if the type of the receiver is unknown.
        """
        return None

    def may_run(self, inference: Inference, entry: FileEntry, other: FileEntry) -> bool:
        """Return whether a call in file `entry` can run an override in `other`.

        An override is a method of a subclass. By default the result is True.
        """
        return True

    def fit(self, inference: Inference, given: Type, declared: Type) -> int | None:
        """Score how well the type of an argument fits the type of a parameter.

        `given` is the argument's type, and `declared` the parameter's type; the module `fitness` has the scores. None means that the caller
        uses the scores that most languages share.
        """
        return None

    def fit_type_parameter(self, given: Type) -> int:
        """Score how well an argument fits a parameter of the type `T`.

        `given` is the type of the argument, and `T` a type parameter without a bound.
        """
        return ANY

    def visible(self, inference: Inference, entry: FileEntry, functions: Sequence[Symbol]) -> Sequence[Symbol]:
        """Return the functions of one name that a file can see.

        In C++, these are the functions of included files. By default, all `functions` are returned.
        """
        return functions

    def reached(self, inference: Inference, entry: FileEntry, scope: int, line: int, call: tuple[TermIndex, Type]) -> Type:
        """Return the type of a callee, without overloads that a call cannot run.

        `call` has the index of the call's expression and the type of the callee. By default, that type is returned.
        """
        return call[1]

    def fit_argument(self, inference: Inference, argument: Argument, function: Symbol, annotation: TermIndex) -> int | None:
        """Score how well an argument, as written in the source, fits a parameter.

        `annotation` is the declared type of the parameter of `function`. None stands for no score. The caller then compares
        the type of the argument with the declared type.
        """
        return None

    def new_objects(self, inference: Inference, entry: FileEntry, scope: int, called: TermIndex) -> Type:
        """Return the classes that `new Type(…)` names.

        `called` is the expression `Type`. By default the result is empty, and `Type` is evaluated like any other name.
        """
        return EMPTY

    def created(self, inference: Inference, entry: FileEntry, reference: Reference, value: Type) -> Type:
        """Return the type of the name `f` that is called in `f()`.

        `value` is the inferred type of `f`, and usually the result. In C++, `f()` in a constructor's initialiser list may initialise a
        field `f`. Then the result is the class of the field, because the call runs a constructor of that class.
        """
        return value

    def declared_once(self, inference: Inference, methods: Sequence[Symbol]) -> Sequence[Symbol]:
        """Return the interface method that all given methods implement, if any.

        `methods` are all methods of one name. A call on an object of unknown type may run any of them. If one is a method of an interface
        and implemented by all other `methods`, only this one is returned. Otherwise all `methods` are returned.
        """
        return methods

    def fitting_receiver(self, inference: Inference, entry: FileEntry, reference: Reference, methods: Sequence[Symbol]) -> Sequence[Symbol]:
        """Return the overloads that fit the receiver of a call.

        `methods` are the overloads, which fit the arguments equally well. In C++, a constant receiver fits only constant methods. By
        default all are returned.
        """
        return methods

    def may_be(self, given: Instance | ExtInstance, classes: Collection[Symbol], outside: Collection[tuple[str, str]]) -> bool:
        """Whether a parameter accepts a value of a type that it does not declare.

        `given` is the type of the value. The parameter declares other types: the project's classes in `classes`, and the libraries'
        types in `outside`. By default the result is True.
        """
        return True
