"""The verbs of sessions over a running server: each names its operation and the answer it is rebuilt as."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from graphmem._wire import Wire, rebuild
from graphmem.answers.sessions import ObserveAnswer, SessionDetail, SessionEnded, SessionPage, SessionStarted
from graphmem.errors import BadInputError

BATCH_BYTES: Final = 512 << 10  # of one request; a server takes at least a mebibyte
BATCH_EVENTS: Final = 5_000
TEXT_CHARACTERS: Final = 32_768  # of a text that is sent; the server keeps an eighth of it
LONG_S: Final = 600.0


class RemoteSessionVerbs:
    """Part of `RemoteGraphMem`; the verbs and answers of `graphmem.service.sessions.SessionVerbs`."""

    _wire: Wire

    def start_session(self, id: str | None = None, **told: Any) -> SessionStarted:  # noqa: A002 - the word of the domain
        """See `SessionVerbs.start_session`."""
        named = {"work_unit": "workUnit", "planned_steps": "plannedSteps", "commit_sha": "commitSha"}
        if "kind" in told:
            told["kind"] = str(told["kind"]).upper()
        given = {named.get(name, name): value for name, value in told.items() if value not in ("", None)}
        return rebuild(SessionStarted, self._wire.ask("StartSession", id=id, **given)["startSession"])

    def observe(self, events: Iterable[Mapping[str, Any]], session: str = "") -> ObserveAnswer:
        """See `SessionVerbs.observe`. What is too much for one request goes in several, in order."""
        if isinstance(events, (str, bytes)) or not hasattr(events, "__iter__"):
            raise BadInputError(f"events is of type {type(events).__name__}; give a list of events", argument="events")
        taken = 0
        ignored: Counter[str] = Counter()
        touched: dict[str, None] = {}
        ended: dict[str, None] = {}
        early: list[str] = []
        for batch in _batches(events):
            answer = rebuild(ObserveAnswer, self._wire.ask("Observe", events=batch, session=session)["observe"])
            taken += answer.taken
            ignored.update(answer.ignored)
            touched.update(dict.fromkeys(answer.sessions))
            ended.update(dict.fromkeys(answer.ended))
            early = answer.early
        return ObserveAnswer(taken, dict(sorted(ignored.items())), list(touched), list(ended), early)

    def end_session(self, id: str, outcome: str = "", learn: bool = True) -> SessionEnded:  # noqa: A002
        """See `SessionVerbs.end_session`."""
        came = outcome.upper() or None
        return rebuild(SessionEnded, self._wire.ask("EndSession", timeout_s=LONG_S, id=id, outcome=came, learn=learn)["endSession"])

    def sessions(self, state: str = "", limit: int = 50, offset: int = 0) -> SessionPage:
        """See `SessionVerbs.sessions`."""
        return rebuild(SessionPage, self._wire.ask("Sessions", state=state.upper() or None, limit=limit, offset=offset)["sessions"])

    def session_detail(self, id: str) -> SessionDetail:  # noqa: A002
        """See `SessionVerbs.session_detail`."""
        return rebuild(SessionDetail, self._wire.ask("Session", id=id)["session"])


def _batches(events: Iterable[Mapping[str, Any]]) -> Iterator[list[Any]]:
    batch: list[Any] = []
    size = 0
    for event in events:
        sent = _sendable(event)
        weight = len(json.dumps(sent))
        if batch and (size + weight > BATCH_BYTES or len(batch) >= BATCH_EVENTS):
            yield batch
            batch, size = [], 0
        batch.append(sent)
        size += weight
    if batch:
        yield batch


def _sendable(value: Any, depth: int = 4) -> Any:
    """A value as JSON has it; long texts lose their middle, which no server would keep."""
    if isinstance(value, str):
        half = TEXT_CHARACTERS // 2
        return value if len(value) <= TEXT_CHARACTERS else f"{value[:half]}\n…\n{value[-half:]}"
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if depth and isinstance(value, Mapping):
        return {str(name): _sendable(inner, depth - 1) for name, inner in value.items()}
    if depth and isinstance(value, (list, tuple)):
        return [_sendable(inner, depth - 1) for inner in value[:1_000]]
    return None
