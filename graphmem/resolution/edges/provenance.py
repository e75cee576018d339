"""Choose the rule of an edge from how a name or a receiver got its type.

A rule is the reason for an edge, and decides its confidence. For example, a receiver with a declared type has the rule `receiver_type`, and
one whose type follows from assignments has the rule `inferred_type`.

A binding of a name is a place that gives the name its meaning, such as `x = f()`, `import x`, `def x` or a parameter. `reference` is the
use that is resolved: a call, a read, a write or an operation.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphmem.parsing.facts import ATTR, CALL, NAME, NEW, SELF, Reference, TermIndex
from graphmem.resolution.files.file_entry import FileEntry, Place
from graphmem.resolution.interfaces.inference import Inference
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.values.terms import last_name
from graphmem.resolution.values.types import CLASS, EXT, MODULE, NAMESPACE


class Provenance:
    """Tells how names and receivers in one file got their types."""

    def __init__(self, inference: Inference, entry: FileEntry) -> None:
        self.inference = inference
        self.entry = entry
        self.terms = entry.terms

    def of_name(self, places: Sequence[Place]) -> str:
        """Return the rule by which a name was found, given its bindings.

        `places` are the bindings. The rule is `scope` for a definition in this file, and `import` for an import or a definition in another
        file. For a variable or a parameter the rule is `function_value`.
        """
        kinds = {place.slot.kind for place in places}
        if kinds <= {"definition"}:
            return "scope" if all(place.entry is self.entry for place in places) else "import"
        return "import" if kinds <= {"definition", "import"} else "function_value"

    def of_receiver(self, reference: Reference, term: TermIndex) -> str:
        """Return the rule that explains how a call's receiver got its type.

        `term` is the receiver, such as `x` in `x.f()`. An example of a rule is `receiver_type`, for a receiver with a declared type.
        """
        entry, inference = self.entry, self.inference
        found = self.terms[term]
        if found[0] == SELF or entry.rules.receiver_class(entry, reference.scope, term) >= 0:
            return "self"
        if found[0] == NAME:
            places = inference.lookup(entry, reference.scope, found[1], reference.line) or []
            if places and {place.slot.kind for place in places} <= {"definition", "import"}:
                return self.of_name(places)
            return "receiver_type" if places and all(self._is_declared(place) for place in places) else "inferred_type"
        if rules_of(entry).types_are_declared and found[0] != ATTR:
            return "receiver_type"
        if found[0] in (CALL, NEW):
            value = inference.expanded(inference.term(entry, reference.scope, found[1], reference.line))
            return "receiver_type" if value and all(atom[0] in (CLASS, EXT) for atom in value) else "inferred_type"
        if found[0] == ATTR:
            return self._of_attribute(reference, found[1], found[2])
        return "inferred_type"

    def _of_attribute(self, reference: Reference, base: TermIndex, name: str) -> str:
        """Return the rule for a receiver that is an attribute, such as `a.b`.

        The rule is `import` for an attribute of a module. Otherwise it is `receiver_type` if the source declares the attribute's type, or
        else `inferred_type`.
        """
        entry = self.entry
        value = self.inference.term(entry, reference.scope, base, reference.line)
        if value and all(atom[0] in (MODULE, NAMESPACE, EXT) for atom in value):
            return "import"
        if rules_of(entry).types_are_declared:
            return "receiver_type"
        owner = entry.rules.receiver_class(entry, reference.scope, base)
        if owner >= 0:
            bindings = entry.facts.bindings
            positions = [*entry.members.get(owner, {}).get(name, ())]
            positions += [slot.index for slot in entry.names(owner).get(name, ()) if slot.kind == "binding"]
            if positions and all(_is_plain(entry, bindings[i].annotation, bindings[i].value) for i in positions):
                return "receiver_type"
        return "inferred_type"

    def _is_declared(self, place: Place) -> bool:
        """Whether the source code states the type of a variable or parameter.

        `place` is the variable's binding. An annotation, or a call of a class such as `x = A()`, states the type.
        """
        entry, scope, slot = place
        if slot.kind == "parameter":
            return entry.definitions[scope].parameters[slot.index].annotation >= 0
        if slot.kind == "binding":
            binding = entry.facts.bindings[slot.index]
            if rules_of(entry).types_are_declared:
                return binding.annotation >= 0 or binding.value >= 0
            return _is_plain(entry, binding.annotation, binding.value)
        return True


def _is_plain(entry: FileEntry, annotation: TermIndex, value: TermIndex) -> bool:
    """Whether a binding states the type of its variable, as `x: A` does.

    `annotation` and `value` are the expressions in the binding, or -1. An annotation states the type. A call such as `x = A()` also states
    the type, if the called name begins with a capital.
    """
    if annotation >= 0:
        return True
    term = entry.terms[value] if value >= 0 else None
    if term is None or term[0] not in (CALL, NEW):
        return False
    _, callee, _, _ = term
    return last_name(entry.terms[callee])[:1].isupper()
