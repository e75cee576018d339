"""Name modules after the folders that hold most of their files.

A new module that has most files of an earlier one takes over the earlier id. The new module also takes over the earlier name. The exception
is the name of a folder that no longer holds most of the module's files.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.analysis.semantic.beside import is_beside
from graphmem.analysis.semantic.files import common_folder
from graphmem.analysis.semantic.source_sets import SourceFolder, source_folder
from graphmem.model import stable_id
from graphmem.runtime.conventions import all_conventions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

MOST: Final = 0.5  # a module takes the name of a folder that holds a larger share of its files
PARTS: Final = 3  # folders named by a module without such a folder
SECOND: Final = 1 / 3  # a module names a second folder that holds at least this share of its files
SAME: Final = 1 / 3  # share of the larger group that two must share to be the same module
ROOT: Final = "top level"  # name of a module whose files are in the root, unless they have a package's name
_FORMER_ROOT: Final = "(root)"
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
    groups: Sequence[Sequence[str]],
    known: Sequence[Known],
    weight: Mapping[str, float],
    tests: Collection[str],
    project: str,
    root: str = ROOT,
) -> list[Named]:
    """Give groups unique names and ids.

    A group that matches a known module keeps the name and id of that module.

    Args:
        groups: groups of files, each with ascending paths.
        known: earlier modules.
        weight: maps a path to the weight of the file's dependents. If several modules have one folder, their names include their heaviest
            files.
        tests: files of tests. Such files do not influence a group's name if at least a tenth of the group's files are not tests.
        project: name of the project, a part of new ids.
        root: name of a module whose files are directly in the root.
    """
    old = _matches(groups, known)
    speaking = [naming_files(group, tests) for group in groups]
    used = {one.id for one in known}
    folders = Folders(path for group in groups for path in group)
    shares = _Shares(groups, folders, root)
    kept = {i: one.name for i, one in old.items() if shares.true_of(one.name, speaking[i])}
    taken = set(kept.values())
    bases = {i: folders.shown(main_folder(speaking[i])) or root for i in range(len(groups)) if i not in kept}
    files: Counter[str] = Counter()
    for i, base in bases.items():
        files[base] += len(speaking[i])
    found = []
    for i, group in enumerate(groups):
        name = kept.get(i) or _name(bases[i], speaking[i], 2 * len(speaking[i]) > files[bases[i]], taken, weight, folders, root)
        taken.add(name)
        before = old.get(i)
        if before is not None:
            found.append(Named(before.id, name, common_folder(group), list(group)))
            continue
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


def naming_files(group: Sequence[str], tests: Collection[str]) -> list[str]:
    """Return the files that decide a group's name: those outside tests.

    If too few files are outside tests, all files of the group are returned.
    """
    others = [path for path in group if path not in tests]
    return others if others and len(others) >= SPEAKING * len(group) else list(group)


def main_folder(group: Sequence[str]) -> str:
    """Return the deepest folder with more than half of the files; "" if none."""
    counts = _below(group)
    fitting = [folder for folder, count in counts.items() if count > MOST * len(group)]
    return max(fitting, key=lambda one: (one.count("/"), counts[one], one), default="")


def _below(paths: Iterable[str]) -> Counter[str]:
    """Return the number of given files below each folder, at any depth."""
    counts: Counter[str] = Counter()
    for folder, count in Counter(path.rpartition("/")[0] for path in paths).items():
        while folder:
            counts[folder] += count
            folder = folder.rpartition("/")[0]
    return counts


class _Shares:
    """Numbers of files in each folder, to check names of modules.

    A module may be named after a folder that holds more than half of its files.
    """

    def __init__(self, groups: Iterable[Sequence[str]], folders: Folders, root: str) -> None:
        self._root = root
        below = _below(path for group in groups for path in group)
        self._folder = {folders.shown(folder): folder for folder in sorted(below, reverse=True)}  # `cli` and not `cli/src`

    def true_of(self, name: str, group: Sequence[str]) -> bool:
        """Whether a module with given files may have a given name.

        `group` has the files. Only the part of the name before `: ` is checked:

        * The name of a folder is allowed if more than half of the files are in the folder.
        * The current name of the root is allowed if at least half of the files are directly in the root.
        * Other names of the root, such as earlier ones, are not allowed.
        * Any other name is allowed.
        """
        base = name.partition(": ")[0]
        if base in {ROOT, _FORMER_ROOT} - {self._root}:
            return False
        if base == self._root:
            return sum("/" in path for path in group) <= MOST * len(group)
        folder = self._folder.get(base)
        return folder is None or _below(group)[folder] > MOST * len(group)


class Folders:
    """Short names of the folders of a project.

    Args:
        paths: all files of the project.

    Attributes:
        top: common folder of all files.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        folders = {path.rpartition("/")[0] for path in paths}
        self.top = common_folder(f"{folder}/" for folder in folders)
        packages: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for folder in folders:
            if (one := source_folder(folder)) and one.language:
                packages[one.project, one.name].append(f"{one.package}/")
        self._common = {key: common_folder(found) for key, found in packages.items()}

    def shown(self, folder: str) -> str:
        """Return the name of a folder, relative to the common folder of all files.

        A leading `src` or similar folder is dropped, and so is the last one: `packages/cli/src` gives `packages/cli`. The root is "". In a
        project of Maven or Gradle, folders that all code has in common are dropped: `core/src/main/java/org/shop/core/api` gives
        `core/api`.
        """
        if found := source_folder(folder):
            own = self._of_package(found)
            folder = folder if own is None else own
        base = folder.removeprefix(self.top).strip("/") if folder != self.top else self.top.rpartition("/")[2]
        first, _, rest = base.partition("/")
        base = rest if first in SOURCES and rest else base
        above, _, last = base.rpartition("/")
        return above if last in SOURCES and above else base

    def _of_package(self, folder: SourceFolder) -> str | None:
        """Return the short name of a folder; None if it has none of its own."""
        project, kind, language, package = folder
        common = self._common.get((project, kind), "")
        if language is None:
            own = "" if project else None
        elif package == common:
            own = "" if project else common.rpartition("/")[2]
        else:
            above = f"{common}/" if common else ""
            own = package.removeprefix(above) if package.startswith(above) else None
        if own is None:
            return None
        return "/".join(part for part in (project, "" if kind == "main" else kind, own) if part)


