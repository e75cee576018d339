"""Read the locations of modules from a project's configuration files.

Examples are `package.json`, `go.mod` and `pyproject.toml`. The files are untrusted. Content that is nested too deep, too long or of an
unexpected type is ignored.
"""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from graphmem.resolution.interfaces.msbuild import read_msbuild
from graphmem.runtime.process.faults import fault

LAYOUT_FILES: Final = (
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "tsconfig.json",
    "jsconfig.json",
    "package.json",
    "pnpm-workspace.yaml",
    "index.html",
    "go.mod",
    "Cargo.toml",
    "Directory.Build.props",
)
"""File names that `read_layout` understands, in any directory."""


def is_layout_file(name: str) -> bool:
    """Whether `name` is a configuration file that `read_layout` reads.

    The names are `LAYOUT_FILES`, `*.csproj`, `tsconfig*.json` and `jsconfig*.json`. Other configurations may extend such a JSON file.
    """
    return name in LAYOUT_FILES or name.endswith(".csproj") or (name.startswith(("tsconfig", "jsconfig")) and name.endswith(".json"))


class Script(NamedTuple):
    """A command or plug-in that a configuration file declares.

    The declaration has the form `name = "module:f"`.
    """

    folder: str  # directory of the configuration file
    module: str
    function: str  # dotted; "" for the module itself
    kind: str  # command | export: a key of `rules.RULES`


@dataclass(frozen=True)
class Layout:
    """Facts from a project's configuration files, with paths from its root."""

    python_roots: tuple[str, ...] = ("", "src")
    """Directories on the import path; "" is the root."""

    documents: Mapping[str, Any] = field(default_factory=dict)
    """Parsed JSON and TOML files by path, for language rules that need more."""

    scripts: tuple[Script, ...] = ()
    """Python functions that configuration files name as commands or plug-ins."""

    root_package: str = ""
    """Package name of the root, when it has an `__init__.py`: its files import each other by that name."""


MAX_DEPTH: Final = 64
"""Maximum nesting of a document. Real ones stay below 12, and later readers recurse."""

MAX_WRITTEN: Final = 1_000
"""Maximum characters of a name, a path or a line of a list; longer ones are ignored."""


def read_layout(texts: Mapping[str, str]) -> tuple[Layout, dict[str, str]]:
    """Parse a project's configuration files and return their facts.

    Args:
        texts: maps paths to contents; files with other names are ignored.

    Returns:
        The layout, and the reason for each unreadable file.
    """
    documents: dict[str, Any] = {}
    failures: dict[str, str] = {}
    roots = {"", "src"}
    scripts: set[Script] = set()
    for path in sorted(texts):
        try:
            document = _document(path, texts[path])
            if path.rpartition("/")[2] == "pyproject.toml":
                roots |= _python_roots(path, document)
            scripts |= _scripts(path, texts[path], document)
        except (ValueError, configparser.Error) as error:
            failures[path] = str(error).partition("\n")[0]
        except Exception as error:  # noqa: BLE001 - only this file fails, and the error is reported
            failures[path] = fault(error, "reading it as a configuration file", path)
        else:
            if document is not None:
                documents[path] = document
    return Layout(tuple(sorted(roots)), documents, tuple(sorted(scripts))), failures


def _document(path: str, text: str) -> object:
    """Parse a configuration file into mappings and lists of bounded depth.

    The result is None for a file of which only the declared scripts are read, such as setup.py.

    Raises:
        ValueError: the file is malformed or nested too deep.
    """
    name = path.rpartition("/")[2]
    if name in ("pyproject.toml", "Cargo.toml"):
        _refuse_depth(_TOML_PART, text)
        found: Any = tomllib.loads(text, parse_float=str)  # numbers are not needed, and nan is not equal to itself
    elif name == "go.mod":
        module = _MODULE.search(text)
        found = {"module": module[1] if module else ""}
    elif name.endswith((".csproj", ".props")):
        found = read_msbuild(text)
    elif name == "pnpm-workspace.yaml":
        found = {"packages": _yaml_list(text, "packages")}
    elif name == "index.html":
        tags = [tag for tag in _SCRIPT.findall(_HTML_COMMENT.sub("", text)) if _IS_MODULE.search(tag)]
        found = {"scripts": [source[1] for tag in tags if (source := _SOURCE.search(tag)) and len(source[1]) <= MAX_WRITTEN]}
    elif is_layout_file(name) and name.endswith(".json"):
        text = _without_comments(text)
        _refuse_depth(_JSON_PART, text)
        found = json.loads(text, parse_float=str, parse_constant=str)
        if "\\u" in text:
            json.dumps(found, ensure_ascii=False).encode()  # a path cannot contain half a character (a lone surrogate)
    else:
        return None
    if _is_deeper(found, MAX_DEPTH):
        raise ValueError(_TOO_DEEP)
    return found


_TOO_DEEP: Final = f"it is nested more than {MAX_DEPTH} deep"
_HTML_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_SCRIPT: Final = re.compile(r"<script\b[^>]*>", re.IGNORECASE)
_IS_MODULE: Final = re.compile(r"""\btype=["']?module\b""", re.IGNORECASE)
_SOURCE: Final = re.compile(r"""\bsrc=["']?([^"'\s>:?#]+)["'\s>?]""", re.IGNORECASE)  # an address with a host has a colon
_MODULE: Final = re.compile(r'^[ \t]*module[ \t]+"?([^\s"]+)', re.MULTILINE)


