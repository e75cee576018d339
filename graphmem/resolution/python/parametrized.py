"""Infer parameters of tests from `@pytest.mark.parametrize`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphmem.parsing.facts import CALL, LIST, NO_TERM, STRING, TUPLE, Call, TermIndex, written_name
from graphmem.resolution.values.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.values.terms import string_of
from graphmem.resolution.values.types import EMPTY, TUP, Type, join, join_all

if TYPE_CHECKING:
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference


def parametrized(inference: Inference, symbol: Symbol, index: int) -> Type:
    """Return the type of the values that `parametrize` gives to a parameter.

    `symbol` is a test, and `index` is the position of its parameter. The decorators `parametrize` of the test and of its class are read.
    The result is empty for a function that is not a test.
    """
    entry = inference.project.entry(symbol)
    definition = entry.definitions[symbol.index]
    if not entry.in_tests or not definition.name.startswith("test"):
        return EMPTY
    around = entry.definitions[definition.parent]
    decorated = [(definition.parent, definition)]
    if around.kind in CLASS_KINDS:
        inference.project.entry(entry.symbols[definition.parent])  # the answer depends on its decorators
        decorated.append((around.parent, around))
    found = EMPTY
    for scope, one in decorated:
        for decorator in one.decorators:
            term = entry.terms[decorator]
            if term[0] == CALL and written_name(entry.terms, term[1]) == "parametrize":
                found = join(found, _given(inference, entry, scope, one.start_line, term, definition.parameters[index].name))
    return inference.expanded(found)


def _given(inference: Inference, entry: FileEntry, scope: int, line: int, call: Call, name: str) -> Type:
    """Return the type that `parametrize` gives a parameter of a test.

    `call` is the call of `parametrize`, and `name` is the parameter. The type is that of all listed values. The result is empty if the call
    does not name the parameter.
    """
    _, _, arguments, keywords = call
    named = dict(keywords)
    names = arguments[0] if arguments else named.get("argnames", NO_TERM)
    values = arguments[1] if len(arguments) > 1 else named.get("argvalues", NO_TERM)
    if names < 0 or values < 0:
        return EMPTY
    written = _names(entry, names)
    if name not in written:
        return EMPTY
    position, several = written.index(name), len(written) > 1
    listed = entry.terms[values]
    if listed[0] in (LIST, TUPLE):
        _, items = listed
        terms = (_part(entry, item, position, several) for item in items)
        return join_all(inference.term(entry, scope, term, line) for term in terms if term >= 0)
    inner = inference.element(inference.expanded(inference.term(entry, scope, values, line)))
    if not several:
        return inner
    rows = (atom[1] for atom in inference.expanded(inner) if atom[0] == TUP)
    return join_all(row[position] for row in rows if position < len(row))


def _names(entry: FileEntry, term: TermIndex) -> Sequence[str]:
    """Return the parameter names in the first argument of `parametrize`.

    `term` is the argument. For `"a, b"` and for `("a", "b")`, the names are `a` and `b`.
    """
    found = entry.terms[term]
    if found[0] == STRING:
        return [name.strip() for name in found[1].split(",")]
    if found[0] in (LIST, TUPLE):
        return [string_of(entry.terms[item]) for item in found[1]]
    return ()


def _part(entry: FileEntry, item: TermIndex, position: int, several: bool) -> TermIndex:
    """Return the expression that a row of values gives to one parameter.

    The result is -1 if the row has no value for the parameter.

    Args:
        entry: the file with the row.
        item: the row: a value, a tuple of values, or `pytest.param(…)`.
        position: position of the parameter in the row.
        several: whether rows have values for several parameters. If not, `item` itself is the value.
    """
    term = entry.terms[item]
    if term[0] == CALL and written_name(entry.terms, term[1]) == "param":
        return term[2][position] if position < len(term[2]) else NO_TERM
    if not several:
        return item
    return term[1][position] if term[0] in (LIST, TUPLE) and position < len(term[1]) else NO_TERM
