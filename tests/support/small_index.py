"""A small index that is opened in this process, and real processes over it."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from commands import run_here
from forked import Forks
from graphmem import GraphMem
from graphmem.settings import Settings
from made_once import empty_index

MODULES = 6


def write_modules(root: Path, version: int = 0) -> Path:
    """A package whose modules call each other in a ring."""
    root.mkdir(parents=True, exist_ok=True)
    for number in range(MODULES):
        following = (number + 1) % MODULES
        (root / f"m{number}.py").write_text(
            f"from m{following} import f{following}\n\n\ndef f{number}(value):\n    return f{following}(value) + {version}\n"
        )
    return root


@pytest.fixture(scope="session")
def settings() -> Settings:
    return Settings(embedder="none", workers=1, max_db_gb=1)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return write_modules(tmp_path / "repo")


@pytest.fixture
def open_index(tmp_path: Path, settings: Settings) -> Iterator[Callable[..., GraphMem]]:
    """Open the index of the test, or another; everything is closed at the end."""
    opened: list[GraphMem] = []

    def opener(name: str = "index", **changes: object) -> GraphMem:
        given = Settings(**{"embedder": "none", "workers": 1, "max_db_gb": 1, **changes}) if changes else settings
        opened.append(GraphMem.open(empty_index(tmp_path / name), settings=given))
        return opened[-1]

    yield opener
    for memory in opened:
        memory.close()


@functools.cache
def _six_modules() -> Path:
    folder = Path.home() / "six-modules"  # the home of this process, which goes with it
    with GraphMem.open(folder / "index", settings=Settings(embedder="none", workers=1, max_db_gb=1), keep_warm=False) as memory:
        memory.index(write_modules(folder / "repo"))
        for number in range(3):
            memory.remember(f"the ring begins at number {number}", id=f"memory-{number}", files=[f"m{number}.py"])
    return folder / "index"


@pytest.fixture
def index(open_index: Callable[..., GraphMem], repo: Path, tmp_path: Path) -> GraphMem:
    """An index of six modules and three memories, copied: each test changes its own."""
    shutil.copytree(_six_modules(), tmp_path / "index")
    memory = open_index()
    memory.parts.store.set_meta({"root": str(repo)})
    return memory


@pytest.fixture(scope="session")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHMEM_")}
    return {**kept, "XDG_DATA_HOME": str(tmp_path_factory.mktemp("data")), "GRAPHMEM_EMBEDDER": "none", "GRAPHMEM_WORKERS": "1"}


@pytest.fixture(scope="session")
def forks(environ: Mapping[str, str]) -> Iterator[Forks]:
    """Run `graphmem ARGS` as a process of its own: `forks.run("search", "ring", cwd=root)`."""
    with Forks(environ) as made:
        yield made


@pytest.fixture
def here(environ: Mapping[str, str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `graphmem ARGS` in this process, for tests that have no index open meanwhile."""

    def run(*args: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        done = run_here(environ, *args, cwd=cwd)
        return subprocess.CompletedProcess(args, done.code, done.out, done.err)

    return run


@pytest.fixture
def open_memory(tmp_path):
    """Opens an index by name; closes all at the end."""
    opened = []

    def make(name="index", **settings):
        memory = GraphMem.open(empty_index(tmp_path / name), settings=Settings(embedder="none", **settings))
        opened.append(memory)
        return memory

    yield make
    for memory in opened:
        memory.close()
