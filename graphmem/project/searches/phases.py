"""Choose how much each type of memory counts in each phase of work.

Examples of phases are implement and validate. Weights are proposed from the use of memories in past sessions. A person decides whether the
proposed weights are used.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from graphmem.answers.sessions import PhaseWeight, PhaseWeights
from graphmem.errors import BadInputError
from graphmem.search.memories.phases import ENOUGH_SHOWN, SESSIONS, Use, proposed, weight
from graphmem.search.request import PHASES

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.observe.ledger.ledger import Ledger
    from graphmem.search.memories.phases import PhaseBook

PROPOSED: Final = "proposed"
BUILT_IN: Final = "built-in"
CHOICES: Final = (PROPOSED, BUILT_IN)


@dataclass(eq=False, repr=False)
class PhaseWeighing:
    """Weights of memory types in phases of work: current and proposed ones."""

    book: MemoryRepository
    phases: PhaseBook
    ledger: Callable[[], Ledger]

    def phase_weights(self) -> PhaseWeights:
        """Return how types of memories are weighed in each phase of work.

        The answer also has proposed weights, if memories were shown in phases of at least 30 ended sessions. The call changes nothing.
        """
        counts, sessions = self._uses()
        found = proposed(counts) if sessions >= SESSIONS else {}
        accepted = self.phases.accepted()
        rows = []
        for phase, own in PHASES.items():
            types = {*own, *self.phases.table()[phase], *(type_ for of, type_ in counts if of == phase)}
            for type_ in sorted(types, key=lambda one: (-weight(PHASES, phase, one), one)):
                use = counts.get((phase, type_), Use(0, 0))
                prior, now = weight(PHASES, phase, type_), weight(self.phases.table(), phase, type_)
                rows.append(PhaseWeight(phase, type_, use.shown, use.used, prior, now, found.get((phase, type_))))
        notes = []
        if sessions < SESSIONS:
            left = "1 more session has" if sessions == SESSIONS - 1 else f"{SESSIONS - sessions} more sessions have"
            notes.append(f"{left} to end, with a memory shown in a phase of work, before weights are proposed")
        elif not found:
            notes.append(f"no type was shown {ENOUGH_SHOWN} times in a phase in which any was used, so nothing is proposed")
        return PhaseWeights(
            sessions=sessions,
            missing=max(0, SESSIONS - sessions),
            accepted_at=accepted.at if accepted is not None else "",
            accepted_sessions=accepted.sessions if accepted is not None else 0,
            weights=rows,
            notes=notes,
        )

    def choose_phase_weights(self, choice: str) -> PhaseWeights:
        """Choose how types of memories are weighed in the phases of work.

        The chosen weights take effect immediately, in search and in the selection of context for agents.

        Args:
            choice: "proposed" applies the proposed weights, and "built-in" the built-in weights.

        Raises:
            BadInputError: the choice is unknown, or nothing is proposed. If nothing is proposed, the error's `sessions` is the number of
                sessions so far, `needed` the number that a proposal needs, and `missing` the difference.
            DiskFullError: the disk is full; the present weights are kept.
        """
        if choice not in CHOICES:
            raise BadInputError(
                f"unknown decision {choice!r} on the proposed weights; use one of {', '.join(CHOICES)}", argument="choice", value=choice
            )
        if choice == BUILT_IN:
            self.phases.reset()
            return self.phase_weights()
        now = self.phase_weights()
        weights = {(one.phase, one.type): one.proposed for one in now.weights if one.proposed is not None}
        if not weights:
            raise BadInputError(
                f"no search weights are proposed ({now.notes[0]}), so there is nothing to accept; try again after more sessions",
                argument="choice",
                value=choice,
                sessions=now.sessions,
                needed=SESSIONS,
                missing=now.missing,
            )
        self.phases.accept(weights, self.book.clock.now(), now.sessions)
        return self.phase_weights()

    def _uses(self) -> tuple[dict[tuple[str, str], Use], int]:
        """Count how often memories of each (phase, type) were shown and used.

        The first result maps (phase, type of memory) to the counts. The second result is the number of sessions in which a memory was
        shown in a phase. Deleted memories are ignored.
        """
        bodies = [body for body in self.ledger().measures().values() if body.get("in_phases")]
        rows = self.book.index().rows(dict.fromkeys(one for body in bodies for one in body["in_phases"]))
        shown: defaultdict[tuple[str, str], int] = defaultdict(int)
        used: defaultdict[tuple[str, str], int] = defaultdict(int)
        for body in bodies:
            acted = frozenset(body["used"])
            for one, phase in body["in_phases"].items():
                if one in rows:
                    shown[phase, rows[one].type] += 1
                    used[phase, rows[one].type] += one in acted
        return {key: Use(count, used[key]) for key, count in shown.items()}, len(bodies)
