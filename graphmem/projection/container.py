"""File format of saved projections: many columns in one file.

    magic (8) | length of the header (8) | CRC-32 of the header (4) | header (JSON) | padding | sections, each at a multiple of 64

Numbers in parentheses are bytes; integers are little endian. The header contains the kind of the file, its format number, and the number of
the database's last change (generation). For every section, the header has position, length and CRC-32, and for an array also numpy type and
shape. A section without a numpy type is an Arrow IPC stream. All sections are compressed with zstd. A file is written under a temporary
name and then renamed, so a reader sees the old or the new file.
"""

from __future__ import annotations

import json
import mmap
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from graphmem.runtime.files.sqlite_file import private

_MAGIC: Final = b"GMPROJ1\n"
_ALIGN: Final = 64
_REBUILT: Final = "you need not do anything, because graphmem rebuilds the file from the database"


class DamagedFileError(Exception):
    """Error: a saved copy of the database's content has wrong bytes.

    The copy must be built again from the database.
    """


class OtherFormatError(DamagedFileError):
    """Error: a saved copy of the database's content has an unexpected format.

    The file is intact, but its kind or its format number is not the expected one. The copy must be built again from the database.
    """


class Container(NamedTuple):
    """Content of a saved copy: arrays and tables by name, and `meta`.

    `meta` has further values by name, which the caller chose when writing the file.
    """

    generation: int
    meta: dict[str, Any]
    sections: dict[str, Any]


def write_container(
    path: Path, what: str, version: int, generation: int, sections: Mapping[str, object], meta: Mapping[str, object]
) -> None:
    """Write numpy arrays and Arrow tables to a file, atomically.

    The new file replaces the previous one. `what` is the kind of the file, `version` the number of its format, and `generation` the graph's
    number of changes. `sections` maps names to arrays and tables, and `meta` maps names to values that JSON supports.

    Raises:
        OSError: the write failed; the old file still exists.
    """
    blobs: list[memoryview] = []
    directory: list[dict[str, Any]] = []
    at = 0
    for name, value in sections.items():
        blob = _array_bytes(value) if isinstance(value, np.ndarray) else _arrow_bytes(value)
        entry: dict[str, Any] = {"name": name, "at": at, "size": len(blob), "crc": zlib.crc32(blob)}
        if isinstance(value, np.ndarray):
            entry |= {"dtype": value.dtype.str, "shape": list(value.shape), "bytes": value.nbytes}
        directory.append(entry)
        blobs.append(blob)
        at += -(-len(blob) // _ALIGN) * _ALIGN
    header = json.dumps({"what": what, "format": version, "generation": generation, "meta": dict(meta), "sections": directory}).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with open(temporary, "wb", opener=private) as out:
            out.write(_MAGIC + len(header).to_bytes(8, "little") + zlib.crc32(header).to_bytes(4, "little") + header)
            for blob in blobs:
                out.write(b"\0" * (-out.tell() % _ALIGN))
                out.write(blob)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_container(path: Path, what: str, version: int) -> Container:
    """Open a file written by `write_container` and check its checksums.

    `what` is the expected kind of the file, and `version` the expected number of its format. Arrays and tables are decompressed into
    memory.

    Raises:
        FileNotFoundError: the file is missing.
        DamagedFileError: at least one byte has changed.
        OtherFormatError: the file has another kind or format.
    """
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size < len(_MAGIC) + 12:
            raise DamagedFileError(f"the cache file {path.name} is truncated; {_REBUILT}")
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    view = memoryview(data)
    start = len(_MAGIC) + 12
    size = int.from_bytes(view[8:16], "little")
    if (
        bytes(view[:8]) != _MAGIC
        or start + size > len(view)
        or zlib.crc32(view[start : start + size]) != int.from_bytes(view[16:20], "little")
    ):
        raise DamagedFileError(f"the cache file {path.name} has a damaged header; {_REBUILT}")
    header = json.loads(bytes(view[start : start + size]))
    if header["what"] != what or header["format"] != version:
        raise OtherFormatError(
            f"{path} has the content {header['what']} in format {header['format']} instead of {what} in format {version}; graphmem "
            "rebuilds it"
        )
    base = -(-(start + size) // _ALIGN) * _ALIGN
    sections: dict[str, Any] = {}
    ends = start + size
    for entry in header["sections"]:
        blob = view[base + entry["at"] : base + entry["at"] + entry["size"]]
        padding, ends = view[ends : base + entry["at"]], base + entry["at"] + entry["size"]
        if len(blob) != entry["size"] or zlib.crc32(blob) != entry["crc"] or any(padding):
            raise DamagedFileError(f"the section {entry['name']} of the cache file {path.name} is damaged; {_REBUILT}")
        if "dtype" in entry:
            plain = _CODEC.decompress(pa.py_buffer(blob), entry["bytes"]) if entry["bytes"] else b""
            sections[entry["name"]] = np.frombuffer(plain, np.dtype(entry["dtype"])).reshape(entry["shape"])
        else:
            sections[entry["name"]] = pa.ipc.open_stream(pa.py_buffer(blob)).read_all()
    if ends != len(view):
        raise DamagedFileError(f"the cache file {path.name} has bytes after its last section; {_REBUILT}")
    return Container(header["generation"], header["meta"], sections)


def read_or_none(path: Path, what: str, version: int, notes: list[str] | None) -> Container | None:
    """Read a file like `read_container`; None if it must be made again.

    The result is None for a missing or damaged file, and for one of another format. For `what` and `version`, see `read_container`. `notes`
    receives a sentence if the file is damaged.
    """
    try:
        return read_container(path, what, version)
    except (FileNotFoundError, OtherFormatError):
        return None
    except DamagedFileError as error:
        if notes is not None:
            notes.append(str(error))
        return None


def _array_bytes(value: npt.NDArray[np.generic]) -> memoryview:
    plain = np.ascontiguousarray(value).reshape(-1).view(np.uint8).data
    return memoryview(_CODEC.compress(plain, asbytes=True)) if value.nbytes else memoryview(b"")


# Columns shrink to a third; reading all of them takes some 30 ms more.
_CODEC: Final = pa.Codec("zstd")
_COMPRESSED: Final = pa.ipc.IpcWriteOptions(compression="zstd")


def _arrow_bytes(value: pa.Table) -> memoryview:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, value.schema, options=_COMPRESSED) as writer:
        writer.write_table(value)
    return memoryview(sink.getvalue())
