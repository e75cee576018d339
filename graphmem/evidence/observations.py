"""Types for edges of the code graph that outside tools observed.

Outside tools are, for example, SCIP indexers and recorded test runs. Several modules read, store and merge such observations. The types use
these terms:

- place: path, name, kind and ordinal of a definition at the time of the observation. An end of an edge is stored as a place, with the hash
  of the definition's body. The module `merge` compares the hash with the current body, to find out whether the edge is still valid.
- subject: the definition where the edges of an observation begin.
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
"""Rules of `resolution.rules` for edges of outside tools -> `source` of these edges.

The order is the precedence: an edge with several rules has the first.
"""

NO_SITE: Final = -1
OTHER_PROCESS: Final = -1
"""The value of `Observation.runs` for a test that started another process, because the code of that process is not recorded."""


class End(NamedTuple):
    """A definition at one end of an edge that an outside tool saw.

    `body_hash` is the hash of its body at the time when the tool saw the edge. `ordinal` distinguishes definitions of the same name.
    """

    path: str
    qualname: str
    kind: str
    ordinal: int
    body_hash: str

    @property
    def place(self) -> Place:
        """Identity of the definition: path, qualified name, kind and ordinal.

        The hash of the body is left out.
        """
        return Place(self.path, self.qualname, self.kind, self.ordinal)


class Place(NamedTuple):
    """Identity of a definition, whether or not its body has changed.

    It consists of the path, the qualified name, the kind, and the ordinal among definitions with the same name. `symbol_id` makes the
    symbol's id in the graph from these fields.
    """

    path: str
    qualname: str
    kind: str
    ordinal: int


class Seen(NamedTuple):
    """One definition that a tool saw in use, and the line of the use.

    The line is counted from the first line of the code that uses the definition.
    """

    end: End
    offset: int  # line of the site, counted from the first line of the subject; NO_SITE if unknown


class Observation(NamedTuple):
    """All edges of one kind from one definition, as an outside tool saw them.

    The definition where the edges begin is the `subject`; `seen` has the other ends.
    """

    rule: str  # key of SOURCE_OF_RULE
    kind: str  # EdgeKind
    subject: End
    seen: tuple[Seen, ...]
    runs: int = 0  # of a test: number of its parameter sets that ran, if all passed; 0: the steps may be incomplete; or OTHER_PROCESS


class Reading(NamedTuple):
    """The edges found in one file that an outside tool wrote."""

    observations: Sequence[Observation]
    scope: frozenset[str] | None  # files whose former observations of this rule are replaced; None: by subject
    origin: Mapping[str, str]  # for people: tool, version, counts
    notes: Sequence[tuple[str, str]]  # (path or "", message): skipped contents with the reason
