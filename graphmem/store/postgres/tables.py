"""Copy Arrow tables to and from PostgreSQL, as CSV through COPY.

PostgreSQL refuses the character U+0000 in a string. So U+0000 is stored as U+001A followed by "a". A real U+001A is stored as U+001A
followed by "b", so that the two can be told apart.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyarrow import csv

from graphmem.runtime.arrow import pc
from graphmem.runtime.data.resources import data_root
from graphmem.store.tables.arrow_rows import TIMESTAMP, checked
from graphmem.store.tables.catalog import Catalog, NamedQuery, read_catalog

if TYPE_CHECKING:
    import psycopg

_TYPES: Final = {
    "STRING": pa.string(),
    "INT64": pa.int64(),
    "DOUBLE": pa.float64(),
    "BOOL": pa.bool_(),
    "TIMESTAMP": TIMESTAMP,
    "BLOB": pa.binary(),
}
_BLOCK: Final = 64 << 20  # bytes; a row must fit
_MARK: Final = "\x1a"
_ESCAPES: Final = ((_MARK, _MARK + "b"), ("\x00", _MARK + "a"))  # in the order of writing
_PARAMETER: Final = re.compile(r"\$([a-z_]+)")


@cache
def catalog() -> Catalog:
    """Return the queries of `queries/postgres`, read once."""
    return read_catalog(data_root() / "queries" / "postgres", ".sql")


class Queries:
    """Runs named queries on one connection."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._catalog = catalog()

    def ask(self, query: str, **values: object) -> pa.Table:
        """Run a named query; return its rows as Arrow, with times in naive UTC.

        `values` has its parameters and placeholders.
        """
        named = self._catalog[query]
        text, params = _bound(named, values)
        # Arrow owns the bytes. One of its threads may free them, and freeing Python's bytes while the interpreter ends aborts the process.
        sink = pa.BufferOutputStream()
        with self._connection.cursor() as cursor, cursor.copy(f"COPY ({text}) TO STDOUT (FORMAT csv)".encode(), params) as copy:
            for piece in copy:
                sink.write(piece)
        return _table_of(named, sink.getvalue())

    def column(self, query: str, **values: object) -> list[Any]:
        """Run a named query; return the first column of its rows."""
        return list(self.ask(query, **values).column(0).to_pylist())

    def rows(self, query: str, **values: object) -> list[tuple[Any, ...]]:
        """Run a named query; return its rows."""
        return list(zip(*(column.to_pylist() for column in self.ask(query, **values).columns), strict=True))

    def run(self, query: str, **values: object) -> int:
        """Run a named query that changes rows; return their number."""
        text, params = _bound(self._catalog[query], values)
        return int(self._connection.execute(text.encode(), params).rowcount)

    def add(self, table: str, pieces: Iterable[pa.Table]) -> None:
        """Copy Arrow tables into a database table with the same column names."""
        remaining = iter(pieces)
        first = next(remaining, None)
        if first is None:
            return
        statement = f"COPY {table} ({', '.join(first.column_names)}) FROM STDIN (FORMAT csv)"
        with self._connection.cursor() as cursor, cursor.copy(statement.encode()) as copy:
            copy.write(_csv_of(first))
            for piece in remaining:
                copy.write(_csv_of(piece))

    def add_rows(self, table: str, columns: Mapping[str, pa.DataType], rows: Sequence[Sequence[object]]) -> None:
        """Insert a few rows into the table `table`.

        Each of `rows` has the values of `columns`, in their order.
        """
        if rows:
            pairs = zip(columns.items(), zip(*rows, strict=True), strict=True)
            self.add(table, [pa.table({name: checked(table, name, pa.array, values, kind) for (name, kind), values in pairs})])


def _bound(named: NamedQuery, values: Mapping[str, object]) -> tuple[str, dict[str, Any] | None]:
    text, params = named.bind(values)
    return _PARAMETER.sub(r"%(\1)s", text), {name: _stored(value) for name, value in params.items()} or None


def _stored(value: object) -> Any:
    """Return a query parameter with U+0000 escaped in its strings."""
    if isinstance(value, str):
        value.encode()  # half a surrogate pair is refused here
        for plain, escaped in _ESCAPES:
            value = value.replace(plain, escaped)
    elif isinstance(value, list):
        return [_stored(one) for one in value]
    return value


def _csv_of(table: pa.Table) -> bytes:
    columns = {name: _written(column) for name, column in zip(table.column_names, table.columns, strict=True)}
    sink = io.BytesIO()
    csv.write_csv(pa.table(columns), sink, csv.WriteOptions(include_header=False))
    return sink.getvalue()


def _written(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    if pa.types.is_binary(column.type):
        return pa.array(["\\x" + one.hex() if one is not None else None for one in column.to_pylist()], pa.string())
    if pa.types.is_string(column.type):
        for plain, escaped in _ESCAPES:
            if pc.any(pc.match_substring(column, plain)).as_py():
                column = pc.replace_substring(column, plain, escaped)
    return column


def _table_of(named: NamedQuery, data: pa.Buffer) -> pa.Table:
    schema = pa.schema({column.name: _TYPES[column.type] for column in named.returns})
    if not data.size:
        return schema.empty_table()
    types = {field.name: pa.string() if pa.types.is_binary(field.type) else field.type for field in schema}
    table = csv.read_csv(
        pa.BufferReader(data),
        csv.ReadOptions(column_names=schema.names, block_size=min(data.size + 1, _BLOCK)),
        csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        csv.ConvertOptions(
            column_types=types,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=["t"],
            false_values=["f"],
        ),
    )
    return pa.Table.from_arrays([_read(column, field) for column, field in zip(table.columns, schema, strict=True)], schema=schema)


def _read(column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray | pa.Array:
    if pa.types.is_binary(field.type):
        return pa.array([None if one is None else bytes.fromhex(one[2:]) for one in column.to_pylist()], pa.binary())
    if pa.types.is_string(field.type) and pc.any(pc.match_substring(column, _MARK)).as_py():
        for plain, escaped in reversed(_ESCAPES):
            column = pc.replace_substring(column, escaped, plain)
    return column
