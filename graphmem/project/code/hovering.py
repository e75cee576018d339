"""Answer what an editor shows when the pointer is over a name.

The answer has the symbol with its callers, tests, memories and history.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from graphmem.analysis.direct_users import direct_users
from graphmem.analysis.implementations import implementations
from graphmem.answers.hover import Hover
from graphmem.errors import HistoryError
from graphmem.parsing.ignore import file_reason
from graphmem.projection.graph.arrays import NODE_KINDS

if TYPE_CHECKING:
    from graphmem.answers import CoAccessHit, SymbolInfo
    from graphmem.answers.vocabulary import ColumnUnit
    from graphmem.project.code.positions import Positions
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.project.history.co_changes import CoAccess
    from graphmem.project.memories.known import KnownCode
    from graphmem.projection.graph.view import GraphView

MOVES_SUPPORT: Final = 3  # common changes; fewer can be chance
MORE_MOVES: Final = 5  # asked for, because lock files and other files that programs write are left out

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

        `unit` is the unit of columns. See `CodeOperations.hover`.

        Raises:
            SymbolNotFoundError: the file is not in the index.
        """
        at = self.positions.symbol_at(file, line, column, unit)
        view = self.graph.view()
        node = view.index_of.get(at.symbol.id, -1) if at.symbol is not None else -1
        if at.symbol is None or node < 0:
            return Hover(None, at.reason or "the index has just changed; ask again", at.is_stale)
        if at.symbol.kind == "external" and "()" in at.symbol.qualname:  # a member of what calls return
            return Hover(None, f"the class of the value before {at.symbol.name!r} is not known", at.is_stale)
        users = direct_users(view, node)
        implemented = implementations(view, node)
        is_abstract = _is_declaration(view, node)
        through = _callers(view, implemented) if is_abstract and not users.callers else []
        return Hover(
            symbol=at.symbol,
            reason="",
            is_stale=at.is_stale,
            doc=view.doc(node),
            callers=_infos(view, users.callers[:limit]),
            caller_count=len(users.callers),
            users=_infos(view, users.users[:limit]),
            user_count=len(users.users),
            tests=_infos(view, users.tests[:limit]),
            test_count=len(users.tests),
            test_helpers=_infos(view, users.helpers[:limit]),
            implementations=_infos(view, implemented[:limit]),
            implementation_count=len(implemented),
            implementation_callers=_infos(view, through[:limit]),
            implementation_caller_count=len(through),
            is_abstract=is_abstract,
            known=self.known.of_symbol(view, node),
            moves_along=self._moves(at.symbol.path, limit),
        )

    def _moves(self, path: str, limit: int) -> list[CoAccessHit]:
        if not path:
            return []
        try:
            found = self.co_access.co_access([path], limit + MORE_MOVES, min_sessions=MOVES_SUPPORT).hits
            return [one for one in found if not file_reason(one.path)][:limit]
        except HistoryError as error:  # `doctor` reports it; a hover must not fail for it
            _log.warning("hover without history: %s", error.message)
            return []


def _is_declaration(view: GraphView, node: int) -> bool:
    """Whether a method is abstract, or belongs to an interface."""
    if NODE_KINDS[view.kind[node]] != "method":
        return False
    owner = int(view.parent[node])
    return "abstract" in view.modifiers(node) or (owner >= 0 and NODE_KINDS[view.kind[owner]] == "interface")


def _callers(view: GraphView, nodes: list[int]) -> list[int]:
    """Return the callers of some functions, without these functions."""
    found = dict.fromkeys(caller for node in nodes for caller in direct_users(view, node).callers)
    return [one for one in found if one not in nodes]


def _infos(view: GraphView, nodes: list[int]) -> list[SymbolInfo]:
    return view.infos(nodes) if nodes else []
