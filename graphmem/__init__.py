"""A knowledge graph of a codebase: its code, its history and its memories.

`GraphMem.open(db)` is the Python interface. Importing this package does not import the large libraries that it uses.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["GraphMem", "__version__"]

if TYPE_CHECKING:
    from graphmem.project.graphmem import GraphMem

if sys.platform != "win32":
    import resource  # not by `runtime.process.system`: the pytest plugin loads no other module

    if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        from graphmem.runtime.process.limits import be_frugal

        be_frugal()


def __getattr__(name: str) -> Any:
    if name == "GraphMem":
        from graphmem.project.graphmem import GraphMem

        return GraphMem
    raise AttributeError(f"module 'graphmem' has no attribute {name!r}")
