"""Helper for Ruby."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.parsing.facts import (
    ATTR,
    CALL,
    NAME,
    SELF,
    SUPER,
    TermIndex,
)
from graphmem.parsing.languages import Helper

if TYPE_CHECKING:
    from tree_sitter import Node

    from graphmem.parsing.terms import TermBuilder


class RubyHelper(Helper):
    """Helper for `super` and instance variables.

    `super` calls the method of the same name. Instance variables are attributes.
    """

    def helper_term(self, builder: TermBuilder, node: Node, what: str) -> TermIndex:
        """Return the term of a node that depends on the code around it."""
        if what == "instance":
            return builder.add((ATTR, builder.add((SELF,)), builder.text(node)))
        if what == "call":
            method, receiver = node.child_by_field_name("method"), node.child_by_field_name("receiver")
            given = node.child_by_field_name("arguments")
            arguments = tuple(builder.term(child) for child in (given.named_children if given is not None else ()) if not child.is_extra)
            if method is None:
                return builder.unknown
            if method.type == "super":
                callee = builder.add((ATTR, builder.add((SUPER,)), _method_around(builder, node)))
            elif receiver is not None:
                builder.consumed.add(method.id)
                callee = builder.add((ATTR, builder.term(receiver), builder.text(method)))
            else:
                callee = builder.add((NAME, builder.text(method)))
            return builder.add((CALL, callee, arguments, ()))
        return super().helper_term(builder, node, what)


def _method_around(builder: TermBuilder, node: Node) -> str:
    around = node.parent
    while around is not None and around.type not in ("method", "singleton_method"):
        around = around.parent
    name = around.child_by_field_name("name") if around is not None else None
    return builder.text(name) if name is not None else ""


HELPER = RubyHelper()
