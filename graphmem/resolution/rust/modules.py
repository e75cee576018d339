"""Crates and modules of Rust: which file declares which with `mod`, and where a path of names leads.

A package may have several crates (a library, programs, examples, tests), each with a root file of its own. A file belongs to
the crate of whoever declares it, which is asked file by file: a file that several crates declare belongs to all of them.
"""

# ruff: noqa: SIM905

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from graphmem.resolution.packages import PackageRules
from graphmem.resolution.types import CLASS, EMPTY, EXT, MODULE, Atom, Module, Namespace, Type, join, join_all, one

if TYPE_CHECKING:
    from graphmem.parsing.facts import FileFacts, Import
    from graphmem.resolution.file_entry import FileEntry, Place
    from graphmem.resolution.inference import Inference
    from graphmem.resolution.layout import Layout

LIBRARIES: Final = frozenset("alloc core proc_macro std test".split())
"""Crates that come with the language."""

_ROOTS: Final = ("lib.rs", "main.rs")
"""Names of files that are roots wherever they lie, the library first."""

_FOLDERS_OF_ROOTS: Final = ("src/bin", "examples", "tests", "benches")
"""Folders of a package in which Cargo takes every file for the root of a crate."""


class RustModules(PackageRules):
    """Crates as their `Cargo.toml` files name them, modules as their files declare them."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self._packages: dict[str, str] = {}  # folder of a package -> name of its library
        self._libraries: dict[str, str] = {}  # name of a library -> file that is its root, if it is there
        self._outside: dict[str, str] = {}  # name in the source -> package outside
        self._targets: dict[str, str] = {}  # file that a manifest calls the root of a crate -> name of that crate
        for path, document in layout.documents.items():
            folder, _, name = path.rpartition("/")
            if name == "Cargo.toml":
                self._read(folder, document)

    def _read(self, folder: str, document: Any) -> None:
        """What one `Cargo.toml` says."""
        package = document.get("package")
        if isinstance(package, dict) and isinstance(package.get("name"), str):
            library = document.get("lib")
            library = library if isinstance(library, dict) else {}
            crate = str(library.get("name", package["name"])).replace("-", "_")
            self._packages[folder] = crate
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

    # names of files, from their paths alone

    def module_names(self, path: str) -> Sequence[str]:
        """The module's path from its crate, a name all files of the package share, and one all roots in a folder share."""
        crate, parts = self._place(path)
        names = ("::".join((crate, *parts)), self.package_of(path))
        return (*names, _roots_in(path.rpartition("/")[0])) if self._is_root(path) else names

    def names_of(self, facts: FileFacts) -> Sequence[str]:
        """As `module_names`."""
        return self.module_names(facts.path)

    def package_of(self, path: str) -> str:
        """The name that all files of a package share, whatever crate of it they are in."""
        return f"{self._home(path)}::*"

    def _home(self, path: str) -> str:
        """The folder of the package a file is in; "" where no manifest is above it."""
        home = path.rpartition("/")[0]
        while home and home not in self._packages:
            home = home.rpartition("/")[0]
        return home

    def _is_root(self, path: str) -> bool:
        """True for a file that is, or may be, the root of a crate."""
        folder, _, name = path.rpartition("/")
        if path in self._targets or name in _ROOTS:
            return True
        home = self._home(path)
        return path == _below(home, "build.rs") or any(folder == _below(home, place) for place in _FOLDERS_OF_ROOTS)

    def _place(self, path: str) -> tuple[str, tuple[str, ...]]:
        """The name of a file's crate and where in it the file is, as far as its path tells."""
        known = self._targets.get(path)
        if known is not None:
            return known, ()
        home = self._home(path)
        crate = self._packages.get(home, home.replace("/", "_") or "crate")
        below = (path[len(home) :].strip("/") if home else path).removesuffix(".rs").split("/")
        if below[0] in ("tests", "examples", "benches") and len(below) > 1:
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
        """Only the methods of types that may be defined elsewhere."""
        kept: tuple[str, ...] | None = entry.kept.get("shared names")
        if kept is None:
            apart = [name for name in entry.names(0) if "." in name]
            kept = entry.kept["shared names"] = tuple(sorted({*apart, *(f"{name.rpartition('.')[0]}." for name in apart)}))
        return kept

    # which file declares which

    def submodule(self, inference: Inference, module: Atom, name: str) -> Type:
        """The file of a module below a module, in a file or in braces; `super` is the one above."""
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
        """Where the files of the modules lie that a file declares."""
        folder, _, name = path.rpartition("/")
        if name == "mod.rs" or name in _ROOTS:
            return (folder,)
        own = path.removesuffix(".rs")
        return (folder, own) if self._is_root(path) else (own,)

    def _parents(self, inference: Inference, path: str) -> Type:
        """The modules that declare a file; where none is seen to, the one beside or above it that most likely does.

        A declaration may hide in a macro or name another place (`#[path]`).
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
        """Files whose modules lie in a folder: the most likely first."""
        beside = (_below(folder, "mod.rs"), f"{folder}.rs") if folder else ("mod.rs",)
        roots = inference.project.modules(_roots_in(folder))
        roots.sort(key=lambda path: (_ROOTS.index(name) if (name := path.rpartition("/")[2]) in _ROOTS else len(_ROOTS), path))
        return [*(path for path in beside if inference.project.file(path) is not None), *roots]

    def _declares(self, inference: Inference, path: str, name: str) -> bool:
        """True when a file says `mod name;`."""
        entry = inference.project.file(path)
        if entry is None:
            return False
        inference.project.touch_top(entry, name)
        imports = (entry.facts.imports[slot.index] for slot in entry.names(0).get(name, ()) if slot.kind == "import")
        return any(found.kind == "import" and found.module == f"self::{name}" for found in imports)

    def _crates(self, inference: Inference, path: str) -> Type:
        """What `crate` is in a file: the roots of all crates it belongs to; the file itself where nobody can declare it."""
        return inference.project.solver.ask(inference.project.files[path].memo, ("roots",), self._roots_above, inference, path)

    def _roots_above(self, inference: Inference, path: str) -> Type:
        parents = self._parents(inference, path)
        own = one((MODULE, path)) if self._is_root(path) or not parents else EMPTY
        return join(own, join_all(self._crates(inference, atom[1]) for atom in parents if atom[0] == MODULE))

    def _library(self, inference: Inference, name: str) -> Type:
        """The root of a library of the project; nothing for a package that has only programs."""
        root = self._libraries.get(name)
        return one((MODULE, root)) if root is not None and inference.project.file(root) is not None else EMPTY

    # paths of names

    def package_files(self, inference: Inference, package: Namespace, name: str) -> list[Module]:
        """Modules are files."""
        return []

    def import_targets(self, inference: Inference, entry: FileEntry, found: Import) -> Type:
        """The module, or the type, that the path of a `use` names."""
        ask = inference.project.solver.ask
        key = ("module", found.scope, found.module, found.kind)
        return ask(entry.memo, key, self._path, inference, entry, found.scope, found.module.split("::"), found.alias)

    def _path(self, inference: Inference, entry: FileEntry, scope: int, parts: Sequence[str], alias: str) -> Type:
        first = parts[0]
        here = entry.enclosing(scope, ("class",))
        library = self._library(inference, first)
        if first == "self":
            current = self._around(inference, entry, here)
            if len(parts) == 2:  # `mod name;` is a file of its own, whatever else has that name here
                file = join_all(self.submodule(inference, atom, parts[1]) for atom in current)
                if file:
                    return file
        elif first in ("crate", "super"):
            current = self._above(inference, entry, here) if first == "super" else self._crates(inference, entry.path)
        elif library:
            current = library
        elif first == alias and len(parts) == 1:
            return self.builtin(first) or one((EXT, first, "", None))
        else:
            places = inference.lookup(entry, scope, first, 1 << 30)
            current = join_all(inference.slot(place) for place in places) if places else self.builtin(first)
            if not current:
                return one((EXT, first, ".".join(parts[1:]), None))
        for part in parts[1:]:
            if part == "super":
                current = join_all(self._parent(inference, atom) for atom in current)
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
        """A name of a module in a file, of a module in braces, or a variant of an enumeration."""
        return inference.attribute_of(module, name) if module[0] == CLASS else super().taken(inference, module, name)

    def shared(self, inference: Inference, entry: FileEntry, name: str) -> list[Place] | None:
        """What an import of everything brings that is no file: modules in braces, enumerations."""
        return None if "." in name or not entry.stars else super().shared(inference, entry, name)

    def this(self, inference: Inference, entry: FileEntry, scope: int) -> Type:
        """The receiver; outside of methods `self` begins a path from the module."""
        return super().this(inference, entry, scope) or (one((MODULE, entry.path)) if entry.enclosing(scope, ("method",)) < 0 else EMPTY)

    def unbound(self, inference: Inference, entry: FileEntry, scope: int, name: str) -> Type:
        """`crate`, `super`, and crates by their names."""
        if name == "crate":
            return self._crates(inference, entry.path)
        if name == "super":
            return self._above(inference, entry, entry.enclosing(scope, ("class",)))
        return self._library(inference, name) or self.builtin(name)

    def builtin(self, name: str) -> Type:
        """The prelude, and crates outside by their names."""
        if name in LIBRARIES:
            return one((EXT, name, "", None))
        return one((EXT, self._outside[name], "", None)) if name in self._outside else super().builtin(name)


def is_module(entry: FileEntry, scope: int) -> bool:
    """True for a module in braces."""
    return "namespace" in entry.definitions[scope].modifiers


def _named(crate: str, below: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    parts = tuple(below)
    return crate, parts[:-1] if parts and parts[-1] in ("mod", "lib", "main") else parts


def _roots_in(folder: str) -> str:
    """The name that the roots in a folder share."""
    return f"{folder}/roots::*"


def _below(folder: str, name: str) -> str:
    """A path below a folder; parts that are empty or "." left out, ".." followed."""
    parts: list[str] = []
    for part in f"{folder}/{name}".split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
