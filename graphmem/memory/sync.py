"""MEMORY.md, two-way: what people change in the file reaches the graph, what is learnt reaches the file, and nothing is lost.

The file is the person's. A memory in it is one list item with its id; everything else stays byte for byte where it is
(`markdown_merge`).
A small file beside the index says what the file and the graph had in common after the last sync. Three sides tell who changed a
line: the file alone, the graph alone, or both; when both did, both texts are kept and shown.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.answers import MemoryInfo, Remembered, SyncAnswer, SyncConflict
from graphmem.errors import BadInputError
from graphmem.memory.changes import forget_many
from graphmem.memory.importers import MAX_BYTES
from graphmem.memory.markdown import SECTION_TYPES, Item, items, one_line, skeleton, unfolded
from graphmem.memory.markdown_merge import Line, merged, said_by
from graphmem.memory.redact import redact
from graphmem.memory.text import clipped, fingerprint
from graphmem.memory.update import update
from graphmem.memory.validate import refuse
from graphmem.runtime.checksums import read_sealed_json, sealed_json
from graphmem.runtime.limits import unless_refused

if TYPE_CHECKING:
    from graphmem.knowledge import MemoryRow
    from graphmem.memory.repository import MemoryRepository

BASE: Final = "memory-md.json"  # in the index directory: what each file and the graph said at the last sync
LEGACY: Final = "facts.md"
_SHOWN_STATUSES: Final = frozenset({"confirmed", "pinned"})
_SHOWN_SCOPES: Final = frozenset({"global", "module"})
_TASKS: Final = ("[ ]", "[x]", "[X]")  # a task to tick off is no knowledge, and an id before its box would undo it


class Common(NamedTuple):
    """What a file and the graph had in common."""

    in_file: dict[str, str]  # short id -> text of its item
    in_graph: dict[str, str]  # short id -> content on one line; not the file's text where a secret was left out
    ours: frozenset[str] = frozenset()  # short ids of lines that no person wrote
    taken: frozenset[str] = frozenset()  # fingerprints of items without an id whose words are known


class Conflict(NamedTuple):
    """A memory both sides changed."""

    id: str
    said: str  # by the file; "" for a deleted line
    known: str  # by the graph
    line: int = 0  # of the item; 0 for a deleted one


class Plan(NamedTuple):
    """What a sync does to the graph. Texts are without secrets; `raw` has those of the file, for the drafts alone."""

    new: list[Item]
    legacy: list[Item]  # new, from `facts.md`
    changed: dict[str, str]  # memory id -> its new content
    forgotten: list[str]
    conflicts: list[Conflict]
    claims: dict[int, str]  # line of an item -> short id of its memory
    own: set[int]  # lines of items whose words the person gave just now
    notes: list[str]
    raw: dict[int, str]  # text of an item as it stands in the file, by its line


class Outcome(NamedTuple):
    """What became of it, or would."""

    results: list[Remembered]  # of what is new, then of conflicts that the file has words for, then of `facts.md`
    rows: list[MemoryRow]  # memories that have a line in the end


def sync(
    repository: MemoryRepository, path: Path, state: Path, actor: str = "", dry_run: bool = False, *, personal: bool = False
) -> SyncAnswer:
    """Carry changes both ways.

    Args:
        repository: the memories.
        path: of MEMORY.md; made when it is not there. A `facts.md` beside it is taken in once, and kept.
        state: the index directory.
        actor: who does this, for the audit.
        dry_run: only say what would happen; ids of what would be new are nobody's.
        personal: personal memories stand in the file, too.

    Raises:
        BadInputError: the file is too large, no UTF-8, a link or read-only, or a line of it cannot be kept; nothing is changed. Or it
            changed meanwhile: then the memories are brought up to date, and the file is as whoever wrote it left it.
    """
    _expect_writable(path)
    before = _bytes(path)
    text = _text(path, before)
    mark, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    document = text if text.strip() else text + skeleton(repository.project())
    everything = _state(state / BASE)
    name = _name(path, state)
    # An empty or missing file is one to write, not a wish to forget everything.
    base = (everything.get(name) or everything.get(path.name) or _NOTHING) if text.strip() else _NOTHING
    legacy = path.with_name(LEGACY)
    with repository.writing():
        raw = [item for item in items(text) if item.id or not item.text.startswith(_TASKS)]
        # What is private as a whole is not there.
        found = [item._replace(text=said) for item in raw if (said := _without_secrets(item.text)) or not item.text]
        shown = {row.short_id: row for row in _rows(repository, personal=personal)}
        plan = planned(found, base, shown, {item.line: item.text for item in raw})
        if not everything and legacy.exists():
            plan.legacy.extend(items(_text(legacy, _bytes(legacy))))
            plan.notes.append(f"{legacy.name} was taken in, and is kept as it is")
        # Everything is looked at before anything is written: a line that cannot be kept is said, and nothing has happened.
        drafts = _drafts(repository, plan)
        outcome = _foreseen(repository, plan, drafts, personal) if dry_run else _done(repository, plan, drafts, actor, path.name, personal)
        fates = _fates(repository, plan, found, base, outcome)
        left = _left(plan, found, fates)
        new = merged(document, fates, outcome.rows, base.ours)
        if not dry_run:
            _write(path, before, (mark + new).encode("utf-8"))
            placed = said_by(new)
            graph = {row.short_id: one_line(row.content) for row in outcome.rows}
            persons = {fate.id for fate in fates.values() if fate.id} - base.ours
            everything[name] = Common(
                {one: _without_secrets(placed[one].text) for one in graph}, graph, frozenset(graph.keys() - persons), left
            )
            everything.pop(path.name if name != path.name else "", None)
            _replace(state / BASE, _json(everything))
        return _answer(path, plan, outcome, dry_run=dry_run)


def listed(repository: MemoryRepository) -> list[MemoryInfo]:
    """The memories that stand in the file: confirmed ones of the project or a module, not personal ones."""
    describer = repository.describer()
    return [describer.info(row) for row in _rows(repository)]


def _rows(repository: MemoryRepository, instead: Iterable[MemoryRow] = (), *, personal: bool = False) -> list[MemoryRow]:
    """Rows of the memories that stand in the file, in order of their ids.

    Args:
        repository: the memories.
        instead: rows as they will be, in place of those there are.
        personal: with personal ones.
    """
    rows = {row.id: row for row in repository.index().all_rows()} | {row.id: row for row in instead}
    return [
        row
        for _, row in sorted(rows.items())
        if row.status in _SHOWN_STATUSES
        and row.scope in _SHOWN_SCOPES
        and (personal or row.visibility != "personal")
        and not row.contaminated
    ]


def planned(found: list[Item], base: Common, shown: Mapping[str, MemoryRow], raw: Mapping[int, str]) -> Plan:
    """Compare file, graph and what they had in common."""
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
        if not short:  # the same words without their id, or with a mangled one, are the same memory
            known = by_text.get(prints[item.line], "")
            if prints[item.line] in base.taken or (known in line_of and prints[line_of[known]] == prints[item.line]):
                continue  # said already; a line more that says so is the person's
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


def _compare(plan: Plan, item: Item, base: Common, here: MemoryRow | None, short: str) -> None:
    before = base.in_file.get(short)
    if here is None:  # the file has it, the graph does not show it any more
        if before is not None and item.text != before:
            del plan.claims[item.line]
            plan.new.append(item)
            plan.own.add(item.line)
            plan.notes.append(f"line {item.line}: #{short} was taken out of the graph and changed in the file; it is kept as a new memory")
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


def _drafts(repository: MemoryRepository, plan: Plan) -> list[dict[str, Any]]:
    """What is to be remembered, each looked at, and what of it will be left out said."""
    for memory_id, content in plan.changed.items():
        line = next(line for line, short in plan.claims.items() if short == repository.row(memory_id).short_id)
        _look(repository, plan, {"content": content}, f"line {line}")
    given = [(_remembered(item._replace(text=plan.raw[item.line])), f"line {item.line}") for item in plan.new]
    given += [({"content": unfolded(plan.raw[one.line])}, f"line {one.line}") for one in plan.conflicts if one.said]
    given += [(_remembered(item), f"line {item.line} of {LEGACY}") for item in plan.legacy]
    return [_look(repository, plan, draft, place) for draft, place in given]


def _remembered(item: Item) -> dict[str, Any]:
    given: dict[str, Any] = {"content": unfolded(item.text)}
    if type_ := item.facts.get("type") or SECTION_TYPES.get(item.heading):
        given["type"] = type_
    return given


def _without_secrets(text: str) -> str:
    """An item's text as a memory of it would have it; as it stands where there is no secret in it."""
    clean, kinds = redact(unfolded(text))
    return one_line(clean) if kinds else text


