"""What each operator of the term table does with a node: one function of the table's entry, made once a grammar."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Final

from graphmem.errors import GrammarError
from graphmem.parsing.facts import (
    ATTR,
    AWAIT,
    CALL,
    COMPREHENSION,
    DICT,
    EITHER,
    INDEX,
    LAMBDA,
    LIST,
    LITERAL,
    NAME,
    NEW,
    OBJECT,
    OPERATOR,
    SELF,
    SET,
    SPREAD,
    STRING,
    SUPER,
    TUPLE,
    TYPED,
)

if TYPE_CHECKING:
    from tree_sitter import Node

    from graphmem.parsing.grammar import Grammar
    from graphmem.parsing.terms import TermBuilder

MAX_STRING: Final = 200
"""Characters of a string literal that are kept: enough for names of routes, events and settings."""

MAX_ITEMS: Final = 64
"""Items of a literal container that are kept; element types of longer ones do not get better."""

Build = Callable[["TermBuilder", "Node"], int]
Pick = Callable[["Node"], "Node | None"]


def _children(node: Node) -> list[Node]:
    return [child for child in node.named_children if not child.is_extra]


def _pick(grammar: Grammar, where: Any) -> Pick:
    """A child by field name, or by position among the named children that are no comments."""
    if isinstance(where, str):
        field = grammar.language.field_id_for_name(where)
        if field is None:
            origin = f"grammars/{grammar.spec.name}/language.toml"
            raise GrammarError(f"{origin}: [terms]: the grammar has no field {where!r}", path=origin, line=0)
        return methodcaller("child_by_field_id", field)  # half the cost of a lambda
    if isinstance(where, list):
        steps = [_pick(grammar, step) for step in where]

        def by_steps(node: Node) -> Node | None:
            found: Node | None = node
            for step in steps:
                found = step(found) if found is not None else None
            return found

        return by_steps
    position = int(where)

    def by_position(node: Node) -> Node | None:
        children = _children(node)
        return children[position] if position < len(children) else None

    return by_position


def _nothing(node: Node) -> None:
    """The child of a node that never has one."""


def _name(grammar: Grammar, entry: Mapping[str, Any]) -> Build:
    def build(builder: TermBuilder, node: Node) -> int:
        return builder.add((NAME, builder.slice(node.start_byte, node.end_byte)))

    return build


def _dotted(grammar: Grammar, entry: Mapping[str, Any]) -> Build:
    arguments = frozenset(i for kind in entry.get("arguments", ()) for i in grammar.kind_ids(kind))

    def build(builder: TermBuilder, node: Node) -> int:
        children = _children(node)
        names = [builder.text(child) for child in children if child.kind_id not in arguments]
        term = builder.add((NAME, names[0] if names else builder.text(node)))
        for name in names[1:]:
            term = builder.add((ATTR, term, name))
        given = [builder.term(item) for child in children if child.kind_id in arguments for item in _children(child)[:MAX_ITEMS]]
        if given:
            return builder.add((INDEX, term, given[0] if len(given) == 1 else builder.add((TUPLE, tuple(given)))))
        return term

    return build


def _attr(grammar: Grammar, entry: Mapping[str, Any]) -> Build:
    base, name = _pick(grammar, entry["base"]), _pick(grammar, entry["name"])
    alone = frozenset(i for kind in entry.get("alone", ()) for i in grammar.kind_ids(kind))

    def build(builder: TermBuilder, node: Node) -> int:
        if builder._quiet:
            builder.consumed.add(node.id)
            if builder._telling:
                builder.told.add(node.id)
        attribute = name(node)
        if attribute is None:
            return builder.unknown
        if attribute.kind_id in alone:
            return builder.term(attribute)
        start, end, text = attribute.start_byte, attribute.end_byte, builder.ascii
        found = text[start:end] if text is not None else builder.slice(start, end)
        return builder.add((ATTR, builder.term(base(node)), found))

    return build


def _call(grammar: Grammar, entry: Mapping[str, Any]) -> Build:
    operator = NEW if entry["op"] == "new" else CALL
    callee = _pick(grammar, entry["callee"]) if "callee" in entry else _nothing
    base, member = (_pick(grammar, entry["base"]), _pick(grammar, entry["name"])) if "name" in entry else (_nothing, _nothing)
    arguments = _pick(grammar, entry["arguments"]) if "arguments" in entry else _nothing
    lists = frozenset(i for kind in entry.get("lists", ()) for i in grammar.kind_ids(kind))
    keyword = frozenset(i for kind in entry.get("keyword", ()) for i in grammar.kind_ids(kind))
    keyword_name, keyword_value = (_pick(grammar, where) for where in entry.get("keyword_fields", (0, 1)))
    double = frozenset(i for kind in entry.get("spread_keywords", ()) for i in grammar.kind_ids(kind))

    def build(builder: TermBuilder, node: Node) -> int:
        target = callee(node)
        if target is not None:
            builder.consumed.add(target.id)
        called = builder.term(target) if target is not None else named_callee(builder, base(node), member(node))
        given = arguments(node)
        if given is None:
            return builder.add((operator, called, (), ()))
        if given.kind_id not in lists:  # `f(x for x in y)` has no list
            return builder.add((operator, called, (builder.term(given),), ()))
        positional: list[int] = []
        named: list[tuple[str, int]] = []
        for child in given.named_children:
            kind = child.kind_id
            if kind in keyword:
                name = keyword_name(child)
                named.append((builder.text(name) if name else "", builder.term(keyword_value(child))))
            elif kind in double:
                inner = _children(child)
                named.append(("**", builder.term(inner[0] if inner else None)))
            elif not child.is_extra:
                positional.append(builder.term(child))
        return builder.add((operator, called, tuple(positional), tuple(named)))

    return build


def named_callee(builder: TermBuilder, base: Node | None, member: Node | None) -> int:
    """What is called where the receiver and the name are parts of the call itself."""
    if member is None:
        return builder.unknown
    name = builder.text(member)
    return builder.add((ATTR, builder.term(base), name)) if base is not None else builder.add((NAME, name))


def _index(grammar: Grammar, entry: Mapping[str, Any]) -> Build:
    base = _pick(grammar, entry["base"])
    keys_field = entry.get("keys")
    field = grammar.language.field_id_for_name(keys_field) if isinstance(keys_field, str) else None
    single = _pick(grammar, keys_field) if isinstance(keys_field, int) else None

    def build(builder: TermBuilder, node: Node) -> int:
        if single is not None:
            return builder.add((INDEX, builder.term(base(node)), builder.term(single(node))))
        if field is not None:
            keys = node.children_by_field_id(field)
        elif node.named_child_count > 1:  # the keys stand in a list of their own, after the base
            keys = [key for child in _children(node)[1:] for key in _children(child)]
        else:
            keys = []
        items = tuple(builder.term(key) for key in keys[:MAX_ITEMS])
        return builder.add((INDEX, builder.term(base(node)), items[0] if len(items) == 1 else builder.add((TUPLE, items))))

    return build


def _string(grammar: Grammar, entry: Mapping[str, Any]) -> Build:
    content = frozenset(i for kind in entry["content"] for i in grammar.kind_ids(kind))
    holes = frozenset(i for kind in entry.get("interpolation", ()) for i in grammar.kind_ids(kind))
    start = frozenset(i for kind in entry.get("start", ()) for i in grammar.kind_ids(kind))
    parts = frozenset(i for kind in entry.get("parts", ()) for i in grammar.kind_ids(kind))
    quotes_types = bool(entry.get("quotes_types"))

    def build(builder: TermBuilder, node: Node) -> int:
        text = ""
        for child in node.named_children:
            kind = child.kind_id
            if kind in content:
                text += builder.slice(child.start_byte, child.end_byte)
            elif kind in holes:
                if not text.isidentifier():
                    return builder.add((LITERAL, "template"))
                # The begin of a name, as in f"visit_{kind}": what is computed is one of the names that begin so.
                return builder.add((OPERATOR, "+", builder.add((STRING, text[:MAX_STRING])), builder.unknown))
            elif kind in start:
                if "b" in builder.text(child).lower():
                    return builder.add((LITERAL, "bytes"))
            elif kind in parts:
                part = builder.terms[builder.term(child)]
                if part[0] != STRING:
                    return builder.add(part)
                text += part[1]
        quoted = builder.quoted_type(text) if quotes_types and builder._quiet else None
        return builder.add((STRING, text[:MAX_STRING])) if quoted is None else quoted

    return build


def _literal(grammar: Grammar, entry: Mapping[str, Any]) -> Build:
    kind = str(entry["kind"])

    def build(builder: TermBuilder, node: Node) -> int:
        return builder.add((LITERAL, kind))

    return build


def _items(grammar: Grammar, entry: Mapping[str, Any]) -> Build:
    operator = {"list": LIST, "tuple": TUPLE, "set": SET}[entry["op"]]
    lone_is_itself = bool(entry.get("lone_is_itself"))

    def build(builder: TermBuilder, node: Node) -> int:
        if lone_is_itself and node.named_child_count == 1:
            return builder.term(node.named_children[0])
        return builder.add((operator, tuple(builder.term(child) for child in _children(node)[:MAX_ITEMS])))

    return build


def _pair(grammar: Grammar, entry: Mapping[str, Any]) -> Build:
    key, value = _pick(grammar, entry["key"]), _pick(grammar, entry["value"])

    def build(builder: TermBuilder, node: Node) -> int:
        return builder.add((TUPLE, (builder.term(key(node)), builder.term(value(node)))))

    return build


def _dict(grammar: Grammar, entry: Mapping[str, Any]) -> Build:
    pairs = frozenset(i for kind in entry["pairs"] for i in grammar.kind_ids(kind))
    key, value = (_pick(grammar, where) for where in entry.get("pair_fields", ("key", "value")))
    names_only = entry["op"] == "object"

    def key_text(builder: TermBuilder, node: Node | None) -> str:
        term = builder.terms[builder.term(node)]
        if term[0] in (STRING, NAME):
            return str(term[1])
        return builder.text(node) if node is not None else ""

    def build(builder: TermBuilder, node: Node) -> int:
        keys: list[Any] = []
        values: list[int] = []
        for child in _children(node)[:MAX_ITEMS]:
            if child.kind_id in pairs:
                keys.append(key_text(builder, key(child)) if names_only else builder.term(key(child)))
                values.append(builder.term(value(child)))
            elif names_only:  # `{shorthand}` and `{...spread}`
                term = builder.term(child)
                keys.append(builder.text(child) if builder.terms[term][0] == NAME else "...")
                values.append(term)
            else:
                spread = builder.term(child)
                keys.append(spread)
                values.append(spread)
        return builder.add((OBJECT if names_only else DICT, tuple(keys), tuple(values)))

    return build


def _either(grammar: Grammar, entry: Mapping[str, Any]) -> Build:
    picks = [_pick(grammar, where) for where in entry.get("items", ())]

    def build(builder: TermBuilder, node: Node) -> int:
        chosen = [pick(node) for pick in picks] if picks else list(_children(node)[:MAX_ITEMS])
        return builder.add((EITHER, tuple(builder.term(child) for child in chosen if child is not None)))

    return build


def _wrap(grammar: Grammar, entry: Mapping[str, Any]) -> Build:
    operator = {"await": AWAIT, "spread": SPREAD}[entry["op"]]
    inner = _pick(grammar, entry.get("of", 0))

    def build(builder: TermBuilder, node: Node) -> int:
        return builder.add((operator, builder.term(inner(node))))

    return build


def _typed(grammar: Grammar, entry: Mapping[str, Any]) -> Build:
    named = _pick(grammar, entry["of"])

    def build(builder: TermBuilder, node: Node) -> int:
        return builder.add((TYPED, builder.annotation(named(node))))

    return build


def _applied(grammar: Grammar, entry: Mapping[str, Any]) -> Build:
    """A type that is written with signs instead of a name: `[]T` as if it were `[]<T>`."""
    name = str(entry["name"])
    picks = [_pick(grammar, where) for where in entry["of"]]

    def build(builder: TermBuilder, node: Node) -> int:
        parts = tuple(builder.term(pick(node)) for pick in picks)
        return builder.add((INDEX, builder.add((NAME, name)), parts[0] if len(parts) == 1 else builder.add((TUPLE, parts))))

    return build


def _lambda(grammar: Grammar, entry: Mapping[str, Any]) -> Build:
    body = _pick(grammar, entry["body"])
    opaque = frozenset(i for kind in entry.get("blocks", ()) for i in grammar.kind_ids(kind))

    def build(builder: TermBuilder, node: Node) -> int:
        inner = body(node)
        if inner is None or inner.kind_id in opaque:
            return builder.add((LAMBDA, -1))
        return builder.add((LAMBDA, builder.term(inner)))

    return build


def _comprehension(grammar: Grammar, entry: Mapping[str, Any]) -> Build:
    kind, element = str(entry["kind"]), _pick(grammar, entry["element"])

    def build(builder: TermBuilder, node: Node) -> int:
        return builder.add((COMPREHENSION, kind, builder.term(element(node))))

    return build


def _operator(grammar: Grammar, entry: Mapping[str, Any]) -> Build:
    left = _pick(grammar, entry["left"])
    right = _pick(grammar, entry["right"]) if "right" in entry else None
    sign = _pick(grammar, entry["sign"]) if "sign" in entry else None
    fixed = str(entry.get("text", ""))

    def build(builder: TermBuilder, node: Node) -> int:
        symbol = sign(node) if sign else None
        text = builder.text(symbol) if symbol else fixed
        return builder.add((OPERATOR, text, builder.term(left(node)), builder.term(right(node)) if right else -1))

    return build


def _keyword(grammar: Grammar, entry: Mapping[str, Any]) -> Build:
    operator = {"self": SELF, "super": SUPER}[entry["op"]]

    def build(builder: TermBuilder, node: Node) -> int:
        return builder.add((operator,))

    return build


def _through(grammar: Grammar, entry: Mapping[str, Any]) -> Build:
    inner = _pick(grammar, entry.get("of", 0))

    def build(builder: TermBuilder, node: Node) -> int:
        return builder.term(inner(node))

    return build


def _helper(grammar: Grammar, entry: Mapping[str, Any]) -> Build:
    method = str(entry["method"])

    def build(builder: TermBuilder, node: Node) -> int:
        return builder.grammar.helper.helper_term(builder, node, method)

    return build


OPERATORS: Final[Mapping[str, Callable[[Grammar, Mapping[str, Any]], Build]]] = {
    "name": _name,
    "dotted": _dotted,
    "attr": _attr,
    "call": _call,
    "new": _call,
    "index": _index,
    "string": _string,
    "literal": _literal,
    "list": _items,
    "tuple": _items,
    "set": _items,
    "pair": _pair,
    "dict": _dict,
    "object": _dict,
    "either": _either,
    "await": _wrap,
    "spread": _wrap,
    "lambda": _lambda,
    "comprehension": _comprehension,
    "operator": _operator,
    "self": _keyword,
    "super": _keyword,
    "through": _through,
    "typed": _typed,
    "applied": _applied,
    "helper": _helper,
}
