"""Find the occurrences of symbols in the text of one file."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import numpy as np

from graphmem.project.code.qualifiers import qualifiers
from graphmem.projection.graph.arrays import CLASS_CODES, NODE_KINDS, SYMBOL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from graphmem.answers.vocabulary import EdgeKind, OccurrenceRole
    from graphmem.projection.graph.view import GraphView
    from graphmem.runtime.texts.places import Written

WORD: Final = re.compile(r"[\w$]+")


class NamePlace(NamedTuple):
    """The place of a name in a file's text."""

    line: int
    column: int
    length: int


class FoundName(NamedTuple):
    """A name in the text of a file, and the symbols to which it may refer.

    The most likely symbol is the first of `nodes`.
    """

    place: NamePlace
    role: OccurrenceRole
    nodes: list[int]
    confidence: float
    kinds: list[EdgeKind]
    enclosing: int  # -1 outside any definition


def occurrences_in(view: GraphView, path: str, written: list[Written], lines: Sequence[str]) -> list[FoundName]:
    """Return all names in a file with their symbols, sorted by position.

    If a position has a definition and a use, only the definition is returned. A class or module that is written before its member, such as
    `Color` in `Color.RED`, is included.

    Args:
        view: the graph, which has the definitions.
        path: path of the file.
        written: positions of uses and imports, as the index stored them.
        lines: the current lines of the file.
    """
    found: dict[NamePlace, FoundName] = {}
    around = enclosing_by_line(view, path)
    for place, node in _definitions(view, path, lines):
        found.setdefault(place, FoundName(place, "definition", [node], 1.0, [], _parent(view, node)))
    aliases: dict[str, list[int]] = {}
    places: dict[NamePlace, list[Written]] = defaultdict(list)
    for one in written:
        places[NamePlace(one.line, one.column, one.length)].append(one)
    # Imports first: their names tell which of several targets an alias means.
    for place, here in sorted(places.items(), key=lambda item: (item[1][0].kind != "IMPORTS", item[0])):
        text = text_at(lines, place)
        is_import = any(one.kind == "IMPORTS" for one in here)
        nodes = _candidates(view, text, here, [] if is_import else aliases.get(text, []))
        if not nodes:
            continue
        if is_import:
            aliases[text] = [node for node, _ in nodes]
        role: OccurrenceRole = "import" if is_import else "use"
        kinds = [] if is_import else sorted({cast("EdgeKind", one.kind) for one in here})
        enclosing = int(around[place.line]) if place.line < len(around) else -1
        found.setdefault(place, FoundName(place, role, [node for node, _ in nodes], nodes[0][1], kinds, enclosing))
    bound = {**aliases, **_own_classes(view, path)}
    for member in list(found.values()):
        line = lines[member.place.line - 1] if member.place.line <= len(lines) else ""
        for column, name, node in qualifiers(view, line, member.place.column, member.nodes[0], bound):
            place = NamePlace(member.place.line, column, len(name))
            found.setdefault(
                place, FoundName(place, "import" if member.role == "import" else "use", [node], member.confidence, [], member.enclosing)
            )
    return [found[place] for place in sorted(found)]


def _candidates(view: GraphView, text: str, written: Sequence[Written], alias: Sequence[int]) -> list[tuple[int, float]]:
    """Return the symbols that a written name may mean, most likely first.

    Each item is (graph node, confidence). If some of the symbols have the name `text`, are in `alias`, or are imported, only these are
    returned. A constructor counts as its class. For example, the name in `Cart(total)` refers to `Cart`, not to `Cart.__init__`.

    Args:
        view: the graph.
        text: the name as written in the file.
        written: the edges that the index stored for the name.
        alias: nodes that an import in the file bound to the name.
    """
    ranked: dict[int, tuple[int, float]] = {}
    for one in written:
        node = view.index_of.get(one.target)
        if node is None:
            continue
        rank = 1
        if view.name(node) == text or node in alias:
            rank = 2
        elif (owner := _parent(view, node)) >= 0 and view.kind[owner] in CLASS_CODES and (view.name(owner) == text or owner in alias):
            node, rank = owner, 2
        elif one.kind == "IMPORTS":
            rank = 2
        ranked[node] = max(ranked.get(node, (0, 0.0)), (rank, one.percent / 100))
    best = max((rank for rank, _ in ranked.values()), default=0)
    kept = sorted((-share, view.path(node), node) for node, (rank, share) in ranked.items() if rank == best)
    return [(node, -share) for share, _, node in kept]


def _own_classes(view: GraphView, path: str) -> dict[str, list[int]]:
    """Map the name of each class in a file to its graph nodes."""
    found: dict[str, list[int]] = defaultdict(list)
    for node in map(int, view.by_path(path)):
        if view.label[node] == SYMBOL and view.kind[node] in CLASS_CODES:
            found[view.name(node)].append(node)
    return found


def _definitions(view: GraphView, path: str, lines: Sequence[str]) -> Iterator[tuple[NamePlace, int]]:
    nodes = view.arrays.nodes
    for node in map(int, view.by_path(path)):
        if view.label[node] != SYMBOL or NODE_KINDS[view.kind[node]] == "module":
            continue
        line, column = int(nodes.name_line[node]), int(nodes.name_column[node])
        name = view.name(node)
        if line <= 0:
            continue
        text = lines[line - 1] if line <= len(lines) else ""
        if not text.startswith(name, column) and (at := text.find(name, column)) >= 0:
            column = at
        yield NamePlace(line, column, len(name)), node


def enclosing_by_line(view: GraphView, path: str) -> npt.NDArray[np.int32]:
    """Return the innermost definition around each line of a file.

    Item `n` of the array is the graph node of the definition around line `n`, counted from 1; -1 if no definition is there. The array ends
    at the last line of the last definition.
    """
    nodes = [int(node) for node in view.by_path(path) if NODE_KINDS[view.kind[node]] != "module"]
    found = np.full(max((int(view.end_line[node]) for node in nodes), default=0) + 1, -1, np.int32)
    for node in sorted(nodes, key=lambda node: (view.start_line[node] - view.end_line[node], view.start_line[node], -node)):
        found[view.start_line[node] : view.end_line[node] + 1] = node
    return found


def _parent(view: GraphView, node: int) -> int:
    """Return the definition that contains `node`; -1 at module level."""
    parent = int(view.parent[node])
    return parent if parent >= 0 and view.label[parent] == SYMBOL and NODE_KINDS[view.kind[parent]] != "module" else -1


def text_at(lines: Sequence[str], place: NamePlace) -> str:
    """Return the text at a place; empty if the file has fewer lines."""
    return lines[place.line - 1][place.column : place.column + place.length] if place.line <= len(lines) else ""
