"""Search code and memories."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
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


@dataclass(eq=False, repr=False)
class SearchQuestions:
    """Searches code and memories."""

    graph: GraphSource
    projections: Projections
    searcher: Searcher
    packed: Callable[[SearchAnswer, int], PackedText]  # packs hits into one text with a budget of tokens

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
        """Search code and memories, best hit first.

        The answer iterates over its hits.

        Raises:
            BadInputError: see `search.request.check`.
            NotIndexedError: there is neither code nor a memory.
        """
        request = Request(
            query=query,
            k=limit,
            files=self.graph.from_root(files),
            within=self.graph.from_root(within),
            kinds=frozenset(kinds or ()),
            types=frozenset(types or ()),
            phase=phase,
            retired=retired,
            as_of=None if as_of is None else moment("as_of", as_of),
            explain=explain,
        )
        if request.wants_code and not (request.wants_memories and len(self.projections.memories())):
            self.graph.view()
        answer = self.searcher.search(request, self.graph.state)
        if budget_tokens is None:
            return answer
        return dataclasses.replace(answer, packed=self.packed(answer, budget_tokens))
