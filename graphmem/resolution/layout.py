"""What a project's configuration files say about where its modules are."""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

LAYOUT_FILES: Final = (
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "tsconfig.json",
    "jsconfig.json",
    "package.json",
    "pnpm-workspace.yaml",
    "go.mod",
    "Cargo.toml",
)
"""Names of the files `read_layout` understands, wherever they lie."""


def is_layout_file(name: str) -> bool:
    """True for names of files `read_layout` understands: `LAYOUT_FILES` and `tsconfig*.json`, which others extend."""
    return name in LAYOUT_FILES or (name.startswith(("tsconfig", "jsconfig")) and name.endswith(".json"))


class Script(NamedTuple):
    """`name = "module:function"` in a configuration file."""

    folder: str  # of the configuration file
    module: str
    function: str  # dotted; "" for the module itself
    kind: str  # command | export: a key of `rules.RULES`


@dataclass(frozen=True)
class Layout:
    """Facts from configuration files, with paths from the root of the repository."""

    python_roots: tuple[str, ...] = ("", "src")
    """Folders that are on the import path; "" is the root."""

    documents: Mapping[str, Any] = field(default_factory=dict)
    """Parsed JSON and TOML files by path, for rules that need more."""

    scripts: tuple[Script, ...] = ()
    """Python functions that configuration files name as commands or plug-ins."""

    root_package: str = ""
    """Name of the package the root itself is, when it has an `__init__.py`: its files import each other by that name."""


def read_layout(texts: Mapping[str, str]) -> tuple[Layout, dict[str, str]]:
    """Read configuration files.

    Args:
        texts: path to content; files of other names are ignored.

    Returns:
        The layout, and for each file that could not be read the reason.
    """
    documents: dict[str, Any] = {}
    failures: dict[str, str] = {}
    roots = {"", "src"}
    scripts: set[Script] = set()
    for path in sorted(texts):
        name = path.rpartition("/")[2]
        try:
            if name == "pyproject.toml":
                documents[path] = tomllib.loads(texts[path])
                roots |= _python_roots(path, documents[path])
                scripts |= _declared_scripts(path, documents[path])
            elif name == "setup.cfg":
                scripts |= _scripts_of_setup_cfg(path, texts[path])
            elif name == "setup.py":
                scripts |= _scripts_of_setup_py(path, texts[path])
            elif name == "Cargo.toml":
                documents[path] = tomllib.loads(texts[path])
            elif name == "go.mod":
                module = re.search(r'^\s*module\s+"?([^\s"]+)', texts[path], re.MULTILINE)
                documents[path] = {"module": module[1] if module else ""}
            elif name == "pnpm-workspace.yaml":
                documents[path] = {"packages": _yaml_list(texts[path], "packages")}
            elif is_layout_file(name) and name.endswith(".json"):
                documents[path] = json.loads(_without_comments(texts[path]))
        except (ValueError, configparser.Error) as error:
            failures[path] = str(error)
    return Layout(tuple(sorted(roots)), documents, tuple(sorted(scripts))), failures


def _script(path: str, target: object, kind: str) -> set[Script]:
    """What `module:function [extra]` names; nothing when it is something else."""
    found = _TARGET.match(target) if isinstance(target, str) else None
    return {Script(path.rpartition("/")[0], found[1], found[2] or "", kind)} if found else set()


_TARGET: Final = re.compile(r"^\s*([A-Za-z_][\w.]*)\s*(?::\s*([A-Za-z_][\w.]*))?\s*(?:\[.*\])?\s*$")


def _declared_scripts(path: str, document: Any) -> set[Script]:
    """Scripts and entry points of a pyproject.toml, as the standard says and as Poetry does."""
    found: set[Script] = set()
    tables = [document.get("project", {}), document.get("tool", {}).get("poetry", {})]
    for project in (table for table in tables if isinstance(table, dict)):
        groups = {"scripts": project.get("scripts"), "gui-scripts": project.get("gui-scripts")}
        for key in ("entry-points", "plugins"):
            groups |= project[key] if isinstance(project.get(key), dict) else {}
        for group, named in groups.items():
            for target in named.values() if isinstance(named, dict) else ():
                found |= _script(path, target.get("reference") if isinstance(target, dict) else target, _kind_of(group))
    return found


def _kind_of(group: str) -> str:
    return "command" if group.replace("_", "-") in ("scripts", "gui-scripts", "console-scripts") else "export"


def _scripts_of_setup_cfg(path: str, text: str) -> set[Script]:
    """`[options.entry_points]`: lines of `name = module:function` under each group."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    found: set[Script] = set()
    if parser.has_section("options.entry_points"):
        for group, lines in parser.items("options.entry_points"):
            for line in lines.splitlines():
                found |= _script(path, line.partition("=")[2], _kind_of(group))
    return found


def _scripts_of_setup_py(path: str, text: str) -> set[Script]:
    """Texts of the form `name = module:function` in a setup.py, which is read and never run; the group is the last one named before."""
    found: set[Script] = set()
    kind = "command"
    for match in _ENTRY_TEXT.finditer(text):
        if match["group"]:
            kind = _kind_of(match["group"])
        else:
            found |= _script(path, match["target"], kind)
    return found


_ENTRY_TEXT: Final = re.compile(
    r"""(["'])(?P<group>[A-Za-z_][\w.-]*)\1\s*:\s*(?=[\[("'])|["'\n][ \t]*[\w.-]+[ \t]*=[ \t]*(?P<target>[A-Za-z_][\w.]*:[A-Za-z_][\w.]*)"""
)


def _yaml_list(text: str, key: str) -> list[str]:
    """The plain or quoted items of one list at the top of a YAML file."""
    found: list[str] = []
    inside = False
    for line in text.splitlines():
        item = _YAML_ITEM.match(line)
        if inside and item:
            found.append(item[2])
        elif line.strip() and not line.lstrip().startswith("#"):
            inside = line.rstrip() == f"{key}:"
    return found


_YAML_ITEM: Final = re.compile(r"""^\s*-\s+(['"]?)(.+?)\1\s*(?:#.*)?$""")


def _python_roots(path: str, document: Any) -> set[str]:
    folder = path.rpartition("/")[0]
    tool = document.get("tool", {})
    found: set[str] = {folder, _below(folder, "src")}
    setuptools = tool.get("setuptools", {})
    where = setuptools.get("packages", {})
    if isinstance(where, dict):
        found |= {_below(folder, str(entry)) for entry in where.get("find", {}).get("where", [])}
    directories = setuptools.get("package-dir", {})
    if isinstance(directories, dict) and isinstance(directories.get(""), str):
        found.add(_below(folder, directories[""]))
    pytest = tool.get("pytest", {}).get("ini_options", {}).get("pythonpath", [])
    entries = pytest.split() if isinstance(pytest, str) else pytest
    found |= {_below(folder, str(entry)) for entry in entries}
    return found


def _below(folder: str, name: str) -> str:
    return "/".join(part for part in f"{folder}/{name}".split("/") if part not in ("", "."))


_STRING_OR_COMMENT: Final = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|,(?=\s*[\]}])', re.DOTALL)


def _without_comments(text: str) -> str:
    """JSON as editors write it: comments and trailing commas are allowed."""
    return _STRING_OR_COMMENT.sub(lambda match: match[0] if match[0].startswith('"') else "", text)
