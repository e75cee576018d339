"""Parse Jinja templates, for which the grammar of Twig is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.parsing.facts import ATTR, CALL, NAME, STRING, TermIndex
from graphmem.parsing.languages import Helper

if TYPE_CHECKING:
    from tree_sitter import Node

    from graphmem.parsing.terms import TermBuilder


class JinjaHelper(Helper):
    """Parses code of Jinja that the query files cannot express.

    Examples are calls, filters and dotted names.
    """

    def helper_term(self, builder: TermBuilder, node: Node, what: str) -> TermIndex:
        """Convert a node of a Jinja template to a term (an expression).

        `what` is the kind of construct that `node` is: "text", "path" for a dotted name, or "call" for a call or filter.
        """
        if what == "text":
            return builder.add((STRING, builder.text(node)[1:-1]))
        if what == "path":
            first, *others = builder.text(node).split(".")
            term = builder.add((NAME, first.strip())) if first.strip().isidentifier() else builder.unknown
            for name in others:
                term = builder.add((ATTR, term, name.strip()))
            return term
        if what == "call":
            callee, *lists = node.named_children
            given = [child for one in lists if one.type == "arguments" for child in one.named_children if child.type == "argument"]
            values = [value for one in given for value in one.named_children if value.type == "argument_value"]
            terms = [builder.term(value.named_children[0]) if value.named_children else builder.unknown for value in values]
            return builder.add((CALL, builder.term(callee), tuple(terms), ()))
        return super().helper_term(builder, node, what)


HELPER = JinjaHelper()
