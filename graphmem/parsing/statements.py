"""Cut a long span of code between statements, or otherwise between lines.

A cut is never inside a character.
"""

from __future__ import annotations

from itertools import pairwise

from tree_sitter import Node, Tree

_MAX_DEPTH = 60  # deeper nesting is cut by lines; keeps the walk within Python's stack


def statement_pieces(tree: Tree | None, source: bytes, start: int, end: int, limit: int) -> list[tuple[int, int]]:
    """Cut a span of code into consecutive pieces of at most `limit` bytes.

    The cuts are between statements, at the outermost nesting possible.

    Args:
        tree: the syntax tree of `source`; None cuts by lines only.
        source: UTF-8 bytes of the whole file.
        start: first byte of the span.
        end: position after the last byte of the span.
        limit: maximum number of bytes of a piece; > 0.

    Returns:
        Half-open byte ranges that together are exactly the span, in order.
    """
    if end - start <= limit:
        return [(start, end)]
    count = -(-(end - start) // limit)
    limit = min(limit, (end - start) * 9 // (8 * count))  # pieces of similar size instead of a short last one
    cuts = [start]
    if tree is not None:
        smallest = tree.root_node.descendant_for_byte_range(start, max(start, end - 1))
        if smallest is not None:
            _Walk(source, cuts, start, end, limit).visit(smallest, 0)
    cuts.append(end)
    return [piece for a, b in pairwise(cuts) for piece in line_pieces(source, a, b, limit)]


class _Walk:
    """Finds positions in a syntax tree at which a span of code is cut.

    Pieces become as large as the limit allows. A child node that is too large for one piece is cut between its own children.
    """

    def __init__(self, source: bytes, cuts: list[int], start: int, end: int, limit: int) -> None:
        self.source = source
        self.cuts = cuts
        self.start = start
        self.end = end
        self.limit = limit

    def visit(self, node: Node, depth: int) -> None:
        for child in node.children:
            if child.end_byte <= self.start:
                continue
            if child.start_byte >= self.end:
                return
            if min(child.end_byte, self.end) - self.cuts[-1] <= self.limit:
                continue
            boundary = _line_start(self.source, child.start_byte)
            # A useful piece ends before this child. A lone signature is not useful, so its body is opened instead.
            if boundary - self.cuts[-1] > self.limit // 3:
                self.cuts.append(boundary)
            if min(child.end_byte, self.end) - self.cuts[-1] > self.limit and child.child_count and depth < _MAX_DEPTH:
                self.visit(child, depth + 1)


def _line_start(source: bytes, position: int) -> int:
    """Return the start of a line if only blanks precede `position`, else -1."""
    start = source.rfind(b"\n", 0, position) + 1
    return start if not source[start:position].strip() else -1


def line_pieces(source: bytes, start: int, end: int, limit: int) -> list[tuple[int, int]]:
    """Cut a span at line ends into pieces of at most `limit` bytes.

    A cut at a blank line in the last third of a piece is preferred. A line over the limit is cut between characters.
    """
    pieces = []
    while end - start > limit:
        cut = source.rfind(b"\n\n", start + limit * 2 // 3, start + limit) + 1
        if cut <= start:
            cut = source.rfind(b"\n", start + 1, start + limit) + 1
        if cut <= start:
            cut = start + limit
            while source[cut] & 0xC0 == 0x80:
                cut -= 1
        pieces.append((start, cut))
        start = cut
    pieces.append((start, end))
    return pieces
