"""Client that calls a server's operations by stored GraphQL documents.

Answers are decoded to their declared types. Most operations need no code here. An operation that needs several requests has a method, for
example to split long input, copy files or report progress.
"""

from __future__ import annotations

import base64
import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from graphmem.answers import IndexState, IndexSummary, Missed, NearbyMemories, Site, Subgraph, SymbolDetail, SymbolInfo
from graphmem.answers.doctor import DoctorReport
from graphmem.client.copied_backups import copied_in, expect_new, move_out
from graphmem.client.decode import decoder, variable
from graphmem.client.index_runs import followed, run_index
from graphmem.client.sent_events import batches
from graphmem.client.wire import FOR_EVER, Wire
from graphmem.errors import BadInputError
from graphmem.model import IndexProgress
from graphmem.operations.declare import Operation, accepting, by_new_names, camel, pascal
from graphmem.operations.finding import find
from graphmem.operations.marks import Filled, Local

if TYPE_CHECKING:
    from graphmem.answers import ImportAnswer, MemoryInfo, RememberManyAnswer, SyncAnswer
    from graphmem.answers.sessions import ObserveAnswer
    from graphmem.answers.upkeep import BackupInfo, RebuildAllAnswer, RestoreAnswer
    from graphmem.answers.vocabulary import EdgeKind
    from graphmem.operations.memory import RememberInput
    from graphmem.operations.registry import Operations
else:
    Operations = object  # at run time `__getattr__` provides the other operations

TIMEOUT_S: Final = 60.0  # maximum between two pieces of an answer; the server's own limit is shorter
LONG_S: Final = 600.0  # for an operation that may take minutes
PAGE: Final = 1_000  # maximum rows of one request
MANY: Final = 2_000  # items of one request; their texts must fit the server's limit of a body
LARGE_TEXT: Final = 100_000  # characters; as JSON up to six times as many bytes, which still fit into one request
RELATIONS: Final = ("callers", "callees", "references", "bases", "subclasses", "overrides", "overridden_by", "tests")


