"""Latency and memory of searches among 1,000, 10,000 and 50,000 memories.

    python -m benchmarks search_memories [--sizes 1000 10000 50000] [--queries 100] [--seed 1]

Memories are random words with the frequencies of English (the n-th word has 1/n). Each is about one to three of 4,000 files; they are an
hour apart. Vectors are random unit vectors, because only their number and dimension matter for speed. The query has a random vector too, so
embedding is not part of the figures.

Searches run on the projection, as in the service. Beside them: a scan without an index, which computes a cosine with every memory and
counts the words in every text; and the time until one write is visible. The table has wall and processor milliseconds.
"""

from __future__ import annotations

import random
import resource
import tempfile
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import report

from graphmem.knowledge import AboutRow, KnowledgeDelta, MemoryRow
from graphmem.model import stable_id
from graphmem.project.graphmem import GraphMem
from graphmem.projection.memories.index import MemoryIndex
from graphmem.search.pipeline import Request, search
from graphmem.settings import Settings
from graphmem.store.base import Knowledge

DIM = 384
VOCABULARY = 20_000
BEGUN = datetime(2025, 1, 1, tzinfo=UTC)
MEMORY = frozenset({"memory"})
ANSWERS = "ranked as a search ranks, with neighbours"


class Random:
    """An embedder that returns random vectors at no cost."""

    model_id, dim, normalised, max_tokens = "random", DIM, True, 512

    def __init__(self, seed: int) -> None:
        self._chance = np.random.default_rng(seed)

    def encode(self, texts: list[str]) -> Any:
        """Return random unit vectors."""
        vectors = self._chance.standard_normal((len(texts), DIM)).astype(np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def text_of(chance: random.Random, words: list[str], weights: list[float]) -> str:
    """Return about forty words with the frequencies of English."""
    return " ".join(chance.choices(words, cum_weights=weights, k=chance.randrange(20, 60)))


def memory(place: int, content: str) -> MemoryRow:
    """Return the row of one memory."""
    at = BEGUN + timedelta(hours=place)
    return MemoryRow(
        f"{place:012d}",
        f"{place:08x}",
        stable_id("fingerprint", content),
        ("gotcha", "decision", "pattern", "fact")[place % 4],
        content[:80],
        content[:40],
        content,
        *(0.8, 0.5, 1, "agent_explicit", "global", "project", "confirmed"),
        *(False, False, False, False, ()),
        *(at, at, None, at, None, None, None),
        *(0, place % 7, 0, "agent", None, None, None, None),
        stable_id("text", str(place)),
        "random",
    )


def percentiles(action: Any, queries: list[str]) -> list[float]:
    """Return p50 and p95 of wall, then of processor milliseconds."""
    wall, cpu = [], []
    for query in queries:
        begun, used = time.perf_counter(), time.process_time()
        action(query)
        wall.append((time.perf_counter() - begun) * 1000)
        cpu.append((time.process_time() - used) * 1000)
    return [report.percentile(times, share) for times in (wall, cpu) for share in (0.5, 0.95)]


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 50_000])
    options.add_argument("--queries", type=int, default=100)
    options.add_argument("--seed", type=int, default=1)
    arguments = options.parse_args()
    shown, result = [], {}
    with tempfile.TemporaryDirectory() as folder, GraphMem.open(folder, settings=Settings(embedder="none")) as empty:
        state, bare = empty.state(), empty.parts.projections.snapshot()
        for size in arguments.sizes:
            chance = random.Random(arguments.seed)
            words = [f"w{stable_id(str(n))[:6]}" for n in range(VOCABULARY)]
            weights = np.cumsum(1 / np.arange(1, VOCABULARY + 1)).tolist()
            rows = [memory(place, text_of(chance, words, weights)) for place in range(size)]
            about = [
                AboutRow(row.id, stable_id("file", str(n)), "File", "about", 0.9, "", "", "valid")
                for row in rows
                for n in sorted(chance.sample(range(4_000), chance.randrange(1, 4)))
            ]
            embedder = Random(arguments.seed)
            matrix = embedder.encode([row.content for row in rows])
            before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
            index = MemoryIndex.from_knowledge(Knowledge(1, rows, about, [], [], []))
            index.model_id = embedder.model_id
            index.add_vectors([row.text_hash for row in rows], matrix)
            made_s, grown = time.process_time() - begun, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
            shot = bare._replace(memories=index, memories_note="")
            queries = [" ".join(chance.choices(words, cum_weights=weights, k=8)) for _ in range(arguments.queries)]
            lowered = [row.content for row in rows]

            def ask(query: str, shot: Any = shot, embedder: Any = embedder) -> Any:
                return search(shot, embedder, Request(query, kinds=MEMORY), state)

            def scan(query: str, lowered: Any = lowered, matrix: Any = matrix, embedder: Any = embedder) -> Any:
                cosines = matrix @ embedder.encode([query])[0]
                asked = query.split()
                counts = [sum(text.count(word) for word in asked) for text in lowered]
                return sorted(range(len(counts)), key=lambda i: -counts[i] - cosines[i])[:10]

            def write(query: str, index: Any = index, size: int = size) -> None:
                row = memory(size + len(query), query)
                index.patch(KnowledgeDelta(memories=[row], anchored=[row.id]))

            for name, way, asked in (
                (ANSWERS, ask, queries),
                ("a scan of all, no ranking", scan, queries[:10]),
                ("one write becomes visible", write, queries),
            ):
                way(asked[0])
                figures = percentiles(way, asked)
                shown.append([f"{size:,}", name, *(f"{value:.1f}" for value in figures)])
                result[f"{size}: {name}"] = dict(zip(("p50", "p95", "cpu_p50", "cpu_p95"), figures, strict=True))
            result[f"{size}: made"] = {"cpu_s": made_s, "grown_mb": grown}
            print(f"{size:,} memories: read and indexed in {made_s:.2f} s of processor time, {grown:.0f} MB with their vectors")
    print()
    report.table(["memories", "way", "p50 ms", "p95 ms", "cpu p50", "cpu p95"], shown)
    report.publish("search_memories", {"milliseconds": result}, arguments.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
