"""Parse code of Ruby that the query files cannot express.

Examples are `super`, instance variables and calls without brackets.

A term is an expression as the parser stores it: a tuple that begins with an operator, such as `call` for `f(x)`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import (
    ATTR,
    CALL,
    EITHER,
    LITERAL,
    NAME,
    SELF,
    SUPER,
    TYPED,
    TermIndex,
)
from graphmem.parsing.languages import Helper, Narrowing, ruby_blocks, ruby_docs, ruby_tests
from graphmem.parsing.languages.templates import erb_code

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tree_sitter import Node

    from graphmem.parsing.terms import TermBuilder


_SCOPES: Final = frozenset({"method", "singleton_method", "class", "module", "program"})
"""Nodes around which local variables are not visible."""

_BLOCKS: Final = frozenset({"block", "do_block", "lambda"})
"""Nodes that see the local variables around them; their own are not visible outside."""

_ASSIGNED: Final = frozenset({"assignment", "operator_assignment"})
_BINDING: Final = frozenset(
    {
        *("block_parameter", "block_parameters", "destructured_parameter", "hash_splat_parameter", "keyword_parameter"),
        *("lambda_parameters", "method_parameters", "optional_parameter", "splat_parameter", "exception_variable"),
        *("destructured_left_assignment", "left_assignment_list", "rest_assignment"),
        *("array_pattern", "as_pattern", "find_pattern", "hash_pattern", "in_clause", "keyword_pattern", "alternative_pattern"),
    }
)
"""Nodes whose identifiers are local variables."""

_WITH_DEFAULT: Final = frozenset({"keyword_parameter", "optional_parameter"})

_NAMING: Final = frozenset({"alias", "undef", "method", "singleton_method", "setter"})
"""Nodes whose identifiers name methods."""

_MAKERS: Final = frozenset({"Class", "Module", "Struct", "Data"})
"""Classes whose objects are classes."""


_SENDS: Final = frozenset({"send", "public_send", "__send__"})
"""Methods that call the method that their first argument names."""

_ONE: Final = frozenset({"def_delegator", "def_instance_delegator"})
_DECLARING: Final = frozenset({"alias_method", "delegate", "def_delegators", "def_instance_delegators", *_ONE})
"""Methods that declare methods of the names in their arguments."""

_NAME: Final = re.compile(r"[A-Za-z_]\w*[?!=]?")

_EITHER: Final = re.compile(
    rb"^([ \t]*)if ([^\n]*)\n((?:(?!\1(?:else|elsif|end)\b)[^\n]*\n)*)\1else\b[^\n]*\n((?:(?!\1end\b)[^\n]*\n)*)", re.MULTILINE
)
"""An `if` with an `else`: indent, condition and both branches."""
_HAS_FEATURE: Final = re.compile(rb"\bdefined\?|\brespond_to\?|_defined\?|\bRUBY_VERSION\s*>")
_IS_ASKED_FOR: Final = re.compile(rb"\s*ENV(?:\[[^\]]*\]|\.key\?[^\n]*)\s*$")


class RubyHelper(Helper):
    """Parses code of Ruby that the query files cannot express.

    `super` is read as a call of the method of the same name in the base class. Instance variables are read as attributes. Identifiers
    that are not local variables are read as calls.
    """

    def prepared(self, source: bytes) -> bytes:
        """Return the Ruby code of an ERB template; other sources are unchanged."""
        return erb_code(source)

    mended = prepared

    def regions(self, source: bytes) -> Sequence[tuple[int, int, str]]:
        """Return (start, end, "overload") for branches of an `if` that rarely run.

        The positions are byte offsets. Such a branch is the `else` of a test for a Ruby feature, or is enabled by an environment variable.
        Definitions in it get the modifier `overload`: a use of their name then refers to the definition outside the branch.
        """
        found = []
        for match in _EITHER.finditer(source):
            rare = 4 if _HAS_FEATURE.search(match[2]) else 3 if _IS_ASKED_FOR.match(match[2]) else 0
            if rare:
                found.append((*match.span(rare), "overload"))
        return found

    def owner(self, text: str) -> str:
        """Return the dotted path of a class: `A.B` for the source `::A::B`."""
        return text.removeprefix("::").replace("::", ".")

    def helper_term(self, builder: TermBuilder, node: Node, what: str) -> TermIndex:
        """Convert a Ruby syntax node to a term (an expression).

        `what` is the kind of construct that `node` is, such as "super". A table cannot convert these nodes, because their meaning depends
        on their context.
        """
        if what == "instance" and not _in_class(node):  # of the blocks of a test
            return builder.add((NAME, builder.text(node)))
        if what == "instance":
            return builder.add((ATTR, builder.add((SELF,)), builder.text(node)))
        if what == "name":
            is_call = _is_call(builder, node)
            name = _own(builder, builder.text(node)) if is_call else builder.add((NAME, builder.text(node)))
            return builder.add((CALL, name, (), ())) if is_call else name
        if what == "symbol":
            return builder.add((NAME, builder.text(node)[1:]) if _names_method(builder, node) else (LITERAL, "str"))
        if what == "binary":
            return _binary(builder, node)
        if what == "case":
            branches = [child for child in node.named_children if child.type in ("when", "in_clause", "else")]
            bodies = [branch if branch.type == "else" else branch.child_by_field_name("body") for branch in branches]
            return builder.add((EITHER, tuple(builder.term(body) for body in bodies if body is not None)))
        if what == "block_argument":
            return ruby_blocks.of_symbol(builder, node)
        if what == "yield":
            return ruby_blocks.of_own_block(builder)
        if what == "last":
            plain = [child for child in node.named_children if not child.is_extra and child.type not in ("rescue", "ensure", "else")]
            return builder.term(plain[-1]) if plain else builder.unknown
        if what == "super":
            around = node.parent
            if around is not None and around.type == "call" and around.child_by_field_name("method") == node:
                return builder.add((SUPER,))
            return builder.add((CALL, builder.add((ATTR, builder.add((SUPER,)), _method_around(builder, node))), (), ()))
        if what == "call":
            method, receiver = node.child_by_field_name("method"), node.child_by_field_name("receiver")
            given = node.child_by_field_name("arguments")
            arguments = tuple(builder.term(child) for child in (given.named_children if given is not None else ()) if not child.is_extra)
            if method is None:
                return builder.unknown
            if receiver is not None:
                builder.consumed.add(method.id)
                if builder.text(receiver) in _MAKERS and builder.text(method) in ("new", "define"):
                    return _new_class(builder, node, arguments)
                if _is_target(node):
                    return builder.add((ATTR, builder.term(receiver), f"@{builder.text(method)}"))
            if method.type == "super":
                callee = builder.add((ATTR, builder.add((SUPER,)), _method_around(builder, node)))
                return builder.add((CALL, callee, arguments, ()))
            called, arguments = _sent(builder, node, builder.text(method), arguments)
            callee = builder.add((ATTR, builder.term(receiver), called)) if receiver is not None else _own(builder, called)
            result = builder.add((CALL, callee, arguments, ruby_blocks.result(builder, node, called)))
            return builder.add((EITHER, (result, builder.term(receiver)))) if _may_be_class(builder, node) else result
        return super().helper_term(builder, node, what)

    def name(self, text: str) -> str:
        """Return the name of a definition: `total` for `:total`."""
        return text.removeprefix(":")

    def documented(self, builder: TermBuilder, text: str) -> Mapping[str, TermIndex]:
        """Map parameters and "return" to the types that a comment declares."""
        return ruby_docs.declared_types(builder, text)

    def implied(self, builder: TermBuilder, node: Node) -> tuple[tuple[str, TermIndex], ...]:
        """Return (name, value) for the names that a `yield` or a call binds.

        A `yield` binds a reserved name to the values that the block gets. A call with a block binds the block's parameters and its `self`;
        see `ruby_blocks`.
        """
        return ruby_blocks.of_yield(builder, node) if node.type == "yield" else tuple(ruby_blocks.of_call(builder, node))

    def narrowings(self, builder: TermBuilder, node: Node) -> tuple[Narrowing, ...]:
        """Return the variables whose class is implied by tests such as `is_a?`.

        See `ruby_tests.narrowings`.
        """
        return tuple(ruby_tests.narrowings(builder.source, node))

    def given(self, builder: TermBuilder, node: Node, target: Node) -> TermIndex:
        """Return the method to which a delegating method passes its calls.

        `node` is the call that declares the delegating method, such as `delegate :title, to: :book` or `def_delegators :@book, :title`.
        `target` is the syntax node of the delegating method's name.
        """
        return _delegated(builder, node, target)


def _own(builder: TermBuilder, name: str) -> TermIndex:
    """Return the term (expression) for a method called without a receiver.

    The name `new` becomes `self.new`. It is therefore not looked up in outer classes, which may define a `new` of their own.
    """
    return builder.add((ATTR, builder.add((SELF,)), name)) if name == "new" else builder.add((NAME, name))


def _sent(builder: TermBuilder, node: Node, name: str, arguments: tuple[TermIndex, ...]) -> tuple[str, tuple[TermIndex, ...]]:
    """Return the name and arguments of a call: `send(:run, 1)` calls `run`.

    For other calls, `name` and `arguments` are returned unchanged. They are also unchanged for a `send` whose first argument is not a
    literal name.
    """
    given = node.child_by_field_name("arguments") if name in _SENDS else None
    first = given.named_children[0] if given is not None and given.named_children else None
    if first is None or first.type not in ("simple_symbol", "string"):
        return name, arguments
    written = builder.text(first).strip(":\"'")
    return (written, arguments[1:]) if _NAME.fullmatch(written) else (name, arguments)


def _delegated(builder: TermBuilder, node: Node, target: Node) -> TermIndex:
    """Return the expression `object.method` to which a method delegates.

    The object is an attribute or an instance variable of the class around `node`, or a constant.
    """
    around = node.parent
    while around is not None and around.type not in ("class", "module"):
        around = around.parent
    name = around.child_by_field_name("name") if around is not None else None
    given = node.child_by_field_name("arguments")
    if name is None or given is None:
        return builder.unknown
    symbols = [child for child in given.named_children if child.type in ("simple_symbol", "string")]
    pairs = {builder.text(pair.named_children[0]): pair.named_children[-1] for pair in given.named_children if pair.type == "pair"}
    to = pairs.get("to")
    is_single = builder.text(node.child_by_field_name("method") or node) in _ONE
    holder = to if to is not None else symbols[0] if symbols else None
    if holder is None:
        return builder.unknown
    attribute = builder.text(holder).strip(":\"'")
    this = builder.add((TYPED, builder.term(name)))
    held = builder.add((ATTR, this, attribute))
    if not attribute.startswith("@"):
        held = builder.add((CALL, held, (), ())) if attribute[:1].islower() else builder.add((NAME, attribute))
    method = symbols[1] if is_single and len(symbols) > 1 else target
    return builder.add((ATTR, held, builder.text(method).strip(":\"'")))


def _is_target(node: Node) -> bool:
    """Whether a syntax node such as `a.b` is the target of an assignment."""
    around = node.parent
    return around is not None and around.type in _ASSIGNED and around.child_by_field_name("left") == node


def _binary(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert a binary operation to a term (expression); return its index.

    For `a || b`, the value is that of `a` or `b`; for `a && b`, it is that of `b`. Any other operation, such as `a + b`, is a call of a
    method of `a`.
    """
    left, sign, right = (node.child_by_field_name(field) for field in ("left", "operator", "right"))
    if left is None or sign is None or right is None:
        return builder.unknown
    if sign.type in ("||", "or"):
        return builder.add((EITHER, (builder.term(left), builder.term(right))))
    if sign.type in ("&&", "and"):
        return builder.term(right)
    return builder.add((CALL, builder.add((ATTR, builder.term(left), sign.type)), (builder.term(right),), ()))


