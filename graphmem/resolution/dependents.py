"""What was made from something, found without looking at everything: the reverse of what groups and answers say of themselves.

A project of a few thousand files has a hundred thousand groups and twice as many remembered answers, and an edit concerns some
dozens of each. Both indexes are columns of numbers, made when they are first asked for; what came later is looked through until
it is worth making them anew. They only save time: what they find is what looking at everything would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

FEW_GROUPS: Final = 4_096  # groups that are looked through
FEW_ANSWERS: Final = 20_000  # answers in files that are looked through


class Reverse:
    """From a number to the numbers of those it belongs to.

    Args:
        members: numbers, of all owners one after another.
        owners: of each member.
    """

    def __init__(self, members: npt.NDArray[np.int32], owners: npt.NDArray[np.int32]) -> None:
        import numpy as np

        order = np.argsort(members, kind="stable")
        self._members = members[order]
        self._owners = owners[order]

    def of(self, numbers: Iterable[int]) -> list[int]:
        """Owners of some numbers, ascending, each once."""
        import numpy as np

        wanted = np.fromiter(numbers, np.int32)
        first, end = np.searchsorted(self._members, wanted), np.searchsorted(self._members, wanted, side="right")
        pieces = [self._owners[begin:stop] for begin, stop in zip(first.tolist(), end.tolist(), strict=True) if begin < stop]
        found: list[int] = np.unique(np.concatenate(pieces)).tolist() if pieces else []
        return found


class GroupsOf:
    """Which groups have a number in them, however deep. Groups are told in the order of their making and never change."""

    def __init__(self) -> None:
        self._reverse: Reverse | None = None
        self._covered = 0

    def forget(self) -> None:
        """Groups were taken out."""
        self._reverse, self._covered = None, 0

    def spread(self, members: Sequence[tuple[int, ...] | None], number_of: Callable[[int], int], stale: set[int]) -> None:
        """Add to some numbers every group that has one of them in it.

        Args:
            members: of each group, in the order of making; a group's members were made before it. None: it was taken out.
            number_of: from the position of a group to its number.
            stale: numbers, added to.
        """
        if not stale:
            return
        if len(members) - self._covered > FEW_GROUPS:
            self._reverse, self._covered = _reversed_groups(members), len(members)
        pending: Iterable[int] = stale
        while self._reverse is not None and pending:
            found = {number_of(position) for position in self._reverse.of(pending)}
            pending = found - stale
            stale |= pending
        for position in range(self._covered, len(members)):
            group = members[position]
            if group is not None and not stale.isdisjoint(group):
                stale.add(number_of(position))


class AnswersOf:
    """Which files keep an answer made from a number."""

    def __init__(self) -> None:
        self._reverse: Reverse | None = None
        self._paths: list[str] = []
        self._seen: dict[str, tuple[Mapping[Any, Any], int]] = {}  # what the index is of: a memo only grows, or its file leaves this

    def files(self, memos: Mapping[str, Mapping[Any, Any]], stale: set[int]) -> list[str]:
        """Every file with an answer made from one of these numbers, and some others.

        Args:
            memos: by path, what the solver remembers of a file; every answer is (value, number).
            stale: the numbers.
        """
        seen = self._seen
        later = [path for path, memo in memos.items() if (known := seen.get(path)) is None or known[0] is not memo or known[1] != len(memo)]
        if sum(len(memos[path]) for path in later) > FEW_ANSWERS:
            self._make(memos)
            later = []
        if self._reverse is None:
            return later
        there = {self._paths[position] for position in self._reverse.of(stale)}
        return sorted(there.intersection(memos).union(later))

    def changed(self, path: str) -> None:
        """Answers of a file were taken out: it is looked through from now on."""
        self._seen.pop(path, None)

    def _make(self, memos: Mapping[str, Mapping[Any, Any]]) -> None:
        import numpy as np

        self._paths = list(memos)
        self._seen = {path: (memo, len(memo)) for path, memo in memos.items()}
        numbers = np.fromiter((answer[1] for memo in memos.values() for answer in memo.values()), np.int32)
        self._reverse = Reverse(numbers, np.repeat(np.arange(len(memos), dtype=np.int32), [len(memo) for memo in memos.values()]))


def _reversed_groups(members: Sequence[Any]) -> Reverse:
    import numpy as np

    lengths = [len(group) if group is not None else 0 for group in members]
    flat = np.fromiter((number for group in members if group is not None for number in group), np.int32, sum(lengths))
    return Reverse(flat, np.repeat(np.arange(len(members), dtype=np.int32), lengths))
