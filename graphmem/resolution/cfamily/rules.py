"""Resolution rules for C and C++: visibility by included files.

All files of a project share their global names, because a linker joins them. If several files define a name, the definition in an included
file is chosen.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.parsing.facts import ATTR, CALL, INDEX, NAME, NEW, OPERATOR
from graphmem.parsing.languages.cfamily import MACRO
from graphmem.resolution.cfamily.constness import fitting
from graphmem.resolution.cfamily.conversions import conversions
from graphmem.resolution.cfamily.fitness import declared_of, fit, written
from graphmem.resolution.cfamily.macros import Expansion
from graphmem.resolution.file_entry import Place
from graphmem.resolution.fitness import CONVERTED, DERIVED, EXACT, IMPOSSIBLE
from graphmem.resolution.names import whole
from graphmem.resolution.scoped.names import is_class, is_private, stem
from graphmem.resolution.scoped.rules import ScopedRules
from graphmem.resolution.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.types import (
    BOX,
    CLASS,
    EMPTY,
    FUNC,
    INST,
    MODULE,
    NAMESPACE,
    Atom,
    ExtInstance,
    Instance,
    Type,
    join,
    join_all,
    one,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import FileFacts, Reference, Term
    from graphmem.resolution.call import Call
    from graphmem.resolution.file_entry import FileEntry
    from graphmem.resolution.inference import Inference

_WINDOWS: Final = re.compile(r"(?:^|[_/.-])(?:win|win32|win64|windows|mingw|msvc)(?=[_/.-])", re.IGNORECASE)
ELSEWHERE: Final = "windows"
"""Modifier of definitions that only a build for Windows contains."""


_HEADERS: Final = (".h", ".hh", ".hpp", ".hxx", ".inl", ".ipp")
"""Endings of the files that others include."""

_STANDARD: Final = "std"
"""The namespace of the standard library, which projects only add to."""

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
        if len({place.entry.path for place in found}) < 2 or all(map(is_class, found)):
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

    def may_run(self, entry: FileEntry, other: FileEntry) -> bool:
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
        name = "operator[]" if found[0] == INDEX else f"operator{found[1]}"
        if not inference.project.knows_name(name):
            return ()
        operands = [side for side in found[1:] if isinstance(side, int) and side >= 0]
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
        return [(function, len(chosen)) for function in chosen]

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

    def fit_argument(self, inference: Inference, argument: Term, given: Type, function: Symbol, annotation: int) -> int | None:
        """Score how well the source text of an argument fits a parameter.

        `argument` is the expression, and `given` its type. `annotation` declares the parameter of `function`. None means that only the
        types are compared.
        """
        return fit(argument, given, declared_of(inference, function, annotation))

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
        if sign == "=":
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
        owner = inference.owner(receiver[1], "operator[]")
        if not isinstance(owner, Symbol) or is_pointer(inference, site.entry, site.scope, site.line, site.callee):
            return frozenset((receiver,))
        return inference.method_result(receiver, "operator[]")

    def may_be(self, given: Instance | ExtInstance, classes: Collection[Symbol], outside: Collection[tuple[str, str]]) -> bool:
        """Whether a value can be passed though it has none of the declared types.

        `given` is the value. `classes` and `outside` are the types that the parameter declares, of the project and of libraries. A value
        that is not an object of a project class is accepted. An object of a project class is accepted only if `classes` is empty. Also,
        `outside` must have a type that is not built in.
        """
        if given[0] != INST:
            return True
        return not classes and not all(dotted in self._types for _, dotted in outside)

    # members

    def definition_slot(self, entry: FileEntry, position: int) -> tuple[int, str]:
        """Return the (scope, name) under which look-ups find a definition.

        `position` is the definition's position in the file. A method or class may be written outside its class, such as
        `a::b::Class::method`. Its name is then `Class.method`: the earlier parts are left out, because they may be namespaces.
        """
        scope, slot = super().definition_slot(entry, position)
        definition = entry.definitions[position]
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
        points = fit(operand.term, operand.given, declared)
        if points is None:
            types = declared.classes
            points = EXACT if types & operand.classes else DERIVED if types & operand.accepted else 0
            is_sure = is_sure or points > 0
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
        return not places or any(_points(place) for place in places)
    if found[0] == CALL:
        return _gives_pointer(inference, inference.expanded(inference.term(entry, scope, found[1], line)))
    if found[0] != ATTR:
        return found[0] not in (INDEX, NEW, OPERATOR)
    for atom in inference.expanded(inference.term(entry, scope, found[1], line)):
        owner = inference.owner(atom[1], found[2]) if atom[0] == INST else None
        if isinstance(owner, Symbol):
            other = inference.project.entry(owner)
            return any(_points(Place(other, owner.index, slot)) for slot in other.names(owner.index).get(found[2], ()))
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


def _points(place: Place) -> bool:
    entry, scope, slot = place
    if slot.kind == "binding":
        annotation = entry.facts.bindings[slot.index].annotation
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
