"""Merge the records of agents' sessions; separate a fork from its parent.

A record is the data of a session that is kept after its end. Merging adds counts and joins duplicates. A finding is a pattern found in a
session. If two agents made the same finding independently, no further session is needed to confirm it (quorum). A fork is a session that
began as a copy of its parent. The record of a fork's own work is its full record without the parent's work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from math import sqrt
from typing import Any, Final, TypeVar

from graphmem.errors import BadInputError
from graphmem.observe.model import CoAccess, CommandRun, ErrorSeen, FileStat, Finding, SessionRecord

SIMILAR: Final = 0.85  # cosine of two findings' texts from which they say the same
MOST_COMPARED: Final = 400  # findings of one signal whose texts are compared
_T = TypeVar("_T")


def merged(records: Sequence[SessionRecord]) -> SessionRecord:
    """Merge the records of agents' sessions that ran in parallel into one.

    Counts are added, and duplicates are joined. The result has the id and description of the session that started first.

    Args:
        records: at least one record.

    Raises:
        BadInputError: the list is empty.
    """
    if not records:
        raise BadInputError("the list of session records is empty; give at least one record", argument="records")
    ordered = sorted(records, key=lambda one: (one.info.started_at is None, str(one.info.started_at), one.info.id))
    first = ordered[0]
    if len(ordered) == 1:
        return first
    outcomes = {one.info.outcome for one in ordered if one.info.outcome}
    ended = [one.info.ended_at for one in ordered if one.info.ended_at is not None]
    info = first.info._replace(
        agent=", ".join(dict.fromkeys(one.info.agent for one in ordered if one.info.agent)),
        ended_at=max(ended, default=None),
        outcome=next((word for word in ("failed", "abandoned", "validated", "accepted") if word in outcomes), ""),
        ending="merged",
    )
    return first._replace(
        info=info,
        events=sum(one.events for one in ordered),
        messages=sum(one.messages for one in ordered),
        tokens=sum(one.tokens for one in ordered),
        duration_s=max(one.duration_s for one in ordered),
        steps=sum(one.steps for one in ordered),
        files=_folded(ordered, "files", lambda one: one.path, _files),
        commands=_folded(ordered, "commands", lambda one: one.command, _commands),
        decisions=tuple(sorted((each for one in ordered for each in one.decisions), key=lambda each: (each.at, each.text))),
        errors=_folded(ordered, "errors", lambda one: one.fingerprint, _errors),
        dead_ends=tuple(dict.fromkeys(each for one in ordered for each in one.dead_ends)),
        co_accesses=_folded(ordered, "co_accesses", lambda one: (one.a, one.b), _pairs),
        findings=tuple(ranked(folded([each for one in ordered for each in one.findings]))),
        units=tuple(each for one in ordered for each in one.units),
        tools=_sum(one.tools for one in ordered),
        modules=_sum(one.modules for one in ordered),
        searches=_sum(one.searches for one in ordered),
        web_sources=tuple(dict.fromkeys(url for one in ordered for url in one.web_sources)),
        contaminated=any(one.contaminated for one in ordered),
        first_message=ordered[0].first_message,
        last_message=ordered[-1].last_message,
        injected=tuple(dict.fromkeys(each for one in ordered for each in one.injected)),
        injected_tokens=sum(one.injected_tokens for one in ordered),
        shown_in={each: phase for one in reversed(ordered) for each, phase in one.shown_in.items()},  # the first phase of several
        used=tuple(dict.fromkeys(each for one in ordered for each in one.used)),
        members=tuple(one.info.id for one in ordered),
        ignored=_sum(one.ignored for one in ordered),
    )


def folded(findings: Sequence[Finding]) -> list[Finding]:
    """Merge findings that say the same; keep the order of first occurrence.

    Findings with the same key are merged. Two self-corrections of an agent are also merged if their words are nearly the same.
    """
    kept: list[Finding] = []
    by_key: dict[str, int] = {}
    words: list[Counter[str]] = []
    by_signal: dict[str, list[int]] = {}
    for one in findings:
        place = by_key.get(one.key)
        own = _words(one)
        if place is None and one.signal == "self_correction":  # the only signal whose key is free text
            near = by_signal.get(one.signal, [])[:MOST_COMPARED]
            place = next((i for i in near if _cosine(own, words[i]) > SIMILAR), None)
        if place is not None:
            kept[place] = _merge_pair(kept[place], one)
            by_key[one.key] = place
            continue
        by_key[one.key] = len(kept)
        by_signal.setdefault(one.signal, []).append(len(kept))
        kept.append(one)
        words.append(own)
    return kept


def ranked(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings by priority, the highest first; ties are sorted by key."""
    return sorted(findings, key=lambda one: (-one.priority, one.key))


def _merge_pair(a: Finding, b: Finding) -> Finding:
    """Merge two findings that say the same into one.

    The result is contaminated (influenced by external text) only if `a` and `b` both are, because one clean finding proves the fact without
    external text.
    """
    agents = tuple(sorted({*a.agents, *b.agents}))
    quorum = a.quorum or b.quorum or len(agents) > 1
    clean = a if not a.contaminated else b
    return clean._replace(
        files=tuple(sorted({*a.files, *b.files})),
        steps=tuple(sorted({*a.steps, *b.steps})),
        priority=max(a.priority, b.priority),
        early=a.early or b.early,
        min_sessions=1 if quorum else min(a.min_sessions, b.min_sessions),
        contaminated=a.contaminated and b.contaminated,
        sources=tuple(dict.fromkeys((*a.sources, *b.sources))) if a.contaminated and b.contaminated else clean.sources,
        failed_approach=a.failed_approach and b.failed_approach,
        quorum=quorum,
        agents=agents,
    )


