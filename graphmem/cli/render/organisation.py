"""Print people, teams and news of an organisation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.answers.organisation import Comments, Erased, Exported, Invited, Organisation, OrganisationAudit, TeamNews
from graphmem.cli.output import Output, plural
from graphmem.cli.render import common
from graphmem.cli.render.sharing import disagreements
from graphmem.cli.rendering import renders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.answers.organisation import ProjectAccess


@renders(Organisation)
def organisation(output: Output, found: Organisation) -> None:
    """Print people and teams with their roles."""
    output.line(
        (f"{plural(len(found.people), 'person', 'people')}, {plural(len(found.teams), 'team')}", common.HEADING),
        (f"  {found.address}, as {found.name}", common.DIM),
    )
    for person in found.people:
        marks = [*(["administrator"] if person.is_admin else []), *(["disabled"] if person.is_disabled else []), *person.teams]
        output.line(f"  {person.login}  {person.name}", (f"  {', '.join(marks)}", common.DIM) if marks else "")
        _roles(output, person.roles)
        if person.last:
            output.line((f"      {plural(person.operations, 'operation')}, last exchange {person.last[:16]}", common.DIM))
    for team in found.teams:
        output.line(("  team ", common.DIM), f"{team.name}: {', '.join(team.members) or 'nobody'}")
        _roles(output, team.roles)


@renders(Invited, bare=lambda answer: [answer.address])
def invited(output: Output, answer: Invited) -> None:
    """Print the database address for a person who was added."""
    output.line((f"{answer.login} may enter", common.HEADING))
    output.line(f"  GRAPHMEM_SYNC_URL='{answer.address}'")
    output.line(("  The password is not shown again." if answer.has_password else "  The role existed and keeps its password.", common.DIM))


@renders(OrganisationAudit)
def audit(output: Output, found: OrganisationAudit) -> None:
    """Print what people did in the shared database."""
    if not found.entries:
        output.line("no entries that you may see; administrators see those of all people")
    for one in found.entries:
        output.line((f"{one.at[:19].replace('T', ' ')}  ", common.DIM), f"{one.person}: {one.action} {one.target}", f"  {one.details}")


@renders(Comments)
def comments(output: Output, found: Comments) -> None:
    """Print comments on memories as threads."""
    if not found.comments:
        output.line("no comments")
    for one in found.comments:
        before = "  " * (one.depth + 1)
        output.line(f"{before}{one.person}: {one.text}", (f"  {one.at[:16].replace('T', ' ')}  {one.id}", common.DIM))


@renders(Exported, bare=lambda answer: answer.content.splitlines())
def exported(output: Output, found: Exported) -> None:
    """Print exported data, one JSON object on each line."""
    for line in found.content.splitlines():
        output.line(line)


@renders(Erased)
def erased(output: Output, receipt: Erased) -> None:
    """Print the receipt for erasing a person's data."""
    output.line(
        (
            f"Erased: {plural(receipt.memories, 'memory', 'memories')}, {plural(receipt.comments, 'comment')}; "
            f"{plural(receipt.operations, 'change')} of memories erased, or no longer with the person's name",
            common.HEADING,
        )
    )
    output.line((f"  by {receipt.by}, {receipt.at[:19]}; SHA-256 {receipt.digest}", common.DIM))
    if not receipt.role_dropped:
        output.line("  the login role is used elsewhere in this PostgreSQL, or graphmem did not make it; it still exists")


@renders(TeamNews)
def team_news(output: Output, found: TeamNews) -> None:
    """Print what the team learnt, and on what its members disagree."""
    output.line((f"{plural(found.total, 'memory', 'memories')} learnt since {found.since[:10]}", common.HEADING))
    for one in found.learnt:
        output.line(
            f"  #{one.short_id} {one.title}",
            (f"  {_listed(one.type, one.person, one.at[:10], '' if one.is_new else 'changed')}", common.DIM),
        )
    disagreements(output, found.disagreements)
    if found.important:
        output.line(("most trusted and used:", common.HEADING))
    for one in found.important:
        output.line(f"  #{one.short_id} {one.title}", (f"  {_listed(one.type, one.person)}", common.DIM))
    if found.knows:
        output.line(("who knows what:", common.HEADING))
    for person in found.knows:
        output.line(f"  {person.person}: {plural(person.memories, 'memory', 'memories')}", (f"  {', '.join(person.files)}", common.DIM))


def _listed(*words: str) -> str:
    """Join the strings that are not empty with commas."""
    return ", ".join(word for word in words if word)


def _roles(output: Output, roles: Sequence[ProjectAccess]) -> None:
    for one in roles:
        output.line((f"      {one.level} in {one.project}", common.DIM))
