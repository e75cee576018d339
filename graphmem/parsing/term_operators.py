"""Build functions that convert syntax nodes to terms (expressions).

For each operator, such as `call`, this module makes such a function from a row of `[terms]` in `language.toml`, once per grammar. The row
is the argument `entry`, and `syntax` has the parsers of the language.

A term is an expression as the parser stores it: a tuple that begins with an operator, such as `call` for `f(x)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import (
    ATTR,
    AWAIT,
    CALL,
    COMPREHENSION,
    EITHER,
    INDEX,
    LAMBDA,
    NAME,
    NEW,
    NO_TERM,
    OPERATOR,
    SELF,
    SPREAD,
    SUPER,
    TUPLE,
    TYPED,
    CallOperator,
    Self,
    Super,
    TermIndex,
)
from graphmem.parsing.language import TermEntry
from graphmem.parsing.languages import Helper
from graphmem.parsing.literal_terms import dict_term, items_term, literal_term, object_term, pair_term, string_term
from graphmem.parsing.picking import children_of, nothing, pick
from graphmem.parsing.syntax import Syntax
from graphmem.parsing.terms import MAX_ITEMS, Build, TermBuilder

if TYPE_CHECKING:
    from tree_sitter import Node


def _name(syntax: Syntax, entry: TermEntry) -> Build:
    def build(builder: TermBuilder, node: Node) -> TermIndex:
        return builder.add((NAME, builder.slice(node.start_byte, node.end_byte)))

    return build


def _dotted(syntax: Syntax, entry: TermEntry) -> Build:
    arguments = syntax.kinds(entry.get("lists", ()))

    def build(builder: TermBuilder, node: Node) -> TermIndex:
        children = children_of(node)
        names = [builder.text(child) for child in children if child.kind_id not in arguments]
        term = builder.add((NAME, names[0] if names else builder.text(node)))
        for name in names[1:]:
            term = builder.add((ATTR, term, name))
        given = [builder.term(item) for child in children if child.kind_id in arguments for item in children_of(child)[:MAX_ITEMS]]
        if given:
            return builder.add((INDEX, term, given[0] if len(given) == 1 else builder.add((TUPLE, tuple(given)))))
        return term

    return build


def _below(builder: TermBuilder, outer: Node, inner: TermIndex) -> TermIndex:
    """Put the name `outer` before a qualified name: `a::b` → `outer::a::b`.

    `outer` is a syntax node, and `inner` is the index of the expression `a::b`. The result is the index of the longer expression.
    """
    found = builder.terms[inner]
    if found[0] == NAME:
        return builder.add((ATTR, builder.term(outer), found[1]))
    if found[0] == ATTR:
        return builder.add((ATTR, _below(builder, outer, found[1]), found[2]))
    return builder.add((INDEX, _below(builder, outer, found[1]), found[2])) if found[0] == INDEX else inner


def _attr(syntax: Syntax, entry: TermEntry) -> Build:
    base, name = pick(syntax, entry["base"]), pick(syntax, entry["name"])
    alone = syntax.kinds(entry.get("alone", ()))
    generic = syntax.kinds(entry.get("generic", ()))
    rooted = str(entry.get("rooted", ""))
    whole = bool(entry.get("whole"))

    def build(builder: TermBuilder, node: Node) -> TermIndex:
        if builder._quiet:
            builder.consumed.add(node.id)
            if builder._declaring:
                builder.told.add(node.id)
        attribute = name(node)
        if attribute is None:
            return builder.unknown
        if rooted and base(node) is None:
            return builder.add((NAME, rooted + builder.text(attribute)))
        if attribute.kind_id in alone:
            inner = builder.term(attribute)
            is_below = attribute.kind_id == node.kind_id or builder.terms[inner][0] == NAME
            outer = base(node) if whole and is_below else None
            return _below(builder, outer, inner) if outer is not None else inner
        if attribute.kind_id in generic:
            attribute = attribute.named_children[0]
        start, end, text = attribute.start_byte, attribute.end_byte, builder.ascii
        found = text[start:end] if text is not None else builder.slice(start, end)
        builder.spots[node.id] = start
        term = builder.add((ATTR, builder.term(base(node)), found))
        if builder._declaring:
            builder.declared.append((term, start))
        return term

    return build


def _call(syntax: Syntax, entry: TermEntry) -> Build:
    operator: CallOperator = NEW if entry["op"] == "new" else CALL
    callee = pick(syntax, entry["callee"]) if "callee" in entry else nothing
    base, member = (pick(syntax, entry["base"]), pick(syntax, entry["name"])) if "name" in entry else (nothing, nothing)
    generic = syntax.kinds(entry.get("generic", ()))
    arguments = _arguments(syntax, entry)

    def build(builder: TermBuilder, node: Node) -> TermIndex:
        target = callee(node)
        if target is not None:
            if target.kind_id in generic:
                target = target.named_children[0]
            builder.consumed.add(target.id)
            called = builder.term(target)
            builder.spots[node.id] = builder.spots.get(target.id, target.start_byte)
        else:
            named = member(node)
            called = named_callee(builder, base(node), named)
            if named is not None:
                builder.spots[node.id] = named.start_byte
        positional, keywords = arguments(builder, node)
        return builder.add((operator, called, positional, keywords))

    return build


Arguments = tuple[tuple[TermIndex, ...], tuple[tuple[str, TermIndex], ...]]
"""The positional arguments of a call, and its keyword arguments by name."""


def _arguments(syntax: Syntax, entry: TermEntry) -> Callable[[TermBuilder, Node], Arguments]:
    """Return a function that converts a call's arguments to terms.

    A term is an expression as the parser stores it.
    """
    arguments = pick(syntax, entry["arguments"]) if "arguments" in entry else nothing
    lists = syntax.kinds(entry.get("lists", ()))
    keyword = syntax.kinds(entry.get("keyword", ()))
    keyword_name, keyword_value = (pick(syntax, where) for where in entry.get("keyword_fields", (0, 1)))
    mark = entry.get("keyword_mark", "")
    double = syntax.kinds(entry.get("spread_keywords", ()))
    nested = syntax.kinds(entry.get("nested", ()))
    left_out = syntax.kinds(entry.get("left_out", ()))

    def convert(builder: TermBuilder, node: Node) -> Arguments:
        given = arguments(node)
        if given is None:
            return (), ()
        if given.kind_id not in lists:  # `f(x for x in y)` has no list
            return (builder.term(given),), ()
        positional: list[TermIndex] = []
        keywords: list[tuple[str, TermIndex]] = []
        children = given.named_children
        if nested:
            inner = ((child.named_children if child.kind_id in nested else (child,)) for child in children if child.kind_id not in left_out)
            children = [child for group in inner for child in group]
        for child in children:
            kind = child.kind_id
            if kind in keyword and (not mark or (child.child_count > 2 and child.children[1].type == mark)):
                name = keyword_name(child)
                keywords.append((builder.text(name) if name else "", builder.term(keyword_value(child))))
            elif kind in double:
                spread = children_of(child)
                keywords.append(("**", builder.term(spread[0] if spread else None)))
            elif not child.is_extra:
                positional.append(builder.term(child))
        return tuple(positional), tuple(keywords)

    return convert


def named_callee(builder: TermBuilder, base: Node | None, member: Node | None) -> TermIndex:
    """Return the callee `a.b` of a call, from the nodes of `a` and `b`.

    `base` is the node of the receiver `a`, or None. `member` is the node of the name `b`.
    """
    if member is None:
        return builder.unknown
    name = builder.text(member)
    return builder.add((ATTR, builder.term(base), name)) if base is not None else builder.add((NAME, name))


def _index(syntax: Syntax, entry: TermEntry) -> Build:
    base = pick(syntax, entry["base"])
    keys_field = entry.get("keys")
    field = syntax.language.field_id_for_name(keys_field) if isinstance(keys_field, str) else None
    single = pick(syntax, keys_field) if isinstance(keys_field, int) else None

    def build(builder: TermBuilder, node: Node) -> TermIndex:
        if single is not None:
            return builder.add((INDEX, builder.term(base(node)), builder.term(single(node))))
        if field is not None:
            keys = node.children_by_field_id(field)
        elif node.named_child_count > 1:  # the keys are in a list of their own, after the base
            keys = [key for child in children_of(node)[1:] for key in children_of(child)]
        else:
            keys = []
        items = tuple(builder.term(key) for key in keys[:MAX_ITEMS])
        return builder.add((INDEX, builder.term(base(node)), items[0] if len(items) == 1 else builder.add((TUPLE, items))))

    return build


def _either(syntax: Syntax, entry: TermEntry) -> Build:
    picks = [pick(syntax, where) for where in entry.get("items", ())]

    def build(builder: TermBuilder, node: Node) -> TermIndex:
        chosen = [pick(node) for pick in picks] if picks else list(children_of(node)[:MAX_ITEMS])
        return builder.add((EITHER, tuple(builder.term(child) for child in chosen if child is not None)))

    return build


def _wrap(syntax: Syntax, entry: TermEntry) -> Build:
    is_await = entry["op"] == "await"
    inner = pick(syntax, entry.get("of", 0))

    def build(builder: TermBuilder, node: Node) -> TermIndex:
        wrapped = builder.term(inner(node))
        return builder.add((AWAIT, wrapped) if is_await else (SPREAD, wrapped))

    return build


def _typed(syntax: Syntax, entry: TermEntry) -> Build:
    named = pick(syntax, entry["of"])

    def build(builder: TermBuilder, node: Node) -> TermIndex:
        return builder.add((TYPED, builder.annotation(named(node))))

    return build


def _applied(syntax: Syntax, entry: TermEntry) -> Build:
    """Make a function that converts types with a special syntax: `[]T` in Go.

    Such a type becomes a generic type. For `[]T`, the generic type has the name `[]` and the argument `T`.
    """
    name = str(entry["name"])
    of = entry["of"]
    picks = [pick(syntax, where) for where in (of if isinstance(of, list) else (of,))]

    def build(builder: TermBuilder, node: Node) -> TermIndex:
        parts = tuple(builder.term(pick(node)) for pick in picks)
        return builder.add((INDEX, builder.add((NAME, name)), parts[0] if len(parts) == 1 else builder.add((TUPLE, parts))))

    return build


def _lambda(syntax: Syntax, entry: TermEntry) -> Build:
    body = pick(syntax, entry["body"])
    opaque = syntax.kinds(entry.get("blocks", ()))

    def build(builder: TermBuilder, node: Node) -> TermIndex:
        inner = body(node)
        if inner is None or inner.kind_id in opaque:
            return builder.add((LAMBDA, NO_TERM))
        return builder.add((LAMBDA, builder.term(inner)))

    return build


def _comprehension(syntax: Syntax, entry: TermEntry) -> Build:
    kind, element = str(entry["kind"]), pick(syntax, entry["element"])

    def build(builder: TermBuilder, node: Node) -> TermIndex:
        return builder.add((COMPREHENSION, kind, builder.term(element(node))))

    return build


def _operator(syntax: Syntax, entry: TermEntry) -> Build:
    left = pick(syntax, entry["left"])
    right = pick(syntax, entry["right"]) if "right" in entry else None
    sign = pick(syntax, entry["sign"]) if "sign" in entry else None
    fixed = str(entry.get("text", ""))

    def build(builder: TermBuilder, node: Node) -> TermIndex:
        symbol = sign(node) if sign else None
        text = builder.text(symbol) if symbol else fixed
        return builder.add((OPERATOR, text, builder.term(left(node)), builder.term(right(node)) if right else NO_TERM))

    return build


def _keyword(syntax: Syntax, entry: TermEntry) -> Build:
    term: Self | Super = (SUPER,) if entry["op"] == "super" else (SELF,)

    def build(builder: TermBuilder, node: Node) -> TermIndex:
        return builder.add(term)

    return build


def _through(syntax: Syntax, entry: TermEntry) -> Build:
    inner = pick(syntax, entry.get("of", 0))

    def build(builder: TermBuilder, node: Node) -> TermIndex:
        return builder.term(inner(node))

    return build


def by_helper(helper: Helper, entry: TermEntry) -> Build:
    """Make a function that converts syntax nodes by the language's helper.

    `entry` is a row of the grammar's table of terms. Its field `method` is the kind of construct that such a node is.
    """
    method = entry["method"]

    def build(builder: TermBuilder, node: Node) -> TermIndex:
        return helper.helper_term(builder, node, method)

    return build


OPERATORS: Final[Mapping[str, Callable[[Syntax, TermEntry], Build]]] = {
    "name": _name,
    "dotted": _dotted,
    "attr": _attr,
    "call": _call,
    "new": _call,
    "index": _index,
    "string": string_term,
    "literal": literal_term,
    "list": items_term,
    "tuple": items_term,
    "set": items_term,
    "pair": pair_term,
    "dict": dict_term,
    "object": object_term,
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
}
