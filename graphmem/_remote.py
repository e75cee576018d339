"""The verbs of memories over a running server: each names its operation and the answer it is rebuilt as."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from graphmem._wire import Wire, camel, rebuild
from graphmem.answers import (
    AuditPage,
    DeleteAnswer,
    Forgotten,
    ImportAnswer,
    MemoryInfo,
    MemoryPage,
    PruneAnswer,
    RebuildAnswer,
    RememberAnswer,
    RememberManyAnswer,
    ReviewItem,
    ReviewQueue,
    Rule,
    ScanAnswer,
    SyncAnswer,
    TermAlias,
    Timeline,
)
from graphmem.errors import BadInputError

MANY: Final = 2_000  # items of one request; their texts have to fit the server's bound on a body
LARGE_TEXT: Final = 100_000  # characters; six times as many bytes as JSON still fit into one request
LONG_S: Final = 600.0  # for what may touch every memory


class RemoteMemoryVerbs:
    """Part of `RemoteGraphMem`; the verbs and answers of `graphmem.service.memories.MemoryVerbs`. The server notes who did it."""

    _wire: Wire

    def remember(self, content: str, type: str | None = None, *, actor: str = "", **given: Any) -> RememberAnswer:  # noqa: A002
        """See `MemoryVerbs.remember`."""
        item = _item({"content": content, "type": type, **given})
        return rebuild(RememberAnswer, self._wire.ask("Remember", input=item)["remember"])

    def remember_many(
        self, items: Iterable[Mapping[str, Any]], *, source: str | None = None, skip_invalid: bool = False, actor: str = ""
    ) -> RememberManyAnswer:
        """See `MemoryVerbs.remember_many`. The server bounds one request; more go in several, each of them one write."""
        listed = [_item({"source": source or "imported", **one}) for one in items]
        answers = [
            rebuild(
                RememberManyAnswer,
                self._wire.ask("RememberMany", timeout_s=LONG_S, items=listed[at : at + MANY], skipInvalid=skip_invalid)["rememberMany"],
            )
            for at in range(0, max(1, len(listed)), MANY)
        ]
        counts: dict[str, int] = {}
        for answer in answers:
            for outcome, count in answer.counts.items():
                counts[outcome] = counts.get(outcome, 0) + count
        return RememberManyAnswer(
            results=[one for answer in answers for one in answer.results],
            refused=[one for answer in answers for one in answer.refused],
            counts=counts,
            seconds=sum(answer.seconds for answer in answers),
        )

    def update_memory(self, id: str, *, actor: str = "", **changes: Any) -> MemoryInfo:  # noqa: A002
        """See `MemoryVerbs.update_memory`."""
        return rebuild(MemoryInfo, self._wire.ask("UpdateMemory", id=id, changes=_item(changes))["updateMemory"])

    def forget(self, id: str, hard: bool = False, actor: str = "") -> Forgotten:  # noqa: A002
        """See `MemoryVerbs.forget`."""
        return rebuild(Forgotten, self._wire.ask("Forget", id=id, hard=hard)["forget"])

    def pin(self, id: str, actor: str = "") -> MemoryInfo:  # noqa: A002
        """See `MemoryVerbs.pin`."""
        return rebuild(MemoryInfo, self._wire.ask("Pin", id=id, on=True)["pin"])

    def unpin(self, id: str, actor: str = "") -> MemoryInfo:  # noqa: A002
        """See `MemoryVerbs.unpin`."""
        return rebuild(MemoryInfo, self._wire.ask("Pin", id=id, on=False)["pin"])

    def verify(self, id: str, actor: str = "") -> MemoryInfo:  # noqa: A002
        """See `MemoryVerbs.verify`."""
        return rebuild(MemoryInfo, self._wire.ask("Verify", id=id)["verify"])

    def dispute(self, id: str, reason: str = "", actor: str = "") -> MemoryInfo:  # noqa: A002
        """See `MemoryVerbs.dispute`."""
        return rebuild(MemoryInfo, self._wire.ask("Dispute", id=id, reason=reason)["dispute"])

    def resolve_conflict(self, winner: str, loser: str | None = None, note: str = "", actor: str = "") -> MemoryInfo:
        """See `MemoryVerbs.resolve_conflict`."""
        return rebuild(MemoryInfo, self._wire.ask("ResolveConflict", winner=winner, loser=loser, note=note)["resolveConflict"])

    def note_use(self, ids: Sequence[str], use: str = "used", session: str | None = None) -> None:
        """See `MemoryVerbs.note_use`."""
        self._wire.ask("NoteUse", ids=list(ids), use=use.upper(), session=session)

    def set_alias(self, term: str, means: Sequence[str], actor: str = "") -> TermAlias:
        """See `MemoryVerbs.set_alias`."""
        return rebuild(TermAlias, self._wire.ask("SetAlias", term=term, means=list(means))["setAlias"])

    def aliases(self) -> list[TermAlias]:
        """See `MemoryVerbs.aliases`."""
        return [rebuild(TermAlias, one) for one in self._wire.ask("Aliases")["aliases"]]

    def memory(self, id: str) -> MemoryInfo:  # noqa: A002
        """See `MemoryVerbs.memory`."""
        return rebuild(MemoryInfo, self._wire.ask("Memory", id=id)["memory"])

    def memories(self, query: Mapping[str, Any] | None = None, sort: str = "newest", limit: int = 50, offset: int = 0) -> MemoryPage:
        """See `MemoryVerbs.memories`."""
        page = self._wire.ask(
            "Memories", filter=_item(query) if query else None, sort=sort.upper(), first=limit, after=cursor(offset - 1) if offset else None
        )["memories"]
        return MemoryPage([rebuild(MemoryInfo, edge["node"]) for edge in page["edges"]], page["totalCount"])

    def timeline(self, id: str, n: int = 5) -> Timeline:  # noqa: A002
        """See `MemoryVerbs.timeline`."""
        return rebuild(Timeline, self._wire.ask("Timeline", id=id, n=n)["timeline"])

    def review_queue(self, limit: int = 50, offset: int = 0) -> ReviewQueue:
        """See `MemoryVerbs.review_queue`."""
        page = self._wire.ask("ReviewQueue", first=limit, after=cursor(offset - 1) if offset else None)["reviewQueue"]
        return ReviewQueue([rebuild(ReviewItem, edge["node"]) for edge in page["edges"]], page["totalCount"])

    def audit(self, memory: str | None = None, limit: int = 100, offset: int = 0) -> AuditPage:
        """See `MemoryVerbs.audit`."""
        after = cursor(offset - 1) if offset else None
        return rebuild(AuditPage, self._wire.ask("Audit", memory=memory, first=limit, after=after)["audit"])

    def prune(self, dry_run: bool = False, actor: str = "") -> PruneAnswer:
        """See `MemoryVerbs.prune`."""
        return rebuild(PruneAnswer, self._wire.ask("Prune", timeout_s=LONG_S, dryRun=dry_run)["prune"])

    def retract(self, origin: str, hard: bool = False, dry_run: bool = False, actor: str = "") -> Forgotten:
        """See `MemoryVerbs.retract`."""
        return rebuild(Forgotten, self._wire.ask("Retract", timeout_s=LONG_S, origin=origin, hard=hard, dryRun=dry_run)["retract"])

    def rebuild_memories(self) -> RebuildAnswer:
        """See `MemoryVerbs.rebuild_memories`."""
        return rebuild(RebuildAnswer, self._wire.ask("RebuildMemories", timeout_s=LONG_S)["rebuildMemories"])

    def scan_secrets(self, dry_run: bool = True, actor: str = "") -> ScanAnswer:
        """See `MemoryVerbs.scan_secrets`."""
        return rebuild(ScanAnswer, self._wire.ask("ScanSecrets", timeout_s=LONG_S, dryRun=dry_run)["scanSecrets"])

    def export_memories(self, format: str = "json", personal: bool = True) -> str:  # noqa: A002
        """See `PeopleVerbs.export_memories`."""
        return str(self._wire.ask("ExportMemories", timeout_s=LONG_S, format=format.upper(), personal=personal)["exportMemories"]["text"])

    def import_memories(self, text: str, path: str = "", format: str = "", actor: str = "") -> ImportAnswer:  # noqa: A002
        """See `PeopleVerbs.import_memories`. What is larger than a GraphQL request may be goes by a door of its own."""
        if len(text) > LARGE_TEXT:
            found = self._wire.post("/import", {"text": text, "path": path, "format": format}, LONG_S)["importMemories"]
            return ImportAnswer(found["source"], dict(found["counts"]), list(found["ids"]), list(found["notes"]))
        answer = self._wire.ask("ImportMemories", timeout_s=LONG_S, text=text, path=path, format=format)
        return rebuild(ImportAnswer, answer["importMemories"])

    def sync_file(self, path: str | Path | None = None, dry_run: bool = False, actor: str = "", *, personal: bool = False) -> SyncAnswer:
        """See `PeopleVerbs.sync_file`. A server takes MEMORY.md alone, and writes no personal memories into it.

        Raises:
            BadInputError: it is another file, or personal memories are wanted.
        """
        if personal:
            raise BadInputError(
                "personal memories are written into a file by the process that has the index open, and a server is running; "
                "end the server, then sync",
                argument="personal",
            )
        given = str(path) if path is not None else None
        return rebuild(SyncAnswer, self._wire.ask("SyncFile", timeout_s=LONG_S, path=given, dryRun=dry_run)["syncFile"])

    def rules(self, files: Sequence[str] | None = None) -> tuple[list[Rule], list[str]]:
        """See `PeopleVerbs.rules`."""
        found = self._wire.ask("Rules", files=list(files) if files is not None else None)["rules"]
        return [rebuild(Rule, one) for one in found["rules"]], found["notes"]

    def delete_all(self, confirm: str, actor: str = "") -> DeleteAnswer:
        """See `MemoryVerbs.delete_all`."""
        return rebuild(DeleteAnswer, self._wire.ask("DeleteAll", timeout_s=LONG_S, confirm=confirm)["deleteAll"])


def cursor(offset: int) -> str:
    """The cursor of the row at a 0-based offset."""
    return base64.b64encode(f"offset:{offset}".encode()).decode("ascii")


def _item(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by their GraphQL names, without those that are not given."""
    return {camel(name): _value(value) for name, value in given.items() if value is not None}


def _value(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, (tuple, set, frozenset)):
        return list(value)
    return value.tolist() if hasattr(value, "tolist") else value  # an array of numbers
