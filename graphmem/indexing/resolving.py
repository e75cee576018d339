"""Compute the edges of all files of a first index in several processes.

The processes are forks of one program (`resolving_worker`), so that no process with an open database is forked. The rows and dependencies
are equal to those of a single process. If the program fails, the caller resolves the files in its own process.
"""

from __future__ import annotations

import logging
import os
import pickle
import subprocess
import sys
import tempfile
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NamedTuple, cast

from graphmem.errors import ResourceError
from graphmem.indexing.inputs import PackedDependencies, numbers_of, pack, packed_numbers, unpack
from graphmem.indexing.listener import Listener
from graphmem.indexing.resolving_worker import BATCH, Batch, End, Job, Resolved, Start
from graphmem.parsing.pool import default_workers
from graphmem.parsing.worker import receive, send
from graphmem.resolution.cache.solver import NOTHING
from graphmem.resolution.files.shelf import BUDGET_BYTES
from graphmem.resolution.resolver import Dependencies
from graphmem.runtime.process import system
from graphmem.runtime.process.free_memory import free_memory

if TYPE_CHECKING:
    from graphmem.indexing.spill import Piece, Spill
    from graphmem.model import ExternalRow
    from graphmem.resolution.cache.solver import Members

MANY_FILES: Final = 400
"""With fewer files, starting the program takes longer than it saves."""

MOST_PROCESSES: Final = 8
"""More processes repeat more of each other's answers than they save in time."""

MEMORY_SHARE: Final = 2
"""Together, the processes may take one part in so many of the free memory."""

MOST_BYTES: Final = 4 << 30
"""Largest estimate of `memory_of` for several processes, however much is free.

A single process may take more. The estimate is a quarter too high: for 7,211 Python files (158 MB) it is 3.7 GB, and two processes took
2.7 GB.
"""

PROCESS_BYTES: Final = 60 << 20
"""Memory of one process without facts."""

FACTS_SHARE: Final = 16
"""Bytes of facts for each byte of source.

The facts are shared at first, but counting references copies most of them. All processes together keep at most `shelf.BUDGET_BYTES`.
"""

INDEX_SHARE: Final = 10
"""Bytes of indexes and answers for each byte of source, in each process."""

_AGAIN: Final = "graphmem tries again with one process, so you need not do anything"
_BOOT: Final = (
    "import sys; sys.path.append(sys.argv[1]); from graphmem.indexing.resolving_worker import main; main([*map(int, sys.argv[2:])])"
)
_POLL_S: Final = 0.1  # interval for asking whether to stop while nothing arrives
_log = logging.getLogger(__name__)


class Part(NamedTuple):
    """The rows of one batch of files, stored in the spill of the run.

    The spill is a temporary store. For each type of rows, a field has (position in the spill, number of rows).
    """

    symbols: tuple[Piece, int]
    edges: tuple[Piece, int]
    unresolved: tuple[Piece, int]
    occurrences: tuple[Piece, int]


class Everything(NamedTuple):
    """Result of resolving all files: their rows, externals and dependencies.

    Externals are symbols outside of the project. Dependencies are parts of other files that were read to resolve a file.
    """

    files: dict[str, Resolved]  # by path
    parts: list[Part]  # in the order of the paths
    externals: dict[str, ExternalRow]  # by id
    dependencies: PackedDependencies
    faults: dict[str, str]  # of configuration files


class _FailedError(Exception):
    """The resolving program ended before all files were resolved.

    Args:
        reason: the reason, in words for people.
        killed: whether the system killed the program, as it does when memory runs out.
    """

    def __init__(self, reason: str, *, killed: bool = False) -> None:
        super().__init__(reason)
        self.killed = killed


