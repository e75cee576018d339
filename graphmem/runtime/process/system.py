"""Functions of the operating system that differ between POSIX and Windows.

All other modules use only names that both systems have; `tests/docs/test_portable.py` checks this. The code for Windows follows the
documentation of Windows. The tests run this code on Linux, with substitutes for the modules of Windows.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import time
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar

if TYPE_CHECKING:
    from ctypes import CDLL

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl
    import resource

Limit = Literal["AS", "DATA", "NOFILE", "FSIZE", "CPU", "CORE"]
"""A resource limit of a process, by the end of its POSIX name: RLIMIT_AS.

AS and DATA are bytes of memory, NOFILE open files, FSIZE bytes of a file, CPU seconds, CORE bytes of a core dump. Windows has none of them.
"""

IS_WINDOWS: Final = sys.platform == "win32"
CAN_FORK: Final = hasattr(os, "fork")
OPEN: Final[int] = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""Flags for each `os.open`: closed in child processes, and no conversion of line ends."""
REGULAR: Final[int] = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Flags for `os.open` that refuse links and do not wait for pipes."""
KILLED: Final = -9
"""Exit code of a process that the system ended with SIGKILL; never of one on Windows."""
FAULTS: Final = frozenset(getattr(signal, name) for name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL") if hasattr(signal, name))
"""Signals that end a program with a defect."""

_Key = TypeVar("_Key", bound=Hashable)

_LOCK_AT: Final = 1 << 30  # position of locked bytes on Windows: behind the content, because other processes cannot read locked bytes
_READERS: Final = 64  # bytes there: a shared lock takes one, an exclusive lock all
_LOOK_S: Final = 0.01
_CLONE: Final = 0x40049409  # FICLONE of linux/fs.h
_STILL_ACTIVE: Final = 259  # exit code of a running process
_QUERY: Final = 0x1000  # PROCESS_QUERY_LIMITED_INFORMATION
_DENIED: Final = 5  # ERROR_ACCESS_DENIED
_ALARM_TEXT: Final = "Timeout ("  # beginning of the message of `faulthandler`


def lock(descriptor: int, *, shared: bool = False, wait: bool = False) -> None:
    """Lock an open file against other processes that also call `lock`.

    The system releases the lock when the file is closed or the process ends.

    Args:
        descriptor: the open file.
        shared: allow other shared locks, as readers do.
        wait: wait until the file is free.

    Raises:
        BlockingIOError: another process has locked the file, and `wait` is false.
    """
    if sys.platform == "win32":
        while True:
            try:
                _lock_bytes(descriptor, shared=shared)
                return
            except BlockingIOError:
                if not wait:
                    raise
                time.sleep(_LOOK_S)
    else:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))


def unlock(descriptor: int) -> None:
    """Release the lock of an open file, given by its descriptor."""
    if sys.platform == "win32":
        for at, size in ((0, _READERS), *((one, 1) for one in range(_READERS))):
            os.lseek(descriptor, _LOCK_AT + at, os.SEEK_SET)
            with contextlib.suppress(OSError):  # not locked in this way
                msvcrt.locking(descriptor, msvcrt.LK_UNLCK, size)
                return
    else:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def _lock_bytes(descriptor: int, *, shared: bool) -> None:
    """Lock some bytes of an open file, on Windows.

    `descriptor` is the file. The bytes stand for the whole file. A shared lock takes one of these bytes, so several processes can hold one.
    Any other lock takes all of the bytes.

    Raises:
        BlockingIOError: another process has locked the file.
    """
    if sys.platform == "win32":
        for at, size in [(one, 1) for one in range(_READERS)] if shared else [(0, _READERS)]:
            os.lseek(descriptor, _LOCK_AT + at, os.SEEK_SET)
            with contextlib.suppress(PermissionError):  # another process has locked one of the bytes
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, size)
                return
    raise BlockingIOError(errno.EAGAIN, "another process has locked the file; try again")


def read_at(descriptor: int, size: int, at: int) -> bytes:
    """Read up to `size` bytes at the position `at` of an open file.

    `descriptor` is the file.
    """
    if sys.platform == "win32":
        os.lseek(descriptor, at, os.SEEK_SET)
        return os.read(descriptor, size)
    return os.pread(descriptor, size, at)


def write_at(descriptor: int, data: bytes, at: int) -> None:
    """Write bytes at a position of an open file, in a single call.

    `descriptor` is the file, and `at` is the position, counted in bytes from the start of the file.
    """
    if sys.platform == "win32":
        os.lseek(descriptor, at, os.SEEK_SET)
        os.write(descriptor, data)
    else:
        os.pwrite(descriptor, data, at)


def sync(path: Path) -> None:
    """Flush a file, or the list of a directory's files, to disk.

    On Windows nothing is done for a directory, and a file must be writable.
    """
    if sys.platform == "win32":
        if path.is_dir():
            return
        descriptor = os.open(path, os.O_RDWR | OPEN)
    else:
        descriptor = os.open(path, os.O_RDONLY | OPEN)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_own(status: os.stat_result) -> bool:
    """Whether a file belongs to the account of this process.

    On Windows, the result is always True, because access lists of folders protect files there, and the owner does not matter.
    """
    if sys.platform == "win32":
        return True
    return status.st_uid == os.getuid()


def is_root() -> bool:
    """Whether this process has the rights of the superuser; not on Windows."""
    if sys.platform == "win32":
        return False
    return os.geteuid() == 0


def account() -> str:
    """Return the name of the account that runs this process.

    With sudo, the result is the account that called it. It is the account's number if the machine has no name for it.
    """
    import getpass  # only for commands of operators

    if is_root() and (caller := os.environ.get("SUDO_USER")):
        return caller
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container without an entry for its account
        return str(os.geteuid()) if sys.platform != "win32" else "unknown"


def has_account(name: str) -> bool:
    """Whether this machine has an account; always false on Windows."""
    if sys.platform == "win32":
        return False
    import pwd  # only for `organisation try`

    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def give_to(path: Path, account: str) -> None:
    """Make an account the owner of a file or directory; not on Windows."""
    if sys.platform != "win32":
        import shutil

        shutil.chown(path, account, account)


def clone(source: IO[bytes], target: IO[bytes]) -> bool:
    """Copy a file by sharing its blocks on disk; return whether this worked.

    Only Linux supports this, on file systems that can share blocks.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            fcntl.ioctl(target.fileno(), _CLONE, source.fileno())
            return True
    return False


