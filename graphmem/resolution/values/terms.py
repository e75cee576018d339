"""Read expressions of parsed files, which are tuples called terms.

The functions take the list of a file's expressions, and the index of an expression.

A term is an expression as the parser stores it: a tuple that begins with an operator, such as `call` for `f(x)`.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphmem.parsing.facts import (
    ATTR,
    AWAIT,
    CALL,
    COMPREHENSION,
    DICT,
    EITHER,
    ENTER,
    INDEX,
    ITER,
    LAMBDA,
    LIST,
    NAME,
    NEW,
    OBJECT,
    OPERATOR,
    SET,
    SPREAD,
    STRING,
    TUPLE,
    TYPED,
    UNPACK,
    Call,
    Term,
    TermIndex,
)


def call_at(terms: Sequence[Term], index: TermIndex) -> Call:
    """Return the call expression at an index of a file's expressions.

    Raises:
        TypeError: the expression is not a call.
    """
    term = terms[index]
    if term[0] == CALL or term[0] == NEW:
        return term
    raise TypeError(
        f"the parse results of a file have the expression {term!r} at position {index}, where graphmem expects a function call; "
        "report this defect to the authors of graphmem"
    )


def arguments_of(term: Term) -> tuple[TermIndex, ...]:
    """Return the indices of a call's positional arguments.

    The result is empty for an expression that is not a call.
    """
    if term[0] in (CALL, NEW):
        _, _, positional, _ = term
        return positional
    return ()


def last_name(term: Term) -> str:
    """Return the last part of a name or an attribute: `b` for `a.b`."""
    if term[0] == ATTR:
        _, _, name = term
        return name
    if term[0] == NAME:
        _, name = term
        return name
    return ""


def string_of(term: Term) -> str:
    """Return the text of a string literal; "" for other expressions."""
    if term[0] == STRING:
        _, text = term
        return text
    return ""


def items_or_itself(terms: Sequence[Term], index: TermIndex) -> tuple[TermIndex, ...]:
    """Return the items of a tuple; for any other expression, `index` itself.

    The result has indices of expressions. An example is the part in brackets of a type: `A` and `B` for `Base[A, B]`, only `A` for
    `Base[A]`.
    """
    term = terms[index]
    if term[0] == TUPLE:
        _, items = term
        return items
    return (index,)


def children(term: Term) -> Sequence[TermIndex]:
    """Return the indices of the expressions inside an expression.

    For `f(a)`, these are the indices of `f` and `a`. Missing parts are left out.
    """
    if term[0] == ATTR:
        _, base, _ = term
        return (base,) if base >= 0 else ()
    if term[0] == CALL or term[0] == NEW:
        _, callee, positional, keywords = term
        return (callee, *positional, *(value for _, value in keywords)) if keywords else (callee, *positional)
    if term[0] == NAME or term[0] == STRING:
        return ()
    if term[0] in (LIST, TUPLE, SET, EITHER):
        _, items = term
        return items
    if term[0] == INDEX:
        _, base, key = term
        return (base, key)
    if term[0] in (AWAIT, ITER, ENTER, SPREAD, LAMBDA, TYPED):
        _, inner = term
        return (inner,) if inner >= 0 else ()
    if term[0] == DICT:
        _, keys, values = term
        return (*keys, *values)
    if term[0] == OBJECT:
        _, _, values = term
        return values
    if term[0] == UNPACK:
        _, value, _ = term
        return (value,)
    if term[0] == COMPREHENSION:
        _, _, element = term
        return (element,)
    if term[0] == OPERATOR:
        _, _, left, right = term
        return tuple(operand for operand in (left, right) if operand >= 0)
    return ()
