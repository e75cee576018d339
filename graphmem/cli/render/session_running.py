"""Running sessions for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from graphmem.answers.sessions import ObserveAnswer, SessionDetail, SessionFinding, SessionInfo
from graphmem.cli.output import Output, plural
from graphmem.cli.render import common

if TYPE_CHECKING:
    from graphmem.cli.output import Cell

Row = TypeVar("Row")

# Of the keys of observe.events.REASONS.
WORDS: Final = {
    "no_session": "names no session",
    "unknown_kind": "of a kind nobody knows, or no JSON",
    "not_an_event": "no event, or a field of the wrong type",
    "duplicate": "came before, word for word",
    "flood": "after so many that this session's are no longer taken",
    "over_batch": "behind the most that one call takes",
    "too_many_sessions": "of one session more than are followed at a time",
    "after_end": "after its session's end; it goes on under a new id",
    "late": "after events of later steps; taken",
    "future": "dated ahead of this machine's clock; taken, dated now",
    "clock_back": "dated before what came before; taken",
    "text_cut": "with a text over 4 KiB; taken, cut",
    "args_cut": "with arguments too long or too many; taken, cut",
    "let_go": "pieces of evidence let go for want of room",
    "pairs_left_out": "pairs of files left out of the record",
}
MOST: Final = 15  # rows of each list; --json has them all


def observed(output: Output, answer: ObserveAnswer) -> None:
    """One line, the reasons of what was not taken, and what stands out."""
    where = f" in {', '.join(answer.sessions[:5])}" if answer.sessions else ""
    output.line((plural(answer.taken, "event"), common.NAME), f" taken{where}")
    _reasons(output, answer.ignored)
    if answer.ended:
        output.line(f"ended: {', '.join(answer.ended)}")
    if answer.early:
        output.line("stands out: " + ", ".join(answer.early[:MOST]))


def sessions(output: Output, found: Sequence[SessionInfo]) -> None:
    """One line a session."""
    if not found:
        output.line(("no session is running", common.UNSURE))
    output.rows(
        [
            [
                (common.session_name(one.id), common.NAME),
                one.started_at[:16].replace("T", " "),
                one.kind,
                one.agent,
                plural(one.events, "event"),
                plural(one.findings, "finding"),
                (one.work_unit or one.title, common.DIM),
            ]
            for one in found
        ]
    )


def detail(output: Output, found: SessionDetail) -> None:
    """What was seen of one session."""
    one = found.session
    state = one.outcome or one.state
    output.line((one.id, common.NAME), f"   {one.kind}", f"   {one.agent}" if one.agent else "", (f"   {state}", common.DIM))
    counts = (plural(one.events, "event"), plural(one.steps, "step"), f"{one.tokens:,} tokens", f"{one.duration_s / 60:.0f} min")
    output.line((", ".join(counts), common.DIM))
    if one.contaminated:
        output.line((f"read from the web: {', '.join(found.web_sources[:5])}", common.UNSURE))
    _list(output, "findings", found.findings, lambda row: [row.key[:100], (_marks(row), common.DIM)])
    _list(
        output,
        "files",
        found.files,
        lambda row: [row.path, f"{row.reads} read", f"{row.edits} edited", (f"+{row.lines_added} -{row.lines_removed}", common.DIM)],
    )
    _list(output, "commands", found.commands, lambda row: [row.command[:100], f"{row.runs}x", (_exit(row.failures), common.DIM)])
    _list(output, "errors", found.errors, lambda row: [row.message[:100], f"{row.times}x", ("fixed" if row.fixed else "", common.DIM)])
    _list(output, "dead ends", found.dead_ends, lambda row: [row.approach[:120], (", ".join(row.reverted), common.DIM)])
    _reasons(output, found.ignored)


def _list(output: Output, name: str, rows: Sequence[Row], cells: Callable[[Row], Sequence[Cell]]) -> None:
    if not rows:
        return
    output.line()
    output.line((name, common.HEADING))
    output.rows([cells(row) for row in rows[:MOST]])
    if len(rows) > MOST:
        output.line((f"  and {len(rows) - MOST} more; --json has them", common.DIM))


def _marks(finding: SessionFinding) -> str:
    marks = ("stands out" if finding.early else f"{finding.min_sessions} sessions", "contaminated" if finding.contaminated else "")
    return ", ".join((*filter(None, marks), *(("of a failed approach",) if finding.failed_approach else ())))


def _exit(failures: int) -> str:
    return f"{failures} failed" if failures else "ok"


def _reasons(output: Output, ignored: Mapping[str, int]) -> None:
    for name, count in ignored.items():
        output.line((f"{count:,} × {WORDS.get(name, name.replace('_', ' '))}", common.UNSURE))
