"""Find candidates by words, vectors, names in the query, and the graph.

There are four ways to find candidates: words, vectors, names in the query, and edges of the graph from the named symbols. `pipeline` runs
words and vectors in threads and finds names and their neighbours meanwhile. Then `pipeline` fuses the four lists.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from graphmem.embedding.base import F32, Embedder
from graphmem.errors import EmbedderError
from graphmem.projection.graph.arrays import EXTERNAL, FILE, SYMBOL
from graphmem.projection.graph.edges import kind_mask
from graphmem.projection.graph.view import GraphView
from graphmem.projection.vectors import VectorIndex
from graphmem.projection.words.index import WordIndex
from graphmem.projection.words.text import STOP_WORDS
from graphmem.search.query.query_type import Mention

HOP_KINDS: Final = ("CALLS", "REFERENCES", "INHERITS", "OVERRIDES", "USES_TYPE", "DEFINES", "IMPORTS", "TESTS")
_SEEDS: Final = 8
_PLAIN_NAME: Final = 0.3  # confidence of a name that is also an ordinary word, relative to one written as code
_MAX_HOMONYMS: Final = 50
_IMPORTED: Final = 0.5  # nearness of a file to the files it imports


class Filters(NamedTuple):
    """Restrictions on the paths and kinds of results."""

    chunk_kinds: tuple[str, ...]
    paths: tuple[str, ...]  # files, and directories with everything below them

    def allows_path(self, path: str) -> bool:
        """Whether a path is an allowed file or is below an allowed directory."""
        return not self.paths or any(path == one or path.startswith(f"{one}/") for one in (p.rstrip("/") for p in self.paths))


class Dense(NamedTuple):
    """The chunks that a search by vectors found, and the query's vector.

    Each chunk has the cosine between its vector and the query's.
    """

    query: F32  # the query's vector
    chunks: dict[str, float]  # chunk id -> cosine


def by_vectors(vectors: VectorIndex, words: WordIndex, query: F32, depth: int, filters: Filters) -> Dense:
    """Find the chunks whose vectors are nearest to the query's vector.

    `depth` is the maximum number of chunks, and `filters` restricts their paths and kinds.
    """
    if not len(vectors):
        return Dense(query, {})
    mask = None
    if filters.paths:
        mask = np.zeros(len(vectors), np.bool_)
        rows = vectors.rows(words.hashes(kinds=filters.chunk_kinds, paths=filters.paths))
        mask[rows[rows < len(mask)]] = True
    hashes = vectors.hashes()
    found: dict[str, float] = {}
    wanted = depth
    while True:
        near = vectors.search(query, wanted, mask)
        cosine_of = {hashes[row]: cosine for row, cosine in near if row < len(hashes)}
        # Vectors of removed texts, or of other kinds, have no chunk here.
        chunks_of = words.chunks_of_hashes(cosine_of, kinds=filters.chunk_kinds, paths=filters.paths)
        found = {chunk: cosine for text_hash, cosine in cosine_of.items() for chunk in chunks_of.get(text_hash, ())}
        if len(found) >= depth or len(near) < wanted:
            break
        wanted *= 4
    best = sorted(found, key=lambda chunk: (-found[chunk], chunk))[:depth]
    return Dense(query, {chunk: found[chunk] for chunk in best})


@lru_cache(maxsize=256)
def query_vector(embedder: Embedder, query: str) -> F32:
    """Return the vector of a query, from a cache for recent queries.

    The cache helps because people often repeat a query with other filters.

    Raises:
        EmbedderError: the model cannot be loaded, or did not return a vector.
    """
    vector = embedder.encode([query])
    if vector.shape != (1, embedder.dim):
        raise EmbedderError(
            f"the embedding model {embedder.model_id} returned a vector of shape {vector.shape} instead of (1, {embedder.dim}); "
            "choose another model with the setting `embedder`",
            model=embedder.model_id,
        )
    return np.asarray(vector[0], np.float32)


def by_name(view: GraphView, named: Sequence[Mention], filters: Filters) -> dict[int, float]:
    """Find the symbols named in the query, each with a confidence.

    The result maps node numbers to confidences. If n symbols have the name, each gets the confidence 1 / sqrt(n), so a unique name gives 1.
    If the query does not write the name as code, it may be an ordinary word, and the confidence is multiplied by 0.3. Symbols of used
    packages are left out, because they have no location in the project.
    """
    scores: dict[int, float] = {}
    for mention in named:
        if mention.text.casefold() in STOP_WORDS or len(mention.text) < 3:
            continue
        nodes = _named(view, mention.text)
        nodes = [node for node in nodes if filters.allows_path(view.path(node))]
        if not nodes or len(nodes) > _MAX_HOMONYMS:
            continue
        score = (1.0 if mention.is_explicit else _PLAIN_NAME) / math.sqrt(len(nodes))
        for node in nodes:
            scores[node] = max(scores.get(node, 0.0), score)
    return scores


def _named(view: GraphView, name: str) -> list[int]:
    """Find symbols by a qualified name, or by the last parts of one.

    For example, `get` finds `Session.get`, and `Session.get` finds `http.Session.get`. The first part may also be the module: `http.get`
    finds `get` in `http.py`.
    """
    exact = [int(node) for node in view.by_qualname(name) if view.label[node] == SYMBOL]
    if exact:
        return exact
    head, _, last = name.rpartition(".")
    nodes = [int(node) for node in view.by_name(last) if view.label[node] == SYMBOL]
    if not head:
        return nodes
    tail = [node for node in nodes if f".{view.qualname(node)}".endswith(f".{name}")]
    if tail:
        return tail
    # "module.function": the first part may be the module.
    return [node for node in nodes if view.path(node).rpartition(".")[0].replace("/", ".").endswith(head)]


def by_graph(view: GraphView, seeds: dict[int, float], depth: int, filters: Filters) -> dict[int, tuple[float, int]]:
    """Find the symbols that an edge joins to a symbol named in the query.

    Edges of both directions count. The score of an edge is its confidence, divided by two logarithms: one of the number of edges at each of
    the two symbols. So symbols with many edges contribute little. The score of a found symbol is the sum over its edges to named symbols.
    Each edge is weighted by the confidence of the named symbol.

    Returns:
        Map from a node to (score, the named symbol that contributes most). The map has the best `depth` nodes, without the named symbols.

    Args:
        view: the graph.
        seeds: the named symbols, each with a confidence.
        depth: maximum number of nodes in the result.
        filters: restrictions on the result.
    """
    mask = kind_mask(HOP_KINDS)
    best: dict[int, tuple[float, int]] = {}
    total: dict[int, float] = {}
    for seed, sure in sorted(seeds.items(), key=lambda item: (-item[1], item[0]))[:_SEEDS]:
        for rows, ends in ((view.out_edges(seed), view.dst), (view.in_edges(seed), view.src)):
            rows = rows[mask[view.edge_kind[rows]]]
            if not len(rows):
                continue
            nodes = ends[rows]
            degree = (view.in_ptr[nodes + 1] - view.in_ptr[nodes]) + (view.out_ptr[nodes + 1] - view.out_ptr[nodes])
            weight = sure * view.confidence[rows] / np.log2(2.0 + degree) / math.log2(2.0 + len(rows))
            for node, value in zip(nodes.tolist(), weight.tolist(), strict=True):
                if node in seeds or view.label[node] in (FILE, EXTERNAL) or not filters.allows_path(view.path(node)):
                    continue
                total[node] = total.get(node, 0.0) + value
                if node not in best or value > best[node][0]:
                    best[node] = (value, seed)
    nearest = sorted(total, key=lambda node: (-total[node], node))[:depth]
    return {node: (total[node], best[node][1]) for node in nearest}


def near_files(view: GraphView, paths: Sequence[str]) -> dict[str, float]:
    """Return how near files are to the open files (`paths`).

    The result maps paths to nearness. An open file has the nearness 1. A file that imports an open file, or is imported by one, gets 0.5 /
    log2(2 + n). Here n is the number of edges that lead to the file that gets the value. So a file that many others import gets a low
    value. Open files that are not in the index are kept, because memories may name them.
    """
    near = dict.fromkeys(paths, 1.0)
    mask = kind_mask(("IMPORTS",))
    for path in sorted(set(paths)):
        node = view.file_node(path)
        if node is None:
            continue
        for rows, ends in ((view.out_edges(node), view.dst), (view.in_edges(node), view.src)):
            for other in ends[rows[mask[view.edge_kind[rows]]]].tolist():
                if view.label[other] != FILE or view.path(other) in paths:
                    continue
                degree = int(view.in_ptr[other + 1] - view.in_ptr[other])
                value = _IMPORTED / math.log2(2.0 + degree)
                near[view.path(other)] = max(near.get(view.path(other), 0.0), value)
    return near