def _name(base: str, group: Sequence[str], most: bool, taken: set[str], weight: Mapping[str, float], folders: Folders, root: str) -> str:
    """Return a unique name of a module: its folder, or its main parts.

    The result is the first of these names that no other module has:

    * for a module of the root, of `src` or of the folder of all files, with most files in folders: the main folders, `build + perf`;
    * the folder `base` with another that holds at least a third of the files: `net + platform`;
    * the folder `base`, if `most` is true;
    * the folder with two of its parts: `store: reading, tables`;
    * the folder with one of its parts;
    * the folder with a number.

    The parts are the files with the highest weight. If most files are in subfolders, the subfolders with most files come before them.

    Args:
        base: folder that holds most of the group's files.
        group: files of the module.
        most: whether the group has most files of the folder.
        taken: names of other modules.
        weight: weight of each file.
        folders: names of folders.
        root: name of the root.
    """
    inside = main_folder(group)
    head = f"{inside}/" if inside else ""
    within = [path for path in group if path.startswith(head)]
    parts = Counter(path.removeprefix(head).partition("/")[0] for path in within if "/" in path.removeprefix(head))
    in_parts = sum(parts.values()) > MOST * len(group)
    says_little = base == root or base in SOURCES or inside == folders.top
    if says_little and in_parts and (name := _together(group, parts, folders, inside, weight)) not in taken:
        return name
    if most and base not in taken:
        second = _second(group, inside, folders)
        return name if second and (name := f"{base} + {second}") not in taken else base
    stems = list(dict.fromkeys(_stem(path) for path in sorted(group, key=lambda one: (-weight.get(one, 0.0), one))))
    stems = [stem for stem in stems if stem != base.rpartition("/")[2]] or stems
    if in_parts:
        named = sorted(parts, key=lambda one: (-parts[one], one))
        stems = list(dict.fromkeys([*(_deepest(within, f"{head}{part}").removeprefix(head) for part in named), *stems]))
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


def _deepest(paths: Iterable[str], folder: str) -> str:
    """Return the deepest folder that has all of the paths below `folder`."""
    return common_folder(path for path in paths if path.startswith(f"{folder}/"))


def _second(group: Sequence[str], inside: str, folders: Folders) -> str:
    """Return the name of the folder beside `inside` that a module also holds.

    It is "" unless the folder has at least a third of the module's files.
    """
    others = [path for path in group if inside and not path.startswith(f"{inside}/")]
    other = main_folder(others)
    if not other or f"{inside}/".startswith(f"{other}/") or _below(others)[other] < SECOND * len(group):
        return ""
    return folders.shown(other)


def _together(group: Sequence[str], parts: Counter[str], folders: Folders, inside: str, weight: Mapping[str, float]) -> str:
    """Return folders that together hold most files, as in `build + perf`.

    At most `PARTS` folders are named. Folders with most files come first, then those with the highest weight of files, and last folders
    beside the product, such as `scripts`.

    Args:
        group: files of the module.
        parts: number of files in each folder of `inside`.
        folders: names of folders.
        inside: folder that holds most of the module's files.
        weight: weight of each file.
    """
    chosen: list[str] = []
    head, held = f"{inside}/" if inside else "", 0
    heavy: defaultdict[str, float] = defaultdict(float)
    for path in group:
        heavy[path.removeprefix(head).partition("/")[0]] += weight.get(path, 0.0)
    for part, count in sorted(parts.items(), key=lambda one: (is_beside(f"{head}{one[0]}/"), -one[1], -heavy[one[0]], one[0]))[:PARTS]:
        chosen.append(folders.shown(common_folder(path for path in group if path.startswith(f"{head}{part}/"))))
        held += count
        if held > MOST * len(group):
            break
    return " + ".join(dict.fromkeys(chosen))


def _stem(path: str) -> str:
    """Return a file name without extensions, or the name of the folder.

    The folder's name is returned for generic file names such as `index`, `__init__` and `main`.
    """
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0] or name
    return folder.rpartition("/")[2] or stem if stem in _unnamed_files() else stem


@cache
def _unnamed_files() -> frozenset[str]:
    known = all_conventions()
    return known.folder_files | known.library_files | known.program_files
