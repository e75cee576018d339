"""Find the definitions that a call can run.

Each definition is returned with the rule that found it, such as `import`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from graphmem.model import EdgeKind
from graphmem.parsing.facts import ATTR, CALL, NAME, NEW, SELF, SPREAD, Reference
from graphmem.parsing.language import language_spec
from graphmem.resolution.decorating import decorated
from graphmem.resolution.edges.target import Target, shared_among
from graphmem.resolution.extensions import is_own
from graphmem.resolution.file_entry import CallSite, FileEntry, Place
from graphmem.resolution.hierarchy import Hierarchy
from graphmem.resolution.inference import Inference
from graphmem.resolution.language import rules_of
from graphmem.resolution.rules import AMBIGUOUS_LIMIT
from graphmem.resolution.symbol import CLASS_KINDS, FUNCTION_KINDS, Symbol
from graphmem.resolution.symbol_rows import entry_rule
from graphmem.resolution.terms import call_at, last_name
from graphmem.resolution.types import (
    BOX,
    BUILTIN,
    CLASS,
    EXT,
    EXTI,
    FUNC,
    INST,
    METHODS,
    MODULE,
    NAMESPACE,
    PARTIAL,
    SUPEROBJ,
    TUP,
    Atom,
    ExtInstance,
    Instance,
    Receiver,
    SuperObject,
    Type,
    handed_back,
    ordered,
)

FEW_OVERRIDES: Final = 4
"""Most overrides that a call on any receiver may mean.

If there are more, overrides of a method with a body of its own count for `self` only. For other receivers the OVERRIDES edges record
them. Methods that the language calls have no limit but `MAX_OVERRIDES`.
"""

ONE_FAMILY: Final = 0.65
"""Confidence in each of several methods of one name that override one another, and in one whose class the receiver is named after."""

LONE_PROPERTY: Final = 0.85
"""Confidence in the only property of a name that no other attribute has."""

IMPLEMENTING: Final = 0.65
"""Confidence in the only method that implements what a library's type declares."""

SHARED_AMONG: Final = 1.5
"""Confidence that is divided among several methods that implement what a library's type declares."""

HANDED_BACK: Final = 0.7
"""Confidence in the method of a class that was passed to a library.

The library's result is called, which may be an object of another class.
"""


