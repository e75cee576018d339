"""Show files: coloured text with links, line authors, folders."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict

import numpy as np

from graphmem.answers.source import Blame, FileSource, Folder, FolderEntry
from graphmem.errors import SymbolNotFoundError
from graphmem.explorer import highlight
from graphmem.history.blame import blame
from graphmem.projection.graph.arrays import NODE_KINDS, SYMBOL
from graphmem.runtime.texts.naming import in_project

if TYPE_CHECKING:
    from graphmem.answers.places import Occurrence
    from graphmem.project.code.positions import Positions
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.projection.graph.view import GraphView

KEPT: Final = 16
"""Files whose answers are kept."""


class _Names(TypedDict):
    """The names in a file's text, and the symbols that the names refer to.

    Both fields are tables: dicts from column names to equally long lists.
    """

    names: dict[str, list[Any]]  # the column `ref` has the row number of the name's symbol in `refs`
    refs: dict[str, list[Any]]


@dataclass(eq=False, repr=False)
class Sources:
    """Returns the text of a file, its authors, or the contents of a folder."""

    graph: GraphSource
    positions: Positions
    _kept: dict[tuple[int, str, int], FileSource] = field(default_factory=dict, init=False)
    _files: tuple[int, list[tuple[str, int, bool]]] = field(default=(-1, []), init=False)  # of a generation

    def file_source(self, file: str) -> FileSource:
        """Return the text of a file, coloured and with links.

        See `CodeOperations.file_source`.

        Raises:
            SymbolNotFoundError: the file is not in the index.
        """
        read = self.positions.read(file)
        key = (self.graph.view().generation, read.path, hash(read.text))
        kept = self._kept.get(key)
        if kept is not None:
            return kept
        found = self.positions.occurrences(file).occurrences
        if read.is_stale:  # what moved since then would be a wrong link
            found = [one for one in found if one.text == one.symbol.name]
        lengths, kinds, note = highlight.tokens(read.text, read.path, read.language)
        columns = {"kinds": list(highlight.KINDS), "tokens": {"length": lengths, "kind": kinds}, **_names(found)}
        made = self._kept[key] = FileSource(read.path, read.language, read.text, columns, read.is_stale, read.note or note)
        for old in list(self._kept)[:-KEPT]:
            self._kept.pop(old, None)
        return made

    def blame(self, file: str) -> Blame:
        """Return who last changed each line of a file.

        See `HistoryOperations.blame`.

        Raises:
            SymbolNotFoundError: the file is not in the index.
        """
        return blame(Path(self.graph.root_path), self.positions.read(file).path)

    def folder(self, path: str = "") -> Folder:
        """Return the contents of a folder.

        See `CodeOperations.folder`.

        Raises:
            SymbolNotFoundError: no indexed file is below the path.
        """
        view = self.graph.view()
        place = in_project(path, self.graph.root_path).removeprefix("./").rstrip("/")
        inside = f"{place}/" if place else ""
        below: dict[str, list[tuple[str, int, bool]]] = {}
        for one in self._all(view):
            if one[0].startswith(inside):
                below.setdefault(one[0][len(inside) :].partition("/")[0], []).append(one)
        if not below and place:
            raise SymbolNotFoundError(
                f"the index has no file in {place!r}; check the path, or run `graphmem index`", ref=path, suggestions=[]
            )
        entries = [_entry(inside, name, held) for name, held in below.items()]
        entries.sort(key=lambda one: (not one.is_folder, one.name.lower(), one.name))
        return Folder(place, entries, self.graph.state())

    def _all(self, view: GraphView) -> list[tuple[str, int, bool]]:
        """Return all files as (path, number of symbols, whether it has tests)."""
        generation, files = self._files
        if generation != view.generation:
            module = NODE_KINDS.index("module")
            own = (view.label == SYMBOL) & (view.kind != module) & (view.path_index >= 0)
            symbols = np.bincount(view.path_index[own], minlength=len(view.paths))
            tests = np.bincount(view.path_index[own & view.is_test_case], minlength=len(view.paths))
            files = [(path, int(symbols[i]), bool(tests[i])) for i, path in enumerate(view.paths) if view.file_node(path) is not None]
            self._files = (view.generation, files)
        return files


def _entry(inside: str, name: str, held: list[tuple[str, int, bool]]) -> FolderEntry:
    path = inside + name
    if len(held) == 1 and held[0][0] == path:
        return FolderEntry(name, path, False, 1, held[0][1], held[0][2])
    while True:  # a folder that only holds one folder
        nexts = {one[0][len(path) + 1 :].partition("/")[::2] for one in held}
        names = {first for first, _ in nexts}
        if len(names) > 1 or any(not rest for _, rest in nexts):
            break
        path = f"{path}/{names.pop()}"
    return FolderEntry(path[len(inside) :], path, True, len(held), sum(one[1] for one in held), all(one[2] for one in held))


def _names(found: list[Occurrence]) -> _Names:
    """Return the positions of names in a file, and the symbols they refer to."""
    place: dict[str, int] = {}
    refs: dict[str, list[Any]] = {"ref": [], "kind": [], "signature": []}
    names: dict[str, list[Any]] = {"line": [], "column": [], "end": [], "role": [], "ref": []}
    for one in found:
        symbol = one.symbol
        if symbol.ref not in place:
            place[symbol.ref] = len(place)
            refs["ref"].append(symbol.ref)
            refs["kind"].append(symbol.kind)
            refs["signature"].append(symbol.signature[:200])
        names["line"].append(one.range.line)
        names["column"].append(one.range.utf16_column)
        names["end"].append(one.range.utf16_end_column)
        names["role"].append(one.role)
        names["ref"].append(place[symbol.ref])
    return {"names": names, "refs": refs}
