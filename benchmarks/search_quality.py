"""Recall and MRR of code search on files and functions, for many fusions and weights.

    python -m benchmarks search_quality WORK --changes DATA --mirrors DIR [--docstrings TREE] [--ways REGEX]

WORK keeps the indexes, so that a second run is fast. DIR has `<owner>+<name>/repo` bare git directories. Two kinds of questions have a
known answer:

* changes: messages of commits (`localize_*.jsonl.gz` in DATA, which `changes` writes), searched in the tree before the commit. The answer
  is the files and functions that the commit changed. "raw" is the message as written, "stripped" is without the names of changed code.
* docstrings: first paragraphs of docstrings of TREE ("described") and bare names ("named"). The answer is the function, whose docstring was
  removed from the indexed file.

All ways answer the same questions in the same run. The baseline is BM25 in plain Python over words as written. Figures are macro averages
over repositories. The last columns are paired differences from the default in function recall@10 and function MRR over all questions, with
95 % bootstrap intervals. The neighbourhood of code is symbols of the same file ("votes"), code similar to the best hits or joined to them
by edges, and, for questions about relations, the graph around the names in the query.

A way that is best in one repository need not be best in another: choose on some repositories, and look at the others only at the end.
"""

from __future__ import annotations

import ast
import gzip
import io
import json
import math
import random
import re
import subprocess
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import report
from changes import REPOSITORIES, of_package

from graphmem.embedding.choose import choose
from graphmem.embedding.fill import Pace, fill
from graphmem.project.graphmem import GraphMem
from graphmem.search.fusion import MINMAX, RRF, ZSCORE
from graphmem.search.pipeline import Request, Tuning, Weights, search
from graphmem.search.query.query_type import ERROR, IDENTIFIER, QUESTION, SEMANTIC
from graphmem.search.request import Fields
from graphmem.settings import Settings

CODE = frozenset({"code"})
DEPTH = 50


class Case(NamedTuple):
    """A question and its answer."""

    group: str  # repository
    kind: str  # raw | stripped | described | named
    query: str
    files: frozenset[str]
    functions: frozenset[str]  # path::qualname, with the suffix #2 for the second of that name
    place: str  # which tree is searched


