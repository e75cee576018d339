"""Risk of changes against faults: AUC for commits that were fixed or reverted within 30 days.

    python -m benchmarks risk --mirrors DIR [--only NAME,NAME] [--faulty 24] [--fine 36]
    python -m benchmarks risk --docs                  # write the table of docs/benchmarks.md from the stored results

DIR has `<owner>+<name>/repo` bare git directories. The rules are the same for all repositories:

* A commit is a candidate if it is not a merge and changes 1 to 20 source files outside of tests that its parent has. The last 60 days of
  the history are excluded, so that every commit had 30 days.
* A commit is *faulty* if a later commit within 30 days reverts it, or fixes it: the message has a word such as "fix", "bug" or
  "regression", and git blame assigns a source line that the later commit deletes to the candidate. Such links are uncertain: a fix may
  delete a line that was right, and a fault may be repaired without the word.
* An even sample of the faulty commits is drawn from the newest candidates, and one of the others of the same period. Shares are weighted
  back by the sizes of both groups.
* For each commit the tree after it is indexed, without a run of tests or history, and `impact_of_diff(base=parent)` gives the risk.
* *Churn* is the number of commits in the year before that changed one of the files, summed over the files. *Size* is the number of
  changed lines in source files.

AUC is the chance that a faulty commit has a higher value than another one of its repository; 0.5 is chance level. The mean is over
repositories.
"""

from __future__ import annotations

import json
import math
import random
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import report

from graphmem.errors import GraphMemError
from graphmem.parsing.language import language_of_path, language_spec
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

REPOSITORIES: Final = (
    "pallets+click",
    "psf+requests",
    "python-attrs+attrs",
    "encode+httpx",
    "gin-gonic+gin",
    "spf13+cobra",
    "honojs+hono",
    "healthchecks+healthchecks",
)
DAY: Final = 86_400
WINDOW: Final = 30 * DAY
MOST_FILES: Final = 20
RESAMPLES: Final = 200
NEWEST: Final = 1_500  # candidates; older ones are ignored
LEVELS: Final = ("critical", "high", "medium", "low", "unknown")
DOCS: Final = Path(__file__).parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- risk: written by `python benchmarks/risk.py --docs` -->", "<!-- end of risk -->"
_FIXES: Final = re.compile(r"\b(fix(e[sd]|ing)?|bug(fix)?|regression|broken|hotfix|repair(s|ed)?)\b", re.IGNORECASE)
_DULL: Final = re.compile(r"\b(typos?|docs?|lint\w*|format\w*|changelog|mypy|ruff|flake8|type hints?|ci)\b", re.IGNORECASE)
_REVERTS: Final = re.compile(r"This reverts commit ([0-9a-f]{7,40})")
_HUNK: Final = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+")


class Commit(NamedTuple):
    """A commit that changes source files."""

    sha: str
    parent: str
    at: int
    message: str
    lines: dict[str, int]  # source file -> changed lines


