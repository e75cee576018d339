"""From uses to edges: each site of a file is resolved, or counted with the reason why it is not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from graphmem.model import EdgeKind, file_id
from graphmem.parsing.facts import ATTR, CALL, INDEX, NAME, NEW, Reference, Term
from graphmem.resolution.evidence import Evidence, FileResolution
from graphmem.resolution.handing import Handing
from graphmem.resolution.hierarchy import Hierarchy
from graphmem.resolution.inference import Inference
from graphmem.resolution.names import Place
from graphmem.resolution.project import CLASS_KINDS, FUNCTION_KINDS, FileEntry, Symbol
from graphmem.resolution.targets import Target, Targets
from graphmem.resolution.types import (
    BOX,
    BUILTIN,
    CLASS,
    EXT,
    EXTI,
    FUNC,
    INST,
    LAM,
    MODULE,
    NAMESPACE,
    SUPEROBJ,
    TOP,
    TUP,
    Atom,
    Type,
    ordered,
)

MAX_VALUES: Final = 60
"""Functions a called value may be; of more, none is believed: every path through such a call would meet."""


def resolve_file(inference: Inference, hierarchy: Hierarchy, entry: FileEntry) -> FileResolution:
    """Every edge that begins in a file, and every call in it that leads nowhere."""
    return _Resolving(inference, hierarchy, entry).run()


class _Resolving:
    """One file being resolved."""

    def __init__(self, inference: Inference, hierarchy: Hierarchy, entry: FileEntry) -> None:
        self.inference = inference
        self.project = inference.project
        self.hierarchy = hierarchy
        self.entry = entry
        self.terms = entry.terms
        self.targets = Targets(inference, hierarchy, entry)
        self.evidence = Evidence(self.project.name, entry.path)
        self.handing = Handing(inference, entry, self.evidence)
        self.steady: dict[tuple[int, int], Type] = {}  # by scope and term, where the line does not matter
        self.hows: dict[tuple[int, int], str] = {}  # the rules by which these were found
        self.methods: dict[tuple[Type, str, str], list[Target]] = {}  # by receiver's type, name and rule, for any caller

    def run(self) -> FileResolution:
        """Definitions, imports, classes, types, then every site."""
        self.definitions()
        self.imports()
        for symbol in self.entry.symbols:
            if symbol.kind in CLASS_KINDS:
                self.inheritance(symbol)
            elif symbol.kind in FUNCTION_KINDS:
                self.function(symbol)
        for binding in self.entry.facts.bindings:
            if binding.annotation >= 0:
                self.type_use(self.entry.symbols[binding.scope], binding.scope, binding.annotation, binding.line)
        for reference in self.entry.facts.references:
            resolve = _SITES.get(reference.kind)
            if resolve is not None:  # `inherit` and `type` are said by definitions and bindings
                resolve(self, reference)
        self.handing.scripts()
        return self.evidence.rows()

    # structure

    def definitions(self) -> None:
        entry, edge = self.entry, self.evidence.edge
        edge(EdgeKind.DEFINES, file_id(self.project.name, entry.path), entry.symbols[0].id, "definition", 0)
        for symbol, definition in zip(entry.symbols, entry.definitions, strict=True):
            if definition.parent >= 0:
                edge(EdgeKind.DEFINES, entry.symbols[definition.parent].id, symbol.id, "definition", definition.name_line)

    def imports(self) -> None:
        """File to file, and file to package."""
        entry, edge = self.entry, self.evidence.edge
        src = file_id(self.project.name, entry.path)
        for found in entry.facts.imports:
            for atom in ordered(entry.rules.import_targets(self.inference, entry, found)):
                if atom[0] == EXT:
                    edge(EdgeKind.IMPORTS, src, self.evidence.outside(atom[1], ""), "external", found.line)
                    continue
                modules = [atom]
                if found.name and found.name != "*" and not (atom[0] == MODULE and self.inference.module_places(atom[1], found.name)):
                    modules += ordered(entry.rules.submodule(self.inference, atom, found.name))
                if atom[0] == CLASS:
                    modules.append((MODULE, atom[1].path))
                if atom[0] == NAMESPACE:
                    modules += entry.rules.package_files(self.inference, atom, found.name)
                for module in modules:
                    if module[0] == MODULE and module[1] != entry.path:
                        edge(EdgeKind.IMPORTS, src, file_id(self.project.name, module[1]), "module", found.line)

    def inheritance(self, symbol: Symbol) -> None:
        line = self.entry.definitions[symbol.index].name_line
        for base in self.inference.bases(symbol):
            dst = base.id if isinstance(base, Symbol) else self.evidence.outside(base[1], base[2])
            if dst != symbol.id:
                self.evidence.edge(EdgeKind.INHERITS, symbol.id, dst, "base", line)
        for interface in self.entry.rules.satisfied(self.inference, symbol):
            self.evidence.edge(EdgeKind.INHERITS, symbol.id, interface.id, "satisfies", line)
        src = self.entry.symbols[self.entry.definitions[symbol.index].parent].id
        for method in self.entry.rules.runs_on_definition(self.inference, symbol):
            self.evidence.edge(EdgeKind.CALLS, src, method.id, "implicit", line)

    def function(self, symbol: Symbol) -> None:
        """Overrides, declared types and what a framework runs for a function."""
        entry = self.entry
        definition = entry.definitions[symbol.index]
        parent = entry.symbols[definition.parent]
        if parent.kind in CLASS_KINDS and symbol.kind == "method":
            owner = self.inference.owner(parent, symbol.name, after=parent)
            if isinstance(owner, Symbol):
                for method in self.inference.functions(owner, symbol.name):
                    self.evidence.edge(EdgeKind.OVERRIDES, symbol.id, method.id, "same_method", definition.name_line)
        for method in entry.rules.satisfied_methods(self.inference, symbol):
            self.evidence.edge(EdgeKind.OVERRIDES, symbol.id, method.id, "satisfies", definition.name_line)
        for term in (*(parameter.annotation for parameter in definition.parameters), definition.returns):
            self.type_use(symbol, definition.parent, term, definition.name_line)
        for used in entry.rules.implicit_calls(self.inference, symbol):
            self.evidence.edge(EdgeKind.CALLS, symbol.id, used.id, "fixture", definition.name_line)
        for used in self.handing.injected(symbol):
            self.evidence.edge(EdgeKind.CALLS, symbol.id, used.id, "injected", definition.name_line)
        self.handing.named(symbol)

    def type_use(self, src: Symbol, scope: int, term: int, line: int) -> None:
        """Classes named by an annotation."""
        edge = self.evidence.edge
        for atom in _flat(self.inference.declared(self.entry, scope, term)):
            if atom[0] in (INST, CLASS) and atom[1] is not src:
                edge(EdgeKind.USES_TYPE, src.id, atom[1].id, "annotation", line)
            elif atom[0] in (EXTI, EXT) and atom[1] != self.entry.rules.builtin_package:
                edge(EdgeKind.USES_TYPE, src.id, self.evidence.outside(atom[1], atom[2]), "annotation", line)

    # calls

    def caller(self, reference: Reference) -> Symbol:
        """The symbol a site is written in."""
        return self.entry.symbols[reference.scope]

    def value(self, reference: Reference, term: int) -> Type:
        """What a term is where a site stands."""
        key = (reference.scope, term)
        found = self.steady.get(key)
        if found is None:
            inference = self.inference
            found = inference.expanded(inference.term(self.entry, reference.scope, term, reference.line))
            if inference.is_steady(self.entry, reference.scope, term):
                self.steady[key] = found
        return found

    def call(self, reference: Reference) -> None:
        """`callee(…)`, `new callee(…)`."""
        self.evidence.call_sites += 1
        rules = self.entry.rules
        term = self.terms[reference.term]
        callee = self.terms[term[1]]
        if rules.is_super_call(self.entry, reference.term):
            targets = [Target(None, (rules.builtin_package, "super"), "builtin")]
        elif callee[0] == NAME:
            targets = self.called_name(reference, term[1], callee[1])
        elif callee[0] == ATTR:
            targets = self.called_attribute(reference, callee[1], callee[2])
        else:
            value = self.value(reference, term[1])
            targets = list(self.targets.of_value(value, "function_value", self.caller(reference)))
            if not targets:
                self.nothing_found(reference, value, "dynamic")
        if rules.has_overloads:
            targets = self.targets.chosen(reference, targets)
        self.add_calls(reference, targets)
        self.handing.hand_over(reference, targets)
        self.handing.connect(reference)
        if term[2]:
            for target in targets:
                if target.outside is not None:
                    self.run_first(reference, term[2][0], rules.called_through(*target.outside))

    def called_name(self, reference: Reference, index: int, name: str) -> list[Target]:
        entry = self.entry
        value = self.value(reference, index)
        places = self.inference.lookup(entry, reference.scope, name, reference.line)
        if entry.rules.this_is_implied and self.terms[reference.term][0] == CALL:
            found = self.called_on_this(reference, name)
            if found:
                return found
        rule = "builtin" if places is None else self.targets.rule_of(places)
        found = list(self.targets.of_value(value, rule, self.caller(reference), name))
        if not found and places is None and entry.rules.sees_globals(entry):
            found = self.targets.of_name(reference, name, bound=False)
        if not found:
            self.nothing_found(reference, value, "unknown_name" if places is None else "dynamic")
        return found

    def called_on_this(self, reference: Reference, name: str) -> list[Target]:
        """A member of a class around the site, or of what such a class derives from, called without a prefix."""
        here = reference.scope
        while here > 0:
            symbol = self.entry.rules.implied_class(self.inference, self.entry, here)
            owner = self.inference.owner(symbol, name) if symbol is not None else None
            if symbol is not None and isinstance(owner, Symbol) and self.inference.functions(owner, name):
                return list(self.targets.of_attribute((INST, symbol, False), name, "self", self.caller(reference)))
            here = self.entry.definitions[here].parent
        return []

    def called_attribute(self, reference: Reference, receiver: int, name: str) -> list[Target]:
        base = self.value(reference, receiver)
        elsewhere = self.handing.run_by(reference, receiver, name)
        found = self.method(base, name, self.receiver_rule(reference, receiver), self.caller(reference)) if base else []
        if not base and not self.is_from_outside(reference, receiver):
            found = self.targets.of_name(reference, name, bound=True)
        elif self.is_anything(base):
            found = found + [target for target in self.targets.of_name(reference, name, bound=True) if target.rule == "unique_name"]
        if not found and not elsewhere:
            known = any(atom[0] in (INST, CLASS, MODULE, NAMESPACE) for atom in base)
            value = self.inference.attribute(base, name)
            missing = known and not value
            self.nothing_found(reference, value or base, "no_such_member" if missing else "dynamic" if base else "no_receiver_type")
        return found + elsewhere

    def is_anything(self, base: Type) -> bool:
        """True for what an unknown function of a library gave."""
        rules = self.entry.rules
        return rules.libraries_give_anything and all(
            atom[0] == EXTI and "(" in atom[2] and atom[1] != rules.builtin_package for atom in base
        )

    def receiver_rule(self, reference: Reference, receiver: int) -> str:
        """`Targets.receiver_rule`, once for all lines where that is enough."""
        key = (reference.scope, receiver)
        if key not in self.steady:
            return self.targets.receiver_rule(reference, receiver)
        how = self.hows.get(key)
        if how is None:
            how = self.hows[key] = self.targets.receiver_rule(reference, receiver)
        return how

    def method(self, base: Type, name: str, how: str, caller: Symbol) -> list[Target]:
        """Where calling a method of any of these leads."""
        key = (base, name, how)
        found = self.methods.get(key)
        if found is None:
            found = self.methods[key] = self.method_for(base, name, how, self.entry.symbols[0])
        if any(target.symbol is caller and target.rule == "override" for target in found):
            return self.method_for(base, name, how, caller)
        return found

    def method_for(self, base: Type, name: str, how: str, caller: Symbol) -> list[Target]:
        return [target for atom in ordered(base) for target in self.targets.of_attribute(atom, name, how, caller)]

    def is_from_outside(self, reference: Reference, receiver: int) -> bool:
        """True for a name nobody in the project binds, where names are declared: a class some import of everything brings."""
        term = self.terms[receiver]
        if not self.entry.rules.types_are_declared or term[0] != NAME:
            return False
        return self.inference.lookup(self.entry, reference.scope, term[1], reference.line) is None

    def nothing_found(self, reference: Reference, value: Type, reason: str) -> None:
        """Count a site as unresolved, unless what is known says that nothing of the project is called."""
        if value is TOP:
            self.give_up(reference, "too_many_candidates")
        elif not any(atom[0] in (LAM, BOX, TUP, BUILTIN) for atom in value):
            self.give_up(reference, reason)

    def give_up(self, reference: Reference, reason: str) -> None:
        name = _called_text(self.terms, reference.term)
        self.evidence.give_up(self.caller(reference).id, name, reference.line, reference.column, reason)

    def add_calls(self, reference: Reference, targets: Iterable[Target]) -> None:
        """Edges to targets; calling a class runs its constructors."""
        src, line, evidence = self.caller(reference).id, reference.line, self.evidence
        targets = list(targets)
        if sum(target.symbol is not None and target.rule == "function_value" for target in targets) > MAX_VALUES:
            self.give_up(reference, "too_many_candidates")
            targets = [target for target in targets if target.symbol is None or target.rule != "function_value"]
        for symbol, outside, rule, confidence, kind in targets:
            if symbol is not None:
                if rule == "function_value" and self.targets.stands_in(reference.scope, symbol):
                    rule, confidence = "wrapped", 0.0
                evidence.edge(kind, src, symbol.id, rule, line, confidence)
                if symbol.kind in CLASS_KINDS:
                    found: Iterable[Target] = (Target(one, None, rule, confidence) for one in self.targets.constructors(symbol))
                    if self.entry.rules.has_overloads and reference.kind == "call":
                        found = self.targets.chosen(reference, list(found))
                    for constructor in found:
                        if constructor.symbol is not None:
                            evidence.edge(kind, src, constructor.symbol.id, rule, line, constructor.confidence)
            elif outside is not None:
                evidence.edge(kind, src, evidence.outside(*outside), rule, line)

    def decorate(self, reference: Reference) -> None:
        """The language calls a decorator with what it decorates."""
        value = self.value(reference, reference.term)
        rule = "scope" if self.terms[reference.term][0] in (NAME, ATTR) else "function_value"
        self.add_calls(reference, self.targets.of_value(value, rule, self.caller(reference)))

    def rendered(self, reference: Reference) -> None:
        """`<Name …>` has the framework call the component of that name."""
        value = self.value(reference, reference.term)
        term = self.terms[reference.term]
        places = self.inference.lookup(self.entry, reference.scope, term[1], reference.line) if term[0] == NAME else None
        rule = self.targets.rule_of(places) if places else "inferred_type"
        self.add_calls(reference, self.targets.of_value(value, rule, self.caller(reference)))

    def raised(self, reference: Reference) -> None:
        """`raise Class` calls the class."""
        for atom in ordered(self.value(reference, reference.term)):
            if atom[0] == CLASS:
                self.add_calls(reference, [Target(atom[1], None, "implicit")])
            elif atom[0] == EXT:
                self.refer(reference, frozenset((atom,)), "external")

    # what the language calls by itself

    def operation(self, reference: Reference) -> None:
        """An operator, a subscript, a loop or a block: the classes of the operands may say what it does."""
        for operand, name in self.entry.rules.operations(self.entry, reference.term):
            self.run_special(reference, operand, name)

    def run_special(self, reference: Reference, operand: int, name: str) -> None:
        """The language calls a special method of a term's class, and the next step of an iteration."""
        for atom in ordered(self.value(reference, operand)):
            if atom[0] != INST:
                continue
            self.special(reference, atom, name)
            following = self.entry.rules.next_step(name)
            if following:
                for iterator in ordered(self.inference.method_result(atom, name)):
                    if iterator[0] == INST:
                        self.special(reference, iterator, following)

    def run_first(self, reference: Reference, operand: int, names: Sequence[str]) -> None:
        """The language calls the first of these methods that a term's class has."""
        if not names:
            return
        for atom in ordered(self.value(reference, operand)):
            if atom[0] == INST:
                for name in names:
                    if isinstance(self.inference.owner(atom[1], name), Symbol):
                        self.special(reference, atom, name)
                        break

    def special(self, reference: Reference, receiver: Atom, name: str) -> None:
        """One method of one object is called by the language."""
        owner = self.inference.owner(receiver[1], name)
        if isinstance(owner, Symbol):
            plain = [Target(symbol, None, "implicit") for symbol in self.inference.functions(owner, name)]
            self.add_calls(reference, self.targets.dispatched(receiver, name, plain, self.caller(reference), is_self=False))

    # reads and writes

    def read(self, reference: Reference) -> None:
        """A name or an attribute whose value is used."""
        term = self.terms[reference.term]
        if term[0] == NAME:
            self.read_name(reference, term[1])
        elif term[0] == ATTR:
            self.read_attribute(reference, term)

    def read_name(self, reference: Reference, name: str) -> None:
        for place in self.inference.lookup(self.entry, reference.scope, name, reference.line) or ():
            if place.slot.kind == "binding":
                self.read_variable(reference, place, name)
            elif place.slot.kind != "parameter":
                self.refer(reference, self.inference.slot(place), "scope" if place.slot.kind == "definition" else "import")
                if place.slot.kind == "import":
                    self.read_imported_variable(reference, place, frozenset())

    def read_variable(self, reference: Reference, place: Place, name: str) -> None:
        """A module's or a class's variable."""
        symbol = place.entry.variables.get((place.scope, name))
        if symbol is not None:
            rule = "scope" if place.entry is self.entry else "import"
            self.evidence.edge(EdgeKind.REFERENCES, self.caller(reference).id, symbol.id, rule, reference.line)

    def read_imported_variable(self, reference: Reference, place: Place, seen: frozenset[str]) -> None:
        """A variable an import names, through files that pass it on."""
        found = place.entry.facts.imports[place.slot.index]
        if found.name and place.entry.path not in seen:
            for atom in ordered(place.entry.rules.import_targets(self.inference, place.entry, found)):
                if atom[0] == MODULE:
                    self.read_module_variable(reference, atom[1], found.name, seen | {place.entry.path})

    def read_module_variable(self, reference: Reference, path: str, name: str, seen: frozenset[str]) -> None:
        for place in self.inference.module_places(path, name) or ():
            if place.slot.kind == "binding":
                self.read_variable(reference, place, name)
            elif place.slot.kind == "import":
                self.read_imported_variable(reference, place, seen)

    def refer(self, reference: Reference, value: Type, rule: str) -> None:
        """A function or a class is mentioned without being called."""
        src, evidence = self.caller(reference).id, self.evidence
        for atom in ordered(self.inference.expanded(value)):
            if atom[0] in (FUNC, CLASS) and atom[1].id != src:
                evidence.edge(EdgeKind.REFERENCES, src, atom[1].id, rule, reference.line)
            elif atom[0] == EXT and atom[2] and atom[1] != self.entry.rules.builtin_package:
                evidence.edge(EdgeKind.REFERENCES, src, evidence.outside(atom[1], atom[2]), "external", reference.line)

    def read_attribute(self, reference: Reference, term: Term) -> None:
        """An attribute that is read: a property runs, a method or a class is mentioned."""
        name = term[2]
        for atom in ordered(self.value(reference, term[1])):
            if atom[0] in (MODULE, NAMESPACE, EXT):
                self.refer(reference, self.inference.attribute_of(atom, name), "import")
                if atom[0] == MODULE:
                    self.read_module_variable(reference, atom[1], name, frozenset())
                elif atom[0] == NAMESPACE:
                    for module in self.entry.rules.package_files(self.inference, atom, name):
                        self.read_module_variable(reference, module[1], name, frozenset())
            elif atom[0] in (INST, CLASS, SUPEROBJ):
                self.use_member(reference, atom, name)

    def write(self, reference: Reference) -> None:
        """`receiver.name = …`, `receiver[key] = …`."""
        term = self.terms[reference.term]
        if term[0] == INDEX:
            for name in self.entry.rules.item_setters:
                self.run_special(reference, term[1], name)
        elif term[0] == ATTR:
            for atom in ordered(self.value(reference, term[1])):
                if atom[0] in (INST, SUPEROBJ):
                    self.use_member(reference, atom, term[2])
                if atom[0] == INST and self.entry.rules.attribute_setter:
                    self.special(reference, atom, self.entry.rules.attribute_setter)

    def use_member(self, reference: Reference, atom: Atom, name: str) -> None:
        """A member of a class is read or written through an object."""
        inference = self.inference
        owner = inference.owner(atom[2][1], name, atom[1]) if atom[0] == SUPEROBJ else inference.owner(atom[1], name)
        caller = self.caller(reference)
        if not isinstance(owner, Symbol):
            if atom[0] == INST and reference.kind == "read" and inference.answers_for_missing(atom[1], name):
                self.special(reference, atom, self.entry.rules.fallback_method)
            return
        if atom[0] == INST:
            self.use_descriptor(reference, owner, name)
        entry = self.project.entry(owner)
        for slot in entry.names(owner.index).get(name, ()):
            if slot.kind != "definition":
                continue
            symbol = entry.symbols[slot.index]
            modifiers = entry.definitions[slot.index].modifiers
            if not entry.rules.is_member_of(entry, slot.index, atom):
                continue
            if "setter" in modifiers:
                if reference.kind == "write":
                    self.add_calls(reference, [Target(symbol, None, "implicit")])
            elif "property" in modifiers and (atom[0] != CLASS or "static" in modifiers):
                plain = [Target(symbol, None, "implicit")]
                if reference.kind == "read":
                    is_virtual = atom[0] == INST
                    found = self.targets.dispatched(atom, name, plain, caller, is_self=False) if is_virtual else plain
                    self.add_calls(reference, found)
            elif symbol is not caller and "deleter" not in modifiers:
                self.evidence.edge(EdgeKind.REFERENCES, caller.id, symbol.id, "inferred_type", reference.line)

    def use_descriptor(self, reference: Reference, owner: Symbol, name: str) -> None:
        """A class attribute whose own class says what reading and writing it through an object does."""
        method = self.entry.rules.descriptor_methods.get(reference.kind)
        if not method:
            return
        entry = self.project.entry(owner)
        for slot in entry.names(owner.index).get(name, ()):
            if slot.kind == "binding":
                for atom in ordered(self.inference.expanded(self.inference.binding(entry, slot.index))):
                    if atom[0] == INST:
                        self.special(reference, atom, method)


_SITES: Final[Mapping[str, Callable[[_Resolving, Reference], None]]] = {
    "call": _Resolving.call,
    "read": _Resolving.read,
    "write": _Resolving.write,
    "decorate": _Resolving.decorate,
    "jsx": _Resolving.rendered,
    "implicit": _Resolving.operation,
    "raise": _Resolving.raised,
}


def _flat(value: Type) -> Iterator[Atom]:
    """Atoms of a type and of the containers in it, in a stable order."""
    for atom in ordered(value):
        yield atom
        for part in atom[2] if atom[0] == BOX else atom[1] if atom[0] == TUP else ():
            yield from _flat(part)


def _called_text(terms: Sequence[Term], index: int) -> str:
    """Name of what a site calls, "()" where it has none."""
    term = terms[index]
    callee = terms[term[1]] if term[0] in (CALL, NEW) else term
    return str(callee[-1]) if callee[0] in (NAME, ATTR) else "()"
