"""A small world of files, symbols and edges that can be edited at random and read as tables or as a delta."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pytest

from graphmem.model import (
    ChunkRow,
    EdgeKind,
    EdgeRow,
    EdgeSource,
    ExternalRow,
    FileRow,
    GraphDelta,
    PackedChunkRow,
    SymbolKind,
    SymbolRow,
    UnresolvedRow,
    external_id,
    file_id,
    stable_id,
    symbol_id,
)
from graphmem.runtime.compression import deflated
from graphmem.store.base import GraphTables

ARROW = {"bytes": pa.binary(), "str": pa.string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}
KINDS = [str(kind) for kind in SymbolKind if kind != SymbolKind.MODULE]
RULES = [f"rule_{i}" for i in range(12)]
CODE = {("symbol", "symbol"), ("symbol", "external")}
ENDS = {  # what the schema lets an edge connect; CODE for the other kinds
    "DEFINES": {("file", "symbol"), ("symbol", "symbol")},
    "IMPORTS": {("file", "file"), ("file", "external")},
    "TESTS": {("symbol", "symbol")},
}
WORDS = ["load", "Parser", "größe", "get_value", "HTTPServer2", "run", "__init__", "x", "данные", "cache"]


def table(row_type: type, rows: list) -> pa.Table:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(row_type._fields)
    kinds = [kind.__forward_arg__ for kind in row_type.__annotations__.values()]
    return pa.table({name: pa.array(column, ARROW[kind]) for name, kind, column in zip(row_type._fields, kinds, columns, strict=True)})


def packed_table(chunks: Iterable[ChunkRow]) -> pa.Table:
    """Chunks by id as the store gives them to the word index."""
    rows = [PackedChunkRow(*row[:7], deflated(row.prefix, row.text, row.start_line, row.end_line), row.text_hash) for row in sorted(chunks)]
    return table(PackedChunkRow, rows)


class World:
    """Rows by id, as a store would hold them after the last commit."""

    def __init__(self, seed: int, size: int = 6) -> None:
        self.random = random.Random(seed)
        self.size = size
        self.files: dict[str, FileRow] = {}
        self.symbols: dict[str, SymbolRow] = {}
        self.externals: dict[str, ExternalRow] = {}
        self.chunks: dict[str, ChunkRow] = {}
        self.edges: dict[tuple[str, str, str], EdgeRow] = {}
        self.unresolved: dict[str, UnresolvedRow] = {}
        self.generation = 1
        for n in range(self.random.randrange(size)):
            self._write(f"pkg/f{n}.py")
        self._connect()

    def _write(self, path: str) -> None:
        r = self.random
        lines = r.randrange(1, 200)
        fid = file_id("p", path)
        self.files[fid] = FileRow(
            fid,
            path,
            "python",
            path.removesuffix(".py").replace("/", "."),
            str(r.random()),
            lines * 30,
            lines,
            r.random() < 0.2,
            0,
            "",
            r.randrange(20),
        )
        for n in range(r.randrange(self.size)):
            name = r.choice(WORDS)
            kind = r.choice(KINDS)
            qualname = name if n % 2 else f"Outer.{name}"
            sid = symbol_id("p", path, qualname, kind, n // 3)
            parents = [s.id for s in self.symbols.values() if s.path == path and s.id != sid]
            start = r.randrange(1, 100)
            self.symbols[sid] = SymbolRow(
                sid, path, kind, name, qualname, "", f"def {name}({n})", r.choice(["", "Read the settings.", "Größe."]),
                start, start + r.randrange(30), n, n + 10, start, 4, str(r.random()), r.choice(["", "async", "async static"]),
                r.choice(["", "", "main"]), r.randrange(9), r.random() < 0.2,
            )  # fmt: skip
            if parents and r.random() < 0.3:
                self.symbols[sid] = self.symbols[sid]._replace(parent_id=min(parents))
            cid = stable_id("chunk", sid)
            text = f"def {name}():\n    return {r.choice(WORDS)}_{r.randrange(5)}"
            self.chunks[cid] = ChunkRow(cid, path, sid, "code", qualname, start, start + 2, f"File: {path}", text, stable_id(path, text))
        for n in range(r.randrange(3)):
            cid = stable_id("prose", path, str(n))
            text = " ".join(r.choices(WORDS, k=4))
            self.chunks[cid] = ChunkRow(cid, path, "", "prose", f"Heading {n}", n, n, f"File: {path}", text, stable_id(path, text))

    def _drop(self, path: str) -> None:
        for rows in (self.files, self.symbols, self.chunks, self.unresolved):
            for key in [key for key, row in rows.items() if row.path == path]:
                del rows[key]

    def _connect(self) -> None:
        """Forget what names missing rows, then draw some new edges, externals and unresolved sites."""
        r = self.random
        for sid, row in list(self.symbols.items()):
            if row.parent_id and row.parent_id not in self.symbols:
                self.symbols[sid] = row._replace(parent_id="")
        for _ in range(r.randrange(3)):
            package, name = r.choice(["os", "requests", "zlib"]), r.choice(["", "get", "Session.get"])
            xid = external_id("p", package, name)
            self.externals[xid] = ExternalRow(xid, package, name)
        if self.externals and r.random() < 0.3:
            del self.externals[r.choice(sorted(self.externals))]
        nodes = sorted([*self.files, *self.symbols, *self.externals])
        alive = set(nodes)

        def label(key: str) -> str:
            return "file" if key in self.files else "symbol" if key in self.symbols else "external"

        self.edges = {key: row for key, row in self.edges.items() if row.src in alive and row.dst in alive and r.random() < 0.9}
        for _ in range(r.randrange(8 * self.size) if nodes else 0):
            kind, src, dst = str(r.choice(list(EdgeKind)[:8])), r.choice(nodes), r.choice(nodes)
            if (label(src), label(dst)) not in ENDS.get(kind, CODE):
                continue
            sites = sorted({r.randrange(1, 99) for _ in range(r.randrange(4))})
            self.edges[kind, src, dst] = EdgeRow(
                kind, src, dst, r.choice([0.3, 0.5, 0.95, 1.0]), str(r.choice(list(EdgeSource))), r.choice(RULES),
                sites[0] if sites else 0, ",".join(map(str, sites)),
            )  # fmt: skip
        for n, sid in enumerate(sorted(self.symbols)):
            if r.random() < 0.3:
                uid = stable_id("unresolved", sid, str(n))
                self.unresolved[uid] = UnresolvedRow(uid, self.symbols[sid].path, sid, r.choice(WORDS), r.randrange(1, 99), "dynamic")
        self.unresolved = {key: row for key, row in self.unresolved.items() if row.caller_id in self.symbols}

    def edit(self) -> GraphDelta:
        """Change some files at random and say what changed, as an index run would."""
        r = self.random
        before = {name: dict(getattr(self, name)) for name in ("files", "symbols", "externals", "chunks", "edges", "unresolved")}
        for _ in range(r.randrange(1, 4)):
            path = f"pkg/f{r.randrange(self.size + 2)}.py"
            if r.random() < 0.7:
                self._drop(path)
            if r.random() < 0.8:
                self._write(path)
        self._connect()
        self.generation += 1
        removed: dict[str, list[Any]] = {}
        upserted: dict[str, list[Any]] = {}
        for name, old in before.items():
            new = getattr(self, name)
            removed[name] = sorted(key for key in old if key not in new or (name == "edges" and new[key] != old[key]))
            upserted[name] = [row for key, row in new.items() if old.get(key) != row or (name != "edges" and r.random() < 0.05)]
            r.shuffle(upserted[name])
        if r.random() < 0.5:  # edges of a removed node may be left to be inferred
            alive = {*self.files, *self.symbols, *self.externals}
            removed["edges"] = [key for key in removed["edges"] if key[1] in alive and key[2] in alive]
        return GraphDelta(
            removed["files"], removed["symbols"], removed["externals"], removed["chunks"], removed["edges"], removed["unresolved"],
            upserted["files"], upserted["symbols"], upserted["externals"], upserted["chunks"], upserted["edges"], upserted["unresolved"],
        )  # fmt: skip

    def full(self) -> GraphDelta:
        """The first load of this world."""
        rows = (self.files, self.symbols, self.externals, self.chunks, self.edges, self.unresolved)
        return GraphDelta([], [], [], [], [], [], *(list(part.values()) for part in rows))

    def tables(self) -> GraphTables:
        """The snapshot a store would give of this world."""
        by_id = [
            table(kind, sorted(rows.values()))
            for kind, rows in ((FileRow, self.files), (SymbolRow, self.symbols), (ExternalRow, self.externals))
        ]
        return GraphTables(
            self.generation, *by_id, table(EdgeRow, sorted(self.edges.values())), table(UnresolvedRow, sorted(self.unresolved.values()))
        )

    def chunk_table(self, ids: list[str] | None = None) -> pa.Table:
        return packed_table(row for row in self.chunks.values() if ids is None or row.id in ids)


@pytest.fixture(scope="session")
def world():
    """World(seed, size): a graph made of random files."""
    return World


@pytest.fixture(scope="session")
def as_packed():
    """packed_table(chunks)."""
    return packed_table
