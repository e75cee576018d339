"""What a project's configuration files say about where its modules are."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

LAYOUT_FILES: Final = (
    "pyproject.toml",
    "setup.cfg",
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


@dataclass(frozen=True)
class Layout:
    """Facts from configuration files, with paths from the root of the repository."""

    python_roots: tuple[str, ...] = ("", "src")
    """Folders that are on the import path; "" is the root."""

    documents: Mapping[str, Any] = field(default_factory=dict)
    """Parsed JSON and TOML files by path, for rules that need more."""

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
    for path in sorted(texts):
        name = path.rpartition("/")[2]
        try:
            if name == "pyproject.toml":
                documents[path] = tomllib.loads(texts[path])
                roots |= _python_roots(path, documents[path])
            elif name == "Cargo.toml":
                documents[path] = tomllib.loads(texts[path])
            elif name == "go.mod":
                module = re.search(r'^\s*module\s+"?([^\s"]+)', texts[path], re.MULTILINE)
                documents[path] = {"module": module[1] if module else ""}
            elif name == "pnpm-workspace.yaml":
                documents[path] = {"packages": _yaml_list(texts[path], "packages")}
            elif is_layout_file(name) and name.endswith(".json"):
                documents[path] = json.loads(_without_comments(texts[path]))
        except ValueError as error:
            failures[path] = str(error)
    return Layout(tuple(sorted(roots)), documents), failures


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
