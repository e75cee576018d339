"""Make first memories of a project, called seeds, from its own files.

The files are READMEs, instructions for agents, manifests, decision records and CI files. They contain knowledge for which a new project has
no memories yet. The functions do no I/O.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

from graphmem.memory.files.importers import MAX_BYTES
from graphmem.memory.seeds.seed import Seed
from graphmem.memory.seeds.seed_commands import ci_commands
from graphmem.memory.seeds.seed_manifests import (
    cargo_toml,
    cmake_lists,
    composer_json,
    gemfile,
    go_mod,
    gradle_build,
    makefile,
    maven_pom,
    package_json,
    pyproject,
    taskfile,
)
from graphmem.memory.seeds.seed_prose import SHORTEST, contributing, decision, instructions, readme
from graphmem.memory.texts.text import clipped, fingerprint
from graphmem.memory.texts.types import SEEDED

ID: Final = "seed-"
ORIENTATION: Final = "orientation"  # tag of seeds that a session begins with
SEEDED_FROM: Final = "from:"  # before the path in a tag
MOST: Final = 120  # seeds of a project
_CHARACTERS: Final = 600
_CONFIDENCE: Final = 0.85
_IMPORTANCE: Final = 0.3
_HALF_LIFE_DAYS: Final = 3_650.0  # the file's own changes end a seed, not time
_TAG: Final = 50  # characters of a path in a tag


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


_NEAR: Final = (
    r"(?:(?!(?:examples?|samples?|demos?|templates?|tests?|fixtures?|testdata)/)[^/]+/){0,2}"  # what examples need is not the project's
)
KINDS: Final[tuple[Kind, ...]] = (
    _kind("readme", r"readme(?:\.(?:md|markdown|rst|txt))?", readme, 1, 8, 8),
    _kind("manifest", _NEAR + r"pyproject\.toml", pyproject, 4, 1, 4),
    _kind("manifest", _NEAR + r"package\.json", package_json, 4, 1, 4),
    _kind("manifest", _NEAR + r"cargo\.toml", cargo_toml, 4, 1, 4),
    _kind("manifest", _NEAR + r"composer\.json", composer_json, 2, 1, 2),
    _kind("manifest", _NEAR + r"go\.mod", go_mod, 4, 1, 4),
    _kind("manifest", _NEAR + r"pom\.xml", maven_pom, 3, 1, 3),
    _kind("manifest", r"(?:[^/]+/)?build\.gradle(?:\.kts)?", gradle_build, 3, 1, 3),
    _kind("manifest", r"gemfile", gemfile, 1, 1, 1),
    _kind("manifest", r"(?:gnu)?makefile|justfile", makefile, 2, 1, 2),
    _kind("manifest", r"taskfile\.ya?ml", taskfile, 1, 1, 1),
    _kind("manifest", r"cmakelists\.txt", cmake_lists, 1, 1, 1),
    _kind(
        "ci",
        r"\.github/workflows/[^/]*(?:test|ci|check|lint|build|main|backend|frontend|python|node|rust|go)[^/]*\.ya?ml"
        r"|\.gitlab-ci\.yml|\.circleci/config\.yml|azure-pipelines\.yml",
        ci_commands,
        3,
        1,
        3,
    ),
    _kind(
        "instructions",
        _NEAR + r"(?:claude|agents|gemini)\.md|\.cursorrules|\.cursor/rules/[^/]+\.mdc|\.github/copilot-instructions\.md",
        instructions,
        8,
        25,
        40,
    ),
    _kind("decision", r"(?:[^/]+/){0,3}(?:adrs?|decisions|decision-records)/[^/]+\.(?:md|markdown)", decision, 40, 1, 40),
    _kind("contributing", r"(?:\.github/|docs/)?contributing\.(?:md|markdown|rst)", contributing, 1, 12, 12),
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
            if len(words) < SHORTEST or same in said:
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
