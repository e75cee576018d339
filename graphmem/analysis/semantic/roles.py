"""Roles of files on the map: code, tests, migrations and others.

A map shows code first, because people read and change it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from graphmem.analysis.semantic.beside import generated_folders, is_made
from graphmem.runtime.data.conventions import all_conventions

if TYPE_CHECKING:
    from graphmem.analysis.semantic.modules import Modules
    from graphmem.answers.vocabulary import FileRole

ROLES: Final = ("code", "test", "migration", "translation", "generated", "no_code")

_LANGUAGE: Final = re.compile(r"[a-z]{2}(?:[-_](?:[A-Z][a-z]{3}|[A-Z]{2}|[a-z]{2}|\d{3}))*")
"""Name of a human language, such as `de`, `pt_BR` or `zh-Hans`."""


def role_of(path: str, is_test: bool, has_code: bool) -> FileRole:
    """Return the role of a file on the map, such as "test" or "generated".

    `is_test` tells whether the file is a test, and `has_code` whether it has code. If that does not decide, its folders and its name do.
    """
    *folders, name = path.split("/")
    known = all_conventions()
    if not has_code:
        return "no_code"
    if is_test or (known.fixture_folders | known.double_folders).intersection(folders):
        return "test"
    if "migration" in folders or known.migration_folders.intersection(folders):
        return "migration"
    if _is_translation(folders, name.partition(".")[0]):
        return "translation"
    if generated_folders().intersection(folders) or is_made(name):
        return "generated"
    return "code"


def _is_translation(folders: list[str], name: str) -> bool:
    """Whether a file has the texts of one language, as `locales/de.ts` has.

    The file, or a folder around it, is named after the language and is below a folder for translations. `name` is the file's name without
    endings.
    """
    known = all_conventions().translation_folders
    first = next((place for place, folder in enumerate(folders) if folder in known), len(folders))
    return any(_LANGUAGE.fullmatch(one) for one in (*folders[first + 1 :], *([name] if first < len(folders) else ())))


def roles(modules: Modules) -> dict[str, FileRole]:
    """Return the role of each indexed file, such as code or tests, by path."""
    files = modules.files
    tests, of = files.is_test.tolist(), modules.of_file.tolist()
    return {path: role_of(path, tests[i], of[i] >= 0) for i, path in enumerate(files.paths)}