def _look(repository: MemoryRepository, plan: Plan, given: dict[str, Any], place: str) -> dict[str, Any]:
    try:
        draft = repository.draft(given, "user_taught")
    except BadInputError as error:
        raise type(error)(f"{place}: {error.message}", **error.facts) from error
    if draft.redacted:
        kinds = ", ".join(sorted(set(draft.redacted)))
        plan.notes.append(f"{place}: a secret ({kinds}) was left out of the memory; it still stands in the file, take it out there")
    return given


def _done(repository: MemoryRepository, plan: Plan, drafts: Sequence[Mapping[str, Any]], actor: str, name: str, personal: bool) -> Outcome:
    """Carry the file's changes into the graph."""
    for memory_id, content in plan.changed.items():
        update(repository, memory_id, {"content": content}, actor)
    if plan.forgotten:
        forget_many(repository, plan.forgotten, hard=False, actor=actor, op="remove", note=f"its line in {name} was deleted")
    results = repository.remember_many(drafts, source="user_taught", actor=actor).results if drafts else []
    return Outcome(results, _rows(repository, personal=personal))


def _foreseen(repository: MemoryRepository, plan: Plan, drafts: Sequence[Mapping[str, Any]], personal: bool) -> Outcome:
    """The same without doing it."""
    assumed = [repository.row(one)._replace(status="deprecated") for one in plan.forgotten]
    for memory_id, said in plan.changed.items():
        content = repository.draft({"content": said}, "user_taught").content
        assumed.append(repository.row(memory_id)._replace(content=content, fingerprint=fingerprint(content)))
    foreseen = repository.foreseen(drafts, "user_taught", assumed)
    return Outcome(foreseen.results, _rows(repository, foreseen.delta.memories, personal=personal))


