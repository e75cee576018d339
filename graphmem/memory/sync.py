"""MEMORY.md, two-way: what people change in the file reaches the graph, what is learnt reaches the file, and nothing is lost.

A small file beside the index says what the file and the graph had in common after the last sync. Three sides tell who changed a
line: the file alone, the graph alone, or both; when both did, both texts are kept and shown.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.answers import MemoryInfo, SyncAnswer, SyncConflict
from graphmem.errors import BadInputError
from graphmem.memory.changes import forget_many
from graphmem.memory.foreign import MAX_BYTES
from graphmem.memory.markdown import SECTION_TYPES, Item, items, memory_md, one_line, unfolded
from graphmem.memory.text import fingerprint
from graphmem.memory.update import update
from graphmem.memory.validate import refuse

if TYPE_CHECKING:
    from graphmem.memory.book import MemoryBook

BASE: Final = "memory-md.json"  # in the index directory: short id -> text, as of the last sync
LEGACY: Final = "facts.md"
_SHOWN_STATUSES: Final = frozenset({"confirmed", "pinned"})
_SHOWN_SCOPES: Final = frozenset({"global", "module"})


class Plan(NamedTuple):
    """What a sync does to the graph."""

    new: list[Item]
    changed: dict[str, str]  # memory id -> its new content
    forgotten: list[str]
    conflicts: list[tuple[str, str, str]]  # memory id, text of the file ("" for a deleted line), text of the graph
    notes: list[str]


def sync(book: MemoryBook, path: Path, state: Path, actor: str = "", dry_run: bool = False) -> SyncAnswer:
    """Carry changes both ways, then write the file anew.

    Args:
        book: the memories.
        path: of MEMORY.md; made when it is not there. A `facts.md` beside it is taken in once, and kept.
        state: the index directory.
        actor: who does this, for the audit.
        dry_run: only say what would happen.

    Raises:
        BadInputError: the file is too large or no UTF-8, or a line of it cannot be kept; nothing is changed.
    """
    text = _read(path)
    base = _base(state / BASE) if text else {}  # an empty or missing file is one to write, not a wish to forget everything
    legacy = path.with_name(LEGACY)
    first = not (state / BASE).exists()
    with book.writing():
        found = items(text)
        shown = {one.short_id: one for one in listed(book)}
        plan = planned(book, found, base, shown)
        if first and legacy.exists():
            plan.new.extend(items(_read(legacy)))
            plan.notes.append(f"{legacy.name} was taken in, and is kept as it is")
        # Everything is looked at before anything is written: a line that cannot be kept is said, and nothing has happened.
        for content in plan.changed.values():
            book.draft({"content": content}, "user_taught")
        drafts = [_remembered(one) for one in plan.new]
        drafts += [{"content": unfolded(said)} for _, said, _ in plan.conflicts if said]
        for place, draft in enumerate(drafts):
            _check(book, draft, plan.new[place].line if place < len(plan.new) else 0)
        if dry_run:
            return _answer(book, path, plan, [], [""] * len(plan.conflicts), len(shown), dry_run=True)
        for memory_id, content in plan.changed.items():
            update(book, memory_id, {"content": content}, actor)
        if plan.forgotten:
            forget_many(book, plan.forgotten, hard=False, actor=actor, op="remove", note=f"its line in {path.name} was deleted")
        kept = book.remember_many(drafts, source="user_taught", actor=actor).results if drafts else []
        after = iter(kept[len(plan.new) :])
        kept_as = [next(after).id if said else "" for _, said, _ in plan.conflicts]
        rows = listed(book)
        _write(path, memory_md(rows, book.project()))
        _write(
            state / BASE, json.dumps({one.short_id: one_line(one.content) for one in rows}, ensure_ascii=False, indent=0, sort_keys=True)
        )
        added = [one.id for one in kept[: len(plan.new)] if one.outcome != "duplicate"]
        return _answer(book, path, plan, added, kept_as, len(rows), dry_run=False)


def listed(book: MemoryBook) -> list[MemoryInfo]:
    """The memories that stand in the file: confirmed ones of the project or a module, not personal ones."""
    describer = book.describer()
    return [
        describer.info(row)
        for row in sorted(book.index().all_rows(), key=lambda one: one.id)
        if row.status in _SHOWN_STATUSES and row.scope in _SHOWN_SCOPES and row.visibility != "personal" and not row.contaminated
    ]


def planned(book: MemoryBook, found: list[Item], base: Mapping[str, str], shown: Mapping[str, MemoryInfo]) -> Plan:
    """Compare file, graph and what they had in common."""
    plan = Plan([], {}, [], [], [])
    seen: set[str] = set()
    by_text = {fingerprint(one.content): short for short, one in shown.items()}
    lines = _lines_of(found, base, shown)
    for item in found:
        short = item.id
        if short and lines.get(short) != item.line:
            why = f"there twice and belongs to line {lines[short]}" if short in lines else "no memory"
            plan.notes.append(f"line {item.line}: [id:{short}] is {why}; the line is known by its words, or new")
            short = ""
        if not short:  # the same words without their id, or with a mangled one, are the same memory
            known = by_text.get(fingerprint(unfolded(item.text)), "")
            short = known if known and known not in seen and known not in lines else ""
        if not short:
            plan.new.append(item)
            continue
        seen.add(short)
        _compare(book, plan, item, base.get(short), shown.get(short), short)
    for short in sorted(base.keys() - seen):
        if (here := shown.get(short)) is None:
            continue
        if one_line(here.content) == base[short]:
            plan.forgotten.append(here.id)
        else:
            plan.conflicts.append((here.id, "", one_line(here.content)))
            plan.notes.append(
                f"the line of #{short} was deleted, but the memory has changed since: it stays, delete it again if it should go"
            )
    return plan


def _lines_of(found: list[Item], base: Mapping[str, str], shown: Mapping[str, MemoryInfo]) -> dict[str, int]:
    """The line of each id there is: where it stands twice, the first with the memory's words, else the first."""
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


