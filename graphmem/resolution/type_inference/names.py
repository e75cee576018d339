"""Infer the types of names from scopes and assignments.

A binding of a name is a place that gives the name its meaning, such as `x = f()`, `import x`, `def x` or a parameter.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphmem.parsing.facts import BLOCK_OBJECT, NAME, TermIndex
from graphmem.resolution.files.file_entry import FileEntry, Place, Slot
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.type_inference.bindings import (
    begins_in_class,
    depends_on_line,
    hides_in_blocks,
    innermost,
    of_blocks,
    reaching,
    whole,
)
from graphmem.resolution.type_inference.contents import filled, is_vague
from graphmem.resolution.type_inference.imported_names import ImportedNames
from graphmem.resolution.values.declared_types import behind, closed, is_container, is_deferred, is_open
from graphmem.resolution.values.symbol import CLASS_KINDS, FUNCTION_KINDS, Symbol
from graphmem.resolution.values.types import CLASS, EMPTY, FUNC, PARAM, Type, join, join_all, one

if TYPE_CHECKING:
    from graphmem.parsing.facts import Binding
    from graphmem.resolution.interfaces.inference import Inference


class Meaning(NamedTuple):
    """The bindings to which a name in a scope refers, or the type of the name.

    Only bindings in the same file are included. `input` is the number of the fact "the bindings of this name". Cached results that used the
    name record this number, and are computed again when the bindings change.
    """

    input: int  # number of the input
    value: Type | None  # its value if that is simple: an undecorated function, a class, a parameter
    places: Sequence[Place] | None  # its places, if they are the same on every line
    slots: Sequence[Slot]  # bindings in the scope itself, if the line decides between them
    local: Sequence[int]  # bindings that hold inside one expression
    classes: Sequence[int]  # enclosing scopes whose inherited members take precedence


class Names:
    """Finds the definitions to which names refer, for type inference."""

    def __init__(self, inference: Inference, imports: ImportedNames) -> None:
        self.inference = inference
        self.imports = imports
        self.project = inference.project
        self.solver = inference.project.solver
        self.ask = self.solver.ask

    def lookup(self, entry: FileEntry, scope: int, name: str, line: int) -> Sequence[Place] | None:
        """Return the bindings that can define a name at a line, such as `x = f()`.

        The result is None if nothing binds the name.
        """
        scope = self._scope_at(entry, scope, name, line)
        meaning = entry.meanings.get((scope, name)) or self._meaning(entry, scope, name)
        if meaning.local:
            inside = innermost(entry, scope, name, meaning.local, line)
            if inside >= 0:
                return [Place(entry, scope, Slot("binding", inside, line, line))]
        for around in meaning.classes:
            inherited = self._inherited(entry, around, name)
            if inherited:
                return inherited
        self.solver.reads.add(meaning.input)
        if meaning.places is not None:
            return meaning.places
        if meaning.slots:
            if not scope and of_blocks(entry, scope, name, meaning.slots) and not any(s.line <= line <= s.last for s in meaning.slots):
                return self.imports.elsewhere(entry, name)
            return [Place(entry, scope, slot) for slot in reaching(meaning.slots, line)]
        places = self.imports.elsewhere(entry, name)
        return rules_of(entry).seen_first(entry, scope, places) if places and len(places) > 1 else places

    def scope_of_callee(self, entry: FileEntry, scope: int, name: str, line: int) -> int:
        """Return the scope in which the name of a called function is looked up.

        Usually it is `scope`. In Rust, `let (item, rest) = item(text);` calls the function `item`, because the variable `item` exists only
        after this statement. For such a call, the result is the enclosing scope. In Java, a call never means a variable.
        """
        rules = rules_of(entry)
        if not scope or not (rules.variables_begin_late or rules.functions_are_apart):
            return scope
        slots = entry.names(scope).get(name)
        if rules.functions_are_apart:
            if not slots or any(slot.kind not in ("binding", "parameter") for slot in slots):
                return scope
        elif not slots or (scope, name) in entry.locals or any(slot.kind != "binding" or slot.line < line for slot in slots):
            return scope
        places = self.lookup(entry, entry.around[scope], name, line)
        return entry.around[scope] if places and all(place.slot.kind != "binding" for place in places) else scope

    def _scope_at(self, entry: FileEntry, scope: int, name: str, line: int) -> int:
        """Return the scope in which the meaning of a name at a line is found.

        Usually it is `scope`. In Go, `shop := open()` in one block of a function does not change what `shop` means in other blocks, for
        example an imported package. For a use in another block, the result is the enclosing scope. The same holds for a name in a Python
        class body that is not assigned yet.
        """
        if not scope or not depends_on_line(entry, scope) or line > entry.definitions[scope].end_line:
            return scope
        if begins_in_class(entry, scope, name):
            return scope if any(slot.line < line for slot in entry.names(scope)[name]) else entry.around[scope]
        if not hides_in_blocks(entry, scope, name):
            return scope
        return scope if any(slot.line <= line <= slot.last for slot in entry.names(scope)[name]) else entry.around[scope]

    def value(self, entry: FileEntry, scope: int, name: str, line: int) -> Type:
        """Return the type that a name has at a line of a function or class."""
        scope = self._scope_at(entry, scope, name, line)
        meaning = entry.meanings.get((scope, name)) or self._meaning(entry, scope, name)
        if meaning.value is not None:
            self.solver.reads.add(meaning.input)
            return meaning.value
        places = self.lookup(entry, scope, name, line)
        if places is None:
            return rules_of(entry).unbound(self.inference, entry, scope, name)
        return join_all(map(self.slot, places))

    def is_steady(self, entry: FileEntry, scope: int, name: str) -> bool:
        """Whether a name refers to the same bindings on every line of a scope."""
        meaning = entry.meanings.get((scope, name)) or self._meaning(entry, scope, name)
        if meaning.slots or meaning.local:
            return False
        return not depends_on_line(entry, scope) or not (begins_in_class(entry, scope, name) or hides_in_blocks(entry, scope, name))

    def _meaning(self, entry: FileEntry, scope: int, name: str) -> Meaning:
        """Return the bindings to which a name in a scope refers.

        The result also has the type of the name, if one binding gives it. Only the file itself is searched. The result is cached in the
        file's entry.
        """
        local = entry.locals.get((scope, name), ())
        here = scope
        slots = entry.names(here).get(name) if rules_of(entry).sees_own_names(entry, here) else None
        classes: list[int] = []
        while not slots and here:
            if rules_of(entry).this_is_implied and _sees_members(entry, here):
                classes.append(here)
            here = entry.around[here]
            if rules_of(entry).is_visible(entry, here):
                slots = entry.names(here).get(name)
            if slots and not here and of_blocks(entry, here, name, slots) and rules_of(entry).is_closed(entry.definitions[scope]):
                slots = None
        if here == scope and slots and (len(slots) > 1 or (not scope and of_blocks(entry, scope, name, slots))):
            key = self.project.top_key(entry, entry.top_name(here) if here else name)
            meaning = Meaning(key, None, None, slots, local, classes)
        else:
            meaning = entry.meanings.get((~here, name)) or self._whole(entry, here, name, slots or ())
            if not here and meaning.places is not None and len(meaning.places) > 1:
                meaning = self._seen_first(entry, scope, meaning)
            if local or classes:
                meaning = meaning._replace(value=None, local=local, classes=classes)
        entry.meanings[scope, name] = meaning
        return meaning

    def _whole(self, entry: FileEntry, scope: int, name: str, slots: Sequence[Slot]) -> Meaning:
        """Return the bindings of a name that are visible in inner scopes.

        `slots` are all bindings of the name in the outer scope. They are empty if the file does not bind the name.
        """
        key = self.project.top_key(entry, entry.top_name(scope) if scope else name)
        places = [Place(entry, scope, slot) for slot in whole(entry, slots)]
        value = self._plain(places[0], key) if len(places) == 1 else None
        meaning = entry.meanings[~scope, name] = Meaning(key, value, places or None, (), (), ())
        return meaning

    def _seen_first(self, entry: FileEntry, scope: int, meaning: Meaning) -> Meaning:
        """Return those top-level bindings of a name that a scope finds first.

        `meaning` has all bindings of the name at the top level of the file.
        """
        places = meaning.places or ()
        first = rules_of(entry).seen_first(entry, scope, places)
        if len(first) == len(places):
            return meaning
        return meaning._replace(places=first, value=self._plain(first[0], meaning.input) if len(first) == 1 else None)

    def _plain(self, place: Place, key: int) -> Type | None:
        """Return the type that a binding gives a name, if no other file is needed.

        `place` is the binding. No other file is needed for parameters, classes and undecorated functions. For any other binding the
        result is None. `key` is the number under which dependencies on the name are recorded.
        """
        entry, scope, slot = place
        if slot.kind == "parameter":
            return one((PARAM, entry.symbols[scope], slot.index))
        if slot.kind == "definition":
            symbol = entry.symbols[slot.index]
            if symbol.kind in CLASS_KINDS:
                return one((CLASS, symbol, False))
            if symbol.kind in FUNCTION_KINDS and symbol.key == key and not entry.definitions[slot.index].decorators:
                if _is_read(entry, slot.index):
                    return None
                return one((FUNC, symbol, None))
        return None

    def _inherited(self, entry: FileEntry, scope: int, name: str) -> list[Place]:
        """Return the bindings of a name among members that a scope sees.

        A class scope sees the members of its base classes. A method written outside its class sees the members of this class. If the class
        is a mixin that does not define the name, the name is looked up in the classes that inherit the mixin.
        """
        symbol = rules_of(entry).implied_class(self.inference, entry, scope)
        if symbol is None:
            return []
        owner = self.inference.owner(symbol, name)
        owners = (owner,) if isinstance(owner, Symbol) else rules_of(entry).sibling_owners(self.inference, symbol, name)
        found: list[Place] = []
        for one_owner in owners:
            other = self.project.entry(one_owner)
            slots = (
                () if one_owner is entry.symbols[scope] else whole(other, other.names(one_owner.index).get(name, ()))
            )  # already searched
            found += (Place(other, one_owner.index, slot) for slot in slots)
            found += rules_of(other).members_elsewhere(self.inference, one_owner, name)
        return found

    def slot(self, place: Place) -> Type:
        """Return the type that a name gets from one binding, such as `x = f()`."""
        entry, scope, slot = place
        if slot.kind == "parameter":
            return one((PARAM, entry.symbols[scope], slot.index))
        if slot.kind == "definition":
            return self.defined(entry.symbols[slot.index])
        if slot.kind == "import":
            return self.ask(entry.memo, ("i", slot.index), self.imports.imported, entry, slot.index)
        return self.binding(entry, slot.index)

    def defined(self, symbol: Symbol) -> Type:
        """Return the type of the name that `def` or `class` binds.

        The type is the class or the function itself. If it is decorated, the types that the decorators return are added.
        """
        if symbol.kind in CLASS_KINDS:
            return one((CLASS, symbol, False))
        if symbol.kind in FUNCTION_KINDS:
            entry = self.project.entry(symbol)
            if _is_read(entry, symbol.index):
                return self.inference.returned(symbol)
            plain = one((FUNC, symbol, None))
            if not entry.definitions[symbol.index].decorators:
                return plain
            return self.ask(entry.memo, ("d", symbol.index), self._decorated, symbol)
        return EMPTY

    def _decorated(self, symbol: Symbol) -> Type:
        entry = self.project.entry(symbol)
        current = one((FUNC, symbol, None))
        for decorator in reversed(entry.definitions[symbol.index].decorators):
            current = join(current, rules_of(entry).decorate(self.inference, entry, symbol, decorator, current))
        return current

    def binding(self, entry: FileEntry, position: int) -> Type:
        """Return the type that an assignment, `for` or `with` gives its variable.

        `position` is the statement's position among the bindings of the file.
        """
        return self.ask(entry.memo, ("b", position), self._bound, entry, position)

    def _bound(self, entry: FileEntry, position: int) -> Type:
        binding = entry.facts.bindings[position]
        if binding.scope:
            self.project.touch_top(entry, entry.top_name(binding.scope))
        declared = EMPTY
        if binding.annotation >= 0:
            declared = self.declared(entry, binding.scope, binding.annotation)
            if not is_open(declared):
                is_known = binding.value < 0 or not is_vague(declared)
                if binding.value >= 0 and (is_deferred(declared) or (is_known and is_container(declared))):
                    value = self.inference.term(entry, binding.scope, binding.value, binding.line)
                    return join(declared, behind(declared, self.inference.expanded(value)))
                if is_known:
                    return declared
            declared = closed(declared)
        if binding.value < 0:
            return declared or rules_of(entry).undeclared(entry, binding)
        value = self.inference.term(entry, binding.scope, binding.value, _line_of_value(entry, binding))
        if binding.op == "except":
            value = join_all(self.inference.instances(self.inference.expanded(value)))
        value = join(declared, value)
        target = entry.terms[binding.target]
        if target[0] == NAME and (binding.scope, target[1]) in entry.fills:
            value = filled(self.inference, entry, value, entry.fills[binding.scope, target[1]])
        return rules_of(entry).bound(self.inference, entry, binding, value)

    def declared(self, entry: FileEntry, scope: int, term: TermIndex) -> Type:
        """Return the type that an annotation declares; empty for the index -1.

        The annotation is given by its position in the file's list of expressions.
        """
        if term < 0:
            return EMPTY
        return self.ask(entry.memo, ("a", scope, term), rules_of(entry).declared, self.inference, entry, scope, term)


def _line_of_value(entry: FileEntry, binding: Binding) -> int:
    """Return the line on which the value of a binding is computed.

    Usually it is the first line of the binding. A Ruby block of several lines binds `self` from its second line on. The value of this
    `self` comes from the call on the first line, outside the block.
    """
    is_of_block = binding.end_line > binding.line and entry.terms[binding.target] == (NAME, BLOCK_OBJECT)
    return binding.line - 1 if is_of_block and rules_of(entry).variables_belong_to_blocks else binding.line


def _is_read(entry: FileEntry, position: int) -> bool:
    """Whether a definition is a property that is read by its bare name.

    `position` is the definition's position in the file. In Kotlin, the bare name `size` in a method means the property `this.size`.
    """
    return rules_of(entry).this_is_implied and "property" in entry.definitions[position].modifiers


def _sees_members(entry: FileEntry, scope: int) -> bool:
    """Whether code in a scope sees class members without `this`.

    Returns True for a class, and for a method written outside its class.
    """
    definition = entry.definitions[scope]
    return definition.kind in CLASS_KINDS or (definition.kind == "method" and entry.definitions[definition.parent].kind not in CLASS_KINDS)


def is_type_parameter(entry: FileEntry, scope: int, term: TermIndex) -> bool:
    """Whether an annotation is a type parameter, such as `T` in `class A[T]`.

    `term` is the annotation. The definition at `scope`, or a definition around it, must declare the type parameter.
    """
    found = entry.terms[term]
    if found[0] != NAME:
        return False
    while scope >= 0:
        if (scope, found[1]) in entry.locals:
            return True
        scope = entry.definitions[scope].parent
    return False


def local_names(entry: FileEntry) -> frozenset[str]:
    """Return the names in a file that are valid only on some lines of a scope.

    An example is a type parameter.
    """
    kept: frozenset[str] | None = entry.kept.get("local names")
    if kept is None:
        kept = entry.kept["local names"] = frozenset(name for _, name in entry.locals)
    return kept