def _names_method(builder: TermBuilder, node: Node) -> bool:
    """Whether a symbol is the name of a method, as in `alias_method :a, :b`.

    Returns True in an `alias` statement, and in the arguments of calls such as `alias_method` and `delegate`.
    """
    around = node.parent
    if around is not None and around.type == "argument_list" and around.parent is not None:
        method = around.parent.child_by_field_name("method")
        return method is not None and builder.text(method) in _DECLARING
    return around is not None and around.type == "alias"


def _new_class(builder: TermBuilder, node: Node, arguments: Sequence[TermIndex]) -> TermIndex:
    """Return the class that `X = Class.new(Base) { … }` creates: `X`.

    Without a block, or without a variable on the left, the result is the base class, `arguments[0]`. The result and `arguments` are indices
    of expressions.
    """
    around = node.parent
    target = around.child_by_field_name("left") if around is not None and around.type == "assignment" else None
    if target is not None and target.type in ("constant", "identifier") and node.child_by_field_name("block") is not None:
        return builder.add((NAME, builder.text(target)))
    return arguments[0] if arguments else builder.unknown


def _may_be_class(builder: TermBuilder, node: Node) -> bool:
    """Whether a call may create a class, as `Name = Base.new(:first)`.

    It does if `Base` inherits from `Struct`. Then the methods of `Base` are those of `Name`.
    """
    around, given = node.parent, node.child_by_field_name("arguments")
    target = around.child_by_field_name("left") if around is not None and around.type == "assignment" else None
    if target is None or target.type != "constant" or given is None or builder.text(node.child_by_field_name("method") or node) != "new":
        return False
    receiver = node.child_by_field_name("receiver")
    is_named = receiver is not None and receiver.type in ("constant", "scope_resolution")
    return is_named and {child.type for child in given.named_children} == {"simple_symbol"}


