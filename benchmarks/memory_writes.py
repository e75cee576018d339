"""Writes of memories: time until acknowledged, until a search finds them, and throughput in bulk.

    python -m benchmarks memory_writes [--single 500] [--pause 0.05] [--bulk 10000] [--embedder none] [--seed 5]

Single writes go through the whole path: redaction, duplicates, contradictions, links, and journal with fsync. They have a pause between, in
which the graph follows, as with an agent. They go into an empty index, and again after the bulk. *Acknowledged* is the time until
`remember` returns. *Found* is the time until a search of the memory index for a unique word returns the memory. Both start at the call.

The bulk is one `remember_many` of items with ids, files and vectors. The table also has the processor time of the writing thread, and the
time of an append and an fsync alone, because the machine may be loaded.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import report

from graphmem import GraphMem
from graphmem.settings import Settings

DIM = 384
SHARES = ("p50", "p99")
SYLLABLES = "ka lo mi re tu sa ve no pi du bar lin gos tem vik ran dol fes mur zap el on um is ar ot en il as ur".split()  # noqa: SIM905
WORDS = [a + b + c for a in SYLLABLES for b in SYLLABLES[:20] for c in SYLLABLES[:10]]


class Texts:
    """Texts with word frequencies of a language (Zipf) and a unique word each."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._weights = list(accumulate(1 / (rank + 2) for rank in range(len(WORDS))))
        self.made = 0

    def next(self) -> tuple[str, str]:
        """Return (about 200 characters, a unique word)."""
        self.made += 1
        own = f"own{self.made}word"
        return " ".join([*self._rng.choices(WORDS, cum_weights=self._weights, k=self._rng.randint(15, 45)), own]), own


def single(memory: GraphMem, texts: Texts, count: int, pause_s: float) -> dict[str, Any]:
    """Return the milliseconds of single writes."""
    acknowledged, found, cpu = [], [], []
    index = memory.parts.book.index()
    for _ in range(count):
        text, own = texts.next()
        begun, used = time.perf_counter(), time.thread_time()
        kept = memory.remember(text, files=["src/app.py"]).result.id
        acknowledged.append((time.perf_counter() - begun) * 1000)
        cpu.append((time.thread_time() - used) * 1000)
        if [one for one, _ in index.words(own, 1)] != [kept]:
            raise SystemExit("an acknowledged memory is not found; repeat with the same --seed")
        found.append((time.perf_counter() - begun) * 1000)
        time.sleep(pause_s)
    return {
        "writes": count,
        "acknowledged_ms": _spread(acknowledged),
        "found_ms": _spread(found),
        "own_cpu_ms": _spread(cpu),
    }


def disk_alone(folder: Path, count: int) -> dict[str, float]:
    """Return the milliseconds of appending a kilobyte and an fsync."""
    line = b"x" * 1023 + b"\n"
    taken = []
    with (folder / "alone").open("ab", buffering=0) as file:
        for _ in range(count):
            begun = time.perf_counter()
            file.write(line)
            os.fsync(file.fileno())
            taken.append((time.perf_counter() - begun) * 1000)
    return _spread(taken)


def bulk(memory: GraphMem, texts: Texts, count: int, seed: int) -> dict[str, Any]:
    """Return the seconds of one write of many memories with vectors."""
    vectors = np.random.default_rng(seed).normal(size=(count, DIM)).astype(np.float32)
    items = [
        {"id": f"note-{i}", "content": texts.next()[0], "type": "fact", "files": [f"src/part{i % 500}.py"], "vector": vectors[i]}
        for i in range(count)
    ]
    begun, used = time.perf_counter(), time.process_time()
    answer = memory.remember_many(items, embedding_model="benchmark")
    acknowledged = time.perf_counter() - begun
    memory.parts.book.flush()
    return {
        "memories": count,
        "outcomes": answer.counts,
        "acknowledged_s": acknowledged,
        "in_the_graph_s": time.perf_counter() - begun,
        "cpu_s": time.process_time() - used,
    }


def sizes(folder: Path, memories: int) -> dict[str, Any]:
    """Return the bytes on disk for each memory."""
    journal = sum(path.stat().st_size for path in (folder / "memories").iterdir())
    graph = sum(path.stat().st_size for path in folder.iterdir() if path.name.startswith("graph.db"))
    return {
        "journal_bytes_each": journal / memories,
        "graph_bytes_each": graph / memories,
        "graph_mb": graph / 1e6,
        "journal_mb": journal / 1e6,
    }


def main() -> int:
    """Measure and publish."""
    parser = report.parser(__doc__)
    parser.add_argument("--single", type=int, default=500)
    parser.add_argument("--pause", type=float, default=0.05, help="seconds between single writes")
    parser.add_argument("--bulk", type=int, default=10_000)
    parser.add_argument("--embedder", default="none", help="embedder in the background of single writes")
    parser.add_argument("--seed", type=int, default=5)
    arguments = parser.parse_args()
    texts = Texts(arguments.seed)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "index"
        settings = Settings(embedder=arguments.embedder)
        with GraphMem.open(folder, settings=settings) as memory:
            memory.memories(limit=1)
            single(memory, texts, 20, 0)  # warm-up: code is loaded, queries are planned
            small = single(memory, texts, arguments.single, arguments.pause)
            many = bulk(memory, texts, arguments.bulk, arguments.seed)
            large = single(memory, texts, arguments.single, arguments.pause)
        alone = disk_alone(Path(scratch), arguments.single)
        total = arguments.bulk + 2 * arguments.single + 20
        disk = sizes(folder, total)
        begun, used = time.perf_counter(), time.process_time()
        with GraphMem.open(folder, settings=settings) as memory:
            memory.memories(limit=1)
            opened, opened_cpu = time.perf_counter() - begun, time.process_time() - used
            begun = time.perf_counter()
            rebuilt = memory.rebuild_memories()
            again = time.perf_counter() - begun
            if rebuilt.restored or rebuilt.removed:
                raise SystemExit("the journal and the graph differ; repeat with the same --seed")
    report.table(
        ["single writes, ms", "p50", "p99", "own CPU p50", "own CPU p99", "found p99"],
        [
            [
                name,
                *(row["acknowledged_ms"][share] for share in SHARES),
                *(row["own_cpu_ms"][share] for share in SHARES),
                row["found_ms"]["p99"],
            ]
            for name, row in (("empty index", small), (f"beside {arguments.bulk:,}", large))
        ]
        + [["disk alone", alone["p50"], alone["p99"], "", "", ""]],
    )
    report.table(
        ["bulk", "acknowledged s", "in the graph s", "CPU s"],
        [[arguments.bulk, many["acknowledged_s"], many["in_the_graph_s"], many["cpu_s"]]],
    )
    print(
        f"journal {disk['journal_bytes_each']:.0f} and graph {disk['graph_bytes_each']:.0f} bytes a memory; "
        f"opened in {opened:.2f} s ({opened_cpu:.2f} s of processor), rebuilt in {again:.2f} s"
    )
    found = {"empty": small, "bulk": many, "beside_bulk": large, "disk_alone_ms": alone, "disk": disk}
    found |= {"open_s": opened, "open_cpu_s": opened_cpu, "rebuild_s": again}
    report.publish("memory_writes", {"embedder": arguments.embedder, **found}, arguments.out)
    return 0


def _spread(values: list[float]) -> dict[str, float]:
    return {
        "p50": report.percentile(values, 0.5),
        "p95": report.percentile(values, 0.95),
        "p99": report.percentile(values, 0.99),
        "worst": max(values),
    }


if __name__ == "__main__":
    raise SystemExit(main())
