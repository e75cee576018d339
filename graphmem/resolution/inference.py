"""What expressions are: terms in, types out, on demand, across files, with every answer remembered once.

Language neutral; what differs between languages is asked of `entry.rules`. Nothing here guesses: a name that
leads nowhere gives the empty type, and the fallbacks by bare name belong to `sites`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from graphmem.parsing.facts import (
    ATTR,
    AWAIT,
    CALL,
    COMPREHENSION,
    DICT,
    EITHER,
    ENTER,
    INDEX,
    ITER,
    LAMBDA,
    LIST,
    LITERAL,
    NAME,
    NEW,
    OBJECT,
    OPERATOR,
    SELF,
    SET,
    SPREAD,
    STRING,
    SUPER,
    TUPLE,
    UNPACK,
    Binding,
    Term,
)
from graphmem.resolution.project import CLASS_KINDS, FUNCTION_KINDS, CallSite, FileEntry, Project, Slot, Symbol
from graphmem.resolution.types import (
    BOX,
    BUILTIN,
    CLASS,
    EMPTY,
    EXT,
    EXTI,
    FUNC,
    INST,
    LAM,
    MADE,
    MODULE,
    NAMESPACE,
    OBJ,
    PARAM,
    PARTIAL,
    SELFTYPE,
    SUPEROBJ,
    TOP,
    TUP,
    TYPEVAR,
    UNTYPED,
    Atom,
    Type,
    anonymous,
    box,
    join,
    join_all,
    object_of,
    one,
    partial,
    tuple_of,
)

OPEN_TAGS: Final = frozenset({UNTYPED, TYPEVAR})


class Place(NamedTuple):
    """A slot and the file and scope it stands in."""

    entry: FileEntry
    scope: int
    slot: Slot


class Call:
    """One call with its arguments, evaluated when somebody looks at them."""

    __slots__ = ("_inference", "args", "callee", "entry", "keywords", "line", "passed", "scope")

    def __init__(
        self,
        inference: Inference,
        entry: FileEntry,
        scope: int,
        line: int,
        callee: int = -1,
        args: Sequence[int] = (),
        keywords: Sequence[tuple[str, int]] = (),
        passed: Sequence[Type] = (),
    ) -> None:
        self._inference = inference
        self.entry = entry
        self.scope = scope
        self.line = line
        self.callee = callee  # the term that is called; -1 when there is none in the source
        self.args = args
        self.keywords = keywords
        self.passed = passed  # types given in front of `args` without a term of their own

    def term(self, term: int) -> Type:
        """The type of any term, seen from where the call is."""
        return self._inference.term(self.entry, self.scope, term, self.line)

    def argument(self, position: int) -> Type | None:
        """Type of a positional argument; None when it is not given, or hidden behind a spread one."""
        if position < len(self.passed):
            return self.passed[position]
        position -= len(self.passed)
        terms = self.entry.terms
        for index, term in enumerate(self.args):
            if terms[term][0] == SPREAD:
                return None
            if index == position:
                return self.term(term)
        return None

    def keyword(self, name: str) -> Type | None:
        """Type of a keyword argument; None when it is not given."""
        for key, term in self.keywords:
            if key == name:
                return self.term(term)
        return None

    def rest(self, position: int) -> Type:
        """Any of the positional arguments from a position on."""
        found = join_all(self.passed[position:])
        for term in self.args[max(0, position - len(self.passed)) :]:
            if self.entry.terms[term][0] != SPREAD:
                found = join(found, self.term(term))
        return found

    def literal(self, position: int) -> str | None:
        """Text of a positional argument that is a string literal."""
        if position < len(self.args):
            term = self.entry.terms[self.args[position]]
            if term[0] == STRING:
                return str(term[1])
        return None


class Inference:
    """Types of everything in a project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.below: Callable[[Symbol], list[Symbol]] = lambda symbol: []  # all subclasses, once there is a hierarchy
        self._ask = project.solver.ask
        self._terms: dict[int, Callable[[FileEntry, int, int, Term, int], Type]] = {
            NAME: self._name,
            ATTR: self._attr,
            CALL: self._call,
            NEW: self._call,
            INDEX: self._subscript,
            STRING: self._string,
            LITERAL: self._literal,
            LIST: self._sequence,
            SET: self._sequence,
            TUPLE: self._tuple,
            DICT: self._dict,
            OBJECT: self._object,
            EITHER: self._either,
            AWAIT: self._await,
            ITER: self._iter,
            ENTER: self._enter,
            UNPACK: self._unpack,
            LAMBDA: self._lambda,
            COMPREHENSION: self._comprehension,
            OPERATOR: self._operator,
            SELF: self._self,
            SUPER: self._super,
            SPREAD: self._spread,
        }

    # terms

    def term(self, entry: FileEntry, scope: int, index: int, line: int) -> Type:
        """The type of a term as code at this line of this scope sees it."""
        if index < 0:
            return EMPTY
        term = entry.terms[index]
        evaluate = self._terms.get(term[0])
        return evaluate(entry, scope, index, term, line) if evaluate is not None else EMPTY

    def expanded(self, value: Type) -> Type:
        """The type with parameters replaced by what is known of them."""
        for atom in value:
            if atom[0] in (PARAM, MADE):
                break
        else:
            return value
        found = EMPTY
        for atom in value:
            if atom[0] == PARAM:
                found = join(found, self.parameter(atom[1], atom[2]))
            elif atom[0] == MADE:
                found = join(found, made(self.parameter(atom[1], atom[2])))
            else:
                found = join(found, frozenset((atom,)))
        return found

    def _name(self, entry: FileEntry, scope: int, index: int, term: Term, line: int) -> Type:
        narrowed = self._narrowed(entry, scope, index, line)
        found = self.lookup(entry, scope, term[1], line)
        value = entry.rules.builtin(term[1]) if found is None else join_all(self.slot(place) for place in found)
        return value if narrowed is None else self._narrow(value, narrowed)

    def _narrowed(self, entry: FileEntry, scope: int, index: int, line: int) -> Type | None:
        """What a test says the term is on this line; None where no test holds."""
        positions = entry.narrows.get((scope, index))
        if not positions:
            return None
        found: Type | None = None
        for position in positions:
            binding = entry.facts.bindings[position]
            if binding.line <= line <= binding.end_line:
                tested = self._ask(entry.memo, ("n", position), self._tested, entry, scope, binding)
                found = tested if found is None else join(found, tested)
        return found

    def _tested(self, entry: FileEntry, scope: int, binding: Binding) -> Type:
        return join_all(self.instances(self.expanded(self.term(entry, scope, binding.value, binding.line - 1))))

    def instances(self, value: Type) -> Iterator[Type]:
        """Instances of the classes a type stands for; of those in a tuple too."""
        for atom in value:
            if atom[0] == CLASS:
                yield one(INST, atom[1], False)
            elif atom[0] == EXT:
                yield one(EXTI, atom[1], atom[2])
            elif atom[0] == TUP:
                for part in atom[1]:
                    yield from self.instances(part)
            elif atom[0] == BOX:
                for part in atom[2]:
                    yield from self.instances(part)

    def _narrow(self, value: Type, tested: Type) -> Type:
        """The tested type, with those of the value's classes that are special cases of it."""
        classes = {atom[1] for atom in tested if atom[0] == INST}
        special = frozenset(
            atom
            for atom in self.expanded(value)
            if atom[0] == INST and atom[1] not in classes and not classes.isdisjoint(self.project_classes(atom[1]))
        )
        return join(special, tested)

    def _attr(self, entry: FileEntry, scope: int, index: int, term: Term, line: int) -> Type:
        narrowed = self._narrowed(entry, scope, index, line)
        if narrowed is not None:
            return narrowed
        base = self.expanded(self.term(entry, scope, term[1], line))
        return self.attribute(base, term[2])

    def _call(self, entry: FileEntry, scope: int, index: int, term: Term, line: int) -> Type:
        return self._ask(entry.memo, ("t", scope, index, line), self._call_now, entry, scope, index, term, line)  # type: ignore[no-any-return]

    def _call_now(self, entry: FileEntry, scope: int, index: int, term: Term, line: int) -> Type:
        if entry.rules.is_super_call(entry, index):
            return self.super_object(entry, scope)
        written = self.term(entry, scope, term[1], line)
        callee = self.expanded(written)
        call = Call(self, entry, scope, line, term[1], term[2], term[3])
        if callee is written:
            value = self.called(callee, call)
        else:  # a class that is a parameter makes whatever class is passed, not only those known here
            value = join(self.called(_without_parameters(written), call), self._made_by_parameters(written, call))
        if term[0] == NEW:
            value = join(value, join_all(entry.rules.constructed(self, atom[1]) for atom in callee if atom[0] == FUNC))
        return value

    def _made_by_parameters(self, callee: Type, call: Call) -> Type:
        """What calling parameters gives; new objects of the classes among them stay open to substitution."""
        found = EMPTY
        for atom in callee:
            if atom[0] == PARAM:
                known = self.parameter(atom[1], atom[2])
                functions = frozenset(inner for inner in known if inner[0] != CLASS)
                found = join(found, self.called(functions, call))
                if functions != known:
                    found = join(found, one(MADE, atom[1], atom[2]))
        return found

    def _subscript(self, entry: FileEntry, scope: int, index: int, term: Term, line: int) -> Type:
        base = self.expanded(self.term(entry, scope, term[1], line))
        found = bottom_for(base)
        for atom in base:
            tag = atom[0]
            if tag == BOX:
                sliced = entry.terms[term[2]] == (LITERAL, "slice")
                found = join(found, frozenset((atom,)) if sliced else atom[2][-1] if atom[2] else EMPTY)
            elif tag == TUP:
                found = join(found, join_all(atom[1]))
            elif tag == OBJ:
                key = entry.terms[term[2]]
                fields = dict(atom[1])
                found = join(found, fields.get(key[1], EMPTY) if key[0] == STRING else join_all(fields.values()))
            elif tag == INST:
                found = join(found, self.method_result(atom, "__getitem__"))
            elif tag in (CLASS, EXT):  # Generic[int]: the class itself
                found = join(found, frozenset((atom,)))
            elif tag == EXTI:
                found = join(found, one(EXTI, atom[1], _result_name(atom[2], "[]")))
        return found

    def _string(self, entry: FileEntry, scope: int, index: int, term: Term, line: int) -> Type:
        return one(EXTI, entry.rules.builtin_package, "str")

    def _literal(self, entry: FileEntry, scope: int, index: int, term: Term, line: int) -> Type:
        kind = term[1]
        if kind in ("none", "ellipsis"):
            return EMPTY
        return one(EXTI, entry.rules.builtin_package, "str" if kind == "template" else kind)

    def _sequence(self, entry: FileEntry, scope: int, index: int, term: Term, line: int) -> Type:
        return box("list" if term[0] == LIST else "set", join_all(self.term(entry, scope, item, line) for item in term[1]))

    def _tuple(self, entry: FileEntry, scope: int, index: int, term: Term, line: int) -> Type:
        parts = [self.term(entry, scope, item, line) for item in term[1]]
        if any(entry.terms[item][0] == SPREAD for item in term[1]):
            return box("tuple", join_all(parts))
        return tuple_of(parts)

    def _dict(self, entry: FileEntry, scope: int, index: int, term: Term, line: int) -> Type:
        keys = values = EMPTY
        for key, value in zip(term[1], term[2], strict=True):
            if entry.terms[key][0] == SPREAD:
                for atom in self.expanded(self.term(entry, scope, entry.terms[key][1], line)):
                    if atom[0] == BOX and atom[1] == "dict":
                        keys, values = join(keys, atom[2][0]), join(values, atom[2][1])
                continue
            keys = join(keys, self.term(entry, scope, key, line))
            values = join(values, self.term(entry, scope, value, line))
        return box("dict", keys, values)

    def _object(self, entry: FileEntry, scope: int, index: int, term: Term, line: int) -> Type:
        fields: dict[str, Type] = {}
        for key, value in zip(term[1], term[2], strict=True):
            found = self.term(entry, scope, value, line)
            if key == "...":
                for atom in self.expanded(found):
                    if atom[0] == OBJ:
                        fields.update(dict(atom[1]))
            else:
                fields[key] = found
        return object_of(fields)

    def _either(self, entry: FileEntry, scope: int, index: int, term: Term, line: int) -> Type:
        return join_all(self.term(entry, scope, item, line) for item in term[1])

    def _await(self, entry: FileEntry, scope: int, index: int, term: Term, line: int) -> Type:
        value = self.expanded(self.term(entry, scope, term[1], line))
        return self.awaited(value)

    def awaited(self, value: Type) -> Type:
        """What awaiting a value gives."""
        found = bottom_for(value)
        for atom in value:
            if atom[0] == BOX and atom[1] == "await":
                found = join(found, atom[2][0])
            elif atom[0] == INST and isinstance(self.owner(atom[1], "__await__"), Symbol):
                found = join(found, self.method_result(atom, "__await__"))
            else:
                found = join(found, frozenset((atom,)))
        return self.expanded(found)

    def _iter(self, entry: FileEntry, scope: int, index: int, term: Term, line: int) -> Type:
        return self.element(self.expanded(self.term(entry, scope, term[1], line)))

    def element(self, value: Type) -> Type:
        """One element of an iterable."""
        found = bottom_for(value)
        for atom in value:
            tag = atom[0]
            if tag == BOX and atom[2]:
                found = join(found, atom[2][0])
            elif tag == TUP:
                found = join(found, join_all(atom[1]))
            elif tag == INST:
                given = join(self.method_result(atom, "__iter__"), self.method_result(atom, "__aiter__"))
                for inner in self.expanded(given):
                    if inner[0] == BOX:
                        found = join(found, inner[2][0])
                    elif inner[0] == INST:
                        found = join(found, self.method_result(inner, "__next__"))
                        found = join(found, self.awaited(self.method_result(inner, "__anext__")))
            elif tag == CLASS:  # iterating over an enumeration
                found = join(found, one(INST, atom[1], False) if self.is_enum(atom[1]) else EMPTY)
            elif tag == EXTI:
                found = join(found, one(EXTI, atom[1], _result_name(atom[2], "[]")))
        return found

    def _enter(self, entry: FileEntry, scope: int, index: int, term: Term, line: int) -> Type:
        value = self.expanded(self.term(entry, scope, term[1], line))
        found = bottom_for(value)
        for atom in value:
            if atom[0] == BOX and atom[1] == "enter":
                found = join(found, atom[2][0])
            elif atom[0] == INST:
                given = join(self.method_result(atom, "__enter__"), self.awaited(self.method_result(atom, "__aenter__")))
                found = join(found, given)
            else:
                found = join(found, frozenset((atom,)))
        return found

    def _unpack(self, entry: FileEntry, scope: int, index: int, term: Term, line: int) -> Type:
        position = term[2]
        value = self.expanded(self.term(entry, scope, term[1], line))
        found = bottom_for(value)
        for atom in value:
            if atom[0] == TUP:
                if position < 0:
                    found = join(found, box("list", join_all(atom[1])))
                elif position < len(atom[1]):
                    found = join(found, atom[1][position])
            else:
                inner = self.element(frozenset((atom,)))
                found = join(found, inner if position >= 0 else box("list", inner))
        return found

    def _lambda(self, entry: FileEntry, scope: int, index: int, term: Term, line: int) -> Type:
        return anonymous(self.term(entry, scope, term[1], line))

    def _comprehension(self, entry: FileEntry, scope: int, index: int, term: Term, line: int) -> Type:
        kind = "iter" if term[1] == "generator" else str(term[1])
        if kind == "dict":
            pair = entry.terms[term[2]]
            parts = [self.term(entry, scope, part, line) for part in pair[1]] if pair[0] == TUPLE else []
            return box("dict", *parts) if len(parts) == 2 else box("dict", EMPTY, EMPTY)
        return box(kind, self.term(entry, scope, term[2], line))

    def _operator(self, entry: FileEntry, scope: int, index: int, term: Term, line: int) -> Type:
        left = self.expanded(self.term(entry, scope, term[2], line))
        method = _OPERATOR_METHODS.get(term[1])
        found = bottom_for(left)
        for atom in left:
            if atom[0] == INST and method:
                found = join(found, self.method_result(atom, method))
            elif atom[0] in (EXTI, BOX, TUP):
                found = join(found, frozenset((atom,)))
        return found

    def _self(self, entry: FileEntry, scope: int, index: int, term: Term, line: int) -> Type:
        return entry.rules.this(self, entry, scope)

    def _super(self, entry: FileEntry, scope: int, index: int, term: Term, line: int) -> Type:
        return self.super_object(entry, scope)

    def _spread(self, entry: FileEntry, scope: int, index: int, term: Term, line: int) -> Type:
        return self.element(self.expanded(self.term(entry, scope, term[1], line)))

    # names

    def lookup(self, entry: FileEntry, scope: int, name: str, line: int) -> list[Place] | None:
        """What a name means at a line of a scope: the places that can have given it its value; None if none does."""
        local = entry.locals.get((scope, name))
        if local:
            bindings = entry.facts.bindings
            inside = [i for i in local if bindings[i].line <= line <= bindings[i].end_line]
            if inside:
                innermost = max(inside, key=lambda i: (bindings[i].line, -bindings[i].end_line, bindings[i].value >= 0, i))
                return [Place(entry, scope, Slot("binding", innermost, line, line))]
        here = scope
        while here >= 0:
            definition = entry.definitions[here]
            if here == scope or entry.rules.is_visible(entry, here):
                slots = entry.names(here).get(name)
                if here == 0:
                    self.project.touch_top(entry, name)
                if slots:
                    if here:
                        self.project.touch_top(entry, entry.top_name(here))
                    return [Place(entry, here, slot) for slot in (reaching(slots, line) if here == scope else _whole(entry, slots))]
            here = definition.parent
        return self._through_stars(entry, name)

    def _through_stars(self, entry: FileEntry, name: str) -> list[Place] | None:
        """A name that comes from an import of everything."""
        self.project.touch_top(entry, "*")
        if not entry.stars:
            return None
        path = self._ask(entry.memo, ("*", name), self._star_origin, entry, name)
        target = self.project.file(path) if path else None
        return None if target is None else [Place(target, 0, slot) for slot in _whole(target, target.names(0).get(name, ()))]

    def _star_origin(self, entry: FileEntry, name: str) -> str:
        """Path of the file that binds a name which a file imports with everything else; the last import wins."""
        for position in reversed(entry.stars):
            found = entry.facts.imports[position]
            for atom in sorted(entry.rules.import_targets(self, entry, found), key=repr):
                target = self.project.file(atom[1]) if atom[0] == MODULE else None
                if target is None or target is entry:
                    continue
                self.project.touch_top(target, "*")
                if not target.rules.exported(target, name):
                    continue
                self.project.touch_top(target, name)
                if target.names(0).get(name):
                    return target.path
                if target.stars:
                    origin = self._ask(target.memo, ("*", name), self._star_origin, target, name)
                    if origin:
                        return str(origin)
        return ""

    def _module_places(self, target: FileEntry, name: str) -> list[Place] | None:
        self.project.touch_top(target, name)
        slots = target.names(0).get(name)
        if slots:
            return [Place(target, 0, slot) for slot in _whole(target, slots)]
        return self._through_stars(target, name)

    def module_places(self, path: str, name: str) -> list[Place] | None:
        """What a name means as a member of a module."""
        target = self.project.file(path)
        return None if target is None else self._module_places(target, name)

    def slot(self, place: Place) -> Type:
        """The value a slot gives its name."""
        entry, scope, slot = place
        if slot.kind == "parameter":
            return one(PARAM, entry.symbols[scope], slot.index)
        if slot.kind == "definition":
            return self.defined(entry.symbols[slot.index])
        if slot.kind == "import":
            return self._ask(entry.memo, ("i", slot.index), self._imported, entry, slot.index)  # type: ignore[no-any-return]
        return self.binding(entry, slot.index)

    def defined(self, symbol: Symbol) -> Type:
        """The value of a definition's name: the class, or the function with what its decorators make of it."""
        if symbol.kind in CLASS_KINDS:
            return one(CLASS, symbol)
        if symbol.kind in FUNCTION_KINDS:
            entry = self.project.entry(symbol)
            plain = one(FUNC, symbol, None)
            if not entry.definitions[symbol.index].decorators:
                return plain
            return self._ask(entry.memo, ("d", symbol.index), self._decorated, symbol)  # type: ignore[no-any-return]
        return EMPTY

    def _decorated(self, symbol: Symbol) -> Type:
        entry = self.project.entry(symbol)
        current = one(FUNC, symbol, None)
        for decorator in reversed(entry.definitions[symbol.index].decorators):
            current = join(current, entry.rules.decorate(self, entry, symbol, decorator, current))
        return current

    def _imported(self, entry: FileEntry, position: int) -> Type:
        found = entry.facts.imports[position]
        modules = entry.rules.import_targets(self, entry, found)
        if not found.name:
            return join_all(entry.rules.whole_module(self, atom) for atom in modules)
        return join_all(self.taken(entry, atom, found.name) for atom in modules)

    def taken(self, entry: FileEntry, module: Atom, name: str) -> Type:
        """A name a file takes from a module; what a package takes from itself is a module below it."""
        if module[0] == MODULE and module[1] == entry.path:
            return entry.rules.submodule(self, module, name)
        return entry.rules.taken(self, module, name)

    def module_member(self, module: Atom, name: str) -> Type:
        """A name taken from a module: what it defines or imports, or a module below it."""
        if module[0] == EXT:
            return one(EXT, module[1], f"{module[2]}.{name}" if module[2] else name)
        if module[0] == MODULE:
            target = self.project.file(module[1])
            given = target.rules.module_value(self, target, name) if target is not None else None
            if given is not None:
                return given
            places = self.module_places(module[1], name)
            if places:
                return join_all(self.slot(place) for place in places)
            return target.rules.submodule(self, module, name) if target is not None else EMPTY
        rules = self.project.rules_of(module[2]) if module[0] == NAMESPACE else None
        return rules.submodule(self, module, name) if rules is not None else EMPTY

    def binding(self, entry: FileEntry, position: int) -> Type:
        """The value an assignment (or for, with, …) gives its target."""
        return self._ask(entry.memo, ("b", position), self._bound, entry, position)  # type: ignore[no-any-return]

    def _bound(self, entry: FileEntry, position: int) -> Type:
        binding = entry.facts.bindings[position]
        declared = EMPTY
        if binding.annotation >= 0:
            declared = self.declared(entry, binding.scope, binding.annotation)
            if not is_open(declared):
                return declared
            declared = closed(declared)
        if binding.value < 0:
            return declared
        value = self.term(entry, binding.scope, binding.value, binding.line)
        if binding.op == "except":
            value = join_all(self.instances(self.expanded(value)))
        return entry.rules.bound(self, entry, binding, join(declared, value))

    def declared(self, entry: FileEntry, scope: int, term: int) -> Type:
        """The type an annotation names; the empty one for -1."""
        if term < 0:
            return EMPTY
        return self._ask(entry.memo, ("a", scope, term), entry.rules.declared, self, entry, scope, term)  # type: ignore[no-any-return]

    # functions

    def parameter(self, symbol: Symbol, index: int) -> Type:
        """What is known of a parameter: its annotation, else its receiver, default, and what callers pass."""
        if not self.project.exists(symbol):
            return EMPTY
        entry = self.project.entry(symbol)
        return self._ask(entry.memo, ("p", symbol.index, index), self._parameter, symbol, index)  # type: ignore[no-any-return]

    def _parameter(self, symbol: Symbol, index: int) -> Type:
        entry = self.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        if index >= len(definition.parameters):
            return EMPTY
        parameter = definition.parameters[index]
        if index == 0 and symbol.kind == "method" and entry.rules.first_parameter_is_receiver and "static" not in definition.modifiers:
            return entry.rules.receiver(self, symbol)
        declared = self.declared(entry, definition.parent, parameter.annotation)
        is_rest = parameter.kind in ("rest", "keyword_rest")
        if parameter.annotation >= 0 and not is_open(declared):
            value = declared
        else:
            value = closed(declared)
            value = join(value, entry.rules.implicit_argument(self, symbol, index))
            if parameter.default >= 0:
                value = join(value, self.term(entry, definition.parent, parameter.default, definition.start_line))
            value = join(value, self._passed(symbol, index))
            if is_rest:
                return value
        if parameter.kind == "rest":
            return box("tuple", value)
        return box("dict", one(EXTI, entry.rules.builtin_package, "str"), value) if parameter.kind == "keyword_rest" else value

    def _passed(self, symbol: Symbol, index: int) -> Type:
        """What the call sites of a function pass for a parameter."""
        entry = self.project.entry(symbol)
        name = symbol.name
        owner: Symbol | None = None
        if symbol.kind == "method" and name in entry.rules.constructors:
            owner = entry.symbols[entry.definitions[symbol.index].parent]
            name = owner.name
        found = EMPTY
        sites, are_all = self.project.call_sites(name)
        for site in sites:
            self.project.touch("passed", site.path, self.project.files[site.path].definitions[site.scope].qualname, name)
            found = join(found, self._passed_at(site, symbol, owner, index))
            if found is TOP:
                break
        if are_all or found is TOP:
            return found
        # Some of many callers tell what kind of object comes, and not which functions.
        return frozenset(atom for atom in found if atom[0] not in (FUNC, LAM, PARTIAL, CLASS))

    def _passed_at(self, site: CallSite, symbol: Symbol, owner: Symbol | None, index: int) -> Type:
        """What one call site passes, when it calls this function."""
        entry = self.project.files[site.path]
        term = entry.terms[site.term]
        is_decorator = site.decorated >= 0
        callee = self.expanded(self.term(entry, site.scope, site.term if is_decorator else term[1], site.line))
        if is_decorator:
            call = Call(self, entry, site.scope, site.line, passed=(one(FUNC, entry.symbols[site.decorated], None),))
        else:
            call = Call(self, entry, site.scope, site.line, term[1], term[2], term[3])
        found = EMPTY
        for atom in callee:
            if atom[0] == FUNC and atom[1] is symbol:
                found = join(found, self._argument(symbol, index, call, self._bound_parameters(symbol, atom[2])) or EMPTY)
            elif atom[0] == CLASS and owner is not None and owner in self.project_classes(atom[1]):
                found = join(found, self._argument(symbol, index, call, self._bound_parameters(symbol, atom)) or EMPTY)
        return found

    def _bound_parameters(self, symbol: Symbol, receiver: Atom | None) -> int:
        """How many parameters of a function its receiver takes up: one where methods name it."""
        if receiver is None or symbol.kind != "method":
            return 0
        return 1 if self.project.files[symbol.path].rules.first_parameter_is_receiver else 0

    def _argument(self, symbol: Symbol, index: int, call: Call, offset: int) -> Type | None:
        """What a call passes for a parameter; None when it does not say. `offset` counts bound parameters."""
        parameters = self.project.definition(symbol).parameters
        parameter = parameters[index]
        if parameter.kind == "rest":
            return box("tuple", call.rest(index - offset))
        if parameter.kind == "keyword_rest":
            return None
        given = call.argument(index - offset) if parameter.kind != "keyword" and index >= offset else None
        return given if given is not None else call.keyword(parameter.name)

    def returned(self, symbol: Symbol) -> Type:
        """What calling a function gives, before arguments are put in: may hold `PARAM`, `TYPEVAR`, `SELFTYPE`."""
        entry = self.project.entry(symbol)
        return self._ask(entry.memo, ("r", symbol.index), self._returned, symbol)  # type: ignore[no-any-return]

    def _returned(self, symbol: Symbol) -> Type:
        entry = self.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        if definition.returns >= 0:
            declared = self.declared(entry, definition.parent, definition.returns)
            if not any(atom[0] == UNTYPED for atom in declared):
                return entry.rules.result(self, symbol, declared)
            value = join(closed(declared), self.body_result(symbol))
        else:
            value = self.body_result(symbol)
        return entry.rules.result(self, symbol, value)

    def body_result(self, symbol: Symbol) -> Type:
        """What the body of a function returns, or yields as an iterator, whatever it declares."""
        entry = self.project.entry(symbol)
        return self._ask(entry.memo, ("R", symbol.index), self._body_result, symbol)  # type: ignore[no-any-return]

    def _body_result(self, symbol: Symbol) -> Type:
        entry = self.project.entry(symbol)
        scope = symbol.index
        bindings = entry.facts.bindings
        yields = entry.yields.get(scope, ())
        if yields:
            return box("iter", join_all(self.term(entry, scope, bindings[i].value, bindings[i].line) for i in yields))
        return join_all(self.term(entry, scope, bindings[i].value, bindings[i].line) for i in entry.results.get(scope, ()))

    def called(self, callee: Type, call: Call) -> Type:
        """What calling any of these gives."""
        found = bottom_for(callee)
        for atom in callee:
            found = join(found, self.call_atom(atom, call))
        return found

    def called_blindly(self, callee: Type, call: Call) -> Type:
        """What calling any of these gives when the arguments are not those of the call at hand."""
        return self.called(callee, Call(self, call.entry, call.scope, call.line))

    def call_atom(self, atom: Atom, call: Call) -> Type:
        """What calling one thing gives."""
        tag = atom[0]
        if tag == FUNC:
            return self.substituted(self.returned(atom[1]), atom, call)
        if tag == CLASS:
            return one(INST, atom[1], True)
        if tag == INST:
            method = call.entry.rules.call_method
            return self.called(self.expanded(self.attribute(frozenset((atom,)), method)), call) if method else EMPTY
        if tag in (EXT, EXTI):
            known = call.entry.rules.call_external(self, atom, call)
            if known is not None:
                return known
            last = atom[2].rpartition(".")[2]
            return one(EXTI, atom[1], atom[2] if last[:1].isupper() else _result_name(atom[2], "()"))
        if tag == BUILTIN:
            return call.entry.rules.container_method(self, atom[1], atom[2], call)
        if tag == BOX and atom[1] == "callable":
            return atom[2][0]  # type: ignore[no-any-return]
        if tag == LAM:
            return atom[1]  # type: ignore[no-any-return]
        if tag == PARTIAL:
            return self.called_blindly(self.expanded(atom[1]), call)
        return EMPTY

    def substituted(self, value: Type, function: Atom, call: Call) -> Type:
        """A result with the call's arguments in the place of the function's parameters."""
        if not any(_mentions(atom, function[1]) for atom in value):
            return value
        symbol, receiver = function[1], function[2]
        offset = self._bound_parameters(symbol, receiver)
        variables: dict[str, Type] | None = None

        def replace(atom: Atom) -> Type:
            nonlocal variables
            tag = atom[0]
            if tag == PARAM and atom[1] is symbol:
                if atom[2] < offset:
                    return frozenset((receiver,))
                given = self._argument(symbol, atom[2], call, offset)
                if given is not None:
                    return given
                parameter = self.project.definition(symbol).parameters[atom[2]]
                if parameter.default >= 0:
                    return self.parameter_default(symbol, atom[2])
                return self.parameter(symbol, atom[2])
            if tag == MADE and atom[1] is symbol:
                return made(self.expanded(replace((PARAM, symbol, atom[2]))))
            if tag == SELFTYPE:
                if receiver is None:
                    return EMPTY
                return one(INST, receiver[1], False) if receiver[0] == CLASS else frozenset((receiver,))
            if tag == TYPEVAR:
                if variables is None:
                    variables = self._type_variables(symbol, call, offset)
                return variables.get(atom[1], EMPTY)
            return frozenset((atom,))

        return rewrite(value, replace)

    def parameter_default(self, symbol: Symbol, index: int) -> Type:
        """Type of the default of a parameter."""
        entry = self.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        return self.term(entry, definition.parent, definition.parameters[index].default, definition.start_line)

    def _type_variables(self, symbol: Symbol, call: Call, offset: int) -> dict[str, Type]:
        """What the arguments of a call say about the type parameters of a signature."""
        entry = self.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        found: dict[str, Type] = {}
        for index, parameter in enumerate(definition.parameters):
            if parameter.annotation < 0 or index < offset:
                continue
            declared = self.declared(entry, definition.parent, parameter.annotation)
            if any(_mentions_variable(atom) for atom in declared):
                given = self._argument(symbol, index, call, offset)
                if given is not None:
                    self._match(declared, self.expanded(given), found)
        return found

    def _match(self, declared: Type, given: Type, found: dict[str, Type]) -> None:
        for atom in declared:
            if atom[0] == TYPEVAR:
                found[atom[1]] = join(found.get(atom[1], EMPTY), given)
            elif atom[0] == BOX and atom[1] == "class":
                for other in given:
                    if other[0] in (CLASS, EXT):
                        self._match(atom[2][0], join_all(self.instances(frozenset((other,)))), found)
            elif atom[0] == BOX and atom[1] == "callable":
                for other in given:
                    if other[0] == FUNC:
                        self._match(atom[2][0], self.expanded(self.returned(other[1])), found)
                    elif other[0] == LAM:
                        self._match(atom[2][0], self.expanded(other[1]), found)
                    elif other[0] == CLASS:
                        self._match(atom[2][0], one(INST, other[1], True), found)
            elif atom[0] == BOX:
                for other in given:
                    if other[0] == BOX and len(other[2]) == len(atom[2]):
                        for left, right in zip(atom[2], other[2], strict=True):
                            self._match(left, self.expanded(right), found)
                    elif other[0] == TUP and atom[2]:
                        self._match(atom[2][0], self.expanded(join_all(other[1])), found)

    # classes

    def mro(self, symbol: Symbol) -> tuple[Any, ...]:
        """The class and what it inherits from, in look-up order: symbols, and `EXT` atoms for classes outside."""
        entry = self.project.entry(symbol)
        return tuple(self._ask(entry.memo, ("m", symbol.index), self._mro, symbol))

    def _mro(self, symbol: Symbol) -> tuple[Any, ...]:
        parents: list[list[Any]] = []
        direct: list[Any] = []
        for base in self.bases(symbol):
            if base is symbol:
                continue
            direct.append(base)
            parents.append(list(self.mro(base)) if isinstance(base, Symbol) else [base])
        return (symbol, *_merge([*parents, direct], symbol))

    def bases(self, symbol: Symbol) -> tuple[Any, ...]:
        """Direct bases in the order written: symbols and `EXT` atoms."""
        entry = self.project.entry(symbol)
        return tuple(self._ask(entry.memo, ("B", symbol.index), self._bases, symbol))

    def _bases(self, symbol: Symbol) -> tuple[Any, ...]:
        entry = self.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        found: list[Any] = []
        for keyword, term in definition.bases:
            if keyword:
                continue
            atoms = entry.rules.base(self, entry, symbol, term)
            for atom in sorted(atoms, key=repr):
                base = atom[1] if atom[0] == CLASS else (EXT, *atom[1:]) if atom[0] in (EXT, EXTI) else None
                if base is not None and base not in found:
                    found.append(base)
        return tuple(found)

    def project_classes(self, symbol: Symbol) -> frozenset[Symbol]:
        """The classes of the project in the class's look-up order, itself included."""
        return frozenset(c for c in self.mro(symbol) if isinstance(c, Symbol))

    def is_enum(self, symbol: Symbol) -> bool:
        """True for a class that enumerates its attributes."""
        return symbol.kind == "enum" or any(
            not isinstance(c, Symbol) and c[2].rpartition(".")[2] in ("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "Choices")
            for c in self.mro(symbol)
        )

    def owner(self, symbol: Symbol, name: str, after: Symbol | None = None) -> Symbol | Atom | None:
        """The class in the look-up order that has an attribute: a symbol; the first `EXT` base when none has; or None.

        Args:
            symbol: where the look-up begins.
            name: the attribute.
            after: only look behind this class, as `super()` does.
        """
        if after is None:
            memo = self.project.entry(symbol).memo
            return self._ask(memo, ("w", symbol.index, name), self._owner, symbol, name, None) or None
        return self._owner(symbol, name, after)

    def _owner(self, symbol: Symbol, name: str, after: Symbol | None) -> Symbol | Atom | None:
        outside: Atom | None = None
        skipping = after is not None
        for candidate in self.mro(symbol):
            if skipping:
                skipping = candidate is not after
            elif not isinstance(candidate, Symbol):
                outside = outside or candidate
            elif self.has(candidate, name):
                return candidate
        return outside

    def has(self, symbol: Symbol, name: str) -> bool:
        """True when a class itself gives an attribute a value that says something."""
        entry = self.project.entry(symbol)
        slots = entry.names(symbol.index).get(name, ())
        if any(slot.kind != "binding" or _informs(entry, slot.index) for slot in slots):
            return True
        return any(_informs(entry, position) for position in entry.members.get(symbol.index, {}).get(name, ()))

    def attribute(self, value: Type, name: str) -> Type:
        """An attribute of any of these."""
        if value is TOP:
            return TOP
        found = EMPTY
        for atom in value:
            found = join(found, self.attribute_of(atom, name))
        return found

    def attribute_of(self, atom: Atom, name: str) -> Type:
        """An attribute of one thing."""
        tag = atom[0]
        if tag in (INST, CLASS):
            if name == "__class__" and tag == INST:
                return one(CLASS, atom[1])
            return self._member(atom, atom[1], name, None)
        if tag in (MODULE, NAMESPACE):
            return self.module_member(atom, name)
        if tag in (EXT, EXTI):
            return one(EXT, atom[1], f"{atom[2]}.{name}" if atom[2] else name)
        if tag == SUPEROBJ:
            return self._member(atom[2], atom[2][1], name, atom[1])
        if tag in (BOX, TUP):
            return one(BUILTIN, atom, name)
        if tag == OBJ:
            fields: dict[str, Type] = dict(atom[1])
            return fields.get(name, EMPTY)
        if tag == FUNC:
            return self.project.entry(atom[1]).rules.function_attribute(self, atom, name)
        return EMPTY

    def _member(self, receiver: Atom, symbol: Symbol, name: str, after: Symbol | None) -> Type:
        owner = self.owner(symbol, name, after)
        if not isinstance(owner, Symbol):
            if receiver[0] == INST and self.answers_for_missing(symbol, name):
                return self.method_result(receiver, self.project.entry(symbol).rules.fallback_method)
            if owner is None:
                return EMPTY
            return one(EXT, owner[1], f"{owner[2]}.{name}" if owner[2] else name)
        entry = self.project.entry(owner)
        value = self._ask(entry.memo, ("M", owner.index, name), self._class_attribute, owner, name)
        return self._bind(value, receiver, name)

    def answers_for_missing(self, symbol: Symbol, name: str) -> bool:
        """True when a class has a method of its own for attributes that do not exist."""
        method = self.project.entry(symbol).rules.fallback_method
        return bool(method) and not name.startswith("__") and isinstance(self.owner(symbol, method), Symbol)

    def _class_attribute(self, owner: Symbol, name: str) -> Type:
        """The value of an attribute as its class gives it, not bound to anything."""
        entry = self.project.entry(owner)
        bindings = entry.facts.bindings
        positions = [slot.index for slot in entry.names(owner.index).get(name, ()) if slot.kind == "binding"]
        positions += entry.members.get(owner.index, {}).get(name, ())
        found = EMPTY
        for slot in _whole(entry, entry.names(owner.index).get(name, ())):
            if slot.kind != "binding":
                found = join(found, self.slot(Place(entry, owner.index, slot)))
        declared = [i for i in positions if bindings[i].annotation >= 0]
        for position in declared or positions:
            value = self.binding(entry, position)
            if bindings[position].scope == owner.index:
                value = entry.rules.class_value(self, owner, bindings[position], value)
            found = join(found, value)
        return found

    def _bind(self, value: Type, receiver: Atom, name: str) -> Type:
        """An attribute's value as seen through its receiver: functions get bound, properties are read."""
        for atom in value:
            if atom[0] in (FUNC, SELFTYPE, INST):
                break
        else:
            return value
        found = EMPTY
        for atom in value:
            if atom[0] == FUNC and atom[2] is None:
                found = join(found, self._bind_function(atom, receiver))
            elif atom[0] == SELFTYPE:
                found = join(found, frozenset((receiver,)))
            else:
                found = join(found, frozenset((atom,)))
        return found

    def _bind_function(self, function: Atom, receiver: Atom) -> Type:
        symbol: Symbol = function[1]
        modifiers = self.project.definition(symbol).modifiers
        if "static" in modifiers:
            return frozenset((function,))
        if "classmethod" in modifiers:
            bound = (CLASS, receiver[1]) if receiver[0] == INST else receiver
            return one(FUNC, symbol, bound)
        if receiver[0] == CLASS:
            return frozenset((function,))
        if "setter" in modifiers:
            return EMPTY
        bound_function = (FUNC, symbol, receiver)
        if "property" in modifiers:
            return self.substituted(self.returned(symbol), bound_function, Call(self, self.project.entry(symbol), 0, 0))
        return frozenset((bound_function,))

    def methods_beginning(self, value: Type, prefix: str) -> Type:
        """Methods of these objects, and of what derives from their classes, whose names begin with some text."""
        found = bottom_for(value)
        for atom in value:
            if atom[0] not in (INST, CLASS):
                continue
            classes = [c for c in self.mro(atom[1]) if isinstance(c, Symbol)]
            if atom[0] == INST and not atom[2]:
                classes += self.below(atom[1])
            for symbol in classes:
                if self.project.exists(symbol):
                    entry = self.project.entry(symbol)
                    for name in entry.names(symbol.index):
                        if name.startswith(prefix):
                            for function in self.functions(symbol, name):
                                found = join(found, self._bind_function((FUNC, function, None), (atom[0], symbol, *atom[2:])))
        return found

    def method_result(self, receiver: Atom, name: str) -> Type:
        """What calling a method without arguments gives: `with`, iteration, operators."""
        entry = self.project.entry(receiver[1])
        found = EMPTY
        for atom in self.expanded(self.attribute_of(receiver, name)):
            if atom[0] == FUNC:
                found = join(found, self.call_atom(atom, Call(self, entry, 0, 0)))
        return self.expanded(found)

    def functions(self, owner: Symbol, name: str) -> list[Symbol]:
        """The functions a class itself defines under a name, in source order."""
        entry = self.project.entry(owner)
        slots = entry.names(owner.index).get(name, ())
        symbols = [entry.symbols[slot.index] for slot in slots if slot.kind == "definition"]
        found = [symbol for symbol in symbols if symbol.kind in FUNCTION_KINDS]
        return [symbol for symbol in found if "overload" not in entry.definitions[symbol.index].modifiers] or found

    def super_object(self, entry: FileEntry, scope: int) -> Type:
        """The receiver of the method around a scope, seen as what comes after its class."""
        method = entry.enclosing(scope, ("method",))
        if method < 0:
            return EMPTY
        owner = entry.symbols[entry.definitions[method].parent]
        return join_all(one(SUPEROBJ, owner, atom) for atom in entry.rules.receiver(self, entry.symbols[method]))


_OPERATOR_METHODS: Final = {
    "+": "__add__",
    "-": "__sub__",
    "*": "__mul__",
    "/": "__truediv__",
    "//": "__floordiv__",
    "%": "__mod__",
    "**": "__pow__",
    "@": "__matmul__",
    "|": "__or__",
    "&": "__and__",
    "^": "__xor__",
    "<<": "__lshift__",
    ">>": "__rshift__",
    "==": "__eq__",
    "!=": "__ne__",
    "<": "__lt__",
    "<=": "__le__",
    ">": "__gt__",
    ">=": "__ge__",
    "in": "__contains__",
    "~": "__invert__",
}


def bottom_for(value: Type) -> Type:
    """What to begin with when taking something from each atom of a type: from too many things come too many."""
    return TOP if value is TOP else EMPTY


def is_open(declared: Type) -> bool:
    """True when an annotation leaves something to be found out elsewhere."""
    return not declared or any(atom[0] in OPEN_TAGS for atom in declared)


def _without_parameters(value: Type) -> Type:
    return frozenset(atom for atom in value if atom[0] not in (PARAM, MADE))


def made(value: Type) -> Type:
    """New objects of the classes a type stands for, or is an instance of."""
    return frozenset((INST, atom[1], False) for atom in value if atom[0] in (CLASS, INST))


def closed(declared: Type) -> Type:
    """The part of an annotation that says something."""
    return frozenset(atom for atom in declared if atom[0] not in OPEN_TAGS)


def reaching(slots: Sequence[Slot], line: int) -> Sequence[Slot]:
    """The slots, ordered by line, that can have given a name the value it has at a line of their own scope."""
    if len(slots) == 1:
        return slots
    before = [slot for slot in slots if slot.line < line]
    if not before:
        return [slot for slot in slots if slot.line == line] or slots
    for position in range(len(before) - 1, -1, -1):
        if before[position].last >= line:
            return before[position:]
    return before


def _whole(entry: FileEntry, slots: Sequence[Slot]) -> Sequence[Slot]:
    """The slots that matter to other scopes: all, but of overloaded functions the one that runs."""
    if len(slots) < 2:
        return slots
    real = [s for s in slots if s.kind != "definition" or "overload" not in entry.definitions[s.index].modifiers]
    return real or slots


def _informs(entry: FileEntry, position: int) -> bool:
    """False for a binding that only reserves a name: `x = None`."""
    binding = entry.facts.bindings[position]
    return binding.annotation >= 0 or binding.value < 0 or entry.terms[binding.value] != (LITERAL, "none")


def _result_name(dotted: str, suffix: str) -> str:
    """Name of what something outside gives; chains are not followed for ever."""
    return dotted + suffix if dotted.count("(") + dotted.count("[") < 3 else dotted


def _mentions(atom: Atom, symbol: Symbol) -> bool:
    tag = atom[0]
    if tag in (PARAM, MADE):
        return atom[1] is symbol
    if tag in (TYPEVAR, SELFTYPE):
        return True
    return any(_mentions(inner, symbol) for part in _parts(atom) for inner in part)


def _mentions_variable(atom: Atom) -> bool:
    return atom[0] == TYPEVAR or any(_mentions_variable(inner) for part in _parts(atom) for inner in part)


def _parts(atom: Atom) -> Sequence[Type]:
    if atom[0] == BOX:
        return atom[2]  # type: ignore[no-any-return]
    if atom[0] == TUP:
        return atom[1]  # type: ignore[no-any-return]
    if atom[0] in (LAM, PARTIAL):
        return (atom[1],)
    return ()


def rewrite(value: Type, replace: Callable[[Atom], Type]) -> Type:
    """The type with every atom that is no container replaced, inside containers too."""
    found = EMPTY
    for atom in value:
        tag = atom[0]
        if tag == BOX:
            found = join(found, box(atom[1], *(rewrite(part, replace) for part in atom[2])))
        elif tag == TUP:
            found = join(found, tuple_of([rewrite(part, replace) for part in atom[1]]))
        elif tag == LAM:
            found = join(found, anonymous(rewrite(atom[1], replace)))
        elif tag == PARTIAL:
            found = join(found, partial(rewrite(atom[1], replace)))
        else:
            found = join(found, replace(atom))
    return found


def _merge(lines: list[list[Any]], head: Symbol) -> list[Any]:
    """C3 linearisation; where the classes allow none, the first that is left goes first."""
    found: list[Any] = []
    lines = [[c for c in line if c is not head] for line in lines]
    while lines := [line for line in lines if line]:
        for line in lines:
            if not any(line[0] in other[1:] for other in lines):
                chosen = line[0]
                break
        else:
            chosen = lines[0][0]
        found.append(chosen)
        lines = [[c for c in line if c != chosen] for line in lines]
    return found
