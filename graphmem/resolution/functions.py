"""Infer the types of functions' parameters and results.

The type of a parameter may come from the callers of the function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import NAME, OPERATOR, Parameter
from graphmem.resolution.call import Call
from graphmem.resolution.contents import holds_callables
from graphmem.resolution.decorating import called_at, called_name, factory_keys, receivers
from graphmem.resolution.demands import unreached
from graphmem.resolution.file_entry import CallSite, FileEntry
from graphmem.resolution.language import rules_of
from graphmem.resolution.outside import result_name
from graphmem.resolution.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.terms import call_at, last_name
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
    MADE,
    PARAM,
    PARTIAL,
    SELFTYPE,
    TOP,
    TUP,
    TYPEVAR,
    UNTYPED,
    Atom,
    Func,
    Instance,
    Type,
    anonymous,
    behind,
    bottom_for,
    box,
    closed,
    is_deferred,
    is_open,
    join,
    join_all,
    one,
    order,
    ordered,
    partial,
    tuple_of,
)

if TYPE_CHECKING:
    from graphmem.resolution.inference import Inference


Caller = tuple[CallSite, bool, frozenset[Atom | None]]
"""A call that runs a function, whether the functions it passes count, and the receivers of the call."""

MAX_OVERRIDING: Final = 16
"""Most methods that override an abstract method, so that a call of it has their results."""

MAX_FUNCTIONS_OF_TESTS: Final = 40
"""Most callers of a function for which the functions that tests pass to it count."""


class Functions:
    """The part of type inference that follows calls between functions."""

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

        If there are too many callers, only some are read. Then the result contains objects only, and neither functions nor classes.
        Arguments in tests count only if there are few callers.
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
                passed = self._argument(symbol, index, call, self._bound_parameters(symbol, receiver)) or EMPTY
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

    def _bound_parameters(self, symbol: Symbol, receiver: Atom | None) -> int:
        """Return the number of parameters that the receiver of a call fills.

        For `x.f()` in Python the number is 1, because `x` is passed for the parameter `self`. The number is 0 in languages whose methods do
        not declare their receiver as a parameter.
        """
        if receiver is None or symbol.kind != "method":
            return 0
        entry = self.project.files[symbol.path]
        return int(rules_of(entry).first_parameter_is_receiver or rules_of(entry).extended_by_parameter(entry.definitions[symbol.index]))

    def _argument(self, symbol: Symbol, index: int, call: Call, offset: int) -> Type | None:
        """Return the type of the argument that a call passes for a parameter.

        The parameter is that of `symbol` at position `index`. `offset` is the number of parameters that the receiver fills, such as `self`.
        None if the call does not determine the argument.
        """
        parameters = self.project.definition(symbol).parameters
        parameter = parameters[index]
        if parameter.kind == "rest":
            return box("tuple", call.rest(index - offset))
        if parameter.kind == "keyword_rest":
            return None
        given = call.argument(index - offset) if parameter.kind != "keyword" and index >= offset else None
        return given if given is not None else call.keyword(parameter.name)

    def returned(self, symbol: Symbol) -> Type:
        """Return a function's result type, independent of a call's arguments.

        The type may contain parameters of the function (`PARAM`, `TYPEVAR` and `SELFTYPE` tuples). For each call, `substituted` replaces
        them by the arguments.
        """
        return self.ask(self.project.files[symbol.path].memo, ("r", symbol.index), self._returned, symbol)

    def _returned_unless(self, symbol: Symbol, excluded: tuple[int, ...]) -> Type:
        """Return a function's result type, ignoring some `return` bindings.

        `excluded` are the positions of the ignored bindings in the file.
        """
        return self.ask(self.project.files[symbol.path].memo, ("r", symbol.index, excluded), self._returned, symbol, excluded)

    def _excluded(self, function: Func, call: Call) -> tuple[int, ...]:
        """Return the `return` bindings that a call cannot reach, by position.

        The module `demands` finds them. The result is empty for a function with a declared result type, because that type holds for all
        calls.
        """
        _, symbol, receiver = function
        entry = self.project.files[symbol.path]
        if symbol.index not in entry.demands or call.callee < 0 or self.project.definition(symbol).returns >= 0:
            return ()
        return unreached(entry, symbol.index, call, self._bound_parameters(symbol, receiver))

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
        """Return the wrappers among the alternatives of a called value's type.

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
        """Whether an object is what a decorator made of a function in `callee`.

        `made` is the object, and `callee` is the type of a called value. For example, a function `f` has the decorator `@Task`. Then the
        type of `f` has two alternatives: `f` itself and a `Task` object. The method `called` uses only the result of `f`. The inferred
        result of `Task.__call__` is less exact, because it has the results of all functions that `Task` decorates.
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
            found = self.substituted(self._returned_unless(atom[1], excluded) if excluded else self.returned(atom[1]), atom, call)
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

    def substituted(self, value: Type, function: Func, call: Call) -> Type:
        """Return the result type of one call, from the function's result type.

        `value` is the function's result type, in which parameters may stand for their own types (see `returned`). They are replaced by the
        types of the arguments of `call`. For `def f(x): return x`, the result of `f(A())` is an `A`.
        """
        _, symbol, receiver = function
        if not any(_mentions(atom, symbol) for atom in value):
            return value
        offset = self._bound_parameters(symbol, receiver)
        variables: dict[str, Type] | None = None

        def given_for(index: int) -> Type:
            if index < offset and receiver is not None:
                return frozenset((receiver,))
            given = self._argument(symbol, index, call, offset)
            if given is not None:
                return given
            parameter = self.project.definition(symbol).parameters[index]
            return self.parameter_default(symbol, index) if parameter.default >= 0 else self.parameter(symbol, index)

        def replace(atom: Atom) -> Type:  # must not refer to itself: one reference cycle per call slows the garbage collector
            nonlocal variables
            if atom[0] == PARAM and atom[1] is symbol:
                return given_for(atom[2])
            if atom[0] == MADE and atom[1] is symbol:
                return self.inference.made_of(given_for(atom[2]), atom[3])
            if atom[0] == SELFTYPE:
                if receiver is None:
                    return rules_of(self.project.entry(symbol)).made_by(self.inference, symbol)
                return one((INST, receiver[1], False)) if receiver[0] == CLASS else frozenset((receiver,))
            if atom[0] == TYPEVAR:
                if variables is None:
                    variables = self._type_variables(symbol, call, receiver, offset)
                return variables.get(atom[1], EMPTY)
            return frozenset((atom,))

        return rewrite(value, replace)

    def parameter_default(self, symbol: Symbol, index: int) -> Type:
        """Return the type of a parameter's default value."""
        entry = self.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        parameter = definition.parameters[index]
        if _is_marker(entry, parameter):
            return EMPTY
        return self.inference.term(entry, definition.parent, parameter.default, definition.start_line)

    def _type_variables(self, symbol: Symbol, call: Call, receiver: Atom | None, offset: int) -> dict[str, Type]:
        """Infer type parameters such as `T` from the arguments of a call.

        The result maps names to types. `symbol` is the called function. `offset` is the number of parameters that `receiver` fills.
        """
        entry = self.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        found: dict[str, Type] = {}
        for index, parameter in enumerate(definition.parameters):
            if parameter.annotation < 0:
                continue
            scope = symbol.index if rules_of(entry).header_is_inside else definition.parent
            declared = self.inference.declared(entry, scope, parameter.annotation)
            if any(_mentions_variable(atom) for atom in declared):
                given = one(receiver) if index < offset and receiver is not None else self._argument(symbol, index, call, offset)
                if given is not None:
                    self._match(declared, self.inference.expanded(given), found)
        return found

    def _match(self, declared: Type, given: Type, found: dict[str, Type]) -> None:
        for atom in ordered(declared):
            if atom[0] == TYPEVAR:
                found[atom[1]] = join(found.get(atom[1], EMPTY), given)
            elif atom[0] == BOX and atom[1] == "class":
                for other in ordered(given):
                    if other[0] in (CLASS, EXT):
                        self._match(atom[2][0], join_all(self.inference.instances(frozenset((other,)))), found)
            elif atom[0] == BOX and atom[1] == "callable":
                for other in ordered(given):
                    if other[0] == FUNC:
                        self._match(atom[2][0], self.inference.expanded(self.returned(other[1])), found)
                    elif other[0] == LAM:
                        self._match(atom[2][0], self.inference.expanded(other[1]), found)
                    elif other[0] == CLASS:
                        self._match(atom[2][0], one((INST, other[1], True)), found)
            elif atom[0] == BOX:
                for other in ordered(given):
                    if other[0] == BOX and len(other[2]) == len(atom[2]):
                        for left, right in zip(atom[2], other[2], strict=True):
                            self._match(left, self.inference.expanded(right), found)
                    elif other[0] == TUP and atom[2]:
                        self._match(atom[2][0], self.inference.expanded(join_all(other[1])), found)


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
    """Return a type with only its objects, without its functions and classes.

    The result is the type of a parameter that has too many callers to read all of them.
    """
    return frozenset(atom for atom in passed if atom[0] not in (FUNC, LAM, PARTIAL, CLASS))


