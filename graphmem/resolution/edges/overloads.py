"""Choose among overloads of a function by the arguments of a call.

`reference` is the use that is resolved: a call, a read, a write or an operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from graphmem.parsing.facts import ATTR, LITERAL, NAME, NO_TERM, SPREAD, Parameter, Reference, Term, TermIndex, written_name
from graphmem.resolution.edges.target import Target
from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.interfaces.call import Argument
from graphmem.resolution.interfaces.inference import Inference
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.rules import RULES
from graphmem.resolution.type_inference.names import is_type_parameter
from graphmem.resolution.values.declared_types import is_open
from graphmem.resolution.values.fitness import CONVERTED, DERIVED, EXACT, IMPOSSIBLE
from graphmem.resolution.values.symbol import CLASS_KINDS, FUNCTION_KINDS, Symbol
from graphmem.resolution.values.terms import call_at
from graphmem.resolution.values.types import BOX, EMPTY, EXTI, INST, LAM, Atom, Package, Type, ordered
from graphmem.runtime.data.conventions import all_conventions

COLLECTED: Final = 1 << 20
"""Points by which a function that does not collect arguments in a list comes first, where the language says so."""


class _Call:
    """The arguments of one call, read once for all functions that it may run."""

    __slots__ = ("arguments", "given", "keywords", "named", "receiver", "reference")

    def __init__(self, reference: Reference, terms: Sequence[Term]) -> None:
        self.reference = reference
        _, callee, self.arguments, self.named = call_at(terms, reference.term)
        self.keywords = [keyword for keyword, _ in self.named]
        called = terms[callee]
        self.receiver = called[1] if called[0] == ATTR else NO_TERM
        self.given: dict[TermIndex, Type] = {}  # types of arguments, inferred when a function asks for them


class Overloads:
    """Chooses among overloaded functions for the calls in one file."""

    def __init__(self, inference: Inference, entry: FileEntry) -> None:
        self.inference = inference
        self.project = inference.project
        self.entry = entry
        self.terms = entry.terms
        self._last: _Call | None = None

    def _call(self, reference: Reference) -> _Call:
        last = self._last
        if last is None or last.reference is not reference:
            last = self._last = _Call(reference, self.terms)
        return last

    def chosen(self, reference: Reference, targets: Sequence[Target]) -> list[Target]:
        """Return the targets whose parameters fit the arguments of a call.

        The targets are functions of one name. If no function of a class fits, the functions of this name in base classes are tried.
        """
        groups: dict[tuple[str, int, str], list[Target]] = {}
        found: list[Target] = []
        functions = [target.symbol for target in targets if target.symbol is not None and target.symbol.kind == "function"]
        if len({symbol.path for symbol in functions}) > 1:
            left_out = set(functions).difference(rules_of(self.entry).visible(self.inference, self.entry, functions))
            targets = [target for target in targets if target.symbol not in left_out]
        for target in targets:
            if target.symbol is None or target.symbol.kind not in FUNCTION_KINDS:
                found.append(target)
                continue
            entry = self.project.entry(target.symbol)
            groups.setdefault(rules_of(entry).overload_group(entry, target.symbol), []).append(target)
        plain = [self._chosen(reference, group) for group in groups.values() if group[0].rule != "override"]
        found += chain.from_iterable(plain)
        for group in groups.values():
            if group[0].rule == "override":
                found += self._overrides(reference, group, plain)
        return found

    def _chosen(self, reference: Reference, group: Sequence[Target]) -> list[Target]:
        """Return the overloads of one class that fit a call best.

        `group` are the overloads. In languages that inherit overloads, base classes are searched, too, and an overload there is returned if
        it fits better. In other languages, base classes are searched only if no overload in `group` fits.
        """
        if len(group) == 1 and self._has_no_alternative(group[0].symbol):
            return [target for target in group if self._may_mean(reference, target)]
        group = [target for target in group if not self._is_of_interface(target.symbol)] or group
        scored = self._scored(reference, group)
        if rules_of(self.entry).overloads_are_inherited:
            most = max((score for score, _ in scored), default=IMPOSSIBLE)
            scored += (pair for pair in self._further_up(reference, group[0], group) if pair[0] > most)
        elif not scored:
            scored = self._further_up(reference, group[0], ())
        best = _most(scored)
        if not best and rules_of(self.entry).defaults_stand_apart:
            best = _most(self._scored(reference, group, filled=True))
        best = best or [target for target in group if self._fits(reference, target.symbol, target.is_extension)]
        if not best and rules_of(self.entry).defaults_stand_apart:
            best = list(group)
        if len(best) == 1 and not self._may_mean(reference, best[0]):
            best = []
        if len(best) > 1:  # a function that passes its arguments on does not call itself
            best = [target for target in best if target.symbol is not self.entry.symbols[reference.scope]]
        if len(best) > 1:
            symbols = [target.symbol for target in best if target.symbol is not None]
            fitting = rules_of(self.entry).fitting_receiver(self.inference, self.entry, reference, symbols)
            best = [target for target in best if target.symbol in fitting]
        return _shared(best)

    def _is_of_interface(self, symbol: Symbol | None) -> bool:
        """Whether a method can be called only through its interface.

        In C#, an example is `void IList.Clear()`, which names the interface `IList`.
        """
        return symbol is not None and "explicit" in self.project.definition(symbol).modifiers

    def _may_mean(self, reference: Reference, target: Target) -> bool:
        """Whether a call can run a function that is the only candidate.

        `target` is the function. The result is True if one of these is true:

        - The function accepts the arguments of the call.
        - The function is a constructor.
        - In the function's language, another declaration may state the default values, and the function does not call itself here.
        """
        symbol = target.symbol
        if symbol is not None and symbol is self.entry.symbols[reference.scope] and rules_of(self.entry).defaults_stand_apart:
            return self._fits(reference, symbol, target.is_extension)  # a macro may declare another function of this name
        if symbol is None or rules_of(self.entry).defaults_stand_apart or self._fits(reference, symbol, target.is_extension):
            return True
        entry = self.project.entry(symbol)  # a declaration may give the arguments of a constructor
        return rules_of(entry).definition_slot(entry, symbol.index)[1] in rules_of(entry).constructors

    def _has_no_alternative(self, symbol: Symbol | None) -> bool:
        """Whether no base class in the project can have overloads of a function.

        The result is False only for a method of a class that has base classes in the project.
        """
        if symbol is None:
            return True
        entry = self.project.entry(symbol)
        owner = entry.symbols[entry.definitions[symbol.index].parent]
        return owner.kind not in CLASS_KINDS or not any(isinstance(base, Symbol) for base in self.inference.mro(owner)[1:])

    def _overrides(self, reference: Reference, group: Sequence[Target], plain: Sequence[Sequence[Target]]) -> list[Target]:
        """Return the methods of a class that override a call's chosen overloads.

        `group` are the methods of the class. `plain` has the overloads already chosen for the call, one list for each other class. In
        languages that do not inherit overloads, only the methods of `group` that fit the arguments best are returned.
        """
        chosen = [target.symbol for targets in plain for target in targets if target.symbol is not None]
        rules = rules_of(self.entry)
        if chosen:
            group = [
                target
                for target in group
                if target.symbol is not None and any(rules.overrides(self.inference, symbol, target.symbol) for symbol in chosen)
            ]
            if rules.overloads_are_inherited:
                return list(group)
        return _shared(_most(self._scored(reference, group)))

    def _scored(self, reference: Reference, targets: Iterable[Target], *, filled: bool = False) -> list[tuple[int, Target]]:
        """Return (score, function) for functions that accept a call's arguments.

        `targets` are the functions to score. If `filled` is True, the call may leave out parameters, because a declaration elsewhere may
        give their default values.
        """
        scored = ((self._score(reference, target.symbol, target.is_extension, filled=filled), target) for target in targets)
        return [(score, target) for score, target in scored if score >= 0]

    def can_construct(self, reference: Reference, symbol: Symbol | None) -> bool:
        """Whether a constructor accepts the arguments of a call."""
        if symbol is None or symbol.name not in rules_of(self.entry).constructors:
            return True
        call = self._call(reference)
        if "**" in call.keywords or any(self.terms[argument][0] == SPREAD for argument in call.arguments):
            return True
        entry = self.project.entry(symbol)
        return rules_of(entry).takes(entry.definitions[symbol.index], len(call.arguments), call.keywords, bound=True)

    def _fits(self, reference: Reference, symbol: Symbol | None, is_extension: bool) -> bool:
        """Whether the arguments of a call fit a function in number and names.

        If `is_extension` is true, the function adds a method to a type from outside, and the receiver counts as one more argument.
        """
        if symbol is None:
            return False
        entry = self.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        call = self._call(reference)
        if call.keywords and not {parameter.name for parameter in definition.parameters}.issuperset(call.keywords):
            return False
        return rules_of(entry).takes(definition, len(call.arguments) + is_extension, call.keywords, bound=True)

    def _score(self, reference: Reference, symbol: Symbol | None, is_extension: bool, *, filled: bool = False) -> int:
        """Score how well the arguments of a call fit the parameters of a function.

        A higher score is better; -1 means that the call cannot run the function. If the arguments fit two functions equally well, a
        function without a parameter such as `*args` gets the higher score. `is_extension` tells whether the receiver is passed as the first
        argument. If `filled` is True, the call may leave out parameters.
        """
        if symbol is None or not (self._fits(reference, symbol, is_extension) or (filled and self._is_longer(reference, symbol))):
            return IMPOSSIBLE
        entry = self.project.entry(symbol)
        rules, parameters = rules_of(entry), entry.definitions[symbol.index].parameters[is_extension:]
        call = self._call(reference)
        total, collects = 0, any(parameter.kind == "rest" for parameter in parameters)
        if is_extension:
            total = self._receiver_points(reference, symbol, call.receiver)
            if total < 0:
                return IMPOSSIBLE
        for argument, parameter, is_last in self._pairs(call, parameters):
            given = self._given(call, argument)
            if self.terms[argument] == (LITERAL, "none") and self._is_value(entry, symbol, parameter.annotation):
                return IMPOSSIBLE
            if not given and rules.final_types and self._is_of_any_type(reference, argument):
                points = self._points_of_any_type(entry, symbol, parameter.annotation)
                if points < 0:
                    return IMPOSSIBLE
                total += points
                continue
            items = frozenset(atom for atom in given if atom[0] == BOX and atom[1] in rules.lists_of_arguments)
            if parameter.kind == "rest" and is_last and items and items == given:
                points = self._points(entry, symbol, parameter.annotation, self.inference.expanded(self.inference.element(items)))
                if points >= 0:  # the list itself is passed
                    collects = False
                    total += points or EXACT
                    continue
            passed = Argument(self.entry, reference.scope, reference.line, argument, given, call.receiver)
            written = rules.fit_argument(self.inference, passed, symbol, parameter.annotation)
            points = self._points(entry, symbol, parameter.annotation, given) if written is None else written
            if points < 0:
                return IMPOSSIBLE
            total += points
        fills = len(parameters) > len(call.arguments) + len(call.named)  # defaults fill the missing parameters
        return 4 * total + (not collects) * (COLLECTED if rules.collects_last else 2) + (not fills)

    def _receiver_points(self, reference: Reference, symbol: Symbol, receiver: TermIndex) -> int:
        """Score how well the receiver of a call fits an extension method.

        The first parameter of the method declares the receiver. -1 means that the method cannot be called on it.
        """
        first = self.project.definition(symbol).parameters[:1]
        if receiver < 0 or not first:
            return 0
        passed = Argument(self.entry, reference.scope, reference.line, receiver, EMPTY)
        return rules_of(self.entry).fit_argument(self.inference, passed, symbol, first[0].annotation) or 0

    def _is_longer(self, reference: Reference, symbol: Symbol) -> bool:
        """Whether a function has more parameters than a call has arguments."""
        call = self._call(reference)
        return not call.named and len(self.project.definition(symbol).parameters) > len(call.arguments)

    def _is_value(self, entry: FileEntry, symbol: Symbol, annotation: TermIndex) -> bool:
        """Whether the type of a parameter excludes null, as `int` does in Java.

        `annotation` is the declared type of a parameter of `symbol`.
        """
        declared = self.inference.declared(entry, entry.definitions[symbol.index].parent, annotation)
        return bool(declared) and all(atom[0] == EXTI and atom[2] in rules_of(entry).value_types for atom in declared)

    def _given(self, call: _Call, argument: TermIndex) -> Type:
        """Return the type of an argument of a call, inferred once for the call."""
        found = call.given.get(argument)
        if found is None:
            found = call.given[argument] = self._inferred(call.reference, argument)
        return found

    def _inferred(self, reference: Reference, argument: TermIndex) -> Type:
        """Infer the type of an argument of a call.

        The argument may be a parameter of the calling function, declared with a type parameter `T`. Then the result is the bound of `T`, or
        empty if `T` has no bound, because each caller may pass another type.
        """
        found = self.terms[argument]
        places = self.inference.lookup(self.entry, reference.scope, found[1], reference.line) if found[0] == NAME else None
        for entry, scope, slot in places or ():
            if slot.kind == "parameter":
                annotation = entry.definitions[scope].parameters[slot.index].annotation
                if annotation >= 0 and is_type_parameter(entry, scope, annotation):
                    bound = self.inference.declared(entry, entry.definitions[scope].parent, annotation)
                    return EMPTY if is_open(bound) else bound
        return self.inference.expanded(self.inference.term(self.entry, reference.scope, argument, reference.line))

    def _is_of_any_type(self, reference: Reference, argument: TermIndex) -> bool:
        """Whether an argument is a parameter declared with a type parameter `T`.

        The result is False if `T` has a bound.
        """
        found = self.terms[argument]
        places = self.inference.lookup(self.entry, reference.scope, found[1], reference.line) if found[0] == NAME else None
        for entry, scope, slot in places or ():
            annotation = entry.definitions[scope].parameters[slot.index].annotation if slot.kind == "parameter" else NO_TERM
            if annotation < 0 or not is_type_parameter(entry, scope, annotation):
                return False
            if rules_of(entry).bounds(entry, scope, written_name(entry.terms, annotation)):
                return False
        return bool(places)

    def _points_of_any_type(self, entry: FileEntry, symbol: Symbol, annotation: TermIndex) -> int:
        """Score how well an argument of an unbounded type `T` fits a parameter.

        The score is `EXACT` if the parameter's type is also a type parameter. It is `CONVERTED` if the parameter's type is unknown or the
        root class, such as `Object`. For any other type of the parameter the score is `IMPOSSIBLE`.
        """
        if annotation >= 0 and is_type_parameter(entry, symbol.index, annotation):
            return EXACT
        declared = self.inference.declared(entry, entry.definitions[symbol.index].parent, annotation) if annotation >= 0 else EMPTY
        named = {atom[2].rpartition(".")[2] for atom in declared if atom[0] == EXTI}
        is_closed = declared and (named or all(atom[0] in (INST, BOX) for atom in declared))
        is_closed = is_closed and named.isdisjoint(all_conventions().universal_types)
        return IMPOSSIBLE if is_closed else CONVERTED

    def _pairs(self, call: _Call, parameters: Sequence[Parameter]) -> Iterator[tuple[TermIndex, Parameter, bool]]:
        """Yield (argument, parameter, is alone) for each argument of a call.

        Arguments without a parameter are left out. A parameter such as `*args` may collect several arguments. `is alone` is True if such
        a parameter collects only this argument.
        """
        arguments = call.arguments
        rest = next((place for place, parameter in enumerate(parameters) if parameter.kind == "rest"), -1)
        for place, argument in enumerate(arguments):
            if 0 <= rest <= place:
                yield argument, parameters[rest], place == rest and place == len(arguments) - 1
            elif place < len(parameters):
                yield argument, parameters[place], False
        for name, argument in call.named:
            yield from ((argument, parameter, False) for parameter in parameters if parameter.name == name)

    def _points(self, entry: FileEntry, symbol: Symbol, annotation: TermIndex, given: Type) -> int:
        """Score how well an argument's type fits a parameter's type.

        `given` is the argument's type, and `annotation` declares the parameter of `symbol`. The module `fitness` explains the scores. If
        one of the types is unknown, the score is 0. But a known type may fit a type parameter.
        """
        scope = symbol.index if symbol.kind in CLASS_KINDS else entry.definitions[symbol.index].parent
        declared = self.inference.declared(entry, scope, annotation)
        if not given or not declared:
            is_any = given and annotation >= 0 and is_type_parameter(entry, symbol.index, annotation)
            return rules_of(entry).fit_type_parameter(given) if is_any else 0
        own = rules_of(entry).fit(self.inference, given, declared)
        if own is not None:
            return own
        classes = {atom[1] for atom in declared if atom[0] == INST}
        outside = {(atom[1], atom[2]) for atom in declared if atom[0] == EXTI}
        boxes = frozenset(atom for atom in declared if atom[0] == BOX)
        if not classes and not outside and not boxes:
            return 0
        best = 0
        for atom in ordered(given):
            points = self._points_of(entry, atom, classes, outside, boxes)
            if points < 0:
                return IMPOSSIBLE
            best = max(best, points)
        return best

    def _points_of(self, entry: FileEntry, atom: Atom, classes: set[Symbol], outside: set[tuple[Package, str]], boxes: Type) -> int:
        rules = rules_of(entry)
        own = {name.rpartition(".")[2] for _, name in outside}
        if atom[0] == EXTI and atom[2] in ("str", "template") and rules.string_type:
            atom = (EXTI, atom[1], rules.string_type, None)
        if atom[0] == INST or atom[0] == EXTI:
            if (atom[0] == INST and atom[1] in classes) or (atom[0] == EXTI and atom[2].rpartition(".")[2] in own):
                return EXACT
            if atom[0] == EXTI and not own.isdisjoint(rules.bases_in_library(atom[2].rpartition(".")[2])):
                return DERIVED
            if atom[0] == INST and not classes.isdisjoint(self.inference.project_classes(atom[1])):
                line = self.inference.mro(atom[1])
                return DERIVED - min(next(place for place, base in enumerate(line) if base in classes), DERIVED - CONVERTED - 1)
            if boxes and not classes and not outside:
                return IMPOSSIBLE if atom[0] == EXTI and atom[2] in rules.final_types else 0
            return CONVERTED if boxes or rules.may_be(atom, classes, outside) else IMPOSSIBLE
        if atom[0] == BOX:
            alike = [box for box in boxes if box[0] == BOX and box[1] == atom[1]]
            if alike:
                return EXACT if atom in alike else DERIVED
            is_other = bool(classes and not own) or (bool(own) and not classes and own <= rules.final_types)
            return IMPOSSIBLE if is_other and not boxes and rules.final_types else 0
        is_value = atom[0] == LAM and own and not classes and not boxes and own <= rules.final_types
        return IMPOSSIBLE if is_value else 0

    def _further_up(self, reference: Reference, target: Target, below: Sequence[Target]) -> list[tuple[int, Target]]:
        """Return overloads that a base class adds, with scores for a call.

        The items are (score, function). The score says how well the function fits the call's arguments. A function of a base class is added
        if it has the name of `target` and accepts the call's arguments. Functions that a function in `below` overrides are left out. Only
        the nearest base class with such a function is used. The result is empty if there is none.
        """
        symbol = target.symbol
        assert symbol is not None  # noqa: S101 - groups hold functions only
        entry = self.project.entry(symbol)
        slot_name = entry.rules.definition_slot(entry, symbol.index)[1]
        owner = entry.symbols[entry.definitions[symbol.index].parent]
        if owner.kind not in CLASS_KINDS or (below and slot_name in rules_of(entry).constructors):
            return []
        known = [other.symbol for other in below if other.symbol is not None]
        for base in self.inference.mro(owner)[1:]:
            if isinstance(base, Symbol):
                others = [
                    other
                    for other in self.inference.functions(base, slot_name)
                    if not any(rules_of(entry).overrides(self.inference, other, symbol) for symbol in known)
                ]
                fitting = self._scored(reference, (target._replace(symbol=other) for other in others))
                if fitting:
                    return fitting
                known += others
        return []


def _most(scored: Sequence[tuple[int, Target]]) -> list[Target]:
    """Return the functions with the highest score among the pairs `scored`.

    Each pair is (score, function).
    """
    most = max((score for score, _ in scored), default=IMPOSSIBLE)
    return [target for score, target in scored if score == most]


def _shared(targets: list[Target]) -> list[Target]:
    """Divide the confidence equally among the targets of a call.

    The confidence is divided because only one of the targets runs. A single target keeps its confidence.
    """
    count = len(targets)
    if count < 2:
        return targets
    return [target._replace(confidence=round((target.confidence or RULES[target.rule].confidence) / count, 3)) for target in targets]
