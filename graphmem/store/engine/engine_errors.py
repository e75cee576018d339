"""Translate exceptions of the engines to errors of graphmem.

The engines raise only RuntimeError and MemoryError, with a message for people.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from graphmem.errors import (
    BadInputError,
    DatabaseDamagedError,
    DeadlineError,
    DiskFullError,
    GraphMemError,
    LimitError,
    ResourceError,
    StoreBusyError,
)
from graphmem.runtime.process.limits import refusal
from graphmem.runtime.process.system import soft_limit

# Engine messages about a file with wrong bytes. Only a separate process that reports them proves damage: see `opening`.
_DAMAGE: Final = (
    "Reading past the end",
    "Cannot read from file",
    "not a valid",
    "Cannot read checkpoint",
    "Checksum",
    "corrupted",
    "WAL",
)
# After these an open database object is not trustworthy, not even for a close.
BREAKING: Final = (DiskFullError, LimitError, ResourceError, DatabaseDamagedError)
_WRITES: Final = ("Cannot write to file", "Cannot truncate file")


def translated(engine: str, error: BaseException, path: Path, max_db_bytes: int, text: str = "", *, pool_bytes: int = 0) -> GraphMemError:
    """Convert an engine's exception to an error of graphmem.

    If the operating system refused something, such as memory, the result names this cause, even if the engine's message says otherwise.

    Args:
        engine: name of the engine.
        error: the RuntimeError or MemoryError of the engine.
        path: path of the database. It is removed from the engine's message before the message is searched for known phrases.
        max_db_bytes: address space reserved for the file.
        text: text of the statement that failed.
        pool_bytes: size of the buffer pool, which cannot be larger than the address space.
    """
    said = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    plain = said.replace(str(path), "")
    if said.startswith("Interrupted"):
        return DeadlineError("the query did not finish in its time; ask for less, or raise the limit", seconds=0.0)
    if "Could not set lock on file" in plain:
        return StoreBusyError(
            f"the database {path} is open in another process that is not graphmem; close it there", path=str(path), owner=None
        )
    if said.startswith("Unable to cast Python instance"):
        return BadInputError(
            "a value is half a surrogate pair, larger than 64 bits, or of a type that the engine does not know; correct that value",
            argument="value",
        )
    if "No more frame groups" in plain:
        return _outgrown(path, max_db_bytes)
    if "Buffer manager exception" in plain and "Mmap for size" not in plain:
        setting = "max_db_gb" if pool_bytes >= max_db_bytes else "buffer_pool_mb"
        return LimitError(
            f"the change does not fit into the memory of the database engine ({said}); raise the setting {setting}",
            limit="buffer_pool_bytes",
        )
    if (refused := refusal(error, f"{'a statement on' if text else 'opening'} {path}", path)) is not None:
        refused.facts.setdefault("reason", said)
        return refused
    if any(sign in plain for sign in _WRITES):
        return DiskFullError(
            f"the disk refused a write to {path}, and the previous index is intact; make room and try again", path=str(path), reason=said
        )
    if any(sign in plain for sign in _DAMAGE):
        return DatabaseDamagedError(
            f"{path} cannot be opened as a database ({said}); move the file to another place and index again, or restore a backup",
            path=str(path),
            reason=said,
        )
    where = f" in: {' '.join(text.split())[:300]}" if text else ""
    return GraphMemError(
        f"{engine} refused a statement ({said}){where}; report this defect to the authors of graphmem", path=str(path), reason=said
    )


def _outgrown(path: Path, max_db_bytes: int) -> LimitError:
    """Return the error for a database file larger than its address space.

    `max_db_bytes` is the address space that is reserved for the file.
    """
    has = f"{path} would become larger than the {max_db_bytes >> 20:,} MiB of address space reserved for the database"
    allowed = soft_limit("AS")
    if allowed is not None:
        remedy = f"raise the address space limit of this process (`ulimit -v`, LimitAS=), which is {allowed >> 20:,} MiB"
    else:
        remedy = "raise max_db_gb"
    return LimitError(f"{has}; {remedy}", limit="max_db_bytes", allowed=max_db_bytes, found=0)
