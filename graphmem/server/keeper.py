"""What an owner does for its index when nobody asks for anything: checkpoint, compact, back up, put the model away.

One thread, one task at a time, each with the quiet it wants before it begins. A task that fails is logged and tried again later; the
owner goes on.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.runtime.faults import unraised

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphmem.project.graphmem import GraphMem

_log = logging.getLogger(__name__)

LOOK_S: Final = 5.0  # between two looks at whether something is due
ENGINE_S: Final = 120.0  # without a read or write of the database, after which it is closed
AGAIN_S: Final = 600.0  # before a task that failed is tried again


class Task(NamedTuple):
    """One thing to do when it has been quiet for long enough."""

    name: str
    quiet_s: float  # without a request before it may begin
    every_s: float  # between two times it is done
    work: Callable[[GraphMem], object]


# What is asked for when it has been quiet. A checkpoint makes the next start fast and gives back the memory that changes hold, and each one
# makes the file grow, so there are few;
# a compaction stops writes for as long as it takes to write the graph; a model is 400 MB that a query loads again in a second or two;
# look-ups are made again in a tenth of a second; the facts of all files, kept so that a changed file costs what changed, are read from
# their cache again in a second or two. Most questions are answered without the engine: it is closed when it was not needed itself,
# whatever was asked, and opened again within a third of a second.
TASKS: Final = (
    Task("checkpoint", 20.0, 120.0, lambda service: service.checkpoint_when_due()),
    Task("compaction", 60.0, 60.0, lambda service: service.compact_when_wasteful()),
    Task("backup", 0.0, 60.0, lambda service: service.backup_when_due()),
    Task("memories looked through", 5.0, 300.0, lambda service: service.prune_when_due()),
    Task("engine put away", 0.0, 20.0, lambda service: service.rest(ENGINE_S)),
    Task("vectors taken up again", 0.0, 300.0, lambda service: service.resume_vectors()),
    Task("look-ups put away", 300.0, 300.0, lambda service: service.cool()),
    Task("model put away", 300.0, 60.0, lambda service: service.unload_model()),
    Task("facts of index runs put away", 300.0, 60.0, lambda service: service.let_go()),
)


class Keeper:
    """Looks after one open index until it is stopped.

    Args:
        service: the index.
        idle_seconds: how long nobody has asked anything.
        tasks: what to do.
        look_s: between two looks.
    """

    def __init__(
        self, service: GraphMem, idle_seconds: Callable[[], float], tasks: tuple[Task, ...] = TASKS, look_s: float = LOOK_S
    ) -> None:
        self._service = service
        self._idle_seconds = idle_seconds
        self._tasks = tasks
        self._look_s = look_s
        self._stopping = threading.Event()
        self._due = dict.fromkeys((task.name for task in tasks), time.monotonic())
        self._thread = threading.Thread(target=self._work, name="graphmem-keeper", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, after the task in hand."""
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
