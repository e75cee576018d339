"""Folders of tests in memory, if it has room.

The suite writes some 20 GB of databases, and would wait for a disk.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = "PYTEST_DEBUG_TEMPROOT"  # pytest's own variable for the folder that holds the folders of its runs
PLACE: Final = Path("/dev/shm")
ROOM: Final = 8 << 30  # bytes that must be free; folders of passed tests are deleted, so that a run holds less than 2 GB at a time


def use_memory_disk() -> None:
    """Let pytest make its folders in memory, unless a place was chosen, there is little memory, or no program may run there."""
    if ROOT in os.environ or not os.access(PLACE, os.W_OK) or shutil.disk_usage(PLACE).free < ROOM or _free_memory() < ROOM:
        return
    with tempfile.TemporaryDirectory(dir=PLACE) as folder:
        script = Path(folder) / "probe"
        script.write_text("#!/bin/sh\n")
        script.chmod(0o700)
        try:
            subprocess.run([script], check=True, timeout=10)
        except (OSError, subprocess.SubprocessError):
            return  # tests put programs into their folders
    os.environ[ROOT] = str(PLACE)


def _free_memory() -> int:
    """Bytes of memory that programs may still take."""
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return 0
