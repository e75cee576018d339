"""Two-way sync between MEMORY.md and the memories, without loss.

The file belongs to the person. A memory in the file is one list item with the memory's id. Everything else stays byte for byte unchanged
(`markdown_merge`). A small file in the index directory stores the state in which file and graph agreed after the last sync. Comparing file
and graph with that state shows where a line changed: in the file, in the graph, or in both. If it changed in both, both texts are kept and
reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.answers import MemoryInfo, Remembered, SyncAnswer, SyncConflict
from graphmem.errors import BadInputError
from graphmem.memory.files.markdown import SECTION_TYPES, Item, items, one_line, skeleton, unfolded
from graphmem.memory.files.markdown_merge import Line, items_by_id, merged
from graphmem.memory.files.sync_file import bytes_of, expect_writable, replace_with, text_of, write_unless_changed
from graphmem.memory.files.sync_state import BASE, NOTHING_COMMON, Common, name_in_state, state_bytes, stored_state, without_secrets
from graphmem.memory.repository.changes import forget_many
from graphmem.memory.repository.update import update
from graphmem.memory.texts.text import clipped, fingerprint
from graphmem.memory.texts.types import SEEDED, MemoryItem

if TYPE_CHECKING:
    from graphmem.knowledge import MemoryRow
    from graphmem.memory.reading.reader import MemoryReader
    from graphmem.memory.repository.repository import MemoryRepository

LEGACY: Final = "facts.md"
_SHOWN_STATUSES: Final = frozenset({"confirmed", "pinned"})
_SHOWN_SCOPES: Final = frozenset({"global", "module"})
_TASKS: Final = ("[ ]", "[x]", "[X]")  # a task to tick off is not knowledge, and an id before its box would break the task


class Conflict(NamedTuple):
    """A memory whose text changed both in MEMORY.md and in the graph."""

    id: str
    said: str  # text in the file; "" for a deleted line
    known: str  # text in the graph
    line: int = 0  # of the item; 0 for a deleted one


class Plan(NamedTuple):
    """The changes that a sync of a file makes to the memories.

    Its texts have no secrets, except in `raw`: the original texts of the file, from which memories are made.
    """

    new: list[Item]
    legacy: list[Item]  # new, from `facts.md`
    changed: dict[str, str]  # memory id -> its new content
    forgotten: list[str]
    conflicts: list[Conflict]
    claims: dict[int, str]  # line of an item -> short id of its memory
    own: set[int]  # lines of items whose words the person has just written
    notes: list[str]
    raw: dict[int, str]  # text of an item as it stands in the file, by its line


class Outcome(NamedTuple):
    """Changes that a sync has stored, or would store in a dry run."""

    results: list[Remembered]  # for new items, then for conflicts with text in the file, then for `facts.md`
    rows: list[MemoryRow]  # memories that end up with a line


def sync(
    repository: MemoryRepository, path: Path, state: Path, actor: str = "", dry_run: bool = False, *, personal: bool = False
) -> SyncAnswer:
    """Copy changes of memories from MEMORY.md to the graph, and back.

    Args:
        repository: the memories.
        path: path of MEMORY.md, which is created if missing. A `facts.md` in the same directory is imported once, and kept.
        state: the index directory.
        actor: name of the person or program that syncs, for the audit log.
        dry_run: change nothing; the result has the changes that a sync would make. Its ids of new memories are not valid later.
        personal: include personal memories in the file.

    Raises:
        BadInputError: the file is too large, not UTF-8, a link or read-only, or has an invalid line; nothing is changed. Or the file
            changed during the sync: then the memories are up to date, and the file keeps its new content.
    """
    expect_writable(path)
    before = bytes_of(path)
    text = text_of(path, before)
    mark, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    document = text if text.strip() else text + skeleton(repository.project())
    everything = stored_state(state / BASE)
    name = name_in_state(path, state)
    # An empty or missing file is filled; it does not mean that everything shall be forgotten.
    base = (everything.get(name) or everything.get(path.name) or NOTHING_COMMON) if text.strip() else NOTHING_COMMON
    legacy = path.with_name(LEGACY)
    with repository.writing():
        raw = [item for item in items(text) if item.id or not item.text.startswith(_TASKS)]
        # An item that is private as a whole is ignored.
        found = [item._replace(text=said) for item in raw if (said := without_secrets(item.text)) or not item.text]
        shown = {row.short_id: row for row in _rows(repository, personal=personal)}
        plan = planned(found, base, shown, {item.line: item.text for item in raw})
        if not everything and legacy.exists():
            plan.legacy.extend(items(text_of(legacy, bytes_of(legacy))))
            plan.notes.append(f"{legacy.name} was imported and is left unchanged")
        # Everything is validated before anything is written, so an invalid line leaves all unchanged.
        drafts = _drafts(repository, plan)
        outcome = _foreseen(repository, plan, drafts, personal) if dry_run else _done(repository, plan, drafts, actor, path.name, personal)
        fates = _fates(repository, plan, found, base, outcome)
        left = _untracked_items(plan, found, fates)
        new = merged(document, fates, outcome.rows, base.ours)
        if not dry_run:
            write_unless_changed(path, before, (mark + new).encode("utf-8"))
            placed = items_by_id(new)
            graph = {row.short_id: one_line(row.content) for row in outcome.rows}
            persons = {fate.id for fate in fates.values() if fate.id} - base.ours
            everything[name] = Common(
                {one: without_secrets(placed[one].text) for one in graph}, graph, frozenset(graph.keys() - persons), left
            )
            everything.pop(path.name if name != path.name else "", None)
            replace_with(state / BASE, state_bytes(everything))
        return _answer(path, plan, outcome, dry_run=dry_run)


def listed(repository: MemoryReader) -> list[MemoryInfo]:
    """Return the memories that belong in MEMORY.md.

    They are confirmed memories about the whole project or a module. Left out are personal memories, memories that outside text influenced
    (contaminated), and memories made from the project's files (seeds).
    """
    describer = repository.describer()
    return [describer.info(row) for row in _rows(repository)]


def _rows(repository: MemoryReader, instead: Iterable[MemoryRow] = (), *, personal: bool = False) -> list[MemoryRow]:
    """Return the memories that belong in MEMORY.md, ordered by id.

    Args:
        repository: the memories.
        instead: rows that a sync will store, by id; they are used in place of the stored rows.
        personal: include personal memories.
    """
    rows = {row.id: row for row in repository.index().all_rows()} | {row.id: row for row in instead}
    return [
        row
        for _, row in sorted(rows.items())
        if row.status in _SHOWN_STATUSES
        and row.scope in _SHOWN_SCOPES
        and row.source != SEEDED
        and (personal or row.visibility != "personal")
        and not row.contaminated
    ]


def planned(found: list[Item], base: Common, shown: Mapping[str, MemoryRow], raw: Mapping[int, str]) -> Plan:
    """Plan a sync: compare the file's items with the graph and the last sync.

    Args:
        found: the list items of the file.
        base: the texts on which file and graph agreed after the last sync.
        shown: the memories that belong in the file, by short id.
        raw: original text of each item, with secrets, by the item's line.
    """
    plan = Plan([], [], {}, [], [], {}, set(), [], dict(raw))
    by_text = {fingerprint(row.content): short for short, row in shown.items()}
    lines = _lines_of(found, base.in_file, shown)
    prints = {item.line: fingerprint(unfolded(item.text)) for item in found}
    line_of = dict(lines)
    for item in found:
        short = item.id
        if short and lines.get(short) != item.line:
            why = f"there twice and belongs to line {lines[short]}" if short in lines else "no memory"
            plan.notes.append(f"line {item.line}: [id:{short}] is {why}; the line is known by its words, or new")
            short = ""
        if not short:  # the same words without an id, or with a mangled one, are the same memory
            known = by_text.get(prints[item.line], "")
            if prints[item.line] in base.taken or (known in line_of and prints[line_of[known]] == prints[item.line]):
                continue  # a repeated line belongs to the person
            short = known if known and known not in line_of else ""
        if not short:
            plan.new.append(item)
            plan.own.add(item.line)
            continue
        line_of[short] = item.line
        plan.claims[item.line] = short
        _compare(plan, item, base, shown.get(short), short)
    for short in sorted(base.in_file.keys() - line_of.keys()):
        if (here := shown.get(short)) is None:
            continue
        if one_line(here.content) == base.in_graph.get(short):
            plan.forgotten.append(here.id)
        else:
            plan.conflicts.append(Conflict(here.id, "", one_line(here.content)))
            plan.notes.append(
                f"the line of #{short} was deleted, but the memory has changed since: it stays, delete it again if it should go"
            )
    return plan


def _lines_of(found: list[Item], base: Mapping[str, str], shown: Mapping[str, MemoryRow]) -> dict[str, int]:
    """Return the line number of each memory in the file, by short id.

    If several lines have the same id, the first line with a known text of the memory is chosen. Known texts are the text at the last sync
    (`base`) and the current text (`shown`). If no line has a known text, the first line with the id is chosen.
    """
    lines: dict[str, int] = {}
    exact: set[str] = set()
    for item in found:
        if item.id not in shown and item.id not in base:
            continue
        has_words = item.text == base.get(item.id) or (item.id in shown and item.text == one_line(shown[item.id].content))
        if item.id not in lines or (has_words and item.id not in exact):
            lines[item.id] = item.line
        if has_words:
            exact.add(item.id)
    return lines


def _compare(plan: Plan, item: Item, base: Common, here: MemoryRow | None, short: str) -> None:
    before = base.in_file.get(short)
    if here is None:  # the file has it, the graph no longer shows it
        if before is not None and item.text != before:
            del plan.claims[item.line]
            plan.new.append(item)
            plan.own.add(item.line)
            plan.notes.append(f"line {item.line}: #{short} was removed from the graph and changed in the file; it is kept as a new memory")
        return
    said, known = item.text, one_line(here.content)
    if said in (known, before, ""):
        return
    if before is None or known == base.in_graph.get(short):
        plan.changed[here.id] = unfolded(plan.raw[item.line])
        plan.own.add(item.line)
    else:
        del plan.claims[item.line]
        plan.conflicts.append(Conflict(here.id, said, known, item.line))
        plan.own.add(item.line)
        plan.notes.append(f"line {item.line}: #{short} was changed in the file and in the graph; both are kept")


def _drafts(repository: MemoryRepository, plan: Plan) -> list[MemoryItem]:
    """Return validated memories for the new texts of the file.

    Text that will be left out is reported in the plan's notes.
    """
    for memory_id, content in plan.changed.items():
        line = next(line for line, short in plan.claims.items() if short == repository.row(memory_id).short_id)
        _look(repository, plan, {"content": content}, f"line {line}")
    given = [(_remembered(item._replace(text=plan.raw[item.line])), f"line {item.line}") for item in plan.new]
    given += [({"content": unfolded(plan.raw[one.line])}, f"line {one.line}") for one in plan.conflicts if one.said]
    given += [(_remembered(item), f"line {item.line} of {LEGACY}") for item in plan.legacy]
    return [_look(repository, plan, draft, place) for draft, place in given]


def _remembered(item: Item) -> MemoryItem:
    given: MemoryItem = {"content": unfolded(item.text)}
    if type_ := item.facts.get("type") or SECTION_TYPES.get(item.heading):
        given["type"] = type_
    return given


def _look(repository: MemoryRepository, plan: Plan, given: MemoryItem, place: str) -> MemoryItem:
    try:
        draft = repository.draft(given, "user_taught")
    except BadInputError as error:
        raise type(error)(f"{place}: {error.message}", **error.facts) from error
    if draft.redacted:
        kinds = ", ".join(sorted(set(draft.redacted)))
        plan.notes.append(f"{place}: a secret ({kinds}) was left out of the memory; it is still in the file; remove it there")
    return given


def _done(
    repository: MemoryRepository, plan: Plan, drafts: Sequence[Mapping[str, object]], actor: str, name: str, personal: bool
) -> Outcome:
    """Write the planned changes to the graph; return the stored changes.

    `drafts` are the new memories in `plan`, as arguments of `remember`. `name` is the name of the synced file, for the audit log. If
    `personal` is true, the result includes personal memories.
    """
    for memory_id, content in plan.changed.items():
        update(repository, memory_id, {"content": content}, actor)
    if plan.forgotten:
        forget_many(repository, plan.forgotten, hard=False, actor=actor, op="remove", note=f"its line in {name} was deleted")
    results = repository.remember_many(drafts, source="user_taught", actor=actor).results if drafts else []
    return Outcome(results, _rows(repository, personal=personal))


def _foreseen(repository: MemoryRepository, plan: Plan, drafts: Sequence[Mapping[str, object]], personal: bool) -> Outcome:
    """Return the changes that `_done` would store, without writing them.

    `drafts` are the new memories in `plan`. If `personal` is true, the result includes personal memories.
    """
    assumed = [repository.row(one)._replace(status="deprecated") for one in plan.forgotten]
    for memory_id, said in plan.changed.items():
        content = repository.draft({"content": said}, "user_taught").content
        assumed.append(repository.row(memory_id)._replace(content=content, fingerprint=fingerprint(content)))
    foreseen = repository.foreseen(drafts, "user_taught", assumed)
    return Outcome(foreseen.results, _rows(repository, foreseen.delta.memories, personal=personal))


def _fates(repository: MemoryRepository, plan: Plan, found: Sequence[Item], base: Common, outcome: Outcome) -> dict[int, Line]:
    """Map each changed list item of MEMORY.md to its planned change.

    The result maps the number of an item's first line to the item's change. Unchanged items are left out.

    Args:
        repository: the memories.
        plan: the plan of the sync; receives notes about removed lines.
        found: the list items of the file.
        base: the texts on which file and graph agreed after the last sync.
        outcome: the memories that the sync has stored, or would store.
    """
    rows = {row.short_id: row for row in outcome.rows}
    claims = dict(plan.claims)
    said = [item.line for item in plan.new] + [one.line for one in plan.conflicts if one.said]
    for line, result in zip(said, outcome.results, strict=False):  # results of `facts.md` follow
        if result.short_id not in claims.values():
            claims[line] = result.short_id
    fates: dict[int, Line] = {}
    for item in found:
        short = claims.get(item.line, "")
        row = rows.get(short)
        if row is not None:
            known = one_line(row.content)
            learnt = item.line not in plan.own and known not in (base.in_graph.get(short, known), item.text)
            fates[item.line] = Line(short, known if learnt or not item.text else None)
        elif short and item.line not in plan.own:
            why = row.status if (row := repository.index().row(repository.index().by_short_id(short) or "")) is not None else "erased"
            plan.notes.append(f"line {item.line}: #{short} is {why} and its line was taken out: {clipped(item.text, 80)}")
            fates[item.line] = Line(is_gone=True)
        elif item.id:
            fates[item.line] = Line()
    return fates


def _untracked_items(plan: Plan, found: Sequence[Item], fates: Mapping[int, Line]) -> frozenset[str]:
    """Return hashes of list items that stay in the file without an id.

    `found` are the items of the file, and `fates` maps the first line of a changed item to its change. The state of the sync keeps the
    hashes. So the next sync does not import these items as new memories.
    """
    return frozenset(
        fingerprint(unfolded(item.text)) for item in found if not (fate := fates.get(item.line, Line())).id and not fate.is_gone
    )


def _answer(path: Path, plan: Plan, outcome: Outcome, *, dry_run: bool) -> SyncAnswer:
    after = iter(outcome.results[len(plan.new) :])
    conflicts = [SyncConflict(one.id, one.said, one.known, next(after).id if one.said else "") for one in plan.conflicts]
    taken_in = [*outcome.results[: len(plan.new)], *after]
    added = [one.id for one in taken_in if one.outcome != "duplicate"]
    return SyncAnswer(str(path), added, sorted(plan.changed), sorted(plan.forgotten), len(outcome.rows), conflicts, plan.notes, dry_run)
