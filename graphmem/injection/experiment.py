"""Assign sessions to groups by a hash, to measure the effect of memories.

5 of 100 sessions form the control group and are shown no memories. 10 of 100 sessions are passive: they receive context only at the start
and on request. All other sessions receive everything. Sessions of all groups are observed.
"""

from __future__ import annotations

import hashlib
from typing import Final

CONTROL, PASSIVE, FULL = "control", "passive", "full"
_CONTROL_BELOW: Final = 5  # of 100
_PASSIVE_BELOW: Final = 15
GROUPS: Final = {CONTROL: _CONTROL_BELOW, PASSIVE: _PASSIVE_BELOW - _CONTROL_BELOW, FULL: 100 - _PASSIVE_BELOW}  # percent of sessions


def group_of(session: str, project: str) -> str:
    """Return the group of a session: control, passive or full.

    The group follows from a hash of `project` and `session`, so it is the same on every machine.
    """
    digest = hashlib.sha256(f"{project}\0{session}".encode("utf-8", "surrogatepass")).digest()
    place = int.from_bytes(digest, "big") % 100
    return CONTROL if place < _CONTROL_BELOW else PASSIVE if place < _PASSIVE_BELOW else FULL
