"""Record edges of calls and references, and calls that stay unresolved.

Targets of a call are definitions that it may run (see `target`). A called class also gets edges to its constructors.

`reference` is the use that is resolved: a call, a read, a write or an operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from graphmem.model import EdgeKind
from graphmem.parsing.facts import CALL, NEW, Reference, Term, TermIndex
from graphmem.resolution.edges.context import FileContext
from graphmem.resolution.edges.target import Target
from graphmem.resolution.edges.targets import Targets
from graphmem.resolution.edges.tested import Called
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.rules import RULES
from graphmem.resolution.values.symbol import CLASS_KINDS
from graphmem.resolution.values.terms import last_name
from graphmem.resolution.values.types import BOX, BUILTIN, CLASS, EXT, FUNC, LAM, TOP, TUP, Type, ordered

MAX_VALUES: Final = 60
"""Most functions that a called value may be.

With more, none is used, because all paths through such calls would meet.
"""

MANY: Final = 4
"""Least number of functions that a called value may be for the confidence `MANY_VALUES`."""

MANY_VALUES: Final = 0.71
"""Confidence in a call of a value that may be at least `MANY` functions."""


class Recorder:
    """Adds the edges of one file from uses to their targets."""

    def __init__(self, context: FileContext, targets: Targets) -> None:
        self.context = context
        self.inference = context.inference
        self.entry = context.entry
        self.terms = context.terms
        self.targets = targets
        self.calls_in_tests: list[Called] = []  # calls of this file, if it is a test file

    def add_calls(self, reference: Reference, targets: Iterable[Target]) -> None:
        """Add edges to the definitions that a call may run, its targets.

        For a class, edges to its constructors are added, too. A target has the rule `function_value` if code passed or stored the function
        as a value, such as a callback. If more than `MAX_VALUES` targets have this rule, they get no edges, and the call is counted as
        unresolved.
        """
        src, line, evidence = self.context.caller(reference).id, reference.line, self.context.evidence
        targets = self.targets.constructors.one_of_parts(targets)
        values = sum(target.symbol is not None and target.rule == "function_value" for target in targets)
        if values > MAX_VALUES:
            self._add_unresolved(reference, "too_many_candidates")
            targets = [target for target in targets if target.symbol is None or target.rule != "function_value"]
        for symbol, outside, rule, confidence, kind, _ in targets:
            if symbol is not None:
                if rule == "function_value" and self.targets.wrappers.is_in_wrapper(reference.scope, symbol):
                    rule, confidence = "wrapped", 0.0
                elif rule == "function_value" and values >= MANY:
                    confidence = MANY_VALUES
                evidence.edge(kind, src, symbol.id, rule, line, confidence)
                if self.entry.in_tests and kind == EdgeKind.CALLS:
                    self.calls_in_tests.append(Called(reference.scope, symbol, line, confidence or RULES[rule].confidence))
                if symbol.kind in CLASS_KINDS:
                    found: Iterable[Target] = (Target(one, None, rule, confidence) for one in self.targets.constructors.of_class(symbol))
                    if rules_of(self.entry).has_overloads and reference.kind == "call":
                        found = self.targets.overloads.chosen(reference, list(found))
                    for constructor in found:
                        if constructor.symbol is not None:
                            evidence.edge(kind, src, constructor.symbol.id, rule, line, constructor.confidence)
            elif outside is not None:
                evidence.edge(kind, src, evidence.outside(*outside), rule, line)

    def add_references(self, reference: Reference, value: Type, rule: str) -> None:
        """Add references to a function or class that code names but does not call.

        `value` is the type of the name, and `rule` is the rule by which the name was found.
        """
        src, evidence = self.context.caller(reference).id, self.context.evidence
        for atom in ordered(self.inference.expanded(value)):
            if atom[0] in (FUNC, CLASS) and atom[1].id != src:
                evidence.edge(EdgeKind.REFERENCES, src, atom[1].id, rule, reference.line)
            elif atom[0] == EXT and atom[2] and atom[1] != rules_of(self.entry).builtin_package:
                evidence.edge(EdgeKind.REFERENCES, src, evidence.outside(atom[1], atom[2]), "external", reference.line)

    def leave_unresolved(self, reference: Reference, value: Type, reason: str) -> None:
        """Count a call as unresolved if it may run a function of the project.

        `value` is the type of the callee, or of the receiver if the callee's type is unknown. `reason` says why the call is unresolved.
        Calls of built-in methods, containers and lambdas are not counted, because they run no such function.
        """
        if value is TOP:
            self._add_unresolved(reference, "too_many_candidates")
        elif not any(atom[0] in (LAM, BOX, TUP, BUILTIN) for atom in value):
            self._add_unresolved(reference, reason)

    def _add_unresolved(self, reference: Reference, reason: str) -> None:
        """Record a call as unresolved, with the reason."""
        name = _called_text(self.terms, reference.term)
        self.context.evidence.add_unresolved(self.context.caller(reference).id, name, reference.line, reference.column, reason)


def _called_text(terms: Sequence[Term], index: TermIndex) -> str:
    """Return the last name in a call's callee: `b` for `a.b(c)`.

    The result is "()" if the callee has no name.
    """
    term = terms[index]
    callee = terms[term[1]] if term[0] in (CALL, NEW) else term
    return last_name(callee) or "()"
