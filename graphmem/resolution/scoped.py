"""Resolution rules for languages that are described by a table.

One class serves all these languages. Their differences are in `[resolution]` of `language.toml`, see `grammars/README.md`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from graphmem.errors import GrammarError
from graphmem.parsing.facts import ATTR, INDEX, NAME, SELF, STRING
from graphmem.resolution.ecmascript.modules import joined
from graphmem.resolution.extensions import extensions, of_unknown
from graphmem.resolution.file_entry import Place
from graphmem.resolution.instantiations import is_class_name
from graphmem.resolution.names import is_type_parameter, whole
from graphmem.resolution.packages import PackageRules, mapped
from graphmem.resolution.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.terms import items_or_itself, last_name
from graphmem.resolution.types import (
    BOX,
    BUILTIN,
    CLASS,
    EMPTY,
    EXT,
    EXTI,
    INST,
    MODULE,
    NAMESPACE,
    Atom,
    Base,
    Container,
    Ext,
    ExtInstance,
    Instance,
    Language,
    Outside,
    Package,
    Receiver,
    Type,
    box,
    join,
    join_all,
    one,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Definition, FileFacts, Import
    from graphmem.parsing.language import LanguageSpec
    from graphmem.resolution.call import Call
    from graphmem.resolution.file_entry import FileEntry
    from graphmem.resolution.inference import Inference
    from graphmem.resolution.layout import Layout

_KEYS: Final = frozenset(
    {
        *("group", "shares", "imports", "separator", "dots", "endings", "module_returns"),
        *("library", "standard", "types", "functions", "common", "containers", "transparent", "element", "keep"),
        *(
            "conversions",
            "extensions",
            "string",
            "outer_packages",
            "itself",
            "block",
            "makes",
            "maps",
            "mixins",
            "class_side",
            "templates",
            "type_of",
            "fields",
            "class_constant",
            "results",
            "file_class",
            "objects",
            "accessors",
            "own_variables",
            "scripts",
            "headers",
        ),
        *("constructors", "maker", "implied_this", "overloads", "reopened", "typed", "any_count", "open_enums"),
    }
)
CONSTRUCTOR: Final = "<init>"
UNNAMED: Final = Package("")
"""The library of a type of which only the name is known."""

MAX_SIBLINGS: Final = 3
"""Most classes from which a mixin may get a member."""

MAX_PACKAGES: Final = 3
"""Most packages of one file whose names it sees without an import."""

HEADERS: Final = "include"
"""Folder in which a standard library keeps its headers."""

MAX_SUFFIX: Final = 8
"""Most parts of a path by which an import may name it."""


class ScopedRules(PackageRules):
    """Resolution rules of a language that are read from its `language.toml`.

    Args:
        layout: contents of the project's configuration files.
        spec: the description of the language.

    Raises:
        GrammarError: `[resolution]` has an unknown key.
    """

    def __init__(self, layout: Layout, spec: LanguageSpec) -> None:
        super().__init__(layout)
        table: Mapping[str, Any] = spec.resolution
        unknown = sorted(set(table) - _KEYS)
        if unknown:
            origin = f"grammars/{spec.name}/language.toml"
            message = f"{origin}: [resolution] has unknown keys {', '.join(unknown)}; known are {', '.join(sorted(_KEYS))}"
            raise GrammarError(message, path=origin, line=0)
        self._language = Language(spec.name)
        self._group = f"<{table.get('group', spec.name)}>"
        self._shares = str(table.get("shares", ""))
        self._by_path = table.get("imports", "name") == "path"
        self.packages_of_file = MAX_PACKAGES if self._shares == "package" and not self._by_path else 1
        self.separator = str(table.get("separator", "."))
        self._dots = bool(table.get("dots"))
        self._endings: tuple[str, ...] = tuple(table.get("endings", ("",)))
        self._module_returns = bool(table.get("module_returns"))
        self._maker = str(table.get("maker", ""))
        self._keep = frozenset(table.get("keep", ()))
        self._element = frozenset(table.get("element", ()))
        self._reopened: bool | str = table.get("reopened", False)
        self._any_count = bool(table.get("any_count"))
        self._open_enums = bool(table.get("open_enums"))
        self.builtin_package = Package(table.get("library", spec.name))
        self.standard_packages = frozenset(table.get("standard", ()))
        self.constructors = tuple(table.get("constructors", ()))
        self.class_scope_is_visible = bool(table.get("implied_this"))
        self.this_is_implied = bool(table.get("implied_this"))
        self.has_overloads = bool(table.get("overloads"))
        self.types_are_declared = bool(table.get("typed"))
        self.class_calls_are_virtual = False
        self.lists_of_arguments = frozenset({"list", "tuple"})
        self._conversions: Mapping[str, Sequence[str]] = table.get("conversions", {})
        self.final_types = frozenset(self._conversions)
        self._makes = {name: kind for kind, names in table.get("makes", {}).items() for name in names}
        self._results = {name: kind for kind, names in table.get("results", {}).items() for name in names}
        self._maps = frozenset(table.get("maps", ()))
        self._class_constant = str(table.get("class_constant", ""))
        self.libraries_give_anything = bool(self._class_constant)
        self._mixins = self.sides_are_apart = bool(table.get("mixins"))
        self._templates: tuple[str, ...] = tuple(table.get("templates", ()))
        self._class_side = str(table.get("class_side", ""))
        self.script_endings = tuple(table.get("scripts", ()))
        self._own_variables = bool(table.get("own_variables"))
        self._type_of = str(table.get("type_of", ""))
        self._fields = str(table.get("fields", ""))
        self.fields_are_called = bool(self._fields)
        self._file_class = str(table.get("file_class", ""))
        self._objects = frozenset(table.get("objects", ()))
        self._accessors = bool(table.get("accessors"))
        self._itself = frozenset(table.get("itself", ()))
        self._block = frozenset(table.get("block", ()))
        self._extends = str(table.get("extensions", ""))
        self.has_extensions = self._extends == "owner"
        self.sees_outer_packages = bool(table.get("outer_packages"))
        self.string_type = str(table.get("string", ""))
        self._types = frozenset(table.get("types", ()))
        self._functions = frozenset(table.get("functions", ()))
        self._headers = frozenset(table.get("headers", ()))
        self._common = frozenset(table.get("common", ()))
        self._containers = {
            name: (kind, (0, 1) if kind == "map" else (0,)) for kind, names in table.get("containers", {}).items() for name in names
        }
        self._transparent = frozenset(table.get("transparent", ()))

    @classmethod
    def of_language(cls, layout: Layout, spec: LanguageSpec) -> ScopedRules:
        """Create the rules from the `language.toml` of a language."""
        return cls(layout, spec)

    def is_open_enum(self, definition: Definition) -> bool:
        """Whether the members of an enum are also names of the enclosing scope.

        `enum Color { RED }` defines RED in the enclosing scope. The members of an `enum class` are visible only inside.
        """
        return self._open_enums and not definition.signature.startswith(("enum class", "enum struct"))

    # modules and imports

    def names_of(self, facts: FileFacts) -> Sequence[str]:
        """Return the names under which other files can find a file.

        The first name is that of the package or group whose files share their names. The names by which imports find the file follow.
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

    def is_standard_header(self, path: str) -> bool:
        """Return whether `<path>` is a header of the standard library or system.

        The table `headers` in `language.toml` lists these headers, and folders of them with a slash at the end.
        """
        return path in self._headers or path.partition("/")[0] + "/" in self._headers

    def _named(self, inference: Inference, entry: FileEntry, written: str) -> Type:
        parts = [part for part in written.replace(self.separator, ".").split(".") if part]
        below = self._below(inference, entry, ".".join(parts))
        for count in range(len(parts), 0, -1):
            package = below or ".".join(parts[:count])
            if inference.project.modules(package):
                found = one((NAMESPACE, package, self._language))
                if below:
                    return found
                for name in parts[count:]:
                    found = inference.attribute(found, name)
                if found:
                    return found
        return one((EXT, Package(".".join(parts[:-1]) or parts[0]), parts[-1] if len(parts) > 1 else "", None)) if parts else EMPTY

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
        """Return the type of a name in a package, or a package inside it."""
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
        """Return the type of a name in a mixin included outside classes.

        In Ruby, `include Tools` at the top of a file gives all its code the methods and constants of `Tools`.
        """
        if not entry.definitions[0].bases:
            return EMPTY
        found = EMPTY
        for atom in inference.project.solver.ask(entry.memo, ("top mixins",), self._top_mixins, inference, entry):
            if atom[0] == CLASS and isinstance(inference.owner(atom[1], name), Symbol):
                owner: Receiver = atom if name[:1].isupper() else (INST, atom[1], False)
                found = join(found, inference.attribute(one(owner), name))
        return found

    def _top_mixins(self, inference: Inference, entry: FileEntry) -> Type:
        """Return the mixins that a file includes outside classes.

        The name of one mixin may be looked up in another, so this is a question of the solver, which ends such circles.
        """
        line = entry.definitions[0].end_line
        found = (inference.expanded(inference.term(entry, 0, term, line)) for _, term in entry.definitions[0].bases)
        return frozenset(atom for atoms in found for atom in atoms if atom[0] == CLASS)

    def _qualified(self, inference: Inference, entry: FileEntry, name: str) -> Type:
        """Return the type of the first part of a qualified name, as in `a::b`.

        In languages that separate parts by `::`, `name` has the form `::a` or `a::`. The name `::a` is looked up at the root of all names.
        The name `a::` is looked up as an imported name, then as a namespace.
        """
        plain = name.strip(self.separator)
        if name.startswith(self.separator):
            places = self.package_places(inference, self._group, plain, None)
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

    def builtin(self, name: str) -> Type:
        """Return the type of a type or function that the language defines."""
        return one((EXT, self.builtin_package, name, None)) if name in self._types or name in self._functions else EMPTY

    def whole_module(self, inference: Inference, module: Atom) -> Type:
        """Return the value of an imported file.

        The value is the module. In languages in which a file can return a value, the type also contains the returned value.
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

        In languages whose project is one package, all files share their names. There, if several files define the name, an imported file or
        a file of the same name is preferred. The result is None without a binding, or if the right file is unclear.
        """
        if self._shares != "project":
            return super().shared(inference, entry, name)
        found = [place for place in self.package_places(inference, self._group, name, entry) if not is_private(place)]
        if self._own_variables and not name[:1].isupper():
            found = [place for place in found if place.slot.kind != "binding"]
        if len({place.entry.path for place in found}) < 2 or all(is_class(place) for place in found):
            return found or None
        stems = {stem(path) for path in self._imported(inference, entry)} | {stem(entry.path)}
        near = [place for place in found if stem(place.entry.path) in stems]
        return near if len({place.entry.path for place in near}) == 1 else None

    def _imported(self, inference: Inference, entry: FileEntry) -> Iterator[str]:
        for found in entry.facts.imports:
            yield from (atom[1] for atom in self.import_targets(inference, entry, found) if atom[0] == MODULE)

    # classes

    def definition_slot(self, entry: FileEntry, position: int) -> tuple[int, str]:
        """Return the (scope, name) under which look-ups find a definition.

        `position` is the definition's position in the file. A constructor that has the name of its class is found under the name
        `CONSTRUCTOR`.
        """
        definition = entry.definitions[position]
        scope, slot = super().definition_slot(entry, position)
        if self._reopened and definition.kind in CLASS_KINDS and scope == 0:
            return scope, definition.qualname
        owner = slot.rpartition(".")[0] or entry.definitions[scope].name
        if CONSTRUCTOR not in self.constructors or definition.kind != "method" or definition.name != owner.rpartition(".")[2]:
            return scope, slot
        return scope, f"{owner}.{CONSTRUCTOR}" if "." in slot else CONSTRUCTOR

    def members_elsewhere(self, inference: Inference, owner: Symbol, name: str) -> Sequence[Place]:
        """Return the members of a class that are defined outside its first body.

        They are methods written outside the class, and members in further declarations of a split class. A `partial class` in C# is split.
        """
        if not self._reopened:
            return super().members_elsewhere(inference, owner, name)
        entry = inference.project.entry(owner)
        if name not in inference.project.solver.ask(entry.memo, ("names elsewhere", owner.index), self._names_elsewhere, inference, owner):
            return ()
        return self._elsewhere(inference, owner, name)

    def _names_elsewhere(self, inference: Inference, owner: Symbol) -> frozenset[str]:
        """Return the names of all members that a class may have outside its body.

        `owner` is the class. The set of names quickly answers look-ups of a name that the class does not have.
        """
        entry = inference.project.entry(owner)
        found = set(self._names_of_pieces(inference, owner))
        start = f"{owner.qualname}."
        for path in inference.project.binders(self._package_of(entry), start):
            other = inference.project.files[path]
            inference.project.touch_top(other, start.partition(".")[0])
            found.update(name.removeprefix(start) for name in other.names(0) if name.startswith(start))
        return frozenset(found)

    def _package_of(self, entry: FileEntry) -> str:
        """Return the package or group whose names a file shares."""
        package: str | None = entry.kept.get("package")
        if package is None:
            package = entry.kept["package"] = self.names_of(entry.facts)[0]
        return package

    def _elsewhere(self, inference: Inference, owner: Symbol, name: str) -> list[Place]:
        """Return the members named `name` of a split class outside its first body.

        A split class has several declarations, such as a `partial class` in C#. `owner` is one of them.
        """
        found = list(super().members_elsewhere(inference, owner, name))
        entry = inference.project.entry(owner)
        package = self._package_of(entry)
        written = f"{owner.qualname}.{name}"
        if "." in owner.qualname:
            found += self.package_places(inference, package, written, entry)
        if not found:  # tests define classes such as `Rake::TestCase` in a module of the program
            found += (
                place for place in self.package_places(inference, package, written, None) if is_class(place) and place.entry is not entry
            )
        for path, position in inference.project.solver.ask(entry.memo, ("pieces", owner.index), self._other_pieces, inference, owner):
            other = inference.project.files[path]
            found += (Place(other, position, slot) for slot in whole(other, other.names(position).get(name, ())))
        return found

    def _names_of_pieces(self, inference: Inference, owner: Symbol) -> frozenset[str]:
        """Return the names that a split class defines in its other declarations.

        A split class has several declarations, such as a `partial class` in C#. `owner` is one of them, which is left out.
        """
        entry = inference.project.entry(owner)
        found: set[str] = set()
        for path, position in inference.project.solver.ask(entry.memo, ("pieces", owner.index), self._other_pieces, inference, owner):
            found.update(inference.project.files[path].names(position))
        return frozenset(found)

    def _other_pieces(self, inference: Inference, owner: Symbol) -> tuple[tuple[str, int], ...]:
        """Return (path, position) of the other declarations of a split class.

        A split class has several declarations, such as a `partial class` in C#. `owner` is one of them, which is left out. `position` is
        that of the declaration in its file.
        """
        entry, top = inference.project.entry(owner), owner.qualname.partition(".")[0]
        found: list[tuple[str, int]] = []
        for package in self.names_of(entry.facts)[:1]:
            for path in inference.project.binders(package, top):
                other = inference.project.files[path]
                inference.project.touch_top(other, top)
                found += (
                    (path, position)
                    for position in (_pieces(other).get(owner.qualname, ()) if self._is_piece(owner, entry) else ())
                    if other.symbols[position] is not owner and self._is_piece(other.symbols[position], other)
                )
        return tuple(found)

    def _is_piece(self, symbol: Symbol, entry: FileEntry) -> bool:
        """Whether a class may have further declarations, as `partial` in C#.

        `symbol` is the class, and `entry` is its file.
        """
        return self._reopened is True or self._reopened in entry.definitions[symbol.index].modifiers

    def base(self, inference: Inference, entry: FileEntry, symbol: Symbol, term: int) -> Type:
        """Return the type of a base class, which may be defined inside the class."""
        first = entry.terms[term]
        while first[0] in (ATTR, INDEX):
            first = entry.terms[first[1]]
        found = super().base(inference, entry, symbol, term)
        if first[0] == NAME and first[1] == symbol.name and any(atom[0] == CLASS and atom[1] is symbol for atom in found):
            packages = self.names_of(entry.facts)[: self.packages_of_file]  # `class Name<T> : Name`
            places = [place for package in packages for place in self.package_places(inference, package, first[1], entry)]
            return inference.expanded(join_all(inference.slot(place) for place in places))
        inside = self._mixins and first[0] == NAME and first[1] in entry.names(symbol.index)
        return self.objects(inference, entry, symbol.index, term) if inside else found

    def more_bases(self, inference: Inference, symbol: Symbol) -> Sequence[Base]:
        """Return the Ruby module whose methods a mixin adds to its classes.

        `symbol` is the mixin. The module is `ClassMethods` inside the mixin; its methods become class methods.
        """
        found = list(super().more_bases(inference, symbol))
        if self._class_side:
            entry = inference.project.entry(symbol)
            places = (Place(entry, symbol.index, slot) for slot in entry.names(symbol.index).get(self._class_side, ()))
            found += (entry.symbols[place.slot.index] for place in places if is_class(place))
        return found

    def bases_elsewhere(self, inference: Inference, symbol: Symbol) -> Sequence[Base]:
        """Return the base classes that other declarations of a class name.

        A class is declared several times in Ruby or by `partial class` in C#.
        """
        if not self._reopened:
            return ()
        found: list[Base] = []
        entry = inference.project.entry(symbol)
        for path, position in inference.project.solver.ask(entry.memo, ("pieces", symbol.index), self._other_pieces, inference, symbol):
            found += inference.bases(inference.project.files[path].symbols[position])
        return found

    def sibling_owners(self, inference: Inference, symbol: Symbol, name: str) -> Sequence[Symbol]:
        """Return the classes and mixins that define a member a mixin lacks.

        `symbol` is the mixin. The member `name` is looked up in the classes that inherit the mixin. Test classes are returned only if no
        other classes define the member. The result is empty for more than `MAX_SIBLINGS` classes.
        """
        if not self._mixins:
            return ()
        if self._fields and not name.startswith(self._fields):
            own = inference.owner(symbol, f"{self._fields}{name}")
            if isinstance(own, Symbol):
                return ()
        owners = {inference.owner(below, name) for below in inference.below(symbol)}
        found = sorted((owner for owner in owners if isinstance(owner, Symbol)), key=lambda owner: owner.place)
        found = [owner for owner in found if not inference.project.files[owner.path].in_tests] or found
        return found if len(found) <= MAX_SIBLINGS else ()

    def accessors(self, name: str, kind: str) -> Sequence[str]:
        """Return the accessor methods in another language for a property.

        `kind` is `read` or `write`. In Kotlin, `item.price` calls `getPrice()` of a Java class, and `item.price = 1` calls `setPrice(…)`.
        """
        if not self._accessors:
            return ()
        plain = name.removeprefix("is") if name[:2] == "is" and name[2:3].isupper() else ""
        ending = plain or name[:1].upper() + name[1:]
        return (f"set{ending}",) if kind == "write" else (name,) if plain else (f"get{ending}",)

    def field_name(self, name: str) -> str:
        """Return the name of the variable that an attribute reads, or "".

        In Ruby, the attribute `size` reads the variable `@size`.
        """
        return f"{self._fields}{name}" if self._fields and not name.startswith(self._fields) else ""

    def sees_methods(self, entry: FileEntry) -> bool:
        """Return whether a file is a template, which sees the methods of helpers."""
        return bool(self._templates) and entry.path.endswith(self._templates)

    def missing_member(self, receiver: Receiver, name: str) -> Type:
        """Return the type of a member that a class does not define.

        The member `new` of a class has the type of the class itself, because `A.new` creates an object like `A()`. Methods that the
        language gives to every object are `BUILTIN` tuples. The result is empty for an unknown member.
        """
        if name in self._itself or name in self._block or (name and name == self._type_of):
            return one((BUILTIN, receiver, name))
        if name in self._objects and receiver[0] == CLASS:
            return frozenset((receiver,))
        is_maker = self._maker and name == self._maker and receiver[0] == CLASS
        return frozenset((receiver,)) if is_maker else super().missing_member(receiver, name)

    def member_outside(self, inference: Inference, receiver: Receiver, base: Ext, name: str) -> Type:
        """Return the type of a member that an external base class may define.

        A method that all classes have, such as `new`, is taken from the class itself and not from `base`.
        """
        return self.missing_member(receiver, name) or super().member_outside(inference, receiver, base, name)

    def takes(self, definition: Definition, positional: int, keywords: Sequence[str], *, bound: bool) -> bool:
        """Return whether a function accepts a given number of arguments.

        In languages that do not check the number of arguments, any number is accepted.
        """
        return self._any_count or super().takes(definition, positional, keywords, bound=bound)

    def may_be(self, given: Instance | ExtInstance, classes: Collection[Symbol], outside: Collection[tuple[str, str]]) -> bool:
        """Whether a parameter accepts a value that has none of its declared types.

        `given` is the value. `classes` and `outside` are the project classes and external types that the parameter declares. A final type,
        such as `String` in Kotlin, has no subclasses. The result is decided as follows:

        - In a language without final types, every value is accepted.
        - A value of a final type is accepted if `outside` has that type or one to which it converts.
        - Any other value is accepted if `outside` has a type that is not final.
        - An external value is also accepted if `outside` is empty, or if an external call returned the value.
        """
        if not self.final_types:
            return True
        accepted = {name for _, name in outside}
        name = given[2] if given[0] == EXTI else ""
        if name in self.final_types:
            return name in accepted or not accepted.isdisjoint(self._conversions[name])
        return not accepted <= self.final_types or (given[0] == EXTI and ("(" in given[2] or not outside))

    def owner_apart(self, inference: Inference, entry: FileEntry, position: int) -> Type:
        """Return the type that owns a method defined outside of the type's body.

        The qualified name of the method, such as `Outer.Type.method`, gives the type.
        """
        scope, name = self.definition_slot(entry, position)
        first, *others = name.split(".")[:-1] or [""]
        places = inference.lookup(entry, scope, first, 1 << 30) if first else None
        found = self.unbound(inference, entry, scope, first) if places is None else join_all(inference.slot(place) for place in places)
        for inner in others:
            found = inference.attribute(inference.expanded(found), inner)
        return inference.expanded(found)

    def overrides(self, inference: Inference, base: Symbol, method: Symbol) -> bool:
        """Return whether a method overrides a base's method of the same name.

        `method` is the method, and `base` is the base's method. In languages with overloads, both must have the same number of parameters.
        Parameters whose classes are known must have a class in common. In languages that separate class methods from object methods, both
        must be of the same kind.
        """
        first, second = (inference.project.definition(symbol) for symbol in (base, method))
        if self.sides_are_apart and ("static" in first.modifiers) != ("static" in second.modifiers):
            return False
        if not self.has_overloads:
            return True
        if len(first.parameters) != len(second.parameters):
            return False
        for left, right in zip(first.parameters, second.parameters, strict=True):
            wanted, given = (
                inference.declared(inference.project.entry(symbol), definition.parent, parameter.annotation)
                if parameter.annotation >= 0
                else EMPTY
                for symbol, definition, parameter in ((base, first, left), (method, second, right))
            )
            is_known = wanted and given and all(atom[0] == INST for atom in wanted | given)
            if is_known and wanted.isdisjoint(given) and not is_type_parameter(inference.project.entry(base), base.index, left.annotation):
                return False
        return True

    def this(self, inference: Inference, entry: FileEntry, scope: int) -> Type:
        """Return the type of the receiver in a method, such as `this`.

        In a class method, or in a class body outside methods, the receiver is the class itself.
        """
        around = entry.enclosing(scope, CLASS_KINDS)
        if around > 0 and self.is_on_class(entry, scope, around):
            return one((CLASS, entry.symbols[around], False))
        return super().this(inference, entry, scope)

    def receiver_class(self, entry: FileEntry, scope: int, base: int) -> int:
        """Return the class of a receiver expression; -1 for other expressions.

        `base` is the expression, in a method or in a class body. The class is given by its position among the file's definitions.
        """
        on_class = self.sides_are_apart and entry.terms[base][0] == SELF and entry.definitions[scope].kind in CLASS_KINDS
        return scope if on_class else super().receiver_class(entry, scope, base)

    def is_on_class(self, entry: FileEntry, scope: int, around: int) -> bool:
        """Whether the receiver in a scope is the class itself, not an object.

        `around` is the class. The result is True in a class method, and in the class body outside methods. It is always False in languages
        that do not separate class methods from object methods.
        """
        if not self.sides_are_apart:
            return False
        method = entry.enclosing(scope, ("method",))
        return method < around or "static" in entry.definitions[method].modifiers

    # extensions

    def extensions(self, inference: Inference, entry: FileEntry, receiver: Atom, name: str) -> Sequence[Symbol]:
        """Return the extension functions of a given name that fit a receiver.

        An extension function adds a method to a type from outside, as `fun String.trimmed()` does in Kotlin.
        """
        if self._reopened is True:
            return self._reopened_members(inference, entry, receiver, name)
        return extensions(self, inference, entry, receiver, name) if self._extends else ()

    def _reopened_members(self, inference: Inference, entry: FileEntry, receiver: Atom, name: str) -> Sequence[Symbol]:
        """Return the methods that the project adds to a built-in class.

        `receiver` is an object of the class, and `name` the method. In Ruby, `class String` with `def words` gives every string the method
        `words`.
        """
        if receiver[0] != EXTI or receiver[1] != self.builtin_package or not inference.project.knows_name(name):
            return ()
        own = self.string_type if receiver[2] in ("str", "template") else receiver[2]
        for place in self.package_places(inference, self._group, own, None) if own else ():
            owner = inference.owner(place.entry.symbols[place.slot.index], name) if is_class(place) else None
            if isinstance(owner, Symbol):
                return inference.functions(owner, name)
        return ()

    def unknown_extensions(self, inference: Inference, entry: FileEntry, receiver: Type, name: str) -> Sequence[Symbol]:
        """Return the extension functions that may fit a value of unknown type.

        An extension function adds a method to a type from outside, as `fun String.trimmed()` does in Kotlin.
        """
        return of_unknown(self, inference, entry, receiver, name) if self._extends else ()

    def extended_type(self, entry: FileEntry, position: int) -> str:
        """Return the name of the type that an extension function extends.

        `position` is the function's position in the file. If the function is inside a class, the name does not contain the class.
        """
        definition = entry.definitions[position]
        if self._extends != "parameter":
            around = entry.definitions[definition.parent].qualname if definition.parent else ""
            return definition.qualname.removeprefix(f"{around}.").rpartition(".")[0] or around
        annotation = definition.parameters[0].annotation if definition.parameters else -1
        found = entry.terms[annotation] if annotation >= 0 else None
        if found is not None and found[0] == INDEX:
            found = entry.terms[found[1]]
        return last_name(found) if found is not None else ""

    def extended_by_parameter(self, definition: Definition) -> bool:
        """Whether the first parameter of a function is the receiver of its calls.

        In C#, an example is `static int Words(this string text)`.
        """
        return self._extends == "parameter" and "extension" in definition.modifiers

    def converted_to(self, name: str) -> Sequence[str]:
        """Return the types to which the language converts a final type implicitly.

        A final type, such as `String` in Kotlin, has no subclasses.
        """
        return self._conversions.get(name, ())

    def containers_of(self, kind: str) -> Sequence[str]:
        """Return the names of the container types of a kind, such as `list`."""
        return tuple(name for name, (other, _) in self._containers.items() if other == kind)

    def is_common_name(self, name: str) -> bool:
        """Return whether the language's table lists a method name as common.

        Such a name does not identify a method.
        """
        return name in self._common

    # values

    def objects(self, inference: Inference, entry: FileEntry, scope: int, term: int) -> Type:
        """Return the classes and external types that a type expression names.

        Some languages import whole packages. There, a name that no file of the project defines stands for a type of an unknown library.
        """
        found = super().objects(inference, entry, scope, term)
        written = entry.terms[term]
        if found or not self.types_are_declared or self._by_path or written[0] != NAME:
            return found
        name = written[1]
        if not is_class_name(name) or name in _local_names(entry) or inference.project.knows_name(name):
            return EMPTY
        return EMPTY if inference.lookup(entry, scope, name, 1 << 30) else one((EXT, UNNAMED, name, None))

    def declared(self, inference: Inference, entry: FileEntry, scope: int, term: int) -> Type:
        """Return the type that an annotation declares.

        For a container without element types, the elements are unknown.
        """
        found = entry.terms[term]
        known = self._containers.get(found[1]) if found[0] == NAME else None
        if known is None or any(atom[0] == CLASS for atom in self.objects(inference, entry, scope, term)):
            return super().declared(inference, entry, scope, term)
        return box(known[0], *(EMPTY for _ in known[1]))

    def generic(self, inference: Inference, entry: FileEntry, scope: int, base: int, key: int) -> Type:
        """Return the type of a generic annotation `Base<Key>`.

        If the language's table lists `Base` as a container, the result is a container of `Key`. If the table lists it as transparent, the
        result is `Key`.
        """
        written = last_name(entry.terms[base])
        if written and (written in self._containers or written in self._transparent):
            arguments = items_or_itself(entry.terms, key)
            if written in self._transparent:
                return inference.declared(entry, scope, arguments[0]) if arguments else EMPTY
            kind, order = self._containers[written]
            return box(kind, *(inference.declared(entry, scope, arguments[i]) if i < len(arguments) else EMPTY for i in order))
        return super().generic(inference, entry, scope, base, key)

    def given_outside(self, inference: Inference, atom: Outside, call: Call) -> Collection[Symbol]:
        """Return the project classes that an external call names in its arguments.

        In PHP, an argument names a class by `Name::class`, or by a string with the qualified name of the class.
        """
        terms, found = call.entry.terms, set[Symbol]()
        for argument in call.args if self._class_constant else ():
            term = terms[argument]
            value = EMPTY
            if term[0] == ATTR and term[2] == self._class_constant:
                value = call.term(term[1])
            elif term[0] == STRING and self.separator in term[1].strip(self.separator):
                value = self._named(inference, call.entry, term[1].replace("\\\\", "\\"))
            found.update(atom[1] for atom in inference.expanded(value) if atom[0] == CLASS)
        return found

    def member_of_library(self, member: Atom) -> Type:
        """Return the type of a library type's member, from the language's table."""
        if not self._results or member[0] != EXT or "." not in member[2]:
            return EMPTY
        *_, owner, name = member[2].split(".")
        owner = self.string_type if owner in ("str", "template") else owner
        kind = self._results.get(f"{owner}.{name}") or self._results.get(name)
        return one((EXTI, self.builtin_package, kind, None)) if kind else EMPTY

    def call_external(self, inference: Inference, atom: Outside, call: Call) -> Type | None:
        """Return the result type of a library function, from the language's table."""
        known = self.member_of_library(atom)
        if known:
            return known
        if atom[1] != self.builtin_package:
            return None
        if atom[2] in self._itself:
            return self.this(inference, call.entry, call.scope)
        if atom[2] in self._block:
            return mapped(inference, call.term(call.args[-1])) if call.args else EMPTY
        kind = self._makes.get(atom[2])
        if kind is None:
            return None
        return box(kind, call.rest(0)) if kind != "map" else box(kind, EMPTY, EMPTY)

    def container_method(self, inference: Inference, container: Container, name: str, call: Call) -> Type:
        """Return the result of a container's method, from the language's table.

        The result may be an element, the container, or the result of a function that is called with the elements.
        """
        if name in self._itself:
            return frozenset((container,))
        if name == self._type_of:
            return one((CLASS, container[1], False)) if container[0] == INST else EMPTY
        if name in self._block:
            return mapped(inference, call.argument(0) or EMPTY)
        if container[0] != BOX:
            return EMPTY
        if name in self._element:
            return container[2][-1]
        if name in self._maps:
            return box("list", mapped(inference, call.argument(0) or EMPTY))
        return frozenset((container,)) if name in self._keep else EMPTY


def _local_names(entry: FileEntry) -> frozenset[str]:
    """Return the names in a file that are valid only on some lines of a scope.

    An example is a type parameter.
    """
    kept: frozenset[str] | None = entry.kept.get("local names")
    if kept is None:
        kept = entry.kept["local names"] = frozenset(name for _, name in entry.locals)
    return kept


def _pieces(entry: FileEntry) -> Mapping[str, Sequence[int]]:
    """Map each qualified class name to its declarations in a file.

    A declaration is a position in the file's definitions. A class that is split, as `partial` in C#, has several declarations.
    """
    kept: dict[str, list[int]] | None = entry.kept.get("pieces")
    if kept is None:
        kept = entry.kept["pieces"] = {}
        for position, definition in enumerate(entry.definitions):
            if definition.kind in CLASS_KINDS:
                kept.setdefault(definition.qualname, []).append(position)
    return kept


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
    """Return whether a definition is visible only in its own file."""
    definition = _definition(place)
    return definition is not None and "private" in definition.modifiers


def is_class(place: Place) -> bool:
    """Return whether a binding of a name is the definition of a class."""
    definition = _definition(place)
    return definition is not None and definition.kind in CLASS_KINDS


RULES = ScopedRules