def resolve_everything(job: Job, processes: int, spill: Spill, listener: Listener) -> Everything | None:
    """Resolve all files of a job in a number of processes.

    If several processes fail, a single process tries again, because it needs less memory.

    Returns:
        The rows, externals and dependencies, or None if the single process failed, too. The error is in the log.

    Raises:
        IndexCancelledError: the caller stopped the run.
        DiskFullError: the rows could not be written to disk.
        ResourceError: the rows could not be written, or the system killed the single process. The caller should not resolve the files then,
            because it would need as much memory.
    """
    with ExitStack() as ends:
        complaints = ends.enter_context(tempfile.TemporaryFile())
        try:
            return _Run(job, processes, spill, listener, complaints, ends).result()
        except (_FailedError, OSError) as error:
            complaints.seek(0)
            said = complaints.read().decode("utf-8", "replace").strip()
            _log.warning("resolving in %d processes failed, so one process does it: %s", processes, said.rpartition("\n")[2] or error)
            _log.debug("the resolving program said: %s", said)
            if processes == 1 and isinstance(error, _FailedError) and error.killed:
                raise _without_memory(job) from error
    return resolve_everything(job, 1, spill, listener) if processes > 1 else None


def _without_memory(job: Job) -> ResourceError:
    needed = memory_of(1, sum(file.size_bytes for file in job.files))
    return ResourceError(
        f"resolving {len(job.files):,} files failed: the system killed the process, which needs about {needed >> 20:,} MiB of memory; "
        "end other programs or exclude folders in .graphmemignore, and index again",
        limit="memory",
        allowed=free_memory() or 0,
        found=needed,
        path=str(job.root),
    )


