"""Duplicate code: equal or similar sequences of tokens.

Pieces of code may be equal, equal except for names and literals, or nearly equal. Tokens are compared in windows of seven ("shingles").
MinHash with banding finds nearly equal pairs without comparing every pair. A near pair is kept when the Jaccard similarity of its full sets
of shingles is high enough.

Source:
    A. Broder, On the resemblance and containment of documents, SEQUENCES (1997).
"""

from __future__ import annotations

import re
import zlib
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from graphmem.answers.findings import Duplicate, DuplicateGroup
from graphmem.runtime.data.conventions import conventions_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

U64 = npt.NDArray[np.uint64]

WINDOW: Final = 7
LEAST_TOKENS: Final = 50  # shorter pieces are idioms, not duplicates
SIMILAR: Final = 0.85
VARIED: Final = 0.5  # lowest share of distinct windows; more repetitive code is a table, and tables look alike
_BANDS, _ROWS = 16, 4  # finds a pair of similarity 0.85 with probability 1 - (1 - 0.85**4)**16 > 0.999
_BASE: Final = np.uint64(0x9E3779B97F4A7C15)

_STRINGS: Final = r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
_REST: Final = r"(?P<word>[^\W\d]\w*)|(?P<number>\d[\w.]*)|(?P<sign>.)"
_LONG: Final = r"""'''.*?'''|\"\"\".*?\"\"\""""
_TOKEN: Final = {
    True: re.compile(rf"(?P<skip>\#[^\n]*|\s+)|(?P<text>{_LONG}|{_STRINGS})|{_REST}", re.S),
    False: re.compile(rf"(?P<skip>//[^\n]*|/\*.*?(?:\*/|\Z)|\s+)|(?P<text>{_STRINGS}|`(?:\\.|[^`\\])*`)|{_REST}", re.S),
}


class Piece(NamedTuple):
    """A piece of code to compare with others: its location and its text."""

    path: str
    qualname: str
    start_line: int
    end_line: int
    language: str
    text: str


class _Read(NamedTuple):
    exact: int  # hash of the tokens
    shape: int  # hash of the tokens without names and literals
    shingles: U64  # of the shape, ascending, distinct
    varied: bool


def duplicates(pieces: Iterable[Piece], least_tokens: int = LEAST_TOKENS, similar: float = SIMILAR) -> list[DuplicateGroup]:
    """Return groups of duplicate pieces of code, most lines to save first.

    Each piece is in at most one group.

    Args:
        pieces: distinct by (path, start_line).
        least_tokens: shorter pieces are ignored.
        similar: lowest Jaccard similarity of near duplicates, in (0, 1].
    """
    kept: list[Piece] = []
    read: list[_Read] = []
    for piece in sorted(pieces, key=lambda one: (one.path, one.start_line, one.end_line)):
        found = _read(piece, least_tokens)
        if found is not None:
            kept.append(piece)
            read.append(found)
    groups: list[DuplicateGroup] = []
    free = set(range(len(kept)))
    for kind in ("exact", "renamed"):
        by_hash: dict[int, list[int]] = defaultdict(list)
        for i in sorted(one for one in free if kind == "exact" or read[one].varied):
            by_hash[read[i].exact if kind == "exact" else read[i].shape].append(i)
        for members in by_hash.values():
            if len(members) > 1:
                groups.append(_group(kind, 1.0, kept, members))
                free.difference_update(members)
    first = sorted(one for one in free if read[one].varied)
    for members, lowest in _near(read, first, similar):
        groups.append(_group("near", lowest, kept, members))
    return sorted(groups, key=lambda one: (-one.lines, one.kind, one.places[0].path, one.places[0].start_line))


def _read(piece: Piece, least: int) -> _Read | None:
    exact, shape = 0, []
    pattern = _TOKEN[conventions_of(piece.language).hash_comments]
    for match in pattern.finditer(piece.text):
        kind = match.lastgroup
        if kind == "skip":
            continue
        word = match.group()
        exact = zlib.crc32(word.encode("utf-8", "surrogatepass") + b"\0", exact)
        shape.append(_KEYWORD.get(word) or zlib.crc32(word.encode()) if kind == "sign" or word in _KEYWORD else _CLASS[str(kind)])
    if len(shape) < max(least, WINDOW):
        return None
    tokens = np.array(shape, np.uint64)
    hashes = np.zeros(len(tokens) - WINDOW + 1, np.uint64)
    for place in range(WINDOW):
        hashes = (hashes * _BASE) ^ (tokens[place : place + len(hashes)] + np.uint64(place))
        hashes ^= hashes >> np.uint64(29)
    distinct = np.unique(hashes)
    varied = len(distinct) >= VARIED * len(hashes)
    return _Read(exact << 20 | len(shape), zlib.crc32(tokens.tobytes()) << 20 | len(shape), distinct, varied)


_CLASS: Final = {"word": 1, "number": 2, "text": 3}
_KEYWORDS: Final = """
and as assert async await break case catch class const continue def del do elif else except finally for from func function if import in is
lambda let match new nonlocal not null None True False or pass raise return self super switch this throw try var while with yield
"""  # they shape code, in any language
_KEYWORD: Final = {word: 16 + i for i, word in enumerate(_KEYWORDS.split())}


def _near(read: Sequence[_Read], members: Sequence[int], similar: float) -> list[tuple[list[int], float]]:
    """Return groups of similar pieces of code, each with its similarity.

    `members` are the positions in `read` of the pieces to compare. A group is a list of such positions. The first position is the piece
    with which the others of the group were compared. The similarity is the lowest of these comparisons.
    """
    rng = np.random.default_rng(1)
    multiply = rng.integers(1, 1 << 63, _BANDS * _ROWS, np.uint64) | np.uint64(1)
    buckets: dict[tuple[int, bytes], list[int]] = defaultdict(list)
    for i in members:
        signature = (read[i].shingles[:, None] * multiply[None, :]).min(axis=0)
        for band in range(_BANDS):
            buckets[band, signature[band * _ROWS : (band + 1) * _ROWS].tobytes()].append(i)
    pairs: dict[int, set[int]] = defaultdict(set)
    for bucket in buckets.values():
        for other in bucket[1:]:
            pairs[bucket[0]].add(other)
    taken: set[int] = set()
    found = []
    for i in sorted(pairs):
        if i in taken:
            continue
        near = {}
        for other in sorted(pairs[i] - taken):
            common = len(np.intersect1d(read[i].shingles, read[other].shingles, assume_unique=True))
            likeness = common / (len(read[i].shingles) + len(read[other].shingles) - common)
            if likeness >= similar:
                near[other] = likeness
        if near:
            taken.update([i, *near])
            found.append(([i, *sorted(near)], round(min(near.values()), 4)))
    return found


def _group(kind: str, similarity: float, pieces: Sequence[Piece], members: Sequence[int]) -> DuplicateGroup:
    places = [Duplicate(pieces[i].path, pieces[i].start_line, pieces[i].end_line, pieces[i].qualname) for i in members]
    lengths = [one.end_line - one.start_line + 1 for one in places]
    return DuplicateGroup(kind, similarity, sum(lengths) - max(lengths), places)
