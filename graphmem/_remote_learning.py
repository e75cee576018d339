"""The verbs of learning over a running server: each names its operation and the answer it is rebuilt as."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from graphmem._wire import Wire, rebuild
from graphmem.answers import Experiment, Forgotten, PhaseWeights, Receipt, SessionSummary


class RemoteLearningVerbs:
    """Part of `RemoteGraphMem`; the verbs and answers of `graphmem.service.learning.LearningVerbs`."""

    _wire: Wire

    def learn_from(self, record: Mapping[str, Any], unit: str | None = None) -> Receipt:
        """See `LearningVerbs.learn_from`; from outside, of what `observe.model.as_json` made of a record."""
        return rebuild(Receipt, self._wire.ask("LearnFrom", record=record, unit=unit)["learnFrom"])

    def session_receipts(self, session: str) -> list[Receipt]:
        """See `LearningVerbs.session_receipts`."""
        return [rebuild(Receipt, one) for one in self._wire.ask("SessionReceipts", session=session)["sessionReceipts"]]

    def undo_session(self, session: str, actor: str = "") -> Forgotten:
        """See `LearningVerbs.undo_session`."""
        return rebuild(Forgotten, self._wire.ask("UndoSession", session=session)["undoSession"])

    def session_summary(self, session: str) -> SessionSummary:
        """See `LearningVerbs.session_summary`."""
        return rebuild(SessionSummary, self._wire.ask("SessionSummary", session=session)["sessionSummary"])

    def session_summaries(self, limit: int = 20, offset: int = 0) -> list[SessionSummary]:
        """See `LearningVerbs.session_summaries`."""
        found = self._wire.ask("SessionSummaries", limit=limit, offset=offset)["sessionSummaries"]
        return [rebuild(SessionSummary, one) for one in found]

    def recent_summaries(self, now: datetime | str | None = None) -> list[SessionSummary]:
        """See `LearningVerbs.recent_summaries`."""
        moment = now.isoformat() if isinstance(now, datetime) else now
        return [rebuild(SessionSummary, one) for one in self._wire.ask("RecentSummaries", now=moment)["recentSummaries"]]

    def experiment(self) -> Experiment:
        """See `LearningVerbs.experiment`."""
        return rebuild(Experiment, self._wire.ask("Experiment")["experiment"])

    def phase_weights(self) -> PhaseWeights:
        """See `PhaseVerbs.phase_weights`."""
        return rebuild(PhaseWeights, self._wire.ask("PhaseWeights")["phaseWeights"])

    def choose_phase_weights(self, choice: str) -> PhaseWeights:
        """See `PhaseVerbs.choose_phase_weights`."""
        return rebuild(PhaseWeights, self._wire.ask("ChoosePhaseWeights", choice=choice.upper().replace("-", "_"))["choosePhaseWeights"])
