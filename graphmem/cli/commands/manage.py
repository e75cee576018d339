"""`graphmem doctor`, `config` and `version`: the index and the program themselves."""

from __future__ import annotations

import sys

from graphmem.cli import options
from graphmem.cli.door import door
from graphmem.cli.failures import REFUSED


def doctor(
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Check the installation and the index; exit code 1 when something is wrong."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.examination import examine
        from graphmem.cli.render.manage import findings

        found = examine(here)
        well = all(one.level != "bad" for one in found)
        if as_json:
            here.output.json({"ok": well, "findings": [one._asdict() for one in found]})
        elif not quiet:
            findings(here.output, found)
        if not well:
            raise SystemExit(REFUSED)


def config(
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Print each setting, its value here, and where it came from."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.settings import known_settings

        rows = [(one, here.settings.shown(one.key), here.settings.origin(one.key)) for one in known_settings()]
        if as_json:
            here.output.json(
                {
                    "data_dir": str(here.location.data_dir),
                    "settings": [
                        {"key": one.key, "value": value, "origin": origin, "variable": one.variable} for one, value, origin in rows
                    ],
                }
            )
            return
        if not quiet:
            here.output.line(("index: ", "dim"), str(here.location.data_dir), ("" if here.location.exists else "  (not there yet)", "dim"))
            here.output.line()
        here.output.rows(
            [
                (
                    (one.key, "bold"),
                    str(value).lower() if isinstance(value, bool) else str(value) if value != "" else '""',
                    (origin, "dim" if origin == "default" else "yellow"),
                    ("" if quiet else one.doc, "dim"),
                )
                for one, value, origin in rows
            ]
        )


def version(as_json: options.Json = False) -> None:
    """Print the versions of graphmem, its engine and Python."""
    with door(as_json=as_json) as here:
        from importlib.metadata import version as version_of

        from graphmem import __version__

        versions = {"graphmem": __version__, "kuzu": version_of("kuzu"), "python": sys.version.split()[0]}
        if as_json:
            here.output.json(versions)
        else:
            here.output.rows(list(versions.items()), indent=0, gap=1)
