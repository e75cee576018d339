"""Resolution rules for languages with packages and declared types.

A package is a dotted (or slashed) name shared by several files, which see each other's names without an import. The rules of each language
add the package of a file (`names_of`) and the targets of imports (`import_targets`). They also add the names of container types
(`containers`, `transparent`) and the result types of library functions.

A binding of a name is a place that gives the name its meaning, such as `x = f()`, `import x`, `def x` or a parameter.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, ClassVar

from graphmem.errors import GrammarError
from graphmem.parsing.facts import ATTR, EITHER, INDEX, LAMBDA, NAME, SELF, TUPLE, UNKNOWN, TermIndex
from graphmem.resolution.files.file_entry import Place
from graphmem.resolution.interfaces.call import Call
from graphmem.resolution.interfaces.language import Rules
from graphmem.resolution.type_inference.bindings import whole
from graphmem.resolution.values.symbol import CLASS_KINDS, FUNCTION_KINDS, Symbol
from graphmem.resolution.values.terms import items_or_itself, last_name
from graphmem.resolution.values.types import (
    BOX,
    CLASS,
    EMPTY,
    EXT,
    EXTI,
    FUNC,
    INST,
    LAM,
    MODULE,
    NAMESPACE,
    SELFTYPE,
    TUP,
    UNTYPED,
    Atom,
    Language,
    Module,
    Namespace,
    Receiver,
    Type,
    box,
    join,
    join_all,
    one,
    ordered,
    tuple_of,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Definition
    from graphmem.parsing.language import LanguageSpec
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference


def resolution_table(spec: LanguageSpec, known: Set[str]) -> Mapping[str, Any]:
    """Return the table `[resolution]` of a language.

    Raises:
        GrammarError: the table has a key that is not in `known`.
    """
    unknown = sorted(spec.resolution.keys() - known)
    if unknown:
        origin = f"grammars/{spec.name}/language.toml"
        message = f"{origin}: [resolution] has unknown keys {', '.join(unknown)}; known are {', '.join(sorted(known))}"
        raise GrammarError(message, path=origin, line=0)
    return spec.resolution


class PackageRules(Rules):
    """Default rules for languages with packages and declared types.

    Members of a class may be defined outside of it.
    """

    name: ClassVar[Language] = Language("")
    """Name of the language, as used in `NAMESPACE` atoms."""

    builtin_types: frozenset[str] = frozenset()
    """Types that every file sees."""

    builtin_functions: frozenset[str] = frozenset()
    """Functions that every file sees."""

    common_names: frozenset[str] = frozenset()
    """Method names too common to identify a class."""

    containers: ClassVar[Mapping[str, tuple[str, tuple[int, ...]]]] = {}
    """Last name of a generic type → kind of container, and the indices of its part types with the element first."""

    transparent: ClassVar[frozenset[str]] = frozenset()
    """Last names of generic types that expose the members of their argument."""

    most_bounds: ClassVar[int] = 1
    """Most bounds that type parameters of one name may have in a file."""

    types_are_declared = True

    packages_of_file: int = 1
    """Most packages that one file declares."""

    sees_outer_packages: bool = False
    """Whether a file of the package `a.b` sees the names of the package `a`."""

    # packages

    def shared_names(self, entry: FileEntry) -> Sequence[str]:
        """Return the names in a file that other files of its package can use.

        These names are the top-level names. If a member is written outside the body of its type, its name here is `Type.member`. For each
        type with such members, the result also has the name `Type.`, which ends with a dot.
        """
        kept: tuple[str, ...] | None = entry.kept.get("shared names")
        if kept is None:
            names = entry.names(0)
            kept = entry.kept["shared names"] = tuple(sorted({*names, *(f"{name.rpartition('.')[0]}." for name in names if "." in name)}))
        return kept

    def sees(self, inference: Inference, entry: FileEntry, other: FileEntry) -> bool:
        """Whether a file sees the names of another file in its package.

        Files outside tests do not see the names of test files. No file sees the names of scripts.
        """
        return (entry.in_tests or not other.in_tests) and not other.path.endswith(self.script_endings)

    def package_places(self, inference: Inference, package: str, name: str, entry: FileEntry | None) -> list[Place]:
        """Return the bindings that define a name in a package.

        `entry` is the file of the package that uses the name. If `entry` is None, a file of another package imports the name.
        """
        found: list[Place] = []
        files = [inference.project.files[path] for path in inference.project.binders(package, name)]
        if entry is None:
            files = [other for other in files if not other.path.endswith(self.script_endings)]
            files = [other for other in files if not other.in_tests] or files
        for other in files:
            if entry is None or (entry is not other and self.sees(inference, entry, other)):
                inference.project.touch_top(other, name.partition(".")[0])
                found += (Place(other, 0, slot) for slot in whole(other, other.names(0).get(name, ())) if slot.kind != "import")
        return found

    def shared(self, inference: Inference, entry: FileEntry, name: str) -> list[Place] | None:
        """Return the bindings of a name in the file's package or star imports.

        A star import provides all names of a package or a class. The result is None if neither the package nor a star import has the name.
        It is kept, because a file uses most names many times.
        """
        project = inference.project
        return project.solver.ask(project.shared, ("shared", entry.path, name), self._shared, inference, entry, name)

    def _shared(self, inference: Inference, entry: FileEntry, name: str) -> list[Place] | None:
        for package in self.names_of(entry.facts)[: self.packages_of_file]:
            parts = package.split(".")
            for count in range(len(parts), 0 if self.sees_outer_packages else len(parts) - 1, -1):
                found = self.package_places(inference, ".".join(parts[:count]), name, entry)
                if found:
                    return found
        for position in entry.stars:
            found = self.places_in(inference, self.import_targets(inference, entry, entry.facts.imports[position]), name)
            if found:
                return found
        return None

    def places_in(self, inference: Inference, targets: Type, name: str) -> list[Place]:
        """Return the bindings of a name in the targets of a star import.

        `targets` are packages and classes. The first that has the name counts.
        """
        for atom in ordered(targets):
            found: list[Place] = []
            if atom[0] == NAMESPACE:
                found = self.package_places(inference, atom[1], name, None)
            elif atom[0] == CLASS:
                found = members(inference, atom[1], name)
            if found:
                return found
        return []

    def package_files(self, inference: Inference, package: Namespace, name: str) -> list[Module]:
        """Return the files of a package that bind a name; tests are left out.

        Scripts are left out, too. For the name "" or "*", all other files of the package are returned.
        """
        project = inference.project
        paths = project.binders(package[1], name) if name and name != "*" else project.modules(package[1])
        return [(MODULE, path) for path in paths if not project.files[path].in_tests and not path.endswith(self.script_endings)]

    def submodule(self, inference: Inference, module: Atom, name: str) -> Type:
        """Return the type of a name that a package contains."""
        if module[0] != NAMESPACE:
            return EMPTY
        return join_all(inference.slot(place) for place in self.package_places(inference, module[1], name, None))

    def packages_of_project(self, inference: Inference, entry: FileEntry) -> frozenset[str]:
        """Return the packages that every file of the file's project imports.

        By default there are none.
        """
        return frozenset()

    # members

    def definition_slot(self, entry: FileEntry, position: int) -> tuple[int, str]:
        """Return the (scope, name) under which look-ups find a definition.

        `position` is the definition's position in the file. A method that is written outside its class is found under the name
        `Class.method`, in the scope that contains the method.
        """
        definition = entry.definitions[position]
        if definition.kind == "method":
            outer = f"{entry.definitions[definition.parent].qualname}." if definition.parent else ""
            return definition.parent, definition.qualname.removeprefix(outer)
        return definition.parent, definition.name

    def members_elsewhere(self, inference: Inference, owner: Symbol, name: str) -> Sequence[Place]:
        """Return methods of a class that other files of the package define."""
        if "." in owner.qualname:
            return ()
        entry = inference.project.entry(owner)
        packages = self.names_of(entry.facts)[:1]
        return [place for package in packages for place in self.package_places(inference, package, f"{owner.name}.{name}", entry)]

    def owner_apart(self, inference: Inference, entry: FileEntry, position: int) -> Type:
        """Return the class of a method written outside the class, as in Go.

        `position` is the method, as a position among the definitions of the file.
        """
        scope, name = self.definition_slot(entry, position)
        owner = name.rpartition(".")[0]
        places = inference.lookup(entry, scope, owner, 1 << 30) if owner else None
        return inference.expanded(join_all(inference.slot(place) for place in places or ()))

    def implied_class(self, inference: Inference, entry: FileEntry, scope: int) -> Symbol | None:
        """Return the class whose members are visible in a scope without a prefix.

        The result is the enclosing class. For a method written outside its class, the result is the class to which the method belongs.
        """
        definition = entry.definitions[scope]
        if definition.kind != "method" or entry.definitions[definition.parent].kind in CLASS_KINDS:
            return super().implied_class(inference, entry, scope)
        return next((atom[1] for atom in sorted(self.owner_apart(inference, entry, scope), key=repr) if atom[0] == CLASS), None)

    def missing_member(self, receiver: Receiver, name: str) -> Type:
        """Return the type of a member that a class does not define.

        The member `__class__` of a class is the class itself. For other members the result is empty.
        """
        return frozenset((receiver,)) if name == "__class__" and receiver[0] == CLASS else EMPTY

    def receiver_class(self, entry: FileEntry, scope: int, base: TermIndex) -> int:
        """Return the class of a receiver expression; -1 for other expressions.

        `base` is the expression, such as `this`. The class is the one around the method, given by its position among the file's
        definitions.
        """
        found = super().receiver_class(entry, scope, base)
        return found if found > 0 and entry.definitions[found].kind in CLASS_KINDS else -1

    def receiver(self, inference: Inference, symbol: Symbol) -> Type:
        """Return the type of a method's receiver: an instance of the class.

        For static methods, the type is the class.
        """
        entry = inference.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        owner = entry.symbols[definition.parent]
        if owner.kind not in CLASS_KINDS or "." in self.definition_slot(entry, symbol.index)[1]:
            return self.instances(self.owner_apart(inference, entry, symbol.index))
        return one((CLASS, owner, False)) if "static" in definition.modifiers else one((INST, owner, False))

    def made_by(self, inference: Inference, symbol: Symbol) -> Type:
        """Return the type of `this` in a method that is called without a receiver.

        For `add()` in the class with `Shelf add() { return this; }`, it is a `Shelf`.
        """
        owner = inference.project.entry(symbol).symbols[inference.project.definition(symbol).parent]
        return one((INST, owner, False)) if self.this_is_implied and owner.kind in CLASS_KINDS else EMPTY

    def this(self, inference: Inference, entry: FileEntry, scope: int) -> Type:
        """Return the type of the receiver (`this`) in the method around a scope.

        Outside methods, the type is an instance of the enclosing class.
        """
        method = entry.enclosing(scope, ("method",))
        around = entry.enclosing(scope, CLASS_KINDS)
        if method > around:
            return self.receiver(inference, entry.symbols[method])
        return one((INST, entry.symbols[around], False)) if around > 0 else EMPTY

    # types

    def objects(self, inference: Inference, entry: FileEntry, scope: int, term: TermIndex) -> Type:
        """Return the classes and external types that a type expression names."""
        found = entry.terms[term]
        if found[0] == INDEX:
            _, generic, _ = found
            return self.objects(inference, entry, scope, generic)
        if found[0] == ATTR:
            _, base, member = found
            return inference.attribute(self.objects(inference, entry, scope, base), member)
        if found[0] == SELF:
            return self.this(inference, entry, scope)
        if found[0] != NAME:
            return EMPTY
        _, name = found
        bounds = self.bounds(entry, scope, name)
        if bounds:
            return join_all(inference.declared(entry, scope, bound) for bound in bounds)
        places = inference.lookup(entry, scope, name, 1 << 30)
        while places and scope > 0 and all(self._is_no_type(place, scope) for place in places):
            scope = entry.definitions[scope].parent  # a field, a variable or a property with the same name as its type
            places = inference.lookup(entry, scope, name, 1 << 30)
        if places is None:
            return self.unbound(inference, entry, scope, name)
        return inference.expanded(join_all(inference.slot(place) for place in places if place.slot.kind != "parameter"))

    def generic_objects(self, inference: Inference, entry: FileEntry, scope: int, base: TermIndex, count: int) -> Type:
        """Return the classes and external types that `Base<…>` names.

        `base` is the expression `Base`, and `count` is the number of type arguments, which does not matter by default.
        """
        return self.objects(inference, entry, scope, base)

    def _is_no_type(self, place: Place, scope: int) -> bool:
        """Whether a binding of a name is a value and not a type.

        `place` is the binding, and `scope` is the scope that uses the name. Such a value may have the same name as its type, as in `Item
        Item;`.
        """
        entry, around, slot = place
        if slot.kind == "definition":
            return self.types_are_declared and "property" in entry.definitions[slot.index].modifiers
        return slot.kind == "binding" and (around == scope or (self.types_are_declared and around > 0))

    def bounds(self, entry: FileEntry, scope: int, name: str) -> Sequence[TermIndex]:
        """Return the bounds of a type parameter, as indices of expressions.

        In `T extends Base`, the bound is `Base`. The scopes around `scope` may have type parameters of the same name. The bounds of all
        these type parameters are returned. The result is empty if one of the type parameters has no bound, or if there are more than
        `most_bounds` different bounds.
        """
        found: list[TermIndex] = []
        while scope >= 0:
            for position in entry.locals.get((scope, name), ()):
                annotation = entry.facts.bindings[position].annotation
                if annotation < 0:
                    return ()
                if annotation not in found:
                    found.append(annotation)
            scope = entry.definitions[scope].parent
        return found if len(found) <= self.most_bounds else ()

    def declared(self, inference: Inference, entry: FileEntry, scope: int, term: TermIndex) -> Type:
        """Return the type that an annotation declares.

        The type may be a class, an external type, a container, a tuple, a function or the enclosing class.
        """
        found = entry.terms[term]
        if found[0] in (NAME, ATTR):
            return self.instances(self.objects(inference, entry, scope, term))
        if found[0] == INDEX:
            _, base, key = found
            return self.generic(inference, entry, scope, base, key)
        if found[0] == TUPLE:
            _, items = found
            return tuple_of([inference.declared(entry, scope, item) for item in items])
        if found[0] == EITHER:
            _, items = found
            return join_all(inference.declared(entry, scope, item) for item in items)
        if found[0] == LAMBDA:
            _, body = found
            return join(one((UNTYPED,)), box("callable", inference.declared(entry, scope, body) if body >= 0 else EMPTY))
        return one((SELFTYPE,)) if found[0] == SELF else EMPTY

    def instances(self, value: Type) -> Type:
        """Return the type of a variable whose annotation is a type expression.

        `value` is the type of the expression. For the class `A`, the result is an object of `A`.
        """
        found = EMPTY
        for atom in ordered(value):
            if atom[0] == CLASS:
                found = join(found, one((INST, atom[1], False)))
            elif atom[0] == EXT:
                found = join(found, one((EXTI, *atom[1:])))
            elif atom[0] in (INST, EXTI, BOX):  # an alias of a declared value, or the bound of a type parameter
                found = join(found, frozenset((atom,)))
        return found

    def generic(self, inference: Inference, entry: FileEntry, scope: int, base: TermIndex, key: TermIndex) -> Type:
        """Return the type of a generic annotation `Base<Key>`."""
        arguments = [item for item in items_or_itself(entry.terms, key) if entry.terms[item][0] != UNKNOWN]
        objects = self.generic_objects(inference, entry, scope, base, len(arguments))
        written = last_name(entry.terms[base])
        if written and not any(atom[0] == CLASS for atom in objects):
            known = self.containers.get(written)
            if known is not None:
                kind, order = known
                parts = [inference.declared(entry, scope, arguments[i]) if i < len(arguments) else EMPTY for i in order]
                return box(kind, *parts)
            if written in self.transparent and arguments:
                return inference.declared(entry, scope, arguments[0])
        found = self.instances(objects)
        outside = [atom for atom in found if atom[0] == EXTI] if self.libraries_hand_back else []
        if outside:
            given = classes_in(inference, join_all(inference.declared(entry, scope, argument) for argument in arguments))
            found = join(found, frozenset((EXTI, atom[1], atom[2], symbol) for atom in outside for symbol in given))
        return found

    def base(self, inference: Inference, entry: FileEntry, symbol: Symbol, term: TermIndex) -> Type:
        """Return the type of a base class, given its expression in a class header."""
        return self.objects(inference, entry, entry.definitions[symbol.index].parent, term)

    def builtin(self, name: str) -> Type:
        """Return the type of a built-in type or function of the language."""
        known = name in self.builtin_types or name in self.builtin_functions
        return one((EXT, self.builtin_package, name, None)) if known else EMPTY

    def takes(self, definition: Definition, positional: int, keywords: Sequence[str], *, bound: bool) -> bool:
        """Whether a function accepts the number of arguments of a call.

        `positional` is the number of positional arguments; `keywords` and `bound` are as in `CallRules.takes`. Parameters with defaults may
        be missing. A variadic last parameter accepts all further arguments.
        """
        parameters = (
            definition.parameters[1:] if self.first_parameter_is_receiver and definition.kind == "method" else definition.parameters
        )
        required, has_rest = 0, False
        for parameter in parameters:
            if parameter.kind == "normal":
                required += parameter.default < 0
            elif parameter.kind == "rest":
                has_rest = True
        return required <= positional + len(keywords) and (has_rest or positional + len(keywords) <= len(parameters))

    def sees_globals(self, entry: FileEntry) -> bool:
        """Whether a name may be global; always False in languages with packages.

        A global name is defined in another file and needs no import. In these languages, every name is defined in the package or imported.
        """
        return False

    def is_common_name(self, name: str) -> bool:
        """Whether a method name, such as `get`, is common to many types.

        Such a name is too common to identify a class.
        """
        return name in self.common_names


def members(inference: Inference, symbol: Symbol, name: str) -> list[Place]:
    """Return the bindings of a member in a class or its nearest ancestor."""
    owner = inference.owner(symbol, name)
    if not isinstance(owner, Symbol):
        return []
    entry = inference.project.entry(owner)
    return [Place(entry, owner.index, slot) for slot in whole(entry, entry.names(owner.index).get(name, ()))]


def classes_in(inference: Inference, value: Type) -> frozenset[Symbol]:
    """Return the project classes in a type, and in the types that it leads to.

    A container leads to the types of its elements, and a function to the type of its result. For `list[A]`, and for a function that
    returns an `A`, the class is `A`.
    """
    found: set[Symbol] = set()
    for atom in ordered(inference.expanded(value)):
        if atom[0] == INST:
            found.add(atom[1])
        elif atom[0] == EXT or atom[0] == EXTI:
            _, _, _, given = atom
            if given is not None:
                found.add(given)
        elif atom[0] == FUNC:
            found.update(result[1] for result in inference.expanded(inference.returned(atom[1])) if result[0] == INST)
        elif atom[0] in (BOX, TUP, LAM):
            for part in atom[2] if atom[0] == BOX else atom[1] if atom[0] == TUP else (atom[1],):
                found |= classes_in(inference, part)
    return frozenset(found)


def methods_of(entry: FileEntry, symbol: Symbol) -> Iterator[str]:
    """Yield the names of the functions in a class body, in source order."""
    for name, slots in entry.names(symbol.index).items():
        if any(slot.kind == "definition" and entry.definitions[slot.index].kind in FUNCTION_KINDS for slot in slots):
            yield name


def mapped(inference: Inference, function: Type) -> Type:
    """Return the union of the result types of all functions in a type.

    `function` is the type. In `xs.map(f)`, it is the type of `f`, and the result is the type of the new elements.
    """
    found = EMPTY
    for atom in ordered(inference.expanded(function)):
        if atom[0] == LAM:
            found = join(found, inference.expanded(atom[1]))
        elif atom[0] == FUNC:
            call = Call(inference, inference.project.entry(atom[1]), 0, 0)
            found = join(found, inference.expanded(inference.substituted(inference.returned(atom[1]), atom, call)))
    return found
