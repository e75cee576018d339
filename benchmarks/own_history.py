"""Gain by weights that `graphmem eval` proposes, on commits that it has not seen.

    python -m benchmarks own_history WORK --mirrors DIR [--only NAMES] [--vectors] [--seconds N]

DIR has `<owner>+<name>/repo` bare git directories; WORK keeps clones and indexes. The newest usable commits of each repository are taken,
and the newest third of them is held back. The evaluation sees the rest and proposes weights, or nothing. The messages of the held commits
are then searched with the built-in and with the proposed weights.

The score is the mean of two values, in points: 1 / rank of the first right file, and the share of right files among the first five. A
repository without a proposal keeps its weights and counts 0. The table has the gain and its 95 % bootstrap interval.
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
import report

from graphmem.project.graphmem import GraphMem
from graphmem.project.searches.evaluating import cases_of, churns
from graphmem.search import evaluate
from graphmem.search.request import Tuning
from graphmem.settings import Settings

REPOSITORIES: Final = (
    *("python-attrs+attrs", "encode+httpx", "marshmallow-code+marshmallow", "spf13+cobra", "gin-gonic+gin"),
    *("Seldaek+monolog", "jhy+jsoup", "expressjs+express", "ruby+rake", "urfave+cli"),
)
COMMITS: Final = 300


def measured(work: Path, mirrors: Path, folder: str, *, vectors: bool, seconds: float) -> dict[str, Any]:
    """Propose weights on older commits of a repository; test them on newer."""
    root = work / folder
    if not root.exists():
        subprocess.run(["git", "clone", "-q", str(mirrors / folder / "repo"), str(root)], check=True)
    settings = Settings(embedder="auto" if vectors else "none", git_lessons=False, workers=1)
    with GraphMem.open(root / ".graphmem", settings=settings) as memory:
        memory.index(root)
        if vectors:
            memory.fill_vectors(background=False)
        shot = memory.parts.projections.snapshot()
        embedder = memory.parts.vectors.query_embedder(shot.vectors.model_id if shot.vectors is not None else "")
        found = cases_of(root, shot.graph, COMMITS)
        past = churns(memory.parts.history.known(), [at for at, _ in found])
        cases = [case._replace(churn=known) for (_, case), known in zip(found, past, strict=True)]
        began = time.process_time()
        ready = evaluate.prepared(shot, embedder, cases, memory.state(), time.monotonic() + seconds)
        held, seen = ready[: len(ready) // 3], ready[len(ready) // 3 :]
        factors = evaluate.proposed(shot, seen, time.monotonic() + seconds)
        cpu = time.process_time() - began
        before, after = (
            np.array([one.score for one in evaluate.scores(shot, held, evaluate.with_factors(Tuning(), way))]) for way in ({}, factors)
        )
        draws = np.random.default_rng(1).choice(after - before, (2000, len(held))).mean(axis=1) * 100
        return {
            "commits seen": len(seen),
            "held": len(held),
            "built-in": round(float(before.mean()) * 100, 1),
            "proposed": round(float(after.mean()) * 100, 1),
            "gain": round(float((after - before).mean()) * 100, 1),
            "interval": [round(float(np.percentile(draws, at)), 1) for at in (2.5, 97.5)],
            "factors": factors,
            "cpu s": round(cpu, 1),
        }


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("work", type=Path)
    options.add_argument("--mirrors", type=Path, required=True)
    options.add_argument("--only", default="", help="names of folders in DIR, with commas between")
    options.add_argument("--vectors", action="store_true", help="make vectors first; without it, words are measured")
    options.add_argument("--seconds", type=float, default=240.0, help="limit of the candidates, and of the choice of weights")
    arguments = options.parse_args()
    names = arguments.only.split(",") if arguments.only else REPOSITORIES
    published = {}
    for name in names:
        published[name] = one = measured(arguments.work, arguments.mirrors, name, vectors=arguments.vectors, seconds=arguments.seconds)
        print(name, one, flush=True)
    columns = ("commits seen", "held", "built-in", "proposed", "gain", "interval", "factors", "cpu s")
    report.table(["repository", *columns], [[name, *(str(one[column]) for column in columns)] for name, one in published.items()])
    gains = [one["gain"] for one in published.values()]
    print(f"{sum(gain >= 2 for gain in gains)} of {len(gains)} gain 2 points or more; the least is {min(gains):+.1f}")
    report.publish("own_history", {"vectors": arguments.vectors, "repositories": published}, arguments.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
