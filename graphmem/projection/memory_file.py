"""The `memories` projection on disk: read in a tenth of the time that making it from the store takes.

One container with the columns as arrays and the rest as one `marshal` value. It is of one state of the knowledge, which its key
names, and of one version of Python; whatever does not fit, or is damaged, is made from the store instead. Vectors are not in it:
the store has them.
"""

from __future__ import annotations

import marshal
import sys
import zlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphmem.projection.container import DamagedFileError, OtherFormatError, read_container, write_container
from graphmem.projection.memories import MemoryIndex

if TYPE_CHECKING:
    from pathlib import Path

FILE: Final = "memories.projection"
FORMAT: Final = f"1 marshal {marshal.version} python {sys.version_info[0]}.{sys.version_info[1]} {sys.byteorder}"
_KIND: Final = "memories"
_VERSION: Final = 1  # raise it when `MemoryIndex.state` changes
_LEVEL: Final = 1  # of zlib
_REST: Final = "rest"


def save_memories(index: MemoryIndex, path: Path, key: str) -> None:
    """Write everything but the vectors, atomically.

    Args:
        index: nobody patches it meanwhile.
        path: of the file.
        key: names the state of the knowledge that it equals.

    Raises:
        OSError: the disk refused; what was there is still there.
    """
    with index.reading():
        columns, rest = index.state()
        columns = {name: column.copy() for name, column in columns.items()}
        data = marshal.dumps(rest)
    packed = np.frombuffer(zlib.compress(data, _LEVEL), np.uint8)
    write_container(path, _KIND, _VERSION, index.generation, {**columns, _REST: packed}, {"key": key, "format": FORMAT})


def load_memories(path: Path, generation: int, key: str, notes: list[str] | None = None) -> MemoryIndex | None:
    """The saved projection, without vectors; None when there is none of this state, or it is damaged, which `notes` is told."""
    try:
        saved = read_container(path, _KIND, _VERSION)
    except (FileNotFoundError, OtherFormatError):
        return None
    except DamagedFileError as error:
        if notes is not None:
            notes.append(f"{error}; it was made again from the database")
        return None
    if (saved.generation, saved.meta) != (generation, {"key": key, "format": FORMAT}):
        return None
    columns: dict[str, Any] = dict(saved.sections)
    # The sums of the container were checked: these are the bytes that were written here, by this version of Python.
    rest = marshal.loads(zlib.decompress(columns.pop(_REST).tobytes()))  # noqa: S302
    return MemoryIndex.restored(generation, columns, rest)
