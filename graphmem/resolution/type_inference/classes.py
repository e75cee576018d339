"""Infer attributes of classes, and bind methods to objects.

A type is a set of alternatives: the type of `x` may be `A | B`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from graphmem.resolution.files.file_entry import FileEntry, Place
from graphmem.resolution.interfaces.call import Call
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.type_inference.ancestors import Ancestors
from graphmem.resolution.type_inference.bindings import OTHER_BUILDS, whole
from graphmem.resolution.type_inference.contents import assigned_elsewhere, filled_attribute, is_vague
from graphmem.resolution.type_inference.substitution import rebound
from graphmem.resolution.values.declared_types import is_callable
from graphmem.resolution.values.outside import attribute_name
from graphmem.resolution.values.symbol import FUNCTION_KINDS, Symbol
from graphmem.resolution.values.types import (
    BOX,
    BUILTIN,
    CLASS,
    EMPTY,
    EXT,
    EXTI,
    FUNC,
    INST,
    METHODS,
    MODULE,
    NAMESPACE,
    OBJ,
    SELFTYPE,
    SUPEROBJ,
    TOP,
    TUP,
    Atom,
    Func,
    Instance,
    Receiver,
    Type,
    bottom_for,
    class_of,
    handed_back,
    join,
    join_all,
    one,
    ordered,
)

if TYPE_CHECKING:
    from graphmem.resolution.interfaces.inference import Inference


MAX_METHODS: Final = 16
"""Most methods with a common prefix that a type lists. For more methods, the type has only the prefix."""

MANY_PARTS: Final = 8
"""Most alternatives of a type for which the declarations of one class are kept apart. For more, they are joined."""


class Classes:
    """Finds types of attributes and methods of classes, for type inference."""

    def __init__(self, inference: Inference, ancestors: Ancestors) -> None:
        self.inference = inference
        self.ancestors = ancestors
        self.project = inference.project
        self.ask = inference.project.solver.ask

    def attribute(self, value: Type, name: str) -> Type:
        """Return the type of an attribute `x.name`, given the type of `x`.

        A type is a set of alternatives, such as `A` or `B`. The result is the union of the attribute's types for all alternatives.
        """
        if value is TOP:
            return TOP
        found = EMPTY
        for atom in ordered(self._whole_classes(value) if len(value) > MANY_PARTS else value):
            found = join(found, self.attribute_of(atom, name)) if found else self.attribute_of(atom, name)
        return found

    def _whole_classes(self, value: Type) -> Type:
        """Keep only one declaration of each class that is declared several times.

        `value` is a type that may contain such classes. In Ruby, each file of a library may declare the same module. All declarations of
        the module have the same members.
        """
        parts: dict[tuple[str, bool], list[Symbol]] = {}
        others: list[Atom] = []
        for atom in ordered(value):
            if atom[0] == CLASS and rules_of(self.project.entry(atom[1])).is_one_class(atom[1]):
                parts.setdefault((atom[1].qualname, atom[2]), []).append(atom[1])
            else:
                others.append(atom)
        for (_, is_open), same in parts.items():
            others.append((CLASS, min(same, key=lambda symbol: symbol.place), is_open))
        return frozenset(others)

    def attribute_of(self, atom: Atom, name: str) -> Type:
        """Return the type of an attribute for one alternative of the owner's type.

        In `x.name`, the type of `x` may be `A | B`. Its alternatives are an object of `A` and an object of `B`. `atom` is one of them.
        """
        if atom[0] == INST or atom[0] == CLASS:
            if name == "__class__" and atom[0] == INST:
                return one(class_of(atom))
            return self._member(atom, atom[1], name, None)
        if atom[0] == MODULE or atom[0] == NAMESPACE:
            return self.inference.module_member(atom, name)
        if atom[0] == EXT or atom[0] == EXTI:
            _, package, dotted, given = atom
            outside = one((EXT, package, attribute_name(dotted, name), given))
            back = handed_back(atom)
            return outside if back is None else join(outside, self._member((INST, back, False), back, name, None))
        if atom[0] == SUPEROBJ:
            _, after, receiver = atom
            return self._member(receiver, receiver[1], name, after)
        if atom[0] == BOX or atom[0] == TUP:
            return one((BUILTIN, atom, name))
        if atom[0] == OBJ:
            _, fields, _ = atom
            return dict(fields).get(name, EMPTY)
        if atom[0] == FUNC:
            return rules_of(self.project.entry(atom[1])).function_attribute(self.inference, atom, name)
        return EMPTY

    def _member(self, receiver: Receiver, symbol: Symbol, name: str, after: Symbol | None, *, is_sibling: bool = False) -> Type:
        owner = self.ancestors.owner(symbol, name, after)
        if not isinstance(owner, Symbol):
            if receiver[0] == INST and self.answers_for_missing(symbol, name):
                return self.method_result(receiver, rules_of(self.project.entry(symbol)).fallback_method)
            rules = rules_of(self.project.entry(symbol))
            field = rules.field_name(name)
            if field and isinstance(self.ancestors.owner(symbol, field, after), Symbol):
                return self._member(receiver, symbol, field, after)
            following = rules.next_owners(self.inference, after, name) if after is not None else ()
            if following:
                return join_all(self._member(receiver, other, name, None) for other in following)
            siblings: Sequence[Symbol] = ()
            # With several users the guesses depend on each other, which takes minutes in a large project. A sibling defines the member. If
            # it seems not to, its bases are still being inferred, perhaps from this member.
            is_object = receiver[0] == INST and after is None and not is_sibling
            if is_object and (not rules.siblings_are_inferred or len(self.inference.below(symbol)) == 1):
                siblings = rules.sibling_owners(self.inference, symbol, name)
            if siblings:
                return join_all(self._member(receiver, sibling, name, None, is_sibling=True) for sibling in siblings)
            return rules.missing_member(receiver, name) if owner is None else rules.member_outside(self.inference, receiver, owner, name)
        entry = self.project.entry(owner)
        value = self.ask(entry.memo, ("M", owner.index, name), self._class_attribute, owner, name)
        if value and self._is_of_other_side(value, entry, owner, receiver):
            found = self._member(receiver, symbol, name, owner)
            if found:
                return found
        is_open = receiver[2] if receiver[0] == CLASS else not receiver[2]
        found = self._bind(self._of_one_side(value, entry, receiver) if value else value, receiver, name)
        if receiver[0] == INST and receiver[1] is not owner and name in entry.members.get(owner.index, {}):
            found = rebound(found, owner, lambda method: self._member(receiver, receiver[1], method.name, None))
        if is_open and after is None and (self._varies(entry, owner, name) or is_vague(found)):
            found = join(found, self._overridden(receiver, name))
        return found

    def _varies(self, entry: FileEntry, owner: Symbol, name: str) -> bool:
        """Whether a subclass may give an attribute another type.

        Returns True for a class attribute, and for a property without a declared type.
        """
        for slot in entry.names(owner.index).get(name, ()):
            if slot.kind == "binding":
                return True
            if slot.kind == "definition" and "property" in entry.definitions[slot.index].modifiers:
                return rules_of(entry).siblings_are_inferred and entry.definitions[slot.index].returns < 0
        return False

    def answers_for_missing(self, symbol: Symbol, name: str) -> bool:
        """Whether a class defines a hook for missing attributes (`__getattr__`).

        The result is False if `name`, the missing attribute, begins with `__`.
        """
        method = rules_of(self.project.entry(symbol)).fallback_method
        return bool(method) and not name.startswith("__") and isinstance(self.ancestors.owner(symbol, method), Symbol)

    def _class_attribute(self, owner: Symbol, name: str) -> Type:
        """Return the type of an attribute as its class defines it.

        The type is not yet adapted to an object. For example, a method is still a plain function.
        """
        entry = self.project.entry(owner)
        self.project.touch_member(entry, name)
        bindings = entry.facts.bindings
        positions = [slot.index for slot in entry.names(owner.index).get(name, ()) if slot.kind == "binding"]
        positions += entry.members.get(owner.index, {}).get(name, ())
        found = EMPTY
        for slot in whole(entry, entry.names(owner.index).get(name, ())):
            if slot.kind != "binding":
                found = join(found, self.inference.slot(Place(entry, owner.index, slot)))
        for place in rules_of(entry).members_elsewhere(self.inference, owner, name):
            found = join(found, self.inference.slot(place))
        declared = [i for i in positions if bindings[i].annotation >= 0]
        found = join(found, self._bound(owner, declared or positions))
        if declared and is_callable(found) and rules_of(entry).values_are_checked:  # `handler: Callable` says less than `self.handler = f`
            found = join(found, self._bound(owner, [i for i in positions if i not in declared]))
        if not found and not declared and rules_of(entry).attributes_are_set_anywhere:
            return assigned_elsewhere(self.inference, owner, name)
        return found if declared and not is_vague(found) else filled_attribute(self.inference, owner, name, found)

    def _bound(self, owner: Symbol, positions: Sequence[int]) -> Type:
        """Return the type of the values that some bindings give an attribute.

        `positions` are bindings in the file of the class `owner`.
        """
        entry = self.project.entry(owner)
        found = EMPTY
        for position in positions:
            value = self.inference.binding(entry, position)
            if entry.facts.bindings[position].scope == owner.index:
                value = rules_of(entry).class_value(self.inference, owner, entry.facts.bindings[position], value)
            found = join(found, value)
        return found

    def _overridden(self, receiver: Receiver, name: str) -> Type:
        """Return the type of the values that subclasses assign to an attribute.

        Properties of subclasses are included. `receiver` is the class, or an object of it.
        """
        found = EMPTY
        symbol = receiver[1]
        for child in self.ask(self.project.files[symbol.path].memo, ("G", symbol.index, name), self._giving, symbol, name):
            value = self.ask(self.project.files[child.path].memo, ("M", child.index, name), self._class_attribute, child, name)
            below: Receiver = (CLASS, child, receiver[2]) if receiver[0] == CLASS else (INST, child, receiver[2])
            found = join(found, self._bind(value, below, name))
        return found

    def _giving(self, symbol: Symbol, name: str) -> tuple[Symbol, ...]:
        """Return the subclasses that assign an attribute or have it as a property.

        `symbol` is the class, and `name` the attribute. For a class in a test file, they are those in test files; for another class, those
        in other files.
        """
        children = self.ask(self.project.files[symbol.path].memo, ("s", symbol.index), self._on_same_side, symbol)
        entries = [self.project.files[child.path] for child in children]
        for entry in {entry.rules: entry for entry in entries}.values():
            self.project.touch_member(entry, name)
        return tuple(child for child, entry in zip(children, entries, strict=True) if self._gives(entry, child, name))

    def _on_same_side(self, symbol: Symbol) -> tuple[Symbol, ...]:
        """Return the subclasses in tests for a class in tests, else the others.

        `symbol` is the class.
        """
        in_tests = self.project.files[symbol.path].in_tests
        return tuple(child for child in self.inference.below(symbol) if self.project.entry(child).in_tests == in_tests)

    def _gives(self, entry: FileEntry, symbol: Symbol, name: str) -> bool:
        """Whether a class itself assigns an attribute or has it as a property.

        The caller records that its answer depends on the class and on the name.
        """
        if not entry.defines(symbol.index, name):
            return False
        slots = entry.names(symbol.index).get(name, ())
        return bool(entry.members.get(symbol.index, {}).get(name)) or any(
            slot.kind == "binding" or (slot.kind == "definition" and "property" in entry.definitions[slot.index].modifiers)
            for slot in slots
        )

    def _bind(self, value: Type, receiver: Receiver, name: str) -> Type:
        """Return the type of `x.name`, given the type of `name` in x's class.

        `value` is the type in the class, and `receiver` is `x`. Functions become methods that are bound to `receiver`. A property is
        replaced by the type of its value.
        """
        for atom in ordered(value):
            if atom[0] in (FUNC, SELFTYPE, INST):
                break
        else:
            return value
        found = EMPTY
        for atom in ordered(value):
            if atom[0] == FUNC and atom[2] is None:
                found = join(found, self._bind_function(atom, receiver))
            elif atom[0] == SELFTYPE:
                found = join(found, frozenset((receiver,)))
            else:
                found = join(found, frozenset((atom,)))
        return found

    def _of_one_side(self, value: Type, owner: FileEntry, receiver: Receiver) -> Type:
        """Keep the class methods for a class, or the object methods for an object.

        In Ruby a class and its objects have separate methods. `value` has the methods, and `receiver` is a class or an object. If
        `receiver` is a class and `value` has no class methods, `value` is returned unchanged, because the methods may come from a mixin
        that extends the class.
        """
        if not rules_of(owner).sides_are_apart:
            return value
        statics = frozenset(atom for atom in value if atom[0] == FUNC and "static" in self.project.definition(atom[1]).modifiers)
        if receiver[0] == INST or not statics:
            return value - statics
        return frozenset(atom for atom in value if atom[0] != FUNC or atom in statics)

    def _is_of_other_side(self, value: Type, entry: FileEntry, owner: Symbol, receiver: Receiver) -> bool:
        """Whether a class receives an object method, or an object a class method.

        In Ruby a class and its objects have separate methods. `value` is the method in the class `owner` of the file `entry`, and
        `receiver` is a class or an object. If `receiver` is a class and `owner` is a module, the result is False, because a class that
        extends the module has the module's methods as class methods.
        """
        if not rules_of(entry).sides_are_apart or any(atom[0] != FUNC for atom in value):
            return False
        are_static = ["static" in self.project.definition(atom[1]).modifiers for atom in value if atom[0] == FUNC]
        if receiver[0] == INST:
            return all(are_static)
        return not any(are_static) and not rules_of(entry).is_mixin(self.project.definition(owner))

    def _bind_function(self, function: Func, receiver: Receiver) -> Type:
        _, symbol, _ = function
        modifiers = self.project.definition(symbol).modifiers
        entry = self.project.files[symbol.path]
        if not rules_of(entry).is_member_of(entry, symbol.index, receiver):
            return EMPTY
        if "static" in modifiers and "property" not in modifiers:
            is_inherited = receiver[0] == CLASS and entry.symbols[entry.definitions[symbol.index].parent] is not receiver[1]
            rules = rules_of(entry)
            is_bound = is_inherited and (rules.sides_are_apart or rules.declares_own_class(entry, symbol.index))
            return one((FUNC, symbol, receiver)) if is_bound else frozenset((function,))
        if "classmethod" in modifiers:
            return one((FUNC, symbol, class_of(receiver) if receiver[0] == INST else receiver))
        if receiver[0] == CLASS and "static" not in modifiers:
            return frozenset((function,))
        if "setter" in modifiers:
            return EMPTY
        bound_function: Func = (FUNC, symbol, receiver)
        if "property" in modifiers:
            return self.inference.substituted(
                self.inference.returned(symbol), bound_function, Call(self.inference, self.project.entry(symbol), 0, 0)
            )
        return frozenset((bound_function,))

    def methods_beginning(self, value: Type, prefix: str) -> Type:
        """Return a value's methods whose names begin with a prefix.

        An example is `getattr(self, "visit_" + name)`. Methods of subclasses are included. If an object has more than `MAX_METHODS` methods
        with the prefix, the result has one `METHODS` tuple, (object, prefix), instead of these methods.
        """
        found = bottom_for(value)
        for atom in ordered(value):
            if atom[0] == INST or atom[0] == CLASS:
                methods = self.methods_of(atom, prefix)
                found = join(found, frozenset(methods) if len(methods) <= MAX_METHODS else one((METHODS, atom, prefix)))
        return found

    def methods_of(self, atom: Receiver, prefix: str) -> list[Atom]:
        """Return an object's bound methods whose names begin with a prefix."""
        found: list[Atom] = []
        classes = [c for c in self.ancestors.mro(atom[1]) if isinstance(c, Symbol)]
        if atom[0] == INST and not atom[2]:
            in_tests = self.project.files[atom[1].path].in_tests
            classes += (c for c in self.inference.below(atom[1]) if self.project.files[c.path].in_tests == in_tests)
        for symbol in classes:
            receiver: Receiver = (INST, symbol, atom[2]) if atom[0] == INST else (CLASS, symbol, atom[2])
            if self.project.exists(symbol):
                entry = self.project.entry(symbol)
                self.project.touch_members(symbol, prefix)
                for name in entry.names(symbol.index):
                    if name.startswith(prefix):
                        for function in self.functions(symbol, name):
                            found += self._bind_function((FUNC, function, None), receiver)
        return found

    def method_result(self, receiver: Instance, name: str) -> Type:
        """Return the result type of calling a method without arguments.

        Used for the methods that `with`, iteration and operators call.
        """
        entry = self.project.entry(receiver[1])
        found = EMPTY
        for atom in ordered(self.inference.expanded(self.attribute_of(receiver, name))):
            if atom[0] == FUNC:
                found = join(found, self.inference.call_atom(atom, Call(self.inference, entry, 0, 0)))
        return self.inference.expanded(found)

    def functions(self, owner: Symbol, name: str) -> list[Symbol]:
        """Return the functions of a given name that a class itself defines.

        They are in source order. Overload signatures are left out if there is an implementation.
        """
        entry = self.project.entry(owner)
        self.project.touch_member(entry, name)
        slots = entry.names(owner.index).get(name, ()) if entry.defines(owner.index, name) else ()
        symbols = [entry.symbols[slot.index] for slot in slots if slot.kind == "definition"]
        found = [symbol for symbol in symbols if symbol.kind in FUNCTION_KINDS]
        found = [symbol for symbol in found if OTHER_BUILDS.isdisjoint(entry.definitions[symbol.index].modifiers)] or found
        for other, _, slot in rules_of(entry).members_elsewhere(self.inference, owner, name):
            if slot.kind == "definition" and other.symbols[slot.index].kind in FUNCTION_KINDS:
                found.append(other.symbols[slot.index])
        return found

    def super_object(self, entry: FileEntry, scope: int) -> Type:
        """Return the type of `super()` inside the method that contains a scope.

        It gives access to the methods of the next class in the method resolution order.
        """
        method = entry.enclosing(scope, ("method",))
        if method < 0:
            return EMPTY
        owner = entry.symbols[entry.definitions[method].parent]
        receivers = rules_of(entry).receiver(self.inference, entry.symbols[method])
        # An object literal has no class.
        return join_all(one((SUPEROBJ, owner, atom)) for atom in ordered(receivers) if atom[0] in (INST, CLASS))
