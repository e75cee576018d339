"""Plan a write of memories: find duplicates, contradictions and links.

This module writes nothing. For each new memory, the steps are: find the code that the memory names, find an exact duplicate, find near
duplicates, find contradictions. A `Plan` has the resulting changes, with reports for the caller and the audit log. The repository writes
the changes to the journal and then to the graph. Redaction and validation happen before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphmem.answers import Remembered
from graphmem.knowledge import AboutRow, KnowledgeDelta, LearntRow, MemoryRow, NamedFile, RelatesRow, RelationKind, SessionRow
from graphmem.memory.journal.records import Event
from graphmem.memory.reading.lifecycle import confirmed_by_repetition
from graphmem.memory.repository.fields import refuse
from graphmem.memory.repository.plan import Plan, Surroundings, Taken
from graphmem.memory.repository.validate import Draft
from graphmem.memory.repository.verdicts import Judge, Met, Verdict, is_of_somebody
from graphmem.memory.texts.link import Links, link
from graphmem.memory.texts.similar import Similarity, near_rows, near_words, overlap, words_of
from graphmem.memory.texts.text import citation_of, contextual_text, fingerprint, short_id, text_hash, uuid7
from graphmem.memory.texts.types import LIVE_STATUSES, SEEDED, SOURCES, more_tainted
from graphmem.projection.memories.sight import may_meet

if TYPE_CHECKING:
    from graphmem.embedding.base import F32

BOOST: Final = 0.1  # of importance, by an exact duplicate
FILE: Final = "file:"  # before the path, if a rules file takes the place of a session
MANY: Final = 32  # drafts from which one join finds pairs, instead of one look-up for each
_LOOK: Final = 16  # nearest memories that are compared


class Planner:
    """Plans the changes that a write of drafts will make; writes nothing.

    A draft is a validated memory that was not compared with existing memories yet.

    Args:
        around: memories, graph and time at the start of the write.
        assumed: future rows of an earlier plan that is not written yet, used in place of the current rows.
    """

    def __init__(self, around: Surroundings, assumed: Iterable[MemoryRow] = ()) -> None:
        self._around = around
        self._index = around.memories
        self._rows = {row.id: row for row in assumed}  # new and changed
        self._before: dict[str, MemoryRow] = {}
        self._by_fingerprint: dict[str, list[str]] = {}
        for row in self._rows.values():
            self._by_fingerprint.setdefault(row.fingerprint, []).append(row.id)
        self._taken: dict[str, str] = {}  # short id -> memory
        self._about: dict[str, list[AboutRow]] = {}
        self._files: dict[str, NamedFile] = {}
        self._relates: dict[tuple[str, str, str], RelatesRow] = {}
        self._sessions: dict[str, SessionRow] = {}
        self._learnt: dict[tuple[str, str], LearntRow] = {}
        self._events: list[Event] = []
        self._vectors: dict[str, F32] = {}
        self._vector_of: dict[str, F32] = {}
        self._texts: dict[str, str] = {}
        self._model = ""
        self._judge = Judge(around.now, around.thresholds, self._links_of)

    def plan(self, drafts: Sequence[Draft], model: str, op: str = "add") -> Plan:
        """Plan the write of drafts of new memories, one after the other.

        Args:
            drafts: validated and without secrets.
            model: name of the model that computed the vectors of the drafts; "" without vectors.
            op: operation that the audit log records for an added memory.
        """
        self._model = model
        found = self._near_many(drafts) if len(drafts) >= MANY else None
        results: list[Remembered] = []
        for place, draft in enumerate(drafts):
            near: dict[str, float | None] | None = None
            if found is not None:  # positions of earlier drafts are ids by now
                near = {results[one].id if isinstance(one, int) else one: cosine for one, cosine in found[place].items()}
            results.append(self._plan_one(draft, near, op))
        return self._finish(results)

    # ---- one draft

    def _plan_one(self, draft: Draft, near: dict[str, float | None] | None, op: str) -> Remembered:
        print_ = fingerprint(draft.content)
        if draft.given_id and (known := self._row(draft.given_id)) is not None:
            if known.fingerprint == print_:
                return self._report(known, "duplicate", draft, [known.id], "it already exists under this id")
            raise refuse(
                "id",
                f"the id {draft.given_id!r} is already the id of another memory; choose another id, or change that "
                "memory with update_memory",
                value=draft.given_id,
            )
        links = link(draft.content, draft.files, draft.symbols, self._around.view, self._around.project, draft.commit_sha or "")
        for one in draft.derived_from:
            if self._row(one) is None:
                raise refuse("derived_from", f"derived_from names the unknown memory {one!r}; correct the id", value=one)
        for one in draft.required_with:
            if self._row(one) is None:
                raise refuse("required_with", f"required_with names the unknown memory {one!r}; correct the id", value=one)
        draft = self._tainted(draft)
        same = self._same_text(draft, print_)
        if same is not None:
            return self._plan_duplicate(same, draft, links)
        met = [one for one in self._similar_memories(draft, near) if one.row.id not in draft.derived_from]
        row = self._new_row(draft, links, print_)
        verdict = self._judge.verdict(row, met, {one.target_id for one in links.about}, is_own=bool(draft.given_id))
        self._add_row(verdict.row, draft, links)
        related: tuple[tuple[RelationKind, Sequence[str]], ...]
        related = (("derived_from", draft.derived_from), ("required_with", draft.required_with))
        for kind, ids in related:
            self._relates.update({(row.id, one, kind): RelatesRow(row.id, one, kind, 1.0, auto=False) for one in ids})
        self._events.append(Event(op, row.id, "", row.fingerprint, verdict.note))
        self._carry_out(verdict)
        return self._report(self._row(verdict.stands) or verdict.row, verdict.outcome, draft, verdict.others, verdict.note, links)

    def _carry_out(self, verdict: Verdict) -> None:
        """Add the changes that `verdict` contains to the plan.

        `verdict` is the decision about a new memory that resembles existing ones.
        """
        for change in verdict.changed:
            self._change(change)
        self._relates.update({(one.src, one.dst, one.kind): one for one in verdict.relations})
        self._events += verdict.events
        if verdict.absorbed is not None:
            winner, loser = verdict.absorbed
            self._unite_links(winner, Links(self._links_of(loser), [], [], [], []))
            lessons = [*self._index.learnt(loser), *(row for key, row in self._learnt.items() if key[0] == loser)]
            self._learnt.update({(winner, one.session_id): one._replace(memory_id=winner) for one in lessons})

    # ---- a memory that has got its vector

    def reconsider(self, ids: Sequence[str]) -> Plan:
        """Plan changes for the memories `ids`, whose vectors were just computed.

        Each of these memories is compared with the memories that were created before it. A change marks a duplicate or a contradiction. A
        memory that was created with an id of the caller's choice is left unchanged.
        """
        for one in ids:
            row, vector = self._row(one), self._index.vector(one)
            if row is None or vector is None or row.status not in LIVE_STATUSES or is_of_somebody(row):
                continue
            related = {link.dst if link.src == one else link.src for link in self._index.relates(one)}
            words = words_of(row.content)
            met: list[Met] = []
            for near, cosine in self._index.near(vector, _LOOK, self._around.thresholds.topic):
                other = self._row(near)
                if other is None or near in related or other.status not in LIVE_STATUSES or other.scope != row.scope:
                    continue
                if (other.created_at, other.id) < (row.created_at, row.id):
                    met.append(Met(other, Similarity(overlap(words, words_of(other.content)), cosine)))
            verdict = self._judge.verdict(row, met, {link.target_id for link in self._links_of(one)}, is_own=False)
            if verdict.outcome == "added" and not verdict.relations:
                continue
            if verdict.row != row:
                self._change(verdict.row)
            if not verdict.events:
                self._events.append(Event("link", one, row.fingerprint, row.fingerprint, verdict.note))
            self._carry_out(verdict)
        return self._finish([])

    def _tainted(self, draft: Draft) -> Draft:
        """Mark a draft as no more trusted than the memories it derives from.

        The sources are the memories that the draft was derived from. The draft gets the least trusted origin among its own and theirs. If a
        source is contaminated (influenced by outside text), the draft is, too.
        """
        origin, contaminated = draft.origin, draft.contaminated
        for one in draft.derived_from:
            parent = self._row(one)
            if parent is not None:
                origin, contaminated = more_tainted(origin, parent.origin), contaminated or parent.contaminated
        return draft._replace(origin=origin, contaminated=contaminated)

    def _same_text(self, draft: Draft, print_: str) -> MemoryRow | None:
        """Return the memory that has the same text as a draft; None without one.

        `print_` is the fingerprint of the draft's text. The memory must have the same scope and visibility as the draft. Superseded and
        deprecated memories do not count.
        """
        ids = [*self._index.by_fingerprint(print_), *self._by_fingerprint.get(print_, ())]
        rows = (self._row(one) for one in dict.fromkeys(ids))
        return next(
            (
                row
                for row in rows
                if row is not None
                and row.status in LIVE_STATUSES
                and may_meet(row.id, row.visibility)
                and (row.fingerprint, row.scope, row.visibility) == (print_, draft.scope, draft.visibility)
            ),
            None,
        )

    def _plan_duplicate(self, row: MemoryRow, draft: Draft, links: Links) -> Remembered:
        """Plan to store a draft whose text is known already; return the outcome.

        `row` is the memory with the same text. No new memory is made: `row` becomes stronger and gets the draft's links. `row` does not
        become stronger if the draft comes from text that strangers wrote, or from a file that is imported again.
        """
        now = self._around.now
        note = "the same was already known"
        if draft.contaminated and not row.contaminated:
            note = "the same was already known; outside text does not confirm it"
        elif draft.source == "imported" and not self._is_new_session(row.id, draft):
            note = "the same was already known; reading a file again confirms nothing"
            tags = tuple(dict.fromkeys([*row.tags, *draft.tags]))
            if tags != row.tags:
                self._change(row._replace(tags=tags, updated_at=now))
                self._events.append(Event("update", row.id, row.fingerprint, row.fingerprint, note))
        else:
            if row.source == SEEDED and draft.source != SEEDED:  # what is learnt takes over a seed
                row = row._replace(
                    source=draft.source,
                    confidence=max(row.confidence, draft.confidence),
                    importance=max(row.importance, draft.importance),
                    half_life_days=draft.half_life_days,
                )
            changed = confirmed_by_repetition(
                row, now, independent=draft.source == "user_taught" or self._is_new_session(row.id, draft)
            )._replace(importance=min(1.0, round(row.importance + BOOST, 6)), tags=tuple(dict.fromkeys([*row.tags, *draft.tags])))
            if draft.source == "user_taught":  # a person wrote it, so a review is not needed
                changed = changed._replace(
                    user_verified=True, needs_review=False, status="confirmed" if row.status == "candidate" else row.status
                )
            self._change(changed)
            self._unite_links(row.id, links)
            self._add_session(row.id, draft)
            self._events.append(Event("update", row.id, row.fingerprint, row.fingerprint, note))
        if draft.given_id:  # another id of the same text still finds it
            alias = self._new_row(draft, links, row.fingerprint)
            self._add_row(alias._replace(status="superseded", valid_to=now), draft, Links([], [], [], [], []))
            self._relates[row.id, alias.id, "derived_from"] = RelatesRow(row.id, alias.id, "derived_from", 1.0, auto=True)
            self._events.append(Event("add", alias.id, "", alias.fingerprint, f"another id of {row.id}"))
            note = f"the same is kept as {row.id}; this id leads to it"
        return self._report(row, "duplicate", draft, [row.id], note, links)

    # ---- meeting others

    def _similar_memories(self, draft: Draft, near: dict[str, float | None] | None) -> list[Met]:
        """Return stored memories that resemble a draft, nearest first.

        The keys of `near` are the ids of the memories to compare. The values are the cosines; None means that only the words are similar.
        If `near` itself is None, the index is searched for memories to compare. Superseded and deprecated memories are left out.
        """
        words = words_of(draft.content)
        cosines: dict[str, float] = {}
        ids: list[str] = []
        vector = self._comparable(draft)
        if near is not None:
            ids = list(near)
            cosines = {one: cosine for one, cosine in near.items() if cosine is not None}
        else:
            ids = [one for one, _ in self._index.words(draft.content, _LOOK)]
            ids += [one for one, row in self._rows.items() if row.status in LIVE_STATUSES]
            if vector is not None:
                cosines = dict(self._index.near(vector, _LOOK, self._around.thresholds.topic))
                ids += cosines
                cosines |= self._index.cosines(vector, [one for one in ids if one not in cosines])
        found: list[Met] = []
        for one in dict.fromkeys(ids):
            row = self._row(one)
            if row is None or row.status not in LIVE_STATUSES or row.scope != draft.scope or not may_meet(one, row.visibility):
                continue
            if one not in cosines and vector is not None and one in self._vector_of:
                cosines[one] = _cosine(vector, self._vector_of[one])
            found.append(Met(row, Similarity(overlap(words, words_of(row.content)), cosines.get(one))))
        return sorted(found, key=lambda met: (-max(met.near.overlap, met.near.cosine or 0.0), met.row.id))[:_LOOK]

    # ---- many drafts

    def _near_many(self, drafts: Sequence[Draft]) -> list[dict[str | int, float | None]]:
        """Return, for each draft, the similar stored memories and earlier drafts.

        The result has one mapping for each draft. A key is the id of a stored memory, or the position of an earlier draft in `drafts`. The
        value is the cosine, or None if only the words are similar.
        """
        stored = {one: self._rows.get(one, row) for one, row in self._index.rows(self._index.ids()).items()}
        known: list[str | int] = list(stored)
        sets = [words_of(row.content) for row in stored.values()] + [words_of(draft.content) for draft in drafts]
        known += range(len(drafts))
        found: list[dict[str | int, float | None]] = [
            {known[number]: None for number in numbers} for numbers in near_words(sets, len(stored))
        ]
        embedded = [place for place, draft in enumerate(drafts) if self._comparable(draft) is not None]
        if embedded:
            vectors = {one: vector for one in stored if (vector := self._index.vector(one)) is not None}
            new = np.stack([_unit(self._comparable(drafts[place])) for place in embedded])
            old = np.stack(list(vectors.values())) if vectors else np.zeros((0, new.shape[1]), np.float32)
            numbered: list[str | int] = [*vectors, *embedded]
            for place, hits in zip(embedded, near_rows(new, old, self._around.thresholds.topic, _LOOK), strict=True):
                found[place].update({numbered[number]: cosine for number, cosine in hits})
        return found

    def _comparable(self, draft: Draft) -> F32 | None:
        """Return the vector of a draft, or None.

        The result is None if the draft has no vector, or if another model computed the vectors in the index. Vectors of different models
        cannot be compared.
        """
        return draft.vector if draft.vector is not None and self._model == self._around.model else None

    # ---- rows

    def _row(self, memory_id: str) -> MemoryRow | None:
        return self._rows.get(memory_id) or self._index.row(memory_id)

    def _new_row(self, draft: Draft, links: Links, print_: str) -> MemoryRow:
        now = self._around.now
        source = SOURCES[draft.source]
        created = draft.created_at or now
        memory_id = draft.given_id or uuid7(created)
        short = short_id(draft.content, memory_id, Taken(self._index, self._taken))
        self._taken[short] = memory_id
        contextual = contextual_text(draft.content, draft.type, links.paths, links.modules)
        key = text_hash(contextual)
        status = "candidate" if draft.contaminated and draft.source != "user_taught" else source.status
        return MemoryRow(
            id=memory_id,
            short_id=short,
            fingerprint=print_,
            type=draft.type,
            title=draft.title,
            citation=citation_of(draft.title, draft.files, created),
            content=draft.content,
            confidence=draft.confidence,
            importance=draft.importance,
            strength=1,
            source=draft.source,
            scope=draft.scope,
            visibility=draft.visibility,
            status=status,
            needs_review=source.needs_review or (draft.contaminated and draft.source != "user_taught"),
            user_verified=False,
            disputed=False,
            contaminated=draft.contaminated,
            tags=draft.tags,
            created_at=created,
            updated_at=now,
            last_accessed_at=now if created < now else None,
            valid_from=created,
            valid_to=None,
            stale_at=None,
            deprecated_at=None,
            injected_count=0,
            used_count=0,
            confirmed_count=0,
            origin=draft.origin,
            half_life_days=draft.half_life_days,
            commit_sha=draft.commit_sha,
            work_unit=draft.work_unit,
            details=draft.details,
            text_hash=key,
            embedding_model=self._model if draft.vector is not None else "",
        )

    def _add_row(self, row: MemoryRow, draft: Draft, links: Links) -> None:
        """Add the row of a new memory, and its links to code, to the plan.

        The session and the vector of its `draft` are added, too.
        """
        self._rows[row.id] = row
        self._by_fingerprint.setdefault(row.fingerprint, []).append(row.id)
        if links.about:
            self._about[row.id] = _united(self._about.get(row.id, []), [one._replace(memory_id=row.id) for one in links.about])
        self._files.update((file.id, file) for file in links.files)
        self._add_session(row.id, draft)
        if draft.vector is not None:
            self._vectors[row.text_hash] = draft.vector
            self._vector_of[row.id] = draft.vector
        elif row.status in LIVE_STATUSES:
            self._texts[row.id] = contextual_text(draft.content, draft.type, links.paths, links.modules)

    def _change(self, row: MemoryRow) -> None:
        if row.id not in self._rows and row.id not in self._before:
            before = self._index.row(row.id)
            if before is not None:
                self._before[row.id] = before
        self._rows[row.id] = row

    def _links_of(self, memory_id: str) -> list[AboutRow]:
        return self._about.get(memory_id) or self._index.about(memory_id)

    def _unite_links(self, memory_id: str, links: Links) -> None:
        """Add links to code to the existing links of a memory."""
        if links.about:
            known = self._links_of(memory_id)
            united = _united(known, [one._replace(memory_id=memory_id) for one in links.about])
            if united != known:
                self._about[memory_id] = united
            self._files.update((file.id, file) for file in links.files)

    def _is_new_session(self, memory_id: str, draft: Draft) -> bool:
        """Return whether the memory was never learnt in the draft's session.

        For a draft without a session, the result is False.
        """
        known = {one.session_id for one in self._index.learnt(memory_id)} | {key[1] for key in self._learnt if key[0] == memory_id}
        return bool(draft.session) and draft.session not in known

    def _add_session(self, memory_id: str, draft: Draft) -> None:
        """Record the session of a draft as a source of the memory."""
        if not draft.session:
            return
        if draft.session not in self._sessions and self._index.session(draft.session) is None:
            kind = "page" if "://" in draft.session else "file" if draft.session.startswith(FILE) else "session"
            self._sessions[draft.session] = SessionRow(
                draft.session,
                "",
                kind,
                draft.session if kind == "page" else "",
                self._around.now,
                None,
                draft.commit_sha or "",
                "",
                None,
            )
        self._learnt[memory_id, draft.session] = LearntRow(memory_id, draft.session, 0, 0)

    def _report(
        self, row: MemoryRow, outcome: str, draft: Draft, others: Sequence[str] = (), note: str = "", links: Links | None = None
    ) -> Remembered:
        return Remembered(
            row.id,
            row.short_id,
            outcome,
            draft.given_id,
            list(dict.fromkeys(others)),
            list(draft.redacted),
            links.unresolved if links is not None else [],
            note,
        )

    def _finish(self, results: list[Remembered]) -> Plan:
        delta = KnowledgeDelta(
            memories=list(self._rows.values()),
            anchored=list(self._about),
            about=[one for links in self._about.values() for one in links],
            files=[self._files[key] for key in sorted(self._files)],
            relates=[self._relates[key] for key in sorted(self._relates)],
            sessions=[self._sessions[key] for key in sorted(self._sessions)],
            learnt=[self._learnt[key] for key in sorted(self._learnt)],
        )
        return Plan(delta, self._events, self._before, results, self._vectors, self._model, self._texts)


def _united(known: Sequence[AboutRow], more: Sequence[AboutRow]) -> list[AboutRow]:
    """Merge two lists of a memory's links to code: `known` and `more`.

    If two links have the same target and role, the one with the higher confidence is kept.
    """
    links: dict[tuple[str, str], AboutRow] = {}
    for one in [*known, *more]:
        key = one.target_id, one.role
        if key not in links or links[key].confidence < one.confidence:
            links[key] = one
    return [links[key] for key in sorted(links)]


def _unit(vector: Any) -> F32:
    return np.asarray(vector, np.float32) / max(float(np.linalg.norm(vector)), 1e-12)


def _cosine(one: F32, other: F32) -> float:
    return float(_unit(one) @ _unit(other))
