"""Read SCIP files (protocol buffers), one document at a time.

Field names and numbers are those of `scip.proto` (https://github.com/sourcegraph/scip, Apache-2.0). Other fields are skipped. Message
descriptors are created in code, so that they work with every version of the compiler. An index can be larger than memory. Therefore, the
outer message is scanned by hand, and each document is parsed on demand.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from graphmem.errors import EvidenceError

MAX_BYTES: Final = 8 << 30
MAX_DOCUMENT_BYTES: Final = 64 << 20

_SCALARS: Final = {"string": 9, "int32": 5, "enum": 5, "bool": 8, "message": 11}  # an open enum has the wire format of int32
_OPTIONAL, _REPEATED = 1, 3

_MESSAGES: Final[dict[str, tuple[tuple[str, int, str, bool], ...]]] = {
    "ToolInfo": (("name", 1, "string", False), ("version", 2, "string", False)),
    "Metadata": (("tool_info", 2, ".scip.ToolInfo", False), ("project_root", 3, "string", False)),
    "Occurrence": (
        ("range", 1, "int32", True),  # line, start column[, end line], end column; all 0-based
        ("symbol", 2, "string", False),
        ("symbol_roles", 3, "int32", False),
        ("enclosing_range", 7, "int32", True),  # of a definition: all of its lines
    ),
    "Relationship": (("symbol", 1, "string", False), ("is_implementation", 3, "bool", False)),
    "SymbolInformation": (
        ("symbol", 1, "string", False),
        ("relationships", 4, ".scip.Relationship", True),
        ("display_name", 6, "string", False),
    ),
    "Document": (
        ("relative_path", 1, "string", False),
        ("occurrences", 2, ".scip.Occurrence", True),
        ("symbols", 3, ".scip.SymbolInformation", True),
        ("text", 5, "string", False),
        ("position_encoding", 6, "enum", False),
    ),
    "Index": (("metadata", 1, ".scip.Metadata", False), ("documents", 2, ".scip.Document", True)),
}
"""Message -> (field, number, type, repeated)."""

DEFINITION: Final = 1  # bit of `symbol_roles`
UTF8, UTF16, UTF32 = 1, 2, 3  # `position_encoding`; 0 is unspecified
_METADATA, _DOCUMENT = 1, 2  # fields of Index
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types without groups
_WIDTHS: Final = {_FIXED64: 8, _FIXED32: 4}


class Frame(NamedTuple):
    """Position of one SCIP document in the index file, in bytes."""

    start: int
    length: int


class ScipFile:
    """A SCIP index on disk, whose outer structure has been checked.

    Args:
        path: the file.

    Attributes:
        metadata: the `Metadata` message of the index.
        frames: the positions of the documents, in order.

    Raises:
        EvidenceError: the file cannot be read, is truncated or damaged, is too large, or is not an index.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.metadata: Any = None
        self.frames: list[Frame] = []
        if path.exists() and not path.is_file():
            raise EvidenceError(f"{path} is not a file; give the path of a SCIP index file", path=str(path), reason="unreadable")
        try:
            with path.open("rb") as file:
                self._walk(file, path.stat().st_size)
        except OSError as error:
            raise self._unreadable(error) from error
        if self.metadata is None or not self.frames:
            raise EvidenceError(
                f"the SCIP index {path} has no metadata or no documents; run the SCIP indexer again", path=str(path), reason="empty"
            )

    def documents(self, frames: list[Frame]) -> Iterator[tuple[Frame, Any]]:
        """Yield (position, parsed SCIP document) for each position in `frames`.

        The document is None if it is damaged.

        Raises:
            EvidenceError: the file is no longer readable.
        """
        try:
            with self.path.open("rb") as file:
                for frame in frames:
                    file.seek(frame.start)
                    yield frame, _parsed("Document", file.read(frame.length))
        except OSError as error:
            raise self._unreadable(error) from error

    def _walk(self, file: BinaryIO, size: int) -> None:
        if size > MAX_BYTES:
            raise EvidenceError(
                f"the SCIP index {self.path} has {size >> 20:,} MB, and graphmem reads at most {MAX_BYTES >> 20:,} MB; create one SCIP "
                "index for each part of the project",
                path=str(self.path),
                reason="too large",
            )
        at = 0
        while at < size:
            file.seek(at)
            number, wire = divmod(_varint(file), 8)
            length = _varint(file) if wire in (_VARINT, _BYTES) else _WIDTHS.get(wire, -1)
            start = file.tell()
            if wire == _VARINT:
                length = 0
            at = start + length
            if length < 0 or number < 1 or at > size:
                raise self._damaged()
            if number == _DOCUMENT and wire == _BYTES:
                self.frames.append(Frame(start, length))
            elif number == _METADATA and wire == _BYTES and self.metadata is None:
                self.metadata = _parsed("Metadata", file.read(min(length, MAX_DOCUMENT_BYTES)))
                if self.metadata is None:
                    raise self._damaged()

    def _damaged(self) -> EvidenceError:
        return EvidenceError(
            f"{self.path} is not a SCIP index, or is truncated; run the indexer again", path=str(self.path), reason="damaged"
        )

    def _unreadable(self, error: OSError) -> EvidenceError:
        return EvidenceError(
            f"{self.path} cannot be read: {error.strerror}; check its path and permissions", path=str(self.path), reason="unreadable"
        )


@cache
def message_class(name: str) -> Any:
    """Return the class of a protobuf message; the first call imports protobuf."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # type: ignore[import-untyped,unused-ignore]

    file = descriptor_pb2.FileDescriptorProto(name="graphmem/scip.proto", package="scip", syntax="proto3")
    for message, fields in _MESSAGES.items():
        made = file.message_type.add(name=message)
        for field, number, kind, is_repeated in fields:
            is_message = kind.startswith(".")
            made.field.add(
                name=field,
                number=number,
                label=_REPEATED if is_repeated else _OPTIONAL,
                type=_SCALARS["message" if is_message else kind],
                type_name=kind if is_message else None,
            )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"scip.{name}"))


def _parsed(name: str, data: bytes) -> Any:
    """Parse the bytes of a protobuf message; None if they are damaged."""
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped,unused-ignore]

    made = message_class(name)()
    try:
        made.ParseFromString(data)
    except DecodeError:
        return None
    return made


def _varint(file: BinaryIO) -> int:
    """Read a protobuf variable-length number; -1 if incomplete or too long."""
    value = 0
    for shift in range(0, 70, 7):
        one = file.read(1)
        if not one:
            return -1
        value |= (one[0] & 127) << shift
        if one[0] < 128:
            return value
    return -1
