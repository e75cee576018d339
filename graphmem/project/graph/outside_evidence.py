"""Facts about the code from other tools: indexers, tests, coverage.

These facts are called outside evidence. The module stores them for the next index run, and reports on them.
"""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NotRequired, TypedDict

from graphmem.analysis.completeness import NO_RUNS, Runs
from graphmem.evidence import coverage, inbox, indexers, reports, scip, trace
from graphmem.evidence.merge import SIDECAR
from graphmem.evidence.report_formats import ENDINGS
from graphmem.evidence.sidecar import Sidecar
from graphmem.evidence.validity import Held, held
from graphmem.model import EdgeKind, EdgeSource, symbol_id

if TYPE_CHECKING:
    from graphmem.projection.graph.view import GraphView

AUTO: Final = "auto"
CALLS: Final = (EdgeKind.CALLS,)
MAX_DISAGREEMENTS: Final = 20  # disagreements that are listed; all are counted


class EvidenceReport(TypedDict):
    """Counts of edges that come from outside tools, for `graphmem doctor`.

    Outside tools are indexers, recorded test runs and coverage reports.
    """

    edges_by_source: dict[str, int]
    kept: dict[str, dict[str, Any]]  # for each way to find edges: its tools, and numbers of stored and still valid facts
    indexers: list[dict[str, object]]  # tools that could read the project
    judged_tests: NotRequired[int]
    disagreements: list[dict[str, object]]  # the first ones
    disagreement_count: int  # of all


class OutsideEvidence:
    """Facts that outside tools supplied about an index's code. Thread-safe.

    Args:
        data_dir: data directory of the index.
    """

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / SIDECAR
        self._lock = threading.Lock()
        self._held: tuple[tuple[int, str, str], Held] | None = None

    def runs(self, view: GraphView, project: str) -> Runs:
        """Return the results of recorded test runs that are still valid.

        A result is valid while the code that ran is unchanged.
        """
        if not self._path.exists():
            return NO_RUNS
        found = self._what_holds(view, project)
        return Runs(found.judged, found.met, found.with_process)

    def report(self, view: GraphView, project: str, root: str) -> EvidenceReport:
        """Report which edges come from outside tools, and where tools disagree.

        The report counts the edges by source. For each rule (a way to find edges), the report counts the stored facts and the facts that
        are still valid. The report names the tools.

        Args:
            view: the graph.
            project: name of the project, which is part of every id.
            root: root of the project; "" if it is unknown. Then the report omits the indexers that could read the project.
        """
        sources: dict[str, int] = {}
        for source in EdgeSource:
            count = int((view.edge_source == list(EdgeSource).index(source)).sum())
            if count:
                sources[str(source)] = count
        if not self._path.exists():
            could = _indexers(view, root, ())
            return {"edges_by_source": sources, "kept": {}, "indexers": could, "disagreements": [], "disagreement_count": 0}
        found = self._what_holds(view, project)
        with closing(Sidecar(self._path)) as sidecar:
            origins = sidecar.origins()
            different = _disagreements(sidecar, view, project)
        kept = {rule: {"steps": all_, "holding": now, **_origin(origins.get(rule, {}))} for rule, (all_, now) in found.steps.items()}
        taken = [one["tool"] for one in kept.get("scip", {}).get("indexes", ())]
        return {
            "edges_by_source": sources,
            "kept": kept,
            "indexers": _indexers(view, root, taken),
            "judged_tests": len(found.judged),
            "disagreements": different[:MAX_DISAGREEMENTS],
            "disagreement_count": len(different),
        }

    def _what_holds(self, view: GraphView, project: str) -> Held:
        with self._lock, closing(Sidecar(self._path)) as sidecar:
            key = (view.generation, sidecar.mark(), project)
            if self._held is None or self._held[0] != key:
                hashes = view.arrays.nodes.body_hash.to_pylist()
                self._held = (
                    key,
                    held(sidecar, project, lambda id_: hashes[view.index_of[id_]] if id_ in view.index_of else None),
                )
            return self._held[1]


def _origin(rows: Mapping[str, str]) -> dict[str, Any]:
    """Return which tools supplied the facts behind edges of one kind.

    `rows` are the stored key-value pairs about the tools. If the tools are indexers (programs that resolve names), the result lists each
    indexer with its version and number of files. Otherwise, the result is a copy of `rows`.
    """
    tools = {key.removeprefix(scip.TOOL): json.loads(value) for key, value in rows.items() if key.startswith(scip.TOOL)}
    if not tools:
        return dict(rows)
    by = ", ".join(f"{name} {told['version']}".strip() for name, told in tools.items())
    return {"by": by, "indexes": [{"tool": name, **told} for name, told in tools.items()]}