def _fates(repository: MemoryRepository, plan: Plan, found: Sequence[Item], base: Common, outcome: Outcome) -> dict[int, Line]:
    """What becomes of each item of the file that changes, by its line."""
    rows = {row.short_id: row for row in outcome.rows}
    claims = dict(plan.claims)
    said = [item.line for item in plan.new] + [one.line for one in plan.conflicts if one.said]
    for line, result in zip(said, outcome.results, strict=False):  # those of `facts.md` follow
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


def _left(plan: Plan, found: Sequence[Item], fates: Mapping[int, Line]) -> frozenset[str]:
    """Fingerprints of the items that stay in the file without an id: their words are known, and not taken in once more."""
    return frozenset(
        fingerprint(unfolded(item.text)) for item in found if not (fate := fates.get(item.line, Line())).id and not fate.is_gone
    )


def _answer(path: Path, plan: Plan, outcome: Outcome, *, dry_run: bool) -> SyncAnswer:
    after = iter(outcome.results[len(plan.new) :])
    conflicts = [SyncConflict(one.id, one.said, one.known, next(after).id if one.said else "") for one in plan.conflicts]
    taken_in = [*outcome.results[: len(plan.new)], *after]
    added = [one.id for one in taken_in if one.outcome != "duplicate"]
    return SyncAnswer(str(path), added, sorted(plan.changed), sorted(plan.forgotten), len(outcome.rows), conflicts, plan.notes, dry_run)


