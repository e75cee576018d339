"""Compute missing vectors in batches, in order of priority.

Vectors are keyed by the hash of the text. Therefore the vector of an unchanged text is never computed again, a stopped run can resume, and
chunks of equal text share a vector.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from graphmem.embedding.base import F32, Embedder
from graphmem.errors import EmbedderError
from graphmem.store.base import GraphStore

BATCH: Final = 8  # texts between two calls of `stopped`; sentence-transformers encodes them in one pass, and 32 or 64 are slower
WINDOW: Final = 256  # texts read, sorted by length and written together

_LINES: Final = re.compile(r" \| Lines: \d+-\d+")


class FillResult(NamedTuple):
    """Result of computing missing vectors: numbers of added and missing ones.

    The result also says whether the computation was stopped before its end.
    """

    done: int  # vectors added
    wanted: int  # vectors that were missing
    stopped: bool  # stopped before the end


def embedded_text(prefix: str, text: str) -> str:
    """Return the string from which the vector of a chunk is computed.

    The line numbers in `prefix` are removed, so that moved code keeps its vector. The `text_hash` of a chunk is the hash of this string.
    """
    return f"{_LINES.sub('', prefix, count=1)}\n{text}"


@dataclass(frozen=True, slots=True)
class Pace:
    """Settings of the computation of vectors: when to stop or wait, threads.

    Attributes:
        stopped: called before every batch; if it returns True, the fill stops after writing the finished vectors.
        threads: returns how many threads compute vectors; called before each group of `WINDOW` chunks. Used only if the embedder
            `is_parallel`.
        step_back: called before every text or batch, in the encoding threads; may wait to leave the processor to searches.
    """

    stopped: Callable[[], bool]
    threads: Callable[[], int] = lambda: 1
    step_back: Callable[[], None] = lambda: None


def fill(
    store: GraphStore,
    embedder: Embedder,
    order: Sequence[tuple[str, str]],
    have: frozenset[str] | set[str],
    *,
    on_vectors: Callable[[Sequence[str], F32], None],
    on_progress: Callable[[int, int], None],
    pace: Pace,
) -> FillResult:
    """Compute and store missing vectors.

    Args:
        store: holds the chunks' texts and the vectors.
        embedder: its `model_id` is the key of the vectors.
        order: (chunk id, text hash) of the chunks that need a vector, highest priority first.
        have: text hashes that already have a vector.
        on_vectors: receives text hashes and vectors, float32 (n, dim), after every write.
        on_progress: receives (number of computed vectors, number of vectors to compute) at the start and after every write.
        pace: when to stop or wait, and how many threads to use.

    Raises:
        EmbedderError: the model failed. Finished vectors are stored.
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
        # A chunk that changed meanwhile has another hash. The next run takes it.
        wanted = set(window.values())
        texts = {row["text_hash"]: embedded_text(row["prefix"], row["text"]) for row in rows if row["text_hash"] in wanted}
        hashes = sorted(texts, key=lambda key: (len(texts[key]), key))
        parts: list[F32] = []
        halted = False
        try:
            with _encoding(embedder, pace) as (encode, batch):
                for at in range(0, len(hashes), batch):
                    halted = pace.stopped()
                    if halted:
                        break
                    parts.append(encode([texts[key] for key in hashes[at : at + batch]]))
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
    """Return an Arrow table of (text_hash, vector), as the store expects it."""
    flat = pa.array(np.ascontiguousarray(vectors, np.float32).reshape(-1))
    return pa.table({"text_hash": pa.array(hashes, pa.string()), "vector": pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])})


@contextmanager
def _encoding(embedder: Embedder, pace: Pace) -> Iterator[tuple[Callable[[list[str]], F32], int]]:
    """Yield a function that encodes texts, and the number of texts per call.

    If the embedder `is_parallel`, the function encodes in as many threads as `pace.threads` returns. It calls `pace.step_back` before each
    piece of work.
    """

    def together(texts: list[str]) -> F32:
        pace.step_back()
        return _checked(embedder, texts)

    if not getattr(embedder, "is_parallel", False):
        yield together, BATCH
        return
    count = pace.threads()
    if count == 1:  # needs no further thread, which the system may refuse
        yield lambda texts: np.concatenate([together([text]) for text in texts]), BATCH
        return
    with ThreadPoolExecutor(count, "graphmem-encode") as pool:
        yield lambda texts: np.concatenate(list(pool.map(lambda text: together([text]), texts))), BATCH * count


def _checked(embedder: Embedder, texts: list[str]) -> F32:
    vectors = embedder.encode(texts)
    if vectors.shape != (len(texts), embedder.dim) or vectors.dtype != np.float32:
        raise EmbedderError(
            f"the embedding model {embedder.model_id} returned {vectors.dtype} vectors of shape {vectors.shape} instead of float32 "
            f"of shape ({len(texts)}, {embedder.dim}); choose another model with the setting `embedder`",
            model=embedder.model_id,
        )
    return vectors
