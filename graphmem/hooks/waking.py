"""Start a project's server from a hook that found none.

A server ends after half an hour without a request, so the first session of a day usually finds none. The new process runs on its own. The
hook waits for it only if it may answer this event, and never longer than for an answer.
"""

# Like `hooks.entry`, without pathlib.
# ruff: noqa: PTH110, PTH113, PTH118, PTH119, PTH120

from __future__ import annotations

import os
import subprocess
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LOOK_S = 0.02


def wake(folder: str, directories: list[str], find: Callable[[], dict[str, Any] | None], patience: float) -> dict[str, Any] | None:
    """Start the server of a project; return its record if it is up in time.

    With `patience` 0, the result is None.

    Nothing is started for a project without an index, unless it is a linked Git worktree, which shares the index of the first one.

    Args:
        folder: directory in which the agent works.
        directories: directories in which the index may be.
        find: returns the record of the running server; None if none runs.
        patience: longest wait in seconds.
    """
    end = time.monotonic() + patience
    names = ("graph.db", "graph.shared")
    has_index = any(os.path.exists(os.path.join(one, name)) for one in directories for name in names)
    if not has_index and not _is_linked(directories):
        return None
    command = [sys.executable, "-P", "-m", "graphmem.server.waking", folder]
    options: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {"creationflags": 0x00000200 | 0x08000000}
    started = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=True, **options
    )
    while time.monotonic() < end:
        time.sleep(LOOK_S)
        has_ended = started.poll() is not None
        if (found := find()) is not None:
            return found
        if has_ended:
            return None
    return None


def _is_linked(directories: list[str]) -> bool:
    """Whether a project is a linked Git worktree, whose `.git` is a file.

    `directories` are the directories in which the project's index may be.
    """
    return any(os.path.isfile(os.path.join(os.path.dirname(one), ".git")) for one in directories if os.path.basename(one) == ".graphmem")
