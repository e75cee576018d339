"""Merge edges that outside tools observed into the graph, file by file.

Such a tool is a SCIP indexer, a recorded test run or a coverage report. An observation lists edges that a tool saw. All of these edges
begin in one definition, the subject of the observation. Only valid edges are merged:

- An edge of a SCIP index is valid while the bodies of both ends are unchanged.
- An edge of a test run or a coverage report is valid while the subject's body is unchanged and the other end exists.
- If a test was edited, edges from the test to the code that a recorded run reached stay, because the test most likely still reaches it.
  These edges have the rule `runtime_before`.

The result depends only on the stored observations and the definitions of the tree. So a fresh index and any sequence of incremental runs
over the same tree and observations give the same edges.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphmem.evidence.inbox import Inbox
from graphmem.evidence.observations import NO_SITE, SOURCE_OF_RULE, End, Place
from graphmem.evidence.sidecar import Kept, Sidecar
from graphmem.model import ENTRY_RULES, Diagnostic, EdgeKind, EdgeRow, UnresolvedRow, symbol_id
from graphmem.resolution.rules import RULES

if TYPE_CHECKING:
    from graphmem.parsing.facts import Definition
    from graphmem.resolution.edges.rows import FileResolution
    from graphmem.resolution.resolver import Resolver

SIDECAR: Final = "evidence.sqlite"
_SAYS_MORE: Final = frozenset({"wrapped", *ENTRY_RULES})  # rules with more information than the existence of an edge
_PRECEDENCE: Final = {rule: place for place, rule in enumerate(SOURCE_OF_RULE)}


class Outside:
    """Adds the edges that outside tools observed to one project's code graph.

    Outside tools are SCIP indexers, recorded test runs and coverage. Not thread-safe.

    Args:
        folder: the index directory; it contains the sidecar (the SQLite file of observations) and the inbox (waiting files).
        project: name of the project, part of every id.
        root: root directory of the indexed tree.
    """

    def __init__(self, folder: Path, project: str, root: Path) -> None:
        self._sidecar = Sidecar(folder / SIDECAR)
        self._inbox = Inbox(folder)
        self._project = project
        self._root = root
        self._resolver: Resolver | None = None
        self._loaded = ""  # mark of the observations in the next three fields
        self._begun_in: set[str] = set()
        self._ends: dict[int, End] = {}
        self._ids: dict[int, str] = {}
        self._definitions: dict[str, dict[Place, Definition]] = {}

    def close(self) -> None:
        """Close the file of stored edges; the next query opens it again."""
        self._sidecar.close()

    @property
    def mark(self) -> str:
        """Return the version of the stored edges that outside tools reported.

        The caller saves the version in the graph. Call this method after `update`. The next run passes the saved version to `update` and
        `is_due`, which find the changes since then.
        """
        return self._sidecar.mark()

    def is_due(self, mark: str) -> bool:
        """Whether an index run is needed although no source file changed.

        A run is needed if files of outside tools wait, or if the stored observations have another version than `mark`. `mark` is the
        version of the observations in the graph.
        """
        return self._inbox.has_any() or self._sidecar.mark() != mark

    def update(
        self,
        resolver: Resolver,
        touched: Collection[str],
        mark: str,
        body_before: Callable[[str], str | None],
        with_evidence: Iterable[str],
    ) -> tuple[set[str], list[Diagnostic]]:
        """Read waiting files of outside tools; return the source files affected.

        Args:
            resolver: has the current tree.
            touched: files that were added, changed or deleted.
            mark: version of the observations in the graph; see `Outside.mark`.
            body_before: returns the body hash that a symbol, given by id, had before this run; None for a symbol that is new in the graph.
            with_evidence: files with outside edges in the graph; read only if the stored observations were lost.

        Returns:
            The source files whose edges must be merged again, and diagnostics about the files that were read.
        """
        self._resolver = resolver
        self._definitions = {}
        notes = self._inbox.take_in(self._sidecar, resolver, self._root)
        self._load()
        changed = self._sidecar.changed_since(mark)
        if changed is None:
            changed = self._begun_in | set(with_evidence if mark else ())
        flipped = {
            number
            for number, place in self._sidecar.ends_at(touched).items()
            if self._state(number, body_before(self._id(number))) != self._state(number, self._body(place))
        }
        if flipped:
            changed |= self._sidecar.subjects_of(flipped)
        return {path for path in changed if resolver.facts(path) is not None}, notes

    def merged(self, path: str, found: FileResolution) -> FileResolution:
        """Return a copy of a file's edges, with those that outside tools observed.

        An observed edge is added while the code that it begins and ends in is unchanged, as the module describes. `found` has the edges
        that parsing and resolution found, and a list of unresolved names. The copy of the list lacks the names that a SCIP index resolves.
        """
        if path not in self._begun_in:
            return found
        edges = {edge[:3]: edge for edge in found.edges}
        ranks: dict[tuple[str, str, str], int] = {}
        settled: set[tuple[str, str, int]] = set()
        for kept in self._sidecar.of_file(path):
            self._merge(kept, edges, ranks, settled)
        return found._replace(edges=sorted(edges.values()), unresolved=[row for row in found.unresolved if not _is_settled(row, settled)])

    def release_memory(self) -> None:
        """Release the parsed files from memory; call this after all merges."""
        self._resolver = None
        self._definitions = {}

    def done(self) -> None:
        """Delete the waiting files that were read.

        Call it after the graph is written, so that a failed run reads them again.
        """
        self._inbox.clear()

    def _load(self) -> None:
        """Load all definitions at the ends of stored edges.

        Loaded definitions are kept until the stored edges change.
        """
        mark = self._sidecar.mark()
        if mark != self._loaded:
            self._begun_in, self._ends, self._ids = self._sidecar.paths(), self._sidecar.ends(), {}
            self._loaded = mark

    def _state(self, number: int, body: str | None) -> tuple[bool, bool]:
        """Return whether a definition exists, and whether its body is unchanged.

        An unchanged body is the same as when an outside tool saw an edge of the definition.

        Args:
            number: number of the definition in the stored edges.
            body: hash of the definition's body, from the present or the previous index run; None if the definition did not exist then.
        """
        return body is not None, body == self._ends[number].body_hash

    def _body(self, place: Place) -> str | None:
        """Return the hash of the current body of the definition at `place`.

        The result is None if the definition does not exist.
        """
        found = self._definition(place)
        return found.body_hash if found is not None else None

    def _merge(
        self,
        observation: Kept,
        edges: dict[tuple[str, str, str], EdgeRow],
        ranks: dict[tuple[str, str, str], int],
        settled: set[tuple[str, str, int]],
    ) -> None:
        """Add the edges that a tool saw from one definition to the file's edges.

        Only valid edges are added. The last three arguments are changed in place.

        Args:
            observation: edges from one definition, as stored.
            edges: edges of the file, by (kind, source id, target id).
            ranks: for each edge, by the same key, the precedence of the best outside rule so far; the lowest number is best.
            settled: (source id, name, line) of each use that SCIP resolved.
        """
        subject = self._ends[observation.subject]
        definition = self._definition(subject.place)
        if definition is None:
            return
        rule = observation.rule
        if definition.body_hash != subject.body_hash:
            if rule != "runtime" or observation.kind != EdgeKind.TESTS:
                return
            rule = "runtime_before"  # an edited test most likely still reaches the same code
        src, rank = self._id(observation.subject), _PRECEDENCE[rule]
        sites: dict[int, set[int]] = {}
        for number, offset in observation.seen:
            sites.setdefault(number, set()).update(() if offset == NO_SITE else (min(definition.start_line + offset, definition.end_line),))
        for number, lines in sites.items():
            exists, is_same = self._state(number, self._body(self._ends[number].place))
            if not exists or (rule == "scip" and not is_same):
                continue
            key = (observation.kind, src, self._id(number))
            known = edges.get(key)
            if rule == "scip":
                name = self._ends[number].qualname.rpartition(".")[2]
                settled.update((src, name, line) for line in lines)
            if known is None and not lines and rule == "scip":
                lines.add(definition.name_line)  # the site of a relationship is the name of its first definition
            edges[key] = _raised(known, key, rule, lines, is_first=rank <= ranks.get(key, rank))
            ranks[key] = min(rank, ranks.get(key, rank))

    def _definition(self, place: Place) -> Definition | None:
        """Return the current definition at a place, or None if it is gone.

        A place is (path, qualified name, kind, ordinal).
        """
        known = self._definitions.get(place.path)
        if known is None:
            facts = self._resolver.facts(place.path) if self._resolver is not None else None
            rows = facts.definitions if facts is not None else ()
            known = {Place(place.path, one.qualname, one.kind, one.ordinal): one for one in rows}
            self._definitions[place.path] = known
        return known.get(place)

    def _id(self, number: int) -> str:
        found = self._ids.get(number)
        if found is None:
            end = self._ends[number]
            found = self._ids[number] = symbol_id(self._project, end.path, end.qualname, end.kind, end.ordinal)
        return found


def _raised(known: EdgeRow | None, key: tuple[str, str, str], rule: str, lines: set[int], *, is_first: bool) -> EdgeRow:
    """Return an edge with the confidence, and usually the rule, of a tool.

    The tool saw the edge. A rule in `_SAYS_MORE` is kept; any other rule is replaced by the tool's rule. Lines of a SCIP index are added to
    the edge's lines. Lines of a test run are used only if the edge has no lines.

    Args:
        known: the edge so far, or None.
        key: (kind, source id, target id) of the edge.
        rule: the tool's rule.
        lines: the lines that the tool reported.
        is_first: False if another tool takes precedence; then only the lines of `known` change.
    """
    before = {int(line) for line in known.lines.split(",") if line} if known is not None else set()
    every = before | lines if rule == "scip" or not before else before
    first = min(every, default=0)
    joined = ",".join(map(str, sorted(every)))
    if known is not None and not is_first:
        return known._replace(line=first, lines=joined)
    if known is not None and known.rule in _SAYS_MORE:
        return EdgeRow(*key, RULES[rule].confidence, SOURCE_OF_RULE[rule], known.rule, first, joined)
    return EdgeRow(*key, RULES[rule].confidence, SOURCE_OF_RULE[rule], rule, first, joined)


def _is_settled(row: UnresolvedRow, settled: set[tuple[str, str, int]]) -> bool:
    return (row.caller_id, row.name, row.line) in settled
