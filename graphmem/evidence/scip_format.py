"""The part of SCIP's protocol buffers that is read here, as descriptors made in code.

Field names and numbers are those of `scip.proto` (https://github.com/sourcegraph/scip, Apache-2.0); fields that are not
named are kept unread. Nothing is generated, so nothing depends on the version of a compiler.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

_SCALARS: Final = {"string": 9, "int32": 5, "enum": 5, "message": 11}  # an open enum has the wire format of int32
_OPTIONAL, _REPEATED = 1, 3

_MESSAGES: Final[dict[str, tuple[tuple[str, int, str, bool], ...]]] = {
    "ToolInfo": (("name", 1, "string", False), ("version", 2, "string", False)),
    "Metadata": (("tool_info", 2, ".scip.ToolInfo", False), ("project_root", 3, "string", False)),
    "Occurrence": (
        ("range", 1, "int32", True),  # line, start column[, end line], end column; all from 0
        ("symbol", 2, "string", False),
        ("symbol_roles", 3, "int32", False),
    ),
    "Document": (
        ("relative_path", 1, "string", False),
        ("occurrences", 2, ".scip.Occurrence", True),
        ("language", 4, "string", False),
        ("position_encoding", 6, "enum", False),
    ),
    "Index": (("metadata", 1, ".scip.Metadata", False), ("documents", 2, ".scip.Document", True)),
}
"""Message -> (field, number, type, repeated)."""

DEFINITION: Final = 1  # bit of `symbol_roles`
UTF8, UTF16, UTF32 = 1, 2, 3  # `position_encoding`; 0 is not said


@cache
def message_class(name: str) -> Any:
    """The class of a message; protobuf is loaded by the first call."""
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
