"""Vectors without a model: hashed words and letter triples.

Texts get similar vectors if they share words or have similar spellings. Similar meanings have no effect. The method needs no download and
little memory, and gives the same bytes on every machine.

Source: Weinberger et al. 2009, feature hashing with a sign.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Final

import numpy as np

from graphmem.embedding.base import F32
from graphmem.projection.words.text import normalise

_TRIPLE_WEIGHT: Final = 0.3  # of one letter triple beside its word
_MAX_WORDS: Final = 512


class HashedEmbedder:
    """Feature hashing of words and letter triples into unit vectors.

    The vector of a string without words is zero.
    """

    def __init__(self, dim: int = 384) -> None:
        self._dim = dim

    @property
    def model_id(self) -> str:
        """Key of the vectors: the name of the method and the vector length."""
        return f"hashed-words-{self._dim}"

    @property
    def dim(self) -> int:
        """Length of every vector that this embedder computes."""
        return self._dim

    @property
    def normalised(self) -> bool:
        """Whether the vectors have unit length; always True."""
        return True

    @property
    def max_tokens(self) -> int:
        """Maximum number of words that are read of each string."""
        return _MAX_WORDS

    def encode(self, texts: Sequence[str]) -> F32:
        """Return vectors of shape (len(texts), dim), in the order of the texts."""
        vectors = np.zeros((len(texts), self._dim), np.float32)
        for row, text in enumerate(texts):
            counts = Counter(normalise(text).split()[:_MAX_WORDS])
            for word, count in counts.items():
                weight = 1 + math.log(count)
                for slot, value in _features(word, self._dim):
                    vectors[row, slot] += weight * value
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.maximum(length, np.finfo(np.float32).tiny)
        return vectors


@lru_cache(maxsize=100_000)
def _features(word: str, dim: int) -> tuple[tuple[int, float], ...]:
    """Return (position, value) pairs that a word adds to a vector.

    `dim` is the length of the vector. The pairs come from the hashes of the word and of its letter triples.
    """
    framed = f"<{word}>"
    parts = [(word, 1.0)] + [(framed[i : i + 3], _TRIPLE_WEIGHT) for i in range(len(framed) - 2)]
    features = []
    for part, weight in parts:
        number = int.from_bytes(blake2b(part.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
        features.append((number % dim, weight if number >> 63 else -weight))
    return tuple(features)
