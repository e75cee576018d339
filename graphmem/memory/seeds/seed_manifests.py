"""Read a project's manifests and build files for its first memories."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from graphmem.memory.seeds.seed import Seed
from graphmem.memory.texts.text import clipped

_LISTED: Final = 12
_SCRIPTS: Final = 5  # scripts of a package that are shown with their commands
_SCRIPT_LENGTH: Final = 60
_COMMANDS: Final = frozenset({"scripts", "tasks", "targets"})  # a session begins with manifests that have them
_TOOLS: Final = "configures"  # a manifest that tells nothing else, such as one of a formatter, makes no seed


def pyproject(path: str, text: str) -> Iterator[Seed]:
    """Yield a first memory that says what a `pyproject.toml` declares."""
    found = tomllib.loads(text)
    project = _table(found, "project")
    tools = _table(found, "tool")
    poetry = _table(tools, "poetry")
    names = [*_strings(project.get("dependencies")), *(one for one in _table(poetry, "dependencies") if one != "python")]
    scripts = [*_table(project, "scripts"), *_table(poetry, "scripts")]
    tasks = [*_table(_table(tools, "poe"), "tasks"), *_table(_table(tools, "taskipy"), "tasks"), *_table(_table(tools, "pdm"), "scripts")]
    version = project.get("requires-python") or _table(poetry, "dependencies").get("python") or ""
    checks = [one for one in ("pytest", "ruff", "mypy", "pyright", "black", "flake8", "isort", "tox", "hatch", "uv") if one in tools]
    yield from _manifest(
        path,
        f"Python package {project.get('name') or poetry.get('name') or ''}".strip(),
        ("purpose", _strings([project.get("description") or poetry.get("description")])),
        ("Python", [str(version)] if version else []),
        ("depends on", _names(names)),
        ("commands it installs", scripts),
        ("tasks", tasks),
        (_TOOLS, checks),
    )


def package_json(path: str, text: str) -> Iterator[Seed]:
    """Yield a first memory that says what a `package.json` declares."""
    found = json.loads(text)
    scripts = _table(found, "scripts")
    ranked = sorted(scripts, key=lambda name: (re.match(r"(?:test|build|lint|check|type|format|dev|start)", name) is None, ":" in name))
    told = [f"{name}: `{clipped(str(scripts[name]), _SCRIPT_LENGTH)}`" for name in ranked[:_SCRIPTS]] + ranked[_SCRIPTS:]
    workspaces = found.get("workspaces")
    yield from _manifest(
        path,
        f"JavaScript package {found.get('name') or ''}".strip(),
        ("purpose", _strings([found.get("description")])),
        ("package manager", [str(found["packageManager"])] if found.get("packageManager") else []),
        ("workspaces", _strings(workspaces if isinstance(workspaces, list) else _table(found, "workspaces").get("packages"))),
        ("scripts", told),
        ("depends on", list(_table(found, "dependencies"))),
    )


def cargo_toml(path: str, text: str) -> Iterator[Seed]:
    """Yield a first memory that says what a `Cargo.toml` declares."""
    found = tomllib.loads(text)
    package = _table(found, "package")
    edition = package.get("edition")
    yield from _manifest(
        path,
        f"Rust package {package.get('name') or ''}".strip() if package else "Rust workspace",
        ("edition", [edition] if isinstance(edition, str) else []),
        ("workspace members", _strings(_table(found, "workspace").get("members"))),
        ("features", list(_table(found, "features"))),
        ("depends on", list(_table(found, "dependencies"))),
    )


def composer_json(path: str, text: str) -> Iterator[Seed]:
    """Yield a first memory that says what a `composer.json` declares."""
    found = json.loads(text)
    yield from _manifest(
        path,
        f"PHP package {found.get('name') or ''}".strip(),
        ("depends on", list(_table(found, "require"))),
        ("scripts", list(_table(found, "scripts"))),
    )


def go_mod(path: str, text: str) -> Iterator[Seed]:
    """Yield a first memory that says what a `go.mod` declares."""
    module, version = re.search(r"^module\s+(\S+)", text, re.MULTILINE), re.search(r"^go\s+(\S+)", text, re.MULTILINE)
    needs = re.findall(r"^(?:require\s+|\t|\s{2,})([\w.\-]+\.[\w.\-]+/\S+)\s+v\S+[ \t]*$", text, re.MULTILINE)
    if module is not None:
        yield from _manifest(path, f"Go module {module[1]}", ("Go", [version[1]] if version else []), ("depends on", needs))


def maven_pom(path: str, text: str) -> Iterator[Seed]:
    """Yield a first memory that says what a `pom.xml` declares."""
    own = re.sub(r"<(parent|dependencies|dependencyManagement|build|profiles|plugins)>.*?</\1>", "", text, flags=re.DOTALL)
    name = re.search(r"<artifactId>([^<]+)</artifactId>", own)
    needs = re.findall(r"<dependency>.*?<artifactId>([^<]+)</artifactId>", text, re.DOTALL)
    java = re.findall(r"<(?:maven\.compiler\.(?:release|source)|java\.version)>([^<$]+)<", text)
    if name is not None:
        modules = re.findall(r"<module>([^<]+)</module>", text)
        yield from _manifest(path, f"Maven project {name[1]}", ("Java", java[:1]), ("modules", modules), ("depends on", needs))


def gradle_build(path: str, text: str) -> Iterator[Seed]:
    """Yield the seed (text for a first memory) of a Gradle build file."""
    plugins = re.findall(r"\bid\s*\(?\s*['\"]([\w.\-]+)['\"]", text)
    yield from _manifest(path, "Gradle build", ("plugins", plugins))


def gemfile(path: str, text: str) -> Iterator[Seed]:
    """Yield the seed (text for a first memory) of a `Gemfile`."""
    yield from _manifest(path, "Ruby project", ("gems", re.findall(r"^\s*gem\s+['\"]([\w\-]+)['\"]", text, re.MULTILINE)))


def makefile(path: str, text: str) -> Iterator[Seed]:
    """Yield the seed (text for a first memory) of a Makefile or `justfile`."""
    targets = [one for one in re.findall(r"^([a-z][\w\-]*)(?:\s[^:=\n]*)?:(?![=:])", text, re.MULTILINE | re.IGNORECASE) if "." not in one]
    yield from _manifest(path, "Commands", ("targets", targets))


def taskfile(path: str, text: str) -> Iterator[Seed]:
    """Yield the seed (text for a first memory) of a `Taskfile.yml`."""
    section = re.search(r"^tasks:[ \t]*$(.*?)(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    names = re.findall(r"^  ['\"]?(\w[\w:.\-]*?)['\"]?:(?=\s|$)", section[1], re.MULTILINE) if section is not None else []
    ranked = sorted(names, key=lambda name: re.search(r"test|lint|check|build|format|type|dev", name) is None)
    yield from _manifest(path, "Commands", ("tasks", [f"task {name}" for name in ranked]))


def cmake_lists(path: str, text: str) -> Iterator[Seed]:
    """Yield the seed (text for a first memory) of a `CMakeLists.txt`."""
    name = re.search(r"^\s*project\s*\(\s*([\w\-]+)", text, re.MULTILINE | re.IGNORECASE)
    options = re.findall(r"^\s*option\s*\(\s*(\w+)", text, re.MULTILINE | re.IGNORECASE)
    if name is not None:
        yield from _manifest(path, f"CMake project {name[1]}", ("options", options))


def _manifest(path: str, title: str, *groups: tuple[str, Sequence[str]]) -> Iterator[Seed]:
    said = [f"{name}: {_enumerated(values)}" for name, values in groups if values]
    if any(values for name, values in groups if name != _TOOLS):
        has_commands = any(values for name, values in groups if name in _COMMANDS)
        yield Seed(f"{title} ({path}). {'; '.join(said)}.", "fact", is_orientation=has_commands and "/" not in path)


def _enumerated(values: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(" ".join(one.split()) for one in values))
    more = f" and {len(distinct) - _LISTED} more" if len(distinct) > _LISTED else ""
    return ", ".join(distinct[:_LISTED]) + more


def _names(requirements: Iterable[str]) -> list[str]:
    return [found[0] for one in requirements if (found := re.match(r"[\w.\-]+", one))]


def _table(found: object, name: str) -> Mapping[str, Any]:
    value = found.get(name) if isinstance(found, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _strings(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
