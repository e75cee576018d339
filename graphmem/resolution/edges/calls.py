"""Edges for calls such as `a.b()`, and for calls that syntax implies.

Each call gets edges to its possible targets, with the rule that found each target. For a call without targets, the reason is recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from graphmem.model import EdgeKind
from graphmem.parsing.facts import ATTR, CALL, INDEX, NAME, NEW, SELF, SPREAD, Call, Reference, Term
from graphmem.resolution.edges.frameworks import Handing
from graphmem.resolution.edges.overloads import Overloads
from graphmem.resolution.edges.rows import Evidence
from graphmem.resolution.edges.target import SELDOM, SEVERAL_CLASSES, Target, shared_among
from graphmem.resolution.edges.targets import Targets
from graphmem.resolution.edges.tested import Called
from graphmem.resolution.edges.written import written_type
from graphmem.resolution.extensions import is_own
from graphmem.resolution.file_entry import FileEntry
from graphmem.resolution.hierarchy import Hierarchy
from graphmem.resolution.inference import Inference
from graphmem.resolution.language import rules_of
from graphmem.resolution.rules import RULES
from graphmem.resolution.rules_of_calls import Through
from graphmem.resolution.symbol import CLASS_KINDS, FUNCTION_KINDS, Symbol
from graphmem.resolution.terms import call_at, last_name, string_of
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
    MODULE,
    NAMESPACE,
    PARTIAL,
    PENDING,
    TOP,
    TUP,
    Instance,
    Receiver,
    Type,
    join,
    join_all,
    ordered,
)

MAX_VALUES: Final = 60
"""Most functions that a called value may be.

