"""Cache answers to recursive questions, and record their dependencies.

Type inference is built on this module. A question asks for one result, such as the type of a name. It is a key in the memo (the cache) of
one file. A question may depend on itself. If it is asked again while it is being answered, the current answer is returned, which is empty
at first. When the outermost question of such a cycle is answered, the cycle is repeated until no answer changes. Answers only grow, so the
result is the least fixpoint and does not depend on the order of questions. Therefore an incremental index equals a new one.

Every answer has one number for its inputs: the number of an input (see `project.Project.key`), or of a group of inputs and other groups. A
group has a negative number, lower than the numbers of the groups inside it. So one pass finds all groups that contain an input
(`dependents`), and an answer stores only its own inputs, not the inputs of the answers that it used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar, TypeVarTuple

from graphmem.resolution.dependents import GroupsOf
from graphmem.resolution.types import EMPTY, TOP

MAX_STACK: Final = 150
"""Most open questions.

A deeper question is answered first, alone, and the outer ones are then repeated.
"""

MAX_PASSES: Final = 60
"""Most passes over a cycle.

Types of bounded height never reach it; it guards against a rule that shrinks answers.
"""

PATIENCE: Final = 150_000
"""Computations for one outermost question after which questions that are too deep are no longer answered first.

Answering one first drops the unfinished answers of its cycle. In a cycle of thousands of questions this was repeated for minutes.
Such a question then has an empty answer, and the answers that need it may be incomplete. django's package needs at most 84,000.
"""

NOTHING: Final = -1
"""The group without inputs."""

Members = tuple[int, ...]
"""Inputs and groups that one group stands for."""

_OPEN: Final = 0
_WAITING: Final = 1
_AGAIN: Final = 2


class Groups:
    """Assigns a number to each set of inputs (a group), which may be nested."""

    def __init__(self) -> None:
        self._numbers: dict[Members, int] = {(): NOTHING}
        self._members: list[Members | None] = [()]  # of the groups NOTHING, NOTHING - 1, …; None: unused
        self._containing = GroupsOf()

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, reads: set[int]) -> int:
        """Return the number of the group that equals a set of inputs and groups.

        For a set with one member, the result is the member's number. A new group is created if necessary.
        """
        reads.discard(NOTHING)
        if len(reads) == 1:
            return next(iter(reads))
        members = tuple(reads)
        numbers = self._numbers
        found = numbers.get(members)
        if found is None:
            found = numbers[members] = NOTHING - len(self._members)
            self._members.append(members)
        return found

    def members(self, first: int = 0) -> list[Members | None]:
        """Return the members of each group (set of inputs), from a position on.

        None stands for an unused group.
        """
        return self._members[first:]

    def restore(self, members: Iterable[Members | None]) -> None:
        """Replace all groups by those that `members` returned earlier."""
        self._members = list(members)
        self._numbers = {some: _number(position) for position, some in enumerate(self._members) if some is not None}
        self._containing.forget()

    def spread(self, stale: set[int]) -> None:
        """Extend a set by all groups that contain one of its inputs.

        A group is a set of inputs that has a number. Groups may be nested at any depth.
        """
        self._containing.spread(self._members, _number, stale)

    def inputs(self, numbers: Iterable[int]) -> frozenset[int]:
        """Return all inputs among given numbers of inputs and groups.

        A group is a set of inputs and other groups. The inputs inside groups, at any depth, are included.
        """
        members = self._members
        seen = set(numbers)
        pending = [number for number in seen if number < NOTHING]
        while pending:
            for number in members[NOTHING - pending.pop()] or ():
                if number not in seen:
                    seen.add(number)
                    if number < NOTHING:
                        pending.append(number)
        return frozenset(number for number in seen if number > NOTHING)

    def keep(self, used: set[int]) -> None:
        """Delete groups (sets of inputs) that nothing uses, directly or nested."""
        kept = {NOTHING} | used
        for members, number in reversed(self._numbers.items()):
            if number in kept:
                kept.update(members)
        self._numbers = {members: number for members, number in self._numbers.items() if number in kept}
        self._members = [members if _number(position) in kept else None for position, members in enumerate(self._members)]
        self._containing.forget()


def _number(position: int) -> int:
    """Return the negative number of a group (set of inputs) by its position."""
    return NOTHING - position


Answer = TypeVar("Answer")
Arguments = TypeVarTuple("Arguments")

Memo = dict[Any, Any]
"""Question -> (answer, number of its inputs), or an open `_Question`."""


class _TooDeepError(Exception):
    """Raised when questions to the solver are nested too deep.

    The outermost question catches this error and answers the deep question first.
    """

    def __init__(self, memo: Memo, key: Any, compute: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        super().__init__()
        self.question = (memo, key, compute, arguments)


class _Question:
    """A question to the solver that does not have a final answer yet."""

    __slots__ = ("again", "guess", "is_head", "key", "low", "members", "memo", "position", "reads", "state", "value")

    def __init__(self, memo: Memo, key: Any) -> None:
        self.memo = memo
        self.key = key
        self.state = _OPEN
        self.guess: Any = EMPTY  # answer of the previous pass over its cycle
        self.value: Any = EMPTY  # answer of this pass, while it waits
        self.reads: set[int] = set()
        self.position = 0  # on the stack
        self.low = 0  # lowest stack position on which an answer inside depended
        self.is_head = False  # a question inside asked this very question
        self.members: list[_Question] = []  # questions inside whose answers wait for this one
        self.again: list[_Question] = []  # those of earlier passes


class Solver:
    """Answers questions such as the type of a name, and caches the answers."""

    def __init__(self) -> None:
        self.reads: set[int] = set()  # by the innermost open question; outside of questions since `listen`
        self.groups = Groups()
        self._stack: list[_Question] = []
        self._cut: set[tuple[int, Any]] = set()
        self._computed = 0  # computations for the outermost question
        self._interned: dict[frozenset[Any], frozenset[Any]] = {TOP: TOP}  # TOP is known by its identity

    def listen(self) -> set[int]:
        """Start recording the inputs that are read outside of questions.

        The returned set collects the numbers of inputs and groups.
        """
        self.reads = set()
        return self.reads

    def touch(self, key: int) -> None:
        """Record that the answer being computed has read an input, by its number."""
        self.reads.add(key)

    def ask(self, memo: Memo, key: Any, compute: Callable[[*Arguments], Answer], *arguments: *Arguments) -> Answer:
        """Return the answer of a question: `compute(*arguments)`, cached by `key`.

        `memo` is the cache. `compute` may only read tracked inputs and ask other questions. Answers are compared with `==`. In a cycle, the
        first answer is `EMPTY`.
        """
        known = memo.get(key)
        if known is None:
            first: Answer = self._answer(memo, key, compute, arguments) if self._stack else self._ask_first(memo, key, compute, arguments)
            return first
        if type(known) is tuple:
            self.reads.add(known[1])
            kept: Answer = known[0]
            return kept
        if known.state == _AGAIN:
            again: Answer = self._answer(memo, key, compute, arguments)
            return again
        parent = self._stack[-1]
        if known.state == _OPEN:
            known.is_head = True
            parent.low = min(parent.low, known.position)
            guess: Answer = known.guess
            return guess
        parent.reads |= known.reads
        parent.low = min(parent.low, known.low)
        waiting: Answer = known.value
        return waiting

    def forget_interned(self) -> None:
        """Release the table that makes equal answers share memory.

        Call it after cached answers were dropped.
        """
        self._interned = {TOP: TOP}

    def _ask_first(self, memo: Memo, key: Any, compute: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Answer an outermost question.

        Questions that are nested too deeply inside it are answered separately first.
        """
        outside = self.reads
        self._computed = 0
        attempts = [(memo, key, compute, arguments)]
        lost: set[int] = set()  # read by abandoned questions, for the inputs of an error
        try:
            while True:
                try:
                    known = attempts[-1][0].get(attempts[-1][1])
                    value = (
                        known[0] if type(known) is tuple else self._answer(*attempts[-1])
                    )  # a tuple: it was answered together with questions below it
                except _TooDeepError as deep:
                    lost |= self._abandon(outside)
                    identity = (id(deep.question[0]), deep.question[1])
                    if any((id(asked[0]), asked[1]) == identity for asked in attempts):
                        self._cut.add(identity)  # a cycle longer than the stack is cut here
                    else:
                        attempts.append(deep.question)
                    continue
                attempts.pop()
                if not attempts:
                    if type(known) is tuple:
                        self.reads.add(known[1])
                    return value
        except BaseException:
            outside |= lost | self._abandon(outside)
            raise
        finally:
            if self._cut:
                self._cut.clear()

    def _abandon(self, outside: set[int]) -> set[int]:
        """Drop all unanswered questions, and return the inputs that they read."""
        read: set[int] = set()
        for question in self._stack:
            read |= question.reads
            for unfinished in (question, *question.members, *question.again):
                if unfinished.memo.get(unfinished.key) is unfinished:
                    del unfinished.memo[unfinished.key]
        self._stack.clear()
        self.reads = outside
        return read

    def _answer(self, memo: Memo, key: Any, compute: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        stack = self._stack
        position = len(stack)
        if self._cut and position and (id(memo), key) in self._cut:
            return EMPTY
        if position >= MAX_STACK:
            if self._computed > PATIENCE:
                return EMPTY
            raise _TooDeepError(memo, key, compute, arguments)
        question = memo.get(key)
        if question is None:
            question = memo[key] = _Question(memo, key)
        else:  # it belongs to an earlier pass
            question.state = _OPEN
            question.is_head = False
            question.reads = set()
        question.position = question.low = position
        outer = self.reads
        self.reads = question.reads
        stack.append(question)
        for _ in range(MAX_PASSES):
            self._computed += 1
            value = compute(*arguments)
            if question.low < position or not question.is_head or not self._grew(question, value):
                break
        stack.pop()
        self.reads = outer
        if question.low == position:
            outer.add(self._close(question, value))
            return value
        # Part of a cycle that began further out: not final yet.
        outer |= question.reads
        question.value = value
        question.state = _WAITING
        parent = stack[-1]
        parent.members += (question, *question.members)
        parent.again += question.again
        question.members, question.again = [], []
        parent.low = min(parent.low, question.low)
        return value

    def _grew(self, question: _Question, value: Any) -> bool:
        """Whether another pass over a cycle of questions may find more.

        If so, the answers of this pass are kept as guesses for the next one.
        """
        members = question.members
        if question.guess == value and all(member.guess == member.value for member in members):
            return False
        question.guess = value
        for member in members:
            member.guess = member.value
            member.state = _AGAIN
        question.again += members
        question.members = []
        return True

    def _close(self, question: _Question, value: Any) -> int:
        """Store the final answers of a question and of its cycle.

        The cycle consists of questions whose answers depend on each other. The result is the number for the inputs of these answers.
        """
        number = self.groups.number(question.reads)
        if type(value) is frozenset:  # many answers have the same few types, and an empty set takes 200 bytes
            value = self._interned.setdefault(value, value)
        question.memo[question.key] = (value, number)
        for member in question.members:
            member.memo[member.key] = (member.value, number)
        for member in question.again:
            if member.memo.get(member.key) is member:  # the last pass did not reach it
                del member.memo[member.key]
        return number
