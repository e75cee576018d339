"""`graphmem install`, `uninstall` and `hook`: setup of coding agents."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.cli.command import command
from graphmem.cli.context import CommandContext, directory, project_here
from graphmem.errors import BadInputError
from graphmem.location import models_dir
from graphmem.runtime.files.home import home

if TYPE_CHECKING:
    from graphmem.hooks.install import Change, Vault
    from graphmem.hooks.targets import Target

Agents = Annotated[
    list[str] | None,
    typer.Argument(metavar="[AGENT]...", help="Coding agent: claude-code, cursor, codex, gemini or opencode; --all: all of them."),
]
User = Annotated[bool, typer.Option("--user", help="Install into your home directory, for all projects, instead of into this project.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would change, as a diff.")]
All = Annotated[bool, typer.Option("--all", help="Choose all supported agents.")]
Root = Annotated[
    Path | None,
    typer.Option("--project", "-C", metavar="DIR", help="Root of the project; default: the project that contains the current directory."),
]


@command(
    without=(
        "db",
        "home",
        "project",
    )
)
def install(
    here: CommandContext,
    agents: Agents = None,
    *,
    every: All = False,
    user: User = False,
    dry_run: DryRun = False,
    command: Annotated[
        str,
        typer.Option("--command", metavar="PROGRAM", help="Command with which agents start graphmem; default: graphmem if it is on PATH."),
    ] = "",
    project: Root = None,
) -> None:
    """Add graphmem to the settings of coding agents.

    The settings get graphmem's hooks and its MCP server.

    Other entries stay unchanged, and `graphmem uninstall` restores the original files.
    """
    from graphmem.hooks.install import plan_install

    targets, vault = _targets(agents, every=every, user=user, project=project, command=command)
    changes = plan_install(targets, vault)
    if not command and not user and shutil.which("graphmem") is None:
        here.output.note(f"graphmem is not on PATH: these files, which may be shared, will name {sys.executable}; see --command")
    _finish(here, changes, vault, installing=True, dry_run=dry_run)
    if not dry_run:
        for sentence in _to_confirm(changes, user=user):
            here.output.note(sentence)


@command(
    without=(
        "db",
        "home",
        "project",
    )
)
def uninstall(
    here: CommandContext,
    agents: Agents = None,
    *,
    every: All = False,
    user: User = False,
    dry_run: DryRun = False,
    project: Root = None,
) -> None:
    """Remove graphmem from the settings of coding agents.

    Without AGENT, graphmem is removed from the settings of all agents.
    """
    from graphmem.hooks.install import plan_uninstall

    targets, vault = _targets(agents, every=every or not agents, user=user, project=project, command="")
    known, _ = _targets(None, every=True, user=user, project=project, command="")
    chosen = {one.agent for one in targets}
    changes = plan_uninstall(targets, vault, [one for one in known if one.agent not in chosen])
    _finish(here, changes, vault, installing=False, dry_run=dry_run)


def hook(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="Coding agent: claude-code, cursor, codex, gemini or opencode.")],
) -> None:
    """Run an agent's hook, with its JSON payload on standard input.

    The command reports the event to the running server and prints context for the agent.
    Agents call the command; see `graphmem install`. The exit code is always 0; without a server the output is empty.
    """
    from graphmem.hooks.entry import run

    run([agent])


def _targets(agents: list[str] | None, *, every: bool, user: bool, project: Path | None, command: str) -> tuple[list[Target], Vault]:
    from graphmem.hooks.agents import NAMES
    from graphmem.hooks.install import Vault
    from graphmem.hooks.targets import targets

    names = list(NAMES) if every else list(dict.fromkeys(agents or ()))
    if not names:
        raise BadInputError(f"the name of the coding agent is missing; give one of {', '.join(NAMES)}, or --all", argument="AGENT")
    root = directory(project) if project is not None else project_here()
    words = [command] if command else ["graphmem"] if shutil.which("graphmem") else [sys.executable, "-P", "-m", "graphmem"]
    scope = "user" if user else "project"
    found = [target for name in names for target in targets(name, scope, root, home(), words)]
    return found, Vault(models_dir(os.environ).parent / "install")


def _to_confirm(changes: list[Change], *, user: bool) -> list[str]:
    """Return instructions for steps that a person must still do in the agents.

    `changes` are changes of agents' settings. Agents without a change are left out. `user` is True for user-wide settings, and False for
    those of the project.
    """
    from graphmem.hooks.targets import TO_CONFIRM

    scope = "user" if user else "project"
    agents = dict.fromkeys(one.agent for one in changes if one.changes)
    return [TO_CONFIRM[agent, scope] for agent in agents if (agent, scope) in TO_CONFIRM]


def _finish(here: CommandContext, changes: list[Change], vault: Vault, *, installing: bool, dry_run: bool) -> None:
    from graphmem.hooks.install import apply

    if not dry_run:
        apply(changes, vault, installing=installing)
    if here.output.as_json:
        here.output.json(
            [
                {
                    "agent": one.agent,
                    "path": str(one.path),
                    "changed": one.changes,
                    "removed": one.changes and one.after is None,
                    "diff": one.diff() if dry_run else "",
                    "notes": list(one.notes),
                }
                for one in changes
            ]
        )
        return
    told = [one for one in changes if one.changes or one.before is not None]
    if not told:
        here.output.note("graphmem is not in the settings of any of these agents")
    for one in told:
        if dry_run and one.changes:
            here.output.text(one.diff().rstrip("\n"))
        elif not here.output.quiet:
            here.output.line(f"{_what(one, dry_run=dry_run)} {one.path}")
        for note in one.notes:
            here.output.note(note)
    if installing and not dry_run and any(one.changes and one.before is not None for one in changes):
        here.output.note(f"the original files are kept in {vault.folder}")


def _what(change: Change, *, dry_run: bool) -> str:
    if not change.changes:
        return "unchanged"
    if dry_run:
        return "would change"
    return "removed" if change.after is None else "written" if change.before is None else "changed"
