"""One suite, every engine: `pytest tests/store --engine ladybug` runs it all on the other one.

A process can only use one engine, so the default run is on kuzu and `test_other_engine.py` starts the rest.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from graphmem.knowledge import AboutRow, KnowledgeDelta, MemoryRow, SessionRow
from graphmem.model import (
    ChunkRow,
    EdgeRow,
    ExternalRow,
    FileRow,
    GraphDelta,
    OccurrencesRow,
    SymbolRow,
    UnresolvedRow,
    chunk_id,
    external_id,
    file_id,
    stable_id,
    symbol_id,
)
from graphmem.store import open_store
from graphmem.store.base import GraphStore
from graphmem.store.kuzu_store import KuzuStore

PROJECT = "p"
TO_SYMBOLS = ("CALLS", "REFERENCES", "USES_TYPE", "INHERITS", "OVERRIDES", "TESTS")
RULES = ("local", "import", "self_method", "unique_name")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--engine", default="kuzu", choices=("kuzu", "ladybug"), help="the engine the store suite runs on")


@pytest.fixture(scope="session")
def engine(pytestconfig: pytest.Config) -> str:
    return str(pytestconfig.getoption("--engine", default="kuzu"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "graph.db"


@pytest.fixture(scope="session")
def empty_database(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new database, made once and copied: forty tables take a third of a second."""
    path = tmp_path_factory.mktemp("empty") / "graph.db"
    open_store(path, engine=engine, max_db_bytes=1 << 30).close()
    return path


@pytest.fixture
def open_at(engine: str, empty_database: Path) -> Iterator[Callable[..., KuzuStore]]:
    opened: list[KuzuStore] = []

    def opener(path: Path, **options: Any) -> KuzuStore:
        options.setdefault("max_db_bytes", 1 << 30)
        if not path.exists() and not options.get("read_only"):
            shutil.copy(empty_database, path)
            shutil.copy(empty_database.with_name("graph.db.lock"), path.with_name(path.name + ".lock"))
        store = open_store(path, **{"engine": engine, **options})
        assert isinstance(store, KuzuStore)
        opened.append(store)
        return store

    yield opener
    for store in opened:
        store.close()


@pytest.fixture
def store(
    request: pytest.FixtureRequest, open_at: Callable[..., KuzuStore], path: Path, as_server: Callable[[KuzuStore], GraphStore]
) -> GraphStore:
    opened = open_at(path)
    return as_server(opened) if getattr(request, "param", "") == SERVER else opened


SERVER = "server"
"""The variant of `store` that tests of reading and writing run on as well."""

