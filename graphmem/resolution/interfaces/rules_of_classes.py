"""Interface of a language's rules for classes: receivers, members, bases.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from graphmem.parsing.facts import NAME, SELF, SUPER, TermIndex
from graphmem.resolution.values.types import (
    EMPTY,
    EXT,
    Base,
    Class,
    Ext,
    ExtInstance,
    Instance,
    Receiver,
    SuperObject,
    Type,
    one,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Binding, Definition
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.call import Call
    from graphmem.resolution.interfaces.inference import Inference
    from graphmem.resolution.values.symbol import Symbol
    from graphmem.resolution.values.types import Ext


class ClassRules:
    """Default rules for classes of a language with `this` and base classes."""

    first_parameter_is_receiver: bool = False
    """Whether methods declare their receiver as the first parameter (`self`), instead of using a keyword (`this`)."""

    fallback_method: str = ""
    """Method that runs for missing attributes; "" for none."""

    item_setters: Sequence[str] = ()
    """Methods that run when an item is assigned through a subscript."""

    key_methods: Sequence[str] = ()
    """Methods of a key that a container of the language calls: the first unless it is a sequence, the others if they are equal."""

    contained_methods: Mapping[str, Collection[str]] = {}
    """Method of a container that calls the same method of its elements -> kinds of these containers; empty for all."""

    item_method: str = ""
    """Method that runs when an item is read through a subscript; "" for none."""

    wrapped_members: Mapping[tuple[str, str], str] = {}
    """(package, name) of a library's class for decorators -> the attribute in which its objects hold the decorated function."""

    attribute_hooks: Mapping[str, str] = {}
    """Methods that run when any attribute is assigned or deleted, by `write` and `delete`."""

    descriptor_methods: Mapping[str, str] = {}
    """Methods of a descriptor that run on use, by `read`, `write` and `delete`.

    The descriptor is a class attribute, used through an object.
    """

    def accessor_functions(self, inference: Inference, entry: FileEntry, position: int, kind: str) -> Sequence[Symbol]:
        """Return the functions that run when an attribute of a class is used.

        `position` is the position of the attribute's binding, and `kind` is `read`, `write` or `delete`. The result is empty for an
        attribute whose value does not name such functions.
        """
        return ()

    def is_abstract(self, inference: Inference, symbol: Symbol) -> bool:
        """Whether a class has a method that only subclasses implement."""
        return False

    def answers_itself(self, base: Ext, name: str) -> bool:
        """Whether a library's special method works without calling another one.

        `base` is the library's class, and `name` the method. For example, `__iter__` of `list` does not call `__getitem__`. So if `A` is a
        subclass of `list`, a loop over an object of `A` does not run `A.__getitem__`.
        """
        return False

    def library_has(self, base: Ext, name: str) -> bool:
        """Whether a library's class is known to have a method."""
        return False

    def satisfies(self, inference: Inference, receiver: Instance, tested: ExtInstance) -> bool:
        """Whether an object passes a test for a library's class, `tested`.

        An example is `isinstance(x, Iterable)` in Python, where `receiver` is `x` and `tested` is `Iterable`. By default the result is
        False.
        """
        return False

    standard_packages: Collection[str] = ()
    """First parts of the names of packages whose types the project rarely extends.

    A call on a type of another library leads to the classes that extend the type. It leads nowhere if this is empty.
    """

    interfaces_are_structural: bool = False
    """Whether a class satisfies an interface by having its methods."""

    class_calls_are_virtual: bool = True
    """Whether a call on the class itself may run an override of a subclass."""

    types_are_declared: bool = False
    """Whether variables, parameters and results have a fixed type.

    It is declared, or that of the first value.
    """

    methods_are_inputs: bool = False
    """Whether each method is an input of its own.

    A changed method then does not count as a change of its whole class. Rules must ask `project.entry(method)` or
    `project.definition(method)` for facts about a method of another file, except its kind, modifiers, decorators and place in the
    class. Rules that look a name up in a class, or list its members, must also call `project.touch_member` or `touch_members`.
    """

    attributes_are_set_anywhere: bool = False
    """Whether any code may assign an attribute that no class declares."""

    uses_tell_classes: bool = False
    """Whether the class of a parameter is inferred from the attributes that code reads from it."""

    classes_are_made_by_name: bool = False
    """Whether `is_made` asks if any file calls a class or uses it as a value."""

    def this(self, inference: Inference, entry: FileEntry, scope: int) -> Type:
        """Return the type of `this` in a scope."""
        method = entry.enclosing(scope, ("method",))
        return self.receiver(inference, entry.symbols[method]) if method >= 0 else EMPTY

    def base(self, inference: Inference, entry: FileEntry, symbol: Symbol, term: TermIndex) -> Type:
        """Return the type that a base in the header of a class refers to."""
        definition = entry.definitions[symbol.index]
        return inference.expanded(inference.term(entry, definition.parent, term, definition.start_line))

    def more_bases(self, inference: Inference, symbol: Symbol) -> Sequence[Base]:
        """Return the base classes that the class header does not name.

        Classes of the project are symbols, others are external names (`EXT` tuples).
        """
        return ()

    def bases_elsewhere(self, inference: Inference, symbol: Symbol) -> Sequence[Base]:
        """Return the base classes named in other declarations of a class.

        In Ruby, and in C# by `partial class`, a class may have several declarations.
        """
        return ()

    def missing_member(self, receiver: Receiver, name: str) -> Type:
        """Return the type of a member that neither a class nor its bases define.

        `receiver` is the class or an object of it, and `name` is the member.
        """
        return EMPTY

    sides_are_apart: bool = False
    """Whether a class and its objects have separate methods, which may share a name."""

    def is_mixin(self, definition: Definition) -> bool:
        """Whether a definition is a mixin, which gives its methods to classes."""
        return False

    fields_are_called: bool = False
    """Whether reading an attribute looks like a call without arguments."""

    def field_name(self, name: str) -> str:
        """Return the name of the variable that an attribute reads; "" for none.

        In Ruby, the attribute `size` reads the variable `@size`.
        """
        return ""

    siblings_are_inferred: bool = False
    """Whether a member that a mixin lacks is looked up in the classes that inherit the mixin, for accesses on `self` only."""

    def is_one_class(self, symbol: Symbol) -> bool:
        """Whether all declarations with one qualified name form a single class.

        In Ruby they do, because each file may add members to the class.
        """
        return False

    def next_owners(self, inference: Inference, after: Symbol, name: str) -> Sequence[Symbol]:
        """Return the classes in which `super` in a mixin finds a method.

        A mixin is a module; classes that inherit it get its methods. `after` is the mixin, and `name` the method. The search covers the
        resolution order of each class that inherits the mixin, and begins after the mixin.
        """
        return ()

    def sibling_owners(self, inference: Inference, symbol: Symbol, name: str) -> Sequence[Symbol]:
        """Return the classes that define a member missing from a mixin.

        `symbol` is the mixin. It uses the member `name`, but neither the mixin nor its bases define it. The member is looked up in the
        classes that inherit the mixin.
        """
        return ()

    def may_give(self, base: Ext, name: str) -> bool:
        """Whether a base class outside the project may define a member."""
        return True

    def member_outside(self, inference: Inference, receiver: Receiver, base: Ext, name: str) -> Type:
        """Return the type of a member that an external base class may define.

        `base` is the first external class among the bases of the receiver's class. `name` is the member.
        """
        return one((EXT, base[1], f"{base[2]}.{name}" if base[2] else name, None))

    def is_structural(self, entry: FileEntry, position: int) -> bool:
        """Return whether other classes satisfy a class by their members alone.

        `position` is the class, as a position among the file's definitions. Such a class is an interface. A class with all of its members
        satisfies it, without naming it as a base.
        """
        return self.interfaces_are_structural and entry.definitions[position].kind == "interface"

    def satisfied(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """Return the interfaces that a class implicitly satisfies.

        An example is a Go type with all methods of an interface.
        """
        return ()

    def implemented(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """Return the interfaces that a class implements without naming them.

        A call of a method of such an interface may run the method of the class.
        """
        return self.satisfied(inference, symbol)

    def satisfied_methods(self, inference: Inference, method: Symbol) -> Sequence[Symbol]:
        """Return the interface methods that a method implements implicitly.

        The class of the method has all methods of the interface, but does not name the interface as a base.
        """
        return ()

    def is_made(self, inference: Inference, symbol: Symbol) -> bool:
        """Whether direct instances of a class (not of a subclass) may exist."""
        return True

    def is_protocol(self, inference: Inference, symbol: Symbol) -> bool:
        """Whether a class only declares methods that other classes must have.

        In Python, an example is a `typing.Protocol`. A method of the class runs only if another class inherits it.
        """
        return False

    def is_virtual(self, symbol: Symbol) -> bool:
        """Whether the methods of a class can be overridden."""
        return True

    def given_bases(self, inference: Inference, entry: FileEntry, symbol: Symbol) -> Type:
        """Return the base classes that code outside the header gives a class.

        An example is `A.prototype = Object.create(B.prototype)` in JavaScript.
        """
        return EMPTY

    def is_member_of(self, entry: FileEntry, position: int, receiver: Receiver | SuperObject) -> bool:
        """Whether a definition inside a class is a member of a receiver.

        `position` is the definition, and `receiver` is the class or an object of it. In JavaScript, static members belong only to the
        class, and other members only to objects.
        """
        return True

    def is_on_class(self, entry: FileEntry, scope: int, around: int) -> bool:
        """Whether `self` in a method or class body is the class itself.

        `scope` is the method or class body, and `around` is the class. If the result is False, `self` is an object of the class. By default
        the result is False.
        """
        return False

    def receiver_class(self, entry: FileEntry, scope: int, base: TermIndex) -> int:
        """Return the class of the receiver `self` or `this`.

        `base` is the expression to check, and `scope` must be inside a method of the class. The class is returned as its position among the
        file's definitions. The result is -1 if `base` is not the receiver.
        """
        term = entry.terms[base]
        if term[0] != SELF and not (self.first_parameter_is_receiver and term[0] == NAME):
            return -1
        method = entry.enclosing(scope, ("method",))
        if method < 0:
            return -1
        definition = entry.definitions[method]
        if term[0] == NAME:
            parameters = definition.parameters
            if "static" in definition.modifiers or not parameters or parameters[0].name != term[1]:
                return -1
        return definition.parent

    def receiver(self, inference: Inference, symbol: Symbol) -> Type:
        """Return the type of the object or class on which a method is called."""
        return EMPTY

    def calls_own_methods(self, base: Ext) -> bool:
        """Whether a library's class may call methods that subclasses override.

        If the result is False, only the table `derived` of the frameworks lists such methods.
        """
        return False

    def is_super_call(self, entry: FileEntry, term: TermIndex) -> bool:
        """Whether an expression is `super`, or `super()` in Python.

        Such an expression stands for the object `this`, seen as an object of the base class.
        """
        return bool(entry.terms[term][0] == SUPER)

    def accessors(self, name: str, kind: str) -> Sequence[str]:
        """Return the accessor methods in another language for a property.

        `name` is the property, and `kind` is `read` or `write`. For the Kotlin property `price`, `getPrice()` of a Java class reads it, and
        `setPrice(…)` writes it.
        """
        return ()

    def property_of(self, accessor: str) -> str:
        """Return the property in another language that an accessor stands for.

        For the methods `getPrice` and `setPrice`, the result is the Kotlin property `price`. It is "" for other methods.
        """
        return ""

    def subscripted(self, inference: Inference, receiver: Instance, site: Call) -> Type:
        """Return the type of `object[i]` for an object of a project class."""
        return inference.method_result(receiver, self.item_method) if self.item_method else EMPTY

    def subscripted_class(self, inference: Inference, receiver: Class, site: Call) -> Type:
        """Return the type of `Name[…]` for a class of the project.

        By default it is the class itself, as in `Generic[int]`.
        """
        return frozenset((receiver,))

    def undeclared(self, entry: FileEntry, binding: Binding) -> Type:
        """Return the type of a name that is declared without type and value.

        An example in C++ is `RED` in `enum Color { RED }`. By default, the type is unknown.
        """
        return EMPTY

    def is_whole(self, inference: Inference, entry: FileEntry, scope: int, index: tuple[TermIndex, TermIndex], line: int) -> bool:
        """Whether `base[key]` has the inferred type of `base`, a container.

        `index` has `base` and `key`. In C, an example is `*items`, if `items` points at a container. By default the result is False.
        """
        return False

    def class_value(self, inference: Inference, owner: Symbol, binding: Binding, value: Type) -> Type:
        """Return the type of a class attribute when read from an instance.

        `value` is the type of the assigned value. The result differs from `value` for enum members and descriptors.
        """
        return value
