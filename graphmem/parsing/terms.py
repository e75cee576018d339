"""Expressions of any language as terms (see `facts`): syntax nodes in, hash-consed tuples out.

Which node type is which operator is a table in `language.toml`; it is compiled once a grammar into one
function for each node type, so the inner loop is a dictionary look-up and a call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.parsing.facts import (
    ATTR,
    NAME,
    NO_TERM,
    SELF,
    SUPER,
    UNKNOWN,
    Name,
    OptionalTerm,
    Term,
    TermIndex,
)
from graphmem.parsing.syntax import Syntax

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH: Final = 100
"""Nesting below which an expression is not followed; generated code nests thousands deep."""


MAX_ITEMS: Final = 64
"""Items of a literal container that are kept; element types of longer ones do not get better."""

Build = Callable[["TermBuilder", "Node"], TermIndex]
"""Makes the term of a node."""


class TermTable(NamedTuple):
    """Which node makes which term, by the ids of node types."""

    builds: Mapping[int, Build]
    names: frozenset[int]  # the nodes that are a plain name


class TermBuilder:
    """The terms of one file.

    Args:
        syntax: the language.
        table: its term table, compiled.
        source: the bytes the nodes were parsed from.
        shared: another builder of the same file whose terms to extend; used for code inside strings.
    """

    def __init__(self, syntax: Syntax, table: TermTable, source: bytes, shared: TermBuilder | None = None) -> None:
        self.syntax = syntax
        self._table = table
        self.source = source
        self.ascii = source.decode("ascii") if source.isascii() else None
        self.terms: list[Term] = shared.terms if shared else []
        self._index: dict[Term, TermIndex] = shared._index if shared else {}
        self._builds, self._names = table
        self._memo: dict[int, TermIndex] = {}
        self._depth = 0
        self._quiet = 0
        self._telling = 0
        self.told: set[int] = set()  # ids of nodes of types that a declaration's annotation tells of: its definition or binding uses them
        self.consumed: set[int] = set()  # ids of nodes that are not sites of their own: callees, targets, annotations
        self.unknown = self.add((UNKNOWN,))
        for word, meaning in () if shared else syntax.spec.words.items():
            # Every later use of that name finds the other term instead.
            found = self.add((SUPER,) if meaning == "super" else (SELF,))
            self._index[(NAME, word)] = self.add((ATTR, found, "__class__")) if meaning == "class" else found

    def text(self, node: Node) -> str:
        """Source text of a node."""
        return self.slice(node.start_byte, node.end_byte)

    def slice(self, start: int, end: int) -> str:
        """Source text between two byte offsets."""
        if self.ascii is not None:
            return self.ascii[start:end]
        return self.source[start:end].decode("utf-8", "replace")

    def add(self, term: Term) -> TermIndex:
        """Index of a term, the same for equal ones."""
        found = self._index.get(term)
        if found is None:
            found = self._index[term] = TermIndex(len(self.terms))
            self.terms.append(term)
        return found

    def term(self, node: Node | None) -> TermIndex:
        """Index of the term of an expression; `UNKNOWN` for what the table does not name."""
        if node is None:
            return self.unknown
        kind = node.kind_id
        if kind in self._names:  # two in three nodes: worth no memo
            if self._telling:
                self.told.add(node.id)
            start, end, text = node.start_byte, node.end_byte, self.ascii
            key: Name = (NAME, text[start:end] if text is not None else self.slice(start, end))
            found = self._index.get(key)
            return self.add(key) if found is None else found
        identity = node.id
        found = self._memo.get(identity)
        if found is not None:
            return found
        build = self._builds.get(kind)
        if build is None or self._depth >= MAX_DEPTH:
            return self.unknown
        self._depth += 1
        found = self._memo[identity] = build(self, node)
        self._depth -= 1
        return found

    def annotation(self, node: Node | None) -> OptionalTerm:
        """Index of the term of a type annotation, -1 for none. Nothing inside is a read; quoted types are unquoted."""
        if node is None:
            return NO_TERM
        self._quiet += 1
        try:
            return self.term(node)
        finally:
            self._quiet -= 1

    def declaration(self, node: Node | None) -> OptionalTerm:
        """The same for the annotation of a declaration, which tells by itself of the types in it."""
        self._telling += 1
        try:
            return self.annotation(node)
        finally:
            self._telling -= 1

    def quoted_type(self, text: str) -> TermIndex | None:
        """The term of an annotation written as a string; None when it is no single expression."""
        stripped = text.strip()
        if stripped.isidentifier():
            return self.add((NAME, stripped))
        source = stripped.encode()
        tree = self.syntax.parse(source)
        if not stripped or tree is None or tree.root_node.has_error or tree.root_node.named_child_count != 1:
            return None
        builder = TermBuilder(self.syntax, self._table, source, self)  # its own memo: nodes of another tree have ids of their own
        builder._quiet = 1
        builder._depth = self._depth + 1
        expression = tree.root_node.named_children[0]
        return builder.term(expression) if builder._depth < MAX_DEPTH else None
