"""Makes graphmem's modules believe that they run on Windows; Python imports this at its start.

A simulation of imports and names, not of Windows. graphmem's modules, and only they, see `sys.platform == "win32"`, have no modules and no
names of POSIX (`GM_POSIX_NAMES`, from the type checker's stubs), and get `msvcrt` and `_winapi` made of Linux calls with the same meaning.
Uvicorn chooses its event loop as on Windows, where its default cannot wait for a socket. Paths, open files that cannot be replaced, and
other libraries behave as on Linux.
"""

from __future__ import annotations

import builtins
import fcntl
import json
import os
import select
import struct
import sys
import types
from pathlib import Path

MISSING = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "posix", "curses", "readline"}
ABSENT: dict[str, list[str]] = json.loads(Path(os.environ["GM_POSIX_NAMES"]).read_text(encoding="utf-8"))
_SET, _WRITE, _FREE = 37, 1, 2  # F_OFD_SETLK, F_WRLCK, F_UNLCK: like those of Windows, these locks belong to the open file


class _Seen:
    """A module without the names that Windows lacks."""

    def __init__(self, real: types.ModuleType, **own: object) -> None:
        object.__setattr__(self, "_parts", (real, frozenset(ABSENT.get(real.__name__, ())), own))

    def __getattribute__(self, name: str) -> object:
        real, absent, own = object.__getattribute__(self, "_parts")
        if name in own:
            return own[name]
        if name in absent:
            raise AttributeError(f"module {real.__name__!r} has no attribute {name!r} (simulated Windows)")
        return getattr(real, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(object.__getattribute__(self, "_parts")[0], name, value)


def _locking(descriptor: int, mode: int, size: int) -> None:
    kind = _FREE if mode == 0 else _WRITE
    at = os.lseek(descriptor, 0, os.SEEK_CUR)
    try:
        fcntl.fcntl(descriptor, _SET, struct.pack("hhqqi4x", kind, os.SEEK_SET, at, size, 0))
    except BlockingIOError as error:
        raise PermissionError(13, "Permission denied") from error


def _peek(handle: int, size: int) -> tuple[int, int]:
    if not select.select([handle], [], [], 0)[0]:
        return 0, 0
    waiting = struct.unpack("i", fcntl.ioctl(handle, 0x541B, b"\0" * 4))[0]  # FIONREAD
    if not waiting:
        raise BrokenPipeError
    return waiting, 0


def _open(path: object, flags: int, mode: int = 0o777, **more: object) -> int:
    if Path(str(path)).is_dir():
        raise PermissionError(13, "Permission denied", str(path))
    return os.open(path, flags, mode, **more)


def _kill(pid: int, number: int) -> None:
    if number == 0:
        raise AssertionError("os.kill of Windows ends the process")
    os.kill(pid, number)


MSVCRT = types.ModuleType("msvcrt")
MSVCRT.LK_UNLCK, MSVCRT.LK_NBLCK, MSVCRT.locking, MSVCRT.get_osfhandle = 0, 2, _locking, int
WINAPI = types.ModuleType("_winapi")
WINAPI.PeekNamedPipe = _peek
_import = builtins.__import__
_SEEN = {
    "sys": {"platform": "win32"},
    "os": {"name": "nt", "open": _open, "kill": _kill},
    **{name: {} for name in ("signal", "socket", "time", "errno", "mmap", "shutil", "select")},
}


def _simulated(name: str, globals: dict | None = None, locals: dict | None = None, fromlist: tuple = (), level: int = 0) -> object:  # noqa: A002
    importer = (globals or {}).get("__name__", "")
    spec = (globals or {}).get("__spec__")
    if importer == "uvicorn.loops.asyncio" and name in ("sys", "asyncio"):
        return _Seen(_import(name), **({"platform": "win32"} if name == "sys" else {"ProactorEventLoop": _proactor()}))
    ours = importer.partition(".")[0] == "graphmem" or (importer == "__main__" and spec is not None and spec.name.startswith("graphmem"))
    if not ours or level:
        return _import(name, globals, locals, fromlist, level)
    if name.partition(".")[0] in MISSING:
        raise ModuleNotFoundError(f"No module named {name!r} (simulated Windows)", name=name)
    if name == "msvcrt":
        return MSVCRT
    if name == "_winapi":
        return WINAPI
    if name == "subprocess":
        return _Seen(_import(name), CREATE_NEW_PROCESS_GROUP=0x200, CREATE_NO_WINDOW=0x08000000, Popen=_popen, run=_run)
    if name in _SEEN:
        return _Seen(_import(name), **_SEEN[name])
    return _import(name, globals, locals, fromlist, level)


def _proactor() -> type:
    """Return an event loop that lacks the methods that Windows' default loop lacks."""
    import asyncio

    def missing(*_: object) -> None:
        raise NotImplementedError

    names = ("add_reader", "remove_reader", "add_writer", "remove_writer")
    return type("ProactorEventLoop", (asyncio.SelectorEventLoop,), dict.fromkeys(names, missing))


def _popen(*words: object, **more: object) -> object:
    import subprocess

    _checked(more)
    return subprocess.Popen(*words, **more)


def _run(*words: object, **more: object) -> object:
    import subprocess

    _checked(more)
    return subprocess.run(*words, **more)


_REFUSED = ("preexec_fn", "pass_fds", "user", "group", "extra_groups", "start_new_session", "process_group")


def _checked(more: dict[str, object]) -> None:
    """Refuse what Windows refuses, and leave out what Linux does not know."""
    wrong = [name for name in _REFUSED if more.get(name)]
    if wrong:
        raise ValueError(f"{', '.join(wrong)}: not supported on Windows platforms")
    more.pop("creationflags", None)


sys.modules["uvloop"] = None  # type: ignore[assignment] # it does not exist for Windows
builtins.__import__ = _simulated
