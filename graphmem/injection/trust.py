"""Trust levels: confidence a memory needs to be shown without a request.

The higher the level, the less confidence is needed. The level is `cautious` for the first 3 sessions, then `standard`. From the 16th
session on, it is `confident` if few memories were flagged wrong: less than 5 % of those shown in the last 10 sessions. Only a person can
set `autonomous`. After three memories flagged wrong in one session, graphmem offers a lower level, which a person may accept.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from graphmem.errors import BadInputError
from graphmem.runtime.files.checksums import read_sealed_json, sealed_json
from graphmem.runtime.files.replacing import replace_file
from graphmem.runtime.process.limits import unless_refused

THRESHOLDS: Final[Mapping[str, float]] = MappingProxyType({"cautious": 0.80, "standard": 0.65, "confident": 0.55, "autonomous": 0.45})
LEVELS: Final = tuple(THRESHOLDS)
AUTO: Final = "auto"
CAUTIOUS_SESSIONS: Final = 3
STANDARD_SESSIONS: Final = 15
PROVEN_SESSIONS: Final = 10
MOST_CORRECTIONS: Final = 0.05  # share of shown memories
FLAGS_TO_OFFER: Final = 3  # memories flagged wrong in one session
FILE: Final = "trust.json"


@dataclass(frozen=True, slots=True)
class Experience:
    """Counts of a project's sessions, and of memories flagged wrong in them.

    The trust level is computed from these numbers, unless a person chose a level.
    """

    sessions: int = 0
    chosen: str = AUTO  # by a person
    recent: tuple[tuple[int, int], ...] = ()  # (memories shown, of those flagged wrong) for the last PROVEN_SESSIONS
    flagged: Mapping[str, int] = field(default_factory=dict)  # session -> memories flagged wrong, for running sessions
    offer: str = ""  # a lower level, until a person accepts it or chooses another

    def level(self) -> str:
        """Return the trust level that applies now, such as `standard`.

        The level is that which a person chose, or else the one computed from experience.
        """
        if self.chosen != AUTO:
            return self.chosen
        if self.sessions < CAUTIOUS_SESSIONS:
            return "cautious"
        proven = len(self.recent) == PROVEN_SESSIONS and self.corrections() < MOST_CORRECTIONS
        return "confident" if self.sessions >= STANDARD_SESSIONS and proven else "standard"

    def corrections(self) -> float:
        """Share of shown memories that were flagged wrong in recent sessions.

        The share is 0 if no memory was shown.
        """
        shown = sum(one for one, _ in self.recent)
        return sum(wrong for _, wrong in self.recent) / shown if shown else 0.0


class TrustBook:
    """Records how well memories worked in one project's sessions, in a file.

    The file has the number of sessions, and the number of memories that were flagged as wrong; see `Experience`. Thread-safe.

    Args:
        folder: the index directory.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self._lock = threading.Lock()
        self._now = _read(self._file)

    def now(self) -> Experience:
        """Return the current counts of sessions and of flagged memories.

        A flagged memory is one that was reported as wrong.
        """
        return self._now

    def threshold(self) -> float:
        """Return the lowest confidence of a memory that is shown without asking.

        It is compared with the memory's confidence at the time of showing. Pinned memories are shown at any confidence.
        """
        return THRESHOLDS[self._now.level()]

    def choose(self, level: str) -> Experience:
        """Set the trust level that a person chose.

        With `auto`, the level is computed from experience again.

        Raises:
            BadInputError: unknown level.
        """
        if level != AUTO and level not in THRESHOLDS:
            raise BadInputError(f"unknown trust level {level!r}; use one of {', '.join((AUTO, *LEVELS))}", argument="level", value=level)
        return self._change(lambda before: replace(before, chosen=level, offer=""))

    def flagged(self, session: str, count: int = 1) -> Experience:
        """Count memories flagged wrong in a session; after three, suggest caution.

        `count` is the number of newly flagged memories. From a session's third flagged memory on, the next lower trust level is suggested.
        """

        def change(before: Experience) -> Experience:
            flags = {**before.flagged, session: before.flagged.get(session, 0) + count}
            at = LEVELS.index(before.level())
            offer = LEVELS[at - 1] if flags[session] >= FLAGS_TO_OFFER and at > 0 else before.offer
            return replace(before, flagged=flags, offer=offer)

        return self._change(change)

    def session_over(self, session: str, shown: int) -> Experience:
        """Count an ended session, and record that it was shown `shown` memories."""

        def change(before: Experience) -> Experience:
            wrong = before.flagged.get(session, 0)
            rest = {one: count for one, count in before.flagged.items() if one != session}
            recent = (*before.recent, (shown, wrong))[-PROVEN_SESSIONS:]
            return replace(before, sessions=before.sessions + 1, recent=recent, flagged=rest)

        return self._change(change)

    def _change(self, change: Any) -> Experience:
        with self._lock:
            after: Experience = change(self._now)
            _write(self._file, after)
            self._now = after
            return after


def _read(file: Path) -> Experience:
    """Read a project's experience (counts of sessions and wrong memories).

    If the file is missing or damaged, all counts are 0. Then the trust level is `cautious`.

    Raises:
        ResourceError: memory or descriptors ran out. The file does not count as damaged then, because the next write would erase it.
    """
    try:
        found = read_sealed_json(file.read_bytes())
        chosen = found["chosen"]
        return Experience(
            sessions=int(found["sessions"]),
            chosen=chosen if chosen in THRESHOLDS else AUTO,
            recent=tuple((int(shown), int(wrong)) for shown, wrong in found["recent"])[-PROVEN_SESSIONS:],
            flagged={str(session): int(count) for session, count in found["flagged"].items()},
            offer=found["offer"] if found["offer"] in THRESHOLDS else "",
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        unless_refused(error, f"reading {file.name}", file)
        return Experience()


def _write(file: Path, now: Experience) -> None:
    content = {
        "sessions": now.sessions,
        "chosen": now.chosen,
        "recent": [list(one) for one in now.recent],
        "flagged": dict(sorted(now.flagged.items())),
        "offer": now.offer,
    }
    replace_file(file, sealed_json(content))
