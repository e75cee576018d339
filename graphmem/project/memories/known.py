"""Find the memories about the code that an answer contains.

An example is the memories about the callers that an impact report lists.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from graphmem.analysis.impact import expand
from graphmem.analysis.relations import nodes_of
from graphmem.answers import NearbyMemories
from graphmem.memory.reading.nearby import AROUND, HIT, SHOWN, TARGET, TEST, TOGETHER, WAY, Places, nearby
from graphmem.memory.texts.types import FROM_INDEX, SEEDED
from graphmem.model import file_id
from graphmem.projection.graph.arrays import FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from graphmem.answers import CoAccessHit, ImpactReport, PathAnswer
    from graphmem.knowledge import MemoryRow
    from graphmem.memory.reading.describe import BranchesOf
    from graphmem.memory.reading.nearby import Place
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.projection.graph.view import GraphView
    from graphmem.projection.memories.index import MemoryIndex

# Nearness of code around a target, and factors for the rest of an answer.
MEMBER: Final = 0.8
ENCLOSING: Final = 0.7
IN_FILE: Final = 0.6  # a memory about the file of a target
IN_TEST: Final = 0.5
IN_HIT_FILE: Final = 0.5
OF_PACKAGES: Final = frozenset({"fact", "workflow_recipe"})
MOVING: Final = 0.5  # a file that changes with the target, before its share of the changes


def _tells_more(row: MemoryRow, place: Place) -> bool:
    """Whether a memory says something specific about code in an answer.

    The result is False for a memory that was made from a manifest or CI file, if it was found only because that file changes together
    with the code. Such a memory is about the whole package, and manifests change together with most code.
    """
    return not (place.role == TOGETHER and row.source == SEEDED and row.type in OF_PACKAGES)


@dataclass(eq=False, repr=False)
class KnownCode:
    """Finds memories about the code in an answer, without a database query."""

    graph: GraphSource
    memories: Callable[[], MemoryIndex]
    now: Callable[[], datetime]
    branches: BranchesOf

    def of_impact(self, view: GraphView, report: ImpactReport, targets: Iterable[int]) -> NearbyMemories:
        """Return memories about the code in an impact report.

        `targets` are the graph nodes that the report is about. Memories about code around `targets`, and about files that change together
        with them, are included.
        """

        def put(places: Places) -> None:
            self._targets(view, places, list(targets))
            files: dict[str, tuple[float, int]] = {}
            for hits, role, factor in ((report.hits, HIT, 1.0), (report.tests, TEST, IN_TEST)):
                for hit in hits:
                    near = factor * hit.confidence / (1 + hit.depth)
                    places.put(hit.symbol.id, near, role, hit.depth)
                    if near > files.get(hit.symbol.path, (0.0, 0))[0]:
                        files[hit.symbol.path] = (near, hit.depth)
            for path, (near, steps) in files.items():
                places.put(self._file(view, path), IN_HIT_FILE * near, HIT, steps)
            self._moving(view, places, report.also_moves)

        return self._found(view, put, keeps=_tells_more)

    def of_path(self, view: GraphView, answer: PathAnswer) -> NearbyMemories:
        """Return memories about the symbols on a path, both ends included."""

        def put(places: Places) -> None:
            nodes = nodes_of(view, [answer.source.id, answer.target.id])
            self._targets(view, places, list(nodes.values()))
            for steps, step in enumerate(answer.steps[:-1], 1):
                places.put(step.dst.id, ENCLOSING, WAY, steps)
                places.put(self._file(view, step.dst.path), IN_HIT_FILE * ENCLOSING, WAY, steps)

        return self._found(view, put)

    def of_files(self, view: GraphView | None, files: Sequence[str], moving: Sequence[CoAccessHit]) -> NearbyMemories:
        """Return memories about files, the code in them, and related files.

        The related files are those in `moving`, which often change together with `files`.
        """

        def put(places: Places) -> None:
            for path in files:
                places.put(self._file(view, path), 1.0, TARGET)
                if view is not None:
                    for node in view.by_path(path):
                        places.put(view.ids[int(node)], MEMBER, AROUND)
            self._moving(view, places, moving)

        return self._found(view, put, keeps=_tells_more)

    def of_nodes(self, view: GraphView, ids: Sequence[str], limit: int = SHOWN) -> dict[str, NearbyMemories]:
        """Map each id of a symbol or file to the memories about its code.

        Memories about members of a symbol, about definitions that contain the symbol, and about its file are included. There are at most
        `limit` memories for each id. Unknown ids are left out.
        """
        return {one: self._found(view, partial(self._around, view, node), limit) for one, node in nodes_of(view, ids).items()}

    def _around(self, view: GraphView, node: int, places: Places) -> None:
        self._targets(view, places, [node])

    def of_symbol(self, view: GraphView, node: int, limit: int = SHOWN) -> NearbyMemories:
        """Return the memories that a reader of one symbol should see.

        A memory that an index run derived, for example from a commit, must be about the symbol itself. It is often linked by a word of its
        text, and would be repeated at every member of a class. Other memories may also be about code around the symbol.
        """

        def keeps(row: MemoryRow, place: Place) -> bool:
            return place.role == TARGET or row.source not in FROM_INDEX

        return self._found(view, lambda places: self._targets(view, places, [node]), limit, keeps)

    def _found(
        self,
        view: GraphView | None,
        put: Callable[[Places], None],
        limit: int = SHOWN,
        keeps: Callable[[MemoryRow, Place], bool] | None = None,
    ) -> NearbyMemories:
        index = self.memories()
        if not len(index) or view is None:
            return NearbyMemories()
        places = Places(index.anchored)
        put(places)
        return nearby(index, view, self.now(), places, limit, self.branches, keeps) if places.found else NearbyMemories()

    def _targets(self, view: GraphView, places: Places, targets: Sequence[int]) -> None:
        """Add the code that a question is about, and code around it, to `places`.

        `places` collects the symbols and files whose memories are searched, each with a weight. A target of the question gets the highest
        weight. Members of a target, symbols that contain a target, and the file of a target get a lower weight.
        """
        for node in targets:
            places.put(view.ids[node], 1.0, TARGET)
            around = int(view.parent[node])
            while around >= 0 and view.label[around] != FILE:
                places.put(view.ids[around], ENCLOSING, AROUND)
                around = int(view.parent[around])
            if view.label[node] != FILE and view.path(node):
                places.put(self._file(view, view.path(node)), IN_FILE, AROUND)
        for node in expand(view, targets):
            places.put(view.ids[node], MEMBER, AROUND)

    def _moving(self, view: GraphView | None, places: Places, moving: Iterable[CoAccessHit]) -> None:
        for one in moving:
            if one.support:
                places.put(self._file(view, one.path), MOVING * one.confidence, TOGETHER, 1)

    def _file(self, view: GraphView | None, path: str) -> str:
        node = view.file_node(path) if view is not None and path in view.path_number else None
        return view.ids[node] if view is not None and node is not None else file_id(self.graph.project, path)
