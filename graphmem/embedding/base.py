"""What the rest of graphmem may ask of an embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Text to vectors. Every method may be called from any thread."""

    def __hash__(self) -> int:
        """By identity: answers of an embedder are remembered under it."""

    @property
    def model_id(self) -> str:
        """Name under which vectors are kept; differs whenever vectors cannot be compared."""

    @property
    def dim(self) -> int:
        """Length of a vector; may load the model."""

    @property
    def normalised(self) -> bool:
        """True when vectors have unit length, so that the dot product is the cosine."""

    @property
    def max_tokens(self) -> int:
        """What the model reads of a text; the rest is not seen."""

    def encode(self, texts: Sequence[str]) -> F32:
        """Vectors of shape (len(texts), dim), in the order of the texts.

        Raises:
            EmbedderError: the model cannot be loaded or gives something unusable.
        """
