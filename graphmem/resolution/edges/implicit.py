"""Edges for calls that syntax implies, such as operators and loops.

The class of an operand determines the method. For example, `a + b` calls `__add__` of the class of `a`, and a loop calls `__iter__` and
`__next__`.

`reference` is the use that is resolved: a call, a read, a write or an operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphmem.model import EdgeKind
from graphmem.parsing.facts import ATTR, CALL, INDEX, Reference, TermIndex
from graphmem.resolution.edges.context import FileContext
from graphmem.resolution.edges.recorder import Recorder
from graphmem.resolution.edges.target import SELDOM, SEVERAL_CLASSES, Target, shared_among
from graphmem.resolution.edges.targets import Targets
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.rules import RULES
from graphmem.resolution.values.symbol import FUNCTION_KINDS, Symbol
from graphmem.resolution.values.terms import call_at
from graphmem.resolution.values.types import BOX, CLASS, EMPTY, FUNC, INST, PENDING, TUP, Instance, Receiver, Type, join, join_all, ordered


class ImplicitCalls:
    """Adds edges for calls without call syntax: `a + b` calls `__add__`."""

    def __init__(self, context: FileContext, targets: Targets, recorder: Recorder) -> None:
        self.context = context
        self.inference = context.inference
        self.project = context.project
        self.hierarchy = context.hierarchy
        self.entry = context.entry
        self.targets = targets
        self.recorder = recorder

    def operation(self, reference: Reference) -> None:
        """Add edges to the methods that an operator, subscript or loop calls.

        The classes of the operands determine the methods: `a + b` calls `__add__` of the class of `a`. Statements such as `with` also call
        methods.
        """
        for operand, names, container, first in rules_of(self.entry).operations(self.entry, reference.scope, reference.term):
            if first is not None:
                self.call_first_of(reference, self._unanswered(reference, operand, names, first), names)
            elif container < 0:
                self.call_first(reference, operand, names)
            else:
                self.call_on_key(reference, operand, names, container)
        self.call_implied(reference)

    def _unanswered(self, reference: Reference, right: TermIndex, names: Sequence[str], first: tuple[TermIndex, Sequence[str]]) -> Type:
        """Return the types of a right operand whose reflected method may run.

        `a + b` runs `__radd__` only if the class of `a` lacks `__add__`, or if the class of `b` has another `__radd__`. `names` are the
        reflected methods, and `first` has the left operand and its methods.
        """
        term, methods = first
        left, value = self.context.value(reference, term), self.context.value(reference, right)
        if not left or any(atom[0] != INST for atom in left):
            return value

        def reflecting(symbol: Symbol) -> list[object]:
            return [self.inference.owner(symbol, name) for name in names]

        answered = [reflecting(atom[1]) for atom in left if atom[0] == INST and self._has(atom[1], methods)]
        if len(answered) < len(left):
            return value
        return frozenset(atom for atom in value if atom[0] != INST or any(reflecting(atom[1]) != one for one in answered))

    def _has(self, symbol: Symbol, names: Sequence[str]) -> bool:
        return any(isinstance(self.inference.owner(symbol, name), Symbol) for name in names)

    def call_implied(self, reference: Reference) -> None:
        """Add edges for calls that the language implies, such as `a + b` in C++.

        If several functions fit and only one of them runs, each gets an equal share of the confidence.
        """
        for symbol, count in rules_of(self.entry).implied(self.inference, self.entry, reference):
            self.recorder.add_calls(reference, [Target(symbol, None, "implicit", round(RULES["implicit"].confidence / count, 3))])

    def call_conversions(self, reference: Reference, targets: Sequence[Target]) -> None:
        """Add edges for constructors that convert a call's arguments.

        Edges are added only if `targets` has exactly one function, because one of several functions may accept the arguments without
        conversion.
        """
        called = [target.symbol for target in targets if target.symbol is not None and target.symbol.kind in FUNCTION_KINDS]
        for function in called if len(called) == 1 else ():
            for symbol, count in rules_of(self.entry).conversions(self.inference, self.entry, reference, function):
                self.recorder.add_calls(reference, [Target(symbol, None, "implicit", round(RULES["implicit"].confidence / count, 3))])

    def call_first(self, reference: Reference, operand: TermIndex, names: Sequence[str]) -> None:
        """Add a call of the first method in `names` that an operand's class has.

        For `if x`, `names` are `__bool__` and `__len__`. If the method creates an iterator, the call that advances the iterator is added,
        too.
        """
        value = self.context.value(reference, operand)
        self.call_first_of(reference, value, names)
        kinds = rules_of(self.entry).contained_methods.get(names[-1]) if names else None
        if kinds is not None:
            containers = frozenset(atom for atom in value if not kinds or (atom[0] == TUP or (atom[0] == BOX and atom[1] in kinds)))
            self.call_first_of(reference, self.element_types(containers), names[-1:])

    def call_first_of(self, reference: Reference, value: Type, names: Sequence[str], confidence: float = 0.0) -> None:
        """Add calls of the first listed method that each class in a type has.

        `value` is the type of the receiver. `names` are method names in order of preference. A confidence of 0 means the default confidence
        of the rule.
        """
        likely = confidence or shared_among(value)
        resumes = not rules_of(self.entry).resuming.isdisjoint(names)
        for atom in ordered(value):
            if atom[0] == PENDING and resumes:
                self.recorder.add_calls(reference, [Target(atom[1], None, "implicit", likely)])
            if atom[0] != INST:
                continue
            for name in names:
                owner = self.inference.owner(atom[1], name)
                if isinstance(owner, Symbol):
                    self.call_special(reference, atom, name, likely)
                    self._next_step(reference, atom, name, likely)
                    break
                if owner is not None and rules_of(self.entry).answers_itself(owner, name):
                    break

    def call_on_key(self, reference: Reference, key: TermIndex, names: Sequence[str], container: TermIndex) -> None:
        """Add the calls that a container makes to methods of a key.

        `names` are two methods of the key: the hash method, such as `__hash__`, and the comparison, such as `__eq__`. For `key in xs`, a
        list or a tuple `xs` calls only the comparison. If `container` is an object of a project class, nothing is added.
        """
        inside = self.context.value(reference, container)
        if not any(atom[0] in (INST, CLASS) for atom in inside):
            is_sequence = bool(inside) and all(atom[0] == TUP or (atom[0] == BOX and atom[1] in ("list", "tuple")) for atom in inside)
            is_place = is_sequence and self.context.terms[reference.term][0] == INDEX
            for name in () if is_place else names[is_sequence:]:
                likely = 0.0 if name == names[0] else SEVERAL_CLASSES if is_sequence else SELDOM
                self.call_first_of(reference, self.context.value(reference, key), (name,), likely)

    def element_types(self, value: Type) -> Type:
        """Return the element types of containers, and of the tuples in containers.

        For a `list[A]`, the result is `A`. For a `list[tuple[A, B]]`, the result has the tuple, `A` and `B`.
        """
        found = EMPTY
        for atom in ordered(value):
            inner = join_all(atom[2]) if atom[0] == BOX else join_all(atom[1]) if atom[0] == TUP else EMPTY
            inner = self.inference.expanded(inner)
            found = join(found, inner)
            for one in ordered(inner):
                found = join(found, self.inference.expanded(join_all(one[1]) if one[0] == TUP else EMPTY))
        return found

    def _next_step(self, reference: Reference, receiver: Instance, name: str, confidence: float) -> None:
        """Add the call that fetches the next element from an iterator.

        `name` is the method of `receiver` that creates the iterator. For `__iter__` in Python, the added call is that of `__next__`. If
        `name` does not create an iterator, nothing is added. A `confidence` of 0 means the default of the rule.
        """
        following = rules_of(self.entry).next_step(name)
        if following:
            for iterator in ordered(self.inference.method_result(receiver, name)):
                if iterator[0] == INST:
                    self.call_special(reference, iterator, following)
                elif iterator[0] == PENDING and iterator[1].name != name:
                    self.recorder.add_calls(reference, [Target(iterator[1], None, "implicit", confidence)])
            self.recorder.add_calls(reference, self._returned_generators(receiver, name, confidence))

    def _returned_generators(self, receiver: Instance, name: str, confidence: float) -> list[Target]:
        """Return the generators of a class and its subclasses that a base returns.

        `confidence` is that of the generators that the class has or inherits. `receiver` is an object of the class, and `name` its method
        that creates an iterator. For `return self.rows()` in `__iter__` of a base class, the result has the generators called `rows`.
        """
        owner = self.inference.owner(receiver[1], name)
        if not isinstance(owner, Symbol):
            return []
        entry = self.project.entry(owner)
        found: list[Target] = []
        for method in self.inference.functions(owner, name):
            for position in entry.results.get(method.index, ()):
                value = entry.facts.bindings[position].value
                callee = entry.terms[call_at(entry.terms, value)[1]] if value >= 0 and entry.terms[value][0] == CALL else None
                if callee is None or callee[0] != ATTR or rules_of(entry).receiver_class(entry, method.index, callee[1]) < 0:
                    continue
                defining = self.inference.owner(receiver[1], callee[2])
                if isinstance(defining, Symbol):
                    found += (Target(one, None, "implicit", confidence) for one in self.inference.functions(defining, callee[2]))
                if not receiver[2]:
                    found += (Target(one, None, "override") for one in self.hierarchy.overrides(receiver[1], callee[2], method))
        return [one for one in found if one.symbol is not None and "generator" in self.project.definition(one.symbol).modifiers]

    def call_special(self, reference: Reference, receiver: Receiver, name: str, confidence: float = 0.0) -> None:
        """Add the implicit call of an object's special method, such as `__len__`.

        `receiver` is the object, and `name` the method. Overrides in subclasses are included. A confidence of 0 means the default
        confidence of the rule that finds the method.
        """
        owner = self.inference.owner(receiver[1], name)
        if isinstance(owner, Symbol):
            plain = [Target(symbol, None, "implicit", confidence) for symbol in self._defined(receiver, owner, name)]
            self.call_properties(
                reference, self.targets.dispatch.targets(receiver, name, plain, self.context.caller(reference), is_self=False)
            )

    def _defined(self, receiver: Receiver, owner: Symbol, name: str) -> list[Symbol]:
        """Return the functions that a class has under a special method's name.

        These are the methods `name` of `owner`. The result also has other functions that the class gives this name, as in `__repr__ =
        __str__`, and wrappers that decorators of the project put in place of a method.
        """
        found = self.inference.functions(owner, name)
        if found and not any(self.project.definition(one).decorators for one in found):
            return found
        others = [atom[1] for atom in ordered(self.inference.expanded(self.inference.attribute_of(receiver, name))) if atom[0] == FUNC]
        return [*found, *(one for one in dict.fromkeys(others) if one not in found)]

    def call_properties(self, reference: Reference, targets: Iterable[Target]) -> None:
        """Add edges to methods that the language calls, such as properties.

        Each target gets a call edge. A method that stores its result, such as a `cached_property`, gets a reference edge, because a library
        calls the method, and only once.
        """
        self.recorder.add_calls(
            reference, [one._replace(kind=EdgeKind.REFERENCES) if self._is_stored(one.symbol) else one for one in targets]
        )

    def _is_stored(self, symbol: Symbol | None) -> bool:
        """Whether a method stores its result in the object.

        An example is a method with the decorator `cached_property`.
        """
        return symbol is not None and "cached" in self.project.definition(symbol).modifiers
