"""Memories made from counts of a module's sessions.

The counts are numbers of files, errors, steps and tokens. For example, such a memory names the files that a module's sessions almost always
read.

Memories about a module are made after 5, 10, 20, 50 and 100 of its sessions. Memories about pairs of modules are made weekly. After more
sessions, the memory is updated, and its old text is kept as a version.

Templates make the text from the ledger's counts. A language model may reword the text with the same names and numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.memory.repository.update import update
from graphmem.memory.texts.types import LIVE_STATUSES, TYPES, MemoryItem
from graphmem.observe.learning import extraction, gates
from graphmem.observe.learning.novelty import Novelty, Text
from graphmem.observe.ledger.ledger import Ledger
from graphmem.observe.ledger.ledger_counts import ErrorStat, FileUse, ModuleStat
from graphmem.observe.texts.wording import is_bare
from graphmem.observe.texts.words import advises

if TYPE_CHECKING:
    from graphmem.language_model import LanguageModel
    from graphmem.memory.repository.repository import MemoryRepository

MILESTONES: Final = (5, 10, 20, 50, 100)  # sessions of a module
MOST: Final = 5  # memories of one module and milestone
ALWAYS: Final = 0.8  # share of its sessions: a file is always read
OFTEN: Final = 0.5
FILES: Final = 12  # named in a memory
RECURRING: Final = 0.3  # share of its sessions: an error recurs
OVERRUN: Final = 1.3  # ratio of actual to planned steps, or its inverse, that is worth a memory
PLANNED: Final = 3  # sessions with a plan that are needed
HOT: Final = 0.5  # share of its sessions that edit a file
TOGETHER: Final = 0.8  # share of a module's sessions that also use another
PAIR_SESSIONS: Final = 5
PAIRS: Final = 5  # a week
ACTOR: Final = "synthesis"
TAG: Final = "synthesised"


class Synthesis(NamedTuple):
    """A memory made from counts of a module's sessions, not stored yet."""

    key: str  # equal at all milestones
    type: str
    content: str
    files: tuple[str, ...]
    details: dict[str, Any]
    share: float  # share of the sessions that support it


def synthesise(book: MemoryRepository, ledger: Ledger, model: LanguageModel | None = None) -> list[str]:
    """Make the memories that are due, from counts of sessions.

    Memories about a module are due after 5, 10, 20, 50 and 100 sessions. Memories about pairs of modules are due weekly. `model` may reword
    the texts; None for no model.

    Returns:
        Ids of new or changed memories.

    Raises:
        LedgerError, JournalError, DiskFullError: memories that were not stored remain due.
    """
    now = book.clock.now()
    changed: list[str] = []
    for module, sessions in ledger.modules().items():
        reached = max((one for one in MILESTONES if sessions >= one), default=0)
        if reached and not ledger.is_done(f"synthesis-{reached}", module):
            changed += _keep(book, ledger, of_module(ledger, module), model, now)
            ledger.claim(f"synthesis-{reached}", module, now)
    year, week, _ = now.isocalendar()
    if ledger.session_count() >= PAIR_SESSIONS and not ledger.is_done("pairs", f"{year}-{week:02}"):
        changed += _keep(book, ledger, of_pairs(book, ledger), None, now)
        ledger.claim("pairs", f"{year}-{week:02}", now)
    return changed


def of_module(ledger: Ledger, module: str) -> list[Synthesis]:
    """Return memories about a module, made from counts of its sessions.

    At most five are returned. Memories that the largest share of sessions supports come first.
    """
    stat = ledger.module(module)
    files = ledger.module_files(module)
    errors = ledger.errors(max(2, round(RECURRING * stat.sessions)), module)
    found = [
        *_prefetch(stat, files),
        *_errors(stat, errors),
        *_calibration(stat),
        *_hot(stat, files),
        *_cost(stat),
    ]
    return sorted(found, key=lambda one: (-one.share, one.key))[:MOST]


def of_pairs(book: MemoryRepository, ledger: Ledger) -> list[Synthesis]:
    """Return memories about modules that are almost always used together.

    Pairs that an existing memory already describes are left out.
    """
    import json

    said = {
        (details.get("from", ""), details.get("to", ""))
        for row in book.index().all_rows()
        if row.type == "causal_dependency" and row.status in LIVE_STATUSES and row.details
        for details in [json.loads(row.details)]
    }
    found: list[Synthesis] = []
    for one, other, both, of_one in ledger.module_pairs(PAIR_SESSIONS):
        share = both / of_one
        if share >= TOGETHER and (one, other) not in said and (other, one) not in said and len(found) < PAIRS:
            said.add((one, other))
            content = (
                f"Work on `{one}` nearly always involves `{other}` as well: look at both before changing either. "
                f"No dependency between the two has been written down."
            )
            details = {"from": one, "to": other, "support": both, "confidence": round(share, 2)}
            found.append(Synthesis(f"synthesis:pair:{one}|{other}", "causal_dependency", content, (), details, share))
    return found


# ---- templates


def _prefetch(stat: ModuleStat, files: Sequence[FileUse]) -> Iterator[Synthesis]:
    always = [one.path for one in files if one.sessions > ALWAYS * stat.sessions][:FILES]
    often = [one.path for one in files if OFTEN * stat.sessions < one.sessions <= ALWAYS * stat.sessions][: FILES - len(always)]
    if len(always) + len(often) < 2:
        return
    parts = [f"begin by reading {_paths(always)}"] if always else []
    parts += [f"{_paths(often)} {'is' if len(often) == 1 else 'are'} often needed too"] if often else []
    content = f"When working on `{stat.module}`, {'; '.join(parts)}."
    details = {"module": stat.module, "always_read": always, "often_read": often, "sessions": stat.sessions}
    yield Synthesis(f"synthesis:prefetch:{stat.module}", "prefetch_pattern", content, (*always, *often), details, 1.0 if always else ALWAYS)


