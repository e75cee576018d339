"""Narrow the types of variables by tests such as `isinstance`.

A type is a set of alternatives: the type of `x` may be `A | B`. The list of a file's bindings has the places where names and attributes get
values, such as `x = f()`, and also the `return` statements.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import TESTS_OF_CLASS, Binding, TermIndex
from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.values.types import (
    BOX,
    CLASS,
    EXT,
    EXTI,
    INST,
    TUP,
    Type,
    join,
    join_all,
    one,
    ordered,
)

if TYPE_CHECKING:
    from graphmem.resolution.interfaces.inference import Inference

_KEEPS_VALUE: Final = frozenset((*TESTS_OF_CLASS, "fill", "export"))
"""Kinds of bindings that give no new value to their target."""


class Narrowing:
    """Narrows types inside the code that a test guards."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.project = inference.project
        self._ask = inference.project.solver.ask
        self.term = inference.term
        self.expanded = inference.expanded
        self.project_classes = inference.project_classes

    def narrowed(self, entry: FileEntry, scope: int, index: TermIndex, line: int) -> Type | None:
        """Return the type to which tests narrow an expression at a line.

        An example of a test is `isinstance(x, A)`. Returns None if no test applies. A test says nothing after the expression got another
        value.
        """
        positions = entry.narrows.get((scope, index))
        if not positions:
            return None
        found: Type | None = None
        for position in positions:
            binding = entry.facts.bindings[position]
            if binding.op == "narrow" and binding.line <= line <= self._until(entry, position):
                tested = self._ask(entry.memo, ("n", position), self._tested, entry, scope, binding)
                found = tested if found is None else join(found, tested)
        return found

    def excluded(self, entry: FileEntry, scope: int, index: TermIndex, line: int, value: Type) -> Type:
        """Return a type without the classes that false tests exclude at a line.

        After `if isinstance(x, A): return`, `x` is not an object of `A` or of a class derived from it. `value` is the type of the
        expression. The tests say nothing after the expression got another value.
        """
        for position in entry.narrows[scope, index]:
            binding = entry.facts.bindings[position]
            if binding.op == "exclude" and binding.line <= line <= self._until(entry, position):
                tested = self._ask(entry.memo, ("n", position), self._tested, entry, scope, binding)
                classes = {atom[1] for atom in tested if atom[0] == INST}
                if classes:
                    inside = ordered(self.expanded(value))
                    value = frozenset(
                        atom for atom in inside if atom[0] != INST or classes.isdisjoint({atom[1], *self.project_classes(atom[1])})
                    )
        return value

    def _until(self, entry: FileEntry, position: int) -> int:
        """Return the last line at which the tested expression has its old value.

        `position` is the position of the test among the file's bindings.
        """
        if not entry.test_ends:
            bindings = entry.facts.bindings
            given: dict[tuple[int, int], list[tuple[int, int]]] = {key: [] for key in entry.narrows}
            for one in bindings:
                if (one.scope, one.target) in given and one.op not in _KEEPS_VALUE:
                    given[one.scope, one.target].append((one.line, one.end_line))
            for key, tests in entry.narrows.items():
                for test in tests:
                    ends = (end for line, end in given[key] if line >= bindings[test].block_end)
                    entry.test_ends[test] = min(bindings[test].end_line, *ends, bindings[test].end_line)
        return entry.test_ends[position]

    def _tested(self, entry: FileEntry, scope: int, binding: Binding) -> Type:
        return join_all(self.instances(self.expanded(self.term(entry, scope, binding.value, binding.line - 1))))

    def instances(self, value: Type) -> Iterator[Type]:
        """Yield the type of an instance of each class in a type.

        For the class `A`, this is the type of `A()`. Classes inside tuples and other containers are included.
        """
        for atom in ordered(value):
            if atom[0] == CLASS:
                yield one((INST, atom[1], False))
            elif atom[0] == EXT:
                yield one((EXTI, atom[1], atom[2], None))
            elif atom[0] == TUP:
                for part in atom[1]:
                    yield from self.instances(part)
            elif atom[0] == BOX:
                for part in atom[2]:
                    yield from self.instances(part)

    def narrow(self, value: Type, tested: Type) -> Type:
        """Narrow the type of a value to a tested type, as `isinstance` does.

        `value` is the type before the test, and `tested` is the type that the test names. If `B` derives from `A`,
        `B | C` narrowed to `A` gives `A | B`. The result consists of these alternatives:

        - all alternatives of `tested`;
        - the alternatives of `value` with a class that derives from a tested class;
        - the alternatives of `value` that pass the test for a library's class in `tested`.
        """
        classes = {atom[1] for atom in tested if atom[0] == INST}
        special = frozenset(
            atom
            for atom in ordered(self.expanded(value))
            if atom[0] == INST and atom[1] not in classes and not classes.isdisjoint(self.project_classes(atom[1]))
        )
        outside = [atom for atom in tested if atom[0] == EXTI]
        if outside:
            kept = (atom for atom in ordered(self.expanded(value)) if atom[0] == INST and atom[1] not in classes)
            special |= {
                atom for atom in kept if any(rules_of(self.project.entry(atom[1])).satisfies(self.inference, atom, one) for one in outside)
            }
        return join(special, tested)
