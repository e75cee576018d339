"""Short names of folders, and counts of each module's files in folders.

A folder's short name leaves out parts without information, such as a leading `src`. The counts show which folder names describe a module.
All counts are of short paths: the short name of a file's folder, and the file's name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Final

from graphmem.analysis.semantic.files import common_folder
from graphmem.analysis.semantic.source_sets import SourceFolder, source_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST: Final = 2 / 3  # least share of a module's files that a name must be true of
WHOLE: Final = 0.9  # a module with this share of a folder's files holds the folder
DIRECT: Final = 1 / 3  # least share of a module's files directly in a folder that others have files of, too
SOURCES: Final = frozenset({"src", "lib"})  # folders that hold a package but do not describe it


class Folders:
    """Short names of the folders of a project.

    Args:
        paths: all files of the project.

    Attributes:
        top: common folder of all files.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        counts = Counter(path.rpartition("/")[0] for path in paths)
        self.top = common_folder(f"{folder}/" for folder in counts)
        self._below = below(f"{folder}/" for folder in counts.elements())
        packages: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for folder in counts:
            if (one := source_folder(folder)) and one.language:
                packages[one.project, one.name].append(f"{one.package}/")
        self._common = {key: common_folder(found) for key, found in packages.items()}

    def shown(self, folder: str) -> str:
        """Return the short name of a folder, relative to all files' common folder.

        A folder `src` or `lib` at the beginning is dropped, unless another folder has the name that remains. Such a folder at the end is
        dropped if it holds most files of the folder above: `packages/cli/src` gives `packages/cli`. The root is "". In a project of Maven
        or Gradle, folders that all code has in common are dropped: `core/src/main/java/org/shop/core/api` gives `core/api`.
        """
        if found := source_folder(folder):
            own = self._of_package(found)
            folder = folder if own is None else own
        base = folder.removeprefix(self.top).strip("/") if folder != self.top else self.top.rpartition("/")[2]
        above, _, last = base.rpartition("/")
        if last in SOURCES and above and self._below[folder] > MOST * self._below[folder.rpartition("/")[0]]:
            base = above
        first, _, rest = base.partition("/")
        return rest if first in SOURCES and rest and f"{self.top}/{rest.partition('/')[0]}".strip("/") not in self._below else base

    def _of_package(self, folder: SourceFolder) -> str | None:
        """Return the short name of a source folder of Maven's or Gradle's layout.

        For `core/src/main/java/org/shop/core/api`, it is `core/api`, if all code of `core` is below `org/shop/core`. The result is None if
        the folder has no such name: it is above the package that all code has in common, or the project does not use the layout.
        """
        project, kind, language, package = folder
        if (project, kind) not in self._common:
            return None  # `ui/src/base` of a project without this layout
        common = self._common[project, kind]
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

    def short(self, path: str) -> str:
        """Return the path of a file with the short name of its folder.

        For `packages/cli/src/a.py`, it may be `packages/cli/a.py`. The method `shown` has the rules for folders.
        """
        folder, _, name = path.rpartition("/")
        shown = self.shown(folder)
        return f"{shown}/{name}" if shown else name


class Places:
    """Tells which module has most files of a folder.

    Args:
        groups: short paths of each module's files.
        naming: short paths of the files of each module that its name describes.
    """

    def __init__(self, groups: Sequence[Sequence[str]], naming: Sequence[Sequence[str]]) -> None:
        self.naming = naming
        self._held = [below(group) for group in groups]
        self._homes = [next(iter(reversed(levels(files))), "") for files in naming]

    @cached_property
    def total(self) -> Counter[str]:
        """Number of files below each folder, of all modules."""
        return sum(self._held, Counter())

    def has_whole(self, module: int, folder: str) -> bool:
        """Whether a module, given by its position, has nearly a whole folder."""
        return self._held[module][folder] >= WHOLE * self.total[folder]

    def leads(self, module: int, folder: str) -> bool:
        """Whether a module has more than half of a folder's files.

        Files of modules that have a subfolder of their own are ignored: the module `api/migrations` takes nothing from the module `api`.
        """
        inside = f"{folder}/"
        ends = zip(self._held, self._homes, strict=True)
        others = sum(held[folder] for i, (held, home) in enumerate(ends) if i == module or not home.startswith(inside))
        return 2 * self._held[module][folder] > others

    def describes(self, module: int, folder: str) -> bool:
        """Whether the plain name of a folder is true of a module and of no other.

        The folder has most of the module's files. Either the module has the whole folder, or it has most of the files that no module of a
        subfolder has, and a good part of the module's files are directly in the folder.
        """
        files = self.naming[module]
        if folder not in levels(files):
            return False
        direct = sum(path.rpartition("/")[0] == folder for path in files)
        return self.has_whole(module, folder) or (direct >= DIRECT * len(files) and self.leads(module, folder))

    @cached_property
    def _with_word(self) -> list[Counter[str]]:
        """For each module, the number of its files below a folder of each name.

        A module is given by its position in the list. Each item maps the name of a folder to the number of files below folders of this
        name.
        """
        return [Counter(word for path in files for word in set(path.split("/")[:-1])) for files in self.naming]

    def shared_word(self, module: int, base: str) -> str:
        """Return a folder name that is common in a module and rare elsewhere.

        For a module with `app/replays`, `queries/replays` and `api/replays`, the name is `replays`. Most files of the module are below a
        folder of this name, and more of them than are in the folder `base`. Most of the project's files below such a folder belong to the
        module. The result is "" if no name fits.
        """
        files = self.naming[module]
        in_base = below(files)[base]
        common = set(common_folder(files).split("/"))
        in_all = sum(self._with_word, Counter())
        fitting = [
            word
            for word, count in self._with_word[module].items()
            if count >= max(MOST * len(files), in_base + 1) and word not in common and 2 * count > in_all[word] and word.isidentifier()
        ]
        return max(fitting, key=lambda word: (self._with_word[module][word], len(word), word), default="")


def below(paths: Iterable[str]) -> Counter[str]:
    """Return the number of given files below each folder, at any depth."""
    counts: Counter[str] = Counter()
    for folder, count in Counter(path.rpartition("/")[0] for path in paths).items():
        while folder:
            counts[folder] += count
            folder = folder.rpartition("/")[0]
    return counts


def levels(files: Sequence[str]) -> list[str]:
    """Return the folders that hold most of the files, from wide to narrow.

    Of folders with the same files, only the deepest is returned. The root is never returned.
    """
    deepest: dict[int, str] = {}
    for folder, count in below(files).items():
        if count >= MOST * len(files) and folder.count("/") >= deepest.get(count, "").count("/"):
            deepest[count] = folder
    return [deepest[count] for count in sorted(deepest, reverse=True)]
