"""Questions about code in natural language: recall and MRR of files and functions.

    python -m benchmarks questions WORK --mirrors DIR [--sets own,cosqa] [--half learn|check|third] [--ways REGEX] [--prepare] [--whole]
    python -m benchmarks questions --agreement

WORK keeps trees, indexes and vectors, so that a second run is fast. DIR has `<owner>+<name>/repo` bare git directories. There are two sets:

* own: the questions of `benchmarks/question_set/*.json` about nineteen repositories; the README beside them has the rules. Choices are
  learnt on eight repositories and checked on eight others. The last three, the third group, are unseen trees.
* cosqa: the development split of CoSQA (500 web queries; Huang et al., ACL 2021), read from a clone of Jun-jie-Huang/CoCLR in DIR. Each of
  2,000 functions is one file: all answers, and others drawn with a fixed seed. A neural matcher picked its pairs, which favours vectors.

The rows "graphmem" and "graphmem, before any vector" ask `GraphMem.search`. The other rows use the same pipeline with other weights, or
rank the same chunks by one score alone. A file or function counts once, at its best rank. R@5 is the share of questions with a right answer
among the first five, because most questions have several sufficient answers.

--whole indexes documents and data of the trees too, and searches all kinds, as a person does. Use a separate WORK for it. --agreement only
compares the two readings of the answers in `benchmarks/question_judgements.json`.
"""

from __future__ import annotations

import hashlib
import io
import json
import random
import re
import subprocess
import tarfile
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import report
from search_quality import PlainBM25, existing, indexed, interval

from graphmem.embedding.choose import choose
from graphmem.project.graphmem import GraphMem
from graphmem.search.pipeline import Request, Tuning, Weights, search
from graphmem.search.query.query_type import QUESTION
from graphmem.settings import Settings

HERE = Path(__file__).parent / "question_set"
JUDGED = HERE.parent / "question_judgements.json"
CODE = frozenset({"code"})
DEPTH = 50
THIRD = "third"  # group of repositories on which nothing was learnt
TRIES = 5
POOL = 2_000  # functions of CoSQA, with the answers of 500 queries
COSQA = ("Jun-jie-Huang+CoCLR", "14ebcacf9e9bc3e7109102632bc63047876f27d2")
OVERLOAD = re.compile(r"#\d+$")
REFERENCE, WORDS = "graphmem", "graphmem, before any vector"
METRICS = ("files R@5", "files MRR", "functions R@5", "functions MRR")

Hits = list[tuple[str, str]]  # (path, path::qualname or "")


class Case(NamedTuple):
    """A question and its answers."""

    set: str  # cosqa, or the group of the repositories: learn | check | third
    group: str  # repository
    kind: str
    query: str
    files: frozenset[str]
    functions: frozenset[str]  # path::qualname


def own(mirrors: Path, work: Path, *, whole: bool = False, only: Collection[str] = ()) -> Iterator[Case]:
    """Yield the question set; write the trees to WORK.

    `only` names repositories; `whole` writes their whole trees.
    """
    for path in sorted(HERE.glob("*.json")):
        if only and path.stem not in only:
            continue
        data = json.loads(path.read_text(encoding="utf-8"))
        tree = work / path.stem / "tree"
        if not tree.exists():
            export(mirrors / data["repository"].replace("/", "+") / "repo", data["revision"], [] if whole else data["folders"], tree)
        for one in data["questions"]:
            files = frozenset(answer.partition("::")[0] for answer in one["answers"])
            functions = frozenset(answer for answer in one["answers"] if "::" in answer)
            lost = [file for file in files if not (tree / file).is_file()]
            if lost:
                raise SystemExit(f"{path.name}: {lost[0]} is not in the tree; correct the answer of {one['question']!r}")
            yield Case(data["half"], path.stem, one["kind"], one["question"], files, functions)


