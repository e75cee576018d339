"""Lines of a saved text, found again in the text of the editor."""

from __future__ import annotations

import time

import pytest

pytest.importorskip("pygls")

from hypothesis import given
from hypothesis import strategies as st

from graphmem.lsp.line_map import LineMap

TEXTS = st.lists(st.sampled_from("abc"), max_size=12)


@given(saved=TEXTS, now=TEXTS)
def test_a_saved_line_is_found_again_and_others_stay_inside(saved: list[str], now: list[str]) -> None:
    found = LineMap(saved, now)
    for line, text in enumerate(now):
        at = found.saved(line)
        assert 0 <= at < max(1, len(saved))
        if found.is_saved(line):
            assert saved[at] == text
            assert found.now(at) == line
    for line in range(len(saved)):
        assert 0 <= found.now(line) < max(1, len(now))


@given(text=TEXTS, above=st.lists(st.just("new"), max_size=3), below=st.lists(st.just("new"), max_size=3))
def test_lines_around_a_text_move_it(text: list[str], above: list[str], below: list[str]) -> None:
    found = LineMap(text, [*above, *text, *below])
    assert [found.now(line) for line in range(len(text))] == [line + len(above) for line in range(len(text))]
    assert [found.is_saved(line) for line in range(len(above))] == [False] * len(above)


def test_edits_at_both_ends_of_a_long_file_are_found_in_time_that_grows_with_its_length() -> None:
    saved = [
        line for number in range(8_000) for line in (f"def f{number}(x):", "    if x:", f"        return {number}", "    return None", "")
    ]
    before = time.process_time()
    found = LineMap(saved, ["import os", *saved[:-1], "changed"])
    assert time.process_time() - before < 2
    assert [found.saved(line) for line in (1, 20_000, 39_999)] == [0, 19_999, 39_998]
    assert [found.is_saved(line) for line in (0, 1, 20_000, 39_999, 40_000)] == [False, True, True, True, False]
