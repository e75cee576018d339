"""How much processor time does one search take, and what do divided chunks that are kept save?

    python -m benchmarks search_cpu INDEX [--rounds 3]

INDEX is the directory of an index. The questions of `benchmarks/question_set` are asked in process without a model, at most 10 hits each.
Both ways alternate: "kept" is the public API; "divided again" empties the chunks that the graph keeps before each search. Trees of more
chunks than are kept gain nothing from questions that all differ.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import report

from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

WAYS = ("divided again", "kept")


def questions() -> list[str]:
    """Return the questions about all repositories."""
    files = sorted((Path(__file__).parent / "question_set").glob("*.json"))
    return [one["question"] for file in files for one in json.loads(file.read_text(encoding="utf-8"))["questions"]]


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("index", type=Path)
    options.add_argument("--rounds", type=int, default=3)
    arguments = options.parse_args()
    asked = questions()
    spent: dict[str, list[float]] = {way: [] for way in WAYS}
    answers: dict[str, list[list[str]]] = {way: [] for way in WAYS}
    with GraphMem.open(arguments.index, settings=Settings(embedder="none")) as memory:
        memory.wait_until_ready()
        view = memory.parts.projections.graph()
        for query in asked:
            memory.search(query, explain=False)  # loads what every search shares, and keeps chunks
        for _ in range(arguments.rounds):
            for way in WAYS:
                kept = dict(view.divided_chunks)
                for query in asked:
                    if way == "divided again":
                        view.divided_chunks.clear()
                    begun = time.process_time()
                    found = memory.search(query, explain=False)
                    spent[way].append((time.process_time() - begun) * 1000)
                    answers[way].append([hit.id for hit in found])
                view.divided_chunks.update(kept)
        count, name = len(view.divided_chunks), memory.project().name
    if answers["kept"] != answers["divided again"]:
        raise SystemExit("kept chunks change an answer; see search.units.divided")
    rows = [[way, *(round(float(value), 1) for value in (np.mean(spent[way]), *np.percentile(spent[way], (50, 95))))] for way in WAYS]
    report.table(["way", "CPU ms mean", "p50", "p95"], rows)
    result = {way: dict(zip(("mean_ms", "p50_ms", "p95_ms"), values, strict=True)) for way, *values in rows}
    report.publish("search_cpu", {"project": name, "questions": len(asked), "kept_chunks": count, **result}, arguments.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
