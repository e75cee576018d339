"""Weights of the types of memories in phases of work: what sessions say of them, and a person's decision."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from graphmem.answers.sessions import PhaseWeight, PhaseWeights
from graphmem.errors import BadInputError
from graphmem.search.phases import ENOUGH_SHOWN, SESSIONS, Use, proposed, weight
from graphmem.search.request import PHASES

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphmem.memory.repository import MemoryRepository
    from graphmem.observe.ledger import Ledger
    from graphmem.search.phases import PhaseBook

PROPOSED: Final = "proposed"
BUILT_IN: Final = "built-in"
CHOICES: Final = (PROPOSED, BUILT_IN)


@dataclass(eq=False, repr=False)
class PhaseWeighing:
    """Weighs types of memories in phases of work."""

    book: MemoryRepository
    phases: PhaseBook
    ledger: Callable[[], Ledger]

    def phase_weights(self) -> PhaseWeights:
        """What types of memories count in phases of work, how often they were shown there and used, and what that speaks for.

        Nothing is proposed before 30 sessions that ended were shown a memory in a phase, and nothing is changed by asking.
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
            notes.append(f"{left} to end in which a memory was shown in a phase of work, before weights are proposed")
        elif not found:
            notes.append(f"no type was shown {ENOUGH_SHOWN} times in a phase in which any was used: nothing is proposed")
        return PhaseWeights(
            sessions=sessions,
            missing=max(0, SESSIONS - sessions),
            accepted_at=accepted.at if accepted is not None else "",
            accepted_sessions=accepted.sessions if accepted is not None else 0,
            weights=rows,
            notes=notes,
        )

    def choose_phase_weights(self, choice: str) -> PhaseWeights:
        """Decide what types of memories count in phases of work; search and packing go by it from now on.

        Args:
            choice: "proposed" puts what is proposed now in force, "built-in" goes back to the built-in weights.

        Raises:
            BadInputError: another choice, or nothing is proposed: `sessions` there are, `needed` and `missing`.
            DiskFullError: the disk refuses; what was in force stays.
        """
        if choice not in CHOICES:
            raise BadInputError(f"{choice!r} is no choice; there are {', '.join(CHOICES)}", argument="choice", value=choice)
        if choice == BUILT_IN:
            self.phases.reset()
            return self.phase_weights()
        now = self.phase_weights()
        weights = {(one.phase, one.type): one.proposed for one in now.weights if one.proposed is not None}
        if not weights:
            raise BadInputError(
                f"nothing is proposed to accept: {now.notes[0]}; the weights stay as they are",
                argument="choice",
                value=choice,
                sessions=now.sessions,
                needed=SESSIONS,
                missing=now.missing,
            )
        self.phases.accept(weights, self.book.clock.now(), now.sessions)
        return self.phase_weights()

    def _uses(self) -> tuple[dict[tuple[str, str], Use], int]:
        """How often types were shown and used, by (phase, type), and in how many sessions any was; memories that are gone do not count."""
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
