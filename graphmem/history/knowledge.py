"""Find the people who know each part of a project, from its commits."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final

from graphmem.history import git_log
from graphmem.history.authors import is_bot, one_name_each
from graphmem.history.reviewers import HALF_LIFE_S
from graphmem.runtime import git as _git

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

MOST_COMMITS: Final = 5_000  # the newest; older ones have little weight
MOST_FILES: Final = 200  # of one commit, without third-party code; a larger one moves or formats code, and shows no knowledge
_VENDORED: Final = re.compile(r"(?:^|/)(?:vendor|node_modules|third_party|Godeps)/")
_ENTRY: Final = re.compile(r"\x01(?=-?\d+\0[^\0]*\0[^\0]*\0[0-9a-f]{40})")  # names of people and files may hold the first sign
HALF: Final = 0.5  # share of the knowledge without which a part is orphaned


@dataclass
class Known:
    """The people who know one part of a project, by their commits.

    Attributes:
        weight: by person, the sum of commit weights; the weight of a commit is 1 and halves every year.
        commits: number of commits by person.
        last: time of the newest commit by person, ISO 8601.
    """

    weight: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    commits: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    last: dict[str, str] = field(default_factory=dict)

    def order(self) -> list[str]:
        """Return the people who know a part of the project, best first.

        Each commit has a weight, and a person's weights are added up. Ties are ordered by name.
        """
        return sorted(self.weight, key=lambda name: (-self.weight[name], name))

    def bus_factor(self) -> int:
        """Return how few people together hold half of the knowledge of a part.

        A person's knowledge of the part is the weight of the person's commits. The result is 0 if nobody knows the part.
        """
        total, held = sum(self.weight.values()), 0.0
        for number, name in enumerate(self.order(), 1):
            held += self.weight[name]
            if held >= HALF * total:
                return number
        return 0


def known_by(root: Path, part_of: Mapping[str, str], now: datetime, whole: str | None = None) -> tuple[dict[str, Known], list[str]]:
    """Return who knows each part of a project, and notes on what is missing.

    The newest `MOST_COMMITS` commits are read, without merges. A commit is counted once for each part that it touched. Commits of bots,
    and commits with more than `MOST_FILES` files, are ignored. Renames are not followed. Authors with the same address, or with the same
    name apart from case and spaces, are one person. The oldest commits of a shallow clone are left out, because git shows every file as
    new in them.

    Args:
        root: root of the working tree.
        part_of: part of each file, by its path from the root; other files are ignored.
        now: aware time relative to which ages are computed.
        whole: name of a further part, which has the files of all other parts; None for no such part.

    Raises:
        GitError: git is not installed, or the folder is not a repository.
    """
    command = (
        "log",
        "--no-merges",
        f"-n{MOST_COMMITS}",
        "--no-renames",
        "--relative",
        "--format=%x01%at%x00%aN%x00%aE%x00%H",
        "--name-only",
        "-z",
    )
    text = os.fsdecode(_git.run(root, *command))
    here = git_log.repository(root)
    boundary = here.boundary if here is not None else frozenset[str]()
    found: dict[str, Known] = defaultdict(Known)
    entries = [entry.split("\0") for entry in _ENTRY.split(text)[1:]]
    names = one_name_each((name, address) for _, name, address, _, *_ in entries if not is_bot(name))
    for at, author, address, sha, *paths in entries:
        if sha.strip("\n") in boundary:
            continue
        paths = [path.strip("\n") for path in paths if path.strip("\n")]
        if sum(_VENDORED.search(path) is None for path in paths) > MOST_FILES or is_bot(author):
            continue
        name = names[author, address]
        when = git_log.moment(int(at))
        weight = 0.5 ** (max(0.0, (now - when).total_seconds()) / HALF_LIFE_S)
        touched = _parts(paths, part_of)
        for part in {*touched, whole} if whole is not None and touched else touched:
            one = found[part]
            one.weight[name] += weight
            one.commits[name] += 1
            one.last[name] = max(one.last.get(name, ""), when.isoformat())
    notes = [f"only the newest {MOST_COMMITS:,} commits were read"] if len(entries) == MOST_COMMITS else []
    return dict(found), [*notes, *((git_log.SHALLOW,) if boundary else ())]


def _parts(paths: Iterable[str], part_of: Mapping[str, str]) -> set[str]:
    return {part_of[path] for path in paths if path in part_of}
