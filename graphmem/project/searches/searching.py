"""Search code and memories."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from graphmem.errors import HistoryError
from graphmem.memory.repository.fields import moment
from graphmem.project.structure.structure_found import Structure
from graphmem.search.hits.groups import counted, grouped, is_unknown, near_names
from graphmem.search.request import SYSTEM_KINDS, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from graphmem.answers import SearchAnswer, SearchHit
    from graphmem.answers.injection import PackedText
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.project.structure.semantic_source import SemanticSource
    from graphmem.projection.projections import Projections
    from graphmem.search.searcher import Searcher

_UNDERIVED: Final = "not derived from the current code yet"


@dataclass(eq=False, repr=False)
class SearchQuestions:
    """Implements the operation `search` for code and memories."""

    graph: GraphSource
    projections: Projections
    searcher: Searcher
    semantics: SemanticSource  # modules and flows
    packed: Callable[[SearchAnswer, int], PackedText]  # packs hits into one text with a budget of tokens
    refresh: Callable[[], None]  # takes over changes of the person's own memories
    _structure: Structure | None = field(default=None, init=False)  # of the modules and flows searched last

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
        """Search code and memories; the best hit comes first.

        For the parameters, see `CodeOperations.search`. Iterating over the answer yields its hits.

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
        if request.wants_memories:
            self.refresh()
        if request.wants_code and not (request.wants_memories and len(self.projections.memories())):
            self.graph.view()
        answer = self.searcher.search(request, self.graph.state)
        hits, underived = self._with_structure(request, answer.hits)
        unknown = request.wants_code and self._is_indexed and is_unknown(query, hits)
        near, note = near_names(self.graph.view(), query) if unknown else ([], "")
        notes = [*answer.notes, note] if note else answer.notes
        answer = dataclasses.replace(answer, hits=hits, groups=grouped(hits), facets=counted(hits), near=near, notes=notes)
        answer.missing.update(underived)
        if budget_tokens is None:
            return answer
        return dataclasses.replace(answer, packed=self.packed(answer, budget_tokens))

    @property
    def _is_indexed(self) -> bool:
        return self.graph.view_or_none() is not None

    def _with_structure(self, request: Request, hits: list[SearchHit]) -> tuple[list[SearchHit], dict[str, str]]:
        """Add modules and flows to the hits of a search.

        Modules are groups of files, and flows are paths of calls. Nothing is added if a filter of the search excludes both. Otherwise:

        - If the search requests modules or flows, they are derived if necessary. If the search names no kinds, only those that were derived
          already are added.
        - At most a quarter of all hits are added ones, unless the search requests only modules and flows.
        - The score of an added hit is multiplied by the best score of the other hits.

        Returns:
            All hits, best first, and a dict. If modules or flows are missing, the dict maps "modules" or "flows" to the reason.
        """
        asked = request.kinds & SYSTEM_KINDS
        if (request.kinds and not asked) or request.types or request.within or request.as_of is not None or not self._is_indexed:
            return hits, {}
        most = request.k if asked and not request.kinds - SYSTEM_KINDS else request.k // 4
        if not most:
            return hits, {}
        try:
            modules, flows = self.semantics.newest().ready(wanted=bool(asked))
        except HistoryError as error:  # modules also come from the history, which a full disk makes unreadable
            return hits, dict.fromkeys(("modules", "flows"), error.message)
        missing = {name: _UNDERIVED for name, made in (("modules", modules), ("flows", flows)) if made is None}
        if (prepared := self._structure) is None or not prepared.is_of(modules, flows):
            prepared = self._structure = Structure(modules, flows)
        structure = [hit for hit in prepared.found(request.query) if not asked or hit.kind in asked][:most]
        best = hits[0].score if hits else 1.0
        structure = [dataclasses.replace(hit, score=hit.score * best) for hit in structure]
        return sorted([*hits, *structure], key=lambda hit: -hit.score)[: request.k], missing
