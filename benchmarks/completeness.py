"""Affected tests against recorded test runs: answers marked `exact`, and stated chances.

    python -m benchmarks completeness --data DIR --work DIR [--index DIR] [--fit [KIND] [--runs DIR]] [--docs docs/impact.md]

--data and --work take the directories that `callgraph` describes. The default impact question is asked about every function that a test
ran. Each subject is indexed into a temporary folder, unless --index has DIR/NAME, for example with a recorded run.

--fit learns the two models of `graphmem/analysis/chances.json` and writes that file: the chance that a test of an answer runs the
target (KIND `test`), and the chance that a test outside the answer does (`miss`). Without KIND, both are learnt. For `miss`, no answers
are computed, only the walks behind them. Reliability tables use models that did not see the evaluated project: each project is left out in
turn, and the rows are pooled. `stated` is the model before the fit. The fit uses text alone, so give it indexes without recorded runs.
--docs writes the tables between the markers of that page.

--runs has indexes with a recorded run, named like their subjects. They give the chance of a miss after a run:
(misses + 1) / (exact answers + 2), after Laplace.

Source: Platt 1999 (logistic calibration). A reliability diagram has the share that came true in each tenth of the stated chance.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple

import numpy as np
import report
from scipy.optimize import minimize

from graphmem import GraphMem
from graphmem.analysis import chances
from graphmem.analysis.impact import expand, reach
from graphmem.analysis.impact_question import Question

STORED: Final = Path(chances.__file__).with_name(chances.STORED)
PENALTY: Final = 3.0  # on squared standardised weights
PER_PROJECT: Final = {"test": 5_000.0, "miss": 300.0}  # most total weight of the rows of a project
FEATURES: Final = {"test": chances.TEST_FEATURES, "miss": chances.MISS_FEATURES}
TITLES: Final = {"miss": "a test outside the answer runs the target", "test": "a test of the answer runs the target"}
Array = np.ndarray[Any, Any]


class Rows(NamedTuple):
    """Features of one project and whether each row came true."""

    features: Array  # (rows, features)
    true: Array  # (rows,)


class Subject(NamedTuple):
    """Answers and features of one project."""

    name: str
    answers: list[dict[str, Any]]
    tests: Rows  # tests in answers
    misses: Rows  # answers

    def rows(self, kind: str) -> Rows:
        """Return the rows of one kind of chance: `test` or `miss`."""
        return self.tests if kind == "test" else self.misses


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--work", type=Path, required=True)
    options.add_argument("--index", type=Path, help="folder with an index of each subject, by name")
    options.add_argument("--only", default="", help="names of subjects, with commas between")
    options.add_argument("--fit", nargs="?", const="both", choices=("both", *FEATURES), help="learn the chances and write them")
    options.add_argument("--runs", type=Path, help="folder with indexes that have a recorded run, by name of the subject")
    options.add_argument("--docs", type=Path, help="page whose tables are rewritten")
    arguments = options.parse_args()
    score = _load(arguments.data / "score.py")
    names = [
        one
        for one in json.loads((arguments.data / "repos.json").read_text(encoding="utf-8"))
        if one in (arguments.only.split(",") if arguments.only else [one])
    ]
    subjects = [_measured(score, arguments, name, arguments.index) for name in names]
    result: dict[str, Any] = {"projects": [] if arguments.fit == "miss" else _compared(subjects), "stated": {}, "left_out": {}}
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    if arguments.runs:
        ran = [_measured(score, arguments, name, arguments.runs) for name in names if (arguments.runs / name).is_dir()]
        result["after_a_run"] = _compared(ran)
        exact = [answer for one in ran for answer in one.answers if answer["exact"]]
        stored["after_a_run"] = round((sum(one["missed"] > 0 for one in exact) + 1) / (len(exact) + 2), 4)
    for kind in FEATURES:
        data = [one.rows(kind) for one in subjects]
        if all(len(one.true) for one in data) and stored[kind]["weights"].keys() == set(FEATURES[kind]):
            model = chances.model(kind)
            before = (model.intercept, *model.weights)
            result["stated"][kind] = _tables(names, data, [_chances(before, one.features) for one in data])
    for kind in FEATURES if arguments.fit == "both" else (arguments.fit,) if arguments.fit else ():
        data = [one.rows(kind) for one in subjects]
        stated = [_chances(fit(data[:i] + data[i + 1 :], PER_PROJECT[kind]), one.features) for i, one in enumerate(data)]
        result["left_out"][kind] = _tables(names, data, stated)
        found = fit(data, PER_PROJECT[kind])
        stored[kind] = {"on": names, "intercept": found[0], "weights": dict(zip(FEATURES[kind], found[1:], strict=True))}
    if arguments.fit:
        STORED.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    for group in ("stated", "left_out"):
        for kind, table in result[group].items():
            print(f"\n{kind}, {group.replace('_', ' ')}; mean error {table['mean_error']}")
            report.table(("stated", "true", "n"), [(one["stated"], one["true"], one["n"]) for one in table["tenths"]])
            rows = [(one["project"], one["stated"], one["true"], one["n"], one["mean_error"]) for one in table["projects"]]
            report.table(("project", "stated", "true", "n", "mean error"), rows)
    if arguments.docs and arguments.fit:
        renew(arguments.docs, result["left_out"])
    report.publish("completeness", result, arguments.out)
    return 0


def _measured(score: ModuleType, arguments: Any, name: str, indexes: Path | None) -> Subject:
    """Return the answers of one project, from a new or an existing index."""
    with tempfile.TemporaryDirectory() as scratch, GraphMem.open(indexes / name if indexes else Path(scratch)) as memory:
        root = (arguments.work / "subjects" / name).resolve()
        if not indexes:
            memory.index(root)
        truth = score.Truth(str(arguments.data / "truth" / name), str(root))
        return _subject(name, memory, truth, score.owning_test(truth), is_asked=arguments.fit != "miss")


def _compared(subjects: Sequence[Subject]) -> list[dict[str, Any]]:
    """Print and return the figures of each project and of all together."""
    rows = [{"project": one.name, **_figures(one.answers)} for one in subjects]
    rows.append({"project": "pooled", **_figures([answer for one in subjects for answer in one.answers])})
    report.table(list(rows[0]), [["-" if value is None else value for value in row.values()] for row in rows])
    return rows


def _subject(name: str, memory: GraphMem, truth: Any, own: Any, *, is_asked: bool) -> Subject:
    """Return every answer of one project, and the features behind it.

    If `is_asked` is False, there are only the features of misses.
    """
    view = memory.parts.graph.view()
    question = Question()
    ids, test_of = defaultdict(list), {}
    for node, info in enumerate(view.infos(range(view.n))):
        if info.kind not in ("file", "external"):
            ids[info.path, info.qualname].append(node)
            test_of[node] = own((info.path, info.qualname))
    answers, tests, tests_true, misses, misses_true = [], [], [], [], []
    for target in sorted(one for one in truth.covering if one[0] in truth.pkg_files and one in ids):
        nodes, ran = ids[target], truth.covering[target]
        seeds = expand(view, nodes)
        values, reached = reach(view, seeds, question)
        misses.append(chances.miss_features(view, values, question.min_confidence, seeds, reached))
        by_text = {test_of.get(node) for node in reached.nodes.tolist()}
        misses_true.append(bool(ran - by_text))
        if not is_asked:
            continue
        features = chances.test_features(view, reached, seeds)
        for row, node in enumerate(reached.nodes.tolist()):
            if test_of.get(node) and view.is_test[node]:
                tests.append(features[row])
                tests_true.append(test_of[node] in ran)
        answers.append(_judged(memory.impact([view.ids[node] for node in nodes], limit=100_000), ran, own))
    return Subject(
        name,
        answers,
        Rows(np.array(tests, np.float64), np.array(tests_true, np.float64)),
        Rows(np.array(misses, np.float64), np.array(misses_true, np.float64)),
    )


def _judged(answer: Any, ran: set[Any], own: Any) -> dict[str, Any]:
    """Return how the tests of one answer compare with those that ran."""
    named: dict[Any, float] = {}
    for hit in (*answer.hits, *answer.tests):
        test = own((hit.symbol.path, hit.symbol.qualname))
        if test:
            named[test] = max(named.get(test, 0.0), hit.confidence)
    return {
        "exact": answer.epistemic == "exact",
        "stated": answer.miss_chance or 0.0,
        "missed": len(ran - named.keys()),
        "ran": len(ran),
        "right": len(ran & named.keys()),
        "named": len(named),
        "tests": [(chance, test in ran) for test, chance in named.items()],
    }


def _figures(answers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return claims, misses by claim, and how well the tests are found."""
    exact, others = [one for one in answers if one["exact"]], [one for one in answers if not one["exact"]]
    return {
        "functions": len(answers),
        "exact": round(len(exact) / len(answers), 3),
        "miss given exact": _share(exact),
        "miss given not": _share(others),
        "stated": round(float(np.mean([one["stated"] for one in answers])), 3),
        "F1": round(float(np.mean([2 * one["right"] / (one["ran"] + one["named"]) for one in answers])), 3),
        "recall": round(float(np.mean([one["right"] / one["ran"] for one in answers])), 3),
        "precision": round(float(np.mean([one["right"] / one["named"] for one in answers if one["named"]])), 3),
    }


