"""Find the classes and modules that are written before their members.

In `Color.RED`, the index stores what `RED` refers to. What `Color` refers to follows from this: it is the class that has the member.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from graphmem.model import EdgeKind
from graphmem.projection.graph.arrays import CLASS_CODES, NODE_KINDS, SYMBOL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from graphmem.projection.graph.view import GraphView

_QUALIFIER: Final = re.compile(r"(?<![\w$])([\w$]+)\s*(?:\?\.|\.|::)\s*$")
_LONGEST: Final = 10  # parts of a dotted name
_REACH: Final = 200  # characters before a member in which its class is looked for, because a minified line may have a million


def qualifiers(view: GraphView, line: str, column: int, target: int, bound: Mapping[str, Sequence[int]]) -> Iterator[tuple[int, str, int]]:
    """Yield (column, name, graph node) of the names before a member's name.

    For `a.b.c`, the name before `c` comes first. A name that refers to neither a class nor a module of the project ends the search.

    Args:
        view: the graph.
        line: the text of the line.
        column: where the member's name begins, in characters.
        target: the member.
        bound: the classes and modules that a name may refer to, from imports and definitions of the file.
    """
    for _ in range(_LONGEST):
        found = _QUALIFIER.search(line, max(0, column - _REACH), column)
        if found is None:
            return
        name, column = found[1], found.start(1)
        owner = _owner(view, target)
        nodes = bound.get(name) or ((owner,) if owner >= 0 and view.name(owner) == name else ())
        node = next((one for one in nodes if _has(view, one, target)), -1)
        if node < 0:
            return
        yield column, name, node
        target = node


def reached_by(view: GraphView, node: int) -> list[int]:
    """Return the members that may be written after the name of a class.

    Inherited members are included. For another symbol, the result is empty.
    """
    if not _is_class(view, node):
        return []
    return [int(member) for one in [node, *_bases(view, node)] for member in view.dst[view.out_edges(one, (EdgeKind.DEFINES,))].tolist()]


def _has(view: GraphView, node: int, target: int) -> bool:
    """Whether the class or module `node` has the member `target`.

    A class also has the members that it inherits.
    """
    if view.label[node] != SYMBOL:
        return False
    if NODE_KINDS[view.kind[node]] == "module":
        return view.label[target] == SYMBOL and _owner(view, target) == node
    owner = _owner(view, target)
    return _is_class(view, node) and owner >= 0 and (node == owner or owner in _bases(view, node))


def _bases(view: GraphView, node: int) -> list[int]:
    """Return the base classes of a class, also the indirect ones."""
    found = {node: None}
    pending = [node]
    while pending:
        for base in view.dst[view.out_edges(pending.pop(), (EdgeKind.INHERITS,))].tolist():
            if base not in found and view.label[base] == SYMBOL:
                found[base] = None
                pending.append(base)
    return [*found][1:]


def _owner(view: GraphView, node: int) -> int:
    """Return the class or module that defines a member; -1 if none."""
    return int(view.parent[node])


def _is_class(view: GraphView, node: int) -> bool:
    return view.label[node] == SYMBOL and view.kind[node] in CLASS_CODES
