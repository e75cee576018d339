"""One suite, every engine: `pytest tests/store --engine ladybug` runs it all on the other one.

A process can only use one engine, so the default run is on kuzu and `test_other_engine.py` starts the rest. Tests that only read and write
run on PostgreSQL too.
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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from graphmem.knowledge import AboutRow, KnowledgeDelta, MemoryRow, SessionRow
from graphmem.model import ExternalRow, FileRow, SymbolRow, stable_id
from graphmem.store import open_store
from graphmem.store.base import GraphStore
from graphmem.store.kuzu_store import KuzuStore
from worlds import TO_SYMBOLS, World


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


@pytest.fixture(scope="session")
def begun_database(engine: str, empty_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that holds the world a test begins with, made once and copied."""
    path = tmp_path_factory.mktemp("begun") / "graph.db"
    _copy_closed(empty_database, path)
    with open_store(path, engine=engine, max_db_bytes=1 << 30) as store:
        store.apply(World().full())
    return path


def _copy_closed(database: Path, path: Path) -> None:
    shutil.copy(database, path)
    shutil.copy(database.with_name("graph.db.lock"), path.with_name(path.name + ".lock"))


@pytest.fixture
def open_at(engine: str, empty_database: Path) -> Iterator[Callable[..., KuzuStore]]:
    opened: list[KuzuStore] = []

    def opener(path: Path, **options: Any) -> KuzuStore:
        options.setdefault("max_db_bytes", 1 << 30)
        if not path.exists() and not options.get("read_only"):
            _copy_closed(empty_database, path)
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
    begun = request.node.get_closest_marker("begun")
    if getattr(request, "param", "") == POSTGRESQL:
        elsewhere: GraphStore = request.getfixturevalue("in_postgres")()
        if begun:
            elsewhere.apply(World().full())
        return elsewhere
    if begun:
        _copy_closed(request.getfixturevalue("begun_database"), path)
    opened = open_at(path)
    return as_server(opened) if getattr(request, "param", "") == SERVER else opened


SERVER = "server"
POSTGRESQL = "postgresql"
"""The variants of `store` that tests of reading and writing run on as well."""

READ_AND_WRITE = ("test_store_conformance", "test_store_known_rows", "test_store_memories", "test_store_vectors")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "begun: the store holds the fixture `world` already, as its first generation")
    config.addinivalue_line("markers", "local: needs the file of the store, or the engine behind it")
    config.addinivalue_line("markers", "own: shows graphmem's own checks, locks and quarantine, which no engine changes")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test of these modules that only reads and writes on every kind of store."""
    asked = set(inspect.signature(metafunc.function).parameters)
    local = {"open_at", "path", "monkeypatch"} & asked or metafunc.definition.get_closest_marker("local")
    if "store" in asked and not local and metafunc.module.__name__.rpartition(".")[2] in READ_AND_WRITE:
        elsewhere = [SERVER, POSTGRESQL] if metafunc.config.getoption("--engine", default="kuzu") == "kuzu" else []
        metafunc.parametrize("store", ["embedded", *elsewhere], indirect=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On the other engine, run only what an engine may do otherwise: all else is the same there as in the run on kuzu."""
    if config.getoption("--engine", default="kuzu") == "kuzu":
        return
    using, same = [], []
    for item in items:
        asked = set(getattr(item, "fixturenames", ()))
        differs = "engine" in asked and "graphs_url" not in asked and not item.get_closest_marker("own")
        (using if differs else same).append(item)
    config.hook.pytest_deselected(items=same)
    items[:] = using


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
    held = {row.id: row.places for row in world.occurrences.values()}
    assert store.places([*held, "unknown"]) == held
    assert store.places([*held][:1]) == dict([*held.items()][:1])
    assert found.unresolved == sorted(row for row in world.unresolved.values() if row.path in paths)
    assert store.edges_from(paths) == [world.edges[key] for key in sorted(world.edges) if key[1] in inside]
    if isinstance(store, KuzuStore):
        check_both_directions(store)


def check_both_directions(store: KuzuStore) -> None:
    connection = store._database.connect()
    kinds = "|".join(("DEFINES", "IMPORTS", *TO_SYMBOLS, "CHUNK_OF"))  # at once: most of a statement's time is its planning
    forward = connection.rows(f"MATCH (a)-[e:{kinds}]->(b) RETURN label(e), a.id, b.id").rows
    backward = connection.rows(f"MATCH (b)<-[e:{kinds}]-(a) RETURN label(e), a.id, b.id").rows
    assert sorted(forward) == sorted(backward)
    counted = connection.rows(f"MATCH ()-[e:{kinds}]->() RETURN label(e), count(*)").rows
    assert {kind: count for kind, count in counted if count} == Counter(kind for kind, *_ in forward)
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
            sys.path.append({str(Path(__file__).parents[1] / "support")!r})
            spec = importlib.util.spec_from_file_location("suite", {str(Path(__file__))!r})
            suite = importlib.util.module_from_spec(spec)
            sys.modules["suite"] = suite
            spec.loader.exec_module(suite)
            from graphmem.errors import *
            from graphmem.store.file import files
            from graphmem.store import open_store
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