def _share(answers: Sequence[dict[str, Any]]) -> float | None:
    return round(sum(one["missed"] > 0 for one in answers) / len(answers), 3) if answers else None


def fit(data: Sequence[Rows], per_project: float) -> list[float]:
    """Return intercept and weights of a logistic model.

    The rows of a project have together at most the weight `per_project`, so that no large project decides alone.
    """
    features, true = np.concatenate([one.features for one in data]), np.concatenate([one.true for one in data])
    weight = np.concatenate([np.full(len(one.true), min(1.0, per_project / max(1, len(one.true)))) for one in data])
    mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-9
    columns = np.column_stack([np.ones(len(features)), (features - mean) / spread])

    def loss(slopes: Array) -> tuple[float, Array]:
        line = columns @ slopes
        shrunk = np.concatenate([[0.0], slopes[1:]])
        total = float(np.sum(weight * (np.logaddexp(0, line) - true * line))) + PENALTY * float(shrunk @ shrunk)
        return total, columns.T @ (weight * (1 / (1 + np.exp(-line)) - true)) + 2 * PENALTY * shrunk

    slopes = minimize(loss, np.zeros(columns.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 500}).x
    weights = slopes[1:] / spread
    return [round(float(one), 5) for one in (slopes[0] - weights @ mean, *weights)]


