"""Find the definitions that run when code calls a value or an attribute.

Each definition is returned with the rule that found it, such as `import`. Inference has found the types of the value and the receiver.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from graphmem.resolution.edges.bare_names import ONE_FAMILY, BareNames
from graphmem.resolution.edges.constructors import Constructors
from graphmem.resolution.edges.dispatch import Dispatch
from graphmem.resolution.edges.overloads import Overloads
from graphmem.resolution.edges.target import Target, extension_target, shared_among
from graphmem.resolution.edges.wrappers import Wrappers
from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.interfaces.inference import Inference
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.type_inference.extensions import is_own
from graphmem.resolution.type_inference.hierarchy import Hierarchy
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.types import (
    BOX,
    BUILTIN,
    CLASS,
    EXT,
    EXTI,
    FUNC,
    INST,
    METHODS,
    MODULE,
    NAMESPACE,
    PARTIAL,
    SUPEROBJ,
    TUP,
    Atom,
    ExtInstance,
    Func,
    Instance,
    Receiver,
    Type,
    handed_back,
    ordered,
)

IMPLEMENTING: Final = 0.65
"""Confidence in the only method that implements what a library's type declares."""

SHARED_AMONG: Final = 1.5
"""Confidence that is divided among several methods that implement what a library's type declares.

So it is divided among the values that classes store in an attribute of which only the name is known.
"""

HANDED_BACK: Final = 0.7
"""Confidence in the method of a class that was passed to a library.

The library's result is called, which may be an object of another class.
"""


