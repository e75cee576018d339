"""Follow a served tree: mark changed files as stale, then index them.

One thread listens and marks changed files. Another thread waits until nothing has happened for half a second, then indexes all pending
changes in one run. So a branch switch or a rebase causes only one run. After an edit of one or two files, the wait is shorter. Some editors
save a file by writing a new file and renaming it; this counts as one edit. Only folders that can hold indexable files are watched.
"""
# os.path on plain strings, as in discovery.
# ruff: noqa: PTH110, PTH112, PTH114, PTH116, PTH118

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from graphmem.errors import GraphMemError, RepositoryError
from graphmem.indexing import git
from graphmem.parsing.discovery import folders
from graphmem.parsing.ignore import DiscoveryOptions, file_reason
from graphmem.parsing.language import language_of_path
from graphmem.runtime.process.faults import unraised

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

QUIET_S: Final = 0.5  # seconds without an event before a run
EDIT_QUIET_S: Final = 0.05  # the same for an edit of one or two files, after the 0.05 s without events that end a group of them
EDIT_FILES: Final = 2
REBASE_S: Final = 2.0  # the same during a rebase
LONGEST_S: Final = 5.0  # seconds of continuous events before a run starts regardless
GIT_BUSY_S: Final = 30.0  # maximum seconds to wait for git's lock
RETRY_S: Final = 30.0  # seconds to wait after a failed run
POLL_MS: Final = 2_000  # between polls, where the system reports no changes
FEW: Final = 64  # maximum files whose content is compared before they are marked stale
_GROUP_MS: Final = 100  # maximum length of a group of events
_STEP_MS: Final = 50
_WAKE_MS: Final = 200
_DECIDES: Final = frozenset({".gitignore", ".graphmemignore", ".gitmodules", "pyvenv.cfg"})  # files that decide which folders are watched

_log = logging.getLogger(__name__)


class Host(Protocol):
    """Interface of an index to which a watcher of files reports changes."""

    def is_current(self, path: str) -> bool:
        """Whether the index and the file at `path` have the same content.

        If neither the index nor the project has the file, the result is True.
        """

    def indexed_folders(self) -> set[str]:
        """Return the paths of the folders that contain indexed files.

        The paths start at the root and use '/'; "" is the root itself.
        """

    def mark_stale(self, paths: Collection[str]) -> None:
        """Report the given files as changed since they were indexed."""

    def mark_current(self, paths: Collection[str]) -> None:
        """Stop reporting the given files as changed; reverses `mark_stale`."""

    def follow(self, paths: Collection[str] | None) -> None:
        """Bring the index up to date with given files, or with all files.

        `paths` are the changed files; None stands for all files.

        Raises:
            GraphMemError: the run failed; the index is unchanged.
        """


def _notifier(watched: list[str], poll: bool) -> RustNotify:
    from watchfiles._rust_notify import RustNotify

    return RustNotify(watched, False, poll, POLL_MS, False, True)


