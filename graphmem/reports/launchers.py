"""Find the program that starts a project's tools, such as `poetry run`.

A launcher runs a tool in the environment of the project. Without it, `pytest` is often missing or another version. The launcher is
recognised by the nearest lock file at or above a test, or else by a manifest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from graphmem.runtime.data.tables import read_table


class Project(Protocol):
    """The files of a repository, as far as test commands depend on them."""

    def text(self, path: str) -> str | None:
        """Return the text of a file; None if it is missing."""

    def nearest(self, path: str, *names: str) -> tuple[str, str] | None:
        """Return (directory, name) of the nearest file with one of the names.

        The search starts in the directory of `path` and continues with the directories above. The result is None if no file is found.
        """


class Launcher(NamedTuple):
    """A package runner such as `uv run`, and the folder of its `uv.lock`."""

    command: str  # "" if tools are started by themselves
    base: str  # "" for the root


@dataclass(frozen=True, slots=True)
class Launchers:
    """The content of `grammars/launchers.toml`, which explains the keys."""

    python_manifest: str
    node_manifest: str
    go_manifest: str
    rust_manifest: str
    python_locks: Mapping[str, str]
    python_tables: Mapping[str, str]
    node_locks: Mapping[str, str]
    node_managers: Mapping[str, str]


LAUNCHERS: Final = read_table("launchers.toml", Launchers)
_PYTHON_TABLES: Final = re.compile(rf"^\[{{1,2}}tool\.({'|'.join(LAUNCHERS.python_tables)})(?=[\].])", re.MULTILINE)
_PACKAGE_MANAGER: Final = re.compile(rf'"packageManager"\s*:\s*"({"|".join(LAUNCHERS.node_managers)})@')


def python_launcher(project: Project, path: str) -> Launcher:
    """Return the launcher of a Python test at a path, such as `uv run`."""
    found = project.nearest(path, *LAUNCHERS.python_locks)
    if found is not None:
        return Launcher(LAUNCHERS.python_locks[found[1]], found[0])
    declared = project.nearest(path, LAUNCHERS.python_manifest)
    base = declared[0] if declared is not None else ""
    manifest = f"{base}/{LAUNCHERS.python_manifest}" if base else LAUNCHERS.python_manifest
    table = _PYTHON_TABLES.search(project.text(manifest) or "")
    return Launcher(LAUNCHERS.python_tables[table[1]], base) if table is not None else Launcher("", "")


def node_launcher(project: Project, path: str) -> str:
    """Return the launcher of a JavaScript test at a path, such as `pnpm exec`.

    The default is `npx`.
    """
    found = project.nearest(path, *LAUNCHERS.node_locks)
    if found is not None:
        return LAUNCHERS.node_locks[found[1]]
    manager = _PACKAGE_MANAGER.search(project.text(LAUNCHERS.node_manifest) or "")
    return LAUNCHERS.node_managers[manager[1]] if manager is not None else "npx"
