"""A merge of two versions of a diagram leaves it broken; the pages show whole diagrams."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DIAGRAM = re.compile(r"```mermaid\n(.*?)```", re.DOTALL)
PAGES = [page for page in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]) if DIAGRAM.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_line_of_a_diagram_occurs_once_and_each_group_is_closed(page):
    for text in DIAGRAM.findall(page.read_text(encoding="utf-8")):
        lines = [line.strip() for line in text.splitlines()]
        opened = sum(line.startswith("subgraph ") for line in lines)
        assert lines.count("end") == opened, f"{page.name}: a diagram opens {opened} groups; close each with one `end`"
        twice = [line for line, times in Counter(lines).items() if times > 1 and line != "end"]
        assert twice == [], f"{page.name}: a diagram repeats a line; delete the copy"


def test_at_least_the_readme_and_the_architecture_have_a_diagram():
    assert {"README.md", "architecture.md"} <= {page.name for page in PAGES}
