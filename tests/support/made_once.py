"""Make an expensive thing once for a process or for all processes of a test run, and hand out copies."""

from __future__ import annotations

import dataclasses
import fcntl
import functools
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """The directory of that name, which the first process of the run that asks for it makes. Not to be changed."""
    base = factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / f"once-{name}"
    shared.mkdir(exist_ok=True)
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "done").exists():
            shutil.rmtree(shared / "made", ignore_errors=True)
            make(shared / "made")
            (shared / "done").touch()
    return shared / "made"


def copied_index(factory: pytest.TempPathFactory, name: str, root: Path, settings: Settings | None = None) -> Path:
    """A copy of an index of a directory; the index itself is made once.

    One process makes it, which takes a fifth less processor time than two: the other processors run other tests.
    """

    def make(directory: Path) -> None:
        alone = dataclasses.replace(settings or Settings(), workers=1)
        with GraphMem.open(directory, settings=alone, keep_warm=False) as memory:
            memory.index(root)

    return Path(shutil.copytree(made_once(factory, name, make), factory.mktemp(name) / "index"))


@functools.cache
def _empty_index() -> Path:
    folder = Path.home() / "empty-index"  # the home of this process, which goes with it
    GraphMem.open(folder, settings=Settings(embedder="none", max_db_gb=1), keep_warm=False).close()
    return folder


def empty_index(folder: Path) -> Path:
    """A new index in `folder`, unless there is one: a copy costs a third of the processor time of forty new tables."""
    if not folder.exists():
        shutil.copytree(_empty_index(), folder)
    return folder
