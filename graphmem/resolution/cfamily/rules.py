"""Rules that resolve calls and overloads in C and C++ code to definitions.

`reference` is the use that is resolved: a call, a read, a write or an operation. `entry` is a parsed file. `scope` is a function, a class
or the module in it, given as its position among the file's definitions; 0 is the module.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import ATTR, INDEX, LITERAL, NAME, NEW, OPERATOR, STRING, TermIndex
from graphmem.parsing.languages.cfamily import POINTED
from graphmem.resolution.cfamily.constness import fitting
from graphmem.resolution.cfamily.conversions import conversions
from graphmem.resolution.cfamily.fitness import TEXTS, declared_of, fit, fit_pointer, fit_value, is_number, written
from graphmem.resolution.cfamily.names import is_for_windows
from graphmem.resolution.cfamily.operators import CFamilyOperators
from graphmem.resolution.cfamily.templates import ARROW, pointed, type_parameters
from graphmem.resolution.cfamily.written import declared_as
from graphmem.resolution.files.call_index import CallSite
from graphmem.resolution.files.file_entry import Place
from graphmem.resolution.values.fitness import EXACT
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.terms import call_at, items_or_itself, last_name
from graphmem.resolution.values.types import (
    BOX,
    CLASS,
    EMPTY,
    EXT,
    EXTI,
    FUNC,
    INST,
    TUP,
    ExtInstance,
    Instance,
    Outside,
    Type,
    join,
    join_all,
    one,
    ordered,
    tuple_of,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Binding, Reference, Term
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.call import Argument, Call
    from graphmem.resolution.interfaces.inference import Inference

_SAME: Final = frozenset(("as_const", "cref", "forward", "move", "ref"))
"""Functions of the standard library that return their argument."""

_ITERATORS: Final = frozenset(("const_iterator", "const_reverse_iterator", "iterator", "reverse_iterator"))


class CFamilyRules(CFamilyOperators):
    """All rules that resolve names and calls in C and C++ to definitions."""

    functions_take_types = True
    defaults_stand_apart = True
    call_method = "operator()"

    def overload_group(self, entry: FileEntry, symbol: Symbol) -> tuple[str, int, str]:
        """Return the key that all overloads of a function share.

        The key of a function is (path, position of the enclosing scope, name). The methods of a class can be in several files, so their key
        has "" in place of the path, 0 in place of the position, and the qualified name.
        """
        return ("", 0, symbol.qualname) if symbol.kind == "method" else super().overload_group(entry, symbol)

    def overrides(self, inference: Inference, base: Symbol, method: Symbol) -> bool:
        """Return whether `method` overrides `base`: both have equal parameters."""
        return _shape(inference, base) == _shape(inference, method)

    def may_run(self, inference: Inference, entry: FileEntry, other: FileEntry) -> bool:
        """Return whether a call in `entry` can run an override in `other`.

        Returns False if `other` is for Windows only and `entry` is not. Also returns False if `other` is another file that defines `main`,
        because then it is a separate program.
        """
        if entry is other:
            return True
        return not _is_program(other) and (is_for_windows(entry.path, ()) or not is_for_windows(other.path, ()))

    def conversions(self, inference: Inference, entry: FileEntry, reference: Reference, function: Symbol) -> Iterable[tuple[Symbol, int]]:
        """Return the constructors that convert the arguments of a call.

        `function` is the called function. Each item is (constructor, number of constructors that fit equally well).
        """
        return conversions(inference, entry, reference, function)

    def declared(self, inference: Inference, entry: FileEntry, scope: int, term: TermIndex) -> Type:
        """Return the type that a declaration, such as `Item *x`, gives a name.

        `term` is the index of the type's expression in the file `entry`. An iterator of a container, `vector<Item>::iterator`, counts as
        the container.
        """
        written = entry.terms[term]
        if written[0] == ATTR and written[2] in _ITERATORS:
            held = frozenset(atom for atom in inference.declared(entry, scope, written[1]) if atom[0] == BOX)
            if held:
                return held
        return super().declared(inference, entry, scope, term)

    def is_whole(self, inference: Inference, entry: FileEntry, scope: int, index: tuple[TermIndex, TermIndex], line: int) -> bool:
        """Return whether `*p` has the inferred type of `p` itself.

        The result is True for a pointer to a container, and for a map or its iterator.
        """
        base, key = index
        if super().is_whole(inference, entry, scope, index, line):
            return True
        if entry.terms[key] != (LITERAL, POINTED):
            return False
        return any(atom[0] == BOX and atom[1] == "map" for atom in inference.expanded(inference.term(entry, scope, base, line)))

    def objects(self, inference: Inference, entry: FileEntry, scope: int, term: TermIndex) -> Type:
        """Return the classes and external types that a type expression names.

        An alias of a library's template is replaced by the type inside the template. For `using ItemPtr = std::unique_ptr<Item>`, `ItemPtr`
        is replaced by `Item`.
        """
        found = super().objects(inference, entry, scope, term)
        written = entry.terms[term]
        if written[0] not in (NAME, ATTR) or any(atom[0] != EXT for atom in found):
            return found
        held = join_all(
            inference.declared(place.entry, place.scope, place.entry.facts.bindings[place.slot.index].value)
            for place in self._aliases(inference, entry, scope, written)
        )
        return held if any(atom[0] in (INST, BOX, TUP) for atom in held) else found

    def _aliases(self, inference: Inference, entry: FileEntry, scope: int, written: Term) -> Iterator[Place]:
        """Yield the definitions of a template alias named `Name` or `Class::Name`."""
        places: list[Place] = []
        if written[0] == NAME:
            places += inference.lookup(entry, scope, written[1], 1 << 30) or ()
        elif written[0] == ATTR:
            for atom in ordered(inference.expanded(inference.term(entry, scope, written[1], 1 << 30))):
                owner = inference.owner(atom[1], written[2]) if atom[0] == CLASS else None
                if isinstance(owner, Symbol):
                    other = inference.project.entry(owner)
                    places += (Place(other, owner.index, slot) for slot in other.names(owner.index).get(written[2], ()))
        for place in places:
            if place.slot.kind == "binding":
                binding = place.entry.facts.bindings[place.slot.index]
                is_alias = binding.op == "assign" and binding.annotation < 0 and binding.value >= 0
                value = place.entry.terms[binding.value] if is_alias else None
                if value is not None and value[0] == ATTR and value[2] in _ITERATORS:
                    value = place.entry.terms[value[1]]
                if value is not None and value[0] == INDEX:
                    yield place

    def holder_of(self, inference: Inference, value: Type, name: str) -> Type:
        """Return the type of the object whose member `x.name` is.

        `value` is the type of `x`. An iterator of a container has the type of the container. A member that no container has is therefore
        one of the element to which the iterator points.
        """
        if name in self._container_members or not any(atom[0] == BOX and atom[1] == "list" for atom in value):
            return value
        elements = (atom[2][-1] if atom[0] == BOX and atom[1] == "list" and atom[2] else one(atom) for atom in ordered(value))
        return inference.expanded(join_all(elements))

    def filled(
        self,
        inference: Inference,
        entry: FileEntry,
        scope: int,
        written: tuple[TermIndex, TermIndex],
        declared: Callable[[TermIndex], Type],
    ) -> Type:
        """Return the type of `Name<…>`, given the types of the arguments.

        For an alias of a template, the arguments replace the alias's type parameters: with `template <typename T> using List =
        std::vector<T>`, `List<Item>` is a `vector<Item>`. For a class of the project that acts as a pointer, the type has the class to
        which it points as well.
        """
        base, key = written
        arguments = items_or_itself(entry.terms, key)
        name = last_name(entry.terms[base])
        if name not in self._containers and name not in self._transparent and name not in self._pairs:
            for place in self._aliases(inference, entry, scope, entry.terms[base]):
                given = tuple(declared(argument) for argument in arguments)
                memo = place.entry.memo
                found: Type = inference.project.solver.ask(
                    memo, ("alias", place.slot.index, given), self._of_alias, inference, place, given
                )
                if found:
                    return found
        found = super().filled(inference, entry, scope, written, declared)
        for atom in ordered(found) if inference.project.knows_name(ARROW) else ():
            position = pointed(inference, atom[1]) if atom[0] == INST else -1
            if 0 <= position < len(arguments):
                found = join(found, declared(arguments[position]))
        return found

    def _of_alias(self, inference: Inference, place: Place, given: tuple[Type, ...]) -> Type:
        """Return the type of an alias of a template, given its arguments.

        `given` are the types of the arguments. The result is empty if the alias has no type parameters.
        """
        entry, scope, slot = place
        binding = entry.facts.bindings[slot.index]
        known = dict(zip(type_parameters(entry, scope, binding.line, binding.end_line), given, strict=False))

        def declared(term: TermIndex) -> Type:
            written = entry.terms[term]
            if written[0] == NAME and written[1] in known:
                return known[written[1]]
            if written[0] == INDEX:
                return self.filled(inference, entry, scope, (written[1], written[2]), declared)
            return inference.declared(entry, scope, term)

        return declared(TermIndex(binding.value)) if known else EMPTY

    def builtin(self, name: str) -> Type:
        """Return the type of a name that the language defines.

        The name is that of a type or function. A type's name may have several words: `unsigned long`.
        """
        if " " in name and all(word in self._types for word in name.split()):
            return one((EXT, self.builtin_package, name, None))
        return super().builtin(name)

    def undeclared(self, entry: FileEntry, binding: Binding) -> Type:
        """Return the type of a constant of an enum, which is the enum itself.

        `binding` is the place in the file `entry` that defines the constant.
        """
        symbol = entry.symbols[binding.scope]
        return one((INST, symbol, False)) if symbol.kind == "enum" else EMPTY

    def call_external(self, inference: Inference, atom: Outside, call: Call) -> Type | None:
        """Return the result type of a library function.

        `std::move(x)` and the like return `x`. `int(x)` returns an `int`, and `static_cast<Type>(x)` a `Type`.
        """
        callee = call.entry.terms[call.callee]
        if atom[2] in self._typed_results and callee[0] == INDEX:
            return inference.declared(call.entry, call.scope, callee[2])
        if is_number(atom[2]) or atom[2].rpartition(".")[2] in TEXTS:
            return one((EXTI, atom[1], atom[2], None))
        if atom[2].rpartition(".")[2] in _SAME and len(call.args) == 1:
            return call.argument(0)
        if atom[2].rpartition(".")[2] in self._pairs:
            return tuple_of(call.term(argument) for argument in call.args)
        return super().call_external(inference, atom, call)

    def fit_argument(self, inference: Inference, argument: Argument, function: Symbol, annotation: TermIndex) -> int | None:
        """Score how well the source text of an argument fits a parameter.

        `annotation` declares the parameter of `function`. None means that the caller must compare the types.
        """
        entry, scope, line, index, given, _ = argument
        declared = declared_of(inference, function, annotation)
        term = entry.terms[index]
        found = fit(term, given, declared)
        if found is not None or term[0] in (STRING, LITERAL) or annotation < 0:
            return found
        if term[0] == OPERATOR and not all(atom[0] == EXTI for atom in given):
            return None
        own = declared_as(inference, entry, scope, line, index)
        if own is None:
            return None
        if own == (declared.is_pointer, declared.name) and not declared.is_open and own.name:
            return EXACT + 1
        return fit_pointer(declared) if own.is_pointer else fit_value(given, declared)

    def fitting_receiver(self, inference: Inference, entry: FileEntry, reference: Reference, methods: Sequence[Symbol]) -> Sequence[Symbol]:
        """Return the overloads that fit a constant or non-constant receiver.

        `methods` are the overloads. See `constness.fitting`.
        """
        return fitting(inference, entry, reference, methods)

    def created(self, inference: Inference, entry: FileEntry, reference: Reference, value: Type) -> Type:
        """Return the class that `member(…)` in an initialiser list constructs.

        `value` is the inferred type of `member`. For the declaration `Item member;`, the result is the class `Item`. For a pointer, as in
        `Item *member;`, the result is empty, because no object is constructed. For any other call than `member(…)`, the result is `value`.
        """
        classes = {atom[1] for atom in value if atom[0] == INST}
        found = entry.terms[reference.term]
        callee = entry.terms[found[1]] if found[0] == NEW else None
        if not classes or callee is None or callee[0] != NAME:
            return value
        names = set()
        for place in inference.lookup(entry, reference.scope, callee[1], reference.line) or ():
            if place.slot.kind == "binding":
                names.add(written(place.entry.terms, place.entry.facts.bindings[place.slot.index].annotation))
        return frozenset((CLASS, one_class, False) for one_class in classes if one_class.name in names)

    def reached(self, inference: Inference, entry: FileEntry, scope: int, line: int, call: tuple[TermIndex, Type]) -> Type:
        """Return the type of a callee, without overloads that a call cannot run.

        `call` has the index of the call's expression and the type of the callee. An overload is removed if the call passes too few or too
        many arguments, or if `const` excludes it.
        """
        term, callee = call
        functions = [atom for atom in ordered(callee) if atom[0] == FUNC]
        if len(functions) < 2:
            return callee
        _, _, arguments, _ = call_at(entry.terms, term)
        fitting_count = [one for one in functions if self.takes(inference.project.definition(one[1]), len(arguments), (), bound=True)]
        kept = fitting(inference, entry, CallSite(entry.path, scope, term, line, -1), [one[1] for one in fitting_count or functions])
        return frozenset(atom for atom in callee if atom[0] != FUNC or atom[1] in kept)

    def may_be(self, given: Instance | ExtInstance, classes: Collection[Symbol], outside: Collection[tuple[str, str]]) -> bool:
        """Whether a parameter accepts a value of a type that it does not declare.

        `given` is the type of the value. The parameter declares other types: the project's classes in `classes`, and the libraries'
        types in `outside`.

        - A value is accepted if its type is not a class or enum of the project.
        - A constant of an enum is accepted if `classes` is empty, because such constants are numbers.
        - An object of a project class is accepted if `classes` is empty and `outside` has a type that is not built in.
        """
        if given[0] != INST:
            return True
        if given[1].kind == "enum":  # its constants are numbers
            return not classes
        return not classes and not all(dotted in self._types for _, dotted in outside)


def _is_program(entry: FileEntry) -> bool:
    return any(slot.kind == "definition" for slot in entry.names(0).get("main", ()))


def _shape(inference: Inference, method: Symbol) -> tuple[object, ...]:
    entry = inference.project.entry(method)
    return tuple(written(entry.terms, parameter.annotation) for parameter in entry.definitions[method.index].parameters)


RULES = CFamilyRules
