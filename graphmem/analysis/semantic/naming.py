"""Name modules; one that keeps most of its files keeps its name and id."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.analysis.semantic.files import common_folder
from graphmem.model import stable_id

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

MOST: Final = 0.6  # share of its files that must be below a folder for the module to take its name
SAME: Final = 1 / 3  # share of the larger group that two must share to be the same module
ROOT: Final = "(root)"
SOURCES: Final = frozenset({"src", "lib"})  # folders that hold a package but do not describe it
SPEAKING: Final = 0.1  # least share of other files that may name a group; below it, the group is one of tests
SPOKEN: Final = 8  # heaviest files that are tried for a name


class Known(NamedTuple):
    """A module from an earlier computation: its id, name and files."""

    id: str
    name: str
    paths: frozenset[str]


class Named(NamedTuple):
    """A module: a group of files, and the name, id and folder given to it."""

    id: str
    name: str
    path: str
    paths: list[str]


def named(
    groups: Sequence[Sequence[str]], known: Sequence[Known], weight: Mapping[str, float], tests: Collection[str], project: str
) -> list[Named]:
    """Give groups unique names and ids.

    A group that matches a known module keeps the name and id of that module.

    Args:
        groups: groups of files, each with ascending paths.
        known: earlier modules.
        weight: maps a path to the weight of the file's dependents; the heaviest file distinguishes two modules of one folder.
        tests: files of tests. They do not influence the group's name if at least a tenth of its files are not tests.
        project: name of the project, a part of new ids.
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
    """Match groups of files to the earlier modules that they continue.

    The result maps the position of a group to a module. A group and a module match if they have enough files in common. Pairs with the most
    common files are matched first, and each module is used once.
    """
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
    """The deepest folder that contains most files of the group.

    The result is relative to `top`, the common folder of all files. A leading `src` or similar folder is dropped.
    """
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
    """Unique name of a module: its folder, or the folder and its main files.

    The folder `base` alone is the name if it is free and `most` is true: the group has most files of the folder. Otherwise the names of the
    files with the highest weight follow: `store: reading, tables`.
    """
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
    """File name without extensions, or the folder's name if that is generic.

    An example of a generic file name is `index`.
    """
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0] or name
    return folder.rpartition("/")[2] or stem if stem in {"__init__", "index", "mod", "lib", "main"} else stem
