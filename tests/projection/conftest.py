"""Random graphs for the projections."""

from __future__ import annotations

import pytest

from worlds import World, packed_table


class VariedWorld(World):
    """World(seed, size): symbols of all kinds, and deltas as loose as they may be."""

    def __init__(self, seed: int, size: int = 6) -> None:
        super().__init__(seed, size, varied=True)

    def edit(self, times: int = 0):
        return super().edit(times) if times else self.loose_edit()


@pytest.fixture(scope="session")
def world():
    return VariedWorld


@pytest.fixture(scope="session")
def as_packed():
    """packed_table(chunks)."""
    return packed_table
