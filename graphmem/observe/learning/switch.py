"""Switch for learning from sessions: on, off, or paused for a time.

The state is in a small file of the index directory. The setting `learning = false` of the project switches learning off, whatever the file
says.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from graphmem.answers.vocabulary import LearningChoice
from graphmem.errors import BadInputError
from graphmem.runtime.files.checksums import read_sealed_json, sealed_json
from graphmem.runtime.files.replacing import replace_file
from graphmem.runtime.process.limits import unless_refused

FILE: Final = "learning.json"
ON: Final = "on"
OFF: Final = "off"
PAUSED: Final = "paused"
STATES: Final[dict[str, LearningChoice]] = {ON: ON, OFF: OFF, PAUSED: PAUSED}
MAX_MINUTES: Final = 60 * 24 * 30


class Learning(NamedTuple):
    """Whether learning from sessions is on, off or paused."""

    state: LearningChoice = ON
    until: datetime | None = None  # end of a pause; None: until a person ends it
    by_setting: bool = False  # the project's setting switches it off

    @property
    def is_on(self) -> bool:
        """Whether graphmem observes agents' sessions and learns from them."""
        return self.state == ON


class LearningSwitch:
    """Switches learning from sessions on or off for one project. Thread-safe.

    The choice is stored in a file.

    Args:
        folder: the index directory.
        allowed: the project's setting `learning`; False keeps learning off.
        now: returns the current time.
    """

    def __init__(self, folder: Path, allowed: bool, now: Callable[[], datetime]) -> None:
        self._file = folder / FILE
        self._allowed = allowed
        self._time = now
        self._lock = threading.Lock()
        self._now = _read(self._file)

    def now(self) -> Learning:
        """The current state of learning: on, off or paused.

        A pause whose end has passed counts as on. If the project's setting switches learning off, the state is always off.
        """
        if not self._allowed:
            return Learning(OFF, None, by_setting=True)
        now = self._now
        over = now.state == PAUSED and now.until is not None and self._time() >= now.until
        return Learning() if over else now

    def choose(self, state: str, minutes: int | None = None) -> Learning:
        """Switch learning from sessions on or off, or pause it.

        Raises:
            BadInputError: the state or the number of minutes is invalid, or the setting of the project switches learning off.
        """
        if state not in STATES:
            raise BadInputError(f"learning cannot be set to {state!r}; use one of {', '.join(STATES)}", argument="state", value=state)
        if minutes is not None and state != PAUSED:
            raise BadInputError(
                f"the number of minutes is allowed only for the state {PAUSED}, not for {state}; omit minutes, or use the state {PAUSED}",
                argument="minutes",
                value=minutes,
            )
        if minutes is not None and not 1 <= minutes <= MAX_MINUTES:
            raise BadInputError(
                f"minutes, the length of the pause, is {minutes}; use 1 to {MAX_MINUTES:,}", argument="minutes", value=minutes
            )
        if not self._allowed and state != OFF:
            raise BadInputError(
                "the setting `learning` switches learning off for this server; remove the setting and restart graphmem",
                argument="state",
                value=state,
            )
        chosen = Learning(STATES[state], self._time() + timedelta(minutes=minutes) if minutes is not None else None)
        with self._lock:
            _write(self._file, chosen)
            self._now = chosen
        return self.now()


def _read(file: Path) -> Learning:
    """Read from a file whether learning from sessions is on, off or paused.

    Without a file, learning is on. A damaged file gives the state "paused", because a person may have switched learning off.

    Raises:
        ResourceError: out of memory or descriptors.
    """
    try:
        found = read_sealed_json(file.read_bytes())
        until = datetime.fromisoformat(found["until"]) if found["until"] else None
        return Learning(STATES.get(found["state"], PAUSED), until)
    except FileNotFoundError:
        return Learning()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        unless_refused(error, f"reading {file.name}", file)
        return Learning(PAUSED)


def _write(file: Path, now: Learning) -> None:
    replace_file(file, sealed_json({"state": now.state, "until": now.until.isoformat() if now.until else ""}))
