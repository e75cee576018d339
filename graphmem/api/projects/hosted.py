"""Projects of a server, each with the operations that a caller may use."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from graphmem.answers.projects import DroppedBranch, ProjectsImpact, ProjectsSearch
from graphmem.api.routes.pushes import pusher
from graphmem.errors import BadInputError
from graphmem.operations.registry import registry
from graphmem.project.hosted.branches import BranchId
from graphmem.runtime.network.pushes import BRANCH_MARK
from graphmem.security.access import Access, caller

if TYPE_CHECKING:
    from graphmem.answers import RememberAnswer, RememberManyAnswer
    from graphmem.project.graphmem import GraphMem

_OWN: Final = ("index", "start_index", "push_index")  # operations that a pushed project does not have


class AcrossProjects(Protocol):
    """Operations of a server on several of its projects."""

    def readable(self, access: Access) -> list[str]:
        """Return the names of the projects that a caller may read."""

    def search_projects(self, query: str, projects: Sequence[str] | None = None, limit: int = 10) -> ProjectsSearch:
        """Search several projects; see `ProjectsOperations.search_projects`."""

    def impact_projects(self, target: str, in_project: str = "", max_depth: int = 3, limit: int = 50) -> ProjectsImpact:
        """Find code, in all projects, that a change of `target` could break."""


class HostedProject:
    """The operations of one project on a server of several projects.

    Operations on several projects are passed to the server. Indexing is refused, because only a push changes the index.
    """

    def __init__(self, service: GraphMem, name: str, server: AcrossProjects) -> None:
        self._service, self._name, self._server = service, name, server

    def drop_branch(self, name: str) -> DroppedBranch:
        """Delete a branch; see `ProjectsOperations.drop_branch`."""
        self._service.parts.receiving.drop(name, pusher(caller()))
        return DroppedBranch(name)

    def __getattr__(self, name: str) -> object:
        """Return the operation `name` of the project, or of its server.

        Raises:
            BadInputError: the operation would index files of the project, which are not on the server.
        """
        if name in ("projects", "search_projects"):
            return getattr(self._server, name)
        if name in _OWN:
            raise BadInputError(
                "the server has no files of this project, only its pushed index, so it cannot index; run "
                "`graphmem index` and `graphmem push` on a machine with the files",
                argument="project",
            )
        return getattr(self._service, name)

    def impact_projects(self, target: str, in_project: str = "", max_depth: int = 3, limit: int = 50) -> ProjectsImpact:
        """Find code, in all projects, that a change of `target` could break.

        `in_project` is the project of the target; "" for this project.
        """
        return self._server.impact_projects(target, in_project or self._name, max_depth, limit)


class HostedBranch(HostedProject):
    """The operations of a branch of a project.

    Questions are answered from the index of the branch. Memories are stored in the project. If a memory is linked to code that the project
    lacks, the link is stored with the branch.
    """

    def __init__(self, service: GraphMem, name: str, server: AcrossProjects, main: GraphMem, branch: BranchId) -> None:
        super().__init__(service, name, server)
        self._main, self._key = main, branch.key
        self._full_name = f"{name}{BRANCH_MARK}{branch.name}"
        self.index_id = f"{main.index_id}-{branch.born}"  # the same when the branch is opened again

    @property
    def in_place(self) -> bool:
        """Whether the index directory still has the path where it was opened."""
        return self._main.in_place

    def __getattr__(self, name: str) -> object:
        """Return the operation called `name`.

        An operation that writes is taken from the branch's project. Any other operation is taken from the branch.
        """
        overlays = self._main.parts.overlays
        rule = registry().get(name)
        if rule is not None and rule.hints.needs not in ("", "read") and name not in _OWN:
            return getattr(self._main, name)
        overlays.follow_memories(self._key)
        return super().__getattr__(name)

    def drop_branch(self, name: str) -> DroppedBranch:
        """Delete a branch; see `ProjectsOperations.drop_branch`."""
        self._main.parts.receiving.drop(name, pusher(caller()))
        return DroppedBranch(name)

    def search_projects(self, query: str, projects: Sequence[str] | None = None, limit: int = 10) -> ProjectsSearch:
        """Search several projects of the server.

        By default, all projects that the caller may read are searched, with this branch in place of the branch's own project.
        """
        chosen = projects or [self._full_name if one == self._name else one for one in self._server.readable(caller())]
        return self._server.search_projects(query, chosen, limit)

    def impact_projects(self, target: str, in_project: str = "", max_depth: int = 3, limit: int = 50) -> ProjectsImpact:
        """Find code, in all projects, that a change of `target` could break.

        `in_project` is the project that contains `target`; "" for this branch.
        """
        return self._server.impact_projects(target, in_project or self._full_name, max_depth, limit)

    def remember(self, content: str, *args: Any, **kwargs: Any) -> RememberAnswer:
        """Store a memory in the project, with links to code of the branch."""
        answer = self._main.remember(content, *args, **kwargs)
        self._main.parts.overlays.link(self._key, answer.memory, kwargs.get("files") or (), kwargs.get("symbols") or ())
        self._main.parts.overlays.follow_memories(self._key)
        return dataclasses.replace(answer, memory=self._service.memory(answer.memory.id))

    def remember_many(self, items: Any, *args: Any, **kwargs: Any) -> RememberManyAnswer:
        """Store memories in the project, with links to code of the branch."""
        answer = self._main.remember_many(items, *args, **kwargs)
        refused = {one.index for one in answer.refused}
        kept = [item for place, item in enumerate(items) if place not in refused]
        for item, result in zip(kept, answer.results, strict=True):
            info = self._main.memory(result.id)
            self._main.parts.overlays.link(self._key, info, item.get("files") or (), item.get("symbols") or ())
        return answer
