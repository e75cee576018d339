"""Cache answers to recursive questions, and record what they depend on.

Type inference is built on this module. A question asks for one result, such as the type of a name. It is a key in the memo (the cache) of
one file. A question may depend on itself. While it is being answered, asking it again returns the answer so far, which is empty at first.
When an answer grows, the questions that read the smaller answer are computed again, until no answer changes. Answers only grow, so the
result is the least fixpoint and does not depend on the order of questions. Therefore an incremental index equals a new one.

Questions that depend on each other form a component. Components are found as in Tarjan's algorithm (SIAM J. Comput. 1, 1972). The root of a
component is its first question: it depends on no unanswered question that began before it. The questions that began after the root and have
no final answer belong to the component.

An input is a fact of a file. Every answer stores one number, which stands for all inputs on which the answer depends: the number of a
single input (see `project.Project.key`), or of a group. A group contains the inputs that the answer read itself, and the numbers of the
answers that it used. The inputs of the used answers are not copied. The numbers of groups are negative. The number of a group is lower
than the numbers of all groups inside it. So one pass over the groups, from the highest number to the lowest, finds all groups that contain
an input, also those that contain it through other groups (`dependents`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from typing import Any, Final, TypeVar, TypeVarTuple

from graphmem.resolution.cache.dependents import GroupsOf
from graphmem.resolution.values.types import EMPTY, TOP

MAX_STACK: Final = 150
"""Most questions that are answered inside each other.

A deeper question is computed after the outer ones, as part of the component of the outermost question.
"""

MAX_ROUNDS: Final = 60
"""Most repetitions of one question in a component.

