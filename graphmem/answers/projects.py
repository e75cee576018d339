"""Answers about a server's projects, and answers from several of them."""

from __future__ import annotations

from typing import Annotated

from graphmem.answers.code import SymbolInfo
from graphmem.answers.contracts import ContractPlace
from graphmem.answers.marks import Doc, Size
from graphmem.answers.plain import answer
from graphmem.answers.search import SearchHit
from graphmem.answers.vocabulary import Moment, MomentOrNone


@answer
class ServedBranch:
    """A branch of a project, which a server keeps beside the main branch."""

    name: str
    path: Annotated[str, Doc("path in the URL of the branch on the server, before `/graphql` and `/explore`")]
    private: Annotated[bool, Doc("true if only the person who asked can see the branch")]
    pushed_by: Annotated[str, Doc("login of the person who pushed the branch first; empty on a server without user accounts")]
    pushed_at: Annotated[Moment, Doc("time of the newest push of the branch")]
    expires_at: Annotated[Moment, Doc("time at which the server deletes the branch if it is not pushed again")]
    commit_sha: Annotated[str, Doc("id of the pushed commit; empty if the main branch also contained it")]
    files: Annotated[int, Doc("number of files that differ from the project's main branch")]
    bytes: Annotated[int, Doc("number of bytes that the server stores for the branch")]


@answer
class ServedProject:
    """A project that a server answers for."""

    name: str
    path: Annotated[str, Doc("path in the URL of the project on the server, before `/graphql` and `/explore`; empty for the only project")]
    files: int
    symbols: int
    generation: Annotated[int, Doc("number of changes made to the code graph so far; 0 before the first index run or push")]
    indexed_at: Annotated[MomentOrNone, Doc("time of the newest index run; null before the first index run")]
    is_open: Annotated[bool, Doc("true while the server has the project open; a closed project is opened by its next request")]
    branches: Annotated[list[ServedBranch], Doc("branches that the person who asked can see, by name"), Size(5)]


@answer
class ServedProjects:
    """The server's projects that the caller may read, by name."""

    projects: Annotated[list[ServedProject], Size(20)]


@answer
class ProjectHit:
    """A search result, with its project."""

    project: str
    hit: SearchHit


@answer
class ProjectsSearch:
    """Hits of one search in several projects."""

    query: str
    hits: Annotated[list[ProjectHit], Doc("the best search results of all projects, merged by their ranks")]
    projects: Annotated[list[str], Doc("names of the projects that answered the search")]
    notes: Annotated[list[str], Doc("why the answer may be incomplete"), Size(2)]


@answer
class ReachedProject:
    """Another project's code that uses an affected contract, such as a route."""

    project: str
    through: Annotated[str, Doc("kind and name of the network interface (contract), such as `http GET /carts`")]
    of: Annotated[str, Doc("the project that offers the network interface")]
    place: Annotated[
        ContractPlace,
        Doc(
            "the code that uses the network interface; its confidence includes the confidence that the "
            "interface depends on the changed symbol"
        ),
    ]
    affected: Annotated[
        list[SymbolInfo], Doc("code of the other project that depends on the code in `place`, most confident first"), Size(20)
    ]
    total: Annotated[int, Doc("number of dependents of the code in `place` in the other project; `affected` may list fewer")]


@answer
class ProjectsImpact:
    """Code, in several projects, that could break when a symbol changes."""

    project: Annotated[str, Doc("the project that contains the changed symbol")]
    target: SymbolInfo
    affected: Annotated[list[SymbolInfo], Doc("affected code in the project of the changed symbol, most confident first"), Size(20)]
    total: Annotated[int, Doc("number of affected symbols in the project of the changed symbol")]
    reached: Annotated[list[ReachedProject], Doc("code of other projects that the change reaches, fewest steps first"), Size(10)]
    projects: Annotated[list[str], Doc("names of the projects whose routes, clients and other interfaces between programs were searched")]
    notes: Annotated[list[str], Doc("why the answer may be incomplete"), Size(2)]


@answer
class Pushed:
    """The outcome of sending an index to a server."""

    project: Annotated[str, Doc("name of the project on the server")]
    generation: Annotated[int, Doc("number of changes made so far to the code graph on the server")]
    sent: Annotated[int, Doc("number of files whose index data the push sent")]
    removed: Annotated[int, Doc("number of files that the push removed from the server")]
    unchanged: Annotated[int, Doc("number of files that the push did not send, because the server had them already")]
    commits: Annotated[int, Doc("number of commits that were sent, each with its time, its paths and a hash of its author")]
    bytes: Annotated[int, Doc("number of bytes that the push sent")]
    branch: Annotated[str, Doc("the branch that was pushed; empty for the project's main branch")]
    dropped: Annotated[list[str], Doc("branches that the server deleted, because the main branch contains them now"), Size(1)]


@answer
class DroppedBranch:
    """The branch that was deleted from a server."""

    branch: str
