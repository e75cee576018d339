"""Background maintenance of an idle server.

Examples of tasks are a checkpoint or backup of the database, and unloading the embedding model. One thread runs one task at a time. Each
task starts only when the server has been idle for the task's own minimum time. A failed task is logged and retried later, and the server
continues.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.runtime.process.faults import unraised

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphmem.project.graphmem import GraphMem

_log = logging.getLogger(__name__)

LOOK_S: Final = 5.0  # between two checks for due tasks
ENGINE_S: Final = 120.0  # without a read or write, after which the database is closed
FACTS_S: Final = 300.0  # without a request and without an index run, after which the facts of all files are released
AGAIN_S: Final = 600.0  # until a failed task is retried


class Task(NamedTuple):
    """A maintenance task, such as a backup, that runs on an idle server."""

    name: str
    quiet_s: float  # without a request before the task may start
    every_s: float  # between two runs of the task; less than LOOK_S has no effect
    work: Callable[[GraphMem], object]
    first_s: float = 0.0  # after the start of the server, before the first run


# Tasks of an idle server. A checkpoint makes the next start fast and frees the memory of changes. Each checkpoint grows the file, so there
# are few. A compaction blocks writes while it writes the graph. A model takes 400 MB, and a query loads it again in one or two seconds.
# Look-ups are rebuilt in a tenth of a second. The facts of all files make small changes cheap, and are read from their cache in one or two
# seconds. The explorer's first screen takes seconds to derive, so it is derived before it is opened. Most questions need no database
# engine. It is closed when unused, whatever was asked, and reopens within a third of a second. A backup reads everything, so the first one
# leaves the first answers of a server alone.
TASKS: Final = (
    Task("first screen derived", 2.0, 5.0, lambda service: service.derive_when_due()),
    Task("checkpoint", 20.0, 120.0, lambda service: service.checkpoint_when_due()),
    Task("compaction", 60.0, 60.0, lambda service: service.compact_when_wasteful()),
    Task("backup", 0.0, 60.0, lambda service: service.backup_when_due(), first_s=60.0),
    Task("memories looked through", 5.0, 300.0, lambda service: service.prune_when_due()),
    Task("memories of other worktrees", 0.0, LOOK_S, lambda service: service.follow_journal()),
    Task("memories shared", 0.0, 5.0, lambda service: service.sync_when_due()),
    Task("engine put away", 0.0, 20.0, lambda service: service.rest(ENGINE_S)),
    Task("vectors taken up again", 0.0, 300.0, lambda service: service.resume_vectors()),
    Task("look-ups put away", 300.0, 300.0, lambda service: service.cool()),
    Task("model put away", 300.0, 60.0, lambda service: service.unload_model()),
    Task("facts of index runs put away", FACTS_S, 60.0, lambda service: service.release_memory(FACTS_S)),
)


OF_BRANCHES: Final = tuple(one for one in TASKS if one.name in ("first screen derived", "vectors taken up again"))
"""Tasks of an open branch. Its main branch does the others."""


class Keeper:
    """Scheduler of maintenance tasks for one open index.

    Args:
        service: the service of the open index.
        idle_seconds: returns the seconds since the last request.
        tasks: the tasks to run.
        look_s: seconds between two checks for due tasks.
    """

    def __init__(
        self, service: GraphMem, idle_seconds: Callable[[], float], tasks: tuple[Task, ...] = TASKS, look_s: float = LOOK_S
    ) -> None:
        self._service = service
        self._idle_seconds = idle_seconds
        self._tasks = tasks
        self._look_s = look_s
        self._stopping = threading.Event()
        self._due = {task.name: time.monotonic() + task.first_s for task in tasks}
        self._thread = threading.Thread(target=self._work, name="graphmem-keeper", daemon=True)

    def start(self) -> None:
        """Start the maintenance thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the maintenance thread after its current task."""
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _work(self) -> None:
        while not self._stopping.wait(self._look_s):
            for task in self._tasks:
                if self._stopping.is_set():
                    return
                if time.monotonic() >= self._due[task.name]:
                    self._do(task)

    def _do(self, task: Task) -> None:
        wait = task.every_s
        try:
            if self._idle_seconds() < task.quiet_s or self._service.state().state == "indexing":
                return
            done = task.work(self._service)
            if done:
                _log.info("%s: %s", task.name, done)
        except Exception as error:  # noqa: BLE001 - one task that fails, whatever the reason, costs neither the others nor the owner
            wait = max(wait, AGAIN_S)
            if not self._stopping.is_set():
                unraised(error, f"{task.name}: tried again in {wait / 60:g} minutes; it")
        self._due[task.name] = time.monotonic() + wait
