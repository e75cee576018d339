"""The home directories of test runs: each run has its own, and none stays behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import own_home

RUN = """
import os, signal, sys
import own_home
own_home.NEW_S = -1
own_home.use_own_home()
print(os.environ["HOME"], flush=True)
sys.stdin.readline()
os.kill(os.getpid(), int(sys.argv[1]))
"""
NOTHING, KILL = "0", "9"


def test_a_home_is_deleted_at_the_end_and_after_a_kill_by_the_next_run_which_leaves_a_living_one(tmp_path):
    environment = {"TMPDIR": str(tmp_path), "HOME": str(tmp_path), "PYTHONPATH": str(Path(own_home.__file__).parent)}

    def start(signal: str) -> tuple[subprocess.Popen[str], Path]:
        command = [sys.executable, "-c", RUN, signal]
        started = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert started.stdout is not None
        return started, Path(started.stdout.readline().strip())

    killed, left = start(KILL)
    killed.communicate("now\n")
    assert left.is_dir()
    living, home = start(NOTHING)
    assert not left.exists()
    other, _ = start(NOTHING)
    assert home.is_dir()
    for one in (living, other):
        one.communicate("now\n")
    assert list(tmp_path.iterdir()) == []
