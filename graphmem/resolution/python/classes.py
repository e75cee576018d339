"""Classes of Python: rules for receivers, bases and library classes.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

import builtins
import collections.abc
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import CALL, NAME, TermIndex
from graphmem.resolution.interfaces.rules_of_classes import ClassRules
from graphmem.resolution.python.fields import field_value
from graphmem.resolution.python.made_properties import MADE_PROPERTY, made_property
from graphmem.resolution.python.metaclasses import written_bases
from graphmem.resolution.python.protocols import STANDS_FOR
from graphmem.resolution.python.tables import LIBRARY
from graphmem.resolution.values.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.values.terms import last_name
from graphmem.resolution.values.types import (
    BUILTINS,
    CLASS,
    EMPTY,
    EXT,
    INST,
    Ext,
    ExtInstance,
    Instance,
    Receiver,
    Type,
    join,
    join_all,
    one,
    ordered,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Binding
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference


_PASSIVE: Final = LIBRARY.passive
"""Packages whose classes never instantiate the classes derived from them."""

_CONTAINERS: Final = {"builtins": builtins, "collections": collections}
"""Modules whose classes are asked which special methods they have."""

MAX_USERS: Final = 40
"""Classes that use a mixin, beyond which they do not tell where its missing members come from."""


class PythonClasses(ClassRules):
    """Rules that find the receivers, bases and members of Python classes."""

    fallback_method = "__getattr__"
    attributes_are_set_anywhere = True
    class_calls_are_virtual = False
    siblings_are_inferred = True
    methods_are_inputs = True
    first_parameter_is_receiver = True

    def receiver(self, inference: Inference, symbol: Symbol) -> Type:
        """Return the type of a method's first parameter.

        `self` is an instance of the class. `cls`, and the first parameter of `__new__`, is the class itself.
        """
        entry = inference.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        owner = entry.symbols[definition.parent]
        if owner.kind not in CLASS_KINDS:
            return EMPTY
        if "classmethod" in definition.modifiers or symbol.name in ("__new__", "__init_subclass__", "__class_getitem__"):
            return one((CLASS, owner, True))
        return one((INST, owner, False))

    def is_super_call(self, entry: FileEntry, term: TermIndex) -> bool:
        """Return whether an expression is a call of `super`, such as `super()`."""
        found = entry.terms[term]
        return bool(found[0] == CALL and entry.terms[found[1]] == (NAME, "super"))

    def receiver_class(self, entry: FileEntry, scope: int, base: TermIndex) -> int:
        """Return the class of the receiver `self`; -1 if `base` is no receiver.

        In the method `__new__`, a variable that holds the new object is also a receiver. An example is `made = super().__new__(cls)`.
        """
        found = super().receiver_class(entry, scope, base)
        term = entry.terms[base]
        if found >= 0 or term[0] != NAME or not (made := made_objects(entry)):
            return found
        method = entry.enclosing(scope, ("method",))
        return entry.definitions[method].parent if (method, term[1]) in made else -1

    def private_owner(self, entry: FileEntry, scope: int, name: str) -> int:
        """Return the class around code that uses a private attribute `__name`.

        Only objects of this class can have the attribute, because Python puts the name of the class in front of the attribute's name. The
        result is -1 for other names.
        """
        return entry.enclosing(scope, CLASS_KINDS) if name.startswith("__") and not name.endswith("__") else -1

    def base(self, inference: Inference, entry: FileEntry, symbol: Symbol, term: TermIndex) -> Type:
        """Return the type that a base in the header of a class refers to.

        `with_metaclass(M, A, B)` stands for the bases `A` and `B`.
        """
        given = written_bases(entry, term)
        if not given:
            return super().base(inference, entry, symbol, term)
        return join_all(super(PythonClasses, self).base(inference, entry, symbol, one_base) for one_base in given)

    def is_abstract(self, inference: Inference, symbol: Symbol) -> bool:
        """Return whether a class has a method that only subclasses implement."""
        for part in inference.mro(symbol):
            if isinstance(part, Symbol):
                entry = inference.project.entry(part)
                if any(inference.owner(symbol, name) is part for name in entry.abstract_methods.get(part.index, ())):
                    return True
        return False

    def is_made(self, inference: Inference, symbol: Symbol) -> bool:
        """Return whether instances of a class may exist.

        The result is False for a protocol, and for a class with an abstract method. For other classes it is True in these cases:

        - A file calls the class or uses it as a value.
        - The class is in a test file.
        - The class derives from a library's class, so code outside the project may create instances.
        - `__init_subclass__` of a base gets the class when it is defined, and may keep it in a registry.
        """
        if self.is_abstract(inference, symbol) or self.is_protocol(inference, symbol):
            return False
        if inference.project.is_made(symbol.name) or inference.project.files[symbol.path].in_tests:
            return True
        if any(not isinstance(base, Symbol) and base[1] not in _PASSIVE for base in inference.mro(symbol)):
            return True
        return isinstance(inference.owner(symbol, "__init_subclass__", after=symbol), Symbol)

    def calls_own_methods(self, base: Ext) -> bool:
        """Whether a library's class may call methods that subclasses override.

        Built-in classes, such as `dict` and `Exception`, call only their own. Abstract classes and types do not call methods either.
        """
        return base[1] not in _PASSIVE

    def sibling_owners(self, inference: Inference, symbol: Symbol, name: str) -> Sequence[Symbol]:
        """Return the classes that define a member which a mixin uses but lacks.

        `symbol` is the mixin, and `name` the member. Each returned class inherits the mixin, or is another base of a class that inherits
        the mixin. Test classes are considered only for mixins in tests. The result is empty in these cases:

        - A base class from a library may define the member.
        - Too many classes inherit the mixin.
        - `name` begins with `__`.
        """
        if name.startswith("__") or any(not isinstance(base, Symbol) and base[1] not in _PASSIVE for base in inference.mro(symbol)):
            return ()
        in_tests = inference.project.files[symbol.path].in_tests
        users = [below for below in inference.below(symbol) if in_tests or not inference.project.files[below.path].in_tests]
        if len(users) > MAX_USERS:
            return ()
        owners = {owner for below in users if isinstance(owner := inference.owner(below, name), Symbol)}
        return sorted(owners, key=lambda owner: owner.place)

    def missing_member(self, receiver: Receiver, name: str) -> Type:
        """Return `object.__new__` for `super().__new__`, else an empty type.

        The rule applies to a class without bases.
        """
        return one((EXT, BUILTINS, "object.__new__", None)) if name == "__new__" and receiver[0] == CLASS else EMPTY

    def class_value(self, inference: Inference, owner: Symbol, binding: Binding, value: Type) -> Type:
        """Return the type that reading a class attribute gives.

        `value` is the type of the assigned value, and usually the result. There are four exceptions:

        - For a field of a data class, the result also has the arguments that calls of the class pass.
        - For a member of an enum, the result is an instance of the enum.
        - For a descriptor, the result is that of its method `__get__`.
        - For a property made by a call such as `property(get)`, the result is that of its getter.
        """
        if binding.annotation < 0 and inference.is_enum(owner):
            return one((INST, owner, True))
        found = EMPTY
        for atom in ordered(inference.expanded(field_value(inference, owner, binding, value))):
            if atom[0] == INST and isinstance(inference.owner(atom[1], "__get__"), Symbol):
                found = join(found, inference.method_result(atom, "__get__"))
            elif atom == MADE_PROPERTY:
                found = join(found, made_property(inference, owner, binding) or one(atom))
            else:
                found = join(found, frozenset((atom,)))
        return found

    def answers_itself(self, base: Ext, name: str) -> bool:
        """Whether a special method of a library class calls no other such method.

        `base` is the class, and `name` the special method. The result is True if `base` is a container class, such as `list`, that defines
        the method. For example, `__iter__` of `list` does not call `__getitem__`.
        """
        _, package, dotted, _ = base
        inside = _CONTAINERS.get(package)
        found = vars(inside).get(dotted) if inside is not None else None
        return isinstance(found, type) and getattr(found, name, None) not in (None, getattr(object, name, None))

    def library_has(self, base: Ext, name: str) -> bool:
        """Return whether a class in `collections.abc` has a given method.

        `base` is the library class. The result is False for a class that is not in `collections.abc`.
        """
        return hasattr(getattr(collections.abc, base[2].rpartition(".")[2], None), name)

    def satisfies(self, inference: Inference, receiver: Instance, tested: ExtInstance) -> bool:
        """Return whether an object passes `isinstance(x, Iterable)` and similar.

        The object passes if its class derives from the library's class `tested`. It also passes if its class has the method that `tested`
        requires, such as `__iter__` for `Iterable`.
        """
        _, _, dotted, _ = tested
        name = dotted.rpartition(".")[2]
        known = getattr(collections.abc, name, None)
        for base in inference.mro(receiver[1]):
            if not isinstance(base, Symbol):
                other = getattr(collections.abc, base[2].rpartition(".")[2], None)
                if base[2].rpartition(".")[2] == name or (isinstance(known, type) and isinstance(other, type) and issubclass(other, known)):
                    return True
        method = STANDS_FOR.get(name)
        return method is not None and isinstance(inference.owner(receiver[1], method), Symbol)


def made_objects(entry: FileEntry) -> frozenset[tuple[int, str]]:
    """Return the variables of `__new__` methods that hold the new object.

    An example is `self = super().__new__(cls)`. A variable is given by its method and its name.
    """
    known: frozenset[tuple[int, str]] | None = entry.kept.get("made objects")
    if known is None:
        found = set()
        hooks = {position for position, one in enumerate(entry.definitions) if one.kind == "method" and one.name == "__new__"}
        for binding in entry.facts.bindings if hooks else ():
            value = entry.terms[binding.value] if binding.scope in hooks and binding.value >= 0 else None
            if value is not None and value[0] == CALL and last_name(entry.terms[value[1]]) == "__new__":
                found.add((binding.scope, last_name(entry.terms[binding.target])))
        known = entry.kept["made objects"] = frozenset(found)
    return known
