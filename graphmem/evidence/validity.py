"""Find recorded edges and test runs that are still valid."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from graphmem.evidence.observations import OTHER_PROCESS, End
from graphmem.evidence.sidecar import Sidecar
from graphmem.model import EdgeKind, symbol_id


class Held(NamedTuple):
    """Tests whose last recorded run is still valid, and counts of valid edges.

    The tests are given by their ids.
    """

    judged: frozenset[str]  # ids of tests: the last run was complete, and neither they nor any code they ran has changed since
    met: frozenset[str]  # ids of tests that ran, at least in part, and have not changed since
    with_process: frozenset[str]  # ids of those of `met` that started another process, whose code was not recorded
    steps: dict[str, tuple[int, int]]  # rule -> (stored steps, valid ones among them)


def held(sidecar: Sidecar, project: str, body_hash: Callable[[str], str | None]) -> Held:
    """Find the observed edges and tests that are valid for the current graph.

    Outside tools, such as SCIP indexers and recorded test runs, observed the edges. An edge of a test run is valid if the body where it
    begins is unchanged and its other end exists. For an edge of a SCIP index, the bodies of both ends must be unchanged.

    Args:
        sidecar: the stored observations.
        project: name of the project, part of every id.
        body_hash: returns the current body hash of a symbol, given by id; None if the symbol does not exist.
    """
    ends = sidecar.ends()
    ids = {number: _id(project, end) for number, end in ends.items()}
    now = {number: body_hash(ids[number]) for number in ends}
    unchanged = {number for number, end in ends.items() if now[number] == end.body_hash}
    there = {number for number, found in now.items() if found is not None}
    judged: set[str] = set()
    met: set[str] = set()
    with_process: set[str] = set()
    steps: dict[str, tuple[int, int]] = {}
    for kind in (EdgeKind.CALLS, EdgeKind.REFERENCES, EdgeKind.INHERITS, EdgeKind.OVERRIDES, EdgeKind.TESTS):
        for kept in sidecar.of_kind(kind):
            seen = {number for number, _ in kept.seen}
            counted, holding = steps.get(kept.rule, (0, 0))
            lasting = unchanged if kept.rule == "scip" else there
            steps[kept.rule] = (counted + len(seen), holding + (len(seen & lasting) if kept.subject in unchanged else 0))
            if kind == EdgeKind.TESTS and kept.subject in unchanged:
                met.add(ids[kept.subject])
                if kept.runs == OTHER_PROCESS:
                    with_process.add(ids[kept.subject])
                elif kept.runs and seen <= unchanged:
                    judged.add(ids[kept.subject])
    return Held(frozenset(judged), frozenset(met), frozenset(with_process), dict(sorted(steps.items())))


def _id(project: str, end: End) -> str:
    return symbol_id(project, end.path, end.qualname, end.kind, end.ordinal)
