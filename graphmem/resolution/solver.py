"""Memoised, recursive questions with fixpoints and recorded dependencies: the engine under inference.

A question is a key in the memo of one file. Asking it while it is being answered gives the best answer so far
(nothing, at first); when the outermost question of such a cycle is done, the cycle is asked again until no
answer in it changes. Answers only grow, so the result is the least fixpoint: it does not depend on which
question came first, and that is what makes an incremental index equal to a fresh one.

Every answer carries the inputs it was made from, as small integers (see `project.Project.key`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from graphmem.resolution.types import EMPTY, TOP

MAX_STACK: Final = 150
"""Questions open at once; a deeper one is answered first, alone, and the outer ones are asked again."""

MAX_PASSES: Final = 60
"""Times a cycle is asked again; never reached by types of bounded height, a guard against a rule that shrinks."""

Inputs = frozenset[int]
Memo = dict[Any, tuple[Any, Inputs]]
Identity = tuple[int, Any]  # of a question: its memo and its key


class _TooDeepError(Exception):
    """Unwinds to the outermost question, which then answers the deep one first."""

    def __init__(self, memo: Memo, key: Any, compute: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        super().__init__()
        self.question = (memo, key, compute, arguments)


class _Pending(NamedTuple):
    """An answer inside a cycle that is not closed yet."""

    value: Any
    low: int
    inputs: set[int]
    memo: Memo


class _Frame:
    """A question being answered."""

    __slots__ = ("inputs", "is_head", "low", "members")

    def __init__(self, position: int) -> None:
        self.inputs: set[int] = set()
        self.low = position  # lowest stack position an answer inside depended on
        self.is_head = False  # somebody inside asked this very question
        self.members: list[Identity] = []  # questions inside whose answers wait for this one


class Solver:
    """Answers questions; one for each project."""

    def __init__(self) -> None:
        self.inputs: set[int] = set()  # what was read since somebody last emptied it, outside and inside of questions
        self._stack: list[_Frame] = []
        self._open: dict[Identity, int] = {}  # question -> stack position
        self._guess: dict[Identity, Any] = {}  # answers of the previous pass over an open cycle
        self._pending: dict[Identity, _Pending] = {}
        self._cut: set[Identity] = set()
        self._interned: dict[frozenset[Any], frozenset[Any]] = {TOP: TOP}  # TOP is known by its identity

    def touch(self, key: int) -> None:
        """Record that the answer being made read this input."""
        (self._stack[-1].inputs if self._stack else self.inputs).add(key)

    def ask(self, memo: Memo, key: Any, compute: Callable[..., Any], *arguments: Any) -> Any:
        """The answer `compute(*arguments)` gives, remembered in `memo` under `key`.

        `compute` must read tracked inputs and other questions only. Answers are compared with `==`; the first
        guess in a cycle is `EMPTY`.
        """
        known = memo.get(key)
        if known is not None:
            (self._stack[-1].inputs if self._stack else self.inputs).update(known[1])
            return known[0]
        if self._stack:
            return self._answer(memo, key, compute, arguments)
        return self._ask_first(memo, key, compute, arguments)

    def forget_interned(self) -> None:
        """Let go of shared sets; to be called when memos were dropped."""
        self._interned = {TOP: TOP}

    def _ask_first(self, memo: Memo, key: Any, compute: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """An outermost question, with those that lie too deep under it answered before."""
        attempts = [(memo, key, compute, arguments)]
        try:
            while True:
                try:
                    value = self._answer(*attempts[-1])
                except _TooDeepError as deep:
                    self._abandon()
                    identity = (id(deep.question[0]), deep.question[1])
                    if any((id(asked[0]), asked[1]) == identity for asked in attempts):
                        self._cut.add(identity)  # a cycle longer than the stack: it is cut here
                    else:
                        attempts.append(deep.question)
                    continue
                attempts.pop()
                if not attempts:
                    return value
        except BaseException:
            self._abandon()
            raise
        finally:
            self._cut.clear()

    def _abandon(self) -> None:
        self._stack.clear()
        self._open.clear()
        self._guess.clear()
        self._pending.clear()

    def _answer(self, memo: Memo, key: Any, compute: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        stack = self._stack
        identity = (id(memo), key)
        if stack:
            parent = stack[-1]
            waiting = self._pending.get(identity)
            if waiting is not None:
                parent.inputs |= waiting.inputs
                parent.low = min(parent.low, waiting.low)
                return waiting.value
            position = self._open.get(identity)
            if position is not None:
                stack[position].is_head = True
                parent.low = min(parent.low, position)
                return self._guess.get(identity, EMPTY)
            if identity in self._cut:
                return EMPTY
        position = len(stack)
        if position >= MAX_STACK:
            raise _TooDeepError(memo, key, compute, arguments)
        frame = _Frame(position)
        stack.append(frame)
        self._open[identity] = position
        for _ in range(MAX_PASSES):
            value = compute(*arguments)
            if frame.low < position or not frame.is_head or not self._grew(identity, value, frame):
                break
        stack.pop()
        del self._open[identity]
        outer = stack[-1].inputs if stack else self.inputs
        outer |= frame.inputs
        if frame.low < position:  # part of a cycle that began further out: not final yet
            self._pending[identity] = _Pending(value, frame.low, frame.inputs, memo)
            parent = stack[-1]
            parent.members.append(identity)
            parent.members += frame.members
            parent.low = min(parent.low, frame.low)
        else:
            self._close(memo, key, identity, value, frame)
        return value

    def _grew(self, identity: Identity, value: Any, frame: _Frame) -> bool:
        """After a pass over a cycle: True, with its answers kept as guesses, when another pass may find more."""
        guess, pending = self._guess, self._pending
        if guess.get(identity, EMPTY) == value and all(guess.get(m, EMPTY) == pending[m].value for m in frame.members):
            return False
        guess[identity] = value
        for member in frame.members:
            guess[member] = pending.pop(member).value
        frame.members = []
        return True

    def _close(self, memo: Memo, key: Any, identity: Identity, value: Any, frame: _Frame) -> None:
        """A question, and the cycle it is the head of, have their final answers."""
        inputs = frozenset(frame.inputs)
        inputs = self._interned.setdefault(inputs, inputs)
        if type(value) is frozenset:  # few types are many answers, and an empty set takes 200 bytes
            value = self._interned.setdefault(value, value)
        memo[key] = (value, inputs)
        self._guess.pop(identity, None)
        for member in frame.members:
            waiting = self._pending.pop(member)
            waiting.memo[member[1]] = (waiting.value, inputs)
            self._guess.pop(member, None)