def _formerly(**renamed: str) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a method: accept the earlier names of its parameters.

    `renamed` maps an earlier name to the current one.
    """
    return lambda method: accepting(method, renamed)


class RemoteGraphMem(Operations):
    """A GraphMem in another process, with the same operations. Thread-safe.

    Args:
        address: address of the server, such as `http://127.0.0.1:8420`.
        token: the token for the server; "" when it needs none.
        index: id of the expected index, from its `owner.json`; "" to expect the index from which the first answer comes. Answers of another
            index are errors.

    Example:
        >>> with RemoteGraphMem("http://127.0.0.1:8420") as memory:
        ...     memory.impact("Flask.dispatch_request", max_depth=3)
    """

    def __init__(self, address: str, token: str = "", index: str = "") -> None:
        self.address = address
        self._wire = Wire(address, token, TIMEOUT_S, index)

    def __enter__(self) -> RemoteGraphMem:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing, because connections are not kept between requests."""

    def wait_until_ready(self, timeout_s: float | None = None) -> bool:
        """Return True at once, without waiting for the server.

        The server states in each answer which parts are not ready.
        """
        return True

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return a function that calls the server's operation called `name`."""
            operation = find(name)
            if operation is None or operation.hints.client != "derived":
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return lambda *args, **kwargs: self._call(operation, args, kwargs)

        def __dir__(self) -> list[str]:
            from graphmem.operations.registry import registry

            return sorted({*super().__dir__(), *(one.name for one in registry().values() if one.hints.client == "derived")})

    @staticmethod
    def _operation(name: str) -> Operation:
        found = find(name)
        if found is None:
            raise LookupError(name)
        return found

    def _call(self, operation: Operation, args: tuple[object, ...], kwargs: dict[str, Any], timeout_s: float | None = None) -> Any:
        """Call an operation of the server; return its decoded answer.

        `args` and `kwargs` are the arguments of the call. `timeout_s` is the maximum wait for the next bytes of the answer.

        Raises:
            GraphMemError: the server's error.
            TypeError: the arguments do not match the operation's signature.
        """
        kwargs = by_new_names(operation.name, kwargs, operation.hints.renamed)
        given = operation.signature.bind(self, *args, **kwargs).arguments
        variables: dict[str, Any] = {}
        for one in operation.parameters:
            if one.name in given and given[one.name] is not None and not (one.has(Filled) or one.has(Local)):
                variables[camel(one.name)] = variable(one, given[one.name])
        if operation.hints.packed is not None:
            rest = variables.pop("given", {})
            variables = {"input": {**variables, **rest}}
        shape = getattr(operation.answer, "__shape__", None)
        if shape is not None and shape.page:
            return self._pages(operation, variables, timeout_s)
        found = self._ask(operation, variables, timeout_s)
        return decoder(operation.answer)(found)

    def _ask(self, operation: Operation, variables: Mapping[str, object], timeout_s: float | None = None) -> Any:
        patience = timeout_s if timeout_s is not None else LONG_S if operation.hints.slow else None
        return self._wire.ask(pascal(operation.name), timeout_s=patience, more=variables)[camel(operation.name)]

    def _pages(self, operation: Operation, variables: dict[str, Any], timeout_s: float | None) -> Any:
        """Call an operation that returns a page of rows; return the page.

        `variables` may have `limit` and `offset`; the operation's defaults replace missing ones. The page has at most `limit` rows, from
        row `offset` on, and the total number of rows. `timeout_s` is the time limit of each request. The server limits the rows of an
        answer, so several requests may be sent.
        """
        defaults = {one.name: one.default for one in operation.parameters}
        limit = int(variables.pop("limit", defaults["limit"]))
        offset = int(variables.pop("offset", defaults["offset"]))
        edges: list[Any] = []
        while True:
            at = offset + len(edges)
            asked = {**variables, "first": min(limit - len(edges), PAGE), "after": cursor(at - 1) if at else None}
            page = self._ask(operation, asked, timeout_s)
            edges += page["edges"]
            if len(edges) >= limit or not page["pageInfo"]["hasNextPage"]:
                return decoder(operation.answer)({"edges": edges, "totalCount": page["totalCount"]})

    # ---- the code

    def symbol(self, ref: str, source: bool = False) -> SymbolDetail:
        """Return a symbol with its edges; see `CodeOperations.symbol`.

        `ref` is a reference such as `path:name`. With `source`, the result has the source text, too.
        """
        found = self._wire.ask("Symbol", ref=ref, source=source, first=PAGE)["symbol"]
        info = decoder(SymbolInfo)
        around: dict[str, Any] = {name: [_site(edge) for edge in found[camel(name)]["edges"]] for name in RELATIONS}
        return SymbolDetail(
            symbol=info(found),
            doc=found["doc"],
            modifiers=found["modifiers"],
            complexity=found["complexity"],
            parent=info(found["parent"]) if found["parent"] else None,
            members=[info(edge["node"]) for edge in found["members"]["edges"]],
            source=found.get("source") or "",
            overloads=[info(one) for one in found["overloads"]],
            known=decoder(NearbyMemories)(found["known"]),
            cut=[name for name in RELATIONS if found[camel(name)]["pageInfo"]["hasNextPage"]],
            **around,
        )

    def subgraph(self, seeds: Sequence[str], depth: int = 1, kinds: Sequence[EdgeKind] | None = None, limit: int = 500) -> Subgraph:
        """Return the graph around some symbols; see `CodeOperations.subgraph`.

        Nodes are fetched in pages.
        """
        names = list(kinds) if kinds is not None else None
        found = self._wire.ask("Subgraph", seeds=list(seeds), depth=depth, kinds=names, limit=limit)["subgraph"]
        ids: list[str] = found["columns"]["nodes"]["id"]
        pages = [self._wire.ask("Nodes", ids=ids[at : at + PAGE])["nodes"] for at in range(0, len(ids), PAGE)]
        columns = found["columns"]["edges"]
        edges = [list(row) for row in zip(*(columns[name] for name in ("src", "dst", "kind", "confidence", "rule")), strict=True)]
        info, state, missed = decoder(SymbolInfo), decoder(IndexState), decoder(Missed)
        return Subgraph(
            [info(node) for page in pages for node in page],
            edges,
            found["truncated"],
            state(found["state"]),
            [missed(one) for one in found["missed"]],
        )

    def index(
        self,
        repo: str | None = None,
        full: bool = False,
        on_progress: Callable[[IndexProgress], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> IndexSummary:
        """Update the index on the server; see `CodeOperations.index`.

        `on_progress` is called for each step of the run. If `cancelled` returns True, the wait for the run ends; the run continues on the
        server.
        """
        with followed(self._wire, on_progress):
            answer = run_index(self._wire, cancelled, repo=repo, full=full)
        summary: IndexSummary = decoder(IndexSummary)(answer["index"]["summary"])
        return summary

    def export(self) -> Iterator[dict[str, Any]]:
        """Yield every node and edge of the graph; see `CodeOperations.export`."""
        return self._wire.lines("/export.jsonl")

    # ---- memories

    def remember_many(
        self,
        items: Iterable[RememberInput],
        *,
        source: str | None = None,
        embedding_model: str | None = None,
        skip_invalid: bool = False,
        actor: str = "",
    ) -> RememberManyAnswer:
        """Store many memories; see `MemoryOperations.remember_many`.

        More items than the server accepts at once are sent in several requests. Each request is one write.
        """
        given = {"source": source or "imported", **({"embedding_model": embedding_model} if embedding_model else {})}
        renamed = self._operation("remember").hints.renamed
        listed = [{**given, **by_new_names("remember_many", one, renamed)} for one in items]
        answers = [self._remembered(listed, at, skip_invalid=skip_invalid) for at in range(0, max(1, len(listed)), MANY)]
        counts = Counter[str]()
        for answer in answers:
            counts.update(answer.counts)
        from graphmem.answers import RememberManyAnswer

        return RememberManyAnswer(
            results=[one for answer in answers for one in answer.results],
            refused=[one for answer in answers for one in answer.refused],
            counts=dict(counts),
            seconds=sum(answer.seconds for answer in answers),
        )

    def _remembered(self, items: list[dict[str, Any]], at: int, *, skip_invalid: bool) -> RememberManyAnswer:
        """Store the memories of one request, which begins with item `at`.

        With `skip_invalid`, invalid items are left out instead of refusing all. Positions in the answer and in an error count from the
        first item of `items`.
        """
        try:
            answer: RememberManyAnswer = self._call(
                self._operation("remember_many"), (items[at : at + MANY],), {"skip_invalid": skip_invalid}
            )
        except BadInputError as error:
            place = error.facts.get("index")
            if not at or not isinstance(place, int):
                raise
            message = error.message.replace(f"item {place}:", f"item {at + place}:", 1)
            raise type(error)(message, **{**error.facts, "index": at + place}) from error
        return dataclasses.replace(answer, refused=[dataclasses.replace(one, index=at + one.index) for one in answer.refused])

    def unpin(self, id: str, actor: str = "") -> MemoryInfo:  # noqa: A002 - the word of the domain
        """Make a pinned memory an ordinary confirmed one again."""
        return self.pin(id, on=False)

    @_formerly(text="content")
    def import_memories(self, content: str, path: str = "", format: str = "", actor: str = "") -> ImportAnswer:  # noqa: A002
        """Import memories from a file; see `MemoryOperations.import_memories`.

        A file that exceeds the limit of a GraphQL request is sent to the route `/import`.
        """
        if len(content) > LARGE_TEXT:
            found = self._wire.post("/import", {"content": content, "path": path, "format": format}, LONG_S)["importMemories"]
            from graphmem.answers import ImportAnswer

            return ImportAnswer(found["source"], dict(found["counts"]), list(found["ids"]), list(found["notes"]))
        answer: ImportAnswer = self._call(self._operation("import_memories"), (content, path, format), {})
        return answer

    def sync_file(
        self, path: str | Path | None = None, dry_run: bool = False, actor: str = "", *, personal: bool = False, remote: bool = True
    ) -> SyncAnswer:
        """Synchronize MEMORY.md and memories; see `MemoryOperations.sync_file`.

        A server accepts only MEMORY.md, and writes no personal memories into the file.

        Raises:
            BadInputError: `path` is another file, or `personal` is set.
        """
        if personal:
            raise BadInputError(
                "personal memories cannot be synced while a server has the index open; stop the server and sync again",
                argument="personal",
            )
        answer: SyncAnswer = self._call(self._operation("sync_file"), (path, dry_run), {})
        return answer

    # ---- sessions

    def observe(self, events: Iterable[Mapping[str, object]], session: str = "") -> ObserveAnswer:
        """Record events of agents' sessions; see `SessionOperations.observe`.

        More events than the server accepts at once are sent in several requests, in order.
        """
        if isinstance(events, (str, bytes)) or not hasattr(events, "__iter__"):
            raise BadInputError(f"`events` has the type {type(events).__name__}; pass a list of session events", argument="events")
        taken = 0
        ignored: Counter[str] = Counter()
        touched: dict[str, None] = {}
        ended: dict[str, None] = {}
        early: list[str] = []
        for batch in batches(events):
            answer = self._call(self._operation("observe"), (batch, session), {})
            taken += answer.taken
            ignored.update(answer.ignored)
            touched.update(dict.fromkeys(answer.sessions))
            ended.update(dict.fromkeys(answer.ended))
            early = answer.early
        from graphmem.answers.sessions import ObserveAnswer

        return ObserveAnswer(taken, dict(sorted(ignored.items())), list(touched), list(ended), early)

    # ---- upkeep: a server accepts no paths, so files are copied through its directory of backups

    def doctor(self) -> DoctorReport:
        """Return the state of the index's parts; see `UpkeepOperations.doctor`."""
        found: DoctorReport = self._ask(self._operation("doctor"), {}, FOR_EVER)
        return {**found, "project": self.project(), "served_at": self.address}

    def backup(self, dest: str | Path | None = None, portable: bool = False) -> BackupInfo:
        """Back up the index; see `UpkeepOperations.backup`.

        The server writes the backup into its own directory, from which it is moved to `dest`.
        """
        target = Path(dest).expanduser().absolute() if dest is not None else None
        if target is not None:
            expect_new(target)
        made: BackupInfo = self._call(self._operation("backup"), (), {"portable": portable}, FOR_EVER)
        return made if target is None else dataclasses.replace(made, path=str(move_out(Path(made.path), target)))

    def restore(self, file: str | Path, rules: bool = False) -> RestoreAnswer:
        """Restore a backup of the index; see `UpkeepOperations.restore`.

        The file is copied into the server's own directory during the restore.
        """
        with copied_in(file, Path(self.project().data_dir)) as name:
            answer: RestoreAnswer = self._call(self._operation("restore"), (name, rules), {}, FOR_EVER)
            return answer

    def rebuild(self, repo: str | Path | None = None, on_progress: Callable[[IndexProgress], None] | None = None) -> RebuildAllAnswer:
        """Rebuild memories and code; see `UpkeepOperations.rebuild`.

        The server rebuilds its own project.
        """
        with followed(self._wire, on_progress):
            answer: RebuildAllAnswer = self._call(self._operation("rebuild"), (), {}, FOR_EVER)
            return answer


def cursor(offset: int) -> str:
    """The GraphQL cursor of the row at a 0-based offset."""
    return base64.b64encode(f"offset:{offset}".encode()).decode("ascii")


def _site(edge: Mapping[str, Any]) -> Site:
    kind, source = edge["kind"], edge["source"].lower()
    return Site(decoder(SymbolInfo)(edge["node"]), kind, edge["confidence"], source, edge["rule"], list(edge["lines"]))
