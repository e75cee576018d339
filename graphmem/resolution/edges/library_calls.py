"""Edges for calls that library functions make to their arguments.

Examples are the callback in `sorted(items, key=f)`, `__len__` of the argument in `len(x)`, and `__str__` of each element in
`map(str, items)`. The rules of each language describe these functions (`called_through`).

`reference` is the use that is resolved: a call, a read, a write or an operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphmem.model import EdgeKind
from graphmem.parsing.facts import ATTR, Call, Reference, TermIndex
from graphmem.resolution.edges.context import FileContext
from graphmem.resolution.edges.implicit import ImplicitCalls
from graphmem.resolution.edges.recorder import Recorder
from graphmem.resolution.edges.target import Target
from graphmem.resolution.edges.targets import Targets
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.interfaces.rules_of_calls import Through
from graphmem.resolution.values.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.values.types import EXT, FUNC, INST, PARTIAL, ordered


class LibraryCalls:
    """Adds edges to the methods and callbacks that library functions call."""

    def __init__(self, context: FileContext, targets: Targets, recorder: Recorder, implicit: ImplicitCalls) -> None:
        self.context = context
        self.inference = context.inference
        self.entry = context.entry
        self.terms = context.terms
        self.targets = targets
        self.recorder = recorder
        self.implicit = implicit

    def call_arguments(self, reference: Reference, call: Call, found: Iterable[Through]) -> None:
        """Add the calls that an external function makes to its arguments.

        `found` describes the calls. Examples are a callback, as in `sorted(items, key=f)`, and a method of an argument, as in `len(x)`.
        """
        _, called, positional, keywords = call
        callee = self.terms[called]
        for through in found:
            given = [*positional[through.first : through.last], *(value for name, value in keywords if through.keyword in (name, "*"))]
            if through.receiver:
                given = [callee[1]] if callee[0] == ATTR else []
            for argument in given:
                if through.needs:
                    able = frozenset(
                        a for a in self.context.value(reference, argument) if a[0] == INST and self._has_method(a[1], through.needs)
                    )
                    self.implicit.call_first_of(reference, able, through.names)
                elif through.elements:
                    self.implicit.call_first_of(
                        reference, self.implicit.element_types(self.context.value(reference, argument)), through.names
                    )
                elif through.names:
                    self.implicit.call_first(reference, argument, through.names)
                else:
                    given_value = self.context.value(reference, argument)
                    for atom in ordered(given_value):
                        if atom[0] == EXT:  # map(str, items)
                            self._call_elements(
                                reference, positional[through.last :], rules_of(self.entry).called_through(atom[1], atom[2])
                            )
                    value = frozenset(atom for atom in given_value if atom[0] in (FUNC, INST, PARTIAL))
                    self.recorder.add_calls(reference, self.targets.of_value(value, "function_value", self.context.caller(reference)))

    def hand_over(self, reference: Reference, call: Call, targets: Iterable[Target]) -> None:
        """Add references to `__call__` of objects that a library receives.

        Only the library calls the object, as in `Client(app)`. `targets` are what the call runs: a library's function, or a class derived
        from one of a library. Built-in functions are ignored.
        """
        name = rules_of(self.entry).call_method
        if not name or not self.inference.project.named(name) or not any(self._is_of_library(target) for target in targets):
            return
        _, _, positional, keywords = call
        for argument in (*positional, *(value for _, value in keywords)):
            for atom in ordered(self.context.value(reference, argument)):
                owner = self.inference.owner(atom[1], name) if atom[0] == INST else None
                if isinstance(owner, Symbol):
                    found = self.inference.functions(owner, name)
                    self.recorder.add_calls(reference, [Target(one, None, "function_value", kind=EdgeKind.REFERENCES) for one in found])

    def _is_of_library(self, target: Target) -> bool:
        rules = rules_of(self.entry)
        if target.symbol is None:
            return target.outside is not None and target.outside[0] != rules.builtin_package
        bases = self.inference.mro(target.symbol) if target.symbol.kind in CLASS_KINDS else ()
        return any(not isinstance(base, Symbol) and rules.calls_own_methods(base) for base in bases)

    def _call_elements(self, reference: Reference, containers: Sequence[TermIndex], found: Iterable[Through]) -> None:
        """Add the calls that an external function makes to each element.

        `containers` are the arguments with the elements, and `found` describes the function's calls. For `map(str, items)`, `__str__` of
        each element is called.
        """
        for through in found:
            for container in containers if through.names and not through.first else ():
                self.implicit.call_first_of(
                    reference, self.inference.expanded(self.inference.element(self.context.value(reference, container))), through.names
                )

    def _has_method(self, symbol: Symbol, name: str) -> bool:
        """Whether a class has a method, itself or from a base class.

        Bases in the project and known library classes are searched.
        """
        owner = self.inference.owner(symbol, name)
        return isinstance(owner, Symbol) or (owner is not None and rules_of(self.entry).library_has(owner, name))
