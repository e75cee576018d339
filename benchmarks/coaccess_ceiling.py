"""Upper bounds of any co-access ranking: boosted trees over all facts that a history has.

    python -m benchmarks coaccess_ceiling NAME=HISTORY NAME=HISTORY ... [--given 2] [--queries 250]

HISTORY and protocol are those of `coaccess`. The benchmark needs scikit-learn. The table has four columns for each history:

* used: the ranking in use;
* learnt on the others: trees that learnt on the other histories, which a better formula could reach;
* learnt on the answers: trees that learnt on the evaluated queries, an upper bound of what these facts can tell apart;
* ever moved together: the share of queries with a right file that once changed together with a given file.
"""

from __future__ import annotations

import math
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import coaccess as protocol
import numpy as np
import report
from sklearn.ensemble import HistGradientBoostingClassifier

from graphmem.history import coaccess
from graphmem.history.change_log import GIT, Change, HistoryLog
from graphmem.history.co_edits import History, words

CANDIDATES = 60
NEVER = 12.0


class Query(NamedTuple):
    """One choice of given files of one commit."""

    commit: str
    facts: Any  # candidates × facts, in the order that is used
    right: Any  # whether each candidate belongs to the change
    ever: bool  # a right file once changed together with a given one


def facts_of(history: History, files: tuple[str, ...], ranked: list[coaccess.Ranked]) -> list[list[float]]:
    """Return the facts of each candidate, one row each.

    They are the parts of its score, its changes with each given file, its own changes, names and folders.
    """
    total, given = len(history), [number for path in files if (number := history.known(path)) is not None]
    seen: list[tuple[int, dict[int, list[float]]]] = []
    for one in given:
        own: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0, 0.0, 0.0])
        changes = history.nodes[one].changes
        for place, change in enumerate(changes):
            group = history.groups[change]
            age = (history.now - history.at[change]) / protocol.DAY
            for node in group:
                fact = own[node]
                fact[0] += 1
                fact[1] += 1 / max(1, len(group) - 1) ** 1.3 / math.sqrt(1 + age / 30)
                fact[2] += 0.5 ** (age / 1095) / max(1, len(group) - 1)
                fact[3] = max(fact[3], change + 1)
                fact[4] += 1 / (1 + (len(changes) - 1 - place) / 5) / max(1, len(group) - 1)
        seen.append((len(changes), own))
    tests = sum("test" in path for path in files)
    rows = []
    for one in ranked:
        node = history.nodes[one.node]
        row = [*one.parts.values(), float("test" in node.path), float(tests), float(len(files)), math.log1p(len(node.changes))]
        columns = []
        for changes_, own in seen:
            count, near, decayed, last, recent = own.get(one.node, (0.0, 0.0, 0.0, 0.0, 0.0))
            share = count / max(1, changes_)
            columns.append((count, share, near, decayed, math.log1p(total - last) if last else NEVER, recent))
        for values in zip(*columns, strict=True):
            row += [min(values), max(values), sum(values)]
        ages = [math.log1p(total - node.all[-1]), math.log1p(total - node.all[0])] if node.all else [NEVER, NEVER]
        likeness = [len(words(path) & words(node.path)) / max(1, len(words(path) | words(node.path))) for path in files]
        same = sum(path.rpartition("/")[0] == node.path.rpartition("/")[0] for path in files)
        rows.append([*row, *ages, min(likeness), max(likeness), float(same)])
    return rows


def queries(source: Path, given: int, most: int) -> list[Query]:
    """Return the queries of one history, each with the facts known before it."""
    commits = list(protocol.commits_of(source))
    places = protocol.queried_places(commits, given, most)
    out = []
    with tempfile.TemporaryDirectory() as folder:
        log, history, waiting, living = HistoryLog(Path(folder) / "history.sqlite"), History(), [], set[str]()
        for place, one in enumerate(commits):
            if place in places:
                log.append(waiting)
                waiting = []
                history.follow(log)
                changed = [path for path in one.changed if path in living]
                for files in protocol.choices(one.sha, changed, given) if len(changed) > given else []:
                    wanted = set(changed) - set(files)
                    found = coaccess.rank(history, files)
                    ranked = [each for each in found if (path := history.nodes[each.node].path) in living and path not in files]
                    paths = [history.nodes[each.node].path for each in ranked[:CANDIDATES]]
                    known = [number for path in files if (number := history.known(path)) is not None]
                    near = {history.nodes[node].path for seed in known for at in history.nodes[seed].changes for node in history.groups[at]}
                    if paths and known:
                        facts = np.array(facts_of(history, files, ranked[:CANDIDATES]), np.float32)
                        out.append(Query(one.sha, facts, np.array([path in wanted for path in paths]), bool(wanted & near)))
            living.difference_update(one.deleted, (old for old, _ in one.renamed))
            living.update(one.touched)
            renamed = tuple((old, new) for old, new in one.renamed if protocol.is_python(new))
            if renamed or one.deleted or 1 <= len(one.touched) <= protocol.MOST:
                files = one.touched if 1 <= len(one.touched) <= protocol.MOST else ()
                waiting.append(Change(GIT, one.at, files, one.sha, deleted=one.deleted, renamed=renamed))
        log.close()
    return out


def learnt(questions: list[Query]) -> HistGradientBoostingClassifier:
    model = HistGradientBoostingClassifier(
        max_iter=100, learning_rate=0.08, max_leaf_nodes=15, min_samples_leaf=60, l2_regularization=1.0, random_state=0
    )
    return model.fit(np.concatenate([one.facts for one in questions]), np.concatenate([one.right for one in questions]))


def figures(questions: list[Query], model: HistGradientBoostingClassifier | None) -> list[float]:
    """Return hit@1, hit@5 and MRR in percent.

    The figure of a commit is the mean of its choices.
    """
    by_commit: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for one in questions:
        order = np.arange(len(one.right)) if model is None else np.argsort(-model.predict_proba(one.facts)[:, 1], kind="stable")
        hits = np.flatnonzero(one.right[order])
        first = int(hits[0]) + 1 if len(hits) else 0
        by_commit[one.commit].append((float(first == 1), float(0 < first <= 5), 1 / first if first else 0.0))
    return [100 * float(value) for value in np.mean([np.mean(rows, axis=0) for rows in by_commit.values()], axis=0)]


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("histories", nargs="+", metavar="NAME=HISTORY")
    parser.add_argument("--given", type=int, default=2, choices=(1, 2))
    parser.add_argument("--queries", type=int, default=250)
    given = parser.parse_args()
    known = {name: queries(Path(path), given.given, given.queries) for name, _, path in (one.partition("=") for one in given.histories)}
    rows, result = [], {}
    for name, own in known.items():
        others = [one for other, asked in known.items() if other != name for one in asked]
        told = {
            "used": figures(own, None),
            "learnt on the others": figures(own, learnt(others)),
            "learnt on the answers": figures(own, learnt(own)),
            "ever moved together": 100 * sum(one.ever for one in own) / len(own),
        }
        result[name] = told
        rows.append((name, len({one.commit for one in own}), *(_three(told[way]) for way in list(told)[:3]), told["ever moved together"]))
    report.table(("history", "commits", "used", "learnt on the others", "learnt on the answers", "ever changed together, %"), rows)
    report.publish("coaccess_ceiling", {"given": given.given, "queries": given.queries, "histories": result}, given.out)


def _three(values: Any) -> str:
    return " / ".join(f"{value:.1f}" for value in values)


if __name__ == "__main__":
    main()