_JSON_PART: Final = re.compile(r'"(?:\\.|[^"\\])*+"?|[\[\]{}]', re.DOTALL)
_TOML_PART: Final = re.compile(
    r'"""(?:\\.|[^"\\]|"(?!""))*+(?:""")?|'
    + r"'''(?:[^']|'(?!''))*+(?:''')?|"
    + r'"(?:\\.|[^"\\\n])*+"?|'
    + r"'[^'\n]*+'?|#[^\n]*|[\[\]{}]",
    re.DOTALL,
)


def _refuse_depth(part: re.Pattern[str], text: str) -> None:
    """Raise an error for text with deeply nested brackets, before parsing it.

    `part` matches brackets and skips strings and comments. The check is needed because a parser fails at a depth that depends on Python's
    recursion limit, and any code may change this limit.
    """
    depth = 0
    for match in part.finditer(text):
        sign = match[0]
        depth += (sign in "[{") - (sign in "]}")
        if depth > MAX_DEPTH:
            raise ValueError(_TOO_DEEP)


def _is_deeper(document: object, depth: int) -> bool:
    """Whether mappings and lists in a document are nested more than `depth`."""
    level = [document]
    for _ in range(depth):
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return False
    return True


def _inside(document: object) -> Iterable[Any]:
    """Yield the mappings and lists directly inside a mapping or a list."""
    parts = document.values() if isinstance(document, dict) else document if isinstance(document, list) else ()
    return (one for one in parts if isinstance(one, (dict, list)))


def _at(document: object, *keys: str) -> Any:
    """Return the value at a path of keys in a document; None if missing."""
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def _scripts(path: str, text: str, document: object) -> set[Script]:
    """Return the functions that a file declares as commands or plug-ins.

    `text` is the content of the file at `path`, and `document` the parsed content.
    """
    name = path.rpartition("/")[2]
    if name == "pyproject.toml":
        return _declared_scripts(path, document)
    if name == "setup.cfg":
        return _scripts_of_setup_cfg(path, text)
    return _scripts_of_setup_py(path, text) if name == "setup.py" else set()


def _script(path: str, target: object, kind: str) -> set[Script]:
    """Parse a target `module:function [extra]` to a set with one `Script`.

    The set is empty if `target` does not have this form. `kind` is the kind of script, and `path` is the file that declares it.
    """
    found = _TARGET.match(target) if isinstance(target, str) and len(target) <= MAX_WRITTEN else None
    return {Script(path.rpartition("/")[0], found[1], found[2] or "", kind)} if found else set()


_TARGET: Final = re.compile(r"^\s*([A-Za-z_][\w.]*)\s*(?::\s*([A-Za-z_][\w.]*))?\s*(?:\[.*\])?\s*$")


def _declared_scripts(path: str, document: object) -> set[Script]:
    """Return the commands and entry points that a pyproject.toml declares.

    `document` is the parsed content of the file at `path`. The standard tables and Poetry's tables are read.
    """
    found: set[Script] = set()
    tables = [_at(document, "project"), _at(document, "tool", "poetry")]
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
    """Parse the table `[options.entry_points]` of a setup.cfg."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    found: set[Script] = set()
    if parser.has_section("options.entry_points"):
        for group, lines in parser.items("options.entry_points"):
            for line in lines.splitlines():
                found |= _script(path, line.partition("=")[2], _kind_of(group))
    return found


def _scripts_of_setup_py(path: str, text: str) -> set[Script]:
    """Find strings `name = module:function` in a setup.py.

    The file is never executed. A string belongs to the entry point group, such as `console_scripts`, that is named last before it.
    """
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
    """Return the items of the top-level list `key` in the text of a YAML file.

    Only plain and quoted items are returned.
    """
    found: list[str] = []
    inside = False
    for line in text.splitlines():
        item = _YAML_ITEM.match(line) if len(line) <= MAX_WRITTEN else None
        if inside and item:
            found.append(item[2])
        elif line.strip() and not line.lstrip().startswith("#"):
            inside = line.rstrip() == f"{key}:"
    return found


_YAML_ITEM: Final = re.compile(r"""^\s*-\s+(['"]?)(.+?)\1\s*(?:#.*)?$""")


def _python_roots(path: str, document: object) -> set[str]:
    folder = path.rpartition("/")[0]
    tool = _at(document, "tool")
    pythonpath = _at(tool, "pytest", "ini_options", "pythonpath")
    named = [
        "src",
        _at(tool, "setuptools", "package-dir", ""),
        *_listed(_at(tool, "setuptools", "packages", "find", "where")),
        *_listed(pythonpath.split() if isinstance(pythonpath, str) else pythonpath),
    ]
    return {folder, *(_below(folder, name) for name in named if isinstance(name, str) and len(name) <= MAX_WRITTEN)}


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _below(folder: str, name: str) -> str:
    return "/".join(part for part in f"{folder}/{name}".split("/") if part not in ("", "."))


_STRING_OR_COMMENT: Final = re.compile(r'"(?:\\.|[^"\\])*+(?:"|\Z|\\\Z)|//[^\n]*|/\*.*?(?:\*/|\Z)|,(?=\s*[\]}])', re.DOTALL)


def _without_comments(text: str) -> str:
    """Remove comments and trailing commas, which editors allow in JSON."""
    return _STRING_OR_COMMENT.sub(lambda match: match[0] if match[0].startswith('"') else "", text)
