"""Find the child nodes that the table of terms names.

The table is `[terms]` in `language.toml`. It tells how to convert syntax nodes to terms (expressions).
"""

from __future__ import annotations

from collections.abc import Callable
from operator import methodcaller
from typing import TYPE_CHECKING

from graphmem.errors import GrammarError

if TYPE_CHECKING:
    from tree_sitter import Node

    from graphmem.parsing.language import Place
    from graphmem.parsing.syntax import Syntax


Pick = Callable[["Node"], "Node | None"]


def children_of(node: Node) -> list[Node]:
    """Return the named children of a node that are not comments."""
    return [child for child in node.named_children if not child.is_extra]


def pick(syntax: Syntax, where: Place) -> Pick:
    """Return a function that finds a descendant of a syntax node.

    `where` is the name of a field, or a position among the named children that are not comments. If `where` is a list of these, each item
    leads one level down.
    """
    if isinstance(where, str):
        field = syntax.language.field_id_for_name(where)
        if field is None:
            origin = f"grammars/{syntax.spec.name}/language.toml"
            raise GrammarError(
                f"the table [terms] of {origin} names the field {where!r}, which does not exist in the "
                "tree-sitter grammar; correct the table",
                path=origin,
                line=0,
            )
        return methodcaller("child_by_field_id", field)  # half the cost of a lambda
    if isinstance(where, list):
        steps = [pick(syntax, step) for step in where]

        def by_steps(node: Node) -> Node | None:
            found: Node | None = node
            for step in steps:
                found = step(found) if found is not None else None
            return found

        return by_steps
    position = int(where)

    def by_position(node: Node) -> Node | None:
        children = children_of(node)
        return children[position] if position < len(children) else None

    return by_position


def nothing(node: Node) -> None:
    """Return None; used if the table's row names no such child."""
