"""What an outside tool saw, in the words of the graph but without its ids: the seam between readers, sidecar and merge.

An end is a definition *as it was then*: its place and the hash of its body. Whether an observation still holds is
decided by comparing that hash with today's, so no reader has to know what changed since.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from graphmem.model import EdgeSource

SOURCE_OF_RULE: Final[dict[str, str]] = {
    "runtime": EdgeSource.RUNTIME,
    "runtime_before": EdgeSource.RUNTIME,
    "coverage": EdgeSource.RUNTIME,
    "scip": EdgeSource.SCIP,
}
"""Rules of `resolution.rules` whose edges come from outside, with the `source` of these edges.

Order is precedence: of several that name one edge, the first is its rule.
"""

NO_SITE: Final = -1


class End(NamedTuple):
    """A definition as it was when something was seen of it."""

    path: str
    qualname: str
    kind: str
    ordinal: int
    body_hash: str

    @property
    def place(self) -> Place:
        """What stays the same while the body is edited."""
        return Place(self.path, self.qualname, self.kind, self.ordinal)


class Place(NamedTuple):
    """Which definition, whatever its body: what `symbol_id` is made of."""

    path: str
    qualname: str
    kind: str
    ordinal: int


class Seen(NamedTuple):
    """One step of an observation: what the subject led to, and where."""

    end: End
    offset: int  # line of the site, counted from the first line of the subject; NO_SITE when it is not known


class Observation(NamedTuple):
    """Everything one tool saw one definition do, for one kind of edge."""

    rule: str  # key of SOURCE_OF_RULE
    kind: str  # EdgeKind
    subject: End
    seen: tuple[Seen, ...]
    runs: int = 0  # of a test: how many of its parameter sets ran, and all of them passed; 0: what was seen may be part of it


class Reading(NamedTuple):
    """What a reader made of one outside file."""

    observations: Sequence[Observation]
    scope: frozenset[str] | None  # files whose former observations of this rule are replaced; None: subject by subject
    origin: Mapping[str, str]  # what to tell a person: tool, version, counts
    notes: Sequence[tuple[str, str]]  # (path or "", sentence): what was left out, and why
