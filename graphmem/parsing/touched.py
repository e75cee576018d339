"""Find the definitions and the tokens that a change of a file touches.

The whole file is parsed, but queries read only the changed range. This is fast enough to give an agent advice before it edits the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tree_sitter import QueryCursor

from graphmem.parsing.extract import extract_near
from graphmem.parsing.grammar import load_grammar
from graphmem.parsing.language import languages
from graphmem.parsing.salvage import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node, Tree

    from graphmem.parsing.facts import Definition
    from graphmem.parsing.grammar import Grammar

Change = tuple[int, int, bytes]
"""Start and end of the replaced bytes, and the new bytes."""

Token = tuple[str, bytes, int]
"""Type, text and depth in the syntax tree. The depth differs if only the indentation of Python code does."""


class Text(NamedTuple):
    """A version of a file, with its syntax tree."""

    path: str
    source: bytes
    grammar: Grammar
    tree: Tree

    def changed(self, changes: Sequence[Change]) -> Text | None:
        """Return the version after some changes; None if parsing takes too long.

        `changes` are in ascending order. If both versions have no syntax errors, only the changed parts are parsed.
        """
        source, tree = self.source, self.tree.copy()
        for start, end, new in reversed(changes):
            source = source[:start] + new + source[end:]
            first = _point(self.source, start)
            rows, columns = new.count(b"\n"), len(new) - new.rfind(b"\n") - 1
            last = (first[0] + rows, columns if rows else first[1] + columns)
            tree.edit(start, end, start + len(new), first, _point(self.source, end), last)
        if not self.tree.root_node.has_error and self.grammar.helper.prepared(source) == source:
            found = self.grammar.parse(source, hasty=True, old=tree)
            if found is not None and not found.root_node.has_error:
                return self._replace(source=source, tree=found)
        return text_of(self.path, source, self.grammar.spec.name)

    def definitions(self, start: int, end: int) -> list[Definition]:
        """Return the definitions that the bytes from `start` to `end` touch.

        The module is the first. A decorator belongs to the definition below it.
        """
        wrapped = [node.start_byte + 1 for node in self._captured("wrapped", start, end)]
        return list(extract_near(self.path, self.source, self.grammar, self.tree, (start, max([end, *wrapped]))).definitions)

    def tokens(self, start: int, end: int) -> list[Token]:
        """Return the tokens from byte `start` to `end`, without comments.

        Docstrings are left out, too.
        """
        docs = [node if node.is_extra or node.parent is None else node.parent for node in self._captured("doc", start, end)]
        silent = [(node.start_byte, node.end_byte) for node in docs]
        return list(_tokens(self.tree.root_node, (start, end), silent))

    def _captured(self, name: str, start: int, end: int) -> Iterator[Node]:
        cursor = QueryCursor(self.grammar.query)
        cursor.set_byte_range(start, end)
        for _, captures in cursor.matches(self.tree.root_node):
            yield from captures.get(name, ())


def text_of(path: str, source: bytes, language: str) -> Text | None:
    """Parse one version of a file, and return it with its syntax tree.

    The result is None for a language without a grammar, or if parsing takes too long.
    """
    if language not in languages():
        return None
    grammar = load_grammar(language)
    tree = parsed(grammar, source, hasty=True)
    return None if tree is None else Text(path, source, grammar, tree)


def _point(source: bytes, at: int) -> tuple[int, int]:
    return source.count(b"\n", 0, at), at - source.rfind(b"\n", 0, at) - 1


def _tokens(root: Node, within: tuple[int, int], silent: Sequence[tuple[int, int]]) -> Iterator[Token]:
    """Yield the tokens in a range of bytes, in order, without recursion.

    `within` is the range. Comments, and the ranges in `silent`, are left out.
    """
    start, end = within
    waiting = [(child, 0) for child in reversed(root.children)]
    while waiting:
        node, depth = waiting.pop()
        first, last = node.start_byte, node.end_byte
        if last <= start or first >= end or node.is_extra or any(low <= first and last <= high for low, high in silent):
            continue
        if node.child_count:
            waiting += [(child, depth + 1) for child in reversed(node.children)]
        else:
            yield node.type, node.text or b"", depth
