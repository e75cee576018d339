"""Validate the rows and texts of a push before they change the graph.

Rows that branches share are stored by their digest, a hash that the client sends. So the hash is computed again from the rows. A file's
text is compared with the hash in its row, and the id of an external name with that name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from graphmem.errors import BadInputError
from graphmem.indexing.delta import Rows
from graphmem.model import ExternalRow, external_id
from graphmem.parsing.discovery import content_hash
from graphmem.project.hosted.pushed_rows import digest_of_rows, rows_by_path, rows_in
from graphmem.project.hosted.pushed_texts import encoded
from graphmem.projection.graph.arrays import EXTERNAL
from graphmem.runtime.network.pushes import is_inside
from graphmem.store.wire import row_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from graphmem.projection.graph.view import GraphView

_TABLES: Final = ("files", "symbols", "chunks", "edges", "unresolved", "occurrences")
WRONG: Final = (KeyError, TypeError, ValueError, AttributeError, pa.ArrowInvalid, pa.ArrowTypeError)


def checked(last: Mapping[str, Any], parts: Iterable[Mapping[str, Any]]) -> tuple[dict[str, str], Rows, set[str]]:
    """Check a push; return hashes, rows, and the paths of files with rows.

    `last` describes the push and has, for example, the digest (hash of the rows) of each file. `parts` are the pieces in which the rows
    were sent. The first result maps the path of each file to its digest. The second result has all rows that were sent.

    Raises:
        BadInputError: a path is invalid, or rows, texts or external names do not fit their hashes.
    """
    digests: dict[str, str] = {str(path): str(digest) for path, digest in last["digests"].items()}
    if bad := next((path for path in digests if not is_inside(path)), None):
        raise _outside(bad)
    new, sent = _rows(digests, str(last["meta"]["project"]), parts)
    if not sent <= digests.keys():
        raise BadInputError(
            "the pushed index has rows of files that are not in its list of files; run `graphmem index`, then `graphmem push` again",
            argument="body",
        )
    return digests, new, sent


def _rows(digests: Mapping[str, str], project: str, parts: Iterable[Mapping[str, Any]]) -> tuple[Rows, set[str]]:
    """Return the rows in all parts of a push, and the paths of their files.

    `digests` has the digest of each path. `project` is the name that ids of external names contain.
    """
    rows: dict[str, list[Any]] = {table: [] for table in _TABLES}
    externals: dict[str, ExternalRow] = {}
    for part in parts:
        _refuse_forged(part, digests, project)
        for table, some in part["rows"].items():
            rows[table] += [row_of(table, row) for row in some]
        externals.update((id_, ExternalRow._make(row)) for id_, row in part["externals"].items())
    new = Rows(externals=externals, **rows)
    paths = {row.path for table in ("files", "symbols", "chunks", "unresolved", "occurrences") for row in rows[table]}
    if bad := next((path for path in paths if not is_inside(path)), None):
        raise _outside(bad)
    return new, {row.path for row in new.files}


def _refuse_forged(part: Mapping[str, Any], digests: Mapping[str, str], project: str) -> None:
    """Refuse a part of a push in which a hash does not fit its content.

    The hashes of rows, of texts and of external names (names of used packages) are computed again. `digests` has the hash of the rows of
    each file.
    """
    of_path = rows_by_path(part["rows"])
    if bad := next((path for path, rows in of_path.items() if path in digests and digest_of_rows(rows) != digests[path]), None):
        raise _forged(f"rows of {bad[:200]!r}")
    hashes = {row.path: row.content_hash for row in (row_of("files", one) for one in part["rows"].get("files", ()))}
    if bad := next((path for path, text in part["texts"].items() if content_hash(encoded(text)) != hashes.get(path)), None):
        raise _forged(f"text of {bad[:200]!r}")
    names = [ExternalRow._make(row) for row in part["externals"].values()]
    if wrong := next((row for row in names if row.id != external_id(project, row.package, row.name)), None):
        raise _forged(f"external name {wrong.name[:200]!r}")


def refuse_open_edges(parts: Iterable[Mapping[str, Any]], new: Rows, main: GraphView, own: Callable[[], Mapping[str, bytes]]) -> None:
    """Refuse a push of a branch that leaves out the end of one of its edges.

    The rows of a file are stored once for all branches, with the external names to which its edges lead. A missing name would be missing
    for everybody.

    Args:
        parts: the pieces in which the rows were sent; the external names of a file are in the same piece.
        new: all rows that were sent.
        main: the graph of the main branch.
        own: returns the packed rows of files that differ on the branch; called only if an end is in neither the push nor the main branch.

    Raises:
        BadInputError: an edge leads to a node that is neither in the push nor in the project.
    """
    sent = {row.id for row in new.files} | {row.id for row in new.symbols}
    open_ends = {
        end
        for part in parts
        for end in {str(row[2]) for row in part["rows"].get("edges", ())} - sent - part["externals"].keys()
        if (node := main.index_of.get(end)) is None or main.label[node] == EXTERNAL
    }
    if not open_ends:
        return
    kept = rows_in(own().values())
    if not open_ends <= {row.id for row in kept.files} | {row.id for row in kept.symbols}:
        raise BadInputError(
            "the pushed index has an edge without its end; update graphmem on both machines, then run `graphmem push` again",
            argument="body",
        )


def _forged(content: str) -> BadInputError:
    return BadInputError(
        f"the pushed {content} and the hash sent with it differ; update graphmem on both machines, then run `graphmem push` again",
        argument="body",
    )


def _outside(path: str) -> BadInputError:
    return BadInputError(
        f"the pushed path {path[:200]!r} is not a source file inside the project; run `graphmem index`, then `graphmem push` again",
        argument="path",
    )
