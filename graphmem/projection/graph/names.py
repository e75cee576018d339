"""Look-ups in the in-memory copy of the code graph, by path and by name.

A result that is a node is its number in the graph.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache, cached_property
from typing import Final, NamedTuple

import numpy as np

from graphmem.answers import FileInfo
from graphmem.projection.graph.arrays import I32, SYMBOL, pointers
from graphmem.projection.graph.file_names import FileNames
from graphmem.projection.graph.lookups import StringLookup
from graphmem.projection.graph.nodes import GraphNodes
from graphmem.runtime.arrow import computed
from graphmem.runtime.data.conventions import all_conventions
from graphmem.runtime.data.text_only import LANGUAGE, text_only_files

_TEST_FOLDERS: Final = frozenset({"test", "tests", "spec", "test-data"})  # by convention of most languages
_MOST_FILES: Final = 4_000  # files whose symbols are kept as lists: about 5 MB


@cache
def _test_folders() -> frozenset[str]:
    known = all_conventions()
    return _TEST_FOLDERS | known.test_folders | known.fixture_folders | known.snapshot_folders


class Unresolved(NamedTuple):
    """A call whose target is unknown, with its position and the reason."""

    caller: int  # node; -1 when the graph lacks it
    name: str
    path: str
    line: int
    reason: str


class FileSymbols(NamedTuple):
    """The symbols of a file as plain lists, which are fast to scan.

    Each list has one entry for each symbol. The order is by start line; a symbol comes before those inside it.
    """

    nodes: list[int]
    starts: list[int]
    ends: list[int]
    kinds: list[int]
    parents: list[int]  # the enclosing node of each; -1 without one


class GraphNames(GraphNodes):
    """The methods of a code graph that find files and symbols, also by name."""

    @cached_property
    def _of_path(self) -> tuple[I32, I32]:
        """Return two arrays from which the symbols of each file can be read.

        The first array has pointers into the second, which has nodes. The symbols of file i are symbols[pointers[i]:pointers[i + 1]], by
        node number. The arrays stay valid if only line numbers change.
        """
        symbols = np.flatnonzero(self.label == SYMBOL).astype(np.int32)
        path = self.path_index[symbols]
        return pointers(path, len(self.paths)), symbols[np.argsort(path, kind="stable")]

    def in_tests(self, path: str) -> bool:
        """Whether the file at a path is test code, or data for tests."""
        found = self._in_tests.get(path)
        if found is None:
            found = self._in_tests[path] = self._is_in_tests(path)
        return found

    @cached_property
    def _in_tests(self) -> dict[str, bool]:
        return {}

    def _is_in_tests(self, path: str) -> bool:
        number = self.path_number.get(path)
        ptr, symbols = self._of_path
        own = symbols[:0] if number is None else symbols[ptr[number] : ptr[number + 1]]
        return bool(self.is_test[own[:1]].any()) if len(own) else not _test_folders().isdisjoint(path.split("/")[:-1])

    def by_path(self, path: str) -> I32:
        """Return the symbols of a file by start line, enclosing symbols first.

        The result is empty for an unknown path.
        """
        number = self.path_number.get(path)
        ptr, symbols = self._of_path
        if number is None:
            return symbols[:0]
        here = symbols[ptr[number] : ptr[number + 1]]
        return here[np.lexsort((here, -self.end_line[here], self.start_line[here]))]

    def symbols_in(self, path: str) -> FileSymbols:
        """Return a file's symbols as plain lists, in the order of `by_path`.

        The lists have nodes, lines, kinds and parents. The result is cached, so the caller must not change it.
        """
        kept = self._symbols_in.get(path)
        if kept is None:
            if len(self._symbols_in) >= _MOST_FILES:
                self._symbols_in.clear()
            nodes = self.by_path(path)
            columns = (nodes, self.start_line[nodes], self.end_line[nodes], self.kind[nodes], self.parent[nodes])
            kept = self._symbols_in[path] = FileSymbols(*(column.tolist() for column in columns))
        return kept

    @cached_property
    def _symbols_in(self) -> dict[str, FileSymbols]:
        return {}

    @cached_property
    def _names(self) -> StringLookup:
        return StringLookup(self.arrays.nodes.name)

    @cached_property
    def _qualnames(self) -> StringLookup:
        return StringLookup(self.arrays.nodes.qualname)

    @cached_property
    def _unresolved_names(self) -> StringLookup:
        return StringLookup(self.arrays.unresolved.name)

    def by_name(self, name: str) -> I32:
        """Return the nodes whose name ends with the part `name`, ascending.

        For example, `get` finds `Session.get`. Symbols of the project and of packages are found, and files by their base names.
        """
        return self._names[name]

    def by_qualname(self, qualname: str) -> I32:
        """Return the symbols with a dotted name, in all files, ascending.

        For a symbol of a used package, the name includes the package: `requests.Session.get`. The result is empty for "".
        """
        return self._qualnames[qualname] if qualname else np.zeros(0, np.int32)

    def twin(self, i: int) -> int:
        """Return a symbol's position among the file's symbols of the same name.

        `i` is the node of the symbol.

        The first such symbol in the file has position 1. For example, the setter of a property is the second definition of its name.
        """
        same = [one for one in self.by_qualname(self.qualname(i)).tolist() if self.path_index[one] == self.path_index[i]]
        place = (int(self.start_line[i]), i)
        return 1 + sum((int(self.start_line[one]), one) < place for one in same)

    def names(self) -> Iterable[str]:
        """Return the distinct last parts of all names, to suggest similar names.

        For example, the last part of `Session.get` is `get`.
        """
        return self._names.words()

    @cached_property
    def file_names(self) -> FileNames:
        """Index that finds files by end of path, file name, module or directory."""
        return FileNames(self.paths)

    def file_node(self, path: str) -> int | None:
        """Return the number of a file's node; None for an unknown path."""
        number = self.path_number.get(path)
        node = -1 if number is None else int(self.arrays.paths.node[number])
        return node if node >= 0 else None

    def file_info(self, path: str) -> FileInfo | None:
        """Return a file's description for answers; None for an unknown file.

        The description has, for example, the language and the number of lines.
        """
        node, number = self.file_node(path), self.path_number.get(path, -1)
        if node is None:
            return None
        p = self.arrays.paths
        return FileInfo(
            id=self.arrays.nodes.id[node].as_py(),
            path=path,
            language=p.language[number].as_py(),
            module=p.module[number].as_py(),
            lines=int(p.lines[number]),
            size_bytes=int(p.size_bytes[number]),
            is_test=bool(self.is_test[node]),
            error_count=int(p.error_count[number]),
            diagnostic=p.diagnostic[number].as_py(),
        )

    def unresolved_named(self, name: str) -> list[Unresolved]:
        """Return the calls of `name` whose target is unknown.

        The calls are sorted by path, line and id.
        """
        rows = self._unresolved_names[name].tolist()
        u, paths = self.arrays.unresolved, self.paths
        rows.sort(key=lambda r: (u.path[r], u.line[r], r))
        return [Unresolved(int(u.caller[r]), name, paths[u.path[r]], int(u.line[r]), u.reason[r].as_py()) for r in rows]

    @cached_property
    def languages(self) -> list[str]:
        """Return the language of each file, in the order of `paths`.

        The language is "" for a path whose language is unknown.
        """
        return [sys.intern(name or "") for name in self.arrays.paths.language.to_pylist()]

    def language_of(self, path: str) -> str:
        """Return the language of a file; "" if it or its language is unknown."""
        number = self.path_number.get(path)
        return "" if number is None else self.languages[number]

    @cached_property
    def text_paths(self) -> list[str]:
        """Return the paths of files that have no grammar, ascending.

        Such a file is searched as text. Its definitions are not in the graph.
        """
        rows = zip(self.paths, self.languages, self.arrays.paths.node.tolist(), strict=True)
        return [path for path, language, node in rows if language == LANGUAGE and node >= 0]

    @cached_property
    def text_only(self) -> dict[str, int]:
        """Map each language without a grammar to its number of files, most first."""
        return dict(text_only_files(self.text_paths).most_common())

    @cached_property
    def failed_paths(self) -> list[str]:
        """Return the files that could not be parsed completely, ascending."""
        columns = self.arrays.paths
        failed = np.asarray(computed("not_equal", columns.diagnostic, ""), dtype=np.bool_) | (columns.error_count > 0)
        return [self.paths[number] for number in np.flatnonzero(failed & (columns.node >= 0)).tolist()]

    @cached_property
    def failures(self) -> dict[str, str]:
        """Map the path of each file that could not be parsed to the reason.

        Files that were parsed in part are not included.
        """
        return {path: why for path in self.failed_paths if (why := self.arrays.paths.diagnostic[self.path_number[path]].as_py())}
