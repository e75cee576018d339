"""List the symbols of a file with counts of callers, tests and memories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from graphmem.analysis.direct_users import direct_users
from graphmem.answers import SymbolInfo
from graphmem.answers.outline import FileOutline, OutlineEntry
from graphmem.errors import BadInputError, SymbolNotFoundError
from graphmem.knowledge import is_held
from graphmem.memory.texts.types import LIVE_STATUSES, TRAPS
from graphmem.model import SymbolKind, symbol_id
from graphmem.parsing.contents import language_of
from graphmem.parsing.language import language_spec, languages
from graphmem.parsing.sources import source_of
from graphmem.projection.graph.arrays import NODE_KINDS, SYMBOL
from graphmem.runtime.texts.naming import in_project

if TYPE_CHECKING:
    from graphmem.answers import MemoryInfo
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.project.graph.graph_source import GraphSource

MAX_TEXT: Final = 1_000_000  # characters of a file that the index lacks


@dataclass(eq=False, repr=False)
class Outlines:
    """Lists the symbols of a file, with counts for each symbol.

    The counts are of callers, tests and memories.
    """

    graph: GraphSource
    book: MemoryRepository

    def outline(self, path: str, text: str | None = None) -> FileOutline:
        """List the symbols of a file with their callers, tests and memories.

        See `CodeOperations.outline`.

        Raises:
            SymbolNotFoundError: the file is not in the index, and `text` is None.
            BadInputError: `text` is too long.
        """
        view = self.graph.view()
        place = in_project(path, self.graph.root())
        if view.file_node(place) is None and text is not None:
            return FileOutline(place, [OutlineEntry(one, 0, 0, 0, 0, []) for one in self._drafted(place, text)], self.graph.state())
        if view.file_node(place) is None:
            raise SymbolNotFoundError(
                f"the index has no file or directory {place}; check the path, or run `graphmem index`", ref=path, suggestions=[]
            )
        nodes = [node for node in view.by_path(place).tolist() if view.label[node] == SYMBOL and NODE_KINDS[view.kind[node]] != "module"]
        nodes.sort(key=lambda node: (view.start_line[node], -view.end_line[node], node))
        entries = []
        for node, info in zip(nodes, view.infos(nodes) if nodes else [], strict=True):
            users = direct_users(view, node, in_order=False)
            about = self._memories_of(info.id)
            suspect = [f"#{one.short_id} {one.title}" for one in about if _is_suspect(one, info.id)]
            traps = sum(one.type in TRAPS for one in about)
            entries.append(OutlineEntry(info, len(users.callers), len(users.tests), len(about), traps, suspect, len(users.users)))
        return FileOutline(place, entries, self.graph.state())

    def _drafted(self, path: str, text: str) -> list[SymbolInfo]:
        """Return the symbols of a file that is not indexed, by parsing `text`."""
        if len(text) > MAX_TEXT:
            raise BadInputError(
                f"the text of the file has {len(text):,} characters, which is too many; send at most {MAX_TEXT:,} characters",
                argument="text",
            )
        data = text.encode("utf-8", "replace")
        language = language_of(path, data)
        if language not in languages():
            return []
        from graphmem.parsing.extract import extract

        facts = extract(path, source_of(path, data, language).text, language, "")
        is_test = language_spec(language).tests.is_test_path(path)
        return [
            SymbolInfo(
                symbol_id(self.graph.project, path, one.qualname, one.kind, one.ordinal),
                SymbolKind(one.kind).value,
                one.name,
                one.qualname,
                path,
                one.start_line,
                one.end_line,
                one.signature,
                is_test,
            )
            for one in facts.definitions[1:]
        ]

    def _memories_of(self, node_id: str) -> list[MemoryInfo]:
        """Return memories in use about a symbol or a file.

        `node_id` is the id of the symbol or file. Superseded and deprecated memories are left out, and so are those that wait for a
        person's review.
        """
        index = self.book.index()
        rows = (index.row(one) for one in index.about_target(node_id))
        describe = self.book.describer().info
        found = [describe(row) for row in rows if row is not None and row.status in LIVE_STATUSES]
        return [one for one in found if not is_held(one)]


def _is_suspect(memory: MemoryInfo, node_id: str) -> bool:
    return any(one.id == node_id and one.anchor == "suspect" for one in memory.about)
