"""How sure a memory must be before it is shown unasked: less so the more sessions a project has had that went well.

cautious for the first 3 sessions, then standard; confident from the 16th, once 10 sessions in a row had corrections of under 5 % of what
they were shown; autonomous only when a person says so. Three memories flagged wrong in one session are reason to offer a step back, which
a person takes or not.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from graphmem.errors import BadInputError
from graphmem.runtime.checksums import read_sealed_json, sealed_json
from graphmem.runtime.limits import unless_refused

THRESHOLDS: Final[Mapping[str, float]] = MappingProxyType({"cautious": 0.80, "standard": 0.65, "confident": 0.55, "autonomous": 0.45})
LEVELS: Final = tuple(THRESHOLDS)
AUTO: Final = "auto"
CAUTIOUS_SESSIONS: Final = 3
STANDARD_SESSIONS: Final = 15
PROVEN_SESSIONS: Final = 10
MOST_CORRECTIONS: Final = 0.05  # of what was shown
FLAGS_TO_OFFER: Final = 3  # memories flagged wrong in one session
FILE: Final = "trust.json"


@dataclass(frozen=True, slots=True)
class Experience:
    """What a project has been through. The last sessions are kept one by one, the newest last."""

    sessions: int = 0
    chosen: str = AUTO  # by a person
    recent: tuple[tuple[int, int], ...] = ()  # (memories shown, of those flagged wrong) of the last PROVEN_SESSIONS
    flagged: Mapping[str, int] = field(default_factory=dict)  # session -> memories flagged wrong, of sessions that are under way
    offer: str = ""  # a step back, until a person takes it or chooses otherwise

    def level(self) -> str:
        """The level in force."""
        if self.chosen != AUTO:
            return self.chosen
        if self.sessions < CAUTIOUS_SESSIONS:
            return "cautious"
        proven = len(self.recent) == PROVEN_SESSIONS and self.corrections() < MOST_CORRECTIONS
        return "confident" if self.sessions >= STANDARD_SESSIONS and proven else "standard"

    def corrections(self) -> float:
        """Flagged among shown in the last sessions; 0 when nothing was shown."""
        shown = sum(one for one, _ in self.recent)
        return sum(wrong for _, wrong in self.recent) / shown if shown else 0.0


class TrustBook:
    """The experience of one project, kept in a small file beside its index. Thread-safe.

    Args:
        folder: the index directory.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self._lock = threading.Lock()
        self._now = _read(self._file)

    def now(self) -> Experience:
        """What it is at this moment."""
        return self._now

    def threshold(self) -> float:
        """Confidence in use that a memory needs to be shown unasked; pinned ones need none."""
        return THRESHOLDS[self._now.level()]

    def choose(self, level: str) -> Experience:
        """A person sets the level; `auto` gives it back to experience.

        Raises:
            BadInputError: there is no such level.
        """
        if level != AUTO and level not in THRESHOLDS:
            raise BadInputError(f"{level!r} is no trust level; there are {', '.join((AUTO, *LEVELS))}", argument="level", value=level)
        return self._change(lambda before: replace(before, chosen=level, offer=""))

    def flagged(self, session: str, count: int = 1) -> Experience:
        """Memories that a session was shown were flagged wrong; the third brings the offer of a step back."""

        def change(before: Experience) -> Experience:
            flags = {**before.flagged, session: before.flagged.get(session, 0) + count}
            at = LEVELS.index(before.level())
            offer = LEVELS[at - 1] if flags[session] >= FLAGS_TO_OFFER and at > 0 else before.offer
            return replace(before, flagged=flags, offer=offer)

        return self._change(change)

    def session_over(self, session: str, shown: int) -> Experience:
        """A session has ended in which so many memories were shown."""

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
    """What the file says; a missing or broken one is a project without experience, which is the careful reading.

    Raises:
        ResourceError: this process lacks memory or descriptors to read it; the next write would replace what it says.
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
    descriptor, name = tempfile.mkstemp(prefix=".trust-", dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as written:
            written.write(sealed_json(content))
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
