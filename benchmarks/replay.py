"""Test selection on past commits: share of the broken tests selected, and share of the suite run.

    python -m benchmarks replay --mirrors DIR [--only NAME …] [--commits 100] [--minutes 10]

DIR has a bare git directory `<owner>+<name>/repo` for each repository of `subjects`. The newest commits that change code and tests are
replayed: the tree is that of the parent, with the code of the commit and the tests of the parent. A test is broken if it passes before
the commit's code and fails with it in two runs. Then the tree is reviewed against the parent, once with edges from text alone, once with a
run of the suite that was recorded in the parent. Of the commits that break no test, every fifth is reviewed. Baselines:

* directories: all tests of the nearest directory with tests, from the changed file upwards;
* co-change: tests in files that changed in an earlier commit together with a changed file;
* names: tests that share a word with the name of a changed file.

A test is a function, as in `selection`; its weight is the number of its cases. Commits that break no test count only for the last column,
the share of the suite over all reviewed commits. `left_out` has the commits whose suite did not run.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import report
from selection import WHOLE_S, Suite, by_name, covered, function_of, score, summed
from subjects import SUBJECTS, Subject, is_test

MOST_WITH = 60  # files of a commit; larger ones reformat the tree
QUIET_EVERY: Final = 5  # one in five commits that break no test is reviewed
KINDS: Final = ("recorded", "text", "directories", "co-change", "names")


class Commit(NamedTuple):
    """A commit that changes code and tests."""

    revision: str
    code: list[str]


def git(root: Path, *command: str) -> str:
    return subprocess.run(["git", *command], cwd=root, check=True, capture_output=True, text=True).stdout


def commits(root: Path, subject: Subject, most: int) -> Iterator[Commit]:
    """Yield the newest commits that change Python code and tests."""
    found = 0
    for revision in git(root, "rev-list", "--no-merges", "HEAD", "--", subject.package).split():
        try:
            paths = git(root, "diff", "--name-only", "--no-renames", f"{revision}^", revision).split("\n")
        except subprocess.CalledProcessError:  # the first commit
            return
        paths = [one for one in paths if one]
        tests = [one for one in paths if is_test(subject, one)]
        code = [one for one in paths if one.endswith(".py") and one.startswith(subject.package) and not is_test(subject, one)]
        if code and any(one.endswith(".py") for one in tests) and len(paths) <= MOST_WITH:
            yield Commit(revision, [one for one in paths if not is_test(subject, one)])
            found += 1
            if found == most:
                return


def take(root: Path, commit: Commit) -> None:
    """Replace the parent's code with that of the commit."""
    for path in commit.code:
        done = subprocess.run(["git", "show", f"{commit.revision}:{path}"], cwd=root, capture_output=True, check=False)
        target = root / path
        if done.returncode:
            target.unlink(missing_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(done.stdout)


def by_directories(paths: list[str], tests: list[str]) -> set[str]:
    """Return tests in the nearest directory of each changed file with tests."""
    found: set[str] = set()
    for path in paths:
        for folder in Path(path).parents:
            here = {one for one in tests if Path(one.partition("::")[0]).is_relative_to(folder)}
            if here:
                found |= here
                break
    return found


def by_history(root: Path, subject: Subject, paths: list[str], tests: list[str]) -> set[str]:
    """Return tests of files that changed together with a changed file before."""
    along: set[str] = set()
    for revision in git(root, "rev-list", "--no-merges", "HEAD", "--", *paths).split():
        names = git(root, "diff-tree", "--no-commit-id", "--name-only", "-r", "--root", revision).split("\n")
        if len(names) <= MOST_WITH:
            along |= {one for one in names if is_test(subject, one)}
    return {one for one in tests if one.partition("::")[0] in along}


def failing_in(outcomes: dict[str, bool], good: list[str]) -> set[str]:
    """Return tests that failed, or whose file could not be imported."""
    bad = {function_of(case) for case, failed in outcomes.items() if failed}
    ran = {function_of(case) for case in outcomes}
    files = {one.partition("::")[0] for one in bad if one.endswith("::")}
    return {one for one in good if one in bad or (one not in ran and one.partition("::")[0] in files)}


def reviewed(
    root: Path,
    subject: Subject,
    commit: Commit,
    suite: Suite,
    scratch: Path,
    row: dict[str, Any],
    failing: set[str],
    weights: Counter[str],
    good: list[str],
) -> None:
    """Add to a row the results of each selection."""
    from graphmem import GraphMem
    from graphmem.evidence import inbox
    from graphmem.evidence.trace import SUFFIX
    from graphmem.settings import Settings

    whole = sum(weights[one] for one in good)
    git(root, "checkout", "-q", "-f", "HEAD")
    git(root, "clean", "-qfd")
    trace = scratch / "recorded.trace"
    suite.run(None, "--graphmem", f"--graphmem-root={root}", f"--graphmem-trace={trace}", patience_s=WHOLE_S)
    paths = [one for one in commit.code if one.endswith(".py")]
    chosen = {
        "directories": by_directories(paths, good),
        "co-change": by_history(root, subject, paths, good),
        "names": {test for path in paths for test in by_name(path, good)},
    }
    for kind in ("text", "recorded"):
        git(root, "checkout", "-q", "-f", "HEAD")
        git(root, "clean", "-qfd")
        with (
            tempfile.TemporaryDirectory() as folder,
            GraphMem.open(Path(folder) / kind, repo=root, settings=Settings(embedder="none")) as memory,
        ):
            if kind == "recorded":
                inbox.put(trace, SUFFIX, Path(folder) / kind)
            memory.index(root)
            take(root, commit)
            memory.index(root)
            chosen[kind] = {function_of(test.id) for test in memory.review(base="HEAD", tests=100_000).tests}
    for kind in KINDS:
        row[kind] = score(chosen[kind], failing, good, weights, whole)
    for kind in ("text", "recorded"):
        row[f"{kind}_missed"] = missed(chosen[kind], failing)


def replay(name: str, subject: Subject, given: Any, scratch: Path) -> dict[str, Any]:
    root = scratch / name
    subprocess.run(["git", "clone", "-q", "--shared", str(given.mirrors / subject.mirror / "repo"), str(root)], check=True)
    (root / ".git" / "info" / "exclude").write_text("__pycache__\n.graphmem\n.coverage*\n")
    suite = Suite(root, subject, given.library, scratch)
    rows: list[dict[str, Any]] = []
    left_out: list[str] = []
    until = time.monotonic() + given.minutes * 60
    for number, commit in enumerate(list(commits(root, subject, given.commits))):
        if time.monotonic() > until:
            break
        git(root, "checkout", "-q", "-f", "--detach", f"{commit.revision}^")
        git(root, "clean", "-qfd")
        base = suite.run(patience_s=WHOLE_S)
        take(root, commit)
        outcomes = suite.run(patience_s=WHOLE_S)
        bad = {function_of(case) for case, failed in base.items() if failed}
        weights = Counter(function_of(case) for case in base)
        good = [one for one in weights if one not in bad]
        if not good or not outcomes:
            left_out.append(commit.revision)
            continue
        failing = failing_in(outcomes, good)
        if failing:
            failing &= failing_in(suite.run(sorted({one.partition("::")[0] for one in failing}), patience_s=WHOLE_S), good)
        row: dict[str, Any] = {"commit": commit.revision, "failing": sum(weights[one] for one in failing)}
        rows.append(row)
        if failing or number % QUIET_EVERY == 0:
            reviewed(root, subject, commit, suite, scratch, row, failing, weights, good)
            said = " · ".join(f"{kind} {row[kind]['found']:.2f}/{row[kind]['ran']:.2f}" for kind in KINDS)
            print(f"{name} {commit.revision[:9]} {row['failing']} of {sum(weights[one] for one in good)} failed · {said}", flush=True)
    return {"repository": name, "commits": len(rows), "left_out": left_out, **parts(rows), "rows": rows}


def missed(chosen: set[str], failing: set[str]) -> list[str]:
    """Return failing tests that a selection does not run, the first ten."""
    return sorted(failing - covered(chosen, failing))[:10]


def parts(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return sums over commits that broke a test, and the share of the suite."""
    broke, looked = [row for row in rows if row["failing"]], [row for row in rows if "text" in row]
    made: dict[str, Any] = {"broke": len(broke), "reviewed": len(looked), "failing": sum(row["failing"] for row in broke)}
    for kind in KINDS:
        every = sum(row[kind]["ran"] for row in looked) / max(1, len(looked))
        made[kind] = {**summed(broke, kind), "suite_ran_all_reviewed": round(every, 4)}
    return made


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("--mirrors", type=Path, required=True, help="has <owner>+<name>/repo bare git directories")
    parser.add_argument("--only", nargs="+", choices=SUBJECTS, default=list(SUBJECTS))
    parser.add_argument("--commits", type=int, default=100, help="of each repository")
    parser.add_argument("--minutes", type=float, default=10, help="for each repository")
    parser.add_argument("--library", type=Path, action="append", default=[], help="folder of packages that the tests need (repeatable)")
    given = parser.parse_args()
    given.mirrors = given.mirrors.resolve()
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    results = []
    for name in given.only:
        with tempfile.TemporaryDirectory() as scratch:
            results.append(replay(name, SUBJECTS[name], given, Path(scratch).resolve()))
    rows = [row for one in results for row in one["rows"]]
    every = {"repository": "all", "commits": len(rows), **parts(rows)}
    head = [
        "repository",
        "commits",
        "broke a test",
        "selection",
        "failing found",
        "mean of commits",
        "found whole",
        "suite",
        "suite, reviewed",
    ]
    report.table(
        head,
        [
            [one["repository"], one["commits"], one["broke"], kind]
            + [one[kind][key] for key in ("failing_found", "found_mean", "found_whole", "suite_ran", "suite_ran_all_reviewed")]
            for one in [*results, every]
            for kind in KINDS
        ],
    )
    report.publish("replay", {"repositories": results, "all": every}, given.out)


if __name__ == "__main__":
    main()
