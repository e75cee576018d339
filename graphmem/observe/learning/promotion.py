"""Turn findings of a session into memories: filter, then write once.

A finding is a pattern found in the session. Findings that repeat a memory shown to the session are dropped first. The session must have
succeeded, and each finding must be frequent, new and important enough, and reach the lowest score. The texts of the remaining findings are
written and embedded, and all memories are stored at once. The receipt lists every finding with its outcome and
a reason. If the session, or a copy of it, was processed before, only the existing receipt is returned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Final

from graphmem.answers import Receipt
from graphmem.memory.texts.redact import redact_all
from graphmem.observe.counts.guard import Guard
from graphmem.observe.learning import extraction, gates
from graphmem.observe.learning.learner import Means
from graphmem.observe.learning.novelty import Novelty, Text, expected
from graphmem.observe.learning.outcomes import outcomes
from graphmem.observe.learning.promoted import Chosen, Promoted
from graphmem.observe.learning.selection import Selection
from graphmem.observe.learning.summary import summarised
from graphmem.observe.learning.verdicts import Case, Verdicts, receipt_of
from graphmem.observe.ledger.record_facts import digest_of
from graphmem.observe.model import SessionRecord
from graphmem.observe.texts.wording import dead_ends

MAX_JUDGED: Final = 200  # findings of one session that are compared with known memories, the most urgent first


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
        self._means = means
        self._book = means.book
        self._record = record
        self._part = part
        self._now = means.book.clock.now()
        self._guard = Guard(means.book.index(), record.injected)
        outcome = None
        if unit is not None:
            outcome = next((one.outcome for one in reversed(record.units) if one.label == unit), "")
        self._gate = gates.opened(record.info, outcome)
        self._notes: list[str] = []
        self._verdicts = Verdicts(means.book)
        self._selection = Selection(means, record, self._gate, self._guard, self._verdicts)

    def run(self, digest: str, before: Sequence[Receipt]) -> Receipt:
        """Filter the findings, write the memories and return the receipt.

        The receipt lists each finding (pattern in the session) with its outcome. `digest` is a hash of the session's record, stored with
        the receipt. `before` are the session's earlier receipts.
        """
        ledger, record = self._means.ledger, self._record
        found = [*record.findings, *dead_ends(record), *outcomes(record)]
        findings = [one for one in found if not self._part or one.work_unit == self._part]
        heard = [one for one in findings if not self._selection.is_echo(one)]
        # The id is the agent's name for the session, not text: some agents' ids look like secrets.
        summary = {**redact_all(summarised(record), []), "session": record.info.id}
        ledger.take(record, summary, [one for one in found if one not in findings or one in heard])
        seen = ledger.counts_of({one.key for one in heard})
        cases = self._judged([case for one in heard if (case := self._selection.filtered(one, seen[one.key])) is not None])
        novelty = Novelty(self._book, [Text(case.text.content, case.text.type, case.text.files) for case in cases])
        self._notes += [novelty.note] if novelty.note else []
        kept = self._selection.new_and_strong(cases, novelty, sum(len(one.learnt) for one in before if not one.undone))
        wordings, facts = self._with_model(kept, cases)
        writing = Promoted(self._book, record, self._part, self._gate, self._guard, self._verdicts, self._now)
        writing.write(Chosen(cases, kept, novelty, wordings, facts), self._selection.withdrawn, summary)
        writing.strengthen()
        receipt = self._receipt()
        ledger.put_learnt(record.info.id, self._verdicts.became, self._now)
        ledger.put_receipt(record.info.id, self._part, digest, self._now, asdict(receipt))
        return receipt

    def _judged(self, cases: list[Case]) -> list[Case]:
        """Return the most valuable of the findings `cases`, best first.

        At most MAX_JUDGED are returned. The others get the outcome "over_cap".
        """
        cases.sort(key=lambda case: (-case.score, case.finding.key))
        for case in cases[MAX_JUDGED:]:
            why = f"only the {MAX_JUDGED} most valuable findings of a session are compared"
            self._verdicts.end(case.finding, "over_cap", why, case)
        return cases[:MAX_JUDGED]

    def _with_model(self, kept: list[int], cases: Sequence[Case]) -> tuple[dict[int, str], list[extraction.Fact]]:
        """Let the model improve the wordings and extract facts, in one call.

        Return (wordings, facts). The wordings are the improved texts, by index in `cases`; `kept` has the indices of the accepted cases.
        Without a model, or if its answer is unusable, both are empty, and the texts of the templates remain.
        """
        if self._means.model is None:
            return {}, []
        tasks = (
            extraction.tasks(self._record, self._means.ledger, self._book)
            if self._means.extraction and self._gate.is_open and not self._part
            else []
        )
        if not kept and not tasks:
            return {}, []
        answer = extraction.ask(self._means.model, {place: cases[place].text.content for place in kept}, tasks)
        self._notes += answer.notes
        facts = [one for one in answer.facts if not self._guard.echoes(one.text)]
        for task in tasks if answer.answered else []:
            self._means.ledger.claim(task.trigger, task.task, self._now)
        return answer.wordings, facts

    def _receipt(self) -> Receipt:
        verdicts = self._verdicts.listed
        return Receipt(
            session=self._record.info.id,
            part=self._part,
            kind=self._record.info.kind,
            is_open=self._gate.is_open,
            gate=self._gate.why,
            at=expected(self._now),
            verdicts=sorted(verdicts, key=lambda one: (tuple(gates.OUTCOMES).index(one.outcome), -one.score, one.key)),
            counts=gates.counted([one.outcome for one in verdicts]),
            notes=self._notes,
        )