def _mentions(atom: Atom, symbol: Symbol) -> bool:
    if atom[0] == PARAM or atom[0] == MADE:
        return atom[1] is symbol
    if atom[0] == TYPEVAR or atom[0] == SELFTYPE:
        return True
    return any(_mentions(inner, symbol) for part in _parts(atom) for inner in part)


def _mentions_variable(atom: Atom) -> bool:
    return atom[0] == TYPEVAR or any(_mentions_variable(inner) for part in _parts(atom) for inner in part)


def _parts(atom: Atom) -> Sequence[Type]:
    if atom[0] == BOX:
        return atom[2]
    if atom[0] == TUP:
        return atom[1]
    if atom[0] == LAM or atom[0] == PARTIAL:
        return (atom[1],)
    return ()


def rewrite(value: Type, replace: Callable[[Atom], Type]) -> Type:
    """Replace every alternative of a type, also inside containers.

    `replace` maps one alternative, such as a class, to a type. If it maps `A` to `B`, `list[A]` becomes `list[B]`.
    """
    found = EMPTY
    for atom in ordered(value):
        if atom[0] == BOX:
            found = join(found, box(atom[1], *(rewrite(part, replace) for part in atom[2])))
        elif atom[0] == TUP:
            found = join(found, tuple_of([rewrite(part, replace) for part in atom[1]]))
        elif atom[0] == LAM:
            found = join(found, anonymous(rewrite(atom[1], replace)))
        elif atom[0] == PARTIAL:
            found = join(found, partial(rewrite(atom[1], replace)))
        else:
            found = join(found, replace(atom))
    return found
