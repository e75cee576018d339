"""Names and ids of modules that stay what they were while most of their files stay together."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.analysis.semantic.files import common_folder
from graphmem.model import stable_id

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

MOST: Final = 0.6  # share of its files that must lie below a folder for the module to bear its name
SAME: Final = 1 / 3  # share of the larger one that two groups must have in common to be the same module
ROOT: Final = "(root)"
SOURCES: Final = frozenset({"src", "lib"})  # folders that hold a package and say nothing about it
SPEAKING: Final = 0.1  # least share of a group that is no tests and names it; below that it is a group of tests
SPOKEN: Final = 8  # weightiest files that are tried for a name


class Known(NamedTuple):
    """A module as it was when the modules were last worked out."""

    id: str
    name: str
    paths: frozenset[str]


class Named(NamedTuple):
    """A group of files with its name."""

    id: str
    name: str
    path: str
    paths: list[str]


def named(
    groups: Sequence[Sequence[str]], known: Sequence[Known], weight: Mapping[str, float], tests: Collection[str], project: str
) -> list[Named]:
    """Groups with unique names and ids, those of a known module where it is the same one.

    Args:
        groups: of ascending paths.
        known: the modules before.
        weight: path -> how much depends on the file; the heaviest tells two modules of one folder apart.
        tests: files of tests; where a tenth of a group or more are others, those alone give it its name.
        project: part of new ids.
    """
    old = _matches(groups, known)
    taken = {old[i].name for i in old}
    others = [[path for path in group if path not in tests] for group in groups]
    speaking = {i: others[i] if len(others[i]) >= SPEAKING * len(group) and others[i] else list(group) for i, group in enumerate(groups)}
    used = {one.id for one in known}
    top = common_folder(path for group in groups for path in group)
    bases = {i: _base(speaking[i], top) for i in range(len(groups)) if i not in old}
    files: Counter[str] = Counter()
    for i, base in bases.items():
        files[base] += len(speaking[i])
    found = []
    for i, group in enumerate(groups):
        before = old.get(i)
        if before is not None:
            found.append(Named(before.id, before.name, common_folder(group), list(group)))
            continue
        name = _name(bases[i], speaking[i], 2 * len(speaking[i]) > files[bases[i]], taken, weight)
        taken.add(name)
        ordinal = 0
        while (key := stable_id("module", project, name, str(ordinal))) in used:
            ordinal += 1
        used.add(key)
        found.append(Named(key, name, common_folder(group), list(group)))
    return found


def _matches(groups: Sequence[Sequence[str]], known: Sequence[Known]) -> dict[int, Known]:
    """The known module each group is: the largest overlaps first, each module once."""
    module_of = {path: i for i, one in enumerate(known) for path in one.paths}
    overlaps = []
    for i, group in enumerate(groups):
        for j, common in Counter(module_of[path] for path in group if path in module_of).items():
            if common >= SAME * max(len(group), len(known[j].paths)):
                overlaps.append((-common, known[j].id, i, j))
    found: dict[int, Known] = {}
    given: set[int] = set()
    for _, _, i, j in sorted(overlaps):
        if i not in found and j not in given:
            found[i] = known[j]
            given.add(j)
    return found


def _base(group: Sequence[str], top: str) -> str:
    """The deepest folder most of the group lies in, below what all of the project has in common and below a folder of sources."""
    counts: Counter[str] = Counter()
    for path in group:
        folder = path.rpartition("/")[0]
        while folder:
            counts[folder] += 1
            folder = folder.rpartition("/")[0]
    fitting = [folder for folder, count in counts.items() if count >= MOST * len(group)]
    folder = max(fitting, key=lambda one: (one.count("/"), counts[one], one), default="")
    base = folder.removeprefix(top).strip("/") if folder != top else top.rpartition("/")[2]
    first, _, rest = base.partition("/")
    return (rest if first in SOURCES and rest else base) or ROOT


def _name(base: str, group: Sequence[str], most: bool, taken: set[str], weight: Mapping[str, float]) -> str:
    """The base alone for the group that has most of what lies there; others add their weightiest files, for no part is the whole."""
    if most and base not in taken:
        return base
    stems = list(dict.fromkeys(_stem(path) for path in sorted(group, key=lambda one: (-weight.get(one, 0.0), one))))
    stems = [stem for stem in stems if stem != base.rpartition("/")[2]] or stems
    for one, other in combinations(stems[:SPOKEN], 2):
        if (name := f"{base}: {one}, {other}") not in taken:
            return name
    for stem in stems:
        if (name := f"{base}: {stem}") not in taken:
            return name
    number = 2
    while f"{base} {number}" in taken:
        number += 1
    return f"{base} {number}"


def _stem(path: str) -> str:
    """What a file is called: its name without extensions, or its folder's where its own says nothing."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0] or name
    return folder.rpartition("/")[2] or stem if stem in {"__init__", "index", "mod", "lib", "main"} else stem
