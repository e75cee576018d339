"""Architecture drift: changes of the structure between two states.

Modules, dependencies, cycles and the public API are compared. Modules of the older state are matched to the newer modules, so a module that
exists in both has one name.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphmem.analysis.diff import declared
from graphmem.analysis.semantic.dead import offered
from graphmem.answers.semantic import ApiChange, DependencyChange, Drift, ModuleChange
from graphmem.projection.arrays import NODE_KINDS

if TYPE_CHECKING:
    from graphmem.analysis.semantic.entries import Entries
    from graphmem.analysis.semantic.modules import Modules
    from graphmem.answers.modules import Cycle

FILES: Final = 20  # listed files that joined or left a module
CHANGES: Final = 500  # listed changes of the public API
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
        old: old state; its modules took over names and ids from the modules of `new`.
        new: new state.
    """
    dependencies, small = _dependencies(old.modules, new.modules)
    api = _api(old.entries, new.entries)
    notes = []
    if small:
        notes.append(f"{small:,} dependencies are left out, because their number of edges changed by less than a tenth")
    if len(api) > CHANGES:
        notes.append(f"{len(api) - CHANGES:,} more changes of the public API are counted, not listed")
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
    """Return modules that were added or removed, or have other files now."""
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

    They are sorted by the kind of change (added, removed, heavier, lighter), then by the size of the change, the largest first. The second
    value is the number of dependencies whose change is too small to list.
    """
    before = {(one.src_name, one.dst_name): one for one in old.dependencies}
    after = {(one.src_name, one.dst_name): one for one in new.dependencies}
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
        sites = after[pair].sites if not was else []
        found.append(DependencyChange(*pair, change, was, now, sites))
    return sorted(found, key=lambda one: (_DEPENDENCY.index(one.change), -abs(one.after - one.before), one.src, one.dst)), small


_DEPENDENCY: Final = ("added", "removed", "heavier", "lighter")


def _cycles(modules: Modules) -> list[Cycle]:
    return [*modules.module_cycles, *modules.file_cycles]


def _only_in(cycles: list[Cycle], others: list[Cycle]) -> list[Cycle]:
    """Return the cycles that exist only in `cycles`, not in `others`.

    A cycle also exists in `others` if all its members are in one cycle of `others`.
    """
    return [one for one in cycles if not any(one.level == other.level and set(one.members) <= set(other.members) for other in others)]


def _api(old: Entries, new: Entries) -> list[ApiChange]:
    """Return public definitions that are new, gone, moved or changed.

    A definition is changed if its signature is. Breaking changes come first; then the order is by path and line.
    """
    before, after = _public(old), _public(new)
    gone = {key: before[key] for key in before.keys() - after.keys()}
    came = {key: after[key] for key in after.keys() - before.keys()}
    found = []
    by_body: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for key in sorted(gone):
        by_body.setdefault((key[1], old.view.body_hash(gone[key])), []).append(key)
    for key in sorted(came):
        twins = by_body.get((key[1], new.view.body_hash(came[key])))
        if twins and new.view.body_hash(came[key]):
            was = twins.pop(0)
            found.append(ApiChange(new.view.info(came.pop(key)), "moved", f"{was[0]}:{was[1]}"))
            del gone[was]
    found += [ApiChange(old.view.info(node), "removed", old.view.signature(node)) for node in gone.values()]
    found += [ApiChange(new.view.info(node), "added", "") for node in came.values()]
    for key in before.keys() & after.keys():
        was_signature = old.view.signature(before[key])
        kind = NODE_KINDS[new.view.kind[after[key]]]
        if declared(kind, was_signature) != declared(kind, new.view.signature(after[key])):
            found.append(ApiChange(new.view.info(after[key]), "signature", was_signature))
    order = ("removed", "signature", "moved", "added")
    return sorted(found, key=lambda one: (order.index(one.change), one.symbol.path, one.symbol.start_line, one.symbol.qualname))


def _public(entries: Entries) -> dict[tuple[str, str], int]:
    """Map (path, qualname) to the node of each public definition.

    A public definition is one that external code may use. If several definitions have the same path and qualname, the one that begins first
    in the file is kept.
    """
    view = entries.view
    found: dict[tuple[str, str], int] = {}
    for node in np.flatnonzero(offered(entries)).tolist():
        key = (view.path(node), view.qualname(node))
        if key not in found or view.start_line[node] < view.start_line[found[key]]:
            found[key] = node
    return found
