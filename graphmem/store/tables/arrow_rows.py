"""Convert rows of graphmem.model to Arrow tables of the database's schema.

Two kinds of values are stored in another form:

* The columns `prefix` and `text` of a chunk are compressed together, to half their size.
* Only the first line number of an edge is stored as it is, and the others as distances from the first.

Compression saves more than half of the file, because the engine enlarges a string column in powers of two. An edge has several line numbers
if, for example, a function calls another one on several lines. With distances, only the first line number changes if the code moves.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar, get_type_hints

import pyarrow as pa

from graphmem.errors import BadInputError, DatabaseDamagedError
from graphmem.model import ChunkRow, EdgeRow, ExternalRow, FileRow, OccurrencesRow, PackedChunkRow, SymbolRow, UnresolvedRow
from graphmem.runtime.arrow import pc
from graphmem.runtime.texts.compression import deflated, inflated
from graphmem.store.tables.tables import NodeTable

_Row = TypeVar("_Row", FileRow, SymbolRow, ExternalRow, ChunkRow, EdgeRow, UnresolvedRow, OccurrencesRow)

ROW_TYPES: Final[dict[NodeTable, type[Any]]] = {
    NodeTable.FILE: FileRow,
    NodeTable.SYMBOL: SymbolRow,
    NodeTable.EXTERNAL: ExternalRow,
    NodeTable.CHUNK: ChunkRow,
    NodeTable.UNRESOLVED: UnresolvedRow,
    NodeTable.OCCURRENCES: OccurrencesRow,
}
TIMESTAMP: Final = pa.timestamp("us")
_ARROW: Final = {str: pa.string(), int: pa.int64(), bool: pa.bool_(), float: pa.float64(), bytes: pa.binary()}
_PREFIX: Final = ChunkRow._fields.index("prefix")
_LINES: Final = slice(ChunkRow._fields.index("start_line"), ChunkRow._fields.index("end_line") + 1)
SLICE: Final = 2000  # rows converted to Arrow and passed to the engine at a time; bounds the memory of a load


def node_slices(label: NodeTable, rows: Iterable[NamedTuple]) -> Iterator[pa.Table]:
    """Yield rows of one node table as Arrow tables of up to `SLICE` rows each.

    The column `stale_at` is null in every row.

    Raises:
        BadInputError: a value does not fit its column (for example half a surrogate pair, a number of more than 64 bits, or another type).
    """
    fields = _fields(label)
    remaining = iter(rows)
    while some := list(islice(remaining, SLICE)):
        yield pa.Table.from_batches([_batch(label, fields, some)])


def _batch(label: NodeTable, fields: Sequence[pa.Field], rows: Sequence[NamedTuple]) -> pa.RecordBatch:
    columns: list[Any] = list(zip(*rows, strict=True))
    if label is NodeTable.CHUNK and not isinstance(rows[0], PackedChunkRow):
        prefixes = columns.pop(_PREFIX)
        columns[_PREFIX] = checked(label, "text", _packed_texts, prefixes, columns[_PREFIX], *columns[_LINES])  # the text came next
    arrays = [checked(label, field.name, pa.array, column, field.type) for field, column in zip(fields, columns, strict=False)]
    return pa.RecordBatch.from_arrays([*arrays, pa.nulls(len(rows), TIMESTAMP)], schema=pa.schema(fields))


def _packed_texts(prefixes: Sequence[str], texts: Sequence[str], firsts: Sequence[int], lasts: Sequence[int]) -> list[bytes]:
    return list(map(deflated, prefixes, texts, firsts, lasts))


def checked(label: str, column: str, convert: Callable[..., Any], *values: object) -> Any:
    """Run a function that converts values of one column; return its result.

    `convert` is the function. `label` and `column` name the table and its column in the error message.

    Raises:
        BadInputError: `convert` failed, because a value does not fit the column.
    """
    try:
        return convert(*values)
    except (UnicodeEncodeError, OverflowError, TypeError, AttributeError, pa.ArrowException) as error:
        said = "it needs more than 64 bits" if isinstance(error, OverflowError) else error
        raise BadInputError(
            f"the column {label}.{column} has a value that cannot be stored ({said}); correct that value", argument=column, table=str(label)
        ) from error


def _fields(label: NodeTable) -> list[pa.Field]:
    fields = [pa.field(name, _ARROW[kind]) for name, kind in get_type_hints(ROW_TYPES[label]).items()]
    if label is NodeTable.CHUNK:
        del fields[_PREFIX]
        fields[_PREFIX] = fields[_PREFIX].with_type(pa.binary())
    return [*fields, pa.field("stale_at", TIMESTAMP)]


EDGE_SCHEMA: Final = pa.schema(
    {
        "src": pa.string(),
        "dst": pa.string(),
        "confidence": pa.float64(),
        "source": pa.string(),
        "rule": pa.string(),
        "line": pa.int64(),
        "offsets": pa.string(),
        "stale_at": TIMESTAMP,
    }
)


def edge_table(rows: Sequence[EdgeRow]) -> pa.Table:
    """Return edges of one kind as a table; the first two columns are the ends.

    Raises:
        BadInputError: a value does not fit its column.
    """
    batches = []
    for at in range(0, len(rows), SLICE):
        columns: list[Any] = list(zip(*rows[at : at + SLICE], strict=True))[1:]
        columns[-1] = [to_offsets(line, lines) for line, lines in zip(columns[5], columns[6], strict=True)]
        arrays = [checked("edges", field.name, pa.array, column, field.type) for field, column in zip(EDGE_SCHEMA, columns, strict=False)]
        batches.append(pa.RecordBatch.from_arrays([*arrays, pa.nulls(len(arrays[0]), TIMESTAMP)], schema=EDGE_SCHEMA))
    return pa.Table.from_batches(batches, EDGE_SCHEMA)


_VERBATIM: Final = "="  # before sites that are not ascending numbers from `line` on


def to_offsets(line: int, lines: str) -> str | None:
    """Convert the line numbers of an edge to distances from its first line.

    With `line` 12 and `lines` "12,48,101" the result is "36,89". The result is None if `line` is the only line. If `to_lines` could not
    restore the lines from the result, the result is a marker and the unchanged `lines`.
    """
    if lines == (str(line) if line else ""):
        return None
    try:
        first, *further = map(int, lines.split(","))
    except ValueError:
        return _VERBATIM + lines
    offsets = ",".join(str(site - line) for site in further)
    return offsets if further and first == line and to_lines(line, offsets) == lines else _VERBATIM + lines


def to_lines(line: int, offsets: str | None) -> str:
    """Return all lines of an edge, given its first line and stored distances.

    This reverses `to_offsets`: 12 and "36,89" give "12,48,101".
    """
    if offsets is None:
        return str(line) if line else ""
    if offsets.startswith(_VERBATIM):
        return offsets.removeprefix(_VERBATIM)
    return ",".join([str(line), *(str(line + int(offset)) for offset in offsets.split(","))])


def full_lines(table: pa.Table) -> pa.Table:
    """Return stored edges with a column `lines` in place of `offsets`.

    `to_lines` computes each value: all lines of the edge.
    """
    said = pc.if_else(pc.equal(table["line"], 0), "", pc.cast(table["line"], pa.string()))
    several = pc.is_valid(table["offsets"])
    if pc.any(several).as_py():
        some = table.filter(several)
        written = map(to_lines, some["line"].to_pylist(), some["offsets"].to_pylist())
        said = pc.replace_with_mask(said.combine_chunks(), several.combine_chunks(), pa.array(written, pa.string()))
    return table.set_column(table.column_names.index("offsets"), "lines", said)


def full_texts(table: pa.Table) -> pa.Table:
    """Return stored chunks with their `prefix` and `text` decompressed.

    Raises:
        DatabaseDamagedError: the bytes of a chunk have changed.
    """
    at = table.column_names.index("text")
    try:
        pairs = list(map(inflated, *(table[name].to_pylist() for name in ("text", "start_line", "end_line"))))
    except (zlib.error, ValueError) as error:
        raise DatabaseDamagedError(
            f"the stored text of a chunk of code cannot be read ({error}); index again", path="", reason=str(error)
        ) from error
    prefixes, texts = ([pair[side] for pair in pairs] for side in (0, 1))
    return table.set_column(at, "text", pa.array(texts, pa.string())).add_column(at, "prefix", pa.array(prefixes, pa.string()))


def model_rows(kind: type[_Row], table: pa.Table) -> list[_Row]:
    """Convert an Arrow table to rows of graphmem.model, such as EdgeRow.

    The columns are found by name.
    """
    columns = [table[name].to_pylist() for name in kind._fields]
    return list(map(kind._make, zip(*columns, strict=True)))


def wanted(ids: Sequence[str]) -> pa.Table:
    """Return ids as an Arrow table with a single column, named `wanted`.

    A query joins this table with the nodes that have these ids.
    """
    return pa.table({"wanted": checked("keys", "wanted", pa.array, ids, pa.string())})
