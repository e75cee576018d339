"""networkx's real graph with memories about it, a server over it, and a browser in front of the server."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from graphmem.api.app import ServerOptions, build_app
from graphmem.api.serve import Server
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings
from made_once import copied_index
from trees import NETWORKX

MEMORIES = (
    ("Graph.add_edge creates missing nodes silently; call has_node first to get an error.", "gotcha", ["classes/graph.py"]),
    ("Adjacency is a dict of dicts of dicts, because looking up an edge has to take constant time.", "decision", ["classes/graph.py"]),
    (
        "Traversals keep an explicit stack of iterators, so that deep graphs do not reach the recursion limit.",
        "pattern",
        ["algorithms/traversal/depth_first_search.py"],
    ),
    ("A dispatch decorator has to be the outermost one, or other backends are passed by.", "gotcha", ["utils/backends.py"]),
    ("Always sort nodes before comparing two graphs in a test.", "preference", ["utils/misc.py"]),
)


def _browser() -> Any:
    path = Path(__file__).parents[2] / "benchmarks" / "browser.py"
    spec = importlib.util.spec_from_file_location("graphmem_benchmark_browser", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


browser = _browser()


@contextmanager
def serving(service: GraphMem, **options: Any) -> Iterator[str]:
    """A server in a thread, ended at the end; its address."""
    server = Server(build_app(service, ServerOptions(**options)), "127.0.0.1", 0)
    ready = threading.Event()
    thread = threading.Thread(target=server.run, args=(lambda host, port: ready.set(),))
    thread.start()
    try:
        assert ready.wait(20)
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.stop()
        thread.join(10)
        assert not thread.is_alive()


@pytest.fixture(scope="session")
def serve() -> Callable[..., Any]:
    """`with serve(service, token="…") as address:`."""
    return serving


@contextmanager
def networkx_copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphMem]:
    """Open a service over a copy of networkx's index."""
    settings = Settings(embedder="none")
    index = copied_index(tmp_path_factory, "networkx", NETWORKX, settings)
    with GraphMem.open(index, repo=NETWORKX, settings=settings) as memory:
        yield memory


def remember_all(service: GraphMem) -> GraphMem:
    """Add `MEMORIES`, and dispute each one, so that all are in the review queue."""
    ids = [service.remember(text, type=kind, files=files).memory.id for text, kind, files in MEMORIES]
    for one in ids:
        service.dispute(one, "is it still so?")
    return service


@pytest.fixture(scope="session")
def remembered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphMem]:
    """A service over networkx with `MEMORIES`. All tests share it, so none changes it; `reviewed` is there for those that do."""
    with networkx_copy(tmp_path_factory) as memory:
        yield remember_all(memory)


@pytest.fixture
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[GraphMem, str]]:
    """A service whose memories a test may change, and the address of its server."""
    with networkx_copy(tmp_path_factory) as memory, serving(remember_all(memory)) as address:
        yield memory, address


@pytest.fixture(scope="session")
def explorer(remembered: GraphMem) -> Iterator[str]:
    """The address of a server over networkx."""
    with serving(remembered) as address:
        yield address


@pytest.fixture(scope="session")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A page in a headless browser."""
    if browser.CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    with browser.chromium(tmp_path_factory.mktemp("chromium")) as page:
        yield page


Visit = Callable[..., None]


@pytest.fixture
def visit(tab: Any) -> Iterator[Visit]:
    """Goes to an address and waits for something: `visit(address, "an expression")`; in the end the browser must have had no complaint."""
    with ExitStack() as stack:
        stack.callback(tab.call, "Page.navigate", url="about:blank")
        tab.events.clear()

        def go(address: str, ready: str) -> None:
            tab.open("about:blank")
            tab.open(address)
            tab.until(ready)

        yield go
        assert tab.troubles() == []
