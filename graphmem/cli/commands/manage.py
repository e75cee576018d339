"""`graphmem doctor`, `config` and `version`: diagnosis and settings."""

from __future__ import annotations

import sys

from graphmem.cli.command import command
from graphmem.cli.context import CommandContext
from graphmem.cli.failures import REFUSED


@command()
def doctor(
    here: CommandContext,
) -> None:
    """Check the installation and the index.

    The exit code is 1 when something is wrong.
    """
    from graphmem.cli.examination import examine
    from graphmem.cli.render.upkeep import findings

    found = examine(here)
    well = all(one.level != "bad" for one in found)
    if here.output.as_json:
        here.output.json({"ok": well, "findings": [one._asdict() for one in found]})
    elif not here.output.quiet:
        findings(here.output, found)
    if not well:
        raise SystemExit(REFUSED)


@command()
def config(
    here: CommandContext,
) -> None:
    """Print each setting with its value and origin."""
    from graphmem.settings import known_settings

    rows = [(one, here.settings.shown(one.key), here.settings.origin(one.key)) for one in known_settings()]
    if here.output.as_json:
        here.output.json(
            {
                "data_dir": str(here.location.data_dir),
                "settings": [{"key": one.key, "value": value, "origin": origin, "variable": one.variable} for one, value, origin in rows],
            }
        )
        return
    if not here.output.quiet:
        here.output.line(("index: ", "dim"), str(here.location.data_dir), ("" if here.location.exists else "  (does not exist yet)", "dim"))
        here.output.line()
    here.output.rows(
        [
            (
                (one.key, "bold"),
                str(value).lower() if isinstance(value, bool) else str(value) if value != "" else '""',
                (origin, "dim" if origin == "default" else "yellow"),
                ("" if here.output.quiet else one.doc, "dim"),
            )
            for one, value, origin in rows
        ]
    )


@command(without=("db", "home", "project", "quiet"))
def version(here: CommandContext) -> None:
    """Print the versions of graphmem, its engine and Python."""
    from importlib.metadata import version as version_of

    from graphmem import __version__

    versions = {"graphmem": __version__, "kuzu": version_of("kuzu"), "python": sys.version.split()[0]}
    if here.output.as_json:
        here.output.json(versions)
    else:
        here.output.rows(list(versions.items()), indent=0, gap=1)
