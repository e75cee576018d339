"""Parse many files in parallel; a crash affects one file only.

Workers are separate programs (`worker.py`) instead of a `multiprocessing` pool. So no process is forked while a database is open, and a
script that indexes at its top level is not imported again. If a worker crashes or times out, only its current file is lost. Batches are
small and results stay bytes until they are read, so memory does not grow with the repository.
"""

from __future__ import annotations

import logging
import marshal
import os
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, cast

from graphmem.errors import IndexCancelledError, IndexingError
from graphmem.model import IndexProgress
from graphmem.parsing.discovery import FoundFile
from graphmem.parsing.marker import marking
from graphmem.parsing.packing import Packed, ParsedFile
from graphmem.parsing.waiting import WaitingFiles
from graphmem.parsing.worker import READY, parse_file, receive, send, without_facts
from graphmem.runtime.process import system
from graphmem.runtime.process.faults import RAISE
from graphmem.runtime.process.processors import processors

BATCH: Final = 32
"""Files per message to a worker; one more batch is always waiting."""

SMALL_SET: Final = 128
"""Smaller sets are parsed in this process, unless they are large in bytes.

A worker takes longer to start.
"""

SMALL_SET_BYTES: Final = 1 << 20

TIME_LIMIT_S: Final = 20.0
"""Seconds of processor time that one file may take.

The parser itself gives up after five; this covers everything else. A worker that only waits may take
`worker.IDLE` times as long.
"""

_BOOT: Final = (
    "import sys; sys.path.append(sys.argv[1]); from graphmem.parsing.worker import main; "
    "main(sys.argv[2], float(sys.argv[3]), int(sys.argv[4]))"
)
_log = logging.getLogger(__name__)
_POLL_S: Final = 0.1  # interval for calling `cancelled` while nothing arrives


def default_workers() -> int:
    """Return the number of parsing processes: one per available processor.

    No processor is reserved for the calling process, because storing the results needs little processor time.
    """
    return processors()


