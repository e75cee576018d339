"""Write the pages of docs/reference, and the manual, from declarations.

Run it with `python -m graphmem.cli.reference`.
"""

from __future__ import annotations

import inspect
import re
import sys
import typing
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import typer.main

from graphmem.answers.marks import Doc
from graphmem.cli import manual
from graphmem.cli.command import COMMON
from graphmem.cli.main import PANELS, app
from graphmem.cli.options import accepted
from graphmem.mcp_server.tools import INSTRUCTIONS, TOOLS
from graphmem.operations.declare import Operation, Parameter, camel, split
from graphmem.operations.marks import Bounds, Filled
from graphmem.operations.registry import DECLARED, registry
from graphmem.settings import known_settings

FOLDER: Final = "docs/reference"
_LIST: Final = re.compile(r"^(-|\s)", re.MULTILINE)
HEADER: Final = "<!-- Written by `python -m graphmem.cli.reference`. Change the declarations, not this page. -->"
SCOPES: Final = {"": "any token", **{scope: f"scope `{scope}`" for scope in ("read", "remember", "curate", "index", "admin")}}


def operations() -> Iterator[str]:
    """Yield lines on each operation: parameters, answer, scope, interfaces."""
    yield "The operations of an open project, in Python (`GraphMem`, `RemoteGraphMem`) and in GraphQL. Names in GraphQL are written in"
    yield "camel case; types are in [schema.graphql](../../queries/schema.graphql). A parameter without a default is required."
    for group in DECLARED:
        yield f"\n## {group.__name__.removesuffix('Operations')}\n"
        yield from _prose(group.__doc__)
        for one in registry().values():
            if one.function.__qualname__.startswith(group.__name__ + "."):
                yield from _operation(one)


def commands() -> Iterator[str]:
    """Yield lines on each command, with its arguments and options."""
    yield "`graphmem --help` lists the commands. The option `--help` of a command explains it."
    yield "The exit code is 0 for success, 1 for a refusal or a finding, 2 for wrong usage, 3 for an internal error and 130 after Ctrl-C."
    yield "With `--json` an error is printed as a JSON document, too."
    outer: Any = typer.main.get_command(app)
    common = {name for name in COMMON if name != "path"}
    yield "\nEvery command about an index has these options:\n"
    yield from _table(("option", "meaning"), [_option(one) for one in outer.commands["impact"].params if one.name in common])
    for panel, names in PANELS.items():
        yield f"\n## {panel}"
        for name in names.split():
            found = outer.commands[name]
            for inner, command in ({name: found} | {f"{name} {key}": one for key, one in getattr(found, "commands", {}).items()}).items():
                yield from _command(inner, command, common)


def tools() -> Iterator[str]:
    """Yield lines on each of the agents' tools, with its arguments."""
    yield "The tools that `graphmem mcp` and `/mcp` of a server offer to coding agents. An agent also reads these instructions:\n"
    yield f"> {INSTRUCTIONS}"
    for name, tool in TOOLS.items():
        yield f"\n## {name}\n"
        yield tool.description
        asked = " or ".join(f"[`{one}`](operations.md#{one})" for one in tool.asks)
        yield f"\nCalls {asked}; an answer has at most {tool.budget:,} tokens"
        yield ("unless `budget` sets another limit." if tool.is_sized else "and cannot be made longer.") + "\n"
        schema = tool.checked
        rows = [(f"`{key}`", _words(said), "yes" if key in schema["required"] else "") for key, said in schema["properties"].items()]
        yield from _table(("argument", "type", "required"), rows)


def settings() -> Iterator[str]:
    """Yield lines on each setting, with its variable and default."""
    yield "`graphmem config` shows each setting, its value here, and its origin. A value on the command line"
    yield "has precedence; then its variable, the project's `graphmem.toml`, and `[tool.graphmem]` in its `pyproject.toml`.\n"
    rows = [(f"`{one.key}`", f"`{one.variable}`", f"`{one.default}`" if one.default != "" else "", one.doc) for one in known_settings()]
    yield from _table(("key", "variable", "default", "meaning"), rows)


PAGES: Final[dict[str, tuple[str, Callable[[], Iterator[str]]]]] = {
    "operations.md": ("Operations", operations),
    "commands.md": ("Commands", commands),
    "tools.md": ("Tools of agents", tools),
    "settings.md": ("Settings", settings),
}

MANUAL: Final = "graphmem.1"


def page(name: str) -> str:
    """Return the text of a page of the reference."""
    if name == MANUAL:
        return manual.text()
    title, lines = PAGES[name]
    return "\n".join([f"# {title}", "", HEADER, "", *lines()]).rstrip() + "\n"


