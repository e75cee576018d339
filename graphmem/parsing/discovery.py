"""Find the files of a directory tree to index, and count the skipped ones.

In a git repository, git lists the files: tracked ones, and untracked ones that are not ignored. Elsewhere, or if git refuses, a walk of the
directories applies the same ignore rules. Every file to index is read once for its content hash. A skipped file is counted under the reason
for skipping. A diagnostic names the file if a person would expect it in the index.
"""
# os.path on plain strings: pathlib would double the time of a run.
# ruff: noqa: PTH114, PTH118

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from graphmem.errors import IndexCancelledError, RepositoryError
from graphmem.model import Diagnostic
from graphmem.parsing.contents import language_of_script, made_by_machine, read_regular
from graphmem.parsing.encoding import is_marked_wide
from graphmem.parsing.ignore import GRAPHMEM_IGNORE, DiscoveryOptions, file_reason
from graphmem.parsing.language import language_of_path
from graphmem.parsing.listing import Listing, folders_above
from graphmem.runtime.faults import CODE, fault
from graphmem.runtime.limits import unless_refused

# Reasons for which a walk or git's list does not contain a file; each is a key of `Discovery.skipped`.
SKIP_REASONS: Final = {
    "absent": "tracked by git but not in the working tree",
    "binary": "not text",
    "cache": "kept by a tool (folders count once)",
    "generated": "written by a program and marked so, or a lock file",
    "internal": "graphmem failed on it",
    "minified": "made for machines: very long lines",
    "name": "its name is not valid UTF-8",
    "special": "a device, socket or pipe",
    "symlink": "a link to something inside the root, which is indexed where it really is",
    "symlink_loop": "a link that leads to itself or nowhere",
    "symlink_outside": "a link that leaves the root",
    "too_large": "over the size limit",
    "translation": "a catalogue of translated sentences",
    "unreadable": "the system refused to read it",
    "vendored": "other people's code (folders count once in a walk)",
    "worktree": "another working tree of the same repository",
}
_HASH_SIZE: Final = 16  # bytes: blake2b-128


class FoundFile(NamedTuple):
    """A file that discovery found and that is to be indexed."""

    path: str  # from the root, with '/'
    absolute: str
    size_bytes: int
    content_hash: str  # blake2b-128 of the bytes, hex
    language: str  # folder in grammars/, or "text"


class Discovery(NamedTuple):
    """The files of a directory tree to index, and the number of skipped ones."""

    files: list[FoundFile]  # sorted by path
    skipped: dict[str, int]  # reason → files (or folders where a walk stopped), sorted by reason
    diagnostics: list[Diagnostic]  # sorted by path
    by_git: bool  # git made the list; else it was a walk


def content_hash(data: bytes) -> str:
    """Return the blake2b-128 hash of a file's bytes, as hex.

    The hash identifies the content of the file.
    """
    return blake2b(data, digest_size=_HASH_SIZE).hexdigest()


def discover(
    root: Path,
    options: DiscoveryOptions | None = None,
    cancelled: Callable[[], bool] | None = None,
    before: Mapping[str, FoundFile] | None = None,
) -> Discovery:
    """Find the files below a folder to index.

    Args:
        root: a folder; it may be a repository, a folder inside one, or an ordinary folder.
        options: rules for skipping files.
        cancelled: called every few hundred files; True stops the search.
        before: files that an earlier search with the same options found, by path; reused if their content is the same.

    Raises:
        RepositoryError: the path does not exist, is not a folder, cannot be read, or has nothing to index.
        IndexCancelledError: `cancelled` returned true.
    """
    search = _Search(_checked_root(root), options or DiscoveryOptions())
    if before is not None:
        search.before = before
    return search.run(cancelled)


def discover_some(root: Path, paths: Collection[str], options: DiscoveryOptions | None = None, *, by_git: bool) -> Discovery | None:
    """Search for a few files only, with the same results as `discover`.

    No other files are read.

    Args:
        root: the folder given to `discover`.
        paths: paths of the files, from the root with '/'. Missing files and files to skip are not returned as found.
        options: the options given to `discover`.
        by_git: whether `discover` got its list of files from git.

    Returns:
        The found files, skipped files and diagnostics of only these paths. None if the whole tree must be searched: the root contains
            another repository, or git does not answer.

    Raises:
        RepositoryError: the root was removed or cannot be read.
    """
    return _Search(_checked_root(root), options or DiscoveryOptions()).run_some(sorted(set(paths)), by_git)


def folders(root: Path, options: DiscoveryOptions | None = None) -> list[str]:
    """Return the folders below a root in which a new file could be indexed.

    The root itself is "". Folders that an ignore file excludes are left out, even if git tracks a file in them.

    Raises:
        RepositoryError: the root was removed or cannot be read.
    """
    return _Search(_checked_root(root), options or DiscoveryOptions()).folders()


def _checked_root(root: Path) -> str:
    if not root.exists():
        raise RepositoryError(f"the repository {root} does not exist; give the directory of a repository", path=str(root))
    if not root.is_dir():
        raise RepositoryError(f"the repository {root} is not a directory; give the directory of a repository", path=str(root))
    if not os.access(root, os.R_OK | os.X_OK):
        raise RepositoryError(f"the repository {root} cannot be read; check the permissions of the directory", path=str(root))
    return str(root.resolve())


