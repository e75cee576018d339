"""Find all subclasses of a class, and all methods that override one.

Indirect subclasses are included, also those of abstract classes without such a method.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from graphmem.model import EdgeKind
from graphmem.projection.graph.arrays import CLASS_CODES, NODE_KINDS, SYMBOL
from graphmem.runtime.data.conventions import conventions_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from graphmem.projection.graph.view import GraphView

_CLOSING: Final = {")": "(", "]": "[", "}": "{", ">": "<"}
_TOKEN: Final = re.compile(r"""->|=>|"(?:\\.|[^"])*"|'(?:\\.|[^'])*'|\s[<>]=?\s|\S""")  # an arrow or a comparison closes nothing


def implementations(view: GraphView, node: int) -> list[int]:
    """Return the subclasses of a class, or the overriding methods of a method.

    `node` is the class or method. Indirect subclasses, their methods and implementations of an abstract method are included. A method of a
    class that does not implement an interface is included if a subclass implements the interface with it. Code comes before tests; then the
    result is sorted by path and line. It is empty for a symbol that is neither a class nor a method.
    """
    if view.label[node] != SYMBOL:
        return []
    if view.kind[node] in CLASS_CODES:
        found = _below(view, [node], EdgeKind.INHERITS)
    elif NODE_KINDS[view.kind[node]] == "method":
        found = _below(view, [node], EdgeKind.OVERRIDES)
        found |= _implicit(view, node, found)
    else:
        return []
    nodes = np.array(sorted(found), dtype=np.int64)
    order = np.lexsort((nodes, view.start_line[nodes], view.path_index[nodes], view.is_test[nodes]))
    return [int(one) for one in nodes[order]]


def _below(view: GraphView, nodes: Iterable[int], kind: EdgeKind) -> set[int]:
    """Return the nodes from which edges of one kind lead to `nodes`.

    The edges lead there directly or through other nodes. For edges of the kind INHERITS, the result has all direct and indirect subclasses.
    """
    first = set(nodes)
    found: set[int] = set()
    pending = list(first)
    while pending:
        for one in view.src[view.in_edges(pending.pop(), (kind,))].tolist():
            if one not in found and one not in first:
                found.add(one)
                pending.append(one)
    return found


def _implicit(view: GraphView, node: int, known: set[int]) -> set[int]:
    """Return methods that implement a method without an edge to it.

    In `class Both extends Base implements Shape`, methods of `Base` and `Both` implement those of `Shape`. `Both` has an edge to `Base`,
    because this is the nearest class with the method. `known` are the methods with a path of edges to `node`. In a language with
    overloads, a method with another number of parameters is ignored.
    """
    owner = int(view.parent[node])
    if owner < 0 or not (NODE_KINDS[view.kind[owner]] == "interface" or "abstract" in view.modifiers(node)):
        return set()
    name, below = view.name(node), _below(view, [owner], EdgeKind.INHERITS)
    having = {view.parent[one] for one in known}
    found: set[int] = set()
    for one in sorted(below - having):
        if NODE_KINDS[view.kind[one]] != "interface":
            found |= {method for method in _nearest(view, one, name) if method != node and _alike(view, method, node)}
    further = _below(view, found, EdgeKind.OVERRIDES)
    return found | {method for method in further if int(view.parent[method]) in below}


def _nearest(view: GraphView, node: int, name: str) -> list[int]:
    """Return the methods called `name` that objects of a class have.

    They are those of the class, or else of its nearest base class. Interfaces are left out.
    """
    level, seen = [node], {node}
    while level:
        methods = [
            member
            for one in level
            for member in view.dst[view.out_edges(one, (EdgeKind.DEFINES,))].tolist()
            if view.name(member) == name and NODE_KINDS[view.kind[member]] == "method"
        ]
        if methods:
            return methods
        above = [base for one in level for base in view.dst[view.out_edges(one, (EdgeKind.INHERITS,))].tolist()]
        level = [base for base in dict.fromkeys(above) if base not in seen and view.label[base] == SYMBOL]
        level = [base for base in level if NODE_KINDS[view.kind[base]] != "interface"]
        seen.update(level)
    return []


def _alike(view: GraphView, method: int, other: int) -> bool:
    """Whether a method can implement another method of the same name.

    In a language with overloads, both have the same number of parameters.
    """
    if not conventions_of(view.language_of(view.path(method))).overloads:
        return True
    name = view.name(method)
    return count_parameters(view.signature(method), name) == count_parameters(view.signature(other), name)


def count_parameters(signature: str, name: str) -> int:
    """Return the number of parameters in the signature of a method.

    Args:
        signature: may begin with annotations and modifiers.
        name: the name of the method, which stands before the parameters and the type parameters.
    """
    # The name may also stand in an annotation, as in `@Cacheable("find") Foo find(int id)`. No parenthesis follows it there.
    start = re.search(rf"(?<!@)\b{re.escape(name)}\s*(?=[(<\[])", signature)
    if start is None:
        return 0
    opened: list[str] = []
    commas, is_empty = 0, True
    for token in _TOKEN.finditer(signature, start.end()):
        sign = token.group()
        if sign in _CLOSING:
            if opened and opened[-1] == _CLOSING[sign]:
                opened.pop()
            if not opened and sign == ")":
                break
            continue
        if opened[:1] == ["("]:
            commas += sign == "," and len(opened) == 1
            is_empty = False
        if sign in _CLOSING.values():
            opened.append(sign)
    return 0 if is_empty else commas + 1
