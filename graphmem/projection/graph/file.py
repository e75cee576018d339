"""Save the arrays of the code graph to a file, and load them.

The file has the numbers as arrays. The strings of nodes, paths, edges and unresolved calls are one Arrow table each.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
import pyarrow as pa

from graphmem.projection.container import read_or_none, write_container
from graphmem.projection.graph.arrays import EdgeColumns, GraphArrays, NodeColumns, PathColumns, UnresolvedColumns
from graphmem.projection.graph.build import text

_FORMAT: Final = 2  # of the file; raise it when a column or a code changes
_KIND: Final = "graph"
_Columns = TypeVar("_Columns", NodeColumns, PathColumns, EdgeColumns, UnresolvedColumns)


def save_graph(arrays: GraphArrays, path: Path) -> None:
    """Write the arrays of the code graph to a file, atomically.

    Raises:
        OSError: the write failed.
    """
    a = arrays
    sections: dict[str, object] = {}
    for name, part in (("nodes", a.nodes), ("paths", a.paths), ("edges", a.edges), ("unresolved", a.unresolved)):
        texts = {}
        for column in fields(part):
            value = getattr(part, column.name)
            if isinstance(value, np.ndarray):
                sections[f"{name}.{column.name}"] = value
            else:
                texts[column.name] = value
        sections[name] = pa.table(texts)
    write_container(path, _KIND, _FORMAT, a.generation, sections, {"rules": a.rules, "dangling": a.dangling})


def load_graph(path: Path, generation: int, notes: list[str] | None = None) -> GraphArrays | None:
    """Load the saved arrays of the code graph; None if they must be rebuilt.

    The arrays must be built again if the file is missing, damaged, or older than the database.

    Args:
        path: path of the file.
        generation: number of the database's last change.
        notes: receives a sentence if the file is damaged.
    """
    saved = read_or_none(path, _KIND, _FORMAT, notes)
    if saved is None or saved.generation != generation:
        return None

    sections = saved.sections

    def part(kind: type[_Columns], name: str) -> _Columns:
        table = sections[name]
        columns = {c.name: sections[f"{name}.{c.name}"] for c in fields(kind) if f"{name}.{c.name}" in sections}
        return kind(**columns, **{column: text(table[column]) for column in table.column_names})

    parts = part(NodeColumns, "nodes"), part(PathColumns, "paths"), part(EdgeColumns, "edges"), part(UnresolvedColumns, "unresolved")
    return GraphArrays(generation, *parts, tuple(saved.meta["rules"]), saved.meta["dangling"])
