"""A process that examines a database is ended before it takes the machine's memory."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from graphmem.store.file import probing

MOST = 200 << 20
GREEDY = "held = []\nfor _ in range(400):\n    held.append(bytearray(b'x') * (8 << 20))\nprint('whole')"


def test_a_process_that_takes_more_than_a_whole_file_can_need_is_ended():
    done, is_endless = probing._watched([sys.executable, "-c", f"{GREEDY}\nimport time\ntime.sleep(600)"], MOST, 300)
    assert is_endless
    assert "whole" not in done.stdout


def test_a_process_that_takes_little_says_what_it_says():
    done, is_endless = probing._watched([sys.executable, "-c", "print('whole')"], MOST, 300)
    assert (done.returncode, done.stdout, is_endless) == (0, "whole\n", False)


def test_a_process_that_does_not_end_is_ended():
    begun = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        probing._watched([sys.executable, "-c", "import time\ntime.sleep(600)"], MOST, 0.2)
    assert time.monotonic() - begun < 300