def _indexers(view: GraphView, root: str, taken: Collection[str]) -> list[dict[str, object]]:
    """Return the indexers that fit the project's files, but were not used.

    An indexer is an outside tool that resolves names. `taken` has the program names of the indexers that were used.
    """
    if not root:
        return []
    return [
        {
            "program": one.indexer.program,
            "files": one.files,
            "installed": bool(one.found),
            "install": one.indexer.how_to_install,
            "needs": list(one.missing),
        }
        for one in indexers.fitting(Path(root), view.paths)
        if one.indexer.program not in taken
    ]


def _disagreements(sidecar: Sidecar, view: GraphView, project: str) -> list[dict[str, object]]:
    """Return calls that an indexer and graphmem resolve to different symbols.

    Each item names the call, both symbols, and the rule by which graphmem found its symbol. Items are ordered by path and line. Calls in
    code that has changed since the indexer ran are left out.
    """
    ends = sidecar.ends()

    def node_of(number: int) -> int | None:
        end = ends[number]
        return view.index_of.get(symbol_id(project, end.path, end.qualname, end.kind, end.ordinal))

    found = []
    for kept in sidecar.of_rule("scip"):
        subject = node_of(kept.subject)
        if kept.kind != EdgeKind.CALLS or subject is None or view.body_hash(subject) != ends[kept.subject].body_hash:
            continue
        said: dict[tuple[int, str], list[int]] = {}
        for number, offset in kept.seen:
            meant = node_of(number)
            if meant is not None and view.body_hash(meant) == ends[number].body_hash:
                said.setdefault((int(view.start_line[subject]) + offset, view.name(meant)), []).append(meant)
        for edge in view.out_edges(subject, CALLS).tolist():
            other = int(view.dst[edge])
            if view.rule_of(edge) == "override":
                continue  # an override is an additional target, not a different one
            for line in view.lines_of(edge):
                named = said.get((line, view.name(other)))
                if named and other not in named and not any(_are_twins(view, other, one) for one in named):
                    found.append(
                        {
                            "path": view.path(subject),
                            "line": line,
                            "name": view.name(other),
                            "indexer": view.info(named[0]).ref,
                            "graphmem": view.info(other).ref,
                            "rule": view.rule_of(edge),
                        }
                    )
    return sorted(found, key=lambda one: (one["path"], one["line"], one["graphmem"]))


def _are_twins(view: GraphView, one: int, other: int) -> bool:
    """Whether two nodes have the same path and qualified name.

    Such nodes are overloads, or parts of one definition, for which an indexer has a single symbol.
    """
    return view.path(one) == view.path(other) and view.qualname(one) == view.qualname(other)


def leave(
    data_dir: Path, root: Path | None, scip_files: Sequence[str] = (), runtime: Sequence[Path] = (), measured: Sequence[Path] = ()
) -> list[str]:
    """Check files of outside tools, and store them for the next index run.

    The next index run may be in another process.

    Args:
        data_dir: data directory of the index.
        root: root of the project, in which indexers run.
        scip_files: SCIP indexes; `auto` means the indexes that installed indexers make now.
        runtime: traces of `pytest --graphmem`.
        measured: coverage.py's data files with contexts, coverage reports of single tests, or directories of such reports.

    Returns:
        One sentence for each indexer that was not run or failed, with the action to take.

    Raises:
        EvidenceError: a file is invalid, or no indexer made an index; nothing of that file is stored.
    """
    notes: list[str] = []
    for name in scip_files:
        if name != AUTO:
            inbox.put(Path(name), scip.SUFFIX, data_dir)
            continue
        with tempfile.TemporaryDirectory(prefix="graphmem-scip-") as folder:
            ran = indexers.run_installed(root or Path.cwd(), Path(folder))
            notes += ran.notes
            for made in ran.indexes:
                inbox.put(made, scip.SUFFIX, data_dir)
    for path in runtime:
        inbox.put(path, trace.SUFFIX, data_dir)
    for path in measured:
        if path.is_dir() or (path.is_file() and path.suffix in ENDINGS):
            with tempfile.TemporaryDirectory(prefix="graphmem-coverage-") as folder:
                packed = Path(folder) / path.resolve().name
                packed.write_bytes(reports.pack(path))
                inbox.put(packed, reports.SUFFIX, data_dir)
        else:
            inbox.put(path, coverage.SUFFIX, data_dir)
    return notes
