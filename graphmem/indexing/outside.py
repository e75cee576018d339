"""Graph queries of an index run for outside evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphmem.projection.arrays import EDGE_SOURCES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from graphmem.projection.graph import GraphView


def paths_with_edges_of(graph: Callable[[], GraphView], sources: Collection[str]) -> Iterator[str]:
    """Files with edges of these sources, read on first use."""
    view = graph()
    codes = [EDGE_SOURCES.index(source) for source in sources]
    for number in np.unique(view.path_index[view.src[np.isin(view.edge_source, codes)]]).tolist():
        if number >= 0:
            yield view.paths[number]
