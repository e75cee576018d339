"""Open a database in a child process, which a crash may end."""

from __future__ import annotations

import re
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.errors import DiskFullError, ResourceError, StoreBusyError
from graphmem.runtime.process.limits import limited_memory, out_of_memory
from graphmem.runtime.process.system import FAULTS, KILLED, page_bytes
from graphmem.store.file import files
from graphmem.store.file.files import beside
from graphmem.store.file.probe import BUSY, DAMAGED, FULL

if TYPE_CHECKING:
    from graphmem.store.file.lock import Record

PROBE_SECONDS: Final = 120.0
PROBE_LOOK_S: Final = 0.05  # between two checks of its memory
PROBE_SPARE: Final = 1 << 30  # bytes of memory in addition to the buffer pool and four times the file
PROBE: Final = ".probe"  # prefix of a test copy's suffix after the database's name
_COPY: Final = re.compile(r"\.probe-[0-9a-f]{12}")


def probe_copy(path: Path) -> Path:
    """Delete old test copies of a database; return a path for a new copy.

    The name is always new, because a child of a killed process may still have an old copy open.
    """
    for old in path.parent.glob(f"{path.name}{PROBE}*"):
        if not old.name.endswith((".wal", ".shadow")):
            files.remove(old)
    return beside(path, f"{PROBE}-{uuid.uuid4().hex[:12]}")


class Probed(NamedTuple):
    """Result of opening a database in the child, with the child's output."""

    works: bool
    says: str
    database: str
    checkpoint: int


def probe_with(copy: Path, engine: str, buffer_pool_bytes: int, max_db_bytes: int, *, read_only: bool = False) -> Probed:
    """Open a copy of a database in a child process; return whether it works.

    For the other arguments, see `Engine.open`.

    Raises:
        StoreBusyError, ResourceError: the test gave no result, so the file may be intact or damaged.
    """
    sizes = (str(buffer_pool_bytes), str(max_db_bytes))
    command = [sys.executable, "-P", "-m", "graphmem.store.file.probe", engine, str(copy), *sizes, *(["read-only"] if read_only else [])]
    try:
        done, is_endless = _watched(command, _most_memory(copy, buffer_pool_bytes), PROBE_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise StoreBusyError(
            f"opening the database copy {copy.name} did not finish within {PROBE_SECONDS:g} s; try again when the machine is less busy",
            path=str(copy),
            owner=None,
        ) from error
    if is_endless:
        return Probed(False, "opening it takes far more memory than a whole file of its size can need", "", 0)
    said, died = _COPY.sub("", done.stdout.strip()), -done.returncode
    words = done.stdout.split("\t")
    if done.returncode == 0 and len(words) == 3:
        return Probed(True, "", words[1], int(words[2]))
    if done.returncode == DAMAGED and said:
        return Probed(False, said, "", 0)
    if died in FAULTS and not limited_memory():
        return Probed(False, f"the engine crashes on it (signal {died})", "", 0)
    if done.returncode == BUSY:
        raise StoreBusyError(f"the copy of the database cannot be checked ({said}); try again", path=str(copy), owner=None)
    if done.returncode == FULL:
        raise DiskFullError(said, path=str(copy))
    if died in FAULTS:
        raise out_of_memory(f"checking the database {_COPY.sub('', copy.name)}", copy)
    last = done.stderr.strip().splitlines() or ["its process said nothing"]
    why = f"its process was ended by signal {died}" if died > 0 else last[-1]
    raise ResourceError(
        said or f"the database {_COPY.sub('', copy.name)} could not be examined ({why}), and nothing was changed; try again",
        limit="examination",
        allowed=0,
        found=0,
        path=str(copy),
    )


def _most_memory(copy: Path, buffer_pool_bytes: int) -> int:
    """Return the memory limit for a process that tests a database file.

    `buffer_pool_bytes` is the engine's own limit. An intact file never needs so much memory. A damaged page can contain a wrong length, for
    which the engine would request many gigabytes.
    """
    size = sum(files.size_of(one) for one in (copy, *files.side_files(copy)))
    return buffer_pool_bytes + 4 * size + PROBE_SPARE


def _watched(command: list[str], most_bytes: int, seconds: float) -> tuple[subprocess.CompletedProcess[str], bool]:
    """Run a command, and kill it if it uses too much memory or time.

    `seconds` is the time limit. The result is the completed process, and whether it was killed because it had more than `most_bytes` in
    memory.

    Raises:
        subprocess.TimeoutExpired: the command did not end in time.
    """
    due = time.monotonic() + seconds
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace") as process:
        try:
            while True:
                try:
                    out, err = process.communicate(timeout=PROBE_LOOK_S)
                    return subprocess.CompletedProcess(command, process.returncode, out, err), False
                except subprocess.TimeoutExpired:
                    if _resident(process.pid) > most_bytes:
                        process.kill()
                        return subprocess.CompletedProcess(command, KILLED, *process.communicate()), True
                    if time.monotonic() > due:
                        raise
        finally:
            process.kill()


def _resident(pid: int) -> int:
    """Return how many bytes of the process `pid` are in memory; 0 if unknown."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * page_bytes()
    except (OSError, ValueError, IndexError):
        return 0


def is_same(probe: Probed, previous: Record) -> bool:
    """Whether a tested file is the database that the lock file describes.

    The file must have the recorded identity. The number of its checkpoint must be the recorded one or one higher.
    """
    return probe.database == previous.database and probe.checkpoint in (previous.checkpoint, previous.checkpoint + 1)
