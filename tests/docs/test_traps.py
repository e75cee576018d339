"""The table of the engine's traps names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "decisions" / "0001-engine.md"
_ROW = re.compile(r"^\| (?P<trap>[^|]+) \| (?P<means>[^|]+) \| (?P<tests>[^|]+:[^|]+) \|$", re.MULTILINE)
_FILE = re.compile(r"(?P<file>[\w/]+): (?P<names>(?:`\w+`(?: \([^)]*\))?(?:, )?)+)")


def rows() -> list[tuple[str, str]]:
    """(trap, its cell of tests)."""
    return [(row["trap"], row["tests"]) for row in _ROW.finditer(PAGE.read_text(encoding="utf-8"))]


def file_of(name: str) -> Path:
    """The file of tests a cell means, in its room or a package of it."""
    folder, _, last = name.rpartition("/")
    room = ROOT / "tests" / (folder or "store")
    found = [place for prefix in ("store_", "") for place in sorted(room.rglob(f"test_{prefix}{last}.py"))]
    return found[0] if found else room / f"test_{last}.py"


def test_there_are_as_many_rows_as_traps_were_found() -> None:
    assert len(rows()) >= 35


@pytest.mark.parametrize(("trap", "tests"), rows(), ids=[trap[:50] for trap, _ in rows()])
def test_every_trap_has_a_test_that_is_there(trap: str, tests: str) -> None:
    meant = [(file_of(found["file"]), name) for found in _FILE.finditer(tests) for name in re.findall(r"`(\w+)`", found["names"])]
    assert meant, f"{trap}: {tests}"
    for file, name in meant:
        assert re.search(rf"^def test_\w*{name}\w*\(", file.read_text(encoding="utf-8"), re.MULTILINE), f"{trap}: {name} in {file}"