class Watcher:
    """Watches a tree of files and reports changes, from `start` to `stop`.

    Args:
        root: the root directory, as a path without symbolic links.
        options: rules for skipping files, as for discovery.
        host: receives the changes.
        notifier: called with a list of folders and a flag. Returns an object that reports changes in these folders, by polling if the flag
            is true.

    Attributes:
        note: one sentence about a fault; "" when all works.
    """

    def __init__(
        self, root: Path, options: DiscoveryOptions, host: Host, notifier: Callable[[list[str], bool], RustNotify] = _notifier
    ) -> None:
        self.note = ""
        self._root = str(root)
        self._options = options
        self._host = host
        self._notifier = notifier
        self._stopping = threading.Event()
        self._moved = threading.Event()  # set when other folders must be watched
        self._news = threading.Condition()
        self._pending: set[str] = set()
        self._is_whole = False  # a change that needs a comparison of the whole tree
        self._first = self._last = 0.0  # times of the pending events
        self._folders: set[str] = set()
        self._polls = False
        self._git = _git_folder(root)
        self._forced = self._forced_files()
        self._threads = [
            threading.Thread(target=self._guarded, args=(work,), name=f"graphmem-watch-{name}", daemon=True)
            for name, work in (("listen", self._listen), ("index", self._index))
        ]

    def start(self) -> None:
        """Start watching; every change after the return is noticed."""
        try:
            for thread in self._threads:
                thread.start()
        except RuntimeError:  # the system refuses a second thread
            self.stop()
            raise

    def stop(self) -> None:
        """Stop watching after the current index run."""
        self._stopping.set()
        with self._news:
            self._news.notify_all()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

    def _guarded(self, work: Callable[[], None]) -> None:
        """Run `work`, the function of one of the two watching threads.

        An error ends watching, with a note and a log entry.
        """
        try:
            work()
        except Exception as error:  # noqa: BLE001 - see above
            self.note = f"changes are no longer followed: {error}; restart graphmem serve, or run graphmem index"
            _log.exception("watching ended")
            self._stopping.set()
            with self._news:
                self._news.notify_all()

    # ---- listening

    def _listen(self) -> None:
        while not self._stopping.is_set():
            try:
                notifier = self._opened(self._watched())
                with notifier:
                    self._report(set(), is_whole=True)  # changes before this moment
                    self._listen_with(notifier)
            except FileNotFoundError:  # a folder was deleted during the listing
                continue
            except RepositoryError as error:  # the root was deleted and may come back
                self.note = f"changes are not followed: {error}"
                self._stopping.wait(POLL_MS / 1000)
            except Exception as error:  # noqa: BLE001 - no memory, no descriptors: they may come back, too
                self.note = f"changes are not followed: {unraised(error, 'listening for changes')}"
                self._stopping.wait(RETRY_S)

    def _watched(self) -> list[str]:
        """Return the folders to watch.

        A folder is watched if it holds indexed files, may hold indexable files, or is git's directory.
        """
        self._folders = self._absolute(folders(Path(self._root), self._options)) | self._absolute(self._host.indexed_folders())
        return sorted(self._folders | ({self._git} if self._git else set()))

    def _absolute(self, relative: Collection[str]) -> set[str]:
        """Convert folders, as paths from the root, to absolute ones that exist."""
        found = (os.path.join(self._root, folder) if folder else self._root for folder in relative)
        return {folder for folder in found if os.path.isdir(folder)}

    def _opened(self, watched: list[str]) -> RustNotify:
        if not self._polls:
            try:
                notifier = self._notifier(watched, False)
            except FileNotFoundError:
                raise
            except (OSError, RuntimeError) as error:
                self._polls = True
                self.note = (
                    f"the system refuses to watch {len(watched):,} folders ({error}), so files are polled every {POLL_MS // 1000} s; "
                    "raise fs.inotify.max_user_watches to have changes noticed at once"
                )
            else:
                self.note = ""
                return notifier
        return self._notifier(watched, True)

    def _listen_with(self, notifier: RustNotify) -> None:
        """Process file events until `stop`, or until the watched folders change."""
        is_moved = False
        self._moved.clear()
        while True:
            events = notifier.watch(_GROUP_MS, _STEP_MS, _WAKE_MS, self._stopping)
            if events == "timeout":
                if is_moved or self._moved.is_set():
                    return
            elif isinstance(events, str):
                return
            else:
                is_moved |= self._received({path for _, path in events})

    def _received(self, absolute: set[str]) -> bool:
        """Process the changed paths `absolute`; return whether folders changed.

        If they did, other folders must be watched from now on.
        """
        is_moved = False
        paths: set[str] = set()
        for path in absolute:
            folder, _, name = path.rpartition(os.sep)
            if folder == self._git:
                self._received_of_git(name)
            elif path in self._folders or name in _DECIDES or (os.path.isdir(path) and not os.path.islink(path)):
                is_moved = True
            elif not file_reason(inner := path[len(self._root) + 1 :]):
                paths.add(inner)
        if is_moved:
            self._report(set(), is_whole=True)
        if 0 < len(paths) <= FEW:
            paths = {path for path in paths if not self._host.is_current(path)}
        if paths:
            self._host.mark_stale({path for path in paths if language_of_path(path)})
            self._report(paths, is_whole=False)
        return is_moved

    def _received_of_git(self, name: str) -> None:
        """Report a change if Git now tracks other files than before.

        `name` is the file that changed in Git's directory. Only the file `index` matters, because it lists the tracked files. A tracked
        file is indexed even if an ignore rule matches it, so the whole tree is scanned again.
        """
        if name == "index":
            forced = self._forced_files()
            if forced != self._forced:
                self._forced = forced
                self._report(set(), is_whole=True)

    def _forced_files(self) -> bytes:
        if not self._git:
            return b""
        try:
            return git.run(Path(self._root), "ls-files", "-z", "--cached", "--ignored", "--exclude-standard")
        except GraphMemError:
            return b""

    def _report(self, paths: set[str], *, is_whole: bool) -> None:
        with self._news:
            now = time.monotonic()
            if not self._pending and not self._is_whole:
                self._first = now
            self._last = now
            self._pending |= paths
            self._is_whole |= is_whole
            self._news.notify_all()

    def _quiet_s(self) -> float:
        """Return how many seconds must pass without a change before indexing."""
        if self._in_git("rebase-merge", "rebase-apply"):
            return REBASE_S
        if self._is_whole or len(self._pending) > EDIT_FILES:
            return QUIET_S
        # A file without content is probably being replaced or written.
        return EDIT_QUIET_S if all(_has_content(os.path.join(self._root, path)) for path in self._pending) else QUIET_S

    # ---- indexing

    def _index(self) -> None:
        while self._wait():
            with self._news:
                paths, is_whole = self._pending, self._is_whole
                self._pending, self._is_whole = set(), False
            try:
                if not is_whole and len(paths) <= FEW:
                    current = {path for path in paths if self._host.is_current(path)}
                    self._host.mark_current(current)
                    paths -= current
                    if not paths:
                        continue
                self._host.follow(None if is_whole else paths)
            except Exception as error:  # noqa: BLE001 - the note says which; it is tried again
                if self._stopping.is_set():
                    return
                self.note = f"the last change could not be indexed: {unraised(error, 'indexing a change')}"
                with self._news:
                    self._news.wait(RETRY_S)  # or until something else changes
                self._report(paths, is_whole=True)
            else:
                self.note = self.note if self._polls else ""
                if is_whole and not self._absolute(self._host.indexed_folders()) <= self._folders:
                    self._moved.set()  # git tracks files in a folder that its rules leave out

    def _wait(self) -> bool:
        """Wait until files have changed and no more changes arrive.

        If changes keep arriving, the wait ends after `LONGEST_S` seconds. Returns True if there are changes to index, and False after
        `stop`.
        """
        while not self._stopping.is_set():
            with self._news:
                if not self._pending and not self._is_whole:
                    self._news.wait()
                    continue
                now = time.monotonic()
                waited = now - self._first
                left = min(self._quiet_s() - (now - self._last), LONGEST_S - waited)
                if left <= 0 and (waited >= GIT_BUSY_S or not self._in_git("index.lock")):
                    return True
                self._news.wait(left if left > 0 else _STEP_MS / 1000)
        return False

    def _in_git(self, *names: str) -> bool:
        return bool(self._git) and any(os.path.exists(os.path.join(self._git, name)) for name in names)


class Following:
    """Watches a project's files from `start` to `stop`, and indexes changes."""

    def __init__(self) -> None:
        self.watcher: Watcher | None = None

    @property
    def note(self) -> str:
        """Sentence about a fault of watching; "" if there is none.

        The result is also "" while the files are not watched.
        """
        return self.watcher.note if self.watcher is not None else ""

    def start(self, root: Callable[[], Path], options: DiscoveryOptions, host: Host) -> None:
        """Begin to follow changes of the project's files, and index them."""
        if self.watcher is None:
            watcher = Watcher(root(), options, host)
            watcher.start()
            self.watcher = watcher

    def stop(self) -> None:
        """Stop watching after the current index run."""
        if self.watcher is not None:
            self.watcher.stop()


def _has_content(path: str) -> bool:
    try:
        return os.stat(path).st_size > 0
    except OSError:
        return False


def _git_folder(root: Path) -> str:
    """Return the git directory of a working tree; "" outside of git."""
    try:
        return os.fsdecode(git.run(root, "rev-parse", "--absolute-git-dir").rstrip(b"\n"))
    except GraphMemError:
        return ""
