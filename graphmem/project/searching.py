"""Search in code and memories."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from graphmem.memory.validate import moment
from graphmem.search.request import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from graphmem.answers import SearchAnswer
    from graphmem.answers.injection import PackedText
    from graphmem.project.graph_source import GraphSource
    from graphmem.projection.projections import Projections
    from graphmem.search.searcher import Searcher


class SearchQuestions:
    """Searches code and memories.

    Args:
        graph: says whether there is code to search.
        projections: say whether there are memories to search.
        searcher: finds.
        packed: writes hits as one text of so many tokens.
    """

    def __init__(
        self, graph: GraphSource, projections: Projections, searcher: Searcher, packed: Callable[[SearchAnswer, int], PackedText]
    ) -> None:
        self._graph = graph
        self._projections = projections
        self._searcher = searcher
        self._packed = packed

    def search(
        self,
        query: str,
        limit: int = 10,
        files: Iterable[str] | None = None,
        within: Iterable[str] | None = None,
        kinds: Iterable[str] | None = None,
        types: Iterable[str] | None = None,
        phase: str = "",
        retired: bool = False,
        as_of: datetime | str | None = None,
        explain: bool = True,
        budget_tokens: int | None = None,
    ) -> SearchAnswer:
        """Search code and memories, best hit first; the answer iterates over its hits.

        Args:
            query: words, an identifier, or a question.
            limit: hits wanted, 1 to 200.
            files: paths that are open right now: what is near them rises, nothing is left out.
            within: only in these files and below these directories.
            kinds: of code, prose, data, symbol, memory; default all.
            types: only memories of these types.
            phase: of work: define, implement, validate, refine, explore or reflect; decides which types of memories rise.
            retired: also memories that were superseded or deprecated.
            as_of: only memories that were believed at that time.
            explain: fill in `parts` and `factors` of every hit.
            budget_tokens: also write the hits as one text of at most so many tokens: code by file, memories with citations (`packed`).

        Raises:
            BadInputError: see `search.request.check`.
            NotIndexedError: there is neither code nor a memory.
        """
        request = Request(
            query=query,
            k=limit,
            files=self._graph.from_root(files),
            within=self._graph.from_root(within),
            kinds=frozenset(kinds or ()),
            types=frozenset(types or ()),
            phase=phase,
            retired=retired,
            as_of=None if as_of is None else moment("as_of", as_of),
            explain=explain,
        )
        if request.wants_code and not (request.wants_memories and len(self._projections.memories())):
            self._graph.view()
        answer = self._searcher.search(request, self._graph.state)
        if budget_tokens is None:
            return answer
        return dataclasses.replace(answer, packed=self._packed(answer, budget_tokens))
