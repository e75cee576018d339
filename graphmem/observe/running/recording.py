"""Convert the counts of a running session to rows of its record.

The record is the data of the session that is kept after its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from graphmem.observe.counts.scratchpad import moment
from graphmem.observe.model import CommandRun, ErrorSeen, FileStat

if TYPE_CHECKING:
    from graphmem.observe.counts.scratchpad import Scratchpad


def file_stats(pad: Scratchpad) -> Iterator[FileStat]:
    """Yield how often each file was read, edited and listed, sorted by path."""
    for path in sorted(pad.files):
        use = pad.files[path]
        yield FileStat(
            path,
            use.reads,
            use.edits,
            pad.listed.get(path, 0),
            use.added,
            use.removed,
            use.reverted,
            use.tokens,
            moment(use.first_at),
            moment(use.last_at),
            use.first_step,
            use.last_step,
        )


def command_runs(pad: Scratchpad) -> Iterator[CommandRun]:
    """Yield how often each command line ran, in order of the first runs."""
    for line, use in pad.commands.items():
        yield CommandRun(line, use.action, use.runs, use.failures, use.last_exit, round(use.seconds, 3), use.last_step)


def errors_seen(pad: Scratchpad) -> Iterator[ErrorSeen]:
    """Yield the errors of a session, in the order of first occurrence."""
    for key, use in pad.errors.items():
        steps = tuple(step for _, step in use.marks)
        yield ErrorSeen(key, use.message, use.label, use.command, use.times, use.fixed_at is not None, use.fix_files, steps)
