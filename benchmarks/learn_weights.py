"""Fusion weights learnt from commit histories, tested on repositories that were left out.

    python -m benchmarks learn_weights WORK --changes DATA --mirrors DIR [--only NAME,NAME] [--without LIST,LIST] ...

The questions are those of `search_quality`; `changes` mines them. Each question is asked once with the current search. Each of its first
100 hits is stored with its scaled score in every list. A linear model over these scores is learnt on all repositories but one and ranks the
hits of that one, in turn. So no repository takes part in its own figures, which are differences from the order of search itself. At the end
the model is learnt on all repositories. Its weights are shown beside those in use, scaled so that `words` and `sentence` sum to 0.5.

The loss is the negative log likelihood (softmax) of the changed functions among hits and of the changed files among files; a file's
score is dominated by its best hits. There is a ridge penalty on standardised values. Source: Cao et al. 2007 (ListNet).
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import report
from scipy.optimize import minimize
from search_quality import CODE, Case, Remembered, changes, existing, indexed, interval, score

from graphmem.embedding.choose import choose
from graphmem.search.pipeline import Request, Tuning, search
from graphmem.search.units.facts import is_class, is_inner

LISTS: Final = (
    "words",
    "sentence",
    "names",
    "literal",
    "places",
    "dense",
    "exact",
    "alike",
    "joined",
    "votes",
    "inner",
    "class",
    "outside",
)
MOST: Final = 100  # hits of a question
SHARP: Final = 3.0  # weight of a file's best hit against its others
PENALTY: Final = 3e-3
SHOWN: Final = ("file R@5", "function R@10", "function MRR")
COLUMNS: Final = (0, 3, 4)


class Asked(NamedTuple):
    """A question with the list scores of its hits."""

    case: Case
    hits: list[tuple[str, str]]  # (path, name of the function or "")
    values: np.ndarray[Any, Any]  # (hits, LISTS)


def ask(case: Case, shot: Any, embedder: Any, state: Any, tuning: Tuning) -> Asked:
    """Return the hits of a question and their scores in every list.

    Factors of search are left out of the scores; they are columns instead.
    """
    plain = tuning._replace(inner=1.0, around=1.0, tests=1.0)
    hits = search(shot, embedder, Request(case.query, k=MOST, kinds=CODE, explain=True, deadline_s=60), state, plain).hits
    view = shot.graph
    rows = []
    for hit in hits:
        said = {part.path: part.normalised for part in hit.parts}
        node = view.index_of.get(hit.node)
        flags = {
            "votes": hit.boost / tuning.weights["semantic"].votes,
            "inner": -float(node is not None and is_inner(view, node)),
            "class": -float(node is not None and is_class(view, node)),
            "outside": -float(node is None),
        }
        rows.append([(said | flags).get(name, 0.0) for name in LISTS])
    named = [(hit.path, hit.id if hit.qualname and hit.symbol_kind != "module" else "") for hit in hits]
    return Asked(case, named, np.array(rows, np.float64).reshape(-1, len(LISTS)))


def options_of(doc: str | None) -> argparse.ArgumentParser:
    """Return the options for questions, indexes and models."""
    options = report.parser(doc)
    options.add_argument("work", type=Path)
    options.add_argument("--changes", type=Path, required=True)
    options.add_argument("--mirrors", type=Path, required=True)
    options.add_argument("--models", type=Path, help="where prepared models are kept; without it, the reference embedder is used")
    options.add_argument("--only", default="", help="names of repositories, with commas between; all in DATA by default")
    return options


def cases_of(arguments: argparse.Namespace) -> list[Case]:
    """Return the questions of the chosen repositories."""
    cases = changes(arguments.changes, arguments.mirrors, arguments.work)
    return [case for case in cases if not arguments.only or case.group in arguments.only.split(",")]


def ask_all(arguments: argparse.Namespace, cases: Sequence[Case], tuning: Tuning) -> list[Asked]:
    """Return every question with a hit, tree after tree.

    Raises:
        SystemExit: a model was not found.
    """
    chosen = choose(folder=arguments.models)
    if chosen.embedder is None:
        raise SystemExit(chosen.reason)
    embedder = Remembered(chosen.embedder)
    asked: list[Asked] = []
    for place in sorted({case.place for case in cases}):
        memory, shot = indexed(arguments.work, place, embedder)
        there = existing(shot.graph)
        here = [case._replace(functions=case.functions & there) for case in cases if case.place == place]
        asked += [one for case in here if len((one := ask(case, shot, embedder, memory.state(), tuning)).hits)]
        memory.close()
    return asked


def learnt(items: Sequence[Asked], columns: Sequence[int]) -> np.ndarray[Any, Any]:
    """Return the weights of the model; all repositories weigh the same."""
    values = np.concatenate([one.values[:, columns] for one in items])
    spread = values.std(axis=0) + 1e-6
    values = (values - values.mean(axis=0)) / spread
    many = Counter(one.case.group for one in items)
    question, wanted, file, of_question, wanted_file = [], [], [], [], []
    for number, one in enumerate(items):
        functions = [name in one.case.functions for _, name in one.hits]
        paths = {path: len(of_question) + at for at, path in enumerate(dict.fromkeys(path for path, _ in one.hits))}
        files = [path in one.case.files for path in paths]
        share = len(items) / len(many) / many[one.case.group]
        question += [number] * len(one.hits)
        wanted += [share * is_one / max(1, sum(functions)) for is_one in functions]
        file += [paths[path] for path, _ in one.hits]
        of_question += [number] * len(paths)
        wanted_file += [share * is_one / max(1, sum(files)) for is_one in files]
    of_hit, hit_file, of_file = np.array(question), np.array(file), np.array(of_question)
    truth, file_truth = np.array(wanted), np.array(wanted_file)

    starts = np.flatnonzero(np.r_[True, np.diff(of_hit) > 0])

    def loss(slopes: np.ndarray[Any, Any]) -> tuple[float, np.ndarray[Any, Any]]:
        scores = values @ slopes
        # The best score of each question is set to 0, so that no exponential overflows.
        scores -= np.maximum.reduceat(scores, starts)[of_hit]
        total, gradient = _share(scores, of_hit, truth, len(items))
        weights = np.exp(SHARP * scores) + 1e-300
        sums = np.bincount(hit_file, weights, len(of_file))
        file_total, file_gradient = _share(np.log(sums) / SHARP, of_file, file_truth, len(items))
        gradient += file_gradient[hit_file] * weights / sums[hit_file]
        return (total + file_total) / len(items) + PENALTY * float(slopes @ slopes), values.T @ gradient / len(items) + 2 * PENALTY * slopes

    found = minimize(loss, np.zeros(len(columns)), jac=True, method="L-BFGS-B", options={"maxiter": 200})
    return np.asarray(found.x / spread)


def _share(
    scores: np.ndarray[Any, Any], of: np.ndarray[Any, Any], truth: np.ndarray[Any, Any], count: int
) -> tuple[float, np.ndarray[Any, Any]]:
    """Return negative log likelihood and gradient of a softmax by question.

    The best score of each question is near 0.
    """
    weights = np.exp(scores)
    sums = np.bincount(of, weights, count)
    logs = scores - np.log(sums)[of]
    return -float(truth @ logs), np.bincount(of, truth, count)[of] * weights / sums[of] - truth


def ranked(one: Asked, scores: np.ndarray[Any, Any]) -> tuple[float, ...]:
    """Return the metrics of a question's hits in another order."""
    return score(one.case, [one.hits[at] for at in np.lexsort((np.arange(len(scores)), -scores))])


