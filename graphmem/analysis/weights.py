"""Table of the chance that a change passes along each kind of edge.

Impact, paths and the neighbourhood of a symbol use this one table. An edge always points from the dependent to its dependency: a caller to
its callee, a subclass to its base, an importer to the imported name. So dependents are found against the direction of edges. The weight is
the chance that a change of the dependency affects the dependent, given that the edge is true. It is multiplied by the confidence of the
edge.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from graphmem.model import EdgeKind


class Travel(NamedTuple):
    """Weight of a kind of edge, and a sentence that explains the edge.

    The weight is the chance that a change passes along the edge.
    """

    weight: float  # (0, 1]
    sentence: str  # explanation of this kind of step for readers


TRAVEL: Final[dict[str, Travel]] = {
    EdgeKind.CALLS: Travel(1.0, "a caller breaks with its callee"),
    EdgeKind.INHERITS: Travel(1.0, "a subclass breaks with its base"),
    EdgeKind.IMPORTS: Travel(0.95, "an importer breaks if the imported name is removed"),
    EdgeKind.TESTS: Travel(1.0, "a test is affected, not broken"),
    EdgeKind.OVERRIDES: Travel(0.9, "an override must keep the shape of what it overrides"),
    EdgeKind.REFERENCES: Travel(0.9, "code that reads or passes on a value is affected by its change"),
    EdgeKind.USES_TYPE: Travel(0.7, "a signature that names the type may have to change too"),
}

# Kinds along which a changed body travels; the interface stays the same.
BODY_KINDS: Final = (EdgeKind.CALLS, EdgeKind.REFERENCES, EdgeKind.TESTS)

# Kinds that a walk may use. DEFINES and CHUNK_OF express place, not dependency.
IMPACT_KINDS: Final = tuple(TRAVEL)
WEIGHTS: Final = {kind: travel.weight for kind, travel in TRAVEL.items()}

STAND_INS: Final = frozenset({"wrapped"})
"""Rules of edges from a wrapper to the wrapped function.

One wrapper replaces many functions. A path of dependencies may therefore begin with such an edge, but never pass through one: a
caller of the wrapper means one of its functions, and has an edge to that one.
"""
