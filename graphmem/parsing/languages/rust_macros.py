"""Read the arguments of Rust macros, which the grammar leaves as tokens.

An example is `println!("{name}: {}", item.price())`. Its arguments are calls, attributes and names, also inside the format string.

A term is an expression as the parser stores it: a tuple that begins with an operator, such as `call` for `f(x)`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import ATTR, CALL, INDEX, NAME, NO_TERM, OPERATOR, SELF, TermIndex
from graphmem.parsing.terms import MAX_ITEMS, TermBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

_OF_PATHS: Final = frozenset(("identifier", "integer_literal", "primitive_type", "self", "crate", "super", ".", "::", "?", "token_tree"))
"""Tokens of names, paths, fields and calls."""
_PLACE: Final = re.compile(r"\{\{|\}\}|\{([^{}:]*)(?::([^{}]*))?\}")
_TRAITS: Final = {
    "?": "Debug",
    "x": "LowerHex",
    "X": "UpperHex",
    "o": "Octal",
    "b": "Binary",
    "e": "LowerExp",
    "E": "UpperExp",
    "p": "Pointer",
}
"""Trait by the last letter of a placeholder; `Display` without a letter."""


def tokens(builder: TermBuilder, node: Node, depth: int) -> TermIndex | None:
    """Convert a name, path or call to a term (an expression); None for others.

    The name, path or call ends at `node`, which is a token of a macro such as `println!("{}", a.b)`. `depth` counts the nested conversions;
    beyond 20, the result is None. The grammar does not parse the arguments of a macro, so they are only tokens.
    """
    if depth > 20:
        return None
    if node.type == "token_tree" and builder.text(node).startswith("["):
        base = _value_before(builder, node, depth + 1)
        return None if base is None else builder.add((INDEX, base, builder.unknown))
    if node.type == "?":
        base = _value_before(builder, node, depth + 1)
        return None if base is None else builder.add((CALL, builder.add((ATTR, base, "?")), (), ()))
    if node.type == "token_tree":
        before = _before_types(node.prev_sibling)
        if before is None or before.type != "identifier" or _is_attribute(node) or not builder.text(node).startswith("("):
            return None
        callee = tokens(builder, before, depth + 1)
        builder.spots[node.id] = before.start_byte
        return None if callee is None else builder.add((CALL, callee, tuple(_arguments(builder, node)), ()))
    if node.type == "self":
        return builder.add((SELF,))
    is_field = node.type == "integer_literal"  # `self.0`
    if not is_field and node.type not in ("identifier", "crate", "primitive_type", "super"):
        return None
    sign = node.prev_sibling
    if sign is None or sign.type not in (".", "::"):
        return None if is_field else builder.add((NAME, builder.text(node)))
    before = _before_types(sign.prev_sibling)
    base = tokens(builder, before, depth + 1) if before is not None else None
    return builder.add((ATTR, builder.unknown if base is None else base, builder.text(node)))


def name_read(builder: TermBuilder, node: Node) -> TermIndex | None:
    """Convert a name among the tokens of a macro to a term, or None.

    The result is None if the name is called or begins a path. Then the use is recorded for the whole call, or for the end of the path.
    """
    after = node.next_sibling
    is_called = after is not None and (after.type in ("::", "!") or (after.type == "token_tree" and builder.text(after).startswith("(")))
    return None if is_called or _is_attribute(node) else tokens(builder, node, 0)


def _value_before(builder: TermBuilder, node: Node, depth: int) -> TermIndex | None:
    """Convert the value before a token to a term (an expression).

    `node` is the token, and `depth` the nesting depth so far. Returns None if the token follows no name, path or call.
    """
    before = node.prev_sibling
    is_value = before is not None and before.type in ("identifier", "integer_literal", "self", "token_tree", "?")
    return tokens(builder, before, depth) if before is not None and is_value else None


def _before_types(node: Node | None) -> Node | None:
    """Return the token before type arguments, such as `Name` in `Name::<T>`.

    `node` is the last token. If it does not end type arguments, the result is `node`.
    """
    depth, found = 0, node
    while found is not None and (depth or found.type == ">"):
        depth += (found.type == ">") - (found.type == "<")
        found = found.prev_sibling
        if not depth:
            return found.prev_sibling if found is not None and found.type == "::" else found
    return found


def _arguments(builder: TermBuilder, tree: Node) -> Iterator[TermIndex]:
    """Yield the arguments among the tokens `(a, b.c, …)` of a call in a macro."""
    for group in _groups(tree)[:MAX_ITEMS]:
        if group:
            value = _macro_expression(builder, group)
            yield builder.unknown if value is None else value


def _groups(tree: Node) -> list[list[Node]]:
    """Return the tokens inside the brackets of `tree`: one list per argument.

    Commas separate the arguments.
    """
    groups: list[list[Node]] = [[]]
    for token in tree.children[1:-1]:
        if token.type == ",":
            groups.append([])
        elif not token.is_extra:
            groups[-1].append(token)
    return groups


def formatted_arguments(builder: TermBuilder, node: Node) -> Iterator[TermIndex]:
    """Yield the operations that a macro such as `println!` performs.

    For `println!("{}", x)`, this is the operation `{Display}` of `x`. For `assert_eq!` and `assert_ne!`, it is a comparison.
    """
    tree = next((child for child in node.children if child.type == "token_tree"), None)
    if tree is None:
        return
    groups = _groups(tree)
    macro = node.child_by_field_name("macro")
    name = builder.text(macro).rpartition("::")[2].removeprefix("debug_") if macro is not None else ""
    if name == "vec":
        yield from (term for group in groups if (term := _macro_expression(builder, group)) is not None)
        return
    if name in ("assert_eq", "assert_ne") and len(groups) > 1:
        left, right = (_macro_expression(builder, group) for group in groups[:2])
        if left is not None:
            yield builder.add((OPERATOR, "==" if name == "assert_eq" else "!=", left, builder.unknown if right is None else right))
    for position, group in enumerate(groups):
        if len(group) == 1 and group[0].type in ("string_literal", "raw_string_literal"):
            text = builder.text(group[0])
            if "{" in text:
                yield from _placed(builder, text, groups[position + 1 :])
            return


def _placed(builder: TermBuilder, text: str, groups: Sequence[Sequence[Node]]) -> Iterator[TermIndex]:
    """Yield the formatting operation of each value in a format string.

    For `{:?}`, this is the operation `{Debug}` of the value. `text` is the format string, and `groups` has the tokens of each argument
    after it.
    """
    named = {builder.text(group[0]): group[2:] for group in groups if len(group) > 2 and group[1].type == "="}
    following = 0
    for found in _PLACE.finditer(text):
        if found[1] is None:
            continue
        what, how = found[1].strip(), (found[2] or "").strip()
        following += ".*" in how  # the length is the first argument
        if not what:
            what = str(following)
            following += 1
        if what.isdigit():
            value = _macro_expression(builder, groups[int(what)]) if int(what) < len(groups) else None
        else:
            value = _macro_expression(builder, named[what]) if what in named else builder.add((NAME, what))
        if value is not None:
            yield builder.add((OPERATOR, f"{{{_TRAITS.get(how[-1:], 'Display')}}}", value, NO_TERM))


def _macro_expression(builder: TermBuilder, group: Sequence[Node]) -> TermIndex | None:
    """Convert tokens of a macro, which may begin with `&`, to a term.

    A term is an expression as the parser stores it. `group` has the tokens of one argument. The result is None if they are not a name, a
    path or a call.
    """
    inner = [token for token in group if token.type not in ("&", "mutable_specifier")]
    known = all(token.type in _OF_PATHS for token in inner)
    return tokens(builder, inner[-1], 0) if inner and known else None


def _is_attribute(node: Node) -> bool:
    """Whether a token is part of an attribute (`#[…]`), which is not a call."""
    above = node.parent
    while above is not None and above.type == "token_tree":
        above = above.parent
    return above is not None and above.type == "attribute"
