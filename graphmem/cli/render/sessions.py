"""Print agents' sessions, lessons from them, and weights of memory types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from graphmem.answers import Experiment, FindingVerdict, Forgotten, PhaseWeights, Receipt, SessionSummary
from graphmem.answers.sessions import ObserveAnswer, SessionDetail, SessionEnded, SessionFinding, SessionPage, SessionStarted
from graphmem.cli.output import Output, plural
from graphmem.cli.render import common
from graphmem.cli.rendering import renders

if TYPE_CHECKING:
    from graphmem.cli.output import Cell

Row = TypeVar("Row")

# Texts for the keys of observe.events.REASONS.
WORDS: Final = {
    "no_session": "without a session",
    "unknown_kind": "of an unknown kind, or not JSON",
    "not_an_event": "not an event, or with a field of the wrong type",
    "duplicate": "a repetition of an earlier event",
    "flood": "beyond the limit of events of the session",
    "over_batch": "beyond the limit of events of one call",
    "too_many_sessions": "of a session beyond the limit of observed sessions",
    "after_end": "after the end of its session, which continues under a new id",
    "late": "after events of later steps; accepted",
    "future": "with a time in the future; accepted with the current time",
    "clock_back": "with a time before the previous event; accepted",
    "text_cut": "with a message or output over 4 KiB; accepted and cut",
    "args_cut": "with arguments too long or too many; accepted and cut",
    "let_go": "pieces of evidence dropped for lack of space",
    "pairs_left_out": "pairs of files omitted from the record",
}
MOST: Final = 15  # rows of each list; --json has them all
_NEARLY = ("weak", "over_cap", "refused", "taken_back")  # outcomes that are shown besides learnt findings; the others are counted


@renders("session_summaries")
def sessions(output: Output, found: Sequence[SessionSummary]) -> None:
    """Print the agents' sessions that were learnt from, one line each."""
    if not found:
        output.line(("nothing was learnt from a session yet", common.UNSURE))
    output.rows(
        [
            [
                (common.session_name(one.session), common.NAME),
                one.ended_at[:16].replace("T", " "),
                one.kind,
                one.agent,
                (one.status or "ended", common.DIM),
                (one.title, common.DIM),
            ]
            for one in found
        ]
    )


def receipts(output: Output, found: Sequence[Receipt], *, every: bool) -> None:
    """Print receipts: the findings of each session with their outcomes.

    A finding is a candidate memory. Findings that became memories, or nearly did, are listed. Other findings are listed with `every`, and
    are otherwise only counted.
    """
    for receipt in found:
        part = f", {receipt.part}" if receipt.part else ""
        undone = "   undone" if receipt.undone else ""
        output.line((receipt.session + part, common.NAME), (f"   {receipt.gate}", common.DIM), (undone, common.UNSURE))
        shown = [one for one in receipt.verdicts if every or one.outcome == "learnt" or one.outcome in _NEARLY]
        for one in shown:
            _verdict(output, one)
        left = {name: count for name, count in receipt.counts.items() if name not in {one.outcome for one in shown}}
        if left:
            output.line()
            counted = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in left.items())
            output.line((f"besides: {counted}; --all shows them", common.DIM))
        if not receipt.verdicts:
            output.line(("it has no findings", common.DIM))
        for note in receipt.notes:
            output.line((note, common.UNSURE))
        output.line()


def _verdict(output: Output, one: FindingVerdict) -> None:
    output.line()
    mark = f"#{one.short_id} " if one.short_id else ""
    style = common.HEADING if one.outcome == "learnt" else common.DIM
    tainted = "   untrusted text contributed to it" if one.contaminated else ""
    output.line((one.outcome.replace("_", " "), style), (f"  {mark}{one.memory_type}", common.DIM), (tainted, common.UNSURE))
    if one.text:
        output.line(f"  {one.text}")
    seen = f", {plural(one.sessions, 'session')}" if one.sessions else ""
    score = f", score {one.score:.2f}" if one.score else ""
    points = f", for {', '.join(one.points)}" if one.points else ""
    output.line((f"  {one.signal}{seen}{score}{points}: {one.why}", common.DIM))


@renders(Experiment, bare=lambda _: ())
def experiment(output: Output, found: Experiment) -> None:
    """Print the measured effect of showing memories to agents.

    The groups of sessions are columns, and each measure is a line.
    """

    def formatted(value: float | None, *, percent: bool = True) -> str:
        return "-" if value is None else f"{value:.0%}" if percent else f"{value:.1f}"

    groups = found.groups
    output.rows(
        [
            ["", *((f"{one.group} ({one.percent}%)", common.NAME) for one in groups)],
            ["sessions", *(str(one.sessions) for one in groups)],
            ["tool calls for each task", *(formatted(one.calls_per_task, percent=False) for one in groups)],
            ["reads of a file read before", *(formatted(one.rereads) for one in groups)],
            ["test commands that never failed", *(formatted(one.first_pass) for one in groups)],
            ["dead ends that an earlier session found", *(formatted(one.dead_end_reentry) for one in groups)],
            ["tokens of memories shown, per session", *(formatted(one.injected_tokens, percent=False) for one in groups)],
            ["tokens of files read, per session", *(formatted(one.read_tokens, percent=False) for one in groups)],
            ["memories shown", *(str(one.shown) for one in groups)],
            ["of these, disputed", *(formatted(one.corrections) for one in groups)],
            ["of these, used or confirmed", *(formatted(one.boosts) for one in groups)],
        ]
    )
    for note in found.notes:
        output.line((note, common.UNSURE))


