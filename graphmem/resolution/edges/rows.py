"""Collect the edge rows of a file, one per pair of symbols and edge kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.model import WRITTEN_KINDS, EdgeRow, EdgeSource, ExternalRow, HandlesRow, UnresolvedRow, external_id, stable_id
from graphmem.resolution.rules import RULES
from graphmem.runtime.texts.places import Written, packed

if TYPE_CHECKING:
    from graphmem.parsing.facts import Spot
    from graphmem.resolution.values.symbol import Symbol

_new_tuple: Final = tuple.__new__  # twice as fast as calling the class; every project creates hundreds of thousands


class FileResolution(NamedTuple):
    """The results of resolving one file, such as edges, as sorted rows."""

    edges: list[EdgeRow]
    externals: list[ExternalRow]
    unresolved: list[UnresolvedRow]
    call_sites: int
    handles: Sequence[HandlesRow] = ()  # distinct, ascending
    fault: str = ""  # the unexpected error that left only edges to the file's own definitions
    places: bytes = b""  # what the names in the file mean; see `graphmem.runtime.texts.places`


class Evidence:
    """Collects the results of resolving one file, such as its edges."""

    def __init__(self, project: str, path: str) -> None:
        self.project = project
        self.path = path
        self.call_sites = 0
        self._edges: dict[tuple[str, str, str], tuple[float, str, set[int], int]] = {}
        self._externals: dict[tuple[str, str], ExternalRow] = {}  # by package and name
        self._unresolved: dict[str, UnresolvedRow] = {}
        self._handles: set[HandlesRow] = set()
        self._written: dict[tuple[Spot, str, str], int] = {}  # percent by place, kind and target
        self.spot: Spot | None = None  # position of the name that is being resolved, for `written`

    def edge(self, kind: str, src: str, dst: str, rule: str, line: int, confidence: float = 0.0) -> None:
        """Add an edge between two symbols, or add a line to an existing edge.

        A rule is the reason for an edge, such as `import`. If several rules find the edge, the rule with the highest confidence is kept,
        with its first line. A confidence of 0 means the default of the rule.
        """
        confidence = confidence or RULES[rule].confidence
        if self.spot is not None:
            self.written(self.spot, kind, dst, confidence)
        key = (kind, src, dst)
        known = self._edges.get(key)
        if known is None:
            self._edges[key] = (confidence, rule, {line}, line)
            return
        best, reason, lines, first = known
        lines.add(line)
        if (confidence, rule) > (best, reason) or (line < first and (confidence, rule) == (best, reason)):
            self._edges[key] = (confidence, rule, lines, line)

    def written(self, spot: Spot, kind: str, dst: str, confidence: float) -> None:
        """Record that the name at a position of the file refers to a graph node.

        `spot` is (line, column, length), `kind` the kind of edge, and `dst` the id of the node. The highest confidence is kept.
        """
        key = (spot, kind, dst)
        percent = max(1, round(confidence * 100))
        if percent > self._written.get(key, 0):
            self._written[key] = percent

    def outside(self, package: str, name: str) -> str:
        """Return the id of a symbol in an external package.

        The first use of the symbol adds a row for the symbol to the results of the file.
        """
        found = self._externals.get((package, name))
        if found is None:
            found = self._externals[package, name] = ExternalRow(external_id(self.project, package, name), package, name)
        return found.id

    def handles(self, kind: str, name: str, framework: str, symbol: Symbol, rule: str, line: int) -> None:
        """Record that a framework knows a function by a key, such as a route.

        `kind` is the kind of key, such as `route`. `name` is the key, `symbol` is the function, and `rule` tells how the key was found.
        """
        line = line if symbol.path == self.path else 0
        self._handles.add(HandlesRow(kind, name, framework, symbol.id, RULES[rule].confidence, rule, line))

    def add_unresolved(self, caller: str, name: str, line: int, column: int, reason: str) -> None:
        """Record that a call in the definition `caller` is unresolved.

        `name` is the called name, at `line` and `column`. `reason` says why no target was found.
        """
        id_ = stable_id("unresolved", self.project, self.path, caller, name, str(line), str(column))
        self._unresolved[id_] = UnresolvedRow(id_, self.path, caller, name, line, reason)

    def rows(self) -> FileResolution:
        """Return the results of resolving the file: edges, externals and others.

        The other results are the unresolved uses, the counts of calls, the framework keys with their handlers, and the places of names. All
        rows are sorted.
        """
        edges = []
        for (kind, src, dst), (confidence, rule, lines, first) in sorted(self._edges.items()):
            every = "" if not first else str(first) if len(lines) == 1 else ",".join(map(str, sorted(lines)))
            edges.append(_new_tuple(EdgeRow, (kind, src, dst, confidence, EdgeSource.AST, rule, first, every)))
        return FileResolution(
            edges=edges,
            externals=sorted(self._externals.values()),
            unresolved=[self._unresolved[key] for key in sorted(self._unresolved)],
            call_sites=self.call_sites,
            handles=sorted(self._handles),
            places=packed((Written(*spot, kind, percent, dst) for (spot, kind, dst), percent in self._written.items()), WRITTEN_KINDS),
        )
