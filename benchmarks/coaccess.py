"""Ranking of the other files of a change from one or two given files, on git histories.

    python -m benchmarks coaccess NAME=HISTORY ... [--held NAME=HISTORY ...] [--queries 400] [--held-queries 400]

HISTORY is a git directory or a gzipped file of lines {sha, at, files: [[status, path, old path]]}. Each commit is predicted from the
commits before it and then recorded, so nothing from the future is known.

Queries are the last --queries commits that change two to ten known Python files. A commit has at most four choices of given files, and its
figure is their mean. A row has the mean over repositories. `WAYS` has the rankings that are compared.
Rankings were chosen on the first group of histories; the histories of --held are only reported. Intervals are 95 % of 2,000 paired
bootstrap samples of commits within each repository, as a difference from plain counts.
"""

from __future__ import annotations

import gzip
import hashlib
import itertools
import json
import math
import random
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import report

from graphmem.history import coaccess, git_log
from graphmem.history.change_log import GIT, Change, HistoryLog
from graphmem.history.co_edits import History, words
from graphmem.history.coaccess import WEIGHTS, Weights

DAY = 86_400.0
MOST = 20  # files; a larger change is not recorded
COLUMNS = ("hit@1", "hit@5", "MRR")
Scores = dict[int, float]
Scorer = Callable[[History, Sequence[int], Sequence[str]], Scores]


class Commit(NamedTuple):
    """Python files of one commit."""

    sha: str
    at: float
    changed: tuple[str, ...]
    touched: tuple[str, ...]  # also added files and new names
    deleted: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...]
    files: int


def is_python(path: str) -> bool:
    return path.endswith(".py")


def commits_of(source: Path) -> Iterator[Commit]:
    """Yield all commits except merges, oldest first."""
    if source.is_dir():
        here = git_log.Repository("HEAD", "", frozenset(), partial=False)
        for one in git_log.commits(source, here, ["HEAD"], 10**6, lambda: False):
            touched = tuple(sorted(filter(is_python, one.touched)))
            moved = {new for _, new in one.renamed}
            known = tuple(path for path in touched if path not in moved)
            yield Commit(one.sha, one.at, known, touched, tuple(filter(is_python, one.deleted)), one.renamed, one.files)
        return
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            by_status: dict[str, list[str]] = defaultdict(list)
            for status, path, *_ in row["files"]:
                by_status[status].append(path)
            touched = sorted(path for status, path, *_ in row["files"] if status != "D" and is_python(path))
            yield Commit(
                row["sha"],
                datetime.fromisoformat(row["at"]).timestamp(),
                tuple(sorted(filter(is_python, by_status["M"]))),
                tuple(dict.fromkeys(touched)),
                tuple(filter(is_python, by_status["D"])),
                tuple((old[0], path) for status, path, *old in row["files"] if status == "R" and old),
                len(row["files"]),
            )


# ---- rankings: each scores the other files


def _pairs(history: History, given: Sequence[int], weigh: Callable[[float, int], float]) -> Scores:
    """Sum a weight of (age in days, files) over shared changes."""
    out: Scores = defaultdict(float)
    for one in given:
        for change in history.nodes[one].changes:
            group = history.groups[change]
            weight = weigh((history.now - history.at[change]) / DAY, len(group))
            for node in group:
                out[node] += weight
    return out


def counts(history: History, given: Sequence[int], files: Sequence[str]) -> Scores:
    return _pairs(history, given, lambda age, size: 1.0)


def decayed(days: float, spread: bool = False) -> Scorer:
    return lambda history, given, files: _pairs(history, given, lambda age, size: 0.5 ** (age / days) / (max(1, size - 1) if spread else 1))


def normalised(by: Callable[[float, int, int, int], float]) -> Scorer:
    """Counts divided by a function of how often both files change.

    The function gets (together, changes of the given file, changes of the other file, all changes).
    """

    def score(history: History, given: Sequence[int], files: Sequence[str]) -> Scores:
        out: Scores = defaultdict(float)
        for one in given:
            mine = len(history.nodes[one].changes)
            for node, both in counts(history, [one], files).items():
                out[node] += by(both, mine, len(history.nodes[node].changes), history.counted)
        return out

    return score


