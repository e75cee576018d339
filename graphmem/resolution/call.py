"""One call, with its arguments as types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from graphmem.parsing.facts import SPREAD, STRING
from graphmem.resolution.file_entry import FileEntry
from graphmem.resolution.types import Type, join, join_all


class Evaluator(Protocol):
    """Says what an expression is."""

    def term(self, entry: FileEntry, scope: int, index: int, line: int) -> Type:
        """The type of a term as code at this line of this scope sees it."""
        ...


class Call:
    """One call with its arguments, evaluated when somebody looks at them."""

    __slots__ = ("_evaluator", "args", "callee", "entry", "keywords", "line", "passed", "scope")

    def __init__(
        self,
        evaluator: Evaluator,
        entry: FileEntry,
        scope: int,
        line: int,
        callee: int = -1,
        args: Sequence[int] = (),
        keywords: Sequence[tuple[str, int]] = (),
        passed: Sequence[Type] = (),
    ) -> None:
        self._evaluator = evaluator
        self.entry = entry
        self.scope = scope
        self.line = line
        self.callee = callee  # the term that is called; -1 when there is none in the source
        self.args = args
        self.keywords = keywords
        self.passed = passed  # types given in front of `args` without a term of their own

    def term(self, term: int) -> Type:
        """The type of any term, seen from where the call is."""
        return self._evaluator.term(self.entry, self.scope, term, self.line)

    def argument(self, position: int) -> Type | None:
        """Type of a positional argument; None when it is not given, or hidden behind a spread one."""
        if position < len(self.passed):
            return self.passed[position]
        position -= len(self.passed)
        terms = self.entry.terms
        for index, term in enumerate(self.args):
            if terms[term][0] == SPREAD:
                return None
            if index == position:
                return self.term(term)
        return None

    def keyword(self, name: str) -> Type | None:
        """Type of a keyword argument; None when it is not given."""
        for key, term in self.keywords:
            if key == name:
                return self.term(term)
        return None

    def rest(self, position: int) -> Type:
        """Any of the positional arguments from a position on."""
        found = join_all(self.passed[position:])
        for term in self.args[max(0, position - len(self.passed)) :]:
            if self.entry.terms[term][0] != SPREAD:
                found = join(found, self.term(term))
        return found

    def literal(self, position: int) -> str | None:
        """Text of a positional argument that is a string literal."""
        if position < len(self.args):
            term = self.entry.terms[self.args[position]]
            if term[0] == STRING:
                return str(term[1])
        return None