Types of bounded height never reach it; it guards against a rule whose answers shrink and grow again.
"""

NOTHING: Final = -1
"""The group without inputs."""

Members = tuple[int, ...]
"""Inputs and groups that one group stands for."""


class Groups:
    """Assigns a number to each set of inputs, called a group.

    Inputs are facts of files that answers depend on. A group may also contain other groups.
    """

    def __init__(self) -> None:
        self._numbers: dict[Members, int] = {(): NOTHING}
        self._members: list[Members | None] = [()]  # of the groups NOTHING, NOTHING - 1, …; None: unused
        self._containing = GroupsOf()

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, reads: set[int]) -> int:
        """Return the number of the group that has exactly the given members.

        A group is a set of inputs (facts of files) and other groups. `reads` are the numbers of the members. For a single member, the
        result is the member's own number. A new group is created if necessary.
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
        """Return the members of each group, in order, from position `first` on.

        A group is a set of inputs (facts of files) and other groups. None stands for a group that was deleted as unused.
        """
        return self._members[first:]

    def restore(self, members: Iterable[Members | None]) -> None:
        """Restore all groups from an earlier result of the method `members`.

        A group is a set of inputs (facts of files) and other groups. Existing groups are dropped.
        """
        self._members = list(members)
        self._numbers = {some: _number(position) for position, some in enumerate(self._members) if some is not None}
        self._containing.forget()

    def spread(self, stale: set[int]) -> None:
        """Add to `stale` all groups that contain a changed input.

        A group is a set of inputs (facts of files) and other groups, at any depth. `stale` has numbers of changed inputs and of groups that
        contain them; both share one numbering.
        """
        self._containing.spread(self._members, _number, stale)

    def inputs(self, numbers: Iterable[int]) -> frozenset[int]:
        """Return the inputs that are in `numbers` or inside a group in `numbers`.

        A group is a set of inputs (facts of files) and other groups. The inputs of nested groups are included.
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
        """Delete all groups except those in `used` and the groups inside them.

        A group is a set of inputs (facts of files) and other groups. `used` has numbers of groups.
        """
        kept = {NOTHING} | used
        for members, number in reversed(self._numbers.items()):
            if number in kept:
                kept.update(members)
        self._numbers = {members: number for members, number in self._numbers.items() if number in kept}
        self._members = [members if _number(position) in kept else None for position, members in enumerate(self._members)]
        self._containing.forget()


def _number(position: int) -> int:
    """Return the number of the group (set of inputs) at a position.

    The number is negative, because inputs have the numbers from 0.
    """
    return NOTHING - position


Answer = TypeVar("Answer")
Arguments = TypeVarTuple("Arguments")

Memo = dict[Any, Any]
"""Question -> (answer, number of its inputs), or an open `_Question`."""


class _Question:
    """A question to the solver that does not have a final answer yet.

    A question asks for one result of type inference, such as the type of a name.
    """

    __slots__ = ("arguments", "compute", "index", "is_deep", "is_stale", "key", "low", "memo", "reads", "rounds", "users", "value")

    def __init__(self, index: int, memo: Memo, key: object, compute: Callable[..., Any], arguments: tuple[object, ...]) -> None:
        self.index = index  # questions are counted in the order in which they are first asked
        self.low = index  # lowest index of a question that this one, or one inside it, depends on
        self.memo = memo
        self.key = key
        self.compute = compute
        self.arguments = arguments
        self.value: Any = EMPTY  # answer so far
        self.reads: set[int] = set()
        self.users: dict[_Question, None] = {}  # questions that read the answer before it was final, in order
        self.is_deep = False  # asked beyond `MAX_STACK`: it joined the open questions to one component, perhaps without need
        self.is_stale = False  # an answer that it read has changed since
        self.rounds = 0  # computations

    def __lt__(self, other: _Question) -> bool:
        """Compare for a heap that returns the latest question first."""
        return self.index > other.index


class _Sweep:
    """One pass that computes questions with outdated results again.

    A question asks for one result of type inference, such as the type of a name. The latest question is computed first. The questions of a
    pass depend on each other.
    """

    __slots__ = ("at", "first", "left")

    def __init__(self, first: int) -> None:
        self.first = first  # index of the component's root
        self.at = first  # index of the question that is computed
        self.left: list[_Question] = []  # a heap


class Solver:
    """Computes the answers of type inference once, and keeps them.

    A question is, for example, the type of a name. Questions may depend on each other in circles.
    """

    def __init__(self) -> None:
        self.reads: set[int] = set()  # inputs that the innermost open question read; outside of questions, those read since `listen`
        self.groups = Groups()
        self._open: list[_Question] = []
        self._waiting: list[_Question] = []  # computed inside a component that is not final, or too deep to be computed
        self._stale: list[_Question] = []  # a heap, so that a component finds its own questions among thousands
        self._sweeps: list[_Sweep] = []  # those that have begun, each inside the one before
        self._asked = 0
        self._interned: dict[frozenset[Any], frozenset[Any]] = {TOP: TOP}  # TOP is compared by identity

    def listen(self) -> set[int]:
        """Return a set to which the numbers of facts are added as they are read.

        The caller learns in this way which facts its questions depend on. For a fact that the caller reads itself, its number is added. For
        an answer, such as a type, one number is added, which stands for all facts that the answer used. After another call of `listen`,
        only the new set grows.
        """
        self.reads = set()
        return self.reads

    def touch(self, key: int) -> None:
        """Record that the answer being computed depends on a fact of a file.

        `key` is the number of this fact.
        """
        self.reads.add(key)

    def ask(self, memo: Memo, key: object, compute: Callable[[*Arguments], Answer], *arguments: *Arguments) -> Answer:
        """Return the answer of a question: `compute(*arguments)`, cached by `key`.

        A question asks for one result, such as the type of a name. `memo` is the cache of one file. `compute` may read facts of files only
        through look-ups that record them, and may ask other questions. Answers are compared with `==`. While a question is being computed,
        asking it again returns the answer so far, at first `EMPTY`.
        """
        known = memo.get(key)
        if type(known) is tuple:
            self.reads.add(known[1])
            kept: Answer = known[0]
            return kept
        if known is None:
            first: Answer = self._answer(memo, key, compute, arguments)
            return first
        user = self._open[-1]
        known.users[user] = None
        if known.low < user.low:
            user.low = known.low
        so_far: Answer = known.value
        return so_far

    def look_up(self, memo: Memo, key: object, compute: Callable[[*Arguments], Answer], *arguments: *Arguments) -> Answer:
        """Return `compute(*arguments)`, cached by `key`, for a simple look-up.

        `memo` is the cache of one file. `compute` must not call `ask`. It may read facts of files only through look-ups that record the
        reads. All reads of one computation share a single number, so reading the cached answer again is cheap.
        """
        known = memo.get(key)
        if known is None:
            outside, self.reads = self.reads, set()
            try:
                known = memo[key] = (compute(*arguments), self.groups.number(self.reads))
            finally:
                self.reads = outside
        self.reads.add(known[1])
        kept: Answer = known[0]
        return kept

    def forget_interned(self) -> None:
        """Release the table by which equal answers share memory.

        Call it after cached answers were dropped.
        """
        self._interned = {TOP: TOP}

    def _answer(self, memo: Memo, key: object, compute: Callable[..., Any], arguments: tuple[object, ...]) -> Any:
        """Answer a question that is asked for the first time.

        A question asks for one result, such as the type of a name. `memo` and `key` say where the answer is cached, and
        `compute(*arguments)` computes it.
        """
        self._asked += 1
        question = memo[key] = _Question(self._asked, memo, key, compute, arguments)
        if not self._open:
            return self._answer_first(question)
        user = self._open[-1]
        if len(self._open) >= MAX_STACK:
            question.low = self._open[0].index  # all open questions belong to one component with it
            question.is_deep = question.is_stale = True
            heappush(self._stale, question)
            self._waiting.append(question)
        elif self._settle(question):
            return question.value
        question.users[user] = None
        if question.low < user.low:
            user.low = question.low
        return question.value

    def _answer_first(self, question: _Question) -> Any:
        """Answer a question that was not asked while another one is answered.

        A question asks for one result, such as the type of a name. After an error, all unfinished questions are dropped.
        """
        outside = self.reads
        try:
            self._settle(question)
        except BaseException:
            for lost in (question, *self._open, *self._waiting):
                outside |= lost.reads  # the inputs of the error
                if lost.memo.get(lost.key) is lost:
                    del lost.memo[lost.key]
            self._open.clear()
            self._waiting.clear()
            self._stale.clear()
            self._sweeps.clear()
            self.reads = outside
            raise
        return question.value

    def _settle(self, question: _Question) -> bool:
        """Compute an answer, and store all answers that are final afterwards.

        A question asks for one result, such as the type of a name. A component is a set of questions that depend on each other. Their
        answers become final together.

        Returns:
            False if the answer is not final, because the question belongs to a component that began before the question; else True.
        """
        first = len(self._waiting)
        self._compute(question)
        if question.low == question.index and self._stale:
            self._repeat(question)
        if question.low < question.index:
            self._waiting.append(question)
            return False
        members = [question]
        if len(self._waiting) > first:
            members += self._waiting[first:]
            del self._waiting[first:]
        if any(member.is_deep for member in members[1:]):  # the root is never deep
            for part in _components(members):
                self._close(part)
        else:
            self._close(members)
        self.reads.add(question.memo[question.key][1])
        return True

    def _close(self, component: list[_Question]) -> None:
        """Store the final answers of questions that depend on each other.

        `component` has the questions. A question asks for one result, such as the type of a name. All answers get one number, which stands
        for the facts that any of the questions read. A question that read one of the answers depends on this number.
        """
        reads = component[0].reads
        if len(component) > 1:
            reads = reads.union(*[question.reads for question in component[1:]])
        number = self.groups.number(reads)
        for question in component:
            value = question.value
            if type(value) is frozenset:  # many answers have the same few types, and an empty set takes 200 bytes
                value = self._interned.setdefault(value, value)
            question.memo[question.key] = (value, number)
            for user in question.users:
                user.reads.add(number)

    def _compute(self, question: _Question) -> None:
        """Compute an answer; if it changed, mark the questions that read it.

        A question asks for one result, such as the type of a name. Marked questions are outdated, and are computed again later.
        """
        outside = self.reads
        self.reads = question.reads = set()
        question.is_stale = False
        question.rounds += 1
        self._open.append(question)
        value = question.compute(*question.arguments)
        self._open.pop()
        self.reads = outside
        if question.value != value:
            question.value = value
            for user in question.users:
                if not user.is_stale and user.rounds < MAX_ROUNDS:
                    user.is_stale = True
                    self._mark(user)

    def _mark(self, question: _Question) -> None:
        """Schedule an outdated question to be computed again.

        A question asks for one result, such as the type of a name. A running pass computes outdated questions from the latest to the
        earliest. If the pass has not come to this question yet, the question joins it. Otherwise, the question waits for the next pass.
        """
        for sweep in reversed(self._sweeps):
            if question.index >= sweep.first:
                if question.index < sweep.at:
                    heappush(sweep.left, question)
                    return
                break
        heappush(self._stale, question)

    def _repeat(self, root: _Question) -> None:
        """Compute answers of a component again until none of them is outdated.

        A question asks for one result, such as the type of a name. A component is a set of questions that depend on each other; `root` is
        its first. The question that was asked last is computed first, because earlier questions may depend on it. The method ends early if
        `root` turns out to depend on a question that began before it.
        """
        first, stale = root.index, self._stale
        while stale and stale[0].index >= first:
            sweep = _Sweep(first)
            while stale and stale[0].index >= first:
                sweep.left.append(heappop(stale))  # in the order of a heap
            self._sweeps.append(sweep)
            while sweep.left:
                question = heappop(sweep.left)
                sweep.at = question.index
                self._compute(question)
                if question.low < first:
                    root.low = min(root.low, question.low)
                    break
            self._sweeps.pop()
            if sweep.left:
                for question in sweep.left:
                    heappush(stale, question)
            if root.low < first:
                return


def _components(questions: list[_Question]) -> list[list[_Question]]:
    """Return the sets of questions that depend on each other.

    A question asks for one result, such as the type of a name. A set comes after the sets that it depends on.
    """
    import networkx as nx  # few indexes have questions that are too deep, and the import takes a tenth of a second

    graph = nx.DiGraph()
    graph.add_nodes_from(questions)
    graph.add_edges_from((question, user) for question in questions for user in question.users)
    condensed = nx.condensation(graph)
    return [list(condensed.nodes[number]["members"]) for number in nx.topological_sort(condensed)]
