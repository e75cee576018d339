"""Dead code: definitions nothing seems to need, with the reason and how sure one can be.

Alive is what can be reached from where execution may begin: code that runs when a file is loaded, entry points, public API, what a
runtime calls by itself (`__enter__`), and what replaces a method of something outside. What is not reached is a candidate; each
circumstance in `DOUBTS` that speaks for a use the graph cannot see multiplies its confidence. docs/semantic.md has the precision.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from graphmem.answers_semantic import DeadSymbol
from graphmem.model import EdgeKind
from graphmem.projection.arrays import EXTERNAL, NODE_KINDS, SYMBOL
from graphmem.projection.graph import kind_mask

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from graphmem.analysis.semantic.entries import Entries
    from graphmem.projection.graph import GraphView

Bool = npt.NDArray[np.bool_]

USES: Final = (EdgeKind.CALLS, EdgeKind.REFERENCES, EdgeKind.INHERITS, EdgeKind.USES_TYPE)
CANDIDATES: Final = ("function", "method", "class", "interface", "enum")
PRIVATE: Final = 0.95  # confidence in a private definition nothing leads to
PUBLIC: Final = 0.7  # in one whose name does not forbid others to use it

# What speaks for a use that is not in the graph, and what it leaves of the confidence.
DOUBTS: Final[dict[str, tuple[float, str]]] = {
    "unresolved": (0.4, "calls of this name could not be resolved"),
    "decorated": (0.4, "a decorator may register it"),
    "mentioned": (0.5, "its name stands elsewhere in code"),
    "documented": (0.5, "its name stands in documentation or configuration"),
    "external_base": (0.6, "its class inherits from something outside"),
    "parse_errors": (0.7, "some files could not be read in full"),
}
REASONS: Final[dict[str, float]] = {"unreferenced": 1.0, "only_itself": 1.0, "only_dead": 0.9, "only_tests": 0.5}
_DECORATIONS: Final = frozenset({"property", "static", "classmethod", "abstract", "setter", "dataclass", "async", "overload"})


class Mentions(NamedTuple):
    """How often names stand in the texts of the index, definitions included."""

    code: Mapping[str, int]
    prose: Mapping[str, int]


class Dead(NamedTuple):
    """Dead definitions, and what was left out."""

    nodes: list[int]
    reason: list[str]
    spared: int  # public definitions nothing uses: code outside may


def find(entries: Entries) -> Dead:
    """Candidates by node number; the outermost only, what is inside goes with it."""
    view = entries.view
    candidate = _candidates(view)
    public = candidate & offered(entries)
    live_tests = _reached(view, _roots(entries, public, tests=True))
    live = _reached(view, _roots(entries, public, tests=False))
    used = _reached(view, _roots(entries, np.zeros(view.n, np.bool_), tests=True))
    spared = int((public & ~used).sum())
    dead = candidate & ~live
    parent = view.parent
    inner = dead & (parent >= 0) & dead[np.maximum(parent, 0)]
    chosen = np.flatnonzero(dead & ~inner).tolist()
    return Dead(chosen, [_reason(view, node, live_tests) for node in chosen], spared)


def _candidates(view: GraphView) -> Bool:
    kinds = np.isin(view.kind, [NODE_KINDS.index(kind) for kind in CANDIDATES])
    found: Bool = (view.label == SYMBOL) & kinds & ~view.is_test
    return found


def offered(entries: Entries) -> Bool:
    """Truths, shape (n,): public API, members of it included as long as their names are public."""
    view = entries.view
    names = view.arrays.nodes.name.to_pylist()
    public = np.array([not name.startswith(("_", "#")) for name in names], np.bool_)
    found: Bool = entries.public.copy()
    while True:
        more: Bool = found | (public & (view.parent >= 0) & found[np.maximum(view.parent, 0)] & (view.label == SYMBOL))
        if (more == found).all():
            return found
        found = more


def _roots(entries: Entries, offered: Bool, tests: bool) -> Bool:
    """Where execution may begin."""
    view = entries.view
    roots = (view.label == SYMBOL) & (view.parent < 0)
    entry = np.zeros(view.n, np.bool_)
    entry[[node for node, kind in entries.kind.items() if kind != "export"]] = True
    roots |= entry | offered
    names = view.arrays.nodes.name.to_pylist()
    roots |= np.array([len(name) > 4 and name.startswith("__") and name.endswith("__") for name in names], np.bool_) & (
        view.label == SYMBOL
    )
    replaces = np.flatnonzero(kind_mask((EdgeKind.OVERRIDES,))[view.edge_kind] & (view.label[view.dst] == EXTERNAL))
    roots[view.src[replaces]] = True
    found: Bool = roots if tests else roots & ~view.is_test
    return found


def _reached(view: GraphView, roots: Bool) -> Bool:
    """What a root uses, directly or not; a used member keeps its class, a used base method its replacements."""
    uses = np.flatnonzero(kind_mask(USES)[view.edge_kind] & (view.src != view.dst))
    replaces = np.flatnonzero(kind_mask((EdgeKind.OVERRIDES,))[view.edge_kind])
    live = roots.copy()
    while True:
        before = int(live.sum())
        live[view.dst[uses[live[view.src[uses]]]]] = True
        live[view.src[replaces[live[view.dst[replaces]]]]] = True
        inside = np.flatnonzero(live & (view.parent >= 0))
        live[view.parent[inside]] = True
        if int(live.sum()) == before:
            return live


def _reason(view: GraphView, node: int, live_tests: Bool) -> str:
    inside = _span(view, node)
    rows = np.concatenate([view.in_edges(one, USES) for one in inside])
    callers = set(view.src[rows].tolist())
    if not callers:
        return "unreferenced"
    if not callers - set(inside):
        return "only_itself"
    return "only_tests" if live_tests[node] else "only_dead"


def _span(view: GraphView, node: int) -> list[int]:
    """A definition and everything defined inside it."""
    found = [node]
    for one in found:
        found.extend(view.dst[view.out_edges(one, (EdgeKind.DEFINES,))].tolist())
    return found


def judged(entries: Entries, dead: Dead, mentions: Mentions) -> list[DeadSymbol]:
    """Dead definitions with their confidence, most certain first, then most lines, path and line."""
    view = entries.view
    defined = Counter(view.arrays.nodes.name.to_pylist())
    found = [_judged(entries, node, reason, mentions, defined) for node, reason in zip(dead.nodes, dead.reason, strict=True)]
    return sorted(found, key=lambda one: (-one.confidence, -one.lines, one.symbol.path, one.symbol.start_line, one.symbol.id))


def _judged(entries: Entries, node: int, reason: str, mentions: Mentions, defined: Mapping[str, int]) -> DeadSymbol:
    view = entries.view
    info = view.info(node)
    private = info.name.startswith(("_", "#")) or any(part.startswith("_") for part in info.qualname.split("."))
    confidence = (PRIVATE if private else PUBLIC) * REASONS[reason]
    why = ["its name is private" if private else "nothing says that it is public"]
    for doubt in _doubts(entries, node, info.name, reason, mentions, defined):
        factor, sentence = DOUBTS[doubt]
        confidence *= factor
        why.append(sentence)
    return DeadSymbol(info, reason, round(confidence, 4), info.end_line - info.start_line + 1, why)


def _doubts(entries: Entries, node: int, name: str, reason: str, mentions: Mentions, defined: Mapping[str, int]) -> Iterable[str]:
    view = entries.view
    if view.unresolved_named(name):
        yield "unresolved"
    if view.start_line[node] < view.arrays.nodes.name_line[node] and not _DECORATIONS & set(view.modifiers(node)):
        yield "decorated"
    if reason == "unreferenced" and mentions.code.get(name, 0) > defined.get(name, 0):
        yield "mentioned"
    if mentions.prose.get(name, 0):
        yield "documented"
    parent = int(view.parent[node])
    if parent >= 0 and (view.label[view.dst[view.out_edges(parent, (EdgeKind.INHERITS,))]] == EXTERNAL).any():
        yield "external_base"
    if view.failed_paths:
        yield "parse_errors"
