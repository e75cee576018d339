"""The history of changes in memory: commits and sessions of each file.

The history follows files across renames. It is derived from the log in `change_log`. Pairs of files that change together are not stored.
Such pairs are computed when needed, from each file's list of changes and each change's list of files. The computation takes milliseconds
for a file with 2,000 changes. Adding a change updates only the files in this change.
"""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from graphmem.history.change_log import GIT, Change, HistoryLog

MAX_FILES: Final = 30  # a larger change says little about any two of its files


class FileFacts(NamedTuple):
    """Numbers, times and authors of the changes to one file.

    Changes under all names of the file are counted.
    """

    path: str
    changes: int  # commits and sessions that touched it, large ones included
    commits: int
    first_at: float  # seconds since 1970
    last_at: float
    authors: dict[str, int]  # hash -> commits
    recent: float  # commits, each halved for every `half_life` of its age


@dataclass
class _Node:
    """A file, and the changes that touched it under any of its names."""

    path: str
    alive: bool = True
    changes: list[int] = field(default_factory=list)  # numbers of the counted changes that touched it, as applied
    all: list[int] = field(default_factory=list)  # likewise, including those too large to count


class History:
    """All commits and sessions of a project, indexed by file. Thread-safe.

    `follow` reads new changes. Files and changes are numbered, in the order in which they were read.

    Attributes:
        groups: for each change, the numbers of its files, each once, in the order in which the change lists them.
        at: for each change, its time.
        from_git: for each change, whether it is a commit.
        offsets: for each change that recorded times, a map from files to seconds. The seconds are counted from the start of the change,
            when its first file was touched, to the first touch of the file.
        by_word: for each word, the numbers of the files with this word in their base name.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._reset()

    def _reset(self) -> None:
        self.nodes: list[_Node] = []
        self.groups: list[tuple[int, ...]] = []
        self.at: list[float] = []
        self.from_git: list[bool] = []
        self.counted = 0  # changes that are small enough to relate their files
        self.offsets: dict[int, dict[int, float]] = {}
        self.by_word: dict[str, set[int]] = {}
        self.authors: list[str] = []
        self.now = 0.0  # time of the newest change; ages count back from here
        self.by_path: dict[str, int] = {}
        self._epoch = ""
        self._seq = 0
        self._last = float("-inf")  # time of the newest change that was applied

    def __len__(self) -> int:
        return len(self.groups)

    def follow(self, log: HistoryLog) -> History:
        """Read new changes from the log; return this object.

        Changes are applied in the order of their times. Changes with the same time are applied in the order in which they were recorded. A
        rename applies to all earlier changes. The more new changes there are, the longer the call takes. If a new change is older than a
        known one, or a change was removed, all changes are read again.
        """
        with self.lock:
            epoch, seq = log.mark()
            if epoch != self._epoch or seq < self._seq:
                self._reset()
                self._epoch = epoch
            if seq > self._seq:
                entries = sorted(log.since(self._seq), key=lambda one: (one.change.at, one.seq))
                if entries[0].change.at < self._last:
                    self._reset()
                    self._epoch = epoch
                    entries = sorted(log.since(0), key=lambda one: (one.change.at, one.seq))
                for entry in entries:
                    self._apply(entry.change)
                self._last = entries[-1].change.at
                self._seq = max(entry.seq for entry in entries)
        return self

    def _apply(self, change: Change) -> None:
        for old, new in change.renamed:
            self._rename(old, new)
        for path in change.deleted:
            if path in self.by_path:
                self.nodes[self.by_path[path]].alive = False
        if not change.files:
            return
        number = len(self.groups)
        group = tuple(dict.fromkeys(self._node(path) for path in change.files))
        self.groups.append(group)
        self.at.append(change.at)
        self.from_git.append(change.source == GIT)
        self.counted += change.counted
        self.authors.append(change.author)
        if change.offsets:
            self.offsets[number] = {self.by_path[path]: at for path, at in zip(change.files, change.offsets, strict=True)}
        self.now = max(self.now, change.at)
        for one in group:
            node = self.nodes[one]
            node.alive = True
            node.all.append(number)
            if change.counted:
                node.changes.append(number)

    def _node(self, path: str) -> int:
        number = self.by_path.get(path)
        if number is None:
            number = self.by_path[path] = len(self.nodes)
            self.nodes.append(_Node(path))
            self._name(number)
        return number

    def _name(self, number: int) -> None:
        for word in words(self.nodes[number].path):
            self.by_word.setdefault(word, set()).add(number)

    def _unname(self, number: int) -> None:
        for word in words(self.nodes[number].path):
            self.by_word[word].discard(number)

    def _rename(self, old: str, new: str) -> None:
        number = self.by_path.get(old)
        if number is None or old == new:
            return
        del self.by_path[old]
        self._unname(number)
        there = self.by_path.get(new)
        if there is None:
            self.by_path[new] = number
            self.nodes[number].path = new
            self._name(number)
            return
        moved, kept = self.nodes[number], self.nodes[there]
        for one in moved.all:
            self.groups[one] = tuple(dict.fromkeys(there if node == number else node for node in self.groups[one]))
            if one in self.offsets:
                at = self.offsets[one]
                at[there] = min(at.pop(number), at.get(there, float("inf")))
        kept.all = sorted({*kept.all, *moved.all})
        kept.changes = sorted({*kept.changes, *moved.changes})
        kept.alive = True
        moved.alive, moved.all, moved.changes = False, [], []

    def known(self, path: str) -> int | None:
        """Return the number of the file at a path; None if the path is unknown."""
        return self.by_path.get(path)

    def latest(self, count: int) -> set[int]:
        """Return the files that changed last, by their numbers in this history.

        The result has at least `count` files, if the history has so many. All files of a change are included, so the result may be larger.
        """
        found: set[int] = set()
        for group in reversed(self.groups):
            found.update(group)
            if len(found) >= count:
                break
        return found

    def files(self, half_life_s: float) -> Iterator[FileFacts]:
        """Yield facts on the changes of each existing file, sorted by path.

        The fact `recent` is a weighted number of commits. A commit has the weight 1, which halves every `half_life_s` seconds.
        """
        for path in sorted(self.by_path):
            node = self.nodes[self.by_path[path]]
            if node.alive and node.all:
                yield self._facts(node, half_life_s)

    def _facts(self, node: _Node, half_life_s: float) -> FileFacts:
        authors: dict[str, int] = {}
        commits, recent = 0, 0.0
        for one in node.all:
            if self.from_git[one]:
                commits += 1
                recent += 0.5 ** ((self.now - self.at[one]) / half_life_s)
                if self.authors[one]:
                    authors[self.authors[one]] = authors.get(self.authors[one], 0) + 1
        times = [self.at[one] for one in node.all]
        return FileFacts(node.path, len(node.all), commits, min(times), max(times), authors, recent)


_SPLIT: Final = re.compile(r"[_\W]+")
_EMPTY_WORDS: Final = frozenset({"", "test", "tests", "init", "spec"})


@functools.lru_cache(maxsize=100_000)
def words(path: str) -> frozenset[str]:
    """Return the words of a file's name in lower case.

    The suffix and words such as `test` are left out. For example, `test_user_api.py` gives `user` and `api`.
    """
    stem = path.rsplit("/", 1)[-1]
    return frozenset(_SPLIT.split((stem.rpartition(".")[0] or stem).lower())) - _EMPTY_WORDS