def _tables(names: Sequence[str], data: Sequence[Rows], stated: Sequence[Array]) -> dict[str, Any]:
    """Return the reliability of stated chances, pooled and by project."""
    parts = [
        {"project": name, "stated": round(float(said.mean()), 3), "true": round(float(one.true.mean()), 3), "n": len(said)}
        | reliability(said, one.true)
        for name, one, said in zip(names, data, stated, strict=True)
    ]
    return {**reliability(np.concatenate(stated), np.concatenate([one.true for one in data])), "projects": parts}


def _chances(found: Sequence[float], features: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-(features @ np.array(found[1:]) + found[0]))))


def reliability(stated: Sequence[float] | Array, true: Sequence[bool] | Array) -> dict[str, Any]:
    """Return the share that came true by tenth of the stated chance.

    `mean_error` is the mean difference of the two.
    """
    said, came = np.asarray(stated, np.float64), np.asarray(true, np.float64)
    tenth = np.minimum((said * 10).astype(int), 9)
    cells = [
        {"stated": round(float(said[part].mean()), 3), "true": round(float(came[part].mean()), 3), "n": int(part.sum())}
        for number in range(10)
        if (part := tenth == number).any()
    ]
    error = sum(abs(one["stated"] - one["true"]) * one["n"] for one in cells) / max(1, len(said))
    return {"tenths": cells, "mean_error": round(error, 3)}


def renew(page: Path, tables: dict[str, Any]) -> None:
    """Write each table between its markers of a page."""
    text = page.read_text(encoding="utf-8")
    for kind, table in tables.items():
        begin, end = f"<!-- chance of a {kind}: written by benchmarks/completeness.py -->", f"<!-- end of chance of a {kind} -->"
        head, rest = text.split(begin, 1)
        text = head + begin + "\n" + "\n".join(_as_markdown(kind, table)) + "\n" + end + rest.split(end, 1)[1]
    page.write_text(text, encoding="utf-8")


def _as_markdown(kind: str, table: dict[str, Any]) -> Iterator[str]:
    title = TITLES[kind]
    yield f"\n{title[0].upper()}{title[1:]} (mean difference {table['mean_error']:.3f}):\n"
    yield "| stated | " + " | ".join(f"{one['stated']:.2f}" for one in table["tenths"]) + " |"
    yield "|---|" + "---|" * len(table["tenths"])
    yield "| true | " + " | ".join(f"{one['true']:.2f}" for one in table["tenths"]) + " |"
    yield "| of | " + " | ".join(f"{one['n']:,}" for one in table["tenths"]) + " |"


def _load(path: Path) -> ModuleType:
    """Import the scorer of the data."""
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    raise SystemExit(main())
