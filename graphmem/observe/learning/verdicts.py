"""Record the outcome of each finding of a session, for its receipt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.answers import FindingVerdict, Receipt
from graphmem.memory.texts.redact import redact
from graphmem.memory.texts.types import SOURCES
from graphmem.observe.learning import gates
from graphmem.observe.learning.learner import SOURCE
from graphmem.observe.ledger.frequency import RATES
from graphmem.observe.ledger.ledger import Seen
from graphmem.observe.model import Finding
from graphmem.observe.texts.wording import Worded

if TYPE_CHECKING:
    from graphmem.memory.repository.repository import MemoryRepository

_SHOWN: Final = 300  # characters of a memory's text in a receipt


class Case(NamedTuple):
    """A candidate for a memory: a finding with its counts and its sentence.

    The counts are numbers of sessions and agents; the sentence is the text of the future memory.
    """

    finding: Finding
    seen: Seen
    text: Worded

    @property
    def score(self) -> float:
        """The importance of the future memory, from 0 to 1."""
        one = self.finding
        trust = SOURCES[SOURCE].trust * (gates.CONTAMINATED if one.contaminated else 1.0)
        return gates.score(max(one.value, one.priority), self.seen.sessions, one.min_sessions, trust)


class Verdicts:
    """The outcomes of the findings of one session.

    Attributes:
        listed: the outcome of each finding, in the order of the decisions.
        became: maps the key of a finding to the id of its memory.
        agreed: maps the id of a memory that a finding repeats to the steps of the finding.
    """

    def __init__(self, book: MemoryRepository) -> None:
        self.listed: list[FindingVerdict] = []
        self.became: dict[str, str] = {}
        self.agreed: dict[str, tuple[int, ...]] = {}
        self._book = book

    def end(
        self, one: Finding, outcome: str, why: str, case: Case | None = None, *, seen: Seen | None = None, row: str = "", text: str = ""
    ) -> None:
        """Record the outcome of a finding.

        Args:
            one: the finding.
            outcome: a key of `gates.OUTCOMES`.
            why: the reason, for people.
            case: the finding with its counts and sentence, if it passed the first checks.
            seen: the counts of the finding; needed only if `case` is None.
            row: id of the memory that the finding became or repeats; "" if there is none.
            text: text of the stored memory; "" for the sentence of the case.
        """
        if outcome == "learnt":
            self.became[one.key] = row
        if outcome == "known" and row and not (one.contaminated or one.failed_approach) and one.signal not in RATES:
            self.agreed[row] = one.steps or (0,)  # a finding that chance can imitate confirms nothing
        seen = case.seen if case is not None else seen or Seen(0, 0)
        known = self._book.index().row(row) if row else None
        score = case.score if case is not None else 0.0
        self.listed.append(
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
    """Restore a receipt from `body`, its stored JSON.

    A receipt lists the outcome of each finding of a session.
    """
    return Receipt(**(dict(body) | {"verdicts": [FindingVerdict(**one) for one in body["verdicts"]]}))
