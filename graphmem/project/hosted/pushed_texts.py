"""Keep the texts of pushed files in the directory of their project.

The texts of a push are first written to other files. After the graph has changed, the texts are only moved to their paths. So a full disk
is noticed before the graph changes.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from graphmem.runtime.files.replacing import replace_file

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Set


class PushedTexts:
    """The texts of one push, until they are moved to the project's directory.

    Args:
        root: directory of the project.
        folder: directory for the texts until the graph has changed, on the same file system.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self._root, self._folder = root, folder
        self._places: dict[str, Path] = {}

    @property
    def paths(self) -> Set[str]:
        """The paths of the files whose texts were stored."""
        return self._places.keys()

    def stored(self, parts: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """Yield the parts of a push; write the texts of each to the upload folder."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for part in parts:
            for path, text in part["texts"].items():
                place = self._places.setdefault(path, self._folder / str(len(self._places)))
                replace_file(place, encoded(text))
            yield part

    def move(self, paths: Container[str], removed: Iterable[str]) -> None:
        """Delete the files `removed`, and move pushed texts to the project.

        The texts of the files in `paths` are moved from the upload folder to their paths in the project's directory. Other texts stay in
        the upload folder.
        """
        for path in removed:
            remove(self._root, path)
        for path, place in self._places.items():
            if path in paths:
                place.replace(free_place(self._root, path))


def encoded(text: str) -> bytes:
    """Convert the text of a pushed file to the bytes that are stored."""
    return text.encode("utf-8", "surrogateescape")


def free_place(root: Path, path: str) -> Path:
    """Return the path at which the text of a file is stored.

    Missing parent directories are created. A file at the path of a parent directory is deleted, and so is a directory at the path of the
    file.
    """
    place = root / path
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except (FileExistsError, NotADirectoryError):  # an earlier push had a file where this one has a directory
        next(one for one in _parents(root, path) if not one.is_dir()).unlink()
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if place.is_dir():
        shutil.rmtree(place)
    return place


def remove(root: Path, path: str) -> None:
    """Delete the text of a file, and directories that are empty without it."""
    # A missing text was never sent. If the path or a parent has become the other kind, the text is gone, too.
    with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
        (root / path).unlink()
    with suppress(OSError):  # the first directory with other entries ends the loop
        for parent in reversed(_parents(root, path)):
            parent.rmdir()


def _parents(root: Path, path: str) -> list[Path]:
    """Return the directories between the project's directory and a file."""
    return [root / one for one in reversed(PurePosixPath(path).parents[:-1])]
