"""Trait methods that Rust calls implicitly.

Operators, loops, format strings, conversions and `?` call such methods. A type may have other methods of the same name, such as `add` or
`next`. Therefore only methods in an `impl` of the right trait are considered. A type may implement a trait for several types of the
second operand. Then the implementation for the operand's type is chosen.

A type is a set of alternatives: the type of `x` may be `A | B`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from graphmem.parsing.facts import ATTR, CALL, INDEX, ITER, OPERATOR, Operator, Term, TermIndex
from graphmem.resolution.rust.library import BINARY, NUMBERS, UNARY
from graphmem.resolution.values.symbol import FUNCTION_KINDS, Symbol
from graphmem.resolution.values.terms import last_name
from graphmem.resolution.values.types import BOX, EMPTY, EXTI, INST, TUP, Atom, Type, join_all, ordered

if TYPE_CHECKING:
    from graphmem.parsing.facts import Reference
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference


def implied(inference: Inference, entry: FileEntry, reference: Reference) -> Iterator[tuple[Symbol, int]]:
    """Yield the trait methods that a Rust expression runs implicitly.

    Each item is (method, number of alternatives). Of several alternatives only one runs.
    """
    site = _Site(inference, entry, reference)
    for found in site.groups(entry.terms[reference.term]):
        yield from ((symbol, len(found)) for symbol in found)


class _Site:
    """An expression, such as `a + b`, that runs trait methods implicitly."""

    def __init__(self, inference: Inference, entry: FileEntry, reference: Reference) -> None:
        self.inference = inference
        self.entry = entry
        self.reference = reference

    def value(self, term: TermIndex) -> Type:
        """Infer the type of an operand or another part of this expression."""
        return self.inference.expanded(self.inference.term(self.entry, self.reference.scope, term, self.reference.line))

    def groups(self, term: Term) -> Iterator[list[Symbol]]:
        """Yield groups of trait methods; an expression runs one of each group.

        There is one group for each type that the receiver may have.
        """
        if term[0] == OPERATOR:
            yield from self.operator(term)
        elif term[0] == INDEX:
            _, base, key = term
            yield from self.on(base, ("Index.index",), self.value(key))
        elif term[0] == ITER:
            _, iterable = term
            yield from self.loop(iterable)
        elif term[0] == CALL:
            _, called, arguments, _ = term
            for argument in arguments:
                inner = self.entry.terms[argument]
                if inner[0] == OPERATOR:
                    yield from self.operator(inner)
            callee = self.entry.terms[called]
            if callee[0] == ATTR:
                _, receiver, name = callee
                yield from self.conversion(receiver, name)

    def operator(self, term: Operator) -> Iterator[list[Symbol]]:
        """Yield the trait methods that an operator, or a format string, calls.

        The parser writes a format string as operators such as `{Display}`. Each formats its operand by a trait method, here `Display::fmt`.
        """
        _, sign, left, right = term
        if sign.startswith("{"):
            trait = sign.strip("{}")
            for atom in ordered(_inside(self.value(left)) if trait == "Debug" else self.value(left)):
                yield from self.of(atom, (f"{trait}.fmt",), EMPTY)
        elif right < 0:
            yield from self.on(left, UNARY.get(sign, ()), EMPTY)
        else:
            methods = BINARY.get(sign, ())
            yield from self.on(left, methods, self.value(right) if methods else EMPTY)

    def loop(self, term: TermIndex) -> Iterator[list[Symbol]]:
        """Yield the methods that create the iterator of a loop and advance it."""
        for atom in ordered(self.value(term)):
            made = [found for found in self.of(atom, ("IntoIterator.into_iter",), EMPTY) if found]
            yield from made
            steps = ordered(join_all(self.inference.expanded(self.inference.returned(symbol)) for found in made for symbol in found))
            for step in steps if made else (atom,):
                yield from self.of(step, ("Iterator.next",), EMPTY)

    def conversion(self, receiver: TermIndex, name: str) -> Iterator[list[Symbol]]:
        """Yield the methods that a conversion calls.

        `to_string()` formats the value. `into()`, `try_into()` and `?` create a value of the declared type.
        """
        if name == "to_string":
            for atom in ordered(self.value(receiver)):
                if atom[0] == INST and not isinstance(self.inference.owner(atom[1], name), Symbol):
                    yield from self.of(atom, ("Display.fmt",), EMPTY)
        elif name in ("into", "try_into"):
            method = "From.from" if name == "into" else "TryFrom.try_from"
            for wanted in ordered(self.wanted()):
                target = wanted[2][0] if name == "try_into" and wanted[0] == BOX and wanted[1] == "result" else frozenset((wanted,))
                for atom in ordered(target):
                    yield from self.of(atom, (method,), self.value(receiver))
        elif name == "?":
            errors = _errors(self.value(receiver))
            if errors:  # most have the declared error type already, or an unknown one
                for error in ordered(_errors(self.returned()) - errors):
                    yield from self.of(error, ("From.from",), errors)

    def returned(self) -> Type:
        """Return the declared result type of the function around this expression."""
        around = self.entry.enclosing(self.reference.scope, FUNCTION_KINDS)
        return self.declared(around) if around > 0 else EMPTY

    def declared(self, function: int) -> Type:
        definition = self.entry.definitions[function]
        return self.inference.declared(self.entry, function, definition.returns)

    def wanted(self) -> Type:
        """Return the type that the code around a call expects of the call.

        If the result of the call is assigned to a variable, the variable declares the type. If a function returns the result, the function
        declares the type.
        """
        kept: dict[int, list[int]] | None = self.entry.kept.get("conversions")
        bindings = self.entry.facts.bindings
        if kept is None:
            kept = self.entry.kept["conversions"] = {}
            for position, binding in enumerate(bindings):
                if binding.value >= 0 and (binding.annotation >= 0 or binding.op == "return"):
                    kept.setdefault(binding.value, []).append(position)
        reference = self.reference
        found = EMPTY
        for position in kept.get(reference.term, ()):
            binding = bindings[position]
            if binding.scope == reference.scope and binding.line <= reference.line <= binding.end_line:
                is_result = binding.op == "return"
                found = self.returned() if is_result else self.inference.declared(self.entry, binding.scope, binding.annotation)
        return self.inference.expanded(found)

    def on(self, term: TermIndex, methods: Sequence[str], given: Type) -> Iterator[list[Symbol]]:
        """Yield the methods that an operation runs, for each type of its operand.

        `term` is the operand. For each of its types, the first of `methods` that the type has is used. `given` is the type of the
        operation's other operand; it is empty if there is none.
        """
        for atom in ordered(self.value(term)) if methods else ():
            yield from self.of(atom, methods, given)

    def of(self, atom: Atom, methods: Sequence[str], given: Type) -> Iterator[list[Symbol]]:
        """Yield the list of methods that an operation on a value may run.

        `atom` is the type of the value. `methods` are names of trait methods in order of preference, such as `Add.add`. The first of these
        methods that the type has is used. The type may have several implementations of the method. The list has the implementations that
        accept an argument of the type `given`. No list is yielded if the type has none of `methods`.
        """
        if atom[0] != INST:
            return
        for method in methods:
            trait, _, name = method.partition(".")
            owner = self.inference.owner(atom[1], name)
            written = self.inference.functions(owner, name) if isinstance(owner, Symbol) else ()
            found = [one for one in written if stands_for(self.inference, one, trait)]
            if found:
                yield [one for one in found if self.takes(one, given)]
                return

    def takes(self, method: Symbol, given: Type) -> bool:
        """Return whether a method may accept an argument of the type `given`.

        The result is False only if both types are known and have nothing in common.
        """
        entry = self.inference.project.entry(method)
        definition = entry.definitions[method.index]
        if not given or not definition.parameters:
            return True
        declared = self.inference.declared(entry, method.index, definition.parameters[-1].annotation)
        wanted, offered = _kinds(declared), _kinds(given)
        return not wanted or not offered or not wanted.isdisjoint(offered)


def stands_for(inference: Inference, method: Symbol, trait: str) -> bool:
    """Return whether a method is in an `impl` block of a given trait.

    `trait` is the name of the trait.
    """
    entry = inference.project.entry(method)
    for _, base in entry.definitions[method.index].bases:
        term = entry.terms[base]
        while term[0] == INDEX:
            _, generic, _ = term
            term = entry.terms[generic]
        if last_name(term) == trait:
            return True
    return False


def _errors(value: Type) -> Type:
    """Return the error types of all results in a value.

    For a value of the type `Result<A, E>`, the error type is `E`.
    """
    return join_all(atom[2][1] for atom in value if atom[0] == BOX and atom[1] == "result" and len(atom[2]) > 1)


def _kinds(value: Type) -> frozenset[object]:
    """Return comparison keys for the types of a value.

    For an object of the class `A`, the key is `A`. For numbers of any type, the key is "number". Two values have different types if they
    have no key in common and neither result is empty. The result is empty if one of the types is unknown or has no key.
    """
    found: set[object] = set()
    for atom in ordered(value):
        if atom[0] == INST:
            found.add(atom[1])
        elif atom[0] == EXTI and "(" not in atom[2] and "[" not in atom[2]:
            found.add("number" if atom[2] in NUMBERS else (atom[1], atom[2]))
        elif atom[0] == BOX:
            found.add(atom[1])
        else:
            return frozenset()
    return frozenset(found)


def _inside(value: Type) -> Type:
    """Return a value and all objects inside its containers and tuples.

    The function is for the trait `Debug`, which formats a container together with its elements.
    """
    found = set(value)
    pending = list(value)
    while pending:
        atom = pending.pop()
        parts = atom[2] if atom[0] == BOX else atom[1] if atom[0] == TUP else ()
        inner = {one for part in parts for one in part} - found
        found |= inner
        pending += inner
    return frozenset(found)