def changes(data: Path, mirrors: Path, work: Path) -> Iterator[Case]:
    """Yield commit messages as questions; write the trees before them to WORK."""
    for name, (folder, roots) in REPOSITORIES.items():
        if not (data / f"localize_{name}.jsonl.gz").exists():
            continue
        with gzip.open(data / f"localize_{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                place = f"{name}-{row['snapshot'][:12]}"
                tree = work / place / "tree"
                if not tree.exists():
                    export(mirrors / folder / "repo", row["snapshot"], roots, tree)
                for kind, query in (("raw", row["query"]), ("stripped", row["stripped"])):
                    if kind == "raw" or len(query.split()) >= 3:
                        files = frozenset(path for path in row["files"] if (tree / path).is_file())
                        if files:
                            yield Case(name, kind, query, files, frozenset(row["funcs"]), place)


def export(repo: Path, revision: str, roots: tuple[str, ...], tree: Path) -> None:
    """Write the package's own Python files of a revision."""
    packed = subprocess.run(["git", "--git-dir", str(repo), "archive", "--format=tar", revision], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            if member.isfile() and of_package(member.name, roots):
                archive.extract(member, tree, filter="data")


def docstrings(source: Path, work: Path, wanted: int = 700) -> Iterator[Case]:
    """Yield docstrings and names of functions as questions.

    The files of the functions are written to WORK without any docstring.
    """
    place = f"{source.name}-without-docstrings"
    files = sorted(path for path in source.rglob("*.py") if not re.search(r"/tests?/", str(path)))
    random.Random(4).shuffle(files)
    found = 0
    for path in files:
        if found >= wanted:
            break
        text, relative = path.read_text(encoding="utf-8", errors="replace"), path.relative_to(source).as_posix()
        try:
            spans, questions = documented(ast.parse(text))
        except SyntaxError:
            continue
        if not questions:
            continue
        out = work / place / "tree" / relative
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text("\n".join(line for i, line in enumerate(text.split("\n"), 1) if i not in spans), encoding="utf-8")
        for question, qualname in questions:
            found += 1
            answer = frozenset({relative}), frozenset({f"{relative}::{qualname}"}), place
            yield Case(source.name, "described", question, *answer)
            yield Case(source.name, "named", qualname.rpartition(".")[2], *answer)


def documented(tree: ast.AST) -> tuple[set[int], list[tuple[str, str]]]:
    """Return the lines of all docstrings, and (first paragraph, name) pairs.

    The pairs are of functions with a docstring and a body.
    """
    spans: set[int] = set()
    questions: list[tuple[str, str]] = []

    def walk(node: ast.AST, outer: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                qualname = f"{outer}.{child.name}" if outer else child.name
                text = ast.get_docstring(child)
                if text and len(child.body) > 1:
                    spans.update(range(child.body[0].lineno, (child.body[0].end_lineno or 0) + 1))
                    first = " ".join(text.split("\n\n")[0].split())
                    if not isinstance(child, ast.ClassDef) and len(first) > 25 and (child.end_lineno or 0) - child.lineno >= 4:
                        questions.append((first, qualname))
                walk(child, qualname)
            elif not isinstance(child, ast.expr):
                walk(child, outer)

    walk(tree, "")
    return spans, questions


class Remembered:
    """An embedder that computes each vector once.

    Trees of one repository share most of their texts.
    """

    def __init__(self, embedder: Any) -> None:
        self._embedder, self._known = embedder, {}
        self.model_id, self.dim = embedder.model_id, embedder.dim

    def encode(self, texts: list[str]) -> Any:
        """Return the vectors of the texts."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            self._known.update(zip(missing, self._embedder.encode(missing), strict=True))
        return np.stack([self._known[text] for text in texts])


def indexed(work: Path, place: str, embedder: Any) -> tuple[GraphMem, Any]:
    """Index a tree with all vectors; return it and its snapshot."""
    memory = GraphMem.open(work / place / "index", settings=Settings(embedder="none"))
    memory.index(work / place / "tree")
    projections = memory.parts.projections
    projections.use_model(embedder.model_id, embedder.dim)
    have = projections.vector_hashes()
    fill(
        memory.parts.store,
        embedder,
        projections.fill_order(),
        have,
        on_vectors=projections.add_vectors,
        on_progress=lambda done, wanted: None,
        pace=Pace(lambda: False),
    )
    return memory, projections.snapshot()


def existing(view: Any) -> frozenset[str]:
    """Return path::qualname of every symbol.

    A commit may also change functions that the tree before it did not have.
    """
    names = set()
    for node, info in enumerate(view.infos(range(view.n))):
        if info.path:
            number = view.twin(node)
            names.add(f"{info.path}::{info.qualname}" + (f"#{number}" if number > 1 else ""))
    return frozenset(names)


class PlainBM25:
    """The baseline: BM25 over lower-case words of chunks as written."""

    def __init__(self, shot: Any) -> None:
        keys = [key for key, _, _ in shot.words.chunk_keys()]
        self.entries = [entry for entry in shot.words.entries(keys).values() if entry.kind == "code"]
        self.qualname = {i: shot.graph.qualname(shot.graph.index_of[e.symbol]) if e.symbol else "" for i, e in enumerate(self.entries)}
        documents = [Counter(re.findall(r"\w+", f"{entry.path} {entry.title} {entry.text}".lower())) for entry in self.entries]
        length = [sum(counts.values()) for counts in documents]
        average = sum(length) / len(length)
        self.postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for i, counts in enumerate(documents):
            for word, count in counts.items():
                self.postings[word].append((i, count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length[i] / average))))

    def __call__(self, query: str) -> list[tuple[str, str]]:
        """Return (path, name of the function of the chunk) of the best chunks."""
        scores: dict[int, float] = defaultdict(float)
        for word in set(re.findall(r"\w+", query.lower())):
            rows = self.postings.get(word, [])
            idf = math.log(1 + (len(self.entries) - len(rows) + 0.5) / (len(rows) + 0.5))
            for i, weight in rows:
                scores[i] += idf * weight
        best = sorted(scores, key=lambda i: (-scores[i], i))[:DEPTH]
        return [(self.entries[i].path, f"{self.entries[i].path}::{self.qualname[i]}" if self.qualname[i] else "") for i in best]


METRICS = ("file R@5", "file MRR", "function R@5", "function R@10", "function MRR", "function nDCG@10")


def score(case: Case, hits: list[tuple[str, str]]) -> tuple[float, ...]:
    """Return METRICS of hits given as (path, name of the function or "").

    Figures of functions are NaN if the change is in no function.
    """
    files = list(dict.fromkeys(path for path, _ in hits))
    functions = list(dict.fromkeys(name for _, name in hits if name))
    first_file = next((1 / i for i, path in enumerate(files, 1) if path in case.files), 0.0)
    recall_file = len(case.files.intersection(files[:5])) / len(case.files)
    if not case.functions:
        return (recall_file, first_file, *[math.nan] * 4)
    first = next((1 / i for i, name in enumerate(functions, 1) if name in case.functions), 0.0)
    recall = [len(case.functions.intersection(functions[:k])) / len(case.functions) for k in (5, 10)]
    gain = sum(1 / math.log2(i + 1) for i, name in enumerate(functions[:10], 1) if name in case.functions)
    return recall_file, first_file, *recall, first, gain / sum(1 / math.log2(i + 1) for i in range(1, min(10, len(case.functions)) + 1))


def ways() -> dict[str, tuple[Tuning, bool]]:
    """Return (tuning, with a model) by name."""
    default = Tuning()

    def all_types(normaliser: str = MINMAX, **weights: float) -> Tuning:
        one = Weights(**{"words": 0, "dense": 0, "exact": 0, "graph": 0, "votes": 0} | weights)
        return default._replace(normaliser=normaliser, weights=dict.fromkeys(default.weights, one), exact_alone=0, inner=1, around=1)

    def changed(**weights: float) -> Tuning:
        return default._replace(weights={kind: one._replace(**weights) for kind, one in default.weights.items()})

    plain = Tuning(divide=False, fields=Fields(name=0, outer=0, path=0, b=0.75, k1=1.2, coverage=0, rest=1))
    named = {
        "chunks: words": (all_types(words=1)._replace(divide=False, fields=plain.fields), False),
        "chunks: vectors": (all_types(dense=1)._replace(divide=False), True),
        "chunks: equal ranks": (all_types(RRF, words=0.5, dense=0.5)._replace(divide=False, fields=plain.fields), True),
        "chunks: equal scores": (all_types(words=0.5, dense=0.5)._replace(divide=False, fields=plain.fields), True),
        "words alone": (all_types(words=1), False),
        "vectors alone": (all_types(dense=1), True),
    }
    for share in (0.5, 0.7):
        named[f"rrf k=60, words {share}"] = all_types(RRF, words=share, dense=1 - share), True
    for normaliser in (MINMAX, ZSCORE):
        for share in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
            named[f"{normaliser}, words {share}"] = all_types(normaliser, words=share, dense=round(1 - share, 2)), True
    named["default"] = default, True
    named["default without a model"] = default, False
    named["default without the neighbourhood"] = changed(votes=0, graph=0, alike=0, joined=0), True
    named["default without the best sentence"] = changed(sentence=0, words=0.5), True
    named["default without shares of names"] = changed(names=0), True
    named["default without literals"] = changed(literal=0), True
    named["default without named files"] = changed(places=0), True
    named["default without literals and named files"] = changed(literal=0, places=0), True
    named["default, classes like any"] = default._replace(around=1), True
    named["default without code like the best"] = changed(alike=0), True
    named["default without what edges join"] = changed(joined=0), True
    named["default, inner functions like any"] = default._replace(inner=1), True
    for look, weights in {
        "one look, as it was": {
            IDENTIFIER: Weights(words=0.6, dense=0.4, exact=0.1, graph=0, votes=0.2),
            SEMANTIC: Weights(words=0.5, dense=0.5, exact=0, graph=0, votes=0.2),
        },
        "two looks, as it was": dict.fromkeys(
            (IDENTIFIER, SEMANTIC), Weights(words=0.5, dense=0.4, exact=0.3, graph=0, votes=0.1, alike=0.15, joined=0.1)
        ),
    }.items():
        inner = 1 if look.startswith("one") else default.inner
        named[look] = default._replace(weights={**default.weights, **weights}, inner=inner, around=1, others=1), True
    named["default, text alone"] = default._replace(fields=default.fields._replace(name=0, outer=0, path=0)), True
    named["default, length counts in full"] = default._replace(fields=default.fields._replace(b=0.75)), True
    same = dict.fromkeys((QUESTION, ERROR), default.weights[SEMANTIC])
    named["default, questions like descriptions"] = default._replace(weights={**default.weights, **same}), True
    for dense in (0.6, 0.8, 1.0, 1.4):
        question = default.weights[QUESTION]._replace(dense=dense)
        named[f"default, questions with dense {dense}"] = default._replace(weights={**default.weights, QUESTION: question}), True
    named["default without names"] = changed(exact=0)._replace(exact_alone=0), True
    named["default, chunks not divided"] = default._replace(divide=False), True
    for weight in (0.05, 0.1, 0.2):
        types = {kind: one._replace(graph=weight) if kind in (IDENTIFIER, SEMANTIC) else one for kind, one in default.weights.items()}
        named[f"default and neighbours {weight}"] = default._replace(weights=types), True
    return named


def interval(difference: np.ndarray[Any, Any]) -> tuple[float, float, float]:
    """Return mean and 95 % bootstrap interval of differences, in points."""
    known = difference[~np.isnan(difference)] * 100
    draws = np.random.default_rng(1).choice(known, (2000, len(known))).mean(axis=1)
    return float(known.mean()), float(np.percentile(draws, 2.5)), float(np.percentile(draws, 97.5))


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("work", type=Path)
    options.add_argument("--changes", type=Path)
    options.add_argument("--mirrors", type=Path)
    options.add_argument("--docstrings", type=Path)
    options.add_argument("--models", type=Path, help="where prepared models are kept; without it, the reference embedder is used")
    options.add_argument("--only", default="", help="names of repositories, with commas between; all in DATA by default")
    options.add_argument("--ways", default="", help="regular expression: only the ways whose name it finds, and the default")
    options.add_argument("--kinds", default="", help="regular expression: only questions of the kinds it finds")
    arguments = options.parse_args()
    cases = list(changes(arguments.changes, arguments.mirrors, arguments.work)) if arguments.changes else []
    cases = [case for case in cases if re.search(arguments.kinds, case.kind)]
    if arguments.only:
        cases = [case for case in cases if case.group in arguments.only.split(",")]
    cases += list(docstrings(arguments.docstrings, arguments.work)) if arguments.docstrings else []
    if not cases:
        options.error("give --changes with --mirrors, or --docstrings")
    chosen = choose(folder=arguments.models)
    if chosen.embedder is None:
        options.error(chosen.reason)
    embedder = Remembered(chosen.embedder)
    opened = {place: indexed(arguments.work, place, embedder) for place in sorted({case.place for case in cases})}
    there = {place: existing(shot.graph) for place, (_, shot) in opened.items()}
    cases = [case._replace(functions=case.functions & there[case.place]) for case in cases]
    plain = {place: PlainBM25(shot) for place, (_, shot) in opened.items()}
    state = next(iter(opened.values()))[0].state()
    results = {"plain BM25 (baseline)": [score(case, plain[case.place](case.query)) for case in cases]}
    for name, (tuning, with_model) in ways().items():
        if name != "default" and not re.search(arguments.ways, name):
            continue
        results[name] = [
            score(
                case,
                [
                    (hit.path, hit.id if hit.qualname and hit.symbol_kind != "module" else "")
                    for hit in search(opened[case.place][1], embedder if with_model else None, request, state, tuning).hits
                ],
            )
            for case in cases
            for request in [Request(case.query, k=DEPTH, kinds=CODE, explain=False, deadline_s=60)]
        ]
    published: dict[str, Any] = {
        "embedder": chosen.reason,
        "cases": dict(Counter(f"{case.group} {case.kind}" for case in cases)),
        "kinds": {},
    }
    for kind in dict.fromkeys(case.kind for case in cases):
        rows = [i for i, case in enumerate(cases) if case.kind == kind]
        groups = sorted({cases[i].group for i in rows})
        reference = np.array([results["default"][i] for i in rows])
        print(f"\n## {kind}: {len(rows)} questions, {', '.join(groups)}\n")
        shown = []
        for name, values in results.items():
            table = np.array([values[i] for i in rows])
            macro = np.mean([np.nanmean(table[[cases[i].group == group for i in rows]], axis=0) for group in groups], axis=0) * 100
            differences = [interval(table[:, column] - reference[:, column]) for column in (3, 4)]
            shown.append(
                [
                    name,
                    *(f"{value:.1f}" for value in macro),
                    *(f"{mean:+.1f} ({low:+.1f} … {high:+.1f})" for mean, low, high in differences),
                ]
            )
        report.table(["way", *METRICS, "Δ R@10", "Δ MRR"], shown)
        published["kinds"][kind] = shown
    for memory, _ in opened.values():
        memory.close()
    report.publish("search_quality", published, arguments.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
