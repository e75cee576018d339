"""Find files, imports and packages by the settings of a language.

The settings are in `[resolution]` of `language.toml`.

A binding of a name is a place that gives the name its meaning, such as `x = f()`, `import x`, `def x` or a parameter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.resolution.ecmascript.specifiers import joined
from graphmem.resolution.files.file_entry import Place
from graphmem.resolution.scoped.table import ScopedTable
from graphmem.resolution.values.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.values.types import (
    CLASS,
    EMPTY,
    EXT,
    INST,
    MODULE,
    NAMESPACE,
    Atom,
    Package,
    Receiver,
    Type,
    join,
    join_all,
    one,
    ordered,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Definition, FileFacts, Import
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference

HEADERS: Final = "include"
"""Folder in which a standard library keeps its headers."""

MANY_PIECES: Final = 8
"""Most declarations of one class that are all used. For more declarations, only one is used."""

MIXED_AT_TOP: Final = "<mixed at top>"
"""Name under which the index of modules has the files that include mixins outside classes."""

MAX_SUFFIX: Final = 8
"""Most parts of a file's path that an import may name."""


class ScopedNames(ScopedTable):
    """Look-ups of files, packages and names by a language's settings.

    The settings are in `[resolution]` of the language's `language.toml`.
    """

    def names_of(self, facts: FileFacts) -> Sequence[str]:
        """Return the names under which other files can find a file.

        The first name is common to all files that share their names without imports. Depending on the language, these are the files of a
        package, of a folder or of the project. The names by which imports find the file follow.
        """
        clauses = [found for found in facts.imports if found.kind == "package"]
        names = list(dict.fromkeys(found.module.replace(self.separator, ".") for found in clauses if not found.alias))
        if self._shares == "project":
            names.insert(0, self._group)
        elif self._shares == "folder":
            names.insert(0, facts.path.rpartition("/")[0] or "<root>")
        elif not names:
            names.append(f"<{self._language} {facts.path}>" if self._shares != "package" else self._group)
        if self._file_class:  # Java sees the functions of `shop/Items.kt` in the class `shop.ItemsKt`
            renamed = next((found.alias for found in clauses if found.alias), f"{stem(facts.path)}{self._file_class}")
            names.append(f"{names[0]}.{renamed}")
        if self._by_path:
            parts = facts.path.split("/")
            names += ("/" + "/".join(parts[-count:]) for count in range(1, min(len(parts), MAX_SUFFIX) + 1))
        return tuple(dict.fromkeys(names))

    def listed_as(self, facts: FileFacts) -> Sequence[str]:
        """Return the internal name of files that include mixins outside classes.

        In Ruby, `include Tools` at the top of a file affects other files, too. `Project.modules` finds such files by the name. For other
        files the result is empty.
        """
        return (MIXED_AT_TOP,) if self._mixins and facts.definitions[0].bases else ()

    def import_targets(self, inference: Inference, entry: FileEntry, found: Import) -> Type:
        """Return the module, package, class or function that an import names.

        A module is found by its path. A package, class or function is found by name.
        """
        if found.kind == "package" or not found.module:
            return EMPTY
        look = self._file if self._by_path else self._named
        return inference.project.solver.ask(entry.memo, ("module", found.module), look, inference, entry, found.module)

    def _file(self, inference: Inference, entry: FileEntry, written: str) -> Type:
        plain = written.strip("\"'<>").removeprefix("./")
        if written.startswith("<") and self.is_standard_header(plain):
            near = _nearest(entry.path, inference.project.modules(f"/{HEADERS}/{plain}"))
            return join_all(one((MODULE, path)) for path in near) if near else one((EXT, Package(plain), "", None))
        if self._dots:
            plain = plain.replace(".", "/")
        folder = entry.path.rpartition("/")[0]
        for ending in self._endings:
            place = joined(folder, plain + ending)
            if place is not None and place != entry.path and inference.project.file(place) is not None:
                return one((MODULE, place))
        clean = "/".join(part for part in plain.split("/") if part not in ("", ".", ".."))
        for ending in self._endings:
            near = _nearest(entry.path, inference.project.modules(f"/{clean}{ending}")) if clean else []
            if near:
                return join_all(one((MODULE, path)) for path in near)
        return one((EXT, Package(plain), "", None)) if clean == plain else EMPTY

    def _named(self, inference: Inference, entry: FileEntry, written: str) -> Type:
        parts = [part for part in written.replace(self.separator, ".").split(".") if part]
        below = self._below(inference, entry, ".".join(parts))
        if below:
            return one((NAMESPACE, below, self._language))
        known = self.named_at_root(inference, parts)
        if known or not parts:
            return known
        outside = one((EXT, Package(".".join(parts[:-1]) or parts[0]), parts[-1] if len(parts) > 1 else "", None))
        return self._class_around(inference, entry, parts) or outside

    def named_at_root(self, inference: Inference, parts: Sequence[str]) -> Type:
        """Return the package or the member of a package that a full name means.

        `parts` are the parts of the name. The result is empty if the project has no such package.
        """
        for count in range(len(parts), 0, -1):
            package = ".".join(parts[:count])
            if inference.project.modules(package):
                found = one((NAMESPACE, package, self._language))
                for name in parts[count:]:
                    found = inference.attribute(found, name)
                if count == len(parts) and count > 1 and self._names_classes:  # `use a\b` names the class, if there is also a namespace
                    around: Type = one((NAMESPACE, ".".join(parts[:-1]), self._language))
                    found = frozenset(atom for atom in inference.attribute(around, parts[-1]) if atom[0] == CLASS) or found
                if found:
                    return found
        return EMPTY

    def _class_around(self, inference: Inference, entry: FileEntry, parts: Sequence[str]) -> Type:
        """Return the class that an import names from within its package.

        In C#, `using static Words;` inside `namespace Shop.Tools` imports the members of `Shop.Tools.Words` or `Shop.Words`. `parts` are
        the parts of the written name.
        """
        for package in self.names_of(entry.facts)[: self.packages_of_file] if self.sees_outer_packages else ():
            outer = package.split(".")
            for count in range(len(outer), 0, -1):
                found: Type = one((NAMESPACE, ".".join(outer[:count]), self._language))
                for name in parts:
                    found = inference.attribute(found, name)
                found = frozenset(atom for atom in found if atom[0] == CLASS)
                if found:
                    return found
        return EMPTY

    def _below(self, inference: Inference, entry: FileEntry, written: str) -> str:
        """Return the package that an import names from within another package.

        In C#, `using Tools;` inside `namespace Shop` imports `Shop.Tools`, if there is such a package. The result is "" if there is none.
        """
        for package in self.names_of(entry.facts)[: self.packages_of_file] if self.sees_outer_packages else ():
            parts = package.split(".")
            for count in range(len(parts), 0, -1):
                name = ".".join((*parts[:count], written))
                if inference.project.modules(name):
                    return name
        return ""

    def submodule(self, inference: Inference, module: Atom, name: str) -> Type:
        """Return the type of a member of a package: a name or an inner package."""
        if module[0] != NAMESPACE:
            return EMPTY
        found = super().submodule(inference, module, name)
        for below in () if found else (f"{module[1]}.{name}", name):
            if inference.project.modules(below) or inference.project.is_folder(below):
                return one((NAMESPACE, below, self._language))
        return found

    def unbound(self, inference: Inference, entry: FileEntry, scope: int, name: str) -> Type:
        """Return the type of a name that no scope of its file binds.

        The name is a package, or a built-in name of the language.
        """
        if self.separator in name:
            return self._qualified(inference, entry, name)
        mixed = self._of_top(inference, entry, name) if self._mixins else EMPTY
        if mixed:
            return mixed
        if name and name == self._maker:
            return frozenset(atom for atom in self.this(inference, entry, scope) if atom[0] == CLASS)
        known = self.builtin(name)
        field = self.field_name(name)
        if field and not known:
            value = inference.attribute(self.this(inference, entry, scope), field)
            if value:
                return value
        for package in () if known or self._by_path else self.names_of(entry.facts):
            parts = package.split(".")
            for count in range(len(parts), 0, -1):
                below = ".".join((*parts[:count], name))
                if inference.project.modules(below) or inference.project.is_folder(below):
                    return one((NAMESPACE, below, self._language))
        if not known and (inference.project.modules(name) or (not self._by_path and inference.project.is_folder(name))):
            return one((NAMESPACE, name, self._language))
        return known

    def _of_top(self, inference: Inference, entry: FileEntry, name: str) -> Type:
        """Return the type of a name from a mixin that is included outside classes.

        In Ruby, `include Tools` at the top of a file gives all code of the file the methods and constants of `Tools`. All test files run in
        one process. Therefore a test file also sees the mixins that other test files, such as `spec_helper.rb`, include.
        """
        if not entry.definitions[0].bases and not entry.in_tests:
            return EMPTY
        found = EMPTY
        for atom in ordered(inference.project.solver.ask(entry.memo, ("top mixins",), self._top_mixins, inference, entry)):
            if atom[0] == CLASS and isinstance(inference.owner(atom[1], name), Symbol):
                owner: Receiver = atom if name[:1].isupper() else (INST, atom[1], False)
                found = join(found, inference.attribute(one(owner), name))
        return found

    def _top_mixins(self, inference: Inference, entry: FileEntry) -> Type:
        """Return the mixins that a file includes outside classes.

        For a test file, the mixins of other test files are added. The look-up of one mixin may need another mixin, also in a cycle.
        Therefore the caller gets this result through the solver, which ends such cycles.
        """
        paths = inference.project.modules(MIXED_AT_TOP) if entry.in_tests else ()
        files = (entry, *(other for path in paths if (other := inference.project.files[path]) is not entry and other.in_tests))
        found = EMPTY
        for file in files:
            line = file.definitions[0].end_line
            for _, term in file.definitions[0].bases:
                found = join(found, inference.expanded(inference.term(file, 0, term, line)))
        return frozenset(atom for atom in found if atom[0] == CLASS)

    def _qualified(self, inference: Inference, entry: FileEntry, name: str) -> Type:
        """Return the type of the first part of a qualified name, as in `a::b`.

        In languages that separate parts by `::`, `name` has the form `::a` or `a::`. The name `::a` is looked up at the root of all names.
        The name `a::` is looked up as an imported name, then as a namespace.
        """
        plain = name.strip(self.separator)
        if name.startswith(self.separator):
            places = self._few_pieces(self.package_places(inference, self._group, plain, None))
            known = join(join_all(inference.slot(place) for place in places), self._namespace(inference, plain)) or self.builtin(plain)
            return known or one((EXT, Package(plain), "", None))
        found = EMPTY
        for slot in entry.names(0).get(plain, ()):
            if slot.kind == "import":
                found = join(found, inference.slot(Place(entry, 0, slot)))
                found = join(found, self._namespace(inference, entry.facts.imports[slot.index].module.replace(self.separator, ".")))
        for package in () if found else self.names_of(entry.facts)[:1]:
            found = self._namespace(inference, f"{package}.{plain}") or self._namespace(inference, plain)
        return found

    def _namespace(self, inference: Inference, dotted: str) -> Type:
        is_known = inference.project.modules(dotted) or inference.project.is_folder(dotted)
        return one((NAMESPACE, dotted, self._language)) if is_known else EMPTY

    def whole_module(self, inference: Inference, module: Atom) -> Type:
        """Return the type of the name that stands for an imported file.

        It is the module. In languages in which a file can return a value, the type also contains the returned value.
        """
        target = inference.project.file(module[1]) if self._module_returns and module[0] == MODULE else None
        if target is None:
            return frozenset((module,))
        inference.project.touch_top(target, "*")
        bindings = target.facts.bindings
        given = (inference.term(target, 0, bindings[i].value, bindings[i].line) for i in target.results.get(0, ()))
        return join(frozenset((module,)), inference.expanded(join_all(given)))

    def shared(self, inference: Inference, entry: FileEntry, name: str) -> list[Place] | None:
        """Return the bindings of a name in other files of the package.

        In languages whose project is one package, all files share their names. If only one file defines the name, its bindings are
        returned. If several files define it, the result depends on the definitions:

        - If all are classes, all are returned, because a class may have declarations in several files.
        - Otherwise, the definitions in a near file are returned. If no near file or more than one defines the name, the result is None.

        A near file is imported, or has the same name as this file, in another folder or with another extension.
        """
        if self._shares != "project":
            return super().shared(inference, entry, name)
        found = [place for place in self.package_places(inference, self._group, name, entry) if not is_private(place)]
        if self._own_variables and not name[:1].isupper():
            found = [place for place in found if place.slot.kind != "binding"]
        if len({place.entry.path for place in found}) < 2 or all(is_class(place) for place in found):
            return self._few_pieces(found) or None
        stems = {stem(path) for path in self._imported(inference, entry)} | {stem(entry.path)}
        near = [place for place in found if stem(place.entry.path) in stems]
        return near if len({place.entry.path for place in near}) == 1 else None

    def _few_pieces(self, found: list[Place]) -> list[Place]:
        """Return all bindings of a name, or one if many files declare a class.

        In Ruby, each file of a library may declare the library's module. All these declarations have the same members. So if there are
        more than `MANY_PIECES`, one is enough. A declaration outside tests is preferred.
        """
        if self._reopened is not True or len(found) <= MANY_PIECES or not all(is_class(place) for place in found):
            return found
        return [next((place for place in found if not place.entry.in_tests), found[0])]

    def _imported(self, inference: Inference, entry: FileEntry) -> Iterator[str]:
        for found in entry.facts.imports:
            yield from (atom[1] for atom in ordered(self.import_targets(inference, entry, found)) if atom[0] == MODULE)


