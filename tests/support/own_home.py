"""A home directory for each process of a run, so that no test reads or writes the memories and settings of the person who runs it."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Final

CACHES: Final = {
    "XDG_CACHE_HOME": ".cache",
    "npm_config_cache": ".npm",
    "CARGO_HOME": ".cargo",
    "RUSTUP_HOME": ".rustup",
    "GOPATH": "go",
    "NUGET_PACKAGES": ".nuget/packages",
}
"""Folders of other tools that stay where they are: variable -> folder in the person's home."""


PREFIX: Final = "graphmem-test-home-"
NEW_S: Final = 60
"""Age until which a home may not be locked yet."""


def use_own_home() -> Path:
    """Move `HOME` to a new folder, which is deleted when the process ends, or by a later run if the process was killed."""
    before = Path.home()
    for variable, folder in CACHES.items():
        if (before / folder).is_dir():
            os.environ.setdefault(variable, str(before / folder))
    delete_left_homes()
    made = Path(tempfile.mkdtemp(prefix=PREFIX))
    fcntl.flock(os.open(made, os.O_RDONLY), fcntl.LOCK_EX)  # until the process ends, however it ends
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    os.environ["HOME"] = str(made)
    return made


def delete_left_homes() -> None:
    """Delete homes of processes that were killed: nobody holds their locks."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # of another person, locked, or deleted meanwhile
            if time.time() - left.stat().st_ctime > NEW_S:
                descriptor = os.open(left, os.O_RDONLY)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(left, ignore_errors=True)
                finally:
                    os.close(descriptor)
