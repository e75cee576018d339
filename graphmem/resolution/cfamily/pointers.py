"""Decide whether a C or C++ expression is a pointer, by its declaration."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from graphmem.parsing.facts import ATTR, CALL, INDEX, NAME, NEW, OPERATOR, TermIndex
from graphmem.resolution.files.file_entry import Place
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.types import CLASS, FUNC, INST, Type, ordered

if TYPE_CHECKING:
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference


def is_pointer(inference: Inference, entry: FileEntry, scope: int, line: int, term: TermIndex) -> bool:
    """Return whether an expression is a pointer.

    `term` is a variable, a field or a call. The result is also True if the declaration is not found.
    """
    found = entry.terms[term]
    if found[0] == NAME:
        places = inference.lookup(entry, scope, found[1], line) or ()
        return not places or any(_points(inference, place) for place in places)
    if found[0] == CALL:
        return _gives_pointer(inference, inference.expanded(inference.term(entry, scope, found[1], line)))
    if found[0] != ATTR:
        return found[0] not in (INDEX, NEW, OPERATOR)
    for atom in ordered(inference.expanded(inference.term(entry, scope, found[1], line))):
        owner = inference.owner(atom[1], found[2]) if atom[0] == INST else None
        if isinstance(owner, Symbol):
            other = inference.project.entry(owner)
            return any(_points(inference, Place(other, owner.index, slot)) for slot in other.names(owner.index).get(found[2], ()))
    return True


def _gives_pointer(inference: Inference, callee: Type) -> bool:
    """Return whether a call may return a pointer.

    `callee` has the functions that may be called. For a function, its declaration decides. The result is also True if `callee` is empty or
    has an unknown function.
    """
    for atom in ordered(callee):
        if atom[0] == FUNC:
            definition = inference.project.entry(atom[1]).definitions[atom[1].index]
            if re.search(rf"\*\s*(?:\w+\s*::\s*)*{re.escape(atom[1].name)}\s*\(", definition.signature):
                return True
        elif atom[0] != CLASS:
            return True
    return not callee


def _points(inference: Inference, place: Place) -> bool:
    entry, scope, slot = place
    if slot.kind == "binding":
        binding = entry.facts.bindings[slot.index]
        annotation = binding.annotation
        if annotation < 0 and binding.op == "assign" and binding.value >= 0 and entry.terms[binding.value][0] == CALL:
            return is_pointer(inference, entry, binding.scope, binding.line, binding.value)
    elif slot.kind == "parameter":
        annotation = entry.definitions[scope].parameters[slot.index].annotation
    else:
        return True
    found = entry.terms[annotation] if annotation >= 0 else None
    return found is None or (found[0] == INDEX and entry.terms[found[1]] == (NAME, "*"))