def largest_overlap(history: History, given: Sequence[int], files: Sequence[str]) -> Scores:
    """TARMAQ (Rolfsnes et al. 2016): changes with the largest overlap only.

    Files are ordered by confidence, then by support.
    """
    overlap: dict[int, int] = defaultdict(int)
    for one in given:
        for change in history.nodes[one].changes:
            overlap[change] += 1
    best = max(overlap.values(), default=0)
    kept = [change for change, size in overlap.items() if size == best]
    out: Scores = defaultdict(float)
    for change in kept:
        for node in history.groups[change]:
            out[node] += 1 / len(kept) + 1e-4
    return out


def pagerank(days: float, back: float) -> Scorer:
    """Personalised PageRank over decayed, spread counts, in six steps.

    `back` is the chance to return to the given files at each step.
    """

    def score(history: History, given: Sequence[int], files: Sequence[str]) -> Scores:
        one_step = decayed(days, spread=True)
        memo: dict[int, Scores] = {}
        mass: Scores = {node: 1 / len(given) for node in given}
        total = dict(mass)
        for _ in range(6):
            spread: Scores = defaultdict(float)
            for node, value in sorted(mass.items(), key=lambda item: -item[1])[:60]:
                if node not in memo:
                    found = one_step(history, [node], files)
                    found.pop(node, None)
                    whole = sum(found.values())
                    memo[node] = {other: share / whole for other, share in found.items()} if whole else {}
                for other, share in memo[node].items():
                    spread[other] += (1 - back) * value * share
            for node in given:
                spread[node] += back / len(given)
            mass = spread
            total = mass
        return total

    return score


def collaborative(history: History, given: Sequence[int], files: Sequence[str]) -> Scores:
    """Item-based collaborative filtering: cosine of files over changes.

    A change weighs log(files / its files).
    """
    weigh = lambda size: math.log(len(history.nodes) / size) ** 2 if size else 0.0  # noqa: E731
    out: Scores = defaultdict(float)
    for one in given:
        shared = _pairs(history, [one], lambda age, size: weigh(size))
        mine = math.sqrt(shared.get(one, 0.0)) or 1.0
        for node, value in shared.items():
            theirs = math.sqrt(sum(weigh(len(history.groups[change])) for change in history.nodes[node].changes)) or 1.0
            out[node] += value / mine / theirs
    return out


def popularity(history: History, given: Sequence[int], files: Sequence[str]) -> Scores:
    return {node: float(len(history.nodes[node].changes)) for node in history.by_path.values()}


def recency(history: History, given: Sequence[int], files: Sequence[str]) -> Scores:
    return {node: 1.0 + history.nodes[node].all[-1] for node in history.by_path.values() if history.nodes[node].all}


def names(history: History, given: Sequence[int], files: Sequence[str]) -> Scores:
    out: Scores = {}
    for path, node in history.by_path.items():
        out[node] = 0.0
        for one in files:
            mine, theirs = words(one), words(path)
            here, there = one.split("/")[:-1], path.split("/")[:-1]
            same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(here, there, strict=False)))
            out[node] += 2 * len(mine & theirs) / max(1, len(mine | theirs)) + 0.5 * same / max(1, len(here), len(there))
    return out


def mixed(*parts: tuple[Scorer, float]) -> Scorer:
    """A weighted sum of rankings, each scaled to a maximum of 1."""

    def score(history: History, given: Sequence[int], files: Sequence[str]) -> Scores:
        out: Scores = defaultdict(float)
        for scorer, weight in parts:
            found = scorer(history, given, files)
            largest = max((value for node, value in found.items() if node not in given), default=0.0) or 1.0
            for node, value in found.items():
                out[node] += weight * value / largest
        return out

    return score


