"""Find the declared type of a C or C++ expression, as it is written.

Inferred types leave out pointers. They are empty for names that are defined only during a build, such as `char_type`.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.parsing.facts import ATTR, CALL, EITHER, INDEX, LITERAL, NAME, NO_TERM, OPERATOR, SELF, TermIndex
from graphmem.resolution.cfamily.fitness import is_number, written
from graphmem.resolution.files.file_entry import Place
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.types import FUNC, INST, ordered

if TYPE_CHECKING:
    from graphmem.parsing.facts import Operator
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference

_ARITHMETIC: Final = frozenset(("%", "&", "*", "+", "++", "-", "--", "/", "^", "|", "~"))
"""Operators that give a number for numbers."""


class Written(NamedTuple):
    """A type as the source writes it.

    For `const char *`, `is_pointer` is True and `name` is `char`.
    """

    is_pointer: bool
    name: str
    """The last part of the type's name; "" if the type has no name, or if it is only known to be a pointer."""


def declared_as(inference: Inference, entry: FileEntry, scope: int, line: int, term: TermIndex) -> Written | None:
    """Return the declared type of a variable, a field or the result of a call.

    The type of an arithmetic operation, of `this` and of `&value` is returned, too. The result is None for any other kind of expression,
    and if the type is unknown or not the same in all declarations.
    """
    found = entry.terms[term]
    if found[0] == SELF:
        return Written(is_pointer=True, name="")
    if found[0] == EITHER and len(found[1]) == 1:  # &value
        inner = declared_as(inference, entry, scope, line, found[1][0])
        return Written(is_pointer=True, name=inner.name if inner is not None and not inner.is_pointer else "")
    if found[0] == OPERATOR:
        return _of_operation(inference, entry, scope, line, found)
    known: Written | None = None
    for one in _declarations(inference, entry, scope, line, term):
        if one is None or (known is not None and one != known):
            return None
        known = one
    return known


def _of_operation(inference: Inference, entry: FileEntry, scope: int, line: int, found: Operator) -> Written | None:
    """Return the declared type of an arithmetic operation: `a + b` or `a++`.

    It is the type of the first operand that is not a literal. If this type is not a number, the name in the result is "". The result is
    None if the operator is not arithmetic. It is also None if the declaration of an operand is unknown or declares a pointer.
    """
    _, sign, left, right = found
    sides = [side for side in (left, right) if side >= 0 and entry.terms[side][0] != LITERAL]
    known = [declared_as(inference, entry, scope, line, side) for side in sides]
    if sign not in _ARITHMETIC or any(one is None or one.is_pointer for one in known):
        return None
    first = known[0] if known else None
    return first._replace(name=first.name if is_number(first.name) else "") if first is not None else None


def _declarations(inference: Inference, entry: FileEntry, scope: int, line: int, term: TermIndex) -> Iterator[Written | None]:
    found = entry.terms[term]
    if found[0] == NAME:
        for place in inference.lookup(entry, scope, found[1], line) or ():
            yield _of_place(place)
    elif found[0] == CALL:
        for atom in ordered(inference.expanded(inference.term(entry, scope, found[1], line))):
            yield _of_result(inference, atom[1]) if atom[0] == FUNC else None
    elif found[0] == ATTR:
        for atom in ordered(inference.expanded(inference.term(entry, scope, found[1], line))):
            owner = inference.owner(atom[1], found[2]) if atom[0] == INST else None
            if isinstance(owner, Symbol):
                other = inference.project.entry(owner)
                for slot in other.names(owner.index).get(found[2], ()):
                    yield _of_place(Place(other, owner.index, slot))


def _of_place(place: Place) -> Written | None:
    entry, scope, slot = place
    annotation = NO_TERM
    if slot.kind == "binding":
        annotation = entry.facts.bindings[slot.index].annotation
    elif slot.kind == "parameter":
        annotation = entry.definitions[scope].parameters[slot.index].annotation
    return _of_annotation(entry, annotation) if annotation >= 0 else None


def _of_annotation(entry: FileEntry, annotation: TermIndex) -> Written:
    found = entry.terms[annotation]
    is_pointer = found[0] == INDEX and entry.terms[found[1]] == (NAME, "*")
    return Written(is_pointer, written(entry.terms, found[2] if found[0] == INDEX and is_pointer else annotation))


def _of_result(inference: Inference, function: Symbol) -> Written | None:
    entry = inference.project.entry(function)
    definition = entry.definitions[function.index]
    if definition.returns < 0:
        return None
    before = definition.signature.partition("(")[0]
    name = "" if "auto" in before.split() else written(entry.terms, definition.returns)
    return Written(is_pointer="*" in before and "operator" not in before, name=name)