def soft_limit(which: Limit) -> int | None:
    """Return the soft limit of a resource; None if it is unlimited.

    The soft limit is the one in force for this process. The process can raise it up to the hard limit.
    """
    return _limits(which)[0]


def hard_limit(which: Limit) -> int | None:
    """Return the hard limit of a resource; None if it is unlimited.

    The hard limit is the highest soft limit that this process may set.
    """
    return _limits(which)[1]


def set_limit(which: Limit, soft: int, hard: int | None) -> None:
    """Limit a resource of this process. Windows has no such limits.

    `which` is the resource, such as `RLIMIT_NOFILE`. `soft` is the new limit, and `hard` the highest limit that the process may set later;
    None keeps it.

    Raises:
        ValueError, OSError: the system refuses the limit.
    """
    if sys.platform != "win32":
        resource.setrlimit(getattr(resource, f"RLIMIT_{which}"), (soft, resource.RLIM_INFINITY if hard is None else hard))


def _limits(which: Limit) -> tuple[int | None, int | None]:
    if sys.platform == "win32":
        return None, None
    else:  # noqa: RET505 - the type checker reads it so
        soft, hard = resource.getrlimit(getattr(resource, f"RLIMIT_{which}"))
        return (None if soft == resource.RLIM_INFINITY else soft, None if hard == resource.RLIM_INFINITY else hard)


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and its ended children.

    On Windows, the children do not count.
    """
    if sys.platform == "win32":
        return time.process_time()
    else:  # noqa: RET505 - the type checker reads it so
        own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
        return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def peak_bytes() -> int:
    """Return the peak resident memory of this process in bytes; 0 on Windows."""
    if sys.platform == "win32":
        return 0
    else:  # noqa: RET505 - the type checker reads it so
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most << 10  # macOS counts bytes, Linux KiB


def page_bytes() -> int:
    """Return the bytes in a page of memory, the unit of files in `/proc`."""
    return _configured("SC_PAGE_SIZE", 4096)


def ticks() -> int:
    """Return the clock ticks in a second, the unit of times in `/proc`."""
    return _configured("SC_CLK_TCK", 100)


def _configured(name: str, otherwise: int) -> int:
    if sys.platform == "win32":
        return otherwise
    return os.sysconf(name)


def c_library() -> CDLL | None:
    """Return the C library of this process; None on Windows."""
    if sys.platform == "win32":
        return None
    import ctypes  # slow to load, and seldom needed

    return ctypes.CDLL(None)


def be_nice(niceness: int) -> None:
    """Lower the priority of this process by `niceness`, at most 19.

    The call has no effect on Windows.
    """
    if sys.platform != "win32":
        os.nice(niceness)


def fork() -> int:
    """Fork this process, if `CAN_FORK`; return 0 in the child."""
    if sys.platform == "win32":
        raise NotImplementedError("Windows has no fork; check `CAN_FORK` first")
    return os.fork()


def after_fork(call: Callable[[], None], *, in_parent: bool = False) -> None:
    """Call a function after each fork: in the child, or in the parent.

    By default, `call` runs in the new child. With `in_parent`, it runs in this process instead. On Windows nothing is done.
    """
    if sys.platform != "win32":
        if in_parent:
            os.register_at_fork(after_in_parent=call)
        else:
            os.register_at_fork(after_in_child=call)


def is_alive(pid: int) -> bool:
    """Whether a process with the number `pid` is running."""
    if sys.platform == "win32":  # there `os.kill` sends even signal 0
        import ctypes

        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        handle = kernel.OpenProcess(_QUERY, False, pid)
        if not handle:
            return ctypes.get_last_error() == _DENIED
        code = ctypes.c_ulong()
        known = kernel.GetExitCodeProcess(handle, ctypes.byref(code))
        kernel.CloseHandle(handle)
        return not known or code.value == _STILL_ACTIVE
    try:
        os.kill(pid, 0)  # signal 0 only tests whether the process exists
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def own_group() -> dict[str, Any]:
    """Return options of `subprocess.Popen` for a process in its own group.

    A Ctrl-C that ends this process does not reach the new one.
    """
    if sys.platform == "win32":
        import subprocess

        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"process_group": 0}


def detached() -> dict[str, Any]:
    """Return options of `subprocess.Popen` for an independent process.

    The new process continues when this process or its terminal window ends. A Ctrl-C in that window does not reach the new process.
    """
    if sys.platform == "win32":
        import subprocess

        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return {"start_new_session": True}


def kill_group(pid: int) -> None:
    """Kill a process that was started with `own_group`, and its children.

    If `pid` is 0, the group of this process is killed. On Windows only the process itself is killed.

    Raises:
        ProcessLookupError: the process has ended and was waited for.
    """
    if sys.platform == "win32":
        os.kill(pid, signal.SIGTERM)
    else:
        os.killpg(pid, signal.SIGKILL)


def alarm(cpu_s: float, wall_s: float) -> None:
    """End this process after some time, even while it runs a library's code.

    The limit that is reached first ends the process; 0 means no limit. On Windows only `wall_s` counts.

    Args:
        cpu_s: seconds of processor time.
        wall_s: seconds of wall time.
    """
    if sys.platform == "win32":
        import faulthandler  # its thread is not one of Python, so it does not wait for the interpreter

        if wall_s:
            faulthandler.dump_traceback_later(wall_s, exit=True)
        else:
            faulthandler.cancel_dump_traceback_later()
    else:
        signal.setitimer(signal.ITIMER_PROF, cpu_s)
        signal.setitimer(signal.ITIMER_REAL, wall_s)


def arm() -> None:
    """Let the signals that `alarm` sends end this process.

    A process inherits ignored signals from its parent. Call this function before `alarm`; otherwise the signals may stay ignored.
    """
    if sys.platform != "win32":
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)


def ended_by_alarm(code: int, stderr_text: str) -> bool:
    """Whether `alarm` ended a process, judged by exit code and error output."""
    if sys.platform == "win32":
        return _ALARM_TEXT in stderr_text
    return code in (-signal.SIGPROF, -signal.SIGALRM)


def wait_for_signal() -> None:
    """Wait until a signal arrives; the signal's handler may raise an error.

    On Windows the function returns after a second, so call it in a loop.
    """
    if sys.platform == "win32":
        time.sleep(1)
    else:
        signal.pause()


class Pipes(Generic[_Key]):
    """Waits for any of several pipes that can be read.

    A pipe can be read if it has data or has ended.
    """

    def __init__(self) -> None:
        self._keys: dict[IO[bytes], _Key] = {}
        if sys.platform != "win32":
            import selectors

            self._selector = selectors.DefaultSelector()

    def __bool__(self) -> bool:
        return bool(self._keys)

    def add(self, pipe: IO[bytes], key: _Key) -> None:
        """Watch a further pipe; `ready` returns `key` when the pipe has data."""
        self._keys[pipe] = key
        if sys.platform != "win32":
            self._selector.register(pipe, 1, key)  # EVENT_READ

    def remove(self, pipe: IO[bytes]) -> None:
        """Stop watching a pipe; `ready` no longer returns its key."""
        del self._keys[pipe]
        if sys.platform != "win32":
            self._selector.unregister(pipe)

    def ready(self, wait_s: float) -> list[_Key]:
        """Return the keys of pipes that have data or have ended.

        If no pipe has data or has ended, wait for up to `wait_s` seconds.
        """
        if sys.platform == "win32":
            until = time.monotonic() + wait_s
            while not (found := [key for pipe, key in self._keys.items() if _has_data(pipe)]) and time.monotonic() < until:
                time.sleep(_LOOK_S / 5)
            return found
        return [key.data for key, _ in self._selector.select(wait_s)]

    def close(self) -> None:
        """Release the resources of the system; the pipes stay open."""
        if sys.platform != "win32":
            self._selector.close()


def _has_data(pipe: IO[bytes]) -> bool:
    """Whether a pipe of Windows has bytes to read, or has ended."""
    if sys.platform == "win32":
        import _winapi

        try:
            return bool(_winapi.PeekNamedPipe(msvcrt.get_osfhandle(pipe.fileno()), 0)[0])
        except OSError:  # the other end is closed
            return True
    raise AssertionError("this function works only on Windows; check `sys.platform` first")
