"""Which sessions are shown what: a fixed division by hash, so that what injection brings can be compared with nothing.

5 in 100 sessions are the control group and are shown nothing, 10 get what is given at the start and on request only, the rest everything.
Signals are taken from all of them.
"""

from __future__ import annotations

import hashlib
from typing import Final

CONTROL, PASSIVE, FULL = "control", "passive", "full"
_CONTROL_BELOW: Final = 5  # of 100
_PASSIVE_BELOW: Final = 15
GROUPS: Final = {CONTROL: _CONTROL_BELOW, PASSIVE: _PASSIVE_BELOW - _CONTROL_BELOW, FULL: 100 - _PASSIVE_BELOW}  # percent of sessions


def group_of(session: str, project: str) -> str:
    """control, passive or full: sha256(project, session) mod 100, the same on every machine and for ever."""
    digest = hashlib.sha256(f"{project}\0{session}".encode("utf-8", "surrogatepass")).digest()
    place = int.from_bytes(digest, "big") % 100
    return CONTROL if place < _CONTROL_BELOW else PASSIVE if place < _PASSIVE_BELOW else FULL
