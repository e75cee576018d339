"""Find names through usings that hold for all files of a C# project.

Such a using is `global using Shop.Tools;` in any file of the project. `<Using Include="Shop.Tools" />` and `<ImplicitUsings>` in a project
file have the same effect.

A binding of a name is a place that gives the name its meaning, such as `x = f()`, `import x`, `def x` or a parameter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.resolution.csharp.projects import ProjectFolders
from graphmem.resolution.files.file_entry import Place
from graphmem.resolution.scoped.rules import ScopedRules
from graphmem.resolution.values.types import CLASS, EMPTY, NAMESPACE, Type

if TYPE_CHECKING:
    from graphmem.parsing.facts import FileFacts
    from graphmem.parsing.language import LanguageSpec
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference
    from graphmem.resolution.interfaces.layout import Layout

GLOBAL: Final = "global"
"""Word before a using that holds for the project."""


class CSharpUsings(ScopedRules):
    """Look-ups of names through the usings of a project."""

    def __init__(self, layout: Layout, spec: LanguageSpec) -> None:
        super().__init__(layout, spec)
        self._folders = ProjectFolders(layout)

    def listed_as(self, facts: FileFacts) -> Sequence[str]:
        """Return the internal names by which a file with global usings is found.

        A global using (`global using Shop.Tools;`) affects all files of the project. All files of one project that contain a global using
        have the same internal name. For a file without global usings, the result has only the names of the base class.
        """
        if any(found.exported_as == GLOBAL for found in facts.imports):
            return (*super().listed_as(facts), _mark(self._folders.folder_of(facts.path)))
        return super().listed_as(facts)

    def shared(self, inference: Inference, entry: FileEntry, name: str) -> list[Place] | None:
        """Return the places in other files that define a name; None if unknown.

        Searched are the namespace of the file `entry`, its usings and the usings of its project.
        """
        found = super().shared(inference, entry, name)
        if found:
            return found
        project, folder = inference.project, self._folders.folder_of(entry.path)
        return project.solver.ask(project.shared, ("name by usings", folder, name), self._places, inference, folder, name) or None

    def unbound(self, inference: Inference, entry: FileEntry, scope: int, name: str) -> Type:
        """Return the type of a name that no file binds.

        The name may be an alias in a project file, a namespace or a built-in name.
        """
        written = self._folders.usings(self._folders.folder_of(entry.path)).aliases.get(name)
        found = self.named_at_root(inference, written.split(".")) if written else EMPTY
        return found or super().unbound(inference, entry, scope, name)

    def packages_of_project(self, inference: Inference, entry: FileEntry) -> frozenset[str]:
        """Return the names that the usings of a file's project import.

        For a class that `global using static` names, its namespace is in the result, too.
        """
        project, folder = inference.project, self._folders.folder_of(entry.path)
        return project.solver.look_up(project.shared, ("packages by usings", folder), self._packages, inference, folder)

    def _packages(self, inference: Inference, folder: str) -> frozenset[str]:
        names = set(self._folders.usings(folder).names)
        for other in _global_files(inference, folder):
            names.update(other.facts.imports[position].module for position in other.stars if _is_global(other, position))
        return frozenset({*names, *(name.rpartition(".")[0] for name in names)} - {""})

    def _places(self, inference: Inference, folder: str, name: str) -> list[Place]:
        """Return the bindings of a name that a project's usings import."""
        project = inference.project
        targets = project.solver.ask(project.shared, ("targets of usings", folder), self._targets, inference, folder)
        found = self.places_in(inference, targets, name)
        for other in () if found else _global_files(inference, folder):
            slots = (slot for slot in other.names(0).get(name, ()) if slot.kind == "import")
            found += (Place(other, 0, slot) for slot in slots if _is_global(other, slot.index))
        return found

    def _targets(self, inference: Inference, folder: str) -> Type:
        """Return the namespaces and classes that a project's usings import."""
        found = {atom for name in self._folders.usings(folder).names for atom in self.named_at_root(inference, name.split("."))}
        for other in _global_files(inference, folder):
            for position in other.stars:
                if _is_global(other, position):
                    found |= self.import_targets(inference, other, other.facts.imports[position])
        return frozenset(atom for atom in found if atom[0] in (NAMESPACE, CLASS))


def _global_files(inference: Inference, folder: str) -> Iterator[FileEntry]:
    """Yield the files with global usings in the project of a folder."""
    for path in inference.project.modules(_mark(folder)):
        other = inference.project.files[path]
        inference.project.touch_top(other, "*")
        yield other


def _mark(folder: str) -> str:
    """Return the internal name of all files with global usings in a project."""
    return f"<global usings of {folder}>"


def _is_global(entry: FileEntry, position: int) -> bool:
    return entry.facts.imports[position].exported_as == GLOBAL
