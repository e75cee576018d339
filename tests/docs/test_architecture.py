"""The picture in docs/architecture.md is the code's own: arrows point down, drivers stay in their room."""

from __future__ import annotations

import ast
import itertools
import re
from pathlib import Path

import pytest

import graphmem

PACKAGE = Path(graphmem.__file__).parent
PAGE = PACKAGE.parent / "docs" / "architecture.md"
TYPES_ALONE = {"parsing.facts", "store.base"}


def table() -> list[list[str]]:
    """Rows of the page's table of rooms: the rooms, the sentence, what they may import, the third party that only they import."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("| room | in one sentence"))
    rows = itertools.takewhile(lambda line: line.startswith("|"), lines[start + 2 :])
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in rows]


def named(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


ROWS = table()
WORDS = {*named(ROWS[0][0]), *TYPES_ALONE}
MAY_IMPORT = {room: set(named(allowed)) for rooms, _, allowed, _ in ROWS for room in named(rooms)}
OUTSIDE = [(room, package) for rooms, _, _, outside in ROWS for room in named(rooms) for package in named(outside)]
ONLY_IN = {package: [room for room, one in OUTSIDE if one == package] for _, package in OUTSIDE}
FILES = sorted(PACKAGE.rglob("*.py"))


def imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "graphmem":
                yield from (f"graphmem.{alias.name}" for alias in node.names)
            else:
                yield node.module


def room_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_arrows_point_down(path):
    room = room_of(path)
    if room in ("__init__", "__main__"):
        return
    assert room in MAY_IMPORT, f"a new room {room!r}: give it a row in the table of docs/architecture.md"
    for name in imports(path):
        if not name.startswith("graphmem."):
            homes = ONLY_IN.get(name.partition(".")[0], [room])
            assert room in homes, f"{path.name} imports {name}, which only {homes} may"
            continue
        inner = name.removeprefix("graphmem.")
        if inner.startswith("__") or any(inner == word or inner.startswith(word + ".") for word in WORDS):
            continue
        other = inner.partition(".")[0]
        assert other == room or other in MAY_IMPORT[room], f"{room} imports {name}"


def test_the_page_names_no_room_that_is_gone() -> None:
    assert MAY_IMPORT.keys() <= {room_of(path) for path in FILES}
    assert set().union(*MAY_IMPORT.values()) <= MAY_IMPORT.keys()


BESIDE = {"docs", "packaging", "reliability", "strangers", "support"}  # folders of tests that concern several rooms, or none


def test_tests_mirror_the_rooms() -> None:
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    folders = {path.parent.name for path in (PACKAGE.parent / "tests").glob("*/*.py")}
    assert folders == rooms | BESIDE, "give each room a folder of tests with its name"


def misplaced(modules: set[str], tests: set[str]) -> list[str]:
    """Tests, as paths without `.py`, that stand in no package of the product, or elsewhere than the module with their name."""
    packages = {module.rpartition("/")[0] for module in modules}
    found = []
    for test in sorted(tests):
        room, folder, name = test.partition("/")[0], *test.rpartition("/")[::2]
        homes = {module.rpartition("/")[0] for module in modules if module.startswith(room + "/") and module.endswith("/" + name)}
        if folder not in (homes or packages):
            found.append(test)
    return found


def test_tests_stand_where_their_modules_do() -> None:
    folder = PACKAGE.parent / "tests"
    modules = {path.relative_to(PACKAGE).with_suffix("").as_posix() for path in FILES if path.parent != PACKAGE}
    tests = {path.relative_to(folder).with_suffix("").as_posix() for path in folder.glob("*/**/test_*.py")}
    named = {test.replace("/test_", "/") for test in tests if test.partition("/")[0] not in BESIDE}
    assert misplaced(modules, named) == []


def test_a_test_beside_the_folder_of_its_module_is_found() -> None:
    modules = {"store/base", "store/file/lock", "store/file/files", "memory/files/rules"}
    assert misplaced(modules, {"store/file/lock", "store/crashes", "store/file/crashes", "memory/files/rules"}) == []
    assert misplaced(modules, {"store/lock", "store/disk/crashes", "store/file/base"}) == [
        "store/disk/crashes",
        "store/file/base",
        "store/lock",
    ]
