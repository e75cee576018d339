"""Link the two ends of contracts, such as a route and the call of its URL.

An end is a place in code that offers or uses a contract. The links depend only on the ends of all files. A fresh index and any sequence of
incremental runs therefore give the same edges.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from graphmem.contracts import rows as file
from graphmem.contracts.linking import link
from graphmem.contracts.rows import ContractRow
from graphmem.contracts.services import service_of
from graphmem.model import MODULE_QUALNAME, EdgeKind, EdgeRow, EdgeSource
from graphmem.runtime.process.limits import disk_refusal

if TYPE_CHECKING:
    from graphmem.contracts.links import Link
    from graphmem.resolution.resolver import Resolver

SCHEMAS: Final = (".proto", ".graphql", ".graphqls", ".gql", ".yaml", ".yml", ".json")


def is_schema(path: str) -> bool:
    """Whether a path has the suffix of a schema file, such as `.proto`.

    Suffixes such as `.json` are included, because JSON files may declare routes and other contracts between programs.
    """
    return path.endswith(SCHEMAS)


"""Qualified name of the symbol that stands for a whole file."""


class Contracts:
    """Collects and links the contract ends of a project. Not thread-safe.

    A contract end is a place in code that offers or uses a contract, such as an HTTP route.

    Args:
        folder: the index directory.
        project: name of the project.
    """

    def __init__(self, folder: Path, project: str) -> None:
        self._folder = folder
        self._project = project
        self._run = ""
        self._rows: dict[str, list[ContractRow]] | None = None  # of the last run
        self._new: dict[str, list[ContractRow]] = {}
        self._edges: dict[str, list[EdgeRow]] | None = None  # that the rows give, as far as they were linked

    def begin(self, run: str, *, full: bool) -> bool:
        """Prepare an index run; return False if needed contract ends are missing.

        A contract is a name that two programs share, such as a route. Its ends are the places in code that offer or use it. A full run
        collects all ends again, so it needs no earlier ones. Any other run needs those of the previous run, from memory or from
        `contracts.json`.

        Args:
            run: identifier of the previous run.
            full: whether all files are read again.
        """
        if full:
            self._rows, self._edges = {}, None
        elif self._rows is None or self._run != run:
            found = file.read(self._folder)
            self._rows, self._edges = found.rows if found is not None and found.run == run else None, None
        self._new = {}
        return self._rows is not None

    def take(self, path: str, ends: Iterable[Sequence[object]], resolver: Resolver | None, edges: Sequence[EdgeRow] = ()) -> None:
        """Add the contract ends that the parser found in one file to this run.

        A contract end is a place in code that offers or uses a contract, such as a route. For the arguments, see `rows_of`.
        """
        self._new[path] = rows_of(path, ends, resolver, edges)

    def take_rows(self, path: str, rows: Sequence[ContractRow]) -> None:
        """Add the contract ends of one file, already converted to rows.

        A contract end is a place in code that offers or uses a contract. The rows come from another process, which called `rows_of`.
        """
        self._new[path] = list(rows)

    def join(self, resolver: Resolver | None, removed: Collection[str]) -> set[str]:
        """Link the contract ends of all files; return paths with changed edges.

        A contract end is a place in code that offers or uses a contract. An edge belongs to the file that uses the contract, so every
        returned path is the path of a file that uses a contract. Deleted files are not returned.

        Args:
            resolver: finds the function that handles a route, which may be in another file; None keeps the known functions.
            removed: paths of deleted files.
        """
        before = self._rows or {}
        after = {path: some for path, some in before.items() if path not in removed and path not in self._new}
        after.update((path, some) for path, some in self._new.items() if some)
        if resolver is not None:
            after = {path: [_placed(row, resolver) if row.handler else row for row in some] for path, some in after.items()}
        if before == after:
            if self._edges is None:
                self._edges = _edges(after)
            return set()
        old = self._edges if self._edges is not None else _edges(before)
        self._run = ""  # if this run fails, the next one reads again what the graph has
        self._rows, self._edges = after, _edges(after)
        return {path for path in old.keys() | self._edges.keys() if path not in removed and old.get(path) != self._edges.get(path)}

    def edges(self, path: str) -> list[EdgeRow]:
        """Return the edges that lead from one file to the contracts that it uses.

        A contract is, for example, a route. An edge begins at the code in the file `path` that uses the contract, and ends at the code that
        offers it.
        """
        return (self._edges or {}).get(path, [])

    def keep(self, run: str) -> None:
        """Write the contract ends of all files to `contracts.json`.

        A contract end is a place in code that offers or uses a contract, such as a route. `run` is the index run that found them; the file
        records this run. Later processes and other projects read the file.

        Raises:
            DiskFullError, BadInputError, ResourceError: the write failed.
        """
        self._run = run
        try:
            file.write(self._folder, run, self._project, self._rows or {})
        except OSError as error:
            raise disk_refusal(error, "writing the contracts of the index", self._folder) from error
        self._new = {}


def has_handlers(ends: Iterable[Sequence[object]]) -> bool:
    """Whether a route or another contract in a file names its handler.

    `ends` are the places in the file that offer or use a contract, as tuples with the fields of `parsing.contracts.end.End`.
    """
    return any(handler for _, _, _, _, _, handler, _, _ in ends)


def rows_of(path: str, ends: Iterable[Sequence[Any]], resolver: Resolver | None, edges: Sequence[EdgeRow] = ()) -> list[ContractRow]:
    """Convert the contract ends in a file to rows, with their symbols.

    A contract end is a place in code that offers or uses a contract. A handler is the function that answers a route. If `edges` show which
    function this is, the row has the function as its symbol, and its field `handler` is empty. The function is then not searched again
    until the file is resolved again.

    Args:
        path: the file.
        ends: tuples with the fields of `parsing.contracts.end.End`.
        resolver: finds the function to which a contract end belongs. Without a resolver, as for a schema file, the symbols stay empty.
        edges: edges out of the file, which decide between several handlers of one name.
    """
    rows = [
        ContractRow(role, kind, name, path, "", "", line, handler, said, framework, False, scope)
        for role, kind, name, scope, line, handler, said, framework in ends
    ]
    if resolver is None:
        return rows
    placed = [_placed(row, resolver) for row in rows]
    for at, row in enumerate(placed):
        if row.handler and row.role == "offers" and (found := resolver.handler(path, row.scope, row.line, row.handler, edges)) is not None:
            placed[at] = row._replace(symbol=found[0], qualname=found[1], handler="")
    return placed


def calls_in(edges: Iterable[EdgeRow]) -> set[tuple[str, str]]:
    """Return the (source id, destination id) of each CALLS edge."""
    return {(edge.src, edge.dst) for edge in edges if edge.kind == EdgeKind.CALLS}


def _placed(row: ContractRow, resolver: Resolver) -> ContractRow:
    """Return the row of a contract end, with the symbol of the end.

    If the end names a handler, as a route does, the symbol is the function with that name. The function may be in another file. Otherwise
    the symbol is the definition that contains the end.
    """
    symbol, qualname, test = resolver.place(row.path, row.scope, row.handler, service_of)
    return row._replace(symbol=symbol, qualname=qualname, test=test)


def _edges(rows: Mapping[str, Sequence[ContractRow]]) -> dict[str, list[EdgeRow]]:
    """Link uses of contracts with offers; return the edges by path.

    `rows` has the contract ends (places that offer or use contracts) of each file, by path. An edge is listed under the path of the file
    that uses the contract. If several links connect the same two symbols, they become one edge. The edge has the highest confidence of
    these links, and the lines of all of them.
    """
    best: dict[tuple[str, str, str], tuple[Link, set[int]]] = {}
    for one in link(row for path in sorted(rows) for row in rows[path]):
        src, dst = one.asks.symbol, one.offers.symbol
        if not src or not dst or src == dst or (one.offers.handler and one.offers.qualname == MODULE_QUALNAME):
            continue  # the module of a route whose handler is unknown names the handlers of all its routes
        key = (one.asks.path, src, dst)
        known = best.get(key)
        lines = known[1] if known is not None else set()
        lines.add(one.asks.line)
        if known is None or known[0].confidence < one.confidence:
            best[key] = (one, lines)
    found: dict[str, list[EdgeRow]] = {}
    for (path, src, dst), (one, lines) in sorted(best.items()):
        every = ",".join(map(str, sorted(lines)))
        row = EdgeRow(EdgeKind.CALLS, src, dst, one.confidence, EdgeSource.AST, one.rule, min(lines), every)
        found.setdefault(path, []).append(row)
    return found
