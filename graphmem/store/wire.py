"""Encode a change of the code graph as compressed JSON for other machines.

The feed of a graph in PostgreSQL and `graphmem push` use it.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any, Final

from graphmem.errors import BadInputError
from graphmem.model import ChunkRow, EdgeRow, ExternalRow, FileRow, GraphDelta, OccurrencesRow, SymbolRow, UnresolvedRow

ROWS: Final[dict[str, type[Any]]] = {
    "files": FileRow,
    "symbols": SymbolRow,
    "externals": ExternalRow,
    "chunks": ChunkRow,
    "edges": EdgeRow,
    "unresolved": UnresolvedRow,
    "occurrences": OccurrencesRow,
}
"""Field of `GraphDelta` -> class of its rows."""
_BYTES: Final = OccurrencesRow._fields.index("places")


def plain(name: str, row: Any) -> list[Any]:
    """Return a row of the code graph as a list of JSON values.

    `name` is the table of the row, such as "symbols".
    """
    values = list(row)
    if name == "occurrences":
        values[_BYTES] = base64.b64encode(values[_BYTES]).decode()
    return values


def row_of(name: str, values: list[Any]) -> Any:
    """Return the row that `plain` converted to a list of JSON values.

    `name` is the table of the row, such as "symbols".
    """
    if name == "occurrences":
        values = [*values[:_BYTES], base64.b64decode(values[_BYTES]), *values[_BYTES + 1 :]]
    return ROWS[name]._make(values)


def encoded(delta: GraphDelta) -> bytes:
    """Return a change of the code as compressed JSON."""
    fields = {name: [plain(name, row) for row in getattr(delta, name)] for name in ROWS}
    others = {name: list(getattr(delta, name)) for name in delta._fields if name not in ROWS and name != "before"}
    return packed({name: rows for name, rows in {**fields, **others}.items() if rows})


def decoded(data: bytes) -> GraphDelta:
    """Return the change of the code that `encoded` wrote.

    The field `before` (the rows before the change) is not encoded, so it is empty.
    """
    found: dict[str, Any] = json.loads(zlib.decompress(data))
    for name, rows in found.items():
        found[name] = (
            [row_of(name, row) for row in rows] if name in ROWS else [tuple(one) if isinstance(one, list) else one for one in rows]
        )
    return GraphDelta.empty()._replace(**found)


def packed(value: object) -> bytes:
    """Return a JSON value as compressed bytes."""
    return zlib.compress(json.dumps(value).encode(), 1)


def unpacked(data: bytes, most: int) -> Any:
    """Return the JSON value that `packed` wrote.

    Args:
        data: bytes from another machine.
        most: maximum number of bytes after decompression.

    Raises:
        BadInputError: the bytes are damaged or too large.
    """
    return value_in(inflated(data, most))


def inflated(data: bytes, most: int) -> bytes:
    """Decompress bytes from another machine, to at most `most` bytes.

    Raises:
        BadInputError: the bytes are damaged, or the content is too large.
    """
    inflate = zlib.decompressobj()
    try:
        content = inflate.decompress(data, most)
    except zlib.error as error:
        raise _damaged(error) from error
    if inflate.unconsumed_tail:
        raise BadInputError(
            f"a part of the pushed index has more than {most:,} bytes; exclude large files from the index, and push again", argument="body"
        )
    if not inflate.eof:
        raise BadInputError("a part of the pushed index arrived truncated; run `graphmem push` again", argument="body")
    return content


def value_in(content: bytes) -> object:
    """Return the JSON value in decompressed bytes.

    Raises:
        BadInputError: the bytes are not valid JSON.
    """
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _damaged(error) from error


def _damaged(error: Exception) -> BadInputError:
    return BadInputError(f"a part of the push is damaged ({error}); run `graphmem push` again", argument="body")
