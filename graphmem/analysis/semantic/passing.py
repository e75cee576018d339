"""Find imports that only pass names on, as those of a prelude or a barrel.

A file `a` imports `b`, `b` imports `c`, and `a` uses definitions of `c` without an import of it. Then `b` passes the names of `c` on.
Such an import of `b` in `a` is ignored, if `a` uses no definition of `b` itself. The import of `c` in `b` is ignored, if `b` uses
no definition of `c` itself. The dependency is that of `a` on `c`. Examples are `use super::*` in Rust, and an `index.ts` or `__init__.py`
that has functions of its own.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from graphmem.model import EdgeKind
from graphmem.projection.graph.arrays import EDGE_KINDS

if TYPE_CHECKING:
    from graphmem.analysis.semantic.files import FileGraph

_IMPORTS = EDGE_KINDS.index(EdgeKind.IMPORTS)


def passing(files: FileGraph) -> npt.NDArray[np.bool_]:
    """Return which dependencies between files only pass names on, shape (l,)."""
    found = np.zeros(len(files.src), np.bool_)
    if not len(found):
        return found
    is_import = files.view.edge_kind[files.rows] == _IMPORTS
    imports = np.add.reduceat(is_import.astype(np.int64), files.ptr[:-1])
    only = imports == files.weight
    imported: defaultdict[int, set[int]] = defaultdict(set)
    used: defaultdict[int, set[int]] = defaultdict(set)
    for a, b, some in zip(files.src.tolist(), files.dst.tolist(), imports.tolist(), strict=True):
        (imported if some else used)[a].add(b)
    link = {pair: i for i, pair in enumerate(zip(files.src.tolist(), files.dst.tolist(), strict=True))}
    for (a, b), i in link.items():
        if not imports[i]:
            continue
        behind = used[a] & imported[b]
        found[i] |= bool(behind) and bool(only[i])
        for c in behind:
            found[link[b, c]] |= bool(only[link[b, c]])
    return found
