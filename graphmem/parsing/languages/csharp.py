"""Helper for C#: constructor initializers and conditional compilation."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import CALL, INDEX, NAME, NEW, SUPER, TYPED, TermIndex
from graphmem.parsing.languages import Helper

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from graphmem.parsing.terms import TermBuilder

_DIRECTIVE: Final = re.compile(rb"^[ \t]*#[ \t]*(?P<word>if|elif|else|endif)\b[^\n]*", re.MULTILINE)
_COMMENT: Final = re.compile(rb"//[^\n]*|/\*.*?\*/|^[ \t]*#[^\n]*", re.DOTALL | re.MULTILINE)
_TYPES: Final = ("class_declaration", "struct_declaration", "record_declaration", "record_struct_declaration")


class CSharpHelper(Helper):
    """Helper for C#: initializers, arrays, and code that some builds contain."""

    def helper_term(self, builder: TermBuilder, node: Node, what: str) -> TermIndex:
        """Convert a C# syntax node to a term (an expression).

        `what` names the conversion, such as "initializer" for `: base(…)`. Convert a Java node whose meaning depends on the code around it
        to a term.

        A term is an expression. `what` names the conversion, such as "constructor" for `this(…)`.
        """
        if what == "initializer":  # `: this(…)`, `: base(…)`
            arguments = tuple(_arguments(builder, node))
            if any(child.type == "this" for child in node.children):
                return builder.add((NEW, builder.add((NAME, _class_around(builder, node))), arguments, ()))
            return builder.add((CALL, builder.add((SUPER,)), arguments, ()))
        if what == "array":  # `new Type[n]`, `new Type[] {…}`
            return builder.add((TYPED, builder.annotation(node.child_by_field_name("type"))))
        if what == "items":  # `new[] {…}`
            return builder.add((TYPED, builder.add((INDEX, builder.add((NAME, "[]")), builder.unknown))))
        return super().helper_term(builder, node, what)

    def implied(self, builder: TermBuilder, node: Node) -> tuple[tuple[str, TermIndex], ...]:
        """Return (`value`, its type) in a setter of a C# property, else ()."""
        owner = node.parent.parent if node.parent is not None else None
        declared = owner.child_by_field_name("type") if owner is not None else None
        if declared is None or node.children[0].type == "get":
            return ()
        return (("value", builder.add((TYPED, builder.annotation(declared)))),)

    def mended(self, source: bytes) -> bytes:
        """Keep only the first branch of each `#if` inside a statement or a header.

        Directives and other branches become blanks. Branches with only whole statements or declarations all stay.
        """
        if b"#if" not in source:
            return source
        found = bytearray(source)
        for directives in _conditions(source):
            if _is_whole(source, directives):
                continue
            for match in directives:
                _blank(found, match.start(), match.end())
            if len(directives) > 2:
                _blank(found, directives[1].end(), directives[-1].start())
        return bytes(found)


def _conditions(source: bytes) -> Iterator[list[re.Match[bytes]]]:
    """Yield the directives (`#if`, `#else`, `#endif`) of each condition."""
    open_: list[list[re.Match[bytes]]] = []
    for match in _DIRECTIVE.finditer(source):
        if match["word"] == b"if":
            open_.append([match])
        elif open_:
            open_[-1].append(match)
            if match["word"] == b"endif":
                yield open_.pop()


def _is_whole(source: bytes, directives: list[re.Match[bytes]]) -> bool:
    """Whether an `#if` separates whole statements or whole declarations.

    False if a branch begins or ends inside a statement or a header.
    """
    before = _COMMENT.sub(b"", source[max(0, directives[0].start() - 2000) : directives[0].start()]).rstrip()
    if before and before[-1:] not in b";{}]":
        return False
    for first, last in pairwise(directives):
        text = _COMMENT.sub(b"", source[first.end() : last.start()]).strip()
        if text and (text[-1:] not in b";}" or text.count(b"{") != text.count(b"}")):
            return False
    return True


def _blank(text: bytearray, first: int, last: int) -> None:
    text[first:last] = re.sub(rb"[^\s]", b" ", bytes(text[first:last]))


def _arguments(builder: TermBuilder, node: Node) -> Iterator[TermIndex]:
    given = next((child for child in node.named_children if child.type == "argument_list"), None)
    for child in given.named_children if given is not None else ():
        if not child.is_extra:
            yield builder.term(child)


def _class_around(builder: TermBuilder, node: Node) -> str:
    around = node.parent
    while around is not None and around.type not in _TYPES:
        around = around.parent
    name = around.child_by_field_name("name") if around is not None else None
    return builder.text(name) if name is not None else ""


HELPER = CSharpHelper()
