"""Anchors of memories: how the code they are about has fared. One rule for every way of writing.

| the code a link leads to | anchor |
|---|---|
| gone, or named and not seen yet | orphaned |
| its body is not the one the memory was written about | suspect |
| it came by a move and has that body still | moved |
| else | valid |

Only symbols have a body. A link written before bodies were known, or without one, is never suspect.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from graphmem.knowledge import Anchor
from graphmem.store.knowledge_edges import Link

ROLE, CONFIDENCE, BODY_HASH, COMMIT_SHA, ANCHOR = range(2, 7)  # places in a link of ABOUT
FEW: Final = 24  # links up to here are looked for one by one


class State(NamedTuple):
    """A node of the code as a change leaves it."""

    gone: bool
    body_hash: str = ""  # of symbols


def judged(link: Link, state: State, *, moved: bool = False) -> Link:
    """A link of ABOUT with the anchor it has to have.

    Args:
        link: (memory, target, role, confidence, body_hash, commit_sha, anchor).
        state: of its target now.
        moved: its target was something else before.
    """
    if state.gone:
        anchor = Anchor.ORPHANED
    elif link[BODY_HASH] and state.body_hash and link[BODY_HASH] != state.body_hash:
        anchor = Anchor.SUSPECT
    elif moved or link[ANCHOR] == Anchor.MOVED:
        anchor = Anchor.MOVED
    else:
        anchor = Anchor.VALID
    return (*link[:ANCHOR], str(anchor))
