"""Print memories, and the outcomes of writing them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.answers import (
    AuditPage,
    Forgotten,
    ImportAnswer,
    MemoryInfo,
    MemoryPage,
    PruneAnswer,
    RebuildAnswer,
    RememberAnswer,
    ReviewQueue,
    RuleSet,
    ScanAnswer,
    SyncAnswer,
    TermAlias,
    Timeline,
)
from graphmem.answers.memory import ANCHORS, about_once, code_since
from graphmem.cli.output import Output, plural
from graphmem.cli.render import common
from graphmem.cli.rendering import renders

if TYPE_CHECKING:
    from collections.abc import Iterable

    from graphmem.cli.output import Cell

_OUTCOMES: Final = {
    "added": "Remembered",
    "duplicate": "Already known, confirmed again",
    "consolidated": "Merged with a known memory",
    "replaced": "Remembered; it replaces a contradicting memory",
    "superseded": "Stored as superseded; a known memory contradicts it",
    "conflicting": "Remembered, but it contradicts a known memory",
}


def remembered(output: Output, answer: RememberAnswer) -> None:
    """Print the outcome of storing a memory."""
    output.line((_OUTCOMES.get(answer.result.outcome, answer.result.outcome), common.HEADING), "  ", *_title(answer.memory))
    if answer.result.note:
        output.line(f"  {answer.result.note}")
    half_life = answer.memory.half_life_days
    output.line(("  never fades" if half_life is None else f"  half-life when unused: {half_life:g} days", common.DIM))
    for about in about_once(answer.memory):
        output.line("  about ", (about.name, common.PATH), *_anchor(about.anchor))
    if answer.result.redacted:
        output.line((f"  removed as secrets: {', '.join(answer.result.redacted)}", common.UNSURE))
    if answer.result.unresolved:
        output.line((f"  not linked, because several symbols have the name: {', '.join(answer.result.unresolved)}", common.UNSURE))


@renders(MemoryInfo, bare=lambda info: [f"#{info.short_id}"])
def memory(output: Output, info: MemoryInfo) -> None:
    """Print all fields of a memory."""
    output.line(*_title(info))
    output.line()
    for line in info.content.splitlines():
        output.line("  ", line)
    output.line()
    facts: list[tuple[str, Cell]] = [
        ("confidence", f"{info.confidence_in_use:.2f} in use, {info.confidence:.2f} when last confirmed"),
        ("importance", f"{info.importance:.2f}"),
        ("from", f"{info.source} ({info.origin}), trust {info.trust:g}"),
        ("known since", _day(info.valid_from) + (f", until {_day(info.valid_to)}" if info.valid_to else "")),
        (
            "confirmed",
            plural(info.strength, "time") + (f", agreed with {plural(info.confirmed_count, 'time')}" if info.confirmed_count else ""),
        ),
        ("of use", f"shown {plural(info.injected_count, 'time')}, used {plural(info.used_count, 'time')}"),
        ("fades", f"half-life {info.half_life_days:g} days" if info.half_life_days is not None else "never"),
    ]
    optional = {
        "kept for": ", ".join(word for word, usual in ((info.scope, "global"), (info.visibility, "project")) if word != usual),
        "tags": ", ".join(info.tags),
        "learnt at": info.commit_sha[:12],
        "on branch": ", ".join(info.branches),
        "learnt in": ", ".join(info.sessions),
        "given as": ", ".join(info.aliases),
        "found by": "" if info.embedded else "its words; it has no vector yet",
        **{name.replace("_", " "): _as_text(value) for name, value in ((info.work_unit or {}) | (info.details or {})).items()},
    }
    facts += [(name, value) for name, value in optional.items() if value]
    shown: list[list[Cell]] = [[(name, common.DIM), value] for name, value in facts]
    output.rows(shown)
    for about in about_once(info):
        output.line("  about ", (about.name, common.PATH), *_anchor(about.anchor))
    for one in info.relations:
        way = one.kind.replace("_", " ") if one.outgoing else f"{one.kind.replace('_', ' ')} (of it)"
        output.line(f"  {way} ", (f"#{one.short_id}", common.NAME), f" {one.title}")


def memories(output: Output, page: MemoryPage, shown_from: int = 0) -> None:
    """Print a list of memories, one line each.

    `shown_from` is the number of memories that precede the page.
    """
    if not page.memories:
        output.line("no memories", ("  store one with `graphmem remember`", common.DIM))
        return
    output.rows(_row(info) for info in page.memories)
    more = common.cut(shown_from + len(page.memories), page.total, "--offset shows the next")
    if more:
        output.line((more, common.DIM))


@renders(Timeline, bare=lambda answer: [f"#{one.short_id}" for one in (*answer.before, *answer.after)])
def timeline(output: Output, answer: Timeline) -> None:
    """Print memories by time, oldest first, with the requested one marked."""
    rows = [*answer.before, answer.memory, *answer.after]
    output.rows(
        [("▸" if one.id == answer.memory.id else "", (one.created_at[:16].replace("T", " "), common.DIM), *_row(one)) for one in rows]
    )


@renders(ReviewQueue, bare=lambda queue: [f"#{item.memory.short_id}" for item in queue.items])
def review(output: Output, queue: ReviewQueue) -> None:
    """Print memories that need review, most urgent first."""
    if not queue.items:
        output.line(("nothing to review", common.GOOD))
        return
    for item in queue.items:
        more = ", ".join(reason for reason in item.reasons if reason not in _IN_TITLE)
        output.line(*_title(item.memory), (f"  {more}", common.UNSURE) if more else "")
        for about in about_once(item.memory):
            if ANCHORS.get(about.anchor):
                output.line("    about ", (about.name, common.PATH), *_anchor(about.anchor))
        for one in item.memory.relations:
            if one.kind == "conflicts_with" and one.status not in ("superseded", "deprecated"):
                output.line("    contradicts ", (f"#{one.short_id}", common.NAME), f" {one.title}")
    more = common.cut(len(queue.items), queue.total, "--limit shows more")
    if more:
        output.line((more, common.DIM))
    output.line(("graphmem memory verify ID · dispute ID · resolve ID --over ID; graphmem forget ID", common.DIM))


@renders(Forgotten, bare=lambda answer: answer.ids)
def forgotten(output: Output, answer: Forgotten) -> None:
    """Print how many memories were removed or deleted."""
    count = len(answer.ids)
    are = "would be" if answer.dry_run else "is" if count == 1 else "are"
    output.line(f"{plural(count, 'memory', 'memories')} {are} {'deleted' if answer.hard else 'removed from search'}")
    if count and not answer.hard and not answer.dry_run:
        output.line(("graphmem memory verify ID restores one", common.DIM))
    if answer.kept:
        output.line((f"{plural(len(answer.kept), 'memory', 'memories')} kept, because they also have another origin", common.DIM))


def pruned(output: Output, answer: PruneAnswer) -> None:
    """Print the memories that pruning deprecates or removes, with the reason."""
    output.rows([((f"#{one.short_id}", common.NAME), one.title, (f"{one.action}: {one.rule}", common.DIM)) for one in answer.pruned])
    verb = "would be retired" if answer.dry_run else "retired"
    did = "; --apply retires them" if answer.dry_run and answer.pruned else ""
    output.line(f"{plural(len(answer.pruned), 'memory', 'memories')} {verb}, {answer.kept:,} stay{did}")


@renders(AuditPage, bare=lambda page: [page.head], refused=lambda page: not page.sound)
def audit(output: Output, page: AuditPage) -> None:
    """Print the audit log of memories, newest first."""
    output.rows(
        [
            ((entry.at[:19].replace("T", " "), common.DIM), entry.actor or "-", (entry.action, common.NAME), entry.memory_id, entry.note)
            for entry in page.entries
        ]
    )
    sound = ("the log is intact", common.GOOD) if page.sound else ("THE LOG WAS CHANGED", common.BAD)
    output.line(f"{plural(page.total, 'entry', 'entries')}, ", sound)
    for note in page.notes:
        output.line(("  " + note, common.UNSURE))


def scanned(output: Output, answer: ScanAnswer) -> None:
    """Print the memories and files in which secrets were found."""
    output.rows([((f"#{one.short_id}", common.NAME), ", ".join(one.kinds), (", ".join(one.fields), common.DIM)) for one in answer.found])
    output.rows([((one.file, common.PATH), ", ".join(one.kinds), ("cleaned" if one.cleaned else "", common.DIM)) for one in answer.files])
    did = "; --apply removes them" if answer.dry_run and (answer.found or answer.files) else ""
    output.line(
        f"{plural(answer.scanned, 'memory', 'memories')} read, secrets in {len(answer.found):,}; "
        f"secrets in {plural(len(answer.files), 'file')} of the index and its backups{did}"
    )
    if not answer.dry_run and any(not one.cleaned for one in answer.files):
        output.line(("the other files are sealed with checksums: delete those backups and end those sessions", common.UNSURE))


def aliases(output: Output, found: Iterable[TermAlias]) -> None:
    """Print search terms, each with the other words that it finds too."""
    rows: list[list[Cell]] = [[(one.term, common.NAME), "→", ", ".join(one.means) or "only itself"] for one in found]
    if not rows:
        output.line("no aliases", ("  set one with `graphmem memory alias TERM WORD…`", common.DIM))
    output.rows(rows)


_IN_TITLE: Final = frozenset({"needs_review", "disputed", "contaminated", "stale"})  # reasons for a review that a title tells


def _title(info: MemoryInfo) -> list[Cell]:
    flags = [
        word
        for word, on in (
            ("disputed", info.disputed),
            ("needs review", info.needs_review),
            ("untrusted text", info.contaminated),
            ("unused for long", bool(info.stale_at)),
        )
        if on
    ]
    return [
        (f"#{info.short_id}", common.NAME),
        (f"  {info.type}", common.PATH),
        f"  {info.title}",
        (f"  {info.status}{', verified' if info.user_verified else ''}", common.DIM),
        (f"  {', '.join(flags)}", common.UNSURE) if flags else "",
    ]


def _row(info: MemoryInfo) -> list[Cell]:
    return [
        (f"#{info.short_id}", common.NAME),
        (info.type, common.PATH),
        common.confidence(info.confidence_in_use),
        info.title,
        (info.status if info.status != "confirmed" else "", common.DIM),
        (code_since(info), common.UNSURE),
    ]


def _anchor(anchor: str) -> list[Cell]:
    said = ANCHORS.get(anchor, anchor)
    return [(f"  {said}", common.UNSURE)] if said else []


def _as_text(value: object) -> str:
    """Convert a value in the details of a memory to a string."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_as_text(one)}" for name, one in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_as_text, value))
    return "" if value is None else str(value)


