"""Roles of files on the map: code, tests, migrations and others.

A map shows code first, because people read and change it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.analysis.semantic.beside import generated_folders, is_made
from graphmem.runtime.data.conventions import all_conventions

if TYPE_CHECKING:
    from graphmem.analysis.semantic.modules import Modules
    from graphmem.answers.vocabulary import FileRole

ROLES: Final = ("code", "test", "migration", "generated", "no_code")


def role_of(path: str, is_test: bool, has_code: bool) -> FileRole:
    """Return the role of a file, such as tests, by its folders and name."""
    *folders, name = path.split("/")
    known = all_conventions()
    if not has_code:
        return "no_code"
    if is_test or (known.fixture_folders | known.double_folders).intersection(folders):
        return "test"
    if "migration" in folders or known.migration_folders.intersection(folders):
        return "migration"
    if generated_folders().intersection(folders) or is_made(name):
        return "generated"
    return "code"


def roles(modules: Modules) -> dict[str, FileRole]:
    """Return the role of each indexed file, such as code or tests, by path."""
    files = modules.files
    tests, of = files.is_test.tolist(), modules.of_file.tolist()
    return {path: role_of(path, tests[i], of[i] >= 0) for i, path in enumerate(files.paths)}
