"""Edges for uses of variables of modules and classes.

Code may read a variable, assign to it, or access a member of it. A change of `Color.RED`, `config.URL` or a field affects all code that
names it.

A binding of a name is a place that gives the name its meaning, such as `x = f()`, `import x`, `def x` or a parameter. `reference` is the
use that is resolved: a call, a read, a write or an operation.
"""

from __future__ import annotations

from collections.abc import Iterator

from graphmem.model import EdgeKind
from graphmem.parsing.facts import ASSIGNED, ATTR, NAME, Reference, TermIndex
from graphmem.resolution.edges.context import FileContext
from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.type_inference import definitions
from graphmem.resolution.values.symbol import FUNCTION_KINDS, Symbol
from graphmem.resolution.values.terms import call_at
from graphmem.resolution.values.types import CLASS, INST, SUPEROBJ, Receiver, SuperObject, ordered


class VariableUses:
    """Adds edges for the uses of variables in one file."""

    def __init__(self, context: FileContext) -> None:
        self.context = context
        self.inference = context.inference
        self.project = context.project
        self.entry = context.entry
        self.terms = context.terms
        self._meanings: dict[tuple[int, int], frozenset[Symbol]] = {}  # meanings of their names, by scope and term
        self._fields: dict[tuple[Symbol, str], Symbol | None] = {}  # variables of classes, by class and name

    def of_call(self, reference: Reference) -> None:
        """Add an edge to the variable `a` for a call `a.f()`.

        If `f` is a field that holds a function, an edge to `f` is added, too. For a call `f()` of a variable `f`, an edge to `f` is added.
        """
        _, called, _, _ = call_at(self.terms, reference.term)
        callee = self.terms[called]
        if callee[0] == NAME:
            for symbol in self.meanings(reference, called, callee[1]):
                if symbol.kind == "variable":
                    self.use_variable(reference, symbol)
        elif callee[0] == ATTR:
            _, receiver, name = callee
            self.use_receiver(reference, receiver)
            for atom in ordered(self.context.value(reference, receiver)):
                if atom[0] in (INST, CLASS, SUPEROBJ) and self._calls_field(atom, name):
                    self.use_member_variable(reference, atom, name)

    def _calls_field(self, atom: Receiver | SuperObject, name: str) -> bool:
        """Whether a call `a.name()` runs a function that a field of `a` holds.

        `atom` is the type of `a`. If the class of `a` also has a method `name`, as is possible in Java, the call runs the method, and the
        result is False.
        """
        symbol = atom[2][1] if atom[0] == SUPEROBJ else atom[1]
        if self.member_variable(symbol, name) is None:
            return False
        owner = self.inference.owner(symbol, name)
        return not (isinstance(owner, Symbol) and self.inference.functions(owner, name))

    def use_receiver(self, reference: Reference, receiver: TermIndex) -> None:
        """Add an edge to the variable or class `a` for an access `a.b`.

        `receiver` is the expression `a`. If it is not a bare name, nothing is added.
        """
        term = self.terms[receiver]
        if term[0] == NAME:
            for symbol in self.meanings(reference, receiver, term[1]):
                self.use_variable(reference, symbol)

    def meanings(self, reference: Reference, term: TermIndex, name: str) -> frozenset[Symbol]:
        """Return the variables and classes to which a bare name can refer.

        `term` is the position of the name `name` in the file's list of expressions.
        """
        key = (reference.scope, term)
        found = self._meanings.get(key)
        if found is None:
            found = frozenset(self._named(reference, name))
            if self.inference.is_steady(self.entry, reference.scope, term):
                self._meanings[key] = found
        return found

    def _named(self, reference: Reference, name: str) -> Iterator[Symbol]:
        for place in self.inference.lookup(self.entry, reference.scope, name, reference.line) or ():
            found = definitions.placed(self.inference, place, name, anything=True)
            yield from (symbol for symbol in found if symbol.kind not in FUNCTION_KINDS)
            if not found and place.slot.kind == "binding" and place.entry is self.entry:
                yield from self.outer(place.scope, name)

    def use_variable(self, reference: Reference, symbol: Symbol) -> None:
        """Add an edge to a variable from the code that uses it."""
        caller = self.context.caller(reference)
        if symbol is not caller:
            self.context.evidence.edge(EdgeKind.REFERENCES, caller.id, symbol.id, self.rule_for(symbol), reference.line)

    def rule_for(self, symbol: Symbol) -> str:
        """Return the rule for an edge from code in this file to a symbol.

        The rule is `scope` if this file defines the symbol, else `import`.
        """
        return "scope" if symbol.path == self.entry.path else "import"

    def use_member_variable(self, reference: Reference, atom: Receiver | SuperObject, name: str) -> None:
        """Add an edge to a field, constant or enum member that code names.

        `atom` is the object or class before the dot, and `name` is the member. The first class in look-up order that defines `name` is
        used. If it defines a method or a property, no edge is added.
        """
        symbol = self.member_variable(atom[2][1] if atom[0] == SUPEROBJ else atom[1], name)
        if symbol is not None:
            rule = "inferred_type" if atom[0] == INST else self.rule_for(symbol)
            self.context.evidence.edge(EdgeKind.REFERENCES, self.context.caller(reference).id, symbol.id, rule, reference.line)

    def member_variable(self, owner: Symbol, name: str) -> Symbol | None:
        """Return the variable of a given name in a class or its nearest base."""
        key = (owner, name)
        if key not in self._fields:
            self._fields[key] = self._member_variable(owner, name)
        return self._fields[key]

    def _member_variable(self, owner: Symbol, name: str) -> Symbol | None:
        for candidate in self.inference.mro(owner):
            if isinstance(candidate, Symbol):
                entry = self.project.entry(candidate)
                self.project.touch_member(entry, name)
                found = entry.variables.get((candidate.index, name))
                if found is not None or any(slot.kind == "definition" for slot in entry.names(candidate.index).get(name, ())):
                    return found
        return None

    def assigned(self, reference: Reference, name: str) -> None:
        """Add an edge for an assignment in a function to an outer variable.

        The variable `name` belongs to a module or a class.
        """
        if self.entry.definitions[reference.scope].kind in FUNCTION_KINDS:
            for symbol in self.outer(reference.scope, name):
                self.use_variable(reference, symbol)

    def outer(self, scope: int, name: str) -> Iterator[Symbol]:
        """Yield the outer variables that an assignment in a function changes.

        `scope` is the function, and `name` the assigned name. Nothing is yielded if the assignment declares a local variable, as `x = f()`
        does in Python.
        """
        entry, rules = self.entry, rules_of(self.entry)
        if not _is_only_assigned(entry, scope, name):
            return
        while scope > 0:
            around = rules.implied_class(self.inference, entry, scope) if rules.this_is_implied else None
            symbol = self.member_variable(around, name) if around is not None else None
            if symbol is not None:
                yield symbol
                return
            if entry.definitions[scope].kind in FUNCTION_KINDS and not _is_only_assigned(entry, scope, name):
                return
            scope = entry.around[scope]
        for place in self.inference.lookup(entry, 0, name, definitions.LAST_LINE) or ():
            variable = place.entry.variables.get((place.scope, name)) if place.slot.kind == "binding" else None
            if variable is not None:
                yield variable


def _is_only_assigned(entry: FileEntry, scope: int, name: str) -> bool:
    """Whether all bindings of a name in a scope are plain assignments.

    A plain assignment, unlike a declaration, may change a variable of an outer scope. For a name without bindings, the result is True.
    """
    bindings = entry.facts.bindings
    return all(slot.kind == "binding" and bindings[slot.index].op in ASSIGNED for slot in entry.names(scope).get(name, ()))
