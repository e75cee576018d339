"""Parse a file with syntax errors again, piece by piece.

One construct that a grammar does not support can confuse the parser for the rest of the file. All later declarations are then fragments
inside one error node. In nearly all source code, a line that begins at the left margin begins a statement. The text between two such lines
is therefore parsed separately. The syntax nodes of a piece keep their positions in the whole file.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from tree_sitter import QueryCursor

from graphmem.parsing.grammar import Grammar
from graphmem.parsing.syntax import PARSE_TIMEOUT_MICROS

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

MAX_JOINED: Final = 8
"""Most pieces joined when the first does not parse.

A string literal of several lines may have lines at the margin.
"""

_GOES_ON: Final = frozenset(b" \t\r\n)}]>*|&{(")
"""First bytes of lines that continue the line above."""

_ABOVE: Final = (b"//", b"/*", b"*", b"#", b"@", b"--", b"[")
"""Prefixes of comments, decorators and attributes, which belong to the line below."""


class Part(NamedTuple):
    """The syntax tree of a file, or of a piece of a file.

    `without` has the byte ranges of the tree that are ignored, because they were parsed again.
    """

    tree: Tree  # kept, so that ids of its nodes stay valid
    without: tuple[tuple[int, int], ...]


class Reading(NamedTuple):
    """The syntax trees of a file, and counts of errors and unreadable lines."""

    parts: list[Part]  # the first is the whole file
    errors: int  # places that could not be parsed
    line: int  # of the first; 0 if there are none
    lost: int  # lines in these places; parts of them may still be readable


def parsed(grammar: Grammar, source: bytes, *, hasty: bool = False) -> Tree | None:
    """Return the syntax tree of a file; None if parsing takes too long.

    If the tree has errors, the language's helper rewrites the source, and the rewritten source is parsed too. Of the two trees, the result
    is the one with fewer lines inside errors. `hasty` selects a shorter time limit.
    """
    tree = grammar.parse(grammar.helper.prepared(source), hasty=hasty)
    if tree is None or not tree.root_node.has_error:
        return tree
    mended = grammar.helper.mended(source)
    other = grammar.parse(mended, hasty=hasty) if mended != source else None
    return other if other is not None and len(_lost(other.root_node)) < len(_lost(tree.root_node)) else tree


def read(grammar: Grammar, source: bytes, tree: Tree) -> Reading:
    """Return the syntax tree of a file and, after errors, trees of its pieces.

    Each region with errors is parsed again in pieces. The pieces are used only if they contain more definitions than `tree` has in the
    region. All pieces together have the time limit of one file (`PARSE_TIMEOUT_MICROS`). The limit is processor time, so the result does
    not depend on the load of the machine.
    """
    if not tree.root_node.has_error:
        return Reading([Part(tree, ())], 0, 0, 0)
    source = grammar.helper.mended(source)
    starts = _starts(source)
    deadline = time.thread_time() + PARSE_TIMEOUT_MICROS / 1e6
    pieces: list[Tree] = []
    without: list[tuple[int, int]] = []
    for first, last in _regions(tree.root_node, source, starts):
        found = list(_pieces(grammar, source, [*(start for start in starts if first <= start < last), last], deadline))
        if sum(_definitions(grammar, piece, 0, last) for piece in found) > _definitions(grammar, tree, first, last):
            pieces += found
            without.append((first, last))
    places = [*_errors(tree.root_node, without), *(place for piece in pieces for place in _errors(piece.root_node, ()))]
    lost = _lost(tree.root_node)
    for first, last in without:
        lost -= set(range(source.count(b"\n", 0, first), source.count(b"\n", 0, last) + (last == len(source))))
    for piece in pieces:
        lost |= _lost(piece.root_node)
    line = min((row for row in places if row >= 0), default=-1) + 1
    return Reading([Part(tree, tuple(without)), *(Part(piece, ()) for piece in pieces)], len(places), line, len(lost))


def _starts(source: bytes) -> list[int]:
    """Return the offsets of lines that begin a statement at the left margin.

    If comments or decorators are directly above a statement, the offset is that of the first of them.
    """
    found: list[int] = []
    is_above, offset = False, 0
    for line in source.splitlines(keepends=True):
        if line[0] not in _GOES_ON:
            if not is_above:
                found.append(offset)
            is_above = line.startswith(_ABOVE)
        elif not line.strip():
            is_above = False
        offset += len(line)
    return found


def _regions(root: Node, source: bytes, starts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield (first byte, end) of each region with errors at the top level.

    `starts` are the offsets where statements begin. The region of an error begins with the statement that contains the first byte of the
    error. The region ends where the next statement without errors begins, or at the end of the file. If the root node itself is an error,
    the first region extends to the end of the file.
    """
    end = 0
    for position, child in enumerate(root.children):
        if not child.is_error or child.start_byte < end:
            continue
        first = max((start for start in starts if end <= start <= child.start_byte), default=-1)
        if first < 0:
            continue
        if root.is_error:  # its pieces say nothing about the rest of the file
            yield first, len(source)
            return
        whole = (one.start_byte for one in root.children[position + 1 :] if one.is_named and not one.has_error and one.start_byte in starts)
        end = next(whole, len(source))
        yield first, end


