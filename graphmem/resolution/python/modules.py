"""Resolve Python imports to the files of modules."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from graphmem.resolution.interfaces.language import Rules
from graphmem.resolution.values.types import (
    EMPTY,
    EXT,
    MODULE,
    NAMESPACE,
    PYTHON,
    Atom,
    Package,
    Type,
    one,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import FileFacts, Import
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference
    from graphmem.resolution.interfaces.layout import Layout


class PythonModules(Rules):
    """The part of the Python rules that resolves imports to files."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        # Cached per instance, not per module: a cache that outlives the resolver would keep the memory of all facts from being freed.
        self._names: dict[str, Sequence[str]] = {}

    def module_names(self, path: str) -> Sequence[str]:
        """Return the dotted names by which imports may find a file.

        For `src/a/b.py` the names are `src.a.b`, `a.b` and `b`, one for each folder above the file. Names relative to declared import roots
        come first.
        """
        found = self._names.get(path)
        if found is None:
            found = self._names[path] = _module_names(path, self.layout.python_roots, self.layout.root_package)
        return found

    def scripts(self, facts: FileFacts) -> Mapping[str, str]:
        """Map each command and plug-in among a file's functions to its kind.

        The keys are names of functions. The kind is `command` or `export`. Configuration files in folders above the file declare the
        commands and plug-ins.
        """
        found: dict[str, str] = {}
        for script in self.layout.scripts:
            if script.module in self.module_names(facts.path) and facts.path.startswith(f"{script.folder}/" if script.folder else ""):
                found.setdefault(script.function, script.kind)
        return found

    def import_targets(self, inference: Inference, entry: FileEntry, found: Import) -> Type:
        """Return the modules that `import a.b` or `from ..a import b` names.

        If several files match, the one nearest to the importing file is chosen.
        """
        if not found.level:
            return self._absolute(inference, entry.path, found.module)
        folder = entry.path.split("/")[:-1]
        up = found.level - 1
        if up > len(folder):
            return EMPTY
        folder = folder[: len(folder) - up]
        if found.module:
            folder = [*folder, *found.module.split(".")]
        return self._at(inference, "/".join(folder))

    def _at(self, inference: Inference, place: str) -> Type:
        """Return the module or package at `place`, a path without file suffix.

        For `a/b` the result is the first of these that exists: `a/b/__init__.py`, `a/b.py`, their `.pyi` files, the folder `a/b`.
        """
        for path in (f"{place}/__init__.py" if place else "__init__.py", f"{place}.py", f"{place}/__init__.pyi", f"{place}.pyi"):
            if inference.project.file(path) is not None:
                return one((MODULE, path))
        return one((NAMESPACE, place.replace("/", "."), PYTHON))

    def _absolute(self, inference: Inference, importer: str, dotted: str) -> Type:
        project = inference.project
        paths = [path for path in project.modules(dotted) if self._is_importable(inference, path, dotted, importer)]
        if paths:
            return one((MODULE, nearest(paths, importer)))
        package, _, rest = dotted.partition(".")
        if package not in sys.stdlib_module_names and project.is_folder(dotted):
            return one((NAMESPACE, dotted, PYTHON))
        return one((EXT, Package(package), rest, None))

    def _is_importable(self, inference: Inference, path: str, dotted: str, importer: str) -> bool:
        """Return whether `import a.b` in one file can refer to a given file.

        `importer` is the file with the import, `dotted` is `a.b`, and `path` is the given file. The root is the folder above `path` that
        contains `a`: the folder `src` for `src/a/b.py`. The root must meet one of these conditions:

        - The root is a declared import root.
        - The root is not a package, and is the import root of `importer`.
        - The root is not a package but contains the package `a`, and the standard library has no module `a`.

        If the root of the project is itself a package, each file has one name. Then the result is always True.
        """
        if self.layout.root_package:
            return True  # each file has exactly one name
        root = _root_of(path, dotted)
        if root in self.layout.python_roots:
            return True
        if self._is_package(inference, root):
            return False
        top = dotted.partition(".")[0]
        return root == self._import_root(inference, importer) or (
            top not in sys.stdlib_module_names and self._is_package(inference, f"{root}/{top}")
        )

    def _is_package(self, inference: Inference, folder: str) -> bool:
        return inference.project.file(f"{folder}/__init__.py" if folder else "__init__.py") is not None

    def _import_root(self, inference: Inference, path: str) -> str:
        """Return the nearest folder above a file that is not a package.

        A package is a folder with an `__init__` file.
        """
        folder = path.rpartition("/")[0]
        while folder and self._is_package(inference, folder):
            folder = folder.rpartition("/")[0]
        return folder

    def submodule(self, inference: Inference, module: Atom, name: str) -> Type:
        """Return the submodule `name` of a package.

        `module` is the package: the file `__init__.py` or a folder without that file. The submodule is searched for in the folder of the
        package, and by its dotted name.
        """
        if module[0] == MODULE:
            if not module[1].endswith(("__init__.py", "__init__.pyi")):
                return EMPTY
            place = module[1].rpartition("/")[0]
            found = self._at(inference, f"{place}/{name}" if place else name)
            if any(atom[0] == MODULE for atom in found):
                return found
            dotted = self.module_names(f"{place}/{name}/x.py")
            return next((one((NAMESPACE, d[:-2], PYTHON)) for d in dotted if inference.project.is_folder(d[:-2])), EMPTY)
        if module[0] != NAMESPACE:
            return EMPTY
        dotted_name = f"{module[1]}.{name}"
        paths = inference.project.modules(dotted_name)
        if paths:
            return one((MODULE, paths[0]))
        found = self._at(inference, dotted_name.replace(".", "/"))
        if any(atom[0] == MODULE for atom in found):
            return found
        return one((NAMESPACE, dotted_name, PYTHON)) if inference.project.is_folder(dotted_name) else EMPTY

    def passes_on(self, entry: FileEntry, found: Import) -> bool:
        """Return whether a module re-exports an imported name.

        If the module has `__all__`, only the names in it are re-exported. Otherwise the `__init__` of a package re-exports every public
        name, and other modules none.
        """
        if found.scope or found.name in ("", "*") or not found.alias:
            return False
        is_offered = entry.facts.exports is not None or entry.path.rpartition("/")[2].partition(".")[0] == "__init__"
        return is_offered and self.exported(entry, found.alias)

    def exported(self, entry: FileEntry, name: str) -> bool:
        """Return whether `import *` imports a name.

        If the file has `__all__`, only the names in it are imported. Otherwise every public name is imported.
        """
        exports = entry.facts.exports
        return name in exports if exports is not None else not name.startswith("_")


