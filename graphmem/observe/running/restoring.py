"""Restore a running session after a crash from its log of actions."""

from __future__ import annotations

from pathlib import Path

from graphmem.observe.model import SessionInfo
from graphmem.observe.running.checkpoint import Reader, act_of, info_of
from graphmem.observe.running.running import Running


def restored(path: Path) -> tuple[Running | None, int]:
    """Restore a running session after a crash from its log of actions.

    Returns:
        (session, number of intact bytes of the log). The session is None if the log cannot be used.
    """
    reader = Reader(path)
    running: Running | None = None
    starts: list[SessionInfo] = []  # a fork's own start precedes its parent's
    for line in reader:
        if line.kind == "start":
            told, roots = info_of(line.body)
            starts.append(told)
            running = Running(told, roots)
        elif running is None:
            break
        elif line.kind == "act":
            act, marks = act_of(line.body)
            running.marks.update(dict.fromkeys(marks))
            running.events += len(marks)
            running.interpreter.count = act.n
            running.apply(act)
            running.interpreter.note(act)
        elif line.kind == "fork":
            starts.pop()
            running = running.fork(starts[-1])
        elif line.kind == "rival":
            mark = (int(line.body["mark"][0]), int(line.body["mark"][1]))
            running.pad.rivals.setdefault(line.body["path"], []).append((line.body["other"], float(line.body["apart"]), mark))
    if running is not None:
        while len(starts) > 1:  # a fork without further lines
            starts.pop()
            running = running.fork(starts[-1])
        running.messages_since = 0
    return running, reader.size
