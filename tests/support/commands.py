"""Real `graphmem` processes over small real repositories."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from forked import Forked, Forks
from graphmem.cli import main

FILES = {
    "shop/__init__.py": "",
    "shop/price.py": (
        '"""Prices."""\n\n\ndef rounded(value: float) -> float:\n    """Two decimals."""\n    return round(value, 2)\n\n\n'
        "class Price:\n    def __init__(self, value: float) -> None:\n        self.value = rounded(value)\n\n"
        "    def total(self, count: int) -> float:\n        return rounded(self.value * count)\n"
    ),
    "shop/cart.py": (
        "from shop.price import Price\n\n\nclass Cart:\n    def __init__(self) -> None:\n        self.lines: list[Price] = []\n\n"
        "    def add(self, value: float) -> None:\n        self.lines.append(Price(value))\n\n"
        "    def total(self) -> float:\n        return sum(line.total(1) for line in self.lines)\n\n\n"
        "def checkout(cart: Cart) -> float:\n    return cart.total()\n"
    ),
    "tests/test_cart.py": (
        "from shop.cart import Cart, checkout\n\n\ndef test_checkout() -> None:\n"
        "    cart = Cart()\n    cart.add(1.0)\n    assert checkout(cart) == 1.0\n"
    ),
    "README.md": "# Shop\n\nA cart adds prices up at checkout.\n",
}


class Ran(NamedTuple):
    """Result of a command."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """Both streams, for looking for a sentence."""
        return self.out + self.err


Run = Callable[..., Ran]


@pytest.fixture(scope="session")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment without the caller's settings, whose user data directory is a temporary one."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHMEM_")}
    return {
        **kept,
        "XDG_DATA_HOME": str(tmp_path_factory.mktemp("data")),
        "GRAPHMEM_EMBEDDER": "none",
        "GRAPHMEM_WORKERS": "1",
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }


def run_here(environ: Mapping[str, str], *args: str | Path, cwd: Path | None = None, stdin: str | None = None) -> Ran:
    """Run `graphmem ARGS` through its entry point, in this process: the same code without the start of an interpreter."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name not in environ]:
            patch.delenv(name)
        for name, value in environ.items():
            patch.setenv(name, value)
        if cwd is not None:
            patch.chdir(cwd)
        patch.setattr(sys, "argv", ["graphmem", *map(str, args)])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((stdin or "").encode()), encoding="utf-8"))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        try:
            main.run()
            code: object = 0
        except SystemExit as end:
            code = end.code or 0
    assert isinstance(code, int)
    said = []
    for stream in (out, err):
        stream.flush()
        said.append(stream.buffer.getvalue().decode("utf-8"))  # type: ignore[attr-defined]
    return Ran(code, *said)


@pytest.fixture(scope="session")
def graphmem(environ: Mapping[str, str]) -> Run:
    """Run `graphmem ARGS` in this process; see `run_here`."""

    def run(*args: str | Path, cwd: Path | None = None, stdin: str | None = None, timeout: float = 120, **variables: str) -> Ran:
        del timeout  # pytest's own ends a hanging test
        return run_here({**environ, **variables}, *args, cwd=cwd, stdin=stdin)

    return run


SERVER = ("graphmem.cli.serving", "graphmem.api.app", "graphmem.api.serve")  # what a server imports


@pytest.fixture(scope="session")
def forks(environ: Mapping[str, str]) -> Iterator[Forks]:
    """Start `graphmem ARGS` as processes of their own, servers among them."""
    with Forks(environ, SERVER) as made:
        yield made


@pytest.fixture(scope="session")
def process(forks: Forks) -> Run:
    """Run `graphmem ARGS` as a process of its own, without input, and answer how it ended."""

    def run(*args: str | Path, cwd: Path | None = None, timeout: float = 120, **variables: str) -> Ran:
        done = forks.run(*args, cwd=cwd, timeout=timeout, **variables)
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


def write(root: Path, files: Mapping[str, str]) -> Path:
    """Write files below a directory."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def git(root: Path, *args: str) -> None:
    """Run git in a directory, as nobody in particular."""
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org"}
    subprocess.run(["git", "-c", "init.defaultBranch=main", *args], cwd=root, check=True, capture_output=True, env={**os.environ, **who})


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A small repository under git, not indexed."""
    root = write(tmp_path / "shop", FILES)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    return root


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory, graphmem: Run) -> Path:
    """The same repository, indexed once for all tests that only ask."""
    root = write(tmp_path_factory.mktemp("indexed") / "shop", FILES)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    ran = graphmem("index", root)
    assert ran.code == 0, ran.said
    return root


class Server:
    """A real `graphmem serve` on a free port."""

    def __init__(self, process: Forked, root: Path) -> None:
        self.process = process
        self.root = root
        self.address = ""

    def wait_until_it_answers(self, seconds: float = 60) -> Server:
        """Read its address, which it prints once it can answer."""
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http"), self.address + self.process.stderr.read()
        return self

    def stop(self, number: int) -> int:
        """Send a signal to this process and wait for its end."""
        self.process.send_signal(number)
        return self.process.wait(30)


@pytest.fixture
def serve(forks: Forks) -> Iterator[Callable[..., Server]]:
    """Start servers that end with the test."""
    started: list[Server] = []

    def start(root: Path, *args: str | Path, **variables: str) -> Server:
        started.append(Server(forks.start("serve", root, "--port", "0", "--quiet", *args, environ=variables), root))
        return started[-1]

    yield start
    for server in started:
        server.process.kill()
        server.process.communicate(timeout=30)
