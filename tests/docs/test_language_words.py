"""General modules name no words of a language: these stand in the tables of `grammars/`."""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

import graphmem
from graphmem.parsing.contracts.habits import Habit
from graphmem.parsing.ignore import skipped_files
from graphmem.parsing.language import languages
from graphmem.runtime.data.conventions import all_conventions, conventions_by_language

PACKAGE = Path(graphmem.__file__).parent
PLACES = (
    "analysis",
    "client",
    "contracts",
    "embedding",
    "evidence/indexers.py",
    "evidence/scip_symbols.py",
    "explorer",
    "history",
    "injection",
    "language_model.py",
    "lsp",
    "maintenance",
    "mcp_server",
    "memory/files",
    "memory/journal",
    "memory/reading",
    "memory/repository",
    "memory/texts",
    "observe",
    "operations",
    "project",
    "projection",
    "reports",
    "search",
    "security",
    "server",
    "sharing",
    "store",
    "vectors",
    "parsing/*.py",
    "parsing/contracts",
    "resolution/*.py",
    "resolution/cache",
    "resolution/edges",
    "resolution/files",
    "resolution/framework_tables",
    "resolution/scoped",
    "resolution/type_inference",
)
ENGLISH = {
    "C",
    "any",
    "c",
    "doc",
    "go",
    "index",
    "internal",
    "jsx",
    "lib",
    "main",
    "mod",
    "object",
    "target",
    "unknown",
}  # also words of other meanings


SETTINGS = ("closed", "mixins", "shared_variables")  # of `[resolution]` in language.toml: beginnings of signatures and names


def words() -> set[str]:
    """Names of languages, their extensions, the words of their conventions, and folders that an index run skips."""
    skipped = skipped_files().cache_folders | skipped_files().vendored_folders
    found = {*languages(), *(name for name in skipped if not name.startswith("."))}  # others, such as `.git`, belong to programs
    for spec in languages().values():
        found.update(spec.extensions)
    for table in conventions_by_language().values():
        found.add(table.title)
        for field in fields(table):
            value = getattr(table, field.name)
            found.update(value if isinstance(value, (tuple, frozenset)) else ())
    return {word for word in found - ENGLISH - set(get_args(Habit)) if any(map(str.isalpha, word))}


def settings() -> set[str]:
    """Beginnings of signatures and names, of which only resolution must be free: messages have words such as `module `."""
    return {spec.resolution[key] for spec in languages().values() for key in SETTINGS if key in spec.resolution}


def literals(path: Path) -> list[tuple[int, str]]:
    """Strings of a module and their lines, without docstrings and `__slots__`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    passed = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed
    ]


def files(place: str) -> list[Path]:
    """A module, those beside the packages of a room, or all modules of a room."""
    return sorted(PACKAGE.glob(place) if place.endswith(".py") else (PACKAGE / place).rglob("*.py"))


@pytest.mark.parametrize("place", PLACES)
def test_no_general_module_names_words_of_a_language(place):
    known = words() | (settings() if place.startswith("resolution") else set())
    named = [f"{path.relative_to(PACKAGE)}:{line}: {text!r}" for path in files(place) for line, text in literals(path) if text in known]
    assert not named, "put these words into a table of grammars/"


@pytest.mark.parametrize("place", ["parsing/contracts", "resolution/scoped", "resolution/type_inference"])
def test_no_general_module_names_the_object_itself(place):
    known = {re.sub(r"\W", "", word) for word in all_conventions().own_object}
    named = [
        f"{path.name}:{line}: {text!r}" for path in files(place) for line, text in literals(path) if known & set(re.findall(r"\w+", text))
    ]
    assert known >= {"self", "this"}
    assert not named, "`own_object` in conventions.toml has these words"


def test_the_words_are_those_of_the_tables():
    assert {"python", ".php", "__init__", "node_modules", "alembic", "*_pb2.py", "venv"} <= words()
    assert settings() >= {"def ", "module ", "@$"}


def test_the_habits_of_the_tables_are_those_that_code_asks_for():
    listed = set().union(*(table.contract_habits for table in conventions_by_language().values()))
    assert listed == set(get_args(Habit))
