"""Parse code of Swift that the query files cannot express.

Examples are conditions such as `#if os(Linux)` and members without a written type, as in `.json`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import ATTR, TermIndex
from graphmem.parsing.languages import Helper
from graphmem.parsing.languages.conditions import without_conditions

if TYPE_CHECKING:
    from tree_sitter import Node

    from graphmem.parsing.terms import TermBuilder

_UNKNOWN: Final = re.compile(rb"\bnonisolated\(unsafe\)|(?<=: )sending\b|^[ \t]*#(?:error|warning|sourceLocation)\b[^\n]*", re.MULTILINE)
"""Words and directives that the grammar does not know."""


class SwiftHelper(Helper):
    """Parses conditions of Swift and members without a written type."""

    def mended(self, source: bytes) -> bytes:
        """Replace conditions such as `#if os(Linux)` by blanks."""
        return _UNKNOWN.sub(lambda match: b" " * len(match[0]), without_conditions(source))

    def owner(self, text: str) -> str:
        """Return the name of the type that an extension extends.

        For `Space.Name<Type>`, the result is `Name`. Such a type often stands in another extension, so that it has no qualified name.
        """
        return text.partition("<")[0].strip().rpartition(".")[2]

    def helper_term(self, builder: TermBuilder, node: Node, what: str) -> TermIndex:
        """Convert a prefix such as `.json` or `!done` to a term (an expression).

        `.json` is a member of a type that the code around it tells, so here its type is not known.
        """
        target = node.child_by_field_name("target")
        if what != "prefix" or target is None:
            return super().helper_term(builder, node, what)
        is_member = node.children[0].type == "." and target.type == "simple_identifier"
        return builder.add((ATTR, builder.unknown, builder.text(target))) if is_member else builder.term(target)


HELPER = SwiftHelper()
