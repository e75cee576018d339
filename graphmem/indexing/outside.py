"""Find files that have edges from other tools than graphmem.

Such tools are SCIP indexers and test runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphmem.projection.graph.arrays import EDGE_SOURCES, distinct

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from graphmem.projection.graph.view import GraphView


def paths_with_edges_of(graph: Callable[[], GraphView], sources: Collection[str]) -> Iterator[str]:
    """Yield the paths of files with edges that other tools reported.

    Args:
        graph: returns the graph; called when the first path is requested.
        sources: kinds of tools, such as SCIP indexers.
    """
    view = graph()
    codes = [EDGE_SOURCES.index(source) for source in sources]
    for number in distinct(view.path_index[view.src[np.isin(view.edge_source, codes)]]).tolist():
        if number >= 0:
            yield view.paths[number]
