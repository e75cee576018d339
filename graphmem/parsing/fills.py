"""Find values put into containers, as in `x.append(y)` and `x[k] = y`.

Each such statement is recorded as a binding of the kind "fill". The target of the binding is the container `x`, and the value is the list
`[y]`. Type inference joins this list with the other values of `x`.

A binding is a place where a name or an attribute gets a value, such as `x = f()`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from graphmem.parsing.facts import (
    ATTR,
    CALL,
    EITHER,
    INDEX,
    LAMBDA,
    LIST,
    LITERAL,
    NAME,
    NO_TERM,
    STRING,
    TUPLE,
    UNKNOWN,
    Binding,
    Reference,
    Term,
    TermIndex,
)
from graphmem.parsing.terms import TermBuilder

_LAST_LINE: Final = 1 << 30


def fills(
    builder: TermBuilder, methods: Mapping[str, str], references: Sequence[Reference], bindings: Sequence[Binding]
) -> Iterator[Binding]:
    """Yield a binding for each statement that puts a value into a container.

    Examples are `x.append(y)` and `x[k] = y`. The statements are found in the uses `references` and in `bindings`. Values that cannot be a
    function or a new object are left out. `methods` maps the name of a method, such as "append", to the value that the method puts in:

    - "first": the first argument, as in `append(y)`
    - "second" or "pair": the second argument, as in `insert(0, y)` or `setdefault(k, y)`
    - "all": each item of the first argument, as in `extend(ys)`
    - "any first", "any second": as "first" and "second", but any value except a literal is accepted
    """
    terms = builder.terms
    for found in references:
        term = terms[found.term]
        if found.kind != "call" or term[0] != CALL:
            continue
        _, called, given, _ = term
        callee = terms[called]
        how = methods.get(callee[2]) if callee[0] == ATTR else None
        takes_any = how is not None and how.startswith("any ")
        how = how.removeprefix("any ") if how is not None else None
        if callee[0] != ATTR or how is None or len(given) < (2 if how in ("pair", "second") else 1):
            continue
        item = given[1 if how in ("pair", "second") else 0]
        if _is_callable(terms, item) or (takes_any and terms[item][0] not in (LITERAL, STRING, UNKNOWN)):
            value = item if how == "all" else builder.add((LIST, (item,)))
            yield from _fill(builder, callee[1], value, found.scope, found.line)
    for binding in bindings:
        target = terms[binding.target]
        if binding.op == "assign" and target[0] == INDEX and binding.value >= 0 and _is_callable(terms, binding.value):
            _, container, _ = target
            yield from _fill(builder, container, builder.add((LIST, (binding.value,))), binding.scope, binding.line)


def _is_callable(terms: Sequence[Term], item: TermIndex) -> bool:
    """Whether an expression may be a function or the creation of an object.

    The result is True for a name, an attribute, a lambda, or a call of a capitalised name. For a list, a tuple or a choice (`a if b else
    c`), it is True if it is True for one of the parts.
    """
    term = terms[item]
    if term[0] in (LIST, TUPLE, EITHER):
        _, items = term
        return any(_is_callable(terms, inner) for inner in items)
    if term[0] == CALL:
        callee = terms[term[1]]
        return callee[0] in (NAME, ATTR) and str(callee[-1]).lstrip("_")[:1].isupper()
    return term[0] in (NAME, ATTR, LAMBDA)


def _fill(builder: TermBuilder, container: TermIndex, value: TermIndex, scope: int, line: int) -> Iterator[Binding]:
    """Yield the binding for a list `value` of items put into `container`.

    Both are indices of expressions. The target of the binding must be a name or an attribute. For `x[k].append(y)`, the target is `x`, and
    the value becomes a list in a list, `[[y]]`. If no such target is found, nothing is yielded.
    """
    while True:
        term = builder.terms[container]
        if term[0] in (NAME, ATTR):
            yield Binding(scope, container, "fill", value, NO_TERM, line, line, _LAST_LINE)
            return
        if term[0] == INDEX:
            _, container, _ = term
        elif term[0] == CALL and builder.terms[term[1]][0] == ATTR and term[2]:  # x.setdefault(k, []).append(y)
            callee = builder.terms[term[1]]
            if callee[0] != ATTR or callee[2] not in ("setdefault", "get"):
                return
            container = callee[1]
        else:
            return
        value = builder.add((LIST, (value,)))