def _nearest(importer: str, paths: Sequence[str]) -> list[str]:
    """Return the path nearest to the importer, in a list; empty for a tie.

    The nearest of `paths` has the most leading folders in common with `importer`. `importer` itself is never returned.
    """
    here = importer.split("/")

    def closeness(path: str) -> int:
        there = path.split("/")
        return next((i for i, (left, right) in enumerate(zip(here, there, strict=False)) if left != right), len(there))

    others = [path for path in paths if path != importer]
    best = max(map(closeness, others), default=0)
    near = [path for path in others if closeness(path) == best]
    return near if len(near) == 1 else []


def stem(path: str) -> str:
    """Return the name of a file without extensions: `a` for `x/a.html.erb`."""
    return path.rpartition("/")[2].partition(".")[0]


def _definition(place: Place) -> Definition | None:
    return place.entry.definitions[place.slot.index] if place.slot.kind == "definition" else None


def is_private(place: Place) -> bool:
    """Return whether a definition is visible only in its own file.

    `place` is the definition.
    """
    definition = _definition(place)
    return definition is not None and "private" in definition.modifiers


def is_class(place: Place) -> bool:
    """Return whether a binding of a name is the definition of a class.

    `place` is the binding.
    """
    definition = _definition(place)
    return definition is not None and definition.kind in CLASS_KINDS