def export(repo: Path, revision: str, folders: Sequence[str], tree: Path) -> None:
    """Write the regular files of a revision, all or those of some folders."""
    command = ["git", "--git-dir", str(repo), "archive", "--format=tar", revision, *folders]
    packed = subprocess.run(command, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(tree, [member for member in archive if member.isfile()], filter="data")


def cosqa(mirrors: Path, work: Path, size: int = POOL) -> Iterator[Case]:
    """Read the development split; write the pool of functions to WORK."""
    folder, revision = COSQA

    def read(name: str) -> Any:
        at = f"{revision}:data/search/{name}"
        return json.loads(
            subprocess.run(["git", "--git-dir", str(mirrors / folder / "repo"), "show", at], capture_output=True, check=True).stdout
        )

    rows = read("cosqa-retrieval-dev-500.json")
    codes = {index: code for code, index in read("code_idx_map.txt").items()}
    pool = sorted({row["retrieval_idx"] for row in rows})
    rest = sorted(codes.keys() - set(pool))
    pool += random.Random(22).sample(rest, min(len(rest), size - len(pool)))
    tree = work / "cosqa" / "tree"
    if not tree.exists():
        tree.mkdir(parents=True)
        for index in pool:
            (tree / f"f{index:04}.py").write_text(codes[index] + "\n", encoding="utf-8")
    for row in rows:
        yield Case("cosqa", "cosqa", "web", row["doc"], frozenset({f"f{row['retrieval_idx']:04}.py"}), frozenset())


def score(case: Case, hits: Hits) -> tuple[float, ...]:
    """Return the METRICS of one answer.

    Functions have NaN if no answer is a function. Overloads count as one function.
    """

    def of(right: frozenset[str], found: Sequence[str]) -> tuple[float, float]:
        place = next((place for place, one in enumerate(found, 1) if one in right), 0)
        return float(0 < place <= 5), 1 / place if place else 0.0

    files = of(case.files, list(dict.fromkeys(path for path, _ in hits)))
    functions = of(case.functions, list(dict.fromkeys(OVERLOAD.sub("", name) for _, name in hits if name)))
    return (*files, *(functions if case.functions else (np.nan, np.nan)))


def shown(found: Sequence[Any]) -> Hits:
    """Return path and function of each hit."""
    return [(hit.path, hit.id if hit.qualname and hit.symbol_kind != "module" else "") for hit in found]


def agreement() -> dict[str, float]:
    """Compare the two readings of candidate answers about the two halves."""
    judged = json.loads(JUDGED.read_text(encoding="utf-8"))
    halves = {path.stem: json.loads(path.read_text(encoding="utf-8"))["half"] for path in HERE.glob("*.json")}
    questions = [one for name, group in judged.items() if halves[name] != THIRD for one in group.values()]
    both, first, second, neither = (sum(len(one[name]) for one in questions) for name in ("both", "first", "second", "neither"))
    total = both + first + second + neither
    same = (both + neither) / total
    chance = ((both + first) * (both + second) + (neither + first) * (neither + second)) / total**2
    return {
        "questions": len(questions),
        "candidates": total,
        "named by both": both,
        "by the first alone": first,
        "by the second alone": second,
        "same verdict": round(same, 3),
        "Cohen's kappa": round((same - chance) / (1 - chance), 3),
        "questions with the same answers": sum(not one["first"] and not one["second"] for one in questions),
    }


class Cosine:
    """Rank the same chunks by cosine alone."""

    def __init__(self, shot: Any, embedder: Any) -> None:
        entries = [entry for entry in shot.words.entries([key for key, _, _ in shot.words.chunk_keys()]).values() if entry.kind == "code"]
        self.entries = {entry.text_hash: entry for entry in entries}
        self.shot, self.embedder = shot, embedder

    def __call__(self, query: str) -> Hits:
        """Return (path, name of the function of the chunk) of the best chunks."""
        cosines = self.shot.vectors.cosines(self.embedder.encode([query])[0], list(self.entries))
        best = [self.entries[key] for key in sorted(cosines, key=lambda key: (-cosines[key], key))[:DEPTH]]
        view = self.shot.graph
        return [(one.path, f"{one.path}::{view.qualname(view.index_of[one.symbol])}" if one.symbol else "") for one in best]


class Kept:
    """An embedder that keeps its vectors in WORK between runs."""

    def __init__(self, embedder: Any, folder: Path) -> None:
        self.model_id, self.dim, self._embedder, self._folder = embedder.model_id, embedder.dim, embedder, folder
        folder.mkdir(parents=True, exist_ok=True)
        self._known: dict[str, Any] = {}

    def encode(self, texts: Sequence[str]) -> Any:
        """Return the vectors of the texts."""
        for text in texts:
            if text not in self._known:
                file = self._folder / f"{hashlib.blake2b(f'{self.model_id}|{text}'.encode(), digest_size=16).hexdigest()}.npy"
                if not file.exists():
                    np.save(file, self._embedder.encode([text])[0])
                self._known[text] = np.load(file)
        return np.stack([self._known[text] for text in texts])


def ways() -> dict[str, tuple[Tuning, bool]]:
    """Return other weights: name -> (tuning, with a model)."""
    default = Tuning()

    def changed(**weights: float) -> Tuning:
        return default._replace(weights={**default.weights, QUESTION: default.weights[QUESTION]._replace(**weights)})

    named = {f"questions, dense {weight:g}": (changed(dense=weight), True) for weight in (0.4, 0.8, 1.2, 1.6, 2.4)}
    named["pipeline, default"] = default, True
    named["words, documents not lowered"] = default._replace(written=1.0), False
    named["documents not lowered"] = default._replace(written=1.0), True
    named["words of symbols alone"] = default._replace(weights=dict.fromkeys(default.weights, Weights(1, 0, 0, 0, 0)), exact_alone=0), False
    return named


def answers_of(memory: Any, queries: Sequence[str], kinds: Collection[str]) -> list[Hits]:
    """Ask the public API, again if a path was late.

    A late path on a loaded machine says nothing about the order.
    """

    def answer(query: str) -> Any:
        for _ in range(TRIES):
            found = memory.search(query, limit=DEPTH, kinds=kinds or None)
            if "deadline" not in found.missing.values():
                break
        return found

    return [shown(answer(query).hits) for query in queries]


def results_of(
    work: Path,
    group: str,
    cases: Sequence[Case],
    embedder: Kept | None,
    chosen: dict[str, tuple[Tuning, bool]],
    kinds: frozenset[str] = CODE,
) -> dict[str, list[Any]]:
    """Answer a group's questions in every way.

    Without an embedder, ways that need vectors are left out.
    """
    queries = [case.query for case in cases]
    memory, shot = indexed(work, group, embedder) if embedder is not None else words_only(work, group)
    try:
        there, state = existing(shot.graph), memory.state()
        cases = [case._replace(functions=frozenset(placed(answer, there, group) for answer in case.functions)) for case in cases]
        found = {"BM25 of chunks": list(map(PlainBM25(shot), queries))}
        if embedder is not None:
            found["cosine of chunks"] = list(map(Cosine(shot, embedder), queries))
        for name, (tuning, with_model) in chosen.items():
            if embedder is None and with_model:
                continue
            asks = (Request(query, k=DEPTH, kinds=kinds, explain=False, deadline_s=60) for query in queries)
            found[name] = [shown(search(shot, embedder if with_model else None, one, state, tuning).hits) for one in asks]
        found[WORDS] = answers_of(memory, queries, kinds)
    finally:
        memory.close()
    if embedder is not None:
        with GraphMem.open(work / group / "index") as memory:
            memory.wait_until_ready()
            found[REFERENCE] = answers_of(memory, queries, kinds)
    return {name: [score(case, hits) for case, hits in zip(cases, answers, strict=True)] for name, answers in found.items()}


def placed(answer: str, there: frozenset[str], group: str) -> str:
    """Return an answer under its name in the index.

    The index may name the code around a definition differently than when the answer was judged.
    """
    if answer in there:
        return answer
    path, _, qualname = answer.partition("::")
    name = qualname.rpartition(".")[2]
    same = [one for one in there if one.startswith(f"{path}::") and re.split(r"::|\.", one)[-1] == name]
    if len(same) != 1:
        raise SystemExit(f"{group}: {answer} is not in the index; correct the answer")
    return same[0]


def words_only(work: Path, group: str) -> tuple[GraphMem, Any]:
    """Return the index of a tree, and the snapshot to search."""
    memory = GraphMem.open(work / group / "index", settings=Settings(embedder="none"))
    memory.index(work / group / "tree")
    return memory, memory.parts.projections.snapshot()


def summary(
    cases: Sequence[Case], results: dict[str, list[Any]], keep: Callable[[Case], bool]
) -> tuple[int, list[list[str]], dict[str, Any]]:
    """Return the count, the rows of a table, and the figures.

    Figures are macro averages over repositories.
    """
    rows = [i for i, case in enumerate(cases) if keep(case)]
    groups = sorted({cases[i].group for i in rows})
    reference = np.array([results.get(REFERENCE, results[WORDS])[i] for i in rows])
    printed, values = [], {}
    for name, scores in results.items():
        table = np.array([scores[i] for i in rows])
        own_rows = [table[[cases[i].group == group for i in rows]] for group in groups]
        macro = [
            float(np.mean([np.nanmean(one[:, at]) for one in own_rows if not np.isnan(one[:, at]).all()] or [np.nan])) * 100
            for at in range(4)
        ]
        difference = interval(table[:, 1] - reference[:, 1])
        printed.append([name, *(f"{value:.1f}" for value in macro), "{:+.1f} ({:+.1f} … {:+.1f})".format(*difference)])
        values[name] = {metric: None if np.isnan(value) else round(value, 1) for metric, value in zip(METRICS, macro, strict=True)}
    return len(rows), printed, values


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("work", type=Path, nargs="?")
    options.add_argument("--mirrors", type=Path)
    options.add_argument("--agreement", action="store_true", help="only compare the two readings of the answers")
    options.add_argument("--sets", default="own,cosqa")
    options.add_argument("--only", default="", help="repositories, by the names of their files, with commas between")
    options.add_argument("--half", choices=("learn", "check", "third"), help="only this half, or the third group, of the own set")
    options.add_argument("--ways", default="^$", help="regular expression: names of further ways")
    options.add_argument("--kinds", action="store_true", help="a table for each kind of question as well")
    options.add_argument("--prepare", action="store_true", help="only make indexes and vectors")
    options.add_argument("--words", action="store_true", help="only the ways that need no vectors; none are made")
    options.add_argument("--whole", action="store_true", help="whole trees, asked for all kinds")
    arguments = options.parse_args()
    if arguments.agreement:
        report.table(["what", "value"], [[name, f"{value:g}"] for name, value in agreement().items()])
        return 0
    if arguments.work is None or arguments.mirrors is None:
        options.error("give WORK and --mirrors DIR")
    only = arguments.only.split(",") if arguments.only else []
    cases = list(own(arguments.mirrors, arguments.work, whole=arguments.whole, only=only)) if "own" in arguments.sets else []
    cases = [case for case in cases if arguments.half in (None, case.set)]
    cases += list(cosqa(arguments.mirrors, arguments.work)) if "cosqa" in arguments.sets else []
    if only:
        cases = [case for case in cases if case.group in only]
    model = choose(folder=None)
    if model.embedder is None:
        options.error(model.reason)
    embedder = Kept(model.embedder, arguments.work / "queries")
    groups = {group: [case for case in cases if case.group == group] for group in dict.fromkeys(case.group for case in cases)}
    if arguments.prepare:
        for group in groups:
            indexed(arguments.work, group, model.embedder)[0].close()
            print(f"{group}: ready", flush=True)
        return 0
    chosen = {name: way for name, way in ways().items() if re.search(arguments.ways, name)}
    results: dict[str, list[Any]] = {}
    ordered: list[Case] = []
    for group, of_group in groups.items():
        for name, scores in results_of(
            arguments.work, group, of_group, None if arguments.words else embedder, chosen, frozenset() if arguments.whole else CODE
        ).items():
            results.setdefault(name, []).extend(scores)
        ordered += of_group
    published: dict[str, Any] = {}
    for chosen_set in dict.fromkeys(case.set for case in ordered):
        kinds = ["", *sorted({case.kind for case in ordered if case.set == chosen_set})] if arguments.kinds else [""]
        for kind in kinds:
            count, rows, values = summary(
                ordered, results, lambda case, of=chosen_set, kind=kind: case.set == of and kind in ("", case.kind)
            )
            print(f"\n## {chosen_set} {kind}: {count} questions\n")
            report.table(["way", *METRICS, "Δ files MRR"], rows)
            published[f"{chosen_set} {kind}".strip()] = {"questions": count, "ways": values}
    report.publish("questions", {"embedder": model.reason, "sets": published}, arguments.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
