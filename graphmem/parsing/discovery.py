"""First stage: which files of a tree are indexed, and why the others are not.

In a git repository the list is git's own (tracked, and untracked but not ignored); elsewhere, or
where git refuses, it is a walk by the same ignore rules. Every file that stays is read once, for its
content hash; a file that is left out is counted under its reason, and named in a diagnostic when a
person would miss it.
"""
# os.path on plain strings: pathlib would double the time of a run.
# ruff: noqa: PTH110, PTH113, PTH114, PTH118, PTH123

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

from graphmem.errors import IndexCancelledError, RepositoryError
from graphmem.model import Diagnostic
from graphmem.parsing.contents import language_of_script, made_by_machine, read_regular
from graphmem.parsing.encoding import is_marked_wide, to_utf8
from graphmem.parsing.ignore import GIT_IGNORE, GRAPHMEM_IGNORE, IgnoreRules, file_reason, folder_reason
from graphmem.parsing.language import language_of_path

# How a walk or git's list ends up not containing a file; each is a key of `Discovery.skipped`.
SKIP_REASONS: Final = {
    "absent": "tracked by git but not in the working tree",
    "binary": "not text",
    "cache": "kept by a tool (folders count once)",
    "generated": "written by a program and marked so, or a lock file",
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
# What git says of a folder it may not read, in the language it is asked to speak.
_CLOSED: Final = re.compile(r"^warning: could not open directory '(.+?)/?': (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class DiscoveryOptions:
    """What to leave out.

    Attributes:
        max_file_bytes: larger files are skipped; > 0.
        include_vendored: index folders such as `vendor` and `node_modules` too.
        include_generated: index generated and minified files too.
        exclude: further patterns in gitignore's language, counted from the root.
        use_git: ask git for the list where the root lies in a repository.
    """

    max_file_bytes: int = 1 << 20
    include_vendored: bool = False
    include_generated: bool = False
    exclude: tuple[str, ...] = ()
    use_git: bool = True


class FoundFile(NamedTuple):
    """A file to index."""

    path: str  # from the root, with '/'
    absolute: str
    size_bytes: int
    content_hash: str  # blake2b-128 of the bytes, hex
    language: str  # folder in grammars/, or "text"


class Discovery(NamedTuple):
    """What a look at the tree gave."""

    files: list[FoundFile]  # sorted by path
    skipped: dict[str, int]  # reason → files (or folders where a walk stopped), sorted by reason
    diagnostics: list[Diagnostic]  # sorted by path
    by_git: bool  # git made the list; else it was a walk


def content_hash(data: bytes) -> str:
    """blake2b-128 of the bytes, hex: what tells whether a file changed."""
    return blake2b(data, digest_size=_HASH_SIZE).hexdigest()


def discover(root: Path, options: DiscoveryOptions | None = None, cancelled: Callable[[], bool] | None = None) -> Discovery:
    """The files below a folder that are worth indexing.

    Args:
        root: a folder; it may be a repository, lie inside a larger one, or be none at all.
        options: what to leave out.
        cancelled: asked every few hundred files.

    Raises:
        RepositoryError: the path does not exist, is no folder, cannot be read, or holds nothing to index.
        IndexCancelledError: `cancelled` said so.
    """
    return _Search(_checked_root(root), options or DiscoveryOptions(), cancelled).run()


def discover_some(root: Path, paths: Collection[str], options: DiscoveryOptions | None = None, *, by_git: bool) -> Discovery | None:
    """What `discover` would say of a few files, looking at nothing else of the tree.

    Args:
        root: the folder `discover` was given.
        paths: of files, from the root with '/'; those that are not there, or are left out, are not in the answer.
        options: those `discover` was given.
        by_git: whether git made its list.

    Returns:
        Files, skipped and diagnostics of these paths alone; None when only a look at the whole tree can tell,
        because a repository lies inside this one or git does not answer.

    Raises:
        RepositoryError: the root is gone or cannot be read.
    """
    return _Search(_checked_root(root), options or DiscoveryOptions(), None).run_some(sorted(set(paths)), by_git)


def folders(root: Path, options: DiscoveryOptions | None = None) -> list[str]:
    """Every folder in which a file that appears could be worth indexing, by the ignore files on the way; "" is the root.

    A folder that is ignored is left out, even where git tracks some file in it.

    Raises:
        RepositoryError: the root is gone or cannot be read.
    """
    return _Search(_checked_root(root), options or DiscoveryOptions(), None).folders()


def _checked_root(root: Path) -> str:
    if not root.exists():
        raise RepositoryError(f"{root} does not exist; name the folder of a repository", path=str(root))
    if not root.is_dir():
        raise RepositoryError(f"{root} is not a folder; name the folder of a repository", path=str(root))
    if not os.access(root, os.R_OK | os.X_OK):
        raise RepositoryError(f"{root} cannot be read; check its permissions", path=str(root))
    return str(root.resolve())


class _Search:
    """One run over one tree."""

    def __init__(self, root: str, options: DiscoveryOptions, cancelled: Callable[[], bool] | None) -> None:
        self.root = root
        self.options = options
        self.cancelled = cancelled
        self.skipped: Counter[str] = Counter()
        self.diagnostics: list[Diagnostic] = []
        self.rules = IgnoreRules()
        self.virtual_environments: set[str] = set()

    def run(self) -> Discovery:
        self.rules.add("", self.options.exclude)
        listed = self._git_files("") if self.options.use_git else None
        # An empty list is no answer of git's: the root may be a folder the repository around it ignores.
        paths = self._filtered(listed) if listed else self._walk("")
        files: list[FoundFile] = []
        for number, path in enumerate(paths):
            if self.cancelled is not None and number % 256 == 0 and self.cancelled():
                raise IndexCancelledError("The run was interrupted; nothing has changed", stage="discover")
            found = self._examined(path)
            if found is not None:
                files.append(found)
        if not files:
            left_out = ", ".join(f"{count} {reason}" for reason, count in sorted(self.skipped.items()))
            reasons = f" (left out: {left_out})" if left_out else ""
            raise RepositoryError(
                f"There is nothing to index in {self.root}{reasons}; name a folder with source files",
                path=self.root,
                skipped=dict(self.skipped),
            )
        return self._discovery(files, by_git=bool(listed))

    def run_some(self, paths: list[str], by_git: bool) -> Discovery | None:
        self.rules.add("", self.options.exclude)
        if not by_git:
            return self._discovery(filter(None, map(self._examined, self._reached(paths))), by_git=False)
        # With them come the files on the way that say what is left out: git knows whether they count.
        folders = {folder for path in paths for folder in _folders_above(path)}
        if any(os.path.lexists(os.path.join(self.root, folder, ".git")) for folder in folders if folder):
            return None
        marks = {folder + name for folder in folders for name in (GRAPHMEM_IGNORE, "pyvenv.cfg")}
        listed = self._git_files("", [*paths, *sorted(marks)])
        if listed is None:
            return None
        wanted = set(paths)
        kept = [path for path in self._filtered(listed) if path in wanted]
        return self._discovery(filter(None, map(self._examined, kept)), by_git=True)

    def folders(self) -> list[str]:
        self.rules.add("", self.options.exclude)
        entered: list[str] = []
        for _ in self._walk("", entered):
            pass
        return sorted(entered)

    def _discovery(self, files: Iterable[FoundFile], *, by_git: bool) -> Discovery:
        return Discovery(sorted(files), dict(sorted(self.skipped.items())), sorted(self.diagnostics), by_git)

    def _note(self, path: str, severity: str, code: str, message: str) -> None:
        printable = path.encode("utf-8", "backslashreplace").decode("utf-8")
        self.diagnostics.append(Diagnostic(printable, severity, code, message, 0))

    # git's list

    def _git_files(self, folder: str, only: Sequence[str] = ()) -> list[str] | None:
        """Paths git names below a folder of the root, from the root, all or `only` these; None where git has no answer."""
        where = os.path.join(self.root, folder) if folder else self.root
        # Run as part of a hook, these variables would point git at another repository.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {"LC_ALL": "C"}
        command = ["git", "--literal-pathspecs", "-c", "core.fsmonitor=false", "ls-files"]
        command += ["-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", *only]
        try:
            answer = subprocess.run(command, cwd=where, env=environment, capture_output=True, check=False)
        except FileNotFoundError:
            if os.path.exists(os.path.join(where, ".git")):
                self._note(folder, "note", "git", "git is not installed; the tree is walked by its .gitignore files instead")
            return None
        if answer.returncode != 0:
            if os.path.exists(os.path.join(where, ".git")):
                reason = os.fsdecode(answer.stderr).strip().partition("\n")[0]
                self._note(folder, "note", "git", f"git refused ({reason}); the tree is walked by its .gitignore files instead")
            return None
        prefix = f"{folder}/" if folder else ""
        for closed, reason in _CLOSED.findall(os.fsdecode(answer.stderr)):  # git goes on without it
            self.skipped["unreadable"] += 1
            self._note(prefix + closed, "warning", "unreadable", f"the folder could not be read: {reason}")
        return [prefix + os.fsdecode(name) for name in answer.stdout.split(b"\0") if name]

    def _filtered(self, listed: list[str]) -> Iterator[str]:
        """What git lists without what our own rules leave out; submodules and nested repositories opened."""
        for folder in sorted({path.rpartition("/")[0] for path in listed if path.endswith(GRAPHMEM_IGNORE)} | {""}):
            self._read_ignore_file(folder, GRAPHMEM_IGNORE)
        self.virtual_environments |= {path.rpartition("/")[0] for path in listed if path.endswith("/pyvenv.cfg")}
        verdicts: dict[str, str] = {"": ""}
        for path in listed:
            if path.endswith("/"):  # an untracked repository inside this one
                yield from self._nested(path.rstrip("/"), verdicts)
                continue
            if self._left_out(path, verdicts):
                continue
            if file_reason(path.rpartition("/")[2]) == "" and stat.S_ISDIR(self._mode(path)):  # a submodule
                yield from self._nested(path, verdicts)
            else:
                yield path

    def _left_out(self, path: str, verdicts: dict[str, str]) -> bool:
        decided = self.rules.decide_below(path)
        if decided:
            return True
        reason = "" if decided is False else self._folder_verdict(path.rpartition("/")[0], verdicts)
        if reason:
            self.skipped[reason] += 1
        return bool(reason)

    def _folder_verdict(self, folder: str, verdicts: dict[str, str]) -> str:
        """Why everything in a folder is left out, looking at every part of its path; "" when it is not."""
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

    def _mode(self, path: str) -> int:
        try:
            return os.lstat(os.path.join(self.root, path)).st_mode
        except OSError:
            return 0  # whoever reads it next says what is wrong with it

    def _nested(self, folder: str, verdicts: dict[str, str]) -> Iterator[str]:
        """The files of a submodule or of a repository lying inside this one."""
        marker = os.path.join(self.root, folder, ".git")
        if not os.path.lexists(marker):
            if not self._left_out(folder + "/", verdicts):
                self.skipped["absent"] += 1
                self._note(
                    folder, "note", "submodule", "the submodule is not checked out; run git submodule update --init to have it indexed"
                )
            return
        if os.path.isfile(marker) and "/worktrees/" in Path(marker).read_text(encoding="utf-8", errors="replace"):
            self.skipped["worktree"] += 1
            return
        listed = self._git_files(folder)
        yield from self._walk(folder) if listed is None else self._filtered(listed)

    # the walk

    def _read_ignore_file(self, folder: str, name: str) -> None:
        path = os.path.join(self.root, folder, name)
        try:
            with open(path, "rb") as file:
                lines = to_utf8(file.read()).source.decode("utf-8").splitlines()
        except FileNotFoundError:
            return
        except OSError as error:
            self._note(f"{folder}/{name}".lstrip("/"), "warning", "unreadable", f"its rules are not applied: {error.strerror}")
            return
        self.rules.add(folder, lines)

    def _walk(self, start: str, entered: list[str] | None = None) -> Iterator[str]:
        """Paths below a folder by the ignore files on the way; links are handed out, not followed.

        Folders are appended to `entered`, when it is given.
        """
        waiting = [start]  # a list of its own: trees can be deeper than Python's stack
        while waiting:
            folder = waiting.pop()
            try:
                with os.scandir(os.path.join(self.root, folder)) as entries:
                    listed = list(entries)
            except OSError as error:
                self.skipped["unreadable"] += 1
                self._note(folder, "warning", "unreadable", f"the folder could not be read: {error.strerror}")
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

    def _reached(self, paths: Iterable[str]) -> Iterator[str]:
        """Those of the paths that `_walk` would come to."""
        entered: dict[str, bool] = {}
        for path in paths:
            is_open = True
            for folder in _folders_above(path):
                if is_open and folder not in entered:
                    entered[folder] = self._opens(folder.rstrip("/"))
                is_open = is_open and entered[folder]
            if is_open and not self.rules.decide(path) and not stat.S_ISDIR(self._mode(path)):
                yield path

    def _opens(self, folder: str) -> bool:
        """Whether `_walk` enters a folder whose parent it entered; its ignore files count from now on."""
        absolute = os.path.join(self.root, folder)
        if folder:
            environment = not self.options.include_vendored and os.path.lexists(os.path.join(absolute, "pyvenv.cfg"))
            if environment or not stat.S_ISDIR(self._mode(folder)) or not self._enters(folder, folder.rpartition("/")[2]):
                return False
        for name in (GIT_IGNORE, GRAPHMEM_IGNORE):
            self._read_ignore_file(folder, name)
        return True

    def _enters(self, path: str, name: str) -> bool:
        decided = self.rules.decide(path + "/")
        if decided is None and (reason := self._folder_reason(path, name)):
            self.skipped[reason] += name != ".git"
            return False
        return not decided

    # one file

    def _examined(self, path: str) -> FoundFile | None:
        """The file, or None after counting why it is left out."""
        name = path.rpartition("/")[2]
        reason = file_reason(name)
        if reason and not self._keeps(path, reason):
            self.skipped[reason] += 1
            return None
        absolute = os.path.join(self.root, path)
        reason, data = self._read(path, absolute)
        if not reason:
            language = language_of_path(path) or language_of_script(data) or "text"
            reason = made_by_machine(data, language, name)
            if not reason or self._keeps(path, reason):
                return FoundFile(path, absolute, len(data), content_hash(data), language)
            self._note(path, "note", reason, f"it is left out: {SKIP_REASONS[reason]}")
        self.skipped[reason] += 1
        return None

    def _read(self, path: str, absolute: str) -> tuple[str, bytes]:
        """("", bytes of the file), or a reason to leave it out, with a diagnostic where a person would miss it."""
        if not path.isascii() and not _is_utf8_name(path):
            self._note(path, "warning", "name", "its name is not valid UTF-8; rename it to have it indexed")
            return "name", b""
        try:
            read = read_regular(absolute, self.options.max_file_bytes)
        except FileNotFoundError:
            return "absent", b""
        except OSError as error:
            if os.path.islink(absolute):
                return self._link_reason(path, absolute), b""
            self._note(path, "warning", "unreadable", f"it could not be read: {error.strerror}")
            return "unreadable", b""
        if isinstance(read, str):
            return read, b""
        if isinstance(read, int):
            self._note(path, "note", "too_large", f"it has {read:,} bytes; the limit is {self.options.max_file_bytes:,}")
            return "too_large", b""
        return ("binary", b"") if b"\0" in read and not is_marked_wide(read) else ("", read)

    def _keeps(self, path: str, reason: str) -> bool:
        """True when an option or a `!` pattern takes the file in all the same."""
        if reason == "binary":
            return False
        return self.rules.decide(path) is False or (self.options.include_generated and reason in ("generated", "minified"))

    def _link_reason(self, path: str, absolute: str) -> str:
        try:
            target = os.path.realpath(absolute, strict=True)
        except OSError:
            self._note(path, "note", "symlink", "it is a link that leads to itself or nowhere")
            return "symlink_loop"
        if target == self.root or target.startswith(self.root + os.sep):
            return "symlink"
        self._note(path, "note", "symlink", "it is a link that leaves the root; it is not followed")
        return "symlink_outside"


def _folders_above(path: str) -> Iterator[str]:
    """The folders a path lies in, from the root, which is "", inwards; others end in '/'."""
    yield ""
    position = path.find("/")
    while position >= 0:
        yield path[: position + 1]
        position = path.find("/", position + 1)


def _is_utf8_name(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
