"""Edges for reads and writes of names and attributes.

The edges lead to functions used as values, variables of other modules, properties and descriptors.

A binding of a name is a place that gives the name its meaning, such as `x = f()`, `import x`, `def x` or a parameter. A type is a set of
alternatives (atoms): the type of `x` may be `A | B`.

`reference` is the use that is resolved: a call, a read, a write or an operation.
"""

from __future__ import annotations

from typing import Final

from graphmem.model import EdgeKind
from graphmem.parsing.facts import ATTR, INDEX, NAME, Attr, Reference, TermIndex
from graphmem.resolution.edges.context import FileContext
from graphmem.resolution.edges.implicit import ImplicitCalls
from graphmem.resolution.edges.recorder import Recorder
from graphmem.resolution.edges.target import SELDOM, Target, shared_among
from graphmem.resolution.edges.targets import Targets
from graphmem.resolution.edges.variables import VariableUses
from graphmem.resolution.files.file_entry import FileEntry, Place
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.types import CLASS, EXT, INST, MODULE, NAMESPACE, SUPEROBJ, Instance, Receiver, SuperObject, Type, ordered

_ACCESSORS: Final = {"write": "setter", "delete": "deleter"}
"""Kind of use of a property -> the modifier of the method that runs."""


class Reads:
    """Adds edges for the reads and writes of names and attributes in one file."""

    def __init__(
        self, context: FileContext, targets: Targets, recorder: Recorder, implicit: ImplicitCalls, variables: VariableUses
    ) -> None:
        self.context = context
        self.inference = context.inference
        self.project = context.project
        self.entry = context.entry
        self.terms = context.terms
        self.targets = targets
        self.recorder = recorder
        self.implicit = implicit
        self.variables = variables
        self._properties: dict[tuple[Symbol, str], bool] = {}  # whether an attribute of a class is a property
        self._missing: dict[tuple[Symbol, str], bool] = {}  # whether a hook answers for an attribute that a class lacks

    def read(self, reference: Reference) -> None:
        """Add edges for code that reads a name `a` or an attribute `a.b`."""
        term = self.terms[reference.term]
        if term[0] == NAME:
            self.read_name(reference, term[1])
        elif term[0] == ATTR:
            self.read_attribute(reference, term)

    def read_name(self, reference: Reference, name: str) -> None:
        """Add edges for a bare name, such as `f` in `g(f)`, whose value is used."""
        for place in self.inference.lookup(self.entry, reference.scope, name, reference.line) or ():
            if place.slot.kind == "binding":
                self.read_variable(reference, place, name)
            elif place.slot.kind != "parameter":
                self.recorder.add_references(
                    reference, self.inference.slot(place), "scope" if place.slot.kind == "definition" else "import"
                )
                if place.slot.kind == "import":
                    self.read_imported_variable(reference, place, frozenset())

    def read_variable(self, reference: Reference, place: Place, name: str) -> None:
        """Add an edge from a use of a name to the variable it refers to.

        `place` is a binding of the name. The variable belongs to a module or a class.
        """
        symbol = place.entry.variables.get((place.scope, name))
        if symbol is not None:
            self.variables.use_variable(reference, symbol)
        elif place.entry is self.entry:
            for found in self.variables.outer(place.scope, name):
                self.variables.use_variable(reference, found)

    def read_imported_variable(self, reference: Reference, place: Place, seen: frozenset[str]) -> None:
        """Add an edge to an imported variable, following re-exports.

        `place` is the import. `seen` are the paths of files already followed.
        """
        found = place.entry.facts.imports[place.slot.index]
        if found.name and place.entry.path not in seen:
            for atom in ordered(rules_of(place.entry).import_targets(self.inference, place.entry, found)):
                if atom[0] == MODULE and found.name == "default" and atom[1].endswith(rules_of(self.entry).components):
                    symbol = self.project.files[atom[1]].symbols[0]
                    self.context.evidence.edge(EdgeKind.REFERENCES, self.context.caller(reference).id, symbol.id, "import", reference.line)
                elif atom[0] == MODULE:
                    self.read_module_variable(reference, atom[1], found.name, seen | {place.entry.path})

    def read_module_variable(self, reference: Reference, path: str, name: str, seen: frozenset[str]) -> None:
        """Add an edge for `module.name`: a variable of another module.

        `path` is the file of the module. If that file re-exports the variable, the import is followed. `seen` are the files already
        followed.
        """
        for place in self.inference.module_places(path, name) or ():
            if place.slot.kind == "binding":
                self.read_variable(reference, place, name)
            elif place.slot.kind == "import":
                self.read_imported_variable(reference, place, seen)

    def read_attribute(self, reference: Reference, term: Attr) -> None:
        """Add edges for an attribute whose value is read.

        A property gets a call edge. A method or a class gets a reference edge.
        """
        _, base, name = term
        self.variables.use_receiver(reference, base)
        value = self.context.receiver_of(reference, base, name)
        if not value:
            self.implicit.call_properties(reference, self.targets.names.properties(name, self.context.caller(reference)))
        for atom in ordered(value):
            if atom[0] in (MODULE, NAMESPACE, EXT):
                self.recorder.add_references(reference, self.inference.attribute_of(atom, name), "import")
                if atom[0] == MODULE:
                    self.read_module_variable(reference, atom[1], name, frozenset())
                    missing = self.inference.hook_for_missing(atom, name)
                    self.recorder.add_calls(reference, [Target(function, None, "implicit") for function in missing])
                elif atom[0] == NAMESPACE:
                    for module in rules_of(self.entry).package_files(self.inference, atom, name):
                        self.read_module_variable(reference, module[1], name, frozenset())
            elif atom[0] in (INST, CLASS, SUPEROBJ):
                self.use_member(reference, atom, name, shared_among(value))

    def read_attribute_named(self, reference: Reference, receiver: TermIndex, name: str) -> None:
        """Add edges for `getattr(receiver, "name")`, which reads an attribute.

        If `name` is "", the program computes the attribute's name. Then the edges lead to the hook of the receiver's class for missing
        attributes, such as `__getattr__`.
        """
        value = self.context.value(reference, receiver)
        hook = rules_of(self.entry).fallback_method
        for atom in ordered(value):
            if not name:
                if atom[0] == INST and hook:
                    self.implicit.call_special(reference, atom, hook, SELDOM)
            elif atom[0] in (INST, CLASS, SUPEROBJ):
                self.use_member(reference._replace(kind="read"), atom, name, shared_among(value))

    def read_called_property(self, reference: Reference, base: Type, name: str) -> None:
        """Add edges for reading `x.name` in a call `x.name()`.

        `base` is the type of `x`. If `name` is a property, the call first runs the property.
        """
        for atom in ordered(base):
            if atom[0] != INST:
                continue
            is_property = self._properties.get((atom[1], name))
            if is_property is None:
                is_property = self._properties[atom[1], name] = self.has_property(atom[1], name)
            if is_property:
                self.use_member(reference._replace(kind="read"), atom, name, shared_among(base))
            elif self._lacks(atom[1], name):
                hook = rules_of(self.project.entry(atom[1])).fallback_method
                self.implicit.call_special(reference, atom, hook, shared_among(base))

    def _lacks(self, symbol: Symbol, name: str) -> bool:
        """Whether a class has a hook for missing attributes, and lacks this one.

        An example of a hook is `__getattr__` in Python. `name` is the attribute.
        """
        found = self._missing.get((symbol, name))
        if found is None:
            found = self.inference.answers_for_missing(symbol, name) and self.inference.owner(symbol, name) is None
            self._missing[symbol, name] = found
        return found

    def has_property(self, symbol: Symbol, name: str) -> bool:
        """Whether a class, or one of its bases, has a property of a given name."""
        owner = self.inference.owner(symbol, name)
        if not isinstance(owner, Symbol):
            return False
        entry = self.project.files[owner.path]
        slots = entry.names(owner.index).get(name, ())
        return any(slot.kind == "definition" and "property" in entry.definitions[slot.index].modifiers for slot in slots)

    def write(self, reference: Reference) -> None:
        """Add edges for `x = …`, `x.name = …`, `x[key] = …` and `del x.name`."""
        term = self.terms[reference.term]
        if term[0] == NAME and reference.kind == "write":
            self.variables.assigned(reference, term[1])
        elif term[0] == INDEX:
            self.implicit.call_first(reference, term[1], rules_of(self.entry).item_setters)
            self.implicit.call_on_key(reference, term[2], rules_of(self.entry).key_methods, term[1])
        elif term[0] == ATTR:
            self.variables.use_receiver(reference, term[1])
            for atom in ordered(self.context.receiver_of(reference, term[1], term[2])):
                if atom[0] == INST or atom[0] == SUPEROBJ:
                    self.use_member(reference, atom, term[2])
                elif atom[0] == CLASS:
                    self.variables.use_member_variable(reference, atom, term[2])
                hook = rules_of(self.entry).attribute_hooks.get(reference.kind)
                if atom[0] == INST and hook:
                    self._use_hook(reference, atom, hook)

    def _use_hook(self, reference: Reference, receiver: Instance, hook: str) -> None:
        """Add the call of a method that runs when any attribute is assigned.

        `receiver` is the object, and `hook` the method, such as `__setattr__`. If the class of `self` lacks it, its subclasses may have it.
        """
        if self.inference.owner(receiver[1], hook) is None and self.is_use_of_itself(reference):
            caller = self.context.caller(reference)
            found = self.context.hierarchy.overrides(receiver[1], hook, caller)
            self.recorder.add_calls(reference, [Target(one, None, "override") for one in found])
        else:
            self.implicit.call_special(reference, receiver, hook)

    def use_member(self, reference: Reference, atom: Receiver | SuperObject, name: str, confidence: float = 0.0) -> None:
        """Add edges to a class member that `x.name` reads or writes.

        `atom` is one of the types that `x` may have. A `confidence` of 0 means the default of the rule. Accessors, descriptors and
        properties get call edges, and other members get reference edges.
        """
        inference, rules = self.inference, rules_of(self.entry)
        if atom[0] == INST:
            for accessor in rules.accessors(name, reference.kind):
                owner = inference.owner(atom[1], accessor)
                if isinstance(owner, Symbol) and rules_of(self.project.entry(owner)) is not rules:
                    self.implicit.call_special(reference, atom, accessor, confidence)
                    return
        self.variables.use_member_variable(reference, atom, name)
        owner = inference.owner(atom[2][1], name, atom[1]) if atom[0] == SUPEROBJ else inference.owner(atom[1], name)
        caller = self.context.caller(reference)
        if not isinstance(owner, Symbol):
            if atom[0] == INST and reference.kind == "read" and inference.answers_for_missing(atom[1], name):
                self.implicit.call_special(reference, atom, rules_of(self.entry).fallback_method, confidence)
            elif atom[0] == INST and self.is_use_of_itself(reference):
                for sibling in rules_of(self.project.entry(atom[1])).sibling_owners(inference, atom[1], name):
                    self.use_member(reference, (INST, sibling, False), name, confidence)
            return
        if atom[0] == INST:
            if reference.kind == "read" and self._is_only_declared(owner, name) and inference.answers_for_missing(atom[1], name):
                self.implicit.call_special(reference, atom, rules_of(self.entry).fallback_method, confidence)
            self.use_descriptor(reference, atom[1], name)
        entry = self.project.entry(owner)
        slots = entry.names(owner.index).get(name, ())
        if (
            atom[0] == INST
            and not atom[2]
            and self.is_use_of_itself(reference)
            and reference.kind == "read"
            and any(slot.kind == "binding" for slot in slots)
        ):
            self.implicit.call_properties(reference, self.targets.dispatch.overriding_properties(atom[1], name, caller))
        for slot in slots:
            if slot.kind == "definition":
                self.use_definition(reference, atom, name, (entry, slot.index), confidence)

    def use_definition(
        self, reference: Reference, atom: Receiver | SuperObject, name: str, definition_at: tuple[FileEntry, int], confidence: float
    ) -> None:
        """Add the edge that `x.name` gives to a method or an inner class.

        Args:
            reference: the read or write of `x.name`.
            atom: one of the types that `x` may have.
            name: name of the member.
            definition_at: the file of the member's definition, and the position of the definition in the file.
            confidence: confidence in the call of a property; 0 for the default of the rule.
        """
        entry, position = definition_at
        symbol, caller = entry.symbols[position], self.context.caller(reference)
        definition = entry.definitions[position]
        modifiers = definition.modifiers
        if atom[0] == INST and definition.decorators:
            self.use_descriptors(reference, self.inference.defined(symbol))
        if not rules_of(entry).is_member_of(entry, position, atom):
            return
        if "setter" in modifiers or "deleter" in modifiers:
            if _ACCESSORS.get(reference.kind, "property") in modifiers:
                self.recorder.add_calls(reference, [Target(symbol, None, "implicit")])
        elif "property" in modifiers and (atom[0] != CLASS or "static" in modifiers):
            if reference.kind == "read":
                plain = [Target(symbol, None, "implicit", confidence)]
                found = self.targets.dispatch.targets(atom, name, plain, caller, is_self=False) if atom[0] == INST else plain
                self.implicit.call_properties(reference, found)
        elif symbol is not caller:
            self.context.evidence.edge(EdgeKind.REFERENCES, caller.id, symbol.id, "inferred_type", reference.line)

    def is_use_of_itself(self, reference: Reference) -> bool:
        """Whether an expression is an attribute of `self` that a mixin may use.

        A mixin may use `self.name`, although only a class that inherits the mixin defines `name`. The result is always False in languages
        without such mixins (`siblings_are_inferred` is False).
        """
        term = self.terms[reference.term]
        rules = rules_of(self.entry)
        return term[0] == ATTR and rules.siblings_are_inferred and rules.receiver_class(self.entry, reference.scope, term[1]) >= 0

    def _is_only_declared(self, owner: Symbol, name: str) -> bool:
        """Whether a class declares an attribute that code gives no value."""
        entry = self.project.entry(owner)
        slots = entry.names(owner.index).get(name, ())
        bindings = entry.facts.bindings
        return (
            bool(slots)
            and "dataclass" not in entry.definitions[owner.index].modifiers
            and all(slot.kind == "binding" and bindings[slot.index].value < 0 for slot in slots)
            and not entry.members.get(owner.index, {}).get(name)
        )

    def use_descriptor(self, reference: Reference, symbol: Symbol, name: str) -> None:
        """Add the call edges of reading or writing an attribute with a descriptor.

        A descriptor is an object such as `Field()` in `name = Field()`; reading `x.name` calls its `__get__`. The descriptor is looked up
        under `name` in the class `symbol` and in its base classes.
        """
        for owner in self.inference.mro(symbol):
            entry = self.project.entry(owner) if isinstance(owner, Symbol) else None
            if entry is not None:
                self.project.touch_member(entry, name)
            slots = entry.names(owner.index).get(name) if entry is not None and isinstance(owner, Symbol) else None
            if entry is not None and slots:
                for slot in slots:
                    if slot.kind == "binding":
                        self.use_descriptors(reference, self.inference.binding(entry, slot.index))
                        accessors = rules_of(entry).accessor_functions(self.inference, entry, slot.index, reference.kind)
                        self.recorder.add_calls(reference, [Target(one, None, "implicit") for one in accessors])
                return

    def use_descriptors(self, reference: Reference, value: Type) -> None:
        """Add calls of the descriptor method that a read or a write runs.

        `value` is the type of the descriptor. For a read in Python, the method is `__get__`.
        """
        method = rules_of(self.entry).descriptor_methods.get(reference.kind)
        for atom in ordered(self.inference.expanded(value)) if method else ():
            if atom[0] == INST and method:
                self.implicit.call_special(reference, atom, method)
