"""Convert expressions of any language to terms, which are plain tuples.

Equal terms have the same index (see `facts`). A table in `language.toml` maps node types to operators. It is compiled
once per grammar into one function for each node type, so the inner loop is a dictionary look-up and a call.

A term is an expression as the parser stores it: a tuple that begins with an operator, such as `call` for `f(x)`.
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
"""Deepest nesting that is read; generated code nests thousands deep."""


MAX_ITEMS: Final = 64
"""Most items of a literal container that are kept; more do not improve its type."""

Build = Callable[["TermBuilder", "Node"], TermIndex]
"""Function that makes the term of a node."""


class TermTable(NamedTuple):
    """Functions that make the terms of syntax nodes, by the ids of node types.

    A term is an expression as the parser stores it: a tuple that begins with an operator.
    """

    builds: Mapping[int, Build]
    names: frozenset[int]  # nodes that are a plain name


class TermBuilder:
    """Converts the expressions of one file to terms, which are plain tuples.

    Args:
        syntax: the language.
        table: the functions that convert the language's syntax nodes.
        source: the bytes that the nodes were parsed from.
        shared: another builder of the same file, whose list of terms this builder extends; used for code inside strings.
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
        self._declaring = 0
        self.told: set[int] = set()  # ids of type nodes in a declaration's annotation; its definition or binding uses them
        self.spots: dict[int, int] = {}  # first byte of the name of an attribute or a call, by id of its node
        self.declared: list[tuple[TermIndex, int]] = []  # names in declared types with their first byte; extraction takes them
        self.consumed: set[int] = set()  # ids of nodes that are not sites of their own: callees, targets, annotations
        self.notes: dict[int, bool] = {}  # results that the language helper caches for nodes, by node id
        self.unknown = self.add((UNKNOWN,))
        for word, meaning in () if shared else syntax.spec.words.items():
            # Every later use of the word, such as `self`, gets this term instead of a name.
            found = self.add((SUPER,) if meaning == "super" else (SELF,))
            self._index[(NAME, word)] = self.add((ATTR, found, "__class__")) if meaning == "class" else found

    def text(self, node: Node) -> str:
        """Return the source text of a syntax node."""
        return self.slice(node.start_byte, node.end_byte)

    def slice(self, start: int, end: int) -> str:
        """Return the source text from byte `start` to byte `end`."""
        if self.ascii is not None:
            return self.ascii[start:end]
        return self.source[start:end].decode("utf-8", "replace")

    def add(self, term: Term) -> TermIndex:
        """Return the index of a term (an expression); add it if it is new.

        Equal terms share one index.
        """
        found = self._index.get(term)
        if found is None:
            found = self._index[term] = TermIndex(len(self.terms))
            self.terms.append(term)
        return found

    def term(self, node: Node | None) -> TermIndex:
        """Convert a syntax node to a term (an expression); return its index.

        The result is the index of `UNKNOWN` if the table does not list the node's type.
        """
        if node is None:
            return self.unknown
        kind = node.kind_id
        if kind in self._names:  # two in three nodes: not worth caching
            if self._declaring:
                self.told.add(node.id)
            start, end, text = node.start_byte, node.end_byte, self.ascii
            key: Name = (NAME, text[start:end] if text is not None else self.slice(start, end))
            found = self._index.get(key)
            if found is None:
                found = self.add(key)
            if self._declaring:
                self.declared.append((found, start))
            return found
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
        """Convert a type annotation to a term; return its index, or -1 for None.

        Names in the annotation do not count as reads. A type in quotes is converted like the type without quotes.
        """
        if node is None:
            return NO_TERM
        self._quiet += 1
        try:
            return self.term(node)
        finally:
            self._quiet -= 1

    def declaration(self, node: Node | None) -> OptionalTerm:
        """Convert a type annotation as `annotation` does, and record its names.

        The names and their positions are appended to the list `self.declared`.
        """
        self._declaring += 1
        try:
            return self.annotation(node)
        finally:
            self._declaring -= 1

    def note_declared(self, term: TermIndex, start: int) -> None:
        """Append a name in a declared type to `self.declared`, with its position.

        `term` is the index of the name's term, and `start` the offset of its first byte. Outside of a call of `declaration`, nothing is
        appended.
        """
        if self._declaring:
            self.declared.append((term, start))

    def quoted_type(self, text: str) -> TermIndex | None:
        """Convert a type annotation that is written in a string, such as `"A"`.

        Returns the index of the term, or None if the text is not one expression.
        """
        stripped = text.strip()
        if stripped.isidentifier():
            return self.add((NAME, stripped))
        source = stripped.encode()
        tree = self.syntax.parse(source)
        if not stripped or tree is None or tree.root_node.has_error or tree.root_node.named_child_count != 1:
            return None
        builder = TermBuilder(self.syntax, self._table, source, self)  # its own cache: nodes of another tree have other ids
        builder._quiet = 1
        builder._depth = self._depth + 1
        expression = tree.root_node.named_children[0]
        return builder.term(expression) if builder._depth < MAX_DEPTH else None
