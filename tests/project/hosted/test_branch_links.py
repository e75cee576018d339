"""The links of memories to code of pushed branches are never older than the newest change."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from unittest import mock

from graphmem.project.hosted.branches import BranchKey, BranchLink
from graphmem.project.hosted.overlays import Overlays

TAX, FEE = BranchKey("feature/tax"), BranchKey("feature/fee")


def linked(memory: str) -> BranchLink:
    return BranchLink(memory, "symbol", "about", "Symbol", 1.0, "", "", "shop/tax.py:tax")


class Stored:
    """The stored branches; one is dropped while the links are read."""

    def __init__(self) -> None:
        self.kept = [(TAX, linked("m")), (FEE, linked("m"))]
        self.at_reading = mock.Mock()

    def links(self):
        found = list(self.kept)
        self.at_reading()
        return found

    def drop(self, key: BranchKey) -> bool:
        self.kept = [one for one in self.kept if one[0] != key]
        return True

    def seen_by(self, _login: str):
        return [SimpleNamespace(key=one) for one in (TAX, FEE)]


def test_a_branch_that_is_dropped_while_links_are_read_is_not_named_afterwards(tmp_path):
    stored = Stored()
    overlays = Overlays(mock.MagicMock(), tmp_path, stored)
    dropping = threading.Thread(target=overlays.drop, args=(TAX,))

    def drop_meanwhile():
        stored.at_reading = mock.Mock()
        dropping.start()
        dropping.join(0.3)

    stored.at_reading = drop_meanwhile
    overlays.elsewhere("m", None)
    dropping.join(30)
    assert overlays.elsewhere("m", None) == ["feature/fee"]