def without(record: SessionRecord, base: SessionRecord) -> SessionRecord:
    """Subtract the parent's work from the record of a fork.

    A fork is a session that began as a copy of another session, its parent. `base` is the parent's record at the time of the copy. The
    result has only the counts and findings of the fork's own work.
    """
    return record._replace(
        events=max(0, record.events - base.events),
        messages=max(0, record.messages - base.messages),
        tokens=max(0, record.tokens - base.tokens),
        duration_s=max(0.0, record.duration_s - base.duration_s),
        steps=max(0, record.steps - base.steps),
        files=_less(record.files, base.files, lambda one: one.path, _file_less),
        commands=_less(record.commands, base.commands, lambda one: one.command, _command_less),
        decisions=record.decisions[len(base.decisions) :],
        errors=_less(record.errors, base.errors, lambda one: one.fingerprint, _error_less),
        dead_ends=record.dead_ends[len(base.dead_ends) :],
        co_accesses=_less(record.co_accesses, base.co_accesses, lambda one: (one.a, one.b), _pair_less),
        findings=tuple(one for one in record.findings if one.agents != (record.info.parent,)),
        units=record.units[len(base.units) :],
        tools=_difference(record.tools, base.tools),
        modules=_difference(record.modules, base.modules),
        searches=_difference(record.searches, base.searches),
        injected_tokens=max(0, record.injected_tokens - base.injected_tokens),
        shown_in={one: phase for one, phase in record.shown_in.items() if one not in base.shown_in},
        ignored=_difference(record.ignored, base.ignored),
    )


# ---- rows whose counts are added


def _files(a: FileStat, b: FileStat) -> FileStat:
    firsts = [at for at in (a.first_at, b.first_at) if at is not None]
    lasts = [at for at in (a.last_at, b.last_at) if at is not None]
    counts = {name: getattr(a, name) + getattr(b, name) for name in _FILE_COUNTS}
    return a._replace(**counts, first_at=min(firsts, default=None), last_at=max(lasts, default=None))


_FILE_COUNTS: Final = ("reads", "edits", "listed", "lines_added", "lines_removed", "reverted", "tokens")


def _file_less(a: FileStat, b: FileStat) -> FileStat | None:
    counts = {name: max(0, getattr(a, name) - getattr(b, name)) for name in _FILE_COUNTS}
    return a._replace(**counts) if any(counts.values()) else None


def _commands(a: CommandRun, b: CommandRun) -> CommandRun:
    return b._replace(runs=a.runs + b.runs, failures=a.failures + b.failures, seconds=a.seconds + b.seconds)


def _command_less(a: CommandRun, b: CommandRun) -> CommandRun | None:
    return (
        a._replace(runs=a.runs - b.runs, failures=a.failures - b.failures, seconds=max(0.0, a.seconds - b.seconds))
        if a.runs > b.runs
        else None
    )


def _errors(a: ErrorSeen, b: ErrorSeen) -> ErrorSeen:
    files = tuple(sorted({*a.fix_files, *b.fix_files}))
    return b._replace(times=a.times + b.times, fixed=a.fixed or b.fixed, fix_files=files, steps=tuple(sorted({*a.steps, *b.steps})))


def _error_less(a: ErrorSeen, b: ErrorSeen) -> ErrorSeen | None:
    if a.times == b.times and a.fixed == b.fixed:
        return None
    return a._replace(times=a.times - b.times, steps=tuple(step for step in a.steps if step not in b.steps))


def _pairs(a: CoAccess, b: CoAccess) -> CoAccess:
    windows = a.windows + b.windows
    delta = (a.delta_s * a.windows + b.delta_s * b.windows) / windows
    return CoAccess(a.a, a.b, windows, a.edited + b.edited, a.a_first + b.a_first, round(delta, 3), max(a.at, b.at))


def _pair_less(a: CoAccess, b: CoAccess) -> CoAccess | None:
    windows = a.windows - b.windows
    return a._replace(windows=windows, edited=max(0, a.edited - b.edited), a_first=max(0, a.a_first - b.a_first)) if windows > 0 else None


def _folded(records: Sequence[SessionRecord], name: str, key: Callable[[Any], Hashable], join: Callable[[_T, _T], _T]) -> tuple[_T, ...]:
    rows: dict[Any, _T] = {}
    for record in records:
        for row in getattr(record, name):
            rows[key(row)] = join(rows[key(row)], row) if key(row) in rows else row
    return tuple(rows[one] for one in sorted(rows)) if name != "commands" else tuple(rows.values())


def _less(rows: Sequence[_T], base: Sequence[_T], key: Callable[[_T], Hashable], subtract: Callable[[_T, _T], _T | None]) -> tuple[_T, ...]:
    before = {key(row): row for row in base}
    left = (subtract(row, before[key(row)]) if key(row) in before else row for row in rows)
    return tuple(row for row in left if row is not None)


def _sum(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(sorted(total.items()))


def _difference(counts: Mapping[str, int], base: Mapping[str, int]) -> dict[str, int]:
    return {name: count - base.get(name, 0) for name, count in counts.items() if count > base.get(name, 0)}


def _words(one: Finding) -> Counter[str]:
    texts = [value for value in one.facts.values() if isinstance(value, str)]
    return Counter(word.strip(".,;:!?`'\"()").casefold() for text in texts for word in text.split())


def _cosine(a: Counter[str], b: Counter[str]) -> float:
    shared = sum(count * b[word] for word, count in a.items() if word in b)
    return shared / sqrt(sum(n * n for n in a.values()) * sum(n * n for n in b.values())) if shared else 0.0