READ_AND_WRITE = ("test_store_conformance", "test_store_known_rows", "test_store_memories", "test_store_vectors")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "local: needs the file of the store, or the engine behind it")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test of these modules that only reads and writes on both kinds of store."""
    asked = set(inspect.signature(metafunc.function).parameters)
    local = {"open_at", "path", "monkeypatch"} & asked or metafunc.definition.get_closest_marker("local")
    if "store" in asked and not local and metafunc.module.__name__.rpartition(".")[2] in READ_AND_WRITE:
        metafunc.parametrize("store", ["embedded", SERVER], indirect=True)


class World:
    """A code graph as dictionaries, and the deltas between its states."""

    def __init__(self, seed: int = 1, files: int = 4) -> None:
        self.random = random.Random(seed)
        self.files: dict[str, FileRow] = {}
        self.symbols: dict[str, SymbolRow] = {}
        self.externals: dict[str, ExternalRow] = {}
        self.chunks: dict[str, ChunkRow] = {}
        self.edges: dict[tuple[str, str, str], EdgeRow] = {}
        self.unresolved: dict[str, UnresolvedRow] = {}
        self.counter = 0
        for _ in range(files):
            self.add_file()

    # ---- states

    def state(self) -> tuple[dict[Any, Any], ...]:
        return tuple(
            dict(part) for part in (self.files, self.symbols, self.externals, self.chunks, self.edges, self.unresolved, self.occurrences)
        )

    @property
    def occurrences(self) -> dict[str, OccurrencesRow]:
        """Every second file has some, which change with its content."""
        rows = (OccurrencesRow(row.id, row.path, bytes.fromhex(row.content_hash) * 9) for row in self.files.values() if row.lines % 2 == 0)
        return {row.id: row for row in rows}

    def full(self) -> GraphDelta:
        empty: tuple[dict[Any, Any], ...] = ({}, {}, {}, {}, {}, {}, {})
        return self.since(empty)

    def since(self, old: tuple[dict[Any, Any], ...]) -> GraphDelta:
        removed, added = [], []
        for at, (before, after) in enumerate(zip(old, self.state(), strict=True)):
            changed = {key for key in before.keys() & after.keys() if before[key] != after[key]}
            removed.append(sorted(before.keys() - after.keys() | (changed if at == 4 else set())))
            added.append([after[key] for key in sorted(after) if before.get(key) != after[key]])
        return GraphDelta(*removed[:6], *added[:6], removed_occurrences=removed[6], occurrences=added[6])

    def edit(self, times: int = 1) -> GraphDelta:
        """Change something, and say what."""
        old = self.state()
        for _ in range(times):
            self.random.choice(
                (
                    self.add_file,
                    self.remove_file,
                    self.move_lines,
                    self.move_lines,
                    self.rewrite_symbol,
                    self.remove_symbol,
                    self.add_edges,
                    self.remove_edges,
                    self.change_evidence,
                    self.change_chunk,
                    self.change_unresolved,
                )
            )()
        return self.since(old)

    # ---- changes

    def add_file(self, symbols: int | None = None) -> str:
        self.counter += 1
        random = self.random
        path = f"src/é{self.counter}.py"
        number = symbols if symbols is not None else random.randint(1, 12)
        self.files[file_id(PROJECT, path)] = FileRow(
            file_id(PROJECT, path), path, "python", f"src.m{self.counter}", stable_id(path, str(random.random())), 100, 10, False, 0, "", 7
        )
        module = symbol_id(PROJECT, path, "<module>", "module", 0)
        self._symbol(SymbolRow(module, path, "module", "m", "<module>", "", "", "", 1, 90, 0, 900, 1, 0, "h", "", "", 0, False))
        self._edge("DEFINES", file_id(PROJECT, path), module, 1)
        for index in range(number):
            name = f"f{index}"
            one = symbol_id(PROJECT, path, name, "function", 0)
            start = 5 + index * 10
            doc = f'It\'s {name}; "quoted" // no comment \x00 🦉\n' * (index % 3)
            self._symbol(
                SymbolRow(
                    one,
                    path,
                    "function",
                    name,
                    name,
                    module,
                    f"def {name}()",
                    doc,
                    start,
                    start + 8,
                    0,
                    9,
                    start,
                    4,
                    stable_id(one),
                    "",
                    "",
                    1,
                    False,
                )
            )
            self._edge("DEFINES", module, one, start)
            text = f"def {name}(): pass  # {random.random()}\n" * 3
            chunk = chunk_id(PROJECT, path, name, 0)
            self.chunks[chunk] = ChunkRow(
                chunk, path, one if index % 4 else "", "code", name, start, start + 8, f"File: {path}", text, stable_id("text", text)
            )
            if index % 3 == 0:
                site = stable_id("unresolved", one)
                self.unresolved[site] = UnresolvedRow(site, path, one, "get", start + 2, random.choice(("dynamic", "no_receiver_type")))
        self.add_edges(number * 2)
        return path

    def remove_file(self) -> None:
        if len(self.files) < 2:
            return
        row = self.files.pop(self.random.choice(sorted(self.files)))
        gone = {row.id} | {one for one, symbol in self.symbols.items() if symbol.path == row.path}
        for one in sorted(gone - {row.id}):
            del self.symbols[one]
        self._forget(gone)
        self.chunks = {key: chunk for key, chunk in self.chunks.items() if chunk.path != row.path}
        self.unresolved = {key: site for key, site in self.unresolved.items() if site.path != row.path}

    def move_lines(self) -> None:
        row = self.files[self.random.choice(sorted(self.files))]
        start, by = self.random.choice((0, 0, 20, 40)), self.random.choice((1, 3, -1))
        self.files[row.id] = row._replace(content_hash=stable_id(row.content_hash, "moved"), lines=row.lines + by)
        moved = set()
        for one, symbol in self.symbols.items():
            if symbol.path == row.path and symbol.start_line > start:
                moved.add(one)
                self.symbols[one] = symbol._replace(
                    start_line=symbol.start_line + by,
                    end_line=symbol.end_line + by,
                    name_line=symbol.name_line + by,
                    start_byte=symbol.start_byte + 9,
                )
        for key, edge in self.edges.items():
            owner = self.symbols.get(edge.src)
            if edge.line > start and owner is not None and owner.path == row.path:
                lines = ",".join(str(int(line) + by) for line in edge.lines.split(","))
                self.edges[key] = edge._replace(line=edge.line + by, lines=lines)
        for key, chunk in self.chunks.items():
            if chunk.path == row.path and chunk.start_line > start:
                self.chunks[key] = chunk._replace(start_line=chunk.start_line + by, end_line=chunk.end_line + by)

    def rewrite_symbol(self) -> None:
        row = self.symbols[self.random.choice(sorted(self.symbols))]
        self.symbols[row.id] = row._replace(
            doc=row.doc + "more",
            body_hash=stable_id(row.body_hash),
            complexity=row.complexity + 1,
            end_line=row.end_line + 2,
            signature="def g()",
        )

    def remove_symbol(self) -> None:
        candidates = sorted(one for one, symbol in self.symbols.items() if symbol.kind != "module")
        if candidates:
            one = self.random.choice(candidates)
            del self.symbols[one]
            self._forget({one})
            self.chunks = {key: chunk for key, chunk in self.chunks.items() if chunk.symbol_id != one}
            self.unresolved = {key: site for key, site in self.unresolved.items() if site.caller_id != one}

    def rename_symbol(self, one: str) -> list[tuple[str, str]]:
        """Another name for a symbol, same body; gives back what moved where."""
        self.counter += 1
        row = self.symbols[one]
        name = f"renamed{self.counter}"
        new = symbol_id(PROJECT, row.path, name, row.kind, 0)
        self.symbols[new] = row._replace(id=new, name=name, qualname=name)
        return self._rename({one: new})

    def move_file(self, one: str) -> list[tuple[str, str]]:
        """Another path for a file and everything in it; gives back what moved where."""
        self.counter += 1
        row = self.files[one]
        path = f"moved/é{self.counter}.py"
        names = {one: file_id(PROJECT, path)}
        self.files[names[one]] = row._replace(id=names[one], path=path)
        for symbol in [symbol for symbol in self.symbols.values() if symbol.path == row.path]:
            names[symbol.id] = symbol_id(PROJECT, path, symbol.qualname, symbol.kind, 0)
            self.symbols[names[symbol.id]] = symbol._replace(id=names[symbol.id], path=path)
        for symbol in [self.symbols[new] for new in names.values() if new in self.symbols]:
            self.symbols[symbol.id] = symbol._replace(parent_id=names.get(symbol.parent_id, ""))
        for key, chunk in [(key, chunk) for key, chunk in self.chunks.items() if chunk.path == row.path]:
            del self.chunks[key]
            new = chunk_id(PROJECT, path, chunk.title, 0)
            self.chunks[new] = chunk._replace(id=new, path=path)
        for key, site in self.unresolved.items():
            if site.path == row.path:
                self.unresolved[key] = site._replace(path=path)
        return self._rename(names)

    def _rename(self, names: dict[str, str]) -> list[tuple[str, str]]:
        for part in (self.files, self.symbols):
            for old in names:
                part.pop(old, None)  # type: ignore[attr-defined]
        edges = [edge._replace(src=names.get(edge.src, edge.src), dst=names.get(edge.dst, edge.dst)) for edge in self.edges.values()]
        self.edges = {edge[:3]: edge for edge in edges}
        self.chunks = {key: row._replace(symbol_id=names.get(row.symbol_id, row.symbol_id)) for key, row in self.chunks.items()}
        self.unresolved = {key: row._replace(caller_id=names.get(row.caller_id, row.caller_id)) for key, row in self.unresolved.items()}
        for key, row in self.symbols.items():
            self.symbols[key] = row._replace(parent_id=names.get(row.parent_id, row.parent_id))
        return sorted(names.items())

    def add_edges(self, count: int = 3) -> None:
        for _ in range(count):
            kind = self.random.choice((*TO_SYMBOLS, "CALLS", "IMPORTS"))
            src = self.random.choice(sorted(self.files if kind == "IMPORTS" else self.symbols))
            if kind != "TESTS" and self.random.random() < 0.3:
                name = f"os.path{self.random.randint(1, 9)}"
                dst = external_id(PROJECT, "os", name)
                self.externals[dst] = ExternalRow(dst, "os", name)
            else:
                dst = self.random.choice(sorted(self.files if kind == "IMPORTS" else self.symbols))
            self._edge(kind, src, dst, self.random.randint(1, 80))
        self._drop_unused()

    def remove_edges(self) -> None:
        loose = [key for key in self.edges if key[0] != "DEFINES"]
        for key in self.random.sample(loose, min(len(loose), 3)):
            del self.edges[key]
        self._drop_unused()

    def change_evidence(self) -> None:
        for key in self.random.sample(sorted(self.edges), min(len(self.edges), 4)):
            edge = self.edges[key]
            lines = sorted({edge.line, edge.line + self.random.randint(0, 5), edge.line + 7})
            self.edges[key] = edge._replace(
                confidence=self.random.choice((0.35, 0.9, 1.0)), rule=self.random.choice(RULES), lines=",".join(map(str, lines))
            )

    def change_chunk(self) -> None:
        if self.chunks:
            row = self.chunks[self.random.choice(sorted(self.chunks))]
            self.chunks[row.id] = row._replace(text=row.text + "…", text_hash=stable_id(row.text_hash))

    def change_unresolved(self) -> None:
        if self.unresolved:
            row = self.unresolved[self.random.choice(sorted(self.unresolved))]
            self.unresolved[row.id] = row._replace(line=row.line + 1, reason="dynamic")

    def _symbol(self, row: SymbolRow) -> None:
        self.symbols[row.id] = row

    def _edge(self, kind: str, src: str, dst: str, line: int) -> None:
        lines = sorted({line, line + self.random.choice((0, 0, 4))})
        row = EdgeRow(kind, src, dst, self.random.choice((1.0, 0.8)), "ast", self.random.choice(RULES), line, ",".join(map(str, lines)))
        self.edges.setdefault(row[:3], row)

    def _forget(self, gone: set[str]) -> None:
        self.edges = {key: edge for key, edge in self.edges.items() if edge.src not in gone and edge.dst not in gone}
        self._drop_unused()

    def _drop_unused(self) -> None:
        used = {edge.dst for edge in self.edges.values()}
        self.externals = {one: row for one, row in self.externals.items() if one in used}


def check_equal(store: KuzuStore, world: World) -> None:
    """The store holds exactly this world, by every way of asking, in both directions of every edge."""
    tables = store.tables()
    for table, rows in (
        (tables.files, world.files),
        (tables.symbols, world.symbols),
        (tables.externals, world.externals),
        (tables.unresolved, world.unresolved),
        (tables.edges, world.edges),
        (store.chunks(), world.chunks),
    ):
        assert [tuple(row.values()) for row in table.to_pylist()] == [tuple(rows[key]) for key in sorted(rows)]
    paths = sorted(row.path for row in world.files.values())[::2]
    found = store.rows_of(paths, paths)
    inside = {row.id for row in [*world.symbols.values(), *world.files.values()] if row.path in paths}
    assert found.files == sorted(row for row in world.files.values() if row.path in paths)
    assert found.symbols == sorted(row for row in world.symbols.values() if row.path in paths)
    assert found.chunks == sorted(row for row in world.chunks.values() if row.path in paths)
    assert found.occurrences == sorted(row for row in world.occurrences.values() if row.path in paths)
    assert all(store.places(row.id) == row.places for row in found.occurrences)
    assert found.unresolved == sorted(row for row in world.unresolved.values() if row.path in paths)
    assert store.edges_from(paths) == [world.edges[key] for key in sorted(world.edges) if key[1] in inside]
    if isinstance(store, KuzuStore):
        check_both_directions(store)


def check_both_directions(store: KuzuStore) -> None:
    connection = store._database.connect()
    for kind in ("DEFINES", "IMPORTS", *TO_SYMBOLS, "CHUNK_OF"):
        forward = connection.rows(f"MATCH (a)-[e:{kind}]->(b) RETURN a.id, b.id").rows
        backward = connection.rows(f"MATCH (b)<-[e:{kind}]-(a) RETURN a.id, b.id").rows
        assert sorted(forward) == sorted(backward), kind
        assert connection.rows(f"MATCH ()-[e:{kind}]->() RETURN count(*)").rows == [[len(forward)]]
    linked = connection.rows("MATCH (c:Chunk)-[:CHUNK_OF]->(s:Symbol) WHERE c.symbol_id <> s.id RETURN count(*)").rows
    assert linked == [[0]]
    alone = connection.rows(
        "MATCH (c:Chunk) WHERE c.symbol_id <> '' AND NOT EXISTS { MATCH (c)-[:CHUNK_OF]->(:Symbol) } RETURN count(*)"
    ).rows
    assert alone == [[0]]
    connection.close()
    store._database._connections.remove(connection)


NOW = datetime(2025, 3, 4, 5, 6, 7, 123456, tzinfo=UTC)
MODEL = "model/one"
DIM = 8


def memory(name: str, **changes: Any) -> MemoryRow:
    """A memory of that id, complete."""
    row = MemoryRow(
        id=name,
        short_id=stable_id(name)[:4],
        fingerprint=stable_id("fingerprint", name),
        type="gotcha",
        title=f"About {name}",
        citation="",
        content=f'It\'s "{name}" // no comment \x00 🦉\n',
        confidence=0.75,
        importance=0.5,
        strength=1,
        source="user_taught",
        scope="global",
        visibility="project",
        status="confirmed",
        needs_review=False,
        user_verified=True,
        disputed=False,
        contaminated=False,
        tags=("a", "b,c", "", "[d]"),
        created_at=NOW,
        updated_at=NOW,
        last_accessed_at=None,
        valid_from=NOW,
        valid_to=None,
        stale_at=None,
        deprecated_at=None,
        injected_count=0,
        used_count=2,
        confirmed_count=1,
        origin="user",
        half_life_days=None,
        commit_sha=None,
        work_unit=None,
        details=None,
        text_hash=stable_id("text", name),
        embedding_model=MODEL,
    )
    return row._replace(**changes)


def session(name: str, **changes: Any) -> SessionRow:
    """A session of that id, complete."""
    return SessionRow(name, "an agent", "chat", f"Session {name}", NOW, None, "", "{}", None)._replace(**changes)


def vectors_of(memories: Iterable[MemoryRow], dim: int = DIM) -> pa.Table:
    """A vector for each memory; the same one for the same text."""
    hashes = sorted({row.text_hash for row in memories})
    values = [number for text_hash in hashes for number in random.Random(text_hash).choices(range(1, 99), k=dim)]
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(values, pa.float32()), dim)
    return pa.table({"text_hash": pa.array(hashes, pa.string()), "vector": vectors})


def linked(row: MemoryRow, target: Any, role: str = "about") -> AboutRow:
    """A link from a memory to a row of the code as it is now."""
    label = {FileRow: "File", SymbolRow: "Symbol", ExternalRow: "External"}[type(target)]
    return AboutRow(row.id, target.id, label, role, 0.75, getattr(target, "body_hash", ""), "c0ffee", "valid")


def about(*links: AboutRow) -> KnowledgeDelta:
    """New memories with these links, and nothing else."""
    names = sorted({link.memory_id for link in links})
    return KnowledgeDelta(memories=[memory(name) for name in names], anchored=names, about=links)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def new_world() -> type[World]:
    return World


@pytest.fixture
def equal() -> Callable[[KuzuStore, World], None]:
    return check_equal


@pytest.fixture
def both_directions() -> Callable[[KuzuStore], None]:
    return check_both_directions


class Child:
    """A process of its own that runs a few lines, with this suite's World at hand."""

    def __init__(self, engine: str, path: Path, code: str) -> None:
        prelude = f"""
            import importlib.util, sys
            spec = importlib.util.spec_from_file_location("suite", {str(Path(__file__))!r})
            suite = importlib.util.module_from_spec(spec)
            sys.modules["suite"] = suite
            spec.loader.exec_module(suite)
            from graphmem.errors import *
            from graphmem.store import files, open_store
            path = {str(path)!r}
            def reopen(**options):
                return open_store(path, **{{"engine": {engine!r}, "max_db_bytes": 1 << 30, **options}})
            def say(*words):
                print(*words, flush=True)
        """
        source = textwrap.dedent(prelude) + textwrap.dedent(code)
        # In a group of its own: what it forks holds its pipes, too, and has to go with it.
        self.process = subprocess.Popen(
            [sys.executable, "-c", source], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )

    def line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(self.process.communicate()[1])
        return line.strip()

    def kill(self) -> str:
        os.kill(self.process.pid, signal.SIGKILL)
        return self.process.communicate()[0]

    def end(self, timeout_s: float = 60) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=timeout_s)
        return self.process.returncode, out, err


@pytest.fixture
def child(engine: str, path: Path) -> Iterator[Callable[..., Child]]:
    started: list[Child] = []

    def start(code: str, at: Path | None = None) -> Child:
        started.append(Child(engine, at or path, code))
        return started[-1]

    yield start
    for one in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(one.process.pid, signal.SIGKILL)
        one.process.communicate()


class Making:
    """Makers of rows, for tests."""

    memory = staticmethod(memory)
    session = staticmethod(session)
    vectors = staticmethod(vectors_of)
    linked = staticmethod(linked)
    about = staticmethod(about)
    now = NOW
    model = MODEL
    dim = DIM


@pytest.fixture
def make() -> type[Making]:
    return Making


@pytest.fixture
def wait_until() -> Callable[[Callable[[], bool]], None]:
    def wait(true: Callable[[], bool], timeout_s: float = 10) -> None:
        end = time.monotonic() + timeout_s
        while not true():
            assert time.monotonic() < end, "it did not happen"
            time.sleep(0.01)

    return wait
