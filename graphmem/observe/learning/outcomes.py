"""Derive findings from the end of a session and of its tasks.

The findings are the outcome of each unit of work (task), failing tests, and the state of unfinished work.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, Final

from graphmem.observe.model import Finding, SessionRecord
from graphmem.observe.signals import LEFT_OPEN, QA_FAILED, UNIT_DONE, Signal
from graphmem.observe.texts.words import sentences, spoken

SIGNALS: Final = frozenset({UNIT_DONE.name, QA_FAILED.name, LEFT_OPEN.name})
FILES: Final = 8
MOST_FAILED: Final = 3
_DONE: Final = frozenset({"validated", "accepted"})
_CHECKING: Final = frozenset({"validate", "refine"})  # phases
_LEFT: Final = (
    "remaining",
    "still need",
    "still has to",
    "still have to",
    "left to do",
    "next step",
    "not yet",
    "to do:",
    "todo:",
    "unfinished",
)


def outcomes(record: SessionRecord) -> Iterator[Finding]:
    """Yield findings about how a session and its tasks ended."""
    yield from _units(record)
    failing = _failing(record)
    is_check = record.info.kind == "pr_review" or record.info.phase in _CHECKING or not _edited(record)
    if failing and (is_check or record.info.outcome == "failed"):
        for command, error in failing[:MOST_FAILED]:
            yield _finding(record, QA_FAILED, f"{command}|{error}", {"command": command, "error": error}, _edited(record))
    yield from _left_open(record, failing)


def _units(record: SessionRecord) -> Iterator[Finding]:
    for unit in record.units:
        if not unit.label or not unit.outcome:
            continue
        files = tuple(one.path for one in _by_edits(record) if one.last_step >= unit.first_step and one.first_step <= unit.last_step)[
            :FILES
        ]
        if not files:
            continue  # nothing to come back to
        facts = {"label": unit.label, "outcome": unit.outcome, "actual": unit.steps, "planned": unit.planned or 0, "phase": unit.phase}
        found = _finding(record, UNIT_DONE, f"{unit.label}|{unit.outcome}", facts, files)
        yield found._replace(work_unit=unit.label, phase=unit.phase, steps=(unit.first_step, unit.last_step))


def _failing(record: SessionRecord) -> list[tuple[str, str]]:
    """Return (command, error) of each test command whose last run failed.

    Commands without a known error are left out.
    """
    failed = [one for one in record.commands if one.action == "test" and one.failures and one.last_exit != 0]
    found = []
    for run in failed:
        errors = [one for one in record.errors if one.command == run.command and not one.fixed]
        if errors:
            found.append((run.command, max(errors, key=lambda one: one.steps or (0,)).message))
    return found


def _left_open(record: SessionRecord, failing: list[tuple[str, str]]) -> Iterator[Finding]:
    """Yield a finding about edits that the session did not finish, if any.

    Three conditions must hold. The session edited files. It did not end successfully. A test fails (`failing`), or the last message says
    that work is left.
    """
    edited = _edited(record)
    left = next((one for one in sentences(spoken(record.last_message)) if any(word in one.lower() for word in _LEFT)), "")
    if not edited or record.info.outcome in _DONE or not (failing or left):
        return
    title = "" if record.contaminated else record.info.work_unit or record.info.title
    facts = {"title": title, "left": left, "command": failing[0][0] if failing else "", "error": failing[0][1] if failing else ""}
    yield _finding(record, LEFT_OPEN, record.info.id, facts, edited)


def _by_edits(record: SessionRecord) -> list[Any]:
    return sorted((one for one in record.files if one.edits > one.reverted), key=lambda one: (-one.edits, one.path))


def _edited(record: SessionRecord) -> tuple[str, ...]:
    return tuple(one.path for one in _by_edits(record)[:FILES])


def _finding(record: SessionRecord, row: Signal, key: str, facts: dict[str, Any], files: tuple[str, ...]) -> Finding:
    short = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return Finding(
        signal=row.name,
        key=f"{row.name}:{short}",
        value=row.value,
        memory_type=row.becomes[0],
        facts=facts,
        files=tuple(sorted(files)),
        priority=row.early or row.value,
        early=True,
        contaminated=record.contaminated,
        sources=record.web_sources if record.contaminated else (),
        agents=(record.info.id,),
        work_unit=record.info.work_unit,
        phase=record.info.phase,
    )