def _errors(stat: ModuleStat, errors: Sequence[ErrorStat]) -> Iterator[Synthesis]:
    for one in [
        each
        for each in errors
        if each.fix_files and 2 * each.fixed >= each.sessions and not is_bare(each.message) and not advises(each.message)
    ][:2]:
        fix = f"It has been fixed by editing {_paths(one.fix_files[:3])}."
        content = f"Work on `{stat.module}` keeps running into `{_code(one.message)}`. {fix}"
        details = {"error_fingerprint": one.fingerprint, "fix": ", ".join(one.fix_files)}
        share = one.sessions / max(1, stat.sessions)
        yield Synthesis(f"synthesis:error:{stat.module}:{one.fingerprint}", "error_pattern", content, one.fix_files[:3], details, share)


def _calibration(stat: ModuleStat) -> Iterator[Synthesis]:
    if len(stat.steps) < PLANNED:
        return
    actual, planned = sum(one for one, _ in stat.steps), sum(two for _, two in stat.steps)
    ratio = actual / planned
    if 1 / OVERRUN < ratio < OVERRUN:
        return
    word = "more" if ratio > 1 else "fewer"
    content = f"Tasks in `{stat.module}` take {word} steps than planned, by a factor of {ratio:.1f}: plan for that."
    details = {
        "module": stat.module,
        "actual": round(actual / len(stat.steps), 1),
        "planned": round(planned / len(stat.steps), 1),
        "ratio": round(ratio, 2),
        "samples": len(stat.steps),
    }
    yield Synthesis(
        f"synthesis:calibration:{stat.module}", "task_calibration", content, (), details, len(stat.steps) / max(1, stat.sessions)
    )


def _hot(stat: ModuleStat, files: Sequence[FileUse]) -> Iterator[Synthesis]:
    hot = [one for one in files if one.edited >= max(2, HOT * stat.sessions)]
    if hot:
        paths = tuple(one.path for one in sorted(hot, key=lambda one: (-one.edited, one.path))[:3])
        content = f"Most changes to `{stat.module}` end up in {_paths(paths)}: expect to edit {'it' if len(paths) == 1 else 'them'}."
        yield Synthesis(
            f"synthesis:hot:{stat.module}", "module_insight", content, paths, {}, max(one.edited for one in hot) / stat.sessions
        )


def _cost(stat: ModuleStat) -> Iterator[Synthesis]:
    if stat.tokens >= 1_000:
        rounded = round(stat.tokens, 2 - len(str(stat.tokens)))
        content = f"A session in `{stat.module}` costs about {rounded:,} tokens; leave room for that, or read selectively."
        yield Synthesis(f"synthesis:cost:{stat.module}", "context_cost", content, (), {"module": stat.module, "tokens": stat.tokens}, 0.3)


# ---- keeping


def _keep(book: MemoryRepository, ledger: Ledger, found: Sequence[Synthesis], model: LanguageModel | None, now: datetime) -> list[str]:
    """Store or update memories made from counts of a module's sessions.

    `found` are the memories as they should be now. `model` may reword their texts. The result has the ids of new and changed memories.
    Memories that a person verified or pinned stay as they are.
    """
    found = [one for one in found if not ledger.is_barred(one.key)]
    texts = {place: one.content for place, one in enumerate(found)}
    if model is not None and texts:
        texts |= extraction.ask(model, texts, []).wordings
    novelty = Novelty(book, [Text(one.content, one.type, one.files) for one in found])
    fresh: list[tuple[Synthesis, MemoryItem]] = []
    changed: list[str] = []
    for place, one in enumerate(found):
        known = book.index().row(ledger.memory_of(one.key)) if ledger.memory_of(one.key) else None
        if known is not None and known.status in LIVE_STATUSES:
            if (
                not known.user_verified
                and known.status != "pinned"
                and known.title
                and known.content != texts[place]
                and _differs(known.details, one)
            ):
                info = update(book, known.id, {"content": texts[place], "details": one.details}, actor=ACTOR)
                ledger.put_learnt(ACTOR, {one.key: info.id}, now)
                changed.append(info.id)
        elif novelty.known(place) is None:
            fresh.append((one, _item(one, texts[place])))
    if fresh:
        answer = book.remember_many([item for _, item in fresh], source="observer_inferred", actor=ACTOR, op="promote")
        ledger.put_learnt(ACTOR, {one.key: result.id for (one, _), result in zip(fresh, answer.results, strict=True)}, now)
        changed += [result.id for result in answer.results]
    return changed


def _item(one: Synthesis, content: str) -> MemoryItem:
    return {
        "content": content,
        "type": one.type,
        "files": list(one.files),
        "details": one.details or None,
        "confidence": gates.confidence(one.share, MILESTONES[0], contaminated=False),
        "importance": round(0.4 + 0.4 * min(1.0, one.share), 4),
        "scope": "module",
        "tags": ["observed", TAG],
    }


def _differs(details: str | None, one: Synthesis) -> bool:
    """Whether new counts of a module's sessions change a stored memory.

    `details` are the typed fields of the stored memory, as JSON. `one` has the new fields. A difference only in numbers of sessions does
    not count as a change.
    """
    import json

    before = json.loads(details) if details else {}
    news = {extra.name for extra in TYPES[one.type].extras} - {"sessions", "samples", "support"}
    return not before or any(before.get(name) != one.details.get(name) for name in news)


def _paths(paths: Sequence[str]) -> str:
    quoted = [f"`{_code(path)}`" for path in paths]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _code(text: str) -> str:
    return text.replace("`", "'")
