"""Blank branches and directives of an `#if` that the grammar cannot parse."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_DIRECTIVE: Final = re.compile(rb"^[ \t]*#[ \t]*(?P<word>if|elif|elseif|else|endif)(?:n?def)?\b(?:[^\\\n]|\\\r?\n|\\)*", re.MULTILINE)
COMMENT: Final = re.compile(rb"//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\\\n]|\\\r?\n|\\)*", re.DOTALL | re.MULTILINE)
"""A comment or a directive."""


def whole(source: bytes) -> bytes:
    """Keep only the first branch of each `#if` that divides a statement.

    The other branches and the directives become blanks, so the code keeps its position. An `#if` whose branches contain only whole
    statements or declarations is left unchanged.
    """
    if b"#" not in source:
        return source
    found = bytearray(source)
    for directives in _conditions(source):
        if _is_whole(source, directives):
            continue
        for match in directives:
            _blank(found, match.start(), match.end())
        if len(directives) > 2:
            _blank(found, directives[1].end(), directives[-1].start())
    return bytes(found)


def without_conditions(source: bytes) -> bytes:
    """Replace the directives of each `#if` by blanks.

    Only the first branch is kept if a branch begins or ends inside a block. Otherwise all branches are kept.
    """
    found = bytearray(source)
    for directives in _conditions(source) if b"#if" in source else ():
        for match in directives:
            _blank(found, match.start(), match.end())
        branches = (COMMENT.sub(b"", source[first.end() : last.start()]) for first, last in pairwise(directives))
        if any(branch.count(b"{") != branch.count(b"}") for branch in branches):
            _blank(found, directives[1].end(), directives[-1].start())
    return bytes(found)


def _conditions(source: bytes) -> Iterator[list[re.Match[bytes]]]:
    """Yield, for each `#if`, the list of the directives that belong to it.

    The first item is the `#if`, and the last one its `#endif`. An inner `#if` is yielded before the outer one.
    """
    open_: list[list[re.Match[bytes]]] = []
    for match in _DIRECTIVE.finditer(source):
        if match["word"] == b"if":
            open_.append([match])
        elif open_:
            open_[-1].append(match)
            if match["word"] == b"endif":
                yield open_.pop()


def _is_whole(source: bytes, directives: list[re.Match[bytes]]) -> bool:
    """Whether all branches of an `#if` are whole statements or declarations.

    `directives` are the `#if`, its `#endif` and the directives between them. The result is False if a branch begins or ends inside a
    statement or a header.
    """
    before = COMMENT.sub(b"", source[max(0, directives[0].start() - 2000) : directives[0].start()]).rstrip()
    if before and before[-1:] not in b";{}]":
        return False
    for first, last in pairwise(directives):
        text = COMMENT.sub(b"", source[first.end() : last.start()]).strip()
        if text and (text[-1:] not in b";}" or text.count(b"{") != text.count(b"}")):
            return False
    return True


def _blank(text: bytearray, first: int, last: int) -> None:
    text[first:last] = re.sub(rb"[^\s]", b" ", bytes(text[first:last]))
