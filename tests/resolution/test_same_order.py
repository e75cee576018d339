"""Every process asks and answers in the same order, whatever its hashes of strings."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

ORDERED = """
from graphmem.resolution.types import BOX, EXT, order
print(order((BOX, "list", (frozenset((EXT, "lib", name, None) for name in "abcdefgh"),), 1)))
"""


@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_alternatives_have_the_same_order_whatever_the_seed_of_hashes(seed):
    def said(hashes: str) -> str:
        environ = {**os.environ, "PYTHONHASHSEED": hashes}
        return subprocess.run([sys.executable, "-c", ORDERED], env=environ, capture_output=True, text=True, check=True).stdout

    assert said(seed) == said("0")
