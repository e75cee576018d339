"""Pages name files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
NAMED = re.compile(r"`((?:[a-z_]\w*/)+\w+\.(?:py|js|toml|json|cypher))`")


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=lambda page: page.name)
def test_files_that_a_page_names_exist(page):
    named = sorted(set(NAMED.findall(page.read_text(encoding="utf-8"))))
    missing = [name for name in named if not any((folder / name).exists() for folder in (ROOT, ROOT / "graphmem", ROOT / "benchmarks"))]
    assert missing == [], f"{page.name} names files that do not exist; correct the paths"
