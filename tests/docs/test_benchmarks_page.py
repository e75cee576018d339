"""The page of the benchmarks names every benchmark, and files that exist."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "benchmarks"
SPEC = importlib.util.spec_from_file_location("benchmarks_main", FOLDER / "__main__.py")
program = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(program)
PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| ([a-z ]+) \| `(\w+)` \| (.+) \| (.+) \|$", re.MULTILINE)
GROUPS = {
    "edges",
    "impact and tests",
    "search",
    "memories",
    "agents",
    "indexing and performance",
    "durability",
    "organisation",
    "editors and packaging",
}


def listed(capsys) -> dict[str, str]:
    assert program.main([]) == 0
    return dict(line.strip().split(maxsplit=1) for line in capsys.readouterr().out.splitlines())


def test_the_page_has_each_listed_benchmark_with_its_first_line(capsys):
    assert {name: first for _, name, first, _ in ROW.findall(PAGE)} == listed(capsys)


def test_no_benchmark_is_in_two_groups_and_no_group_is_empty():
    rows = ROW.findall(PAGE)
    assert len({name for _, name, *_ in rows}) == len(rows)
    assert {group for group, *_ in rows} == GROUPS


def test_files_that_the_page_links_exist():
    links = re.findall(r"\]\(([^)#]+)\)", PAGE)
    assert [link for link in links if not (FOLDER / link).exists()] == []


def test_each_program_has_a_help(capsys):
    sources = {name: (FOLDER / f"{name}.py").read_text(encoding="utf-8") for name in listed(capsys)}
    assert [name for name, source in sources.items() if "parser(__doc__)" not in source and "options_of(__doc__)" not in source] == []


def test_the_list_fits_on_a_line_each(capsys):
    assert {name: len(first) for name, first in listed(capsys).items() if len(first) > 100} == {}
