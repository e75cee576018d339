"""Fills in missing vectors in the background, most wanted first, a little at a time.

Vectors are keyed by the hash of the text, so what did not change is never computed again, a run that was
stopped goes on where it stopped, and two chunks of equal text share a vector.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from graphmem.embedding.base import F32, Embedder
from graphmem.errors import EmbedderError
from graphmem.store.base import GraphStore

BATCH: Final = 8  # texts between two looks whether to stop; sentence-transformers reads them in one pass, and 32 or 64 are slower there
WINDOW: Final = 256  # texts read, sorted by length and written together

_LINES: Final = re.compile(r" \| Lines: \d+-\d+")


class FillResult(NamedTuple):
    """What one run did."""

    done: int  # vectors added
    wanted: int  # vectors that were missing
    stopped: bool  # True when it was asked to stop before the end


def embedded_text(prefix: str, text: str) -> str:
    """What is embedded of a chunk: as its `text_hash` says, without line numbers, so that moving code keeps its vector."""
    return f"{_LINES.sub('', prefix, count=1)}\n{text}"


def fill(
    store: GraphStore,
    embedder: Embedder,
    order: Sequence[tuple[str, str]],
    have: frozenset[str] | set[str],
    *,
    on_vectors: Callable[[Sequence[str], F32], None],
    on_progress: Callable[[int, int], None],
    stopped: Callable[[], bool],
) -> FillResult:
    """Compute and store the vectors that are missing.

    Args:
        store: gives the chunks' texts and takes the vectors.
        embedder: whose `model_id` the vectors are kept under.
        order: (chunk id, text hash), most wanted first.
        have: text hashes that have a vector already.
        on_vectors: told after every write: text hashes and vectors, float32 (n, dim).
        on_progress: told (done, wanted) after every write.
        stopped: asked before every batch; what is finished is written before returning.

    Raises:
        EmbedderError: the model failed; what was finished is stored.
    """
    seen = set(have)
    todo: list[tuple[str, str]] = []
    for chunk, text_hash in order:
        if text_hash not in seen:
            seen.add(text_hash)
            todo.append((chunk, text_hash))
    done = 0
    on_progress(0, len(todo))
    for start in range(0, len(todo), WINDOW):
        window = dict(todo[start : start + WINDOW])
        rows = store.chunks(sorted(window)).select(["prefix", "text", "text_hash"]).to_pylist()
        # A chunk that changed since the order was made has another hash: it belongs to the next run.
        wanted = set(window.values())
        texts = {row["text_hash"]: embedded_text(row["prefix"], row["text"]) for row in rows if row["text_hash"] in wanted}
        hashes = sorted(texts, key=lambda key: (len(texts[key]), key))
        parts: list[F32] = []
        halted = False
        try:
            for at in range(0, len(hashes), BATCH):
                halted = stopped()
                if halted:
                    break
                parts.append(_checked(embedder, [texts[key] for key in hashes[at : at + BATCH]]))
        finally:
            if parts:
                vectors = np.concatenate(parts)
                kept = hashes[: len(vectors)]
                store.put_vectors(embedder.model_id, embedder.dim, vector_table(kept, vectors))
                on_vectors(kept, vectors)
                done += len(kept)
                on_progress(done, len(todo))
        if halted:
            return FillResult(done, len(todo), True)
    return FillResult(done, len(todo), False)


def vector_table(hashes: Sequence[str], vectors: F32) -> pa.Table:
    """(text_hash, vector) as the store takes and gives them."""
    flat = pa.array(np.ascontiguousarray(vectors, np.float32).reshape(-1))
    return pa.table({"text_hash": pa.array(hashes, pa.string()), "vector": pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])})


def _checked(embedder: Embedder, texts: list[str]) -> F32:
    vectors = embedder.encode(texts)
    if vectors.shape != (len(texts), embedder.dim) or vectors.dtype != np.float32:
        raise EmbedderError(
            f"{embedder.model_id} gave {vectors.dtype} of shape {vectors.shape} for {len(texts)} texts of dimension {embedder.dim}.",
            model=embedder.model_id,
        )
    return vectors
