"""Every process asks and answers in the same order, whatever its hashes of strings."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

RESOLUTION = Path(__file__).parents[2] / "graphmem" / "resolution"
GIVES_ALTERNATIVES = {
    "attribute",
    "attribute_of",
    "declared",
    "expanded",
    "import_targets",
    "method_result",
    "objects",
    "slot",
    "term",
    "value",
}

ORDERED = """
from graphmem.resolution.values.types import BOX, EXT, order
print(order((BOX, "list", (frozenset((EXT, "lib", name, None) for name in "abcdefgh"),), 1)))
"""


@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_alternatives_have_the_same_order_whatever_the_seed_of_hashes(seed):
    def said(hashes: str) -> str:
        environ = {**os.environ, "PYTHONHASHSEED": hashes}
        return subprocess.run([sys.executable, "-c", ORDERED], env=environ, capture_output=True, text=True, check=True).stdout

    assert said(seed) == said("0")


def test_a_loop_over_the_alternatives_of_a_type_has_one_order_in_all_languages():
    """A loop statement asks the solver for each alternative, and its first answer can end it."""

    def gives_alternatives(iterated: ast.expr) -> bool:
        return isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Attribute) and iterated.func.attr in GIVES_ALTERNATIVES

    loops = [
        f"{file.relative_to(RESOLUTION)}:{node.lineno}"
        for file in sorted(RESOLUTION.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.For) and gives_alternatives(node.iter)
    ]
    assert loops == []
