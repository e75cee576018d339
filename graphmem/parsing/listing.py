"""List the paths of a directory tree, from git or from a walk.

The list from git and the list from a walk follow the same ignore rules.
"""
# os.path on plain strings: pathlib would double the time of a run.
# ruff: noqa: PTH110, PTH113, PTH116, PTH118, PTH123

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from graphmem.errors import GitError
from graphmem.model import Diagnostic, Severity
from graphmem.parsing.encoding import to_utf8
from graphmem.parsing.ignore import GIT_IGNORE, GRAPHMEM_IGNORE, DiscoveryOptions, IgnoreRules, folder_reason
from graphmem.runtime import git as _git
from graphmem.runtime.process.limits import unless_refused
from graphmem.runtime.texts.lines import lines_of

GIT_S: Final = 600.0  # timeout of the file list, which git may read from a slow disk
_NOT_COUNTED: Final = frozenset({".git", ".graphmem"})  # people do not expect these in an index
# Git's message about an unreadable folder, in the requested language.
_CLOSED: Final = re.compile(r"^warning: could not open directory '(.+?)/?': (.+)$", re.MULTILINE)


class Listing:
    """Lists the paths of one directory tree, and counts the skipped ones.

    Args:
        root: the root directory, as a path without symbolic links.
        options: rules for skipping files.

    Attributes:
        skipped: for each reason, the number of skipped files, and of folders that a walk did not enter.
        diagnostics: skipped files that a person would expect in the index.
        rules: ignore files that were read so far.
    """

    def __init__(self, root: str, options: DiscoveryOptions) -> None:
        self.root = root
        self.options = options
        self.skipped: Counter[str] = Counter()
        self.diagnostics: list[Diagnostic] = []
        self.rules = IgnoreRules()
        self.rules.add("", options.exclude)
        self.virtual_environments: set[str] = set()
        self._behind_links: dict[str, bool] = {"": False}  # by folder

    def note(self, path: str, severity: Severity, code: str, message: str) -> None:
        """Add a diagnostic about a path, such as the path of a skipped file.

        `severity` is, for example, "note" or "error", and `code` the reason in one word.
        """
        printable = os.fsencode(path).decode("utf-8", "backslashreplace")
        self.diagnostics.append(Diagnostic(printable, severity, code, message, 0))

    # git's list

    def git_files(self, folder: str, only: Sequence[str] = ()) -> list[str] | None:
        """Return the paths that git lists below `folder`; None if git refuses.

        The paths are relative to the root of the tree. If `only` has paths, the list is limited to these.
        """
        where = os.path.join(self.root, folder) if folder else self.root
        listing = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", *only)
        try:
            answer = _git.answer(Path(where), listing, timeout_s=GIT_S)
            refused = f"git refused ({_git.reason(answer.stderr)})" if answer.returncode else ""
        except GitError as error:
            refused = error.message
        if refused:
            if os.path.exists(os.path.join(where, ".git")):
                self.note(folder, "note", "git", f"{refused}; the tree is walked by its .gitignore files instead")
            return None
        prefix = f"{folder}/" if folder else ""
        for closed, reason in _CLOSED.findall(os.fsdecode(answer.stderr)):  # git continues without it
            self.skipped["unreadable"] += 1
            self.note(prefix + closed, "warning", "unreadable", f"the folder could not be read: {reason}")
        return [prefix + os.fsdecode(name) for name in answer.stdout.split(b"\0") if name]

    def filtered(self, listed: list[str]) -> Iterator[str]:
        """Yield the paths of git's list that graphmem's own rules do not skip.

        The files of submodules and nested repositories are listed too.
        """
        for folder in sorted({path.rpartition("/")[0] for path in listed if path.endswith(GRAPHMEM_IGNORE)} | {""}):
            if not self._is_behind_link(folder):
                self._read_ignore_file(folder, GRAPHMEM_IGNORE)
        self.virtual_environments |= {path.rpartition("/")[0] for path in listed if path.endswith("/pyvenv.cfg")}
        verdicts: dict[str, str] = {"": ""}
        for path in listed:
            if path.endswith("/"):  # an untracked repository inside this one
                yield from self._nested(path.rstrip("/"), verdicts)
                continue
            if self._left_out(path, verdicts):
                continue
            if stat.S_ISDIR(self.mode(path)):  # a submodule
                yield from self._nested(path, verdicts)
            else:
                yield path

    def _left_out(self, path: str, verdicts: dict[str, str]) -> bool:
        decided = self.rules.decide_below(path)
        if decided:
            return True
        if self._is_behind_link(path.rpartition("/")[0]):
            self.skipped["absent"] += 1
            return True
        reason = "" if decided is False else self._folder_verdict(path.rpartition("/")[0], verdicts)
        if reason:
            self.skipped[reason] += 1
        return bool(reason)

    def _is_behind_link(self, folder: str) -> bool:
        """Whether `folder` or a folder above it is a symbolic link.

        git lists files of a tracked folder also after a link replaced the folder. For git, these files are deleted.
        """
        known = self._behind_links.get(folder)
        if known is None:
            known = self._is_behind_link(folder.rpartition("/")[0]) or stat.S_ISLNK(self.mode(folder))
            self._behind_links[folder] = known
        return known

    def _folder_verdict(self, folder: str, verdicts: dict[str, str]) -> str:
        """Return why `folder` or a folder above it is skipped; "" if none is.

        `verdicts` has earlier results, and receives the new ones.
        """
        verdict = verdicts.get(folder)
        if verdict is None:
            above, _, name = folder.rpartition("/")
            verdict = verdicts[folder] = self._folder_verdict(above, verdicts) or self._folder_reason(folder, name)
        return verdict

    def _folder_reason(self, folder: str, name: str) -> str:
        reason = "vendored" if folder in self.virtual_environments else folder_reason(name)
        if (reason == "vendored" and self.options.include_vendored) or (reason == "generated" and self.options.include_generated):
            return ""
        return reason

    def mode(self, path: str) -> int:
        """Return the file type and permission bits of a path, as in `st_mode`.

        The result is 0 if the path cannot be read. For a symbolic link, it describes the link and not its target.
        """
        try:
            return os.lstat(os.path.join(self.root, path)).st_mode
        except OSError:
            return 0  # the next reader reports the error

    def _text_or_empty(self, path: str) -> str:
        try:
            return Path(path).read_text(encoding="utf-8", errors="replace")
        except OSError:  # git reports it again, with the reason
            return ""

    def _nested(self, folder: str, verdicts: dict[str, str]) -> Iterator[str]:
        """Yield the files of the submodule or nested repository at `folder`.

        A linked worktree, or a submodule that is not checked out, yields nothing. `verdicts` caches the reasons to skip folders.
        """
        marker = os.path.join(self.root, folder, ".git")
        if not os.path.lexists(marker):
            if not self._left_out(folder + "/", verdicts):
                self.skipped["absent"] += 1
                self.note(
                    folder, "note", "submodule", "the submodule is not checked out; run git submodule update --init to have it indexed"
                )
            return
        if os.path.isfile(marker) and "/worktrees/" in self._text_or_empty(marker):
            self.skipped["worktree"] += 1
            return
        listed = self.git_files(folder)
        yield from self.walk(folder) if listed is None else self.filtered(listed)

    # the walk

    def _read_ignore_file(self, folder: str, name: str) -> None:
        path = os.path.join(self.root, folder, name)
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):  # a link to a device may have no end
                self.note(f"{folder}/{name}".lstrip("/"), "warning", "unreadable", "its rules are not applied: it is not a file")
                return
            with open(path, "rb") as file:
                lines = lines_of(to_utf8(file.read()).source.decode("utf-8"))
        except FileNotFoundError:
            return
        except OSError as error:
            unless_refused(error, f"reading {name}", path)
            self.note(f"{folder}/{name}".lstrip("/"), "warning", "unreadable", f"its rules are not applied: {error.strerror}")
            return
        for line in self.rules.add(folder, lines):
            self.note(f"{folder}/{name}".lstrip("/"), "warning", "pattern", f"this line is not used, as it is not a pattern: {line[:80]}")

    def walk(self, start: str, entered: list[str] | None = None) -> Iterator[str]:
        """Yield the paths of all files below `start` that the rules do not skip.

        Links are yielded, not followed. If `entered` is given, each folder that the walk enters is appended to it.
        """
        waiting = [start]  # an explicit stack: trees can be deeper than Python's
        while waiting:
            folder = waiting.pop()
            try:
                with os.scandir(os.path.join(self.root, folder)) as entries:
                    listed = list(entries)
            except OSError as error:
                unless_refused(error, f"listing {folder or self.root}", folder or self.root)
                self.skipped["unreadable"] += 1
                self.note(folder, "warning", "unreadable", f"the folder could not be read: {error.strerror}")
                continue
            names = {entry.name for entry in listed}
            if "pyvenv.cfg" in names and folder and not self.options.include_vendored:
                self.skipped["vendored"] += 1
                continue
            if entered is not None:
                entered.append(folder)
            for name in (GIT_IGNORE, GRAPHMEM_IGNORE):
                if name in names:
                    self._read_ignore_file(folder, name)
            prefix = f"{folder}/" if folder else ""
            for entry in listed:
                path = prefix + entry.name
                if not entry.is_dir(follow_symlinks=False):
                    if not self.rules.decide(path):
                        yield path
                elif self._enters(path, entry.name):
                    waiting.append(path)

    def reached(self, paths: Iterable[str]) -> Iterator[str]:
        """Yield those of the given paths that `walk` would yield.

        Only the folders above these paths are examined, not the whole tree.
        """
        entered: dict[str, bool] = {}
        for path in paths:
            is_open = True
            for folder in folders_above(path):
                if is_open and folder not in entered:
                    entered[folder] = self._opens(folder.rstrip("/"))
                is_open = is_open and entered[folder]
            if is_open and not self.rules.decide(path) and not stat.S_ISDIR(self.mode(path)):
                yield path

    def _opens(self, folder: str) -> bool:
        """Whether `walk` enters `folder`, given that it enters the parent folder.

        If so, the ignore files of `folder` are read.
        """
        absolute = os.path.join(self.root, folder)
        if folder:
            environment = not self.options.include_vendored and os.path.lexists(os.path.join(absolute, "pyvenv.cfg"))
            if environment or not stat.S_ISDIR(self.mode(folder)) or not self._enters(folder, folder.rpartition("/")[2]):
                return False
        for name in (GIT_IGNORE, GRAPHMEM_IGNORE):
            self._read_ignore_file(folder, name)
        return True

    def _enters(self, path: str, name: str) -> bool:
        decided = self.rules.decide(path + "/")
        if decided is None and (reason := self._folder_reason(path, name)):
            self.skipped[reason] += name not in _NOT_COUNTED
            return False
        return not decided


def folders_above(path: str) -> Iterator[str]:
    """Yield the folders above a path, outermost first.

    The first is the root, "". The others end in '/'.
    """
    yield ""
    position = path.find("/")
    while position >= 0:
        yield path[: position + 1]
        position = path.find("/", position + 1)
