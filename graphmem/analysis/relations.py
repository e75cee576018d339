"""Named relations of a symbol, such as callers, and search for symbols."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmem.answers import Site, SymbolInfo
from graphmem.errors import BadInputError
from graphmem.model import EdgeKind
from graphmem.projection.graph.arrays import EDGE_KINDS, NODE_KINDS, SYMBOL

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from graphmem.projection.graph.view import GraphView


_TESTS: Final = EDGE_KINDS.index(EdgeKind.TESTS)
_MODULE: Final = NODE_KINDS.index("module")
_SEPARATORS: Final = re.compile(r"[\W_]+")


class Relation(NamedTuple):
    """A relation such as `callers`: the direction and kinds of its edges."""

    incoming: bool
    kinds: tuple[str, ...]
    tests_only: bool = False


RELATIONS: Final[dict[str, Relation]] = {
    "callers": Relation(True, (EdgeKind.CALLS,)),
    "callees": Relation(False, (EdgeKind.CALLS,)),
    "references": Relation(True, (EdgeKind.REFERENCES, EdgeKind.USES_TYPE, EdgeKind.IMPORTS)),
    "bases": Relation(False, (EdgeKind.INHERITS,)),
    "subclasses": Relation(True, (EdgeKind.INHERITS,)),
    "overrides": Relation(False, (EdgeKind.OVERRIDES,)),
    "overridden_by": Relation(True, (EdgeKind.OVERRIDES,)),
    "members": Relation(False, (EdgeKind.DEFINES,)),
    "tests": Relation(True, (EdgeKind.TESTS, EdgeKind.CALLS, EdgeKind.REFERENCES), tests_only=True),
}


def sites(view: GraphView, node: int, relation: str, limit: int) -> list[Site]:
    """Return nodes in a relation to a node, such as its callers, with edges.

    Nodes are sorted by four keys: code before tests, confidence of the edge (highest first), path, and line. Members of a class are sorted
    by line. Among tests of the node, those with a TESTS edge come first, and each test is listed once. Code inside a test counts as this
    test; helpers of tests are left out.

    Raises:
        BadInputError: the relation is unknown.
    """
    row = RELATIONS.get(relation)
    if row is None:
        raise BadInputError(f"unknown relation {relation!r}; use one of {', '.join(RELATIONS)}", argument="relation", value=relation)
    edges = view.in_edges(node, row.kinds) if row.incoming else view.out_edges(node, row.kinds)
    others = (view.src if row.incoming else view.dst)[edges]
    if row.tests_only:
        others = np.where(view.is_test[others], tests_around(view, others), -1)
        edges, others = edges[others >= 0], others[others >= 0]
        rows = one_edge_a_test(view, edges, others)
        edges, others = edges[rows], others[rows]
    lines = view.start_line[others]
    first = view.edge_kind[edges] != _TESTS if row.tests_only else np.zeros(len(edges), dtype=bool)
    confidence = -view.confidence[edges] if relation != "members" else np.zeros(len(edges))
    order = np.lexsort((others, lines, view.path_index[others], confidence, first, view.is_test[others]))[:limit]
    edges, others = edges[order], others[order]
    return [
        Site(
            info,
            kind=view.kind_of(edge),
            confidence=round(float(view.confidence[edge]), 4),
            source=view.source_of(edge),
            rule=view.rule_of(edge),
            lines=view.lines_of(edge),
        )
        for info, edge in zip(view.infos(others), edges.tolist(), strict=True)
    ]


def tests_around(view: GraphView, nodes: NDArray[np.generic]) -> NDArray[np.int64]:
    """Return for each node the test that contains it; -1 without one.

    A test, and the module of a test file, contain themselves.
    """
    found = np.asarray(nodes, dtype=np.int64).copy()
    outside = ~view.is_runnable[found]
    while outside.any():
        found[outside] = view.parent[found[outside]]
        outside = outside & (found >= 0) & ~view.is_test_case[found]
    return found


def one_edge_a_test(view: GraphView, edges: NDArray[np.generic], tests: NDArray[np.generic]) -> NDArray[np.int64]:
    """Return the position in `edges` of the best edge of each test.

    `tests` has the test of each edge. The best edge is a TESTS edge if there is one, else the edge with the highest confidence. The
    positions are in the order of the tests.
    """
    order = np.lexsort((edges, -view.confidence[edges], view.edge_kind[edges] != _TESTS, tests))
    return order[np.flatnonzero(np.diff(tests[order], prepend=-1))]


def find_symbols(view: GraphView, query: str, kinds: Collection[str] | None, limit: int, offset: int) -> tuple[list[SymbolInfo], int]:
    """Return symbols whose name contains the query, and their total number.

    `offset` is the number of symbols to skip, and `kinds` has the kinds to return; None for all. Case is ignored. The symbols are sorted by
        how their name matches:

    * The name equals the query. Code comes before tests, then the same case before another, then top-level definitions before members, then
      symbols with more uses before others.
    * The name begins with the query. Shorter names come first.
    * The name contains the query elsewhere. Shorter names come first.

    Ties are sorted by path and line.

    An empty query lists every symbol by path and line. A dotted query such as `Cart.to` finds names that contain `to` inside an outer name
    that ends with `Cart`, and names that contain `Cart·to`: titles of tests and routes have `·` for a dot. If the query has several words,
    one must be in the name, the others in the qualified name or path. Names of exactly these words come first, then names that contain all
    of them.
    """
    folded = query.strip().casefold()
    several = folded.split()
    owner, _, last = ("", "", folded) if len(several) > 1 else folded.rpartition(".")
    ranked: list[tuple[int, int, int]] = []
    titled: set[int] = set()
    for name in view.names() if len(several) < 2 else ():
        lowered = name.casefold()
        if owner and "·" in name and folded in lowered.replace("·", "."):
            titled.update(view.by_name(name).tolist())
            rank = 1
        elif last in lowered:
            rank = 0 if lowered == last else 1 if lowered.startswith(last) else 2
        else:
            continue
        ranked.extend((rank, len(name), node) for node in view.by_name(name).tolist() if view.label[node] == SYMBOL)
    if len(several) > 1:
        ranked = list(_of_words(view, several))
    nodes = np.array([node for _, _, node in ranked], dtype=np.int64)
    keep = np.ones(len(nodes), dtype=bool)
    if kinds is not None:
        _check_kinds(kinds)
        wanted = np.isin(np.arange(len(NODE_KINDS)), [NODE_KINDS.index(kind) for kind in kinds])
        keep &= wanted[view.kind[nodes]]
    if owner:
        keep &= np.array([node in titled or _owned(view.qualname(node).casefold(), owner) for node in nodes.tolist()], dtype=bool)
    ranks = np.array([(rank, length) for rank, length, _ in ranked], dtype=np.int64).reshape(-1, 2)[keep]
    nodes = nodes[keep]
    standing = np.zeros((4, len(nodes)), dtype=np.int64)
    if folded:
        written = query.strip().rpartition(".")[2]
        for at in np.flatnonzero(ranks[:, 0] == 0).tolist():
            standing[:, at] = _standing(view, int(nodes[at]), written)
    by_place = (nodes, view.start_line[nodes], view.path_index[nodes])
    order = np.lexsort((*by_place, *standing[::-1], ranks[:, 1], ranks[:, 0]) if folded else by_place)
    return view.infos(nodes[order[offset : offset + limit]]), len(nodes)


def _standing(view: GraphView, node: int, written: str) -> tuple[int, int, int, int]:
    """Return the sort key of a symbol whose name equals the query.

    The comparison ignores case, and the lowest key comes first. The parts of the key are: is a test, differs from `written` in case, is a
    member, and minus the number of uses. `written` is the query as typed.
    """
    parent = int(view.parent[node])
    member = parent >= 0 and view.label[parent] == SYMBOL and view.kind[parent] != _MODULE
    return int(view.is_test[node]), int(view.name(node) != written), int(member), -len(view.in_edges(node))


def _of_words(view: GraphView, words: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield (rank, length of the name, node) of symbols that match words.

    A lower rank is a better match. A test has a higher (worse) rank than an equally good match outside tests.
    """
    joined = "".join(words)
    for name in view.names():
        lowered = name.casefold()
        if not any(word in lowered for word in words):
            continue
        missing = [word for word in words if word not in lowered]
        rank = 0 if _SEPARATORS.sub("", lowered) == joined else 1 if not missing else 2
        for node in view.by_name(name).tolist():
            if (
                view.label[node] == SYMBOL
                and view.kind[node] != _MODULE
                and (not missing or _holds(f"{view.path(node)} {view.qualname(node)}", missing))
            ):
                yield 2 * rank + bool(view.is_test[node]), len(name), node


def _holds(text: str, words: Sequence[str]) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)


def find_files(view: GraphView, query: str) -> list[str]:
    """Return the paths that contain every word of the query, ignoring case.

    File names that contain all words come first, then shorter paths.
    """
    words = query.casefold().split()
    found = [path for path in view.paths if _holds(path, words)]
    return sorted(found, key=lambda path: (not _holds(path.rpartition("/")[2], words), len(path), path))


def _owned(qualname: str, owner: str) -> bool:
    above = qualname.rpartition(".")[0]
    return above == owner or above.endswith("." + owner)


def _check_kinds(kinds: Collection[str]) -> None:
    allowed = NODE_KINDS[2:]
    unknown = sorted(set(kinds) - set(allowed))
    if unknown:
        raise BadInputError(
            f"unknown kind of symbol {', '.join(unknown)}; use one of {', '.join(allowed)}", argument="kinds", value=unknown
        )


def nodes_of(view: GraphView, ids: Sequence[str]) -> dict[str, int]:
    """Map each of the given ids that is in the graph to its node index."""
    return {one: view.index_of[one] for one in ids if one in view.index_of}