class _Search(Listing):
    """One search of a directory tree for files to index.

    Attributes:
        before: files that an earlier search found, by path; reused if their content is the same.
    """

    before: Mapping[str, FoundFile] = MappingProxyType({})

    def run(self, cancelled: Callable[[], bool] | None) -> Discovery:
        listed = self.git_files("") if self.options.use_git else None
        # An empty list from git may mean that the repository around the root ignores it.
        paths = self.filtered(listed) if listed else self.walk("")
        files: list[FoundFile] = []
        for number, path in enumerate(paths):
            if cancelled is not None and number % 256 == 0 and cancelled():
                raise IndexCancelledError(
                    "the index run was interrupted, and the index is unchanged; index again to continue", stage="discover"
                )
            found = self._looked_at(path)
            if found is not None:
                files.append(found)
        if not files:
            left_out = ", ".join(f"{count} {reason}" for reason, count in sorted(self.skipped.items()))
            reasons = f" (left out: {left_out})" if left_out else ""
            raise RepositoryError(
                f"{self.root} has no files to index{reasons}; give a directory with source files",
                path=self.root,
                skipped=dict(self.skipped),
            )
        return self._discovery(files, by_git=bool(listed))

    def run_some(self, paths: list[str], by_git: bool) -> Discovery | None:
        if not by_git:
            return self._discovery(filter(None, map(self._looked_at, self.reached(paths))), by_git=False)
        # These ignore files are listed too: git knows whether they count.
        folders = {folder for path in paths for folder in folders_above(path)}
        if any(os.path.lexists(os.path.join(self.root, folder, ".git")) for folder in folders if folder):
            return None
        marks = {folder + name for folder in folders for name in (GRAPHMEM_IGNORE, "pyvenv.cfg")}
        listed = self.git_files("", [*paths, *sorted(marks)])
        if listed is None:
            return None
        wanted = set(paths)
        kept = [path for path in self.filtered(listed) if path in wanted]
        return self._discovery(filter(None, map(self._looked_at, kept)), by_git=True)

    def folders(self) -> list[str]:
        entered: list[str] = []
        for _ in self.walk("", entered):
            pass
        return sorted(entered)

    def _discovery(self, files: Iterable[FoundFile], *, by_git: bool) -> Discovery:
        return Discovery(sorted(files), dict(sorted(self.skipped.items())), sorted(self.diagnostics), by_git)

    # one file

    def _looked_at(self, path: str) -> FoundFile | None:
        """Examine one file; return it if it is to be indexed, else None.

        An unexpected error skips the file and adds a diagnostic.
        """
        try:
            return self._examined(path)
        except Exception as error:  # noqa: BLE001 - it stays with that file, and is said
            self.note(path, "error", CODE, fault(error, "looking at it", path))
            self.skipped[CODE] += 1
            return None

    def _examined(self, path: str) -> FoundFile | None:
        """Return a file if it is to be indexed, else None.

        If a file is skipped, its reason is counted.
        """
        name = path.rpartition("/")[2]
        reason = file_reason(name)
        if reason and not self._keeps(path, reason):
            self.skipped[reason] += 1
            return None
        absolute = os.path.join(self.root, path)
        reason, data = self._read(path, absolute)
        if not reason:
            hashed = content_hash(data)
            known = self.before.get(path)
            if known is not None and known.content_hash == hashed and known.absolute == absolute:
                return known
            language = language_of_path(path) or language_of_script(data) or "text"
            reason = made_by_machine(data, language, name)
            if not reason or self._keeps(path, reason):
                return FoundFile(path, absolute, len(data), hashed, language)
            self.note(path, "note", reason, f"it is left out: {SKIP_REASONS[reason]}")
        self.skipped[reason] += 1
        return None

    def _read(self, path: str, absolute: str) -> tuple[str, bytes]:
        """Return ("", content) of a file to index, or (reason, b"") to skip it.

        A diagnostic is added if a person would expect the file in the index.
        """
        if not path.isascii() and not _is_utf8_name(path):
            self.note(path, "warning", "name", "its name is not valid UTF-8; rename it to have it indexed")
            return "name", b""
        try:
            read = read_regular(absolute, self.options.max_file_bytes)
        except FileNotFoundError:
            return "absent", b""
        except OSError as error:
            if os.path.islink(absolute):
                return self._link_reason(path, absolute), b""
            unless_refused(error, f"reading {path}", absolute)
            self.note(path, "warning", "unreadable", f"it could not be read: {error.strerror}")
            return "unreadable", b""
        if isinstance(read, str):
            return read, b""
        if isinstance(read, int):
            self.note(path, "note", "too_large", f"it has {read:,} bytes; the limit is {self.options.max_file_bytes:,}")
            return "too_large", b""
        return ("binary", b"") if b"\0" in read and not is_marked_wide(read) else ("", read)

    def _keeps(self, path: str, reason: str) -> bool:
        """Whether a file is indexed although a rule gives a `reason` to skip it.

        A `!` pattern of an ignore file can require this for any reason except "binary". The option `include_generated` requires it for
        generated and minified files.
        """
        if reason == "binary":
            return False
        return self.rules.decide(path) is False or (self.options.include_generated and reason in ("generated", "minified"))

    def _link_reason(self, path: str, absolute: str) -> str:
        try:
            target = os.path.realpath(absolute, strict=True)
        except OSError:
            self.note(path, "note", "symlink", "it is a link that leads to itself or nowhere")
            return "symlink_loop"
        if target == self.root or target.startswith(self.root + os.sep):
            return "symlink"
        self.note(path, "note", "symlink", "it is a link that leaves the root; it is not followed")
        return "symlink_outside"


def _is_utf8_name(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
