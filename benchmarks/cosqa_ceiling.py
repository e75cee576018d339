"""Upper bound of fusion weights for the MRR of CoSQA's development split.

    python -m benchmarks cosqa_ceiling WORK --mirrors DIR

WORK and DIR are those of `questions`. The candidates of a question are those of search. The score of each retrieval way is divided by its
best score for the question. Coordinate ascent fits one weight for each way to the mean reciprocal rank of one half of the questions.

The table has the MRR of the fitted half and of the other half, beside the cosine alone and the weights in use. The fitted half is an upper
bound of such weights: a better figure needs another model or another retrieval way.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import report
from questions import CODE, DEPTH, Case, Kept, cosqa, indexed

from graphmem.embedding.choose import choose
from graphmem.search.pipeline import Aids, Request, Tuning, candidates_of, search

STEPS: Final = (0.2, 0.1, 0.05)


def signals(scores: Iterable[float], paths: Sequence[str], files: dict[str, int]) -> Any:
    """Return the best score of each file, divided by the highest of all.

    A file without a score has 0.
    """
    row = np.zeros(len(files))
    for path, score in zip(paths, scores, strict=True):
        row[files[path]] = max(row[files[path]], score)
    return row / (row.max() or 1.0)


def mean_reciprocal_rank(total: Any, right: Any) -> float:
    """Return the MRR in points; `total` has shape (questions, files).

    Files with the same score count as before the right file.
    """
    own = total[np.arange(len(right)), right]
    rank = (total >= own[:, None]).sum(1)
    return float(np.where((rank <= DEPTH) & (own > 0), 1 / rank, 0).mean()) * 100


def fitted(parts: Any, right: Any, start: Sequence[float]) -> list[float]:
    """Return weights that no single step improves.

    `parts` has shape (ways, questions, files).
    """

    def value(weights: Sequence[float]) -> float:
        return mean_reciprocal_rank(np.tensordot(weights, parts, 1), right)

    best, reached = list(start), value(start)
    for step in STEPS:
        improved = True
        while improved:
            improved = False
            for at in range(len(best)):
                for change in (step, -step):
                    tried = [*best[:at], best[at] + change, *best[at + 1 :]]
                    if tried[at] >= 0 and (new := value(tried)) > reached + 1e-9:
                        best, reached, improved = tried, new, True
    return best


def rank_of(case: Case, found: Sequence[str]) -> float:
    """Return the reciprocal rank of the right file, 0 beyond DEPTH."""
    return next((1 / place for place, path in enumerate(dict.fromkeys(found), 1) if path in case.files and place <= DEPTH), 0.0)


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("work", type=Path)
    options.add_argument("--mirrors", type=Path, required=True)
    given = options.parse_args()
    cases = list(cosqa(given.mirrors, given.work))
    model = choose(folder=None)
    if model.embedder is None:
        options.error(model.reason)
    embedder = Kept(model.embedder, given.work / "queries")
    memory, shot = indexed(given.work, "cosqa", embedder)
    files = {path: at for at, path in enumerate(sorted(shot.graph.paths))}
    rows: list[dict[str, Any]] = []
    used: list[float] = []
    try:
        state = memory.state()
        for case in cases:
            asked = Request(case.query, k=DEPTH, kinds=CODE, explain=False, deadline_s=60)
            used.append(rank_of(case, [hit.path for hit in search(shot, embedder, asked, state).hits]))
            _, found = candidates_of(shot, embedder, asked, state, Tuning(), Aids())
            rows.append(
                {one.name: signals(one.scores.values(), [found.units.path(unit) for unit in one.scores], files) for one in found.lists}
            )
    finally:
        memory.close()
    ways = sorted({name for row in rows for name in row if row[name].any()}, key=lambda name: (name != "dense", name))
    empty = np.zeros(len(files))
    parts = np.array([[row.get(name, empty) for row in rows] for name in ways])
    right = np.array([files[next(iter(case.files))] for case in cases])
    order = list(range(len(cases)))
    random.Random(22).shuffle(order)
    halves = order[::2], order[1::2]
    printed: list[list[str]] = []
    values: dict[str, dict[str, Any]] = {}
    cosine = [1.0] + [0.0] * (len(ways) - 1)
    for name, (own, other) in {"first half": halves, "second half": halves[::-1]}.items():
        weights = fitted(parts[:, own], right[own], cosine)
        result = {
            "fitted": mean_reciprocal_rank(np.tensordot(weights, parts[:, own], 1), right[own]),
            "on the other half": mean_reciprocal_rank(np.tensordot(weights, parts[:, other], 1), right[other]),
            "cosine, other half": mean_reciprocal_rank(parts[0, other], right[other]),
            "in use, other half": float(np.mean([used[at] for at in other])) * 100,
        }
        values[name] = {key: round(value, 1) for key, value in result.items()}
        values[name] |= {"weights": dict(zip(ways, np.round(weights, 2).tolist(), strict=True))}
        printed.append([name, *(f"{value:.1f}" for value in result.values())])
    report.table(["weights fitted to", *list(result)], printed)
    report.publish("cosqa_ceiling", {"questions": len(cases), "pool": len(files), "halves": values}, given.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
