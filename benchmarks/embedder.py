"""Embedders: cost of the first vector and of a query, and quality of the int8 graph.

    python -m benchmarks embedder [--models DIR] [--starts 5] [--functions 700] [--only REGEX]

Start: a new process runs until its first vector. The table has processor seconds, elapsed seconds and peak memory of the cheapest of
--starts by processor time, beside an interpreter that only imports numpy. The int8 graph is prepared before, once for each machine; if that
happens here, its time is printed.

Quality: questions are first sentences of the documentation of networkx functions, chosen by a hash of their names. The answer is the text
of the function without the documentation. All functions are ranked by cosine. The table has MRR and recall@10, the difference from the
reference model with a paired 95 % bootstrap interval, and the cosine between vectors of the int8 graph and of the reference.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import report

from graphmem.embedding.base import Embedder
from graphmem.embedding.hashed import HashedEmbedder
from graphmem.embedding.quantised import QuantisedEmbedder, graph_file
from graphmem.embedding.sentence import SentenceEmbedder
from graphmem.location import models_dir

BATCH = 8  # texts in one call, as in the service
QUESTION = "where is the session persisted between two requests"
REFERENCE = "reference (sentence-transformers)"
NAMES = {
    "int8 graph (default)": "quantised",
    REFERENCE: "sentence",
    "hashed features (no model)": "hashed",
    "numpy alone (no embedder)": "bare",
}
PROBE = """
import sys, pathlib
kind, folder, question = sys.argv[1:]
import numpy
if kind == "quantised":
    from graphmem.embedding.quantised import QuantisedEmbedder
    embedder = QuantisedEmbedder(pathlib.Path(folder))
elif kind == "sentence":
    from graphmem.embedding.sentence import SentenceEmbedder
    embedder = SentenceEmbedder()
elif kind == "hashed":
    from graphmem.embedding.hashed import HashedEmbedder
    embedder = HashedEmbedder()
if kind != "bare":
    assert embedder.encode([question]).shape == (1, 384)
import json, os
spent = os.times()
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps({"cpu_s": spent.user + spent.system, "peak_mb": int(status["VmHWM"].split()[0]) / 1024}))
"""


def start(kind: str, folder: Path, times: int) -> dict[str, float]:
    """Return the cheapest of several starts."""
    found = []
    for _ in range(times):
        begun = time.monotonic()
        ran = subprocess.run([sys.executable, "-P", "-c", PROBE, kind, str(folder), QUESTION], capture_output=True, text=True, check=True)
        found.append({**json.loads(ran.stdout), "elapsed_s": time.monotonic() - begun})
    return min(found, key=lambda one: one["cpu_s"])


def documented(count: int) -> list[tuple[str, str]]:
    """Return (first sentence of documentation, text without it) of functions."""
    root = Path(networkx.__file__).parent
    found: dict[str, tuple[str, str]] = {}
    for path in sorted(root.rglob("*.py")):
        if "tests" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.FunctionDef) or (said := ast.get_docstring(node)) is None or len(node.body) < 2:
                continue
            lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
            doc = node.body[0]
            body = lines[: doc.lineno - node.lineno] + lines[(doc.end_lineno or doc.lineno) - node.lineno + 1 :]
            name = f"{path.relative_to(root)}:{node.name}"
            question = re.split(r"(?<=\.)\s|\n\n", said, maxsplit=1)[0]
            found[name] = (" ".join(question.split()), f"function: {node.name}\n" + "\n".join(body))
    chosen = sorted(found, key=lambda name: hashlib.sha1(name.encode()).hexdigest())[:count]
    return [found[name] for name in chosen]


def vectors(embedder: Embedder, texts: Sequence[str]) -> tuple[Any, float]:
    """Return float32 (len(texts), dim) and processor seconds.

    Batches have texts of similar length.
    """
    order = sorted(range(len(texts)), key=lambda place: (len(texts[place]), place))
    made = np.zeros((len(texts), embedder.dim), np.float32)
    begun = time.process_time()
    for at in range(0, len(order), BATCH):
        part = order[at : at + BATCH]
        made[part] = embedder.encode([texts[place] for place in part])
    return made, time.process_time() - begun


def quality(embedder: Embedder, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the reciprocal rank of each question's function, and the times."""
    embedder.encode([QUESTION])  # loads the model
    texts, spent = vectors(embedder, [text for _, text in pairs])
    begun = time.process_time()
    asked = np.concatenate([embedder.encode([question]) for question, _ in pairs])
    each = (time.process_time() - begun) / len(pairs)
    cosines = asked @ texts.T
    ranks = (cosines > np.diag(cosines)[:, None]).sum(axis=1) + 1
    return {"vectors": texts, "reciprocal": 1 / ranks, "at_10": ranks <= 10, "texts_a_cpu_s": len(pairs) / spent, "query_ms": each * 1000}


