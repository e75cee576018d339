"""What this door needs of learning: part of `graphmem.api.verbs.Service`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

from graphmem.answers import Experiment, Forgotten, PhaseWeights, Receipt, SessionSummary


class LearningService(Protocol):
    """The verbs of `graphmem.service.learning.LearningVerbs`."""

    def learn_from(self, record: Mapping[str, Any], unit: str | None = None) -> Receipt:
        """Learn from a session, or from a unit of work in it."""

    def session_receipts(self, session: str) -> list[Receipt]:
        """What became of each finding of a session."""

    def undo_session(self, session: str, actor: str = "") -> Forgotten:
        """Take back what a session taught."""

    def session_summary(self, session: str) -> SessionSummary:
        """What a session did."""

    def session_summaries(self, limit: int = 20, offset: int = 0) -> list[SessionSummary]:
        """Sessions, newest first."""

    def recent_summaries(self, now: datetime | str | None = None) -> list[SessionSummary]:
        """The last two of the last seven days."""

    def experiment(self) -> Experiment:
        """Groups of sessions side by side."""

    def phase_weights(self) -> PhaseWeights:
        """What types of memories count in phases of work."""

    def choose_phase_weights(self, choice: str) -> PhaseWeights:
        """Put what is proposed in force, or the built-in weights."""
