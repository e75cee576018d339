"""Find the people who know a file: authors of its commits."""

from __future__ import annotations

import os
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Final

from graphmem.answers.history import Reviewer, Reviewers
from graphmem.errors import GitError
from graphmem.history import git_log
from graphmem.history.authors import is_bot, one_name_each
from graphmem.runtime import git as _git
from graphmem.runtime.texts.lines import lines_of

HALF_LIFE_S: Final = 365 * 86_400.0
MOST_COMMITS: Final = 2_000  # the newest; older ones have almost no weight


def reviewers(root: Path, file: str, limit: int, now: datetime) -> Reviewers:
    """Return people, ranked by their share of the commits to a file.

    The weight of a commit decreases with its age. Commits to the file under former names are included. Merges and commits of bots are
    ignored. Authors with the same address, or with the same name apart from case and spaces, are one person. The oldest commits of a
    shallow clone are left out, because git shows every file as new in them.

    Args:
        root: root directory of the repository.
        file: path relative to `root`.
        limit: maximum number of people.
        now: aware time relative to which ages are computed.
    """
    command = ("log", "--follow", "--no-merges", f"-n{MOST_COMMITS}", "--format=%H%x00%at%x00%aN%x00%aE", "--", file)
    try:
        lines = lines_of(os.fsdecode(_git.run(root, *command)))
        here = git_log.repository(root)
    except GitError as error:
        return Reviewers(file, [], [f"without history: {error.message}"])
    commits: defaultdict[str, int] = defaultdict(int)
    weight: defaultdict[str, float] = defaultdict(float)
    last: dict[str, datetime] = {}
    boundary = here.boundary if here is not None else frozenset[str]()
    made = [rest for sha, *rest in (line.split("\0") for line in lines) if sha not in boundary]
    names = one_name_each((author, address) for _, author, address in made if not is_bot(author))
    for at, author, address in made:
        if is_bot(author):
            continue
        name = names[author, address]
        when = git_log.moment(int(at))
        commits[name] += 1
        weight[name] += 0.5 ** (max(0.0, (now - when).total_seconds()) / HALF_LIFE_S)
        last[name] = max(when, last.get(name, when))
    total = sum(weight.values())
    order = sorted(weight, key=lambda name: (-weight[name], name))[:limit]
    people = [Reviewer(name, commits[name], round(weight[name] / total, 4), last[name].isoformat()) for name in order]
    notes = [] if people else [f"only bots committed to {file}" if made else f"git has no commit that changed {file}"]
    if boundary:
        notes.append(git_log.SHALLOW)
    if len(lines) == MOST_COMMITS:
        notes.append(f"only the newest {MOST_COMMITS:,} commits were read")
    return Reviewers(file, people, notes)
