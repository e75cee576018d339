"""Find definitions by the bare name of a call whose receiver is unknown.

This is the last resort if type inference finds nothing. A single definition of the name has the rule `unique_name`. A few definitions share
a confidence under the rule `ambiguous_name`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from graphmem.parsing.facts import SPREAD, Reference
from graphmem.parsing.language import language_spec
from graphmem.resolution.edges.target import Target, extension_target
from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.interfaces.inference import Inference
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.rules import AMBIGUOUS_LIMIT
from graphmem.resolution.symbol_rows import entry_rule
from graphmem.resolution.values.symbol import CLASS_KINDS, FUNCTION_KINDS, Symbol
from graphmem.resolution.values.terms import call_at
from graphmem.resolution.values.types import Type

ONE_FAMILY: Final = 0.65
"""Confidence in each of several methods of one name that override one another, and in one whose class the receiver is named after."""

MOST_OWNERS: Final = 16
"""Most classes with an attribute among which properties of an unknown receiver are chosen."""

LONE_PROPERTY: Final = 0.85
"""Confidence in the only property of a name that no other attribute has."""


class BareNames:
    """Finds definitions for the calls in one file by name alone."""

    def __init__(self, inference: Inference, entry: FileEntry) -> None:
        self.inference = inference
        self.project = inference.project
        self.entry = entry
        self.terms = entry.terms
        self._found: dict[tuple[str, bool, int, tuple[str, ...]], list[Target]] = {}  # by the arguments of `_definitions`

    def definitions(self, reference: Reference, name: str, *, bound: bool) -> list[Target]:
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
        question = (name, bound, -1, ()) if is_open else (name, bound, len(arguments), keywords)
        found = self._found.get(question)
        if found is None:
            found = self._found[question] = self._definitions(*question)
        return found

    def _definitions(self, name: str, bound: bool, positional: int, keywords: Sequence[str]) -> list[Target]:
        """Return the definitions of a name that fit given arguments, cached.

        `bound` chooses methods, else functions. `positional` is the number of positional arguments, or -1 if unknown. `keywords` are the
        names of the keyword arguments. All calls in this file with the same name, `positional` and `keywords` have the same result.
        """
        keeps_all = bound and rules_of(self.entry).methods_are_declared_once
        question = (name, bound, positional, keywords, keeps_all)
        fitting = self.project.solver.look_up(self.project.shared, ("fitting", *question), self._fitting, *question)
        found = list(fitting)
        if _is_apart(self.entry):
            own = (symbol for symbol in self.entry.symbols if symbol.name == name and self._fits(symbol, bound, positional, keywords))
            found = sorted((*found, *own), key=lambda symbol: symbol.place)
        if bound and len(found) > 1:
            found = list(rules_of(self.entry).declared_once(self.inference, found))
        # An abstract method of Python, marked by a decorator, does not run; a method of an interface stands for its implementations.
        found = [one for one in found if not self._is_unused(one)] or found
        if len(found) == 1:
            return [extension_target(self.project, found[0], "unique_name") if bound else Target(found[0], None, "unique_name")]
        if not found or len(found) > AMBIGUOUS_LIMIT:
            return []
        confidence = ONE_FAMILY if bound and self._is_one_family(found) else round(0.5 / len(found), 3)
        return [Target(symbol, None, "ambiguous_name", confidence) for symbol in found]

    def _fitting(self, name: str, bound: bool, positional: int, keywords: Sequence[str], keeps_all: bool) -> Sequence[Symbol]:
        """Return those definitions of a name that accept a call's arguments.

        For the first parameters, see `_definitions`. Definitions in test files and scripts are left out, because other files cannot call
        them by name alone. Unless `keeps_all` is true, the list ends when it is too long to be used.
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

    def properties(self, name: str, caller: Symbol) -> list[Target]:
        """Return the properties that `x.name` may read if `x` has an unknown type.

        If most of these properties belong to one class and its subclasses, they are the result. Otherwise the attribute must be a property
        in all classes that have it. The result is empty if the only property is `caller`, the function that contains the read. It is also
        empty for more than `AMBIGUOUS_LIMIT` properties, and for names that library objects have, too.
        """
        if name.startswith("__") or rules_of(self.entry).is_common_name(name) or self.entry.in_tests:
            return []
        families, is_always_property = self._property_families(name)
        every = [one for family in families for one in family]
        largest = max(families, key=len, default=[])
        found = largest if 1 < len(largest) > len(every) - len(largest) else every if is_always_property else []
        # a property that reads its own name usually reads it of a wrapped object, which has another class
        if len(found) > AMBIGUOUS_LIMIT or found == [caller]:
            return []
        if len(found) <= 1:
            return [Target(one, None, "unique_name", LONE_PROPERTY) for one in found]
        confidence = ONE_FAMILY if len(found) == len(largest) else round(0.5 / len(found), 3)
        return [Target(one, None, "ambiguous_name", confidence) for one in found]

    def storing(self, name: str) -> list[Symbol]:
        """Return the classes that have a data attribute without inheriting it.

        The result is empty for more than `AMBIGUOUS_LIMIT` classes, if one of them has a method of this name, and for names that library
        objects have, too. Classes of tests and scripts are ignored.
        """
        if name.startswith("__") or rules_of(self.entry).is_common_name(name) or self.entry.in_tests:
            return []
        owners = [symbol for symbol in self.project.having(name) if not _is_apart(self.project.files[symbol.path])]
        tops = [one for one in owners if len(self.inference.project_classes(one).intersection(owners)) == 1]
        if len(tops) > AMBIGUOUS_LIMIT or any(self.inference.functions(owner, name) for owner in owners):
            return []
        return tops

    def _property_families(self, name: str) -> tuple[list[list[Symbol]], bool]:
        """Return the properties of a name, grouped by their topmost base class.

        A group is left out if one of its classes has a plain variable of this name. The second result is False if a group was left out,
        or if too many classes have the attribute.
        """
        owners = [symbol for symbol in self.project.having(name) if not _is_apart(self.project.files[symbol.path])]
        if len(owners) > MOST_OWNERS:
            return [], False
        found: dict[Symbol, list[Symbol]] = {}
        plain: set[Symbol] = set()
        for owner in owners:
            having = [one for one in self.inference.mro(owner) if isinstance(one, Symbol) and one in owners]
            top = having[-1] if having else owner
            own = [one for one in self.inference.functions(owner, name) if self.project.has_modifier(one, "property")]
            found.setdefault(top, []).extend(one for one in own if not self._is_unused(one))
            inherited = (one for base in having for one in self.inference.functions(base, name))
            if not own and not any(self.project.has_modifier(one, "property") for one in inherited):
                plain.add(top)
        return [family for top, family in found.items() if top not in plain], not plain

    def extensions(self, receiver: Type, name: str) -> list[Target]:
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
            return [extension_target(self.project, symbol, "unique_name") for symbol in found]
        return [
            extension_target(self.project, symbol, "ambiguous_name")._replace(confidence=round(0.5 / len(groups), 3)) for symbol in found
        ]

    def _is_unused(self, symbol: Symbol) -> bool:
        """Whether a method never runs, because a decorator marks it as abstract."""
        return self.project.has_modifier(symbol, "abstract") and bool(self.project.definition(symbol).decorators)

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


def _is_apart(entry: FileEntry) -> bool:
    """Whether other files must import a file to use its definitions.

    The result is True for test files and scripts. Their definitions are not found by bare name.
    """
    return entry.in_tests or entry.path.endswith(rules_of(entry).script_endings)
