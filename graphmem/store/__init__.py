"""Store of the code graph and of memories in a database.

This is the only package that imports the embedded database engines, kuzu and ladybug.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphmem.store.kuzu_store import open_store

__all__ = ["open_store"]


def __getattr__(name: str) -> Any:
    # Loads pyarrow, so only when a database is opened.
    if name == "open_store":
        from graphmem.store.kuzu_store import open_store

        return open_store
    raise AttributeError(f"module 'graphmem.store' has no attribute {name!r}; its names are listed in `__all__`")
