"""Fixtures and helpers that tests of several packages share."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import shutil
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from graphmem.embedding.hashed import HashedEmbedder
from graphmem.knowledge import MemoryRow
from graphmem.model import stable_id
from graphmem.runtime.process.faults import RAISE
from graphmem.runtime.process.heap import few_arenas
from graphmem.sharing.local_postgres import LocalPostgres, missing
from graphmem.store.base import EngineInfo, GraphReads, GraphStore, GraphWrites
from memory_disk import use_memory_disk
from own_home import use_own_home

gc.disable()  # until the tests are collected: all that importing makes is kept
os.environ.setdefault(RAISE, "1")  # an error nobody foresaw fails a test, where a user has one file less

# Speed is not what a property promises: a loaded machine neither fails an example nor the making of one.
# In continuous integration, examples are the same in each run: a failure belongs to the change. Runs of developers look for new ones.
settings.register_profile("graphmem", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=bool(os.environ.get("CI")))
settings.load_profile("graphmem")


def pytest_configure() -> None:
    """Before the folders of the run are made."""
    use_memory_disk()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Name the failed tests and their errors once more, after pytest's own summary, where a log that shows its last lines shows them."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    failed = [] if reporter is None else [report for kind in ("failed", "error") for report in reporter.stats.get(kind, [])]
    if failed and not hasattr(config, "workerinput"):
        print("", *map(_in_brief, failed[:20]), *[f"and {len(failed) - 20} more"] * (len(failed) > 20), sep="\n", flush=True)


def _in_brief(report: pytest.TestReport) -> str:
    """Return the name of a failed test, the lines of the test files on the way to its error, and the error."""
    crash = getattr(report.longrepr, "reprcrash", None)
    entries = getattr(getattr(report.longrepr, "reprtraceback", None), "reprentries", [])
    places = [entry.reprfileloc for entry in entries if getattr(entry, "reprfileloc", None) is not None]
    lines = [f"{one.path}:{one.lineno}" for one in places if one.path.startswith("tests/")]
    said = " ".join((crash.message if crash is not None else str(report.longrepr)).split())
    return f"failed: {report.nodeid} ({report.when}; {', '.join(lines)}): {said[:600]}"


HOME = use_own_home()
few_arenas()  # as a server has it: engines start threads at every opening, and each new heap asks the system for its pages


@pytest.fixture(autouse=True)
def _no_memories_of_a_person() -> Iterator[None]:
    """Delete what a test remembered for the person, in whatever project."""
    yield
    shutil.rmtree(HOME / ".graphmem", ignore_errors=True)


@pytest.fixture(autouse=True)
def _folder_goes_last(request: pytest.FixtureRequest) -> None:
    """Make the temporary folder of a test before its other fixtures, so that it is deleted after them.

    An open index whose folder is gone is not closed in an orderly way: its engine keeps the memory until the process ends.
    """
    if "tmp_path" in request.fixturenames:
        request.getfixturevalue("tmp_path")


@pytest.fixture
def lenient(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for users: an error nobody foresaw leaves out the file that brings it about."""
    monkeypatch.delenv(RAISE)


class _Server:
    """A store as an engine on a server is one: it reads and writes, and has no file."""

    MEMBERS = frozenset(name for protocol in (GraphReads, GraphWrites) for name in vars(protocol) if not name.startswith("_"))
    local = None
    cypher = None
    feed = None

    def __init__(self, store: GraphStore) -> None:
        self._behind = store
        self.engine = EngineInfo("server", "1", 0, 0, 0)
        self.notes: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name not in self.MEMBERS:
            raise AttributeError(f"an engine on a server has no {name}")
        return getattr(self._behind, name)

    def close(self) -> None:
        self._behind.close()


@pytest.fixture(scope="session")
def postgres() -> Iterator[LocalPostgres]:
    """One server for the run, with its files in memory where that is possible."""
    if reason := missing():
        if os.environ.get("NEED_POSTGRESQL"):
            pytest.fail(reason)
        pytest.skip(f"{reason} (NEED_POSTGRESQL=1 makes this a failure)")
    base = "/dev/shm" if Path("/dev/shm").is_dir() else None
    folder = Path(tempfile.mkdtemp(prefix="gm-pg-", dir=base))
    server = LocalPostgres(folder, durable=False)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def graphs_url(postgres: LocalPostgres) -> str:
    """A database for graphs; each test has a project of its own."""
    return postgres.make("graphs")


@pytest.fixture
def in_postgres(graphs_url: str) -> Iterator[Callable[..., GraphStore]]:
    """Open the graph of this test, or of another project, in PostgreSQL."""
    from graphmem.store.postgres.connections import driver
    from graphmem.store.postgres.store import open_postgres, schema_of

    own, opened, projects = uuid.uuid4().hex, [], set()

    def opener(project: str = "", **options: Any) -> GraphStore:
        projects.add(own + project)
        store = open_postgres(graphs_url, own + project, **options)
        opened.append(store)
        return store

    yield opener
    for store in opened:
        store.close()
    with driver().connect(graphs_url, autocommit=True) as connection:
        for project in projects:
            connection.execute(f"DROP SCHEMA {schema_of(project)} CASCADE")


