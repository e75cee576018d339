"""Find the declared type of a value that has too many alternatives."""

from __future__ import annotations

from typing import Final

from graphmem.parsing.facts import CALL, NAME, TermIndex
from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.interfaces.inference import Inference
from graphmem.resolution.values.declared_types import closed
from graphmem.resolution.values.types import EMPTY, FUNC, Type, join, ordered

MAX_RENAMES: Final = 3
"""Maximum number of assignments that are followed to a declaration."""


def written_type(inference: Inference, entry: FileEntry, scope: int, term: TermIndex, line: int, depth: int = 0) -> Type:
    """Return the type that the source declares for an expression at a line.

    The type is that of a parameter, of a variable, or of the result of a function. If nothing is declared, the result is empty. `depth` is
    the number of assignments such as `a = b` that were followed so far.
    """
    found, asked = EMPTY, entry.terms[term]
    if asked[0] == NAME:
        for other, around, slot in inference.lookup(entry, scope, asked[1], line) or ():
            if slot.kind == "parameter":
                definition = other.definitions[around]
                found = join(found, inference.declared(other, definition.parent, definition.parameters[slot.index].annotation))
            elif slot.kind == "binding":
                binding = other.facts.bindings[slot.index]
                if binding.annotation >= 0:
                    found = join(found, inference.declared(other, binding.scope, binding.annotation))
                elif binding.op == "assign" and binding.value >= 0 and depth < MAX_RENAMES:
                    found = join(found, written_type(inference, other, binding.scope, binding.value, binding.line, depth + 1))
    elif asked[0] == CALL:
        for atom in ordered(inference.expanded(inference.term(entry, scope, asked[1], line))):
            if atom[0] == FUNC:
                definition = inference.project.definition(atom[1])
                found = join(found, inference.declared(inference.project.entry(atom[1]), definition.parent, definition.returns))
    return closed(found)
