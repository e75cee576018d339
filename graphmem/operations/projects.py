"""Operations on several projects of one server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from graphmem.answers.projects import DroppedBranch, ProjectsImpact, ProjectsSearch, Pushed, ServedProjects
from graphmem.operations.declare import Sight, operation
from graphmem.operations.marks import Bounds, Within, Words


class ProjectsOperations:
    """Questions about all projects of a server, and the push of an index.

    If a server has only one project, the answers are about this project.
    """

    @operation("query", needs="", shows=Sight.PLAIN, command="projects")
    def projects(self) -> ServedProjects:
        """List the projects of the server that the caller may read."""

    @operation("query", needs="read", shows=Sight.SEEN, slow=True, command="search-projects", sizes={"limit": ("hits",)})
    def search_projects(
        self,
        query: Annotated[str, Words()],
        projects: Sequence[str] | None = None,
        limit: Annotated[int, Within("results"), Bounds(1, 200)] = 10,
    ) -> ProjectsSearch:
        """Search several projects of the server at once.

        Ranks of the projects are merged, because scores of different projects cannot be compared.

        Args:
            query: names, words or a question.
            projects: names of the projects, or of branches such as `shop@feature/tax`; default: all that the caller may read.
            limit: the maximum number of hits.
        """

    @operation("query", needs="read", shows=Sight.SEEN, slow=True, command="impact-projects")
    def impact_projects(
        self,
        target: str,
        in_project: str = "",
        max_depth: Annotated[int, Bounds(1, 20)] = 3,
        limit: Annotated[int, Within("hits"), Bounds(1, 1_000)] = 50,
    ) -> ProjectsImpact:
        """Find code of any project that a change of a symbol could break.

        Projects reach each other through contracts, such as routes and their clients.

        Args:
            target: the symbol: its name, id or `path:line`.
            in_project: name of the project or branch (`shop@feature/tax`) that has the symbol; default: the project or branch to which the
                request is sent.
            max_depth: the maximum number of steps inside each project.
            limit: the maximum number of places listed for each project.
        """

    @operation("mutation", needs="index", shows=Sight.PLAIN, command="drop-branch")
    def drop_branch(self, name: str) -> DroppedBranch:
        """Delete a branch of a project from the server.

        The main branch and memories are not changed. A person without the role `curate` may drop only branches that this person pushed.

        Args:
            name: name of the branch.
        """

    @operation("mutation", needs="admin", shows=Sight.WHOLE, slow=True)
    def push_index(self, address: str, token: str = "", branch: str = "", private: bool = False) -> Pushed:
        """Send this index to a server of several projects.

        Files that the server has already are not sent again. The server needs no checkout and no index run. If a branch is checked out that
        is not the repository's main branch, the server keeps it beside the main branch.

        Args:
            address: address of the project on the server, such as https://host/p/shop.
            token: token of a person who may write to the project; default: none.
            branch: the branch to send; default: the checked-out one. The repository's main branch becomes the project's main branch.
            private: whether only the caller sees a new branch.
        """
