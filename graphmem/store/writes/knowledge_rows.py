"""Convert rows of memories and sessions to the engine's form and back.

In the engine, times are naive UTC, and an empty list of tags is null, because the engine guesses a wrong type for an empty list. All other
values are as in the row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, get_type_hints

import pyarrow as pa

from graphmem.errors import BadInputError
from graphmem.knowledge import MemoryRow, SessionRow
from graphmem.store.engine.times import from_naive_utc, to_naive_utc
from graphmem.store.tables.arrow_rows import TIMESTAMP, checked
from graphmem.store.tables.tables import NodeTable

_TAGS: Final = tuple[str, ...]
_ARROW: Final[dict[Any, pa.DataType]] = {
    str: pa.string(),
    str | None: pa.string(),
    int: pa.int64(),
    bool: pa.bool_(),
    float: pa.float64(),
    float | None: pa.float64(),
    datetime: TIMESTAMP,
    datetime | None: TIMESTAMP,
    _TAGS: pa.list_(pa.string()),
}


class Shape(NamedTuple):
    """Description of the table of memories or sessions: columns and queries.

    The columns in `texts` hold strings; a separate query changes each of them. One query changes all other columns together.
    """

    label: NodeTable
    kind: type[Any]
    types: dict[str, pa.DataType]
    texts: tuple[str, ...]
    create_one: str
    create_many: str
    set_one: str
    set_many: str

    @property
    def plain(self) -> tuple[str, ...]:
        """Return the columns with numbers, flags and times.

        One query sets all these columns together. The result has all columns except `id` and those in `texts`.
        """
        return tuple(name for name in self.types if name != "id" and name not in self.texts)


def _shape(label: NodeTable, kind: type[object], one: str, many: str) -> Shape:
    types = {name: _ARROW[hint] for name, hint in get_type_hints(kind).items()}
    texts = tuple(name for name, type_ in types.items() if name != "id" and (type_ == pa.string() or pa.types.is_list(type_)))
    return Shape(label, kind, types, texts, f"create_{one}", f"create_{many}", f"set_{one}", f"set_{many}")


MEMORIES: Final = _shape(NodeTable.MEMORY, MemoryRow, "memory", "memories")
SESSIONS: Final = _shape(NodeTable.SESSION, SessionRow, "session", "sessions")


def stored_form(row: Sequence[object]) -> list[object]:
    """Return the values of a memory or session in the engine's form.

    A tuple becomes a list; an empty tuple becomes None. Times stay as they are, because the connection converts them.
    """
    return [(list(value) or None) if isinstance(value, tuple) else value for value in row]


def row_of(shape: Shape, values: Sequence[Any]) -> Any:
    """Convert one result row of the engine to a memory or a session."""
    return shape.kind._make(
        from_naive_utc(value) if isinstance(value, datetime) else tuple(value or ()) if pa.types.is_list(type_) else value
        for value, type_ in zip(values, shape.types.values(), strict=True)
    )


def rows_of_table(shape: Shape, table: pa.Table) -> list[Any]:
    """Convert an Arrow table of a whole node table to memories or sessions.

    The columns are in the table's order.
    """
    return [row_of(shape, values) for values in zip(*(column.to_pylist() for column in table.columns), strict=True)]


def column(shape: Shape, name: str, rows: Sequence[Any]) -> pa.Array:
    """Return one column of memories or sessions as an Arrow array.

    Raises:
        BadInputError: a value does not fit (for example half a surrogate pair, a number of more than 64 bits, or a time without zone).
    """
    at = shape.kind._fields.index(name)
    type_ = shape.types[name]
    convert: Callable[[Any], Any] | None = None
    if type_ == TIMESTAMP:
        convert = lambda value: None if value is None else to_naive_utc(value, name)  # noqa: E731 -- one of two
    elif pa.types.is_list(type_):
        convert = lambda value: list(value) or None  # noqa: E731 -- one of two
    values = [row[at] if convert is None else convert(row[at]) for row in rows]
    return checked(shape.label, name, pa.array, values, type_)


def node_table(shape: Shape, rows: Sequence[object], columns: Sequence[str] | None = None) -> pa.Table:
    """Return memories or sessions as an Arrow table with all or some columns.

    Raises:
        BadInputError: a value does not fit its column; see `column`.
    """
    names = columns or list(shape.types)
    return pa.table({name: column(shape, name, rows) for name in names})


def check_rows(shape: Shape, rows: Sequence[Any]) -> None:
    """Refuse invalid memories or sessions before anything is written.

    Raises:
        BadInputError: an id is repeated, or an item is not a row of this shape.
    """
    ids = [row[0] for row in rows]
    if not all(isinstance(row, shape.kind) for row in rows):
        raise BadInputError(
            f"a row for {shape.label} nodes has the wrong type; pass only {shape.kind.__name__} rows", argument=str(shape.label)
        )
    if len(set(ids)) != len(ids):
        raise BadInputError(f"two {shape.label} rows of the change have the same id; use each id once", argument=str(shape.label))
