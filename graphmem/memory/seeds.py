"""Make first memories of a project, called seeds, from its own files.

The files are READMEs, instructions for agents, manifests, decision records and CI files. They contain knowledge for which a new project has
no memories yet. The functions do no I/O.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

from graphmem.memory.importers import FORMATS, MAX_BYTES, passages
from graphmem.memory.importers import read as read_rules
from graphmem.memory.markdown import Item
from graphmem.memory.text import clipped, fingerprint
from graphmem.memory.types import SEEDED
from graphmem.runtime.patterns import lazy_pattern

ID: Final = "seed-"
ORIENTATION: Final = "orientation"  # tag of seeds that a session begins with
SEEDED_FROM: Final = "from:"  # before the path in a tag
MOST: Final = 120  # seeds of a project
_CHARACTERS: Final = 600
_SHORTEST: Final = 24
_LISTED: Final = 12
_SCRIPTS: Final = 5  # scripts of a package that are shown with their commands
_SCRIPT_LENGTH: Final = 60
_COMMANDS: Final = frozenset({"scripts", "tasks", "targets"})  # a session begins with manifests that have them
_TOOLS: Final = "configures"  # a manifest that tells nothing else, such as one of a formatter, makes no seed
_CONFIDENCE: Final = 0.85
_IMPORTANCE: Final = 0.3
_HALF_LIFE_DAYS: Final = 3_650.0  # the file's own changes end a seed, not time
_TAG: Final = 50  # characters of a path in a tag

# ---- texts

_IMAGE: Final = lazy_pattern(r"\[?!\[[^\]]*\]\([^)]*\)(?:\]\([^)]*\))?|<[^>]+>")
_LINK: Final = lazy_pattern(r"\[([^\]]+)\]\([^)]*\)|\[([^\]]+)\]\[[^\]]*\]")
_RST_LINK: Final = lazy_pattern(r"`([^`<]+?)\s*<[^>]+>`_+")  # may span lines
_RST_LITERAL: Final = lazy_pattern(r"(?<!`)``(?!`)")
_RST_ROLE: Final = lazy_pattern(r":[a-z]+(?::[a-z]+)?:(?=`[^`])")  # before a name
_TELLING: Final = lazy_pattern(
    r"architect|structure|layout|convention|contribut|develop|test|design|principle|guideline|style|requirement|caveat|limitation|gotcha",
    re.IGNORECASE,
)
_GREETING: Final = lazy_pattern(r"(?:please|thank|thanks|welcome|hi\b|hello|note|see |:)", re.IGNORECASE)
_SOCIAL: Final = lazy_pattern(
    r"\b(?:issues?|bugs?|report\w*|conduct|questions?|community|sponsor\w*|licen[cs]e|financial|donat\w*|backers?|collective)\b",
    re.IGNORECASE,
)
_DEFINES: Final = lazy_pattern(r"[\w .`'-]{1,40}\bis (?:an?|the) ", re.IGNORECASE)
_DESCRIBES: Final = lazy_pattern(r"\b(?:is|are|has|have|represents?|provides?|contains?|supports?|holds|handles|uses)\b", re.IGNORECASE)
_DIRECTIVE: Final = lazy_pattern(
    r"\b(?:must|never|always|ensure|make sure|do not|don't|avoid|prefer|should|required?|run|use|only|before)\b", re.IGNORECASE
)
_WORK: Final = lazy_pattern(
    r"\b(?:tests?|tested|lint\w*|format\w*|builds?|commits?|branch(?:es)?|typ(?:es?|ing)|docs?|docstrings?|documentation|changelog|code|api"
    r"|dependenc\w+|versions?|releases?|compatib\w+|imports?|modules?|packages?|director\w+|folders?)\b",
    re.IGNORECASE,
)
_REASSURING: Final = lazy_pattern(
    r"\b(?:do not|don't) (?:worry|hesitate|be (?:afraid|shy))|\bfeel free\b|\bI(?:'ll|'m| am| will)\b", re.IGNORECASE
)
_LED: Final = lazy_pattern(r"\**(?P<name>[A-Z][\w ]{2,30}?)[.:]\**\s")
_UNDERLINE: Final = lazy_pattern(r"([=\-~^\"'#*+])\1{2,}[ \t]*")
_OPEN_STATUS: Final = lazy_pattern(r"\b(?:superseded|rejected|deprecated|withdrawn|obsolete|draft|proposed)\b", re.IGNORECASE)
_STATUS: Final = lazy_pattern(r"^[*\-\s]*\**status\**\s*:\**\s*(.+)$", re.IGNORECASE | re.MULTILINE)
_TITLE: Final = lazy_pattern(r"^#[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_NUMBER: Final = lazy_pattern(r"^(?:ADR[- ]?)?\d+\s*[.:)\-–—]*\s*", re.IGNORECASE)


class Seed(NamedTuple):
    """One statement in a file, from which a first memory is made.

    The text is not shortened yet, and the statement has no id.
    """

    content: str
    type: str
    is_orientation: bool = False
    title: str = ""


def _readme(path: str, text: str) -> Iterator[Seed]:
    said = _prose(path, text)
    about = next(
        (
            one
            for one in said
            if len(one.text) >= 40
            and one.text.count(" ") >= 5
            and not _GREETING.match(one.text)
            and (_DEFINES.match(one.text) or not _SOCIAL.search(one.text))
        ),
        None,
    )
    if about is not None:
        yield Seed(f"About this project: {about.text}", "module_insight", is_orientation=True)
    for one in said:
        if one is not about and _TELLING.search(one.heading) and _directs(one):
            yield Seed(one.text, "fact")


def _prose(path: str, text: str) -> list[Item]:
    """Return the paragraphs and list items of a document as plain words.

    Badges, markup and link addresses are removed.
    """
    source = text
    if path.lower().endswith((".rst", ".txt")) or "." not in PurePosixPath(path).name:
        source = _from_rst(text)
    return [one._replace(text=plain) for one in passages(source) if len(plain := _plain(one.text)) >= _SHORTEST]


def _plain(text: str) -> str:
    said = _LINK.sub(lambda found: found[1] or found[2], _IMAGE.sub("", text)).replace("**", "")
    return " ".join(_RST_ROLE.sub("", _RST_LITERAL.sub("`", said)).split()).strip(" |·")


def _directs(one: Item) -> bool:
    """Return whether a paragraph instructs people how to work on the code.

    For example, "Run the tests before each commit".
    """
    if _SOCIAL.search(one.heading) or _GREETING.match(one.text) or _REASSURING.search(one.text) or one.text.endswith(":"):
        return False
    return "`" in one.text or (_DIRECTIVE.search(one.text) is not None and _WORK.search(one.text) is not None)


def _from_rst(text: str) -> str:
    """Convert reStructuredText to Markdown; keep only headings and paragraphs."""
    lines = _RST_LINK.sub(r"\1", text).splitlines()
    out: list[str] = []
    for number, line in enumerate(lines):
        after = lines[number + 1] if number + 1 < len(lines) else ""
        if _UNDERLINE.fullmatch(line) or line.lstrip().startswith((".. ", "|", ":")) or line.endswith("::"):
            out.append("")
        elif line.strip() and _UNDERLINE.fullmatch(after) and len(after.strip()) >= len(line.strip()):
            out += ["", f"# {line.strip()}", ""]
        else:
            out.append(line.replace("``", "`"))
    return "\n".join(out)


def _instructions(path: str, text: str) -> Iterator[Seed]:
    form = next((one.name for one in FORMATS if one.fits(path.lower())), "agents")
    for one in read_rules(text, form if form not in ("markdown", "facts") else "agents").items:
        told = _DESCRIBES.search(one["content"]) and not _DIRECTIVE.search(one["content"])
        yield Seed(one["content"], one.get("type") or ("fact" if told else "preference"))


def _contributing(path: str, text: str) -> Iterator[Seed]:
    for one in _prose(path, text):
        if one.text.count(" ") >= 4 and _directs(one):
            yield Seed(one.text, "pattern")


def _decision(path: str, text: str) -> Iterator[Seed]:
    """Yield the title and decision of a decision record, if it is in force.

    A record that is only proposed, or that was rejected or replaced, is not in force.
    """
    title = _TITLE.search(text)
    stem = PurePosixPath(path).stem
    if title is None or stem.lower() in ("readme", "index", "template", "0000-template") or "template" in stem.lower():
        return
    found = passages(text)
    status = _STATUS.search(text)
    state = status[1] if status is not None else next((one.text for one in found if one.heading.lower().strip() == "status"), "")
    if _OPEN_STATUS.search(state):
        return
    led = [
        one.text for one in found if (begun := _LED.match(one.text)) and begun["name"].lower().startswith(("decision", "chosen", "choice"))
    ]
    chosen = led or [one.text for one in found if one.heading.lower().startswith(("decision", "we decide", "outcome"))]
    body = (
        chosen
        or [one.text for one in found if not _STATUS.match(one.text) and one.heading.lower() != "status" and one.text.count(" ") >= 6][:1]
    )
    name = _NUMBER.sub("", _plain(title[1]))
    if body:
        said = _LED.sub("", _plain(body[0]), count=1)
        yield Seed(f"Decided: {name}. {said}", "decision", title=clipped(name, 80))


# ---- manifests


def _pyproject(path: str, text: str) -> Iterator[Seed]:
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


def _package_json(path: str, text: str) -> Iterator[Seed]:
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


def _cargo(path: str, text: str) -> Iterator[Seed]:
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


def _composer(path: str, text: str) -> Iterator[Seed]:
    found = json.loads(text)
    yield from _manifest(
        path,
        f"PHP package {found.get('name') or ''}".strip(),
        ("depends on", list(_table(found, "require"))),
        ("scripts", list(_table(found, "scripts"))),
    )


def _go(path: str, text: str) -> Iterator[Seed]:
    module, version = re.search(r"^module\s+(\S+)", text, re.MULTILINE), re.search(r"^go\s+(\S+)", text, re.MULTILINE)
    needs = re.findall(r"^(?:require\s+|\t|\s{2,})([\w.\-]+\.[\w.\-]+/\S+)\s+v\S+[ \t]*$", text, re.MULTILINE)
    if module is not None:
        yield from _manifest(path, f"Go module {module[1]}", ("Go", [version[1]] if version else []), ("depends on", needs))


def _maven(path: str, text: str) -> Iterator[Seed]:
    own = re.sub(r"<(parent|dependencies|dependencyManagement|build|profiles|plugins)>.*?</\1>", "", text, flags=re.DOTALL)
    name = re.search(r"<artifactId>([^<]+)</artifactId>", own)
    needs = re.findall(r"<dependency>.*?<artifactId>([^<]+)</artifactId>", text, re.DOTALL)
    java = re.findall(r"<(?:maven\.compiler\.(?:release|source)|java\.version)>([^<$]+)<", text)
    if name is not None:
        modules = re.findall(r"<module>([^<]+)</module>", text)
        yield from _manifest(path, f"Maven project {name[1]}", ("Java", java[:1]), ("modules", modules), ("depends on", needs))


def _gradle(path: str, text: str) -> Iterator[Seed]:
    plugins = re.findall(r"\bid\s*\(?\s*['\"]([\w.\-]+)['\"]", text)
    yield from _manifest(path, "Gradle build", ("plugins", plugins))


def _gems(path: str, text: str) -> Iterator[Seed]:
    yield from _manifest(path, "Ruby project", ("gems", re.findall(r"^\s*gem\s+['\"]([\w\-]+)['\"]", text, re.MULTILINE)))


def _make(path: str, text: str) -> Iterator[Seed]:
    targets = [one for one in re.findall(r"^([a-z][\w\-]*)(?:\s[^:=\n]*)?:(?![=:])", text, re.MULTILINE | re.IGNORECASE) if "." not in one]
    yield from _manifest(path, "Commands", ("targets", targets))


def _cmake(path: str, text: str) -> Iterator[Seed]:
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


def _table(found: Any, name: str) -> Mapping[str, Any]:
    value = found.get(name) if isinstance(found, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _strings(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


# ---- CI

_TELLING_COMMAND: Final = lazy_pattern(
    r"(?:^|[\s/])(?:pytest|tox|nox|hatch|ruff|mypy|pyright|flake8|black|eslint|vitest|jest|playwright|cypress|tsc|cargo|mvnw?|gradlew?|make|rake"
    r"|rspec|phpunit|phpstan|dotnet|ctest|cmake|just|bazel|golangci-lint|clippy|rubocop|unittest|coverage run"
    r"|go (?:test|vet|build)|(?:npm|pnpm|yarn|bun) (?:run |test|build|lint|check)|(?:uv|poetry|bundle) (?:run|exec)"
    r"|scripts?/\w+|composer (?:run|test))\b"
)
_INSTALLS: Final = lazy_pattern(r"\b(?:pip3?|apt(?:-get)?|brew|npm|pnpm|yarn|uv pip|gem|cargo|choco|sudo) (?:ci\b|i\b|install|add|update)")
_RUN: Final = lazy_pattern(r"^(?P<in>\s*)(?:-\s+)?run:\s*(?P<said>.*)$")
_SCRIPT: Final = lazy_pattern(r"^(?P<in>\s*)(?:before_script|script):\s*(?P<said>.*)$")
_OPTIONS: Final = lazy_pattern(r"\s+(?:-(?!m\s)|\$\{\{)")  # `python -m` names a program
_MOST_COMMANDS: Final = 8


def _ci(path: str, text: str) -> Iterator[Seed]:
    every = dict.fromkeys(one for one in _commands(text) if _TELLING_COMMAND.search(one) and not _INSTALLS.search(one))
    shortest: dict[str, str] = {}
    for one in every:
        program = _OPTIONS.split(one, maxsplit=1)[0]
        if len(one) < len(shortest.setdefault(program, one)):
            shortest[program] = one
    found = [one for one in shortest.values() if "${{" not in one] or list(shortest.values())  # nobody can run a variable of the matrix
    if found:
        said = "; ".join(f"`{clipped(one, 100)}`" for one in found[:_MOST_COMMANDS])
        yield Seed(f"CI ({path}) runs {said}", "workflow_recipe", is_orientation=True)


def _commands(text: str) -> Iterator[str]:
    """Yield the shell commands in a CI file, under `run:` and `script:`."""
    deep = -1
    for line in text.splitlines():
        if deep >= 0:
            if not line.strip():
                continue
            if len(line) - len(line.lstrip()) > deep:
                yield line.strip().removeprefix("- ").rstrip("\\").strip().strip("'\"")
                continue
            deep = -1
        begun = _RUN.match(line) or _SCRIPT.match(line)
        if begun is None:
            continue
        said = begun["said"].strip()
        if said and said[0] not in "|>[":
            yield said.strip("'\"")
        else:
            deep = len(begun["in"])


# ---- files


class Kind(NamedTuple):
    """A kind of file from which first memories are made, such as READMEs.

    A kind has a pattern of the files' paths and a function that reads a file. It also limits the numbers of files and memories.
    """

    name: str  # a tag
    paths: re.Pattern[str]
    read: Callable[[str, str], Iterator[Seed]]
    files: int  # at most, nearest to the root first
    each: int  # seeds of one file
    all: int  # seeds of the kind


def _kind(name: str, paths: str, read: Callable[[str, str], Iterator[Seed]], files: int, each: int, most: int) -> Kind:
    return Kind(name, re.compile(paths, re.IGNORECASE), read, files, each, most)


_NEAR: Final = r"(?:[^/]+/){0,2}"
KINDS: Final[tuple[Kind, ...]] = (
    _kind("readme", r"readme(?:\.(?:md|markdown|rst|txt))?", _readme, 1, 8, 8),
    _kind("manifest", _NEAR + r"pyproject\.toml", _pyproject, 4, 1, 4),
    _kind("manifest", _NEAR + r"package\.json", _package_json, 4, 1, 4),
    _kind("manifest", _NEAR + r"cargo\.toml", _cargo, 4, 1, 4),
    _kind("manifest", _NEAR + r"composer\.json", _composer, 2, 1, 2),
    _kind("manifest", _NEAR + r"go\.mod", _go, 4, 1, 4),
    _kind("manifest", _NEAR + r"pom\.xml", _maven, 3, 1, 3),
    _kind("manifest", r"(?:[^/]+/)?build\.gradle(?:\.kts)?", _gradle, 3, 1, 3),
    _kind("manifest", r"gemfile", _gems, 1, 1, 1),
    _kind("manifest", r"(?:gnu)?makefile|justfile", _make, 2, 1, 2),
    _kind("manifest", r"cmakelists\.txt", _cmake, 1, 1, 1),
    _kind(
        "ci",
        r"\.github/workflows/[^/]*(?:test|ci|check|lint|build|main|python|node|rust|go)[^/]*\.ya?ml"
        r"|\.gitlab-ci\.yml|\.circleci/config\.yml|azure-pipelines\.yml",
        _ci,
        3,
        1,
        3,
    ),
    _kind(
        "instructions",
        _NEAR + r"(?:claude|agents|gemini)\.md|\.cursorrules|\.cursor/rules/[^/]+\.mdc|\.github/copilot-instructions\.md",
        _instructions,
        8,
        25,
        40,
    ),
    _kind("decision", r"(?:[^/]+/){0,3}(?:adrs?|decisions|decision-records)/[^/]+\.(?:md|markdown)", _decision, 40, 1, 40),
    _kind("contributing", r"(?:\.github/|docs/)?contributing\.(?:md|markdown|rst)", _contributing, 1, 12, 12),
)


def seed_files(paths: Iterable[str]) -> dict[str, Kind]:
    """Return the files from which first memories are made, with their kinds.

    The keys are paths, in the order in which the files are read.
    """
    known = list(paths)
    found: dict[str, Kind] = {}
    for kind in KINDS:
        # The newest decisions have the highest numbers.
        fits = sorted((one for one in known if kind.paths.fullmatch(one)), reverse=kind.name == "decision")
        for path in sorted(fits, key=lambda one: one.count("/"))[: kind.files]:
            found.setdefault(path, kind)
    return found


class Seeds(NamedTuple):
    """Memories made from a project's files, and notes on unusable files."""

    made: list[dict[str, Any]]  # arguments of `remember`
    notes: list[str]  # each names a file that could not be used
    left_out: int  # sentences beyond the limits of a file, of a kind of files or of the project