def ours(depth: int = 1, **weights: float) -> Scorer:
    chosen: Weights = WEIGHTS._replace(**weights)

    def score(history: History, given: Sequence[int], files: Sequence[str]) -> Scores:
        return {one.node: math.exp(one.score) for one in coaccess.rank(history, files, depth=depth, weights=chosen)}

    return score


ALONE: Final = {"own_changes": 0.0, "folder": 0.0, "apart": 0.0}
WAYS: dict[str, Scorer] = {
    "counts": counts,
    "popularity": popularity,
    "recency": recency,
    "names and folders": names,
    "decayed counts, 90 days": decayed(90),
    "decayed counts, 1 year": decayed(365),
    "decayed counts, 3 years": decayed(1095),
    "lift": normalised(lambda both, mine, theirs, total: both * total / (mine * theirs)),
    "confidence": normalised(lambda both, mine, theirs, total: both / mine),
    "Jaccard": normalised(lambda both, mine, theirs, total: both / (mine + theirs - both)),
    "cosine": normalised(lambda both, mine, theirs, total: both / math.sqrt(mine * theirs)),
    "largest overlap (TARMAQ)": largest_overlap,
    "item-based collaborative": collaborative,
    "spread counts, 3 years": decayed(1095, spread=True),
    "spread counts, 3 years, + names": mixed((decayed(1095, spread=True), 1.0), (names, 0.2)),
    "PageRank, 3 years, back 0.5": pagerank(1095, 0.5),
    "PageRank, 3 years, back 0.7": pagerank(1095, 0.7),
    "moved alone": ours(**ALONE | {"names": 0, "since": 0}),
    "moved + names": ours(**ALONE | {"since": 0}),
    "moved + recent": ours(**ALONE | {"names": 0}),
    "moved + names + recent": ours(**ALONE),
    "moved + names + recent + own_changes": ours(folder=0, apart=0),
    "graphmem": ours(),
    "graphmem, two steps": ours(depth=2),
    "graphmem, spread 1": ours(spread=1.0),
    "graphmem, overlap 1": ours(overlap=1.0),
    "graphmem, age 365 days, power 1": ours(age_days=365, age_power=1.0),
    "graphmem, recent x 1.5": ours(since=0.45),
    "graphmem, own_changes x 2": ours(own_changes=1.0),
    "graphmem, folder x 2": ours(folder=1.2),
    "graphmem, apart x 2": ours(apart=0.4),
}


# ---- protocol


def choices(sha: str, files: Sequence[str], given: int) -> list[tuple[str, ...]]:
    return sorted(itertools.combinations(sorted(files), given), key=lambda some: hashlib.sha1((sha + "|".join(some)).encode()).hexdigest())[
        :4
    ]


def queried_places(commits: Sequence[Commit], given: int, queries: int) -> set[int]:
    seen: set[str] = set()
    fit = []
    for place, one in enumerate(commits):
        if given < len([path for path in one.changed if path in seen]) <= 10 and one.files <= 30:
            fit.append(place)
        seen.update(one.touched)
    return set(fit[-queries:])


def measure(source: Path, given: int, queries: int, ways: dict[str, Scorer]) -> dict[str, list[list[float]]]:
    """Return (hit@1, hit@5, MRR, MRR cold) by way and queried commit.

    The last is NaN if a given file of every choice has four changes or more.
    """
    commits = list(commits_of(source))
    places = queried_places(commits, given, queries)
    out: dict[str, list[list[float]]] = {name: [] for name in ways}
    with tempfile.TemporaryDirectory() as folder:
        log, history, waiting, living = HistoryLog(Path(folder) / "history.sqlite"), History(), [], set[str]()
        for place, one in enumerate(commits):
            if place in places:
                log.append(waiting)
                waiting = []
                history.follow(log)
                changed = [path for path in one.changed if path in living]
                asked_for = choices(one.sha, changed, given) if len(changed) > given else []
                for name, way in ways.items():
                    found = [figures(history, way, files, set(changed) - set(files), living) for files in asked_for]
                    if found:
                        out[name].append([mean([row[i] for row in found]) for i in range(4)])
            living.difference_update(one.deleted, (old for old, _ in one.renamed))
            living.update(one.touched)
            renamed = tuple((old, new) for old, new in one.renamed if is_python(new))
            if renamed or one.deleted or 1 <= len(one.touched) <= MOST:
                files = one.touched if 1 <= len(one.touched) <= MOST else ()
                waiting.append(Change(GIT, one.at, files, one.sha, deleted=one.deleted, renamed=renamed))
        log.close()
    return out


