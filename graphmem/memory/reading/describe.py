"""Build the descriptions of memories in answers.

The description has the memory's fields, links to code, age and the ids of related memories.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from graphmem.answers import MemoryAnchor, MemoryInfo, MemoryRelation
from graphmem.knowledge import AboutRow, Anchor, MemoryRow
from graphmem.memory.reading.lifecycle import confidence_in_use, half_life_of
from graphmem.memory.texts.types import SOURCES

if TYPE_CHECKING:
    from graphmem.projection.graph.view import GraphView
    from graphmem.projection.memories.index import MemoryIndex


class BranchesOf(Protocol):
    """A function that names the branches that contain a memory's code.

    A memory's code is the code that the memory is linked to.
    """

    def __call__(self, row: MemoryRow, *, gone: bool) -> list[str]:
        """Return the names of the branches with a memory's code.

        A memory's code is the code that the memory is linked to. The branch from which this index was made is left out.

        Args:
            row: the memory.
            gone: whether any of this code is missing in this index.
        """


class Describer:
    """Builds descriptions of memories, as of one point in time.

    Args:
        index: the memories.
        view: the code graph; None when nothing is indexed.
        now: the time for which confidence is computed.
        paths: returns the paths, by file id, of files that memories name but the graph lacks. It reads the database, so it is called only
            when needed.
        branches: returns the branches that have the code of a memory, without the indexed branch; see `MemoryRepository.branches_of`.
    """

    def __init__(
        self, index: MemoryIndex, view: GraphView | None, now: datetime, paths: Callable[[], Mapping[str, str]], branches: BranchesOf
    ) -> None:
        self._index = index
        self._view = view
        self._now = now
        self._paths = paths
        self._branches = branches

    def info(self, row: MemoryRow) -> MemoryInfo:
        """Return the full description of the memory in `row`, for answers."""
        about = self._index.about(row.id)
        relations = self._relations(row)
        vector = self._index.vector(row.id) is not None
        return MemoryInfo(
            id=row.id,
            short_id=row.short_id,
            type=row.type,
            title=row.title,
            citation=row.citation,
            content=row.content,
            confidence=row.confidence,
            confidence_in_use=round(confidence_in_use(row, self._now, about), 4),  # further digits change from one read to the next
            importance=row.importance,
            strength=row.strength,
            source=row.source,
            trust=SOURCES[row.source].trust,
            scope=row.scope,
            visibility=row.visibility,
            status=row.status,
            needs_review=row.needs_review,
            user_verified=row.user_verified,
            disputed=row.disputed,
            contaminated=row.contaminated,
            tags=list(row.tags),
            created_at=_iso(row.created_at),
            updated_at=_iso(row.updated_at),
            last_accessed_at=_iso(row.last_accessed_at),
            valid_from=_iso(row.valid_from),
            valid_to=_iso(row.valid_to),
            stale_at=_iso(row.stale_at),
            deprecated_at=_iso(row.deprecated_at),
            injected_count=row.injected_count,
            used_count=row.used_count,
            confirmed_count=row.confirmed_count,
            origin=row.origin,
            half_life_days=half_life_of(row),
            commit_sha=row.commit_sha or "",
            work_unit=_json(row.work_unit),
            details=_json(row.details),
            files=sorted({self.name(link) for link in about if link.label == "File"}),
            about=[self._anchor(link) for link in about],
            relations=relations,
            sessions=[one.session_id for one in self._index.learnt(row.id)],
            aliases=self._aliases(row, relations),
            embedded=vector,
            branches=self._branches(row, gone=any(map(_is_gone, about))),
        )

    def name(self, link: AboutRow) -> str:
        """Return the name of the code that a memory is linked to.

        For example `shop/cart.py` for a file, and `shop/cart.py:Cart.total` for a symbol. If the name is unknown, the result is the id of
        the code.
        """
        if self._view is not None and link.target_id in self._view.index_of:
            node = self._view.index_of[link.target_id]
            return self._view.path(node) if link.label == "File" else self._view.info(node).ref
        return self._index.path_of(link.target_id) or self._paths().get(link.target_id) or link.target_id

    def _anchor(self, link: AboutRow) -> MemoryAnchor:
        return MemoryAnchor(
            link.target_id, link.label, self.name(link), link.role, link.confidence, str(link.anchor), link.commit_sha or ""
        )

    def _relations(self, row: MemoryRow) -> list[MemoryRelation]:
        found: list[MemoryRelation] = []
        for link in self._index.relates(row.id):
            other = self._index.row(link.dst if link.src == row.id else link.src)
            if other is not None:
                found.append(
                    MemoryRelation(
                        other.id, other.short_id, other.title, other.status, link.kind, link.src == row.id, link.confidence, link.auto
                    )
                )
        return found

    def _aliases(self, row: MemoryRow, relations: list[MemoryRelation]) -> list[str]:
        versions = self._index.rows(
            one.id for one in relations if one.kind == "derived_from" and one.outgoing and one.status == "superseded"
        )
        return sorted(one.id for one in versions.values() if one.fingerprint == row.fingerprint)


def _is_gone(link: AboutRow) -> bool:
    return link.anchor == Anchor.ORPHANED.value


def _iso(moment: datetime | None) -> str:
    return "" if moment is None else moment.isoformat()


def _json(text: str | None) -> dict[str, Any] | None:
    return None if not text else json.loads(text)
