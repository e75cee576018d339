"""Combine the answers of several projects on a server into one answer.

A server of one project and a server of many projects (`graphmem.server.hosting`) use the same functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.answers.contracts import ContractPlace
from graphmem.answers.projects import (
    DroppedBranch,
    ProjectHit,
    ProjectsImpact,
    ProjectsSearch,
    ReachedProject,
    ServedProject,
    ServedProjects,
)
from graphmem.contracts import asking
from graphmem.contracts import rows as contracts
from graphmem.contracts.linking import link
from graphmem.contracts.links import Link
from graphmem.contracts.services import BETWEEN
from graphmem.errors import BadInputError, GraphMemError
from graphmem.runtime.network.pushes import no_branches

if TYPE_CHECKING:
    from graphmem.answers import ImpactReport, SearchAnswer, SymbolInfo
    from graphmem.answers.code import Project
    from graphmem.answers.search import SearchHit
    from graphmem.contracts.rows import ContractRow
    from graphmem.project.graph.graph_source import GraphSource, IndexStatus

MOST_PROJECTS: Final = 50  # that one impact question reaches


class Askable(NamedTuple):
    """The operations `search` and `impact` of one of several projects.

    Functions that combine the answers of several projects call these operations.
    """

    search: Callable[..., SearchAnswer]
    impact: Callable[..., ImpactReport]


@dataclass(eq=False, repr=False)
class OwnProject:
    """The operations on several projects, for a server with only one project.

    The answers cover this one project.
    """

    status: IndexStatus
    graph: GraphSource
    search: Callable[..., SearchAnswer]
    impact: Callable[..., ImpactReport]
    data_dir: Path

    def projects(self) -> ServedProjects:
        return ServedProjects([served(self.graph.project, "", self.status.project(), is_open=True)])

    def search_projects(self, query: str, projects: Sequence[str] | None = None, limit: int = 10) -> ProjectsSearch:
        return search_each(query, self._chosen(projects), limit, [])

    def impact_projects(self, target: str, in_project: str = "", max_depth: int = 3, limit: int = 50) -> ProjectsImpact:
        self._chosen([in_project] if in_project else None)
        return impact_across(
            target, self.graph.project, {self.graph.project: self._me()}, {self.graph.project: self.data_dir}, max_depth, limit
        )

    def drop_branch(self, name: str) -> DroppedBranch:
        raise no_branches("name")

    def _chosen(self, projects: Sequence[str] | None) -> dict[str, Askable]:
        expect_known(projects or (), [self.graph.project])
        return {self.graph.project: self._me()}

    def _me(self) -> Askable:
        return Askable(self.search, self.impact)


def expect_known(requested: Iterable[str], known: Sequence[str]) -> None:
    """Check that all `requested` projects are among `known`.

    Raises:
        BadInputError: a project is unknown, or hidden from the caller.
    """
    for one in requested:
        if one not in known:
            remedy = f"the projects are {', '.join(known[:20])}" if known else "push a project first"
            raise BadInputError(f"unknown project {one[:100]!r}; {remedy}", argument="projects", value=one[:100])


def served(name: str, path: str, project: Project, *, is_open: bool) -> ServedProject:
    """Return the entry of a project in the list of a server's projects.

    `path` is the project's address on the server, and `is_open` tells whether the project is open now.
    """
    state = project.state
    return ServedProject(name, path, state.files, state.symbols, state.generation, state.indexed_at, is_open, [])


def search_each(query: str, projects: Mapping[str, Askable], limit: int, notes: list[str]) -> ProjectsSearch:
    """Search several projects, and merge the hits by their ranks.

    All first hits come first, then all second hits, and so on. Hits of the same rank are ordered by score, then by project. A project that
    fails is left out, and its error is added to `notes`.
    """
    found: list[tuple[int, str, SearchHit]] = []
    answered: list[str] = []
    for name, project in projects.items():
        try:
            answer = project.search(query, limit=limit)
        except GraphMemError as error:
            notes.append(f"{name}: {error.message}")
            continue
        answered.append(name)
        notes += [f"{name}: {note}" for note in answer.notes]
        found += [(rank, name, hit) for rank, hit in enumerate(answer.hits)]
    found.sort(key=lambda one: (one[0], -one[2].score, one[1]))
    return ProjectsSearch(query, [ProjectHit(name, hit) for _, name, hit in found[:limit]], answered, notes)


def impact_across(
    target: str, home: str, projects: Mapping[str, Askable], folders: Mapping[str, Path], max_depth: int, limit: int
) -> ProjectsImpact:
    """Find the code of several projects that a change of a symbol may break.

    The affected code begins with the dependents of `target` in the project `home`. Code of another project is affected, too, if it uses a
    contract (such as a route) of affected code. So are its dependents. The search ends when `MOST_PROJECTS` places in other projects are
    reached.

    Args:
        target: the symbol.
        home: the project that has the symbol.
        projects: the projects that may be asked, by name.
        folders: the index directory of each project, by name.
        max_depth: maximum number of steps inside each project.
        limit: maximum number of listed places for each project.
    """
    notes: list[str] = []
    report = projects[home].impact([target], max_depth=max_depth, limit=limit)
    links = _links_between({name: folder for name, folder in folders.items() if name in projects}, notes)
    start = report.targets[0]
    reached: list[ReachedProject] = []
    waiting = [(home, _reached(report))]
    asked: set[tuple[str, str]] = set()
    while waiting and len(reached) < MOST_PROJECTS:
        name, symbols = waiting.pop(0)
        for one in links:
            offering, _, symbol = one.offers.symbol.partition(BETWEEN)
            using, _, user = one.asks.symbol.partition(BETWEEN)
            if offering != name or using == name or symbol not in symbols or not user or (using, user) in asked:
                continue
            asked.add((using, user))
            confidence = round(symbols[symbol] * one.confidence, 4)
            try:
                there = projects[using].impact([user], max_depth=max_depth, limit=limit)
            except GraphMemError as error:
                notes.append(f"{using}: {error.message}")
                continue
            affected = [hit.symbol for hit in there.hits][:limit]
            reached.append(ReachedProject(using, _named(one), offering, _place(one.asks, confidence), affected, there.total))
            waiting.append((using, {id_: confidence * value for id_, value in _reached(there).items()}))
    if waiting:
        notes.append(f"more than {MOST_PROJECTS} places in other projects were reached; the others were not followed")
    own: list[SymbolInfo] = [hit.symbol for hit in report.hits]
    return ProjectsImpact(home, start, own[:limit], report.total, reached, sorted(folders), notes)


def _reached(report: ImpactReport) -> dict[str, float]:
    found = {one.id: 1.0 for one in report.targets}
    for hit in report.hits:
        found.setdefault(hit.symbol.id, hit.confidence)
    return found


def _links_between(folders: Mapping[str, Path], notes: list[str]) -> list[Link]:
    every: list[ContractRow] = []
    for name, folder in folders.items():
        published = contracts.read(folder)
        if published is None:
            notes.append(f"{name} has no contracts; push its index again")
        else:
            every += asking.named(name, (row for some in published.rows.values() for row in some))
    return link(every)


def _named(one: Link) -> str:
    return f"{one.offers.kind if one.rule != 'rpc' else 'grpc'} {one.offers.name}"


def _place(row: ContractRow, confidence: float) -> ContractPlace:
    project, _, path = row.path.partition(BETWEEN + "/")
    return ContractPlace(project, path, row.line, "" if row.qualname == "<module>" else row.qualname, confidence)
