"""Latency of code search by words and with vectors, beside a plain scan and BM25 in plain Python.

    python -m benchmarks search INDEX [--queries 300] [--chunks 30000] [--vectors hashed|real] [--seed 1]

INDEX is the directory of an index. Queries are drawn from the indexed texts: one to twelve words, with the frequencies of the texts, and
names of symbols. --chunks cuts the index to that many chunks (0: all), or adds copies until there are as many. In a copy every name
has its own suffix and the other words stay, so posting lists and vectors are as long as in a real index of that size.

Vectors are hashed features; "real" takes those of the installed model, which computes about 30 chunks a second. Embedding of the query is
part of the figures. The scan counts the words of the query in every text, like `grep -c`. The table has wall and processor milliseconds.
"""

from __future__ import annotations

import gc
import random
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import report
from search_quality import PlainBM25

from graphmem.__main__ import YOUNG
from graphmem.embedding.choose import choose
from graphmem.embedding.fill import embedded_text
from graphmem.embedding.hashed import HashedEmbedder
from graphmem.project.graphmem import GraphMem
from graphmem.projection.snapshot import Snapshot
from graphmem.projection.vectors import VectorIndex
from graphmem.projection.words.index import WordIndex
from graphmem.runtime.texts.compression import deflated, inflated
from graphmem.search.pipeline import Request, search
from graphmem.settings import Settings


def timed(action: Callable[[str], Any], queries: Sequence[str]) -> tuple[list[float], list[float]]:
    """Return (wall, processor) milliseconds of each call."""
    wall, cpu = [], []
    for query in queries:
        begun, used = time.perf_counter(), time.process_time()
        action(query)
        wall.append((time.perf_counter() - begun) * 1000)
        cpu.append((time.process_time() - used) * 1000)
    return wall, cpu


def drawn(texts: Sequence[str], names: Sequence[str], count: int, seed: int) -> dict[str, list[str]]:
    """Return random queries by kind."""
    chance = random.Random(seed)
    words = [word for text in chance.sample(list(texts), min(2000, len(texts))) for word in re.findall(r"[A-Za-z_]\w+", text)]
    return {
        "1 to 12 words of the texts": [" ".join(chance.choices(words, k=chance.choice([1, 2, 3, 5, 8, 12]))) for _ in range(count)],
        "a name": chance.choices(names, k=count),
        "12 words": [" ".join(chance.choices(words, k=12)) for _ in range(count)],
        "with a misspelt word": [
            f"{word[:-2]}{word[-1]}{word[-2]} {chance.choice(words)}" for word in chance.choices([w for w in words if len(w) > 6], k=count)
        ],
    }


NAME = re.compile(r"\b(?=\w*(?:_|[a-z][A-Z]))[A-Za-z_]\w{5,}\b")


def copied(rows: pa.Table, copy: int) -> pa.Table:
    """Return a copy of the rows with other ids and other names in the text."""
    made = rows.to_pylist()
    for row in made:
        first, last = row["start_line"], row["end_line"]
        prefix, text = (NAME.sub(rf"\g<0>_v{copy}", one) for one in inflated(row["packed"], first, last))
        row |= {"id": f"{row['id']}~{copy}", "text_hash": f"{row['text_hash']}~{copy}", "packed": deflated(prefix, text, first, last)}
    return pa.Table.from_pylist(made, schema=rows.schema)


