"""Find the crates and modules that paths in Rust code name.

A package may have several crates (a library, binaries, examples, tests), each with its own root file. A file belongs to the crate of the
file that declares it with `mod`. If several crates declare a file, the file belongs to all of them.

A binding of a name is a place that gives the name its meaning, such as `x = f()`, `import x`, `def x` or a parameter.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from graphmem.resolution.packages import PackageRules
from graphmem.resolution.rust.tables import LIBRARY
from graphmem.resolution.values.types import CLASS, EMPTY, EXT, MODULE, Atom, Module, Namespace, Package, Type, join, join_all, one, ordered

if TYPE_CHECKING:
    from graphmem.parsing.facts import FileFacts, Import
    from graphmem.resolution.files.file_entry import FileEntry, Place
    from graphmem.resolution.interfaces.inference import Inference
    from graphmem.resolution.interfaces.layout import Layout

LIBRARIES: Final = LIBRARY.crates
"""Crates that are part of the Rust distribution."""

_ROOTS: Final = ("lib.rs", "main.rs")
"""File names that are crate roots in any folder, the library first."""

_FOLDERS_OF_ROOTS: Final = {"src/bin": "autobins", "examples": "autoexamples", "tests": "autotests", "benches": "autobenches"}
"""Folders of a package in which Cargo treats every file as a crate root, with the setting of the package that turns this off."""


class RustModules(PackageRules):
    """The part of the Rust rules that resolves crates and modules.

    Crates come from `Cargo.toml`, modules from `mod` declarations.
    """

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self._packages: dict[str, str] = {}  # folder of a package -> name of its library
        self._libraries: dict[str, str] = {}  # name of a library -> path of its root file, which may not exist
        self._outside: dict[str, str] = {}  # name in the source -> external package
        self._targets: dict[str, str] = {}  # crate root named in a manifest -> name of that crate
        self._without_roots: set[str] = set()  # folders in which only the targets of a manifest are crate roots
        for path, document in layout.documents.items():
            folder, _, name = path.rpartition("/")
            if name == "Cargo.toml":
                self._read(folder, document)

    def _read(self, folder: str, document: Any) -> None:
        """Read packages, targets and dependencies from one `Cargo.toml`.

        `document` is its parsed content, and `folder` the folder that contains it.
        """
        package = document.get("package")
        if isinstance(package, dict) and isinstance(package.get("name"), str):
            library = document.get("lib")
            library = library if isinstance(library, dict) else {}
            crate = str(library.get("name", package["name"])).replace("-", "_")
            self._packages[folder] = crate
            self._without_roots.update(_below(folder, one) for one, setting in _FOLDERS_OF_ROOTS.items() if package.get(setting) is False)
            self._libraries[crate] = _below(folder, str(library.get("path", "src/lib.rs")))
            self._targets[self._libraries[crate]] = crate
            for kind in ("bin", "example", "test", "bench"):
                for target in document.get(kind, ()) if isinstance(document.get(kind), list) else ():
                    if isinstance(target, dict) and isinstance(target.get("path"), str):
                        self._targets[_below(folder, target["path"])] = f"{crate}:{target.get('name', kind)}"
        for table in ("dependencies", "dev-dependencies", "build-dependencies"):
            wanted = document.get(table)
            for name, value in wanted.items() if isinstance(wanted, dict) else ():
                renamed = value.get("package", name) if isinstance(value, dict) else name
                self._outside[str(name).replace("-", "_")] = str(renamed).replace("-", "_")

    # names of files, derived from their paths only

    def module_names(self, path: str) -> Sequence[str]:
        """Return the names under which other files look up a file.

        The first is the path of the file's module in its crate, such as `shop::a::b`. The second is a name that all files of the package
        share. A crate root has a third name, which all crate roots in its folder share.
        """
        crate, parts = self._place(path)
        names = ("::".join((crate, *parts)), self.package_of(path))
        return (*names, _roots_in(path.rpartition("/")[0])) if self._is_root(path) else names

    def names_of(self, facts: FileFacts) -> Sequence[str]:
        """Return the names under which other files look up a parsed file.

        `facts` are the results of parsing the file; only its path decides the names.
        """
        return self.module_names(facts.path)

    def package_of(self, path: str) -> str:
        """Return the name of the Cargo package of a file, `FOLDER::*`."""
        return f"{self._home(path)}::*"

    def _home(self, path: str) -> str:
        """Return the folder of the package that contains a file.

        The result is "" if no folder above the file has a `Cargo.toml`.
        """
        home = path.rpartition("/")[0]
        while home and home not in self._packages:
            home = home.rpartition("/")[0]
        return home

    def _is_root(self, path: str) -> bool:
        """Return whether a file is, or may be, the root file of a crate."""
        folder, _, name = path.rpartition("/")
        if path in self._targets or name in _ROOTS:
            return True
        home = self._home(path)
        roots = {_below(home, place) for place in _FOLDERS_OF_ROOTS} - self._without_roots
        return path == _below(home, "build.rs") or folder in roots

    def _place(self, path: str) -> tuple[str, tuple[str, ...]]:
        """Return (crate, parts of the module path) that a file's path suggests.

        For `src/a/b.rs` in the crate `shop`, the result is ("shop", ("a", "b")). The root file of a crate has no parts.
        """
        known = self._targets.get(path)
        if known is not None:
            return known, ()
        home = self._home(path)
        crate = self._packages.get(home, home.replace("/", "_") or "crate")
        below = (path[len(home) :].strip("/") if home else path).removesuffix(".rs").split("/")
        if below[0] in ("tests", "examples", "benches") and len(below) > 1 and _below(home, below[0]) not in self._without_roots:
            return _named(f"{crate}:{below[0]}:{below[1]}", below[2:])
        for target, name in self._targets.items():  # modules beside the root of another target
            root = target.rpartition("/")[0]
            if root and name != crate and root != _below(home, "src") and path.startswith(f"{root}/"):
                return _named(name, path[len(root) + 1 :].removesuffix(".rs").split("/"))
        if below[0] == "src":
            below = below[1:]
        if below[0] == "bin" and len(below) > 1:
            return _named(f"{crate}:{below[1]}", below[2:])
        return (f"{crate}:main", ()) if below == ["main"] else _named(crate, below)

    def shared_names(self, entry: FileEntry) -> Sequence[str]:
        """Return a file's method names that other files of its package look up.

        Other files look up a method such as `User.save`, because another file may define the type `User`. For each method, the result also
        has the prefix `User.`.
        """
        kept: tuple[str, ...] | None = entry.kept.get("shared names")
        if kept is None:
            apart = [name for name in entry.names(0) if "." in name]
            kept = entry.kept["shared names"] = tuple(sorted({*apart, *(f"{name.rpartition('.')[0]}." for name in apart)}))
        return kept

    # module declarations between files

    def submodule(self, inference: Inference, module: Atom, name: str) -> Type:
        """Return the file of the submodule `name`; for "super", the parent module.

        `module` is the outer module: a file, or a `mod name { … }` in a file.
        """
        if name == "super":
            return self._parent(inference, module)
        inner = ""
        if module[0] == CLASS:
            entry = inference.project.entry(module[1])
            if not is_module(entry, module[1].index):
                return EMPTY
            path, inner = entry.path, module[1].qualname.replace(".", "/")
        elif module[0] == MODULE:
            path = module[1]
        else:
            return EMPTY
        name = name.removeprefix("r#")
        for folder in self._folders_below(path):
            place = _below(folder, _below(inner, name))
            for file in (f"{place}.rs", f"{place}/mod.rs"):
                if file != path and inference.project.file(file) is not None:
                    return one((MODULE, file))
        return EMPTY

    def _folders_below(self, path: str) -> Sequence[str]:
        """Return the folders that may contain the modules a file declares."""
        folder, _, name = path.rpartition("/")
        if name == "mod.rs" or name in _ROOTS:
            return (folder,)
        own = path.removesuffix(".rs")
        return (folder, own) if self._is_root(path) else (own,)

    def _parents(self, inference: Inference, path: str) -> Type:
        """Return the modules that declare a file with `mod name;`.

        If none is found, the result is the most likely module beside or above the file. A declaration may be missed because it is inside a
        macro, or because it gives another path (`#[path]`).
        """
        return inference.project.solver.ask(inference.project.files[path].memo, ("parents",), self._declaring, inference, path)

    def _declaring(self, inference: Inference, path: str) -> Type:
        home = self._home(path)
        above, _, file = path.rpartition("/")
        name = file.removesuffix(".rs")
        if name == "mod":
            above, _, name = above.rpartition("/")
        while True:
            possible = [one for one in self._may_declare(inference, above) if one != path]
            declared = [one for one in possible if self._declares(inference, one, name)]
            if declared or self._is_root(path):
                return join_all(one((MODULE, each)) for each in declared)
            if possible or above == home or not above:
                return join_all(one((MODULE, each)) for each in possible[:1])
            above = above.rpartition("/")[0]

    def _may_declare(self, inference: Inference, folder: str) -> list[str]:
        """Return the files that may declare the modules in a folder, best first."""
        beside = (_below(folder, "mod.rs"), f"{folder}.rs") if folder else ("mod.rs",)
        roots = inference.project.modules(_roots_in(folder))
        roots.sort(key=lambda path: (_ROOTS.index(name) if (name := path.rpartition("/")[2]) in _ROOTS else len(_ROOTS), path))
        return [*(path for path in beside if inference.project.file(path) is not None), *roots]

    def _declares(self, inference: Inference, path: str, name: str) -> bool:
        """Return whether a file declares `mod name;`."""
        entry = inference.project.file(path)
        if entry is None:
            return False
        inference.project.touch_top(entry, name)
        imports = (entry.facts.imports[slot.index] for slot in entry.names(0).get(name, ()) if slot.kind == "import")
        return any(found.kind == "import" and found.module == f"self::{name}" for found in imports)

    def _crates(self, inference: Inference, path: str) -> Type:
        """Return the root files to which `crate` refers in a file.

        A file may belong to several crates, and each crate has one root file. If no module declares the file, the file is its own root.
        """
        return inference.project.solver.ask(inference.project.files[path].memo, ("roots",), self._roots_above, inference, path)

    def _roots_above(self, inference: Inference, path: str) -> Type:
        parents = self._parents(inference, path)
        own = one((MODULE, path)) if self._is_root(path) or not parents else EMPTY
        return join(own, join_all(self._crates(inference, atom[1]) for atom in ordered(parents) if atom[0] == MODULE))

    def _library(self, inference: Inference, name: str) -> Type:
        """Return the root module of the library that has a given name.

        The library belongs to the project. The result is empty for a package that has only binaries.
        """
        root = self._libraries.get(name)
        return one((MODULE, root)) if root is not None and inference.project.file(root) is not None else EMPTY

    # paths of names

    def exported_to(self, importer: FileEntry, entry: FileEntry, name: str) -> bool:
        """Return whether `use module::*` in the file `importer` provides a name.

        The import does not provide names that the module imports for itself, unless `importer` is inside the module.
        """
        slots = entry.names(0).get(name, ())
        if any(slot.kind != "import" or entry.facts.imports[slot.index].kind != "from" for slot in slots) or not slots:
            return self.exported(entry, name)
        return self.module_names(importer.path)[0].startswith(f"{self.module_names(entry.path)[0]}::")

    def package_files(self, inference: Inference, package: Namespace, name: str) -> list[Module]:
        """Return no files, because a package of Rust does not share its names.

        Each file of a package is a module of its own.
        """
        return []

    def import_targets(self, inference: Inference, entry: FileEntry, found: Import) -> Type:
        """Return the module or type that the path of a `use` names."""
        ask = inference.project.solver.ask
        key = ("module", found.scope, found.module, found.kind)
        return ask(entry.memo, key, self._path, inference, entry, found.scope, found.module.split("::"), found.alias)

    def _path(self, inference: Inference, entry: FileEntry, scope: int, parts: Sequence[str], alias: str) -> Type:
        first = parts[0]
        here = entry.enclosing(scope, ("class",))
        library = self._library(inference, first)
        if first == "self":
            current = self._around(inference, entry, here)
            if len(parts) == 2:  # `mod name;` means a file, even if another item here has that name
                file = join_all(self.submodule(inference, atom, parts[1]) for atom in ordered(current))
                if file:
                    return file
        elif first in ("crate", "super"):
            current = self._above(inference, entry, here) if first == "super" else self._crates(inference, entry.path)
        elif library:
            current = library
        elif first == alias and len(parts) == 1:
            own = join_all(self.submodule(inference, atom, first) for atom in ordered(self._around(inference, entry, here)))
            return own or self.builtin(first) or one((EXT, Package(first), "", None))
        else:
            places = [one for one in inference.lookup(entry, scope, first, 1 << 30) or () if not _from_itself(one, first)]
            current = join_all(inference.slot(place) for place in places) if places else self.builtin(first)
            if not current:
                return one((EXT, Package(first), ".".join(parts[1:]), None))
        for part in parts[1:]:
            if part == "super":
                current = join_all(self._parent(inference, atom) for atom in ordered(current))
            elif part != "self":
                current = inference.attribute(current, part)
        return inference.expanded(current)

    def _around(self, inference: Inference, entry: FileEntry, here: int) -> Type:
        return one((CLASS, entry.symbols[here], False)) if here > 0 and is_module(entry, here) else one((MODULE, entry.path))

    def _above(self, inference: Inference, entry: FileEntry, here: int) -> Type:
        if here <= 0 or not is_module(entry, here):
            return self._parents(inference, entry.path)
        parent = entry.definitions[here].parent
        return one((CLASS, entry.symbols[parent], False)) if parent > 0 else one((MODULE, entry.path))

    def _parent(self, inference: Inference, module: Atom) -> Type:
        if module[0] == CLASS:
            entry = inference.project.entry(module[1])
            return self._above(inference, entry, module[1].index)
        return self._parents(inference, module[1]) if module[0] == MODULE else EMPTY

    def taken(self, inference: Inference, module: Atom, name: str) -> Type:
        """Return the type of the name `b` in `use a::b`.

        `module` is `a`: a file, an inline module, or an enum whose variant is `b`.
        """
        return inference.attribute_of(module, name) if module[0] == CLASS else super().taken(inference, module, name)

    def shared(self, inference: Inference, entry: FileEntry, name: str) -> list[Place] | None:
        """Return the bindings of a name imported by a glob such as `use a::*`.

        Here `a` is an inline module or an enum. If `a` is a file, the class `Names` finds the bindings.
        """
        return None if "." in name or not entry.stars else super().shared(inference, entry, name)

    def this(self, inference: Inference, entry: FileEntry, scope: int) -> Type:
        """Return the type of `self` in a scope.

        In a method it is the receiver. Elsewhere it is the current module, with which a path such as `self::a` begins.
        """
        return super().this(inference, entry, scope) or (one((MODULE, entry.path)) if entry.enclosing(scope, ("method",)) < 0 else EMPTY)

    def unbound(self, inference: Inference, entry: FileEntry, scope: int, name: str) -> Type:
        """Return the module that a name without a binding means.

        The name is `crate`, `super`, `self` or the name of a crate.
        """
        if name == "crate":
            return self._crates(inference, entry.path)
        if name == "super":
            return self._above(inference, entry, entry.enclosing(scope, ("class",)))
        if name == "self::":
            return self._around(inference, entry, entry.enclosing(scope, ("class",)))
        return self._library(inference, name) or self.builtin(name) or self._bound(inference, entry, scope, name)

    def _bound(self, inference: Inference, entry: FileEntry, scope: int, name: str) -> Type:
        """Return the traits of a type parameter, such as `Trait` for `T: Trait`."""
        if not name[:1].isupper():
            return EMPTY
        traits = (self.objects(inference, entry, scope, bound) for bound in self.bounds(entry, scope, name))
        return join_all(frozenset(atom for atom in found if atom[0] == CLASS) for found in traits)

    def builtin(self, name: str) -> Type:
        """Return the type of a name of Rust's prelude, or of an external crate."""
        if name in LIBRARIES:
            return one((EXT, Package(name), "", None))
        return one((EXT, Package(self._outside[name]), "", None)) if name in self._outside else super().builtin(name)


def is_module(entry: FileEntry, scope: int) -> bool:
    """Return whether a scope is an inline module (`mod name { … }`)."""
    return "namespace" in entry.definitions[scope].modifiers


def _named(crate: str, below: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    parts = tuple(below)
    return crate, parts[:-1] if parts and parts[-1] in ("mod", "lib", "main") else parts


def _roots_in(folder: str) -> str:
    """Return the name under which all crate roots in a folder are found.

    A crate root is the first file of a crate, such as `main.rs`. The index of the project stores it like the name of a module.
    """
    return f"{folder}/roots::*"


def _below(folder: str, name: str) -> str:
    """Join a folder and a relative path; resolve empty parts, "." and ".."."""
    parts: list[str] = []
    for part in f"{folder}/{name}".split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _from_itself(place: Place, name: str) -> bool:
    """Return whether a name is imported from a crate or module of that name.

    `place` is the binding of the name. `use anyhow::anyhow` binds a macro, which does not begin the path `anyhow::Result`.
    """
    found = place.entry.facts.imports[place.slot.index] if place.slot.kind == "import" else None
    return found is not None and found.kind != "import" and found.module.partition("::")[0] == name
