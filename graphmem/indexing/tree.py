"""Find the files of a project that changed since the last scan.

The first scan covers the whole tree of folders. A later scan may be limited to given paths. The whole tree is still scanned if one of the
paths affects other files: a folder, a file of ignore rules, or a nested repository.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.parsing.discovery import Discovery, FoundFile, discover, discover_some
from graphmem.parsing.encoding import to_utf8
from graphmem.parsing.ignore import GIT_IGNORE, GRAPHMEM_IGNORE, DiscoveryOptions
from graphmem.parsing.language import language_of_path
from graphmem.resolution.interfaces.layout import Layout, is_layout_file, read_layout

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from graphmem.model import Diagnostic

FEW: Final = 256  # paths; with more, scanning everything costs the same
_DECIDES: Final = frozenset(
    {GIT_IGNORE, GRAPHMEM_IGNORE, ".git", ".gitmodules", "pyvenv.cfg"}
)  # names that decide which files of a folder count


class Look(NamedTuple):
    """The changed, new and removed files, compared with the index."""

    changed: list[FoundFile]  # new files, or with other content than indexed; by path
    removed: list[str]  # indexed files that are missing or now left out; ascending
    skipped: dict[str, int]  # reason -> scanned files
    diagnostics: list[Diagnostic]  # of scanned files, by path
    is_whole: bool  # the whole tree was scanned

    def generated_by_language(self) -> dict[str, int]:
        """Count the generated and minified files that were left out.

        The result maps a language to its number of scanned files. Files without a grammar, such as lock files, do not count.
        """
        languages = (language_of_path(one.path) for one in self.diagnostics if one.code in ("generated", "minified"))
        return dict(sorted(Counter(filter(None, languages)).items()))


class Tree:
    """The files to index below the root folder of a project.

    Args:
        root: root folder of the tree.
        options: options that decide which files are left out.

    Attributes:
        files: files to index at the last scan, by path.
    """

    def __init__(self, root: Path, options: DiscoveryOptions) -> None:
        self.files: dict[str, FoundFile] = {}
        self._root = root
        self._options = options
        self._by_git = False
        self._layout: tuple[dict[str, str], Layout, dict[str, str]] | None = None
        self._layout_files: dict[str, str] = {}  # configuration files -> content hash

    def look(self, known: Mapping[str, str], paths: Collection[str] | None, cancelled: Callable[[], bool]) -> Look:
        """Compare the files on disk with the index.

        Args:
            known: content hashes of the indexed files by path.
            paths: the only paths that may have changed since the last scan, from the root with '/'; None: any path may have changed.
            cancelled: called during a scan of the whole tree; True stops the scan.

        Raises:
            RepositoryError: the root is missing, not a directory, unreadable, or has nothing to index.
            IndexCancelledError: `cancelled` returned True.
        """
        some = self._some(known, paths) if paths is not None and self.files else None
        if some is None or paths is None:
            found = discover(self._root, self._options, cancelled, self.files)
            self.files = {file.path: file for file in found.files}
            self._by_git = found.by_git
            self._layout_files = {path: file.content_hash for path, file in self.files.items() if _is_layout(path)}
            return self._compared(found, known, sorted(known.keys() - self.files.keys()), is_whole=True)
        for path in paths:
            self.files.pop(path, None)
            self._layout_files.pop(path, None)
        self.files.update((file.path, file) for file in some.files)
        self._layout_files.update((file.path, file.content_hash) for file in some.files if _is_layout(file.path))
        return self._compared(some, known, sorted(path for path in set(paths) & known.keys() if path not in self.files), is_whole=False)

    def _compared(self, found: Discovery, known: Mapping[str, str], removed: list[str], *, is_whole: bool) -> Look:
        changed = [file for file in found.files if known.get(file.path) != file.content_hash]
        return Look(changed, removed, found.skipped, found.diagnostics, is_whole)

    def _some(self, known: Mapping[str, str], paths: Collection[str]) -> Discovery | None:
        """Scan only the given paths; None if the whole tree must be scanned.

        The whole tree must be scanned if there are many paths, or if one of them affects other files. Such a path is a folder, a file of
        ignore rules, or a nested repository.
        """
        if len(paths) > FEW:
            return None
        for path in paths:
            absolute = self._root / path
            if path.rpartition("/")[2] in _DECIDES or (absolute.is_dir() and not absolute.is_symlink()):
                return None
            below = f"{path}/"
            if path not in known and not absolute.exists() and any(other.startswith(below) for other in known):
                return None
        found = discover_some(self._root, paths, self._options, by_git=self._by_git)
        return found if found is not None and (found.files or not known.keys() <= set(paths)) else None

    def layout(self) -> Layout:
        """Return the project's layout from its configuration files.

        The layout has the import directories, for example. It also has the package name of the root, if the root is a package. An
        unreadable configuration file is ignored; `faults` has the reason.
        """
        return self._read_layout()[0]

    def faults(self) -> Mapping[str, str]:
        """Map the path of each unreadable configuration file to the reason."""
        return self._read_layout()[1]

    def _read_layout(self) -> tuple[Layout, dict[str, str]]:
        if self._layout is None or self._layout[0] != self._layout_files:
            texts = {}
            for path in self._layout_files:
                if is_layout_file(path.rpartition("/")[2]):
                    texts[path] = _text(self._root / path)
            is_package = "__init__.py" in self._layout_files and self._root.name.isidentifier()
            layout, faults = read_layout(texts)
            self._layout = (dict(self._layout_files), replace(layout, root_package=self._root.name if is_package else ""), faults)
        return self._layout[1:]


def _is_layout(path: str) -> bool:
    """Whether a file decides under which names modules are imported.

    Returns True for configuration files, and for an `__init__.py` in the project's root, which makes the root a package.
    """
    return path == "__init__.py" or is_layout_file(path.rpartition("/")[2])


def _text(path: Path) -> str:
    try:
        return to_utf8(path.read_bytes()).source.decode("utf-8")
    except OSError:  # deleted since the scan; the next scan reports it
        return ""
