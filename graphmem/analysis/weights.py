"""How a change travels along an edge: one table for impact, paths and the neighbourhood of a symbol.

An edge always points from the one who depends to the one depended on (a caller to its callee, a
subclass to its base, an importer to what it imports), so dependents are found against the arrows.
The weight says how likely a change at the head is felt at the tail, given that the edge is true; it
multiplies the edge's own confidence.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from graphmem.model import EdgeKind


class Travel(NamedTuple):
    """One row of the table."""

    weight: float  # (0, 1]
    sentence: str  # what a reader is told about this kind of step


TRAVEL: Final[dict[str, Travel]] = {
    EdgeKind.CALLS: Travel(1.0, "a caller breaks with its callee"),
    EdgeKind.INHERITS: Travel(1.0, "a subclass breaks with its base"),
    EdgeKind.IMPORTS: Travel(0.95, "an importer breaks with a name that goes"),
    EdgeKind.TESTS: Travel(1.0, "a test is affected, not broken"),
    EdgeKind.OVERRIDES: Travel(0.9, "an override must keep the shape of what it overrides"),
    EdgeKind.REFERENCES: Travel(0.9, "whoever passes or reads it hands the change on"),
    EdgeKind.USES_TYPE: Travel(0.7, "a signature that names the type may have to follow"),
}

# Kinds a change of the body alone travels along: the shape others rely on stays the same.
BODY_KINDS: Final = (EdgeKind.CALLS, EdgeKind.REFERENCES, EdgeKind.TESTS)

# Kinds a walk may use at all; DEFINES and CHUNK_OF say where something stands, not who depends on it.
IMPACT_KINDS: Final = tuple(TRAVEL)

STAND_INS: Final = frozenset({"wrapped"})
"""Rules of edges from what stands in the place of a function to that function.

One wrapper stands in the place of many functions, so a path of dependencies may begin with such an edge, and never goes
through one: who calls the wrapper means one of its functions, and has an edge to that one.
"""
