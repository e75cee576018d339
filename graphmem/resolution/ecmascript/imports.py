"""Imports and exports of JavaScript and TypeScript.

An import finds a file by its specifier, the string after `from`. In the file, it finds values and types by their names.

A binding of a name is a place that gives the name its meaning, such as `x = f()`, `import x`, `def x` or a parameter.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import NAME, TermIndex
from graphmem.parsing.languages.ecmascript_words import TYPE_SLOT
from graphmem.resolution.ecmascript.exports import exports_of
from graphmem.resolution.ecmascript.modules import NODE_MODULES, ModulePaths, candidates
from graphmem.resolution.ecmascript.specifiers import package_of
from graphmem.resolution.files.file_entry import Place
from graphmem.resolution.interfaces.language import Rules
from graphmem.resolution.values.symbol import CLASS_KINDS
from graphmem.resolution.values.types import CLASS, EMPTY, EXT, MODULE, Atom, Package, Type, join, join_all, one, ordered

if TYPE_CHECKING:
    from graphmem.parsing.facts import FileFacts, Import
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference
    from graphmem.resolution.interfaces.layout import Layout

_ENDINGS: Final = (".d.ts", ".d.mts", ".d.cts", ".tsx", ".mts", ".cts", ".ts", ".jsx", ".mjs", ".cjs", ".js")


def type_slot(name: str) -> str:
    """Return the key under which a scope stores the type of a given name.

    The key differs from the name, because a type and a value may have the same name.
    """
    return TYPE_SLOT + name


class EcmascriptNames(Rules):
    """The part of the JavaScript rules that resolves imports and exports.

    The rules cover ES and CommonJS modules, and the names of values and of types.
    """

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self._paths = ModulePaths(layout)
        self._entry_files = self._paths.entry_files()

    def scripts(self, facts: FileFacts) -> Mapping[str, str]:
        """Return the role that a package.json or an index.html gives to a file.

        The result is {"": "command"}, {"": "export"} or {"": "main"}, in which "" stands for the whole file. It is empty for a file that
        none of them names.
        """
        kind = self._entry_files.get(facts.path)
        return {"": kind} if kind else {}

    def module_names(self, path: str) -> Sequence[str]:
        """Return the name by which imports find a file: its path without suffix.

        For an index file such as `lib/index.ts`, the name is the folder, `lib`.
        """
        stem = next((path[: -len(ending)] for ending in _ENDINGS if path.endswith(ending)), path)
        folder, _, name = stem.rpartition("/")
        return (folder if name == "index" and folder else stem,)

    # targets of imports

    def import_targets(self, inference: Inference, entry: FileEntry, found: Import) -> Type:
        """Return the file or the external package that an import names.

        `found` is the import, and `entry` the file that contains it.
        """
        return self.module_of(inference, entry, found.module) if found.module else EMPTY

    def module_of(self, inference: Inference, entry: FileEntry, specifier: str) -> Type:
        """Return the file or package that a module name such as `./a` refers to."""
        ask = inference.project.solver.ask
        return ask(entry.memo, ("module", specifier), self._look_for, inference, entry, specifier)

    def _look_for(self, inference: Inference, entry: FileEntry, specifier: str) -> Type:
        seen: set[str] = set()
        for place in self._paths.places(entry.path, specifier):
            for path in candidates(place, entry.path):
                if path not in seen and path != entry.path:
                    seen.add(path)
                    if inference.project.file(path) is not None:
                        return one((MODULE, path))
        if specifier.startswith((".", "/", "#")):
            return EMPTY
        package, below = package_of(specifier)
        if package in NODE_MODULES:
            package = Package(f"node:{package}")
        return one((EXT, package, below.replace("/", "."), None))

    # exports of a module

    def type_names(self, name: str) -> Sequence[str]:
        """Return the keys under which a scope may store the type of a given name.

        A type and a value may have the same name, so a type may have its own key.
        """
        return (type_slot(name), name)

    def passes_on(self, entry: FileEntry, found: Import) -> bool:
        """Return whether an import also exports the imported name again.

        Examples are `export { a } from "b"`, and `export { a }` for an imported `a`. The result is also True for a block `declare module
        "b" { interface a {…} }`, because it extends the interface `a` of "b".
        """
        return found.kind in ("reexport", "augment") and found.name not in ("", "*")

    def given(self, inference: Inference, entry: FileEntry, name: str) -> tuple[Sequence[str], Sequence[Import]]:
        """Return where a file's export comes from, as (names, imports).

        `name` is the exported name. The first of these rules that fits is used:

        - For `export { a as name }`, the import that stands for this export is returned.
        - For `default`, the names that the file exports as its default are returned.
        - If the file defines `name` itself, `name` is returned.
        - Otherwise, every `export * from` is returned as an import of `name`.
        """
        inference.project.touch("top", entry.path, "*")
        inference.project.touch("top", entry.path, name)
        exports, imports = exports_of(entry), entry.facts.imports
        if name in exports.renamed:
            return (), [imports[position] for position in exports.renamed[name]]
        if name == "default":
            values = (entry.terms[entry.facts.bindings[position].value] for position in exports.assigned.get(name, ()))
            return [*(entry.definitions[index].name for index in exports.default), *(one[1] for one in values if one[0] == NAME)], ()
        if any(key in entry.names(0) for key in self.type_names(name)):
            return (name,), ()
        return (), [imports[position]._replace(name=name) for position in exports.stars]

    def taken(self, inference: Inference, module: Atom, name: str) -> Type:
        """Return the type of the name `a` in `import { a } from "module"`.

        `module` is the file or package, and `name` is `a`.
        """
        return self.from_module(inference, module, name, as_type=False)

    def exported(self, entry: FileEntry, name: str) -> bool:
        """Return False, because `export * from` binds no names in its own file.

        Such names are found in the other file, by `module_value`.
        """
        return False

    def module_value(self, inference: Inference, module: FileEntry, name: str) -> Type | None:
        """Return the type of the value that a module exports under a name.

        The export may be a named, default or CommonJS export, or a re-export. None means that the module itself defines and exports `name`;
        the caller then looks it up there.
        """
        return self._member(inference, module, name, as_type=False)

    def from_module(self, inference: Inference, module: Atom, name: str, *, as_type: bool) -> Type:
        """Return the type of a name that a module or package exports.

        In TypeScript, a value and a type may share the name. If `as_type` is true, the name means the type, else the value.
        """
        if module[0] == EXT and name == "default":
            return frozenset((module,))  # the default export of an external package represents the package
        target = inference.project.file(module[1]) if as_type and module[0] == MODULE else None
        if target is None:
            return inference.module_member(module, name)
        return self._member(inference, target, name, as_type=True) or EMPTY

    def _member(self, inference: Inference, module: FileEntry, name: str, *, as_type: bool) -> Type | None:
        """Return the type of a name that a module exports.

        In TypeScript, a value and a type may share the name. If `as_type` is true, the name means the type, else the value.
        None means that the module itself defines and exports `name`; the caller then looks it up there.
        """
        inference.project.touch("top", module.path, "*")
        inference.project.touch("top", module.path, name)
        if not as_type and name != "default" and name in module.names(0) and name not in exports_of(module).renamed:
            return None
        ask = inference.project.solver.ask
        return ask(module.memo, ("export", name, as_type), self._export, inference, module, name, as_type)

    def _export(self, inference: Inference, module: FileEntry, name: str, as_type: bool) -> Type:
        exports = exports_of(module)
        found = EMPTY
        if as_type and name not in exports.renamed:
            found = self.as_types(inference, self._type_places(inference, module, name))
        for position in exports.renamed.get(name, ()):
            found = join(found, self._reexported(inference, module, module.facts.imports[position], as_type))
        for position in exports.assigned.get(name, ()):
            value = module.facts.bindings[position].value
            found = join(found, self.objects(inference, module, 0, value) if as_type else inference.binding(module, position))
        if name == "default":
            found = join(found, join_all(inference.defined(module.symbols[i]) for i in exports.default))
            if found:
                return found
            whole = self._common_js(inference, module)
            itself = EMPTY if exports.is_es_module and not whole else one((MODULE, module.path))
            return join(itself, whole)  # `module.exports = f` may be followed by `module.exports.name = …`
        if found:
            return found
        found = inference.attribute(self._common_js(inference, module), name)
        if found:
            return found
        for position in exports.stars:
            for atom in ordered(self.import_targets(inference, module, module.facts.imports[position])):
                found = join(found, self.from_module(inference, atom, name, as_type=as_type) if atom[0] == MODULE else EMPTY)
        return found

    def _type_places(self, inference: Inference, module: FileEntry, name: str) -> list[Place]:
        """Return the bindings of `name` in a module.

        A type and a value may have the same name; bindings of the type come first.
        """
        inference.project.touch_top(module, name)
        inference.project.touch_top(module, type_slot(name))
        names = module.names(0)
        return [Place(module, 0, slot) for key in (type_slot(name), name) for slot in names.get(key, ())]

    def _reexported(self, inference: Inference, module: FileEntry, found: Import, as_type: bool) -> Type:
        if not found.module:  # export { local as name }
            if as_type:
                return self.as_types(inference, self._type_places(inference, module, found.name))
            return join_all(inference.slot(place) for place in inference.module_places(module.path, found.name) or ())
        targets = self.import_targets(inference, module, found)
        if not found.name:
            return targets
        return join_all(self.from_module(inference, atom, found.name, as_type=as_type) for atom in ordered(targets))

    def _common_js(self, inference: Inference, module: FileEntry) -> Type:
        """Return the type of the value of `module.exports` or `export =`.

        In `const app = module.exports = {}`, the variable `app` has the same value. So members that are added to `app` are included.
        """
        exports = exports_of(module)
        found = join_all(inference.defined(module.symbols[i]) for i in exports.functions)
        for position in (*exports.whole, *exports.twins):
            found = join(found, inference.binding(module, position))
        return inference.expanded(found)

    def whole_module(self, inference: Inference, module: Atom) -> Type:
        """Return the type of the name `a` in `import * as a from "module"`.

        If the file has `module.exports = value`, the result also contains the type of `value`.
        """
        target = inference.project.file(module[1]) if module[0] == MODULE else None
        if target is None:
            return frozenset((module,))
        inference.project.touch("top", target.path, "*")
        return join(frozenset((module,)), self._common_js(inference, target))

    # names in types

    def objects(self, inference: Inference, entry: FileEntry, scope: int, term: TermIndex) -> Type:
        """Return the classes and modules that a type expression refers to.

        The subclass in `annotations` implements this method.
        """
        raise NotImplementedError

    def as_types(self, inference: Inference, places: Sequence[Place]) -> Type:
        """Return the types to which the bindings of a name refer.

        `places` are the bindings, such as `class A` or `import { A }`. Types and values have separate namespaces in TypeScript, so values
        of the same names are left out.
        """
        found = EMPTY
        for entry, scope, slot in places:
            if slot.kind == "definition" and entry.definitions[slot.index].kind in CLASS_KINDS:
                found = join(found, one((CLASS, entry.symbols[slot.index], False)))
            elif slot.kind == "import":
                ask = inference.project.solver.ask
                imported = entry.facts.imports[slot.index]
                found = join(found, ask(entry.memo, ("imported type", slot.index), self._imported_type, inference, entry, imported))
            elif slot.kind == "binding" and is_alias(entry, scope, slot.index):
                found = join(found, inference.declared(entry, scope, entry.facts.bindings[slot.index].value))
        return found

    def _imported_type(self, inference: Inference, entry: FileEntry, found: Import) -> Type:
        modules = self.import_targets(inference, entry, found)
        if not found.name:
            return join_all(self.whole_module(inference, atom) for atom in ordered(modules))
        return join_all(self.from_module(inference, atom, found.name, as_type=True) for atom in ordered(modules))


def is_alias(entry: FileEntry, scope: int, position: int) -> bool:
    """Return whether a binding is a type alias.

    `position` is the binding's position in the file. An alias is declared with `type`, or in a JSDoc comment.
    """
    binding = entry.facts.bindings[position]
    target = entry.terms[binding.target]
    return (scope, binding.line) in aliases(entry) or (target[0] == NAME and target[1].startswith(TYPE_SLOT))


def aliases(entry: FileEntry) -> frozenset[tuple[int, int]]:
    """Return the (scope, line) of each type alias in a file.

    The result is cached in the `FileEntry` of the file.
    """
    kept: frozenset[tuple[int, int]] | None = entry.kept.get("aliases")
    if kept is None:
        found = ((one_.parent, line) for one_ in entry.definitions if one_.kind == "type" for line in (one_.start_line, one_.name_line))
        kept = entry.kept["aliases"] = frozenset(found)
    return kept
