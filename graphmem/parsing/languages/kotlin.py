"""Helper for Kotlin: delegated interfaces, extensions, parameters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import CALL, NAME, NEW, SUPER, TermIndex
from graphmem.parsing.languages import Helper

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from graphmem.parsing.terms import TermBuilder

_HEADER: Final = re.compile(rb"\b(?:class|object)\b(?:\s+\w+)?(?=\s*[<(:@]|\s+(?:private|internal|protected|public|constructor)\b)")
_BY: Final = re.compile(rb"\bby\b")
_STOPS: Final = re.compile(rb"[({<\[}=;\"]|\b(?:fun|val|var|class|object|interface|typealias)\b|/\*|//")
_CLOSING: Final = {b"(": b")", b"<": b">", b"[": b"]"}
_TYPES: Final = ("class_declaration", "object_declaration")
MAX_HEADER: Final = 4000
"""Longest header of a class that is searched for delegation, in bytes."""


class KotlinHelper(Helper):
    """Classes that delegate, constructors, and what stands beside parameters."""

    def prepared(self, source: bytes) -> bytes:
        """Blank `by delegate` before the body of a class.

        With it, the grammar reads the body as the last argument of the delegate.
        """
        if b" by " not in source:
            return source
        found = bytearray(source)
        for match in _HEADER.finditer(source):
            end = _body_of(source, match.end())
            delegated = [by.start() for by in _BY.finditer(source, match.end(), max(end, match.end()))]
            if delegated and b"," not in re.sub(rb"\([^()]*\)", b"", source[delegated[-1] : end]):
                found[delegated[-1] : end] = re.sub(rb"[^\s]", b" ", source[delegated[-1] : end])
        return bytes(found)

    def owner(self, text: str) -> str:
        """Return the name of an extension's receiver type.

        Type arguments and the sign of a nullable type are left out.
        """
        plain, before = text.strip().strip("()?"), ""
        while plain != before:
            before, plain = plain, re.sub(r"<[^<>]*>", "", plain)
        return "Function" if "->" in text else "".join(plain.split()).rstrip("?").rpartition("@")[2]

    def parameter(self, node: Node, kind: str) -> tuple[str, Node | None]:
        """Return the kind and the default of a parameter, which stand beside it."""
        before, after = node.prev_sibling, node.next_sibling
        inside = next((child for child in node.children if child.type == "modifiers"), None)
        for modifiers in (before, inside):
            if modifiers is not None and modifiers.type in ("parameter_modifiers", "modifiers") and b"vararg" in (modifiers.text or b""):
                kind = "rest"
        if node.type == "class_parameter":
            after = next((child for child in node.children if child.type == "="), None)
        return kind, after.next_sibling if after is not None and after.type == "=" else None

    def helper_term(self, builder: TermBuilder, node: Node, what: str) -> TermIndex:
        """Terms that depend on more than the type of their node."""
        if what == "delegation":  # `: this(…)`, `: super(…)`
            arguments = tuple(_arguments(builder, node))
            if any(child.type == "this" for child in node.children):
                return builder.add((NEW, builder.add((NAME, _class_around(builder, node))), arguments, ()))
            return builder.add((CALL, builder.add((SUPER,)), arguments, ()))
        return super().helper_term(builder, node, what)


def _body_of(source: bytes, at: int) -> int:
    """Return where the brace of a class body stands; -1 for none."""
    limit = min(len(source), at + MAX_HEADER)
    while (match := _STOPS.search(source, at, limit)) is not None:
        sign = match[0]
        if sign == b"{":
            return match.start()
        if sign == b"//":
            at = source.find(b"\n", match.end())
        elif sign == b"/*":
            at = source.find(b"*/", match.end())
        elif sign in _CLOSING:
            at = _closed(source, match.start(), limit)
        else:
            return -1
        if at < 0:
            return -1
    return -1


def _closed(source: bytes, at: int, limit: int) -> int:
    """Return the offset behind the closing bracket; -1 for none."""
    opening, closing = source[at : at + 1], _CLOSING[source[at : at + 1]]
    depth = 0
    for match in re.compile(rb"[" + re.escape(opening + closing) + rb"]").finditer(source, at, limit):
        if match.start() and source[match.start() - 1 : match.start() + 1] == b"->":
            continue
        depth += 1 if match[0] == opening else -1
        if not depth:
            return match.end()
    return -1


def _arguments(builder: TermBuilder, node: Node) -> Iterator[TermIndex]:
    given = next((child for child in node.named_children if child.type == "value_arguments"), None)
    for child in given.named_children if given is not None else ():
        if not child.is_extra:
            yield builder.term(child)


def _class_around(builder: TermBuilder, node: Node) -> str:
    around = node.parent
    while around is not None and around.type not in _TYPES:
        around = around.parent
    name = next((child for child in around.named_children if child.type == "type_identifier"), None) if around is not None else None
    return builder.text(name) if name is not None else ""


HELPER = KotlinHelper()
