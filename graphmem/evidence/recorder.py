"""Record which functions of a project run, and which code calls them.

From Python 3.12 on, `sys.monitoring` reports the start of functions. This report can be disabled for each function outside the project.
Earlier versions use `sys.setprofile`, which reports every call and return. The cost of a repeated call is one look-up in a set and one in a
dictionary. This module imports only the standard library, because it runs inside the tests of other projects.
"""

from __future__ import annotations

import dis
import inspect
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from types import CodeType, FrameType
from typing import Final

from graphmem.runtime.process.system import after_fork

_RESUMED: Final = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_SHELF: Final = ("site-packages", "dist-packages", "node_modules", ".graphmem")
TOOL_NAME: Final = "graphmem"
_PROCESS_EVENTS: Final = frozenset({"os.system", "os.posix_spawn", "os.spawn", "os.exec"})  # of C functions, which are not recorded
PROCESS: Final = 0
"""Marks a bucket in which another process was started, because its code is not recorded. No object has this `id`."""
CUT: Final = 1
"""Marks a bucket in which the recording stopped before its end. No object has this `id`."""


class Recorder:
    """Records which functions of a project run, from `start` to `stop`.

    For each function it records the callers. The current thread, and every thread that starts after `start`, are recorded.

    Args:
        root: root directory; only code in files below it is recorded, without installed packages.

    Attributes:
        codes: the code objects that ran, by `id`; kept alive, so that no id is reused.
        callers: for each function of the project that ran, a map from its callers to the line of the first call. Keys are ids of code
            objects. Lines count from the first line of the caller's code; callers outside the project have -1.
        stamps: for each file of the project, its modification time and size when its first function ran.
    """

    def __init__(self, root: str) -> None:
        self.codes: dict[int, CodeType] = {}
        self.callers: dict[int, dict[int, int]] = {}
        self.stamps: dict[str, tuple[int, int]] = {}  # by `co_filename`
        self._roots = {os.path.join(os.path.abspath(root), ""), os.path.join(os.path.realpath(root), "")}  # noqa: PTH118, PTH100
        inner = os.path.realpath(sys.prefix)
        self._prefix = os.path.join(inner, "") if any(inner.startswith(one) for one in self._roots) else ""  # noqa: PTH118
        self._files: dict[str, bool] = {}
        self._bucket: set[int] = set()
        self._turn: Callable[[set[int]], None] = lambda _: None
        self._stop: Callable[[], None] = lambda: None
        self._is_on = False

    def start(self) -> None:
        """Start recording the calls of functions.

        Raises:
            RuntimeError: all tool ids of `sys.monitoring` are in use.
        """
        if sys.version_info >= (3, 12):
            self._monitor()
        else:
            self._profile()
        self._is_on = True
        # Audit hooks and callbacks after a fork cannot be unregistered, so they check `_is_on`.
        after_fork(self._forked, in_parent=True)
        sys.addaudithook(self._on_audit_event)

    def stop(self) -> None:
        """Stop recording; the recorded calls stay readable."""
        self._is_on = False
        self._stop()
        self._stop = lambda: None

    def into(self, bucket: set[int]) -> set[int]:
        """Begin to collect in a new set the functions that run.

        From now on, the `id` of the code object of each function that runs is added to `bucket`. The result is the set that was used
        before.
        """
        before, self._bucket = self._bucket, bucket
        self._turn(bucket)
        return before

    def _forked(self) -> None:
        if self._is_on:
            self._bucket.add(PROCESS)

    def _on_audit_event(self, event: str, _: object) -> None:
        if event in _PROCESS_EVENTS and self._is_on:
            self._bucket.add(PROCESS)

    def is_inside(self, code: CodeType) -> bool:
        """Whether a code object comes from a file of the project."""
        name = code.co_filename
        found = self._files.get(name)
        if found is None:
            path = os.path.abspath(name)  # noqa: PTH100
            paths = (path, os.path.realpath(path))
            found = self._files[name] = any(
                one.startswith(root) and not any(part in _SHELF for part in one[len(root) :].split(os.sep))  # noqa: PTH206
                for one in paths
                for root in self._roots
            ) and not (self._prefix and paths[1].startswith(self._prefix))
            if found:
                self.stamps[name] = stamp(path)
        return found

    def _starters(self) -> set[int]:
        """Return the ids of the functions that start a process.

        Such a function is in the standard library, for example `subprocess.Popen.__init__`. An id is the `id` of the function's code
        object. The code objects are added to `codes`.
        """
        functions = (subprocess.Popen.__init__, BaseProcess.start)
        codes = [code for function in functions if isinstance(code := getattr(function, "__code__", None), CodeType)]
        self.codes.update((id(code), code) for code in codes)
        return {id(code) for code in codes}

    def _callers_of(self, code: CodeType) -> dict[int, int] | None:
        """Register a code object that ran; return the map of its callers so far.

        The map is the entry of the code object in `Recorder.callers`. The map is empty for a new code object. The result is None if the
        code is outside the project.
        """
        self.codes[id(code)] = code
        if code.co_flags & inspect.CO_OPTIMIZED and self.is_inside(code):
            return self.callers.setdefault(id(code), {})
        return None

    def _line_in(self, frame: FrameType) -> int:
        """Return the line of the call that `frame` is making.

        The line is counted from the first line of the code. For a frame outside the project the result is -1.
        """
        code = frame.f_code
        self.codes[id(code)] = code
        return max(0, (frame.f_lineno or 0) - code.co_firstlineno) if self.is_inside(code) else -1

    def _profile(self) -> None:
        inside, known, line_in = self.callers, self._callers_of, self._line_in
        starters, outside = self._starters(), set[int]()
        begins: dict[int, int] = {}  # for generators and coroutines: their offset before the first line
        add = self._bucket.add

        def turn(bucket: set[int]) -> None:
            nonlocal add
            if sys.getprofile() is not profile:
                # Python drops a profile function in which an exception is raised, as at the recursion limit. Others set one of their own.
                add(CUT)
                sys.setprofile(profile)
            add = bucket.add

        def profile(frame: FrameType, event: str, _: object) -> None:
            if event != "call":
                return
            code = frame.f_code
            key = id(code)
            if key in outside:
                return
            callers = inside.get(key)
            if callers is None:
                if key in starters:
                    add(PROCESS)
                    return
                callers = known(code)
                if callers is None:
                    outside.add(key)
                    return
            add(key)
            if code.co_flags & _RESUMED and frame.f_lasti != begins.get(key):
                if key in begins:
                    return  # it resumes; it does not begin
                begins[key] = _beginning(code)
                if frame.f_lasti != begins[key]:
                    return
            back = frame.f_back
            if back is not None and id(back.f_code) not in callers:
                callers[id(back.f_code)] = line_in(back)

        def on_audit_event(event: str, _: object) -> None:
            # Other code may set a profile function and put ours back before the test ends.
            if event != "sys.setprofile" or not self._is_on:
                return
            setter = frame_at(1).f_code
            if setter is not turn.__code__ and setter.co_filename != of_threads:
                self._bucket.add(CUT)

        def stop() -> None:
            sys.setprofile(None)
            threading.setprofile(None)

        frame_at = sys._getframe
        of_threads = threading.Thread.run.__code__.co_filename  # each new thread sets `profile` there
        self._turn, self._stop = turn, stop
        threading.setprofile(profile)
        sys.setprofile(profile)
        sys.addaudithook(on_audit_event)

    def _monitor(self) -> None:
        monitoring = sys.monitoring  # type: ignore[attr-defined,unused-ignore]  # the floor is 3.11
        tool = next((number for number in (4, 3, 2, 0, 1, 5) if monitoring.get_tool(number) is None), None)
        if tool is None:
            raise RuntimeError(
                "the test run cannot be recorded, because other tools use all tool ids of Python's "
                "sys.monitoring; run the tests without a debugger, profiler or coverage"
            )
        inside, known, line_in = self.callers, self._callers_of, self._line_in
        starters, frame_at, disable = self._starters(), sys._getframe, monitoring.DISABLE
        add = self._bucket.add

        def turn(bucket: set[int]) -> None:
            nonlocal add
            add = bucket.add

        def on_start(code: CodeType, _: int) -> object:
            key = id(code)
            callers = inside.get(key)
            if callers is None:
                if key in starters:
                    add(PROCESS)
                    return None
                callers = known(code)
                if callers is None:
                    return disable
            add(key)
            try:
                back = frame_at(2)
            except ValueError:  # the first function of a thread started by C code
                return None
            if id(back.f_code) not in callers:
                callers[id(back.f_code)] = line_in(back)
            return None

        def stop() -> None:
            monitoring.set_events(tool, monitoring.events.NO_EVENTS)
            monitoring.register_callback(tool, monitoring.events.PY_START, None)
            monitoring.free_tool_id(tool)

        self._turn, self._stop = turn, stop
        monitoring.use_tool_id(tool, TOOL_NAME)
        monitoring.register_callback(tool, monitoring.events.PY_START, on_start)
        monitoring.set_events(tool, monitoring.events.PY_START)


def _beginning(code: CodeType) -> int:
    """Return the offset of a code object's first RESUME; -1 without one.

    The offset is the position in the bytecode. The body of a generator or coroutine begins there.
    """
    resume = dis.opmap["RESUME"]
    return next((at for at in range(0, len(code.co_code), 2) if code.co_code[at] == resume), -1)


def stamp(path: str) -> tuple[int, int]:
    """Return (modification time in nanoseconds, size in bytes) of a file.

    The result is (0, 0) if the file is missing.
    """
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)