def _day(time: str) -> str:
    return time[:10]


@renders(RuleSet, bare=lambda answer: [one.name for one in answer.rules])
def rules(output: Output, answer: RuleSet) -> None:
    """Print each rule for agents, with its scope and text."""
    found, notes = answer
    if not found:
        output.line("no rules", ("  write them in .graphmem/rules/NAME.md or ~/.graphmem/rules.md", common.DIM))
    for one in found:
        output.line((one.name, common.NAME), (f"  {one.origin}{f', {one.scope}' if one.scope else ''}", common.DIM))
        for line in one.text.splitlines():
            output.line("  ", line)
    for note in notes:
        output.line((note, common.UNSURE))


@renders(SyncAnswer, bare=lambda answer: [answer.path], refused=lambda answer: bool(answer.conflicts))
def synced(output: Output, answer: SyncAnswer) -> None:
    """Print changes between the memories and a file, and conflicts."""
    did = "would be" if answer.dry_run else "are"
    output.line(
        (answer.path, common.PATH),
        f"  {plural(answer.written, 'memory', 'memories')} in it; from the file {len(answer.added)} {did} new, "
        f"{len(answer.changed)} changed, {len(answer.forgotten)} removed from search",
    )
    for conflict in answer.conflicts:
        output.line(("  changed on both sides:", common.UNSURE))
        output.line("    file   ", conflict.in_file or "(deleted)")
        output.line("    graph  ", conflict.in_graph)
    for note in answer.notes:
        output.line((f"  {note}", common.DIM))


def imported(output: Output, found: list[tuple[str, ImportAnswer]]) -> None:
    """Print the outcome of importing memories from each file."""
    for name, answer in found:
        counts = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(answer.counts.items())) or "nothing in it"
        output.line((name, common.PATH), f"  {counts}", (f"  as {answer.source}", common.DIM))
        for note in answer.notes:
            output.line((f"  {note}", common.UNSURE))


@renders(RebuildAnswer, bare=lambda answer: [str(answer.memories)])
def rebuilt(output: Output, answer: RebuildAnswer) -> None:
    """Print the outcome of rebuilding memories from the journal.

    The journal is the log of all writes of memories.
    """
    counted = plural(answer.memories, "memory", "memories")
    output.line(f"{counted} from the journal: {answer.restored:,} restored, {answer.removed:,} removed")
    for note in answer.notes:
        output.line(("  " + note, "yellow"))
