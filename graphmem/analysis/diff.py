"""Map the changed lines of a diff to changed definitions.

A changed line belongs to the innermost definition around it. A definition counts as changed if its own lines and its tokens changed.
Changes to comments or blank lines alone are ignored. A definition is added or removed if its qualified name exists on one side only. A
removed definition counts as moved if an added definition has the same kind, name and body.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.runtime.texts.lines import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from graphmem.analysis.unified_diff import FileChange, Side
    from graphmem.parsing.facts import Definition

_CONTAINERS = ("module", "class", "interface", "enum")
_VALUE: Final = re.compile(r"(?<![=!<>])=(?![=>])")  # in the declaration of a variable


class DefinitionChange(NamedTuple):
    """A changed definition with its file, the kind of change and its lines.

    `definition` is the new version, or the old version of a removed definition.
    """

    path: str
    definition: Definition
    change: str  # added | removed | signature | body | moved
    lines: list[int]
    is_test: bool = False  # whether a test runner calls it as a test


def other_side(text: str, change: FileChange) -> tuple[str, str] | None:
    """Reconstruct both versions of a file from one of them and the diff.

    `text` is the old or the new version, and `change` has the hunks of the diff. Returns (old version, new version), or None if the diff
    fits neither. Line endings and a byte order mark are not compared, because a client may remove them from the diff.
    """
    lines = _unmarked(lines_of(text))
    ending = "\n" if text.endswith("\n") else ""
    if _fits(lines, [hunk.new for hunk in change.hunks]):
        return "\n".join(_replace(lines, [(hunk.new, hunk.old.lines) for hunk in change.hunks])) + ending, text
    if _fits(lines, [hunk.old for hunk in change.hunks]):
        return text, "\n".join(_replace(lines, [(hunk.old, hunk.new.lines) for hunk in change.hunks])) + ending
    return None


def _unmarked(lines: Sequence[str]) -> list[str]:
    return [line.removeprefix("\ufeff") if at == 0 else line for at, line in enumerate(lines)]


def _fits(lines: list[str], sides: Iterable[Side]) -> bool:
    for side in sides:
        wanted = _unmarked(side.lines) if side.start == 1 else list(side.lines)
        if lines[side.offset : side.offset + len(wanted)] != wanted:
            return False
    return True


def _replace(lines: list[str], pieces: Iterable[tuple[Side, tuple[str, ...]]]) -> list[str]:
    result, taken = [], 0
    for side, replacement in pieces:
        result.extend(lines[taken : side.offset])
        result.extend(replacement)
        taken = side.offset + len(side.lines)
    return result + lines[taken:]


def compare(change: FileChange, old: Sequence[Definition], new: Sequence[Definition]) -> list[DefinitionChange]:
    """Return the definitions of one file that were added, removed or changed.

    `old` and `new` are the definitions before and after the change. A moved definition is reported as removed and as added; `join_moves`
    finds these pairs.
    """
    before = {(one.kind, one.qualname, one.ordinal): one for one in old}
    after = {(one.kind, one.qualname, one.ordinal): one for one in new}
    old_own = _own_lines(old, change.old_lines, _blank(hunk.old for hunk in change.hunks))
    new_own = _own_lines(new, change.new_lines, _blank(hunk.new for hunk in change.hunks))
    changes: list[DefinitionChange] = []
    for key, one in after.items():
        twin = before.get(key)
        lines = sorted(new_own.get(key, ()))
        if twin is None:
            if one.kind != "module":
                changes.append(DefinitionChange(change.new_path, one, "added", lines))
        elif declared(twin.kind, twin.signature) != declared(one.kind, one.signature):
            changes.append(DefinitionChange(change.new_path, one, "signature", lines))
        elif (twin.body_hash != one.body_hash or twin.signature != one.signature) and (lines or old_own.get(key)):
            changes.append(DefinitionChange(change.new_path, one, "body", lines))
    changes += [
        DefinitionChange(change.old_path, one, "removed", sorted(old_own.get(key, ())))
        for key, one in before.items()
        if key not in after and one.kind != "module"
    ]
    return changes


def declared(kind: str, signature: str) -> str:
    """Return the part of a signature that its users depend on.

    For a variable, this is the declaration without the value: `LIMIT: int` of `LIMIT: int = 3`.
    """
    return _VALUE.split(signature, maxsplit=1)[0].rstrip(" :") if kind == "variable" else signature


def _blank(sides: Iterable[Side]) -> set[int]:
    """Return the line numbers of blank lines on one side of a diff."""
    return {side.start + at for side in sides for at, line in enumerate(side.lines) if not line.strip()}


def _own_lines(definitions: Sequence[Definition], lines: frozenset[int], blank: set[int]) -> dict[tuple[str, str, int], set[int]]:
    """Group changed lines by the innermost definition around them.

    The result maps a definition, as (kind, qualified name, ordinal), to its lines. The lines in `blank` are left out if they are between
    members of a module or class, because such a line usually changes only with a member.
    """
    own: dict[tuple[str, str, int], set[int]] = {}
    if not definitions:
        return own
    ordered = sorted(definitions[1:], key=lambda one: (one.end_line - one.start_line, one.start_line))
    for line in lines:
        inner = next((one for one in ordered if one.start_line <= line <= one.end_line), definitions[0])
        if line not in blank or inner.kind not in _CONTAINERS:
            own.setdefault((inner.kind, inner.qualname, inner.ordinal), set()).add(line)
    return own


def join_moves(changes: Sequence[DefinitionChange]) -> list[DefinitionChange]:
    """Replace each pair of a removed and an added definition by one move.

    The two must have the same kind, name and body; they may be in different files. The result is sorted by path and line.
    """
    gone: dict[tuple[str, str, str], list[DefinitionChange]] = {}
    for one in changes:
        if one.change == "removed":
            gone.setdefault((one.definition.kind, one.definition.name, one.definition.body_hash), []).append(one)
    result: list[DefinitionChange] = []
    moved: set[int] = set()
    for one in changes:
        twins = gone.get((one.definition.kind, one.definition.name, one.definition.body_hash)) if one.change == "added" else None
        if twins:
            moved.add(id(twins.pop(0)))
            result.append(one._replace(change="moved"))
        else:
            result.append(one)
    kept = [one for one in result if id(one) not in moved]
    return sorted(kept, key=lambda one: (one.path, one.definition.start_line, one.definition.qualname, one.change))
