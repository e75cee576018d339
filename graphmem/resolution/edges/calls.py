"""Edges for calls in the source: `a.b()`, `@decorator`, `<Component>`.

Each call gets edges to its possible targets, with the rule that found each target.

`reference` is the use that is resolved: a call, a read, a write or an operation.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphmem.parsing.facts import ATTR, NAME, NEW, Reference, TermIndex
from graphmem.resolution.edges.arguments import Arguments
from graphmem.resolution.edges.callees import Callees
from graphmem.resolution.edges.context import FileContext
from graphmem.resolution.edges.frameworks import Registrations
from graphmem.resolution.edges.implicit import ImplicitCalls
from graphmem.resolution.edges.library_calls import LibraryCalls
from graphmem.resolution.edges.provenance import Provenance
from graphmem.resolution.edges.reads import Reads
from graphmem.resolution.edges.recorder import Recorder
from graphmem.resolution.edges.target import Target
from graphmem.resolution.edges.targets import Targets
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.symbol_rows import is_test_case
from graphmem.resolution.values.terms import call_at, string_of
from graphmem.resolution.values.types import CLASS, EMPTY, EXT, ordered


class Calls:
    """Adds the edges of the calls in one file."""

    def __init__(
        self,
        context: FileContext,
        targets: Targets,
        recorder: Recorder,
        implicit: ImplicitCalls,
        reads: Reads,
        registrations: Registrations,
    ) -> None:
        self.context = context
        self.inference = context.inference
        self.entry = context.entry
        self.terms = context.terms
        self.targets = targets
        self.recorder = recorder
        self.implicit = implicit
        self.reads = reads
        self.registrations = registrations
        self.arguments = Arguments(context)
        self.provenance = Provenance(context.inference, context.entry)
        self.callees = Callees(context, targets, recorder, reads, registrations, self.arguments, self.provenance)
        self.library = LibraryCalls(context, targets, recorder, implicit)

    def call(self, reference: Reference) -> None:
        """Add the edges of a call `callee(…)` or `new callee(…)`."""
        self.context.evidence.call_sites += 1
        rules = rules_of(self.entry)
        call = call_at(self.terms, reference.term)
        called = self.callees.without_types(reference, call[1])
        targets = self.accepting(reference, called, self.possible(reference, called))
        self.recorder.add_calls(reference, targets)
        if rules.has_overloads and call[2]:
            self.implicit.call_conversions(reference, targets)
        self.registrations.register(reference, call, targets)
        self.registrations.connect(reference, call)
        if rules.links_routes or is_test_case(self.entry, reference.scope):
            self.registrations.link(reference, call)
        self.through_libraries(reference, called, targets)
        self.implicit.call_implied(reference)
        self.reads.variables.of_call(reference)

    def possible(self, reference: Reference, called: TermIndex) -> list[Target]:
        """Return the definitions that a call can run, whatever its arguments are.

        `called` is the index of the called expression, without type arguments.
        """
        rules = rules_of(self.entry)
        call = call_at(self.terms, reference.term)
        callee = self.terms[called]
        made = rules.new_objects(self.inference, self.entry, reference.scope, call[1]) if call[0] == NEW else EMPTY
        if made:
            return self.callees.of_types(reference, made)
        if rules.is_super_call(self.entry, reference.term):
            return [Target(None, (rules.builtin_package, "super"), "builtin")]
        if callee[0] == NAME:
            return self.callees.of_name(reference, called, callee[1])
        if callee[0] == ATTR:
            _, receiver, name = callee
            return self.callees.of_attribute(reference, receiver, name)
        value = self.context.value(reference, called)
        targets = list(self.targets.of_value(value, "function_value", self.context.caller(reference)))
        if not targets:
            self.recorder.leave_unresolved(reference, value, "dynamic")
        return targets

    def accepting(self, reference: Reference, called: TermIndex, targets: list[Target]) -> list[Target]:
        """Return the targets of a call that accept its receiver and its arguments.

        `called` is the index of the called expression, without type arguments.
        """
        rules, overloads = rules_of(self.entry), self.targets.overloads
        if rules.has_overloads:
            return overloads.chosen(reference, targets) or overloads.chosen(reference, self.callees.extensions(reference, called))
        targets = [target for target in targets if target.rule != "override" or overloads.can_construct(reference, target.symbol)]
        if rules.values_are_checked:
            targets = self.arguments.accepting(reference, called, targets)
        plain = [target.symbol for target in targets if target.symbol is not None and target.rule != "override"]
        if len(plain) > 1:
            fitting = rules.fitting_receiver(self.inference, self.entry, reference, plain)
            targets = [target for target in targets if target.rule == "override" or target.symbol is None or target.symbol in fitting]
        return targets

    def through_libraries(self, reference: Reference, called: TermIndex, targets: Sequence[Target]) -> None:
        """Add the calls and reads that called library functions make.

        For `getattr(x, "name")`, the read of `x.name` is added. `targets` are the called library functions. `called` is the index of the
        called expression, without type arguments.
        """
        call = call_at(self.terms, reference.term)
        _, _, arguments, named = call
        rules = rules_of(self.entry)
        if arguments or named:
            self.library.hand_over(reference, call, targets)
        for target in targets if arguments or named or self.terms[called][0] == ATTR else ():
            if target.outside is not None:
                self.library.call_arguments(reference, call, rules.called_through(*target.outside))
                if target.outside in rules.attribute_readers and len(arguments) > 1:
                    self.reads.read_attribute_named(reference, arguments[0], string_of(self.terms[arguments[1]]))

    def decorate(self, reference: Reference) -> None:
        """Add the call of a decorator, whose argument is the decorated definition."""
        value = self.context.value(reference, reference.term)
        rule = "scope" if self.terms[reference.term][0] in (NAME, ATTR) else "function_value"
        self.recorder.add_calls(reference, self.targets.of_value(value, rule, self.context.caller(reference)))

    def rendered(self, reference: Reference) -> None:
        """Add the call of the component `Name` that JSX `<Name …>` implies."""
        value = self.context.value(reference, reference.term)
        term = self.terms[reference.term]
        places = self.inference.lookup(self.entry, reference.scope, term[1], reference.line) if term[0] == NAME else None
        rule = self.provenance.of_name(places) if places else "inferred_type"
        self.recorder.add_calls(reference, self.targets.of_value(value, rule, self.context.caller(reference)))

    def raised(self, reference: Reference) -> None:
        """Add the call of the class in `raise Class`."""
        for atom in ordered(self.context.value(reference, reference.term)):
            if atom[0] == CLASS:
                self.recorder.add_calls(reference, [Target(atom[1], None, "implicit")])
            elif atom[0] == EXT:
                self.recorder.add_references(reference, frozenset((atom,)), "external")
