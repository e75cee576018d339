"""Constructor functions and prototypes, the classes of older JavaScript.

Before the language had classes, assignments gave functions their bases and members: `A.prototype.f = function …`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from graphmem.parsing.facts import ATTR, CALL, NAME, NEW, NO_TERM, TermIndex
from graphmem.resolution.ecmascript.library import METHODS_OF_FUNCTIONS
from graphmem.resolution.ecmascript.receivers import lies_in
from graphmem.resolution.interfaces.rules_of_calls import CallRules
from graphmem.resolution.interfaces.rules_of_classes import ClassRules
from graphmem.resolution.interfaces.rules_of_names import NameRules
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.terms import arguments_of, last_name
from graphmem.resolution.values.types import (
    BOX,
    BUILTIN,
    CLASS,
    EMPTY,
    FUNC,
    INST,
    PARTIAL,
    Func,
    Type,
    join,
    join_all,
    one,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Binding, Term
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference


class Prototypes(NameRules, ClassRules, CallRules):
    """Rules for members and bases that assignments give to functions."""

    def constructed(self, inference: Inference, function: Symbol) -> Type:
        """Return the instance that `new f()` creates, for a function `f`."""
        return one((INST, function, True)) if function.kind == "function" else EMPTY

    def given_bases(self, inference: Inference, entry: FileEntry, symbol: Symbol) -> Type:
        """Return the bases that statements give to a constructor function.

        Examples of such statements are `util.inherits(A, B)` and `A.prototype = Object.create(B.prototype)`.
        """
        if symbol.kind != "function":
            return EMPTY
        for name in ("inherits", "setPrototypeOf"):
            inference.project.touch("calls", name)
        inference.project.touch_top(entry, "*")
        given = _given_bases(entry).get((entry.definitions[symbol.index].parent, symbol.name), ())
        values = (inference.expanded(inference.term(entry, scope, term, line)) for scope, term, line in given)
        return join_all(
            join_all(one((CLASS, atom[1], False)) if atom[0] == FUNC else frozenset((atom,)) for atom in value) for value in values
        )

    def bound(self, inference: Inference, entry: FileEntry, binding: Binding, value: Type) -> Type:
        """Return the type of a variable, with members assigned to it later.

        For example, `app.use = function …` adds the member `use` to `app`.
        """
        target = entry.terms[binding.target]
        if target[0] != NAME or binding.op != "assign":
            return value
        position = self._extended(entry).get((binding.scope, target[1]))
        return value if position is None else join(value, one((INST, entry.symbols[position], False)))

    def function_attribute(self, inference: Inference, function: Func, name: str) -> Type:
        """Return the type of an attribute of a function, such as `Name.create`.

        The attribute is assigned (`Name.create = …`), or is one of `call`, `apply` and `bind`.
        """
        _, symbol, _ = function
        entry = inference.project.entry(symbol)
        found = EMPTY
        for slot in entry.names(symbol.index).get(name, ()):
            if slot.kind == "definition" and not lies_in(entry.definitions[slot.index], entry.definitions[symbol.index]):
                found = join(found, inference.defined(entry.symbols[slot.index]))
        if not found and name in ("call", "apply"):
            return one((PARTIAL, frozenset((function,)), 1))
        if not found and name == "bind":
            return one((BUILTIN, (BOX, METHODS_OF_FUNCTIONS, (frozenset((function,)),), 1), name))
        return found

    def _extended(self, entry: FileEntry) -> dict[tuple[int, str], int]:
        """Return the variables to which code adds methods later.

        For example, `app.use = function …` adds a method to `app`. The result maps (scope, name) of each variable to the variable's
        definition, which is a position in the file. The result is cached in `entry`.
        """
        kept: dict[tuple[int, str], int] | None = entry.kept.get("extended")
        if kept is None:
            kept = entry.kept["extended"] = {}
            for definition in entry.definitions:
                parent = entry.definitions[definition.parent]
                if definition.kind == "method" and parent.kind == "variable" and not lies_in(definition, parent):
                    kept[parent.parent, parent.name] = definition.parent
        return kept


def _given_bases(entry: FileEntry) -> Mapping[tuple[int, str], list[tuple[int, TermIndex, int]]]:
    """Map (scope, function name) to the bases of a constructor function.

    Each base is (scope, index of its expression, line). Before classes, code such as `A.prototype = Object.create(B.prototype)` gave the
    function `A` the base `B`.
    """
    kept: dict[tuple[int, str], list[tuple[int, TermIndex, int]]] | None = entry.kept.get("bases")
    if kept is not None:
        return kept
    kept = entry.kept["bases"] = {}
    terms = entry.terms
    for binding in entry.facts.bindings:
        target = terms[binding.target]
        if binding.op != "assign" or target[0] != ATTR or binding.value < 0:
            continue
        value = terms[binding.value]
        _, holder, member = target
        base = NO_TERM
        if member == "prototype" and (held := terms[holder])[0] == NAME:  # A.prototype = Object.create(B.prototype), new B()
            _, name = held
            if value[0] == NEW:
                _, base, _, _ = value
            elif value[0] == CALL:
                _, callee, given, _ = value
                base = _prototype_of(terms, given[0]) if given and last_name(terms[callee]) == "create" else NO_TERM
        elif member == "__proto__":  # A.prototype.__proto__ = B.prototype
            maker, base = _prototype_of(terms, holder), _prototype_of(terms, binding.value)
            name = name_at(terms, maker)
        else:
            continue
        if base >= 0 and name:
            kept.setdefault((binding.scope, name), []).append((binding.scope, base, binding.line))
    for called in ("inherits", "setPrototypeOf"):  # util.inherits(A, B), Object.setPrototypeOf(A.prototype, B.prototype)
        for site in entry.call_sites(called):
            given = arguments_of(terms[site.term])
            if len(given) == 2:
                maker, base = given if called == "inherits" else (_prototype_of(terms, argument) for argument in given)
                name = name_at(terms, maker)
                if base >= 0 and name:
                    kept.setdefault((site.scope, name), []).append((site.scope, base, site.line))
    return kept


def _prototype_of(terms: Sequence[Term], term: TermIndex) -> TermIndex:
    """Return the index of `X` in `X.prototype`; -1 for other expressions."""
    found = terms[term]
    if found[0] != ATTR:
        return NO_TERM
    _, base, name = found
    return base if name == "prototype" else NO_TERM


def name_at(terms: Sequence[Term], index: TermIndex) -> str:
    """Return the name if an expression is a bare name such as `a`; else ""."""
    term = terms[index] if index >= 0 else None
    return term[1] if term is not None and term[0] == NAME else ""
