"""Cost of projections: build, patch of one file, open, and memory.

    python -m benchmarks projections INDEX [--files 20] [--seed 1]

INDEX is the directory of an index. Each patch removes the symbols, edges, call sites and chunks of a random file and adds them again, like
an edit of every definition in it. The build of the whole projection in the same run is the comparison.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import report

from graphmem.model import ChunkRow, EdgeRow, GraphDelta, SymbolRow, UnresolvedRow
from graphmem.project.graphmem import GraphMem
from graphmem.projection.graph.view import GraphView
from graphmem.projection.words.index import WordIndex
from graphmem.settings import Settings


def rows(kind: Any, table: Any, mask: Any) -> list[Any]:
    """Return rows of a table as rows of graphmem.model."""
    return [kind(**{name: row[name] for name in kind._fields}) for row in table.filter(mask).to_pylist()]


def rewritten(tables: Any, chunks: Any, path: str) -> GraphDelta:
    """Return a delta that removes and adds the data of a file."""
    symbols = rows(SymbolRow, tables.symbols, pc.equal(tables.symbols["path"], path))
    ids = {row.id for row in symbols}
    sources = pc.is_in(tables.edges["src"], value_set=tables.symbols.filter(pc.equal(tables.symbols["path"], path))["id"].combine_chunks())
    edges = rows(EdgeRow, tables.edges, sources)
    waiting = rows(UnresolvedRow, tables.unresolved, pc.equal(tables.unresolved["path"], path))
    texts = rows(ChunkRow, chunks, pc.equal(chunks["path"], path))
    delta = GraphDelta.empty()
    delta.removed_edges.extend((row.kind, row.src, row.dst) for row in edges)
    delta.removed_unresolved.extend(row.id for row in waiting)
    delta.removed_chunks.extend(row.id for row in texts)
    delta.symbols.extend(row._replace(start_line=row.start_line + 1, end_line=row.end_line + 1) for row in symbols if row.id in ids)
    delta.edges.extend(edges)
    delta.unresolved.extend(waiting)
    delta.chunks.extend(texts)
    return delta


def timed(action: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return (processor milliseconds, wall milliseconds, result)."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = action()
    return (time.process_time() - cpu) * 1000, (time.perf_counter() - wall) * 1000, result


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("index", type=Path)
    options.add_argument("--files", type=int, default=20)
    options.add_argument("--seed", type=int, default=1)
    arguments = options.parse_args()
    with GraphMem.open(arguments.index, settings=Settings(embedder="none")) as memory, tempfile.TemporaryDirectory() as scratch:
        memory.parts.projections.wait()
        folder = Path(scratch)
        store, tables, chunks = memory.parts.store, memory.parts.store.tables(), pa.concat_tables(memory.parts.store.packed_chunks())
        shown: list[list[Any]] = []

        def note(what: str, measured: tuple[float, float, Any]) -> Any:
            shown.append([what, f"{measured[0]:.1f}", f"{measured[1]:.1f}"])
            return measured[2]

        note("read the graph from the store", timed(store.tables))
        view = note("graph: make", timed(lambda: GraphView.from_tables(tables)))
        note("graph: save", timed(lambda: view.save(folder / "graph")))
        note("graph: open", timed(lambda: GraphView.load(folder / "graph", view.generation)))
        note("read the chunks from the store", timed(store.chunks))
        words = note("words: make", timed(lambda: WordIndex.build(folder, view.generation, [chunks])))
        note("words: open", timed(lambda: WordIndex.open(folder, view.generation)))
        chosen = random.Random(arguments.seed).sample([path for path in view.paths if len(view.by_path(path)) > 3], arguments.files)
        deltas = [rewritten(tables, chunks, path) for path in chosen]
        graph_ms, words_ms = [], []
        patched = view
        for generation, delta in enumerate(deltas, view.generation + 1):
            cpu, _, patched = timed(lambda patched=patched, delta=delta, generation=generation: patched.patched(delta, generation))
            graph_ms.append(cpu)
            cpu, _, words = timed(lambda words=words, delta=delta, generation=generation: words.patched(delta, generation))
            words_ms.append(cpu)
        for what, values in (("graph: patch one file", graph_ms), ("words: patch one file", words_ms)):
            shown.append([f"{what}, median", f"{report.percentile(values, 0.5):.1f}", ""])
            shown.append([f"{what}, worst of {len(values)}", f"{max(values):.1f}", ""])
        sizes = {
            "graph_mb": view.nbytes / 1e6,
            "graph_file_mb": (folder / "graph").stat().st_size / 1e6,
            "words_mb": words.path.stat().st_size / 1e6,
        }
        print(
            f"{view.n:,} nodes, {view.m:,} edges, {chunks.num_rows:,} chunks; "
            + ", ".join(f"{name} {size:.0f}" for name, size in sizes.items())
            + "\n"
        )
        report.table(["step", "processor ms", "wall ms"], shown)
        counts = {"nodes": view.n, "edges": view.m, "chunks": chunks.num_rows}
        report.publish("projections", {**counts, **sizes, "milliseconds": {row[0]: row[1:] for row in shown}}, arguments.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
