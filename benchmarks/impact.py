"""Latency of impact in process, beside the engine's query and a networkx walk over the same edges.

    python -m benchmarks impact INDEX [--targets 1000] [--seed 1]

INDEX is the directory of an index. All ways get the same random functions, methods and classes at depth 3 and 5. The operation returns
whole reports (paths, groups, risk). The engine and networkx return only the set with depths, for fewer targets, because they are slow. At
the end the symbol with the most dependents is asked for without a confidence floor and with everything listed.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import networkx as nx
import report

from graphmem.analysis.weights import IMPACT_KINDS, STAND_INS
from graphmem.errors import GraphMemError
from graphmem.project.graphmem import GraphMem
from graphmem.projection.graph.edges import kind_mask
from graphmem.settings import Settings


def timed(action: Callable[[str], Any], targets: Iterable[str]) -> list[float]:
    """Return the milliseconds of each call."""
    times = []
    for target in targets:
        begun = time.perf_counter()
        action(target)
        times.append((time.perf_counter() - begun) * 1000)
    return times


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("index", type=Path)
    options.add_argument("--targets", type=int, default=1000)
    options.add_argument("--seed", type=int, default=1)
    arguments = options.parse_args()
    with GraphMem.open(arguments.index, settings=Settings(embedder="none")) as memory:
        view, store = memory.parts.graph.view(), memory.parts.store
        _, total = memory.symbols("", kinds=["function", "method", "class"], limit=10_000)
        ids = [
            one.id for offset in range(0, total, 10_000) for one in memory.symbols("", ["function", "method", "class"], 10_000, offset)[0]
        ]
        chosen = random.Random(arguments.seed).sample(ids, min(arguments.targets, len(ids)))
        few = chosen[: max(30, len(chosen) // 20)]
        live = kind_mask(IMPACT_KINDS)[view.edge_kind]
        reverse = nx.DiGraph()
        reverse.add_nodes_from(range(view.n))
        reverse.add_edges_from(zip(view.dst[live].tolist(), view.src[live].tolist(), strict=True))
        memory.impact(chosen[0])
        (stand_in,) = STAND_INS
        rows, result = [], {}
        for depth in (3, 5):
            ways: dict[str, tuple[Callable[[str], Any], list[str]]] = {
                "impact, whole report": (lambda one, depth=depth: memory.impact(one, max_depth=depth), chosen),
                "networkx, depths only": (
                    lambda one, depth=depth: nx.single_source_shortest_path_length(reverse, view.index_of[one], cutoff=depth),
                    few,
                ),
                "the engine's query, depths only": (
                    lambda one, depth=depth: store.read(
                        "impact_reference", symbol_id=one, min_confidence=0.0, without_rule=stand_in, depth=depth
                    ),
                    few,
                ),
            }
            base = None
            for name, (action, targets) in ways.items():
                times = timed(action, targets)
                p50, p99 = report.percentile(times, 0.5), report.percentile(times, 0.99)
                base = base or p50
                rows.append([depth, name, len(targets), p50, p99, p50 / base])
                result[f"depth {depth}, {name}"] = {"targets": len(targets), "p50_ms": p50, "p99_ms": p99}
        report.table(["depth", "way", "targets", "p50 ms", "p99 ms", "ratio of p50"], rows)
        hub, size = _hub(memory, ids)
        times = timed(lambda one: memory.impact(one, max_depth=5, min_confidence=0.01, limit=5000), [hub] * 9)
        listed = memory.impact(hub, max_depth=5, min_confidence=0.01, limit=5000)
        median = report.percentile(times, 0.5)
        print(
            f"\n{listed.targets[0].ref}: {size:,} dependents, {len(listed.hits) + len(listed.tests):,} listed with paths in {median:.1f} ms"
        )
        result["hub"] = {
            "ref": listed.targets[0].ref,
            "dependents": size,
            "listed": len(listed.hits) + len(listed.tests),
            "median_ms": median,
        }
    report.publish("impact", result, arguments.out)
    return 0


def _hub(memory: GraphMem, ids: list[str]) -> tuple[str, int]:
    """Return a symbol with many dependents, and their number.

    It has at least 5,000 dependents at depth 5, or the most among the symbols with the most callers.
    """
    view = memory.parts.graph.view()
    by_callers = sorted(ids, key=lambda one: int(view.in_ptr[view.index_of[one]] - view.in_ptr[view.index_of[one] + 1]))
    best = (by_callers[0], 0)
    for one in by_callers[:50]:
        try:
            total = memory.impact(one, max_depth=5, min_confidence=0.01, limit=1).total
        except GraphMemError:
            continue
        if total > best[1]:
            best = (one, total)
        if total >= 5000:
            break
    return best


if __name__ == "__main__":
    raise SystemExit(main())
