"""Print the projects of a server, and answers from several projects."""

from __future__ import annotations

from typing import Any

from graphmem.answers.projects import DroppedBranch, ProjectsImpact, ProjectsSearch, Pushed, ServedProjects
from graphmem.cli.output import Output, plural
from graphmem.cli.render import common
from graphmem.cli.rendering import renders


@renders(ServedProjects, bare=lambda answer: [one.name for one in answer.projects])
def projects(output: Output, found: ServedProjects) -> None:
    """Print the projects of a server."""
    if not found.projects:
        output.line("no projects")
    rows: list[tuple[Any, ...]] = []
    for one in found.projects:
        time = (one.indexed_at[:16].replace("T", " "), common.DIM)
        rows.append(((one.name, common.HEADING), plural(one.files, "file"), plural(one.symbols, "symbol"), time))
        for branch in one.branches:
            who = "only you see it" if branch.private else f"pushed by {branch.pushed_by}" if branch.pushed_by else ""
            time = (branch.pushed_at[:16].replace("T", " "), common.DIM)
            rows.append(
                (f"  branch {branch.name}", f"{plural(branch.files, 'file')} {'differs' if branch.files == 1 else 'differ'}", who, time)
            )
    output.rows(rows)


@renders(ProjectsSearch, bare=lambda answer: [f"{one.project} {one.hit.id}" for one in answer.hits])
def searched(output: Output, found: ProjectsSearch) -> None:
    """Print the hits of a search in several projects."""
    for one in found.hits:
        hit = one.hit
        place = f"{hit.path}:{hit.start_line}" if hit.path and hit.start_line else hit.path
        output.line((f"{one.project}  ", common.HEADING), hit.title or hit.id, (f"  {place}", common.DIM))
    if not found.hits:
        output.line(f"nothing was found in {plural(len(found.projects), 'project')}")
    for note in found.notes:
        output.line((f"  {note}", common.DIM))


@renders(ProjectsImpact)
def impact(output: Output, found: ProjectsImpact) -> None:
    """Print code, in several projects, that a change could break."""
    output.line((f"{found.project}: {found.target.qualname}", common.HEADING), f"  {plural(found.total, 'place')} in the project itself")
    for symbol in found.affected:
        output.line(f"  {symbol.qualname}", (f"  {symbol.path}:{symbol.start_line}", common.DIM))
    for one in found.reached:
        place = one.place
        output.line((f"{one.project}", common.HEADING), f"  {one.through} of {one.of}", (f"  {place.confidence:.2f}", common.DIM))
        output.line(f"  {place.name or place.path}", (f"  {place.path}:{place.line}", common.DIM))
        for symbol in one.affected:
            output.line(f"    {symbol.qualname}", (f"  {symbol.path}:{symbol.start_line}", common.DIM))
        if one.total > len(one.affected):
            output.line((f"    {one.total - len(one.affected):,} more", common.DIM))
    for note in found.notes:
        output.line((f"  {note}", common.DIM))


@renders(Pushed)
def pushed(output: Output, found: Pushed) -> None:
    """Print the outcome of a push."""
    place = f"branch {found.branch} of {found.project}" if found.branch else found.project
    output.line(
        (f"{plural(found.sent, 'file')} sent, {found.removed:,} removed, {found.unchanged:,} unchanged", common.HEADING),
        f"; {place} is at generation {found.generation}" + (f"; {plural(found.commits, 'commit')} sent" if found.commits else ""),
    )
    if found.dropped:
        output.line(
            f"  the main branch contains {', '.join(found.dropped)} now, so the server deleted {plural(len(found.dropped), 'branch')}"
        )


@renders(DroppedBranch)
def dropped(output: Output, found: DroppedBranch) -> None:
    """Print which branch was deleted."""
    output.line(f"the server deleted the branch {found.branch}")
