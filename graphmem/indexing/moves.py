"""Match removed files and symbols with new ones (moves and renames).

Memories about a moved file or symbol then belong to the new one. A file is matched by its content, or by shared lines, as Git does. The
symbols of a moved file are matched with those of the new file. Any symbol may also be matched by the hash of its body, which renames and
moves do not change. Among equal matches, the one with the more similar path is chosen. If the paths are equally similar, no match is made.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from graphmem.model import ChunkRow, FileRow, SymbolRow

MIN_SIMILARITY: Final = 0.5
"""Share of a file's characters, in lines that both have, from which on it is the same file: git's own threshold."""

MAX_PAIRS: Final = 10_000
"""Removed times added files; with more, only equal content counts, as git has it with its rename limit.
Also removed times added definitions of one body: so many copies cannot be told apart."""

MIN_BODY_BYTES: Final = 60
"""A shorter definition that has neither its name nor its place any more is too common to be known again by its body."""

_Score = tuple[float, ...]
_Row = TypeVar("_Row", "FileRow", "SymbolRow")


class Sides(NamedTuple):
    """Files, symbols and chunks (pieces of files) that a run removes and adds.

    Each attribute is a pair: (removed rows, added rows). No id is in both.
    """

    files: tuple[Sequence[FileRow], Sequence[FileRow]]
    symbols: tuple[Sequence[SymbolRow], Sequence[SymbolRow]]
    chunks: tuple[Iterable[ChunkRow], Iterable[ChunkRow]]  # at least of those files


def moves(sides: Sides) -> list[tuple[str, str]]:
    """Return (old id, new id) of each moved or renamed file and symbol.

    The pairs are sorted by old id.
    """
    files = _file_moves(sides)
    found = _SymbolMoves(sides, files)
    found.with_their_files()
    found.by_body()
    found.with_their_members()
    found.with_their_owners()
    return sorted([(old.id, new.id) for old, new in files] + list(found.moved.items()))


def _file_moves(sides: Sides) -> list[tuple[FileRow, FileRow]]:
    gone, fresh = sides.files
    by_hash: dict[str, list[FileRow]] = defaultdict(list)
    for row in fresh:
        by_hash[row.content_hash].append(row)
    equal = [(old, new) for old in gone if old.size_bytes for new in by_hash.get(old.content_hash, ())]
    found = _matched(((likeness(old.path, new.path),), old, new) for old, new in equal)
    # The remaining files may also have changed.
    moved = {row.id for pair in found for row in pair} | {row.id for pair in equal for row in pair}
    gone, fresh = [row for row in gone if row.id not in moved], [row for row in fresh if row.id not in moved]
    if gone and fresh and len(gone) * len(fresh) <= MAX_PAIRS:
        lines = [_lines(rows, chunks) for rows, chunks in zip((gone, fresh), sides.chunks, strict=True)]
        pairs = (
            ((similarity(lines[0][old.path], lines[1][new.path]), likeness(old.path, new.path)), old, new)
            for old, new in product(gone, fresh)
            if old.language == new.language
        )
        found += _matched(pair for pair in pairs if pair[0][0] >= MIN_SIMILARITY)
    return found


def _lines(rows: Iterable[FileRow], chunks: Iterable[ChunkRow]) -> dict[str, Counter[str]]:
    """Map each file's path to its lines, with the number of times each occurs.

    `rows` are the files. The lines are read from the files' chunks, without spaces at both ends. Empty lines are left out.
    """
    found: dict[str, Counter[str]] = {row.path: Counter() for row in rows}
    for chunk in chunks:
        if chunk.path in found:
            found[chunk.path].update(line for line in map(str.strip, chunk.text.split("\n")) if line)
    return found


def similarity(one: Counter[str], other: Counter[str]) -> float:
    """Return the similarity of two texts by their common lines, 0 to 1.

    The similarity is the length of the common lines, divided by the length of the longer text. Lengths are in characters. `one` and `other`
    map each line to the number of times it occurs.
    """
    longer = max(_length(one), _length(other))
    return _length(one & other) / longer if longer else 0.0


def _length(lines: Counter[str]) -> int:
    return sum(len(line) * count for line, count in lines.items())


def likeness(one: str, other: str) -> float:
    """Return the similarity of two paths, 0 to 1.

    Equal file names count for one half. The other half is the share of common folders, counted from the start or from the end of the paths,
    whichever is more.
    """
    folders, others = one.split("/"), other.split("/")
    names = 0.5 * (folders.pop() == others.pop())
    shared = max(_common(folders, others), _common(folders[::-1], others[::-1]))
    return names + 0.5 * (shared + 1) / (max(len(folders), len(others)) + 1)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _matched(pairs: Iterable[tuple[_Score, _Row, _Row]]) -> list[tuple[_Row, _Row]]:
    """Match old rows with new rows, pairs with the highest scores first.

    `pairs` has (score, old row, new row). Each row is used at most once. If a row has several best partners with equal scores, it stays
    without a match.
    """
    taken: set[str] = set()
    found: list[tuple[_Row, _Row]] = []
    waiting = sorted(pairs, key=lambda pair: ([-part for part in pair[0]], pair[1].id, pair[2].id))
    at = 0
    while at < len(waiting):
        end = at
        while end < len(waiting) and waiting[end][0] == waiting[at][0]:
            end += 1
        level = [(old, new) for _, old, new in waiting[at:end] if old.id not in taken and new.id not in taken]
        uses = Counter(row.id for pair in level for row in pair)
        found += [(old, new) for old, new in level if uses[old.id] == uses[new.id] == 1]
        taken.update(uses)
        at = end
    return found


class _SymbolMoves:
    """Matches removed symbols with new ones, the most certain matches first."""

    def __init__(self, sides: Sides, files: list[tuple[FileRow, FileRow]]) -> None:
        self.moved: dict[str, str] = {}
        self._taken: set[str] = set()
        self._gone, self._fresh = sides.symbols
        self._paths = {old.path: new.path for old, new in files}
        self._names = {row.id: row.name for rows in sides.symbols for row in rows}

    def _open(self) -> tuple[list[SymbolRow], list[SymbolRow]]:
        return [row for row in self._gone if row.id not in self.moved], [row for row in self._fresh if row.id not in self._taken]

    def _take(self, pairs: Iterable[tuple[SymbolRow, SymbolRow]]) -> None:
        for old, new in pairs:
            self.moved[old.id] = new.id
            self._taken.add(new.id)

    def with_their_files(self) -> None:
        """Match the definitions of moved files by their names.

        A definition is matched only with one in the file to which its file was moved.
        """
        gone, fresh = self._open()
        there = {(row.path, row.qualname, row.kind): row for row in _firsts(fresh)}
        self._take(
            (row, new)
            for row in _firsts(gone)
            if row.path in self._paths and (new := there.get((self._paths[row.path], row.qualname, row.kind))) is not None
        )

    def by_body(self) -> None:
        """Match definitions with equal bodies that were moved or renamed."""
        gone, fresh = map(_by_body, self._open())
        alike = ((olds, fresh[body]) for body, olds in gone.items() if body in fresh)
        self._take(_matched(pair for olds, news in alike if len(olds) * len(news) <= MAX_PAIRS for pair in self._pairs(olds, news)))

    def _pairs(self, gone: list[SymbolRow], fresh: list[SymbolRow]) -> Iterator[tuple[_Score, SymbolRow, SymbolRow]]:
        for old in gone:
            for new in fresh:
                same_place = self._paths.get(old.path, old.path) == new.path
                same_name = old.name == new.name
                same_owner = self._names.get(old.parent_id) == self._names.get(new.parent_id)
                if same_name or (same_place and old.kind != "variable") or old.end_byte - old.start_byte >= MIN_BODY_BYTES:
                    yield (float(same_name), float(same_place), float(same_owner), likeness(old.path, new.path)), old, new

    def with_their_members(self) -> None:
        """Match a removed class with the new class that got most of its members.

        Members are the methods and other definitions in a class. There is a match only if the new class got at least half of the members.
        """
        gone, fresh = self._open()
        owners = {row.id: row for row in fresh}
        parents = {row.id: row.parent_id for row in self._fresh}
        members = Counter(row.parent_id for row in self._gone)
        arrived: dict[str, Counter[str]] = defaultdict(Counter)
        for row in self._gone:
            if row.id in self.moved:
                arrived[row.parent_id][parents[self.moved[row.id]]] += 1
        self._take(
            _matched(
                ((float(count), likeness(old.path, owners[new].path)), old, owners[new])
                for old in gone
                if old.parent_id
                for new, count in arrived[old.id].items()
                if new in owners and owners[new].kind == old.kind and 2 * count >= members[old.id]
            )
        )

    def with_their_owners(self) -> None:
        """Match the members of moved classes by their names.

        Members of outer classes are matched first, and then members of inner classes.
        """
        for _ in range(len(self._gone)):
            gone, fresh = self._open()
            there = {(row.parent_id, row.name, row.kind): row for row in _firsts(fresh)}
            pairs = [
                (row, new)
                for row in _firsts(gone)
                if row.parent_id in self.moved and (new := there.get((self.moved[row.parent_id], row.name, row.kind))) is not None
            ]
            if not pairs:
                return
            self._take(pairs)


def _by_body(rows: Iterable[SymbolRow]) -> dict[tuple[str, str], list[SymbolRow]]:
    """Group definitions by (kind, body hash); modules are left out."""
    found: dict[tuple[str, str], list[SymbolRow]] = defaultdict(list)
    for row in rows:
        if row.body_hash and row.parent_id:
            found[row.kind, row.body_hash].append(row)
    return found


def _firsts(rows: Iterable[SymbolRow]) -> list[SymbolRow]:
    """Return the rows that are unique by path, qualified name and kind.

    If several rows have the same path, qualified name and kind, none of them is returned.
    """
    named: dict[tuple[str, str, str], list[SymbolRow]] = defaultdict(list)
    for row in rows:
        named[row.path, row.qualname, row.kind].append(row)
    return [twins[0] for twins in named.values() if len(twins) == 1]