def nearest(paths: Sequence[str], importer: str) -> str:
    """Return the path with the most leading folders in common with `importer`.

    Among equals, `.py` is preferred to `.pyi`, then the shorter path, then the alphabetically first path.
    """
    folders = importer.split("/")[:-1]

    def shared(path: str) -> int:
        count = 0
        for left, right in zip(folders, path.split("/")[:-1], strict=False):
            if left != right:
                break
            count += 1
        return count

    return min(paths, key=lambda path: (-shared(path), path.endswith(".pyi"), len(path), path))


def _module_names(path: str, roots: Sequence[str], root_package: str) -> tuple[str, ...]:
    stem = path.rpartition(".")[0]
    if stem.endswith("/__init__") or stem == "__init__":
        stem = stem[: -len("/__init__")] if "/" in stem else ""
    if root_package:
        inside = stem.replace("/", ".")
        return (f"{root_package}.{inside}" if inside else root_package,)
    if not stem:
        return ()
    parts = stem.split("/")
    below = [".".join(parts[count:]) for count in range(len(parts))]
    declared = [stem[len(root) + 1 if root else 0 :].replace("/", ".") for root in roots if not root or stem.startswith(root + "/")]
    return tuple(dict.fromkeys([*sorted(declared, key=len), *below]))


def _root_of(path: str, dotted: str) -> str:
    """Return the folder in which the dotted name `dotted` of a file begins.

    For `a.b` and the path `src/a/b.py`, the folder is `src`.
    """
    stem = path.rpartition(".")[0].removesuffix("/__init__")
    return stem[: -len(dotted)].rstrip("/")
