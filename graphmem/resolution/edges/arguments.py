"""Leave out the targets and receivers of a call that reject its arguments.

A target is rejected because of the number of arguments, the names of keyword arguments, or a parameter that declares an unrelated class.

`reference` is the use that is resolved: a call, a read, a write or an operation.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphmem.parsing.facts import SPREAD, Reference, TermIndex
from graphmem.resolution.edges.context import FileContext
from graphmem.resolution.edges.target import Target
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.values.symbol import FUNCTION_KINDS, Symbol
from graphmem.resolution.values.terms import call_at
from graphmem.resolution.values.types import CLASS, EMPTY, FUNC, INST, PARTIAL, Receiver, Type, ordered


class Arguments:
    """Checks the arguments of the calls in one file against their targets."""

    def __init__(self, context: FileContext) -> None:
        self.context = context
        self.inference = context.inference
        self.project = context.project
        self.entry = context.entry
        self.terms = context.terms

    def accepting(self, reference: Reference, called: TermIndex, targets: list[Target]) -> list[Target]:
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
        value = self.context.value(reference, called)
        if any(atom[0] == PARTIAL for atom in value):
            return targets
        values -= {atom[1] for atom in value if atom[0] == FUNC and atom[2] is None and atom[1].kind == "method"}
        keywords = [keyword for keyword, _ in named]
        for taken in (len(arguments), len(arguments) + 1):  # a function that code stored in a class is called with the object, too
            found = [one for one in targets if one.symbol not in values or self._accepts(one.symbol, len(arguments), taken, keywords)]
            several = sum(one.symbol in values for one in found)
            if several:
                break
        return [one for one in found if one.symbol not in values or self._fits(reference, one.symbol, arguments)] if several > 1 else found

    def _accepts(self, symbol: Symbol | None, positional: int, taken: int, keywords: Sequence[str]) -> bool:
        """Whether a function or bound method accepts the arguments of a call.

        For a decorated function, and for a class, the result is True.

        Args:
            symbol: the function, method or class.
            positional: number of positional arguments in the call; used if `symbol` is a method.
            taken: number of positional arguments in the call; used if `symbol` is not a method. It is larger by 1 for a function stored in
                a class, which also gets the object as an argument.
            keywords: names of the keyword arguments.
        """
        if symbol is None or symbol.kind not in FUNCTION_KINDS:
            return True
        definition = self.project.definition(symbol)
        rules = rules_of(self.project.files[symbol.path])
        given = positional if symbol.kind == "method" else taken
        return bool(definition.decorators) or rules.takes(definition, given, keywords, bound=True)

    def _fits(self, reference: Reference, symbol: Symbol | None, arguments: Sequence[TermIndex]) -> bool:
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
            given = self.context.value(reference, argument) if declared else EMPTY
            if given and all(atom[0] == INST for atom in (*declared, *given)) and not self._are_related(declared, given):
                return False
        return True

    def _are_related(self, left: Type, right: Type) -> bool:
        classes = self.inference.project_classes
        pairs = [(one[1], other[1]) for one in left for other in right if one[0] == INST and other[0] == INST]
        return any(one in classes(other) or other in classes(one) for one, other in pairs)

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
        return base - {atom for atom in classes if self._lacks_receiver(atom, name, len(arguments), keywords)}

    def _lacks_receiver(self, receiver: Receiver, name: str, positional: int, keywords: Sequence[str]) -> bool:
        """Whether a method that is called on its class rejects the arguments.

        In `A.f(1)`, the first argument must be the object for `self`. `receiver` is the class, and `name` the method. `positional` is the
        number of positional arguments, and `keywords` are the names of the others.
        """
        found = [atom for atom in ordered(self.inference.attribute_of(receiver, name)) if atom[0] == FUNC]
        unbound = [self.project.definition(atom[1]) for atom in found if atom[2] is None and atom[1].kind == "method"]
        takes = rules_of(self.entry).takes
        return bool(found) and len(unbound) == len(found) and not any(takes(one, positional, keywords, bound=False) for one in unbound)