def git(repo: Path, *arguments: str) -> str:
    """Return the output of a git command."""
    done = subprocess.run(["git", "-C", str(repo), "-c", "core.quotepath=off", *arguments], capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace")


def is_source(path: str) -> bool:
    """Whether a path is source code outside of tests.

    The edges of its language must be resolved.
    """
    language = language_of_path(path)
    if not language or language == "text" or not language_spec(language).rules or " => " in path:
        return False
    return not language_spec(language).tests.is_test_path(path)


def history(repo: Path) -> list[Commit]:
    """Return commits that are not merges, oldest first."""
    said = git(
        repo, "log", "--no-merges", "--reverse", "--date-order", "--no-renames", "--numstat", "--format=%x1e%H%x1f%P%x1f%ct%x1f%B%x1f"
    )
    commits = []
    for record in said.split("\x1e")[1:]:
        sha, parents, at, message, changed = record.split("\x1f")
        lines = {}
        for row in changed.strip().splitlines():
            added, deleted, path = row.split("\t")
            if added != "-" and is_source(path):
                lines[path] = int(added) + int(deleted)
        commits.append(Commit(sha, parents.split(" ")[0], int(at), message, lines))
    return commits


def blamed(repo: Path, fix: Commit) -> set[str]:
    """Return the commits whose source lines a fix deletes."""
    found: set[str] = set()
    for path in fix.lines:
        diff = git(repo, "diff", "-U0", "--no-color", f"{fix.sha}^", fix.sha, "--", path)
        ranges = [(int(hit[1]), int(hit[2] or 1)) for line in diff.splitlines() if (hit := _HUNK.match(line))]
        spans = [option for start, count in ranges if count for option in ("-L", f"{start},{start + count - 1}")]
        if not spans:
            continue
        for line in git(repo, "blame", "--porcelain", "-w", *spans, f"{fix.sha}^", "--", path).splitlines():
            if len(line) > 40 and line[40] == " " and re.fullmatch(r"[0-9a-f]{40}", line[:40]):
                found.add(line[:40])
    return found


def faulty(repo: Path, commits: Sequence[Commit], wanted: set[str]) -> set[str]:
    """Return commits of `wanted` that were reverted or fixed in the window."""
    at = {one.sha: one.at for one in commits}
    first = min(at[sha] for sha in wanted)
    found = set()
    for one in commits:
        if one.at < first:
            continue
        causes = {sha for short in _REVERTS.findall(one.message) for sha in wanted if sha.startswith(short)}
        subject = one.message.partition("\n")[0]
        if one.lines and _FIXES.search(subject) and not _DULL.search(subject):
            causes |= blamed(repo, one) & wanted
        found |= {sha for sha in causes if sha != one.sha and 0 <= one.at - at[sha] <= WINDOW}
    return found


def drawn(commits: Sequence[Commit], count: int) -> list[Commit]:
    """Return an even sample."""
    if len(commits) <= count:
        return list(commits)
    return [commits[int(i * len(commits) / count)] for i in range(count)]


def auc(values: Iterable[tuple[float, bool]]) -> float:
    """Return the chance that a faulty commit has a higher value than another."""
    rows = list(values)
    good = [value for value, is_faulty in rows if not is_faulty]
    bad = [value for value, is_faulty in rows if is_faulty]
    wins = sum((one > other) + 0.5 * (one == other) for one in bad for other in good)
    return wins / (len(bad) * len(good)) if bad and good else math.nan


def measured(name: str, mirrors: Path, most_faulty: int, most_fine: int) -> dict[str, Any]:
    """Return risk, churn and size of the drawn commits of one repository."""
    repo = mirrors / name / "repo"
    commits = history(repo)
    newest = commits[-1].at
    candidates = [one for one in commits if 1 <= len(one.lines) <= MOST_FILES and one.parent and one.at < newest - 2 * WINDOW][-NEWEST:]
    bad = faulty(repo, commits, {one.sha for one in candidates})
    groups = {True: [one for one in candidates if one.sha in bad], False: [one for one in candidates if one.sha not in bad]}
    chosen = sorted([*drawn(groups[True], most_faulty), *drawn(groups[False], most_fine)], key=lambda one: one.at)
    share = {flag: len(groups[flag]) / max(1, sum((one.sha in bad) == flag for one in chosen)) for flag in (True, False)}
    print(f"{name}: {len(groups[True])} of {len(candidates)} candidates were fixed or reverted; {len(chosen)} are drawn", flush=True)
    rows = []
    with tempfile.TemporaryDirectory(prefix="risk-") as folder:
        tree = Path(folder) / "tree"
        subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", str(repo), str(tree)], check=True)
        with GraphMem.open(Path(folder) / "index", settings=Settings(embedder="none", workers=1)) as memory:
            for one in chosen:
                git(tree, "checkout", "-q", "-f", one.sha)
                try:
                    memory.index(tree)
                    risk = memory.impact_of_diff(base=one.parent).impact.risk
                except GraphMemError as error:
                    print(f"  {one.sha[:9]}: {error}", flush=True)
                    continue
                before = [other for other in commits if one.at - 365 * DAY <= other.at < one.at and other.sha != one.sha]
                touched = Counter(path for other in before for path in other.lines if path in one.lines)
                rows.append(
                    {
                        "commit": one.sha[:12],
                        "at": datetime.fromtimestamp(one.at, UTC).date().isoformat(),
                        "faulty": one.sha in bad,
                        "weight": round(share[one.sha in bad], 2),
                        "level": risk.level,
                        "score": risk.score,
                        "churn": sum(touched.values()),
                        "size": sum(one.lines.values()),
                        "reason": risk.reasons[0] if risk.reasons else "",
                    }
                )
                print(
                    f"  {one.sha[:9]} {'faulty' if one.sha in bad else 'fine':<6} {risk.level:<8} {risk.score:5.1f} {rows[-1]['reason']}",
                    flush=True,
                )
        shutil.rmtree(tree, ignore_errors=True)
    return {"repository": name.replace("+", "/"), "candidates": len(candidates), "faulty": len(groups[True]), "commits": rows}


def _rank(value: float, values: Sequence[float]) -> float:
    return (sum(one < value for one in values) + 0.5 * sum(one == value for one in values)) / len(values)


PREDICTORS: Final[dict[str, Callable[[dict[str, Any]], float]]] = {
    "risk": lambda row: row["score"],
    "churn": lambda row: row["churn"],
    "size": lambda row: row["size"],
}


def aucs(one: dict[str, Any]) -> dict[str, float]:
    """Return the AUC of each predictor, and of the mean rank of two.

    The two are risk and churn.
    """
    rows = one["commits"]
    found = {name: auc((of(row), row["faulty"]) for row in rows) for name, of in PREDICTORS.items()}
    ranks = {name: [of(row) for row in rows] for name, of in PREDICTORS.items()}
    found["risk and churn"] = auc(
        (sum(_rank(PREDICTORS[name](row), ranks[name]) for name in ("risk", "churn")), row["faulty"]) for row in rows
    )
    return found


def interval(results: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """Return the 90 % interval of the mean AUC difference of risk and churn.

    Commits are resampled.
    """
    draw = random.Random(1)
    means = []
    for _ in range(RESAMPLES):
        differences = []
        for one in results:
            groups = [[row for row in one["commits"] if row["faulty"] == flag] for flag in (True, False)]
            rows = [row for group in groups for row in draw.choices(group, k=len(group))]
            by_risk, by_churn = (auc((row[name], row["faulty"]) for row in rows) for name in ("score", "churn"))
            differences.append(by_risk - by_churn)
        means.append(sum(differences) / len(differences))
    return report.percentile(means, 0.05), report.percentile(means, 0.95)


def tables(results: Sequence[dict[str, Any]]) -> str:
    """Return the tables as Markdown."""
    rows = [row for one in results for row in one["commits"]]
    lines = ["| level | commits drawn | of these faulty | share of all commits that is faulty |", "|---|---:|---:|---:|"]
    for level in LEVELS:
        mine = [row for row in rows if row["level"] == level]
        if mine:
            share = sum(row["weight"] for row in mine if row["faulty"]) / sum(row["weight"] for row in mine)
            lines.append(f"| {level} | {len(mine)} | {sum(row['faulty'] for row in mine)} | {share:.2f} |")
    names = [*PREDICTORS, "risk and churn"]
    lines += [
        "",
        f"| repository | candidates | faulty | {' | '.join(f'AUC of {name}' for name in names)} |",
        "|---|---:|---:|" + "---:|" * len(names),
    ]
    found = [aucs(one) for one in results]
    for one, mine in zip(results, found, strict=True):
        lines.append(
            f"| {one['repository']} | {one['candidates']:,} | {one['faulty']} | {' | '.join(f'{mine[name]:.2f}' for name in names)} |"
        )
    means = {name: sum(mine[name] for mine in found) / len(found) for name in names}
    lines.append(f"| mean | | | {' | '.join(f'{means[name]:.2f}' for name in names)} |")
    low, high = interval(results)
    difference = means["risk"] - means["churn"]
    lines += ["", f"Risk minus churn, mean AUC: {difference:+.3f}, 90 % interval {low:+.3f} to {high:+.3f} over resampled commits."]
    return "\n".join(lines)


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("--mirrors", type=Path)
    options.add_argument("--only", default=",".join(REPOSITORIES))
    options.add_argument("--faulty", type=int, default=24)
    options.add_argument("--fine", type=int, default=36)
    options.add_argument("--join", type=Path, nargs="*", default=[], help="results of earlier runs to join")
    options.add_argument("--docs", action="store_true", help="write the tables of docs/benchmarks.md from the stored results")
    arguments = options.parse_args()
    stored = arguments.out or report.RESULTS / "risk.json"
    if arguments.docs:
        results = json.loads(stored.read_text(encoding="utf-8"))["repositories"]
        page = DOCS.read_text(encoding="utf-8")
        start, end = page.index(BEGIN) + len(BEGIN), page.index(END)
        DOCS.write_text(f"{page[:start]}\n\n{tables(results)}\n\n{page[end:]}", encoding="utf-8")
        return 0
    results = [one for path in arguments.join for one in json.loads(path.read_text(encoding="utf-8"))["repositories"]]
    if arguments.mirrors:
        results += [measured(name, arguments.mirrors, arguments.faulty, arguments.fine) for name in arguments.only.split(",")]
    print(f"\n{tables(results)}")
    report.publish("risk", {"repositories": results}, arguments.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
