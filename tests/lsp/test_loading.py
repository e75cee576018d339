"""The classes of the protocol are loaded without methods that the server never calls."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("lsprotocol")

PROGRAM = """
import attrs

before = attrs.define
from graphmem.lsp.loading import load_protocol

load_protocol()
from lsprotocol import types as lsp
from lsprotocol.converters import get_converter

assert attrs.define is before
messages = [one for one in vars(lsp).values() if isinstance(one, type) and attrs.has(one)]
plain = [one for one in messages if one.__eq__ is object.__eq__ and one.__repr__ is object.__repr__]
assert len(messages) > 500 and len(plain) / len(messages) > 0.95, (len(plain), len(messages))  # otherwise read `graphmem.lsp.loading` again
assert lsp.Position(1, 2) == lsp.Position(1, 2) < lsp.Position(1, 3)  # the protocol's own
found = get_converter().structure({"position": {"line": 1, "character": 2}, "textDocument": {"uri": "file:///a"}}, lsp.HoverParams)
assert (found.position, found.text_document.uri) == (lsp.Position(1, 2), "file:///a")


@attrs.define
class Other:
    name: str


assert Other("a") == Other("a")
"""


def test_messages_are_read_and_positions_compared() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
