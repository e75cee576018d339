"""Progress of an index run on stderr.

A terminal shows bars; other streams get one line for each stage.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Final

from graphmem.cli.output import Output
from graphmem.model import ENDED_STAGES, IndexProgress
from graphmem.runtime.texts.safe_text import inert

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_WORDS: Final = {
    "history": "reading history",
    "discover": "finding files",
    "parse": "parsing",
    "resolve": "resolving names",
    "write": "writing the graph",
    "project": "preparing answers",
    "embed": "embedding",
}

OnProgress = Callable[[IndexProgress], None]


@contextmanager
def shown_progress(output: Output) -> Iterator[OnProgress]:
    """Yield a function that shows the steps of an index run on stderr.

    The function takes one step, and any thread may call it. The function does nothing for quiet output and for JSON.
    """
    if output.quiet or output.as_json:
        yield lambda step: None
    elif output.stderr.is_terminal:
        with _bars(output) as bars:
            yield _Bars(bars)
    else:
        lines = _Lines(output)
        yield lines
        lines.finish()


@contextmanager
def followed(feed: AbstractContextManager[Iterator[IndexProgress]], on_progress: OnProgress) -> Iterator[None]:
    """Pass the steps of an index run to a function while a block runs.

    A thread reads the steps from `feed` and calls `on_progress` with each.
    """

    def listen() -> None:
        for step in steps:
            on_progress(step)

    with feed as steps:
        thread = threading.Thread(target=listen, name="graphmem-progress", daemon=True)
        thread.start()
        yield
    thread.join()


def _bars(output: Output) -> Progress:
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    return Progress(
        SpinnerColumn(finished_text="[green]✓"),
        TextColumn("{task.description:<18}"),
        BarColumn(bar_width=30),
        TimeElapsedColumn(),
        TextColumn("{task.fields[count]}"),
        TextColumn("{task.fields[message]}", style="dim", markup=False, table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")),
        console=output.stderr.console,
        expand=True,
    )


class _Bars:
    """Shows one progress bar for each stage of an index run.

    A bar is finished when the next stage starts.
    """

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}
        self._lock = threading.Lock()
        self._last = ""

    def __call__(self, step: IndexProgress) -> None:
        with self._lock:
            if step.stage != self._last:
                self._close(self._last)
                self._last = step.stage
            if step.stage in ENDED_STAGES:
                return
            if step.stage not in self._tasks:
                self._tasks[step.stage] = self._bars.add_task(_WORDS.get(step.stage, step.stage), total=None, count="", message="")
            self._bars.update(
                self._tasks[step.stage], completed=step.done, total=step.total or None, count=_count(step), message=inert(step.message)
            )

    def _close(self, stage: str) -> None:
        task = self._tasks.get(stage)
        if task is not None:
            known = next(one for one in self._bars.tasks if one.id == task)
            total = known.total or known.completed or 1
            self._bars.update(task, total=total, completed=total, message="")


class _Lines:
    """Prints one line for each finished stage of an index run, for logs."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._lock = threading.Lock()
        self._step: IndexProgress | None = None
        self._since = time.monotonic()

    def __call__(self, step: IndexProgress) -> None:
        with self._lock:
            if self._step is None or step.stage != self._step.stage:
                self._say()
                self._since = time.monotonic()
            self._step = step

    def finish(self) -> None:
        """Print the line of the index run's last stage."""
        with self._lock:
            self._say()
            self._step = None

    def _say(self) -> None:
        step = self._step
        if step is not None and step.stage not in ENDED_STAGES:
            self._output.note(f"{_WORDS.get(step.stage, step.stage):<18}{time.monotonic() - self._since:7.1f} s  {_count(step)}".rstrip())


def _count(step: IndexProgress) -> str:
    return f"{step.done:,} of {step.total:,}" if step.total else f"{step.done:,}" if step.done else ""
