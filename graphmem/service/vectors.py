"""Vectors in the background: which model, what is missing, and how far it is.

The model is chosen on first use and loaded by the filler or the first query that finds vectors, whichever
comes first. Filling stops while an index run works, because both want the processor.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from graphmem.embedding.choose import choose
from graphmem.embedding.fill import fill
from graphmem.model import IndexProgress

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from graphmem.embedding.base import Embedder
    from graphmem.projection.projections import Projections
    from graphmem.settings import Settings
    from graphmem.store.base import GraphStore


class VectorFiller:
    """One project's vectors. Thread-safe; at most one filling at a time."""
