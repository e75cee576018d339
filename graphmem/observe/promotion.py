"""Turn findings of a session into memories: filter, then write once.

A finding is a pattern found in the session. Findings that repeat a memory shown to the session are dropped first. Then the session's
outcome is checked, and the frequency, novelty, importance and points of each finding. The text is worded and embedded, and all memories are
written at once. The receipt lists every finding with its outcome and a reason. If the session, or a copy of it, was processed before, only
the existing receipt is returned.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.answers import FindingVerdict, Receipt
from graphmem.knowledge import KnowledgeDelta, LearntRow, SessionRow
from graphmem.memory import lifecycle
from graphmem.memory.outside import PAGES, page_row
from graphmem.memory.records import Event
from graphmem.memory.redact import redact, redact_all
from graphmem.memory.types import LIVE_STATUSES, SOURCES, MemoryItem
from graphmem.observe import extraction, gates
from graphmem.observe.frequency import RATES, leads, share
from graphmem.observe.guard import Guard
from graphmem.observe.ledger import Seen
from graphmem.observe.model import Finding, SessionRecord
from graphmem.observe.novelty import Novelty, Text, expected
from graphmem.observe.outcomes import SIGNALS as OUTCOMES
from graphmem.observe.outcomes import outcomes
from graphmem.observe.record_facts import digest_of
from graphmem.observe.signals import BROWSER, CORRECTED, QA_FAILED, SIGNALS, STATED
from graphmem.observe.summary import summarised, title_of
from graphmem.observe.wording import SAID, Worded, dead_ends, says_nothing, worded

if TYPE_CHECKING:
    from graphmem.knowledge import MemoryRow
    from graphmem.language_model import LanguageModel
    from graphmem.memory.plan import Plan
    from graphmem.memory.repository import MemoryRepository
    from graphmem.observe.ledger import Ledger

SOURCE: Final = "observer_inferred"
ACTOR: Final = "observer"
SOURCE_OF: Final = {BROWSER.name: "mcp_auto", QA_FAILED.name: "qa_auto"}  # of signals whose author is a tool
REVIEWED: Final = frozenset({CORRECTED.name, STATED.name, BROWSER.name})  # a person looks at their memories
WISH_TAGS: Final = ("observed", "remember")  # of requested memories
MAX_JUDGED: Final = 200  # findings of one session that are compared with known memories, the most urgent first
_SHOWN: Final = 300  # characters of a memory's text in a receipt

_log = logging.getLogger(__name__)


class Means(NamedTuple):
    """The parts that learning uses: memories, statistics, settings, a model."""

    book: MemoryRepository
    ledger: Ledger
    preset: str = "balanced"  # a key of gates.PRESETS
    model: LanguageModel | None = None
    extraction: bool = True  # also ask the model for facts


class _Case(NamedTuple):
    """A finding that passed the first checks, with counts and a sentence.

    The counts are numbers of sessions and agents; the sentence is the text of the future memory.
    """

    finding: Finding
    seen: Seen
    text: Worded


def promote(means: Means, record: SessionRecord, unit: str | None = None) -> Receipt:
    """Turn the findings of a session into memories, once.

    A finding is a pattern found in the session, such as a fixed error. The receipt lists the outcome of each finding. A repeated call
    stores nothing and returns the existing receipt.

    Args:
        means: memory repository, ledger, model.
        record: the session's record.
        unit: label of a finished task (unit of work) while the session continues; None at the end of the session.

    Raises:
        LedgerError, JournalError, DiskFullError: nothing was stored; the call can be repeated.
    """
    ledger, part = means.ledger, unit or ""
    digest = digest_of(record)
    before = ledger.receipts(record.info.id)
    for known_part, known, body, undone in before:
        if known_part == part and (undone or known == digest):
            return replace(receipt_of(body), undone=undone)
    twin = ledger.twin(record.info.id, digest)
    if twin and (of_twin := [(receipt_of(body), undone) for known_part, _, body, undone in ledger.receipts(twin) if known_part == part]):
        return replace(of_twin[0][0], undone=of_twin[0][1])
    return _Promotion(means, record, part, unit).run(digest, [receipt_of(body) for _, _, body, _ in before])


class _Promotion:
    """Turns the findings of one session into memories.

    The module's docstring lists the steps.
    """

    def __init__(self, means: Means, record: SessionRecord, part: str, unit: str | None) -> None:
        self.means = means
        self.book = means.book
        self.record = record
        self.part = part
        self.now = means.book.clock.now()
        self.guard = Guard(means.book.index(), record.injected)
        outcome = None
        if unit is not None:
            outcome = next((one.outcome for one in reversed(record.units) if one.label == unit), "")
        self.gate = gates.opened(record.info, outcome)
        self.notes: list[str] = []
        self.verdicts: list[FindingVerdict] = []
        self.withdrawn: dict[str, MemoryRow] = {}
        self.became: dict[str, str] = {}  # finding -> memory
        self.agreed: dict[str, tuple[int, ...]] = {}  # memory that a finding of this session repeats -> steps of the finding

    def run(self, digest: str, before: Sequence[Receipt]) -> Receipt:
        """Filter the findings, write the memories and return the receipt.

        The receipt lists each finding (pattern in the session) with its outcome. `digest` is a hash of the session's record, stored with
        the receipt. `before` are the session's earlier receipts.
        """
        ledger, record = self.means.ledger, self.record
        found = [*record.findings, *dead_ends(record), *outcomes(record)]
        findings = [one for one in found if not self.part or one.work_unit == self.part]
        heard = [one for one in findings if not self._is_echo(one)]
        # The id is the agent's name for the session, not text: some agents' ids look like secrets.
        summary = {**redact_all(summarised(record), []), "session": record.info.id}
        ledger.take(record, summary, [one for one in found if one not in findings or one in heard])
        seen = ledger.counts_of({one.key for one in heard})
        cases = [case for one in heard if (case := self._filtered(one, seen[one.key])) is not None]
        cases.sort(key=lambda case: (-self._score(case), case.finding.key))
        for case in cases[MAX_JUDGED:]:
            self._end(case.finding, "over_cap", f"only the {MAX_JUDGED} most valuable findings of a session are compared", case)
        cases = cases[:MAX_JUDGED]
        novelty = Novelty(self.book, [Text(case.text.content, case.text.type, case.text.files) for case in cases])
        self.notes += [novelty.note] if novelty.note else []
        kept = self._new_and_strong(cases, novelty, sum(len(one.learnt) for one in before if not one.undone))
        kept, facts = self._with_model(kept, cases)
        self._write(kept, facts, cases, novelty, summary)
        self._strengthen()
        receipt = Receipt(
            session=record.info.id,
            part=self.part,
            kind=record.info.kind,
            is_open=self.gate.is_open,
            gate=self.gate.why,
            at=expected(self.now),
            verdicts=sorted(self.verdicts, key=lambda one: (tuple(gates.OUTCOMES).index(one.outcome), -one.score, one.key)),
            counts=gates.counted([one.outcome for one in self.verdicts]),
            notes=self.notes,
        )
        ledger.put_learnt(record.info.id, self.became, self.now)
        ledger.put_receipt(record.info.id, self.part, digest, self.now, asdict(receipt))
        return receipt

    # ---- filters

    def _is_echo(self, one: Finding) -> bool:
        """Whether a finding repeats a memory, or comes from following one.

        Such a finding is not independent evidence. This method records its outcome, and the caller must drop the finding. The result is
        False if graphmem learnt the memory from the same session.
        """
        memory = self.guard.echoes_any(one.facts, SAID.get(one.signal, ()))
        if not memory and (known := self.means.ledger.memory_of(one.key)) and self.guard.was_shown(known):
            memory = known
        row = self.book.index().row(memory) if memory else None
        if not memory or (row is not None and self._is_ours(row)):
            return False
        if row is None:
            self._end(one, "echo", "it contains text that memory injected")
        elif self.guard.was_shown(memory) or self.guard.is_marked(one.facts):
            self._end(one, "echo", f"the session was shown #{row.short_id}", row=memory)
        else:
            self._end(one, "known", f"#{row.short_id} already says it in these words", row=memory)
            self.agreed.pop(memory, None)  # the agent may have read the same words elsewhere
        return True

    def _filtered(self, one: Finding, seen: Seen) -> _Case | None:
        """Check a finding and its frequency, then make the memory's sentence.

        `seen` has the numbers of sessions and agents that made the finding. The result is None if a check rejects the finding, or if the
        sentence cannot be made.
        """
        stopped = self._stopped(one, seen)
        if stopped is None:
            try:
                return _Case(one, seen, worded(self._directed(one), seen.sessions))
            except (KeyError, TypeError, ValueError, IndexError) as error:
                _log.warning("no sentence can be made of a finding of %s: %r", one.signal, error)
                stopped = ("refused", f"its facts do not fit the sentence of its signal ({type(error).__name__})", "")
        self._end(one, stopped[0], stopped[1], seen=seen, row=stopped[2])
        return None

    def _unproven(self, one: Finding) -> MemoryRow | None:
        """Return the memory learnt from a finding if that memory is unconfirmed.

        The result is None if no memory was learnt from the finding `one`, or if the memory is no longer a candidate. It is also None if the
        memory was used, confirmed or verified.
        """
        row = self.book.index().row(self.means.ledger.memory_of(one.key))
        is_free = row is not None and row.status == "candidate" and not (row.used_count or row.confirmed_count or row.user_verified)
        return row if is_free else None

    def _directed(self, one: Finding) -> Finding:
        """Add the leading file, if any, to a finding about two files.

        A file leads if it is rarely used without the other file; see `frequency.leads`. If neither file leads, the finding is returned
        unchanged.
        """
        first = leads(one, self.means.ledger) if one.signal == "co_access" and not one.quorum else ""
        return one._replace(facts={**one.facts, "leads": first}) if first else one

    def _stopped(self, one: Finding, seen: Seen) -> tuple[str, str, str] | None:
        """Return why a finding is rejected, or None if it is accepted.

        The result is (outcome, reason, id of the memory concerned or ""). `seen` has the numbers of sessions and agents that made the
        finding. A person's request to remember is rejected only if a memory was already made from it.
        """
        ledger = self.means.ledger
        is_dead_end = one.memory_type == gates.DEAD_END
        row = SIGNALS.get(one.signal)
        rate = share(one, ledger) if row is not None and seen.sessions >= row.min_sessions else None
        if one.signal not in gates.ASKED:
            if not self.gate.is_open and not ((is_dead_end or one.signal in OUTCOMES) and self.gate.most):
                return "gate_closed", self.gate.why, ""
            if one.failed_approach and not is_dead_end:
                return "failed_approach", "it belongs to an abandoned approach; only the dead end itself is kept", ""
            if ledger.is_barred(one.key):
                return "taken_back", "a person rejected it; use `graphmem remember` to store it anyway", ""
            if not one.quorum and seen.sessions < one.min_sessions:
                return "too_rare", f"seen in {seen.sessions} of {one.min_sessions} sessions", ""
            if rate is not None and rate.is_refuted and (early := self._unproven(one)) is not None:
                self.withdrawn[early.id] = early
                return "withdrawn", f"#{early.short_id} was learnt too early: {rate.found} of {rate.of} {rate.words}", early.id
            if rate is not None and not rate.is_enough:
                return "too_rare", f"seen in {rate.found} of {rate.of} {rate.words}; at least {rate.least:.0%} are needed", ""
            if nothing := says_nothing(one):
                return "weak", nothing, ""
        known = ledger.memory_of(one.key)
        memory = self.book.index().row(known) if known else None
        if memory is not None and memory.status in LIVE_STATUSES:
            return "known", f"it already became #{memory.short_id}", memory.id
        return None

    def _new_and_strong(self, cases: Sequence[_Case], novelty: Novelty, had: int) -> list[int]:
        """Select the findings that are new and valuable enough, best first.

        A session may add a limited number of memories. `had` is the number of memories that were learnt from it before; these count towards
        the limit. Requests of a person are selected even beyond the limit.

        Returns:
            Indices of the selected `cases`.
        """
        kept: list[int] = []
        preset = gates.PRESETS[self.means.preset]
        for place, case in enumerate(cases):
            one = case.finding
            found = novelty.known(place)
            if found is not None and self._is_ours(found.row) and not self.means.ledger.keys_of([found.row.id]):
                self._end(one, "learnt", "it was stored when the person asked for it", case, row=found.row.id)
                continue
            if found is not None and found.taken_back:
                self._end(one, "taken_back", f"#{found.row.short_id} said the same and was forgotten", case, row=found.row.id)
                continue
            if found is not None:
                self._end(one, "known", f"#{found.row.short_id} says the same ({found.likeness:.2f})", case, row=found.row.id)
                continue
            again = novelty.repeats(place, kept)
            if again is not None:
                self._end(one, "known", f"{cases[again].finding.key[:80]} of this session says the same", case)
                continue
            score = self._score(case)
            if one.signal not in gates.ASKED and (why := self._too_weak(case, score, preset)):
                self._end(one, "weak", why, case)
                continue
            if one.signal not in gates.ASKED and len(kept) + had >= self.gate.most:
                self._end(one, "over_cap", f"a {self.record.info.kind} session leaves at most {self.gate.most}", case)
                continue
            kept.append(place)
        return kept

    def _is_ours(self, row: MemoryRow) -> bool:
        """Return whether a memory was learnt by observing the current session."""
        is_observed = row.source in (SOURCE, *SOURCE_OF.values()) or set(WISH_TAGS) <= set(row.tags)
        return is_observed and any(one.session_id == self.record.info.id for one in self.book.index().learnt(row.id))

    def _too_weak(self, case: _Case, score: float, preset: gates.Preset) -> str:
        total = sum(gates.points(case.finding, case.seen.sessions, score).values())
        if total < preset.points:
            return f"{total} points of {preset.points} needed ({self.means.preset})"
        if score < preset.importance:
            return f"importance {score:.2f} of {preset.importance:.2f} needed ({self.means.preset})"
        if len(case.text.content) < preset.length:
            return f"{len(case.text.content)} characters of {preset.length} needed ({self.means.preset})"
        return ""

    def _score(self, case: _Case) -> float:
        trust = SOURCES[SOURCE].trust * (gates.CONTAMINATED if case.finding.contaminated else 1.0)
        return gates.score(max(case.finding.value, case.finding.priority), case.seen.sessions, case.finding.min_sessions, trust)

    # ---- one request to the model

    def _with_model(self, kept: list[int], cases: Sequence[_Case]) -> tuple[list[int], list[extraction.Fact]]:
        """Let the model improve the wordings and extract facts, in one call.

        Return (`kept`, facts). The argument `kept`, the indices of the accepted cases, is returned unchanged. Without a model, or if its
        answer is unusable, the texts of the templates remain.
        """
        self.rewritten: dict[int, str] = {}
        if self.means.model is None:
            return kept, []
        tasks = (
            extraction.tasks(self.record, self.means.ledger, self.book)
            if self.means.extraction and self.gate.is_open and not self.part
            else []
        )
        if not kept and not tasks:
            return kept, []
        answer = extraction.ask(self.means.model, {place: cases[place].text.content for place in kept}, tasks)
        self.notes += answer.notes
        self.rewritten = answer.wordings
        facts = [one for one in answer.facts if not self.guard.echoes(one.text)]
        for task in tasks if answer.answered else []:
            self.means.ledger.claim(task.trigger, task.task, self.now)
        return kept, facts

    # ---- writing

    def _write(
        self, kept: Sequence[int], facts: Sequence[extraction.Fact], cases: Sequence[_Case], novelty: Novelty, summary: Mapping[str, Any]
    ) -> None:
        """Write memories, links and the session with its summary atomically.

        `kept` has the indices of the accepted findings in `cases`. `facts` come from the language model. `novelty` has the vectors of the
        texts, and `summary` describes the session.
        """
        info = self.record.info
        learnt: list[tuple[Finding, _Case | None, MemoryItem]] = [
            (cases[place].finding, cases[place], self._item(cases[place], self.rewritten.get(place, ""), novelty, place)) for place in kept
        ]
        learnt += self._facts(facts, len(kept))
        node = self._node(_json(summary))
        started = node.started_at

        def finish(plan: Plan) -> Plan:
            places = [place for place in range(len(learnt)) if place not in refused]
            sessions = {one.id: one for one in plan.delta.sessions} | {info.id: node}
            lessons = {(one.memory_id, one.session_id): one for one in plan.delta.learnt}
            for place, result in zip(places, plan.results, strict=True):
                finding = learnt[place][0]
                steps = finding.steps or (0,)
                lessons[result.id, info.id] = LearntRow(result.id, info.id, steps[0], steps[-1])
                for page in finding.sources[:PAGES] if finding.contaminated else ():
                    sessions.setdefault(page, page_row(page, started))
                    lessons[result.id, page] = LearntRow(result.id, page, 0, 0)
            delta = plan.delta._replace(
                sessions=[sessions[one] for one in sorted(sessions)], learnt=[lessons[key] for key in sorted(lessons)]
            )
            doubtful = {result.id for place, result in zip(places, plan.results, strict=True) if learnt[place][0].signal in REVIEWED}
            rows = [row._replace(needs_review=True) if row.id in doubtful else row for row in delta.memories]
            delta = delta._replace(memories=rows)  # a person said it, but did not ask to keep it
            said = Event("finalize", note=f"session {info.id}: {len(plan.results)} learnt of {len(self.verdicts) + len(learnt)} findings")
            gone = [
                row._replace(status="deprecated", deprecated_at=self.now, valid_to=self.now, updated_at=self.now)
                for row in self.withdrawn.values()
            ]
            delta = delta._replace(memories=[*delta.memories, *gone])
            away = [Event("evict", row.id, row.fingerprint, "", "later sessions do not support it") for row in gone]
            return plan._replace(delta=delta, events=[said, *plan.events, *away], before={**plan.before, **self.withdrawn})

        refused: set[int] = set()
        items = [item for _, _, item in learnt]
        for place, item in enumerate(items):
            try:
                self.book.draft(item, SOURCE)
            except ValueError as error:
                refused.add(place)
                self._end(learnt[place][0], "refused", str(error), learnt[place][1])
        answer = self.book.remember_many(
            [item for place, item in enumerate(items) if place not in refused],
            source=SOURCE,
            embedding_model=novelty.model or None,
            actor=ACTOR,
            op="promote",
            finish=finish,
        )
        places = [place for place in range(len(items)) if place not in refused]
        for place, result in zip(places, answer.results, strict=True):
            finding, case, item = learnt[place]
            outcome = "learnt" if result.outcome not in ("duplicate", "superseded") else "known"
            self._end(finding, outcome, result.note or gates.OUTCOMES[outcome], case, row=result.id, text=item["content"])

    def _strengthen(self) -> None:
        """Confirm existing memories that the findings of this session repeat.

        Only memories that the session was not shown are confirmed, because then its findings are independent evidence. A session confirms a
        memory only once.
        """
        info = self.record.info
        with self.book.writing():
            index = self.book.index()
            rows = {
                row.id: row
                for row in index.rows(self.agreed).values()
                if row.status in LIVE_STATUSES
                and not {info.id, info.parent} & {one.session_id for one in index.learnt(row.id)}
                and not self.guard.was_shown(row.id)
            }
            if not rows:
                return
            sessions = [] if index.session(info.id) is not None else [self._node("")]
            learnt = [LearntRow(one, info.id, self.agreed[one][0], self.agreed[one][-1]) for one in sorted(rows)]
            changed = [lifecycle.confirmed_by_repetition(row, self.now, independent=True) for row in rows.values()]
            events = [Event("confirmed", row.id, row.fingerprint, row.fingerprint, f"found again by session {info.id}") for row in changed]
            self.book.commit(KnowledgeDelta(memories=changed, learnt=learnt, sessions=sessions), events, rows, ACTOR)

    def _node(self, summary: str) -> SessionRow:
        info = self.record.info
        started = info.started_at or info.ended_at or self.now
        ended = info.ended_at or (None if self.part else self.now)
        return SessionRow(info.id, info.agent, "agent", title_of(self.record), started, ended, info.commit_sha, summary, None)

    def _item(self, case: _Case, better: str, novelty: Novelty, place: int) -> MemoryItem:
        """Build the arguments of `remember` for one accepted finding.

        `better` is the language model's wording of the memory; "" for the wording of the template. `place` is the index of the finding in
        `novelty`, which has the vectors of the templates' texts.
        """
        one, info = case.finding, self.record.info
        score = self._score(case)
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

    def _facts(self, facts: Sequence[extraction.Fact], had: int) -> list[tuple[Finding, _Case | None, MemoryItem]]:
        """Convert the facts of the language model to memories, if they are new.

        `had` is the number of memories already selected for the session. They count towards the limit. Facts beyond the limit are left out.

        Returns:
            For each new fact: the finding, the case made of it, and the arguments of `remember`.
        """
        room = max(0, self.gate.most - had)
        novelty = Novelty(self.book, [Text(one.text, one.type, ()) for one in facts])
        made: list[tuple[Finding, _Case | None, MemoryItem]] = []
        places: list[int] = []
        for place, fact in enumerate(facts):
            finding = extraction.finding(fact, self.record)
            found = novelty.known(place)
            if found is not None or novelty.repeats(place, places) is not None:
                self._end(
                    finding,
                    "known",
                    f"#{found.row.short_id} says it" if found is not None else "said twice",
                    row=found.row.id if found else "",
                )
            elif len(made) >= room:
                self._end(finding, "over_cap", f"a {self.record.info.kind} session leaves at most {self.gate.most}")
            else:
                places.append(place)
                case = _Case(finding, Seen(1, 1), Worded(fact.text, fact.type, "", (), {}))
                made.append((finding, case, self._item(case, "", novelty, place) | {"tags": ["observed", extraction.TAG, fact.trigger]}))
        return made

    # ---- outcomes

    def _end(
        self, one: Finding, outcome: str, why: str, case: _Case | None = None, *, seen: Seen | None = None, row: str = "", text: str = ""
    ) -> None:
        if outcome == "learnt":
            self.became[one.key] = row
        if outcome == "known" and row and not (one.contaminated or one.failed_approach) and one.signal not in RATES:
            self.agreed[row] = one.steps or (0,)  # a finding that chance can imitate confirms nothing
        seen = case.seen if case is not None else seen or Seen(0, 0)
        known = self.book.index().row(row) if row else None
        score = self._score(case) if case is not None else 0.0
        self.verdicts.append(
            FindingVerdict(
                key=redact(one.key)[0],
                signal=one.signal,
                memory_type=case.text.type if case is not None else one.memory_type,
                outcome=outcome,
                why=why,
                text=redact(text or (case.text.content if case is not None else ""))[0][:_SHOWN],
                memory_id=known.id if known is not None else "",
                short_id=known.short_id if known is not None else "",
                sessions=seen.sessions,
                min_sessions=one.min_sessions,
                score=score,
                points=list(gates.points(one, seen.sessions, score)) if case is not None else [],
                contaminated=one.contaminated,
                files=list(one.files),
            )
        )


def receipt_of(body: Mapping[str, Any]) -> Receipt:
    """Restore a receipt from its stored JSON.

    A receipt lists the outcome of each finding of a session.
    """
    return Receipt(**(dict(body) | {"verdicts": [FindingVerdict(**one) for one in body["verdicts"]]}))


def _json(value: Mapping[str, Any]) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, sort_keys=True)
