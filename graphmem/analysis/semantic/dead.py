"""Dead code: definitions that nothing seems to need, with reasons.

A definition is alive if it can be reached from code where execution may begin: code that runs when a file is loaded, entry points, public
API, names that a runtime calls (`__enter__`), and overrides of external methods. All other definitions are candidates for dead code.
`DOUBTS` lists circumstances that suggest a use outside the graph, each with a factor. The confidence of a candidate is multiplied by the
factor of each circumstance that applies. docs/semantic.md has the measured precision.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from graphmem.analysis.semantic.beside import is_made, made_folders
from graphmem.analysis.walk import stand_ins
from graphmem.answers.findings import DeadSymbol
from graphmem.model import EdgeKind
from graphmem.projection.graph.arrays import CLASS_CODES, EXTERNAL, NODE_KINDS, SYMBOL
from graphmem.projection.graph.edges import kind_mask
from graphmem.runtime.data.conventions import all_conventions, conventions_of, runtime_names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from graphmem.analysis.semantic.entries import Entries
    from graphmem.projection.graph.view import GraphView

Bool = npt.NDArray[np.bool_]

USES: Final = (EdgeKind.CALLS, EdgeKind.REFERENCES, EdgeKind.INHERITS, EdgeKind.USES_TYPE)
CANDIDATES: Final = ("function", "method", "class", "interface", "enum")
PRIVATE: Final = 0.95  # confidence for a private definition without uses
PUBLIC: Final = 0.7  # confidence for a definition whose name does not mark it as private
MEMBER: Final = 0.5  # confidence for a member of a class whose name does not mark it as private

# Signs of a use outside the graph, each with its factor for the confidence.
DOUBTS: Final[dict[str, tuple[float, str]]] = {
    "unresolved": (0.4, "calls of this name could not be resolved"),
    "decorated": (0.4, "a decorator may register it"),
    "mentioned": (0.2, "its name occurs elsewhere in code"),
    "documented": (0.5, "its name occurs in documentation or configuration"),
    "subclass": (0.3, "the class that it extends may look up its subclasses"),
    "external_base": (0.3, "its class inherits from outside the project"),
    "empty": (0.4, "a method of its class has no body, so other code may call it by name"),
    "of_object": (0.4, "it belongs to an object that other code may receive"),
    "made_elsewhere": (0.3, "its file is a migration, a fixture, generated or vendored"),
    "computed": (0.3, "code computes names with this prefix at runtime"),
    "of_tests": (0.5, "several tests use it, so it may be a helper for tests"),
    "parse_errors": (0.7, "its file could not be parsed completely"),
}
SEVERAL: Final = 4
"""Tests that use a definition as a tool; in the judged sample, definitions of tests have five and more, and dead ones at most three."""

REASONS: Final[dict[str, float]] = {"unreferenced": 1.0, "only_itself": 1.0, "only_dead": 1.0, "only_tests": 0.5}
_CLASS: Final = NODE_KINDS.index("class")
_METHOD: Final = NODE_KINDS.index("method")
_DECORATIONS: Final = frozenset({"property", "static", "classmethod", "abstract", "setter", "dataclass"})


class Mentions(NamedTuple):
    """Number of occurrences of each name in the project's code and texts.

    Occurrences in definitions count as well.
    """

    code: Mapping[str, int]
    prose: Mapping[str, int]
    beginnings: frozenset[str]  # prefixes of computed names: "visit_" of f"visit_{kind}"


class Dead(NamedTuple):
    """The dead definitions, and the number of unused public definitions."""

    nodes: list[int]
    reason: list[str]
    spared: int  # unused public definitions, which external code may use


def find(entries: Entries) -> Dead:
    """Return the definitions that no code outside tests reaches.

    A definition is alive if code outside tests reaches it from a root or from the public API. A root is a place where execution begins. If
    a dead definition is inside another, only the outer one is listed. The list is ordered by node number.
    """
    view = entries.view
    candidate = _candidates(view)
    public = candidate & offered(entries)
    roots, twin = _roots(entries), _twins(view)
    live_tests = _reached(view, roots | public, twin)
    live = _reached(view, (roots | public) & ~view.is_test, twin)
    used = _reached(view, roots, twin)
    spared = int((public & ~used).sum())
    dead = candidate & ~live
    parent = view.parent
    inner = dead & (parent >= 0) & dead[np.maximum(parent, 0)]
    chosen = np.flatnonzero(dead & ~inner).tolist()
    uses = _is_use(view)
    return Dead(chosen, [_reason(view, node, live_tests, uses) for node in chosen], spared)


def _candidates(view: GraphView) -> Bool:
    kinds = np.isin(view.kind, [NODE_KINDS.index(kind) for kind in CANDIDATES])
    # `button.onclick = () => …` at the top of a file: code that holds the object may call it.
    dotted = np.array(["." in name for name in view.arrays.nodes.qualname.to_pylist()], np.bool_)
    assigned = dotted & (view.parent >= 0) & (view.parent[np.maximum(view.parent, 0)] < 0)
    declares = np.array([path.endswith(all_conventions().declaration_suffixes) for path in view.arrays.paths.path.to_pylist()], np.bool_)
    in_code = (view.path_index >= 0) & ~declares[np.maximum(view.path_index, 0)] if len(declares) else np.zeros(view.n, np.bool_)
    found: Bool = (view.label == SYMBOL) & kinds & ~view.is_test & ~assigned & in_code
    return found


def offered(entries: Entries) -> Bool:
    """Return which nodes belong to the project's public API, shape (n,).

    The result is booleans. A member of a public definition belongs to the API if all names in its path are public.
    """
    view = entries.view
    names = view.arrays.nodes.name.to_pylist()
    public = np.array([not name.startswith(all_conventions().private_prefixes) for name in names], np.bool_)
    found: Bool = entries.public.copy()
    while True:
        more: Bool = found | (public & (view.parent >= 0) & found[np.maximum(view.parent, 0)] & (view.label == SYMBOL))
        if (more == found).all():
            return found
        found = more


def _roots(entries: Entries) -> Bool:
    """Return which nodes are code where execution may begin, tests included.

    The result is booleans, one for each node.
    """
    view = entries.view
    roots: Bool = (view.label == SYMBOL) & (view.parent < 0)
    entry = np.zeros(view.n, np.bool_)
    entry[[node for node, kind in entries.kind.items() if kind != "export"]] = True
    roots |= entry
    names = view.arrays.nodes.name.to_pylist()
    patterns = [runtime_names(language) for language in (*view.languages, "")]  # the last one is for path -1
    found = [patterns[path].fullmatch(name) is not None for name, path in zip(names, view.path_index.tolist(), strict=True)]
    roots |= np.array(found, np.bool_) & (view.label == SYMBOL)
    replaces = np.flatnonzero(kind_mask((EdgeKind.OVERRIDES,))[view.edge_kind] & (view.label[view.dst] == EXTERNAL))
    roots[view.src[replaces]] = True
    return roots


def _reached(view: GraphView, roots: Bool, twin: npt.NDArray[np.int64]) -> Bool:
    """Return which definitions the `roots` use; the roots are included.

    The roots are definitions that are assumed to be used, such as entry points. Indirect uses are included. The result is booleans, one
    for each node. Three rules extend the set:

    * If a member is used, so is its class.
    * If a base method is used, so are its overrides.
    * If a definition is used, so are all definitions with the same number in `twin` (see `_twins`).
    """
    uses = np.flatnonzero(_is_use(view) & (view.src != view.dst))
    replaces = np.flatnonzero(kind_mask((EdgeKind.OVERRIDES,))[view.edge_kind])
    live = roots.copy()
    while True:
        before = int(live.sum())
        used = np.zeros(int(twin.max(initial=0)) + 1, np.bool_)
        used[twin[live]] = True
        live |= used[twin]
        live[view.dst[uses[live[view.src[uses]]]]] = True
        live[view.src[replaces[live[view.dst[replaces]]]]] = True
        inside = np.flatnonzero(live & (view.parent >= 0))
        live[view.parent[inside]] = True
        if int(live.sum()) == before:
            return live


def _is_use(view: GraphView) -> Bool:
    """Return which edges are uses of their target, shape (m,).

    An edge from a wrapper to a function that it wraps is not a use, because code that uses the function by its name has its own edge to it.
    """
    found: Bool = kind_mask(USES)[view.edge_kind]
    found[stand_ins(view)] = False
    return found


def _twins(view: GraphView) -> npt.NDArray[np.int64]:
    """Number the nodes; definitions of one path and name share a number.

    The shape is (n,). Examples of such definitions are `f` in `if …: def f(): …` and `else: def f(): …`, or a property and its setter. If
    one of them is used, all count as used, because the use may mean any of them.
    """
    numbers: dict[tuple[int, str], int] = {}
    names = view.arrays.nodes.qualname.to_pylist()
    pairs = zip(view.path_index.tolist(), names, (view.label == SYMBOL).tolist(), strict=True)
    made = [numbers.setdefault((path, name), len(numbers)) if symbol else -1 for path, name, symbol in pairs]
    found = np.array(made, np.int64)
    others = np.flatnonzero(found < 0)
    found[others] = len(numbers) + np.arange(len(others))
    return found


def _reason(view: GraphView, node: int, live_tests: Bool, uses: Bool) -> str:
    inside = _span(view, node)
    rows = np.concatenate([view.in_edges(one, USES) for one in inside])
    callers = set(view.src[rows[uses[rows]]].tolist())
    if not callers:
        return "unreferenced"
    if not callers - set(inside):
        return "only_itself"
    return "only_tests" if live_tests[node] else "only_dead"


def _span(view: GraphView, node: int) -> list[int]:
    """Return a definition and all definitions inside it, as nodes."""
    found = [node]
    for one in found:
        found.extend(view.dst[view.out_edges(one, (EdgeKind.DEFINES,))].tolist())
    return found


def judged(entries: Entries, dead: Dead, mentions: Mentions) -> list[DeadSymbol]:
    """Return dead definitions with the confidence that each is dead.

    The highest confidence comes first. Ties are ordered by number of lines, most first, then by path and line. If other dead code uses a
    definition, that code may be alive after all. So the definition's confidence is multiplied by the lowest confidence of this code.
    """
    view = entries.view
    names = view.arrays.nodes.name.to_pylist()
    defined = Counter(names[node] for node in np.flatnonzero(view.label == SYMBOL).tolist())
    weighed = {node: _weighed(entries, node, reason, mentions, defined) for node, reason in zip(dead.nodes, dead.reason, strict=True)}
    confidence = {node: one for node, (one, _) in weighed.items()}
    uses = _is_use(view)
    users = {node: found for node in dead.nodes if (found := _users(view, node, confidence, uses))}
    used_by: dict[int, set[int]] = {}
    for node, others in users.items():
        for other in others:
            used_by.setdefault(other, set()).add(node)
    again: Collection[int] = users
    for _ in range(len(users)):  # a chain settles in as many rounds as its length
        after = {node: weighed[node][0] * min(confidence[one] for one in users[node]) for node in again}
        changed = {node: one for node, one in after.items() if confidence[node] != one}
        if not changed:
            break
        confidence |= changed
        again = {node for other in changed for node in used_by.get(other, ())}
    rows = []
    for node, reason in zip(dead.nodes, dead.reason, strict=True):
        info = view.info(node)
        rows.append(DeadSymbol(info, reason, round(confidence[node], 4), info.end_line - info.start_line + 1, weighed[node][1]))
    return sorted(rows, key=lambda one: (-one.confidence, -one.lines, one.symbol.path, one.symbol.start_line, one.symbol.id))


def _users(view: GraphView, node: int, dead: Collection[int], uses: Bool) -> set[int]:
    """Return dead definitions that use a given one, or a definition inside it.

    `dead` are all dead definitions, and `uses` has True for each edge that is a use.
    """
    found = set()
    for one in _span(view, node):
        rows = view.in_edges(one, USES)
        for user in view.src[rows[uses[rows]]].tolist():
            while user >= 0 and user not in dead:
                user = int(view.parent[user])  # definitions inside belong to the outermost
            if user >= 0 and user != node:
                found.add(user)
    return found


def _weighed(entries: Entries, node: int, reason: str, mentions: Mentions, defined: Mapping[str, int]) -> tuple[float, list[str]]:
    """Return the confidence that a definition is dead, with its reasons.

    The reasons are sentences. Only facts about the definition itself count here. The function `judged` also considers whether the code that
    uses the definition is dead.

    Args:
        entries: entry points of the graph.
        node: the definition.
        reason: why the definition seems dead, a key of `REASONS`.
        mentions: number of occurrences of each name in the indexed texts.
        defined: number of definitions of each name.
    """
    view = entries.view
    name = view.name(node)
    member = int(view.parent[node]) >= 0 and view.kind[int(view.parent[node])] in CLASS_CODES
    hidden = all_conventions().private_prefixes
    private = name.startswith(hidden) or (not member and any(part.startswith("_") for part in view.qualname(node).split(".")))
    standing, sentence = (
        (PRIVATE, "its name is private")
        if private
        else (MEMBER, "a member that any code may use")
        if member
        else (PUBLIC, "it does not belong to the project's public API")
    )
    confidence, why = standing * REASONS[reason], [sentence]
    for doubt in _doubts(entries, node, name, reason, mentions, defined):
        factor, sentence = DOUBTS[doubt]
        confidence *= factor
        why.append(sentence)
    return confidence, why


def _has_external_base(view: GraphView, node: int) -> bool:
    """Whether a class inherits, also indirectly, from outside the project.

    The result is also True for a class with an unresolved base.
    """
    seen, pending = {node}, [node]
    while pending:
        one = pending.pop()
        above = view.dst[view.out_edges(one, (EdgeKind.INHERITS,))].tolist()
        if any(view.label[base] == EXTERNAL and view.name(base) not in all_conventions().root_classes for base in above):
            return True
        if view.kind[one] == _CLASS and len(above) < _bases_written(view, one):
            return True
        pending += [base for base in above if base not in seen]
        seen.update(above)
    return False


def _stands_in(view: GraphView, node: int, parent: int) -> bool:
    """Whether a method may implement an interface from outside the project.

    The answer is True if `node` or another member of its class `parent` has an empty body. A class with an empty member is often a stub
    for an interface. So its methods are less certainly dead.
    """
    beside = view.dst[view.out_edges(parent, (EdgeKind.DEFINES,))].tolist() if parent >= 0 else [node]
    return any("empty" in view.modifiers(one) for one in beside)


def _bases_written(view: GraphView, node: int) -> int:
    """Return the number of base classes in the header of a class.

    A computed base (`class A(chosen()):`) is included, although the graph has no edge to it. Root classes such as `object` are ignored.
    The result is 0 if the language does not list bases in parentheses.
    """
    known = conventions_of(view.language_of(view.path(node)))
    if not known.bases_in_parentheses:
        return 0
    found, depth, start = 0, 0, 0
    signature = view.signature(node)
    inside = signature[signature.find("(") + 1 :] if "(" in signature else ""
    for at, sign in enumerate(inside):
        if depth == 0 and sign in ",)":
            base = inside[start:at].strip()
            found += bool(base) and "=" not in base and base not in known.root_classes
            start = at + 1
            if sign == ")":
                break
        depth += (sign in "([{") - (sign in ")]}")
    return found


def is_made_elsewhere(path: str) -> bool:
    """Whether a file is generated or vendored, or run because of its location."""
    *folders, name = path.split("/")
    return any(part in made_folders() or part.startswith(".") for part in folders) or is_made(name)


def _explained(view: GraphView, node: int) -> int:
    """Return the number of lines on which the graph has a use of a definition.

    If the definition's name occurs on more lines, some of them may be uses that the graph lacks.
    """
    return sum(len(view.lines_of(row)) for row in view.in_edges(node, USES).tolist())


def _doubts(entries: Entries, node: int, name: str, reason: str, mentions: Mentions, defined: Mapping[str, int]) -> Iterable[str]:
    view = entries.view
    if view.unresolved_named(name):
        yield "unresolved"
    if int(view.arrays.nodes.name_line[node] - view.start_line[node]) > len(_DECORATIONS.intersection(view.modifiers(node))):
        yield "decorated"
    if mentions.code.get(name, 0) > defined.get(name, 0) + _explained(view, node):
        yield "mentioned"
    if mentions.prose.get(name, 0):
        yield "documented"
    if len(view.out_edges(node, (EdgeKind.INHERITS,))):
        yield "subclass"
    parent = int(view.parent[node])
    if parent >= 0 and _has_external_base(view, parent):
        yield "external_base"
    if view.kind[node] == _METHOD and _stands_in(view, node, parent):
        yield "empty"
    if view.kind[node] == _METHOD and (parent < 0 or view.kind[parent] not in CLASS_CODES):
        yield "of_object"
    if is_made_elsewhere(view.path(node)):
        yield "made_elsewhere"
    if name.startswith(tuple(mentions.beginnings)):
        yield "computed"
    if reason == "only_tests" and len(_tests_that_use(view, node)) >= SEVERAL:
        yield "of_tests"
    if view.path(node) in view.failed_paths:
        yield "parse_errors"


def _tests_that_use(view: GraphView, node: int) -> set[int]:
    """Return the nodes of test code that directly uses a given definition."""
    return {one for one in view.src[view.in_edges(node, USES)].tolist() if view.is_test[one]}
