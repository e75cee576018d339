"""Find the definitions that `name()`, `x.name()` or `new A()` can run.

If nothing is found, the call is recorded as unresolved, with the reason.

`reference` is the use that is resolved: a call, a read, a write or an operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from graphmem.parsing.facts import ATTR, CALL, INDEX, NAME, SELF, Reference, TermIndex
from graphmem.resolution.edges.arguments import Arguments
from graphmem.resolution.edges.context import FileContext
from graphmem.resolution.edges.frameworks import Registrations
from graphmem.resolution.edges.provenance import Provenance
from graphmem.resolution.edges.reads import Reads
from graphmem.resolution.edges.recorder import Recorder
from graphmem.resolution.edges.target import Target, extension_target
from graphmem.resolution.edges.targets import Targets
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.type_inference.extensions import is_own
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.terms import call_at, last_name
from graphmem.resolution.values.types import CLASS, EXT, EXTI, FUNC, INST, MODULE, NAMESPACE, TOP, Receiver, Type, ordered

SHARED_BY_MANY: Final = 1.5
"""Confidence that is divided among the methods of a receiver that may be of many classes."""


class Callees:
    """Finds the definitions that the call expressions of one file can run."""

    def __init__(
        self,
        context: FileContext,
        targets: Targets,
        recorder: Recorder,
        reads: Reads,
        registrations: Registrations,
        arguments: Arguments,
        provenance: Provenance,
    ) -> None:
        self.context = context
        self.inference = context.inference
        self.project = context.project
        self.entry = context.entry
        self.terms = context.terms
        self.targets = targets
        self.recorder = recorder
        self.reads = reads
        self.registrations = registrations
        self.arguments = arguments
        self.provenance = provenance
        self._receiver_rules: dict[tuple[int, int], str] = {}  # by scope and term, for receivers with a stable type

    def of_name(self, reference: Reference, index: TermIndex, name: str) -> list[Target]:
        """Return the definitions (targets) that a call `name()` can run.

        `index` is the position of the callee in the file's list of expressions. A call without targets is counted as unresolved.
        """
        entry = self.entry
        around = self.inference.scope_of_callee(entry, reference.scope, name, reference.line)
        written = self.context.value(reference if around == reference.scope else reference._replace(scope=around), index)
        value = rules_of(entry).created(self.inference, entry, reference, written)
        places = self.inference.lookup(entry, around, name, reference.line)
        if rules_of(entry).this_is_implied and self.terms[reference.term][0] == CALL:
            found = self._on_this(reference, name)
            if found:
                return found
        is_mine = is_own(value) or any(atom[0] == CLASS for atom in value)
        own = "function_value" if rules_of(entry).links_routes else "self"
        rule = (own if is_mine else "builtin") if places is None else self.provenance.of_name(places)
        if value != written:
            rule = "inferred_type"
        found = list(self.targets.of_value(value, rule, self.context.caller(reference), name))
        if not found and places is None and rules_of(entry).sees_globals(entry):
            found = self.targets.names.definitions(reference, name, bound=False)
        if not found and places is None and rules_of(entry).sees_methods(entry):
            found = self.targets.names.definitions(reference, name, bound=True)
        if not found:
            found = self.targets.wrappers.wrapped(reference, index)
        if not found:
            self.recorder.leave_unresolved(reference, value, "unknown_name" if places is None else "dynamic")
        return found

    def _on_this(self, reference: Reference, name: str) -> list[Target]:
        """Return the targets of a call `name()` that stands for `this.name()`.

        `name` is a member of a class around the call, or of a base of such a class. The result is empty for other names.
        """
        rules, caller = rules_of(self.entry), self.context.caller(reference)
        for receiver in self.inference.receivers(self.entry, reference.scope, reference.line):
            found = [target for target in self.targets.of_member(receiver, name, "receiver_type", caller) if target.symbol is not None]
            if found:
                return found
        here = reference.scope
        while here > 0:
            symbol = rules.implied_class(self.inference, self.entry, here)
            owner = self.inference.owner(symbol, name) if symbol is not None else None
            owners: Sequence[Symbol] = (owner,) if isinstance(owner, Symbol) else ()
            if symbol is not None and not owners:
                owners = rules.sibling_owners(self.inference, symbol, name)
            if symbol is not None and any(self.inference.functions(one_owner, name) for one_owner in owners):
                own: Receiver = (INST, symbol, False)
                if rules.is_on_class(self.entry, reference.scope, here):
                    own = (CLASS, symbol, False)
                return list(self.targets.of_attribute(own, name, "self", caller))
            here = self.entry.definitions[here].parent
        return []

    def of_attribute(self, reference: Reference, receiver: TermIndex, name: str) -> list[Target]:
        """Return the definitions (targets) that `receiver.name()` can run."""
        rules, caller = rules_of(self.entry), self.context.caller(reference)
        base = self.arguments.without_unfit_classes(reference, self.context.receiver_of(reference, receiver, name), name)
        self.reads.read_called_property(reference, base, name)
        by_framework = self.registrations.run_by_framework(reference, receiver, name)
        receiver_rule = self._receiver_rule(reference, receiver)
        found = self.targets.of_member(base, name, receiver_rule, caller) if base else []
        if not found:
            module = self.inference.beside_variable(self.entry, reference.scope, receiver, reference.line)
            if module:
                return self.targets.of_member(module, name, "import", caller)
        many = rules.many_methods
        different = len({target.symbol for target in found}) if many else 0  # several parts of one class share one method
        if many and receiver_rule == "inferred_type" and min(different, sum(atom[0] == INST for atom in base)) >= many:
            found = [target._replace(confidence=round(SHARED_BY_MANY / different, 3)) for target in found]
        if not rules.calls_extensions and any(atom[0] == INST for atom in base):
            found = [target for target in found if target.symbol is None or not self._is_extension(target.symbol)]
        if receiver_rule == "self":
            found = [
                target for target in found if target.rule != "override" or self.targets.dispatch.may_meet(reference.scope, target.symbol)
            ]
        if self._is_self(receiver):
            own = rules.methods_of_self(self.inference, self.entry, reference.scope, name)
            if own or (own is not None and not base):
                return [Target(symbol, None, "self") for symbol in own]
        if base and all(target.symbol is None for target in found):
            found = self.targets.names.extensions(base, name) or found
        if not base and not self._is_from_outside(reference, receiver):
            found = self._of_unknown(reference, receiver, name)
        elif base is TOP or self._is_anything(base):
            named = self.targets.names.definitions(reference, name, bound=True)
            found = found + [target for target in named if target.rule == "unique_name"]
        if base and not any(target.symbol is not None for target in found):
            read = rules.property_of(name)
            if self._reads_property(base, read):
                self.reads.read_attribute_named(reference, receiver, read)
                return by_framework
        if receiver_rule == "self" and all(target.symbol is None for target in found):
            callee = call_at(self.terms, reference.term)[1]
            found = self.targets.wrappers.held(reference, callee) or found or self.targets.wrappers.wrapped(reference, callee)
        if not found and not by_framework:
            known = any(atom[0] in (INST, CLASS, MODULE, NAMESPACE) for atom in base)
            value = self.inference.attribute(base, name)
            missing = known and not value
            self.recorder.leave_unresolved(
                reference, value or base, "no_such_member" if missing else "dynamic" if base else "no_receiver_type"
            )
        return found + by_framework

    def _of_unknown(self, reference: Reference, receiver: TermIndex, name: str) -> list[Target]:
        """Return the methods that `receiver.name()` may call, found by name alone.

        This is for a `receiver` of unknown type.
        """
        rules = rules_of(self.entry)
        found = self.targets.names.definitions(reference, name, bound=True)
        if not rules.types_are_declared:  # a method that passes the call on to an object of another class
            found = [target for target in found if target.symbol is not self.context.caller(reference)]
        if not found and not rules.types_are_declared:
            found = self.targets.stored_in(name, self.context.caller(reference))
        if rules.sees_methods(self.entry):
            held = call_at(self.terms, receiver)[1] if self.terms[receiver][0] == CALL else receiver
            found = self.targets.names.in_template(last_name(self.terms[held]), found)
        if rules.links_routes:
            written = last_name(self.terms[receiver]).lower()
            found = [target for target in found if target.symbol is None or written in target.symbol.qualname.lower()]
        return found

    def of_types(self, reference: Reference, value: Type) -> list[Target]:
        """Return the classes in a type as targets of a call `new Type(…)`."""
        found: list[Target] = []
        for atom in ordered(value):
            rule = "scope" if atom[0] == CLASS and atom[1].path == self.entry.path else "import"
            found += self.targets.of_value(frozenset((atom,)), rule, self.context.caller(reference))
        return found

    def extensions(self, reference: Reference, called: TermIndex) -> list[Target]:
        """Return the extension functions that `x.name()` can run.

        They are tried if no method of the class of `x` accepts the arguments. `called` is the expression `x.name`.
        """
        callee = self.terms[called]
        rules = rules_of(self.entry)
        if callee[0] != ATTR or not rules.extensions_come_last:
            return []
        _, receiver, name = callee
        found: dict[Symbol, None] = {}
        for atom in ordered(self.context.value(reference, receiver)):
            found |= dict.fromkeys(rules.extensions(self.inference, self.entry, atom, name))
        return [extension_target(self.project, symbol, "receiver_type") for symbol in found]

    def without_types(self, reference: Reference, callee: TermIndex) -> TermIndex:
        """Return a call's callee without type arguments in brackets.

        `callee` and the result are the numbers of expressions in the file. For `f[A](…)`, the result is the number of `f`. In
        `handlers[i](…)`, the brackets contain a subscript and no type, so `callee` is returned unchanged.
        """
        found = self.terms[callee]
        if found[0] != INDEX or not rules_of(self.entry).functions_take_types:
            return callee
        _, base, _ = found
        takes_types = any(atom[0] in (FUNC, CLASS, EXT) for atom in self.context.value(reference, base))
        return base if takes_types else callee

    def _receiver_rule(self, reference: Reference, receiver: TermIndex) -> str:
        """Return the rule by which the type of a call's receiver was found.

        The receiver of `x.f()` is `x`. An example of a rule is `receiver_type`, for a declared type. The rule is cached if the type of `x`
        is the same on every line of the scope.
        """
        key = (reference.scope, receiver)
        if key not in self.context.stable:
            return self.provenance.of_receiver(reference, receiver)
        rule = self._receiver_rules.get(key)
        if rule is None:
            rule = self._receiver_rules[key] = self.provenance.of_receiver(reference, receiver)
        return rule

    def _is_extension(self, symbol: Symbol) -> bool:
        """Whether a function extends a type from outside: `fun Item.show()`."""
        return "extension" in self.project.definition(symbol).modifiers

    def _reads_property(self, base: Type, name: str) -> bool:
        """Whether a call like `item.getPrice()` in Java reads a Kotlin property.

        `base` is the type of the receiver `item`, and `name` is the possible property, here `price`.
        """
        for atom in ordered(base):
            if name and atom[0] == INST and isinstance(owner := self.inference.owner(atom[1], name), Symbol):
                return bool(rules_of(self.project.entry(owner)).accessors(name, "read"))
        return False

    def _is_self(self, receiver: TermIndex) -> bool:
        """Whether a receiver is `self`, or `Self`, the class of `self`."""
        term = self.terms[receiver]
        return term[0] == SELF or (term[0] == ATTR and term[2] == "__class__" and self.terms[term[1]][0] == SELF)

    def _is_anything(self, base: Type) -> bool:
        """Whether a value may be an object of any class, given its type `base`.

        The result is True if library functions returned the value, or if `base` is empty. It is always False if the rules of the language
        set `libraries_give_anything` to False.
        """
        rules = rules_of(self.entry)
        return rules.libraries_give_anything and all(
            atom[0] == EXTI and "(" in atom[2] and atom[1] != rules.builtin_package for atom in base
        )

    def _is_from_outside(self, reference: Reference, receiver: TermIndex) -> bool:
        """Whether the receiver of a call can only come from a star import.

        For `x.f()`, the receiver is `x`. The result is True for a bare name that nothing in the project binds. It is always False in
        languages without declared types.
        """
        term = self.terms[receiver]
        if not rules_of(self.entry).types_are_declared or term[0] != NAME:
            return False
        return self.inference.lookup(self.entry, reference.scope, term[1], reference.line) is None
