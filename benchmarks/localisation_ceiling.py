"""Upper bound of ranking the files of a change by what search knows about its hits.

    python -m benchmarks localisation_ceiling WORK --changes DATA --mirrors DIR [--tested NAME,NAME] [--only NAME,NAME]

The questions are those of `search_quality`. Search ranks definitions, and a file has the rank of its first definition. Here each file among
the first 100 hits of a question gets features: scores of its hits in every list (the best, the sum of the best three), their sums, ranks
and number. The table has the share of changed files among the first five:

* order of search: the ranking in use;
* trees of other repositories: boosted trees that learnt on all repositories that are not tested;
* trees that know the repository: trees that also learnt on four fifths of the questions of the tested repository, in five folds;
* among the hits: the share of changed files among all hits, an upper bound of any order.

The benchmark needs scikit-learn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import report
from learn_weights import LISTS, Asked, as_search, ask_all, cases_of, options_of
from sklearn.ensemble import HistGradientBoostingClassifier

from graphmem.search.pipeline import Tuning

Described = tuple[Asked, list[str], np.ndarray[Any, Any]]  # a question, the files of its hits, their features

FIRST = 5  # files that count
FOLDS = 5
SLOPES = np.array([Tuning().weights["semantic"]._asdict().get(name, 0.0) for name in LISTS])  # for the sums over hits


def files_of(one: Asked) -> tuple[list[str], np.ndarray[Any, Any]]:
    """Return the files of the hits in order, and (files, features)."""
    paths = list(dict.fromkeys(path for path, _ in one.hits))
    of_hit = np.array([paths.index(path) for path, _ in one.hits])
    total = one.values @ SLOPES
    rows = []
    for at in range(len(paths)):
        mine = np.flatnonzero(of_hit == at)
        values, sums = one.values[mine], np.sort(total[mine])[::-1]
        best_three = np.sort(values, axis=0)[::-1][:3].sum(axis=0)
        below = [float((mine < rank).sum()) for rank in (5, 10, 20, 50, 100)]
        rows.append([*values.max(axis=0), *best_three, sums[0], sums[:3].sum(), sums[:10].sum(), sums.sum(), at, mine[0], *below])
    table = np.array(rows, np.float64)
    relative = (table - table.mean(axis=0)) / (table.std(axis=0) + 1e-6)
    return paths, np.hstack([table, relative])


def found(one: Asked, paths: list[str], scores: np.ndarray[Any, Any]) -> float:
    """Return the share of changed files among the first `FIRST`."""
    order = np.argsort(-scores, kind="stable")[:FIRST]
    return len(one.case.files.intersection(paths[at] for at in order)) / len(one.case.files)


def trees(questions: list[Described]) -> HistGradientBoostingClassifier:
    """Return trees learnt on these questions; all repositories weigh the same."""
    truth = np.concatenate([[path in one.case.files for path in paths] for one, paths, _ in questions])
    groups = [one.case.group for one, _, _ in questions]
    worth = np.concatenate([np.full(len(paths), 1 / groups.count(one.case.group)) for one, paths, _ in questions])
    model = HistGradientBoostingClassifier(max_iter=200, learning_rate=0.05, max_leaf_nodes=8, min_samples_leaf=80, random_state=0)
    return model.fit(np.concatenate([features for _, _, features in questions]), truth, sample_weight=worth / worth.mean())


def in_folds(here: list[Described], others: list[Described]) -> float:
    """Return the share found by trees that know the repository, in five folds."""
    shares = []
    for fold in range(FOLDS):
        model = trees([*others, *(row for at, row in enumerate(here) if at % FOLDS != fold)])
        shares += [found(one, paths, model.predict_proba(features)[:, 1]) for one, paths, features in here[fold::FOLDS]]
    return float(np.mean(shares))


def main() -> int:
    options = options_of(__doc__)
    options.add_argument("--tested", default="flask,click", help="those that are tested; the others are learnt from")
    arguments = options.parse_args()
    cases = [case for case in cases_of(arguments) if case.kind == "raw"]
    tested = sorted(set(arguments.tested.split(",")) & {case.group for case in cases})
    if not tested or len({case.group for case in cases}) == len(tested):
        options.error("repositories to test and others to learn from are needed")
    tuning = Tuning()
    described: list[Described] = []
    for one in ask_all(arguments, cases, tuning):
        order = as_search(one, tuning)
        ordered = one._replace(hits=[one.hits[at] for at in order], values=one.values[order])
        described.append((ordered, *files_of(ordered)))
    asked_of = {name: [row for row in described if row[0].case.group == name] for name in tested}
    learnt = trees([row for row in described if row[0].case.group not in tested])
    folds = {name: in_folds(here, [row for row in described if row[0].case.group != name]) for name, here in asked_of.items()}
    rows = []
    for name, here in asked_of.items():
        rows.append(
            {
                "repository": name,
                "questions": len(here),
                "order of search": 100 * float(np.mean([found(one, paths, -np.arange(len(paths))) for one, paths, _ in here])),
                "trees of other repositories": 100 * float(np.mean([found(o, p, learnt.predict_proba(f)[:, 1]) for o, p, f in here])),
                "trees that know the repository": 100 * folds[name],
                "among the hits": 100 * float(np.mean([len(o.case.files.intersection(p)) / len(o.case.files) for o, p, _ in here])),
            }
        )
    means = {key: float(np.mean([row[key] for row in rows])) for key in rows[0] if key not in ("repository", "questions")}
    rows.append({"repository": "mean", "questions": sum(row["questions"] for row in rows)} | means)
    print(f"share of changed files among the first {FIRST}, %\n")
    report.table(["repository", "questions", *means], [list(row.values()) for row in rows])
    learnt_from = sorted({row[0].case.group for row in described} - set(tested))
    report.publish("localisation_ceiling", {"first": FIRST, "lists": LISTS, "learnt from": learnt_from, "rows": rows}, arguments.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