# ---- files


def _expect_writable(path: Path) -> None:
    """Refuse a file that a rename would replace although somebody meant it to stay."""
    if path.is_symlink():
        raise refuse(path.name, f"a link to {path.readlink()}", "a sync would put a file in the link's place", "Name the file it leads to.")
    if path.exists() and (not path.stat().st_mode & 0o222 or not os.access(path, os.W_OK)):
        raise refuse(path.name, "read-only", "a sync writes into it", "Make it writable, for example with `chmod u+w`.")


def _bytes(path: Path) -> bytes:
    if not path.exists():
        return b""
    if path.stat().st_size > MAX_BYTES:
        raise refuse(path.name, f"{path.stat().st_size:,} bytes", f"at most {MAX_BYTES:,} are read", "Split it.")
    return path.read_bytes()


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise refuse(path.name, f"no UTF-8 ({error.reason} at {error.start:,})", "it is text in UTF-8", "Save it as UTF-8.") from error


_NOTHING: Final = Common({}, {})


def _name(path: Path, state: Path) -> str:
    """What a file is called in the state: how it is reached from the index, which may move with the project."""
    return Path(os.path.relpath(path.absolute(), state.absolute())).as_posix()


def _state(path: Path) -> dict[str, Common]:
    """By file; earlier versions knew MEMORY.md alone, and one text for both sides."""
    try:
        return _read_state(path)
    except (OSError, ValueError) as error:
        unless_refused(error, f"reading {path.name}", path)
        return {}  # without it every difference is the person's: nothing is forgotten, at worst an old text comes back as a change


def _read_state(path: Path) -> dict[str, Common]:
    """See `_state`.

    Raises:
        OSError: it cannot be read.
        ValueError: it is damaged.
    """
    found = read_sealed_json(path.read_bytes())
    try:
        if "files" not in found:
            lines = {str(key): str(value) for key, value in found.items()}
            lines = {short: _without_secrets(text) for short, text in lines.items()}
            return {"MEMORY.md": Common(lines, lines, frozenset(lines))}
        return {
            str(name): Common(
                _all_without_secrets(one["in_file"]), _all_without_secrets(one["in_graph"]), frozenset(one["ours"]), frozenset(one["taken"])
            )
            for name, one in found["files"].items()
        }
    except (TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError("it does not have the shape of such a file") from error


def _all_without_secrets(texts: Mapping[str, str]) -> dict[str, str]:
    """Texts by short id; an earlier version wrote them as they stood."""
    return {short: _without_secrets(text) for short, text in texts.items()}


def cleaned_state(path: Path) -> bytes:
    """The file of what was in common, without the secrets an earlier version wrote into it.

    Raises:
        OSError: it cannot be read.
        ValueError: it is damaged, so that what it said is not known.
    """
    return _json(_read_state(path))


def _json(state: Mapping[str, Common]) -> bytes:
    files = {
        name: {"in_file": one.in_file, "in_graph": one.in_graph, "ours": sorted(one.ours), "taken": sorted(one.taken)}
        for name, one in state.items()
    }
    return sealed_json({"files": files}, ensure_ascii=False, indent=0, sort_keys=True)


def _write(path: Path, before: bytes, after: bytes) -> None:
    """Put the new text in place, unless there is none or somebody wrote into the file meanwhile."""
    if _bytes(path) != before:
        raise BadInputError(
            f"{path} was changed while it was synced and is left as it is; run `graphmem sync-file` again", argument="path", path=str(path)
        )
    if after != before or not path.exists():
        _replace(path, after)


def _replace(path: Path, data: bytes) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
