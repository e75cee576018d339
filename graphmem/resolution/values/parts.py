"""Name the parts of a file on which other files can depend.

A part is a top-level definition with all that it contains. In some languages each method is a part.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphmem.parsing.facts import Definition
from graphmem.resolution.values.symbol import CLASS_KINDS, FUNCTION_KINDS


def part_names(definitions: Sequence[Definition], *, apart: bool) -> list[str]:
    """Return the name of the outermost definition around each definition.

    The result has one name for each definition, in the order of the file. A top-level definition has its own name, and a method has the
    name of its class. If `apart` is True, a method has its own qualified name instead. If other files depend on a definition, their
    dependency is recorded under its name in the result.
    """
    found: list[str | None] = [None] * len(definitions)
    for position in range(len(definitions)):
        inside: list[int] = []
        at = position
        while found[at] is None:
            definition = definitions[at]
            around = definition.parent
            if around <= 0:
                found[at] = definition.qualname.partition(".")[0]
            elif apart and definition.kind in FUNCTION_KINDS and _is_in_classes(definitions, around):
                found[at] = definition.qualname
            else:  # a method may be written before its type
                inside.append(at)
                at = around
        for one in inside:
            found[one] = found[at]
    return [name or "" for name in found]


def _is_in_classes(definitions: Sequence[Definition], scope: int) -> bool:
    while scope > 0:
        if definitions[scope].kind not in CLASS_KINDS:
            return False
        scope = definitions[scope].parent
    return True
