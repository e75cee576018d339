"""Find the names of the classes that a file may instantiate.

A file may instantiate a class that it calls or uses as a value. Uses in annotations and type tests such as `isinstance(x, A)` are ignored.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from graphmem.parsing.facts import CALL, NAME, STRING, FileFacts, Reference, TermIndex
from graphmem.resolution.values.terms import arguments_of, call_at, children, items_or_itself, last_name


class _Part(NamedTuple):
    """A range of lines (first and last) in a scope: function, class or module."""

    scope: int
    first: int
    last: int


def is_class_name(name: str) -> bool:
    """Whether a name begins with a capital letter, after any underscores."""
    return name.lstrip("_")[:1].isupper()


def class_names(facts: FileFacts, type_tests: Collection[str]) -> frozenset[str]:
    """Return class names that a file calls, uses as values, or has in strings.

    Uses in annotations and type tests are ignored. A string is included if it is a dotted class name, such as `"module.Class"`.

    Args:
        facts: facts of the file.
        type_tests: functions such as `isinstance`, which test whether a value is an instance of their second argument.
    """
    terms = facts.terms
    found: set[str] = set()
    read: list[tuple[str, Reference]] = []
    tests: list[Reference] = []
    for reference in facts.references:
        kind = reference.kind
        if kind not in ("call", "read", "raise", "decorate"):
            continue
        term = terms[reference.term]
        if kind == "call":
            _, callee, _, _ = call_at(terms, reference.term)
            term = terms[callee]
            if type_tests and term[0] == NAME and term[1] in type_tests:
                tests.append(reference)
        elif term[0] == CALL:
            _, callee, _, _ = term
            term = terms[callee]
        name = last_name(term)
        if name and is_class_name(name):
            if kind == "read":
                read.append((name, reference))
            else:
                found.add(name)
    for term in terms:
        if term[0] == STRING:  # "package.module.Class"
            module, _, name = term[1].rpartition(".")
            if module and is_class_name(name) and name.isidentifier():
                found.add(name)
    if any(name not in found for name, _ in read):
        annotated = _annotated(facts)
        found.update(name for name, reference in read if not _is_annotation_or_test(facts, annotated, tests, reference))
    return frozenset(found)


def _is_annotation_or_test(
    facts: FileFacts, annotated: Mapping[int, Sequence[_Part]], tests: Sequence[Reference], reference: Reference
) -> bool:
    """Whether a use of a class is in an annotation or a type test.

    `reference` is the use. `annotated` maps each expression in an annotation to the lines of the annotation. `tests` are the file's type
    tests, such as `isinstance(x, A)`.
    """
    place = (reference.scope, reference.line)
    if any(part.scope == place[0] and part.first <= place[1] <= part.last for part in annotated.get(reference.term, ())):
        return True
    return _is_tested(facts, tests, reference)


def _is_tested(facts: FileFacts, tests: Sequence[Reference], reference: Reference) -> bool:
    """Whether a use of a class is the second argument of a type test.

    `reference` is the use, such as `A` in `isinstance(x, A)` or `isinstance(x, (A, B))`. `tests` are the file's type tests.
    """
    for test in tests:
        if test.line <= reference.line <= test.end_line:
            arguments = arguments_of(facts.terms[test.term])
            if len(arguments) > 1 and reference.term in items_or_itself(facts.terms, arguments[1]):
                return True
    return False


def _annotated(facts: FileFacts) -> dict[int, list[_Part]]:
    """Map each expression in an annotation to the lines of that annotation.

    Nested expressions are included. The lines are those of the annotated statement, or of the definition that has the annotation.
    """
    found: dict[int, list[_Part]] = {}
    starts = sorted({binding.line for binding in facts.bindings} | {definition.start_line for definition in facts.definitions})
    for binding in facts.bindings:
        if binding.annotation >= 0:
            following = bisect_right(starts, binding.line)  # a long annotation ends where the next statement begins
            last = starts[following] - 1 if following < len(starts) else facts.lines
            _add(facts, binding.annotation, _Part(binding.scope, binding.line, max(last, binding.end_line)), found)
    for definition in facts.definitions:
        part = _Part(definition.parent, definition.start_line, definition.end_line)
        _add(facts, definition.returns, part, found)
        for parameter in definition.parameters:
            _add(facts, parameter.annotation, part, found)
    return found


def _add(facts: FileFacts, term: TermIndex, part: _Part, found: dict[int, list[_Part]]) -> None:
    pending = [term]
    while pending:
        current = pending.pop()
        if current >= 0:
            found.setdefault(current, []).append(part)
            pending += children(facts.terms[current])
