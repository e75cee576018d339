"""Resolve the uses of names in one file to edges of the graph.

Each use is resolved, or counted as unresolved with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from graphmem.model import LIBRARY_HOOK, EdgeKind, external_id, file_id
from graphmem.parsing.facts import CALL, NOWHERE, Import, Reference, Spot, written_name
from graphmem.resolution.edges.annotations import Annotations
from graphmem.resolution.edges.calls import Calls
from graphmem.resolution.edges.context import FileContext
from graphmem.resolution.edges.frameworks import Registrations
from graphmem.resolution.edges.hooks import hooks
from graphmem.resolution.edges.implicit import ImplicitCalls
from graphmem.resolution.edges.overriding import overridden
from graphmem.resolution.edges.reads import Reads
from graphmem.resolution.edges.recorder import Recorder
from graphmem.resolution.edges.rows import FileResolution
from graphmem.resolution.edges.targets import Targets
from graphmem.resolution.edges.tested import add_subjects
from graphmem.resolution.edges.variables import VariableUses
from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.interfaces.inference import Inference
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.type_inference import definitions
from graphmem.resolution.type_inference.hierarchy import Hierarchy
from graphmem.resolution.values.symbol import CLASS_KINDS, FUNCTION_KINDS, Symbol
from graphmem.resolution.values.types import CLASS, EXT, MODULE, NAMESPACE, Atom, ordered


def resolve_file(inference: Inference, hierarchy: Hierarchy, entry: FileEntry) -> FileResolution:
    """Return the edges that begin in a file, and its unresolved calls.

    `hierarchy` has the subclasses of each class of the project.
    """
    return _Resolving(inference, hierarchy, entry).run()


def definitions_alone(inference: Inference, hierarchy: Hierarchy, entry: FileEntry, fault: str) -> FileResolution:
    """Return the definitions of a file whose resolution failed.

    `hierarchy` has the subclasses of each class. The result has no edges. `fault` describes the failure and becomes part of the result.
    """
    resolving = _Resolving(inference, hierarchy, entry)
    resolving.definitions()
    return resolving.evidence.rows()._replace(fault=fault)


class _Resolving:
    """Resolves one file to edges: first definitions and imports, then uses."""

    def __init__(self, inference: Inference, hierarchy: Hierarchy, entry: FileEntry) -> None:
        self.context = FileContext(inference, hierarchy, entry)
        self.inference = inference
        self.project = inference.project
        self.entry = entry
        self.terms = entry.terms
        self.evidence = self.context.evidence
        targets = Targets(inference, hierarchy, entry)
        self.recorder = Recorder(self.context, targets)
        self.implicit = ImplicitCalls(self.context, targets, self.recorder)
        self.variables = VariableUses(self.context)
        self.reads = Reads(self.context, targets, self.recorder, self.implicit, self.variables)
        self.annotations = Annotations(self.context, self.reads)
        self.registrations = Registrations(inference, entry, self.evidence)
        self.calls = Calls(self.context, targets, self.recorder, self.implicit, self.reads, self.registrations)
        self.by_kind: Mapping[str, Callable[[Reference], None]] = {
            "call": self.calls.call,
            "read": self.reads.read,
            "type": self.annotations.named_type,
            "write": self.reads.write,
            "delete": self.reads.write,
            "decorate": self.calls.decorate,
            "jsx": self.calls.rendered,
            "implicit": self.implicit.operation,
            "raise": self.calls.raised,
        }

    def run(self) -> FileResolution:
        """Add definitions, imports, classes and types, then resolve every use."""
        self.definitions()
        self.imports()
        for symbol in self.entry.symbols:
            if symbol.kind in CLASS_KINDS:
                self.inheritance(symbol)
            elif symbol.kind in FUNCTION_KINDS:
                self.function(symbol)
            elif symbol.kind == "type":
                self.annotations.alias(symbol)
            if rules_of(self.entry).decorators_are_types:
                self.annotated(symbol)
        for binding in self.entry.facts.bindings:
            if binding.annotation >= 0:
                self.annotations.type_use(self.entry.symbols[binding.scope], binding.scope, binding.annotation, binding.line)
        for reference in self.entry.facts.references:
            resolve = self.by_kind.get(reference.kind)
            if reference.name_line:
                length = len(written_name(self.terms, reference.term))
                self.evidence.spot = (reference.name_line, reference.name_column, length)
            if resolve is not None:
                resolve(reference)
            elif self.evidence.spot is not None:  # the edges of `inherit` and `named` uses are made from definitions and bindings
                self.only_named(reference)
            self.evidence.spot = None
        self.registrations.scripts()
        add_subjects(self.entry, self.project, self.recorder.calls_in_tests, self.evidence)
        return self.evidence.rows()

    def definitions(self) -> None:
        entry, edge = self.entry, self.evidence.edge
        edge(EdgeKind.DEFINES, file_id(self.project.name, entry.path), entry.symbols[0].id, "definition", 0)
        for symbol, definition in zip(entry.symbols, entry.definitions, strict=True):
            if definition.parent >= 0:
                edge(EdgeKind.DEFINES, entry.symbols[definition.parent].id, symbol.id, "definition", definition.name_line)

    def imports(self) -> None:
        """Add edges from this file to the files and packages that it imports."""
        entry, edge = self.entry, self.evidence.edge
        src = file_id(self.project.name, entry.path)
        for found in entry.facts.imports:
            if rules_of(entry).passes_on(entry, found):
                self.annotations.pass_on(found)
            atoms = ordered(rules_of(entry).import_targets(self.inference, entry, found))
            self.imported_places(found, atoms)
            for atom in atoms:
                if atom[0] == EXT:
                    edge(EdgeKind.IMPORTS, src, self.evidence.outside(atom[1], ""), "external", found.line)
                    continue
                modules: list[Atom] = [atom]
                if found.name and found.name != "*" and not (atom[0] == MODULE and self.inference.module_places(atom[1], found.name)):
                    modules += ordered(rules_of(entry).submodule(self.inference, atom, found.name))
                if found.name not in ("", "*") and atom[0] == MODULE and modules == [atom]:
                    for function in self.inference.hook_for_missing(atom, found.name):
                        edge(EdgeKind.CALLS, entry.symbols[found.scope].id, function.id, "implicit", found.line)
                if atom[0] == CLASS:
                    modules.append((MODULE, atom[1].path))
                if atom[0] == NAMESPACE:
                    modules += rules_of(entry).package_files(self.inference, atom, found.name)
                for module in modules:
                    # A rule may name a file that a manifest declares but the project lacks.
                    if module[0] == MODULE and module[1] != entry.path and self.project.file(module[1]) is not None:
                        edge(EdgeKind.IMPORTS, src, file_id(self.project.name, module[1]), "module", found.line)

    def imported_places(self, found: Import, atoms: Iterable[Atom]) -> None:
        """Record the definition to which each name in an import refers.

        `found` is the import, and `atoms` are the modules or packages that it names. Each name is recorded with its position in the file.
        """
        entry, written = self.entry, self.evidence.written
        named = [spot for spot in (_name_spot(found), found.alias_spot) if spot[0]]
        for atom in atoms:
            for target in self.module_ids(atom, ""):
                written(found.module_spot, EdgeKind.IMPORTS, target, 1.0)
                if not found.name:
                    for spot in named:
                        written(spot, EdgeKind.IMPORTS, target, 1.0)
            if not named or found.name in ("", "*"):
                continue
            targets = self.module_ids(atom, found.name) if atom[0] == EXT else set[str]()
            if not (atom[0] == MODULE and self.inference.module_places(atom[1], found.name)):
                for part in ordered(rules_of(entry).submodule(self.inference, atom, found.name)):
                    targets |= self.module_ids(part, "")
            for target in targets:
                for spot in named:
                    written(spot, EdgeKind.IMPORTS, target, 1.0)
        for symbol in definitions.imported(self.inference, entry, found, anything=True) if named else ():
            for spot in named:
                written(spot, EdgeKind.IMPORTS, symbol.id, 1.0)

    def module_ids(self, atom: Atom, name: str) -> set[str]:
        """Return the ids of the graph nodes to which a part of an import refers.

        In `from a import b`, the parts are `a` and `b`. `atom` is the file, class or package of the part. For a package, the node is its
        external symbol `name`. The result is empty for any other `atom`.
        """
        if atom[0] == EXT:
            return {external_id(self.project.name, atom[1], ".".join(part for part in (atom[2], name) if part))}
        if atom[0] == CLASS:
            return {atom[1].id}
        target = self.project.file(atom[1]) if atom[0] == MODULE else None
        return {target.symbols[0].id} if target is not None else set()

    def only_named(self, reference: Reference) -> None:
        """Record where a type name is written; add no edge.

        `reference` is the use of the name in a declaration or a class header. Other code adds the edges of the declaration or the header.
        """
        kind = EdgeKind.INHERITS if reference.kind == "inherit" else EdgeKind.USES_TYPE
        spot = (reference.name_line, reference.name_column, len(written_name(self.terms, reference.term)))
        for symbol in self.annotations.named_in(reference.scope, reference.term, reference.line):
            self.evidence.written(spot, kind, symbol.id, 1.0)

    def inheritance(self, symbol: Symbol) -> None:
        line = self.entry.definitions[symbol.index].name_line
        for base in self.inference.bases(symbol):
            dst = base.id if isinstance(base, Symbol) else self.evidence.outside(base[1], base[2])
            if dst != symbol.id:
                self.evidence.edge(EdgeKind.INHERITS, symbol.id, dst, "base", line)
        for interface in rules_of(self.entry).satisfied(self.inference, symbol):
            self.evidence.edge(EdgeKind.INHERITS, symbol.id, interface.id, "satisfies", line)
        for method in hooks(self.inference, self.entry, symbol):
            self.evidence.edge(EdgeKind.CALLS, symbol.id, method.id, LIBRARY_HOOK, line)
        src = self.entry.symbols[self.entry.definitions[symbol.index].parent].id
        for method in rules_of(self.entry).runs_on_definition(self.inference, symbol):
            self.evidence.edge(EdgeKind.CALLS, src, method.id, "implicit", line)

    def annotated(self, symbol: Symbol) -> None:
        """Add edges from a definition to the types of its decorators.

        In Java, decorators are annotations such as `@Name`.
        """
        definition = self.entry.definitions[symbol.index]
        for decorator in definition.decorators:
            term = self.entry.terms[decorator]
            self.annotations.type_use(symbol, definition.parent, term[1] if term[0] == CALL else decorator, definition.start_line)

    def function(self, symbol: Symbol) -> None:
        """Add the edges that follow from the header of a function.

        They lead to the methods that the function overrides, to the types that its header declares, and to the functions that a framework
        calls for it, such as test fixtures.
        """
        entry = self.entry
        definition = entry.definitions[symbol.index]
        parent = entry.symbols[definition.parent]
        if parent.kind in CLASS_KINDS and symbol.kind == "method":
            for method in overridden(self.inference, entry, symbol, parent):
                self.evidence.edge(EdgeKind.OVERRIDES, symbol.id, method.id, "same_method", definition.name_line)
        for method in rules_of(entry).satisfied_methods(self.inference, symbol):
            self.evidence.edge(EdgeKind.OVERRIDES, symbol.id, method.id, "satisfies", definition.name_line)
        for term in (*(parameter.annotation for parameter in definition.parameters), definition.returns):
            self.annotations.type_use(symbol, definition.parent, term, definition.name_line)
        for used in rules_of(entry).implicit_calls(self.inference, symbol):
            self.evidence.edge(EdgeKind.CALLS, symbol.id, used.id, "fixture", definition.name_line)
        for used in self.registrations.injected(symbol):
            self.evidence.edge(EdgeKind.CALLS, symbol.id, used.id, "injected", definition.name_line)
        self.registrations.named(symbol)


def _name_spot(found: Import) -> Spot:
    """Return the (line, column, length) of the imported name in an import.

    Some languages write the imported name as the end of the module: `import a.b.Name`.
    """
    line, column, length = found.module_spot
    if found.name_spot[0] or not line or not found.name or found.alias_spot[0] or found.name == "*" or length <= len(found.name):
        return found.name_spot
    return (line, column + length - len(found.name), len(found.name)) if found.kind == "from" else NOWHERE
