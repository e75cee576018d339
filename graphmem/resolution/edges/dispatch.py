"""Dynamic dispatch: find the overrides that a method call can run.

A call on an object of class `A` runs the method of `A` or an override in a subclass. An override is considered only if the project may
create objects that have it (see `hierarchy`). A method that no object can run gets a reference edge instead of a call edge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from graphmem.model import EdgeKind
from graphmem.parsing.facts import ATTR
from graphmem.resolution.edges.target import Target
from graphmem.resolution.files.call_index import CallSite
from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.interfaces.inference import Inference
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.type_inference.hierarchy import Hierarchy
from graphmem.resolution.values.symbol import FUNCTION_KINDS, Symbol
from graphmem.resolution.values.terms import call_at
from graphmem.resolution.values.types import CLASS, INST, Receiver

FEW_OVERRIDES: Final = 4
"""Most overrides that a call on any receiver may mean.

If there are more, overrides of a method with a body of its own count for `self` only. For other receivers the OVERRIDES edges record
them. Methods that the language calls, and properties, have no limit but `MAX_OVERRIDES`.
"""

MANY_PROPERTIES: Final = 0.35
"""Confidence in each property that overrides the property read, if there are more than `FEW_OVERRIDES`."""


class Dispatch:
    """Finds the overrides that the method calls of one file can run."""

    def __init__(self, inference: Inference, hierarchy: Hierarchy, entry: FileEntry) -> None:
        self.inference = inference
        self.project = inference.project
        self.hierarchy = hierarchy
        self.entry = entry
        self._met: dict[tuple[int, Symbol], bool] = {}  # by method and override

    def targets(self, receiver: Receiver, name: str, plain: Sequence[Target], caller: Symbol, *, is_self: bool) -> Iterator[Target]:
        """Yield the methods that a call on an object may run.

        `caller` is the function that contains the call. `plain` are the methods found for the object's declared class. Methods of
        subclasses that override them are added. `is_self` is True for a call on `self`. A method that no object can run gets a reference
        edge instead of a call edge. Such a method is abstract, or is overridden in all classes that are instantiated.
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
            if target.symbol is not None and (
                (is_idle and target.symbol.name == name)
                or (self.project.has_modifier(target.symbol, "abstract") and (overrides or self._is_replaced(target.symbol, receiver[1])))
            ):
                is_abstract = True
                yield target._replace(kind=EdgeKind.REFERENCES)
            else:
                yield target
        if len(overrides) > FEW_OVERRIDES and not is_self and not is_abstract and not name.startswith("__"):
            overrides = [symbol for symbol in overrides if self.project.has_modifier(symbol, "property")]
            yield from (Target(symbol, None, "override", MANY_PROPERTIES) for symbol in overrides)
            return
        yield from (Target(symbol, None, "override") for symbol in overrides)

    def _is_replaced(self, method: Symbol, receiver: Symbol) -> bool:
        """Whether a subclass replaces an abstract property, such as by a variable.

        `method` is the property's method, and `receiver` the class of the object that is read. The result is False for other methods.
        """
        if not self.project.has_modifier(method, "property"):
            return False
        entry = self.project.entry(method)
        owner = entry.symbols[entry.definitions[method.index].parent]
        return any(child.index >= 0 and self.inference.owner(child, method.name) is not owner for child in self.inference.below(receiver))

    def overriding_properties(self, symbol: Symbol, name: str, caller: Symbol) -> Iterator[Target]:
        """Yield properties in subclasses that replace a class variable.

        `symbol` is the class of the object that is read, and `name` is the variable. `caller` is the function that reads it.
        """
        for found in self.hierarchy.overrides(symbol, name, caller):
            if self.project.has_modifier(found, "property"):
                yield Target(found, None, "override")

    def _may_run(self, plain: Sequence[Target], method: Symbol) -> bool:
        """Whether a call can run a method that overrides another method.

        `method` is the overriding method. It must override one of `plain`, the methods that the call runs if overrides are ignored.
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
        A subclass may also inherit `b` from another base.
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
        children = [child for child in (below, *inference.below(below)) if child.index >= 0]
        if owner not in inference.project_classes(below):
            children = [child for child in children if owner in inference.project_classes(child)]  # they inherit from both classes
        if not children:  # the call is on a value in an attribute of `self`
            return True
        if any(inference.owner(child, method.name) is owner for child in children):
            return True
        sites, are_all = self.project.call_sites(method.name)
        if not are_all:
            return True
        users = {user for site in sites if (user := self._calls_on_other(site)) is not None}
        return any(not users.isdisjoint(inference.project_classes(child) - {owner}) for child in children)

    def _calls_on_other(self, site: CallSite) -> Symbol | None:
        """Return the class that contains a call, if the receiver is not `self`.

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

        `owner` is the class that defines the method `name`. `is_overridden` tells whether a subclass overrides it. Objects of the class
        `symbol` and of its subclasses are examined. The result may be True in two cases:

        - A subclass overrides the method, and the project may create objects of `symbol` or of a subclass.
        - `owner` is a protocol.

        In all other cases the result is False.
        """
        may_be = is_overridden and self.hierarchy.is_made(symbol)
        may_be = may_be or rules_of(self.project.entry(owner)).is_protocol(self.inference, owner)
        return may_be and not self.hierarchy.runs(symbol, owner, name)
