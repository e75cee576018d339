"""From uses to edges: each site of a file is resolved, or counted with the reason why it is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.model import EdgeKind, EdgeRow, EdgeSource, ExternalRow, UnresolvedRow, external_id, file_id, stable_id
from graphmem.parsing.facts import ATTR, CALL, INDEX, NAME, NEW, SELF, SPREAD, Reference
from graphmem.resolution.inference import Inference, Place
from graphmem.resolution.project import CLASS_KINDS, FUNCTION_KINDS, FileEntry, Project, Symbol
from graphmem.resolution.rules import AMBIGUOUS_LIMIT, RULES
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
    PARTIAL,
    SUPEROBJ,
    TOP,
    Atom,
    Type,
    order,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

CERTAIN_OVERRIDES: Final = 4
"""Up to so many overrides each is believed as `RULES` says; of more they share that belief."""

MAX_OVERRIDES: Final = 40
"""Overriding methods that become edges of one call; with more, the OVERRIDES edges alone tell."""


class FileResolution(NamedTuple):
    """What resolving one file gives; rows sorted."""

    edges: list[EdgeRow]
    externals: list[ExternalRow]
    unresolved: list[UnresolvedRow]
    call_sites: int


class Sites:
    """Resolves the files of a project one at a time.

    Args:
        project: all facts.
        inference: the types of everything in it.
        subclasses: the classes that derive from a class directly, tracked.
    """

    def __init__(self, project: Project, inference: Inference, hierarchy: Hierarchy) -> None:
        self.project = project
        self.inference = inference
        self.hierarchy = hierarchy

    def resolve(self, entry: FileEntry) -> FileResolution:
        """Every edge that begins in a file."""
        return _Resolving(self, entry).run()


class Hierarchy:
    """Who derives from whom, the other way round than the source says it."""

    def __init__(self, project: Project, inference: Inference) -> None:
        self.project = project
        self.inference = inference
        self._bases: dict[str, dict[Symbol, tuple[Symbol, ...]]] = {}  # path -> class -> direct bases in the project
        self._inputs: dict[str, frozenset[int]] = {}
        self._below: dict[Symbol, set[Symbol]] = {}

    def refresh(self, stale: set[int], changed: Iterable[str]) -> set[int]:
        """Look again at the classes of files that changed or whose bases may lead elsewhere now.

        Returns:
            Inputs (`subclasses` of a class) that are different now.
        """
        again = {path for path, inputs in self._inputs.items() if not stale.isdisjoint(inputs)} | set(changed)
        different: set[int] = set()
        solver = self.project.solver
        for path in sorted(again):
            before = self._bases.pop(path, {})
            self._inputs.pop(path, None)
            after: dict[Symbol, tuple[Symbol, ...]] = {}
            entry = self.project.files.get(path)
            if entry is not None:
                solver.inputs = set()
                for symbol in entry.symbols:
                    if symbol.kind in CLASS_KINDS:
                        after[symbol] = tuple(base for base in self.inference.bases(symbol) if isinstance(base, Symbol))
                self._bases[path] = after
                self._inputs[path] = frozenset(solver.inputs)
            for symbol in before.keys() | after.keys():
                old, new = set(before.get(symbol, ())), set(after.get(symbol, ()))
                for base in old - new:
                    self._below[base].discard(symbol)
                for base in new - old:
                    self._below.setdefault(base, set()).add(symbol)
                different |= {self.project.key("subclasses", base.id) for base in old ^ new}
        return different

    def below(self, symbol: Symbol) -> list[Symbol]:
        """Every class that derives from this one, however far down, sorted by place."""
        found: set[Symbol] = set()
        pending = [symbol]
        while pending:
            current = pending.pop()
            self.project.touch("subclasses", current.id)
            for child in self._below.get(current, ()):
                if child not in found:
                    found.add(child)
                    pending.append(child)
        found.discard(symbol)
        return sorted(found, key=lambda s: s.place)

    def overrides(self, owner: Symbol, name: str, caller: Symbol) -> list[Symbol]:
        """Methods of that name in the classes below a class, for a caller of the method.

        Left out are the caller itself, which wraps another object of its kind, and for callers outside of tests
        classes that only tests define. Empty when there are more than `MAX_OVERRIDES`.
        """
        in_tests = self.project.files[caller.path].in_tests
        found: list[Symbol] = []
        for child in self.below(owner):
            if child.index < 0 or (not in_tests and self.project.files[child.path].in_tests):
                continue
            entry = self.project.entry(child)
            symbols = (entry.symbols[slot.index] for slot in entry.names(child.index).get(name, ()) if slot.kind == "definition")
            found += [symbol for symbol in symbols if symbol.kind in FUNCTION_KINDS and symbol is not caller]
            if len(found) > MAX_OVERRIDES:
                return []
        return found


class _Target(NamedTuple):
    """One end a site leads to: a symbol or something outside, by a rule."""

    symbol: Symbol | None
    outside: tuple[str, str] | None
    rule: str
    confidence: float = 0.0  # 0: that of the rule


class _Resolving:
    """One file being resolved."""

    def __init__(self, sites: Sites, entry: FileEntry) -> None:
        self.project = sites.project
        self.inference = sites.inference
        self.hierarchy = sites.hierarchy
        self.entry = entry
        self.terms = entry.terms
        self.edges: dict[tuple[str, str, str], tuple[float, str, set[int]]] = {}
        self.externals: dict[str, ExternalRow] = {}
        self.unresolved: dict[str, UnresolvedRow] = {}
        self.call_sites = 0
        self.scope = 0  # of the site at hand

    def run(self) -> FileResolution:
        """Definitions, imports, classes, types, then every site."""
        self.definitions()
        self.imports()
        for symbol in self.entry.symbols:
            if symbol.kind in CLASS_KINDS:
                self.inheritance(symbol)
            if symbol.kind in FUNCTION_KINDS:
                self.function(symbol)
        self.variable_types()
        for reference in self.entry.facts.references:
            self.scope = reference.scope
            if reference.kind == "call":
                self.call_sites += 1
                self.call(reference)
            elif reference.kind == "read":
                self.read(reference)
            elif reference.kind == "write":
                self.write(reference)
            elif reference.kind == "decorate":
                self.decorate(reference)
            elif reference.kind == "jsx":
                self.rendered(reference)
            elif reference.kind == "implicit":
                self.operation(reference)
            elif reference.kind == "raise":
                self.raised(reference)
        return FileResolution(
            edges=[
                EdgeRow(
                    kind, src, dst, confidence, EdgeSource.AST, rule, min(lines), ",".join(map(str, sorted(lines))) if min(lines) else ""
                )
                for (kind, src, dst), (confidence, rule, lines) in sorted(self.edges.items())
            ],
            externals=[self.externals[key] for key in sorted(self.externals)],
            unresolved=[self.unresolved[key] for key in sorted(self.unresolved)],
            call_sites=self.call_sites,
        )

    # rows

    def edge(self, kind: str, src: str, dst: str, rule: str, line: int, confidence: float = 0.0) -> None:
        """Add a site to an edge; of several rules the strongest is kept."""
        confidence = confidence or RULES[rule].confidence
        known = self.edges.get((kind, src, dst))
        if known is None:
            self.edges[kind, src, dst] = (confidence, rule, {line})
            return
        lines = known[2]
        lines.add(line)
        if (confidence, rule) > known[:2]:
            self.edges[kind, src, dst] = (confidence, rule, lines)

    def outside(self, package: str, name: str) -> str:
        """Id of something outside, with its row."""
        id_ = external_id(self.project.name, package, name)
        if id_ not in self.externals:
            self.externals[id_] = ExternalRow(id_, package, name)
        return id_

    def give_up(self, reference: Reference, name: str, reason: str) -> None:
        """Count a site that leads nowhere."""
        caller = self.entry.symbols[reference.scope].id
        id_ = stable_id("unresolved", self.project.name, self.entry.path, caller, name, str(reference.line), str(reference.column))
        self.unresolved[id_] = UnresolvedRow(id_, self.entry.path, caller, name, reference.line, reason)

    # structure

    def definitions(self) -> None:
        entry = self.entry
        self.edge(EdgeKind.DEFINES, file_id(self.project.name, entry.path), entry.symbols[0].id, "definition", 0)
        for symbol, definition in zip(entry.symbols, entry.definitions, strict=True):
            if definition.parent >= 0:
                self.edge(EdgeKind.DEFINES, entry.symbols[definition.parent].id, symbol.id, "definition", definition.name_line)

    def imports(self) -> None:
        entry = self.entry
        src = file_id(self.project.name, entry.path)
        for found in entry.facts.imports:
            for atom in sorted(entry.rules.import_targets(self.inference, entry, found), key=order):
                if atom[0] == EXT:
                    self.edge(EdgeKind.IMPORTS, src, self.outside(atom[1], ""), "external", found.line)
                    continue
                taken = [atom]
                if found.name and found.name != "*":
                    submodules = entry.rules.submodule(self.inference, atom, found.name)
                    has_name = atom[0] == MODULE and self.inference.module_places(atom[1], found.name)
                    if not has_name:
                        taken += sorted(submodules, key=order)
                for module in taken:
                    if module[0] == MODULE and module[1] != entry.path:
                        self.edge(EdgeKind.IMPORTS, src, file_id(self.project.name, module[1]), "module", found.line)

    def inheritance(self, symbol: Symbol) -> None:
        line = self.entry.definitions[symbol.index].name_line
        for base in self.inference.bases(symbol):
            dst = base.id if isinstance(base, Symbol) else self.outside(base[1], base[2])
            if dst != symbol.id:
                self.edge(EdgeKind.INHERITS, symbol.id, dst, "base", line)

    def function(self, symbol: Symbol) -> None:
        """Overrides, declared types and what a framework runs for a function."""
        entry = self.entry
        definition = entry.definitions[symbol.index]
        parent = entry.symbols[definition.parent]
        if parent.kind in CLASS_KINDS and symbol.kind == "method":
            owner = self.inference.owner(parent, symbol.name, after=parent)
            if isinstance(owner, Symbol):
                base = self.project.entry(owner)
                for slot in base.names(owner.index).get(symbol.name, ()):
                    if slot.kind == "definition" and base.symbols[slot.index].kind in FUNCTION_KINDS:
                        self.edge(EdgeKind.OVERRIDES, symbol.id, base.symbols[slot.index].id, "same_method", definition.name_line)
        for term in (*(parameter.annotation for parameter in definition.parameters), definition.returns):
            self.type_use(symbol, definition.parent, term, definition.name_line)
        for used in entry.rules.implicit_calls(self.inference, symbol):
            self.edge(EdgeKind.CALLS, symbol.id, used.id, "fixture", definition.name_line)

    def variable_types(self) -> None:
        for binding in self.entry.facts.bindings:
            if binding.annotation >= 0:
                self.type_use(self.entry.symbols[binding.scope], binding.scope, binding.annotation, binding.line)

    def type_use(self, src: Symbol, scope: int, term: int, line: int) -> None:
        """Classes named by an annotation."""
        for atom in self.flat(self.inference.declared(self.entry, scope, term)):
            if atom[0] in (INST, CLASS) and atom[1] is not src:
                self.edge(EdgeKind.USES_TYPE, src.id, atom[1].id, "annotation", line)
            elif atom[0] in (EXTI, EXT) and atom[1] != self.entry.rules.builtin_package:
                self.edge(EdgeKind.USES_TYPE, src.id, self.outside(atom[1], atom[2]), "annotation", line)

    def flat(self, value: Type) -> Iterator[Atom]:
        """Atoms of a type and of the containers in it, in a stable order."""
        for atom in sorted(value, key=order):
            yield atom
            if atom[0] == BOX:
                for part in atom[2]:
                    yield from self.flat(part)
            elif atom[0] == 8:
                for part in atom[1]:
                    yield from self.flat(part)

    # sites

    def call(self, reference: Reference) -> None:
        term = self.terms[reference.term]
        callee = self.terms[term[1]]
        entry, inference = self.entry, self.inference
        if entry.rules.is_super_call(entry, reference.term):
            self.edge(EdgeKind.CALLS, self.src(reference), self.outside(entry.rules.builtin_package, "super"), "builtin", reference.line)
            return
        if callee[0] == NAME:
            targets = self.called_name(reference, term[1], callee[1])
            name = callee[1]
        elif callee[0] == ATTR:
            targets = self.called_attribute(reference, term, callee)
            name = callee[2]
        else:
            value = inference.expanded(inference.term(entry, reference.scope, term[1], reference.line))
            targets = list(self.values(value, "function_value"))
            name = "()"
            if not targets:
                self.nothing_found(reference, name, value, "dynamic")
        self.add_targets(reference, targets)
        if term[2]:
            for target in targets:
                if target.outside is not None:
                    self.run_first(reference, term[2][0], entry.rules.called_through(*target.outside))

    def src(self, reference: Reference) -> str:
        return self.entry.symbols[reference.scope].id

    def add_targets(self, reference: Reference, targets: Iterable[_Target]) -> None:
        src = self.src(reference)
        for target in targets:
            if target.symbol is not None:
                self.edge(EdgeKind.CALLS, src, target.symbol.id, target.rule, reference.line, target.confidence)
                if target.symbol.kind in CLASS_KINDS:
                    for constructor in self.constructors(target.symbol):
                        self.edge(EdgeKind.CALLS, src, constructor.id, target.rule, reference.line, target.confidence)
            elif target.outside is not None:
                self.edge(EdgeKind.CALLS, src, self.outside(*target.outside), target.rule, reference.line)

    def constructors(self, symbol: Symbol) -> Iterator[Symbol]:
        """Methods that run when a class is called."""
        for name in self.entry.rules.constructors:
            owner = self.inference.owner(symbol, name)
            if isinstance(owner, Symbol):
                yield from self.methods(owner, name)

    def methods(self, owner: Symbol, name: str) -> Iterator[Symbol]:
        """The functions a class defines under a name; of overloads the one that runs."""
        entry = self.project.entry(owner)
        found = [
            entry.symbols[slot.index]
            for slot in entry.names(owner.index).get(name, ())
            if slot.kind == "definition" and entry.symbols[slot.index].kind in FUNCTION_KINDS
        ]
        real = [symbol for symbol in found if "overload" not in entry.definitions[symbol.index].modifiers]
        yield from real or found

    def called_name(self, reference: Reference, index: int, name: str) -> list[_Target]:
        entry, inference = self.entry, self.inference
        value = inference.expanded(inference.term(entry, reference.scope, index, reference.line))
        places = inference.lookup(entry, reference.scope, name, reference.line)
        if places is None:
            targets = list(self.values(value, "builtin"))
            if not targets:
                guessed = self.by_name(reference, name, bound=False) if entry.rules.sees_globals(entry) else []
                targets = guessed or self.nothing_found(reference, name, value, "unknown_name")
            return targets
        rule = self.rule_of(places)
        targets = list(self.values(value, rule, name))
        if not targets:
            self.nothing_found(reference, name, value, "dynamic")
        return targets

    def rule_of(self, places: list[Place]) -> str:
        """How a name that has these meanings is found."""
        kinds = {place.slot.kind for place in places}
        if kinds <= {"definition"}:
            return "scope" if all(place.entry is self.entry for place in places) else "import"
        if kinds <= {"definition", "import"}:
            return "import"
        return "function_value"

    def called_attribute(self, reference: Reference, call: tuple, callee: tuple) -> list[_Target]:  # type: ignore[type-arg]
        entry, inference = self.entry, self.inference
        name = callee[2]
        base = inference.expanded(inference.term(entry, reference.scope, callee[1], reference.line))
        targets: list[_Target] = []
        how = self.receiver_rule(reference, callee[1])
        for atom in sorted(base, key=order):
            targets += self.attribute_targets(atom, name, how)
        if targets:
            return targets
        if base is TOP:
            return self.nothing_found(reference, name, base, "too_many_candidates")
        if any(atom[0] in (INST, CLASS, MODULE, NAMESPACE) for atom in base):
            reason = "dynamic" if inference.attribute(base, name) else "no_such_member"
            return self.nothing_found(reference, name, base, reason)
        if base:
            return self.nothing_found(reference, name, base, "dynamic")
        return self.by_name(reference, name, bound=True) or self.nothing_found(reference, name, base, "no_receiver_type")

    def receiver_rule(self, reference: Reference, term: int) -> str:
        """What is known about how the receiver of a call got its type."""
        entry = self.entry
        found = self.terms[term]
        if found[0] == SELF or entry.rules.receiver_class(entry, reference.scope, term) >= 0:
            return "self"
        if found[0] == NAME:
            places = self.inference.lookup(entry, reference.scope, found[1], reference.line) or []
            if places and {place.slot.kind for place in places} <= {"definition", "import"}:
                return self.rule_of(places)
            return "receiver_type" if places and all(self.is_declared(place) for place in places) else "inferred_type"
        if found[0] in (CALL, NEW):
            value = self.inference.expanded(self.inference.term(entry, reference.scope, found[1], reference.line))
            return "receiver_type" if value and all(atom[0] in (CLASS, EXT) for atom in value) else "inferred_type"
        if found[0] == ATTR:
            base = self.inference.term(entry, reference.scope, found[1], reference.line)
            if base and all(atom[0] in (MODULE, NAMESPACE, EXT) for atom in base):
                return "import"
            owner = entry.rules.receiver_class(entry, reference.scope, found[1])
            if owner >= 0:
                bindings = entry.facts.bindings
                positions = entry.members.get(owner, {}).get(found[2], [])
                positions = positions + [s.index for s in entry.names(owner).get(found[2], ()) if s.kind == "binding"]
                if positions and all(self.is_plain(bindings[i].annotation, bindings[i].value) for i in positions):
                    return "receiver_type"
        return "inferred_type"

    def is_declared(self, place: Place) -> bool:
        """True when a name's type stands in the source: an annotation, or a constructor call."""
        entry, scope, slot = place
        if slot.kind == "parameter":
            return entry.definitions[scope].parameters[slot.index].annotation >= 0
        if slot.kind == "binding":
            binding = entry.facts.bindings[slot.index]
            return self.is_plain(binding.annotation, binding.value)
        return True

    def is_plain(self, annotation: int, value: int) -> bool:
        if annotation >= 0:
            return True
        term = self.terms[value] if 0 <= value < len(self.terms) else ()
        return bool(
            term and term[0] in (CALL, NEW) and self.terms[term[1]][0] in (NAME, ATTR) and str(self.terms[term[1]][-1])[:1].isupper()
        )

    def overriding(self, owner: Symbol, name: str) -> Iterator[_Target]:
        """The methods of subclasses a call may mean; the more there are, the less each of them is believed."""
        found = self.hierarchy.overrides(owner, name, self.entry.symbols[self.scope])
        confidence = RULES["override"].confidence * min(1.0, CERTAIN_OVERRIDES / max(1, len(found)))
        for symbol in found:
            yield _Target(symbol, None, "override", round(confidence, 3))

    def attribute_targets(self, atom: Atom, name: str, how: str) -> Iterator[_Target]:
        """Where calling an attribute of one thing leads."""
        tag = atom[0]
        inference = self.inference
        value = inference.expanded(inference.attribute_of(atom, name))
        if tag == SUPEROBJ:
            yield from self.values(value, "super", name)
        elif tag in (MODULE, NAMESPACE):
            yield from self.values(value, "import", name)
        elif tag in (INST, CLASS):
            rule = "receiver_type" if tag == INST and how in ("scope", "import") else how
            yield from self.values(value, rule, name)
            exact = tag == INST and atom[2]
            if not exact:
                owner = inference.owner(atom[1], name)
                if isinstance(owner, Symbol):
                    yield from self.overriding(atom[1], name)
        else:
            yield from self.values(value, "external" if tag in (EXT, EXTI) else how, name)

    def values(self, value: Type, rule: str, name: str = "") -> Iterator[_Target]:
        """Where calling a value leads. A function under another name than the one written came as a value."""
        entry, inference = self.entry, self.inference
        for atom in sorted(value, key=order):
            tag = atom[0]
            if tag == FUNC:
                symbol = atom[1]
                found = rule
                if name and symbol.name != name and rule not in ("import", "function_value"):
                    found = "function_value"
                yield _Target(symbol, None, found)
            elif tag == CLASS:
                yield _Target(atom[1], None, rule)
            elif tag == EXT:
                outside = "builtin" if atom[1] == entry.rules.builtin_package else "external"
                yield _Target(None, (atom[1], atom[2]), outside)
            elif tag == EXTI:
                yield _Target(None, (atom[1], atom[2]), "external")
            elif tag == BUILTIN:
                box_kind = atom[1][1] if atom[1][0] == BOX else "tuple"
                yield _Target(None, (entry.rules.builtin_package, f"{box_kind}.{atom[2]}"), "builtin")
            elif tag == INST and entry.rules.call_method:
                owner = inference.owner(atom[1], entry.rules.call_method)
                if isinstance(owner, Symbol):
                    for symbol in self.methods(owner, entry.rules.call_method):
                        yield _Target(symbol, None, rule if rule == "inferred_type" else "implicit")
                    if not atom[2]:
                        yield from self.overriding(atom[1], entry.rules.call_method)
            elif tag == PARTIAL:
                yield from self.values(inference.expanded(atom[1]), "function_value")
            elif tag == SUPEROBJ:  # `super(…)`: the constructor of the next class
                for constructor in entry.rules.constructors:
                    owner = inference.owner(atom[2][1], constructor, after=atom[1])
                    if isinstance(owner, Symbol):
                        for symbol in self.methods(owner, constructor):
                            yield _Target(symbol, None, "super")
                    elif owner is not None:
                        yield _Target(None, (owner[1], owner[2]), "external")

    def by_name(self, reference: Reference, name: str, *, bound: bool) -> list[_Target]:
        """Definitions of a bare name that a call with these arguments can mean, when they are few."""
        entry = self.entry
        if (bound and entry.rules.is_common_name(name)) or name.startswith("__"):
            return []
        term = self.terms[reference.term]
        positional = len(term[2])
        if any(self.terms[argument][0] == SPREAD for argument in term[2]):
            positional = 0
        keywords = [keyword for keyword, _ in term[3]]
        spread = positional != len(term[2]) or "**" in keywords
        candidates = []
        for symbol in self.project.named(name):
            if symbol.kind in CLASS_KINDS or (bound and symbol.kind != "method"):
                continue
            if not bound and symbol.kind == "method":
                continue
            other = self.project.files[symbol.path]
            if other.in_tests and other is not entry:  # what a test file defines is for itself, unless it is imported
                continue
            definition = other.definitions[symbol.index]
            if spread or other.rules.takes(definition, positional, keywords, bound=bound):
                candidates.append(symbol)
        if not candidates or len(candidates) > AMBIGUOUS_LIMIT:
            return []
        if len(candidates) == 1:
            return [_Target(candidates[0], None, "unique_name")]
        return [_Target(symbol, None, "ambiguous_name", round(0.5 / len(candidates), 3)) for symbol in candidates]

    def nothing_found(self, reference: Reference, name: str, value: Type, reason: str) -> list[_Target]:
        """Count a site as unresolved unless what is known of it says that it leads out of the project."""
        if value is TOP:
            self.give_up(reference, name, "too_many_candidates")
        elif any(atom[0] in (LAM, BOX, 8, 12) for atom in value):
            pass  # an anonymous function belongs to its own definition; a container's method is the language's
        else:
            self.give_up(reference, name, reason)
        return []

    def read(self, reference: Reference) -> None:
        term = self.terms[reference.term]
        if term[0] == NAME:
            self.read_name(reference, term[1])
        elif term[0] == ATTR:
            self.read_attribute(reference, term)

    def read_name(self, reference: Reference, name: str) -> None:
        entry = self.entry
        places = self.inference.lookup(entry, reference.scope, name, reference.line)
        for place in places or ():
            if place.slot.kind == "parameter":
                continue
            if place.slot.kind == "binding":
                self.read_variable(reference, place, name)
                continue
            value = self.inference.slot(place)
            self.refer(reference, value, "scope" if place.slot.kind == "definition" else "import")
            if place.slot.kind == "import" and not value:
                self.read_imported_variable(reference, place)

    def read_variable(self, reference: Reference, place: Place, name: str) -> None:
        """A module's or a class's variable."""
        for symbol in place.entry.symbols:
            if symbol.kind == "variable" and symbol.name == name and place.entry.definitions[symbol.index].parent == place.scope:
                self.edge(
                    EdgeKind.REFERENCES, self.src(reference), symbol.id, "scope" if place.entry is self.entry else "import", reference.line
                )
                return

    def read_imported_variable(self, reference: Reference, place: Place) -> None:
        found = place.entry.facts.imports[place.slot.index]
        for atom in place.entry.rules.import_targets(self.inference, place.entry, found):
            if atom[0] == MODULE and found.name:
                for target in self.inference.module_places(atom[1], found.name) or ():
                    if target.slot.kind == "binding":
                        self.read_variable(reference, target, found.name)

    def refer(self, reference: Reference, value: Type, rule: str) -> None:
        """A function or a class is mentioned without being called."""
        src = self.src(reference)
        for atom in sorted(self.inference.expanded(value), key=order):
            if atom[0] in (FUNC, CLASS) and atom[1].id != src:
                self.edge(EdgeKind.REFERENCES, src, atom[1].id, rule, reference.line)
            elif atom[0] == EXT and atom[2]:
                self.edge(EdgeKind.REFERENCES, src, self.outside(atom[1], atom[2]), "external", reference.line)

    def read_attribute(self, reference: Reference, term: tuple) -> None:  # type: ignore[type-arg]
        """An attribute that is read: a property runs, a method or a class is mentioned."""
        inference = self.inference
        name = term[2]
        base = inference.expanded(inference.term(self.entry, reference.scope, term[1], reference.line))
        for atom in sorted(base, key=order):
            if atom[0] in (MODULE, NAMESPACE):
                self.refer(reference, inference.attribute_of(atom, name), "import")
            elif atom[0] == EXT and atom[1] != self.entry.rules.builtin_package:
                self.edge(
                    EdgeKind.REFERENCES,
                    self.src(reference),
                    self.outside(atom[1], f"{atom[2]}.{name}".lstrip(".")),
                    "external",
                    reference.line,
                )
            elif atom[0] in (INST, CLASS, SUPEROBJ):
                self.read_member(reference, atom, name)

    def read_member(self, reference: Reference, atom: Atom, name: str) -> None:
        inference = self.inference
        owner = inference.owner(atom[2][1], name, atom[1]) if atom[0] == SUPEROBJ else inference.owner(atom[1], name)
        src = self.src(reference)
        if not isinstance(owner, Symbol):
            if atom[0] == INST and inference.answers_for_missing(atom[1], name):
                fallback = inference.owner(atom[1], self.entry.rules.fallback_method)
                for symbol in self.methods(fallback, self.entry.rules.fallback_method) if isinstance(fallback, Symbol) else ():
                    self.edge(EdgeKind.CALLS, src, symbol.id, "implicit", reference.line)
            return
        entry = self.project.entry(owner)
        for slot in entry.names(owner.index).get(name, ()):
            if slot.kind != "definition":
                continue
            symbol = entry.symbols[slot.index]
            modifiers = entry.definitions[slot.index].modifiers
            if "property" in modifiers and atom[0] != CLASS:
                if reference.kind == "read":
                    self.edge(EdgeKind.CALLS, src, symbol.id, "implicit", reference.line)
                    if atom[0] == INST and not atom[2]:
                        self.add_targets(reference, self.overriding(atom[1], name))
            elif "setter" in modifiers:
                if reference.kind == "write":
                    self.edge(EdgeKind.CALLS, src, symbol.id, "implicit", reference.line)
            elif symbol.id != src:
                self.edge(EdgeKind.REFERENCES, src, symbol.id, "inferred_type", reference.line)

    def write(self, reference: Reference) -> None:
        term = self.terms[reference.term]
        if term[0] == INDEX:
            self.run_special(reference, term[1], "__setitem__")
        if term[0] != ATTR:
            return
        base = self.inference.expanded(self.inference.term(self.entry, reference.scope, term[1], reference.line))
        for atom in sorted(base, key=order):
            if atom[0] in (INST, SUPEROBJ):
                self.read_member(reference, atom, term[2])

    def operation(self, reference: Reference) -> None:
        """An operator, a subscript, a loop or a block: the classes of the operands may say what it does."""
        for operand, name in self.entry.rules.operations(self.entry, reference.term):
            self.run_special(reference, operand, name)

    def run_special(self, reference: Reference, operand: int, name: str) -> None:
        """The language calls a special method of a term's class, and the next step of an iteration."""
        inference = self.inference
        value = inference.expanded(inference.term(self.entry, reference.scope, operand, reference.line))
        for atom in sorted(value, key=order):
            if atom[0] == INST:
                self.special(reference, atom, name)
                if name in ("__iter__", "__aiter__"):
                    following = "__next__" if name == "__iter__" else "__anext__"
                    for iterator in sorted(inference.method_result(atom, name), key=order):
                        if iterator[0] == INST:
                            self.special(reference, iterator, following)

    def run_first(self, reference: Reference, operand: int, names: Sequence[str]) -> None:
        """The language calls the first of these methods that a term's class has."""
        if not names:
            return
        value = self.inference.expanded(self.inference.term(self.entry, reference.scope, operand, reference.line))
        for atom in sorted(value, key=order):
            if atom[0] == INST:
                for name in names:
                    if isinstance(self.inference.owner(atom[1], name), Symbol):
                        self.special(reference, atom, name)
                        break

    def special(self, reference: Reference, receiver: Atom, name: str) -> None:
        owner = self.inference.owner(receiver[1], name)
        if isinstance(owner, Symbol):
            src = self.src(reference)
            for symbol in self.methods(owner, name):
                self.edge(EdgeKind.CALLS, src, symbol.id, "implicit", reference.line)
            if not receiver[2]:
                self.add_targets(reference, self.overriding(receiver[1], name))

    def decorate(self, reference: Reference) -> None:
        """The language calls a decorator with what it decorates."""
        value = self.inference.expanded(self.inference.term(self.entry, reference.scope, reference.term, reference.line))
        term = self.terms[reference.term]
        plain = term[0] in (NAME, ATTR)
        self.add_targets(reference, self.values(value, "scope" if plain else "function_value"))

    def rendered(self, reference: Reference) -> None:
        """`<Name …>` has the framework call the component of that name."""
        value = self.inference.expanded(self.inference.term(self.entry, reference.scope, reference.term, reference.line))
        term = self.terms[reference.term]
        places = self.inference.lookup(self.entry, reference.scope, term[1], reference.line) if term[0] == NAME else None
        self.add_targets(reference, self.values(value, self.rule_of(places) if places else "inferred_type"))

    def raised(self, reference: Reference) -> None:
        """`raise Class` calls the class."""
        value = self.inference.expanded(self.inference.term(self.entry, reference.scope, reference.term, reference.line))
        for atom in sorted(value, key=order):
            if atom[0] == CLASS:
                self.add_targets(reference, [_Target(atom[1], None, "implicit")])
            elif atom[0] == EXT:
                self.edge(EdgeKind.REFERENCES, self.src(reference), self.outside(atom[1], atom[2]), "external", reference.line)