def parse_files(
    files: Sequence[FoundFile],
    *,
    project: str,
    workers: int | None = None,
    on_progress: Callable[[IndexProgress], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    time_limit_s: float = TIME_LIMIT_S,
    niceness: int = 0,
    marker: Path | None = None,
) -> Iterator[ParsedFile]:
    """Yield the results of parsing files, each as soon as it is ready.

    A result has the facts (definitions, uses of names, and so on) and the chunks of a file. Closing the iterator, or an exception in the
    loop that reads it, ends the workers.

    Args:
        files: discovered files.
        project: part of the chunks' ids.
        workers: processes to start; None uses `default_workers()`.
        on_progress: called after every file, with the stage "parse" and the number of parsed files.
        cancelled: called before every file and ten times a second.
        time_limit_s: seconds of processor time that one file may take in a worker.
        niceness: increases the niceness of the workers, 0 to 19, so that this process can answer requests meanwhile.
        marker: file in which this process records the file that it parses itself; see `parsing.marker`.

    Returns:
        One result per file, in any order. A file that could not be parsed is an empty module with a diagnostic of the code "unreadable",
        "crashed", "internal" or "timeout".

    Raises:
        IndexCancelledError: `cancelled` returned true.
        IndexingError: workers cannot be started.
    """
    ask = cancelled or (lambda: False)
    tell = on_progress or (lambda _: None)
    is_small = len(files) < SMALL_SET and sum(file.size_bytes for file in files) < SMALL_SET_BYTES
    found = (
        _parse_in_process(files, project, time_limit_s, niceness, ask, marker)
        if is_small
        else _Pool(files, project, workers or default_workers(), time_limit_s, niceness, ask).results()
    )
    for done, parsed in enumerate(found, 1):
        tell(IndexProgress("parse", done, len(files), parsed.head.path))
        yield parsed
        if ask():
            raise IndexCancelledError("the index run was interrupted, and the index is unchanged; index again to continue", stage="parse")


def _parse_in_process(
    files: Sequence[FoundFile], project: str, time_limit_s: float, niceness: int, ask: Callable[[], bool], marker: Path | None
) -> Iterator[ParsedFile]:
    """Parse files in this process and yield the results.

    The parameters are those of `parse_files`; `ask` returns whether parsing was cancelled. Some files are parsed last, in a worker process:
    files that ended an earlier process, and files that exceed a short time limit. Files of the second kind could exhaust the memory.
    """
    left: list[FoundFile] = []
    with marking(marker) as said:
        for file in files:
            if said.is_suspect(file.path):
                left.append(file)
                continue
            said.at(file.path)
            parsed = parse_file(file, project, hasty=True)
            if any(code == "timeout" for _, code, *_ in parsed.head.diagnostics):
                left.append(file)
            else:
                yield parsed
    if left:
        yield from _Pool(left, project, 1, time_limit_s, niceness, ask).results()


class _Worker:
    """One parsing process, with its log and the files that it has to parse."""

    def __init__(self, project: str, time_limit_s: float, niceness: int) -> None:
        import graphmem

        self.complaints: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `end`
        package = str(Path(graphmem.__file__).resolve().parent.parent)
        self.process = subprocess.Popen(
            # -P: do not import a file of the working directory that has the name of a library.
            [sys.executable, "-P", "-c", _BOOT, package, project, str(time_limit_s), str(niceness)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.complaints,
            bufsize=0,  # a selector sees the pipe, not a buffer
            **system.own_group(),  # Ctrl-C is for this process, which then ends its workers
        )
        self.input = cast("IO[bytes]", self.process.stdin)
        self.output = cast("IO[bytes]", self.process.stdout)
        self.pending: deque[FoundFile] = deque()
        self.languages: set[str] = set()  # of the files that it got
        self.is_ready = False

    def give(self, batch: list[FoundFile]) -> None:
        self.pending.extend(batch)
        self.languages.update(file.language for file in batch)
        with suppress(BrokenPipeError):  # it died; the end of its output shows that next, and `pending` lists its unanswered files
            send(self.input, marshal.dumps([tuple(file) for file in batch]))

    def answer(self) -> bytes | None:
        return receive(self.output)

    def stderr_text(self) -> str:
        self.complaints.seek(0)
        return self.complaints.read().decode("utf-8", "replace").strip()

    def end(self) -> int:
        """Kill the worker and wait for its end; return its exit code."""
        self.process.kill()
        code = self.process.wait()
        if said := self.stderr_text():
            _log.debug("a parsing process said: %s", said)
        for stream in (self.input, self.output, self.complaints):
            stream.close()
        return code


class _Pool:
    """The worker processes of one run that parses files."""

    def __init__(
        self, files: Sequence[FoundFile], project: str, workers: int, time_limit_s: float, niceness: int, ask: Callable[[], bool]
    ) -> None:
        self.project = project
        self.time_limit_s = time_limit_s
        self.niceness = niceness
        self.ask = ask
        self.waiting = WaitingFiles(files)
        self.wanted = min(workers, -(-len(files) // BATCH))
        self.pipes = system.Pipes[_Worker]()
        self.living: list[_Worker] = []

    def results(self) -> Iterator[ParsedFile]:
        try:
            for _ in range(self.wanted):
                self._start()
            while self.living:
                for worker in self.pipes.ready(_POLL_S):
                    parsed = self._received(worker)
                    if parsed is not None:
                        yield parsed
                if self.ask():
                    raise IndexCancelledError(
                        "the index run was interrupted, and the index is unchanged; index again to continue", stage="parse"
                    )
        finally:
            for worker in list(self.living):
                self._forget(worker)
            self.pipes.close()

    def _start(self) -> None:
        batch = self._next(set())
        if not batch:
            return
        worker = _Worker(self.project, self.time_limit_s, self.niceness)
        self.living.append(worker)
        self.pipes.add(worker.output, worker)
        worker.give(batch)
        self._feed(worker)

    def _next(self, known: set[str]) -> list[FoundFile]:
        """Return the next files for a worker that knows some languages."""
        elsewhere = {language for worker in self.living if worker.languages is not known for language in worker.languages}
        return self.waiting.take(BATCH, known, elsewhere)

    def _feed(self, worker: _Worker) -> None:
        """Give a worker process more files before it runs out of files.

        If no files are left for a worker, the worker is ended.
        """
        while len(worker.pending) <= BATCH and (batch := self._next(worker.languages)):
            worker.give(batch)
        if not worker.pending:
            self._forget(worker)

    def _forget(self, worker: _Worker) -> int:
        self.living.remove(worker)
        self.pipes.remove(worker.output)
        return worker.end()

    def _received(self, worker: _Worker) -> ParsedFile | None:
        message = worker.answer()
        if message is None:
            return self._buried(worker)
        if not worker.is_ready:
            worker.is_ready = message == READY
            return None
        packed = Packed(*marshal.loads(message))  # noqa: S302 - from a process this one started
        parsed = ParsedFile(packed=packed)
        worker.pending.popleft()
        self._feed(worker)
        return parsed

    def _buried(self, worker: _Worker) -> ParsedFile | None:
        """Handle a worker process that ended before it parsed all its files.

        The result is for the file that the worker was parsing: an empty module with a diagnostic. The worker's other files are given to a
        new worker.
        """
        stderr_text = worker.stderr_text()
        complaint = stderr_text.rpartition("\n")[2]
        was_ready = worker.is_ready
        self.living.remove(worker)
        self.pipes.remove(worker.output)
        code = worker.process.wait()
        worker.end()
        if code == -signal.SIGINT:  # a terminal interrupted this process before the worker had its own group
            raise IndexCancelledError("the index run was interrupted, and the index is unchanged; index again to continue", stage="parse")
        if not was_ready:
            raise IndexingError(f"a parsing process did not start: {complaint or f'exit code {code}'}; reinstall graphmem", stage="parse")
        is_late = system.ended_by_alarm(code, stderr_text)
        culprit = worker.pending.popleft() if worker.pending else None
        self.waiting.put_back(worker.pending)
        if self.waiting:
            self._start()
        if culprit is None:
            return None
        if code > 0 and not is_late and os.environ.get(RAISE):
            raise IndexingError(f"a parsing process crashed on {culprit.path}: {complaint}; reinstall graphmem", stage="parse")
        if is_late:
            return without_facts(culprit, "timeout", f"it took longer than {self.time_limit_s:g} seconds to parse")
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return without_facts(culprit, "crashed", f"the parser ended on it ({how}{': ' + complaint if complaint else ''})")