@pytest.fixture
def as_server() -> Callable[[GraphStore], GraphStore]:
    """Hide of a store what an engine on a server does not have."""
    return _Server


NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def _memory(one: str, content: str, **changes) -> MemoryRow:
    row = MemoryRow(
        id=one,
        short_id=stable_id(content)[:8],
        fingerprint=stable_id("fp", content),
        type="fact",
        title=content[:40],
        citation=content[:20],
        content=content,
        confidence=0.8,
        importance=0.5,
        strength=1,
        source="user_taught",
        scope="global",
        visibility="project",
        status="confirmed",
        needs_review=False,
        user_verified=False,
        disputed=False,
        contaminated=False,
        tags=(),
        created_at=NOON,
        updated_at=NOON,
        last_accessed_at=None,
        valid_from=NOON,
        valid_to=None,
        stale_at=None,
        deprecated_at=None,
        injected_count=0,
        used_count=0,
        confirmed_count=0,
        origin="user",
        half_life_days=None,
        commit_sha=None,
        work_unit=None,
        details=None,
        text_hash=stable_id("text", content),
        embedding_model=HashedEmbedder().model_id,
    )
    return row._replace(**changes)


@pytest.fixture(scope="session")
def memory():
    """Makes the row of a memory: memory(id, content, **whatever else is not as usual)."""
    return _memory


# ---- the servers of a folder


def _servers_of(folder: Path) -> set[int]:
    """Servers that run and whose command line names the folder, by number.

    What a server starts has the server's command line until it has become another program: it is none.
    """
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):  # it has ended meanwhile
                command = (entry / "cmdline").read_bytes()
                state, parent, *_ = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
                if b"serve" in command.split(b"\0") and bytes(folder) in command and state not in "ZX":
                    parents[int(entry.name)] = int(parent)
    return {pid for pid, parent in parents.items() if parent not in parents}


@pytest.fixture(scope="session")
def servers_of():
    """Tells the process numbers of the servers of a folder: servers_of(folder)."""
    return _servers_of


def pytest_collection_finish() -> None:
    """Exempt modules and test items from garbage collection: no test makes them garbage."""
    gc.freeze()
    gc.enable()


FIRST = (
    *("test_other_engine.py", "test_under_stress.py", "test_limits.py", "test_inert_output.py", "test_store_anchors.py"),
    *("test_explorer_beginning.py", "test_branches_of_a_server.py", "test_store_knowledge_crashes.py", "test_security_cypher.py"),
    *("test_store_conformance.py", "test_bad_input.py", "test_projects_of_a_server.py", "test_security_fuzz_parsers.py"),
    *("test_explorer_pages.py", "test_explorer_answers.py", "test_backup.py"),
)
"""Files of the longest tests, longest first: each takes half a minute to minutes, and other workers would wait for one that begins last."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first; the others in their order."""
    places = {name: place for place, name in enumerate(FIRST)}
    items.sort(key=lambda item: places.get(item.path.name, len(FIRST)))


# ---- a language model's server on loopback that plays the answers a test hands it

Answer = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


def says(text: str | Callable[[dict[str, Any]], str]) -> Answer:
    """Return an answer with this content, in the form of the protocol."""

    def answer(handler: BaseHTTPRequestHandler, asked: dict[str, Any]) -> None:
        content = text(asked) if callable(text) else text
        raw = json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]}).encode()
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(raw)))
        handler.end_headers()
        handler.wfile.write(raw)

    return answer


def status(code: int, body: bytes = b"", **headers: str) -> Answer:
    """Answers with a status, a body as it is, and headers."""

    def answer(handler: BaseHTTPRequestHandler, asked: dict[str, Any]) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


class Playing:
    """Next answers of the server, and the requests that it received."""

    says = staticmethod(says)
    status = staticmethod(status)

    def __init__(self, server: ThreadingHTTPServer) -> None:
        self.url = f"http://127.0.0.1:{server.server_port}/v1"
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.closing = threading.Event()
        self.plays: list[Answer] = [says("yes")]  # one after the other; the last one for ever


@contextmanager
def _playing() -> Iterator[Playing]:
    """A server for the time of a test, on a port of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            number = len(made.asked)
            made.asked.append(body)
            made.headers.append(dict(self.headers))
            try:
                made.plays[min(number, len(made.plays) - 1)](self, body)
            except OSError:  # the client has hung up, as some tests want it to
                self.close_connection = True

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made = Playing(server)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="session")
def playing() -> Callable[..., Any]:
    """`with playing() as server:`, with `server.url`, `server.plays` to be set, and `server.asked`."""
    return _playing
