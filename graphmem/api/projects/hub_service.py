"""Operations on a whole server of several projects, such as listing them.

A project is opened at its first request, and only for callers with a right in it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from graphmem.answers.projects import ProjectsImpact, ProjectsSearch, ServedBranch, ServedProject, ServedProjects
from graphmem.api.app import PREFIX
from graphmem.errors import BadInputError, ForbiddenError, OwnerUnreachableError, StoreBusyError
from graphmem.project.graph.progress import Hub
from graphmem.project.hosted.branches import Branch, BranchId
from graphmem.project.hosted.overlays import login_of, unknown_branch
from graphmem.project.hosted.served import Askable, expect_known, impact_across, search_each
from graphmem.runtime.identity import index_id
from graphmem.runtime.network.pushes import address_of, project_and_branch
from graphmem.security.access import FULL, Access, caller
from graphmem.security.guarded import guarded
from graphmem.server.owner import refusal_if_stopped
from graphmem.server.peers import RETRY_S, Patience

if TYPE_CHECKING:
    from graphmem.answers import MemoryChange
    from graphmem.answers.injection import ContextReady
    from graphmem.answers.upkeep import Health
    from graphmem.model import IndexProgress
    from graphmem.server.hosting import Hosting
from graphmem.api.projects.hosted import HostedBranch
from graphmem.api.projects.rights import Rights

_Answer = TypeVar("_Answer")


Remote = Callable[[str, str], Any]
"""Returns the operations of a project on another server, from its address and a credential."""


class _Place(NamedTuple):
    """A project, or one of its branches, named like `shop@feature/x`."""

    project: str
    branch: BranchId | None


class HubService:
    """Operations on a whole server of several projects, such as listing them.

    An operation that needs a single project raises an error, which lists the projects.

    Args:
        hosting: opens the projects.
        rights: the permissions of each caller in each project.
        remote: returns the operations of a project that another server has open; its arguments are address and credential.
    """

    def __init__(self, hosting: Hosting, rights: Rights, remote: Remote) -> None:
        self.hosting, self.rights, self._remote = hosting, rights, remote
        self.index_id = index_id(hosting.folder)
        self.is_cleaned = True  # whether the newest check for idle projects succeeded
        self._begun = time.monotonic()
        self._progress: Hub[IndexProgress] = Hub(replay=True)
        self._memories: Hub[MemoryChange] = Hub()
        self._context: Hub[ContextReady] = Hub()
        self.subscribe_progress, self.subscribe_memories = self._progress.feed, self._memories.feed
        self.subscribe_context = self._context.feed

    def __getattr__(self, name: str) -> Any:
        """Return a function that raises an error, for any unknown operation.

        Operations on code must be sent to one project, so the error lists the projects of this server.
        """
        if name.startswith("_"):
            raise AttributeError(name)

        def refuse(*args: object, **kwargs: object) -> None:
            known = self.readable(caller())
            raise BadInputError(
                f"the request does not say which project of this server it is about; send it to {PREFIX}NAME, where NAME is one of "
                f"{', '.join(known[:20])}"
                if known
                else "this server has no project that you may read; run `graphmem push` in an indexed project",
                argument="project",
                projects=known,
            )

        return refuse

    @property
    def in_place(self) -> bool:
        """Whether the directory of all projects still has its original path."""
        return index_id(self.hosting.folder) == self.index_id

    def projects(self) -> ServedProjects:
        """List the projects that the caller may read."""
        found = []
        for name in self.readable(caller()):
            facts = self.hosting.facts(name)
            files, symbols, generation = (int(facts.get(one, 0)) for one in ("files", "symbols", "generation"))
            at = str(facts.get("indexed_at", ""))
            branches = self._branches(name, login_of(caller()))
            found.append(ServedProject(name, PREFIX + name, files, symbols, generation, at, self.hosting.is_open(name), branches))
        return ServedProjects(found)

    def search_projects(self, query: str, projects: Sequence[str] | None = None, limit: int = 10) -> ProjectsSearch:
        """Search several projects; see `ProjectsOperations.search_projects`."""
        with self._opened_projects(caller(), projects) as chosen:
            return search_each(query, chosen, limit, [])

    def impact_projects(self, target: str, in_project: str = "", max_depth: int = 3, limit: int = 50) -> ProjectsImpact:
        """Find code, in all projects, that a change of `target` could break."""
        if not in_project:
            raise BadInputError(
                "the request does not say which project contains the symbol; give the name of a project that `graphmem projects` lists",
                argument="in_project",
            )
        access = caller()
        known = self.readable(access)
        home = self._place(in_project, known, access)
        others = [name for name in known if name != home.project]  # the answer of a branch leaves out its main branch
        folders = {name: self.hosting.data_dir(name) for name in others}

        def here() -> ProjectsImpact:
            with self._using(home) as service, self._opened_projects(access, [in_project, *others]) as chosen:
                folders[in_project] = service.parts.data_dir
                return impact_across(target, in_project, chosen, folders, max_depth, limit)

        answer: ProjectsImpact = self._answer_of(
            home, access, lambda there: there.impact_projects(target, in_project, max_depth, limit), here
        )
        return answer

    def health(self) -> Health:
        """Return the health of the server, without that of its projects.

        The server is ready if it can read the directory of its projects.
        """
        from graphmem.answers.upkeep import Health, MemoryCost, Part, Searches
        from graphmem.runtime.process.heap import resident_bytes

        try:
            self.hosting.names()
        except OSError as error:
            unreadable = f"no project is found, because the directory of the projects cannot be read ({error.strerror or error})"
        else:
            unreadable = ""
        # The reason may name projects that the caller may not see, so only the log has it.
        unclosed = "" if self.is_cleaned else "idle projects are not closed; the log of the server has the reason"
        parts = [Part("projects", not unreadable, unreadable), Part("closing of idle projects", not unclosed, unclosed)]
        return Health(
            status="degraded" if unreadable or unclosed else "ok",
            ready=not unreadable,
            parts=parts,
            notes=[],
            rss_mb=round(resident_bytes() / 1e6, 1),
            uptime_s=round(time.monotonic() - self._begun, 1),
            queued_writes=0,
            wal_bytes=0,
            database_bytes=0,
            waste_bytes=0,
            last_backup="",
            searches=Searches(0, 0.0, 0.0, 0.0),
            cost=MemoryCost(0, 0, None, 0, None),
        )

    def close(self) -> None:
        """End the feeds of events, so that their subscriptions end."""
        for one in (self._progress, self._memories, self._context):
            one.close()

    # ---- inside

    def _branches(self, name: str, login: str) -> list[ServedBranch]:
        """List a project's branches that a person sees."""
        with self.hosting.branches(name) as stored:
            sizes = stored.sizes()
            return [self._served_branch(name, one, *sizes[one.key]) for one in stored.seen_by(login)]

    def _served_branch(self, project: str, one: Branch, files: int, size: int) -> ServedBranch:
        until = datetime.fromisoformat(one.pushed_at) + timedelta(days=self.hosting.branch_days)
        return ServedBranch(
            *(one.key.name, PREFIX + address_of(project, one.key.name), bool(one.key.person), one.pushed_by, one.pushed_at),
            *(until.isoformat(), one.commit_sha, files, size),
        )

    def readable(self, access: Access) -> list[str]:
        """Return the names of the projects that a caller may read, sorted."""
        return [name for name in self.hosting.names() if self._may(name, access) is not None]

    def _may(self, name: str, access: Access) -> Access | None:
        there = self.rights.access_to(name, access)
        return there if there is not None and there.may("read") else None

    @contextlib.contextmanager
    def _opened_projects(self, access: Access, projects: Sequence[str] | None) -> Iterator[dict[str, Askable]]:
        """Yield a mapping from names to projects, for use in a block.

        The mapping has the named `projects`, or without names all projects that the caller may read. A project is opened at its first use.

        Raises:
            BadInputError: a named project is unknown, or the caller may not read it.
        """
        known = self.readable(access)
        yield {name: self._askable(self._place(name, known, access), access) for name in projects or known}

    def _place(self, name: str, known: Sequence[str], access: Access) -> _Place:
        """Return the project or branch that a name like `shop@feature/x` means.

        `known` has the names of the projects that the caller may read.

        Raises:
            BadInputError: the project is not in `known`, or the branch does not exist or is hidden from the caller.
        """
        project, branch = project_and_branch(name)
        expect_known([project], known)
        if not branch:
            return _Place(project, None)
        with self.hosting.branches(project) as stored:
            found = stored.identify(branch, login_of(access))
        if found is None:
            raise unknown_branch(branch)
        return _Place(project, found)

    @contextlib.contextmanager
    def _using(self, place: _Place) -> Iterator[Any]:
        """Open a project or a branch, and keep it open inside a `with` block.

        The block receives its operations.
        """
        with self.hosting.using(place.project) as main:
            if place.branch is None:
                yield main
                return
            service = self.hosting.acquire(place.project, place.branch)
            try:
                yield HostedBranch(service, place.project, self, main, place.branch)
            finally:
                self.hosting.release(place.project, place.branch)

    def _elsewhere(self, place: _Place, access: Access) -> Any:
        """Return the operations of a project that another server has open.

        The result is None if no other server has the project open. The other server is asked with the credential of a person. Its own
        secret gives all permissions, so only the operator's questions are asked with it.

        Raises:
            OwnerUnreachableError: the process of the other server is stopped.
            ForbiddenError: the credential of a person is unknown.
        """
        peer = self.hosting.elsewhere(place.project)
        if peer is None:
            return None
        if (stopped := refusal_if_stopped(peer)) is not None:
            raise stopped
        credential = peer.token if access == FULL else access.credential
        if not credential:
            raise ForbiddenError(
                f"another server process has the project {place.project} open and accepts only requests with your "
                f"own token; send the request with your token to {PREFIX}NAME"
            )
        path = address_of(place.project, place.branch.key.name if place.branch is not None else "")
        return self._remote(f"{peer.address}{PREFIX}{path}", credential)

    def _answer_of(self, place: _Place, access: Access, there: Callable[[Any], _Answer], here: Callable[[], _Answer]) -> _Answer:
        """Answer from the server process that has a project open.

        If no other server has it open, the project is asked `here`. While the project moves from one server to another, the question is
        repeated.
        """
        patience = Patience()
        while True:
            if (elsewhere := self._elsewhere(place, access)) is not None:
                with contextlib.suppress(OwnerUnreachableError):  # it has just ended
                    return there(elsewhere)
            try:
                return here()
            except StoreBusyError as error:
                if not patience.lasts(error):
                    raise
            time.sleep(RETRY_S)

    def _askable(self, place: _Place, access: Access) -> Askable:
        def ask(operation: str) -> Callable[..., Any]:
            def here(*args: object, **kwargs: object) -> Any:
                with self._using(place) as service:
                    there = self._may(place.project, access)
                    if there is None:  # taken away in the meantime
                        raise ForbiddenError(
                            f"you may no longer read the project {place.project}; ask an administrator of the server",
                            needs="read",
                            verb=operation,
                        )
                    return getattr(guarded(service, there), operation)(*args, **kwargs)

            def run(*args: object, **kwargs: object) -> Any:
                return self._answer_of(
                    place, access, lambda there: getattr(there, operation)(*args, **kwargs), lambda: here(*args, **kwargs)
                )

            return run

        return Askable(ask("search"), ask("impact"))