def _operation(one: Operation) -> Iterator[str]:
    hints = one.hints
    yield f"\n### {one.name}\n"
    yield from _prose(one.doc)
    yield ""
    shown = [parameter for parameter in one.parameters if not parameter.has(Filled)]
    yield "```python"
    yield f"{one.name}({', '.join(map(_signed, shown))}) -> {_type(one.answer)}"
    yield "```\n"
    facts = [f"GraphQL: `{hints.root} {{ {camel(one.name)} }}`"] if hints.root else []
    facts.append(f"needs {SCOPES[hints.needs]}")
    if hints.command:
        facts.append(f"command `graphmem {hints.command}`")
    yield "; ".join(facts) + ".\n"
    rows = []
    for parameter in shown:
        fields = typing.get_type_hints(parameter.hint, include_extras=True) if parameter.is_mapping else {}
        rows += [(f"`{name}`", _description(split(hint)[1])) for name, hint in fields.items()]
        if not fields:
            rows.append((f"`{parameter.name}`", _described(parameter)))
    yield from _table(("parameter", "meaning"), [row for row in rows if row[1]])


def _command(name: str, command: Any, common: set[str]) -> Iterator[str]:
    own = [one for one in command.params if one.name not in common and one.name != "help" and not getattr(one, "hidden", False)]
    usage = [one.metavar or one.name.upper() for one in own if one.param_type_name == "argument"]
    yield f"\n### graphmem {name}\n"
    yield from _prose(command.help)
    if hasattr(command, "commands"):
        return
    yield ""
    if usage:  # the heading says the rest
        yield "```console"
        yield " ".join(["graphmem", name, *usage, "[OPTIONS]"])
        yield "```\n"
    yield from _table(("option", "meaning"), [_option(one) for one in own])


def _option(one: Any) -> tuple[str, str]:
    if one.param_type_name == "argument":
        return f"`{one.metavar or one.name.upper()}`", _cell(one.help)
    flags = ", ".join(f"`{flag}`" for flag in (*one.opts, *one.secondary_opts))
    default = one.default
    is_told = default not in (None, "", False, ()) and not one.secondary_opts
    return flags, _cell(one.help + accepted(one)) + (f" Default: {getattr(default, 'value', default)}." if is_told else "")


def _described(parameter: Parameter) -> str:
    bounds = parameter.mark(Bounds)
    return "; ".join(filter(None, (parameter.described.rstrip("."), f"{bounds.low:g} to {bounds.high:g}" if bounds else "")))


def _description(marks: Sequence[object]) -> str:
    return next((mark.text for mark in marks if isinstance(mark, Doc)), "")


def _signed(parameter: Parameter) -> str:
    if parameter.is_mapping:
        return f"**{parameter.hint.__name__}"
    default = "" if parameter.default is inspect.Parameter.empty else f" = {parameter.default!r}"
    return f"{parameter.name}: {_type(parameter.hint)}{default}"


def _type(hint: object) -> str:
    """Return a type in Python's notation, without annotations and modules."""
    hint = split(hint)[0]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return " | ".join(repr(one) for one in arguments)
    if hint is type(None):
        return "None"
    if origin is None:
        return getattr(hint, "__name__", str(hint))
    if not isinstance(origin, type) or origin.__name__ == "UnionType":
        return " | ".join(map(_type, arguments))
    inner = ", ".join("[…]" if isinstance(one, list) else "…" if one is ... else _type(one) for one in arguments)
    return f"{origin.__name__}[{inner}]"


def _words(schema: dict[str, Any]) -> str:
    """Describe a JSON schema in words, such as `list of string`."""
    if "enum" in schema:
        return "one of " + ", ".join(f"`{one}`" for one in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_words(schema['items'])}"
    bounds = f", {schema['minimum']:g} to {schema['maximum']:g}" if "minimum" in schema else ""
    return f"{schema['type']}{bounds}" + (f": {schema['description']}" if "description" in schema else "")


def _prose(text: str | None) -> list[str]:
    """Return the lines of a docstring, with each paragraph joined to one line.

    Lists keep their lines.
    """
    paragraphs = inspect.cleandoc(text or "").split("\n\n")
    return "\n\n".join(one if _LIST.search(one) else " ".join(one.split()) for one in paragraphs).splitlines()


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows:
        yield "| " + " | ".join(head) + " |"
        yield "|" + "---|" * len(head)
        for row in rows:
            yield "| " + " | ".join(_cell(one) for one in row) + " |"


def write(folder: Path) -> list[Path]:
    """Write all pages of the reference into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [*PAGES, MANUAL]
    for name in names:
        (folder / name).write_text(page(name), encoding="utf-8")
    return [folder / name for name in names]


if __name__ == "__main__":
    for path in write(Path(sys.argv[1] if len(sys.argv) > 1 else FOLDER)):
        sys.stdout.write(f"{path}\n")
