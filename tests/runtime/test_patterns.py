"""A lazy pattern is that expression, compiled by its first use."""

from __future__ import annotations

import re

import pytest

from graphmem.runtime.patterns import lazy_pattern


def test_a_lazy_pattern_finds_what_the_expression_finds():
    lazy, eager = lazy_pattern(r"(?P<word>w\w+)", re.IGNORECASE), re.compile(r"(?P<word>w\w+)", re.IGNORECASE)
    text = "World, what?"
    assert [one["word"] for one in lazy.finditer(text)] == [one["word"] for one in eager.finditer(text)] == ["World", "what"]
    assert lazy.sub("_", text) == eager.sub("_", text)
    assert (lazy.pattern, lazy.flags, lazy.groupindex) == (eager.pattern, eager.flags, eager.groupindex)


def test_it_is_compiled_by_its_first_use_and_not_before():
    broken = lazy_pattern("(")
    with pytest.raises(re.error):
        broken.search("text")
