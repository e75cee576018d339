"""Select the findings of a session that become memories."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphmem.memory.texts.types import LIVE_STATUSES
from graphmem.observe.learning import gates
from graphmem.observe.learning.learner import SOURCE, SOURCE_OF, WISH_TAGS, Means
from graphmem.observe.learning.novelty import Found, Novelty
from graphmem.observe.learning.outcomes import SIGNALS as OUTCOMES
from graphmem.observe.learning.verdicts import Case, Verdicts
from graphmem.observe.ledger.frequency import leads, share
from graphmem.observe.ledger.ledger import Seen
from graphmem.observe.model import Finding, SessionRecord
from graphmem.observe.signals import SIGNALS
from graphmem.observe.texts.wording import SAID, says_nothing, worded

if TYPE_CHECKING:
    from graphmem.knowledge import MemoryRow
    from graphmem.observe.counts.guard import Guard

_log = logging.getLogger(__name__)


class Selection:
    """The checks that a session's findings must pass to become memories.

    Attributes:
        withdrawn: memories that were learnt too early, by id.

    Args:
        means: memory repository and ledger.
        record: the session's record.
        gate: the rule for sessions of this kind and outcome.
        guard: recognises text that graphmem injected.
        verdicts: gets the outcome of each rejected finding.
    """

    def __init__(self, means: Means, record: SessionRecord, gate: gates.Opened, guard: Guard, verdicts: Verdicts) -> None:
        self.withdrawn: dict[str, MemoryRow] = {}
        self._means = means
        self._book = means.book
        self._record = record
        self._gate = gate
        self._guard = guard
        self._verdicts = verdicts

    def is_echo(self, one: Finding) -> bool:
        """Whether a finding only repeats a memory, so that it proves nothing.

        If so, the method records the finding's outcome ("echo" or "known"), and the caller must drop the finding. The result is False if
        graphmem learnt the memory from the same session.
        """
        memory = self._guard.echoes_any(one.facts, SAID.get(one.signal, ()))
        if not memory and (known := self._means.ledger.memory_of(one.key)) and self._guard.was_shown(known):
            memory = known
        row = self._book.index().row(memory) if memory else None
        if not memory or (row is not None and self._is_ours(row)):
            return False
        if row is None:
            self._verdicts.end(one, "echo", "it contains text that memory injected")
        elif self._guard.was_shown(memory) or self._guard.is_marked(one.facts):
            self._verdicts.end(one, "echo", f"the session was shown #{row.short_id}", row=memory)
        else:
            self._verdicts.end(one, "known", f"#{row.short_id} already says it in these words", row=memory)
            self._verdicts.agreed.pop(memory, None)  # the agent may have read the same words elsewhere
        return True

    def filtered(self, one: Finding, seen: Seen) -> Case | None:
        """Check a finding and its frequency, then make the memory's sentence.

        `seen` has the numbers of sessions and agents that made the finding. The result is None if a check rejects the finding, or if the
        sentence cannot be made.
        """
        stopped = self._stopped(one, seen)
        if stopped is None:
            try:
                return Case(one, seen, worded(self._directed(one), seen.sessions))
            except (KeyError, TypeError, ValueError, IndexError) as error:
                _log.warning("no sentence can be made of a finding of %s: %r", one.signal, error)
                stopped = ("refused", f"its facts do not fit the sentence of its signal ({type(error).__name__})", "")
        self._verdicts.end(one, stopped[0], stopped[1], seen=seen, row=stopped[2])
        return None

    def _unproven(self, one: Finding) -> MemoryRow | None:
        """Return the memory learnt from a finding if that memory is unconfirmed.

        The result is None if no memory was learnt from the finding `one`, or if the memory is no longer a candidate. It is also None if the
        memory was used, confirmed or verified.
        """
        row = self._book.index().row(self._means.ledger.memory_of(one.key))
        is_free = row is not None and row.status == "candidate" and not (row.used_count or row.confirmed_count or row.user_verified)
        return row if is_free else None

    def _directed(self, one: Finding) -> Finding:
        """Add the leading file, if any, to a finding about two files.

        A file leads if it is rarely used without the other file; see `frequency.leads`. If neither file leads, the finding is returned
        unchanged.
        """
        first = leads(one, self._means.ledger) if one.signal == "co_access" and not one.quorum else ""
        return one._replace(facts={**one.facts, "leads": first}) if first else one

    def _stopped(self, one: Finding, seen: Seen) -> tuple[str, str, str] | None:
        """Return the reason for rejecting a finding; None if it is accepted.

        The result is (outcome, reason, id of the memory concerned or ""). `seen` has the numbers of sessions and agents that made the
        finding. A person's request to remember is rejected only if a memory was already made from it.
        """
        if one.signal not in gates.ASKED and (stopped := self._refused(one, seen)) is not None:
            return stopped
        known = self._means.ledger.memory_of(one.key)
        memory = self._book.index().row(known) if known else None
        if memory is not None and memory.status in LIVE_STATUSES:
            return "known", f"it already became #{memory.short_id}", memory.id
        return None

    def _refused(self, one: Finding, seen: Seen) -> tuple[str, str, str] | None:
        """Return the reason for rejecting a finding that no person requested.

        The result is (outcome, reason, id of the memory concerned or ""); None if the finding is accepted. `seen` has the numbers of
        sessions and agents that made the finding.
        """
        ledger = self._means.ledger
        is_dead_end = one.memory_type == gates.DEAD_END
        row = SIGNALS.get(one.signal)
        rate = share(one, ledger) if row is not None and seen.sessions >= row.min_sessions else None
        if not self._gate.is_open and not ((is_dead_end or one.signal in OUTCOMES) and self._gate.most):
            return "gate_closed", self._gate.why, ""
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
        return None

    def new_and_strong(self, cases: Sequence[Case], novelty: Novelty, had: int) -> list[int]:
        """Select the findings that are new and valuable enough, in their order.

        `novelty` compares the sentences of `cases` with known memories. A session may add a limited number of memories. `had` is the number
        of memories that were learnt from it before; these count towards the limit. Requests of a person are selected even beyond the limit.

        Returns:
            Indices of the selected `cases`.
        """
        kept: list[int] = []
        for place, case in enumerate(cases):
            one = case.finding
            if self._is_known(case, novelty.known(place)):
                continue
            again = novelty.repeats(place, kept)
            if again is not None:
                self._verdicts.end(one, "known", f"{cases[again].finding.key[:80]} of this session says the same", case)
                continue
            if one.signal not in gates.ASKED and (why := self._too_weak(case)):
                self._verdicts.end(one, "weak", why, case)
                continue
            if one.signal not in gates.ASKED and len(kept) + had >= self._gate.most:
                self._verdicts.end(one, "over_cap", f"a {self._record.info.kind} session leaves at most {self._gate.most}", case)
                continue
            kept.append(place)
        return kept

    def _is_known(self, case: Case, found: Found | None) -> bool:
        """Whether a memory already says what a finding says.

        `found` is that memory, or None. If the result is True, the outcome of the finding is recorded, such as "known".
        """
        if found is None:
            return False
        one, row = case.finding, found.row
        if self._is_ours(row) and not self._means.ledger.keys_of([row.id]):
            self._verdicts.end(one, "learnt", "it was stored when the person asked for it", case, row=row.id)
        elif found.taken_back:
            self._verdicts.end(one, "taken_back", f"#{row.short_id} said the same and was forgotten", case, row=row.id)
        else:
            self._verdicts.end(one, "known", f"#{row.short_id} says the same ({found.likeness:.2f})", case, row=row.id)
        return True

    def _is_ours(self, row: MemoryRow) -> bool:
        """Return whether a memory was learnt by observing the current session."""
        is_observed = row.source in (SOURCE, *SOURCE_OF.values()) or set(WISH_TAGS) <= set(row.tags)
        return is_observed and any(one.session_id == self._record.info.id for one in self._book.index().learnt(row.id))

    def _too_weak(self, case: Case) -> str:
        score, preset = case.score, gates.PRESETS[self._means.preset]
        total = sum(gates.points(case.finding, case.seen.sessions, score).values())
        if total < preset.points:
            return f"{total} points of {preset.points} needed ({self._means.preset})"
        if score < preset.importance:
            return f"importance {score:.2f} of {preset.importance:.2f} needed ({self._means.preset})"
        if len(case.text.content) < preset.length:
            return f"{len(case.text.content)} characters of {preset.length} needed ({self._means.preset})"
        return ""
