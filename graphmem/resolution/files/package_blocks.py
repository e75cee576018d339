"""Find the block of a package that contains a line, as `namespace a {…}`.

A package is dotted, such as `outer.inner`. Clauses without a block, such as `package a;`, do not count.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphmem.parsing.facts import Binding, Definition
    from graphmem.resolution.files.file_entry import FileEntry

Block = tuple[int, int, str, int]
"""The block of a package: first line, last line, dotted name, and the position of the block around it (or -1)."""


def package_blocks(entry: FileEntry) -> Sequence[Block]:
    """Return the blocks of packages in a file, in source order."""
    kept: Sequence[Block] | None = entry.kept.get("package blocks")
    if kept is not None:
        return kept
    found: list[Block] = []
    around = -1
    for clause in entry.facts.imports:
        if clause.kind != "package" or clause.end_line <= clause.line:
            continue
        while around >= 0 and found[around][1] < clause.end_line:
            around = found[around][3]
        outer = f"{found[around][2]}." if around >= 0 else ""
        found.append((clause.line, clause.end_line, outer + clause.module.replace("::", "."), around))
        around = len(found) - 1
    entry.kept["package blocks"] = found
    return found


def package_at(entry: FileEntry, line: int) -> str:
    """Return the package of a line; "" outside of all blocks."""
    blocks = package_blocks(entry)
    position = bisect_right(blocks, line, key=_first_line) - 1
    while position >= 0 and blocks[position][1] < line:
        position = blocks[position][3]
    return blocks[position][2] if position >= 0 else ""


def packages_of(entry: FileEntry, definitions: Iterable[Definition], bindings: Iterable[Binding]) -> tuple[str, ...]:
    """Return the package of each top-level definition and binding, in order.

    The result is empty for a file without blocks of packages.
    """
    if not package_blocks(entry):
        return ()
    lines = [definition.start_line for definition in definitions if not definition.parent]
    lines += [binding.line for binding in bindings if not binding.scope]
    return tuple(package_at(entry, line) for line in lines)


def _first_line(block: Block) -> int:
    return block[0]
