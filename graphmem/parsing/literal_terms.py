"""Build functions that convert literals to terms (expressions).

The literals are strings, collections and objects. A row of `[terms]` in `language.toml` describes each type of literal. The functions get
this row as `entry`, and the parsers of the language as `syntax`.

A term is an expression as the parser stores it: a tuple that begins with an operator, such as `call` for `f(x)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import DICT, LIST, LITERAL, NAME, OBJECT, OPERATOR, SET, STRING, TUPLE, ItemsOperator, TermIndex
from graphmem.parsing.picking import children_of, pick
from graphmem.parsing.terms import MAX_ITEMS, Build, TermBuilder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tree_sitter import Node

    from graphmem.parsing.language import TermEntry
    from graphmem.parsing.syntax import Syntax

MAX_STRING: Final = 200
"""Most characters of a string literal: enough for routes, events and settings."""


def string_term(syntax: Syntax, entry: TermEntry) -> Build:
    """Return a function that converts a string literal to a term (expression)."""
    content = syntax.kinds(entry["content"])
    holes = syntax.kinds(entry.get("interpolation", ()))
    start = syntax.kinds(entry.get("start", ()))
    parts = syntax.kinds(entry.get("parts", ()))
    quotes_types = bool(entry.get("quotes_types"))

    def build(builder: TermBuilder, node: Node) -> TermIndex:
        text = ""
        is_path = False
        for child in node.named_children:
            kind = child.kind_id
            if kind in content:
                text += builder.slice(child.start_byte, child.end_byte)
            elif kind in holes:
                if text.startswith("/"):  # a path with computed parts, as in f"/users/{user.id}/edit"
                    is_path = True
                    text += "{}"
                    continue
                if not text.isidentifier():
                    return builder.add((LITERAL, "template"))
                # Prefix of a name, as in f"visit_{kind}": the computed name is one of those with this prefix.
                return builder.add((OPERATOR, "+", builder.add((STRING, text[:MAX_STRING])), builder.unknown))
            elif kind in start:
                if "b" in builder.text(child).lower():
                    return builder.add((LITERAL, "bytes"))
            elif kind in parts:
                index = builder.term(child)
                part = builder.terms[index]
                if part[0] != STRING:
                    return index
                _, written = part
                text += written
        if is_path:
            return builder.add((OPERATOR, "+", builder.add((STRING, text[:MAX_STRING])), builder.unknown))
        quoted = builder.quoted_type(text) if quotes_types and builder._quiet else None
        return builder.add((STRING, text[:MAX_STRING])) if quoted is None else quoted

    return build


def literal_term(syntax: Syntax, entry: TermEntry) -> Build:
    """Return a function that converts a literal, such as a number, to a term.

    A term is an expression as the parser stores it. The term has only the kind of the literal, such as "int", and not its value.
    """
    kind = str(entry["kind"])

    def build(builder: TermBuilder, node: Node) -> TermIndex:
        return builder.add((LITERAL, kind))

    return build


def items_term(syntax: Syntax, entry: TermEntry) -> Build:
    """Return a function that converts a list, tuple or set literal to a term.

    A term is an expression as the parser stores it.
    """
    operators: Mapping[str, ItemsOperator] = {"list": LIST, "tuple": TUPLE, "set": SET}
    operator = operators[entry["op"]]
    lone_is_itself = bool(entry.get("lone_is_itself"))

    def build(builder: TermBuilder, node: Node) -> TermIndex:
        if lone_is_itself and node.named_child_count == 1:
            return builder.term(node.named_children[0])
        return builder.add((operator, tuple(builder.term(child) for child in children_of(node)[:MAX_ITEMS])))

    return build


def pair_term(syntax: Syntax, entry: TermEntry) -> Build:
    """Return a function that converts an entry of a dictionary literal.

    The result of the function is a term (an expression as the parser stores it): a tuple of the entry's key and value.
    """
    key, value = pick(syntax, entry["key"]), pick(syntax, entry["value"])

    def build(builder: TermBuilder, node: Node) -> TermIndex:
        return builder.add((TUPLE, (builder.term(key(node)), builder.term(value(node)))))

    return build


def dict_term(syntax: Syntax, entry: TermEntry) -> Build:
    """Return a function that converts a dictionary literal to a term.

    A term is an expression as the parser stores it.
    """
    pairs = syntax.kinds(entry["pairs"])
    key, value = (pick(syntax, where) for where in entry.get("pair_fields", ("key", "value")))

    def build(builder: TermBuilder, node: Node) -> TermIndex:
        keys: list[TermIndex] = []
        values: list[TermIndex] = []
        for child in children_of(node)[:MAX_ITEMS]:
            is_pair = child.kind_id in pairs
            keys.append(builder.term(key(child) if is_pair else child))
            values.append(builder.term(value(child)) if is_pair else keys[-1])
        return builder.add((DICT, tuple(keys), tuple(values)))

    return build


def object_term(syntax: Syntax, entry: TermEntry) -> Build:
    """Return a function that converts an object literal to a term.

    A term is an expression as the parser stores it. The keys are stored as strings; the key of `...spread` is "...".
    """
    pairs = syntax.kinds(entry["pairs"])
    key, value = (pick(syntax, where) for where in entry.get("pair_fields", ("key", "value")))

    def key_text(builder: TermBuilder, node: Node | None) -> str:
        term = builder.terms[builder.term(node)]
        if term[0] in (STRING, NAME):
            text: str = term[1]
            return text
        return builder.text(node) if node is not None else ""

    def build(builder: TermBuilder, node: Node) -> TermIndex:
        keys: list[str] = []
        values: list[TermIndex] = []
        for child in children_of(node)[:MAX_ITEMS]:
            if child.kind_id in pairs:
                keys.append(key_text(builder, key(child)))
                values.append(builder.term(value(child)))
            else:  # `{shorthand}` and `{...spread}`
                term = builder.term(child)
                keys.append(builder.text(child) if builder.terms[term][0] == NAME else "...")
                values.append(term)
        return builder.add((OBJECT, tuple(keys), tuple(values)))

    return build