def _compare(book: MemoryBook, plan: Plan, item: Item, before: str | None, here: MemoryInfo | None, short: str) -> None:
    if here is None:  # the file has it, the graph does not show it any more
        if before is not None and item.text != before:
            plan.new.append(item)
            plan.notes.append(f"line {item.line}: #{short} was taken out of the graph and changed in the file; it is kept as a new memory")
        return
    said, known = item.text, one_line(here.content)
    if said == known:
        return
    if before is None or known == before:
        if said:
            plan.changed[here.id] = unfolded(said)
    elif said != before:
        plan.conflicts.append((here.id, said, known))
        plan.notes.append(f"line {item.line}: #{short} was changed in the file and in the graph; both are kept")


def _remembered(item: Item) -> dict[str, Any]:
    given: dict[str, Any] = {"content": unfolded(item.text)}
    if type_ := item.facts.get("type") or SECTION_TYPES.get(item.heading):
        given["type"] = type_
    return given


def _check(book: MemoryBook, draft: Mapping[str, Any], line: int) -> None:
    try:
        book.draft(draft, "user_taught")
    except BadInputError as error:
        raise type(error)(f"line {line}: {error.message}" if line else error.message, **error.facts) from error


def _answer(book: MemoryBook, path: Path, plan: Plan, added: list[str], kept_as: list[str], written: int, *, dry_run: bool) -> SyncAnswer:
    conflicts = [SyncConflict(one, said, known, kept) for (one, said, known), kept in zip(plan.conflicts, kept_as, strict=True)]
    return SyncAnswer(str(path), added, sorted(plan.changed), sorted(plan.forgotten), written, conflicts, plan.notes, dry_run)


def _read(path: Path) -> str:
    if not path.exists():
        return ""
    if path.stat().st_size > MAX_BYTES:
        raise refuse(path.name, f"{path.stat().st_size:,} bytes", f"at most {MAX_BYTES:,} are read", "Split it.")
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise refuse(path.name, f"no UTF-8 ({error.reason} at {error.start:,})", "it is text in UTF-8", "Save it as UTF-8.") from error


def _base(path: Path) -> dict[str, str]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # without it every difference is the person's: nothing is forgotten, at worst an old text comes back as a change
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            Path(name).chmod(path.stat().st_mode & 0o777)
        else:
            Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
