"""A home directory for each process of a run, so that no test reads or writes the memories and settings of the person who runs it."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
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


def use_own_home() -> Path:
    """Move `HOME` to a new folder, which is deleted when the process ends."""
    before = Path.home()
    for variable, folder in CACHES.items():
        if (before / folder).is_dir():
            os.environ.setdefault(variable, str(before / folder))
    made = Path(tempfile.mkdtemp(prefix="graphmem-home-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    os.environ["HOME"] = str(made)
    return made
