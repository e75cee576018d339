"""Infer the types of literals, containers, their elements and operators.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import LITERAL, SPREAD, STRING, TUPLE, OptionalTerm, TermIndex
from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.interfaces.call import Call
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.values.operators import ASSIGNING
from graphmem.resolution.values.outside import result_name
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.types import (
    BOX,
    CLASS,
    EMPTY,
    EXT,
    EXTI,
    FUNC,
    INST,
    OBJ,
    PENDING,
    TUP,
    Type,
    bottom_for,
    box,
    join,
    join_all,
    object_of,
    one,
    ordered,
    tuple_of,
)

if TYPE_CHECKING:
    from graphmem.resolution.interfaces.inference import Inference

_LITERAL_TYPES: Final = {"template": "str", "true": "bool", "false": "bool"}


class Containers:
    """Infers the types of values that hold other values, and of their parts.

    Literals and the results of operators are included.
    """

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.project = inference.project
        self.term = inference.term
        self.expanded = inference.expanded
        self.owner = inference.owner
        self.is_enum = inference.is_enum
        self.method_result = inference.method_result

    def subscript(self, entry: FileEntry, scope: int, base: TermIndex, key: TermIndex, line: int) -> Type:
        """Return the type of `x[key]`."""
        value = self.expanded(self.term(entry, scope, base, line))
        found = bottom_for(value)
        sliced = entry.terms[key] == (LITERAL, "slice") or rules_of(entry).is_whole(self.inference, entry, scope, (base, key), line)
        for atom in ordered(value):
            if atom[0] == BOX:
                found = join(found, frozenset((atom,)) if sliced else atom[2][-1] if atom[2] else EMPTY)
            elif atom[0] == TUP:
                found = join(found, join_all(atom[1]))
            elif atom[0] == OBJ:
                member = entry.terms[key]
                fields = dict(atom[1])
                found = join(found, fields.get(member[1], EMPTY) if member[0] == STRING else join_all(fields.values()))
            elif atom[0] == INST:
                given = rules_of(entry).subscripted(self.inference, atom, Call(self.inference, entry, scope, line, base, (key,)))
                found = join(found, given or (frozenset((atom,)) if sliced else EMPTY))
            elif atom[0] == CLASS:
                found = join(
                    found, rules_of(entry).subscripted_class(self.inference, atom, Call(self.inference, entry, scope, line, base, (key,)))
                )
            elif atom[0] == EXT or (atom[0] == FUNC and rules_of(entry).functions_take_types):  # Generic[int]: the class itself
                found = join(found, frozenset((atom,)))
            elif atom[0] == EXTI:
                found = join(found, one((EXTI, atom[1], result_name(atom[2], "[]"), atom[3])))
        return found

    def literal(self, entry: FileEntry, kind: str) -> Type:
        """Return the built-in type of a literal.

        `kind` is the kind of the literal, such as `int`. The result is empty for `None` and `...`.
        """
        if kind in ("none", "ellipsis"):
            return EMPTY
        return one((EXTI, rules_of(entry).builtin_package, _LITERAL_TYPES.get(kind, kind), None))

    def tuple_literal(self, entry: FileEntry, scope: int, items: Sequence[TermIndex], line: int) -> Type:
        """Return the type of a tuple with the given items."""
        parts = [self.term(entry, scope, item, line) for item in items]
        if any(entry.terms[item][0] == SPREAD for item in items):
            return box("tuple", join_all(parts))
        return tuple_of(parts)

    def dict_literal(self, entry: FileEntry, scope: int, keys: Sequence[TermIndex], values: Sequence[TermIndex], line: int) -> Type:
        """Return the type of a dictionary with the given keys and values."""
        key_type = value_type = EMPTY
        for key, value in zip(keys, values, strict=True):
            written = entry.terms[key]
            if written[0] == SPREAD:
                _, spread = written
                for atom in ordered(self.expanded(self.term(entry, scope, spread, line))):
                    if atom[0] == BOX and atom[1] == "dict":
                        key_type, value_type = join(key_type, atom[2][0]), join(value_type, atom[2][1])
                continue
            key_type = join(key_type, self.term(entry, scope, key, line))
            value_type = join(value_type, self.term(entry, scope, value, line))
        return box("dict", key_type, value_type)

    def object_literal(self, entry: FileEntry, scope: int, keys: Sequence[str], values: Sequence[TermIndex], line: int) -> Type:
        """Return the type of an object literal, such as `{a: 1}` in JavaScript.

        `keys` are the names of the members, and `values` are their expressions.
        """
        fields: dict[str, Type] = {}
        for key, value in zip(keys, values, strict=True):
            found = self.term(entry, scope, value, line)
            if key == "...":
                for atom in ordered(self.expanded(found)):
                    if atom[0] == OBJ:
                        fields.update(dict(atom[1]))
            else:
                fields[key] = found
        return object_of(fields)

    def awaited(self, value: Type) -> Type:
        """Return the type of `await x` for a value `x`."""
        found = bottom_for(value)
        for atom in ordered(value):
            if atom[0] == BOX and atom[1] == "await":
                found = join(found, atom[2][0])
            elif atom[0] == INST and isinstance(self.owner(atom[1], "__await__"), Symbol):
                found = join(found, self.method_result(atom, "__await__"))
            elif atom[0] != PENDING:
                found = join(found, frozenset((atom,)))
        return self.expanded(found)

    def element(self, value: Type) -> Type:
        """Return the type of the elements of an iterable, as in `for x in items`."""
        found = bottom_for(value)
        for atom in ordered(value):
            if atom[0] == BOX and atom[2]:
                found = join(found, atom[2][0])
            elif atom[0] == TUP:
                found = join(found, join_all(atom[1]))
            elif atom[0] == INST:
                found = join(found, rules_of(self.project.entry(atom[1])).iterated(self.inference, atom))
            elif atom[0] == CLASS:  # iterating over an enumeration
                found = join(found, one((INST, atom[1], False)) if self.is_enum(atom[1]) else EMPTY)
            elif atom[0] == EXTI:
                found = join(found, one((EXTI, atom[1], result_name(atom[2], "[]"), atom[3])))
        return found

    def entered(self, value: Type) -> Type:
        """Return the type of `y` in `with x as y`, given the type of `x`."""
        found = bottom_for(value)
        for atom in ordered(value):
            if atom[0] == BOX and atom[1] == "enter":
                found = join(found, atom[2][0])
            elif atom[0] == INST:
                given = join(self.method_result(atom, "__enter__"), self.awaited(self.method_result(atom, "__aenter__")))
                found = join(found, given)
            else:
                found = join(found, frozenset((atom,)))
        return found

    def unpacked(self, value: Type, position: int) -> Type:
        """Return the type of a variable among the targets of an assignment.

        In `a, b = x`, the position of `b` is 1. It is negative for a starred target, as in `*rest`.
        """
        found = bottom_for(value)
        for atom in ordered(value):
            if atom[0] == TUP:
                if position < 0:
                    found = join(found, box("list", join_all(atom[1])))
                elif position < len(atom[1]):
                    found = join(found, atom[1][position])
            else:
                inner = rules_of(self.project.entry(atom[1])).part_of_tuple(self.inference, atom, position) if atom[0] == INST else EMPTY
                inner = inner or self.element(frozenset((atom,)))
                found = join(found, inner if position >= 0 else box("list", inner))
        return found

    def comprehension(self, entry: FileEntry, scope: int, kind: str, element: TermIndex, line: int) -> Type:
        """Return the type of a comprehension; `element` is an item's expression."""
        if kind == "dict":
            pair = entry.terms[element]
            parts = [self.term(entry, scope, part, line) for part in pair[1]] if pair[0] == TUPLE else []
            return box("dict", *parts) if len(parts) == 2 else box("dict", EMPTY, EMPTY)
        return box("iter" if kind == "generator" else kind, self.term(entry, scope, element, line))

    def operator(self, entry: FileEntry, scope: int, sign: str, left: TermIndex, right: OptionalTerm, line: int) -> Type:
        """Return the type of the result of an operator, such as `a + b`.

        `sign` is the operator. `left` and `right` are the indices of the operands; `right` is -1 for an operator with one operand.
        """
        value = self.expanded(self.term(entry, scope, left, line))
        found = bottom_for(value)
        for atom in ordered(value) if sign not in ASSIGNING else ():
            if atom[0] == INST:
                found = join(found, rules_of(entry).operated(self.inference, atom, sign, is_unary=right < 0))
            elif atom[0] in (EXTI, BOX, TUP):
                found = join(found, frozenset((atom,)))
        return found
