"""Resolution rules for C and C++: visibility by included files.

All files of a project share their global names, because a linker joins them. If several files define a name, the definition in an included
file is chosen.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.parsing.facts import ATTR, CALL, INDEX, LITERAL, NAME, NEW, NO_TERM, OPERATOR, STRING, TermIndex
from graphmem.parsing.languages.cfamily import CONDITION, MACRO, POINTED
from graphmem.resolution.cfamily.constness import fitting, of_constness, receiver_is_const
from graphmem.resolution.cfamily.conversions import conversion, conversions
from graphmem.resolution.cfamily.fitness import declared_of, fit, fit_pointer, fit_value, written
from graphmem.resolution.cfamily.macros import Expansion
from graphmem.resolution.cfamily.written import declared_as
from graphmem.resolution.file_entry import CallSite, Place
from graphmem.resolution.fitness import CONVERTED, DERIVED, EXACT, IMPOSSIBLE
from graphmem.resolution.names import whole
from graphmem.resolution.scoped.names import is_class, is_private, stem
from graphmem.resolution.scoped.rules import ScopedRules
from graphmem.resolution.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.terms import call_at
from graphmem.resolution.types import (
    BOX,
    CLASS,
    EMPTY,
    EXT,
    FUNC,
    INST,
    MODULE,
    NAMESPACE,
    Atom,
    ExtInstance,
    Instance,
    Outside,
    Type,
    join,
    join_all,
    one,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Binding, FileFacts, Operator, Reference, Term
    from graphmem.resolution.call import Argument, Call
    from graphmem.resolution.file_entry import FileEntry
    from graphmem.resolution.inference import Inference

_WINDOWS: Final = re.compile(r"(?:^|[_/.-])(?:win|win32|win64|windows|mingw|msvc)(?=[_/.-])", re.IGNORECASE)
ELSEWHERE: Final = "windows"
"""Modifier of definitions that only a build for Windows contains."""


_HEADERS: Final = (".h", ".hh", ".hpp", ".hxx", ".inl", ".ipp")
"""Endings of the files that others include."""

_STANDARD: Final = "std"
"""The namespace of the standard library, which projects only add to."""

_LOGICAL: Final = frozenset(("&&", "||"))
"""Operators that convert both operands to true or false."""

_SAME: Final = frozenset(("as_const", "cref", "forward", "move", "ref"))
"""Functions of the standard library that return their argument."""

_ITERATORS: Final = frozenset(("const_iterator", "const_reverse_iterator", "iterator", "reverse_iterator"))


class CFamilyRules(ScopedRules):
    """Resolution rules for C and C++: includes, methods outside their class."""

    functions_take_types = True
    defaults_stand_apart = True
    call_method = "operator()"

    # names

    def names_of(self, facts: FileFacts) -> Sequence[str]:
        """Return the names under which other files can find a file.

        They are one name that all C and C++ files share, and the namespaces that the file opens. A nested namespace `a::b` counts as `a`,
        `b` and `a.b`.
        """
        found: list[str] = []
        for name in super().names_of(facts):
            found += (name, *name.split("."))
        return tuple(dict.fromkeys(found))

    def submodule(self, inference: Inference, module: Atom, name: str) -> Type:
        """Return the type of `name` in a namespace: `a::name`.

        `module` is the namespace `a`. If no file of the namespace defines `name`, it is looked up in all files. This finds names in files
        that open the namespace by a macro.
        """
        found = super().submodule(inference, module, name)
        if found or module[0] != NAMESPACE or module[1] == _STANDARD or not name:
            return found
        places = self.package_places(inference, self._group, name, None)
        return join_all(inference.slot(place) for place in places if not is_private(place))

    def shared(self, inference: Inference, entry: FileEntry, name: str) -> list[Place] | None:
        """Return the definitions of a name that the file itself does not define.

        Definitions in included files are preferred; these may be static. Without them, definitions in all files count, except static ones
        and the macros of `_is_macro_apart`. If several files remain, the one whose header is included is chosen. Classes alone are returned
        from all files. The result is None if nothing was found or the choice is unclear.
        """
        found: list[Place] | None = inference.project.solver.ask(entry.memo, ("shared", name), self._shared, inference, entry, name)
        return found

    def _shared(self, inference: Inference, entry: FileEntry, name: str) -> list[Place] | None:
        places = self.package_places(inference, self._group, name, entry)
        places = [place for place in places if self.visible_apart(entry, place)]
        if not places:
            return None
        included = self.included(inference, entry)
        found = [place for place in places if place.entry.path in included]
        found = found or [place for place in places if not is_private(place) and not self._is_macro_apart(place, name)]
        if len({place.entry.path for place in found}) < 2 or all(map(is_class, found)) or all(_is_alias(place, name) for place in found):
            return found or None
        stems = {stem(path) for path in included} | {stem(entry.path)}
        near = [place for place in found if stem(place.entry.path) in stems]
        return near if len({place.entry.path for place in near}) == 1 else None

    def _is_macro_apart(self, place: Place, name: str) -> bool:
        """Return whether a macro counts only for files that include its file.

        `place` is a definition. The result is True for a macro in a source file, and for a macro named like a standard function. It is
        False for any other macro of a header. That macro also reaches a file without the header, if a third file includes both.
        """
        is_standard = name in self._functions
        return "macro" in _modifiers(place) and (is_standard or not place.entry.path.endswith(_HEADERS))

    def included(self, inference: Inference, entry: FileEntry) -> frozenset[str]:
        """Return the paths of files that a file includes, also indirectly."""
        found: frozenset[str] = inference.project.solver.ask(entry.memo, ("included",), self._included, inference, entry)
        return found

    def _included(self, inference: Inference, entry: FileEntry) -> frozenset[str]:
        found: set[str] = set()
        pending = [entry]
        while pending:
            current = pending.pop()
            inference.project.touch_top(current, "")
            for one_import in current.facts.imports:
                for atom in self.import_targets(inference, current, one_import):
                    target = inference.project.file(atom[1]) if atom[0] == MODULE else None
                    if target is not None and target.path not in found:
                        found.add(target.path)
                        pending.append(target)
        return frozenset(found)

    def visible(self, inference: Inference, entry: FileEntry, functions: Sequence[Symbol]) -> Sequence[Symbol]:
        """Return the functions of one name that a file can see.

        They are in the file itself, in an included file, or in a source file with the name of an included one. All `functions` are
        returned if there are none.
        """
        seen = self.included(inference, entry) | {entry.path}
        stems = {stem(path) for path in seen}
        return [one for one in functions if one.path in seen or stem(one.path) in stems] or functions

    def visible_apart(self, entry: FileEntry, place: Place) -> bool:
        """Return whether a definition can be in the same build as a file.

        `place` is the definition. The result is False only if it is for Windows and the file `entry` is not.
        """
        return is_for_windows(entry.path, ()) or not is_for_windows(place.entry.path, _modifiers(place))

    # calls

    def overload_group(self, entry: FileEntry, symbol: Symbol) -> tuple[str, int, str]:
        """Return the key that all overloads of a function share.

        For a method it is ("", 0, qualified name), because the methods of a class can be in several files. For another function it is
        (path, enclosing scope, name).
        """
        return ("", 0, symbol.qualname) if symbol.kind == "method" else super().overload_group(entry, symbol)

    def overrides(self, inference: Inference, base: Symbol, method: Symbol) -> bool:
        """Return whether `method` overrides `base`: their parameters are equal."""
        return _shape(inference, base) == _shape(inference, method)

    def may_run(self, inference: Inference, entry: FileEntry, other: FileEntry) -> bool:
        """Return whether a call in `entry` can run an override in `other`.

        False if `other` is for Windows only and `entry` is not. Also False if `other` defines `main`, because then it is a separate
        program.
        """
        if entry is other:
            return True
        return not _is_program(other) and (is_for_windows(entry.path, ()) or not is_for_windows(other.path, ()))

    def implied(self, inference: Inference, entry: FileEntry, reference: Reference) -> Iterable[tuple[Symbol, int]]:
        """Return the functions that an operator or a macro calls.

        For `a + b`, they are members of the class of `a`, or functions of two parameters. For the use of a macro, such as `CHECK(x)`, they
        are the functions that the text of the macro calls. Each item is (function, number of functions that fit equally well).
        """
        found = entry.terms[reference.term]
        if reference.kind == "call":
            return Expansion(inference, entry, reference.scope, reference.line).of_call(reference.term)
        if reference.kind != "implicit" or (found[0] != OPERATOR and found[0] != INDEX):
            return ()
        if found[0] == OPERATOR and found[1] == MACRO:
            return Expansion(inference, entry, reference.scope, reference.line).of_definition(reference.term)
        if found[0] == OPERATOR and found[1] in _LOGICAL:
            _, _, left, right = found
            sides: list[Operator] = [(OPERATOR, CONDITION, TermIndex(side), NO_TERM) for side in (left, right)]
            return [pair for side in sides for pair in self._operated(inference, entry, reference, side)]
        return self._operated(inference, entry, reference, found)

    def _operated(self, inference: Inference, entry: FileEntry, reference: Reference, found: Term) -> Sequence[tuple[Symbol, int]]:
        """Return the functions that an operator runs; see `implied`."""
        names, operands = _operation(entry, found)
        name = next((one for one in names if inference.project.knows_name(one)), "")
        if not name:
            return ()
        types = [inference.expanded(inference.term(entry, reference.scope, side, reference.line)) for side in operands]
        given = [frozenset(atom[1] for atom in value if atom[0] == INST) for value in types]
        values = [
            classes if classes and not is_pointer(inference, entry, reference.scope, reference.line, side) else frozenset()
            for classes, side in zip(given, operands, strict=True)
        ]
        if not any(values) or (given[0] and not values[0]):
            return ()
        functions: list[Symbol] = []
        for symbol in sorted(frozenset().union(*values), key=lambda one_class: one_class.place):
            functions += (function for function in self.operators(inference, symbol, name) if function not in functions)
        sides = [
            Operand(entry.terms[side], value, classes, frozenset().union(*map(inference.project_classes, classes)))
            for side, value, classes in zip(operands, types, values, strict=True)
        ]
        scores = [_fitness(inference, function, sides) for function in functions]
        best = max(scores, default=-1)
        chosen = [function for function, score in zip(functions, scores, strict=True) if score == best >= 0]
        chosen = list(of_constness(inference, chosen, receiver_is_const(inference, entry, reference, operands[0])))
        found_here = [(function, len(chosen)) for function in chosen]
        if len(chosen) == 1 and len(operands) > 1:
            parameter = inference.project.definition(chosen[0]).parameters[-1]
            found_here += conversion(inference, chosen[0], parameter, entry.terms[operands[-1]], types[-1])
        return found_here

    def conversions(self, inference: Inference, entry: FileEntry, reference: Reference, function: Symbol) -> Iterable[tuple[Symbol, int]]:
        """Return the constructors that convert the arguments of a call.

        `function` is the called function. Each item is (constructor, number of constructors that fit equally well).
        """
        return conversions(inference, entry, reference, function)

    def declared(self, inference: Inference, entry: FileEntry, scope: int, term: int) -> Type:
        """Return the type of a declaration.

        An iterator of a container, `vector<Item>::iterator`, counts as the container.
        """
        found = super().declared(inference, entry, scope, term)
        written = entry.terms[term]
        if found or written[0] != ATTR or written[2] not in _ITERATORS:
            return found
        return frozenset(atom for atom in inference.declared(entry, scope, written[1]) if atom[0] == BOX)

    def objects(self, inference: Inference, entry: FileEntry, scope: int, term: int) -> Type:
        """Return the classes and external types that a type expression names.

        An alias of a library's template, such as `using ItemPtr = std::unique_ptr<Item>`, stands for what the template holds.
        """
        found = super().objects(inference, entry, scope, term)
        written = entry.terms[term]
        if written[0] != NAME or any(atom[0] != EXT for atom in found):
            return found
        held = join_all(
            inference.declared(place.entry, place.scope, place.entry.facts.bindings[place.slot.index].value)
            for place in self._aliases(inference, entry, scope, written[1])
        )
        return held if any(atom[0] in (INST, BOX) for atom in held) else found

    def _aliases(self, inference: Inference, entry: FileEntry, scope: int, name: str) -> Iterator[Place]:
        """Yield the aliases of a template that a name stands for."""
        for place in inference.lookup(entry, scope, name, 1 << 30) or ():
            if place.slot.kind == "binding":
                binding = place.entry.facts.bindings[place.slot.index]
                is_alias = binding.op == "assign" and binding.annotation < 0 and binding.value >= 0
                if is_alias and place.entry.terms[binding.value][0] == INDEX:
                    yield place

    def builtin(self, name: str) -> Type:
        """Return the type of a type or function that the language defines.

        Such a type may have several words: `unsigned long`.
        """
        if " " in name and all(word in self._types for word in name.split()):
            return one((EXT, self.builtin_package, name, None))
        return super().builtin(name)

    def undeclared(self, entry: FileEntry, binding: Binding) -> Type:
        """Return the type of a constant of an enum: the enum."""
        symbol = entry.symbols[binding.scope]
        return one((INST, symbol, False)) if symbol.kind == "enum" else EMPTY

    def call_external(self, inference: Inference, atom: Outside, call: Call) -> Type | None:
        """Return the result type of a library function.

        `std::move(x)` and the like return `x`.
        """
        if atom[2].rpartition(".")[2] in _SAME and len(call.args) == 1:
            return call.argument(0)
        return super().call_external(inference, atom, call)

    def fit_argument(self, inference: Inference, argument: Argument, function: Symbol, annotation: int) -> int | None:
        """Score how well the source text of an argument fits a parameter.

        `annotation` declares the parameter of `function`. None means that only the types are compared.
        """
        entry, scope, line, index, given = argument
        declared = declared_of(inference, function, annotation)
        term = entry.terms[index]
        found = fit(term, given, declared)
        if found is not None or term[0] in (STRING, LITERAL) or annotation < 0:
            return found
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

        `value` is the inferred type of `member`. The class is in `value`, and the declaration of `member` must name the class. Otherwise
        the result is empty, for example for a pointer. For a call outside an initialiser list, the result is `value`.
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

    def operators(self, inference: Inference, owner: Symbol, name: str) -> Sequence[Symbol]:
        """Return all overloads of an operator for objects of a class.

        Overloads are members of the class, and functions with a parameter of the class or of one of its bases.
        """
        memo = inference.project.entry(owner).memo
        found: tuple[Symbol, ...] = inference.project.solver.ask(
            memo, ("operators", owner.index, name), self._operators, inference, owner, name
        )
        return found

    def _operators(self, inference: Inference, owner: Symbol, name: str) -> tuple[Symbol, ...]:
        source = inference.owner(owner, name)
        found = list(inference.functions(source, name)) if isinstance(source, Symbol) else []
        accepted = inference.project_classes(owner)
        for symbol in inference.project.named(name):
            if symbol.kind == "function":
                entry = inference.project.entry(symbol)
                annotations = [parameter.annotation for parameter in entry.definitions[symbol.index].parameters]
                if any(declared_of(inference, symbol, annotation).classes & accepted for annotation in annotations):
                    found.append(symbol)
        return tuple(found)

    def operated(self, inference: Inference, receiver: Instance, sign: str, *, is_unary: bool) -> Type:
        """Return the result type of an operator such as `a + b`.

        The result type of an assignment `a = b` is the type of `a`.
        """
        if sign in ("=", "++", "--"):
            return frozenset((receiver,))
        name = f"operator{sign}"
        if not inference.project.knows_name(name):
            return EMPTY
        if isinstance(inference.owner(receiver[1], name), Symbol):
            return inference.method_result(receiver, name)
        return inference.expanded(join_all(inference.returned(function) for function in self.operators(inference, receiver[1], name)))

    def subscripted(self, inference: Inference, receiver: Instance, site: Call) -> Type:
        """Return the type of `object[i]`, for an object of a project class.

        `receiver` is the object. The type is the result of its `operator[]`. If the object is a pointer or has no such operator, the type
        is that of the object itself.
        """
        name = "operator*" if site.args and site.entry.terms[site.args[0]] == (LITERAL, POINTED) else "operator[]"
        owner = inference.owner(receiver[1], name)
        if not isinstance(owner, Symbol) or is_pointer(inference, site.entry, site.scope, site.line, site.callee):
            return frozenset((receiver,))
        return inference.method_result(receiver, name)

    def is_whole(self, inference: Inference, entry: FileEntry, scope: int, index: tuple[int, int], line: int) -> bool:
        """Return whether `*p` is a whole container, because `p` points at one.

        `index` has `p` and the key. An iterator has the type of its container, too, but `*iterator` is an item.
        """
        base, key = index
        if entry.terms[key] != (LITERAL, POINTED):
            return False
        own = declared_as(inference, entry, scope, line, base)
        return own is not None and own.is_pointer

    def reached(self, inference: Inference, entry: FileEntry, scope: int, line: int, call: tuple[int, Type]) -> Type:
        """Return the callees of a call without overloads that it cannot reach.

        `call` has the call and the type of its callee. Overloads differ by the number of parameters, and by `const`.
        """
        term, callee = call
        functions = [atom for atom in callee if atom[0] == FUNC]
        if len(functions) < 2:
            return callee
        _, _, arguments, _ = call_at(entry.terms, term)
        fitting_count = [one for one in functions if self.takes(inference.project.definition(one[1]), len(arguments), (), bound=True)]
        kept = fitting(inference, entry, CallSite(entry.path, scope, term, line, -1), [one[1] for one in fitting_count or functions])
        return frozenset(atom for atom in callee if atom[0] != FUNC or atom[1] in kept)

    def may_be(self, given: Instance | ExtInstance, classes: Collection[Symbol], outside: Collection[tuple[str, str]]) -> bool:
        """Whether a value can be passed though it has none of the declared types.

        `given` is the value. `classes` and `outside` are the types that the parameter declares, of the project and of libraries. A value
        that is not an object of a project class is accepted. An object of a project class is accepted only if `classes` is empty. Also,
        `outside` must have a type that is not built in.
        """
        if given[0] != INST:
            return True
        if given[1].kind == "enum":  # its constants are numbers
            return not classes
        return not classes and not all(dotted in self._types for _, dotted in outside)

    # members

    def definition_slot(self, entry: FileEntry, position: int) -> tuple[int, str]:
        """Return the (scope, name) under which look-ups find a definition.

        `position` is the definition's position in the file. A method or class may be written outside its class, such as
        `a::b::Class::method`. Its name is then `Class.method`: the earlier parts are left out, because they may be namespaces.
        """
        scope, slot = super().definition_slot(entry, position)
        definition = entry.definitions[position]
        if "friend" in definition.modifiers and definition.kind == "function":
            return 0, definition.name
        if definition.kind in CLASS_KINDS and definition.parent == 0 and "." in definition.qualname:
            slot = definition.qualname
        return scope, ".".join(slot.split(".")[-2:])

    def members_elsewhere(self, inference: Inference, owner: Symbol, name: str) -> Sequence[Place]:
        """Return the methods of a class that are defined outside it, in any file."""
        entry = inference.project.entry(owner)
        slot = f"{owner.name}.{name}"
        places = self.package_places(inference, self._group, slot, entry)
        if "." in owner.qualname:
            places += (Place(entry, 0, found) for found in whole(entry, entry.names(0).get(slot, ())))
        found = []
        for place in places:
            inference.project.touch_top(place.entry, place.entry.top_name(place.slot.index))
            if self._is_of(inference, owner, _written_owner(place)):
                found.append(place)
        return [place for place in found if self.visible_apart(entry, place)] or found

    def unbound(self, inference: Inference, entry: FileEntry, scope: int, name: str) -> Type:
        """Return the type of a name that no scope of its file binds.

        The name may be a nested class that is defined elsewhere. After `class Outer { class Name; };`, any file may contain `class
        Outer::Name {…};`.
        """
        found = super().unbound(inference, entry, scope, name)
        while scope > 0 and not found and any(symbol.kind in CLASS_KINDS for symbol in inference.project.named(name)):
            around = self.implied_class(inference, entry, scope)
            places = self.members_elsewhere(inference, around, name) if around is not None else ()
            found = join_all(inference.slot(place) for place in places if is_class(place))
            scope = entry.definitions[scope].parent
        return found

    def _is_of(self, inference: Inference, owner: Symbol, written: Sequence[str]) -> bool:
        """Return whether a prefix such as `a::Class` names the class `owner`.

        `written` has the parts of the prefix, here `a` and `Class`. The prefix may begin with namespaces, but not with another class.
        """
        path = owner.qualname.split(".")
        if list(written[-len(path) :]) != path:
            return False
        before = written[: -len(path)]
        return not before or not any(symbol.kind in CLASS_KINDS for symbol in inference.project.named(before[-1]))

    def owner_apart(self, inference: Inference, entry: FileEntry, position: int) -> Type:
        """Return the class of a method that is written outside it: `A::f() {…}`.

        `position` is the method's position in the file `entry`.
        """
        written = _written_owner_of(entry, position)
        for first in range(len(written)):
            places = inference.lookup(entry, 0, written[first], 1 << 30)
            found = EMPTY
            for place in places or ():
                found = join(found, inference.expanded(inference.slot(place)))
            for name in written[first + 1 :]:
                found = inference.attribute(found, name)
            classes = [atom for atom in found if atom[0] == CLASS]
            if classes:
                return frozenset(classes) if len(classes) < 2 else self._nearest_class(inference, entry, found)
        return EMPTY

    def _nearest_class(self, inference: Inference, entry: FileEntry, found: Type) -> Type:
        included = self.included(inference, entry)
        near = [atom for atom in found if atom[0] == CLASS and (atom[1].path in included or atom[1].path == entry.path)]
        return one(near[0]) if len(near) == 1 else found


def _operation(entry: FileEntry, found: Term) -> tuple[Sequence[str], Sequence[int]]:
    """Return the operators that an expression may run, and its operands.

    The first operator that the project defines runs. `!x` runs `operator!`, or converts `x` by `operator bool`.
    """
    if found[0] == INDEX:
        _, base, key = found
        return (("operator*",), (base,)) if entry.terms[key] == (LITERAL, POINTED) else (("operator[]",), (base, key))
    if found[0] != OPERATOR:
        return (), ()
    _, sign, left, right = found
    if sign == CONDITION:
        return (f"operator {CONDITION}",), (left,)
    names = (f"operator{sign}", f"operator {CONDITION}") if sign == "!" else (f"operator{sign}",)
    return names, (left, right) if right >= 0 else (left,)


def _written_owner(place: Place) -> list[str]:
    return _written_owner_of(place.entry, place.slot.index)


def _written_owner_of(entry: FileEntry, position: int) -> list[str]:
    return entry.definitions[position].qualname.split(".")[:-1]


def is_for_windows(path: str, modifiers: Collection[str]) -> bool:
    """Return whether a definition is part of builds for Windows only.

    `path` is the file of the definition, and `modifiers` are the definition's modifiers. Either can show that the definition is for
    Windows.
    """
    return ELSEWHERE in modifiers or _WINDOWS.search(path) is not None


def _modifiers(place: Place) -> Sequence[str]:
    return place.entry.definitions[place.slot.index].modifiers if place.slot.kind == "definition" else ()


def _is_alias(place: Place, name: str) -> bool:
    """Return whether a binding of a name belongs to `using name = …`."""
    return any(
        slot.kind == "definition" and place.entry.definitions[slot.index].kind == "type" for slot in place.entry.names(0).get(name, ())
    )


def _is_program(entry: FileEntry) -> bool:
    return any(slot.kind == "definition" for slot in entry.names(0).get("main", ()))


class Operand(NamedTuple):
    """An operand of an overloaded operator: its expression, type and classes."""

    term: Term
    given: Type
    classes: frozenset[Symbol]
    accepted: frozenset[Symbol]
    """These classes and their bases."""


def _fitness(inference: Inference, function: Symbol, operands: Sequence[Operand]) -> int:
    """Score how well operands fit an overloaded operator; -1 for no fit.

    `function` is the overload. A higher score is better.
    """
    entry = inference.project.entry(function)
    definition = entry.definitions[function.index]
    first = int(function.kind != "function")
    if len(definition.parameters) != len(operands) - first:
        return IMPOSSIBLE
    score, is_sure = 0, bool(first)
    for operand, parameter in zip(operands[first:], definition.parameters, strict=True):
        declared = declared_of(inference, function, parameter.annotation)
        types = declared.classes
        is_sure = is_sure or not types.isdisjoint(operand.accepted)
        points = fit(operand.term, operand.given, declared)
        if points is None:
            points = EXACT if types & operand.classes else DERIVED if types & operand.accepted else 0
            if not points and operand.classes and (types or not declared.is_open):
                points = CONVERTED if types and operand is not operands[0] else IMPOSSIBLE
        if points < 0:
            return IMPOSSIBLE
        score += points
    if not is_sure:
        return IMPOSSIBLE
    moves = "&&" in definition.signature.partition("(")[2]
    return IMPOSSIBLE if moves and operands[-1].term[0] in (NAME, ATTR) else 2 * score + moves


def is_pointer(inference: Inference, entry: FileEntry, scope: int, line: int, term: int) -> bool:
    """Return whether an expression is a pointer.

    `term` is a variable, a field or a call. The result is also True if the declaration is not found.
    """
    found = entry.terms[term]
    if found[0] == NAME:
        places = inference.lookup(entry, scope, found[1], line) or ()
        return not places or any(_points(inference, place) for place in places)
    if found[0] == CALL:
        return _gives_pointer(inference, inference.expanded(inference.term(entry, scope, found[1], line)))
    if found[0] != ATTR:
        return found[0] not in (INDEX, NEW, OPERATOR)
    for atom in inference.expanded(inference.term(entry, scope, found[1], line)):
        owner = inference.owner(atom[1], found[2]) if atom[0] == INST else None
        if isinstance(owner, Symbol):
            other = inference.project.entry(owner)
            return any(_points(inference, Place(other, owner.index, slot)) for slot in other.names(owner.index).get(found[2], ()))
    return True


def _gives_pointer(inference: Inference, callee: Type) -> bool:
    """Return whether a called function returns a pointer.

    `callee` has the functions that may be called. The result is also True if a function is not known.
    """
    for atom in callee:
        if atom[0] == FUNC:
            definition = inference.project.entry(atom[1]).definitions[atom[1].index]
            if re.search(rf"\*\s*(?:\w+\s*::\s*)*{re.escape(atom[1].name)}\s*\(", definition.signature):
                return True
        elif atom[0] != CLASS:
            return True
    return not callee


def _points(inference: Inference, place: Place) -> bool:
    entry, scope, slot = place
    if slot.kind == "binding":
        binding = entry.facts.bindings[slot.index]
        annotation = binding.annotation
        if annotation < 0 and binding.op == "assign" and binding.value >= 0 and entry.terms[binding.value][0] == CALL:
            return is_pointer(inference, entry, binding.scope, binding.line, binding.value)
    elif slot.kind == "parameter":
        annotation = entry.definitions[scope].parameters[slot.index].annotation
    else:
        return True
    found = entry.terms[annotation] if annotation >= 0 else None
    return found is None or (found[0] == INDEX and entry.terms[found[1]] == (NAME, "*"))


def _shape(inference: Inference, method: Symbol) -> tuple[Any, ...]:
    entry = inference.project.entry(method)
    return tuple(written(entry.terms, parameter.annotation) for parameter in entry.definitions[method.index].parameters)


RULES = CFamilyRules
