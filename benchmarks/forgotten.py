"""Files that a review lists as missing from a change, on past commits.

    python -m benchmarks forgotten GITDIR ... [--held GITDIR ...] [--commits 150]

Each commit is asked with the commits before it only. Two questions are asked about a commit of 1 to 10 files:

* One file is left out of the commit. Is it found, and how many of the files that are listed belong to the commit? A row has the share of
  left-out files that are found, and the precision: left-out files of all listed files that the rest of the commit does not have.
* Nothing is left out. How many commits get a list although they are complete, and how many of the listed files does the same author
  change within a week?

Before an edit and at a stop, hooks ask about each edited file alone. `alone` rows have the share of named files that the commit has, and
the share of commits for which another file is named.

Rows compare rules: `share` is `Evidence.confidence`, `chance` is `Evidence.chance`. Both need three common changes, except in `alone` rows,
where `share` is `Evidence.focus`. The rule was chosen on the first repositories; those of --held are only reported. Commits are drawn from
the last 70 % of a history, without its last 60 commits.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import report

from graphmem.history import coaccess, git_log
from graphmem.history.change_log import GIT, Change, HistoryLog
from graphmem.history.co_edits import History
from graphmem.injection.consequences import LIKELY_CHANCE, MOVES_CHANCE, MOVES_SHARE
from graphmem.project.history.co_changes import MOST_JUDGED
from graphmem.project.reviews.reviewing import FORGOTTEN_CHANCE, FORGOTTEN_SUPPORT

WEEK_S: Final = 7 * 86_400.0
MOST_COMMITS: Final = 8_000  # of a history
MOST_FILES: Final = 10  # of a commit that is asked about
LATER: Final = 400  # following commits in which the author's next changes are looked for
LARGEST: Final = 20  # files; a larger commit does not relate its files
MOST_NAMED: Final = 5  # files that a hook names
Rule = Callable[[coaccess.Evidence], bool]
RULES: Final[dict[str, Rule]] = {
    "share 0.3": lambda its: its.confidence >= 0.3,
    "share 0.5": lambda its: its.confidence >= 0.5,
    "chance 0.4": lambda its: its.chance >= 0.4,
    f"chance {FORGOTTEN_CHANCE} (graphmem)": lambda its: its.chance >= FORGOTTEN_CHANCE,
    "chance 0.6": lambda its: its.chance >= 0.6,
}


ALONE: Final[dict[str, Rule]] = {
    f"share {MOVES_SHARE}": lambda its: its.focus >= MOVES_SHARE,
    f"chance {MOVES_CHANCE} (note before an edit)": lambda its: its.chance >= MOVES_CHANCE,
    "chance 0.5": lambda its: its.chance >= 0.5,
    f"chance {LIKELY_CHANCE} (reminder at the stop)": lambda its: its.chance >= LIKELY_CHANCE,
}


class Question(NamedTuple):
    """One question: its files, the files each rule lists, and the truth."""

    repository: str
    files: tuple[str, ...]
    left_out: str  # "" if the commit was complete
    listed: dict[str, list[str]]  # by rule, files that the commit does not have, and the left-out file
    soon: frozenset[str]  # files that the author changed within a week after it
    alone: dict[str, tuple[int, int]]  # by rule, named files that the commit has and others, each file asked alone


def named_alone(history: History, files: Sequence[str], touched: Sequence[str], living: Collection[str]) -> dict[str, tuple[int, int]]:
    """Ask about each file of a commit alone, as hooks do.

    Returns by rule how many named files the commit has, and how many it does not have.
    """
    counts = dict.fromkeys(ALONE, (0, 0))
    for file in files:
        ranked = coaccess.rank(history, [file], min_support=coaccess.LEAST_SMALL)[:MOST_JUDGED]
        seen = coaccess.evidence(history, [file], [one.node for one in ranked])
        found = [(path, its) for one, its in zip(ranked, seen, strict=True) if (path := history.nodes[one.node].path) in living]
        for name, rule in ALONE.items():
            its_files = [path for path, its in found if rule(its)][:MOST_NAMED]
            right = sum(path in touched for path in its_files)
            counts[name] = counts[name][0] + right, counts[name][1] + len(its_files) - right
    return counts


def listed(history: History, files: Sequence[str]) -> Iterator[tuple[str, coaccess.Evidence]]:
    """Yield candidates for `files` with evidence, as a review finds them."""
    ranked = coaccess.rank(history, files, min_support=coaccess.LEAST_SMALL)[:MOST_JUDGED]
    seen = coaccess.evidence(history, files, [one.node for one in ranked])
    for one, its in zip(ranked, seen, strict=True):
        if its.support >= FORGOTTEN_SUPPORT:
            yield history.nodes[one.node].path, its


def replayed(repository: Path, commits: int) -> Iterator[Question]:
    """Yield the questions about one history."""
    here = git_log.Repository("HEAD", "", frozenset(), partial=False)
    every = sorted(git_log.commits(repository, here, ["HEAD"], MOST_COMMITS, lambda: False), key=lambda one: one.at)
    fit = [place for place, one in enumerate(every) if len(every) * 0.3 < place < len(every) - 60 and 1 <= one.files <= MOST_FILES]
    drawn = random.Random(5)
    chosen = frozenset(drawn.sample(fit, min(commits, len(fit))))
    living: set[str] = set()
    waiting: list[Change] = []
    with tempfile.TemporaryDirectory() as folder:
        log, history = HistoryLog(Path(folder) / "history.sqlite"), History()
        for place, one in enumerate(every):
            if place in chosen and (files := [path for path in one.touched if path in living]):
                log.append(waiting)
                waiting = []
                history.follow(log)
                soon = frozenset(
                    path
                    for other in every[place + 1 : place + LATER]
                    if other.email == one.email and other.at - one.at <= WEEK_S
                    for path in other.touched
                )
                for left_out in ["", *(drawn.sample(files, min(2, len(files))) if len(files) > 1 else [])]:
                    rest = tuple(path for path in files if path != left_out)
                    others = [
                        (path, its)
                        for path, its in listed(history, rest)
                        if path in living and (path == left_out or path not in one.touched)
                    ]
                    found = {name: [path for path, its in others if rule(its)] for name, rule in RULES.items()}
                    alone = named_alone(history, files, one.touched, living) if not left_out else {}
                    yield Question(str(repository), rest, left_out, found, soon, alone)
            living.difference_update(one.deleted, (old for old, _ in one.renamed))
            living.update(one.touched)
            related = one.touched if len(one.touched) <= LARGEST else ()
            waiting.append(Change(GIT, one.at, related, one.sha, deleted=one.deleted, renamed=one.renamed))
        log.close()


def figures(questions: Sequence[Question], rule: str) -> dict[str, Any]:
    """Return the figures of one rule."""
    complete = [one for one in questions if not one.left_out]
    incomplete = [one for one in questions if one.left_out]
    found = sum(one.left_out in one.listed[rule] for one in incomplete)
    wrong = sum(path != one.left_out for one in incomplete for path in one.listed[rule])
    told = [(one, path) for one in complete for path in one.listed[rule]]
    return {
        "rule": rule,
        "left_out": len(incomplete),
        "found": round(found / max(1, len(incomplete)), 3),
        "precision": round(found / max(1, found + wrong), 3),
        "complete": len(complete),
        "complete_with_a_list": round(sum(bool(one.listed[rule]) for one in complete) / max(1, len(complete)), 3),
        "files_listed": len(told),
        "changed_within_a_week": round(sum(path in one.soon for one, path in told) / max(1, len(told)), 3),
    }


def figures_alone(questions: Sequence[Question], rule: str) -> dict[str, Any]:
    """Return the figures of one rule when each file is asked alone."""
    asked = [one.alone[rule] for one in questions if one.alone]
    right, wrong = sum(one[0] for one in asked), sum(one[1] for one in asked)
    return {
        "rule": rule,
        "commits": len(asked),
        "right": right,
        "precision": round(right / max(1, right + wrong), 3),
        "commits_with_a_wrong_file": round(sum(one[1] > 0 for one in asked) / max(1, len(asked)), 3),
    }


def main() -> None:
    options = report.parser(__doc__)
    options.add_argument("repositories", nargs="+", type=Path, help="git directories")
    options.add_argument("--held", nargs="*", type=Path, default=[], help="git directories that had no part in the choice")
    options.add_argument("--commits", type=int, default=150, help="commits of each history")
    given = options.parse_args()
    groups: dict[str, Any] = {}
    for name, some in (("chosen", given.repositories), ("held", given.held)):
        questions = [one for repository in some for one in replayed(repository, given.commits)]
        if not questions:
            continue
        rows = [figures(questions, rule) for rule in RULES]
        alone = [figures_alone(questions, rule) for rule in ALONE]
        groups[name] = {"repositories": [one.parent.name for one in some], "rows": rows, "alone": alone}
        print(f"\n{name}: {len(some)} repositories")
        report.table(
            ["rule", "left-out files", "found", "precision", "complete commits", "with a list", "files", "changed within a week"],
            [list(row.values()) for row in rows],
        )
        print()
        report.table(["each file alone", "commits", "right files", "precision", "with a wrong file"], [list(row.values()) for row in alone])
    report.publish("forgotten", groups, given.out)


if __name__ == "__main__":
    main()
