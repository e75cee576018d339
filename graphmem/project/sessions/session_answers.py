"""Convert records of agents' sessions to answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from graphmem.answers.sessions import (
    SessionCommand,
    SessionDeadEnd,
    SessionDetail,
    SessionError,
    SessionFile,
    SessionFinding,
    SessionInfo,
)
from graphmem.observe.learning.summary import title_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from graphmem.observe.model import SessionInfo as Info
    from graphmem.observe.model import SessionRecord

SHOWN: Final = 200  # maximum rows of each list of one session


def row(record: SessionRecord, state: str) -> SessionInfo:
    """Convert a session's record to one row of a list of sessions.

    `state` is "running" or "ended".
    """
    info: Info = record.info
    return SessionInfo(
        id=info.id,
        kind=info.kind,
        agent=info.agent,
        title=title_of(record, ""),
        state=state,
        outcome=info.outcome,
        ending=info.ending,
        parent=info.parent,
        group=info.group,
        methodology=info.methodology,
        work_unit=info.work_unit,
        phase=info.phase,
        branch=info.branch,
        commit_sha=info.commit_sha,
        started_at=_iso(info.started_at),
        ended_at=_iso(info.ended_at),
        events=record.events,
        steps=record.steps,
        tokens=record.tokens,
        duration_s=record.duration_s,
        files_edited=sum(1 for one in record.files if one.edits),
        findings=len(record.findings),
        contaminated=record.contaminated,
    )


def detail(record: SessionRecord) -> SessionDetail:
    """Return the most important observations of a session.

    `record` is the session's record; the session may be still running.
    """
    used = sorted((one for one in record.files if one.reads or one.edits), key=lambda one: (-one.edits, -one.reads, one.path))
    lists: dict[str, Sequence[Any]] = {
        "findings": record.findings,
        "files": used,
        "commands": record.commands,
        "errors": record.errors,
        "dead_ends": record.dead_ends,
    }
    return SessionDetail(
        injected_tokens=record.injected_tokens,
        read_tokens=sum(one.tokens for one in record.files),
        session=row(record, "ended" if record.info.ending else "running"),
        findings=[
            SessionFinding(
                one.signal,
                one.key,
                one.memory_type,
                one.value,
                one.priority,
                one.early,
                one.min_sessions,
                one.contaminated,
                one.failed_approach,
                one.quorum,
                list(one.files),
                list(one.steps),
                _plain(one.facts),
            )
            for one in record.findings[:SHOWN]
        ],
        files=[
            SessionFile(one.path, one.reads, one.edits, one.lines_added, one.lines_removed, one.reverted, one.tokens)
            for one in used[:SHOWN]
        ],
        commands=[
            SessionCommand(one.command, one.action, one.runs, one.failures, one.last_exit, one.seconds) for one in record.commands[:SHOWN]
        ],
        errors=[SessionError(one.message, one.times, one.fixed, list(one.fix_files)) for one in record.errors[:SHOWN]],
        dead_ends=[SessionDeadEnd(one.approach, one.why, list(one.reverted)) for one in record.dead_ends[:SHOWN]],
        web_sources=list(record.web_sources),
        ignored=dict(record.ignored),
        cut={name: len(rows) - SHOWN for name, rows in lists.items() if len(rows) > SHOWN},
    )


def _iso(at: datetime | None) -> str:
    return at.isoformat(timespec="seconds") if at is not None else ""


def _plain(facts: Mapping[str, object]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in facts.items()}
