"""Every rule of resolution on annotated Python source: what must be found, and what must not."""

from __future__ import annotations

from pathlib import Path

import pytest

FIXTURES = sorted(Path(__file__).parent.glob("*.txt"))


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_calls_lead_where_the_fixture_says(path, annotated):
    problems = annotated(path)
    assert not problems, "\n".join(problems)
