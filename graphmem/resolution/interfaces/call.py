"""A call expression and the types of its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from graphmem.parsing.facts import NO_TERM, SPREAD, STRING, TermIndex
from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.values.types import Type, join, join_all


class Evaluator(Protocol):
    """Interface of the object that infers the types of expressions."""

    def term(self, entry: FileEntry, scope: int, index: TermIndex, line: int) -> Type:
        """Infer the type of an expression at a line of a scope.

        A scope is a function, a class or the module. `index` is the position of the expression in the file's list of expressions,
        `FileFacts.terms`.
        """
        ...


class Argument(NamedTuple):
    """An argument of a call, with its source position and its inferred type."""

    entry: FileEntry
    scope: int
    line: int
    term: TermIndex
    given: Type
    receiver: TermIndex = NO_TERM  # the expression on which the method is called


class Call:
    """A call such as `f(a, k=b)`, whose arguments are evaluated on demand."""

    __slots__ = ("_evaluator", "args", "callee", "entry", "keywords", "line", "passed", "scope")

    def __init__(
        self,
        evaluator: Evaluator,
        entry: FileEntry,
        scope: int,
        line: int,
        callee: TermIndex = NO_TERM,
        args: Sequence[TermIndex] = (),
        keywords: Sequence[tuple[str, TermIndex]] = (),
        passed: Sequence[Type] = (),
    ) -> None:
        self._evaluator = evaluator
        self.entry = entry
        self.scope = scope
        self.line = line
        self.callee = callee  # index of the called term; -1 when the source has none
        self.args = args
        self.keywords = keywords
        self.passed = passed  # types of leading arguments that have no term of their own

    def term(self, term: TermIndex) -> Type:
        """Infer the type of an expression at the line and scope of the call.

        `term` is the position of the expression in the file's list of expressions.
        """
        return self._evaluator.term(self.entry, self.scope, term, self.line)

    def argument(self, position: int) -> Type | None:
        """Return the type of a positional argument of the call.

        Returns None if the argument is missing or follows a spread argument (`*args`).
        """
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
        """Return the type of a keyword argument; None if the call lacks it.

        For `f(k=b)` and the name `k`, the result is the type of `b`.
        """
        for key, term in self.keywords:
            if key == name:
                return self.term(term)
        return None

    def written(self, position: int, name: str) -> TermIndex | None:
        """Return the index of the expression that the call passes for a parameter.

        Args:
            position: position of the parameter, without counting the receiver; -1 if callers can pass the parameter only by name.
            name: name of the parameter.

        Returns:
            The index in `FileFacts.terms`; -1 if the call does not pass the parameter. None if that is unknown, as for `f(*args)`.
        """
        if self.callee < 0 or self.passed:
            return None
        terms = self.entry.terms
        for key, term in self.keywords:
            if key == name:
                return term
            if key == "**":
                return None
        if any(terms[term][0] == SPREAD for term in self.args):
            return None
        return self.args[position] if 0 <= position < len(self.args) else NO_TERM

    def rest(self, position: int) -> Type:
        """Return the type of all positional arguments from `position` on.

        It is the union of the types of these arguments. Spread arguments (`*args`) are left out.
        """
        found = join_all(self.passed[position:])
        for term in self.args[max(0, position - len(self.passed)) :]:
            if self.entry.terms[term][0] != SPREAD:
                found = join(found, self.term(term))
        return found

    def literal(self, position: int) -> str | None:
        """Return the text of a positional argument if it is a string literal.

        `f("a", b)` has the text `a` at position 0.
        """
        if position < len(self.args):
            term = self.entry.terms[self.args[position]]
            if term[0] == STRING:
                return str(term[1])
        return None
