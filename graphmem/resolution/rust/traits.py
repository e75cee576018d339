"""Rules of Rust for traits, and for `impl` blocks, which add methods.

An `impl` block may be in another file than its type, and may belong to a trait. A trait may be implemented for types of a library.

A binding of a name is a place that gives the name its meaning, such as `x = f()`, `import x`, `def x` or a parameter.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from graphmem.parsing.facts import INDEX, TermIndex
from graphmem.resolution.files.file_entry import Place, Slot
from graphmem.resolution.rust.impls import fitting_arguments
from graphmem.resolution.rust.library import INHERENT_METHODS, STANDARD_METHODS, primitive
from graphmem.resolution.rust.modules import LIBRARIES, RustModules, is_module
from graphmem.resolution.rust.trait_calls import stands_for
from graphmem.resolution.values.symbol import CLASS_KINDS, FUNCTION_KINDS, Symbol
from graphmem.resolution.values.terms import last_name
from graphmem.resolution.values.types import (
    BOX,
    CLASS,
    EXT,
    EXTI,
    INST,
    TUP,
    Atom,
    Base,
    Type,
    join_all,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Definition, Reference, Term
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference


class RustTraits(RustModules):
    """Resolves names that depend on traits and `impl` blocks."""

    most_bounds = 3  # several `impl` blocks of one type have the traits that it needs

    def definition_slot(self, entry: FileEntry, position: int) -> tuple[int, str]:
        """Return the (scope, name) under which look-ups find a definition.

        `position` is the definition's position in the file. Usually the name is the definition's own. A type in an `impl` block, such as
        `type Item = u8`, has the name `impl Item`, because the bare name `Item` does not refer to it.
        """
        definition = entry.definitions[position]
        if "associated" in definition.modifiers:
            return definition.parent, f"impl {definition.name}"
        return super().definition_slot(entry, position)

    def is_visible(self, entry: FileEntry, scope: int) -> bool:
        """Return whether inner scopes see the names of a scope without a prefix.

        Names of a module are visible inside it, but members of a type are not.
        """
        return is_module(entry, scope) or super().is_visible(entry, scope)

    def is_virtual(self, symbol: Symbol) -> bool:
        """Return whether a method call on a type is dynamically dispatched.

        In Rust, this is true only for traits.
        """
        return symbol.kind == "interface"

    def members_elsewhere(self, inference: Inference, owner: Symbol, name: str) -> Sequence[Place]:
        """Return methods of a type from `impl` blocks anywhere in the package."""
        project = inference.project
        entry = project.entry(owner)
        found: list[Place] = []
        for path in project.binders(self.package_of(entry.path), f"{owner.name}.{name}"):
            other = project.files[path]
            project.touch_top(other, owner.name)
            slots = other.names(0).get(f"{owner.name}.{name}", ())
            found += (Place(other, 0, slot) for slot in slots if self._belongs(inference, other, slot, owner))
        if entry.definitions[owner.index].parent > 0:
            scope = entry.definitions[owner.index].parent
            found += (Place(entry, scope, slot) for slot in entry.names(scope).get(f"{owner.name}.{name}", ()))
        return found

    def _belongs(self, inference: Inference, entry: FileEntry, slot: Slot, owner: Symbol) -> bool:
        """Return whether a member of an `impl` block belongs to a given type.

        `slot` is the method or constant, and `owner` is the type.
        """
        if slot.kind == "definition":
            around = self.owner_apart(inference, entry, slot.index)
        else:
            places = inference.lookup(entry, entry.facts.bindings[slot.index].scope, owner.name, 1 << 30)
            around = inference.expanded(join_all(inference.slot(place) for place in places or ()))
        return any(atom[0] == CLASS and atom[1] is owner for atom in around)

    def extensions(self, inference: Inference, entry: FileEntry, receiver: Atom, name: str) -> Sequence[Symbol]:
        """Return the methods that traits of the package give to a library type.

        An example is `impl Number for u32`, or for a type of another package.
        """
        if (receiver[0] != EXTI and receiver[0] != EXT) or not inference.project.knows_name(name):
            return ()
        if receiver[1] in LIBRARIES and name in INHERENT_METHODS:  # a type's own method comes first
            return ()
        known = primitive(receiver[2])
        if "(" in known:
            return ()
        project, found = inference.project, list[Symbol]()
        method = f"{known.rpartition('.')[2]}.{name}"
        for path in project.binders(self.package_of(entry.path), method):
            other = project.files[path]
            project.touch_top(other, method.partition(".")[0])
            slots = [slot for slot in other.names(0).get(method, ()) if slot.kind == "definition"]
            # The project may have a type of the same name.
            found += (other.symbols[slot.index] for slot in slots if not self._is_of_project(inference, other, slot.index))
        return found

    def _is_of_project(self, inference: Inference, entry: FileEntry, method: int) -> bool:
        return any(atom[0] == CLASS for atom in self.owner_apart(inference, entry, method))

    def unknown_extensions(self, inference: Inference, entry: FileEntry, receiver: Type, name: str) -> Sequence[Symbol]:
        """Return a method that only one trait gives to library types.

        The receiver must be a value of the standard library, whose traits do not have a method of that name. An example is a trait with
        `impl<T: Iterator> Trait for T`.
        """
        project = inference.project
        if not receiver or name in STANDARD_METHODS or self.is_common_name(name) or not project.knows_name(name):
            return ()
        if any(atom[0] not in (BOX, TUP) and (atom[0] != EXTI or atom[1] not in LIBRARIES) for atom in receiver):
            return ()
        home = self.package_of(entry.path)
        methods = [one for one in project.named(name) if one.kind == "method" and self.package_of(one.path) == home]
        methods = [one for one in methods if entry.in_tests or not project.files[one.path].in_tests]
        declared = [one for one in methods if self._owner(inference, one).kind == "interface"]
        if len(declared) != 1:
            return ()
        found = self.declared_once(inference, methods)
        is_abstract = "abstract" in project.definition(declared[0]).modifiers
        others = [one for one in methods if one is not declared[0]]
        if is_abstract and found == declared and others:  # only a pointer may hide behind the type of a value
            return declared if all(project.definition(one).qualname.startswith("*.") for one in others) else ()
        return found if len(found) == 1 else declared

    def more_bases(self, inference: Inference, symbol: Symbol) -> Sequence[Base]:
        """Return the traits that are implemented for a type."""
        if symbol.kind == "interface":
            return ()
        found: list[Base] = []
        for entry, position in self._methods(inference, symbol):
            definition = entry.definitions[position]
            for _, term in definition.bases:
                for atom in sorted(self.objects(inference, entry, definition.parent, term), key=repr):
                    base = atom[1] if atom[0] == CLASS else atom if atom[0] == EXT else None
                    if base is not None and base is not symbol and base not in found:
                        found.append(base)
        return sorted(found, key=repr)

    def _methods(self, inference: Inference, symbol: Symbol) -> Iterator[tuple[FileEntry, int]]:
        project = inference.project
        entry = project.entry(symbol)
        for slots in entry.names(symbol.index).values():
            yield from ((entry, slot.index) for slot in slots if slot.kind == "definition")
        prefix = f"{symbol.name}."
        for path in project.binders(self.package_of(entry.path), prefix):
            other = project.files[path]
            project.touch_top(other, symbol.name)
            for name, slots in other.names(0).items():
                if name.startswith(prefix):
                    methods = (slot for slot in slots if slot.kind == "definition")
                    yield from ((other, slot.index) for slot in methods if self._belongs(inference, other, slot, symbol))

    def satisfied_methods(self, inference: Inference, method: Symbol) -> Sequence[Symbol]:
        """Return the trait methods that a method implements.

        The result is empty for a method that is not in an `impl Trait for Type` block.
        """
        entry = inference.project.entry(method)
        definition = entry.definitions[method.index]
        if method.kind != "method" or (
            entry.definitions[definition.parent].kind in CLASS_KINDS and not is_module(entry, definition.parent)
        ):
            return ()
        traits = [
            atom[1] for _, term in definition.bases for atom in self.objects(inference, entry, definition.parent, term) if atom[0] == CLASS
        ]
        return [wanted for trait in sorted(traits, key=repr) for wanted in inference.functions(trait, method.name)]

    def declared_once(self, inference: Inference, methods: Sequence[Symbol]) -> Sequence[Symbol]:
        """Return only the trait's method, if all other `methods` implement it.

        `methods` have the same name. If the trait's method has no body, and only one method implements it, that one is returned instead.
        If no trait's method is implemented by all others, `methods` is returned.
        """
        owners = {method: self._owner(inference, method) for method in methods}
        declared = [method for method in methods if owners[method].kind == "interface"]
        if len(declared) != 1:
            return methods
        others = [method for method in methods if method is not declared[0]]
        if not all(stands_for(inference, method, owners[declared[0]].name) for method in others):
            return methods
        return others if len(others) == 1 and "abstract" in inference.project.definition(declared[0]).modifiers else declared

    def _owner(self, inference: Inference, method: Symbol) -> Definition:
        entry = inference.project.entry(method)
        return entry.definitions[entry.definitions[method.index].parent]

    def overrides(self, inference: Inference, base: Symbol, method: Symbol) -> bool:
        """Return whether a method implements the method `base` of a trait.

        The result is True if `method` is in an `impl` block for that trait. It is also True if `base` is not a method of a trait.
        """
        owner = self._owner(inference, base)
        return owner.kind != "interface" or stands_for(inference, method, owner.name)

    def fitting_receiver(self, inference: Inference, entry: FileEntry, reference: Reference, methods: Sequence[Symbol]) -> Sequence[Symbol]:
        """Return the methods, among several of the same name, that a call can run.

        A method of the type itself hides methods of the same name from traits. A type may also have several methods from one trait: `impl
        From<A> for T` and `impl From<B> for T` both define `from`. In such a case, the methods that fit the types of the arguments are
        returned.
        """
        own = {method.qualname for method in methods if not inference.project.definition(method).bases}
        found = [method for method in methods if method.qualname not in own or not inference.project.definition(method).bases]
        return fitting_arguments(inference, entry, reference, found) if len(found) > 1 else found

    def bounds(self, entry: FileEntry, scope: int, name: str) -> Sequence[TermIndex]:
        """Return the bounds of a type parameter, such as `Trait` in `T: Trait`.

        The result is empty if `name` is a type that the file defines or imports, as in `where Type: Trait`.
        """
        is_type = any(slot.kind in ("definition", "import") for slot in entry.names(0).get(name, ()))
        if is_type:
            return ()
        bindings = entry.facts.bindings
        if entry.definitions[scope].kind not in FUNCTION_KINDS:  # a field has the traits that the `impl` blocks of its type need
            positions = [i for around in (scope, entry.definitions[scope].parent) for i in entry.locals.get((around, name), ())]
            found = self._annotations(entry, positions)
            return found if len(found) <= self.most_bounds else ()
        while scope > 0:
            definition = entry.definitions[scope]
            lines = range(definition.start_line, definition.end_line + 1)
            around = {definition.parent, _around_impl(entry, scope)}
            positions = [i for outer in sorted(around) for i in entry.locals.get((outer, name), ()) if bindings[i].line in lines]
            positions = positions or self._bounds_of_impl(entry, scope, name)
            if positions:
                return self._annotations(entry, positions)
            scope = definition.parent
        return ()

    def _annotations(self, entry: FileEntry, positions: Sequence[int]) -> list[TermIndex]:
        bindings = entry.facts.bindings
        return list(dict.fromkeys(bindings[i].annotation for i in positions if bindings[i].annotation >= 0))

    def _bounds_of_impl(self, entry: FileEntry, scope: int, name: str) -> list[int]:
        """Return the bindings of a type parameter that an `impl` header declares.

        For a method in `impl<T: Trait> Name<T> { … }`, the type parameter is `T`. Other `impl` blocks and functions of the file may have a
        type parameter of the same name. `scope` is the method, and the header is the nearest one above it. The result is empty if `scope`
        is not a method.
        """
        kept: dict[tuple[int, str], list[int]] = entry.kept.setdefault("bounds of impls", {})
        found = kept.get((scope, name))
        if found is None:
            found = kept[scope, name] = self._in_header(entry, scope, name)
        return found

    def _in_header(self, entry: FileEntry, scope: int, name: str) -> list[int]:
        definition, bindings = entry.definitions[scope], entry.facts.bindings
        around, first, last = _around_impl(entry, scope), definition.start_line, definition.end_line
        above = [i for i in entry.locals.get((around, name), ()) if bindings[i].line <= first]
        if not above or definition.kind != "method" or entry.definitions[around].kind == "interface":
            return []
        others = (one for one in entry.definitions if one.kind != "variable")
        beside = [(one.start_line, one.end_line) for one in others if one.start_line > first or one.end_line < last or one is definition]
        outside = [i for i in above if not any(start <= bindings[i].line <= end for start, end in beside)]
        last = max((bindings[i].line for i in outside), default=0)
        before = max((end for _, end in beside if end < last), default=0)
        return [i for i in outside if bindings[i].line > before]

    def receiver(self, inference: Inference, symbol: Symbol) -> Type:
        """Return the type of `self` in a method.

        In an `impl` for a type parameter, it is an object with the traits of its bounds. In an `impl` for a pointer such as `Box<Type>`, it
        is the object to which it points.
        """
        found = super().receiver(inference, symbol)
        entry = inference.project.entry(symbol)
        around, name = self.definition_slot(entry, symbol.index)
        if "." not in name or any(atom[0] == INST for atom in found):
            return found
        owner, line, bindings = name.rpartition(".")[0], entry.definitions[symbol.index].start_line, entry.facts.bindings
        written = [slot.index for slot in entry.names(around).get(f"{owner}.self", ()) if slot.kind == "binding"]
        written = [i for i in written if bindings[i].line <= line]
        last = max((bindings[i].line for i in written), default=0)  # the other ones belong to another `impl`
        types: Sequence[TermIndex] = [bindings[i].annotation for i in written if bindings[i].line == last]
        types = types or self.bounds(entry, symbol.index, owner)
        return join_all(inference.declared(entry, symbol.index, one_type) for one_type in types) or found

    def methods_of_self(self, inference: Inference, entry: FileEntry, scope: int, name: str) -> Sequence[Symbol] | None:
        """Return the methods that `self.name()` can run in an `impl` block.

        `scope` is inside the block. The result is None if the block is for a type of the project. For an external type, as in `impl Trait
        for u32`, it is the first of these that exists:

        - the method that this file defines for the type in an `impl` of the same trait;
        - the methods that this file defines for the type in other `impl` blocks;
        - the method of the trait itself.
        """
        method = entry.enclosing(scope, ("method",))
        if method < 0:
            return None
        definition = entry.definitions[method]
        around, slot = self.definition_slot(entry, method)
        owner = slot.rpartition(".")[0]
        if not owner or self._is_of_project(inference, entry, method):
            return None
        if name in INHERENT_METHODS and owner in self.builtin_types:
            return None
        slots = entry.names(around).get(f"{owner}.{name}", ())
        found = [entry.symbols[slot.index] for slot in slots if slot.kind == "definition"]
        traits = [last_name(_without_type_arguments(entry, term)) for _, term in definition.bases]
        found = [one for one in found if any(stands_for(inference, one, trait) for trait in traits)] or found
        for _, term in definition.bases if not found else ():
            for atom in sorted(self.objects(inference, entry, definition.parent, term), key=repr):
                trait = inference.owner(atom[1], name) if atom[0] == CLASS else None
                found += inference.functions(trait, name) if isinstance(trait, Symbol) else ()
        return found


def _around_impl(entry: FileEntry, scope: int) -> int:
    """Return the scope around the `impl` of a method, or around a function."""
    parent = entry.definitions[scope].parent
    while parent > 0 and entry.definitions[parent].kind in CLASS_KINDS - {"interface"} and not is_module(entry, parent):
        parent = entry.definitions[parent].parent
    return parent


def _without_type_arguments(entry: FileEntry, index: TermIndex) -> Term:
    """Return a type without its type arguments."""
    term = entry.terms[index]
    while term[0] == INDEX:
        term = entry.terms[term[1]]
    return term
