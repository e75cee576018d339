"""The file that is being resolved, with the types of its expressions.

Every module of this package that adds edges shares one `FileContext` per file.

A type is a set of alternatives: the type of `x` may be `A | B`.

`reference` is the use that is resolved: a call, a read, a write or an operation.
"""

from __future__ import annotations

from graphmem.parsing.facts import Reference, TermIndex
from graphmem.resolution.edges.rows import Evidence
from graphmem.resolution.edges.written import written_type
from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.interfaces.inference import Inference
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.type_inference.hierarchy import Hierarchy
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.types import CLASS, EMPTY, FUNC, INST, TOP, Type, ordered


class FileContext:
    """One file during its resolution: facts, types, and edges so far."""

    def __init__(self, inference: Inference, hierarchy: Hierarchy, entry: FileEntry) -> None:
        self.inference = inference
        self.project = inference.project
        self.hierarchy = hierarchy
        self.entry = entry
        self.terms = entry.terms
        self.placeholders = rules_of(entry).placeholders
        self.evidence = Evidence(self.project.name, entry.path)
        self.stable: dict[tuple[int, int], Type] = {}  # by scope and term: types that are the same on every line of the scope

    def caller(self, reference: Reference) -> Symbol:
        """Return the function, class or module whose code contains a call."""
        return self.entry.symbols[reference.scope]

    def value(self, reference: Reference, term: TermIndex) -> Type:
        """Infer the type of an expression in a call, such as the call's receiver."""
        key = (reference.scope, term)
        found = self.stable.get(key)
        if found is None:
            inference = self.inference
            found = inference.expanded(inference.term(self.entry, reference.scope, term, reference.line))
            if found is TOP:
                found = written_type(inference, self.entry, reference.scope, term, reference.line) or TOP
            else:
                found = _settled(inference, self._known(found))
            if inference.is_steady(self.entry, reference.scope, term):
                self.stable[key] = found
        return found

    def receiver_of(self, reference: Reference, receiver: TermIndex, name: str) -> Type:
        """Infer the type of `x` in `x.name`.

        If nothing else tells the type, and `name` is private, as `__name` in Python, the result is the class that contains the code.
        """
        return self.inference.receiver(self.entry, reference.scope, self.value(reference, receiver), name)

    def _known(self, value: Type) -> Type:
        """Return a type without placeholders for results of a caller's block.

        Such a result may have any type. So the type is unknown if all others are types of libraries.
        """
        if self.placeholders.isdisjoint(value):
            return value
        return value - self.placeholders if any(atom[0] in (INST, CLASS, FUNC) for atom in value) else EMPTY


def _settled(inference: Inference, value: Type) -> Type:
    """Mark a class in a type as exact if the type has an exact subclass.

    A type is a set of alternatives. An exact alternative stands for objects of the class itself, and not of its subclasses. If `B`
    derives from `A`, the type `A | exact B` becomes `exact A | exact B`. If `A` is abstract, it has no objects of its own, so the
    alternative `A` is removed.
    """
    if len(value) < 2:
        return value
    exact = [atom[1] for atom in ordered(value) if atom[0] == INST and atom[2]]
    open_ = [atom for atom in ordered(value) if atom[0] == INST and not atom[2]]
    if not exact or not open_:
        return value
    known = frozenset().union(*(inference.project_classes(symbol) for symbol in exact))
    bases = [atom for atom in open_ if atom[1] in known]
    if not bases:
        return value
    made = [atom[1] for atom in bases if not rules_of(inference.project.entry(atom[1])).is_abstract(inference, atom[1])]
    return (value - frozenset(bases)) | {(INST, symbol, True) for symbol in made}
