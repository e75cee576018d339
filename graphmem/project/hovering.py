"""Answer what an editor shows when the pointer is over a name.

The answer has the symbol with its callers, tests, memories and history.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphmem.analysis.relations import RELATIONS, one_edge_a_test
from graphmem.answers.hover import Hover
from graphmem.errors import HistoryError
from graphmem.model import EdgeKind
from graphmem.projection.arrays import EDGE_KINDS

if TYPE_CHECKING:
    from graphmem.answers import CoAccessHit, SymbolInfo
    from graphmem.answers.vocabulary import ColumnUnit
    from graphmem.project.graph_source import GraphSource
    from graphmem.project.history import CoAccess
    from graphmem.project.known import KnownCode
    from graphmem.project.positions import Positions
    from graphmem.projection.graph import GraphView

MOVES_SUPPORT: Final = 3  # common changes; fewer can be chance

_log = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)
class Hovers:
    """Answers what an editor shows when the pointer is over a name.

    One answer has the symbol's callers, tests, memories and history.
    """

    graph: GraphSource
    positions: Positions
    known: KnownCode
    co_access: CoAccess

    def hover(self, file: str, line: int, column: int = 0, unit: ColumnUnit = "characters", limit: int = 3) -> Hover:
        """Describe the symbol at a position of a file.

        See `CodeOperations.hover`.

        Raises:
            SymbolNotFoundError: the file is not in the index.
        """
        at = self.positions.symbol_at(file, line, column, unit)
        view = self.graph.view()
        node = view.index_of.get(at.symbol.id, -1) if at.symbol is not None else -1
        if at.symbol is None or node < 0:
            return Hover(None, at.reason or "the index has just changed; ask again", at.is_stale)
        callers, caller_count = _related(view, node, "callers", limit, tests=False)
        tests, test_count = _related(view, node, "tests", limit, tests=True)
        return Hover(
            symbol=at.symbol,
            reason="",
            is_stale=at.is_stale,
            doc=view.doc(node),
            callers=callers,
            caller_count=caller_count,
            tests=tests,
            test_count=test_count,
            known=self.known.of_nodes(view, [at.symbol.id])[at.symbol.id],
            moves_along=self._moves(at.symbol.path, limit),
        )

    def _moves(self, path: str, limit: int) -> list[CoAccessHit]:
        if not path:
            return []
        try:
            return self.co_access.co_access([path], limit, min_sessions=MOVES_SUPPORT).hits
        except HistoryError as error:  # `doctor` reports it; a hover must not fail for it
            _log.warning("hover without history: %s", error.message)
            return []


def _related(view: GraphView, node: int, relation: str, limit: int, *, tests: bool) -> tuple[list[SymbolInfo], int]:
    """Return some of the symbols that use `node`, and their total number.

    At most `limit` symbols are returned. `relation` selects the kind of use, such as "callers". If `tests` is true, only tests are returned
    and counted, otherwise only code that is not a test. Symbols with a TESTS edge come first. The others follow, the most confident first.
    """
    kinds = RELATIONS[relation].kinds
    if relation == "callers" and "abstract" in view.modifiers(node):
        kinds = (*kinds, EdgeKind.REFERENCES)  # a call runs an implementation, and refers to the declaration
    edges = view.in_edges(node, kinds)
    others = view.src[edges]
    keep = view.is_test[others] == tests
    edges, others = edges[keep], others[keep]
    if tests:
        keep = one_edge_a_test(view, edges)
        edges, others = edges[keep], others[keep]
    about = view.edge_kind[edges] != EDGE_KINDS.index(EdgeKind.TESTS)
    order = np.lexsort((others, view.start_line[others], view.path_index[others], -view.confidence[edges], about))
    unique = list(dict.fromkeys(others[order].tolist()))
    return (view.infos(unique[:limit]) if unique else []), len(unique)
