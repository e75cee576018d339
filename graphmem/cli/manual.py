"""Render the manual page `graphmem(1)` from the declared commands.

`python -m graphmem.cli.reference` writes it; an installation puts it into `share/man/man1`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import typer.main

from graphmem import __version__
from graphmem.cli.command import COMMON
from graphmem.cli.main import PANELS, app
from graphmem.cli.options import accepted

EXIT_CODES: Final = {
    "0": "done",
    "1": "refused, or a check found something",
    "2": "wrong usage",
    "3": "internal fault",
    "130": "interrupted",
}
FILES: Final = {
    ".graphmem/": "index, memories and logs of a project, in its root directory",
    "graphmem.toml": "settings of a project; `graphmem config` lists every setting, its environment variable and the origin of its value",
    "~/.graphmem/": "memories that follow a person into every project",
}
_CODE: Final = re.compile(r"`([^`]+)`")


def text() -> str:
    """Return the manual page in roff, with the macros of man(7)."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    outer: Any = typer.main.get_command(app)
    common = {name for name in COMMON if name != "path"}
    yield '.\\" Written by `python -m graphmem.cli.reference`. Change the declarations, not this page.'
    yield f'.TH GRAPHMEM 1 "" "graphmem {__version__}" "User Commands"'
    yield ".SH NAME"
    yield "graphmem \\- remember a code base: dependencies, impact of changes, and knowledge about the code"
    yield ".SH SYNOPSIS"
    yield "\\fBgraphmem\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR...] [\\fIOPTION\\fR...]"
    yield ".SH OPTIONS OF EVERY COMMAND ABOUT AN INDEX"
    for one in outer.commands["impact"].params:
        if one.name in common:
            yield from _parameter(one)
    for panel, names in PANELS.items():
        yield f".SH {panel.upper()} COMMANDS"
        for name in names.split():
            found = outer.commands[name]
            inner = getattr(found, "commands", {})
            for title, command in ({name: found} if not inner else {f"{name} {key}": one for key, one in inner.items()}).items():
                yield from _command(title, command, common)
    yield ".SH EXIT STATUS"
    for code, meaning in EXIT_CODES.items():
        yield from (".TP", _bold(code), _roff(meaning))
    yield ".SH FILES"
    for path, meaning in FILES.items():
        yield from (".TP", _bold(path), _roff(meaning))


def _command(name: str, command: Any, common: set[str]) -> Iterator[str]:
    own = [one for one in command.params if one.name not in common and one.name != "help" and not getattr(one, "hidden", False)]
    arguments = [one.metavar or one.name.upper() for one in own if one.param_type_name == "argument"]
    yield f".SS {_roff(' '.join(['graphmem', name, *arguments]))}"
    for paragraph in (command.help or "").split("\n\n"):
        yield from (_roff(" ".join(paragraph.split())), ".PP")
    for one in own:
        if one.param_type_name == "option":
            yield from _parameter(one)


def _parameter(one: Any) -> Iterator[str]:
    flags = ", ".join(_bold(flag) for flag in (*one.opts, *one.secondary_opts))
    yield from (".TP", flags, _roff((one.help or "") + accepted(one)))


def _bold(text: str) -> str:
    return f"\\fB{_roff(text)}\\fR"


def _roff(text: str) -> str:
    """Escape a string for roff; code between backquotes becomes bold."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    escaped = _CODE.sub(r"\\fB\1\\fR", escaped)
    escaped = "".join(sign if sign.isascii() else f"\\[u{ord(sign):04X}]" for sign in escaped)
    return "\\&" + escaped if escaped[:1] in (".", "'") else escaped
