"""Cost of opening a branch of a large project: processor time and memory, for a generated graph.

    python -m benchmarks overlays [--files 2000] [--branches 3]

A graph with 50 functions and 500 calls in each file (1,000,000 calls for 2,000 files) is written to an index. Then branches that add a
function to one file are stored, and opened one after the other. The table has the seconds until the graph and until the words of a branch
answer, and the growth of the process. The exit code is 1 if the graph of a branch differs from one that is built from its rows.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import report

from graphmem.indexing.delta import edges_of
from graphmem.model import ChunkRow, EdgeRow, FileRow, GraphDelta, SymbolRow, chunk_id, file_id, stable_id, symbol_id
from graphmem.project.graphmem import GraphMem
from graphmem.project.hosted.branches import BranchKey
from graphmem.project.hosted.pushed_rows import body_of, rows_by_file
from graphmem.project.opening_branches import open_branch
from graphmem.projection.graph.view import GraphView
from graphmem.runtime.process.heap import give_back, resident_bytes
from graphmem.settings import Settings
from graphmem.store.wire import plain

PROJECT: Final = "large"
FUNCTIONS: Final = 50  # in each file
CALLS: Final = 10  # in each function
SETTINGS: Final = Settings(embedder="none", workers=1, seeds=False, git_history=False)


def function(path: str, number: int) -> str:
    return symbol_id(PROJECT, path, f"f{number}", "function", 0)


def rows(path: str, number: int) -> tuple[SymbolRow, ChunkRow]:
    """Return a function of a file, and its text."""
    one, start, name = function(path, number), 5 + number * 10, f"f{number}"
    text = f"def {name}(prices):\n    return total_{path[4:-3]}(prices, {number})\n"
    place = (start, start + 8, 0, 9, start, 4, stable_id(one), "", "", 1, False)
    symbol = SymbolRow(one, path, "function", name, name, "", f"def {name}(prices)", "", *place)
    chunk = chunk_id(PROJECT, path, name, 0)
    return symbol, ChunkRow(chunk, path, one, "code", name, start, start + 8, f"File: {path}", text, stable_id("text", text))


def graph(files: int) -> GraphDelta:
    """Return the whole graph, as a change of an empty one."""
    chance, delta = random.Random(1), GraphDelta.empty()
    paths = [f"src/m{number}.py" for number in range(files)]
    for path in paths:
        delta.files.append(
            FileRow(file_id(PROJECT, path), path, "python", path[:-3].replace("/", "."), stable_id(path), 100, 600, False, 0, "", 0)
        )
        for number in range(FUNCTIONS):
            symbol, chunk = rows(path, number)
            delta.symbols.append(symbol)
            delta.chunks.append(chunk)
            called = {(chance.choice(paths), chance.randrange(FUNCTIONS)) for _ in range(CALLS + 2)}
            for other, target in sorted(called)[:CALLS]:
                delta.edges.append(call(symbol, function(other, target)))
    return delta


def call(symbol: SymbolRow, target: str) -> EdgeRow:
    line = symbol.start_line + 1
    return EdgeRow("CALLS", symbol.id, target, 0.9, "ast", "import", line, str(line))


def stored(memory: GraphMem, number: int) -> BranchKey:
    """Store a branch that adds a function to a file."""
    overlays, path = memory.parts.overlays, f"src/m{number}.py"
    view = memory.parts.projections.graph()
    (known,) = rows_by_file(memory.parts.store, view, [path])
    symbol, chunk = rows(path, FUNCTIONS + number)
    tables = {table: [*some] for table, some in known.rows.items()}
    tables["symbols"].append(plain("symbols", symbol))
    tables["chunks"].append(plain("chunks", chunk))
    tables["edges"].append(plain("edges", call(symbol, function(path, 0))))
    line = {known.path: known.digest}
    key = BranchKey(f"b{number}")
    facts = {"meta": {"run": f"b{number}", "project": PROJECT}, "contracts": {}, "handles": []}
    overlays.put(key, "", "", facts, {path: f"new{number}"}, line, {f"new{number}": body_of(tables, {}, None)})
    return key


def measured(memory: GraphMem, number: int) -> tuple[dict[str, float], Any]:
    """Open a branch; return the figures and a function that closes it."""
    key = stored(memory, number)
    give_back()
    before, cpu, wall = resident_bytes(), time.process_time(), time.perf_counter()
    service, close = open_branch(memory.parts, key, SETTINGS)
    view = service.parts.projections.graph()
    found: dict[str, float] = {"graph_cpu_s": time.process_time() - cpu, "graph_s": time.perf_counter() - wall}
    service.parts.projections.wait()
    found |= {"words_cpu_s": time.process_time() - cpu, "words_s": time.perf_counter() - wall}
    give_back()
    found["mb"] = (resident_bytes() - before) / 1e6
    path = f"src/m{number}.py"
    assert len(edges_of(view, [path])) == FUNCTIONS * CALLS + 1
    words = service.parts.projections.snapshot().words
    assert words is not None
    assert len(words) == len(memory.parts.projections.snapshot().words or ()) + 1
    fresh = GraphView.from_tables(service.parts.store.tables())
    found["differs"] = float(bool(view.arrays.difference(fresh.arrays)))
    return found, close


def results(files: int, branches: int) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="gm-bench-") as folder, GraphMem.open(db=Path(folder) / "index", settings=SETTINGS) as memory:
        begun = time.process_time()
        store, projections = memory.parts.store, memory.parts.projections
        generation = store.replace(graph(files), {"project": PROJECT, "run": "line"})
        with memory.parts.overlays.branches._changing() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES ('line', 'line')")
        projections.refresh(generation, None)
        give_back()
        edges = len(projections.graph().arrays.edges.src)
        yield {"edges": edges, "main_branch_cpu_s": round(time.process_time() - begun, 1), "main_branch_mb": round(resident_bytes() / 1e6)}
        closing = []
        for number in range(branches):
            found, close = measured(memory, number)
            closing.append(close)
            yield {name: round(value, 2) for name, value in found.items()}
        for close in closing:
            close()


def main() -> int:
    parser = report.parser(__doc__)
    parser.add_argument("--files", type=int, default=2_000)
    parser.add_argument("--branches", type=int, default=3)
    given = parser.parse_args()
    line, *branches = results(given.files, given.branches)
    print(line)
    names = list(branches[0])
    report.table(["branch", *names], [[number, *(one[name] for name in names)] for number, one in enumerate(branches)])
    report.publish("overlays", {"files": given.files, **line, "branches": branches}, given.out)
    return 1 if any(one["differs"] for one in branches) else 0


if __name__ == "__main__":
    sys.exit(main())