class Targets:
    """Finds the definitions that the calls of one file can run."""

    def __init__(self, inference: Inference, hierarchy: Hierarchy, entry: FileEntry) -> None:
        self.inference = inference
        self.project = inference.project
        self.hierarchy = hierarchy
        self.entry = entry
        self.terms = entry.terms
        self._met: dict[tuple[int, Symbol], bool] = {}  # by method and override
        self._named: dict[tuple[str, bool, int, tuple[str, ...]], list[Target]] = {}

    # from values

    def of_value(self, value: Type, rule: str, caller: Symbol, name: str = "") -> Iterator[Target]:
        """Yield the definitions that run when a value of a given type is called.

        `rule` is the rule by which the value was found, and `name` is the name in the call. Most targets get this rule, too. But a function
        that code passed or stored as a value gets the rule `function_value`. Such a function may have another name than `name`. For the
        rule `import`, functions keep this rule, because an import may rename a function.
        """
        rules = rules_of(self.entry)
        likely = shared_among(value)
        for atom in ordered(value):
            if atom[0] == FUNC:
                other = name and rule not in ("import", "function_value") and (atom[1].name != name or self._is_stored(atom[1], rule))
                yield Target(atom[1], None, "function_value" if other else rule)
            elif atom[0] == CLASS:
                yield Target(atom[1], None, rule)
                yield from (Target(symbol, None, "implicit") for symbol in rules.runs_on_instantiation(self.inference, atom[1]))
                if atom[2]:
                    yield from self._constructors_below(atom[1], caller)
            elif atom[0] in (EXT, EXTI) and atom[3] is not None:
                continue  # the same atom without the class is also present
            elif atom[0] == EXT:
                yield Target(None, (atom[1], atom[2]), "builtin" if atom[1] == rules.builtin_package else "external")
            elif atom[0] == EXTI:
                yield Target(None, (atom[1], atom[2]), "external")
            elif atom[0] == BUILTIN:
                kind = atom[1][1] if atom[1][0] == BOX else "tuple" if atom[1][0] == TUP else "object"
                yield Target(None, (rules.builtin_package, f"{kind}.{atom[2]}"), "builtin")
            elif atom[0] == INST and rules.call_method:
                owner = self.inference.owner(atom[1], rules.call_method)
                if isinstance(owner, Symbol):
                    found = rule if rule == "inferred_type" else "implicit"
                    plain = [
                        Target(symbol, None, found, likely if found == "implicit" else 0.0)
                        for symbol in self.inference.functions(owner, rules.call_method)
                    ]
                    yield from self.dispatched(atom, rules.call_method, plain, caller, is_self=False)
            elif atom[0] == METHODS:
                _, receiver, prefix = atom
                methods = self.inference.methods_of(receiver, prefix)
                yield from (Target(method[1], None, "computed_name") for method in methods if method[0] == FUNC)
            elif atom[0] == PARTIAL:
                yield from self.of_value(self.inference.expanded(atom[1]), "function_value", caller)
            elif atom[0] == SUPEROBJ:  # `super(…)`: the constructor of the next class
                yield from self._next_constructor(atom)

    def _is_stored(self, function: Symbol, rule: str) -> bool:
        """Whether code stored a function in an attribute, as in `self.f = f`.

        `rule` is the rule by which the function was found. The result is False for a method of the class. It is also False in languages
        where `values_are_checked` is False.
        """
        return rule in ("self", "receiver_type") and function.kind == "function" and rules_of(self.entry).values_are_checked

    def _constructors_below(self, symbol: Symbol, caller: Symbol) -> Iterator[Target]:
        """Yield constructors of subclasses, because `cls()` may run any of them.

        `symbol` is the class of `cls`. If the subclasses have more than `hierarchy.MAX_OVERRIDES` constructors, none is yielded.
        """
        for name in rules_of(self.entry).constructors:
            found = self.hierarchy.overrides(symbol, name, caller)
            yield from (Target(constructor, None, "override") for constructor in found)

    def _next_constructor(self, atom: SuperObject) -> Iterator[Target]:
        _, after, (_, symbol, _) = atom
        for constructor in rules_of(self.entry).constructors:
            owner = self.inference.owner(symbol, constructor, after=after)
            if isinstance(owner, Symbol):
                for function in self.inference.functions(owner, constructor):
                    yield Target(function, None, "super")
            elif owner is not None:
                yield Target(None, (owner[1], owner[2]), "external")
            else:  # the next class has only an implicit constructor
                line = self.inference.mro(symbol)
                following = line[line.index(after) + 1 :] if after in line else ()
                yield from (Target(base, None, "super") for base in following[:1] if isinstance(base, Symbol))

    def of_attribute(self, atom: Atom, name: str, how: str, caller: Symbol) -> Iterator[Target]:
        """Yield the definitions that a call `x.name()` can run.

        `atom` is one of the types that `x` may have. `how` is the rule that explains how `x` got its type.
        """
        value = self.inference.expanded(self.inference.attribute_of(atom, name))
        own = frozenset(one for one in value if one[0] != INST or self._is_callable(one))
        extending = () if is_own(own) else rules_of(self.entry).extensions(self.inference, self.entry, atom, name)
        if extending:
            rule = "receiver_type" if how in ("scope", "import") else how
            yield from (self.extension(symbol, rule) for symbol in extending)
        elif atom[0] == SUPEROBJ:
            yield from self.of_value(value, "super", caller, name)
        elif atom[0] == MODULE or atom[0] == NAMESPACE:
            yield from self.of_value(value, "import", caller, name)
        elif atom[0] == INST and (siblings := self._siblings(atom, name)):
            for sibling in () if how == "receiver_type" else siblings:
                yield from self.of_attribute((INST, sibling, False), name, "inferred_type", caller)
        elif atom[0] == INST or atom[0] == CLASS:
            rule = "receiver_type" if atom[0] == INST and how in ("scope", "import") else how
            plain = list(self.of_value(value, rule, caller, name))
            found = self.dispatched(atom, name, plain, caller, is_self=how == "self")
            yield from (target for target in found if target.symbol is None or not self._is_property(target.symbol))
        elif atom[0] == EXT or atom[0] == EXTI:
            yield from self.of_value(frozenset(one for one in value if one[0] == EXT), "external", caller, name)
            back = handed_back(atom)
            if back is not None:
                for target in self.of_attribute((INST, back, False), name, "inferred_type", caller):
                    yield target._replace(confidence=HANDED_BACK)
            elif atom[0] == EXTI and self._may_be_implemented(atom):
                implementing = self.hierarchy.implementing(atom[1], atom[2], name, caller)
                likely = min(IMPLEMENTING, round(SHARED_AMONG / max(1, len(implementing)), 3))
                yield from (Target(symbol, None, "override", likely) for symbol in implementing)
        else:
            yield from self.of_value(value, how, caller, name)

    def _is_callable(self, instance: Instance) -> bool:
        """Whether an object can be called like a function.

        In Kotlin, an object can be called if its class has the method `invoke`. Otherwise, `x.name()` cannot call the object in the
        property `name`, so it calls an extension function `name`. In languages that name no such method in their rules, the result is
        always True.
        """
        method = rules_of(self.entry).call_method
        return not method or self.inference.owner(instance[1], method) is not None

    def _is_property(self, symbol: Symbol) -> bool:
        """Whether a function is a property, which reading an attribute calls.

        If `name` is a property, a call `x.name()` calls the result of the property.
        """
        return "property" in self.project.definition(symbol).modifiers

    def _siblings(self, atom: Receiver, name: str) -> Sequence[Symbol]:
        """Return the classes that define a member missing from a mixin.

        `atom` is the mixin, which uses the member `name`. The member is looked up in the classes that inherit the mixin. The result is
        empty if the mixin or one of its bases defines the member.
        """
        rules = rules_of(self.project.entry(atom[1]))
        if not rules.siblings_are_inferred or isinstance(self.inference.owner(atom[1], name), Symbol):
            return ()
        return rules.sibling_owners(self.inference, atom[1], name)

    def _may_be_implemented(self, atom: ExtInstance) -> bool:
        """Whether classes of the project may extend the type of a library object.

        The result is False for types of the language and of its standard library. It is also False if the settings of the language do not
        list the packages of the standard library.
        """
        rules = rules_of(self.entry)
        _, package, dotted, _ = atom
        if not rules.standard_packages or not package or not dotted:
            return False
        return package != rules.builtin_package and package.partition(".")[0] not in rules.standard_packages

    def extension(self, symbol: Symbol, rule: str) -> Target:
        """Return the target for a call of an extension function on an object.

        An extension function, `symbol`, adds a method to a type from outside. `rule` is the rule that found the function.
        """
        entry = self.project.entry(symbol)
        return Target(symbol, None, rule, is_extension=rules_of(entry).extended_by_parameter(entry.definitions[symbol.index]))

    def dispatched(self, receiver: Receiver, name: str, plain: Sequence[Target], caller: Symbol, *, is_self: bool) -> Iterator[Target]:
        """Yield the targets of a method call on an object, with overrides.

        `plain` are the targets without overrides, and `is_self` is True for a call on `self`. A method that no object can run gets a
        reference edge instead of a call edge. Such a method is abstract, or is overridden in all classes that are instantiated.
        """
        owner = self.inference.owner(receiver[1], name)
        if isinstance(owner, Symbol) and owner.kind == "interface" and rules_of(self.entry).interfaces_are_structural:
            receiver = (
                receiver if receiver[1].kind == "interface" else (INST, owner, False)
            )  # a class that embeds the interface may hold any implementation
        is_exact = (receiver[0] == INST and receiver[2]) or not rules_of(self.project.entry(receiver[1])).is_virtual(receiver[1])
        is_exact = is_exact or (receiver[0] == CLASS and not receiver[2] and not rules_of(self.entry).class_calls_are_virtual)
        if is_exact or not isinstance(owner, Symbol):
            yield from plain
            if is_self and not is_exact and owner is not None:  # a library's base class declares it, and subclasses may define it
                below = self.hierarchy.overrides(receiver[1], name, caller)
                yield from (Target(symbol, None, "override") for symbol in below)
            return
        overrides = [symbol for symbol in self.hierarchy.overrides(receiver[1], name, caller) if self._may_run(plain, symbol)]
        is_abstract = False
        is_idle = self._is_idle(receiver[1], owner, name, bool(overrides))
        for target in plain:
            if target.symbol is not None and ((is_idle and target.symbol.name == name) or (overrides and self._is_abstract(target.symbol))):
                is_abstract = True
                yield target._replace(kind=EdgeKind.REFERENCES)
            else:
                yield target
        if len(overrides) > FEW_OVERRIDES and not is_self and not is_abstract and not name.startswith("__"):
            return
        yield from (Target(symbol, None, "override") for symbol in overrides)

    def overriding_properties(self, symbol: Symbol, name: str, caller: Symbol) -> Iterator[Target]:
        """Yield properties in subclasses that replace a class variable.

        `symbol` is the class of the object that is read, and `name` is the variable. `caller` is the function that reads it.
        """
        for found in self.hierarchy.overrides(symbol, name, caller):
            if self._is_property(found):
                yield Target(found, None, "override")

    def _may_run(self, plain: Sequence[Target], method: Symbol) -> bool:
        """Whether a call can run a method that overrides a target of the call.

        `method` is the method. It must override one of `plain`, which are the targets of the call without overrides.
        """
        entry = self.project.entry(method)
        rules = rules_of(entry)
        named = [target.symbol for target in plain if target.symbol is not None and target.symbol.kind in FUNCTION_KINDS]
        if named and not any(rules.overrides(self.inference, symbol, method) for symbol in named):
            return False
        return rules.may_run(self.inference, self.entry, entry)

    def may_meet(self, scope: int, override: Symbol | None) -> bool:
        """Whether a call on `self` in `scope` can run the method `override`.

        Take a call `self.b()` in the method `A.a`. A subclass that overrides only `b` inherits `A.a`, so its `b` can run. A subclass that
        overrides both `a` and `b` does not run `A.a`, so its `b` cannot run. The exception is an overriding `a` that calls `super().a()`.
        """
        if override is None or not rules_of(self.entry).first_parameter_is_receiver:
            return True
        method = self.entry.enclosing(scope, ("method",))
        if method < 0 or override.kind != "method":
            return True
        key = (method, override)
        found = self._met.get(key)
        if found is None:
            found = self._met[key] = self._may_meet(self.entry.symbols[method], override)
        return found

    def _may_meet(self, method: Symbol, override: Symbol) -> bool:
        inference = self.inference
        entry = self.project.entry(override)
        below = entry.symbols[entry.definitions[override.index].parent]
        owner = self.entry.symbols[self.entry.definitions[method.index].parent]
        if owner not in inference.project_classes(below):  # the call is on a value in an attribute of `self`
            return True
        children = [child for child in (below, *inference.below(below)) if child.index >= 0]
        if any(inference.owner(child, method.name) is owner for child in children):
            return True
        sites, are_all = self.project.call_sites(method.name)
        if not are_all:
            return True
        users = {user for site in sites if (user := self._calls_on_other(site)) is not None}
        return any(not users.isdisjoint(inference.project_classes(child) - {owner}) for child in children)

    def _calls_on_other(self, site: CallSite) -> Symbol | None:
        """Return the class of the method that makes a call on another object.

        `site` is the call. The result is None for a call on `self`, for a call outside of methods, and for a decorator.
        """
        entry = self.project.files[site.path]
        method = entry.enclosing(site.scope, ("method",))
        if method < 0 or site.decorated >= 0:
            return None
        callee = entry.terms[call_at(entry.terms, site.term)[1]]
        if callee[0] == ATTR and entry.rules.receiver_class(entry, site.scope, callee[1]) >= 0:
            return None
        return entry.symbols[entry.definitions[method].parent]

    def _is_idle(self, symbol: Symbol, owner: Symbol, name: str, is_overridden: bool) -> bool:
        """Whether a method cannot run, because no object inherits it.

        `owner` is the class that defines the method `name`. Objects of the class `symbol` and of its subclasses are examined. The result
        may be True in two cases:

        - A subclass overrides the method, and the project may create objects of `symbol` or of a subclass.
        - `owner` is a protocol.

        In all other cases the result is False.
        """
        may_be = is_overridden and self.hierarchy.is_made(symbol)
        may_be = may_be or rules_of(self.project.entry(owner)).is_protocol(self.inference, owner)
        return may_be and not self.hierarchy.runs(symbol, owner, name)

    def _is_abstract(self, symbol: Symbol) -> bool:
        return "abstract" in self.project.definition(symbol).modifiers

    def stands_in(self, scope: int, function: Symbol) -> bool:
        """Whether a call is inside the wrapper that replaces a decorated function.

        `scope` contains the call, and `function` is the decorated function. The wrapper is the function or callable object that the
        decorator returns.
        """
        if function.kind not in FUNCTION_KINDS or not self.project.definition(function).decorators:
            return False
        places = {atom[1] for atom in self.inference.expanded(self.inference.defined(function)) if atom[0] in (FUNC, INST)}
        places.discard(function)
        while places and scope > 0:
            if self.entry.symbols[scope] in places:
                return True
            scope = self.entry.definitions[scope].parent
        return False

    def replaced(self, reference: Reference, callee: int) -> list[Target]:
        """Return the decorated functions that a call inside a wrapper runs.

        A wrapper is the function that a decorator returns in place of the decorated function. `callee` is the called expression. It must be
        a parameter of the decorator, or an attribute to which a constructor assigns its parameter. The result is empty for a decorator with
        few uses, because inference then finds the functions.
        """
        found = (symbol for decorator in self._decorators(reference, callee) for symbol in decorated(self.inference, decorator))
        return [Target(symbol, None, "wrapped") for symbol in found]

    def _decorators(self, reference: Reference, callee: int) -> Iterator[Symbol]:
        """Yield the functions that get the called function as first argument.

        `callee` is the called expression. It is one of the following:

        - the first parameter of a function around the call; that function is yielded;
        - an attribute of `self` to which a constructor assigns its first parameter; the constructor is yielded.

        The parameter `self` is not counted.
        """
        entry, term = self.entry, self.terms[callee]
        if term[0] == NAME:
            for place in self.inference.lookup(entry, reference.scope, term[1], reference.line) or ():
                if place.slot.kind == "parameter" and place.scope != reference.scope:
                    symbol = place.entry.symbols[place.scope]
                    if place.slot.index == (symbol.kind == "method"):
                        yield symbol
        elif term[0] == ATTR and (position := entry.rules.receiver_class(entry, reference.scope, term[1])) >= 0:
            owner = self.inference.owner(entry.symbols[position], term[2])
            if isinstance(owner, Symbol):
                other = self.project.entry(owner)
                for binding in (other.facts.bindings[i] for i in other.members.get(owner.index, {}).get(term[2], ())):
                    method = other.definitions[binding.scope]
                    first = method.parameters[1].name if len(method.parameters) > 1 else ""
                    if method.name in rules_of(other).constructors and binding.value >= 0 and other.terms[binding.value] == (NAME, first):
                        yield other.symbols[binding.scope]

    def constructors(self, symbol: Symbol) -> Iterator[Symbol]:
        """Yield the methods, such as `__init__`, that run when a class is called."""
        for name in rules_of(self.entry).constructors:
            owner = self.inference.owner(symbol, name)
            if isinstance(owner, Symbol):
                yield from self.inference.functions(owner, name)

    def of_extensions(self, receiver: Type, name: str) -> list[Target]:
        """Return extension functions that a call on an unknown type may run.

        An extension function adds a method to a type from outside. `name` is the name in the call, and `receiver` is the inferred type of
        the object. The result is empty for more than `AMBIGUOUS_LIMIT` functions.
        """
        found = rules_of(self.entry).unknown_extensions(self.inference, self.entry, receiver, name)
        rules = rules_of(self.entry)
        groups: set[object] = set(found)
        if rules.extensions_come_last:  # the receiver, as written, and the arguments decide among overloads
            groups = {rules.overload_group(self.project.entry(symbol), symbol) for symbol in found}
        if len(groups) > AMBIGUOUS_LIMIT:
            return []
        if len(groups) == 1:
            return [self.extension(symbol, "unique_name") for symbol in found]
        return [self.extension(symbol, "ambiguous_name")._replace(confidence=round(0.5 / len(groups), 3)) for symbol in found]

    def one_of_parts(self, targets: Iterable[Target]) -> list[Target]:
        """Keep one part of each class that is split over several declarations.

        An example of a split class is a `partial class` in C#. The first part with a constructor is kept. If no part has one, the first
        part is kept.
        """
        found = list(targets)
        parts: dict[str, list[Symbol]] = {}
        for target in found:
            if (
                target.symbol is not None
                and target.symbol.kind in CLASS_KINDS
                and "partial" in self.project.definition(target.symbol).modifiers
            ):
                parts.setdefault(target.symbol.qualname, []).append(target.symbol)
        left_out: set[Symbol] = set()
        for several in parts.values():
            made_by = rules_of(self.entry).constructors
            makers = (one for one in several if any(name in self.project.entry(one).names(one.index) for name in made_by))
            left_out.update(several)
            left_out.discard(next(makers, several[0]))
        return [target for target in found if target.symbol not in left_out] if left_out else found

    # from names

    def of_name(self, reference: Reference, name: str, *, bound: bool) -> list[Target]:
        """Return all definitions with the bare name of a call.

        If `bound` is True, methods are returned, else functions. They must accept the call's arguments. This look-up is for calls that type
        inference cannot resolve. The result is empty in these cases:

        - There are more than `AMBIGUOUS_LIMIT` definitions.
        - The name begins with `__`.
        - `bound` is True, and many types have a method of this name.
        """
        if (bound and rules_of(self.entry).is_common_name(name)) or name.startswith("__"):
            return []
        _, _, arguments, named = call_at(self.terms, reference.term)
        keywords = tuple(keyword for keyword, _ in named)
        is_open = "**" in keywords or any(self.terms[argument][0] == SPREAD for argument in arguments)
        asked = (name, bound, -1, ()) if is_open else (name, bound, len(arguments), keywords)
        found = self._named.get(asked)
        if found is None:
            found = self._named[asked] = self._of_name(*asked)
        return found

    def _of_name(self, name: str, bound: bool, positional: int, keywords: Sequence[str]) -> list[Target]:
        """Return the result of `of_name` for calls with given arguments.

        `positional` is the number of positional arguments, or -1 if unknown. `keywords` are the names of the keyword arguments. All calls
        in this file with the same name, `positional` and `keywords` have the same result.
        """
        keeps_all = bound and rules_of(self.entry).methods_are_declared_once
        asked = (name, bound, positional, keywords, keeps_all)
        fitting = self.project.solver.look_up(self.project.shared, ("fitting", *asked), self._fitting, *asked)
        found = list(fitting)
        if _is_apart(self.entry):
            own = (symbol for symbol in self.entry.symbols if symbol.name == name and self._fits(symbol, bound, positional, keywords))
            found = sorted((*found, *own), key=lambda symbol: symbol.place)
        if bound and len(found) > 1:
            found = list(rules_of(self.entry).declared_once(self.inference, found))
        # An abstract method of Python, marked by a decorator, does not run; a method of an interface stands for its implementations.
        found = [one for one in found if not self._is_unused(one)] or found
        if len(found) == 1:
            return [self.extension(found[0], "unique_name") if bound else Target(found[0], None, "unique_name")]
        if not found or len(found) > AMBIGUOUS_LIMIT:
            return []
        confidence = ONE_FAMILY if bound and self._is_one_family(found) else round(0.5 / len(found), 3)
        return [Target(symbol, None, "ambiguous_name", confidence) for symbol in found]

    def of_property(self, name: str, caller: Symbol) -> list[Target]:
        """Return the properties that `x.name` may read if `x` has an unknown type.

        The attribute must be a property in all classes that have it. The result is empty for more than `AMBIGUOUS_LIMIT` classes, and for
        names that library objects have, too.
        """
        if name.startswith("__") or rules_of(self.entry).is_common_name(name) or self.entry.in_tests:
            return []
        owners = [symbol for symbol in self.project.having(name) if not _is_apart(self.project.files[symbol.path])]
        found: list[Symbol] = []
        for owner in owners[: AMBIGUOUS_LIMIT + 1]:
            own = [one for one in self.inference.functions(owner, name) if self._is_property(one)]
            if not own or len(owners) > AMBIGUOUS_LIMIT:
                return []
            found += own
        found = [one for one in found if not self._is_unused(one)]
        if len(found) == 1 and found[0] is caller:  # it usually asks a wrapped object, which is of another class
            return []
        if len(found) <= 1:
            return [Target(one, None, "unique_name", LONE_PROPERTY) for one in found]
        confidence = ONE_FAMILY if self._is_one_family(found) else round(0.5 / len(found), 3)
        return [Target(one, None, "ambiguous_name", confidence) for one in found]

    def _fitting(self, name: str, bound: bool, positional: int, keywords: Sequence[str], keeps_all: bool) -> Sequence[Symbol]:
        """Return those definitions of a name that accept a call's arguments.

        Definitions in test files and scripts are left out, because other files cannot call them by name alone. Unless `keeps_all` is true,
        the list ends when it is too long to be used.
        """
        found: list[Symbol] = []
        running = 0
        for symbol in self.project.named(name):
            if not _is_apart(self.project.files[symbol.path]) and self._fits(symbol, bound, positional, keywords):
                found.append(symbol)
                running += keeps_all or not self._is_unused(symbol)
                if running > AMBIGUOUS_LIMIT and not keeps_all:
                    break
        return found

    def _fits(self, symbol: Symbol, bound: bool, positional: int, keywords: Sequence[str]) -> bool:
        if symbol.kind not in FUNCTION_KINDS or bound != (symbol.kind == "method"):
            return False
        other = self.project.files[symbol.path]
        definition = other.definitions[symbol.index]
        given = positional + (bound and rules_of(other).extended_by_parameter(definition))
        return positional < 0 or rules_of(other).takes(definition, given, keywords, bound=bound)

    def _is_unused(self, symbol: Symbol) -> bool:
        """Whether a method never runs, because a decorator marks it as abstract."""
        return self._is_abstract(symbol) and bool(self.project.definition(symbol).decorators)

    def in_template(self, receiver: str, found: Sequence[Target]) -> list[Target]:
        """Return the targets that a template can call on an object.

        `found` are all targets, and `receiver` is the name of the object. Handlers of routes are removed, because only the framework calls
        them. Templates name an object after its class: `story` and `@story` are objects of the class `Story`. If one of several targets
        belongs to such a class, it is the only result.
        """
        found = [target for target in found if target.symbol is None or not self._is_route(target.symbol)]
        held = receiver.lstrip("@").replace("_", "").lower()
        chosen = [target.symbol for target in found if target.symbol is not None and self._owner_name(target.symbol).lower() == held]
        if len(found) > 1 and len(chosen) == 1:
            return [Target(chosen[0], None, "ambiguous_name", ONE_FAMILY)]
        return found

    def _owner_name(self, method: Symbol) -> str:
        entry = self.project.entry(method)
        return entry.definitions[entry.definitions[method.index].parent].name

    def _is_route(self, symbol: Symbol) -> bool:
        entry = self.project.entry(symbol)
        rules = language_spec(entry.facts.language).entry_points
        rule = entry_rule(rules, entry.facts, entry.definitions[symbol.index], ())
        return rule is not None and rule.kind == "route"

    def _is_one_family(self, methods: Sequence[Symbol]) -> bool:
        """Whether `methods` belong to one class and its subclasses.

        The result is True if one of the classes that define `methods` is a base of all the others. A call on an object of that base can
        then run any of `methods`.
        """
        owners: list[Symbol] = []
        for method in methods:
            entry = self.project.entry(method)
            owners.append(entry.symbols[entry.definitions[method.index].parent])
        if any(owner.kind not in CLASS_KINDS for owner in owners):
            return False
        return bool(frozenset.intersection(*map(self.inference.project_classes, owners)).intersection(owners))

    def rule_of(self, places: Sequence[Place]) -> str:
        """Return the rule by which a name was found, given its bindings.

        `places` are the bindings. The rule is `scope` for a definition in this file, and `import` for an import or a definition in another
        file. For a variable or a parameter the rule is `function_value`.
        """
        kinds = {place.slot.kind for place in places}
        if kinds <= {"definition"}:
            return "scope" if all(place.entry is self.entry for place in places) else "import"
        return "import" if kinds <= {"definition", "import"} else "function_value"

    def receiver_rule(self, reference: Reference, term: int) -> str:
        """Return the rule that explains how a call's receiver got its type.

        `term` is the receiver, such as `x` in `x.f()`. An example of a rule is `receiver_type`, for a receiver with a declared type.
        """
        entry, inference = self.entry, self.inference
        found = self.terms[term]
        if found[0] == SELF or entry.rules.receiver_class(entry, reference.scope, term) >= 0:
            return "self"
        if found[0] == NAME:
            places = inference.lookup(entry, reference.scope, found[1], reference.line) or []
            if places and {place.slot.kind for place in places} <= {"definition", "import"}:
                return self.rule_of(places)
            return "receiver_type" if places and all(self._is_declared(place) for place in places) else "inferred_type"
        if rules_of(entry).types_are_declared and found[0] != ATTR:
            return "receiver_type"
        if found[0] in (CALL, NEW):
            value = inference.expanded(inference.term(entry, reference.scope, found[1], reference.line))
            return "receiver_type" if value and all(atom[0] in (CLASS, EXT) for atom in value) else "inferred_type"
        if found[0] == ATTR:
            return self._attribute_rule(reference, found[1], found[2])
        return "inferred_type"

    def _attribute_rule(self, reference: Reference, base: int, name: str) -> str:
        """Return the rule for a receiver that is an attribute, such as `a.b`.

        The rule is `import` for an attribute of a module. Otherwise it is `receiver_type` if the source declares the attribute's type, or
        else `inferred_type`.
        """
        entry = self.entry
        value = self.inference.term(entry, reference.scope, base, reference.line)
        if value and all(atom[0] in (MODULE, NAMESPACE, EXT) for atom in value):
            return "import"
        if rules_of(entry).types_are_declared:
            return "receiver_type"
        owner = entry.rules.receiver_class(entry, reference.scope, base)
        if owner >= 0:
            bindings = entry.facts.bindings
            positions = [*entry.members.get(owner, {}).get(name, ())]
            positions += [slot.index for slot in entry.names(owner).get(name, ()) if slot.kind == "binding"]
            if positions and all(_is_plain(entry, bindings[i].annotation, bindings[i].value) for i in positions):
                return "receiver_type"
        return "inferred_type"

    def _is_declared(self, place: Place) -> bool:
        """Whether the source code states the type of a variable or parameter.

        `place` is the variable's binding. An annotation, or a call of a class such as `x = A()`, states the type.
        """
        entry, scope, slot = place
        if slot.kind == "parameter":
            return entry.definitions[scope].parameters[slot.index].annotation >= 0
        if slot.kind == "binding":
            binding = entry.facts.bindings[slot.index]
            if rules_of(entry).types_are_declared:
                return binding.annotation >= 0 or binding.value >= 0
            return _is_plain(entry, binding.annotation, binding.value)
        return True


def _is_plain(entry: FileEntry, annotation: int, value: int) -> bool:
    """Whether a binding states the type of its variable, as `x: A` does.

    `annotation` and `value` are the expressions in the binding, or -1. An annotation states the type. A call such as `x = A()` also states
    the type, if the called name begins with a capital.
    """
    if annotation >= 0:
        return True
    term = entry.terms[value] if value >= 0 else None
    if term is None or term[0] not in (CALL, NEW):
        return False
    _, callee, _, _ = term
    return last_name(entry.terms[callee])[:1].isupper()


def _is_apart(entry: FileEntry) -> bool:
    """Whether other files can use a file's definitions only by importing them.

    The result is True for test files and scripts.
    """
    return entry.in_tests or entry.path.endswith(rules_of(entry).script_endings)
