"""Results of parsing one file, with indexes for type inference.

A scope is a definition whose code can bind names. The number of a scope is the position of its definition in the file; 0 is the module. A
slot is one binding of a name in a scope.

A binding of a name is a place that gives the name its meaning, such as `x = f()`, `import x`, `def x` or a parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from sys import intern
from typing import Any, Final, NamedTuple, Protocol

from graphmem.parsing.facts import ATTR, CALL, NAME, TESTS_OF_CLASS, Binding, Definition, FileFacts, Reference, TermIndex
from graphmem.parsing.language import language_spec
from graphmem.resolution.cache.solver import Memo
from graphmem.resolution.files.call_index import CallIndex, CallSite, keys_of_decorator
from graphmem.resolution.files.instantiations import class_names
from graphmem.resolution.framework_tables.frameworks import frameworks_of
from graphmem.resolution.values.parts import part_names
from graphmem.resolution.values.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.values.terms import last_name


class Slot(NamedTuple):
    """One binding of a name in a scope, such as `x = f()` or `import x`."""

    kind: str  # definition | binding | import | parameter
    index: int  # type: ignore[assignment]  # shadows tuple.index, which nobody needs
    line: int  # first line where it holds; 0 for parameters
    last: int  # last line of the block that contains it


class FileRules(Protocol):
    """Interface of the language rules that need only the facts of one file.

    Facts are the result of parsing a file. `language.Rules` implements the interface, and `language.rules_of` returns the rules of a file.
    """

    methods_are_inputs: bool
    classes_are_made_by_name: bool
    interfaces_are_structural: bool
    attributes_are_set_anywhere: bool
    uses_tell_classes: bool
    types_are_declared: bool
    type_tests: Collection[str]
    never_missing: Collection[str]

    def names_of(self, facts: FileFacts) -> Sequence[str]:
        """Return every dotted name by which other files may import the file."""
        ...

    def listed_as(self, facts: FileFacts) -> Sequence[str]:
        """Return internal names of a file that affects others without an import.

        An example is a C# file with `global using`. `Project.modules` finds the file by these names. For most files the result is empty.
        """
        ...

    def shared_names(self, entry: FileEntry) -> Sequence[str]:
        """Return the names in a file that other files of its package can use."""
        ...

    def scopes_around(self, definitions: Sequence[Definition]) -> Sequence[int]:
        """Return the enclosing scope of each definition of a file."""
        ...

    def definition_slot(self, entry: FileEntry, position: int) -> tuple[int, str]:
        """Return the (scope, name) under which look-ups find a definition.

        `position` is the definition's position in the file. The scope is usually the enclosing function, class or module, and the name is
        the definition's own name.
        """
        ...

    def is_structural(self, entry: FileEntry, position: int) -> bool:
        """Whether other classes satisfy a class by their members alone.

        `position` is the class, as a position among the file's definitions. Such a class is an interface, for example a `typing.Protocol`
        in Python. A class with all of its members satisfies it, without naming it as a base.
        """
        ...

    def receiver_class(self, entry: FileEntry, scope: int, base: TermIndex) -> int:
        """Return the class of the receiver `self` or `this`.

        `base` is the expression to check. The class is given by its position among the file's definitions. The result is -1 if `base` is
        not the receiver.
        """
        ...

    def is_open_enum(self, definition: Definition) -> bool:
        """Whether an enum's members are also names of its enclosing scope.

        In C, `enum Color { RED }` is such an enum.
        """
        ...


class FileEntry:
    """Results of parsing one file, with look-up indexes.

    A new object replaces this one when the file changes. The method `rest` releases the parser's results from memory, and the next use
    reads them again.
    """

    def __init__(self, facts: FileFacts, rules: FileRules, symbols: list[Symbol]) -> None:
        spec = language_spec(facts.language)
        self.path = facts.path
        self.content_hash = facts.content_hash
        self.language = facts.language
        self.rules = rules
        self.symbols = symbols
        self.memo: Memo = {}
        self.tops: dict[str, int] = {}  # name -> input, as `Project.key` gives it
        self.in_tests = spec.tests.is_test_path(facts.path)
        self.frameworks = frameworks_of(spec.frameworks)
        self.made = class_names(facts, rules.type_tests) if rules.classes_are_made_by_name else frozenset()
        self.clause = next((found.module for found in facts.imports if found.kind == "package" and not found.alias), "")
        self.constraint = next((found.module for found in facts.imports if found.kind == "constraint"), "")
        self._fill(facts)
        # Never released, because every look-up of a member asks all bases and subclasses of a class.
        self.attribute_names = {  # for each class
            position: frozenset(map(intern, {*self.names(position), *self.members.get(position, ())}))
            for position, definition in enumerate(facts.definitions)
            if definition.kind in CLASS_KINDS
        }
        self.mixed = frozenset(  # classes with several bases
            position for position, definition in enumerate(facts.definitions) if sum(not keyword for keyword, _ in definition.bases) > 1
        )
        self.abstract_methods: dict[int, list[str]] = {}  # class -> names of its methods with a decorator such as `abstractmethod`
        for definition in facts.definitions:
            if definition.decorators and "abstract" in definition.modifiers:
                self.abstract_methods.setdefault(definition.parent, []).append(definition.name)

    def _fill(self, facts: FileFacts) -> None:
        """Store the parser's results for the file, and build their indexes."""
        self.facts = facts
        self.terms = facts.terms
        self.definitions = facts.definitions
        self.parts = part_names(facts.definitions, apart=self.rules.methods_are_inputs)  # for each definition
        self.around = self.rules.scopes_around(facts.definitions)  # for each definition, the scope where its names are looked up next
        self.slots: dict[int, dict[str, list[Slot]]] = {}
        self.stars: list[int] = []
        self.members: dict[int, dict[str, list[int]]] = {}  # class -> attribute -> bindings through its receiver
        self.results: dict[int, list[int]] = {}  # scope -> return bindings
        self.yields: dict[int, list[int]] = {}
        self.demands: dict[int, list[int]] = {}  # scope -> when and unless bindings
        self.narrows: dict[tuple[int, int], list[int]] = {}  # (scope, term) -> tests of its class
        self.test_ends: dict[int, int] = {}  # position of a test of a class -> last line at which its result holds
        self.variables: dict[tuple[int, str], Symbol] = {}  # by scope and name
        self.locals: dict[tuple[int, str], list[int]] = {}  # names bound inside one expression
        self.fills: dict[tuple[int, str], list[int]] = {}  # (scope, variable) -> fill bindings
        self.member_fills: dict[int, dict[str, list[int]]] = {}  # class -> attribute -> fill bindings through its receiver
        self.calls: dict[str, list[int]] = {}  # name of the callee -> references; decorated definitions as -1 - index
        self.meanings: dict[tuple[int, str], Any] = {}  # `names.Meaning` by scope and name, while the file is resolved
        self.kept: dict[str, Any] = {}  # derived by the language rules from this file alone
        self._index()

    def rest(self, read: Callable[[FileEntry], FileFacts]) -> None:
        """Release the parser's results from memory; the next use calls `read`.

        Do not call this method while the file is being resolved, or while an object holds parts of the results.
        """
        self.__dict__ = {name: value for name, value in vars(self).items() if name not in RELEASED} | {"read": read}
        self.__class__ = RestingEntry

    def _index(self) -> None:
        for position, definition in enumerate(self.definitions):
            if position == 0:
                continue
            if definition.kind == "variable":
                for scope in self._seen_in(definition.parent):
                    self.variables.setdefault((scope, definition.name), self.symbols[position])
            elif "declared" not in definition.modifiers or self.definitions[definition.parent].kind not in CLASS_KINDS:
                scope, name = self.rules.definition_slot(self, position)
                self.slot(scope, name, Slot("definition", position, definition.start_line, 1 << 30))
            for number, parameter in enumerate(definition.parameters):
                self.slot(position, parameter.name, Slot("parameter", number, 0, 1 << 30))
        for position, found in enumerate(self.facts.imports):
            if found.name == "*":
                self.stars.append(position)
            elif found.alias:
                self.slot(found.scope, found.alias, Slot("import", position, found.line, 1 << 30))
        for position, binding in enumerate(self.facts.bindings):
            self._index_binding(position, binding)
        self._index_fills()
        self._leave_to_outer()
        for names in self.slots.values():
            for slots in names.values():
                if len(slots) > 1:
                    slots.sort(key=_slot_line)
        self.calls.update(CallIndex(self.facts, self.frameworks, self._sets_elsewhere).by_key)

    def _sets_elsewhere(self, reference: Reference) -> bool:
        """Whether an assignment sets an attribute of another object than `self`.

        The result is False in tests, and in languages where such assignments are ignored.
        """
        if not self.rules.attributes_are_set_anywhere or self.in_tests:
            return False
        target = self.terms[reference.term]
        return target[0] == ATTR and self.rules.receiver_class(self, reference.scope, target[1]) < 0

    def _leave_to_outer(self) -> None:
        """Remove local bindings of names that are fields of an enclosing class.

        In languages with declared types, `x = f()` in a method refers to the field `x`, unless the method declares its own `x`. For other
        languages, nothing is removed.
        """
        if not self.rules.types_are_declared:
            return
        bindings = self.facts.bindings
        for binding in bindings:
            target = self.terms[binding.target]
            if binding.op != "set" or target[0] != NAME:
                continue
            _, name = target
            slots = self.slots.get(binding.scope, {}).get(name)
            if not slots or any(slot.kind != "binding" or bindings[slot.index].op != "set" for slot in slots):
                continue
            scope = self.around[binding.scope]
            while scope and not self.names(scope).get(name):
                scope = self.around[scope]
            outer = self.names(scope).get(name, ()) if self.definitions[scope].kind in CLASS_KINDS else ()
            if any(slot.kind == "binding" and bindings[slot.index].annotation >= 0 for slot in outer):
                del self.slots[binding.scope][name]

    def _index_fills(self) -> None:
        """Index the statements that add a value to a container, by container.

        The attribute `fills` has statements such as `x.append(y)`, in which the container is the variable `x`. `member_fills` has those in
        which the container is an attribute of the method's own object, such as `self.items.append(y)`. For an attribute of another object,
        `calls` has the statement under the key "+items", except in test files.
        """
        for position, binding in enumerate(self.facts.bindings):
            if binding.op != "fill":
                continue
            target = self.terms[binding.target]
            if target[0] == NAME:
                scope = binding.scope
                while scope and not self.names(scope).get(target[1]):
                    scope = self.around[scope]
                self.fills.setdefault((scope, target[1]), []).append(position)
            elif target[0] == ATTR:
                owner = self.rules.receiver_class(self, binding.scope, target[1])
                if owner >= 0 and (self.members.get(owner, {}).get(target[2]) or self.names(owner).get(target[2])):
                    self.member_fills.setdefault(owner, {}).setdefault(target[2], []).append(position)
                elif not self.in_tests:
                    self.calls.setdefault(f"+{target[2]}", []).append(position)

    def fills_at(self, site: CallSite) -> Iterator[int]:
        """Yield the statements that add a value to a container at a call.

        An example is `a.items.append(x)`. Each statement is given as its index in the file's list of bindings (assignments and the like).
        `site` is the call. It comes from `call_sites("+items")`, where "+" marks calls that add to the attribute `items`.
        """
        for position in self.calls.get(f"+{last_name(self.terms[site.term])}", ()):
            binding = self.facts.bindings[position]
            if (binding.scope, binding.target, binding.line) == (site.scope, site.term, site.line):
                yield position

    def call_sites(self, name: str) -> Iterator[CallSite]:
        """Yield calls of a name and uses of it as a decorator, in this file.

        `name` may also be one of these keys:

        - "@name" finds decorators that are calls, such as `@name(…)`.
        - A key that begins with "!" finds code that connects a function to an event.
        - "+name" finds statements that add to a container in the attribute `name` of another object.
        """
        if name.startswith("+"):
            for position in self.calls.get(name, ()):
                binding = self.facts.bindings[position]
                yield CallSite(self.path, binding.scope, binding.target, binding.line, -1)
            return
        for position in self.calls.get(name, ()):
            if position >= 0:
                reference = self.facts.references[position]
                yield CallSite(self.path, reference.scope, reference.term, reference.line, -1)
                continue
            definition = self.definitions[-1 - position]
            for decorator in definition.decorators:
                if name in keys_of_decorator(self.terms, self.frameworks, decorator, definition.name):
                    yield CallSite(self.path, definition.parent, decorator, definition.start_line, -1 - position)

    def uses(self) -> Mapping[tuple[int, int], frozenset[str]]:
        """Map each unannotated parameter to the attributes that are read from it.

        A key is (position of the function, position of the parameter). If the code reads `a.b` of the parameter `a`, the value contains
        `b`. Uses in nested functions are included. Parameters to which the function assigns are left out.
        """
        known: dict[tuple[int, int], frozenset[str]] | None = self.kept.get("attributes of parameters")
        if known is not None:
            return known
        found: dict[tuple[int, int], set[str]] = {}
        terms, definitions = self.terms, self.definitions
        for reference in self.facts.references if self.rules.uses_tell_classes else ():
            term = terms[reference.term]
            if term[0] == CALL:
                term = terms[term[1]]
            if term[0] != ATTR or terms[term[1]][0] != NAME:
                continue
            _, base, attribute = term
            scope, name = reference.scope, last_name(terms[base])
            while scope and not self.names(scope).get(name):
                scope = self.around[scope]
            slots = self.names(scope).get(name, ())
            if scope and len(slots) == 1 and slots[0].kind == "parameter" and definitions[scope].parameters[slots[0].index].annotation < 0:
                found.setdefault((scope, slots[0].index), set()).add(attribute)
        known = self.kept["attributes of parameters"] = {key: frozenset(names) for key, names in found.items()}
        return known

    def attributes(self) -> Iterator[tuple[str, Symbol]]:
        """Yield (name, class) for each attribute that a class defines or assigns.

        Nothing is yielded unless graphmem, in the file's language, infers the class of a value from the attributes that code reads.
        """
        for position, names in self.attribute_names.items() if self.rules.uses_tell_classes else ():
            for name in names:
                yield name, self.symbols[position]

    def defines(self, position: int, name: str) -> bool:
        """Whether a class itself defines an attribute, or its methods assign it.

        `position` is the position of the class among the file's definitions. If the definition at `position` is not a class, the result
        is True. The answer comes from an index that stays in memory when the parser's results are released.
        """
        names = self.attribute_names.get(position)
        return names is None or name in names

    def slot(self, scope: int, name: str, slot: Slot) -> None:
        """Add `slot`, a binding of a name such as `x = f()`, to a scope."""
        self.slots.setdefault(scope, {}).setdefault(name, []).append(slot)

    def _index_binding(self, position: int, binding: Binding) -> None:
        op = binding.op
        if op == "return":
            self.results.setdefault(binding.scope, []).append(position)
        elif op == "yield":
            self.yields.setdefault(binding.scope, []).append(position)
        elif op in ("when", "unless"):
            self.demands.setdefault(binding.scope, []).append(position)
        elif op in TESTS_OF_CLASS:
            self.narrows.setdefault((binding.scope, binding.target), []).append(position)
        elif op not in ("delete", "export", "fill"):
            target = self.terms[binding.target]
            if target[0] == NAME:
                if op == "local":
                    self.locals.setdefault((binding.scope, target[1]), []).append(position)
                else:
                    for scope in self._seen_in(binding.scope):
                        self.slot(scope, target[1], Slot("binding", position, binding.end_line, binding.block_end))
            elif target[0] == ATTR:
                owner = self.rules.receiver_class(self, binding.scope, target[1])
                if owner >= 0:
                    self.members.setdefault(owner, {}).setdefault(target[2], []).append(position)

    def _seen_in(self, scope: int) -> Sequence[int]:
        """Return the scopes in which the names of a given scope are visible.

        Usually this is the scope itself. The members of some enums, such as `enum Color { RED }` in C, are also visible in the enclosing
        scope.
        """
        definition = self.definitions[scope]
        return (scope, definition.parent) if definition.kind == "enum" and self.rules.is_open_enum(definition) else (scope,)

    def names(self, scope: int) -> Mapping[str, list[Slot]]:
        """Map each name that a scope itself binds to its bindings."""
        return self.slots.get(scope, _NOTHING)

    def enclosing(self, scope: int, kinds: Collection[str]) -> int:
        """Return the innermost definition of a given kind around a scope.

        The search begins with the scope itself. `kinds` are the accepted kinds. The result is a position among the file's definitions, or
        -1.
        """
        while scope >= 0 and self.definitions[scope].kind not in kinds:
            scope = self.definitions[scope].parent
        return scope

    def top_name(self, scope: int) -> str:
        """Return the name of the top-level definition that contains a scope.

        The name is "<module>" for the module's own code. If other files depend on the definition, their dependency is recorded under this
        name. In languages where files can depend on single methods, the result may be the name of a method.
        """
        return self.parts[scope]


RELEASED: Final = frozenset(
    [
        "facts",
        "terms",
        "definitions",
        "parts",
        "around",
        "slots",
        "stars",
        "members",
        "results",
        "yields",
        "narrows",
        "test_ends",
        "variables",
        "locals",
        "fills",
        "member_fills",
        "calls",
        "meanings",
        "kept",
    ]
)
"""Attributes that `FileEntry.rest` releases."""


class RestingEntry(FileEntry):
    """A `FileEntry` whose parser's results were released from memory.

    The results are read again at their next use.
    """

    read: Callable[[FileEntry], FileFacts]

    def __getattr__(self, name: str) -> object:
        if name not in RELEASED or "read" not in vars(self):
            raise AttributeError(name)
        facts = self.read(self)
        del self.read
        self.__class__ = FileEntry  # type: ignore[assignment]  # attributes of the plain class are found faster
        self._fill(facts)
        return getattr(self, name)


class Place(NamedTuple):
    """One binding of a name, with the file and the scope that contain it."""

    entry: FileEntry
    scope: int
    slot: Slot


_NOTHING: Final[Mapping[str, list[Slot]]] = {}


def _slot_line(slot: Slot) -> int:
    return slot.line
