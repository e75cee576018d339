"""Find the implicit calls of operators, loops and blocks.

`reference` is the use that is resolved: a call, a read, a write or an operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from graphmem.parsing.facts import ATTR, CALL, INDEX, NAME, OPERATOR, SELF, TEXT, TermIndex
from graphmem.parsing.languages.ruby_blocks import PASSED, RECEIVER
from graphmem.resolution.scoped.classes import ScopedClasses
from graphmem.resolution.values.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.values.terms import last_name
from graphmem.resolution.values.types import (
    CLASS,
    EMPTY,
    FUNC,
    INST,
    SELFTYPE,
    TUP,
    Class,
    ExtInstance,
    Func,
    Instance,
    Type,
    join,
    join_all,
    one,
    ordered,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Reference
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.call import Call
    from graphmem.resolution.interfaces.inference import Inference

ITEM = "[]"
"""Method that runs when an item is read through a subscript."""


class ScopedProtocols(ScopedClasses):
    """Rules for implicit calls, which the source does not write as calls.

    Examples are the method that an operator runs, and the call of a block by the method to which the block is passed.
    """

    def function_attribute(self, inference: Inference, function: Func, name: str) -> Type:
        """Return the type of a block's arguments, or of `self` inside the block.

        `name` is `PASSED` for the arguments, which are a tuple, and `RECEIVER` for `self`. The parser reads both as attributes of the
        block; see `graphmem.parsing.languages.ruby_blocks`.
        """
        if not self._blocks or name not in (PASSED, RECEIVER):
            return EMPTY
        _, symbol, receiver = function
        entry = inference.project.entry(symbol)
        found = inference.project.solver.ask(entry.memo, (name, symbol.index), self._for_block, inference, symbol, name)
        if receiver is None or receiver[0] != INST or name == PASSED:
            return found
        own = inference.project_classes(receiver[1])
        return frozenset(receiver if atom[0] == INST and atom[1] in own else atom for atom in found)

    def result(self, inference: Inference, symbol: Symbol, value: Type) -> Type:
        """Return the result type of a function.

        In Ruby, a class method may return an object of its class. If the method is called on a subclass, the object is one of the subclass.
        A method that returns `self` returns the object on which it is called, also if it declares a base of its class as the result. In
        Swift it is also the result of a method that declares `Self`.
        """
        entry = inference.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        if not self.sides_are_apart:
            if self.declares_own_class(entry, symbol.index):
                return one((SELFTYPE,))
            terms = [entry.terms[entry.facts.bindings[i].value] for i in entry.results.get(symbol.index, ())]
            if definition.returns >= 0 and (SELF,) in terms:
                return one((SELFTYPE,)) if all(term == (SELF,) for term in terms) else join(value, one((SELFTYPE,)))
            return super().result(inference, symbol, value)
        owner = entry.symbols[definition.parent]
        own = frozenset(atom for atom in value if atom[0] == INST and atom[1] is owner)
        values = (entry.facts.bindings[i].value for i in entry.results.get(symbol.index, ()))
        if own and ("static" in definition.modifiers or any(entry.terms[value] == (SELF,) for value in values)):
            return join(value - own, one((SELFTYPE,)))
        return value

    def declares_own_class(self, entry: FileEntry, position: int) -> bool:
        """Whether a method declares the class of its receiver as its result.

        `position` is the method, as a position among the file's definitions.
        """
        term = entry.definitions[position].returns
        declared = entry.terms[term] if term >= 0 else None
        return declared is not None and declared[0] == ATTR and declared[2] == "__class__" and entry.terms[declared[1]] == (SELF,)

    def made_by(self, inference: Inference, symbol: Symbol) -> Type:
        """Return the type of an object of the class that contains a method.

        `symbol` is the method. For `create` in the class `Shelf`, the result is a `Shelf`. The type is used if the receiver of a call is
        unknown.
        """
        entry = inference.project.entry(symbol)
        owner = entry.symbols[entry.definitions[symbol.index].parent]
        is_own = (self.sides_are_apart or self.declares_own_class(entry, symbol.index)) and owner.kind in CLASS_KINDS
        return one((INST, owner, False)) if is_own else super().made_by(inference, symbol)

    def _for_block(self, inference: Inference, symbol: Symbol, name: str) -> Type:
        entry = inference.project.entry(symbol)
        return join_all(inference.expanded(inference.binding(entry, i)) for i in entry.locals.get((symbol.index, name), ()))

    def iterated(self, inference: Inference, receiver: Instance) -> Type:
        """Return the type of the values that an object passes to a loop's block.

        `receiver` is the object.
        """
        owner = inference.owner(receiver[1], self._iterator) if self._iterator else None
        if not isinstance(owner, Symbol):
            return super().iterated(inference, receiver)
        found = join_all(
            self.function_attribute(inference, (FUNC, symbol, receiver), PASSED) for symbol in inference.functions(owner, self._iterator)
        )
        return join_all(atom[1][0] for atom in found if atom[0] == TUP and atom[1])

    def subscripted(self, inference: Inference, receiver: Instance, site: Call) -> Type:
        """Return the type of `object[i]` for an object of a project class."""
        return inference.method_result(receiver, ITEM) if self._iterator else super().subscripted(inference, receiver, site)

    def subscripted_class(self, inference: Inference, receiver: Class, site: Call) -> Type:
        """Return the type of `Name[…]` for a class of the project.

        In Ruby, it is the result of the class method `[]`, or an object of the class if a library defines the method.
        """
        if not self._iterator:
            return super().subscripted_class(inference, receiver, site)
        methods = self._item_methods(inference, receiver)
        return join_all(inference.call_atom(atom, site) for atom in methods) if methods else one((INST, receiver[1], False))

    def _item_methods(self, inference: Inference, receiver: Class) -> list[Func]:
        value = inference.expanded(inference.attribute_of(receiver, ITEM))
        return [atom for atom in ordered(value) if atom[0] == FUNC]

    def may_be_of_receiver(self, name: str) -> bool:
        """Whether a name in a block may be a member of the block's receiver.

        In Ruby the result is False for constants, because they are looked up in the code around the block.
        """
        return not (self._blocks and name[:1].isupper())

    def unbound(self, inference: Inference, entry: FileEntry, scope: int, name: str) -> Type:
        """Return the type of a name that no scope of its file binds.

        All code sees the methods of some classes of the language, such as `Kernel` in Ruby. So the name may be a method that the project
        adds to such a class.
        """
        found = super().unbound(inference, entry, scope, name)
        if found or not self._given_to_all:
            return found
        this = self.this(inference, entry, scope)
        if not this and entry.in_tests and inference.project.knows_name(name):
            of_tests: Type = frozenset((FUNC, symbol, None) for symbol in self.of_reopened(inference, self._given_to_tests, name))
            if of_tests:
                return of_tests
        on_class = any(atom[0] == CLASS for atom in this)
        return frozenset((FUNC, symbol, None) for symbol in self.given_to_all(inference, entry, name, on_class=on_class))

    def satisfies(self, inference: Inference, receiver: Instance, tested: ExtInstance) -> bool:
        """Whether an object passes a test for a library's class, `tested`.

        The object passes if its class derives from `tested`. It also passes if the table `given_to_all` names `tested` as a class of every
        object, such as `Kernel` in Ruby.
        """
        name = tested[2].rpartition(".")[2]
        if name in self._given_to_all.get("object", ()):
            return True
        bases = {base[2].rpartition(".")[2] for base in inference.mro(receiver[1]) if not isinstance(base, Symbol)}
        return name in bases

    def given_to_all(self, inference: Inference, entry: FileEntry, name: str, *, on_class: bool) -> Sequence[Symbol]:
        """Return the methods of a given name that the project adds to all objects.

        If `on_class` is True, the methods that the project adds to all classes are returned.
        """
        side = "class" if on_class else "object"
        found: Sequence[Symbol] = inference.project.solver.ask(entry.memo, (side, name), self._given, inference, side, name)
        return found

    def _given(self, inference: Inference, side: str, name: str) -> Sequence[Symbol]:
        known = inference.project.knows_name(name)
        return tuple(self.of_reopened(inference, self._given_to_all.get(side, ()), name)) if known else ()

    def of_reopened(self, inference: Inference, classes: Sequence[str], name: str) -> Sequence[Symbol]:
        """Return methods of a given name that the project adds to builtin classes.

        `classes` are the names of the classes. The methods of the first class with such a method are returned.
        """
        for own in classes:
            for symbol in self.classes_named(inference, own) if own else ():
                owner = inference.owner(symbol, name)
                if isinstance(owner, Symbol):
                    return inference.functions(owner, name)
        return ()

    def implied(self, inference: Inference, entry: FileEntry, reference: Reference) -> Iterable[tuple[Symbol, int]]:
        """Return the methods that the language also runs at a call or operation.

        The tables of the language name these methods. Examples in Ruby are the method of an operator, `to_s` of `x` in a string with
        `#{x}`, and `each` of an object on which `map` is called. Others are `<=>` of the elements that `sort` orders, and `method_missing`.
        """
        if not self._iterator:
            return
        term = entry.terms[reference.term]
        if term[0] == OPERATOR and term[1] == TEXT:
            yield from self._run(inference, entry, reference, term[2], (self._text,))
        elif term[0] == INDEX:
            yield from self._run(inference, entry, reference, term[1], (ITEM,))
            value = inference.expanded(inference.term(entry, reference.scope, term[1], reference.line))
            methods = [method for atom in ordered(value) if atom[0] == CLASS for method in self._item_methods(inference, atom)]
            yield from ((symbol, len(methods)) for _, symbol, _ in methods)
        elif term[0] == CALL:
            callee = entry.terms[term[1]]
            if callee[0] == NAME and callee[1] in self._prints:
                for argument in term[2]:
                    yield from self._run(inference, entry, reference, argument, (self._text,))
            elif callee[0] == ATTR:
                yield from self._by_call(inference, entry, reference, callee[1], callee[2])

    def _by_call(
        self, inference: Inference, entry: FileEntry, reference: Reference, operand: TermIndex, name: str
    ) -> Iterator[tuple[Symbol, int]]:
        """Yield the methods that a call runs in addition to the called method.

        Each item is (method, number of methods that fit equally well).

        `operand` is the object on which `name` is called.
        """
        if reference.kind != "call":
            yield from self._run(inference, entry, reference, operand, self._signs.get(name, (name,)))
            return
        if name in self._iterates:
            yield from self._run(inference, entry, reference, operand, (self._iterator,), unless=name)
        method = self._of_elements.get(name)
        if method is not None:
            yield from self._run(inference, entry, reference, operand, (method,), is_element=True)
        if self._missing and name not in self._of_object and not last_name(entry.terms[operand])[:1].isupper():
            yield from self._run(inference, entry, reference, operand, (self._missing,), unless=name)

    def _run(
        self,
        inference: Inference,
        entry: FileEntry,
        reference: Reference,
        operand: TermIndex,
        names: Sequence[str],
        *,
        unless: str = "",
        is_element: bool = False,
    ) -> Iterator[tuple[Symbol, int]]:
        """Yield the first listed method that each class of a value has.

        `names` are the methods, and `operand` is the value. A class with the member that `unless` names is left out. If `is_element` is
        True, the classes of the value's elements are used instead.
        """
        known = [name for name in names if inference.project.knows_name(name)]
        if not known:
            return
        value = inference.expanded(inference.term(entry, reference.scope, operand, reference.line))
        if is_element:
            value = inference.expanded(inference.element(value))
        objects = [atom for atom in ordered(value) if atom[0] == INST]
        for atom in objects:
            if unless and any(isinstance(inference.owner(atom[1], own), Symbol) for own in (unless, self.field_name(unless))):
                continue
            owners = ((inference.owner(atom[1], name), name) for name in known)
            first = next(((owner, name) for owner, name in owners if isinstance(owner, Symbol)), None)
            for symbol in inference.functions(*first) if first is not None else ():
                yield symbol, len(objects)
