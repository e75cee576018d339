"""Resource limits of this process, and errors from exceeding them.

Such resources are memory, file descriptors and disk space.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from graphmem.errors import BadInputError, DiskFullError, GraphMemError, ResourceError
from graphmem.runtime.process.system import OPEN, Limit, page_bytes, soft_limit

_log = logging.getLogger(__name__)

TIGHT_BYTES: Final = 16 << 30  # with less address space than this, graphmem is frugal with it
_ARENA_MAX: Final = -8  # malloc.h: M_ARENA_MAX
_UNWINDER: Final = "libgcc_s.so.1"
_FRUGAL: Final = {"ARROW_DEFAULT_MEMORY_POOL": "system", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

_MEMORY_LIMITS: Final[tuple[tuple[Limit, str, str], ...]] = (
    ("AS", "address space", "`ulimit -v`, LimitAS="),
    ("DATA", "data", "`ulimit -d`, LimitDATA="),
)


class _Kind(NamedTuple):
    """Signs by which operating systems report one exhausted resource.

    A resource is, for example, memory or disk space. The lack of a resource is recognised by error numbers and by words in messages.
    """

    name: str
    errnos: tuple[int, ...]
    signs: str  # pattern of messages from libraries that pass on only text


_KINDS: Final = (
    _Kind("descriptors", (errno.EMFILE, errno.ENFILE), r"Too many open files"),
    _Kind(
        "memory",
        (errno.ENOMEM,),
        r"Cannot allocate memory|Mmap for size|bad_alloc|bad allocation|malloc of size|realloc of size|out of memory|start new thread"
        r"|Resource temporarily unavailable|failed to map segment|cannot allocate",
    ),
    _Kind("file_size", (errno.EFBIG,), r"File too large"),
    _Kind("read_only", (errno.EROFS,), r"Read-only file system|attempt to write a readonly database"),
    _Kind("rights", (errno.EACCES, errno.EPERM), r"Permission denied|Operation not permitted"),
    _Kind("room", (errno.ENOSPC, errno.EDQUOT), r"No space left|Disk quota exceeded|database or disk is full"),
)


_ELSEWHERE: Final = "keep the index elsewhere with --db"
_OF_THE_PROCESS: Final = ("descriptors", "memory")
_LEAST_ROOM: Final = 64 << 10  # bytes; SQLite needs half of them beside a database that it opens
_FILES_OF_SQLITE: Final = 4  # the database, its log, the index of the log, and the directory


def limited_memory() -> bool:
    """Whether this process may get less memory than the machine has free.

    If so, a lack of memory may come from a limit, and not from an input that is too large.
    """
    if soft_limit("AS") is not None or soft_limit("DATA") is not None:
        return True
    try:
        return Path("/proc/sys/vm/overcommit_memory").read_text(encoding="ascii").strip() == "2"
    except OSError:
        return False


def is_disk_full(folder: Path) -> bool:
    """Whether the disk of a folder has no room left; False if unknown."""
    try:
        return shutil.disk_usage(folder).free < _LEAST_ROOM
    except OSError:
        return False


def free_address_space() -> int | None:
    """Return the bytes of address space left; None if unlimited or unknown."""
    limit = soft_limit("AS")
    if limit is None:
        return None
    try:
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * page_bytes()
    except (OSError, ValueError, IndexError):
        return None
    return max(0, limit - used)


def be_frugal() -> None:
    """Use fewer heaps and threads if address space is short.

    Call this before libraries are loaded. Each additional heap reserves 64 MiB of address space, and each additional thread 8 MiB.
    """
    limit = soft_limit("AS")
    if limit is None or limit >= TIGHT_BYTES:
        return
    for name, value in _FRUGAL.items():
        os.environ.setdefault(name, value)
    import ctypes  # slow to load, and seldom needed

    with contextlib.suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)
    with contextlib.suppress(OSError):  # another C library
        ctypes.CDLL(_UNWINDER)  # otherwise an ending thread loads it, and ends the process if memory is lacking


def kind_of(error: BaseException, path: str = "") -> str:
    """Return the name of the used-up resource that caused an error, or "".

    The names are "descriptors", "memory", "file_size", "read_only" (a read-only disk), "rights" (no permission) and "room" (disk space).
    The result is "" for any other error.

    Args:
        error: the exception.
        path: a path that the error's message may contain. The path is removed from the message first, so that no word in the path is taken
            for a reason.
    """
    if isinstance(error, MemoryError):
        return "memory"
    if isinstance(error, OSError) and error.errno is not None:
        return next((kind.name for kind in _KINDS if error.errno in kind.errnos), "")
    if "unable to open database file" in str(error) and not _descriptors_left():
        return "descriptors"
    said = str(error).replace(path, "") if path else str(error)
    return next((kind.name for kind in _KINDS if re.search(kind.signs, said)), "")


def refusal(error: BaseException, doing: str, path: Path | str = "", elsewhere: str = _ELSEWHERE) -> GraphMemError | None:
    """Return an error that names the exhausted resource, or None.

    Resources are, for example, memory and disk space. The result is None if `error` has another cause.

    Args:
        error: the exception.
        doing: the failed work, subject of the sentence, such as "reading graph.db".
        path: the file or folder.
        elsewhere: advice for a path that cannot be written to, such as to choose another place.
    """
    kind = kind_of(error, str(path))
    if kind == "descriptors":
        allowed = soft_limit("NOFILE") or 0
        return ResourceError(
            f"{doing} failed: all {allowed:,} file descriptors of this process are in use; raise the limit (`ulimit -n`, LimitNOFILE=) "
            "or try again when fewer are open",
            limit="descriptors",
            allowed=allowed,
            found=allowed,
            path=str(path),
        )
    if kind == "memory":
        return out_of_memory(doing, path)
    if kind == "file_size":
        allowed = soft_limit("FSIZE") or 0
        most = f"a file of this process may have {allowed:,} bytes" if allowed else "the file system allows no larger file"
        return ResourceError(
            f"{doing} failed: {most}; raise the limit (`ulimit -f`, LimitFSIZE=) and try again",
            limit="file_size",
            allowed=allowed,
            found=0,
            path=str(path),
        )
    if kind == "room":
        return DiskFullError(f"{doing} failed: the disk of {path} is full; make room and try again", path=str(path))
    if kind in ("read_only", "rights"):
        why = "the disk can only be read" if kind == "read_only" else "Permission denied"
        return BadInputError(
            f"{doing} failed: {path} cannot be written to ({why}); make it writable or {elsewhere}",
            argument="path",
            path=str(path),
        )
    return None


def unless_refused(error: BaseException, doing: str, path: Path | str = "") -> None:
    """Raise an error if memory or file descriptors ran out.

    For any other `error`, nothing happens; the caller handles it. `doing` names the failed work, and `path` the file or folder.

    Raises:
        ResourceError: the whole process lacks descriptors or memory.
    """
    if kind_of(error, str(path)) in _OF_THE_PROCESS and (refused := refusal(error, doing, path)) is not None:
        raise refused from error


def refusal_of_any(error: BaseException) -> GraphMemError | None:
    """Return an error that names the used-up resource, for an uncaught error.

    Examples of a resource are memory and disk space. The result is None if `error` has another cause. It is also None if the disk is full
    but `error` does not name the file.
    """
    if isinstance(error, GraphMemError):
        return None
    path = error.filename if isinstance(error, OSError) and isinstance(error.filename, (str, Path)) else ""
    if not path and kind_of(error) not in (*_OF_THE_PROCESS, "file_size"):
        return None  # the disk and file are unknown
    return refusal(error, "the call", path, "name another place, for an index with --db")


def disk_refusal(error: OSError, doing: str, path: Path | str, elsewhere: str = _ELSEWHERE) -> GraphMemError:
    """Return an error of graphmem for a failed file operation.

    If a resource such as disk space ran out, the error names it; otherwise it has the system's reason.

    Args:
        error: the exception of the operation.
        doing: the failed work, subject of the sentence, such as "reading graph.db".
        path: the file or folder.
        elsewhere: advice for a path that cannot be written to, such as to choose another place.
    """
    return refusal(error, doing, path, elsewhere) or DiskFullError(
        f"{doing} failed: {error.strerror or error} ({path}); check the disk and its free space, then try again",
        path=str(path),
        reason=str(error),
    )


def out_of_memory(doing: str, path: Path | str = "") -> ResourceError:
    """Return an error that reports a lack of memory and names the limit.

    The limit in the message is one of this process (`ulimit`), or else the machine's memory. `doing` names the failed work, and `path` the
    file or folder.
    """
    for which, name, unit in _MEMORY_LIMITS:
        if (allowed := soft_limit(which)) is not None:
            return ResourceError(
                f"{doing} failed: this process may use {allowed >> 20:,} MiB of {name}, which is too little; raise the limit ({unit})",
                limit="address_space",
                allowed=allowed,
                found=0,
                path=str(path),
            )
    return ResourceError(
        f"{doing} failed: the machine has no memory left for it; end other programs, or lower buffer_pool_mb or max_db_gb",
        limit="memory",
        allowed=0,
        found=0,
        path=str(path),
    )


@contextmanager
def kept_if_possible(what: str) -> Iterator[None]:
    """Ignore disk errors in a `with` block that writes to a cache.

    So the caller's work continues if the disk is full or read-only. `what` is the name of the cached data for the log.
    """
    try:
        yield
    except (DiskFullError, ResourceError) as error:
        _log.info("%s were not kept: %s", what, error)
    except BadInputError as error:
        if error.facts.get("argument") not in ("read_only", "path"):
            raise
        _log.info("%s were not kept: %s", what, error)


def _descriptors_left() -> bool:
    """Whether this process can open as many files as SQLite needs at once.

    SQLite opens several files at once. If it fails to open one of them, it closes those that it opened before. So a free descriptor after
    the failure does not show that SQLite had enough.
    """
    with contextlib.ExitStack() as opened:
        for _ in range(_FILES_OF_SQLITE):
            try:
                opened.callback(os.close, os.open(os.devnull, os.O_RDONLY | OPEN))
            except OSError:
                return False
    return True