With more, none is used, because all paths through such calls would meet.
"""


MANY: Final = 4
"""Least number of functions that a called value may be for the confidence `MANY_VALUES`."""

MANY_VALUES: Final = 0.71
"""Confidence in a call of a value that may be at least `MANY` functions."""


SHARED_BY_MANY: Final = 1.5
"""Confidence that is divided among the methods of a receiver that may be of many classes."""


class CallSites:
    """Adds edges for the calls in a file; base class of `_Resolving`."""

    def __init__(self, inference: Inference, hierarchy: Hierarchy, entry: FileEntry) -> None:
        self.inference = inference
        self.project = inference.project
        self.hierarchy = hierarchy
        self.entry = entry
        self.terms = entry.terms
        self.targets = Targets(inference, hierarchy, entry)
        self.overloads = Overloads(inference, entry)
        self.evidence = Evidence(self.project.name, entry.path)
        self.handing = Handing(inference, entry, self.evidence)
        self.steady: dict[tuple[int, int], Type] = {}  # by scope and term, if the line does not matter
        self.hows: dict[tuple[int, int], str] = {}  # the rules by which the types in `steady` were found
        self.named_types: dict[tuple[int, str], frozenset[Symbol]] = {}  # by scope and name
        self.methods: dict[tuple[Type, str, str], list[Target]] = {}  # for any caller, by the receiver's type, name and rule
        self.properties: dict[tuple[Symbol, str], bool] = {}  # whether an attribute of a class is a property
        self.called: list[Called] = []  # in a file of tests

    def caller(self, reference: Reference) -> Symbol:
        """Return the function, class or module whose code contains a call."""
        return self.entry.symbols[reference.scope]

    def value(self, reference: Reference, term: int) -> Type:
        """Infer the type of an expression in a call, such as the call's receiver."""
        key = (reference.scope, term)
        found = self.steady.get(key)
        if found is None:
            inference = self.inference
            found = inference.expanded(inference.term(self.entry, reference.scope, term, reference.line))
            if found is TOP:
                found = written_type(inference, self.entry, reference.scope, term, reference.line) or TOP
            else:
                found = settled(inference, found)
            if inference.is_steady(self.entry, reference.scope, term):
                self.steady[key] = found
        return found

    def receiver_of(self, reference: Reference, receiver: int, name: str) -> Type:
        """Infer the type of `x` in `x.name`.

        If nothing else tells the type, and `name` is private, as `__name` in Python, the result is the class that contains the code.
        """
        return self.value(reference, receiver) or self.inference.private_receiver(self.entry, reference.scope, name)

    def call(self, reference: Reference) -> None:
        """Add the edges of a call `callee(…)` or `new callee(…)`."""
        self.evidence.call_sites += 1
        rules = rules_of(self.entry)
        call = call_at(self.terms, reference.term)
        _, written, arguments, named = call
        called = self.without_types(reference, written)
        callee = self.terms[called]
        made = rules.new_objects(self.inference, self.entry, reference.scope, written) if call[0] == NEW else EMPTY
        if made:
            targets = self.of_types(reference, made)
        elif rules.is_super_call(self.entry, reference.term):
            targets = [Target(None, (rules.builtin_package, "super"), "builtin")]
        elif callee[0] == NAME:
            targets = self.called_name(reference, called, callee[1])
        elif callee[0] == ATTR:
            _, receiver, name = callee
            targets = self.called_attribute(reference, receiver, name)
        else:
            value = self.value(reference, called)
            targets = list(self.targets.of_value(value, "function_value", self.caller(reference)))
            if not targets:
                self.nothing_found(reference, value, "dynamic")
        if rules.has_overloads:
            targets = self.overloads.chosen(reference, targets) or self.overloads.chosen(reference, self.extending(reference, called))
        else:
            targets = [target for target in targets if target.rule != "override" or self.overloads.can_construct(reference, target.symbol)]
            if rules.values_are_checked:
                targets = self.accepting(reference, called, targets)
            plain = [target.symbol for target in targets if target.symbol is not None and target.rule != "override"]
            if len(plain) > 1:
                fitting = rules.fitting_receiver(self.inference, self.entry, reference, plain)
                targets = [target for target in targets if target.rule == "override" or target.symbol is None or target.symbol in fitting]
        self.add_calls(reference, targets)
        if rules.has_overloads and arguments:
            self.add_conversions(reference, targets)
        self.handing.hand_over(reference, call, targets)
        self.handing.connect(reference, call)
        if rules.links_routes:
            self.handing.link(reference, call)
        for target in targets if arguments or named or callee[0] == ATTR else ():
            if target.outside is not None:
                self.run_through(reference, call, rules.called_through(*target.outside))
                if target.outside in rules.attribute_readers and len(arguments) > 1:
                    self.read_named(reference, arguments[0], string_of(self.terms[arguments[1]]))
        self.add_implied(reference)

    def accepting(self, reference: Reference, called: int, targets: list[Target]) -> list[Target]:
        """Return the targets of a call, without those that reject its arguments.

        A target is checked only if it is a function or bound method that was passed as a value. All targets are kept if some arguments are
        unknown, as in `f(*args)`, or were bound earlier by `functools.partial`.

        Args:
            reference: the call.
            called: index of the called expression.
            targets: the definitions that the expression may be.
        """
        _, _, arguments, named = call_at(self.terms, reference.term)
        values = {target.symbol for target in targets if target.rule in ("function_value", "computed_name")}
        if not values or any(self.terms[argument][0] == SPREAD for argument in arguments):
            return targets
        value = self.value(reference, called)
        if any(atom[0] == PARTIAL for atom in value):
            return targets
        values -= {atom[1] for atom in value if atom[0] == FUNC and atom[2] is None and atom[1].kind == "method"}
        keywords = [keyword for keyword, _ in named]
        for taken in (len(arguments), len(arguments) + 1):  # a function that code stored in a class is called with the object, too
            found = [one for one in targets if one.symbol not in values or self.accepts(one.symbol, len(arguments), taken, keywords)]
            several = sum(one.symbol in values for one in found)
            if several:
                break
        return [one for one in found if one.symbol not in values or self.fits(reference, one.symbol, arguments)] if several > 1 else found

    def accepts(self, symbol: Symbol | None, positional: int, taken: int, keywords: Sequence[str]) -> bool:
        """Whether a function or bound method accepts the arguments of a call.

        For a decorated function, and for a class, the result is True.

        Args:
            symbol: the function, method or class.
            positional: number of positional arguments in the call; used if `symbol` is a method.
            taken: number of positional arguments that any other function gets. The number is larger by 1 if the function is stored in a
                class, because the object is passed, too.
            keywords: names of the keyword arguments.
        """
        if symbol is None or symbol.kind not in FUNCTION_KINDS:
            return True
        definition = self.project.definition(symbol)
        rules = rules_of(self.project.files[symbol.path])
        given = positional if symbol.kind == "method" else taken
        return bool(definition.decorators) or rules.takes(definition, given, keywords, bound=True)

    def fits(self, reference: Reference, symbol: Symbol | None, arguments: Sequence[int]) -> bool:
        """Whether the classes of a call's arguments fit a function's parameters.

        The result is False if a parameter declares a class, the argument has another class, and neither class derives from the other. For
        methods and decorated functions, the result is always True.
        """
        if symbol is None or symbol.kind == "method" or symbol.kind not in FUNCTION_KINDS:
            return True
        entry = self.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        if definition.decorators:
            return True
        for parameter, argument in zip(definition.parameters, arguments, strict=False):
            if parameter.annotation < 0 or parameter.kind not in ("normal", "positional"):
                continue
            declared = self.inference.declared(entry, definition.parent, parameter.annotation)
            given = self.value(reference, argument) if declared else EMPTY
            if given and all(atom[0] == INST for atom in (*declared, *given)) and not self._are_related(declared, given):
                return False
        return True

    def _are_related(self, left: Type, right: Type) -> bool:
        classes = self.inference.project_classes
        pairs = [(one[1], other[1]) for one in left for other in right if one[0] == INST and other[0] == INST]
        return any(one in classes(other) or other in classes(one) for one, other in pairs)

    def without_types(self, reference: Reference, callee: int) -> int:
        """Return the index of a call's callee, without type arguments in brackets.

        For `f[A](…)`, the result is the expression `f`. In `handlers[i](…)`, the brackets contain an index, so `callee` is returned
        unchanged.
        """
        found = self.terms[callee]
        if found[0] != INDEX or not rules_of(self.entry).functions_take_types:
            return callee
        _, base, _ = found
        takes_types = any(atom[0] in (FUNC, CLASS, EXT) for atom in self.value(reference, base))
        return base if takes_types else callee

    def extending(self, reference: Reference, called: int) -> list[Target]:
        """Return the extension functions that `x.name()` can run.

        They are tried if no method of the class of `x` accepts the arguments. `called` is the expression `x.name`.
        """
        callee = self.terms[called]
        rules = rules_of(self.entry)
        if callee[0] != ATTR or not rules.extensions_come_last:
            return []
        _, receiver, name = callee
        found: dict[Symbol, None] = {}
        for atom in ordered(self.value(reference, receiver)):
            found |= dict.fromkeys(rules.extensions(self.inference, self.entry, atom, name))
        return [self.targets.extension(symbol, "receiver_type") for symbol in found]

    def of_types(self, reference: Reference, value: Type) -> list[Target]:
        """Return the classes in a type as targets of a call `new Type(…)`."""
        found: list[Target] = []
        for atom in ordered(value):
            rule = "scope" if atom[0] == CLASS and atom[1].path == self.entry.path else "import"
            found += self.targets.of_value(frozenset((atom,)), rule, self.caller(reference))
        return found

    def called_name(self, reference: Reference, index: int, name: str) -> list[Target]:
        """Return the definitions (targets) that a call `name()` can run.

        `index` is the position of the callee in the file's list of expressions. A call without targets is counted as unresolved.
        """
        entry = self.entry
        around = self.inference.scope_of_callee(entry, reference.scope, name, reference.line)
        written = self.value(reference if around == reference.scope else reference._replace(scope=around), index)
        value = rules_of(entry).created(self.inference, entry, reference, written)
        places = self.inference.lookup(entry, around, name, reference.line)
        if rules_of(entry).this_is_implied and self.terms[reference.term][0] == CALL:
            found = self.called_on_this(reference, name)
            if found:
                return found
        is_mine = is_own(value) or any(atom[0] == CLASS for atom in value)
        own = "function_value" if rules_of(entry).links_routes else "self"
        rule = (own if is_mine else "builtin") if places is None else self.targets.rule_of(places)
        if value != written:
            rule = "inferred_type"
        found = list(self.targets.of_value(value, rule, self.caller(reference), name))
        if not found and places is None and rules_of(entry).sees_globals(entry):
            found = self.targets.of_name(reference, name, bound=False)
        if not found and places is None and rules_of(entry).sees_methods(entry):
            found = self.targets.of_name(reference, name, bound=True)
        if not found:
            found = self.targets.replaced(reference, index)
        if not found:
            self.nothing_found(reference, value, "unknown_name" if places is None else "dynamic")
        return found

    def called_on_this(self, reference: Reference, name: str) -> list[Target]:
        """Return the targets of a call `name()` that means `this.name()`.

        `name` is a member of a class around the call, or of a base of such a class. The result is empty for other names.
        """
        for receiver in self.inference.receivers(self.entry, reference.scope, reference.line):
            found = [target for target in self.method(receiver, name, "receiver_type", self.caller(reference)) if target.symbol is not None]
            if found:
                return found
        here = reference.scope
        while here > 0:
            symbol = rules_of(self.entry).implied_class(self.inference, self.entry, here)
            owner = self.inference.owner(symbol, name) if symbol is not None else None
            owners: Sequence[Symbol] = (owner,) if isinstance(owner, Symbol) else ()
            if symbol is not None and not owners:
                owners = rules_of(self.entry).sibling_owners(self.inference, symbol, name)
            if symbol is not None and any(self.inference.functions(one_owner, name) for one_owner in owners):
                own: Receiver = (INST, symbol, False)
                if rules_of(self.entry).is_on_class(self.entry, reference.scope, here):
                    own = (CLASS, symbol, False)
                return list(self.targets.of_attribute(own, name, "self", self.caller(reference)))
            here = self.entry.definitions[here].parent
        return []

    def called_attribute(self, reference: Reference, receiver: int, name: str) -> list[Target]:
        """Return the definitions (targets) that `receiver.name()` can run."""
        base = self.without_unfit_classes(reference, self.receiver_of(reference, receiver, name), name)
        self.read_called(reference, base, name)
        elsewhere = self.handing.run_by(reference, receiver, name)
        how = self.receiver_rule(reference, receiver)
        found = self.method(base, name, how, self.caller(reference)) if base else []
        if not found:
            module = self.inference.beside_variable(self.entry, reference.scope, receiver, reference.line)
            if module:
                return self.method(module, name, "import", self.caller(reference))
        many = rules_of(self.entry).many_methods
        different = len({target.symbol for target in found}) if many else 0  # several parts of one class share one method
        if many and how == "inferred_type" and min(different, sum(atom[0] == INST for atom in base)) >= many:
            found = [target._replace(confidence=round(SHARED_BY_MANY / different, 3)) for target in found]
        if not rules_of(self.entry).calls_extensions and any(atom[0] == INST for atom in base):
            found = [target for target in found if target.symbol is None or not self.is_extension(target.symbol)]
        if how == "self":
            found = [target for target in found if target.rule != "override" or self.targets.may_meet(reference.scope, target.symbol)]
        if self.is_self(receiver):
            own = rules_of(self.entry).methods_of_self(self.inference, self.entry, reference.scope, name)
            if own or (own is not None and not base):
                return [Target(symbol, None, "self") for symbol in own]
        if base and all(target.symbol is None for target in found):
            found = self.targets.of_extensions(base, name) or found
        if not base and not self.is_from_outside(reference, receiver):
            found = self.targets.of_name(reference, name, bound=True)
            if not rules_of(self.entry).types_are_declared:  # a method that passes the call on to an object of another class
                found = [target for target in found if target.symbol is not self.caller(reference)]
            if rules_of(self.entry).sees_methods(self.entry):
                held = call_at(self.terms, receiver)[1] if self.terms[receiver][0] == CALL else receiver
                found = self.targets.in_template(last_name(self.terms[held]), found)
            if rules_of(self.entry).links_routes:
                written = last_name(self.terms[receiver]).lower()
                found = [target for target in found if target.symbol is None or written in target.symbol.qualname.lower()]
        elif base is TOP or self.is_anything(base):
            found = found + [target for target in self.targets.of_name(reference, name, bound=True) if target.rule == "unique_name"]
        if base and not any(target.symbol is not None for target in found):
            read = rules_of(self.entry).property_of(name)
            if self.reads_property(base, read):
                self.read_named(reference, receiver, read)
                return elsewhere
        if not found and how == "self":
            found = self.targets.replaced(reference, call_at(self.terms, reference.term)[1])
        if not found and not elsewhere:
            known = any(atom[0] in (INST, CLASS, MODULE, NAMESPACE) for atom in base)
            value = self.inference.attribute(base, name)
            missing = known and not value
            self.nothing_found(reference, value or base, "no_such_member" if missing else "dynamic" if base else "no_receiver_type")
        return found + elsewhere

    def without_unfit_classes(self, reference: Reference, base: Type, name: str) -> Type:
        """Return the type of a receiver, without classes that the call rejects.

        In `x.f(1)`, `x` may be an object of `A` or the class `B` itself. If `B.f(1)` lacks the argument for `self`, `B` is removed from the
        type. If all alternatives of the type are classes, the type is returned unchanged.
        """
        classes = [atom for atom in ordered(base) if atom[0] == CLASS]
        if not classes or len(classes) == len(base) or not rules_of(self.entry).values_are_checked:
            return base
        _, _, arguments, named = call_at(self.terms, reference.term)
        if any(self.terms[argument][0] == SPREAD for argument in arguments):
            return base
        keywords = [keyword for keyword, _ in named]
        return base - {atom for atom in classes if self.lacks_receiver(atom, name, len(arguments), keywords)}

    def lacks_receiver(self, receiver: Receiver, name: str, positional: int, keywords: Sequence[str]) -> bool:
        """Whether a method that is called on its class rejects the arguments.

        In `A.f(1)`, the first argument must be the object for `self`. `receiver` is the class, and `name` the method.
        """
        found = [atom for atom in ordered(self.inference.attribute_of(receiver, name)) if atom[0] == FUNC]
        unbound = [self.project.definition(atom[1]) for atom in found if atom[2] is None and atom[1].kind == "method"]
        takes = rules_of(self.entry).takes
        return bool(found) and len(unbound) == len(found) and not any(takes(one, positional, keywords, bound=False) for one in unbound)

    def is_extension(self, symbol: Symbol) -> bool:
        """Whether a function extends a type from outside: `fun Item.show()`."""
        return "extension" in self.project.definition(symbol).modifiers

    def reads_property(self, base: Type, name: str) -> bool:
        """Whether a call like `item.getPrice()` in Java reads a Kotlin property.

        `base` is the type of the receiver `item`, and `name` is the possible property, here `price`.
        """
        for atom in ordered(base):
            if name and atom[0] == INST and isinstance(owner := self.inference.owner(atom[1], name), Symbol):
                return bool(rules_of(self.project.entry(owner)).accessors(name, "read"))
        return False

    def is_self(self, receiver: int) -> bool:
        """Whether a receiver is `self`, or `Self`, the class of `self`."""
        term = self.terms[receiver]
        return term[0] == SELF or (term[0] == ATTR and term[2] == "__class__" and self.terms[term[1]][0] == SELF)

    def is_anything(self, base: Type) -> bool:
        """Whether a value may be an object of any class, given its type `base`.

        The result is True if library functions returned the value, or if `base` is empty. It is always False in languages where
        `libraries_give_anything` is False.
        """
        rules = rules_of(self.entry)
        return rules.libraries_give_anything and all(
            atom[0] == EXTI and "(" in atom[2] and atom[1] != rules.builtin_package for atom in base
        )

    def receiver_rule(self, reference: Reference, receiver: int) -> str:
        """Return the rule by which the type of a call's receiver was found.

        The receiver of `x.f()` is `x`. An example of a rule is `receiver_type`, for a declared type. The rule is cached if the type of `x`
        is the same on every line of the scope.
        """
        key = (reference.scope, receiver)
        if key not in self.steady:
            return self.targets.receiver_rule(reference, receiver)
        how = self.hows.get(key)
        if how is None:
            how = self.hows[key] = self.targets.receiver_rule(reference, receiver)
        return how

    def method(self, base: Type, name: str, how: str, caller: Symbol) -> list[Target]:
        """Return the targets of a call `x.name()` for all types that `x` may have.

        `base` is the type of `x`, and `how` is the rule by which that type was found. The result is cached, unless it depends on `caller`,
        the function that contains the call.
        """
        key = (base, name, how)
        found = self.methods.get(key)
        if found is None:
            found = self.methods[key] = self.method_for(base, name, how, self.entry.symbols[0])
        if any(target.symbol is caller and target.rule == "override" for target in found):
            return self.method_for(base, name, how, caller)
        return found

    def method_for(self, base: Type, name: str, how: str, caller: Symbol) -> list[Target]:
        """Return the targets of `x.name()` for one caller, without a cache.

        `base` is the type of `x`, and `how` is the rule by which that type was found.
        """
        return [target for atom in ordered(base) for target in self.targets.of_attribute(atom, name, how, caller)]

    def is_from_outside(self, reference: Reference, receiver: int) -> bool:
        """Whether the receiver of a call can only come from a star import.

        For `x.f()`, the receiver is `x`. The result is True for a bare name that nothing in the project binds. It is always False in
        languages without declared types.
        """
        term = self.terms[receiver]
        if not rules_of(self.entry).types_are_declared or term[0] != NAME:
            return False
        return self.inference.lookup(self.entry, reference.scope, term[1], reference.line) is None

    def nothing_found(self, reference: Reference, value: Type, reason: str) -> None:
        """Count a call as unresolved if it may run a function of the project.

        `value` is the type of the callee, or of the receiver if the callee's type is unknown. Calls of built-in methods, containers and
        lambdas are not counted, because they run no such function.
        """
        if value is TOP:
            self.give_up(reference, "too_many_candidates")
        elif not any(atom[0] in (LAM, BOX, TUP, BUILTIN) for atom in value):
            self.give_up(reference, reason)

    def give_up(self, reference: Reference, reason: str) -> None:
        """Record a call as unresolved, with the reason."""
        name = _called_text(self.terms, reference.term)
        self.evidence.give_up(self.caller(reference).id, name, reference.line, reference.column, reason)

    def add_calls(self, reference: Reference, targets: Iterable[Target]) -> None:
        """Add edges to the targets of a call.

        For a class, edges to its constructors are added, too. If more than `MAX_VALUES` targets were passed as values, these targets get no
        edges. The call is then counted as unresolved.
        """
        src, line, evidence = self.caller(reference).id, reference.line, self.evidence
        targets = self.targets.one_of_parts(targets)
        values = sum(target.symbol is not None and target.rule == "function_value" for target in targets)
        if values > MAX_VALUES:
            self.give_up(reference, "too_many_candidates")
            targets = [target for target in targets if target.symbol is None or target.rule != "function_value"]
        for symbol, outside, rule, confidence, kind, _ in targets:
            if symbol is not None:
                if rule == "function_value" and self.targets.stands_in(reference.scope, symbol):
                    rule, confidence = "wrapped", 0.0
                elif rule == "function_value" and values >= MANY:
                    confidence = MANY_VALUES
                evidence.edge(kind, src, symbol.id, rule, line, confidence)
                if self.entry.in_tests and kind == EdgeKind.CALLS:
                    self.called.append(Called(reference.scope, symbol, line, confidence or RULES[rule].confidence))
                if symbol.kind in CLASS_KINDS:
                    found: Iterable[Target] = (Target(one, None, rule, confidence) for one in self.targets.constructors(symbol))
                    if rules_of(self.entry).has_overloads and reference.kind == "call":
                        found = self.overloads.chosen(reference, list(found))
                    for constructor in found:
                        if constructor.symbol is not None:
                            evidence.edge(kind, src, constructor.symbol.id, rule, line, constructor.confidence)
            elif outside is not None:
                evidence.edge(kind, src, evidence.outside(*outside), rule, line)

    def decorate(self, reference: Reference) -> None:
        """Add the call of a decorator, whose argument is the decorated definition."""
        value = self.value(reference, reference.term)
        rule = "scope" if self.terms[reference.term][0] in (NAME, ATTR) else "function_value"
        self.add_calls(reference, self.targets.of_value(value, rule, self.caller(reference)))

    def rendered(self, reference: Reference) -> None:
        """Add the call of the component `Name` that JSX `<Name …>` implies."""
        value = self.value(reference, reference.term)
        term = self.terms[reference.term]
        places = self.inference.lookup(self.entry, reference.scope, term[1], reference.line) if term[0] == NAME else None
        rule = self.targets.rule_of(places) if places else "inferred_type"
        self.add_calls(reference, self.targets.of_value(value, rule, self.caller(reference)))

    def raised(self, reference: Reference) -> None:
        """Add the call of the class in `raise Class`."""
        for atom in ordered(self.value(reference, reference.term)):
            if atom[0] == CLASS:
                self.add_calls(reference, [Target(atom[1], None, "implicit")])
            elif atom[0] == EXT:
                self.refer(reference, frozenset((atom,)), "external")

    def operation(self, reference: Reference) -> None:
        """Add edges to the methods that an operator, subscript or loop calls.

        The classes of the operands determine the methods: `a + b` calls `__add__` of the class of `a`. Statements such as `with` also call
        methods.
        """
        for operand, names, container in rules_of(self.entry).operations(self.entry, reference.scope, reference.term):
            if container < 0:
                self.run_first(reference, operand, names)
            else:
                self.run_on_key(reference, operand, names, container)
        self.add_implied(reference)

    def add_implied(self, reference: Reference) -> None:
        """Add edges for calls that the language implies, such as `a + b` in C++.

        If several functions fit and only one of them runs, each gets an equal share of the confidence.
        """
        for symbol, count in rules_of(self.entry).implied(self.inference, self.entry, reference):
            self.add_calls(reference, [Target(symbol, None, "implicit", round(RULES["implicit"].confidence / count, 3))])

    def add_conversions(self, reference: Reference, targets: Sequence[Target]) -> None:
        """Add edges for constructors that convert a call's arguments.

        Edges are added only if `targets` has exactly one function, because one of several functions may accept the arguments without
        conversion.
        """
        called = [target.symbol for target in targets if target.symbol is not None and target.symbol.kind in FUNCTION_KINDS]
        for function in called if len(called) == 1 else ():
            for symbol, count in rules_of(self.entry).conversions(self.inference, self.entry, reference, function):
                self.add_calls(reference, [Target(symbol, None, "implicit", round(RULES["implicit"].confidence / count, 3))])

    def run_through(self, reference: Reference, call: Call, found: Iterable[Through]) -> None:
        """Add the calls that an external function makes to its arguments.

        `found` describes the calls. Examples are a callback, as in `sorted(items, key=f)`, and a method of an argument, as in `len(x)`.
        """
        _, called, positional, keywords = call
        callee = self.terms[called]
        for through in found:
            given = [*positional[through.first : through.last], *(value for name, value in keywords if through.keyword in (name, "*"))]
            if through.receiver:
                given = [callee[1]] if callee[0] == ATTR else []
            for argument in given:
                if through.needs:
                    able = frozenset(a for a in self.value(reference, argument) if a[0] == INST and self.has_method(a[1], through.needs))
                    self.run_on(reference, able, through.names)
                elif through.elements:
                    self.run_on(reference, self.contained(self.value(reference, argument)), through.names)
                elif through.names:
                    self.run_first(reference, argument, through.names)
                else:
                    given_value = self.value(reference, argument)
                    for atom in ordered(given_value):
                        if atom[0] == EXT:  # map(str, items)
                            self.run_on_elements(
                                reference, positional[through.last :], rules_of(self.entry).called_through(atom[1], atom[2])
                            )
                    value = frozenset(atom for atom in given_value if atom[0] in (FUNC, INST, PARTIAL))
                    self.add_calls(reference, self.targets.of_value(value, "function_value", self.caller(reference)))

    def has_method(self, symbol: Symbol, name: str) -> bool:
        """Whether a class has a method, itself or from a base class.

        Bases in the project and known library classes are searched.
        """
        owner = self.inference.owner(symbol, name)
        return isinstance(owner, Symbol) or (owner is not None and rules_of(self.entry).library_has(owner, name))

    def read_named(self, reference: Reference, receiver: int, name: str) -> None:
        """Add edges for `getattr(receiver, "name")`, which reads an attribute."""
        raise NotImplementedError

    def read_called(self, reference: Reference, base: Type, name: str) -> None:
        """Add edges for reading `x.name` in a call `x.name()`."""
        raise NotImplementedError

    def run_first(self, reference: Reference, operand: int, names: Sequence[str]) -> None:
        """Add a call of the first method in `names` that an operand's class has.

        For `if x`, `names` are `__bool__` and `__len__`. If the method creates an iterator, the call that advances the iterator is added,
        too.
        """
        value = self.value(reference, operand)
        self.run_on(reference, value, names)
        text = rules_of(self.entry).contained_text
        if text and names and names[-1] == text:
            self.run_on(reference, self.contained(value), (text,))

    def run_on(self, reference: Reference, value: Type, names: Sequence[str], confidence: float = 0.0) -> None:
        """Add calls of the first listed method that each class in a type has.

        `value` is the type of the receiver. `names` are method names in order of preference. A confidence of 0 means the default confidence
        of the rule.
        """
        likely = confidence or shared_among(value)
        resumes = not rules_of(self.entry).resuming.isdisjoint(names)
        for atom in ordered(value):
            if atom[0] == PENDING and resumes:
                self.add_calls(reference, [Target(atom[1], None, "implicit", likely)])
            if atom[0] != INST:
                continue
            for name in names:
                owner = self.inference.owner(atom[1], name)
                if isinstance(owner, Symbol):
                    self.special(reference, atom, name, likely)
                    self.step(reference, atom, name, likely)
                    break
                if owner is not None and rules_of(self.entry).answers_itself(owner, name):
                    break

    def run_on_elements(self, reference: Reference, containers: Sequence[int], found: Iterable[Through]) -> None:
        """Add the calls that an external function makes to each element.

        `containers` are the arguments with the elements, and `found` describes the function's calls. For `map(str, items)`, `__str__` of
        each element is called.
        """
        for through in found:
            for container in containers if through.names and not through.first else ():
                self.run_on(reference, self.inference.expanded(self.inference.element(self.value(reference, container))), through.names)

    def run_on_key(self, reference: Reference, key: int, names: Sequence[str], container: int) -> None:
        """Add the calls that a container makes to methods of a key.

        `names` are two methods of the key: the hash method, such as `__hash__`, and the comparison, such as `__eq__`. For `key in xs`, a
        list or a tuple `xs` calls only the comparison. If `container` is an object of a project class, nothing is added.
        """
        inside = self.value(reference, container)
        if not any(atom[0] in (INST, CLASS) for atom in inside):
            is_sequence = bool(inside) and all(atom[0] == TUP or (atom[0] == BOX and atom[1] in ("list", "tuple")) for atom in inside)
            for name in names[is_sequence:]:
                likely = 0.0 if name == names[0] else SEVERAL_CLASSES if is_sequence else SELDOM
                self.run_on(reference, self.value(reference, key), (name,), likely)

    def contained(self, value: Type) -> Type:
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

    def step(self, reference: Reference, receiver: Instance, name: str, confidence: float) -> None:
        """Add the call that fetches the next element from an iterator.

        `name` is the method of `receiver` that creates the iterator. For `__iter__` in Python, the added call is that of `__next__`. If
        `name` does not create an iterator, nothing is added.
        """
        following = rules_of(self.entry).next_step(name)
        if following:
            for iterator in ordered(self.inference.method_result(receiver, name)):
                if iterator[0] == INST:
                    self.special(reference, iterator, following)
                elif iterator[0] == PENDING and iterator[1].name != name:
                    self.add_calls(reference, [Target(iterator[1], None, "implicit", confidence)])
            self.add_calls(reference, self.returned_generators(receiver, name, confidence))

    def returned_generators(self, receiver: Instance, name: str, confidence: float) -> list[Target]:
        """Return the generators of a class and its subclasses that a base returns.

        `receiver` is an object of the class, and `name` its method that creates an iterator. For `return self.rows()` in `__iter__` of a
        base class, the result has the generators called `rows`.
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

    def special(self, reference: Reference, receiver: Receiver, name: str, confidence: float = 0.0) -> None:
        """Add the implicit call of an object's special method, such as `__len__`.

        `receiver` is the object, and `name` the method. Overrides in subclasses are included. A confidence of 0 means the default
        confidence of the rule that finds the method.
        """
        owner = self.inference.owner(receiver[1], name)
        if isinstance(owner, Symbol):
            plain = [Target(symbol, None, "implicit", confidence) for symbol in self.inference.functions(owner, name)]
            self.add_reads(reference, self.targets.dispatched(receiver, name, plain, self.caller(reference), is_self=False))

    def add_reads(self, reference: Reference, targets: Iterable[Target]) -> None:
        """Add edges to methods that the language calls, such as properties.

        Each target gets a call edge. A method that stores its result, such as a `cached_property`, gets a reference edge, because a library
        calls the method, and only once.
        """
        self.add_calls(reference, [one._replace(kind=EdgeKind.REFERENCES) if self.is_stored(one.symbol) else one for one in targets])

    def is_stored(self, symbol: Symbol | None) -> bool:
        """Whether a method stores its result in the object.

        An example is a method with the decorator `cached_property`.
        """
        return symbol is not None and "cached" in self.project.definition(symbol).modifiers

    def refer(self, reference: Reference, value: Type, rule: str) -> None:
        """Add references to a function or class that code names but does not call.

        `value` is the type of the name, and `rule` is the rule by which the name was found.
        """
        src, evidence = self.caller(reference).id, self.evidence
        for atom in ordered(self.inference.expanded(value)):
            if atom[0] in (FUNC, CLASS) and atom[1].id != src:
                evidence.edge(EdgeKind.REFERENCES, src, atom[1].id, rule, reference.line)
            elif atom[0] == EXT and atom[2] and atom[1] != rules_of(self.entry).builtin_package:
                evidence.edge(EdgeKind.REFERENCES, src, evidence.outside(atom[1], atom[2]), "external", reference.line)


def settled(inference: Inference, value: Type) -> Type:
    """Mark a class in a type as exact if the type has an exact subclass.

    A type is a set of alternatives. An exact alternative stands for objects of the class itself, and not of its subclasses. If `B` derives
    from `A` and `value` is `A | exact B`, the result is `exact A | exact B`. An abstract class `A` is removed instead.
    """
    if len(value) < 2:
        return value
    exact = [atom[1] for atom in ordered(value) if atom[0] == INST and atom[2]]
    open_ = [atom for atom in ordered(value) if atom[0] == INST and not atom[2]]
    if not exact or not open_:
        return value
    known = frozenset().union(*(inference.project_classes(symbol) for symbol in exact))
    told = [atom for atom in open_ if atom[1] in known]
    return (
        (value - frozenset(told))
        | {(INST, atom[1], True) for atom in told if not rules_of(inference.project.entry(atom[1])).is_abstract(inference, atom[1])}
        if told
        else value
    )


def _called_text(terms: Sequence[Term], index: int) -> str:
    """Return the last name in a call's callee: `b` for `a.b(c)`.

    The result is "()" if the callee has no name.
    """
    term = terms[index]
    callee = terms[term[1]] if term[0] in (CALL, NEW) else term
    return last_name(callee) or "()"