class Targets:
    """Finds the definitions that the calls of one file can run."""

    def __init__(self, inference: Inference, hierarchy: Hierarchy, entry: FileEntry) -> None:
        self.inference = inference
        self.project = inference.project
        self.hierarchy = hierarchy
        self.entry = entry
        self.dispatch = Dispatch(inference, hierarchy, entry)
        self.constructors = Constructors(inference, hierarchy, entry)
        self.wrappers = Wrappers(inference, entry)
        self.names = BareNames(inference, entry)
        self.overloads = Overloads(inference, entry)
        self._members: dict[tuple[Type, str, str], list[Target]] = {}  # for any caller, by the receiver's type, name and rule

    def of_value(self, value: Type, rule: str, caller: Symbol, name: str = "") -> Iterator[Target]:
        """Yield the definitions that run when a value of a given type is called.

        `rule` is the rule by which the value was found, `caller` is the function that contains the call, and `name` is the name in the
        call. Most targets get this rule, too. But a function that code passed or stored as a value gets the rule `function_value`. Such a
        function may have another name than `name`. For the rule `import`, functions keep this rule, because an import may rename a
        function.
        """
        rules = rules_of(self.entry)
        likely = shared_among(value)
        for atom in ordered(value):
            if atom[0] == FUNC:
                other = name and rule not in ("import", "function_value") and (atom[1].name != name or self._is_stored(atom[1], rule))
                itself = Target(atom[1], None, "function_value" if other else rule)
                yield from self._of_stored(atom, itself, caller) if rule == "function_value" else (itself,)
            elif atom[0] == CLASS and (functions := rules.runs_as_call(self.inference, atom[1])):
                yield from (Target(symbol, None, "implicit") for symbol in functions)
            elif atom[0] == CLASS:
                yield Target(atom[1], None, rule)
                yield from (Target(symbol, None, "implicit") for symbol in rules.runs_on_instantiation(self.inference, atom[1]))
                if atom[2]:
                    yield from self.constructors.of_subclasses(atom[1], caller)
            elif atom[0] in (EXT, EXTI) and atom[3] is not None:
                continue  # the same atom without the class is also present
            elif atom[0] == EXT:
                yield Target(None, (atom[1], atom[2]), "builtin" if atom[1] == rules.builtin_package else "external")
            elif atom[0] == EXTI:
                yield Target(None, (atom[1], atom[2]), "external")
            elif atom[0] == BUILTIN:
                kind = atom[1][1] if atom[1][0] == BOX else "tuple" if atom[1][0] == TUP else "object"
                yield Target(None, (rules.builtin_package, f"{kind}.{atom[2]}"), "builtin")
            elif atom[0] == INST and rules.call_method:
                owner = self.inference.owner(atom[1], rules.call_method)
                if isinstance(owner, Symbol):
                    found = rule if rule == "inferred_type" else "implicit"
                    plain = [
                        Target(symbol, None, found, likely if found == "implicit" else 0.0)
                        for symbol in self.inference.functions(owner, rules.call_method)
                    ]
                    yield from self.dispatch.targets(atom, rules.call_method, plain, caller, is_self=False)
            elif atom[0] == METHODS:
                _, receiver, prefix = atom
                methods = self.inference.methods_of(receiver, prefix)
                yield from (Target(method[1], None, "computed_name") for method in methods if method[0] == FUNC)
            elif atom[0] == PARTIAL:
                yield from self.of_value(self.inference.expanded(atom[1]), "function_value", caller)
            elif atom[0] == SUPEROBJ:  # `super(…)`: the constructor of the next class
                yield from self.constructors.after_super(atom)

    def _of_stored(self, function: Func, plain: Target, caller: Symbol) -> Iterator[Target]:
        """Yield the functions that may run when code calls a stored function.

        `plain` is the stored function itself, and `caller` is the function that contains the call. After `step = self.step`, the call
        `step()` runs the method `step` of the object's class, which may be a subclass that overrides the method.
        """
        _, symbol, receiver = function
        if receiver is not None and receiver[0] == INST:
            owner = self.inference.owner(receiver[1], symbol.name)
            if isinstance(owner, Symbol) and symbol in self.inference.functions(owner, symbol.name):
                is_self = self._is_of_family(caller, receiver[1])
                yield from self.dispatch.targets(receiver, symbol.name, [plain], caller, is_self=is_self)
                return
        yield plain

    def _is_of_family(self, caller: Symbol, symbol: Symbol) -> bool:
        """Whether a method belongs to a class, or to a base of that class.

        `caller` is the method, and `symbol` is the class. If so, an object of this class that the method calls is taken for the object
        itself.
        """
        entry = self.project.entry(caller)
        method = entry.enclosing(caller.index, ("method",))
        return method >= 0 and entry.symbols[entry.definitions[method].parent] in self.inference.project_classes(symbol)

    def stored_in(self, name: str, caller: Symbol) -> list[Target]:
        """Return the functions that `x.name()` may run if `x` has an unknown type.

        These are the functions and callable objects that classes store in an attribute `name`. All get the same confidence, which is
        lower if there are many. `caller` is the function that contains the call.
        """
        values = (self.of_attribute((INST, base, False), name, "inferred_type", caller) for base in self.names.storing(name))
        found = {target.symbol: target for value in values for target in value if target.symbol is not None}
        confidence = min(ONE_FAMILY, round(SHARED_AMONG / max(1, len(found)), 3))
        return [target._replace(rule="ambiguous_name", confidence=confidence) for target in found.values()]

    def of_attribute(self, atom: Atom, name: str, receiver_rule: str, caller: Symbol) -> Iterator[Target]:
        """Yield the definitions that a call `x.name()` can run.

        `atom` is one of the types that `x` may have. `receiver_rule` is the rule that explains how `x` got its type, and `caller` is the
        function that contains the call.
        """
        value = self.inference.expanded(self.inference.attribute_of(atom, name))
        own = frozenset(one for one in value if one[0] != INST or self._is_callable(one))
        extending = () if is_own(own) else rules_of(self.entry).extensions(self.inference, self.entry, atom, name)
        if extending:
            rule = "receiver_type" if receiver_rule in ("scope", "import") else receiver_rule
            yield from (extension_target(self.project, symbol, rule) for symbol in extending)
        elif atom[0] == SUPEROBJ:
            yield from self.of_value(value, "super", caller, name)
        elif atom[0] == MODULE or atom[0] == NAMESPACE:
            yield from self.of_value(value, "import", caller, name)
        elif atom[0] == INST and (siblings := self._siblings(atom, name)):
            for sibling in () if receiver_rule == "receiver_type" else siblings:
                yield from self.of_attribute((INST, sibling, False), name, "inferred_type", caller)
        elif atom[0] == INST or atom[0] == CLASS:
            rule = "receiver_type" if atom[0] == INST and receiver_rule in ("scope", "import") else receiver_rule
            plain = list(self.of_value(value, rule, caller, name))
            found = self.dispatch.targets(atom, name, plain, caller, is_self=receiver_rule == "self")
            yield from (target for target in found if target.symbol is None or not self.project.has_modifier(target.symbol, "property"))
        elif atom[0] == EXT or atom[0] == EXTI:
            yield from self.of_value(frozenset(one for one in value if one[0] == EXT), "external", caller, name)
            back = handed_back(atom)
            if back is not None:
                for target in self.of_attribute((INST, back, False), name, "inferred_type", caller):
                    yield target._replace(confidence=HANDED_BACK)
            elif atom[0] == EXTI and self._may_be_implemented(atom):
                implementing = self.hierarchy.implementing(atom[1], atom[2], name, caller)
                likely = min(IMPLEMENTING, round(SHARED_AMONG / max(1, len(implementing)), 3))
                yield from (Target(symbol, None, "override", likely) for symbol in implementing)
        else:
            yield from self.of_value(value, receiver_rule, caller, name)

    def of_member(self, base: Type, name: str, receiver_rule: str, caller: Symbol) -> list[Target]:
        """Return the targets of a call `x.name()` for all types that `x` may have.

        `base` is the type of `x`, and `receiver_rule` is the rule by which that type was found. The result is cached, unless it depends on
        `caller`, the function that contains the call.
        """
        key = (base, name, receiver_rule)
        found = self._members.get(key)
        if found is None:
            found = self._members[key] = self._of_member_for(base, name, receiver_rule, self.entry.symbols[0])
        if any(target.symbol is caller and target.rule == "override" for target in found):
            return self._of_member_for(base, name, receiver_rule, caller)
        return found

    def _of_member_for(self, base: Type, name: str, receiver_rule: str, caller: Symbol) -> list[Target]:
        """Return the targets of `x.name()` for one caller, without a cache.

        `base` is the type of `x`, and `receiver_rule` is the rule by which that type was found.
        """
        return [target for atom in ordered(base) for target in self.of_attribute(atom, name, receiver_rule, caller)]

    def _is_stored(self, function: Symbol, rule: str) -> bool:
        """Whether code stored a function in an attribute, as in `self.f = f`.

        `rule` is the rule by which the function was found. The result is False for a method of the class. It is also False if the rules of
        the language set `values_are_checked` to False.
        """
        return rule in ("self", "receiver_type") and function.kind == "function" and rules_of(self.entry).values_are_checked

    def _is_callable(self, instance: Instance) -> bool:
        """Whether an object can be called like a function.

        In Kotlin, an object can be called if its class has the method `invoke`. Otherwise, `x.name()` cannot call the object in the
        property `name`, so it calls an extension function `name`. In languages that name no such method in their rules, the result is
        always True.
        """
        method = rules_of(self.entry).call_method
        return not method or self.inference.owner(instance[1], method) is not None

    def _siblings(self, atom: Receiver, name: str) -> Sequence[Symbol]:
        """Return the classes that define a member missing from a mixin.

        `atom` is the mixin, which uses the member `name`. The member is looked up in the classes that inherit the mixin. The result is
        empty if the mixin or one of its bases defines the member.
        """
        rules = rules_of(self.project.entry(atom[1]))
        if not rules.siblings_are_inferred or isinstance(self.inference.owner(atom[1], name), Symbol):
            return ()
        return rules.sibling_owners(self.inference, atom[1], name)

    def _may_be_implemented(self, atom: ExtInstance) -> bool:
        """Whether classes of the project may extend the type of a library object.

        The result is False for types of the language and of its standard library. It is also False if the settings of the language do not
        list the packages of the standard library.
        """
        rules = rules_of(self.entry)
        _, package, dotted, _ = atom
        if not rules.standard_packages or not package or not dotted:
            return False
        return package != rules.builtin_package and package.partition(".")[0] not in rules.standard_packages
