"""The rules of JavaScript and TypeScript: modules of both kinds, `this`, prototypes, annotations, promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import ATTR, CALL, EITHER, INDEX, LAMBDA, LIST, NAME, SELF, TUPLE, UNKNOWN
from graphmem.resolution.ecmascript_exports import exports_of
from graphmem.resolution.ecmascript_library import (
    CALLS,
    COMMON_METHODS,
    GLOBAL_TYPES,
    GLOBALS,
    PACKAGE,
    container_method,
    known_generic,
    outside_type,
)
from graphmem.resolution.ecmascript_modules import NODE_MODULES, ModulePaths, candidates, package_of
from graphmem.resolution.language import Rules
from graphmem.resolution.project import CLASS_KINDS, Symbol
from graphmem.resolution.types import (
    BOX,
    CLASS,
    EMPTY,
    EXT,
    EXTI,
    FUNC,
    INST,
    MODULE,
    PARTIAL,
    SELFTYPE,
    TYPEVAR,
    UNTYPED,
    Atom,
    Type,
    box,
    join,
    join_all,
    one,
    tuple_of,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Binding, Definition, Import
    from graphmem.resolution.functions import Call
    from graphmem.resolution.inference import Inference
    from graphmem.resolution.layout import Layout
    from graphmem.resolution.names import Place
    from graphmem.resolution.project import FileEntry

_ENDINGS: Final = (".d.ts", ".d.mts", ".d.cts", ".tsx", ".mts", ".cts", ".ts", ".jsx", ".mjs", ".cjs", ".js")


class EcmascriptRules(Rules):
    """JavaScript, TypeScript and TSX."""

    constructors = ("constructor",)
    builtin_package = PACKAGE

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self._paths = ModulePaths(layout)

    # modules and imports

    def module_names(self, path: str) -> Sequence[str]:
        """The path without its ending; a folder's name for its index file."""
        stem = next((path[: -len(ending)] for ending in _ENDINGS if path.endswith(ending)), path)
        folder, _, name = stem.rpartition("/")
        return (folder if name == "index" and folder else stem,)

    def import_targets(self, inference: Inference, entry: FileEntry, found: Import) -> Type:
        """The file a specifier leads to, or the package outside that it names."""
        return self._target(inference, entry, found.module) if found.module else EMPTY

    def _target(self, inference: Inference, entry: FileEntry, specifier: str) -> Type:
        ask = inference.project.solver.ask
        return ask(entry.memo, ("module", specifier), self._look_for, inference, entry, specifier)  # type: ignore[no-any-return]

    def _look_for(self, inference: Inference, entry: FileEntry, specifier: str) -> Type:
        seen: set[str] = set()
        for place in self._paths.places(entry.path, specifier):
            for path in candidates(place, entry.path):
                if path not in seen and path != entry.path:
                    seen.add(path)
                    if inference.project.file(path) is not None:
                        return one(MODULE, path)
        if specifier.startswith((".", "/", "#")):
            return EMPTY
        package, below = package_of(specifier)
        if package in NODE_MODULES:
            package = f"node:{package}"
        return one(EXT, package, below.replace("/", "."))

    def taken(self, inference: Inference, module: Atom, name: str) -> Type:
        """What an import takes."""
        return self._from_module(inference, module, name, as_type=False)

    def exported(self, entry: FileEntry, name: str) -> bool:
        """`export *` puts nothing into the file's own scope; `module_value` follows it."""
        return False

    def module_value(self, inference: Inference, module: FileEntry, name: str) -> Type | None:
        """Named and default exports, re-exports, and what CommonJS assigns."""
        return self._member(inference, module, name, as_type=False)

    def _member(self, inference: Inference, module: FileEntry, name: str, *, as_type: bool) -> Type | None:
        """A name of a module, as a value or as a type; None where the value is simply that of the module's own name."""
        inference.project.touch("top", module.path, "*")
        inference.project.touch("top", module.path, name)
        if not as_type and name != "default" and name in module.names(0) and name not in exports_of(module).renamed:
            return None
        ask = inference.project.solver.ask
        return ask(module.memo, ("export", name, as_type), self._export, inference, module, name, as_type)  # type: ignore[no-any-return]

    def _export(self, inference: Inference, module: FileEntry, name: str, as_type: bool) -> Type:
        exports = exports_of(module)
        found = EMPTY
        if as_type and name in module.names(0):
            found = self._as_types(inference, inference.module_places(module.path, name) or ())
        for position in exports.renamed.get(name, ()):
            found = join(found, self._reexported(inference, module, module.facts.imports[position], as_type))
        for position in exports.assigned.get(name, ()):
            value = module.facts.bindings[position].value
            found = join(found, self._objects(inference, module, 0, value) if as_type else inference.binding(module, position))
        if name == "default":
            found = join(found, join_all(inference.defined(module.symbols[i]) for i in exports.default))
            if found:
                return found
            whole = self._common_js(inference, module)
            return whole or (EMPTY if exports.is_es_module else one(MODULE, module.path))
        if found:
            return found
        found = inference.attribute(self._common_js(inference, module), name)
        if found:
            return found
        for position in exports.stars:
            for atom in self.import_targets(inference, module, module.facts.imports[position]):
                found = join(found, self._from_module(inference, atom, name, as_type) if atom[0] == MODULE else EMPTY)
        return found

    def _from_module(self, inference: Inference, module: Atom, name: str, as_type: bool) -> Type:
        """A name taken from a module or a package."""
        if module[0] == EXT and name == "default":
            return frozenset((module,))  # the default of a package outside stands for the package
        target = inference.project.file(module[1]) if as_type and module[0] == MODULE else None
        if target is None:
            return inference.module_member(module, name)
        return self._member(inference, target, name, as_type=True) or EMPTY

    def _reexported(self, inference: Inference, module: FileEntry, found: Import, as_type: bool) -> Type:
        if not found.module:  # export { local as name }
            places = inference.module_places(module.path, found.name) or ()
            return self._as_types(inference, places) if as_type else join_all(inference.slot(place) for place in places)
        targets = self.import_targets(inference, module, found)
        return targets if not found.name else join_all(self._from_module(inference, atom, found.name, as_type) for atom in targets)

    def _common_js(self, inference: Inference, module: FileEntry) -> Type:
        """What `module.exports` and `export =` are given, as one value; with the variable in `const app = module.exports = {}`."""
        found = join_all(inference.defined(module.symbols[i]) for i in exports_of(module).functions)
        for position in exports_of(module).whole:
            found = join(found, inference.binding(module, position))
            value = module.facts.bindings[position].value
            for slots in module.names(0).values():
                for slot in slots:
                    if slot.kind == "binding" and slot.index != position:
                        other = module.facts.bindings[slot.index]
                        if other.value == value and other.line == module.facts.bindings[position].line:
                            found = join(found, inference.binding(module, slot.index))
        return inference.expanded(found)

    def whole_module(self, inference: Inference, module: Atom) -> Type:
        """A namespace; with `module.exports = value` it is that value too."""
        target = inference.project.file(module[1]) if module[0] == MODULE else None
        if target is None:
            return frozenset((module,))
        inference.project.touch("top", target.path, "*")
        return join(frozenset((module,)), self._common_js(inference, target))

    # scopes and receivers

    def definition_slot(self, entry: FileEntry, position: int) -> tuple[int, str]:
        """Functions of an object literal are no names of the scope it stands in; the literal refers to them by position."""
        definition = entry.definitions[position]
        parent = entry.definitions[definition.parent]
        if definition.kind == "method" and parent.kind not in CLASS_KINDS and _lies_in(definition, parent):
            return 0, f"@{definition.start_byte}"
        return definition.parent, definition.name

    def is_visible(self, entry: FileEntry, scope: int) -> bool:
        """Classes hide their members, namespaces do not."""
        return super().is_visible(entry, scope) or "namespace" in entry.definitions[scope].modifiers

    def builtin(self, name: str) -> Type:
        """Names of the language and of the platforms it runs on."""
        return one(EXT, PACKAGE, name) if name in GLOBALS else EMPTY

    def receiver_class(self, entry: FileEntry, scope: int, base: int) -> int:
        """The class, or the constructor function, that `this` is an instance of."""
        if entry.terms[base][0] != SELF:
            return -1
        here = scope
        while here > 0:
            definition = entry.definitions[here]
            parent = entry.definitions[definition.parent]
            if definition.kind == "method":
                if parent.kind in CLASS_KINDS or (parent.kind == "function" and not _lies_in(definition, parent)):
                    return definition.parent
                return -1
            if definition.kind in CLASS_KINDS or (definition.kind == "function" and definition.name[:1].isupper()):
                return here
            here = definition.parent
        return -1

    def this(self, inference: Inference, entry: FileEntry, scope: int) -> Type:
        """The receiver of the method around a scope; a constructor function's own instance."""
        method = entry.enclosing(scope, ("method",))
        if method >= 0:
            return self.receiver(inference, entry.symbols[method])
        here = scope
        while here > 0:
            definition = entry.definitions[here]
            if definition.kind in CLASS_KINDS or (definition.kind == "function" and definition.name[:1].isupper()):
                return one(INST, entry.symbols[here], False)
            here = definition.parent
        return EMPTY

    def receiver(self, inference: Inference, symbol: Symbol) -> Type:
        """An instance, the class for static methods, or the object literal a method is written in."""
        entry = inference.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        owner = entry.symbols[definition.parent]
        if owner.kind in CLASS_KINDS:
            return one(CLASS, owner) if "static" in definition.modifiers else one(INST, owner, False)
        parent = entry.definitions[definition.parent]
        if owner.kind == "variable":
            slots = entry.names(parent.parent).get(owner.name, ())
            value = join_all(inference.binding(entry, slot.index) for slot in slots if slot.kind == "binding")
            return value if _lies_in(definition, parent) else join(value, one(INST, owner, False))
        return one(INST, owner, False) if owner.kind == "function" and not _lies_in(definition, parent) else EMPTY

    def constructed(self, inference: Inference, function: Symbol) -> Type:
        """`new` of a function makes an instance of it."""
        return one(INST, function, True) if function.kind == "function" else EMPTY

    def bound(self, inference: Inference, entry: FileEntry, binding: Binding, value: Type) -> Type:
        """A variable that functions are assigned to (`app.use = function …`) is an object with those members."""
        target = entry.terms[binding.target]
        if target[0] != NAME or binding.op != "assign":
            return value
        position = self._extended(entry).get((binding.scope, target[1]))
        return value if position is None else join(value, one(INST, entry.symbols[position], False))

    def _extended(self, entry: FileEntry) -> dict[tuple[int, str], int]:
        """(scope, name) → definition of the variables of a file that get members after they are made."""
        kept: dict[tuple[int, str], int] | None = entry.kept.get("extended")
        if kept is None:
            kept = entry.kept["extended"] = {}
            for definition in entry.definitions:
                parent = entry.definitions[definition.parent]
                if definition.kind == "method" and parent.kind == "variable" and not _lies_in(definition, parent):
                    kept[parent.parent, parent.name] = definition.parent
        return kept

    def function_attribute(self, inference: Inference, function: Atom, name: str) -> Type:
        """What is assigned to a function: `Name.create = …`; and `call`, `apply` and `bind`."""
        symbol: Symbol = function[1]
        entry = inference.project.entry(symbol)
        found = EMPTY
        for slot in entry.names(symbol.index).get(name, ()):
            if slot.kind == "definition" and not _lies_in(entry.definitions[slot.index], entry.definitions[symbol.index]):
                found = join(found, inference.defined(entry.symbols[slot.index]))
        if not found and name in ("call", "apply", "bind"):
            return one(PARTIAL, frozenset((function,)))
        return found

    # types

    def declared(self, inference: Inference, entry: FileEntry, scope: int, term: int) -> Type:
        """Annotations: classes, interfaces, aliases, arrays, promises, and the helpers that keep a type's members."""
        found = entry.terms[term]
        op = found[0]
        if op in (NAME, ATTR):
            return self._named(inference, entry, scope, term)
        if op == INDEX:
            return self._generic(inference, entry, scope, found[1], found[2])
        if op == EITHER:
            return join_all(inference.declared(entry, scope, item) for item in found[1])
        if op in (TUPLE, LIST):
            return tuple_of([_closed(inference.declared(entry, scope, item)) for item in found[1]])
        if op == LAMBDA:
            given = inference.declared(entry, scope, found[1]) if found[1] >= 0 else EMPTY
            return join(one(UNTYPED), box("callable", _closed(given)))
        if op == SELF:
            return one(SELFTYPE)
        if op == CALL and found[2]:  # typeof value
            return inference.expanded(inference.term(entry, scope, found[2][0], 1 << 30))
        return one(UNTYPED) if op == UNKNOWN else EMPTY

    def base(self, inference: Inference, entry: FileEntry, symbol: Symbol, term: int) -> Type:
        """A class extends a value; what an interface extends and a class implements are types."""
        value = EMPTY if symbol.kind == "interface" else super().base(inference, entry, symbol, term)
        return value or self._objects(inference, entry, entry.definitions[symbol.index].parent, term)

    def _objects(self, inference: Inference, entry: FileEntry, scope: int, term: int) -> Type:
        """What a name in a type stands for: classes, modules, things outside; the types an alias stands for."""
        found = entry.terms[term]
        if found[0] == INDEX:
            return self._objects(inference, entry, scope, found[1])
        if found[0] == ATTR:
            base = self._objects(inference, entry, scope, found[1])
            return join_all(
                self._from_module(inference, atom, found[2], as_type=True) if atom[0] == MODULE else inference.attribute_of(atom, found[2])
                for atom in base
            )
        if found[0] != NAME:
            return EMPTY
        places = inference.lookup(entry, scope, found[1], 1 << 30)
        if places is None:
            return one(EXT, PACKAGE, found[1]) if found[1] in GLOBAL_TYPES else one(TYPEVAR, found[1])
        return self._as_types(inference, places)

    def _as_types(self, inference: Inference, places: Sequence[Place]) -> Type:
        """The types among the meanings of a name; types and values have namespaces of their own."""
        found = EMPTY
        for entry, scope, slot in places:
            if slot.kind == "definition" and entry.definitions[slot.index].kind in CLASS_KINDS:
                found = join(found, one(CLASS, entry.symbols[slot.index]))
            elif slot.kind == "import":
                imported = entry.facts.imports[slot.index]
                ask = inference.project.solver.ask
                found = join(found, ask(entry.memo, ("imported type", slot.index), self._imported_type, inference, entry, imported))
            elif slot.kind == "binding":
                binding = entry.facts.bindings[slot.index]
                if (scope, binding.line) in self._aliases(entry):
                    found = join(found, inference.declared(entry, scope, binding.value))
        return found

    def _imported_type(self, inference: Inference, entry: FileEntry, found: Import) -> Type:
        modules = self.import_targets(inference, entry, found)
        return modules if not found.name else join_all(self._from_module(inference, atom, found.name, as_type=True) for atom in modules)

    def _aliases(self, entry: FileEntry) -> frozenset[tuple[int, int]]:
        """(scope, line) of the file's type aliases."""
        kept: frozenset[tuple[int, int]] | None = entry.kept.get("aliases")
        if kept is None:
            kept = entry.kept["aliases"] = frozenset((one_.parent, one_.start_line) for one_ in entry.definitions if one_.kind == "type")
        return kept

    def _named(self, inference: Inference, entry: FileEntry, scope: int, term: int) -> Type:
        found = EMPTY
        for atom in inference.expanded(self._objects(inference, entry, scope, term)):
            if atom[0] == CLASS:
                found = join(found, one(INST, atom[1], False))
            elif atom[0] == EXT:
                found = join(found, outside_type(atom))
            elif atom[0] not in (MODULE, FUNC):
                found = join(found, frozenset((atom,)))
        return found

    def _generic(self, inference: Inference, entry: FileEntry, scope: int, base: int, key: int) -> Type:
        """`Base<Key>`."""
        arguments = entry.terms[key][1] if entry.terms[key][0] == TUPLE else (key,)
        found = EMPTY
        for atom in self._objects(inference, entry, scope, base):
            if atom[0] == CLASS:
                found = join(found, one(INST, atom[1], False))
            elif atom[0] != EXT:
                found = join(found, frozenset((atom,)) if atom[0] not in (MODULE, FUNC, TYPEVAR) else one(UNTYPED))
            elif atom[1] != PACKAGE:
                found = join(found, one(EXTI, atom[1], atom[2]))
            else:
                parts = [_closed(inference.declared(entry, scope, argument)) for argument in arguments]
                found = join(found, known_generic(atom[2], parts))
        return found

    def call_external(self, inference: Inference, atom: Atom, call: Call) -> Type | None:
        """The tables of `ecmascript_library`; `require("module")` and `import("module")` give modules."""
        if atom[1] == PACKAGE and atom[2] in ("require", "import"):
            specifier = call.literal(0)
            if specifier is None:
                return EMPTY
            modules = self._target(inference, call.entry, specifier)
            if atom[2] == "import":
                return box("await", modules)
            return join_all(self.whole_module(inference, module) for module in modules)
        known = CALLS.get((atom[1], atom[2]))
        return known(inference, call) if known is not None else None

    def container_method(self, inference: Inference, container: Atom, name: str, call: Call) -> Type:
        """Methods of arrays, sets, maps and promises."""
        return container_method(inference, container, name, call)

    def result(self, inference: Inference, symbol: Symbol, value: Type) -> Type:
        """An async function gives a promise."""
        entry = inference.project.entry(symbol)
        modifiers = entry.definitions[symbol.index].modifiers
        bindings = entry.facts.bindings
        if any(bindings[i].value >= 0 and entry.terms[bindings[i].value] == (SELF,) for i in entry.results.get(symbol.index, ())):
            # `return this` gives what the method is called on, not merely its class.
            value = join(frozenset(atom for atom in value if atom[0] != INST), one(SELFTYPE))
        if "async" not in modifiers or any(atom[0] == BOX and atom[1] in ("await", "iter") for atom in value):
            return value
        return box("await", value)

    def takes(self, definition: Definition, positional: int, keywords: Sequence[str], *, bound: bool) -> bool:
        """Fewer arguments than parameters are usual, more are not."""
        return positional <= len(definition.parameters) or any(parameter.kind == "rest" for parameter in definition.parameters)

    def sees_globals(self, entry: FileEntry) -> bool:
        """Scripts share their names, modules do not."""
        return not entry.facts.imports and not exports_of(entry).is_module

    def is_common_name(self, name: str) -> bool:
        """Names of methods of arrays, strings, promises, elements of a page and emitters of events."""
        return name in COMMON_METHODS


def _lies_in(definition: Definition, parent: Definition) -> bool:
    """False for what is assigned to a function from outside: prototypes and static members."""
    return definition.start_byte >= parent.start_byte and definition.end_byte <= parent.end_byte


def _closed(value: Type) -> Type:
    return frozenset(atom for atom in value if atom[0] != UNTYPED)


RULES = EcmascriptRules