def observed(output: Output, answer: ObserveAnswer) -> None:
    """Print how many events of sessions were recorded or rejected, and why."""
    where = f" in {', '.join(answer.sessions[:5])}" if answer.sessions else ""
    output.line((plural(answer.taken, "event"), common.NAME), f" accepted{where}")
    _reasons(output, answer.ignored)
    if answer.ended:
        output.line(f"ended: {', '.join(answer.ended)}")
    if answer.early:
        output.line("stands out: " + ", ".join(answer.early[:MOST]))


@renders(SessionPage, bare=lambda page: [one.id for one in page.sessions])
def listed(output: Output, page: SessionPage) -> None:
    """Print one line for each session, and how many more there are."""
    if not page.sessions:
        output.line(("no running session", common.UNSURE))
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
            for one in page.sessions
        ]
    )
    if page.total > len(page.sessions):
        output.note(f"{plural(page.total - len(page.sessions), 'more session', 'more sessions')}; --limit shows more")


@renders(SessionDetail, bare=lambda found: [one.key for one in found.findings])
def detail(output: Output, found: SessionDetail) -> None:
    """Print what an agent did in a session: files, commands, errors, findings.

    A finding is a pattern in the session's events, which may become a memory.
    """
    one = found.session
    state = one.outcome or one.state
    output.line((one.id, common.NAME), f"   {one.kind}", f"   {one.agent}" if one.agent else "", (f"   {state}", common.DIM))
    counts = (plural(one.events, "event"), plural(one.steps, "step"), f"{one.tokens:,} tokens", f"{one.duration_s / 60:.0f} min")
    output.line((", ".join(counts), common.DIM))
    if found.injected_tokens:
        output.line((f"{found.injected_tokens:,} tokens injected by memory; {found.read_tokens:,} tokens of files read", common.DIM))
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


def phase_weights(output: Output, found: PhaseWeights) -> None:
    """Print current and proposed weights of memory types by phase of work.

    If proposed weights differ from the current ones, a last line names the command that applies them.
    """
    head = ["phase", "type", "shown", "used", "built-in", "in force", "proposed"]
    rows = [[(one, common.DIM) for one in head]]
    before = ""
    for one in found.weights:
        phase, before = ("" if one.phase == before else one.phase), one.phase
        proposed = "-" if one.proposed is None else f"{one.proposed:.2f}"
        is_new = one.proposed is not None and one.proposed != one.weight
        rows.append(
            [
                (phase, common.HEADING),
                (one.type, common.NAME),
                (f"{one.shown:,}", common.DIM),
                (f"{one.used:,}", common.DIM),
                (f"{one.built_in:.2f}", common.DIM),
                (f"{one.weight:.2f}", common.NAME if one.weight != one.built_in else common.DIM),
                (proposed, common.UNSURE if is_new else common.DIM),
            ]
        )
    output.rows(rows, right=(2, 3, 4, 5, 6))
    output.line()
    counted = f"memories were shown in a phase of work in {plural(found.sessions, 'session')} that ended"
    in_force = f"accepted {found.accepted_at[:10]}, from {plural(found.accepted_sessions, 'session')}" if found.accepted_at else "built-in"
    output.line((f"{counted}; weights in force: {in_force}", common.DIM))
    for note in found.notes:
        output.line((note, common.UNSURE))
    if any(one.proposed is not None and one.proposed != one.weight for one in found.weights):
        output.line(("`graphmem memory phases --accept` applies the proposed weights, `--reset` restores the built-in ones", common.UNSURE))


@renders(SessionStarted, bare=lambda started: [started.id])
def started(output: Output, answer: SessionStarted) -> None:
    """Print the id of a session that was started, on its own line."""
    output.line(answer.id)
    if answer.note:
        output.note(answer.note)


@renders(SessionEnded, bare=lambda answer: answer.receipt.learnt if answer.receipt is not None else ())
def ended(output: Output, answer: SessionEnded) -> None:
    """Print what was learnt from a session that ended."""
    if answer.receipt is not None:
        receipts(output, [answer.receipt], every=False)
    if answer.note:
        output.line(f"{answer.session.id} has ended; {answer.note}")


@renders(SessionSummary, bare=lambda found: found.short.split("\n"))
def summary(output: Output, found: SessionSummary) -> None:
    """Print the summary of a session as Markdown."""
    output.text(found.markdown.rstrip())


@renders("undo_session", bare=lambda done: done.ids)
def undone(output: Output, done: Forgotten) -> None:
    """Print which memories of a session were undone, and which were kept."""
    kept = f"; {plural(len(done.kept), 'memory', 'memories')} stay, because they have another confirmation" if done.kept else ""
    output.line(f"{plural(len(done.ids), 'memory', 'memories')} undone{kept}")
