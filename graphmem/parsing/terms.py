"""Expressions of any language as terms (see `facts`): syntax nodes in, hash-consed tuples out.

Which node type is which operator is a table in `language.toml`; it is compiled once a grammar into one
function for each node type, so the inner loop is a dictionary look-up and a call.
"""

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
    UNKNOWN,
    Term,
)

if TYPE_CHECKING:
    from tree_sitter import Node

    from graphmem.parsing.grammar import Grammar

MAX_STRING: Final = 200
"""Characters of a string literal that are kept: enough for names of routes, events and settings."""

MAX_ITEMS: Final = 64
"""Items of a literal container that are kept; element types of longer ones do not get better."""

MAX_DEPTH: Final = 100
"""Nesting below which an expression is not followed; generated code nests thousands deep."""

Build = Callable[["TermBuilder", "Node"], int]
Pick = Callable[["Node"], "Node | None"]


class TermBuilder:
    """The terms of one file.

    Args:
        grammar: the language.
        source: the bytes the nodes were parsed from.
        shared: another builder of the same file whose terms to extend; used for code inside strings.
    """

    def __init__(self, grammar: Grammar, source: bytes, shared: TermBuilder | None = None) -> None:
        self.grammar = grammar
        self.source = source
        self.ascii = source.decode("ascii") if source.isascii() else None
        self.terms: list[Term] = shared.terms if shared else []
        self._index: dict[Term, int] = shared._index if shared else {}
        self._builds = compiled_terms(grammar)
        self._names = _names[grammar.spec.name]
        self._memo: dict[int, int] = {}
        self._depth = 0
        self._quiet = 0
        self.consumed: set[int] = set()  # ids of nodes that are not sites of their own: callees, targets, annotations
        self.unknown = self.add((UNKNOWN,))
        for word, meaning in () if shared else grammar.spec.words.items():
            # Every later use of that name finds the other term instead.
            found = self.add((SUPER,) if meaning == "super" else (SELF,))
            self._index[(NAME, word)] = self.add((ATTR, found, "__class__")) if meaning == "class" else found

    def text(self, node: Node) -> str:
        """Source text of a node."""
        return self.slice(node.start_byte, node.end_byte)

    def slice(self, start: int, end: int) -> str:
        """Source text between two byte offsets."""
        if self.ascii is not None:
            return self.ascii[start:end]
        return self.source[start:end].decode("utf-8", "replace")

    def add(self, term: Term) -> int:
        """Index of a term, the same for equal ones."""
        found = self._index.get(term)
        if found is None:
            found = self._index[term] = len(self.terms)
            self.terms.append(term)
        return found

    def term(self, node: Node | None) -> int:
        """Index of the term of an expression; `UNKNOWN` for what the table does not name."""
        if node is None:
            return self.unknown
        kind = node.kind_id
        if kind in self._names:  # two in three nodes: worth no memo
            start, end, text = node.start_byte, node.end_byte, self.ascii
            key = (NAME, text[start:end] if text is not None else self.slice(start, end))
            found = self._index.get(key)
            return self.add(key) if found is None else found
        identity = node.id
        found = self._memo.get(identity)
        if found is not None:
            return found
        build = self._builds.get(kind)
        if build is None or self._depth >= MAX_DEPTH:
            return self.unknown
        self._depth += 1
        found = self._memo[identity] = build(self, node)
        self._depth -= 1
        return found

    def annotation(self, node: Node | None) -> int:
        """Index of the term of a type annotation, -1 for none. Nothing inside is a read; quoted types are unquoted."""
        if node is None:
            return -1
        self._quiet += 1
        try:
            return self.term(node)
        finally:
            self._quiet -= 1

    def quoted_type(self, text: str) -> int | None:
        """The term of an annotation written as a string; None when it is no single expression."""
        stripped = text.strip()
        if stripped.isidentifier():
            return self.add((NAME, stripped))
        source = stripped.encode()
        tree = self.grammar.parse(source)
        if not stripped or tree is None or tree.root_node.has_error or tree.root_node.named_child_count != 1:
            return None
        builder = TermBuilder(self.grammar, source, self)  # its own memo: nodes of another tree have ids of their own
        builder._quiet = 1
        builder._depth = self._depth + 1
        expression = tree.root_node.named_children[0]
        return builder.term(expression) if builder._depth < MAX_DEPTH else None


def _children(node: Node) -> list[Node]:
    return [child for child in node.named_children if not child.is_extra]


def compiled_terms(grammar: Grammar) -> Mapping[int, Build]:
    """The term table of a grammar as one function for each node id; compiled once.

    Raises:
        GrammarError: the table names an operator or a node type that does not exist.
    """
    found = _compiled.get(grammar.spec.name)
    if found is None:
        found = {}
        names: set[int] = set()
        for node_type, entry in grammar.spec.terms.items():
            ids = grammar.kind_ids(node_type)
            operator = str(entry.get("op", ""))
            make = _OPERATORS.get(operator)
            if make is None or not ids:
                origin = f"grammars/{grammar.spec.name}/language.toml"
                reason = f"unknown operator {operator!r}" if ids else "the grammar has no such node"
                raise GrammarError(f"{origin}: [terms] {node_type}: {reason}", path=origin, line=0)
            found.update(dict.fromkeys(ids, make(grammar, entry)))
            if operator == "name":
                names.update(ids)
        _compiled[grammar.spec.name] = found
        _names[grammar.spec.name] = frozenset(names)
    return found


_compiled: dict[str, dict[int, Build]] = {}
_names: dict[str, frozenset[int]] = {}  # ids of the nodes that are a plain name


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


_OPERATORS: Final[Mapping[str, Callable[[Grammar, Mapping[str, Any]], Build]]] = {
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
