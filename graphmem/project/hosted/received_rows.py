"""Validate the rows of a push before they change the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from graphmem.errors import BadInputError
from graphmem.indexing.delta import Rows
from graphmem.model import ExternalRow
from graphmem.runtime.network.pushes import is_inside
from graphmem.store.wire import row_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_TABLES: Final = ("files", "symbols", "chunks", "edges", "unresolved", "occurrences")
WRONG: Final = (KeyError, TypeError, ValueError, AttributeError, pa.ArrowInvalid, pa.ArrowTypeError)


def checked(last: Mapping[str, Any], parts: Iterable[Mapping[str, Any]]) -> tuple[dict[str, str], Rows, set[str]]:
    """Check a push; return hashes, rows, and the paths of files with rows.

    `last` describes the push and has, for example, the digest (hash of the rows) of each file. `parts` are the pieces in which the rows
    were sent. The first result maps the path of each file to its digest. The second result has all rows that were sent.

    Raises:
        BadInputError: a path is invalid, or a part has rows of a file that has no digest.
    """
    digests: dict[str, str] = {str(path): str(digest) for path, digest in last["digests"].items()}
    if bad := next((path for path in digests if not is_inside(path)), None):
        raise _outside(bad)
    new, sent = _rows(parts)
    if not sent <= digests.keys():
        raise BadInputError(
            "the pushed index has rows of files that are not in its list of files; run `graphmem index`, then `graphmem push` again",
            argument="body",
        )
    return digests, new, sent


def _rows(parts: Iterable[Mapping[str, Any]]) -> tuple[Rows, set[str]]:
    """Return the rows in all parts of a push, and the paths of their files."""
    rows: dict[str, list[Any]] = {table: [] for table in _TABLES}
    externals: dict[str, ExternalRow] = {}
    for part in parts:
        for table, some in part["rows"].items():
            rows[table] += [row_of(table, row) for row in some]
        externals.update((id_, ExternalRow._make(row)) for id_, row in part["externals"].items())
    new = Rows(externals=externals, **rows)
    paths = {row.path for table in ("files", "symbols", "chunks", "unresolved", "occurrences") for row in rows[table]}
    if bad := next((path for path in paths if not is_inside(path)), None):
        raise _outside(bad)
    return new, {row.path for row in new.files}


def _outside(path: str) -> BadInputError:
    return BadInputError(
        f"the pushed path {path[:200]!r} is not a source file inside the project; run `graphmem index`, then `graphmem push` again",
        argument="path",
    )