def seeds_of(texts: Mapping[str, str], kinds: Mapping[str, Kind]) -> Seeds:
    """Make memories from a project's files.

    The id of a memory depends only on its file and its text.

    Args:
        texts: contents of the files, by path.
        kinds: see `seed_files`.
    """
    made: dict[str, dict[str, Any]] = {}
    said: set[str] = set()
    notes: list[str] = []
    counts: dict[str, int] = {}
    left_out = 0
    for path, kind in kinds.items():
        text = texts.get(path, "")
        if len(text) > MAX_BYTES:
            notes.append(f"no memories were seeded from {path}: it has {len(text):,} characters, and at most {MAX_BYTES:,} are read")
            continue
        try:
            found = list(kind.read(path, text))
        except (ValueError, AttributeError, RecursionError) as error:  # a manifest that its own tool would refuse
            notes.append(f"no memories were seeded from {path}: {clipped(str(error), 120)}")
            continue
        room = min(kind.each, kind.all - counts.get(kind.paths.pattern, 0), MOST - len(made))
        for seed in found:
            words = clipped(" ".join(seed.content.split()), _CHARACTERS)
            same = fingerprint(words)
            if len(words) < _SHORTEST or same in said:
                continue
            if room <= 0:
                left_out += 1
                continue
            said.add(same)
            room -= 1
            counts[kind.paths.pattern] = counts.get(kind.paths.pattern, 0) + 1
            key = ID + hashlib.blake2b(f"{path}\0{words}".encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
            made[key] = {
                "id": key,
                "content": words,
                "type": seed.type,
                "source": SEEDED,
                "confidence": _CONFIDENCE,
                "importance": _IMPORTANCE,
                "half_life_days": _HALF_LIFE_DAYS,
                "tags": [
                    "seed",
                    kind.name,
                    SEEDED_FROM + (path if len(path) <= _TAG else PurePosixPath(path).name[:_TAG]),
                    *([ORIENTATION] if seed.is_orientation else []),
                ],
                **({"title": seed.title} if seed.title else {}),
            }
    return Seeds(list(made.values()), notes, left_out)
