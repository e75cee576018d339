"""A real index of starlette's installed source, and servers over it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
import starlette

from graphmem.api.app import ServerOptions, build_app
from graphmem.api.requests.context import ServerState
from graphmem.api.requests.limits import ServerLimits
from graphmem.api.serve import Server
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

# starlette's wheel has no tests; these make `tests` edges.
TESTS = """\
from starlette.requests import cookie_parser
from starlette.routing import Router, compile_path


def test_cookie_parser():
    assert cookie_parser("a=b") == {"a": "b"}


def test_compile_path():
    pattern, path_format, convertors = compile_path("/{name}")
    assert path_format == "/{name}"
    assert Router(routes=[])
"""


def _starlette(root: Path) -> Path:
    """Copies starlette's source, and adds tests of it."""
    shutil.copytree(Path(starlette.__file__).parent, root / "starlette", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "tests").mkdir()
    (root / "tests" / "test_starlette.py").write_text(TESTS, encoding="utf-8")
    return root


@contextmanager
def _indexed(repository: Path, index: Path) -> Iterator[GraphMem]:
    with GraphMem.open(index, repo=repository, settings=Settings(embedder="none")) as memory:
        memory.index(repository)
        yield memory


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository of all tests that only ask."""
    return _starlette(tmp_path_factory.mktemp("api") / "project")


@pytest.fixture(scope="session")
def service(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphMem]:
    """The service of all tests that only ask; those that change something use `own`."""
    with _indexed(repository, tmp_path_factory.mktemp("index")) as memory:
        yield memory


class Client:
    """Asks a server on loopback."""

    def __init__(self, address: str, port: int, state: ServerState) -> None:
        self.address = address
        self.port = port
        self.state = state  # of the server, which runs in this process
        self.http = httpx.Client(base_url=address, timeout=30, trust_env=False)

    def post(self, body: Any, **headers: str) -> httpx.Response:
        return self.http.post("/graphql", json=body, headers=headers)

    def answer(self, query: str, **variables: Any) -> dict[str, Any]:
        """The whole body."""
        response = self.post({"query": query, "variables": variables})
        assert response.status_code == 200, response.text
        return response.json()

    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        """The data of an answer without errors."""
        body = self.answer(query, **variables)
        assert "errors" not in body, body["errors"]
        return body["data"]

    def refused(self, query: str, **variables: Any) -> dict[str, Any]:
        """The only error."""
        response = self.post({"query": query, "variables": variables})
        body = response.json()
        assert "errors" in body, response.text
        (error,) = body["errors"]
        return error


@contextmanager
def serving(service: Any, options: ServerOptions | None = None) -> Iterator[Client]:
    """A server in a thread, ended at the end."""
    app = build_app(service, options)
    server = Server(app, "127.0.0.1", 0)
    ready = threading.Event()
    thread = threading.Thread(target=server.run, args=(lambda host, port: ready.set(),))
    thread.start()
    try:
        assert ready.wait(10)
        client = Client(f"http://127.0.0.1:{server.port}", server.port, app.state.server)
        with client.http:
            yield client
    finally:
        server.stop()
        thread.join(10)
        assert not thread.is_alive()


@pytest.fixture(scope="session")
def client(service: GraphMem) -> Iterator[Client]:
    with serving(service) as client:
        yield client


class Own(NamedTuple):
    """A project that the tests of one file may change."""

    repository: Path
    service: GraphMem
    client: Client


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Own]:
    folder = tmp_path_factory.mktemp("own")
    repository = _starlette(folder / "project")
    with _indexed(repository, folder / "index") as service, serving(service) as client:
        yield Own(repository, service, client)


Serve = Callable[..., Client]


@pytest.fixture
def serve(service: GraphMem) -> Iterator[Serve]:
    """A server with options of its own: `serve(token="…")`, `serve(limits=…)`, `serve(service=…)`."""
    with ExitStack() as stack:

        def start(service: Any = service, **options: Any) -> Client:
            return stack.enter_context(serving(service, ServerOptions(**options)))

        yield start


@pytest.fixture
def limited(serve: Serve) -> Serve:
    """A server with limits of its own: `limited(depth=3)`."""
    return lambda **limits: serve(limits=ServerLimits(**limits))


class Call(NamedTuple):
    """One verb call."""

    verb: str
    size: int  # of its first argument, when that is a list


class Counting:
    """The real service, with a list of the verbs it was asked."""

    def __init__(self, service: GraphMem) -> None:
        self._service = service
        self.calls: list[Call] = []

    def __getattr__(self, verb: str) -> Any:
        attribute = getattr(self._service, verb)
        if not callable(attribute):
            return attribute

        def counted(*args: Any, **kwargs: Any) -> Any:
            self.calls.append(Call(verb, len(args[0]) if args and isinstance(args[0], list) else 1))
            return attribute(*args, **kwargs)

        return counted


@pytest.fixture
def counting(service: GraphMem) -> Counting:
    return Counting(service)
