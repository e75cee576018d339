"""Flows: paths of confident calls from entry points through the system.

A breadth-first search finds every symbol within eight calls of an entry point, so each symbol is reached by a shortest path. The flow of
the entry point is the path that passes the most modules. Among equals, the longest path is chosen, then the most confident. Flows that
differ only in their entry points are joined into one flow with variants.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, cast

import numpy as np

from graphmem.analysis.semantic.entries import ENTRY_KINDS, MAX_STEPS, Calls, Entries
from graphmem.analysis.semantic.files import step_of
from graphmem.answers.findings import Flow
from graphmem.model import stable_id

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from graphmem.analysis.semantic.modules import Modules
    from graphmem.answers import SymbolInfo
    from graphmem.answers.vocabulary import EntryKind

LEAST_STEPS: Final = 2  # one call is not a flow
VARIANTS: Final = 10


class _Way(NamedTuple):
    entry: int
    rows: tuple[int, ...]
    modules: tuple[int, ...]
    confidence: float


def flows(modules: Modules, entries: Entries, kinds: Collection[str] | None = None) -> list[Flow]:
    """Return the flows (paths of calls) from entry points of given kinds.

    The flow that passes the most modules comes first; flows from examples, scripts and other code beside the product come last. With
    `kinds` None, entry points of all kinds except tests and fixtures are used. A flow is left out if it equals the last steps of another
    flow.
    """
    calls, module_of = Calls(modules.view), _modules_of(modules)
    ways = [way for node in sorted(entries.of_kinds(kinds)) if (way := _best(modules, calls, module_of, node)) is not None]
    groups: dict[tuple[int, ...], list[_Way]] = {}
    for way in sorted(ways, key=lambda one: _rank(modules, entries, one)):
        groups.setdefault(way.rows[1:], []).append(way)
    kept = list(groups.values())
    covered: set[tuple[int, ...]] = {group[0].rows[at:] for group in kept for at in range(1, len(group[0].rows))}
    shown = [group for group in kept if group[0].rows not in covered]  # a flow that is the end of another adds nothing
    return [_flow(modules, entries, group) for group in sorted(shown, key=lambda group: _rank(modules, entries, group[0]))]


def _rank(modules: Modules, entries: Entries, way: _Way) -> tuple[object, ...]:
    view = modules.view
    kind = ENTRY_KINDS.index(entries.kind[way.entry]) if entries.kind[way.entry] in ENTRY_KINDS else len(ENTRY_KINDS)
    beside = bool(entries.beside[way.entry])
    return (
        beside,
        -len(set(way.modules)),
        kind,
        -len(way.rows),
        -way.confidence,
        view.path(way.entry),
        int(view.start_line[way.entry]),
        way.entry,
    )


def _best(modules: Modules, calls: Calls, module_of: Sequence[int], entry: int) -> _Way | None:
    """Return the path of calls from an entry point through the most modules.

    The result is None if no path has enough steps.
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
            best = key, _Way(entry, rows, through, confidence)
    return best[1] if best is not None else None


def _called(symbol: SymbolInfo) -> str:
    """Return the name of a step of a flow, as answers show it.

    For code that runs when a file is loaded, the name is the path of the file.
    """
    return symbol.path if symbol.qualname == "<module>" else symbol.qualname


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
        kind=cast("EntryKind", entries.kind[way.entry]),
        entry=entry,
        steps=steps,
        modules=list(dict.fromkeys(passed)),
        confidence=round(way.confidence, 4),
        variants=[info.ref for info in view.infos([one.entry for one in group[1 : VARIANTS + 1]])] if len(group) > 1 else [],
        variant_count=len(group) - 1,
    )
