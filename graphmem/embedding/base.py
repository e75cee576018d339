"""Interface of an embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from graphmem.errors import EmbedderError

F32 = npt.NDArray[np.float32]


class Embedder(Protocol):
    """An embedding model, which converts texts to vectors. Thread-safe."""

    def __hash__(self) -> int:
        """Hash by identity: caches use an embedder as their key."""

    @property
    def model_id(self) -> str:
        """Key under which vectors are stored.

        Vectors with different keys must not be compared.
        """

    @property
    def dim(self) -> int:
        """Length of a vector; may load the model."""

    @property
    def normalised(self) -> bool:
        """Whether vectors have unit length; the dot product is then the cosine."""

    @property
    def max_tokens(self) -> int:
        """Maximum number of tokens that the model reads of each string."""

    def encode(self, texts: Sequence[str]) -> F32:
        """Return vectors of shape (len(texts), dim), in the order of the texts.

        Raises:
            EmbedderError: the model cannot be loaded, or its output is unusable.
        """


def expect_finite(vectors: F32, model_id: str) -> None:
    """Check the vectors that a model computed.

    Raises:
        EmbedderError: a value is NaN or infinite.
    """
    if not np.isfinite(vectors).all():
        raise EmbedderError(
            f"the embedding model {model_id} returned vectors with NaN or infinite values; choose another model with the "
            "setting `embedder`",
            model=model_id,
        )
