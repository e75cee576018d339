"""Read folders of Maven's layout: `src/<set>/<language>/<package>`.

Gradle uses the same layout. The names of the folders `<language>` come from the conventions of the languages.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from graphmem.runtime.data.conventions import all_conventions

_RESOURCES: Final = re.compile(r"(?:^|/)src/\w+/resources/")


class SourceFolder(NamedTuple):
    """The parts of a folder such as `core/src/main/java/org/shop/api`."""

    project: str  # `core`; "" for the root
    name: str  # of the source set: `main`
    language: str | None  # `java`; None for the folder of the set itself
    package: str  # `org/shop/api`


def source_folder(folder: str) -> SourceFolder | None:
    """Return the parts of a folder of this layout; None for others."""
    match = _layout().fullmatch(folder)
    return SourceFolder(match["project"] or "", match["set"], match["language"], match["package"] or "") if match else None


def package_begins(path: str) -> int | None:
    """Return the position in a path at which the name of the package begins.

    The result is the position of a character. Folders after this position are parts of a package's name, as `samples` in
    `org/springframework/samples`. The case is ignored. The result is None if `path` is not in a folder of main code, such as
    `src/main/java`.
    """
    match = _main().search(path)
    return match.end() if match else None


def holds_resources(path: str) -> bool:
    """Whether a file is in a folder of resources, as `src/main/resources`."""
    return _RESOURCES.search(path) is not None


@cache
def _layout() -> re.Pattern[str]:
    return re.compile(rf"(?:(?P<project>.*)/)?src/(?P<set>\w+)(?:/(?P<language>{_languages()})(?:/(?P<package>.*))?)?")


@cache
def _main() -> re.Pattern[str]:
    return re.compile(rf"(?:^|/)src/main/(?:{_languages()})/", re.IGNORECASE)


def _languages() -> str:
    return "|".join(map(re.escape, all_conventions().source_sets))
