"""Find the program that starts a project's tools, such as `poetry run`.

A launcher runs a tool in the environment of the project. Without it, `pytest` is often missing or another version. The launcher is
recognised by the nearest lock file at or above a test, or else by a manifest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from graphmem.runtime.tables import read_table


class Project(Protocol):
    """The files of a repository; see `test_runners.Project`."""

    def text(self, path: str) -> str | None:
        """Return the text of a file; None if it is missing."""

    def nearest(self, path: str, *names: str) -> tuple[str, str] | None:
        """Return (directory, name) of the nearest file with one of the names."""


class Launcher(NamedTuple):
    """The program that starts tools, and the directory of its lock file."""

    command: str  # "" if tools are started by themselves
    base: str  # "" for the root


@dataclass(frozen=True, slots=True)
class _Launchers:
    """The content of `grammars/launchers.toml`, which explains the keys."""

    python_locks: Mapping[str, str]
    python_tables: Mapping[str, str]
    node_locks: Mapping[str, str]
    node_managers: Mapping[str, str]


_TABLE: Final = read_table("launchers.toml", _Launchers)
_PYTHON_TABLES: Final = re.compile(rf"^\[tool\.({'|'.join(_TABLE.python_tables)})\b", re.MULTILINE)
_PACKAGE_MANAGER: Final = re.compile(rf'"packageManager"\s*:\s*"({"|".join(_TABLE.node_managers)})@')


def python_launcher(project: Project, path: str) -> Launcher:
    """Return the launcher of a Python test at a path, such as `uv run`."""
    found = project.nearest(path, *_TABLE.python_locks)
    if found is not None:
        return Launcher(_TABLE.python_locks[found[1]], found[0])
    declared = project.nearest(path, "pyproject.toml")
    base = declared[0] if declared is not None else ""
    table = _PYTHON_TABLES.search(project.text(f"{base}/pyproject.toml" if base else "pyproject.toml") or "")
    return Launcher(_TABLE.python_tables[table[1]], base) if table is not None else Launcher("", "")


def node_launcher(project: Project, path: str) -> str:
    """Return the launcher of a JavaScript test at a path, such as `pnpm exec`.

    The default is `npx`.
    """
    found = project.nearest(path, *_TABLE.node_locks)
    if found is not None:
        return _TABLE.node_locks[found[1]]
    manager = _PACKAGE_MANAGER.search(project.text("package.json") or "")
    return _TABLE.node_managers[manager[1]] if manager is not None else "npx"
