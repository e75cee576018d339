"""The memories of one project, and the only code that writes them.

A write goes through these steps: redact, validate, plan (`write`), journal, graph, projection (the copy for readers). Then the caller gets
an acknowledgement. The journal is the source of truth. If the database lacks entries of the journal, they are replayed when the repository
is opened. If a write failed half-way, they are also replayed before the next write.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from graphmem.answers import Refusal, RememberAnswer, RememberManyAnswer
from graphmem.errors import BadInputError, DiskFullError, JournalError, ResourceError, StoreBusyError
from graphmem.knowledge import KnowledgeDelta, MemoryRow
from graphmem.location import JOURNAL
from graphmem.memory.journal.journal import Journal
from graphmem.memory.journal.journal_turns import JournalTurns
from graphmem.memory.journal.records import Event, bodies_of
from graphmem.memory.reading.clock import Clock, SystemClock
from graphmem.memory.reading.lifecycle import Policy
from graphmem.memory.reading.reader import MemoryReader
from graphmem.memory.repository.committer import Committer, Vectors
from graphmem.memory.repository.drafts import dim_of, drafted, listed, model_of
from graphmem.memory.repository.fields import refuse
from graphmem.memory.repository.plan import Plan, Surroundings, outcome_counts
from graphmem.memory.repository.recovery import META, Recovery, mark_of
from graphmem.memory.repository.validate import Draft
from graphmem.memory.repository.vectors import MemoryVectors
from graphmem.memory.repository.write import Planner
from graphmem.memory.texts.similar import thresholds_of
from graphmem.memory.texts.types import FROM_INDEX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphmem.embedding.base import Embedder
    from graphmem.projection.projections import Projections
    from graphmem.store.base import GraphStore

_log = logging.getLogger(__name__)


class MemoryCounts(TypedDict):
    """Counts of memories and of journal entries, for `graphmem doctor`."""

    memories: int
    live: int  # neither superseded nor deprecated
    with_vector: int  # of the live ones
    journal_entries: int
    notes: list[str]  # repairs, one sentence each


class MemoryRepository(MemoryReader):
    """Memories of one open index, and their changes.

    Any thread may call it; a lock serializes writes.

    Args:
        store: the open database.
        projections: copies of the memories and of the code in memory.
        data_dir: the index directory.
        clock: gives the time.
        embedder: returns the model for new vectors, or None; called when a model is needed.
        policy: limits of pruning.
        on_change: called with the changes after each write.
        journal: directory of the journal; default: `memories` in the index directory. Worktrees of a repository share one.
        commit_at: returns the commit of a project's working tree, "" if unknown. Its argument is the root, which is "" before the first
            index.
        branches_of: called with the root and a commit; returns the local branches that contain the commit and are not checked out.
        elsewhere: called with the id of a memory whose code this index lacks; returns the branches on this server that have the code.
    """

    def __init__(
        self,
        store: GraphStore,
        projections: Projections,
        data_dir: Path,
        *,
        clock: Clock | None = None,
        embedder: Callable[[], Embedder | None] = lambda: None,
        policy: Policy | None = None,
        on_change: Callable[[KnowledgeDelta], None] | None = None,
        commit_at: Callable[[str], str] = lambda _: "",
        branches_of: Callable[[str, str], list[str]] = lambda _root, _commit: [],
        elsewhere: Callable[[str], list[str]] = lambda _: [],
        journal: Path | None = None,
    ) -> None:
        super().__init__(store, projections, data_dir, clock or SystemClock(), branches_of, elsewhere)
        self.policy = policy or Policy()
        self.on_change = on_change
        self._commit_at = commit_at
        self.notes: list[str] = []  # for `doctor`
        self.uses = 0  # of memories, since the last pruning
        self.embedder = embedder
        self._turn = threading.RLock()
        self._behind = False  # the journal has entries that the graph lacks
        self.tables = 0  # writes of data that exists only in the graph's meta: aliases
        self._committer = Committer(store, self._could_not)
        self._vectors = MemoryVectors(projections, embedder, self.text_of, self._keep_vectors)
        self._journal_at = journal or data_dir / JOURNAL
        self._worktrees = JournalTurns(data_dir, self._journal_at, self._follow_others)
        with self._worktrees.alone():
            self._take_in()

    def _take_in(self) -> None:
        """Open the journal, and add entries to the graph that the graph lacks."""
        self.journal = Journal(self._journal_at)
        self.recovery = Recovery(self.journal, self.store, self._committer, self.clock, self._replaced)
        self.just_loaded = self.journal.head.number > 0  # and not pruned since
        self._worktrees.opened(self.journal)
        try:
            self.catch_up()
        except (BadInputError, DiskFullError, JournalError, ResourceError) as refused:  # the graph cannot be written now
            self._behind = True
            self.notes.append(f"the graph is behind the memories' journal ({refused}); the next write reconciles it")
            if (missing := self.recovery.missing()) is not None:
                index = self.index()
                index.patch(missing, generation=index.generation)

    # ---- writing

    def remember(self, item: Mapping[str, Any], actor: str = "", finish: Callable[[Plan], Plan] | None = None) -> RememberAnswer:
        """Store one memory; see `MemoryOperations.remember`.

        `item` has the fields of the memory. `finish` receives the plan (the changes to write) and returns it, possibly with more changes.
        """
        model = item.get("embedding_model")
        with self.writing():
            one = self.draft(item, "agent_explicit", dim_of(model, self.embedder()) if item.get("vector") is not None else None)
            plan = self._plan([one], model_of(model, [one], self.embedder()))
            self._write_plan(plan if finish is None else finish(plan), actor)
            result = plan.results[0]
            row = self.index().row(result.id)
            assert row is not None  # noqa: S101 - the plan has just put it there
            return RememberAnswer(self.describer().info(row), result)

    def remember_many(
        self,
        items: Iterable[Mapping[str, object]],
        *,
        source: str = "imported",
        embedding_model: str | None = None,
        skip_invalid: bool = False,
        actor: str = "",
        op: str = "",
        finish: Callable[[Plan], Plan] | None = None,
    ) -> RememberManyAnswer:
        """Store many memories in one write; see `MemoryOperations.remember_many`.

        With `skip_invalid`, invalid items are left out instead of refusing all. `op` is the operation that the audit log records for an
        added memory. `finish` receives the plan (the changes to write) and returns it, possibly with more changes for the same transaction.

        After the write, missing vectors are computed in the background. Memories from an index run (their source is in FROM_INDEX) do not
        start this computation, because a command that only indexes should not load the embedding model.
        """
        begun = perf_counter()
        given = listed(items)
        with self.writing():
            dim = (
                dim_of(embedding_model, self.embedder())
                if any(isinstance(one, Mapping) and one.get("vector") is not None for one in given)
                else None
            )
            drafts, refused = self._drafts(given, source, dim, skip_invalid=skip_invalid)
            plan = self._plan(
                drafts, model_of(embedding_model, drafts, self.embedder()), op or ("import" if source == "imported" else "add")
            )
            self._write_plan(plan if finish is None else finish(plan), actor, embed=source not in FROM_INDEX)
        return RememberManyAnswer(plan.results, refused, outcome_counts(plan.results), round(perf_counter() - begun, 6))

    def foreseen(self, items: Iterable[Mapping[str, object]], source: str, assumed: Iterable[MemoryRow]) -> Plan:
        """Return the changes that `remember_many` would make; write nothing.

        Args:
            items: the memories, without vectors.
            source: see `remember_many`.
            assumed: future rows of memories, used in place of the current rows. Another write will store them first.

        Raises:
            BadInputError, SecretError: an item is rejected.
        """
        return Planner(self._surroundings(), assumed).plan([self.draft(one, source) for one in items], "")

    def commit(
        self,
        delta: KnowledgeDelta,
        events: Sequence[Event],
        before: Mapping[str, MemoryRow],
        actor: str,
        vectors: Vectors | None = None,
        meta: Mapping[str, str] | None = None,
        **extra: object,
    ) -> None:
        """Write one planned change of memories: journal, graph and readers' copy.

        `delta` has the changes. `events` are the operations for the audit log, and `before` has the previous rows of changed memories.
        `vectors` are the vectors of new texts, and `meta` has values to store in the graph together with the changes. The caller must hold
        the lock `writing`.

        Raises:
            JournalError, DiskFullError: nothing was written.
        """
        if delta.is_empty and not events:
            return
        head = self.journal.append(bodies_of(delta, events, before, self.clock.now(), actor, **extra))
        self._follow(delta, vectors, {**(meta or {}), META: mark_of(head)})
        self.tables += bool(meta)
        if self.on_change is not None:
            self.on_change(delta)

    def put_derived(self, delta: KnowledgeDelta, vectors: Vectors | None) -> None:
        """Write derived data, such as vectors, without a journal entry.

        `delta` has changed rows, such as the name of the model of a vector. Derived data can be computed again. The caller must hold the
        lock `writing`.
        """
        self._follow(delta, vectors, {})

    def _follow(self, delta: KnowledgeDelta, vectors: Vectors | None, meta: Mapping[str, str]) -> None:
        """Update the readers' copy with a change; queue the change for the graph.

        `delta` has the change, which must be in the journal already. `vectors` are the vectors of texts in it, and `meta` has values to
        store in the graph together with the change.
        """
        index = self.index()
        index.patch(delta, vectors.rows if vectors is not None and vectors.model == index.model_id else None)
        if self._paths is not None:
            self._paths.update((file.id, file.path) for file in delta.files)
        self._committer.put(delta, vectors, meta)

    def flush(self) -> None:
        """Wait until all acknowledged writes of memories are in the graph."""
        self._committer.flush()

    def _could_not(self, error: BaseException) -> None:
        self._behind = True
        self.notes.append(f"the graph is behind the memories' journal ({error}); the next write reconciles it")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the write lock; graph and journal agree while it is held.

        Raises:
            StoreBusyError: another server writes the memories.
        """
        if self.store.feed is not None:
            raise StoreBusyError(
                "this server only reads, and another server writes the memories; send the request to that server", path="", owner=None
            )
        with self._turn, self._worktrees.alone():
            if self._behind:
                self.catch_up()
            yield

    def _follow_others(self) -> None:
        """Read memories that other worktrees wrote, and notify the listeners."""
        before = self.journal.head.number
        self.journal.reopen()
        self.catch_up()
        ids = {one for entry in self.journal.entries(after=before) if (one := entry.body.get("memory"))}
        rows = self.index().rows(ids)
        if ids and self.on_change is not None:
            self.on_change(KnowledgeDelta(memories=list(rows.values()), removed_memories=sorted(ids - rows.keys())))

    def follow_journal(self) -> int:
        """Read memories that other worktrees wrote to the shared journal.

        Returns the number of new entries.
        """
        before = self.journal.head.number
        if self.store.feed is None and self._worktrees.is_behind:
            with self.writing():
                pass
        return self.journal.head.number - before

    # ---- journal and graph

    def catch_up(self) -> None:
        """Repair differences between the graph and the journal of memories.

        The attribute `notes` then has one sentence for each repair.
        """
        with self._turn:
            done = self.recovery.level() if self.store.feed is None else []
            self.notes = [*self.journal.notes, *done]
            self._behind = False
            self._committer.resume()

    def adopt_journal(self, folder: Path) -> None:
        """Use the journal in `folder`, because the database was replaced.

        The journal belongs to the new database. The caller must hold the lock `writing`.
        """
        self.journal.adopt(folder)
        self._paths = None
        self.projections.refresh_knowledge(self.store.knowledge_generation(), None)
        self.catch_up()

    def _replaced(self, generation: int) -> None:
        """Reload all memories after a large change of the graph.

        `generation` is the graph's new count of changes.
        """
        self.projections.refresh_knowledge(generation, None)
        self._paths = None
        self.tables += 1

    def embed_soon(self) -> None:
        """Compute missing vectors of memories, in the background."""
        if self.store.feed is None:  # else the writing server does it
            self._vectors.wake()

    def _keep_vectors(self, vectors: Vectors, ids: list[str]) -> None:
        """Store vectors, and record their model in the rows of memories `ids`.

        The journal gets no entry, because vectors can be computed from the texts again.
        """
        with self.writing():
            rows = [row._replace(embedding_model=vectors.model) for row in self.index().rows(ids).values()]
            self.put_derived(KnowledgeDelta(memories=rows), vectors)
        self.reconsider(ids)

    def embed_again(self) -> bool:
        """Restart the computation of missing vectors if an error stopped it.

        Returns whether it was restarted.
        """
        stopped = bool(self._vectors.note)
        if stopped:
            self._vectors.wake()
        return stopped

    def reconsider(self, ids: Sequence[str]) -> None:
        """Compare the memories `ids`, which just got vectors, with older ones.

        The vectors show which memories say the same in other words. Such memories are linked.
        """
        with self.writing():
            plan = Planner(self._surroundings()).reconsider(ids)
            self.commit(plan.delta, plan.events, plan.before, "graphmem")

    def embed_now(self) -> int:
        """Compute missing vectors of memories now; return their number.

        Raises:
            EmbedderError: the model cannot be loaded or failed.
        """
        return self._vectors.run()

    def status(self) -> MemoryCounts:
        """Return counts of memories, for the command `doctor`.

        The journal's repairs and its last entry are included.
        """
        index = self.index()
        embedded, live = index.covered()
        return {
            "memories": len(index),
            "live": live,
            "with_vector": embedded,
            "journal_entries": self.journal.head.number,
            "notes": [*self.notes, *([self._vectors.note] if self._vectors.note else [])],
        }

    def close(self) -> None:
        """Finish all acknowledged writes, then close the journal. Idempotent."""
        self._vectors.close()
        self._committer.close()
        self.journal.close()

    # ---- inside

    def draft(self, item: object, source: str, dim: int | None = None) -> Draft:
        """Redact and validate the input for one memory; see `drafts.drafted`.

        `item` has the fields of the memory, and `dim` is the required length of its vector; None for any. The draft gets the commit of the
        project's working tree, unless the input names a commit or is imported.
        """
        root = self.store.meta().get("root", "")
        found = drafted(item, root, source, dim)
        if found.commit_sha is None and found.source != "imported":
            found = found._replace(commit_sha=self._commit_at(root) or None)
        return found

    def _drafts(
        self, given: Sequence[Mapping[str, object]], source: str, dim: int | None, *, skip_invalid: bool
    ) -> tuple[list[Draft], list[Refusal]]:
        """Validate the items of one write; return (drafts, rejected items).

        `given` are the items, and `dim` is the required length of a vector, None if unknown.

        Raises:
            BadInputError: an item is invalid, and `skip_invalid` is off.
        """
        drafts: list[Draft] = []
        refused: list[Refusal] = []
        seen: dict[str, int] = {}
        for place, item in enumerate(given):
            try:
                one = self.draft(item, source, dim)
                if one.given_id and (first := seen.setdefault(one.given_id, place)) != place:
                    raise refuse(
                        "id",
                        f"two memories of this write have the id {one.given_id!r}, the first at index {first} (from 0); give each "
                        "memory its own id",
                        value=one.given_id,
                    )
                drafts.append(one)
            except BadInputError as error:
                if not skip_invalid:
                    raise type(error)(f"item {place}: {error.message}", **{**error.facts, "index": place}) from error
                own = item.get("id", "") if isinstance(item, Mapping) else ""
                refused.append(Refusal(place, str(own or ""), error.message, dict(error.facts)))
        return drafts, refused

    def _plan(self, drafts: Sequence[Draft], model: str, op: str = "add") -> Plan:
        return Planner(self._surroundings()).plan(drafts, model, op)

    def _surroundings(self) -> Surroundings:
        index = self.index()
        return Surroundings(index, self.view(), self.project(), self.clock.now(), index.model_id, thresholds_of(index.model_id))

    def _write_plan(self, plan: Plan, actor: str, *, embed: bool = True) -> None:
        vectors = None
        if plan.vectors:
            from graphmem.embedding.fill import vector_table

            if not self.index().model_id:
                self.projections.use_model(plan.model, len(next(iter(plan.vectors.values()))))
            vectors = Vectors(plan.model, vector_table(list(plan.vectors), np.stack(list(plan.vectors.values()))))
        count = self._live_count(plan.delta)
        self.commit(plan.delta, plan.events, plan.before, actor, vectors, count=count)
        if plan.texts and embed:
            self.embed_soon()

    def _live_count(self, delta: KnowledgeDelta) -> int:
        index = self.index()
        new = sum(row.id not in index for row in delta.memories)
        return len(index) + new - sum(one in index for one in delta.removed_memories)