class _Run:
    """One run of the program `resolving_worker`, as its caller controls it."""

    def __init__(
        self,
        job: Job,
        processes: int,
        spill: Spill,
        listener: Listener,
        complaints: IO[bytes],
        ends: ExitStack,
    ) -> None:
        import graphmem

        self._job = job
        self._spill = spill
        self._listener = listener
        package = str(Path(graphmem.__file__).resolve().parent.parent)
        with ExitStack() as given:
            pipes = []
            for _ in range(processes):
                reading, writing = os.pipe()
                given.callback(os.close, writing)
                pipes.append((ends.enter_context(open(reading, "rb", buffering=0)), writing))  # noqa: PTH123
            self._outputs = [reading for reading, _ in pipes]
            self._process = subprocess.Popen(
                # -P: do not import a file of the working directory that has the name of a library.
                [sys.executable, "-P", "-c", _BOOT, package, *(str(writing) for _, writing in pipes)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=complaints,
                pass_fds=[writing for _, writing in pipes],
                **system.own_group(),  # its children end with it
            )
        ends.callback(self._end)
        self._start: Start | None = None
        self._ended: dict[int, End] = {}
        self._batches: dict[int, tuple[list[Resolved], Part]] = {}
        self._externals: dict[str, ExternalRow] = {}

    def result(self) -> Everything:
        stdin = cast("IO[bytes]", self._process.stdin)
        send(stdin, pickle.dumps(self._job, pickle.HIGHEST_PROTOCOL))
        stdin.flush()  # it stays open: its end tells the process that this one has died
        self._receive()
        if self._process.wait() or self._start is None or len(self._ended) < len(self._outputs):
            raise _FailedError(f"the process that resolves references ended early (exit code {self._process.returncode}); {_AGAIN}")
        dependencies = self._dependencies(self._start)
        files = {one.path: one for number in sorted(self._batches) for one in self._batches[number][0]}
        parts = [self._batches[number][1] for number in sorted(self._batches)]
        return Everything(files, parts, self._externals, dependencies, self._start.faults)

    def _receive(self) -> None:
        """Read the messages of all children until each has ended."""
        total, done = len(self._job.files), 0
        with closing(system.Pipes[int]()) as unread:
            for number, output in enumerate(self._outputs):
                unread.add(output, number)
            while unread:
                for number in unread.ready(_POLL_S):
                    message = receive(self._outputs[number])
                    if message is None:
                        if number not in self._ended:
                            killed = len(self._outputs) == 1 and self._process.wait() == system.KILLED
                            raise _FailedError(
                                "a process that resolves references ended before it sent all results; " + _AGAIN,
                                killed=killed,
                            )
                        unread.remove(self._outputs[number])
                        continue
                    said = _read(message)
                    if isinstance(said, Start):
                        self._start = said
                    elif isinstance(said, End):
                        self._ended[number] = said
                    else:
                        self._keep(said)
                        done += len(said.files)
                        self._listener.step("resolve", done, total, said.files[-1].path)
                self._listener.check()

    def _keep(self, batch: Batch) -> None:
        def kept(rows: tuple[bytes, int]) -> tuple[Piece, int]:
            return self._spill.write(rows[0]), rows[1]

        self._batches[batch.number] = (batch.files, Part(*map(kept, (batch.symbols, batch.edges, batch.unresolved, batch.occurrences))))
        self._externals.update((row.id, row) for row in batch.externals)

    def _dependencies(self, start: Start) -> PackedDependencies:
        """Merge the dependencies that the child processes found.

        A dependency is an input (a part of another file that was read) or a group of inputs. `start` has the inputs and groups that all
        children share. Each child numbered further inputs and groups separately, so one number can mean different inputs. The merged
        dependencies have new numbers: those that a single process would give.
        """
        if len(self._ended) == 1:
            (only,) = self._ended.values()
            shared, added = start.shared, only.added
            return PackedDependencies([*shared.keys, *added.keys], [*shared.groups, *added.groups], added.inputs)
        first = unpack(start.shared)
        keys = {key: number for number, key in enumerate(first.keys)}
        groups: list[Members | None] = list(first.groups)
        numbers: dict[tuple[int, ...], int] = {}
        inputs: dict[str, bytes] = {}
        for _, end in sorted(self._ended.items()):
            own = unpack(end.added._replace(inputs={}))
            names = {len(first.keys) + at: keys.setdefault(key, len(keys)) for at, key in enumerate(own.keys)}
            for at, members in enumerate(own.groups, len(first.groups)):
                some = tuple(sorted(names.get(one, one) for one in members or ()))
                known = numbers.get(some)
                if known is None:
                    groups.append(some)
                    known = numbers[some] = NOTHING + 1 - len(groups)
                names[NOTHING - at] = known
            for path, data in end.added.inputs.items():
                inputs[path] = packed_numbers(names.get(number, number) for number in numbers_of(data))
        return pack(Dependencies(list(keys), groups, {}))._replace(inputs=inputs)

    def _end(self) -> None:
        with suppress(ProcessLookupError):
            system.kill_group(self._process.pid)
        self._process.wait()
        cast("IO[bytes]", self._process.stdin).close()


def _read(message: bytes) -> Start | Batch | End:
    try:
        found: Start | Batch | End = pickle.loads(message)  # noqa: S301 - from a process this one started
    except Exception as error:  # whatever the classes of another version raise: the program was replaced meanwhile
        raise _FailedError(f"a message from a process that resolves references cannot be read ({error}); {_AGAIN}") from error
    return found


def processes_for(files: int, size: int, workers: int | None, free: int | None) -> int:
    """Return the number of processes that compute edges fastest.

    The result 0 means that the caller should compute the edges itself. Even a single separate process is useful, because its memory is
    released when it ends, and the caller's memory is not fragmented.

    Args:
        files: number of the files.
        size: bytes of the files.
        workers: the maximum number of processes that the user allows; None for one per processor.
        free: free bytes of memory; None if unknown.
    """
    if files < MANY_FILES or not system.CAN_FORK:
        return 0
    most = min(workers or default_workers(), files // BATCH, MOST_PROCESSES)
    while most > 1 and memory_of(most, size) > MOST_BYTES:
        most -= 1
    if free is not None:
        while most > 1 and memory_of(most + 1, size) > free // MEMORY_SHARE:  # one in reserve
            most -= 1
    return most


def memory_of(processes: int, size: int) -> int:
    """Estimate the memory that some processes need together, in bytes.

    `size` is the number of bytes of all files.
    """
    facts = FACTS_SHARE * size
    return processes * (PROCESS_BYTES + INDEX_SHARE * size) + min(processes * facts, BUDGET_BYTES)