def main() -> int:
    options = options_of(__doc__)
    options.add_argument("--without", action="append", default=[], help="lists to leave out of the model (repeatable)")
    arguments = options.parse_args()
    tuning = Tuning()
    cases = cases_of(arguments)
    if len({case.group for case in cases}) < 2:
        options.error("at least two repositories are needed: one to learn on, one to try")
    asked = ask_all(arguments, cases, tuning)
    found = [np.array(score(case, hits)) for case, hits in ((one.case, [one.hits[at] for at in as_search(one, tuning)]) for one in asked)]
    groups = sorted({one.case.group for one in asked})
    rows, slopes = [], {}
    for left_out in ["", *arguments.without]:
        columns = [at for at, name in enumerate(LISTS) if name not in left_out.split(",")]
        differences: dict[str, list[np.ndarray[Any, Any]]] = {"raw": [], "stripped": []}
        for group in groups:
            line = learnt([one for one in asked if one.case.group != group], columns)
            for one, before in zip(asked, found, strict=True):
                if one.case.group == group:
                    differences[one.case.kind].append(np.array(ranked(one, one.values[:, columns] @ line)) - before)
        told = [_with_interval(np.array(differences[kind])[:, column]) for kind in ("raw", "stripped") for column in COLUMNS]
        rows.append([f"without {left_out}" if left_out else "all lists", *told])
        slopes[left_out] = dict(zip([LISTS[at] for at in columns], learnt(asked, columns), strict=True))
    print(f"{len(asked)} questions, {', '.join(groups)}; differences to search as it is, by lines learnt on the others\n")
    report.table(["line", *(f"{kind}, {name}" for kind in ("raw", "stripped") for name in SHOWN)], rows)
    shown = slopes[""]
    scale = 0.5 / (shown["words"] + shown["sentence"])
    used = tuning.weights["semantic"]._asdict()
    print()
    report.table(["list", "learnt", "in use"], [[name, f"{value * scale:.3f}", f"{used.get(name, '')}"] for name, value in shown.items()])
    published = {"groups": groups, "questions": len(asked), "rows": rows, "slopes": {name: value * scale for name, value in shown.items()}}
    report.publish("learn_weights", published, arguments.out)
    return 0


def as_search(one: Asked, tuning: Tuning) -> list[int]:
    """Return the order of search: its weights and factors on these values."""
    weights = tuning.weights["semantic"]._asdict()
    total = sum(one.values[:, at] * weights.get(name, 0.0) for at, name in enumerate(LISTS))
    for name, factor in (("inner", tuning.inner), ("class", tuning.around), ("outside", tuning.around)):
        total = total * np.where(one.values[:, LISTS.index(name)] < 0, factor, 1.0)
    return [int(at) for at in np.lexsort((np.arange(len(one.hits)), -total))]


def _with_interval(differences: np.ndarray[Any, Any]) -> str:
    mean, low, high = interval(differences)
    return f"{mean:+.1f} ({low:+.1f} … {high:+.1f})"


if __name__ == "__main__":
    raise SystemExit(main())
