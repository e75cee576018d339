"""Retrieval of memories: long dialogues, and notes about code.

    python -m benchmarks retrieval DATA [--models DIR] [--cache FILE] [--only dialogues|notes] [--limit N] [--ways REGEX] [--kinds REGEX]
    python -m benchmarks retrieval --generated

DATA has two kinds of files:

* `locomo10.jsonl.gz`, dialogues: every turn is a memory, and a question asks for marked turns. Questions that name a date are also
  reported separately.
* `history_*.jsonl.gz`, notes: every commit message is a memory about the files that the commit touched. A later message is the question.
  It asks for the memories that share a rare file with it; the gain of a memory is the share of rare files that it covers. Nothing later
  than the question is indexed.

--generated makes a small set of both, which shows that the program runs.

Memories are written by `remember_many` with vectors of the installed model; --cache keeps the vectors. All ways answer the same questions
in the same run. Baselines are BM25, cosine, reciprocal rank fusion of both, and their min-max sum. There are two controls of the graph
neighbourhood: the same lists over a graph whose memories changed places at random, and popularity of a memory's files.

Figures are macro averages over groups (a dialogue, a repository). Differences are paired, with a 95 % bootstrap interval that draws
questions within groups.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import random
import re
import sqlite3
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import report

from graphmem.embedding.choose import choose
from graphmem.embedding.hashed import HashedEmbedder
from graphmem.memory.reading.lifecycle import confidence_in_use
from graphmem.memory.texts.text import contextual_text
from graphmem.project.graphmem import GraphMem
from graphmem.search.fusion import RRF
from graphmem.search.pipeline import Aids, Judge, MemoryWeights, Request, Tuning, search
from graphmem.search.query.dates import periods
from graphmem.settings import Settings

MEMORY = frozenset({"memory"})
POOL, QUESTIONS, RARE = 1500, 300, 0.05
HOUSEKEEPING = re.compile(r"\b(bump|release[sd]?|pre-commit|black|flake8|changelog|merge|typos?|lint|pyupgrade|isort)\b", re.IGNORECASE)
METRICS = ("R@5", "R@10", "MRR", "nDCG@10")


class Item(NamedTuple):
    """A memory before it is written."""

    id: str
    content: str
    files: tuple[str, ...]
    at: datetime


class Case(NamedTuple):
    """A question, the gain of each right memory, and its context."""

    kind: str
    group: str
    query: str
    gains: dict[str, float]
    files: tuple[str, ...] = ()  # open files
    hidden: frozenset[str] = frozenset()  # earlier memories equal to the question


class Group(NamedTuple):
    """Questions in order, each after the memories that precede it."""

    name: str
    steps: list[tuple[list[Item], list[Case]]]


# ---- data


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a compressed JSON-lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        yield from map(json.loads, rows)


def dialogues(data: Path) -> Iterator[Group]:
    """Yield a group for each dialogue, with and without speaker and date."""
    for talk in lines(data / "locomo10.jsonl.gz"):
        for kind in ("dialogue", "dialogue, bare"):
            items = []
            for place, turn in enumerate(talk["turns"]):
                said = turn["text"] + (f" [shares {turn['img']}]" if turn["img"] else "")
                content = f"{turn['who']} ({turn['at']}): {said}" if kind == "dialogue" else said
                items.append(Item(turn["id"], content or "(nothing)", (), talk_time(turn["at"]) + timedelta(seconds=place)))
            cases = [Case(kind, talk["id"], one["q"], dict.fromkeys(one["ev"], 1.0)) for one in talk["qa"] if one["ev"]]
            years = (items[0].at.year, items[-1].at.year)
            cases += [case._replace(kind=f"{kind}, a date named") for case in cases if periods(case.query, items[-1].at, years)]
            yield Group(f"{talk['id']} {kind}", [(items, cases)])


def talk_time(text: str) -> datetime:
    """Parse a time such as '1:56 pm on 8 May, 2023'."""
    return datetime.strptime(text.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def notes(data: Path) -> Iterator[Group]:
    """Yield a group for each repository; renames are followed."""
    for path in sorted(data.glob("history_*.jsonl.gz")):
        name = path.name.removeprefix("history_").removesuffix(".jsonl.gz")
        yield Group(name, list(note_steps(name, list(lines(path)))))


def note_steps(name: str, commits: list[dict[str, Any]], questions: int = QUESTIONS) -> Iterator[tuple[list[Item], list[Case]]]:
    """Yield (memories since the last question, questions)."""
    last = {}
    for commit in reversed(commits):  # the last name of each file
        for state, new, *old in commit["files"]:
            if state == "R" and old:
                last[old[0]] = last.get(new, new)
    usable = [one for one in commits if is_note(one)][-(POOL + questions) :]
    asked = {one["sha"] for one in usable[-questions:]}
    files_of: dict[str, tuple[str, ...]] = {}
    message: dict[str, str] = {}
    touched: Counter[str] = Counter()
    waiting: list[Item] = []
    for commit in usable:
        files = tuple(sorted({last.get(one[1], one[1]) for one in commit["files"] if one[0] != "D"}))
        said = squeezed(commit["msg"])
        if commit["sha"] in asked and len(files_of) > 100:
            rare = {path for path in files if 0 < touched[path] < RARE * len(files_of)}
            same = frozenset(one for one, text in message.items() if text == said)
            cases = []
            wanted = [("notes", (), rare)]
            known = sorted(
                (path for path in files if touched[path]), key=lambda path: hashlib.sha1((commit["sha"] + path).encode()).hexdigest()
            )
            if len(rare) > 1 and known:
                wanted.append(("notes, a file open", (known[0],), rare - {known[0]}))
            for kind, opened, targets in wanted:
                gains = (
                    {one: len(targets.intersection(paths)) / len(targets) for one, paths in files_of.items() if one not in same}
                    if targets
                    else {}
                )
                gains = {one: gain for one, gain in gains.items() if gain}
                if gains:
                    cases.append(Case(kind, name, commit["msg"], gains, opened, same))
            yield waiting, cases
            waiting = []
        files_of[commit["sha"]], message[commit["sha"]] = files, said
        touched.update(files)
        waiting.append(Item(commit["sha"], commit["msg"][:8000], files, datetime.fromisoformat(commit["at"])))


def is_note(commit: dict[str, Any]) -> bool:
    """Whether a commit describes a change of few files, not housekeeping."""
    files = [one for one in commit["files"] if one[0] != "D"]
    return 1 <= len(files) <= 20 and len(commit["msg"].split()) >= 3 and not HOUSEKEEPING.search(commit["msg"].split("\n")[0])


def squeezed(text: str) -> str:
    """Return a key that is equal for equal messages."""
    return re.sub(r"\W+", " ", text.lower()).strip()[:120]


def generated(seed: int = 1) -> list[Group]:
    """Return a generated dialogue and generated notes.

    Answers of the dialogue follow what the questions mention. Notes are about the files of a few themes.
    """
    chance = random.Random(seed)
    words = [f"{a}{b}" for a in ("cam", "riv", "gard", "lib", "mount", "pott", "viol", "bak") for b in ("ing", "er", "ary", "ain")]
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    talk: list[Item] = []
    asked: list[Case] = []
    for n in range(40):
        topic, answer = chance.sample(words, 2)
        talk.append(Item(f"t{2 * n}", f"Ana: how was the {topic} number {n}?", (), begun + timedelta(days=n)))
        talk.append(Item(f"t{2 * n + 1}", f"Ben: it was mostly {answer}, I liked it", (), begun + timedelta(days=n, seconds=30)))
        asked.append(Case("dialogue", "generated", f"What did Ben say of the {topic} number {n}?", {f"t{2 * n + 1}": 1.0}))
    commits = []
    for n in range(200):
        theme = chance.randrange(20)
        files = [["M", f"src/{words[theme % 32]}_{theme}_{part}.py"] for part in range(chance.randrange(1, 4))]
        text = f"fix the {' '.join(chance.sample(words, 4))} of {words[theme % 32] if chance.random() < 0.5 else 'it'} {n}"
        commits.append({"sha": f"c{n}", "msg": text, "files": files, "at": (begun + timedelta(days=n)).isoformat()})
    return [Group("generated dialogue", [(talk, asked)]), Group("generated", list(note_steps("generated", commits, 20)))]


# ---- ways


class Cached:
    """An embedder that computes each vector once, also across runs."""

    def __init__(self, embedder: Any, file: Path | None) -> None:
        self._embedder = embedder
        self.model_id, self.dim = embedder.model_id, embedder.dim
        self._db = sqlite3.connect(file or ":memory:", check_same_thread=False)
        self._db.execute("CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB)")
        self._known: dict[str, Any] = {}

    def encode(self, texts: Sequence[str]) -> Any:
        """Return the vectors of the texts, float32 (n, dim)."""
        keys = [hashlib.blake2b(f"{self.model_id}\0{text}".encode(), digest_size=16).hexdigest() for text in texts]
        missing: dict[str, str] = {}
        for key, text in zip(keys, texts, strict=True):
            if key not in self._known:
                row = self._db.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
                if row is None:
                    missing[key] = text
                else:
                    self._known[key] = np.frombuffer(row[0], np.float32)
        order = sorted(missing, key=lambda key: (len(missing[key]), key))
        for at in range(0, len(order), 8):
            part = order[at : at + 8]
            for key, vector in zip(part, self._embedder.encode([missing[key] for key in part]), strict=True):
                self._known[key] = vector
                self._db.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?)", (key, vector.tobytes()))
        self._db.commit()
        return np.stack([self._known[key] for key in keys])


class Shuffled:
    """Memories with their places in graph and time exchanged: a control."""

    def __init__(self, index: Any, seed: int = 1) -> None:
        ids = [row.id for row in index.all_rows()]
        others = list(ids)
        random.Random(seed).shuffle(others)
        self._index, self._to, self._back = index, dict(zip(ids, others, strict=True)), dict(zip(others, ids, strict=True))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    def __len__(self) -> int:
        return len(self._index)

    def about(self, one: str) -> Any:
        """Return the links of another memory."""
        return self._index.about(self._to[one])

    def targets(self, one: str) -> Any:
        """Return the nodes of another memory."""
        return self._index.targets(self._to[one])

    def live_about(self, node: str) -> Any:
        """Return other memories than those of the node."""
        return sorted(self._back[one] for one in self._index.live_about(node))

    def moments(self, one: str, reach: int = 1) -> Any:
        """Return the neighbours in time of another memory."""
        return [moment._replace(id=self._back[moment.id]) for moment in self._index.moments(self._to[one], reach)]


def ways() -> dict[str, Tuning]:
    """Return the tunings by name."""
    default = Tuning()
    plain = MemoryWeights(time=0, graph=0, files=0, dates=0, echo=0, asking=0, relevance=1, recency=0, frequency=0, doubt=0, repeated=0)

    def only(normaliser: str = default.normaliser, **weights: float) -> Tuning:
        return default._replace(normaliser=normaliser, memory=plain._replace(**weights))

    def ours(**weights: float) -> Tuning:
        return default._replace(memory=default.memory._replace(**weights))

    return {
        "BM25": only(words=1, dense=0),
        "cosine": only(words=0, dense=1),
        "reciprocal ranks, equal": only(RRF, words=0.5, dense=0.5),
        "min-max, equal": only(words=0.5, dense=0.5),
        "ours without neighbours": ours(time=0, graph=0, files=0, dates=0),
        "ours": default,
        "ours, an answer is a neighbour like any": ours(answer=1),
        "ours, neighbours in time alone": ours(graph=0, files=0),
        "ours, neighbours in the graph alone": ours(time=0, files=0),
        "ours without the open file": ours(files=0),
        "ours, repetitions stay": ours(repeated=0),
        "ours without dates": ours(dates=0),
        "ours without echoes": ours(echo=0),
        "ours without echoes, memories that ask not lowered": ours(echo=0, asking=0),
        **{f"ours, dates {weight}": ours(dates=weight) for weight in (0.2, 0.3, 0.6, 0.8)},
    }


SHUFFLED = "control: ours, neighbours exchanged at random"
POPULAR = "control: ours without neighbours, much is known of its files"


def scored(found: Sequence[str], case: Case) -> tuple[float, ...]:
    """Return the metrics of one answer."""
    ids = [one for one in found if one not in case.hidden]
    right = case.gains.keys()
    first = next((1 / place for place, one in enumerate(ids, 1) if one in right), 0.0)
    gained = sum(case.gains.get(one, 0.0) / math.log2(place + 1) for place, one in enumerate(ids[:10], 1))
    ideal = sum(gain / math.log2(place + 1) for place, gain in enumerate(sorted(case.gains.values(), reverse=True)[:10], 1))
    return (len(right & set(ids[:5])) / len(right), len(right & set(ids[:10])) / len(right), first, gained / ideal)


def run(
    groups: Sequence[Group], embedder: Any, results: dict[str, list[tuple[Case, tuple[float, ...]]]], chosen: dict[str, Tuning]
) -> None:
    """Ask every question in every way."""
    for group in groups:
        with tempfile.TemporaryDirectory() as folder, GraphMem.open(folder, settings=Settings(embedder="none")) as memory:
            state = memory.state()
            for items, cases in group.steps:
                remember(memory, items, embedder)
                if not cases:
                    continue
                shot = memory.parts.projections.snapshot()
                index = memory.parts.projections.memories()
                aids = Aids(memory.parts.book.project(), Judge(confidence=confidence_in_use))
                popularity = {one: max((len(index.live_about(node)) for node in index.targets(one)), default=0) for one in index.ids()}
                exchanged = shot._replace(memories=Shuffled(index))

                def ask(case: Case, tuning: Tuning, shot: Any = shot, aids: Aids = aids, state: Any = state) -> list[Any]:
                    request = Request(case.query[:10_000], k=50, files=case.files, kinds=MEMORY, explain=False, deadline_s=60)
                    return search(shot, embedder, request, state, tuning, aids).hits

                for case in cases:
                    for name, tuning in chosen.items():
                        hits = ask(case, tuning)
                        results[name].append((case, scored([hit.id for hit in hits], case)))
                        if name == "ours without neighbours":
                            top = max(popularity.values()) or 1
                            hits.sort(key=lambda hit: (-(hit.score + 0.1 * popularity[hit.id] / top), hit.id))
                            results[POPULAR].append((case, scored([hit.id for hit in hits], case)))
                    results[SHUFFLED].append((case, scored([hit.id for hit in ask(case, Tuning(), exchanged)], case)))


def remember(memory: GraphMem, items: Sequence[Item], embedder: Any) -> None:
    """Write memories with their vectors."""
    if not items:
        return
    vectors = embedder.encode([contextual_text(item.content, "fact", sorted(item.files), []) for item in items])
    rows = [
        {
            "id": item.id,
            "content": item.content,
            "type": "fact",
            "files": list(item.files),
            "created_at": item.at.isoformat(),
            "vector": vector.tolist(),
        }
        for item, vector in zip(items, vectors, strict=True)
    ]
    memory.remember_many(rows, embedding_model=embedder.model_id)


def interval(groups: dict[str, list[float]]) -> tuple[float, float, float]:
    """Return the macro mean of paired differences and its 95 % interval.

    All are in points; questions are drawn within groups.
    """
    chance = np.random.default_rng(1)
    drawn = [chance.choice(np.array(one), (2000, len(one))).mean(axis=1) for one in groups.values()]
    means = np.mean(drawn, axis=0) * 100
    return (
        float(np.mean([np.mean(one) for one in groups.values()]) * 100),
        float(np.quantile(means, 0.025)),
        float(np.quantile(means, 0.975)),
    )


def show(results: dict[str, list[tuple[Case, tuple[float, ...]]]], reference: str) -> dict[str, Any]:
    """Print a table for each kind of question; return the same figures."""
    published: dict[str, Any] = {}
    for kind in dict.fromkeys(case.kind for case, _ in results[reference]):
        of_way: dict[str, dict[str, list[tuple[float, ...]]]] = {}
        for name, rows in results.items():
            of_way[name] = defaultdict(list)
            for case, values in rows:
                if case.kind == kind:
                    of_way[name][case.group].append(values)
        count = sum(map(len, of_way[reference].values()))
        print(f"\n## {kind}: {count} questions, {len(of_way[reference])} groups\n")
        shown = []
        published[kind] = {"questions": count, "ways": {}}
        for name, groups in of_way.items():
            macro = np.mean([np.mean(np.array(rows), axis=0) for rows in groups.values()], axis=0) * 100
            differences = {}
            for metric in METRICS:
                place = METRICS.index(metric)
                pairs = {
                    group: [a[place] - b[place] for a, b in zip(rows, of_way[reference][group], strict=True)]
                    for group, rows in groups.items()
                }
                differences[metric] = interval(pairs)
            said = ["{:+.1f} ({:+.1f} … {:+.1f})".format(*differences[metric]) for metric in ("R@10", "MRR", "nDCG@10")]
            shown.append([name, *(f"{value:.1f}" for value in macro), *said])
            published[kind]["ways"][name] = {**dict(zip(METRICS, macro.tolist(), strict=True)), "difference": differences}
        report.table(["way", *METRICS, "Δ R@10", "Δ MRR", "Δ nDCG@10"], shown)
    return published


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("data", type=Path, nargs="?")
    options.add_argument("--generated", action="store_true")
    options.add_argument("--models", type=Path, help="where prepared models are kept; without it, the reference embedder is used")
    options.add_argument("--cache", type=Path, help="SQLite file that keeps vectors between runs")
    options.add_argument("--only", choices=("dialogues", "notes"))
    options.add_argument("--limit", type=int, default=0, help="groups of each kind; 0: all")
    options.add_argument("--ways", default="", help="regular expression: only these ways, and ours with and without neighbours")
    options.add_argument("--kinds", default="", help="regular expression: only questions of the kinds it finds")
    arguments = options.parse_args()
    if arguments.generated:
        groups, chosen = generated(), None
        embedder = Cached(HashedEmbedder(), None)
    elif arguments.data is not None:
        sources: list[Callable[[Path], Iterator[Group]]] = [one for one in (dialogues, notes) if arguments.only in (None, one.__name__)]
        groups = [group for source in sources for group in list(source(arguments.data))[: arguments.limit or None]]
        chosen = choose(folder=arguments.models)
        if chosen.embedder is None:
            options.error(chosen.reason)
        embedder = Cached(chosen.embedder, arguments.cache)
    else:
        options.error("give DATA, or --generated")
    asked = [
        [(items, [case for case in cases if re.search(arguments.kinds, case.kind)]) for items, cases in group.steps] for group in groups
    ]
    groups = [Group(group.name, steps) for group, steps in zip(groups, asked, strict=True)]
    reference = "ours without neighbours"
    wanted = {name: way for name, way in ways().items() if name in ("ours", reference) or re.search(arguments.ways, name)}
    results: dict[str, list[tuple[Case, tuple[float, ...]]]] = {name: [] for name in [*wanted, POPULAR, SHUFFLED]}
    run(groups, embedder, results, wanted)
    print(f"embedder: {embedder.model_id}; differences to “{reference}”")
    published = show(results, reference)
    report.publish("retrieval", {"embedder": embedder.model_id, "kinds": published}, arguments.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