def _method_around(builder: TermBuilder, node: Node) -> str:
    around = node.parent
    while around is not None and around.type not in ("method", "singleton_method"):
        around = around.parent
    name = around.child_by_field_name("name") if around is not None else None
    return builder.text(name) if name is not None else ""


def _in_class(node: Node) -> bool:
    around = node.parent
    while around is not None and around.type not in ("class", "module"):
        around = around.parent
    return around is not None


def _is_call(builder: TermBuilder, node: Node) -> bool:
    """Whether an identifier is a method call, and not a local variable."""
    if node.id not in builder.notes:
        root = node
        while root.parent is not None:
            root = root.parent
        builder.notes.update(_calls(builder, root))
    return builder.notes.get(node.id, False)


def _calls(builder: TermBuilder, root: Node) -> dict[int, bool]:
    """Map the node id of each identifier to whether the identifier is a call.

    The identifier `total` is a call unless a local variable of this name is visible there. An identifier in a definition's header is never
    a call. The method name in `a.total` is not a call either, because the whole node is the call.
    """
    names: list[set[str]] = [set()]  # local variables of each scope
    around = [-1]  # the scope whose variables each scope sees
    used: list[tuple[int, str, int]] = []  # id, name and scope of each identifier that may be a call
    found: dict[int, bool] = {}
    pending: list[tuple[Node, int]] = [(root, 0)]
    while pending:
        node, scope = pending.pop()
        kind = node.type
        if kind in _SCOPES or kind in _BLOCKS:
            names.append(set())
            around.append(scope if kind in _BLOCKS else -1)
            scope = len(names) - 1
            if kind in _BLOCKS:
                names[scope].update(ruby_blocks.names_of_group(builder, node))
        method = node.child_by_field_name("method") if kind == "call" else None
        target = node.child_by_field_name("left" if kind in _ASSIGNED else "pattern") if kind in _ASSIGNED or kind == "for" else None
        body = node.child_by_field_name("body") if kind in _NAMING else None
        default = node.child_by_field_name("value") if kind in _WITH_DEFAULT else None
        for child in node.named_children:
            if child.type != "identifier":
                pending.append((child, scope))
            elif child != default and (kind in _BINDING or child == target):
                names[scope].add(builder.text(child))
                found[child.id] = False
            elif child == method or (kind in _NAMING and child != body):
                found[child.id] = False
            else:
                used.append((child.id, builder.text(child), scope))
    for identity, name, scope in used:
        inside = scope
        while inside >= 0 and name not in names[inside]:
            inside = around[inside]
        found[identity] = inside < 0
    return found


HELPER = RubyHelper()
