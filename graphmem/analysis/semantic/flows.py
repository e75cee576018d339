"""Flows: paths of confident calls from entry points through the system.

A breadth-first search finds every symbol within eight calls of an entry point, so each symbol is reached by a shortest path. The flow of
the entry point is the path that passes the most modules. Among equals, the longest path is chosen, then the most confident. Flows that
differ only in their entry points are joined into one flow with variants. The flow of an exported class begins at one of its public methods.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import numpy as np

from graphmem.analysis.semantic.entries import ENTRY_KINDS, MAX_STEPS, Calls, Entries
from graphmem.analysis.semantic.files import step_of
from graphmem.answers.findings import Flow
from graphmem.model import stable_id
from graphmem.projection.graph.arrays import NODE_KINDS
from graphmem.runtime.data.conventions import all_conventions

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from graphmem.analysis.semantic.modules import Modules
    from graphmem.answers import SymbolInfo
    from graphmem.answers.vocabulary import EntryKind
    from graphmem.projection.graph.view import GraphView

LEAST_STEPS: Final = 2  # one call is not a flow
VARIANTS: Final = 10
METHODS: Final = 3  # methods of an exported class that are tried, those with most calls


class _Way(NamedTuple):
    entry: int
    kind: str  # of the entry point; a method has that of its class
    rows: tuple[int, ...]
    modules: tuple[int, ...]
    confidence: float


def flows(modules: Modules, entries: Entries, kinds: Collection[str] | None = None) -> list[Flow]:
    """Return the flows (paths of calls) from entry points of given kinds.

    The flow that passes the most modules comes first. Among equals, the flow of the most used entry point comes first. If a package.json
    declares the API, flows of other exported code follow. Flows that pass the same modules as an earlier one follow later. Flows from
    examples, scripts and other code beside the product come last. With `kinds` None, entry points of all kinds except tests and fixtures
    are used. A flow is left out if it equals the last steps of another flow.
    """
    calls, module_of = Calls(modules.view), _modules_of(modules)
    starts = _Starts(modules.view, calls)
    ways = []
    for node in sorted(entries.of_kinds(kinds)):
        kind = entries.kind[node]
        of_node = (_best(modules, calls, module_of, start, kind) for start in starts.of(node, kind))
        ways += sorted((way for way in of_node if way is not None), key=lambda one: _rank(modules, entries, one))[:1]
    groups: dict[tuple[int, ...], list[_Way]] = {}
    for way in sorted(ways, key=lambda one: _rank(modules, entries, one)):
        groups.setdefault(way.rows[1:], []).append(way)
    kept = list(groups.values())
    covered: set[tuple[int, ...]] = {group[0].rows[at:] for group in kept for at in range(1, len(group[0].rows))}
    shown = [group for group in kept if group[0].rows not in covered]  # a flow that is the end of another adds nothing
    shown.sort(key=lambda group: _rank(modules, entries, group[0]))
    return [_flow(modules, entries, group) for group in _varied(modules, entries, shown)]


def _varied(modules: Modules, entries: Entries, groups: Sequence[list[_Way]]) -> list[list[_Way]]:
    """Order flows (paths of calls) so that the first pass different modules.

    `groups` has the flows, best first; each is a list of one flow and its variants. The best flow through each set of modules comes first,
    then the second best through each set, and so on. Two sorts of flows stay last. The first begin in exported code that is not in the API
    that a package.json declares. The others begin outside the product, for example in an example or a script.
    """
    number: Counter[frozenset[int]] = Counter()
    keyed = []
    for place, group in enumerate(groups):
        passed = frozenset(group[0].modules)
        keyed.append((*_rank_of_code(modules, entries, group[0]), number[passed], place))
        number[passed] += 1
    return [groups[place] for *_, place in sorted(keyed)]


def _rank_of_code(modules: Modules, entries: Entries, way: _Way) -> tuple[bool, bool]:
    """Return (begins outside the product, begins in inner code) for a flow.

    The flow `way` is a path of calls from an entry point. Code outside the product is, for example, a script or an example. Inner code is
    exported code of files that are not in the API that a package.json declares.
    """
    file = int(modules.files.file_of(np.array([way.entry], np.int32))[0])
    inner = way.kind == "export" and bool(entries.declared.any()) and not (file >= 0 and entries.declared[file])
    return bool(entries.beside[way.entry]), inner


def _rank(modules: Modules, entries: Entries, way: _Way) -> tuple[object, ...]:
    view = modules.view
    owner = int(view.parent[way.entry]) if view.kind[way.entry] == NODE_KINDS.index("method") else way.entry
    kind = ENTRY_KINDS.index(way.kind) if way.kind in ENTRY_KINDS else len(ENTRY_KINDS)
    return (
        *_rank_of_code(modules, entries, way),
        -len(set(way.modules)),
        kind,
        -int(modules.used[owner]),
        -len(way.rows),
        -way.confidence,
        view.path(way.entry),
        int(view.start_line[way.entry]),
        way.entry,
    )


class _Starts:
    """Finds the symbols at which the call chain of an entry point may begin.

    The chain, called a flow, usually begins at the entry point itself.
    """

    def __init__(self, view: GraphView, calls: Calls) -> None:
        self._view = view
        self._calls = calls
        method, owner = NODE_KINDS.index("method"), NODE_KINDS.index("class")
        self._methods: dict[int, list[int]] = {}  # public methods of each class
        hidden = all_conventions().private_prefixes
        nodes = np.flatnonzero((view.kind == method) & (view.parent >= 0))
        for node in nodes[view.kind[view.parent[nodes]] == owner].tolist():
            if not view.name(node).startswith(hidden) and not {"private", "protected"}.intersection(view.modifiers(node)):
                self._methods.setdefault(int(view.parent[node]), []).append(node)

    def of(self, entry: int, kind: str) -> list[int]:
        """Return the entry point and, for an exported class, some methods.

        The methods are the `METHODS` public ones with most calls. Programs outside the project make objects of the class and call the
        methods.
        """
        methods = self._methods.get(entry, []) if kind == "export" else []
        number = {node: len(self._calls.outside_tests.get(node, ())) for node in methods}
        return [entry, *sorted((node for node in methods if number[node]), key=lambda node: (-number[node], node))[:METHODS]]


def _best(modules: Modules, calls: Calls, module_of: Sequence[int], entry: int, kind: str) -> _Way | None:
    """Return the path of calls from a symbol through the most modules.

    The symbol is the node `entry`, an entry point of the kind `kind`. `module_of` has the position of each node's module. The result is
    None if no path has enough steps.
    """
    view = modules.view
    arrived: dict[int, tuple[int, int, int]] = {entry: (-1, -1, 0)}  # node -> (its caller, row that reached it, steps)
    front = [entry]
    for steps in range(1, MAX_STEPS + 1):
        following = []
        for node in front:
            for row, target in calls.outside_tests.get(node, ()):
                if target not in arrived:
                    arrived[target] = (node, row, steps)
                    following.append(target)
        front = following
    best: tuple[tuple[object, ...], _Way] | None = None
    passed: dict[int, tuple[tuple[int, ...], tuple[int, ...], float]] = {entry: ((), (module_of[entry],), 1.0)}
    for node, (caller, row, steps) in arrived.items():
        if row < 0:
            continue
        rows, through, confidence = passed[caller]
        here = module_of[node]
        through = through if here == through[-1] or here < 0 else (*through, here)
        rows, confidence = (*rows, row), confidence * float(view.confidence[row])
        passed[node] = rows, through, confidence
        if steps < LEAST_STEPS:
            continue
        value = (-len(set(through)), -steps, -confidence)
        if best is not None and value > best[0][:3]:
            continue
        key = (*value, view.path(node), int(view.start_line[node]), node)
        if best is None or key < best[0]:
            best = key, _Way(entry, kind, rows, through, confidence)
    return best[1] if best is not None else None


def _called(symbol: SymbolInfo) -> str:
    """Return the name of a step of a flow, as answers show it.

    For code that runs when a file is loaded, and for `main`, the name is the path of the file.
    """
    return symbol.path if symbol.qualname in ("<module>", "main") else symbol.qualname


def _modules_of(modules: Modules) -> list[int]:
    files = modules.files.file_of(np.arange(len(modules.view.path_index), dtype=np.int32))
    of_file = np.asarray(modules.of_file)
    found: list[int] = np.where(files >= 0, of_file[files] if len(of_file) else -1, -1).tolist()
    return found


def _flow(modules: Modules, entries: Entries, group: list[_Way]) -> Flow:
    view, way = modules.view, group[0]
    entry = view.info(way.entry)
    steps = [step_of(view, row) for row in way.rows]
    passed = [modules.groups[one].name for one in way.modules if one >= 0]
    return Flow(
        id=stable_id("flow", entry.id, *(step.dst.id for step in steps)),
        name=f"{_called(entry)} → {_called(steps[-1].dst)}",
        kind=cast("EntryKind", way.kind),
        entry=entry,
        steps=steps,
        modules=list(dict.fromkeys(passed)),
        confidence=round(way.confidence, 4),
        variants=[info.ref for info in view.infos([one.entry for one in group[1 : VARIANTS + 1]])] if len(group) > 1 else [],
        variant_count=len(group) - 1,
    )
