"""Parse code of Kotlin that the query files cannot express.

Examples are delegation, extension functions and default values of parameters.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import (
    ATTR,
    CALL,
    EITHER,
    INDEX,
    LAMBDA,
    LITERAL,
    NAME,
    NEW,
    NO_TERM,
    SUPER,
    TUPLE,
    OptionalTerm,
    TermIndex,
)
from graphmem.parsing.languages import Helper, Narrowing
from graphmem.parsing.languages.kotlin_lambdas import function_type, given, implied

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from graphmem.parsing.terms import TermBuilder

_HEADER: Final = re.compile(rb"\b(?:class|object)\b(?:\s+\w+)?(?=\s*[<(:@]|\s+(?:private|internal|protected|public|constructor)\b)")
_APART: Final = re.compile(
    rb"\bclass[ \t]+\w+(?:<(?:[^<>{}()\n]|<[^<>{}()\n]*>)*>)?[ \t]*\n(?:\s|//[^\n]*|/\*.*?\*/)*"
    rb"(?P<words>(?:@\w+(?:\([^()\n]*\))?[ \t]+|(?:private|internal|protected|public)[ \t]+)*constructor)(?=\s*\()",
    re.DOTALL,
)
"""A class whose `constructor` is not on the line of the name, where the grammar ends the class."""

_BY: Final = re.compile(rb"\bby\b")
_STOPS: Final = re.compile(rb"[({<\[}=;\"]|\b(?:fun|val|var|class|object|interface|typealias)\b|/\*|//")
_CLOSING: Final = {b"(": b")", b"<": b">", b"[": b"]"}
_EXITS: Final = frozenset({"return", "throw", "continue", "break"})
_TYPES: Final = ("class_declaration", "object_declaration")
MAX_HEADER: Final = 4000
"""Longest header of a class that is searched for delegation, in bytes."""


class KotlinHelper(Helper):
    """Parses code of Kotlin that the query files cannot express.

    Examples are delegation, constructors and lambdas.
    """

    def prepared(self, source: bytes) -> bytes:
        """Replace `by delegate` and some `constructor` in class headers by blanks.

        The grammar would misread both. It reads the class body after `by delegate` as an argument of the delegate. If `constructor` is on a
        line below the name of the class, the grammar ends the class at its name.
        """
        found = bytearray(source)
        for match in _APART.finditer(source) if b"constructor" in source else ():
            found[match.start("words") : match.end("words")] = b" " * len(match["words"])
        if b" by " not in source:
            return bytes(found)
        for match in _HEADER.finditer(source):
            end = _body_of(source, match.end())
            delegated = [by.start() for by in _BY.finditer(source, match.end(), max(end, match.end()))]
            if delegated and b"," not in re.sub(rb"\([^()]*\)", b"", source[delegated[-1] : end]):
                found[delegated[-1] : end] = re.sub(rb"[^\s]", b" ", source[delegated[-1] : end])
        return bytes(found)

    def owner(self, text: str) -> str:
        """Return the name of the type that an extension function extends.

        Type arguments and the `?` of a nullable type are left out. For `List<T>?`, the result is `List`.
        """
        plain, before = text.strip().strip("()?"), ""
        while plain != before:
            before, plain = plain, re.sub(r"<[^<>]*>", "", plain)
        return "Function" if "->" in text else "".join(plain.split()).rstrip("?").rpartition("@")[2]

    def parameter(self, node: Node, kind: str) -> tuple[str, Node | None]:
        """Return the kind and the default value of a Kotlin parameter.

        In the grammar, `vararg` and the default are sibling nodes of the parameter.
        """
        before, after = node.prev_sibling, node.next_sibling
        inside = next((child for child in node.children if child.type == "modifiers"), None)
        for modifiers in (before, inside):
            if modifiers is not None and modifiers.type in ("parameter_modifiers", "modifiers") and b"vararg" in (modifiers.text or b""):
                kind = "rest"
        if node.type == "class_parameter":
            after = next((child for child in node.children if child.type == "="), None)
        return kind, after.next_sibling if after is not None and after.type == "=" else None

    def helper_term(self, builder: TermBuilder, node: Node, what: str) -> TermIndex:
        """Convert a Kotlin syntax node to a term (an expression).

        `what` is the kind of construct that `node` is, such as "delegation" for `: this(…)`.
        """
        if what == "delegation":  # `: this(…)`, `: super(…)`
            arguments = tuple(_arguments(builder, node))
            if any(child.type == "this" for child in node.children):
                return builder.add((NEW, builder.add((NAME, _class_around(builder, node))), arguments, ()))
            return builder.add((CALL, builder.add((SUPER,)), arguments, ()))
        if what == "infix":  # `left name right`
            parts = [child for child in node.named_children if not child.is_extra]
            if len(parts) != 3:
                return builder.unknown
            left, right = builder.term(parts[0]), builder.term(parts[2])
            if builder.text(parts[1]) == "to":
                return builder.add((TUPLE, (left, right)))
            return builder.add((CALL, builder.add((ATTR, left, builder.text(parts[1]))), (right,), ()))
        if what == "reference":  # `Type::class`, `Type::name`, `::name`
            parts = node.named_children
            if parts and node.children[-1].type == "class":
                return builder.add((LITERAL, "KClass"))
            if len(parts) < 2:
                return builder.term(parts[0]) if parts else builder.unknown
            return builder.add((ATTR, builder.term(parts[0]), builder.text(parts[-1])))
        if what == "assigned":  # `a.b = …`, `a[b] = …`
            term = builder.term(node.named_children[0])
            for suffix in node.named_children[1:]:
                inner = suffix.named_children[-1]
                is_member = suffix.type == "navigation_suffix"
                term = builder.add((ATTR, term, builder.text(inner)) if is_member else (INDEX, term, builder.term(inner)))
            return term
        if what == "modified":  # `suspend` before a type
            return builder.term(node.next_named_sibling)
        if what == "function_type":
            return function_type(builder, node)
        if what == "last":
            return builder.term(node.named_children[-1]) if node.named_children else builder.unknown
        if what == "when":
            bodies = [entry.named_children[-1] for entry in node.named_children if entry.type == "when_entry"]
            return builder.add((EITHER, tuple(builder.term(body) for body in bodies)))
        if what == "lambda":  # its value is that of the last statement
            block = next((child for child in node.named_children if child.type == "statements"), None)
            return builder.add((LAMBDA, builder.term(block.named_children[-1]) if block is not None and block.named_children else NO_TERM))
        return super().helper_term(builder, node, what)

    def narrowings(self, builder: TermBuilder, node: Node) -> tuple[Narrowing, ...]:
        """Return the variables whose class `is` tests imply, with their lines.

        The variable has this class in an `if` condition and its branch, or in a `when` entry. If the branch of `if (x !is C)` exits, the
        variable has the class after the `if`.
        """
        if node.type == "when_entry":
            return tuple(_entry_tests(node))
        statement = node.parent
        body = statement.child_by_field_name("consequence") if statement is not None else None
        if statement is None or body is None or b"is" not in builder.source[node.start_byte : node.end_byte]:
            return ()
        found = [_holds(test, node.start_point.row + 1, body.end_point.row + 1) for test in _tests(node, is_true=True)]
        last = body.named_children[-1] if body.named_children else None
        if last is not None and last.type == "statements":
            last = last.named_children[-1]
        leaves = last is not None and last.type == "jump_expression" and last.children[0].type in _EXITS
        if leaves and statement.parent is not None:
            found += (_holds(test, body.end_point.row + 2, statement.parent.end_point.row + 1) for test in _tests(node, is_true=False))
        return tuple(found)

    def given(self, builder: TermBuilder, node: Node, target: Node) -> OptionalTerm:
        """Return the value that the call around a lambda passes to the lambda.

        `target` is the parameter of the lambda that gets the value. For `x.let { … }` the value is `x`. For `xs.map { … }` it is an item of
        `xs`.
        """
        return given(builder, node, target)

    def implied(self, builder: TermBuilder, node: Node) -> tuple[tuple[str, TermIndex], ...]:
        """Return the implicit `it` or `this` of a Kotlin lambda, with its value.

        For `x.let { … }`, the result is (`it`, `x`); for `x.apply { … }`, it is (`this`, `x`).
        """
        return implied(builder, node)


def _holds(test: Node, first: int, last: int) -> Narrowing:
    return Narrowing(test.named_children[0], test.named_children[-1], first, last)


def _tests(node: Node, *, is_true: bool) -> Iterator[Node]:
    """Yield type tests in a condition, from which a variable's class follows.

    If the condition is true (`is_true`), these are the tests `x is C` joined by `&&`. If it is false, these are the tests `x !is C` joined
    by `||`. In both cases, the variable `x` has the class `C`.
    """
    if node.type == "parenthesized_expression" and node.named_children:
        yield from _tests(node.named_children[0], is_true=is_true)
    elif node.type == "check_expression":
        if len(node.children) == 3 and node.children[1].type == ("is" if is_true else "!is"):
            yield node
    elif node.type == ("conjunction_expression" if is_true else "disjunction_expression"):
        for side in node.named_children:
            yield from _tests(side, is_true=is_true)


def _entry_tests(entry: Node) -> Iterator[Narrowing]:
    """Yield the variables whose class is known in an entry of a `when`.

    In `when (x) { is C -> … }`, the class of `x` is known from `is C`. In `when { x is C -> … }`, it is known from `x is C`. Each result
    has the lines of the entry.
    """
    first, last = entry.start_point.row + 1, entry.end_point.row + 1
    subject = (
        next((child for child in entry.parent.named_children if child.type == "when_subject"), None) if entry.parent is not None else None
    )
    for condition in entry.named_children:
        test = condition.named_children[0] if condition.type == "when_condition" and condition.named_children else None
        if test is not None and test.type == "type_test" and test.children[0].type == "is" and subject is not None:
            yield Narrowing(subject.named_children[-1], test.named_children[-1], first, last)
        elif test is not None and subject is None:
            yield from (_holds(one, first, last) for one in _tests(test, is_true=True))


def _body_of(source: bytes, at: int) -> int:
    """Return the offset of the `{` that opens a class body; -1 without one.

    `at` is an offset in the header of the class.
    """
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
    """Return the offset after the bracket that closes the bracket at `at`.

    The result is -1 if the bracket is not closed before the offset `limit`.
    """
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
