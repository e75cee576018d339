"""A server's process ends in order, although one of its threads does not."""

from __future__ import annotations

import subprocess
import sys

STUCK = """
import atexit, threading, time
from graphmem.runtime.process.ending import threads_ended

atexit.register(lambda: print("the interpreter shut down"))
with threads_ended(wait_s=0.2):
    threading.Thread(target=time.sleep, args=(SECONDS,), name="graphmem-sleeper", daemon=True).start()
    threading.Thread(target=time.sleep, args=(60,), name="another", daemon=True).start()
    print("stopped")
print("all ended")
"""


def ran(seconds):
    return subprocess.run([sys.executable, "-c", STUCK.replace("SECONDS", seconds)], capture_output=True, text=True, timeout=20, check=True)


def test_a_thread_that_ends_is_waited_for():
    assert ran("0.05").stdout.splitlines() == ["stopped", "all ended", "the interpreter shut down"]


def test_the_process_ends_without_a_thread_that_does_not_end_and_names_it():
    done = ran("60")
    assert done.stdout.splitlines() == ["stopped"]
    assert "graphmem-sleeper did not end within 0.2 s" in done.stderr
    assert "another" not in done.stderr
