"""Write the memories of one session, with their links and its summary."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from graphmem.knowledge import KnowledgeDelta, LearntRow, SessionRow
from graphmem.memory.journal.records import Event
from graphmem.memory.reading import lifecycle
from graphmem.memory.repository.outside import PAGES, page_row
from graphmem.memory.texts.types import LIVE_STATUSES, MemoryItem
from graphmem.observe.learning import extraction, gates
from graphmem.observe.learning.learner import ACTOR, REVIEWED, SOURCE, SOURCE_OF
from graphmem.observe.learning.novelty import Novelty, Text
from graphmem.observe.learning.summary import title_of
from graphmem.observe.learning.verdicts import Case, Verdicts
from graphmem.observe.ledger.ledger import Seen
from graphmem.observe.model import Finding, SessionRecord
from graphmem.observe.texts.wording import Worded

if TYPE_CHECKING:
    from graphmem.knowledge import MemoryRow
    from graphmem.memory.repository.plan import Plan
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.observe.counts.guard import Guard


class Chosen(NamedTuple):
    """The findings and facts that are to become memories.

    Attributes:
        cases: the findings that were compared with known memories.
        kept: indices of the accepted ones.
        novelty: has the vectors of the cases' texts.
        wordings: the language model's texts, by index in `cases`.
        facts: facts that the language model extracted.
    """

    cases: Sequence[Case]
    kept: Sequence[int]
    novelty: Novelty
    wordings: Mapping[int, str]
    facts: Sequence[extraction.Fact]


class _Learnt(NamedTuple):
    """A future memory: its finding, and the arguments of `remember`."""

    finding: Finding
    case: Case
    item: MemoryItem


class Promoted:
    """Writes the memories that a session's findings become. Use it only once.

    Args:
        book: the memories.
        record: the session's record.
        part: label of a finished task of the session; "" at its end.
        gate: the rule for sessions of this kind and outcome.
        guard: knows the memories that the session was shown.
        verdicts: gets the outcome of each finding that is written.
        now: time of the write.
    """

    def __init__(
        self, book: MemoryRepository, record: SessionRecord, part: str, gate: gates.Opened, guard: Guard, verdicts: Verdicts, now: datetime
    ) -> None:
        self._book = book
        self._record = record
        self._part = part
        self._gate = gate
        self._guard = guard
        self._verdicts = verdicts
        self._now = now

    def write(self, chosen: Chosen, withdrawn: Mapping[str, MemoryRow], summary: Mapping[str, object]) -> None:
        """Write memories, links and the session with its summary atomically.

        Args:
            chosen: the findings and facts that become memories.
            withdrawn: memories that were learnt too early, by id; they are deprecated.
            summary: describes the session.
        """
        learnt = [
            _Learnt(case.finding, case, self._item(case, chosen.wordings.get(place, ""), chosen.novelty, place))
            for place in chosen.kept
            for case in [chosen.cases[place]]
        ]
        learnt += self._facts(chosen.facts, len(chosen.kept))
        node = self._node(json.dumps(summary, ensure_ascii=False, sort_keys=True))
        accepted = self._accepted(learnt)

        def finish(plan: Plan) -> Plan:
            return self._withdrawing(self._with_session(plan, accepted, node, len(learnt)), withdrawn)

        answer = self._book.remember_many(
            [one.item for one in accepted],
            source=SOURCE,
            embedding_model=chosen.novelty.model or None,
            actor=ACTOR,
            op="promote",
            finish=finish,
        )
        for one, result in zip(accepted, answer.results, strict=True):
            outcome = "learnt" if result.outcome not in ("duplicate", "superseded") else "known"
            why = result.note or gates.OUTCOMES[outcome]
            self._verdicts.end(one.finding, outcome, why, one.case, row=result.id, text=one.item["content"])

    def _accepted(self, learnt: Sequence[_Learnt]) -> list[_Learnt]:
        """Return the future memories that `remember` accepts."""
        accepted = []
        for one in learnt:
            try:
                self._book.draft(one.item, SOURCE)
            except ValueError as error:
                self._verdicts.end(one.finding, "refused", str(error), one.case)
            else:
                accepted.append(one)
        return accepted

    def _with_session(self, plan: Plan, accepted: Sequence[_Learnt], node: SessionRow, found: int) -> Plan:
        """Add the session, and the links of memories to it, to a planned write.

        `node` is the row of the session. `accepted` are the memories that the write stores, in its order. `found` is the number of findings
        and facts that were to become memories.
        """
        info = self._record.info
        sessions = {one.id: one for one in plan.delta.sessions} | {info.id: node}
        lessons = {(one.memory_id, one.session_id): one for one in plan.delta.learnt}
        doubtful = set()
        for (finding, _, _), result in zip(accepted, plan.results, strict=True):
            steps = finding.steps or (0,)
            lessons[result.id, info.id] = LearntRow(result.id, info.id, steps[0], steps[-1])
            for page in finding.sources[:PAGES] if finding.contaminated else ():
                sessions.setdefault(page, page_row(page, node.started_at))
                lessons[result.id, page] = LearntRow(result.id, page, 0, 0)
            if finding.signal in REVIEWED:  # a person said it, but did not ask to keep it
                doubtful.add(result.id)
        rows = [row._replace(needs_review=True) if row.id in doubtful else row for row in plan.delta.memories]
        delta = plan.delta._replace(
            memories=rows, sessions=[sessions[one] for one in sorted(sessions)], learnt=[lessons[key] for key in sorted(lessons)]
        )
        note = f"session {info.id}: {len(plan.results)} learnt of {len(self._verdicts.listed) + found} findings"
        return plan._replace(delta=delta, events=[Event("finalize", note=note), *plan.events])

    def _withdrawing(self, plan: Plan, withdrawn: Mapping[str, MemoryRow]) -> Plan:
        """Add to a planned write that the memories `withdrawn` are deprecated.

        Later sessions do not support these memories. The keys of `withdrawn` are ids of memories.
        """
        now = self._now
        gone = [row._replace(status="deprecated", deprecated_at=now, valid_to=now, updated_at=now) for row in withdrawn.values()]
        events = [Event("evict", row.id, row.fingerprint, "", "later sessions do not support it") for row in gone]
        delta = plan.delta._replace(memories=[*plan.delta.memories, *gone])
        return plan._replace(delta=delta, events=[*plan.events, *events], before={**plan.before, **withdrawn})

    def strengthen(self) -> None:
        """Confirm existing memories that the findings of this session repeat.

        Only memories that the session was not shown are confirmed, because then its findings are independent evidence. A session confirms a
        memory only once.
        """
        info = self._record.info
        with self._book.writing():
            index = self._book.index()
            rows = {
                row.id: row
                for row in index.rows(self._verdicts.agreed).values()
                if row.status in LIVE_STATUSES
                and not {info.id, info.parent} & {one.session_id for one in index.learnt(row.id)}
                and not self._guard.was_shown(row.id)
            }
            if not rows:
                return
            sessions = [] if index.session(info.id) is not None else [self._node("")]
            learnt = [LearntRow(one, info.id, self._verdicts.agreed[one][0], self._verdicts.agreed[one][-1]) for one in sorted(rows)]
            changed = [lifecycle.confirmed_by_repetition(row, self._now, independent=True) for row in rows.values()]
            events = [Event("confirmed", row.id, row.fingerprint, row.fingerprint, f"found again by session {info.id}") for row in changed]
            self._book.commit(KnowledgeDelta(memories=changed, learnt=learnt, sessions=sessions), events, rows, ACTOR)

    def _node(self, summary: str) -> SessionRow:
        info = self._record.info
        started = info.started_at or info.ended_at or self._now
        ended = info.ended_at or (None if self._part else self._now)
        return SessionRow(info.id, info.agent, "agent", title_of(self._record), started, ended, info.commit_sha, summary, None)

    def _item(self, case: Case, better: str, novelty: Novelty, place: int) -> MemoryItem:
        """Build the arguments of `remember` for one accepted finding.

        `better` is the language model's wording of the memory; "" for the wording of the template. `place` is the index of the finding in
        `novelty`, which has the vectors of the templates' texts.
        """
        one, info = case.finding, self._record.info
        score = case.score
        item: MemoryItem = {
            "content": better or case.text.content,
            "type": case.text.type,
            "title": case.text.title or None,
            "files": list(case.text.files),
            "details": dict(case.text.details) or None,
            "confidence": gates.confidence(max(one.value, one.priority), case.seen.sessions, contaminated=one.contaminated),
            "importance": score,
            "contaminated": one.contaminated,
            "scope": "module" if case.text.files else "global",
            "tags": ["observed", one.signal],
            "session": info.id,
            "commit_sha": info.commit_sha or None,
            "work_unit": {"methodology": info.methodology, "label": one.work_unit} if one.work_unit else None,
        }
        if one.signal in gates.ASKED:
            item |= {"source": "agent_explicit"}
        if one.signal in SOURCE_OF:
            item |= {"source": SOURCE_OF[one.signal]}
        vector = novelty.vectors[place]
        if vector is not None and not better:  # a sentence reworded by the model is embedded in the background
            item["vector"] = vector
        return item

    def _facts(self, facts: Sequence[extraction.Fact], had: int) -> list[_Learnt]:
        """Convert the facts of the language model to memories, if they are new.

        `had` is the number of memories already selected for the session. They count towards the limit. Facts beyond the limit are left out.

        Returns:
            The new facts.
        """
        room = max(0, self._gate.most - had)
        novelty = Novelty(self._book, [Text(one.text, one.type, ()) for one in facts])
        made: list[_Learnt] = []
        places: list[int] = []
        for place, fact in enumerate(facts):
            finding = extraction.finding(fact, self._record)
            found = novelty.known(place)
            if found is not None or novelty.repeats(place, places) is not None:
                self._verdicts.end(
                    finding,
                    "known",
                    f"#{found.row.short_id} says it" if found is not None else "said twice",
                    row=found.row.id if found else "",
                )
            elif len(made) >= room:
                self._verdicts.end(finding, "over_cap", f"a {self._record.info.kind} session leaves at most {self._gate.most}")
            else:
                places.append(place)
                case = Case(finding, Seen(1, 1), Worded(fact.text, fact.type, "", (), {}))
                item = self._item(case, "", novelty, place) | {"tags": ["observed", extraction.TAG, fact.trigger]}
                made.append(_Learnt(finding, case, item))
        return made
