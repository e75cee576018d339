"""A diff changes a signature only where users of a definition could notice."""

from __future__ import annotations

from pathlib import Path

import pytest

from hosted import indexed

FILES = {
    "limits.py": "LIMIT: int = 3\nROUTES = [\n    'a',\n]\n\n\ndef within(count, most=LIMIT):\n    return count < most\n",
    "fields.go": 'package shop\n\nvar Fields = append([]string{"a"}, "b")\n',
}


@pytest.mark.parametrize(
    ("path", "old", "new", "change"),
    [
        ("limits.py", "LIMIT: int = 3", "LIMIT: int = 4", ("LIMIT", "body")),
        ("limits.py", "LIMIT: int = 3", "LIMIT: float = 3", ("LIMIT", "signature")),
        ("limits.py", "    'a',", "    'a', 'b',", ("ROUTES", "body")),
        ("limits.py", "most=LIMIT):", "most=2):", ("within", "signature")),
        ("fields.go", '"b")', '"c")', ("Fields", "body")),
    ],
)
def test_a_new_value_of_a_variable_is_not_a_new_signature(tmp_path: Path, path: str, old: str, new: str, change: tuple[str, str]) -> None:
    before = FILES[path].split("\n")
    number, line = next((number, line) for number, line in enumerate(before, 1) if old in line)
    diff = f"--- a/{path}\n+++ b/{path}\n@@ -{number} +{number} @@\n-{line}\n+{line.replace(old, new)}\n"
    with indexed(tmp_path / "shop", FILES) as opened:
        found = opened.impact_of_diff(diff=diff).changed
    assert [(one.symbol.qualname, one.change) for one in found] == [change]
