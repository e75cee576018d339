"""A session keeps the name its agent gave it, in lists and summaries."""

from __future__ import annotations

import pytest

from graphmem.cli.render.common import session_name

OPENCODE = "ses_dfcd74bb3ffeHEoDqdXy35TDp5"  # as a rule for secrets sees it: a random token


def test_a_session_taken_up_again_is_told_from_the_one_before():
    one = "14737671-f61f-42d1-a384-53b59f31e1b1"
    assert session_name(one) == one
    assert session_name(f"{one}~2") == f"{one}~2"
    long = "x" * 500
    assert session_name(f"{long}~2") != session_name(long)
    assert len(session_name(f"{long}~2")) == 64


@pytest.mark.parametrize("name", [OPENCODE, "toolu_01A09q90qw90lq917835lq9"])
def test_a_name_that_looks_like_a_secret_is_still_a_name(name, service):
    service.observe([{"session_id": name, "kind": "message", "text": "done", "args": {"role": "assistant"}}])
    service.end_session(name)
    assert service.session_summary(name).session == name
    assert name in [one.session for one in service.session_summaries()]
    assert name in service.session_summary(name).markdown