def sized(rows: pa.Table, count: int, seed: int) -> pa.Table:
    """Return `count` rows: a random sample of the rows and their copies."""
    kept, copy = rows, 0
    while kept.num_rows < count:
        copy += 1
        kept = pa.concat_tables([kept, copied(rows, copy)])
    return kept.take(sorted(random.Random(seed).sample(range(kept.num_rows), count)))


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("index", type=Path)
    options.add_argument("--queries", type=int, default=300)
    options.add_argument("--chunks", type=int, default=30_000)
    options.add_argument("--vectors", choices=("hashed", "real"), default="hashed")
    options.add_argument("--seed", type=int, default=1)
    arguments = options.parse_args()
    with GraphMem.open(arguments.index, settings=Settings(embedder="none")) as memory, tempfile.TemporaryDirectory() as folder:
        memory.parts.projections.wait()
        view, state = memory.parts.graph.view(), memory.state()
        rows = pa.concat_tables(memory.parts.store.packed_chunks())
        if arguments.chunks:
            rows = sized(rows, arguments.chunks, arguments.seed)
        copies = sum("~" in key for key in rows["id"].to_pylist())
        begun = time.process_time()
        words = WordIndex.build(Path(folder), view.generation, [rows])
        build_s = time.process_time() - begun
        embedder: Any = HashedEmbedder() if arguments.vectors == "hashed" else choose("sentence-transformers").embedder
        both = list(map(inflated, *(rows[name].to_pylist() for name in ("packed", "start_line", "end_line"))))
        hashes = rows["text_hash"].to_pylist()
        vectors = VectorIndex(embedder.model_id, embedder.dim)
        for at in range(0, len(both), 8):
            texts = [embedded_text(prefix, text) for prefix, text in both[at : at + 8]]
            vectors.add(hashes[at : at + 8], embedder.encode(texts))
        shot = Snapshot(view.generation, view, words, "", vectors, "", (len(hashes), len(hashes)), None, "", lambda damaged: None)
        # As in a server: loaded objects are frozen, and the young generation is collected seldom.
        gc.collect()
        gc.freeze()
        gc.set_threshold(YOUNG, *gc.get_threshold()[1:])
        bare = shot._replace(vectors=None, vectors_note="switched off")
        names = [info.qualname for info in view.infos(np.flatnonzero(view.label == 1)[:20_000]) if info.qualname != "<module>"]
        plain = PlainBM25(shot)
        lowered = [text.lower() for _, text in both]

        def scan(query: str) -> list[int]:
            asked = query.lower().split()
            counts = [sum(text.count(word) for word in asked) for text in lowered]
            return sorted(range(len(counts)), key=lambda i: -counts[i])[:10]

        ways: dict[str, Callable[[str], Any]] = {
            "search, words and names": lambda query: search(bare, None, Request(query), state),
            "search with vectors": lambda query: search(shot, embedder, Request(query), state),
            "word index alone": lambda query: words.search(query, 100),
            "BM25 in plain Python": plain,
            "scan of all texts": scan,
        }
        shown, result = [], {}
        for kind, queries in drawn([text for _, text in both], names, arguments.queries, arguments.seed).items():
            for name, way in ways.items():
                few = queries if "search" in name or "index" in name else queries[: max(10, len(queries) // 10)]
                way(few[0])
                wall, cpu = timed(way, few)
                row = [report.percentile(wall, share) for share in (0.5, 0.95, 0.99)] + [
                    report.percentile(cpu, share) for share in (0.5, 0.95)
                ]
                shown.append([kind, name, len(few), *(f"{value:.1f}" for value in row)])
                result[f"{kind}: {name}"] = dict(zip(("p50", "p95", "p99", "cpu_p50", "cpu_p95"), row, strict=True))
        size = words.path.stat().st_size / 1e6
        print(
            f"{rows.num_rows:,} chunks ({copies:,} of them copies), {view.counts['symbols']:,} symbols; "
            f"words built in {build_s:.1f} s of processor time, {size:.0f} MB"
        )
        print(f"embedder: {embedder.model_id}\n")
        report.table(["query", "way", "n", "p50 ms", "p95 ms", "p99 ms", "cpu p50", "cpu p95"], shown)
        report.publish(
            "search",
            {
                "chunks": rows.num_rows,
                "copies": copies,
                "words_build_cpu_s": build_s,
                "words_mb": size,
                "embedder": embedder.model_id,
                "milliseconds": result,
            },
            arguments.out,
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
