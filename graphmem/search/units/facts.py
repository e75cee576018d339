"""Facts about symbols that a search ranks, cached between searches.

The ranked items are units: a symbol, or a chunk without a symbol. The facts about a unit are its file, the words of its names, and the
definitions around it. They are cached, because many searches find the same units.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain, islice
from threading import Lock
from typing import Final, NamedTuple, TypeVar

from graphmem.model import FUNCTION_KINDS, SymbolKind
from graphmem.projection.graph.arrays import NODE_KINDS
from graphmem.projection.graph.view import GraphView
from graphmem.projection.words.entries import Entry
from graphmem.runtime.data.conventions import all_conventions
from graphmem.search.units.stems import stems_of_texts

HOLDERS: Final = frozenset({SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.ENUM})
_MOST_UNITS: Final = 20_000  # units whose facts are kept: about 15 MB
_TESTS: Final = "tests"  # name of a module of tests inside a source file
_lock: Final = Lock()
_Value = TypeVar("_Value")


class UnitFacts(NamedTuple):
    """Facts about one unit: a symbol, or a chunk without a symbol."""

    path: str
    is_test: bool  # whether it is a test or belongs to tests; False for a chunk
    is_inner: bool  # whether it is a symbol inside a function
    is_class: bool  # whether it contains other definitions, as a class does
    enclosing: tuple[str, ...]  # symbols around it, innermost first
    fields: tuple[list[str], ...]  # stems of its name, its enclosing names, its path and its file's name
    stems: frozenset[str]  # the same as a set


class Documentation(NamedTuple):
    """Stems of the first paragraph of a symbol's documentation."""

    stems: frozenset[str]
    length: int  # words


class FactsOfUnits:
    """Facts about symbols and chunks of one graph, cached between searches.

    Args:
        view: the graph.
        kept: whether facts are cached. False if chunks may come from another state of the graph.
    """

    def __init__(self, view: GraphView, *, kept: bool) -> None:
        self._view = view
        both = view.kept.setdefault("units", ({}, {})) if kept else ({}, {})
        self._facts: dict[str, UnitFacts] = both[0]
        self._docs: dict[str, Documentation] = both[1]

    def of(self, units: Collection[str], nodes: Mapping[str, int], entries: Mapping[str, Entry]) -> dict[str, UnitFacts]:
        """Return facts about units, such as names and file, by unit id.

        A unit is a symbol, or a chunk without a symbol.

        Args:
            units: ids of symbols and chunks.
            nodes: the node of each unit that is a symbol.
            entries: the word index's row of each unit that is a chunk.
        """
        known = self._facts
        found = {unit: facts for unit in units if (facts := known.get(unit)) is not None}
        if len(found) < len(units):
            texts = {unit: _texts(self._view, nodes.get(unit), entries.get(unit)) for unit in units if unit not in found}
            stems = stems_of_texts(dict.fromkeys(text for of_unit in texts.values() for text in of_unit))  # many units share a path
            fresh = {
                unit: _facts(self._view, nodes.get(unit), of_unit, tuple(map(stems.__getitem__, of_unit)))
                for unit, of_unit in texts.items()
            }
            _keep(known, fresh)
            found |= fresh
        return found

    def documentation(self, nodes: Mapping[str, int]) -> dict[str, Documentation]:
        """Return the documentation of each symbol in `nodes`, by symbol id.

        `nodes` maps symbol ids to node numbers.
        """
        known = self._docs
        found = {unit: doc for unit in nodes if (doc := known.get(unit)) is not None}
        if len(found) < len(nodes):
            texts = {unit: self._view.doc(node) for unit, node in nodes.items() if unit not in found}
            stems = stems_of_texts(texts.values())
            fresh = {unit: Documentation(frozenset(stems[text]), len(stems[text])) for unit, text in texts.items()}
            _keep(known, fresh)
            found |= fresh
        return found


def _keep(known: dict[str, _Value], fresh: Mapping[str, _Value]) -> None:
    """Add `fresh` values to the cache `known`.

    If the cache would become too large, the older half of it is dropped first.
    """
    with _lock:
        if len(known) + len(fresh) > _MOST_UNITS:
            for unit in list(islice(known, len(known) // 2)):
                del known[unit]
        known.update(fresh)


def _facts(view: GraphView, node: int | None, texts: tuple[str, str, str, str], fields: tuple[list[str], ...]) -> UnitFacts:
    """Return facts for ranking a unit: names, enclosing symbols, test or not.

    A unit is a symbol, or a chunk without a symbol. `node` is the symbol's node; None for a chunk. `texts` has the unit's name, enclosing
    names, path and file name. `fields` has the stems of each of these texts.
    """
    name, outer, path, _ = texts
    stems = frozenset(chain.from_iterable(fields))
    if node is None:
        return UnitFacts(path, False, False, False, (), fields, stems)
    enclosing = []
    ids, parents = view.ids, view.parent
    parent = around = int(parents[node])
    while around >= 0:
        enclosing.append(ids[around])
        around = int(parents[around])
    # A symbol is a test, or belongs to a file of tests. In Rust, a source file may contain a module of tests.
    is_test = bool(view.is_test[node] or view.is_test_case[node]) or name == _TESTS or (_TESTS in outer and _TESTS in outer.split("."))
    inner = parent >= 0 and kind_of(view, parent) in FUNCTION_KINDS
    return UnitFacts(path, is_test, inner, is_class(view, node), tuple(enclosing), fields, stems)


def _texts(view: GraphView, node: int | None, entry: Entry | None) -> tuple[str, str, str, str]:
    """Return (name, enclosing names, path, file name) of a unit.

    A unit is a symbol, or a chunk without a symbol. The file name has no extension. For the main file of a package, the name of the
    directory takes the place of the file name.
    """
    if node is not None:
        outer, _, name = view.qualname(node).rpartition(".")
        path = view.path(node)
    elif entry is not None:
        outer, name, path = "", ("" if entry.kind == "code" else entry.title), entry.path
    else:
        return "", "", "", ""
    folder, _, file = path.rpartition("/")
    stem = file.partition(".")[0]
    return name, outer, path, folder.rpartition("/")[2] if stem in all_conventions().folder_files and folder else stem


def is_function(view: GraphView, node: int) -> bool:
    """Whether a node is a function or a method."""
    return kind_of(view, node) in FUNCTION_KINDS


def is_class(view: GraphView, node: int) -> bool:
    """Whether a node contains other definitions, as a class does."""
    return kind_of(view, node) in HOLDERS


def kind_of(view: GraphView, node: int) -> str:
    """Return the kind of a node, such as "function"."""
    return NODE_KINDS[int(view.kind[node])]
