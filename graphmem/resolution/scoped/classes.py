"""Find members, bases and declarations of classes, by a language's table.

The settings are in `[resolution]` of `language.toml`.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import ATTR, CALL, INDEX, NAME, SELF, TermIndex
from graphmem.resolution.files.file_entry import Place
from graphmem.resolution.scoped.names import ScopedNames, is_class
from graphmem.resolution.scoped.source_sets import is_main, module_of
from graphmem.resolution.symbol_rows import dotted
from graphmem.resolution.type_inference.bindings import whole
from graphmem.resolution.type_inference.names import is_type_parameter
from graphmem.resolution.values.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.values.types import (
    BOX,
    BUILTIN,
    CLASS,
    EMPTY,
    EXTI,
    INST,
    Base,
    Ext,
    ExtInstance,
    Instance,
    Receiver,
    Type,
    join_all,
    one,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Definition
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference

CONSTRUCTOR: Final = "<init>"

MAX_SIBLINGS: Final = 3
"""Most classes in which a member that a mixin lacks is found."""


class ScopedClasses(ScopedNames):
    """Look-ups of classes, bases and members by a language's settings.

    The settings are in `[resolution]` of the language's `language.toml`.
    """

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
        """Return those members of a class that are defined outside its body.

        They are methods written outside the class, and members in other declarations of the same class. In C#, for example, a `partial
        class` has several declarations.
        """
        if not self._reopened:
            return super().members_elsewhere(inference, owner, name)
        entry = inference.project.entry(owner)
        if name not in inference.project.solver.ask(entry.memo, ("names elsewhere", owner.index), self._names_elsewhere, inference, owner):
            return ()
        return self._elsewhere(inference, owner, name)

    def _names_elsewhere(self, inference: Inference, owner: Symbol) -> frozenset[str]:
        """Return the names of those members of a class that are outside its body.

        `owner` is the class. A name that is not in the result needs no search outside the body.
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
        """Return the name of the group of files to which a file belongs.

        The files of a group see each other's names without imports. Depending on the language, they are the files of a package, of a folder
        or of the project.
        """
        package: str | None = entry.kept.get("package")
        if package is None:
            package = entry.kept["package"] = self.names_of(entry.facts)[0]
        return package

    def _elsewhere(self, inference: Inference, owner: Symbol, name: str) -> list[Place]:
        """Return the members of a given name in a class's other declarations.

        A class may have several declarations, such as a `partial class` in C#. `owner` is one of them, which is left out.
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
        return self._few_pieces(found)

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

        A split class has several declarations, such as a `partial class` in C#. `owner` is one of them, which is left out. `path` is the
        file of a declaration, and `position` its position among the definitions of the file.
        """
        entry, top = inference.project.entry(owner), owner.qualname.partition(".")[0]
        found: list[tuple[str, int]] = []
        named = (top, owner.qualname) if "." in owner.qualname else (top,)  # `module A::B` does not declare `A`
        for package in self.names_of(entry.facts)[:1]:
            for path in dict.fromkeys(path for name in named for path in inference.project.binders(package, name)):
                other = inference.project.files[path]
                inference.project.touch_top(other, top)
                found += (
                    (path, position)
                    for position in (_pieces(other).get(owner.qualname, ()) if self._is_piece(owner, entry) else ())
                    if other.symbols[position] is not owner
                    and self._is_piece(other.symbols[position], other)
                    and self.is_same_class(entry, owner, other, other.symbols[position])
                )
        return tuple(found)

    def is_same_class(self, entry: FileEntry, symbol: Symbol, other_entry: FileEntry, other: Symbol) -> bool:
        """Whether two declarations of one name may be parts of one class.

        `entry` and `other_entry` are their files. By default the result is True.
        """
        return True

    def _is_piece(self, symbol: Symbol, entry: FileEntry) -> bool:
        """Whether a class may have further declarations, as `partial` in C#.

        `symbol` is the class, and `entry` is its file.
        """
        return self._reopened is True or self._reopened in entry.definitions[symbol.index].modifiers

    def base(self, inference: Inference, entry: FileEntry, symbol: Symbol, term: TermIndex) -> Type:
        """Return the type of a base class, which may be defined inside the class.

        If a call makes the class, as in `class Name < Base.new(:field)`, the base is `Base`.
        """
        first = entry.terms[term]
        callee = entry.terms[first[1]] if first[0] == CALL else first
        if first[0] == CALL and callee[0] == ATTR and callee[2] == self._maker:
            term = callee[1]
            first = entry.terms[term]
        while first[0] in (ATTR, INDEX):
            first = entry.terms[first[1]]
        found = super().base(inference, entry, symbol, term)
        if first[0] == NAME and first[1] == symbol.name and any(atom[0] == CLASS and atom[1] is symbol for atom in found):
            packages = self.names_of(entry.facts)[: self.packages_of_file]  # `class Name<T> : Name`
            places = [place for package in packages for place in self.package_places(inference, package, first[1], entry)]
            return inference.expanded(join_all(inference.slot(place) for place in places))
        if not self._mixins or first[0] != NAME:
            return found
        inside = first[1] in entry.names(symbol.index)
        if not inside and not any(atom[0] == CLASS for atom in found):
            inside = first[1] in self._names_of_pieces(inference, symbol)
        return self.objects(inference, entry, symbol.index, term) if inside else found

    def more_bases(self, inference: Inference, symbol: Symbol) -> Sequence[Base]:
        """Return bases of a Ruby class or mixin that its header does not name.

        If `symbol` is a mixin that contains a module `ClassMethods`, this module is returned, because its methods become class methods.
        Classes and modules of libraries are returned if the project adds members to them. An example is `Minitest::Assertions` for a
        subclass of `Minitest::Test`.
        """
        found = list(super().more_bases(inference, symbol))
        if self._library_bases:
            entry = inference.project.entry(symbol)
            written = [dotted(entry.terms, term) for _, term in entry.definitions[symbol.index].bases]
            for name in written:
                places = self.package_places(inference, self._group, name, None) if "." in name else ()
                found += [place.entry.symbols[place.slot.index] for place in places if is_class(place)][:1]
            for name in (symbol.qualname, *written):
                for base in self._library_bases.get(name, ()):
                    found += self.classes_named(inference, base)
        if self._class_side:
            entry = inference.project.entry(symbol)
            inner = (Place(entry, symbol.index, slot) for slot in entry.names(symbol.index).get(self._class_side, ()))
            found += (entry.symbols[place.slot.index] for place in inner if is_class(place))
        return found

    def classes_named(self, inference: Inference, name: str) -> list[Symbol]:
        """Return the project's class with a dotted name, as a list of at most one.

        A class of a library is found, too, if the project adds members to that class. Of several declarations, one is returned.
        """
        first, *inner = name.split(".")
        found = join_all(inference.slot(place) for place in self.package_places(inference, self._group, name, None) if is_class(place))
        if not found and inner and inference.project.knows_name(inner[-1]):
            outer = self.package_places(inference, self._group, first, None)
            found = join_all(inference.slot(place) for place in self._few_pieces(outer) if is_class(place))
            for part in inner:
                found = inference.attribute(found, part)
        return sorted((atom[1] for atom in found if atom[0] == CLASS), key=lambda symbol: symbol.place)[:1]

    def bases_elsewhere(self, inference: Inference, symbol: Symbol) -> Sequence[Base]:
        """Return the base classes named in other declarations of a class.

        In Ruby, and in C# by `partial class`, a class may have several declarations.
        """
        if not self._reopened:
            return ()
        found: list[Base] = []
        entry = inference.project.entry(symbol)
        for path, position in inference.project.solver.ask(entry.memo, ("pieces", symbol.index), self._other_pieces, inference, symbol):
            found += inference.bases(inference.project.files[path].symbols[position])
        return found

    def sibling_owners(self, inference: Inference, symbol: Symbol, name: str) -> Sequence[Symbol]:
        """Return the classes that define a member which a mixin uses but lacks.

        A mixin is a module whose methods other classes inherit; `symbol` is the mixin. The member `name` is looked up in the classes that
        inherit the mixin. Test classes are returned only if no other classes define the member. The result is empty for more than
        `MAX_SIBLINGS` classes.
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

    def is_one_class(self, symbol: Symbol) -> bool:
        """Whether all declarations with one qualified name form a single class."""
        return self._reopened is True

    def next_owners(self, inference: Inference, after: Symbol, name: str) -> Sequence[Symbol]:
        """Return the class in which `super` in a mixin finds a method, in a list.

        `after` is the mixin, and `name` the method. The method is searched for after the mixin in the resolution order of each class that
        inherits the mixin. If it is not found there, the classes themselves are searched, because a prepended mixin comes before its class.
        The result is empty if the search finds several classes.
        """
        if not self.is_mixin(inference.project.definition(after)):
            return ()
        below = inference.below(after)
        found = {owner for child in below if isinstance(owner := inference.owner(child, name, after), Symbol)}
        found = found or {child for child in below if inference.owner(child, name) is child}
        owners = sorted((owner for owner in found if owner.qualname != after.qualname), key=lambda owner: owner.place)
        owners = [owner for owner in owners if not inference.project.files[owner.path].in_tests] or owners
        return owners if len(owners) == 1 else ()

    def bases_in_library(self, name: str) -> Collection[str]:
        """Return the base classes that a class of the language's library has.

        The table `library_bases` of the language lists them.
        """
        return self._library_bases.get(name, ())

    def may_give(self, base: Ext, name: str) -> bool:
        """Whether a base class outside the project may define a member.

        The table `library_members` of the language lists all members of some mixins.
        """
        members = self._library_members.get(base[2]) if base[1] == self.builtin_package else None
        return members is None or name in members

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
        """Return the type of a member of a class with an external base.

        For a member that every class has, such as `new`, the class itself gives the type. The same holds for a member by which classes with
        this base return their objects, such as `instance` of a `Singleton`. For any other member, the result assumes that `base`, the
        external base class, defines it.
        """
        if receiver[0] == CLASS and self._makers.get(base[2].rpartition(".")[2]) == name:
            return frozenset((receiver,))
        return self.missing_member(receiver, name) or super().member_outside(inference, receiver, base, name)

    def takes(self, definition: Definition, positional: int, keywords: Sequence[str], *, bound: bool) -> bool:
        """Return whether a function accepts `positional` arguments.

        `keywords` and `bound` are as in `CallRules.takes`. In languages that do not check the number of arguments, any number is accepted.
        """
        return self._any_count or super().takes(definition, positional, keywords, bound=bound)

    def may_be(self, given: Instance | ExtInstance, classes: Collection[Symbol], outside: Collection[tuple[str, str]]) -> bool:
        """Whether a parameter accepts a value whose type it does not declare.

        `given` is the value. `classes` and `outside` are the project classes and the external types that the parameter declares. A final
        type, such as `String` in Kotlin, has no subclasses. The result is decided as follows:

        - In a language without final types, every value is accepted.
        - A value of a final type is accepted if `outside` has a type to which the value converts.
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

        `position` is the method, as a position among the file's definitions. The qualified name of the method, such as `Outer.Type.method`,
        gives the type.
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
            kinds = [{atom[0] for atom in declared} for declared in (wanted, given)]
            if kinds in ([{INST}, {BOX}], [{BOX}, {INST}]):  # an item and a container of items
                return False
            is_known = wanted and given and all(atom[0] == INST for atom in wanted | given)
            if is_known and wanted.isdisjoint(given) and not is_type_parameter(inference.project.entry(base), base.index, left.annotation):
                return False
        return True

    def may_run(self, inference: Inference, entry: FileEntry, other: FileEntry) -> bool:
        """Whether a call in file `entry` can run an override in `other`.

        Returns False if `other` belongs to another module of the build, and that module is a program, such as a sample for a library.
        Objects of `other` exist only in that program.
        """
        if not self.program or (module := module_of(other.path)) == module_of(entry.path):
            return True
        programs = (symbol for symbol in inference.project.named(self.program) if symbol.kind == "function")
        return not any(module_of(symbol.path) == module and is_main(symbol.path) for symbol in programs)

    def this(self, inference: Inference, entry: FileEntry, scope: int) -> Type:
        """Return the type of the receiver in a method, such as `this`.

        In a class method, or in a class body outside methods, the receiver is the class itself.
        """
        around = entry.enclosing(scope, CLASS_KINDS)
        if around > 0 and self.is_on_class(entry, scope, around):
            return one((CLASS, entry.symbols[around], False))
        return super().this(inference, entry, scope)

    def receiver_class(self, entry: FileEntry, scope: int, base: TermIndex) -> int:
        """Return the class that the receiver `self` stands for; -1 if none.

        `base` is the expression that may be `self`. In languages such as Ruby, `self` in the body of a class, outside of methods, is the
        class. The class is given by its position among the file's definitions.
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
