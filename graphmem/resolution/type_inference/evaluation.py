"""Infer the types of expressions on demand, across files, with a cache.

This module is independent of the language; the rules in `entry.rules` hold the differences. Nothing is guessed here, so an unresolved name
has the empty type. For such names, the package `edges` may search the whole project for a definition of the same name.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphmem.parsing import facts
from graphmem.parsing.facts import ATTR, BLOCK_OBJECT, CALL, LIST, NAME, NEW, STRING, Attr, Name, TermIndex
from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.files.project import Project
from graphmem.resolution.interfaces.call import Call
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.type_inference.ancestors import Ancestors
from graphmem.resolution.type_inference.classes import Classes
from graphmem.resolution.type_inference.containers import Containers
from graphmem.resolution.type_inference.extensions import is_own
from graphmem.resolution.type_inference.functions import Functions
from graphmem.resolution.type_inference.imported_names import ImportedNames
from graphmem.resolution.type_inference.names import Names
from graphmem.resolution.type_inference.narrowing import Narrowing
from graphmem.resolution.type_inference.parameters import Parameters
from graphmem.resolution.type_inference.substitution import Substitution
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.types import (
    BOX,
    CLASS,
    EMPTY,
    EXT,
    EXTI,
    FUNC,
    INST,
    MADE,
    MODULE,
    PARAM,
    SUPEROBJ,
    TOP,
    TUP,
    Type,
    anonymous,
    box,
    join,
    join_all,
    made,
    one,
    ordered,
)


class Evaluation:
    """Type inference for a project.

    It consists of parts that infer names (`Names`), classes (`Classes`), functions (`Functions`) and containers (`Containers`), and that
    narrow types by tests (`Narrowing`).
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.below: Callable[[Symbol], Sequence[Symbol]] = lambda symbol: ()  # all subclasses, once the hierarchy is built
        self._ask = project.solver.ask
        self._create_names()
        self._create_functions()
        self._create_classes()
        self._create_values()

    def _create_names(self) -> None:
        """Create the objects that infer imports, names and declared types."""
        imports = ImportedNames(self)
        self.module_places = imports.module_places
        self.module_member = imports.module_member
        self.hook_for_missing = imports.hook_for_missing
        self.taken = imports.taken

        names = Names(self, imports)
        self.lookup = names.lookup
        self.is_steady_name = names.is_steady
        self.scope_of_callee = names.scope_of_callee
        self._named = names.value
        self.slot = names.slot
        self.defined = names.defined
        self.binding = names.binding
        self.declared = names.declared

    def _create_functions(self) -> None:
        """Create the objects that infer types of parameters and of calls."""
        parameters = Parameters(self)
        self.parameter = parameters.parameter

        substitution = Substitution(self, parameters)
        self.substituted = substitution.substituted

        functions = Functions(self, parameters, substitution)
        self.returned = functions.returned
        self.body_result = functions.body_result
        self.called = functions.called
        self.called_blindly = functions.called_blindly
        self.call_atom = functions.call_atom

    def _create_classes(self) -> None:
        """Create the objects that infer base classes and attributes."""
        ancestors = Ancestors(self)
        classes = Classes(self, ancestors)
        self.mro = ancestors.mro
        self.bases = ancestors.bases
        self.project_classes = ancestors.project_classes
        self.is_enum = ancestors.is_enum
        self.owner = ancestors.owner
        self.attribute = classes.attribute
        self.attribute_of = classes.attribute_of
        self.answers_for_missing = classes.answers_for_missing
        self.methods_beginning = classes.methods_beginning
        self.methods_of = classes.methods_of
        self.method_result = classes.method_result
        self.functions = classes.functions
        self.super_object = classes.super_object

    def _create_values(self) -> None:
        """Create the objects that narrow types and infer container items."""
        narrowing = Narrowing(self)
        self.instances = narrowing.instances
        self._narrowed = narrowing.narrowed
        self._narrow = narrowing.narrow
        self._excluded = narrowing.excluded

        containers = Containers(self)
        self.awaited = containers.awaited
        self.element = containers.element
        self.entered = containers.entered
        self._unpacked = containers.unpacked
        self._subscript = containers.subscript
        self._literal = containers.literal
        self._tuple = containers.tuple_literal
        self._dict = containers.dict_literal
        self._object = containers.object_literal
        self._comprehension = containers.comprehension
        self._operator = containers.operator

    def term(self, entry: FileEntry, scope: int, index: TermIndex, line: int) -> Type:
        """Infer the type of an expression at a line of a scope.

        A scope is a function, a class or the module. `index` is the position of the expression in the file's list of expressions,
        `FileFacts.terms`.
        """
        if index < 0:
            return EMPTY
        term = entry.terms[index]
        if term[0] == NAME:  # the most frequent kind first
            return self._name(entry, scope, index, term, line)
        if term[0] == ATTR:
            return self._attr(entry, scope, index, term, line)
        if term[0] == CALL or term[0] == NEW:
            return self._call(entry, scope, index, term, line)
        match term:
            case (facts.LITERAL, kind):
                return self._literal(entry, kind)
            case (facts.INDEX, base, key):
                return self._subscript(entry, scope, base, key, line)
            case (facts.STRING, _):
                return one((EXTI, rules_of(entry).builtin_package, "str", None))
            case (facts.OPERATOR, sign, left, right):
                return self._ask(entry.memo, ("t", scope, index, line), self._operator, entry, scope, sign, left, right, line)
            case (facts.SELF,):
                return rules_of(entry).this(self, entry, scope)
            case (facts.LIST | facts.SET as container, items):
                return box("list" if container == LIST else "set", join_all(self.term(entry, scope, item, line) for item in items))
            case (facts.TUPLE, items):
                return self._tuple(entry, scope, items, line)
            case (facts.DICT, keys, values):
                return self._dict(entry, scope, keys, values, line)
            case (facts.OBJECT, keys, values):
                return self._object(entry, scope, keys, values, line)
            case (facts.EITHER, items):
                return join_all(self.term(entry, scope, item, line) for item in items)
            case (facts.AWAIT, inner):
                return self.awaited(self.expanded(self.term(entry, scope, inner, line)))
            case (facts.ITER | facts.SPREAD, inner):
                return self.element(self.expanded(self.term(entry, scope, inner, line)))
            case (facts.ENTER, inner):
                return self.entered(self.expanded(self.term(entry, scope, inner, line)))
            case (facts.UNPACK, value, position):
                return self._unpacked(self.expanded(self.term(entry, scope, value, line)), position)
            case (facts.LAMBDA, body):
                return anonymous(self.term(entry, scope, body, line))
            case (facts.COMPREHENSION, kind, element):
                return self._comprehension(entry, scope, kind, element, line)
            case (facts.SUPER,):
                return self.super_object(entry, scope)
            case (facts.TYPED, declared):
                return self.declared(entry, scope, declared)
        return EMPTY

    def expanded(self, value: Type) -> Type:
        """Replace each parameter in a type by the type of the parameter.

        A type may contain a function's parameter (a `PARAM` tuple) as a placeholder. The parameter's annotation, its default or the callers
        of the function give its type.
        """
        if len(value) == 1:
            (atom,) = value
            if atom[0] == PARAM:
                return self.parameter(atom[1], atom[2])
            return self.made_of(self.parameter(atom[1], atom[2]), atom[3]) if atom[0] == MADE else value
        for atom in ordered(value):
            if atom[0] == PARAM or atom[0] == MADE:
                break
        else:
            return value
        found = EMPTY
        for atom in ordered(value):
            if atom[0] == PARAM:
                found = join(found, self.parameter(atom[1], atom[2]))
            elif atom[0] == MADE:
                found = join(found, self.made_of(self.parameter(atom[1], atom[2]), atom[3]))
            else:
                found = join(found, frozenset((atom,)))
        return found

    def is_steady(self, entry: FileEntry, scope: int, index: TermIndex) -> bool:
        """Whether an expression has the same type on every line of a scope.

        A scope is a function, a class or the module. Only strings, names and attributes of names are checked. For other expressions the
        result is False.
        """
        while True:
            term = entry.terms[index]
            if term[0] == NAME:
                _, name = term
                if (scope, BLOCK_OBJECT) in entry.locals and rules_of(entry).may_be_of_receiver(name):
                    return False
                return (scope, index) not in entry.narrows and self.is_steady_name(entry, scope, name)
            if term[0] != ATTR or (scope, index) in entry.narrows:
                return term[0] == STRING
            _, index, _ = term

    def _name(self, entry: FileEntry, scope: int, index: TermIndex, term: Name, line: int) -> Type:
        _, name = term
        if (scope, BLOCK_OBJECT) in entry.locals and rules_of(entry).may_be_of_receiver(name):
            value = self._of_receivers(entry, scope, name, line)
            if value:
                return value
        value = self._named(entry, scope, name, line)
        if rules_of(entry).this_is_implied and all(atom[0] == EXT and self.project.modules(atom[1]) for atom in value):
            value = self.extending_this(entry, scope, name) or value  # an import of the extension names a package of the project
        if (scope, index) in entry.narrows:
            narrowed = self._narrowed(entry, scope, index, line)
            if narrowed is not None:
                value = self._narrow(value, narrowed)
            return self._excluded(entry, scope, index, line, value)
        return value

    def extending_this(self, entry: FileEntry, scope: int, name: str) -> Type:
        """Return extension functions that can be called on `this` in a scope.

        `name` is the name of the functions. An extension function adds a method to a type from outside, as `fun String.trimmed()` does in
        Kotlin.
        """
        rules = rules_of(entry)
        if not rules.has_extensions or not self.project.knows_name(name):
            return EMPTY
        return self._extended(entry, self.expanded(rules.this(self, entry, scope)), name)

    def receivers(self, entry: FileEntry, scope: int, line: int) -> list[Type]:
        """Return the implicit receivers at a line, the innermost first.

        In Kotlin, the receiver inside the block of `x.apply { … }` is `x`.
        """
        bindings = entry.facts.bindings
        around = [i for i in entry.locals.get((scope, BLOCK_OBJECT), ()) if bindings[i].line <= line <= bindings[i].end_line]
        around.sort(key=lambda i: (bindings[i].line, -bindings[i].end_line), reverse=True)
        return [self.expanded(self.binding(entry, i)) for i in around]

    def _of_receivers(self, entry: FileEntry, scope: int, name: str, line: int) -> Type:
        """Return the member `name` of an implicit receiver of a block.

        In Kotlin, `name` inside the block of `x.apply { … }` may be `x.name`. The result is empty if the function has a variable called
        `name`.
        """
        if entry.names(scope).get(name) or (scope, name) in entry.locals:
            return EMPTY
        for receiver in filter(None, self.receivers(entry, scope, line)):
            found = self.attribute(receiver, name)
            if found is not TOP and is_own(found):
                return found
            extended = self._extended(entry, receiver, name)
            if extended:
                return extended
        return EMPTY

    def _attr(self, entry: FileEntry, scope: int, index: TermIndex, term: Attr, line: int) -> Type:
        if (scope, index) in entry.narrows:
            narrowed = self._narrowed(entry, scope, index, line)
            if narrowed is not None:
                if all(atom[0] != EXTI for atom in narrowed):
                    return narrowed
                _, base, name = term
                return self._narrow(self.attribute(self.expanded(self.term(entry, scope, base, line)), name), narrowed)
        _, base, name = term
        value = self.receiver(entry, scope, self.expanded(self.term(entry, scope, base, line)), name)
        found = self.attribute(value, name)
        if found is TOP or is_own(found):
            return found
        if not found:
            found = self.attribute(self.beside_variable(entry, scope, base, line), name)
        extended = self._extended(entry, value, name)
        if extended:
            return extended
        known = rules_of(entry).member_of_library
        return join_all(known(atom) or one(atom) for atom in ordered(found)) if found else found

    def receiver(self, entry: FileEntry, scope: int, value: Type, name: str) -> Type:
        """Return the type of the object whose member `x.name` is.

        `value` is the type of `x`. If it is empty, `__name` can only be an attribute of the class around the code, in Python.
        """
        if value:
            return rules_of(entry).holder_of(self, value, name)
        owner = rules_of(entry).private_owner(entry, scope, name)
        return one((INST, entry.symbols[owner], False)) if owner >= 0 else EMPTY

    def beside_variable(self, entry: FileEntry, scope: int, base: TermIndex, line: int) -> Type:
        """Return the module that has the same name as a local variable.

        In Rust, `error::of(x)` refers to the module `error`, even if a local variable has this name. `base` is the expression before `::`.
        The result is empty in other languages, for an expression other than a local variable, and without such a module.
        """
        term = entry.terms[base]
        if term[0] != NAME or not scope or not rules_of(entry).variables_begin_late:
            return EMPTY
        places = self.lookup(entry, scope, term[1], line)
        if not places or any(place.slot.kind != "binding" or place.scope == 0 for place in places):
            return EMPTY
        return frozenset(atom for atom in self._named(entry, 0, term[1], line) if atom[0] == MODULE)

    def _extended(self, entry: FileEntry, value: Type, name: str) -> Type:
        """Return the extension functions of a given name that fit a value.

        An extension function adds a method to a type from outside. The returned functions are bound to the value, as methods are.
        """
        rules = rules_of(entry)
        found: Type = frozenset((FUNC, symbol, atom) for atom in ordered(value) for symbol in rules.extensions(self, entry, atom, name))
        return found or frozenset((FUNC, symbol, None) for symbol in rules.unknown_extensions(self, entry, value, name))

    def _call(self, entry: FileEntry, scope: int, index: TermIndex, term: facts.Call, line: int) -> Type:
        return self._ask(entry.memo, ("t", scope, index, line), self._call_now, entry, scope, index, term, line)

    def _call_now(self, entry: FileEntry, scope: int, index: TermIndex, term: facts.Call, line: int) -> Type:
        operator, called, positional, keywords = term
        if rules_of(entry).is_super_call(entry, index):
            if operator == CALL and positional:
                return self._explicit_super(entry, scope, positional, line)
            return self.super_object(entry, scope)
        named = entry.terms[called]
        written = rules_of(entry).new_objects(self, entry, scope, called) if operator == NEW else EMPTY
        if not written:
            written = self.term(entry, self.scope_of_callee(entry, scope, named[1], line) if named[0] == NAME else scope, called, line)
        callee = self.expanded(written)
        if len(callee) > 1 and callee is written:
            written = callee = rules_of(entry).reached(self, entry, scope, line, (index, callee))
        call = Call(self, entry, scope, line, called, positional, keywords)
        if callee is written:
            own = self._made_by_receiver(entry, scope, called, callee, line)
            value = join(self.called(_without_classes(callee), call), own) if own else self.called(callee, call)
        else:  # a class passed as a parameter can be any class, not only the known ones
            value = join(self.called(_without_parameters(written), call), self._made_by_parameters(written, call))
        if rules_of(entry).fields_are_called:
            value = join(value, frozenset(atom for atom in callee if atom[0] in (INST, BOX, TUP)))
        if operator == NEW:
            value = join(value, join_all(rules_of(entry).constructed(self, atom[1]) for atom in ordered(callee) if atom[0] == FUNC))
        return value

    def _explicit_super(self, entry: FileEntry, scope: int, given: Sequence[TermIndex], line: int) -> Type:
        """Return the type of `super(Class, receiver)` in Python.

        `given` are the arguments, as indices of expressions. Without a second argument, the result is that of `super()`.
        """
        classes = [atom[1] for atom in ordered(self.expanded(self.term(entry, scope, given[0], line))) if atom[0] == CLASS]
        if not classes or len(given) < 2:
            return self.super_object(entry, scope)
        receivers = [atom for atom in ordered(self.expanded(self.term(entry, scope, given[1], line))) if atom[0] in (INST, CLASS)]
        return join_all(one((SUPEROBJ, symbol, atom)) for symbol in classes for atom in receivers)

    def _made_by_parameters(self, callee: Type, call: Call) -> Type:
        """Return the type of a call of a function's parameter, as in `cls()`.

        If the parameter may hold a class, the result has a `MADE` tuple: a placeholder for an object of the class that the caller passes.
        For each caller, `substituted` replaces the placeholder by such an object.
        """
        found = EMPTY
        for atom in ordered(callee):
            if atom[0] == PARAM:
                known = self.parameter(atom[1], atom[2])
                functions = frozenset(inner for inner in known if inner[0] != CLASS)
                found = join(found, self.called(functions, call))
                if functions != known:
                    found = join(found, one((MADE, atom[1], atom[2], "")))
        return found

    def _made_by_receiver(self, entry: FileEntry, scope: int, called: TermIndex, callee: Type, line: int) -> Type:
        """Return the type of `self.factory()`, if `factory` holds a class.

        `called` is the index of `self.factory`, and `callee` its type. A subclass may assign another class to the attribute `factory`, so
        the class is not known here. Therefore the result is a placeholder, a `MADE` tuple. For each caller, `substituted` later replaces it
        by an object of the right class. For any other call than `self.factory()`, the result is empty.
        """
        term = entry.terms[called]
        if term[0] != ATTR or not rules_of(entry).first_parameter_is_receiver or not any(atom[0] == CLASS for atom in callee):
            return EMPTY
        receiver = self.term(entry, scope, term[1], line)
        if len(receiver) != 1:
            return EMPTY
        (atom,) = receiver
        is_receiver = atom[0] == PARAM and atom[2] == 0 and atom[1].kind == "method"
        return one((MADE, atom[1], 0, term[2])) if is_receiver and atom[0] == PARAM else EMPTY

    def made_of(self, value: Type, name: str) -> Type:
        """Return the types of the objects that a call creates if it calls classes.

        The call is `value.name()`, or `value()` if `name` is "". `value` is the type of the expression before the dot.
        """
        value = self.expanded(value)
        if not name:
            return made(value)
        return frozenset((INST, atom[1], not atom[2]) for atom in self.expanded(self.attribute(value, name)) if atom[0] == CLASS)


def _without_classes(value: Type) -> Type:
    return frozenset(atom for atom in value if atom[0] != CLASS)


def _without_parameters(value: Type) -> Type:
    return frozenset(atom for atom in value if atom[0] not in (PARAM, MADE))