def interval(differences: Any, seed: int = 1) -> tuple[float, float, float]:
    """Return a mean and its 95 % bootstrap interval."""
    chance = np.random.default_rng(seed)
    means = chance.choice(differences, (2000, len(differences))).mean(axis=1)
    return float(differences.mean()), float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("--models", type=Path, default=models_dir({}), help="where prepared models are kept")
    options.add_argument("--starts", type=int, default=5)
    options.add_argument("--functions", type=int, default=700)
    options.add_argument("--only", default="", help="regular expression: only these embedders")
    arguments = options.parse_args()
    names = {name: kind for name, kind in NAMES.items() if re.search(arguments.only, name)}
    result: dict[str, Any] = {"functions": arguments.functions, "start": {}, "quality": {}}
    if "quantised" in names.values() and not graph_file(arguments.models).exists():
        begun = time.monotonic()
        QuantisedEmbedder(arguments.models).encode([QUESTION])
        result["prepared_s"] = time.monotonic() - begun
        print(f"the int8 graph was prepared in {result['prepared_s']:.1f} s, once")
    result["start"] = {name: start(kind, arguments.models, arguments.starts) for name, kind in names.items()}
    rows = [[name, *(values[key] for key in ("cpu_s", "elapsed_s", "peak_mb"))] for name, values in result["start"].items()]
    report.table(["start to first vector", "cpu s", "elapsed s", "peak MB"], rows)
    print()
    makers: dict[str, Any] = {
        "quantised": lambda: QuantisedEmbedder(arguments.models),
        "sentence": SentenceEmbedder,
        "hashed": HashedEmbedder,
    }
    pairs = documented(arguments.functions)
    measured = {name: quality(makers[kind](), pairs) for name, kind in names.items() if kind in makers}
    rows = []
    for name, one in measured.items():
        told = {"MRR": float(one["reciprocal"].mean()), "R@10": float(one["at_10"].mean())}
        told |= {key: one[key] for key in ("texts_a_cpu_s", "query_ms")}
        said = ["", ""]
        if REFERENCE in measured and name != REFERENCE and one["vectors"].shape == measured[REFERENCE]["vectors"].shape:
            told["difference"] = interval(one["reciprocal"] - measured[REFERENCE]["reciprocal"])
            said = ["{:+.3f} ({:+.3f} … {:+.3f})".format(*told["difference"]), ""]
            if names[name] == "quantised":
                near = (one["vectors"] * measured[REFERENCE]["vectors"]).sum(axis=1)
                told |= {"cosine_mean": float(near.mean()), "cosine_worst": float(near.min())}
                said[1] = f"{told['cosine_mean']:.3f}, worst {told['cosine_worst']:.3f}"
        result["quality"][name] = told
        rows.append([name, told["MRR"], told["R@10"], *said, told["texts_a_cpu_s"], told["query_ms"]])
    report.table([f"{len(pairs)} functions", "MRR", "R@10", "Δ MRR", "cosine to it", "texts a cpu s", "cpu ms a query"], rows)
    report.publish("embedder", result, arguments.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
