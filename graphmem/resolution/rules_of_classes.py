"""What classes are in a language: receivers, members, bases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from graphmem.parsing.facts import NAME, SELF, SUPER
from graphmem.resolution.types import (
    EMPTY,
    EXT,
    Base,
    Ext,
    Receiver,
    SuperObject,
    Type,
    one,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Binding
    from graphmem.resolution.file_entry import FileEntry
    from graphmem.resolution.inference import Inference
    from graphmem.resolution.symbol import Symbol


class ClassRules:
    """Classes with `this`, whose members their bases give."""

    first_parameter_is_receiver: bool = False
    """True where methods name their receiver (`self`), False where it is a word of the language (`this`)."""

    fallback_method: str = ""
    """Method that answers for attributes that do not exist; "" for none."""

    item_setters: Sequence[str] = ()
    """Methods that run when an item is assigned through a subscript."""

    item_method: str = ""
    """Method of a class that runs when an item of its objects is taken through a subscript; "" for none."""

    attribute_setter: str = ""
    """Method of a class that runs when any attribute of its objects is assigned; "" for none."""

    descriptor_methods: Mapping[str, str] = {}
    """Methods of a class attribute's own class that run when it is used through an object, by `read` and `write`."""

    interfaces_are_structural: bool = False
    """True where a class satisfies an interface by having its methods."""

    class_calls_are_virtual: bool = True
    """True where a call on the class itself may run what a subclass puts in its place."""

    types_are_declared: bool = False
    """True where every variable, parameter and result has a declared type, or the type of what it is first given."""

    methods_are_inputs: bool = False
    """True where what a method says is an input of its own, so that a change of it is not one of everything its class says.

    Whatever rules read of a method of another file must then be asked of `project.entry(method)` or `project.definition(method)`,
    besides its kind, modifiers, decorators and place in the class."""

    classes_are_made_by_name: bool = False
    """True where `is_made` asks whether any file calls a class or uses it as a value."""

    def this(self, inference: Inference, entry: FileEntry, scope: int) -> Type:
        """What `this` is in a scope."""
        method = entry.enclosing(scope, ("method",))
        return self.receiver(inference, entry.symbols[method]) if method >= 0 else EMPTY

    def base(self, inference: Inference, entry: FileEntry, symbol: Symbol, term: int) -> Type:
        """What a base named in the header of a class stands for."""
        definition = entry.definitions[symbol.index]
        return inference.expanded(inference.term(entry, definition.parent, term, definition.start_line))

    def more_bases(self, inference: Inference, symbol: Symbol) -> Sequence[Base]:
        """What a class derives from besides what its header says: symbols and `EXT` atoms."""
        return ()

    def missing_member(self, receiver: Receiver, name: str) -> Type:
        """What a member is that neither a class nor its bases define."""
        return EMPTY

    def member_outside(self, inference: Inference, receiver: Receiver, base: Ext, name: str) -> Type:
        """What a member is that no class of the project defines, where the first base outside the project may."""
        return one((EXT, base[1], f"{base[2]}.{name}" if base[2] else name, None))

    def satisfied(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """Interfaces a class satisfies without naming them."""
        return ()

    def satisfied_methods(self, inference: Inference, method: Symbol) -> Sequence[Symbol]:
        """Methods of such interfaces that a method stands for."""
        return ()

    def is_made(self, inference: Inference, symbol: Symbol) -> bool:
        """False for a class of which nobody can make objects, so that its methods only run in those of subclasses."""
        return True

    def is_protocol(self, inference: Inference, symbol: Symbol) -> bool:
        """True for a class whose methods say what others must have; they only run where somebody inherits them."""
        return False

    def is_virtual(self, symbol: Symbol) -> bool:
        """False for a class whose methods run as they are, whatever derives from it."""
        return True

    def given_bases(self, inference: Inference, entry: FileEntry, symbol: Symbol) -> Type:
        """Bases a class gets elsewhere than in its header."""
        return EMPTY

    def is_member_of(self, entry: FileEntry, position: int, receiver: Receiver | SuperObject) -> bool:
        """False for a definition in a class that the class itself, or an instance of it, does not have."""
        return True

    def receiver_class(self, entry: FileEntry, scope: int, base: int) -> int:
        """The class whose instance the term `base` is inside this scope, when the scope is one of its methods; else -1."""
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
        """What a method's receiver is: an instance of its class, or the class."""
        return EMPTY

    def is_super_call(self, entry: FileEntry, term: int) -> bool:
        """True when a term stands for the receiver seen as its base class."""
        return bool(entry.terms[term][0] == SUPER)

    def class_value(self, inference: Inference, owner: Symbol, binding: Binding, value: Type) -> Type:
        """The type of a class attribute as its instances see it (members of enumerations, descriptors)."""
        return value
