"""Pack the occurrences of names in a file into bytes.

An occurrence is a name at a position in the text, with a symbol that it refers to. One value contains all occurrences of a file, so that an
index with hundreds of thousands of occurrences stays small. Occurrences form a table. Its columns are packed one after another, because
this compresses best.
"""

from __future__ import annotations

import sys
import zlib
from array import array
from collections.abc import Iterable
from itertools import pairwise
from typing import Final, NamedTuple

from graphmem.runtime.texts.compression import deflate

FORMAT: Final = 1
_NUMBERS: Final = "I"
_ID_BYTES: Final = 10  # of a node's id


class Written(NamedTuple):
    """A name at a position of a file, and a symbol that it refers to."""

    line: int  # 1-based
    column: int  # 0-based, in characters
    length: int  # in characters
    kind: str  # EdgeKind; IMPORTS for the names in an import
    percent: int  # confidence, 1 to 100
    target: str  # id of the node


def packed(occurrences: Iterable[Written], kinds: tuple[str, ...]) -> bytes:
    """Pack a file's occurrences of names into bytes; b"" without occurrences.

    Args:
        occurrences: distinct occurrences in any order. The bytes do not depend on the order, but may differ between versions of the
            compressor.
        kinds: the kinds of edge that can occur. The bytes refer to kinds by their position, so add new kinds only at the end.
    """
    rows = sorted(occurrences)
    if not rows:
        return b""
    targets = sorted({row.target for row in rows})
    number = {target: index for index, target in enumerate(targets)}
    code = {kind: index for index, kind in enumerate(kinds)}
    lines = [row.line for row in rows]
    steps = [lines[0], *(after - before for before, after in pairwise(lines))]
    columns = (
        steps,
        [row.column for row in rows],
        [row.length for row in rows],
        [code[row.kind] for row in rows],
        [row.percent for row in rows],
        [number[row.target] for row in rows],
    )
    numbers = array(_NUMBERS, [FORMAT, len(rows), len(targets)])
    for column in columns:
        numbers.extend(column)
    if sys.byteorder == "big":
        numbers.byteswap()
    return deflate(numbers.tobytes() + bytes.fromhex("".join(targets)))


def unpacked(data: bytes, kinds: tuple[str, ...]) -> list[Written]:
    """Return the occurrences that `packed` packed, sorted by position.

    `kinds` are the kinds of edge, as they were given to `packed`.

    Raises:
        zlib.error, ValueError: the bytes are not an output of `packed`.
    """
    if not data:
        return []
    plain = zlib.decompress(data)
    width = array(_NUMBERS).itemsize
    head = _numbers(plain[: 3 * width])
    if head[0] != FORMAT:
        raise ValueError(f"the stored positions of the names in a file have format {head[0]}, not {FORMAT}; index again")
    count, distinct = head[1], head[2]
    end = (3 + 6 * count) * width
    numbers = _numbers(plain[3 * width : end])
    raw = plain[end:]
    if len(raw) != distinct * _ID_BYTES:
        raise ValueError("the stored positions of the names in a file are incomplete; index again")
    targets = [raw[at : at + _ID_BYTES].hex() for at in range(0, len(raw), _ID_BYTES)]
    parts = [numbers[at * count : (at + 1) * count] for at in range(6)]
    found, line = [], 0
    for step, column, length, kind, percent, target in zip(*parts, strict=True):
        line += step
        found.append(Written(line, column, length, kinds[kind], percent, targets[target]))
    return found


def _numbers(data: bytes) -> array[int]:
    numbers = array(_NUMBERS)
    numbers.frombytes(data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
