"""Find the functions that operators and macros run in C and C++.

`reference` is the use that is resolved: a call, a read, a write or an operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.parsing.facts import ATTR, INDEX, LITERAL, NAME, NO_TERM, OPERATOR, TermIndex
from graphmem.parsing.languages.cfamily import CONDITION, MACRO, POINTED
from graphmem.resolution.cfamily.constness import of_constness, receiver_is_const
from graphmem.resolution.cfamily.conversions import conversion
from graphmem.resolution.cfamily.fitness import declared_of, fit
from graphmem.resolution.cfamily.macros import Expansion
from graphmem.resolution.cfamily.names import CFamilyNames
from graphmem.resolution.cfamily.pointers import is_pointer
from graphmem.resolution.cfamily.written import declared_as
from graphmem.resolution.interfaces.call import Argument
from graphmem.resolution.values.fitness import CONVERTED, DERIVED, EXACT, IMPOSSIBLE
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.types import EMPTY, INST, Instance, Type, join_all

if TYPE_CHECKING:
    from graphmem.parsing.facts import Operator, Reference, Term
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.call import Call
    from graphmem.resolution.interfaces.inference import Inference

_LOGICAL: Final = frozenset(("&&", "||"))
"""Operators that convert both operands to true or false."""


class CFamilyOperators(CFamilyNames):
    """Rules for overloaded operators, subscripts and pointers."""

    def implied(self, inference: Inference, entry: FileEntry, reference: Reference) -> Iterable[tuple[Symbol, int]]:
        """Return the functions that an operator or a macro calls.

        For `a + b`, they are members of the class of `a`, or functions of two parameters. For the use of a macro, such as `CHECK(x)`, they
        are the functions that the text of the macro calls. Each item is (function, number of functions that fit equally well).
        """
        found = entry.terms[reference.term]
        if reference.kind == "call":
            return Expansion(inference, entry, reference.scope, reference.line).of_call(reference.term)
        if reference.kind != "implicit" or (found[0] != OPERATOR and found[0] != INDEX):
            return ()
        if found[0] == OPERATOR and found[1] == MACRO:
            return Expansion(inference, entry, reference.scope, reference.line).of_definition(reference.term)
        if found[0] == OPERATOR and found[1] in _LOGICAL:
            _, _, left, right = found
            sides: list[Operator] = [(OPERATOR, CONDITION, TermIndex(side), NO_TERM) for side in (left, right)]
            return [pair for side in sides for pair in self._operated(inference, entry, reference, side)]
        if found[0] == OPERATOR and found[1] == "=" and entry.terms[found[2]][0] == INDEX:  # `value[key] = …` runs both
            subscripted = self._operated(inference, entry, reference, entry.terms[found[2]])
            return [*subscripted, *self._operated(inference, entry, reference, found)]
        return self._operated(inference, entry, reference, found)

    def _operated(self, inference: Inference, entry: FileEntry, reference: Reference, found: Term) -> Sequence[tuple[Symbol, int]]:
        """Return the functions that an operator such as `+` runs.

        Each item is (function, number of functions that fit equally well).
        """
        names, operands = _operation(entry, found)
        name = next((one for one in names if inference.project.knows_name(one)), "")
        if not name:
            return ()
        types = [inference.expanded(inference.term(entry, reference.scope, side, reference.line)) for side in operands]
        given = [frozenset(atom[1] for atom in value if atom[0] == INST) for value in types]
        values = [
            classes if classes and not is_pointer(inference, entry, reference.scope, reference.line, side) else frozenset()
            for classes, side in zip(given, operands, strict=True)
        ]
        if not any(values) or (given[0] and not values[0]):
            return ()
        functions: list[Symbol] = []
        for symbol in sorted(frozenset().union(*values), key=lambda one_class: one_class.place):
            functions += (function for function in self.operators(inference, symbol, name) if function not in functions)
        sides = [
            Operand(
                entry.terms[side],
                Argument(entry, reference.scope, reference.line, side, value),
                classes,
                frozenset().union(*map(inference.project_classes, classes)),
            )
            for side, value, classes in zip(operands, types, values, strict=True)
        ]
        scores = [self._fitness(inference, function, sides) for function in functions]
        best = max(scores, default=-1)
        chosen = [function for function, score in zip(functions, scores, strict=True) if score == best >= 0]
        chosen = list(of_constness(inference, chosen, receiver_is_const(inference, entry, reference, operands[0])))
        found_here = [(function, len(chosen)) for function in chosen]
        if len(chosen) == 1 and len(operands) > 1:
            parameter = inference.project.definition(chosen[0]).parameters[-1]
            found_here += conversion(inference, chosen[0], parameter, entry.terms[operands[-1]], types[-1])
        return found_here

    def _fitness(self, inference: Inference, function: Symbol, operands: Sequence[Operand]) -> int:
        """Score how well operands fit an overloaded operator; -1 for no fit.

        `function` is the overload, and `operands` are the operands with their classes. A higher score is better.
        """
        entry = inference.project.entry(function)
        definition = entry.definitions[function.index]
        first = int(function.kind != "function")
        if len(definition.parameters) != len(operands) - first:
            return IMPOSSIBLE
        score, is_sure = 0, bool(first)
        for operand, parameter in zip(operands[first:], definition.parameters, strict=True):
            declared = declared_of(inference, function, parameter.annotation)
            types = declared.classes
            is_sure = is_sure or not types.isdisjoint(operand.accepted)
            if operand.classes:  # an object, no pointer
                points = fit(operand.term, operand.argument.given, declared)
            else:
                points = self.fit_argument(inference, operand.argument, function, parameter.annotation)
            if points is None:
                points = EXACT if types & operand.classes else DERIVED if types & operand.accepted else 0
                if not points and operand.classes and (types or not declared.is_open):
                    points = CONVERTED if types and operand is not operands[0] else IMPOSSIBLE
            if points < 0:
                return IMPOSSIBLE
            score += points
        if not is_sure:
            return IMPOSSIBLE
        moves = "&&" in definition.signature.partition("(")[2]
        stays = operands[-1].term[0] in (NAME, ATTR, INDEX) and (operands[-1].classes or not operands[-1].argument.given)
        return IMPOSSIBLE if moves and stays else 2 * score + moves

    def operators(self, inference: Inference, owner: Symbol, name: str) -> Sequence[Symbol]:
        """Return all overloads of an operator for objects of a class.

        Overloads are members of the class, and functions with a parameter of the class or of one of its bases.
        """
        memo = inference.project.entry(owner).memo
        found: tuple[Symbol, ...] = inference.project.solver.ask(
            memo, ("operators", owner.index, name), self._operators, inference, owner, name
        )
        return found

    def _operators(self, inference: Inference, owner: Symbol, name: str) -> tuple[Symbol, ...]:
        source = inference.owner(owner, name)
        found = list(inference.functions(source, name)) if isinstance(source, Symbol) else []
        accepted = inference.project_classes(owner)
        for symbol in inference.project.named(name):
            if symbol.kind == "function":
                entry = inference.project.entry(symbol)
                annotations = [parameter.annotation for parameter in entry.definitions[symbol.index].parameters]
                if any(declared_of(inference, symbol, annotation).classes & accepted for annotation in annotations):
                    found.append(symbol)
        return tuple(found)

    def operated(self, inference: Inference, receiver: Instance, sign: str, *, is_unary: bool) -> Type:
        """Return the result type of an operator such as `a + b`.

        `receiver` is the left operand, `sign` the operator, and `is_unary` tells whether there is no other operand. The result type of an
        assignment `a = b` is the type of `a`.
        """
        if sign in ("=", "++", "--"):
            return frozenset((receiver,))
        name = f"operator{sign}"
        if not inference.project.knows_name(name):
            return EMPTY
        if isinstance(inference.owner(receiver[1], name), Symbol):
            return inference.method_result(receiver, name)
        return inference.expanded(join_all(inference.returned(function) for function in self.operators(inference, receiver[1], name)))

    def subscripted(self, inference: Inference, receiver: Instance, site: Call) -> Type:
        """Return the type of `object[i]` or `*object`, for a project class.

        `receiver` is the object. The type is the result of the method `operator[]` or `operator*` of the object's class. If the object is a
        pointer, or if the class lacks this method, the type is that of the object itself.
        """
        name = "operator*" if site.args and site.entry.terms[site.args[0]] == (LITERAL, POINTED) else "operator[]"
        owner = inference.owner(receiver[1], name)
        if not isinstance(owner, Symbol) or is_pointer(inference, site.entry, site.scope, site.line, site.callee):
            return frozenset((receiver,))
        return inference.method_result(receiver, name)

    def is_whole(self, inference: Inference, entry: FileEntry, scope: int, index: tuple[TermIndex, TermIndex], line: int) -> bool:
        """Return whether `*p` has the inferred type of `p` itself.

        This is so for a pointer `p`, because type inference does not distinguish a pointer from its object. It is not so for an iterator,
        because `*p` is then an item of a container. `index` has two expressions: `p`, and a key that marks the operator `*`.
        """
        base, key = index
        if entry.terms[key] != (LITERAL, POINTED):
            return False
        own = declared_as(inference, entry, scope, line, base)
        return own is not None and own.is_pointer


def _operation(entry: FileEntry, found: Term) -> tuple[Sequence[str], Sequence[TermIndex]]:
    """Return the operators that an expression may run, and its operands.

    The names of the operators are in the order in which they are tried: the expression runs the first one that the project defines. For
    example, `!x` runs `operator!` if it exists, or else `operator bool`.
    """
    if found[0] == INDEX:
        _, base, key = found
        return (("operator*",), (base,)) if entry.terms[key] == (LITERAL, POINTED) else (("operator[]",), (base, key))
    if found[0] != OPERATOR:
        return (), ()
    _, sign, left, right = found
    if sign == CONDITION:
        return (f"operator {CONDITION}",), (left,)
    names = (f"operator{sign}", f"operator {CONDITION}") if sign == "!" else (f"operator{sign}",)
    return names, (left, right) if right >= 0 else (left,)


class Operand(NamedTuple):
    """An operand of an overloaded operator: its expression and classes."""

    term: Term
    argument: Argument
    classes: frozenset[Symbol]
    accepted: frozenset[Symbol]
    """The classes of the operand and their bases."""
