"""Open the projects of a server on demand, and close those that are idle.

Each project is a directory below the server's directory. The project's directory holds the texts of the pushed files, and the index in
`.graphmem`.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

from graphmem.errors import BadInputError
from graphmem.project.hosted.branches import Branches, BranchId, BranchKey
from graphmem.project.hosted.receiving import FILE as PUSHED
from graphmem.project.team.sharing import choose_key, kept_key
from graphmem.runtime.network.pushes import PROJECT_NAME
from graphmem.runtime.process.limits import disk_refusal
from graphmem.server.keeper import OF_BRANCHES, Keeper
from graphmem.server.peers import Peers

if TYPE_CHECKING:
    from graphmem.project.graphmem import GraphMem
    from graphmem.server.owner import Owner
    from graphmem.settings import Settings

INDEX: Final = ".graphmem"
MOST_OPEN: Final = 16  # projects; more are open only while all of these are in use
BETWEEN: Final = "\n"  # of the parts of a key; no name contains it
IDLE_S: Final = 600.0  # without a request, after which a project is closed

_log = logging.getLogger(__name__)


@dataclass(eq=False)
class _Held:
    """An open project or branch, with the number of requests that use it now."""

    service: GraphMem
    close: Callable[[], None]
    users: int = 0
    last: float = field(default_factory=time.monotonic)
    keeper: Keeper | None = None

    def idle_seconds(self) -> float:
        return time.monotonic() - self.last


class Hosting:
    """The projects of one server. Thread-safe.

    Args:
        folder: the server's directory.
        settings: settings of every project.
        most_open: maximum number of open projects. It is exceeded if requests use all open projects and another project is needed.
        idle_s: seconds without a request, after which a project is closed.
    """

    def __init__(self, folder: Path, settings: Settings, most_open: int = MOST_OPEN, idle_s: float = IDLE_S) -> None:
        self.folder, self.peers = folder, Peers(folder)
        self._settings = replace(settings, db="", home=False, seeds=False, git_history=False, git_lessons=False, projects=str(folder))
        self._most_open, self.idle_s = most_open, idle_s
        self._lock = threading.Lock()  # of the two tables below
        self._open: dict[str, _Held] = {}
        self._turns: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()  # one opens or closes a project; only used locks
        self._closed = False
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise disk_refusal(error, "creating the directory of the server's projects", folder) from error

    def names(self) -> list[str]:
        """Return the names of the projects, sorted."""
        return sorted(one.name for one in self.folder.iterdir() if PROJECT_NAME.fullmatch(one.name) and (one / INDEX).is_dir())

    def exists(self, name: str) -> bool:
        """Whether the server has a project of this name."""
        return bool(PROJECT_NAME.fullmatch(name)) and (self.folder / name / INDEX).is_dir()

    def is_open(self, name: str) -> bool:
        """Whether the index of a project is open now."""
        return name in self._open

    def elsewhere(self, name: str) -> Owner | None:
        """Return the other server that has a project open; None without one."""
        return None if self.is_open(name) else self.peers.holding(self.data_dir(name))

    def data_dir(self, name: str) -> Path:
        """Return the index directory of a project."""
        return self.folder / name / INDEX

    def facts(self, name: str) -> dict[str, Any]:
        """Return facts about the newest push of a project; empty without one.

        The facts are the counter of changes, the time of the index run, and the numbers of files and symbols.
        """
        try:
            found: dict[str, Any] = json.loads((self.data_dir(name) / PUSHED).read_bytes())
        except (OSError, ValueError):
            return {}
        return {**found["facts"], "generation": found["generation"]} if "facts" in found else {}  # its first push did not finish

    @property
    def branch_days(self) -> int:
        """Days after which a branch that is not pushed again is deleted."""
        return self._settings.branch_days

    def make(self, name: str, key: str) -> None:
        """Create the directory of a new project.

        Args:
            name: name of the project.
            key: key of the project in the team's database; "" for a random one.

        Raises:
            BadInputError: the name is invalid.
            DiskFullError: the directory cannot be created.
        """
        if not PROJECT_NAME.fullmatch(name):
            raise BadInputError(
                f"invalid project name {name[:80]!r}; use up to 63 lower-case letters, digits, dots, underscores or hyphens",
                argument="project",
            )
        data_dir = self.data_dir(name)
        try:
            data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
            if key and not kept_key(data_dir):
                choose_key(data_dir, None, key)
        except OSError as error:
            raise disk_refusal(error, "creating a project", data_dir) from error

    @contextmanager
    def using(self, name: str) -> Iterator[GraphMem]:
        """Open a project if necessary, and keep it open inside the block.

        Raises:
            BadInputError: the project does not exist, or the server is stopping.
            GraphMemError: the index cannot be opened.
        """
        service = self.acquire(name)
        try:
            yield service
        finally:
            self.release(name)

    def acquire(self, name: str, branch: BranchId | None = None) -> GraphMem:
        """Open a project if necessary, and keep it open until `release`.

        With `branch`, this branch of the project is opened, too, and the service of the branch is returned.
        """
        if not self.exists(name):
            raise BadInputError(f"unknown project {name[:80]!r}; `graphmem projects` lists them", argument="project", value=name[:80])
        if branch is None:
            return self._acquire(name, partial(self._opened, name))
        main = self.acquire(name)
        try:
            return self._acquire(_full(name, branch), partial(self._opened_branch, name, branch, main))
        finally:
            self.release(name)

    def _acquire(self, name: str, opened: Callable[[], _Held]) -> GraphMem:
        with self._turn(name):
            held = self._open.get(name)
            if held is None:
                self._make_room()
                held = opened()
            with self._lock:
                held.users += 1
                held.last = time.monotonic()
            return held.service

    def release(self, name: str, branch: BranchId | None = None) -> None:
        """End a use that `acquire` began, so that the project can be closed."""
        with self._lock:
            held = self._open.get(_full(name, branch))
            if held is not None:  # otherwise the server closed it meanwhile
                held.users -= 1
                held.last = time.monotonic()

    @contextmanager
    def branches(self, name: str) -> Iterator[Branches]:
        """Yield the stored branches of a project for a `with` block.

        If the file of the branches is damaged, the project is opened first, which quarantines the file. Otherwise the project is not
        opened.
        """
        with closing(Branches(self.data_dir(name))) as stored:
            try:
                stored.all()
            except BadInputError as error:
                _log.warning("%s; the project %s is opened to quarantine the file", error.message, name)
                with self.using(name):
                    pass
            yield stored

    def drop_expired(self, name: str) -> list[BranchKey]:
        """Delete a project's branches that were not pushed again in time.

        The property `branch_days` has the number of days. Returns the deleted branches. If the project is closed, it is opened only if it
        has a branch to delete. A project that another server has open is left to that server.
        """
        if self.elsewhere(name) is not None:
            return []
        with self.branches(name) as stored:
            if not stored.expired(self.branch_days):
                return []
        with self.using(name) as service:
            return service.parts.receiving.drop_expired(self.branch_days)

    def touch(self, name: str, branch: BranchId | None = None) -> None:
        """Record a request for an open project, so that it does not count as idle."""
        held = self._open.get(_full(name, branch))
        if held is not None:
            held.last = time.monotonic()

    def close_idle(self) -> list[str]:
        """Close projects that had no request for a while; return their names.

        The time is `idle_s` of the constructor.
        """
        with self._lock:
            idle = [name for name, one in self._open.items() if not one.users and one.idle_seconds() >= self.idle_s]
        return [name for name in idle if self._close(name)]

    def close(self) -> None:
        """Close the indexes of all open projects. Idempotent."""
        self.peers.leave()
        with self._lock:
            self._closed = True
            names = sorted(self._open, key=lambda name: BETWEEN not in name)  # branches before their main branches
        for name in names:
            self._close(name, always=True)

    # ---- inside

    def _turn(self, name: str) -> threading.Lock:
        with self._lock:
            return self._turns.setdefault(name, threading.Lock())

    def _opened(self, name: str) -> _Held:
        from graphmem.project.graphmem import GraphMem

        if self._closed:
            raise _stopping()
        service = GraphMem.open(db=self.data_dir(name), settings=self._settings, patience_s=0)
        service.parts.overlays.clean()
        held = _Held(service, service.close)
        held.keeper = Keeper(service, held.idle_seconds)
        self._add(name, held)
        held.keeper.start()
        service.fill_vectors()
        return held

    def _opened_branch(self, name: str, branch: BranchId, main: GraphMem) -> _Held:
        """Open a branch, and keep the project itself open until the branch closes.

        `main` is the open project, from which the branch differs.
        """
        from graphmem.project.opening_branches import open_branch

        service, close_branch = open_branch(main.parts, branch.key, replace(self._settings, store=""))

        def close() -> None:
            try:
                close_branch()
            finally:
                self.release(name)

        self.acquire(name)
        held = _Held(service, close)
        held.keeper = Keeper(service, held.idle_seconds, OF_BRANCHES)
        self._add(_full(name, branch), held)
        held.keeper.start()
        service.fill_vectors()
        return held

    def _add(self, name: str, held: _Held) -> None:
        with self._lock:
            refused = self._closed  # while the index was opened
            if not refused:
                self._open[name] = held
        if refused:
            held.close()
            raise _stopping()

    def _make_room(self) -> None:
        """Close unused projects until one more may be opened.

        The constructor's `most_open` limits the number of open projects. The least recently used project is closed first.
        """
        with self._lock:
            free = sorted((one.last, name) for name, one in self._open.items() if not one.users)
            excess = len(self._open) + 1 - self._most_open
        for _, name in free[: max(0, excess)]:
            self._close(name)

    def _close(self, name: str, *, always: bool = False) -> bool:
        with self._turn(name):
            with self._lock:
                held = self._open.get(name)
                if held is None or (held.users and not always):
                    return False
                del self._open[name]
            if held.keeper is not None:
                held.keeper.stop()
            held.close()
            return True


def _full(name: str, branch: BranchId | None) -> str:
    """Return the key of an open project or branch in `Hosting`'s table."""
    return name if branch is None else BETWEEN.join((name, *branch))


def _stopping() -> BadInputError:
    return BadInputError("the server is shutting down; try again when it has restarted", argument="project")
