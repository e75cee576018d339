"""Read from the settings of pytest which files it collects tests from."""

from __future__ import annotations

import configparser
import tomllib
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graphmem.reports.launchers import Project

_DEFAULT: Final = ("test_*.py", "*_test.py")
_FILES_OF_TESTS: Final = "python_files"  # the setting that replaces `_DEFAULT`


def collected_files(project: Project, path: str, files: Mapping[str, tuple[str, ...]]) -> tuple[str, ...] | None:
    """Return the patterns of files with tests; None if pytest has no settings.

    Like pytest, the function reads the nearest settings, in the directory of `path` or above it. A file that is not valid has none.

    Args:
        project: the files of the repository.
        path: a file of tests.
        files: maps each file of settings to its tables or sections, most important first.
    """
    for folder in PurePosixPath(path).parents:
        for name, tables in files.items():
            text = project.text(str(folder / name))
            found = _patterns(name, text, tables) if text is not None else None
            if found is not None:
                return found
    return None


def is_collected(path: str, patterns: Sequence[str] | None) -> bool:
    """Whether pytest collects tests from a file with the given patterns.

    None stands for the default patterns. A pattern without a slash is compared with the file's name. The result for `conftest.py` is
    always False, because it has fixtures and not tests.
    """
    name = PurePosixPath(path).name
    pairs = ((f"/{path}", f"*/{one}") if "/" in one else (name, one) for one in (_DEFAULT if patterns is None else patterns))
    return name != "conftest.py" and any(fnmatchcase(*pair) for pair in pairs)


@lru_cache(maxsize=256)
def _patterns(name: str, text: str, tables: tuple[str, ...]) -> tuple[str, ...] | None:
    sections = _sections(name, text)
    if sections is None:
        return None
    section = next((sections[one] for one in tables if one in sections), None)
    if section is None:  # a file of pytest alone counts without a section
        return _DEFAULT if PurePosixPath(name).stem.removeprefix(".") == "pytest" else None
    value = section.get(_FILES_OF_TESTS)
    return tuple(value.split()) if isinstance(value, str) else tuple(map(str, value)) if isinstance(value, list) else _DEFAULT


def _sections(name: str, text: str) -> dict[str, Mapping[str, object]] | None:
    """Map names of tables or sections to their settings; None if invalid.

    `text` is the content of a file of settings. The file `name` is TOML if its name ends so, and INI otherwise.
    """
    try:
        if name.endswith(".toml"):
            return dict(_tables("", tomllib.loads(text)))
        ini = configparser.ConfigParser(interpolation=None, strict=False)
        ini.read_string(text)
    except (ValueError, configparser.Error, RecursionError):
        return None
    return {one: ini[one] for one in ini.sections()}


def _tables(prefix: str, table: Mapping[str, object]) -> list[tuple[str, Mapping[str, object]]]:
    """Return (dotted name, table) of each table inside a table, at any depth.

    `prefix` is the dotted name of the outer table, with a dot at the end; "" for the whole file.
    """
    found = []
    for name, value in table.items():
        if isinstance(value, dict):
            found += [(f"{prefix}{name}", value), *_tables(f"{prefix}{name}.", value)]
    return found
