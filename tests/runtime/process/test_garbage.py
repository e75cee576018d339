"""The collector of cyclic garbage rests while a command loads its modules and opens its index."""

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from graphmem.runtime.process.garbage import uncollected


def fail_in_the_pause() -> None:
    with uncollected():
        assert not gc.isenabled()
        int("broken")


def test_it_runs_again_after_the_pause_and_after_an_error_which_reaches_the_caller() -> None:
    with pytest.raises(ValueError, match="broken"):
        fail_in_the_pause()
    assert gc.isenabled()
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled(), "a program that paused it keeps its pause"
    finally:
        gc.enable()


def test_no_command_scans_the_modules_that_it_loads(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text("def f(): pass\n")
    program = (
        "import gc, sys\n"
        "scanned = []\n"
        "def note(phase, info):\n"
        "    if phase == 'start': scanned.append(len(gc.get_objects(generation=0)))\n"
        "gc.callbacks.append(note)\n"
        f"sys.argv = ['graphmem', 'index', {str(tmp_path / 'code')!r}, '--db', {str(tmp_path / 'db')!r}, '--quiet']\n"
        "from graphmem.__main__ import run\n"
        "try: run()\n"
        "finally: print(max(scanned, default=0))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 10_000


def test_a_server_that_cannot_start_leaves_the_collector_running(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text("def f(): pass\n")
    missing = str(tmp_path / "missing.pem")
    tls = ["--tls-cert", missing, "--tls-key", missing]
    program = (
        "import gc, sys\n"
        f"sys.argv = ['graphmem', 'serve', {str(tmp_path / 'code')!r}, '--db', {str(tmp_path / 'db')!r}, *{tls!r}]\n"
        "from graphmem.__main__ import run\n"
        "try: run()\n"
        "finally: print(gc.isenabled())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()[-1]) == (2, "True"), done.stderr
    assert "missing.pem" in done.stderr
