"""One index three times: one is asked in process, another through a server, the third by commands."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from commands import FILES
from graphmem.api.app import build_app
from graphmem.api.serve import Server
from graphmem.client.remote import RemoteGraphMem
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

GIT = ["git", "-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false", "-c", "init.defaultBranch=main"]
SETTINGS = Settings(embedder="none", workers=1)


class Twins(NamedTuple):
    """The same index thrice."""

    here: GraphMem
    there: RemoteGraphMem
    root: Path
    for_commands: Path


def _committed(root: Path, message: str, day: int) -> None:
    when = f"2026-01-{day:02}T12:00:00+00:00"
    environ = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when, "PATH": "/usr/bin:/bin:/usr/local/bin"}
    subprocess.run([*GIT, "add", "-A"], cwd=root, check=True, capture_output=True, env=environ)
    subprocess.run([*GIT, "commit", "-qm", message], cwd=root, check=True, capture_output=True, env=environ)


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twins]:
    root = tmp_path_factory.mktemp("operations") / "shop"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    subprocess.run([*GIT, "init", "-q"], cwd=root, check=True, capture_output=True)
    _committed(root, "Begin the shop", 1)
    (root / "shop" / "price.py").write_text(FILES["shop/price.py"].replace("value, 2", "value, 3"), encoding="utf-8")
    _committed(root, "Round to three decimals", 2)
    with GraphMem.open(repo=root, settings=SETTINGS) as memory:
        memory.index(root)
        memory.remember("Prices are rounded to three decimals in `rounded`, never to two.", "gotcha", id="taught-one")
        memory.remember("Nobody buys on Mondays.", "fact", id="taught-zero")
        memory.remember("The cart keeps its lines in the order in which they were added.", "decision", id="taught-two")
        memory.modules()  # else a search has modules only after some other question derived them
        memory.wait_until_ready()
    copies = [root.parent / name for name in ("served", "commands")]
    for copy in copies:
        shutil.copytree(root / ".graphmem", copy)
    with GraphMem.open(repo=root, settings=SETTINGS) as here, GraphMem.open(db=copies[0], repo=root, settings=SETTINGS) as other:
        server = Server(build_app(other), "127.0.0.1", 0)
        ready = threading.Event()
        thread = threading.Thread(target=server.run, args=(lambda host, port: ready.set(),))
        thread.start()
        try:
            assert ready.wait(20)
            with RemoteGraphMem(f"http://127.0.0.1:{server.port}") as there:
                yield Twins(here, there, root, copies[1])
        finally:
            server.stop()
            thread.join(20)


@pytest.fixture(scope="module")
def apart(twins: Twins, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[GraphMem, Path]]:
    """Two further copies of the index: one is changed in process, the other by commands."""
    copies = [tmp_path_factory.mktemp(name) / "index" for name in ("in-process", "by-commands")]
    for copy in copies:
        shutil.copytree(twins.for_commands, copy)
    with GraphMem.open(db=copies[0], repo=twins.root, settings=SETTINGS) as here:
        yield here, copies[1]
