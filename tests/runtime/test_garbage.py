"""The collector of cyclic garbage rests while a command loads its modules and opens its index."""

import contextlib
import gc
import subprocess
import sys
from pathlib import Path

from graphmem.runtime.garbage import uncollected


def test_it_runs_again_after_the_pause_and_after_an_error() -> None:
    with contextlib.suppress(ValueError), uncollected():
        assert not gc.isenabled()
        int("broken")
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