def figures(history: History, way: Scorer, files: Sequence[str], wanted: set[str], living: set[str]) -> list[float]:
    given = [number for path in files if (number := history.known(path)) is not None]
    scores = way(history, given, files)
    path_of = lambda node: history.nodes[node].path  # noqa: E731
    order = sorted((node for node, score in scores.items() if score > 0), key=lambda node: (-scores[node], path_of(node)))
    listed = [path for path in map(path_of, order) if path in living and path not in files][:50]
    first = next((rank for rank, path in enumerate(listed, 1) if path in wanted), 0)
    reciprocal = 1 / first if first else 0.0
    cold = all(len(history.nodes[node].changes) < 4 for node in given)
    return [float(first == 1), float(0 < first <= 5), reciprocal, reciprocal if cold else math.nan]


def mean(values: Sequence[float]) -> float:
    told = [value for value in values if not math.isnan(value)]
    return sum(told) / len(told) if told else math.nan


def interval(base: dict[str, list[list[float]]], other: dict[str, list[list[float]]], column: int) -> tuple[float, float]:
    """Return the 95 % paired bootstrap interval of a macro difference.

    It is in points.
    """
    random_ = random.Random(7)
    gaps = [[b[column] - a[column] for a, b in zip(base[name], other[name], strict=True)] for name in base]
    means = sorted(mean([mean(random_.choices(gap, k=len(gap))) for gap in gaps]) for _ in range(2_000))
    return 100 * means[50], 100 * means[-51]


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("histories", nargs="+", metavar="NAME=HISTORY")
    parser.add_argument("--held", nargs="*", default=[], metavar="NAME=HISTORY")
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--held-queries", type=int, default=400)
    given = parser.parse_args()
    result: dict[str, Any] = {"weights": WEIGHTS._asdict(), "groups": {}}
    for group, named, queries in (("chosen on", given.histories, given.queries), ("held out", given.held, given.held_queries)):
        for seeds in (1, 2):
            by_name = {}
            for one in named:
                name, _, path = one.partition("=")
                by_name[name] = measure(Path(path), seeds, queries, WAYS)
            if not by_name:
                continue
            rows = []
            told: dict[str, Any] = {"commits": {name: len(found["counts"]) for name, found in by_name.items()}, "ways": {}}
            base = {name: found["counts"] for name, found in by_name.items()}
            for way in WAYS:
                mine = {name: found[way] for name, found in by_name.items()}
                macro = [100 * mean([mean([row[i] for row in rows_]) for rows_ in mine.values()]) for i in range(4)]
                gaps = [interval(base, mine, i) for i in range(3)]
                told["ways"][way] = {
                    **dict(zip((*COLUMNS, "MRR cold"), macro, strict=True)),
                    "against counts": dict(zip(COLUMNS, gaps, strict=True)),
                    "by repository": {name: [100 * mean([row[i] for row in rows_]) for i in range(3)] for name, rows_ in mine.items()},
                }
                rows.append((way, *macro, *(f"{low:+.1f} to {high:+.1f}" for low, high in gaps)))
            title = f"{group} {', '.join(by_name)}; {seeds} file{'s' if seeds > 1 else ''} given; {told['commits']} commits"
            print(f"\n{title}\n")
            report.table(("way", *COLUMNS, "MRR cold", *(f"{column} against counts" for column in COLUMNS)), rows)
            result["groups"][title] = told
    report.publish("coaccess", result, given.out)


if __name__ == "__main__":
    main()
