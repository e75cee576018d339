"""Rules for skipping files and folders by their paths.

The rules cover ignore files, vendored folders, caches, binaries and lock files. Only names below the root are examined, so a root inside
`site-packages` can be indexed.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from graphmem.runtime.data.tables import read_table

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

GRAPHMEM_IGNORE: Final = ".graphmemignore"
GIT_IGNORE: Final = ".gitignore"


@dataclass(frozen=True, slots=True)
class SkippedFiles:
    """Names of files and folders that an index run skips.

    The content is that of `grammars/skipped.toml`, whose comments explain each key.
    """

    cache_folders: frozenset[str]
    vendored_folders: frozenset[str]
    generated_folder_suffixes: tuple[str, ...]
    binary_suffixes: frozenset[str]  # without the dot, in lower case
    translation_suffixes: frozenset[str]
    lock_files: frozenset[str]
    built_names: tuple[str, ...]  # regular expressions of paths
    built_folders: frozenset[str]
    built_suffixes: tuple[str, ...]
    minified_suffixes: tuple[str, ...]
    packed_suffixes: tuple[str, ...]
    mapped_suffixes: tuple[str, ...]
    text_suffixes: tuple[str, ...]


@cache
def skipped_files() -> SkippedFiles:
    """Return the names of files and folders that an index run skips."""
    return read_table("skipped.toml", SkippedFiles)


@cache
def _built() -> re.Pattern[str]:
    return re.compile("|".join(skipped_files().built_names))


@dataclass(frozen=True, slots=True)
class DiscoveryOptions:
    """Rules for skipping files.

    Attributes:
        max_file_bytes: size limit of a file, greater than 0; larger files are skipped.
        include_vendored: also index folders such as `vendor` and `node_modules`.
        include_generated: also index generated and minified files.
        exclude: further patterns in gitignore's syntax, relative to the root.
        use_git: ask git for the list of files if the root is in a repository.
    """

    max_file_bytes: int = 1 << 20
    include_vendored: bool = False
    include_generated: bool = False
    exclude: tuple[str, ...] = ()
    use_git: bool = True


MAX_STARS: Final = 3
"""Most stars in a part of a pattern, and most parts that are `**`.

Matching tries every position for each.
"""


def _is_endless(line: str) -> bool:
    parts = line.split("/")
    return sum(part == "**" for part in parts) > MAX_STARS or any(len(_STARS.findall(part)) > MAX_STARS for part in parts)


def _spec(lines: list[str]) -> GitIgnoreSpec | None:
    """Combine the gitignore patterns `lines`; None if one of them is invalid."""
    from pathspec import GitIgnoreSpec

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # `[[a]` keeps its old meaning
        try:
            return GitIgnoreSpec.from_lines(lines)
        except (ValueError, re.error):
            return None


_STARS: Final = re.compile(r"\*+")


class IgnoreRules:
    """The rules of all ignore files in a directory tree.

    The patterns of an ignore file apply to the paths below its folder. If several ignore files have a pattern that matches a path, the one
    in the deepest folder decides.
    """

    def __init__(self) -> None:
        self._specs: dict[str, GitIgnoreSpec] = {}

    def add(self, folder: str, lines: Iterable[str]) -> list[str]:
        """Add the patterns of an ignore file; return the lines that are not used.

        A line is not used if it is not a valid pattern, or could take too long to match. Empty lines and comments are not returned.

        Args:
            folder: folder of the file, from the root, with '/'; "" for the root.
            lines: lines of the file, in gitignore's syntax.
        """
        patterns = [line for line in lines if line and not line.startswith("#")]
        unusable = [line for line in patterns if _is_endless(line)]
        patterns = [line for line in patterns if line not in unusable]
        spec = _spec(patterns)
        if spec is None:
            broken = [line for line in patterns if _spec([line]) is None]
            unusable += broken
            spec = _spec([line for line in patterns if line not in broken])
        if spec:
            held = self._specs.get(folder)
            self._specs[folder] = spec if held is None else held + spec
        return unusable

    def decide(self, path: str) -> bool | None:
        """Return whether a path is ignored; None if no pattern matches.

        False means that a `!` pattern includes the path explicitly.

        Args:
            path: path from the root, with '/'; a folder ends in '/'.
        """
        if not self._specs:
            return None
        folder = path.rstrip("/")
        while folder:
            folder = folder.rpartition("/")[0]
            spec = self._specs.get(folder)
            if spec is not None:
                verdict = spec.check_file(path[len(folder) + 1 :] if folder else path).include
                if verdict is not None:
                    return bool(verdict)
        return None

    def decide_below(self, path: str) -> bool | None:
        """Return whether a path, or a folder above it, is ignored.

        Like git, this method excludes everything below an ignored folder. If no folder above the path is ignored, the result is that of
        `decide`: True, False, or None.
        """
        if not self._specs:
            return None
        position = path.find("/")
        while position >= 0:
            if self.decide(path[: position + 1]):
                return True
            position = path.find("/", position + 1)
        return self.decide(path)


def folder_reason(name: str) -> str:
    """Return the reason to skip folders of a name; "" if they are not skipped.

    The reason is one of "cache", "vendored" and "generated".
    """
    skipped = skipped_files()
    if name in skipped.cache_folders:
        return "cache"
    if name in skipped.vendored_folders:
        return "vendored"
    return "generated" if name.endswith(skipped.generated_folder_suffixes) else ""


def file_reason(path: str) -> str:
    """Return the reason to skip a file by its path; "" if it is not skipped.

    The reason is one of "binary", "generated", "minified" and "translation". JavaScript and style sheets are generated if a folder `dist`
    contains them, or if their name has a hash, such as `app.3f9a1c.js`.
    """
    folder, _, name = path.rpartition("/")
    stem, _, suffix = name.lower().rpartition(".")
    if not stem:  # `lib`, `.db`
        suffix = ""
    skipped = skipped_files()
    if suffix in skipped.binary_suffixes:
        return "binary"
    if suffix in skipped.translation_suffixes:
        return "translation"
    is_built = name.endswith(skipped.built_suffixes) and not skipped.built_folders.isdisjoint(folder.split("/"))
    if is_built or name in skipped.lock_files or _built().search(path):
        return "generated"
    return "minified" if name.endswith(skipped.minified_suffixes) else ""
