"""Words of the explorer on the outcome of adding a memory."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import graphmem

WORDS = Path(graphmem.__file__).parent / "explorer" / "static"


@pytest.mark.parametrize(("language", "stays", "replaces"), [("en", "it stays", "It replaces"), ("de", "bleibt sie", "Sie ersetzt")])
def test_the_explorer_says_which_of_two_contradicting_memories_stays(language, stays, replaces):
    words = (WORDS / f"words.{language}.js").read_text(encoding="utf-8")
    said = dict(re.findall(r'^ {6}(superseded|replaced): "(.+)",$', words, re.MULTILINE))
    assert stays in said["superseded"], "the existing memory wins, and the new text is hidden"
    assert replaces in said["replaced"], "the new memory wins"
