"""Find the function whose body contains each line of a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphmem.evidence.observations import End
from graphmem.model import FUNCTION_KINDS

if TYPE_CHECKING:
    from graphmem.parsing.facts import Definition


def owners_of_lines(path: str, lines: int, definitions: Sequence[Definition]) -> list[End | None]:
    """Return, for each line of a file, the innermost function around the line.

    Item n of the list is for line n; item 0 is unused. An item is None if the line is outside of functions. The body of a function is all
    lines after the line with its name. The line with the name, and decorators, belong to the enclosing scope, because they run when the
    function is defined. If a whole function is on one line, the line belongs to the function.
    """
    owners: list[End | None] = [None] * (lines + 2)
    ends: list[End | None] = []
    for one in definitions:
        outer = ends[one.parent] if one.parent >= 0 else None
        if one.kind not in FUNCTION_KINDS:
            ends.append(outer)
            continue
        end = End(path, one.qualname, one.kind, one.ordinal, one.body_hash)
        ends.append(end)
        first = one.name_line if one.end_line == one.name_line else one.name_line + 1
        owners[one.start_line : first] = [outer] * (first - one.start_line)
        owners[first : one.end_line + 1] = [end] * (one.end_line + 1 - first)
    return owners
