"""Statistics of an index run: stages, wall time, CPU time and memory.

The CPU time includes ended worker processes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from graphmem.answers import DiagnosticInfo, IndexSummary
from graphmem.indexing.run import Run
from graphmem.projection.graph.arrays import EDGE_KINDS, SYMBOL
from graphmem.runtime.arrow import pc
from graphmem.runtime.process.system import peak_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from graphmem.projection.graph.arrays import U8
    from graphmem.projection.graph.view import GraphView

MAX_DIAGNOSTICS = 200


def summarise(run: Run, view: GraphView, chunks: int) -> IndexSummary:
    """Return the summary of an index run, with counts from the new graph.

    `chunks` is the number of chunks in the index.
    """
    diagnostics = sorted([*run.look.diagnostics, *run.notes])
    counts, paths = view.counts, view.arrays.paths
    languages = pc.value_counts(paths.language.filter(pa.array(paths.node >= 0))).to_pylist()
    reasons = pc.value_counts(view.arrays.unresolved.reason).to_pylist()
    return IndexSummary(
        mode=run.mode,
        generation=view.generation,
        files=counts["files"],
        changed=0 if run.mode == "unchanged" else len(run.look.changed),
        removed=len(run.removed),
        skipped=dict(sorted(run.look.skipped.items())),
        languages=_ordered((row["values"], row["counts"]) for row in languages),
        symbols=counts["symbols"],
        chunks=chunks,
        edges_by_kind=_counted(EDGE_KINDS, view.edge_kind),
        edges_by_rule=_counted(view.rules, view.edge_rule),
        call_sites=int(paths.call_sites.sum()),
        unresolved=counts["unresolved"],
        unresolved_elsewhere=_elsewhere(view),
        unresolved_by_reason=_ordered((row["values"], row["counts"]) for row in reasons),
        diagnostics=[DiagnosticInfo(*row) for row in diagnostics[:MAX_DIAGNOSTICS]],
        diagnostic_count=len(diagnostics),
        seconds={name: round(value, 3) for name, value in run.meter.seconds.items()},
        cpu_seconds=round(run.meter.cpu_seconds(), 3),
        peak_memory_mb=round(peak_bytes() / (1 << 20), 1),
    )


def _elsewhere(view: GraphView) -> int:
    """Count the unresolved calls of names that the project does not define."""
    defined = view.arrays.nodes.name.filter(pa.array(view.label == SYMBOL))
    known = pc.is_in(view.arrays.unresolved.name, value_set=pc.unique(defined))
    return len(known) - int(pc.sum(known).as_py() or 0)


def _counted(names: Sequence[str], codes: U8) -> dict[str, int]:
    """Return how often each name occurs, most frequent first.

    `codes` has one number for each occurrence: the position of the name in `names`. Names that do not occur are left out.
    """
    counts = np.bincount(codes, minlength=len(names)).tolist()
    return _ordered((name, count) for name, count in zip(names, counts, strict=False) if count)


def _ordered(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    return dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))