def _pieces(grammar: Grammar, source: bytes, borders: Sequence[int], deadline: float) -> Iterator[Tree]:
    """Yield the syntax trees of the pieces between neighbouring `borders`.

    The borders are byte offsets. A piece with errors is joined with the pieces after it if the joined text has no errors. Otherwise the
    tree of the piece is yielded with the errors. Parsing ends when the processor time reaches `deadline`.
    """
    at = 0
    while at < len(borders) - 1 and time.thread_time() < deadline:
        alone: Tree | None = None
        for following in range(at + 1, min(at + 1 + MAX_JOINED, len(borders))):
            tree = grammar.parse_part(source, borders[at], borders[following])
            if tree is not None and not tree.root_node.has_error:
                yield tree
                at = following
                break
            alone = alone or tree
        else:
            if alone is not None:
                yield alone
            at += 1


def _definitions(grammar: Grammar, tree: Tree, first: int, last: int) -> int:
    """Count the definitions that begin from byte `first` to byte `last`.

    The queries of the grammar find the definitions in the syntax tree.
    """
    cursor = QueryCursor(grammar.query)
    cursor.set_byte_range(first, last)
    found = {
        node.id
        for _, captures in cursor.matches(tree.root_node)
        for name, nodes in captures.items()
        if name.startswith("definition.")
        for node in nodes
        if first <= node.start_byte < last
    }
    return len(found)


def _lost(root: Node) -> set[int]:
    """Return the rows (lines counted from 0) inside the error nodes of a tree.

    If the root itself is an error, the result is all rows except those of readable children of the root. A child is readable if it begins
    at the left margin or has several lines.
    """
    if root.is_error:
        rows = set(range(root.start_point.row, root.end_point.row + 1))
        for child in root.children:
            is_long = child.end_point.row > child.start_point.row
            if child.is_named and not child.is_error and (is_long or child.start_point.column == 0):
                rows -= set(range(child.start_point.row, child.end_point.row + 1))
                rows |= _lost(child)
        return rows
    rows = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if node.is_error or node.is_missing:
            rows.update(range(node.start_point.row, node.end_point.row + 1))
        elif node.has_error:
            pending.extend(child for child in node.children if child.has_error or child.is_missing)
    return rows


def _errors(root: Node, without: Sequence[tuple[int, int]]) -> Iterator[int]:
    """Yield the row (line counted from 0) of each syntax error; -1 if unknown.

    Errors are nodes of the types ERROR and MISSING. Some nodes contain an error although none of their children does, because the parser
    has inserted a token that the tree does not show, such as a line end. These nodes count as errors, too. Errors that begin in one of the
    byte ranges `without` are left out.
    """
    pending = [root]
    while pending:
        node = pending.pop()
        if node.is_error and node.parent is None and without:  # its pieces are counted instead
            pending.extend(child for child in node.children if child.has_error or child.is_missing)
        elif node.is_error or node.is_missing:
            if not any(first <= node.start_byte < last for first, last in without):
                yield node.start_point.row
        elif node.has_error:
            inside = [child for child in node.children if child.has_error or child.is_missing]
            pending.extend(inside)
            if not inside and not any(first <= node.start_byte < last for first, last in without):
                yield node.start_point.row if node.parent is not None else -1
