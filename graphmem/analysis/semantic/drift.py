"""Architecture drift: changes of the structure between two states.

Modules, dependencies, cycles and the interfaces of files are compared. Both states have the modules of the newer one (see `carried`), so
that only changes of the code are reported, and no changes of the division into modules.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from graphmem.analysis.diff import declared
from graphmem.analysis.semantic.beside import is_made, made_folders
from graphmem.analysis.semantic.dead import offered
from graphmem.answers.semantic import ApiChange, DependencyChange, Drift, ModuleChange
from graphmem.projection.graph.arrays import FUNCTION_CODES, NODE_KINDS, SYMBOL

if TYPE_CHECKING:
    from graphmem.analysis.semantic.entries import Entries
    from graphmem.analysis.semantic.modules import Modules
    from graphmem.answers.modules import Cycle
    from graphmem.projection.graph.view import GraphView

FILES: Final = 20  # listed files that joined or left a module
CHANGES: Final = 500  # listed changes of definitions
NAMED: Final = 3  # members of a cycle that a note names
SITES: Final = 5  # listed new edges of a dependency
NOTICEABLE: Final = 0.1  # smaller relative changes of a dependency's weight are not reported


class State(NamedTuple):
    """Modules and entry points of a project at one time, to compare states."""

    modules: Modules
    entries: Entries


def compare(base: str, head: str, old: State, new: State) -> Drift:
    """Return the changes of the architecture from an old to a new state.

    Args:
        base: name of the old state.
        head: name of the new state.
        old: old state, divided into the modules of `new`.
        new: new state.
    """
    dependencies, small = _dependencies(old.modules, new.modules)
    api = _api(old.entries, new.entries)
    notes = []
    if small:
        left_out = (
            "1 dependency is left out, because its number" if small == 1 else f"{small:,} dependencies are left out, because their number"
        )
        notes.append(f"{left_out} of edges changed by less than a tenth")
    if len(api) > CHANGES:
        notes.append(f"{len(api) - CHANGES:,} more changed definitions are counted, not listed")
    notes += _grown(_cycles(old.modules), _cycles(new.modules))
    counts = Counter(one.change for one in api)
    return Drift(
        base=base,
        head=head,
        modules=_modules(old.modules, new.modules),
        dependencies=dependencies,
        new_cycles=_only_in(_cycles(new.modules), _cycles(old.modules)),
        resolved_cycles=_only_in(_cycles(old.modules), _cycles(new.modules)),
        api=api[:CHANGES],
        api_counts={change: counts[change] for change in ("removed", "signature", "moved", "added") if counts[change]},
        modularity_before=old.modules.modularity,
        modularity_after=new.modules.modularity,
        notes=notes,
    )


def _modules(old: Modules, new: Modules) -> list[ModuleChange]:
    """Return modules that only one state has, or that have other files now."""
    before = {group.id: group for group in old.groups}
    after = {group.id: group for group in new.groups}
    found = []
    for key in sorted(before.keys() | after.keys()):
        was = set(before[key].paths) if key in before else set()
        now = set(after[key].paths) if key in after else set()
        if was == now:
            continue
        name = after[key].name if key in after else before[key].name
        change = "added" if not was else "removed" if not now else "changed"
        found.append(ModuleChange(name, change, len(was), len(now), sorted(now - was)[:FILES], sorted(was - now)[:FILES]))
    return sorted(found, key=lambda one: (("added", "removed", "changed").index(one.change), one.name))


def _dependencies(old: Modules, new: Modules) -> tuple[list[DependencyChange], int]:
    """Return the added, removed and changed dependencies between modules.

    They are sorted by the kind of change (added, removed, heavier, lighter), then by the size of the change, the largest first. The places
    in the code that a dependency lists are those of its new edges. The second value is the number of dependencies whose change is too small
    to list.
    """
    before = {(one.src_name, one.dst_name): one for one in old.dependencies}
    after = {(one.src_name, one.dst_name): one for one in new.dependencies}
    rows = {(new.groups[a].name, new.groups[b].name): found for (a, b), found in new.between.items()}
    known = _ends(old)
    found, small = [], 0
    for pair in sorted(before.keys() | after.keys()):
        was = before[pair].weight if pair in before else 0
        now = after[pair].weight if pair in after else 0
        if was == now:
            continue
        if was and now and abs(now - was) < NOTICEABLE * max(was, now):
            small += 1
            continue
        change = "added" if not was else "removed" if not now else "heavier" if now > was else "lighter"
        came = [row for row in rows[pair].tolist() if _end(new.view, row) not in known] if now > was else []
        sites = new.files.evidence(came, SITES)
        found.append(DependencyChange(*pair, change, was, now, sites))
    return sorted(found, key=lambda one: (_DEPENDENCY.index(one.change), -abs(one.after - one.before), one.src, one.dst)), small


def _ends(modules: Modules) -> set[tuple[str, str, str]]:
    """Return (source id, target id, kind) of each edge between two modules."""
    return {_end(modules.view, row) for rows in modules.between.values() for row in rows.tolist()}


def _end(view: GraphView, row: int) -> tuple[str, str, str]:
    return view.ids[view.src[row]], view.ids[view.dst[row]], view.kind_of(row)


_DEPENDENCY: Final = ("added", "removed", "heavier", "lighter")


def _cycles(modules: Modules) -> list[Cycle]:
    return [*modules.module_cycles, *modules.file_cycles]


def _only_in(cycles: list[Cycle], others: list[Cycle]) -> list[Cycle]:
    """Return the cycles that exist only in `cycles`, not in `others`."""
    return [one for one in cycles if _same(one, others) is None]


def _same(cycle: Cycle, others: list[Cycle]) -> Cycle | None:
    """Return the one of `others` that is the same cycle, or None.

    At least half of the members of the smaller cycle are in the other one.
    """

    def shared(other: Cycle) -> int:
        return len(set(cycle.members) & set(other.members))

    alike = [one for one in others if one.level == cycle.level and shared(one) * 2 >= min(len(cycle.members), len(one.members))]
    return max(alike, key=shared, default=None)


def _grown(old: list[Cycle], new: list[Cycle]) -> list[str]:
    """Return a sentence on each dependency cycle that got or lost members.

    `old` and `new` are the cycles of the older and of the newer state.
    """
    notes = []
    for one in new:
        was = _same(one, old)
        if was is None:
            continue
        moves = [(sorted(set(one.members) - set(was.members)), "joined it"), (sorted(set(was.members) - set(one.members)), "left it")]
        told = [f"{_some(names)} {verb}" for names, verb in moves if names]
        if told:
            notes.append(f"a cycle has {len(one.members):,} {one.level} after {len(was.members):,}: {'; '.join(told)}")
    return notes


def _some(names: list[str]) -> str:
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _api(old: Entries, new: Entries) -> list[ApiChange]:
    """Return definitions of interfaces that are new, gone, moved or changed.

    An interface has the public definitions of the project, and those that other files use. A definition is changed if its signature is.
    Public definitions come first, then breaking changes; then the order is by path and line.
    """
    before, after = _definitions(old), _definitions(new)
    ours, theirs = _interface(old), _interface(new)
    outside = {key for nodes, offers in ((before, offered(old)), (after, offered(new))) for key, node in nodes.items() if offers[node]}
    gone = {key: before[key] for key in before.keys() - after.keys() if ours[before[key]]}
    came = {key: after[key] for key in after.keys() - before.keys() if theirs[after[key]]}
    found = []
    by_body: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for key in sorted(gone):
        by_body.setdefault((key[1], old.view.body_hash(gone[key])), []).append(key)
    for key in sorted(came):
        twins = by_body.get((key[1], new.view.body_hash(came[key])))
        if twins and new.view.body_hash(came[key]):
            was = twins.pop(0)
            found.append(ApiChange(new.view.info(came.pop(key)), "moved", f"{was[0]}:{was[1]}", key in outside))
            del gone[was]
    found += [ApiChange(old.view.info(node), "removed", old.view.signature(node), key in outside) for key, node in gone.items()]
    found += [ApiChange(new.view.info(node), "added", "", key in outside) for key, node in came.items()]
    for key in before.keys() & after.keys():
        was_signature = old.view.signature(before[key])
        kind = NODE_KINDS[new.view.kind[after[key]]]
        if not (ours[before[key]] or theirs[after[key]]):
            continue
        if declared(kind, was_signature) != declared(kind, new.view.signature(after[key])):
            found.append(ApiChange(new.view.info(after[key]), "signature", was_signature, key in outside))
    order = ("removed", "signature", "moved", "added")
    return sorted(
        found,
        key=lambda one: (not one.public, order.index(one.change), one.symbol.path, one.symbol.start_line, one.symbol.qualname),
    )


def _definitions(entries: Entries) -> dict[tuple[str, str], int]:
    """Map (path, qualname) to the node of each definition outside tests.

    If several definitions have the same path and qualname, the one that begins first in the file is kept.
    """
    view = entries.view
    found: dict[tuple[str, str], int] = {}
    for node in np.flatnonzero((view.label == SYMBOL) & (view.parent >= 0) & ~view.is_test).tolist():
        key = (view.path(node), view.qualname(node))
        if key not in found or view.start_line[node] < view.start_line[found[key]]:
            found[key] = node
    return found


def _interface(entries: Entries) -> npt.NDArray[np.bool_]:
    """Return which nodes are definitions that other files rely on, shape (n,).

    They are the public API, entry points, and functions and types that another file outside tests uses. Variables are considered only as
    public API. Definitions inside functions, and code that nobody edits, such as migrations and generated files, are left out.
    """
    view, files = entries.view, entries.files
    rows = files.rows[~files.is_test[files.file_of(view.src[files.rows])]]
    used = np.zeros(view.n, np.bool_)
    used[view.dst[rows]] = True
    used[list(entries.of_kinds(None))] = True
    found: npt.NDArray[np.bool_] = offered(entries) | (used & (view.parent >= 0) & (view.kind != NODE_KINDS.index("variable")))
    parts = [path.rpartition("/") for path in view.paths]
    local = (view.parent >= 0) & np.isin(view.kind[np.maximum(view.parent, 0)], list(FUNCTION_CODES))
    made = np.array(
        [*(is_made(name) or not made_folders().isdisjoint(above.lower().split("/")) for above, _, name in parts), False], np.bool_
    )
    return found & ~made[view.path_index] & ~local
