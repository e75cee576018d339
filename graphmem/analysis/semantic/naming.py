"""Name modules so that each name is true of most of the module's files.

The rule. "Most" is at least two thirds of the module's files outside tests; tests have the name of the code that they test. The name is
the first of these that applies and that no other module has:

1. The folder that has most of the files, if the module has nearly the whole folder: `payments`.
2. The folder that has most of the files, if the module has most of what no module of a subfolder has, and at least a third of its files
   are directly in the folder: `api`, of which another module has `api/migrations`. Of several such folders, the widest is taken.
3. The root's name, if at least half of the files are directly in the root.
4. A folder name that most of the files have above, more than one folder has, and few other files have: `replays`.
5. Two or three folders that together have most of the files, and that the module leads: `net + platform`, `app: links, pixels`.
6. The narrowest folder that has most of the files, and what sets the module apart in it: its folders with the most files, or its most used
   files: `store: reading, tables`. For files without a common folder, these are the largest folders and the words "+ more".

A new module that has most files of an earlier one takes over the earlier id. It also takes over the earlier name, if that is still true.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.analysis.semantic.beside import is_beside
from graphmem.analysis.semantic.files import common_folder
from graphmem.analysis.semantic.places import MOST, SOURCES, Folders, Places, below, levels
from graphmem.model import stable_id
from graphmem.runtime.data.conventions import all_conventions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

PARTS: Final = 3  # folders named by a module without one folder
SAME: Final = 1 / 3  # share of the larger group that two must share to be the same module
ROOT: Final = "top level"  # name of a module whose files are in the root, unless they have a package's name
_FORMER_ROOT: Final = "(root)"
SPEAKING: Final = 0.1  # least share of other files that may name a group; below it, the group is one of tests
SPOKEN: Final = 8  # heaviest files that are tried for a name
MORE: Final = "more"  # the last part of a name that does not cover most of the files


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

    A group that matches a known module keeps its id, and its name if that is true of the group.

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
    used = {one.id for one in known}
    names = _Names(groups, weight, tests, root)
    kept = {i: one.name for i, one in old.items() if names.true_of(i, one.name)}
    taken = set(kept.values())
    found = []
    for i, group in enumerate(groups):
        name = kept.get(i) or next(one for one in names.candidates(i) if one not in taken)
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
    """Return the deepest folder with more than half of the files in `group`.

    The result is "" if there is none below the root.
    """
    counts = below(group)
    fitting = [folder for folder, count in counts.items() if 2 * count > len(group)]
    return max(fitting, key=lambda one: (one.count("/"), counts[one], one), default="")


class _Names:
    """Finds names of groups of files; each name is true of most files.

    The docstring of this module has the rule.
    """

    def __init__(self, groups: Sequence[Sequence[str]], weight: Mapping[str, float], tests: Collection[str], root: str) -> None:
        folders = Folders(path for group in groups for path in group)
        short = {path: folders.short(path) for group in groups for path in group}
        speaking = [naming_files(group, tests) for group in groups]
        self._root = root
        self._places = Places([[short[path] for path in group] for group in groups], [[short[path] for path in one] for one in speaking])
        self._weight: defaultdict[str, float] = defaultdict(float)
        self._stems: dict[str, str] = {}
        for path, shown in short.items():
            self._weight[shown] += weight.get(path, 0.0)
            self._stems[shown] = _stem(path)

    def candidates(self, module: int) -> Iterator[str]:
        """Yield names of a group, given by its position, best first; endless."""
        places, files = self._places, self._places.naming[module]
        wide = levels(files)
        yield from (folder for folder in wide if places.has_whole(module, folder))
        yield from (folder for folder in wide if places.describes(module, folder))
        if self._is_root(files):
            yield self._root
        if word := places.shared_word(module, wide[-1] if wide else ""):
            yield word
        base = wide[-1] if wide else ""
        parts = self._parts(files, base)
        led = [part for part in parts if places.leads(module, part) and part not in SOURCES]
        if name := _covering(led, parts, base, len(files)):
            yield name
        if not base and sum(parts.values()) * 2 > len(files):
            for chosen in (led or list(parts), list(parts)):
                yield from (" + ".join([*chosen[:count], MORE]) for count in range(min(2, len(chosen)), len(chosen) + 1))
        yield from self._distinguished(files, base or self._root, [part.removeprefix(f"{base}/") for part in parts], sum(parts.values()))

    def _is_root(self, files: Sequence[str]) -> bool:
        return 2 * sum("/" in path for path in files) <= len(files)

    def _parts(self, files: Sequence[str], base: str) -> dict[str, int]:
        """Return the folders below `base` that contain `files`, with their counts.

        There is one entry for each folder directly in `base`. The entry names the deepest folder that still has the same files. Folders
        with most files come first, then those with the highest weight of files. Folders outside the product, such as `scripts`, come
        last.
        """
        head = f"{base}/" if base else ""
        held: defaultdict[str, list[str]] = defaultdict(list)
        for path in files:
            if path.startswith(head) and "/" in path.removeprefix(head):
                held[path.removeprefix(head).partition("/")[0]].append(path)
        weight = {part: sum(self._weight[path] for path in some) for part, some in held.items()}
        order = sorted(held, key=lambda one: (is_beside(f"{head}{one}/"), -len(held[one]), -weight[one], one))
        return {common_folder(held[part]): len(held[part]) for part in order}

    def _distinguished(self, files: Sequence[str], base: str, parts: Sequence[str], in_parts: int) -> Iterator[str]:
        """Yield names of a group made of a folder and its distinguishing parts.

        For the folder `base`, these are names such as `store: reading, tables`, then `store 2`, `store 3` and so on. `files` are the files
        of the group. `parts` are the folders of these files in `base`, which together have `in_parts` files.
        """
        stems = list(dict.fromkeys(self._stems[path] for path in sorted(files, key=lambda one: (-self._weight[one], one))))
        stems = [stem for stem in stems if stem != base.rpartition("/")[2]] or stems
        if 2 * in_parts > len(files):
            stems = list(dict.fromkeys([*parts, *stems]))
        yield from (f"{base}: {one}, {other}" for one, other in combinations(stems[:SPOKEN], 2))
        yield from (f"{base}: {stem}" for stem in stems)
        number = 2
        while True:
            yield f"{base} {number}"
            number += 1

    def true_of(self, module: int, name: str) -> bool:
        """Whether a group, given by its position, may keep a name.

        * A folder's plain name must describe the group, as that of a new group.
        * A folder's name before `: ` must be one of the folders that hold most of the files.
        * Folders joined by `+` must hold most of the files, unless the name ends with "more".
        * The current name of the root is allowed if at least half of the files are directly in the root; earlier ones are not allowed.
        * Any other name is allowed.
        """
        places, files = self._places, self._places.naming[module]
        base, _, apart = name.partition(": ")
        if base in {ROOT, _FORMER_ROOT} - {self._root}:
            return False
        if base == self._root:
            return self._is_root(files)
        if base in places.total:
            return base in levels(files) if apart else places.describes(module, base)
        joined = [one for one in base.split(" + ") if one in places.total]
        held = below(files)
        return not joined or name.endswith(f" {MORE}") or sum(held[one] for one in joined) >= MOST * len(files)


def _covering(led: Sequence[str], counts: Mapping[str, int], base: str, files: int) -> str:
    """Return the names of few folders with most files, "" if there are none.

    Args:
        led: folders that the module leads, best first.
        counts: number of the module's files in each folder.
        base: folder around them; "" for the root.
        files: number of the module's files.
    """
    for count in range(2, PARTS + 1):
        some = led[:count]
        if len(some) == count and sum(counts[part] for part in some) >= MOST * files:
            return f"{base}: {', '.join(part.removeprefix(f'{base}/') for part in some)}" if base else " + ".join(some)
    return ""


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
