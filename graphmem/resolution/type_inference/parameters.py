"""Infer the types of parameters from declarations, defaults and callers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import NAME, OPERATOR, Parameter
from graphmem.resolution.files.call_index import CallSite
from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.interfaces.call import Call
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.type_inference.contents import holds_callables
from graphmem.resolution.type_inference.decorating import called_at, called_name, factory_keys, receivers
from graphmem.resolution.values.declared_types import behind, closed, is_deferred, is_open
from graphmem.resolution.values.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.values.terms import call_at, last_name
from graphmem.resolution.values.types import CLASS, EMPTY, EXTI, FUNC, LAM, PARTIAL, TOP, Atom, Type, box, join, one, order

if TYPE_CHECKING:
    from graphmem.resolution.interfaces.inference import Inference


Caller = tuple[CallSite, bool, frozenset[Atom | None]]
"""A call that runs a function, whether the functions it passes count, and the receivers of the call."""

MAX_FUNCTIONS_OF_TESTS: Final = 40
"""Most callers of a function for which the functions that tests pass to it count."""


class Parameters:
    """Finds the types of functions' parameters, for type inference."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.project = inference.project
        self.ask = inference.project.solver.ask

    def parameter(self, symbol: Symbol, index: int) -> Type:
        """Return the type of a parameter of a function.

        The annotation gives the type. Without an annotation, it comes from the receiver, the default and the arguments of callers.
        """
        if symbol.index < 0 and not self.project.exists(symbol):
            return EMPTY
        return self.ask(self.project.files[symbol.path].memo, ("p", symbol.index, index), self._parameter, symbol, index)

    def _parameter(self, symbol: Symbol, index: int) -> Type:
        entry = self.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        if index >= len(definition.parameters):
            return EMPTY
        parameter = definition.parameters[index]
        if index == 0 and symbol.kind == "method" and rules_of(entry).first_parameter_is_receiver and "static" not in definition.modifiers:
            return rules_of(entry).receiver(self.inference, symbol)
        is_inside = symbol.kind in CLASS_KINDS or rules_of(entry).header_is_inside
        scope = symbol.index if is_inside else definition.parent  # a class's header sees its inner classes
        declared = self.inference.declared(entry, scope, parameter.annotation)
        is_rest = parameter.kind in ("rest", "keyword_rest")
        if parameter.annotation >= 0 and not is_open(declared):
            value = declared
            if is_deferred(declared) or holds_callables(declared):
                passed = self.inference.expanded(self._passed(symbol, index))
                value = join(declared, passed if holds_callables(declared) else behind(declared, passed))
        else:
            value = closed(declared)
            value = join(value, rules_of(entry).implicit_argument(self.inference, symbol, index))
            if parameter.default >= 0 and not _is_marker(entry, parameter):
                value = join(value, self.inference.term(entry, scope, parameter.default, definition.start_line))
            value = join(value, self._passed(symbol, index))
            value = self.inference.expanded(value)
            if is_rest:
                return value
            value = join(value, rules_of(entry).used_as(self.inference, symbol, index))
        if parameter.kind == "rest":
            return box("tuple", value)
        return box("dict", one((EXTI, rules_of(entry).builtin_package, "str", None)), value) if parameter.kind == "keyword_rest" else value

    def _passed(self, symbol: Symbol, index: int) -> Type:
        """Return the type of the arguments that callers pass for a parameter.

        If there are too many callers, only some are read. Then the result has only the types of instances. Arguments that are functions
        or classes are left out. Arguments in tests are considered only if there are few callers.
        """
        found = EMPTY
        for site, is_whole, receiving in self.ask(self.project.shared, ("P", symbol), self._callers, symbol):
            entry = self.project.files[site.path]
            if site.decorated >= 0:
                call = Call(self.inference, entry, site.scope, site.line, passed=(one((FUNC, entry.symbols[site.decorated], None)),))
            else:
                _, called, positional, keywords = call_at(entry.terms, site.term)
                call = Call(self.inference, entry, site.scope, site.line, called, positional, keywords)
            for receiver in sorted(receiving, key=lambda one: order(one) if one is not None else ""):
                passed = self.argument(symbol, index, call, self.filled_by_receiver(symbol, receiver)) or EMPTY
                found = join(found, passed if is_whole else _objects_of(passed))
                if found is TOP:
                    return TOP
        return found

    def _callers(self, symbol: Symbol) -> tuple[Caller, ...]:
        """Return the calls that run a function, among all calls of its name."""
        entry = self.project.entry(symbol)
        name, owner = called_name(entry, symbol)
        found: list[Caller] = []
        files = self.project.files
        for key in (name, *factory_keys(entry, symbol, owner)):
            sites, are_all = self.project.call_sites(key, symbol.path)
            in_tests = are_all and sum(site.decorated < 0 for site in sites) <= MAX_FUNCTIONS_OF_TESTS  # whether functions of tests count
            elsewhere = are_all or files[sites[-1].path].in_tests
            for site in sites:
                other = files[site.path]
                self.project.touch("passed", site.path, other.symbols[site.scope].qualname, key)
                asked = ("t", site.scope, site.term, site.line, "called" if site.decorated < 0 else "decorates")
                called = self.ask(other.memo, asked, called_at, self.inference, other, site)
                passed = frozenset(receivers(self.inference, symbol, owner, called, is_decorator=site.decorated >= 0))
                if passed:
                    found.append((site, in_tests if other.in_tests else elsewhere, passed))
        return tuple(found)

    def filled_by_receiver(self, symbol: Symbol, receiver: Atom | None) -> int:
        """Return the number of parameters that the receiver of a call fills.

        For `x.f()` in Python the number is 1, because `x` is passed for the parameter `self`. The number is 0 in languages whose methods do
        not declare their receiver as a parameter.
        """
        if receiver is None or symbol.kind != "method":
            return 0
        entry = self.project.files[symbol.path]
        return int(rules_of(entry).first_parameter_is_receiver or rules_of(entry).extended_by_parameter(entry.definitions[symbol.index]))

    def argument(self, symbol: Symbol, index: int, call: Call, offset: int) -> Type | None:
        """Return the type of the argument that a call passes for a parameter.

        The parameter is that of `symbol` at position `index`. `offset` is the number of parameters that the receiver fills, such as `self`.
        Returns None if the call does not determine the argument.
        """
        parameters = self.project.definition(symbol).parameters
        parameter = parameters[index]
        if parameter.kind == "rest":
            return box("tuple", call.rest(index - offset))
        if parameter.kind == "keyword_rest":
            return None
        given = call.argument(index - offset) if parameter.kind != "keyword" and index >= offset else None
        return given if given is not None else call.keyword(parameter.name)

    def default(self, symbol: Symbol, index: int) -> Type:
        """Return the type of a parameter's default value."""
        entry = self.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        parameter = definition.parameters[index]
        if _is_marker(entry, parameter):
            return EMPTY
        return self.inference.term(entry, definition.parent, parameter.default, definition.start_line)


def _is_marker(entry: FileEntry, parameter: Parameter) -> bool:
    """Whether the default of a parameter only marks a missing argument.

    An example is `x=MISSING`. The result is True if the file compares `x` and `MISSING` by identity, as in `if x is MISSING`.
    """
    default = entry.terms[parameter.default]
    signs = rules_of(entry).identity_signs
    if default[0] != NAME or not signs:
        return False
    compared: frozenset[tuple[str, str]] | None = entry.kept.get("compared names")
    if compared is None:
        tests = [term for term in entry.terms if term[0] == OPERATOR and term[1] in signs and term[3] >= 0]
        named = ((last_name(entry.terms[left]), last_name(entry.terms[right])) for _, _, left, right in tests)
        compared = entry.kept["compared names"] = frozenset(named)
    return (parameter.name, default[1]) in compared


def _objects_of(passed: Type) -> Type:
    """Return the type `passed` without its functions and classes.

    The result is the type of a parameter that has too many callers to read all of them.
    """
    return frozenset(atom for atom in passed if atom[0] not in (FUNC, LAM, PARTIAL, CLASS))
