"""Save the in-memory index of memories to a file, and load it.

Reading the file takes a tenth of the time of building the index from the database.

The file has the columns as arrays and the rest as one `marshal` value. The file is valid for one state of the memories, identified by a
key, and for one version of Python. If the file does not match, or is damaged, the index is built again from the database. Vectors are not
in the file, because the database has them.
"""

from __future__ import annotations

import marshal
import sys
import zlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphmem.projection.container import read_or_none, write_container
from graphmem.projection.memories.index import MemoryIndex
from graphmem.runtime.files.vault import opened, vault_of

if TYPE_CHECKING:
    from pathlib import Path

FILE: Final = "memories.projection"
FORMAT: Final = f"1 marshal {marshal.version} python {sys.version_info[0]}.{sys.version_info[1]} {sys.byteorder}"
_KIND: Final = "memories"
_VERSION: Final = 3  # increase it when `MemoryIndex.state` changes
_LEVEL: Final = 1  # of zlib
_REST: Final = "rest"


def save_memories(index: MemoryIndex, path: Path, key: str) -> None:
    """Write the index of memories, except its vectors, to a file, atomically.

    Args:
        index: the index, which must not be changed meanwhile.
        path: path of the file.
        key: identifies the state of the memories in the index.

    Raises:
        OSError: the write failed; the old file still exists.
    """
    with index.reading():
        columns, rest = index.state()
        columns = {name: column.copy() for name, column in columns.items()}
        data = marshal.dumps(rest)
    data = zlib.compress(data, _LEVEL)
    vault = vault_of(path.parent)
    packed = np.frombuffer(data if vault is None else vault.seal(data), np.uint8)
    write_container(path, _KIND, _VERSION, index.generation, {**columns, _REST: packed}, {"key": key, "format": FORMAT})


def load_memories(path: Path, generation: int, key: str, notes: list[str] | None = None) -> MemoryIndex | None:
    """Load the saved index of memories, without vectors, or return None.

    The result is None if the file is missing or damaged, or was not saved with the same `key`. `generation` is the number of changes of the
    memories. `notes` receives a sentence if the file is damaged.
    """
    saved = read_or_none(path, _KIND, _VERSION, notes)
    if saved is None or (saved.generation, saved.meta) != (generation, {"key": key, "format": FORMAT}):
        return None
    columns: dict[str, Any] = dict(saved.sections)
    # The container's sums were checked: these bytes were written here, by this version of Python.
    rest = marshal.loads(zlib.decompress(opened(columns.pop(_REST).tobytes())))  # noqa: S302
    return MemoryIndex.restored(generation, columns, rest)
