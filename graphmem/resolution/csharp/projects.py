"""Find the C# project of a file, and the usings in its project files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.resolution.csharp.tables import LIBRARY

if TYPE_CHECKING:
    from graphmem.resolution.interfaces.layout import Layout

SDK: Final = "Microsoft.NET.Sdk"
"""The SDK that all others extend."""

SHARED_SETTINGS: Final = "Directory.Build.props"
"""Name of a file with settings for all projects below its folder."""


class Usings(NamedTuple):
    """Names that a project file imports into all files of the project."""

    names: tuple[str, ...] = ()  # dotted names of namespaces and classes, ascending
    aliases: Mapping[str, str] = {}  # alias -> dotted name


class ProjectFolders:
    """Folders with a project file, and the usings of each.

    A project has all files in its folder and in the folders below, except those of inner projects. Files of no project belong to the root.

    Args:
        layout: contents of the `.csproj` and `Directory.Build.props` files.
    """

    def __init__(self, layout: Layout) -> None:
        documents: dict[str, list[Mapping[str, Any]]] = {}
        shared: dict[str, Mapping[str, Any]] = {}
        for path, document in layout.documents.items():
            folder, _, name = path.rpartition("/")
            if name.endswith(".csproj"):
                documents.setdefault(folder, []).append(document)
            elif name == SHARED_SETTINGS:
                shared[folder] = document
        self._usings = {folder: _usings(found, _nearest(shared, folder)) for folder, found in documents.items()}
        self._known: dict[str, str] = {}  # folder -> folder of its project

    def folder_of(self, path: str) -> str:
        """Return the folder of the project that contains a file."""
        folder = path.rpartition("/")[0]
        found = self._known.get(folder)
        if found is None:
            found = folder
            while found and found not in self._usings:
                found = found.rpartition("/")[0]
            self._known[folder] = found
        return found

    def usings(self, folder: str) -> Usings:
        """Return the usings in the project files of a project's folder."""
        return self._usings.get(folder, Usings())


def _nearest(shared: Mapping[str, Mapping[str, object]], folder: str) -> Mapping[str, object] | None:
    """Return the `Directory.Build.props` that applies to a folder, or None.

    It is the nearest one, in the folder or in a folder above. `shared` maps folders to the contents of such files.
    """
    while folder not in shared:
        if not folder:
            return None
        folder = folder.rpartition("/")[0]
    return shared[folder]


def _usings(projects: list[Mapping[str, Any]], shared: Mapping[str, object] | None) -> Usings:
    """Return the usings of the projects in one folder.

    `projects` are the contents of the project files. `shared` is the content of the `Directory.Build.props` that applies to the folder.
    """
    names: set[str] = set()
    aliases: dict[str, str] = {}
    for project in projects:
        settings = [shared, project] if shared is not None else [project]
        implicit = [one["implicit"] for one in settings if one["implicit"]]
        if implicit and implicit[-1] in ("enable", "true"):
            names.update(LIBRARY.implicit_usings[SDK], LIBRARY.implicit_usings.get(project["sdk"], ()))
        for one in settings:
            names.difference_update(name for name, _ in one["removed"])
            names.update(name for name, alias in one["usings"] if not alias)
            aliases.update((alias, name) for name, alias in one["usings"] if alias)
    return Usings(tuple(sorted(names)), aliases)
