"""Find cached answers that an edit of a file makes invalid.

`solver` caches answers, such as the type of a name. Each answer records its inputs, which are facts of files. A *group* is a numbered set
of inputs. There are two indexes. One finds the groups that contain an input. The other finds the files with answers that used an input or a
group. An index is built at its first use. Items that are added later are scanned until there are many; then the index is built again.

A full scan would find the same answers, but would take longer. Large projects have a hundred thousand groups and twice as many answers, and
an edit affects only dozens of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

FEW_GROUPS: Final = 4_096  # new groups to scan before the index is rebuilt
FEW_ANSWERS: Final = 20_000  # answers in files to scan before the index is rebuilt


class Reverse:
    """Inverted index: finds the sets that contain a given number.

    Sets are numbered, too.

    Args:
        members: the members of all sets, in one list.
        owners: for each item of `members`, the number of the set that contains it.
    """

    def __init__(self, members: npt.NDArray[np.int32], owners: npt.NDArray[np.int32]) -> None:
        import numpy as np

        order = np.argsort(members, kind="stable")
        self._members = members[order]
        self._owners = owners[order]

    def of(self, numbers: Iterable[int]) -> list[int]:
        """Return the sets that contain any of the given members, ascending.

        Sets and members are given by their numbers.
        """
        import numpy as np

        wanted = np.fromiter(numbers, np.int32)
        first, end = np.searchsorted(self._members, wanted), np.searchsorted(self._members, wanted, side="right")
        pieces = [self._owners[begin:stop] for begin, stop in zip(first.tolist(), end.tolist(), strict=True) if begin < stop]
        found: list[int] = np.unique(np.concatenate(pieces)).tolist() if pieces else []
        return found


class GroupsOf:
    """Finds the groups (sets of inputs) that contain an input.

    An input is a fact of a file that cached answers depend on. A group may contain other groups. Groups are added in the order of their
    creation and never change.
    """

    def __init__(self) -> None:
        self._reverse: Reverse | None = None
        self._covered = 0

    def forget(self) -> None:
        """Drop the look-up table, because sets of inputs were removed."""
        self._reverse, self._covered = None, 0

    def spread(self, members: Sequence[tuple[int, ...] | None], number_of: Callable[[int], int], stale: set[int]) -> None:
        """Add to `stale` every set that contains a changed input, at any depth.

        An input is a fact of a file. A set may contain other sets. Inputs and sets are identified by numbers in one numbering.

        Args:
            members: the members of each set, or None for a removed set. Sets are in order of creation, after their members.
            number_of: function from the position of a set in `members` to its number.
            stale: numbers of inputs and sets; extended in place.
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
    """Finds the files whose cached answers used a given input or group.

    An input is a fact of a file; a group is a set of inputs.
    """

    def __init__(self) -> None:
        self._reverse: Reverse | None = None
        self._paths: list[str] = []
        self._seen: dict[str, tuple[Mapping[Any, Any], int]] = {}  # the indexed memos: a memo only grows, or its file is removed from here

    def files(self, memos: Mapping[str, Mapping[object, object]], stale: set[int]) -> list[str]:
        """Return the files for which an outdated answer may be cached.

        An input is a fact of a file. An answer is outdated if it used one of the inputs in `stale`. The result has every file with an
        outdated answer, and possibly other files.

        Args:
            memos: by path, the answers that the solver caches for a file. Each answer is (value, number of the input or group that it
                used).
            stale: numbers of the inputs and of the groups of inputs that changed.
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
        """Record that new answers were cached for a file.

        An answer is a cached result of type inference. Until the look-up table is built again, the answers of this file are scanned one by
        one.
        """
        self._seen.pop(path, None)

    def _make(self, memos: Mapping[str, Mapping[Any, Any]]) -> None:
        import numpy as np

        self._paths = list(memos)
        self._seen = {path: (memo, len(memo)) for path, memo in memos.items()}
        answers = chain.from_iterable(memo.values() for memo in memos.values())
        numbers = np.fromiter(map(itemgetter(1), answers), np.int32)
        self._reverse = Reverse(numbers, np.repeat(np.arange(len(memos), dtype=np.int32), [len(memo) for memo in memos.values()]))


def _reversed_groups(members: Sequence[Any]) -> Reverse:
    import numpy as np

    lengths = [len(group) if group is not None else 0 for group in members]
    flat = np.fromiter(chain.from_iterable(filter(None, members)), np.int32, sum(lengths))
    return Reverse(flat, np.repeat(np.arange(len(members), dtype=np.int32), lengths))
