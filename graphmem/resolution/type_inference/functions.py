"""Infer the result types of functions and of calls.

A type is a set of alternatives: the type of `x` may be `A | B`. The list of a file's bindings has the places where names and attributes get
values, such as `x = f()`, and also the `return` statements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.resolution.interfaces.call import Call
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.type_inference.contents import holds_callables
from graphmem.resolution.type_inference.demands import unreached
from graphmem.resolution.type_inference.parameters import Parameters
from graphmem.resolution.values.declared_types import behind, closed, is_deferred
from graphmem.resolution.values.outside import result_name
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.types import (
    BOX,
    BUILTIN,
    CLASS,
    EMPTY,
    EXT,
    EXTI,
    FUNC,
    INST,
    LAM,
    PARTIAL,
    PENDING,
    TOP,
    UNTYPED,
    Atom,
    Func,
    Instance,
    Type,
    bottom_for,
    box,
    join,
    join_all,
    one,
    ordered,
)

if TYPE_CHECKING:
    from graphmem.resolution.interfaces.inference import Inference

from graphmem.resolution.type_inference.substitution import Substitution

MAX_OVERRIDING: Final = 16
"""Most methods that override an abstract method, so that a call of it has their results."""


class Functions:
    """Infers the result types of functions and of calls."""

    def __init__(self, inference: Inference, parameters: Parameters, substitution: Substitution) -> None:
        self.inference = inference
        self.parameters = parameters
        self.substitution = substitution
        self.project = inference.project
        self.ask = inference.project.solver.ask

    def returned(self, symbol: Symbol) -> Type:
        """Return a function's result type, independent of a call's arguments.

        The type may contain parameters of the function (`PARAM`, `TYPEVAR` and `SELFTYPE` tuples). For each call, `substituted` replaces
        them by the arguments.
        """
        return self.ask(self.project.files[symbol.path].memo, ("r", symbol.index), self._returned, symbol)

    def _returned_unless(self, symbol: Symbol, excluded: tuple[int, ...]) -> Type:
        """Return a function's result type, without some of its `return`s.

        `excluded` are the ignored `return` statements, as indices in the file's list of bindings.
        """
        return self.ask(self.project.files[symbol.path].memo, ("r", symbol.index, excluded), self._returned, symbol, excluded)

    def _excluded(self, function: Func, call: Call) -> tuple[int, ...]:
        """Return the positions of the `return`s that a call cannot reach.

        The module `demands` finds them. The result is empty for a function with a declared result type, because that type holds for all
        calls.
        """
        _, symbol, receiver = function
        entry = self.project.files[symbol.path]
        if symbol.index not in entry.demands or call.callee < 0 or self.project.definition(symbol).returns >= 0:
            return ()
        return unreached(entry, symbol.index, call, self.parameters.filled_by_receiver(symbol, receiver))

    def _returned(self, symbol: Symbol, excluded: tuple[int, ...] = ()) -> Type:
        entry = self.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        if definition.returns >= 0:
            scope = symbol.index if rules_of(entry).header_is_inside else definition.parent
            declared = self.inference.declared(entry, scope, definition.returns)
            if not any(atom[0] == UNTYPED for atom in declared):
                if any(atom[0] == BOX for atom in declared) and not entry.yields.get(symbol.index):
                    body = self.body_result(symbol)
                    declared = join(declared, body if holds_callables(declared) else behind(declared, body))
                return rules_of(entry).result(self.inference, symbol, declared)
            value = join(closed(declared), self.body_result(symbol))
        else:
            value = self._body_result(symbol, excluded) if excluded else self.body_result(symbol)
        return rules_of(entry).result(self.inference, symbol, value)

    def body_result(self, symbol: Symbol) -> Type:
        """Return the type that a function's body returns.

        The declared type is ignored. For a generator, the type is an iterator.
        """
        return self.ask(self.project.files[symbol.path].memo, ("R", symbol.index), self._body_result, symbol)

    def _body_result(self, symbol: Symbol, excluded: tuple[int, ...] = ()) -> Type:
        entry = self.project.entry(symbol)
        scope = symbol.index
        bindings = entry.facts.bindings
        yields = entry.yields.get(scope, ())
        if yields:
            return box("iter", join_all(self.inference.term(entry, scope, bindings[i].value, bindings[i].line) for i in yields))
        results = [i for i in entry.results.get(scope, ()) if i not in excluded]
        return join_all(self.inference.term(entry, scope, bindings[i].value, bindings[i].line) for i in results)

    def called(self, callee: Type, call: Call) -> Type:
        """Return the result type of a call, given the type of the called value.

        A type is a set of alternatives, such as several functions. The result is the union of their results.
        """
        found = bottom_for(callee)
        objects: list[Instance] = []
        wrappers = self._wrappers(callee)
        for atom in ordered(callee):
            if atom[0] == INST:
                objects.append(atom)
            elif atom not in wrappers:
                found = join(found, self.call_atom(atom, call))
        for wrapper in ordered(wrappers):
            replaced = self.call_atom(wrapper, call)
            if not found or found is TOP or not found <= self.inference.expanded(replaced):
                found = join(found, replaced)
        if objects and found:
            objects = [atom for atom in objects if not self._decorates(atom, callee)]
        for made_object in objects:
            found = join(found, self.call_atom(made_object, call))
        return found

    def _wrappers(self, callee: Type) -> Type:
        """Return the wrapper functions in the type of a called value.

        After `@timed` on a function `f`, the type of `f` has two alternatives: `f` itself and the wrapper that `timed` returns. The
        inferred result of the wrapper may have the results of all functions that `timed` decorates. If these include the result of `f`, the
        method `called` uses only the result of `f`.
        """
        if len(callee) < 2:
            return EMPTY
        wrapped = [atom[1] for atom in ordered(callee) if atom[0] == FUNC and self.project.definition(atom[1]).decorators]
        found = EMPTY
        for symbol in wrapped:
            plain = self.inference.defined(symbol)
            found |= {atom for atom in callee if atom[0] == FUNC and atom[1] is not symbol and (FUNC, atom[1], None) in plain}
        return found

    def _decorates(self, made: Instance, callee: Type) -> bool:
        """Whether the object `made` comes from decorating a function in `callee`.

        `callee` is the type of a called value. For example, `@Task def f` gives the name `f` the type `f | Task`: the function or a `Task`
        object. For this object, the result is True. A call of `f` then uses only the result of the function `f`. The inferred result of
        `Task.__call__` is less exact, because it mixes the results of all functions decorated with `Task`.
        """
        functions = [atom[1] for atom in ordered(callee) if atom[0] == FUNC]
        return any(self.project.definition(one).decorators and made in self.inference.defined(one) for one in functions)

    def called_blindly(self, callee: Type, call: Call) -> Type:
        """Return the result type of a call whose arguments are not known.

        `callee` is the type of the called value. Of `call`, only the position in the source is used.
        """
        return self.called(callee, Call(self.inference, call.entry, call.scope, call.line))

    def call_atom(self, atom: Atom, call: Call) -> Type:
        """Return the result type of calling one alternative of a callee's type.

        In `f()`, the type of `f` is a set of alternatives, such as several functions. `atom` is one of them.
        """
        if atom[0] == FUNC:
            if atom[2] is None and "property" in self.project.definition(atom[1]).modifiers:
                return EMPTY  # a property of a class cannot be called
            excluded = self._excluded(atom, call)
            found = self.substitution.substituted(
                self._returned_unless(atom[1], excluded) if excluded else self.returned(atom[1]), atom, call
            )
            if atom[2] is not None and is_deferred(found):
                return join(found, self._deferred_in_overrides(atom))
            return found or self._of_overrides(atom, call)
        if atom[0] == CLASS:
            _, symbol, or_below = atom
            rules = rules_of(call.entry)
            made = rules.class_made(self.inference, symbol, call) if len(call.args) > 1 else EMPTY
            return made or rules.made_by_hook(self.inference, symbol, call) or one((INST, symbol, not or_below))
        if atom[0] == INST:
            method = rules_of(call.entry).call_method
            return self.called(self.inference.expanded(self.inference.attribute(frozenset((atom,)), method)), call) if method else EMPTY
        if atom[0] == EXT or atom[0] == EXTI:
            known = rules_of(call.entry).call_external(self.inference, atom, call)
            if known is not None:
                return known
            _, package, dotted, given = atom
            last, result = dotted.rpartition(".")[2], result_name(dotted, "()")
            if given is not None:
                return one((EXTI, package, result, given))
            plain = one((EXTI, package, dotted if last[:1].isupper() else result, None))
            handed = rules_of(call.entry).given_outside(self.inference, atom, call)
            return join(plain, frozenset((EXTI, package, result, symbol) for symbol in handed)) if handed else plain
        if atom[0] == BUILTIN:
            return rules_of(call.entry).container_method(self.inference, atom[1], atom[2], call)
        if atom[0] == BOX and atom[1] == "callable":
            return atom[2][0]
        if atom[0] == LAM:
            return atom[1]
        if atom[0] == PARTIAL:
            return self.called_blindly(self.inference.expanded(atom[1]), call)
        return EMPTY

    def _deferred_in_overrides(self, function: Func) -> Type:
        """Return the generators and coroutines that override a method.

        Code that iterates the result of the method, or awaits it, may run their bodies. The result is empty for a receiver of a known
        class, and for more than `MAX_OVERRIDING` methods.
        """
        _, symbol, receiver = function
        if symbol.kind != "method" or receiver is None or receiver[0] != INST or receiver[2]:
            return EMPTY
        in_tests = self.project.files[receiver[1].path].in_tests
        found: list[Symbol] = []
        for child in self.inference.below(receiver[1]):
            if child.index >= 0 and self.project.files[child.path].in_tests == in_tests:
                found += self.inference.functions(child, symbol.name)
        deferred = [one for one in found if not {"generator", "async"}.isdisjoint(self.project.definition(one).modifiers)]
        return frozenset((PENDING, one) for one in deferred) if len(deferred) <= MAX_OVERRIDING else EMPTY

    def _of_overrides(self, function: Func, call: Call) -> Type:
        """Return the result type of a call of an abstract method.

        The type is that of the methods in subclasses of the receiver's class. It is empty for other methods, for an abstract method with a
        declared result, and for more than `MAX_OVERRIDING` methods.
        """
        _, symbol, receiver = function
        if symbol.kind != "method":
            return EMPTY
        definition = self.project.definition(symbol)
        if "abstract" not in definition.modifiers or definition.returns >= 0:
            return EMPTY
        is_static = receiver is None and "static" in definition.modifiers
        if is_static:
            receiver = (INST, self.project.entry(symbol).symbols[definition.parent], False)
        if receiver is None or receiver[0] != INST or receiver[2]:
            return EMPTY
        in_tests = self.project.files[receiver[1].path].in_tests
        methods: list[Func] = []
        for child in self.inference.below(receiver[1]):
            if child.index >= 0 and self.project.files[child.path].in_tests == in_tests:
                own: Instance | None = None if is_static else (INST, child, False)
                methods += ((FUNC, one, own) for one in self.inference.functions(child, symbol.name))
        return join_all(self.call_atom(one, call) for one in methods) if len(methods) <= MAX_OVERRIDING else EMPTY
