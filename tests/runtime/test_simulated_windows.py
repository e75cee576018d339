"""graphmem with the names and modules of Windows, simulated on Linux (see `simulated_windows/sitecustomize.py`): it imports and works.

The tests show that graphmem makes no POSIX call there. It was never run on Windows, so they do not show that it works.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import pytest

from graphmem.server.owner import process_start
from posix_names import MODULES, posix_only

SUPPORT = Path(__file__).parents[1] / "support" / "simulated_windows"
REPOSITORY = Path(__file__).parents[2]
FILES = 150  # more than `parsing.pool.SMALL_SET`, so that workers parse them
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the substitutes are made of Linux calls")


@pytest.fixture
def windows(tmp_path):
    """Run Python with the simulation; returns the completed process."""
    names = tmp_path / "posix.json"
    names.write_text(json.dumps({one: sorted(posix_only(one)) for one in MODULES}), encoding="utf-8")
    path = os.pathsep.join([str(SUPPORT), str(REPOSITORY)])

    def run(*arguments: str, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": path, "GM_POSIX_NAMES": str(names), "GRAPHMEM_EMBEDDER": "none"}
        return subprocess.run([sys.executable, *arguments], cwd=cwd, env=env, capture_output=True, text=True, timeout=240, check=False)

    return run


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    for number in range(FILES):
        (root / f"part{number}.py").write_text(f"def step{number}(value):\n    return value + {number}\n", encoding="utf-8")
    (root / "orders.py").write_text("from part7 import step7\n\n\ndef total_of_an_order(x):\n    return step7(x)\n", encoding="utf-8")
    return root


def test_the_simulation_takes_names_away_from_graphmem_alone(windows):
    done = windows(
        "-c",
        "import graphmem, graphmem.runtime.process.system as s, os, fcntl; "
        "assert s.IS_WINDOWS and not s.CAN_FORK; assert os.fork and fcntl; "
        "print(hasattr(s.os, 'fork'), hasattr(s.os, 'O_CLOEXEC'), s.sys.platform)",
    )
    assert done.stdout.split() == ["False", "False", "win32"], done.stderr


def test_every_module_imports_without_the_modules_of_posix(windows):
    done = windows(
        "-c",
        "import importlib, pkgutil, graphmem\n"
        "optional = ('graphmem.pytest_plugin',)\n"
        "for one in pkgutil.walk_packages(graphmem.__path__, 'graphmem.'):\n"
        "    if not one.name.endswith('__main__') and one.name not in optional:\n"
        "        importlib.import_module(one.name)\n"
        "        print(one.name)\n",
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(done.stdout.splitlines()) > 700


@pytest.mark.parametrize("command", ["", "index", "search", "serve", "lsp", "impact"])
def test_help_of_a_command(windows, command):
    done = windows("-m", "graphmem", *command.split(), "--help")
    assert done.returncode == 0, done.stderr
    assert "Usage" in done.stdout


@pytest.mark.slow
def test_a_project_is_indexed_by_workers_changed_and_searched(windows, project):
    done = windows("-m", "graphmem", "index", str(project), "--workers", "2")
    assert done.returncode == 0, done.stderr
    found = windows("-m", "graphmem", "impact", "step7", "--json", cwd=project)
    assert "total_of_an_order" in found.stdout, found.stderr
    (project / "orders.py").write_text("from part7 import step7\n\n\ndef sum_of_a_basket(x):\n    return step7(x)\n", encoding="utf-8")
    again = windows("-m", "graphmem", "index", str(project))
    assert again.returncode == 0, again.stderr
    searched = windows("-m", "graphmem", "search", "sum of a basket", cwd=project)
    assert "orders.py" in searched.stdout, searched.stderr


@pytest.mark.slow
def test_a_client_starts_a_server_which_answers_and_ends(windows, project):
    started = windows(
        "-c",
        "import sys, pathlib; from graphmem.server.starting import find_or_start; from graphmem.location import Location\n"
        "root = pathlib.Path(sys.argv[1]); one = find_or_start(Location(root / '.graphmem', root)); print(one.pid, one.address)",
        str(project),
    )
    assert started.returncode == 0, started.stderr
    pid, address = started.stdout.split()
    try:
        with urlopen(f"{address}/health", timeout=30) as answer:
            assert json.load(answer)["pid"] == int(pid)
    finally:
        os.kill(int(pid), signal.SIGTERM)
    deadline = time.monotonic() + 60
    while process_start(int(pid)):
        assert time.monotonic() < deadline, "the server did not end"
        time.sleep(0.1)


LOCKS = """
import sys, pathlib, graphmem.runtime.process.system as s
path = pathlib.Path(sys.argv[1])
one, two, three = (s.os.open(path, s.os.O_RDWR | s.os.O_CREAT | s.OPEN) for _ in range(3))
def taken(descriptor, **how):
    try:
        s.lock(descriptor, **how)
    except BlockingIOError:
        return False
    return True
said = [taken(one), taken(two), taken(two, shared=True)]
s.write_at(two, b"others may write and read", 0)
said += [s.read_at(three, 6, 0) == b"others"]
s.unlock(one)
said += [taken(one, shared=True), taken(two, shared=True), taken(three)]
s.unlock(one); s.os.close(two)
said += [taken(three)]
print(said)
"""


def test_locks_exclude_others_and_let_readers_in_together(windows, tmp_path):
    done = windows("-c", LOCKS, str(tmp_path / "lock"))
    assert done.stdout.strip() == str([True, False, False, True, True, True, False, True]), done.stderr
