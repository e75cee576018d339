"""`graphmem server` and `graphmem login`: people of a server.

The commands of `server` run on the server's machine and change the file of its people, with or without a running server.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from graphmem.cli.command import command
from graphmem.cli.context import CommandContext
from graphmem.cli.options import Setting
from graphmem.cli.output import plural
from graphmem.errors import BadInputError
from graphmem.runtime.process.system import account

if TYPE_CHECKING:
    from graphmem.cli.personal_data import PersonalData
    from graphmem.security.people import People

WITHOUT: Final = ("path", "project", "db", "home")
Projects = Annotated[
    Path | None,
    typer.Option(
        "--projects",
        metavar="DIR",
        help="Directory with the projects of the server, as for `graphmem serve --projects`; default: the setting projects.",
    ),
    Setting(),
]
Login = Annotated[str, typer.Argument(help="Login of the person: letters, digits, dots, hyphens, underscores, @ and +.")]
_NAMED: Final = 8  # projects in a note
Team = Annotated[str, typer.Option("--team", help="Team that gets the role, instead of a person.")]


@command(without=WITHOUT)
def invite(
    here: CommandContext,
    login: Login,
    *,
    name: Annotated[str, typer.Option("--name", help="Name of the person; default: the login.")] = "",
    email: Annotated[
        str, typer.Option("--email", help="Mail address of the person at the identity provider, for logins in the browser.")
    ] = "",
    team: Annotated[
        str,
        typer.Option(
            "--team", help="Team that the person joins. With --on PROJECT, this team gets the role in the project, not the person."
        ),
    ] = "",
    on: Annotated[
        str, typer.Option("--on", metavar="PROJECT", help="Project in which the person gets a role; with --team, the team gets the role.")
    ] = "",
    level: Annotated[
        str, typer.Option("--level", help="The role in the project: read, write, curate (change the memories of others) or admin.")
    ] = "write",
    projects: Projects = None,
) -> None:
    """Invite a person to the server, and print the invitation code.

    The code is valid for seven days and can be used once. `graphmem login` exchanges it for a token. From the first invitation on the
    server requires credentials from everybody.
    """
    code = _people(here).invite(login, name, email, team=team, project=on, level=level)
    if here.output.as_json:
        here.output.json({"login": login, "code": code})
        return
    here.output.line(code)
    here.output.note((f"{login} runs: graphmem login https://HOST CODE", "dim"))
    _note_unknown(here, on)


@command(without=WITHOUT)
def role(
    here: CommandContext,
    on: Annotated[str, typer.Argument(metavar="PROJECT", help="Name of the project.")],
    level: Annotated[
        str,
        typer.Argument(
            metavar="LEVEL",
            help="The role in the project: read, write, curate (change the memories of others) or admin; none: remove the role.",
        ),
    ],
    *,
    login: Annotated[str, typer.Option("--login", help="Login of the person who gets the role.")] = "",
    team: Team = "",
    projects: Projects = None,
) -> None:
    """Give a person or a team a role in a project.

    Each role includes the roles before it. `read` allows questions. `write` allows pushes, new memories and changes of one's own memories.
    `curate` allows changes of all memories that the person sees. `admin` allows maintenance of the index.
    """
    _people(here).role(on, level, login=login, team=team)
    here.output.line(f"{login or f'team {team}'}: {level} in {on}")
    _note_unknown(here, on if level != "none" else "")


@command(without=WITHOUT)
def team(
    here: CommandContext,
    name: Annotated[str, typer.Argument(metavar="TEAM", help="Name of the team; it exists while it has members.")],
    login: Login,
    *,
    leave: Annotated[bool, typer.Option("--leave", help="Take the person out of the team.")] = False,
    projects: Projects = None,
) -> None:
    """Put a person into a team, or take the person out of it."""
    _people(here).join(name, login, leave=leave)
    here.output.line(f"{login} {'left' if leave else 'is in'} {name}")


@command(without=WITHOUT)
def token(
    here: CommandContext,
    login: Login,
    name: Annotated[str, typer.Argument(help="Name of the token, such as the machine that uses it.")],
    *,
    team: Annotated[
        str, typer.Option("--team", help="Team that can see the memories written with the token, if their visibility is team.")
    ] = "",
    days: Annotated[int | None, typer.Option("--days", help="Days until the token expires; default: never.")] = None,
    revoke: Annotated[bool, typer.Option("--revoke", help="Revoke the token of this name instead of creating one.")] = False,
    projects: Projects = None,
) -> None:
    """Create a token of a person and print it once, or revoke it."""
    if revoke:
        _people(here).revoke(login, name)
        here.output.line(f"revoked {name} of {login}")
        return
    made = _people(here).token(login, name, team, days)
    if here.output.as_json:
        here.output.json({"login": login, "name": name, "token": made})
        return
    here.output.line(made)
    here.output.note(("it is not shown again; GRAPHMEM_SERVER_TOKEN takes it", "dim"))


@command(without=WITHOUT)
def enable(
    here: CommandContext,
    login: Login,
    *,
    off: Annotated[bool, typer.Option("--off", help="Block the person, and end the person's tokens and sessions.")] = False,
    projects: Projects = None,
) -> None:
    """Allow or block a person."""
    _people(here).enable(login, on=not off)
    here.output.line(f"{login} is {'blocked' if off else 'allowed'}")


@command(without=WITHOUT)
def people(here: CommandContext, *, projects: Projects = None) -> None:
    """List the people of the server, with teams, roles and tokens."""
    found = _people(here).all()
    if here.output.as_json:
        here.output.json([one._asdict() for one in found])
        return
    here.output.line((plural(len(found), "person", "people"), "bold"))
    for one in found:
        marks = [*(["blocked"] if one.disabled else []), *one.teams, *(f"token {name}" for name in one.tokens)]
        roles = ", ".join(f"{level} in {project}" for project, level in one.roles.items()) or "no role"
        here.output.line(f"  {one.login}  {one.name}  {roles}", (f"  {', '.join(marks)}", "dim") if marks else "")


@command(without=WITHOUT)
def audit(
    here: CommandContext,
    *,
    login: Annotated[str, typer.Option("--login", help="Show only entries about the person with this login; default: everybody.")] = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=10_000, help="The maximum number of listed entries of the audit log.")
    ] = 100,
    projects: Projects = None,
) -> None:
    """List what people changed on the server, the newest first.

    An operator is an account on the server's machine that runs `graphmem server`.
    """
    found = _people(here).audit(login, limit)
    if here.output.as_json:
        here.output.json([one._asdict() for one in found])
        return
    for one in found:
        whom = "" if one.by in ("", one.login) else one.login
        said = " ".join(filter(None, (one.action, whom, one.project)))
        here.output.line(
            (f"{one.at[:19].replace('T', ' ')}  ", "dim"),
            f"{one.by or one.login}: {said}",
            *([(f"  {one.details}", "dim")] if one.details else []),
        )


@command(without=WITHOUT)
def export(here: CommandContext, login: Login, *, projects: Projects = None) -> None:
    """Print all data of a person, one JSON object a line.

    Stop the server first. The data are the person, teams, roles, names of tokens, actions of the audit, and the person's memories with
    earlier texts. If the graphs are in PostgreSQL, give the address with GRAPHMEM_STORE.
    """
    with closing(_personal(here, login)) as data:
        for one in data.lines():
            here.output.json_line(one)
        data.people.note(login, "exported", "", "")


@command(without=WITHOUT)
def erase(
    here: CommandContext,
    login: Login,
    *,
    confirm: Annotated[str, typer.Option("--confirm", metavar="LOGIN", help="Repeat the login of the person, to confirm.")],
    projects: Projects = None,
) -> None:
    """Erase all data of a person for good, and print a receipt.

    Stop the server first. The person's memories are erased with earlier texts, from the graphs and the journals. Backups keep them. The
    journals keep the login in entries on other people's memories. The audit keeps the receipt, without the login.
    """
    if confirm != login:
        raise BadInputError(
            f"--confirm must repeat the login {login[:60]!r}, but is {confirm[:60]!r}; correct one of the two", argument="confirm"
        )
    with closing(_personal(here, login)) as data:
        receipt = data.erase()
    if here.output.as_json:
        here.output.json(receipt)
        return
    here.output.line(f"{plural(receipt['memories'], 'memory', 'memories')} erased, {receipt['lines']:,} lines of data in total")
    here.output.line((f"  SHA-256 of what was erased: {receipt['digest']}", "dim"))


@command(without=WITHOUT)
def login(
    here: CommandContext,
    address: Annotated[str, typer.Argument(metavar="URL", help="Address of the server, https://host.")],
    code: Annotated[str, typer.Argument(help="Code of the invitation, from an administrator of the server.")],
) -> None:
    """Log in to a server of many projects with an invitation.

    The token is stored in your data directory. Commands with `--server` and `graphmem push` use it.
    """
    import socket

    from graphmem.client.logins import join

    who, file = join(address, code, socket.gethostname())
    here.output.line(f"you are {who} at {address}")
    here.output.note((f"the token is kept in {file}", "dim"))


def _note_unknown(here: CommandContext, project: str) -> None:
    """Warn if the server has no project of this name yet.

    A role may be given before the first push. The name may also be mistyped.
    """
    from graphmem.server.hosting import INDEX

    if project and not (_folder(here) / project / INDEX).is_dir():
        known = sorted(path.parent.name for path in _folder(here).glob(f"*/{INDEX}"))
        has = f"; it has {', '.join(known[:_NAMED])}{' and others' if len(known) > _NAMED else ''}" if known else ""
        here.output.note((f"the server has no project {project} yet{has}", "dim"))


def _people(here: CommandContext) -> People:
    """Return the people of the server.

    The setting `projects` names the directory of the server.
    """
    from graphmem.security.people import People

    return People(_folder(here), account())


def _personal(here: CommandContext, login: str) -> PersonalData:
    from graphmem.cli.personal_data import PersonalData

    return PersonalData(_folder(here), here.settings, login)


def _folder(here: CommandContext) -> Path:
    if not here.settings.projects:
        raise BadInputError("the directory of the server's projects is missing; give it with --projects", argument="projects")
    folder = Path(here.settings.projects).expanduser().absolute()
    if not folder.is_dir():
        raise BadInputError(
            f"the directory of the server's projects {folder} does not exist; check --projects, or start `graphmem serve --projects "
            f"{folder}`, which creates it",
            argument="projects",
            path=str(folder),
        )
    return folder
