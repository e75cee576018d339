"""Definitions that code outside the project may call.

The graph cannot contain all callers of such definitions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.model import TEST_KINDS, EdgeKind
from graphmem.projection.graph.arrays import EXTERNAL, FUNCTION_CODES, NODE_KINDS, SYMBOL
from graphmem.runtime.data.conventions import all_conventions, conventions_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.projection.graph.view import GraphView

_CLASSES: Final = ("class", "interface")
_CALLED_BY: Final = {
    "route": "route handler: requests from outside call it",
    "command": "command: people call it",
    "event": "event handler: a framework calls it",
    "task": "task: a scheduler calls it",
    "main": "program start: people call it",
    "export": "public API: callers outside are not known",
}


def outside_callers(view: GraphView, targets: Sequence[int]) -> str:
    """Return a sentence on why code outside the project may call a target.

    The result is "" if nothing indicates such calls.
    """
    for node in targets:
        if said := _outside_use(view, node):
            return said
    return ""


def _outside_use(view: GraphView, node: int) -> str:
    entry = view.entry_point(node)
    if entry and entry not in TEST_KINDS:
        return _CALLED_BY.get(entry, _CALLED_BY["export"])
    if view.label[node] != SYMBOL or view.is_test[node]:
        return ""
    if _is_public(view, node) or any(_is_public(view, one) for one in _classes_that_have(view, node)):
        return _CALLED_BY["export"]
    if base := _external_base(view, node):
        return f"may override a method of {base}: callers outside are not known"
    return ""


def _is_public(view: GraphView, node: int) -> bool:
    """Whether code outside the project may use a definition.

    A definition that a package's `__init__` imports is exported, so it may be used. The name and the file of a definition can also make
    it public. In Go, other modules cannot import a package below a directory `internal`.
    """
    if not conventions_of(view.language_of(view.path(node))).internal_folders.isdisjoint(view.path(node).split("/")[:-1]):
        return False
    modifiers = view.modifiers(node)
    return "exported" in modifiers or _is_shown_again(view, node) or _is_public_name(view, node, modifiers)


def _is_shown_again(view: GraphView, node: int) -> bool:
    """Whether the `__init__` of a package imports a definition to export it.

    For example, `from ._impl import name` exports `name`.
    """
    if _is_private(view.name(node)):
        return False
    rows = view.in_edges(node, (EdgeKind.REFERENCES,))
    fronts = {view.path(int(view.src[row])) for row in rows if view.rule_of(int(row)) == "import" and not view.is_test[view.src[row]]}
    exporting = all_conventions().package_files
    return any(path.rpartition("/")[2] in exporting and not any(map(_is_private, path.split("/")[:-1])) for path in fronts)


def _classes_that_have(view: GraphView, node: int) -> list[int]:
    """Return the class of a public method, and its subclasses outside tests.

    The nodes are ascending. The list is empty if `node` is not a public method.
    """
    parent = int(view.parent[node])
    if NODE_KINDS[view.kind[node]] != "method" or parent < 0 or _is_private(view.name(node)):
        return []
    seen, stack = {parent}, [parent]
    while stack:
        for row in view.in_edges(stack.pop(), (EdgeKind.INHERITS,)):
            heir = int(view.src[row])
            if heir not in seen and not view.is_test[heir]:
                seen.add(heir)
                stack.append(heir)
    return sorted(seen)


def _is_public_name(view: GraphView, node: int, modifiers: Sequence[str]) -> bool:
    """Whether a definition is public in a library, by its names and file.

    `modifiers` are those of the definition; `private` makes the result False. No part of its path or qualified name may begin with an
    underscore. The definition may not be inside a function. The project must have a manifest, and the file must be at the root or in a
    package.
    """
    path = view.path(node)
    known = conventions_of(view.language_of(view.path(node)))
    if not any(name in view.path_number for name in known.manifests) or "private" in modifiers:
        return False
    folder = path.rpartition("/")[0]
    if folder and not any(f"{folder}/{name}" in view.path_number for name in known.package_files):
        return False
    if any(_is_private(part) for part in path.rpartition(".")[0].split("/")):
        return False
    above = node
    while above >= 0:
        if NODE_KINDS[view.kind[above]] != "module" and _is_private(view.name(above)):
            return False
        above = int(view.parent[above])
        if above >= 0 and view.kind[above] in FUNCTION_CODES:
            return False
    return True


def _is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


def _external_base(view: GraphView, node: int) -> str:
    """Return the class outside the project that may call a method.

    `node` is the method. Its own class inherits, perhaps indirectly, from the class outside the project. Returns "" if no such class
    exists, or if the method is private or a constructor.
    """
    parent = int(view.parent[node])
    if NODE_KINDS[view.kind[node]] != "method" or parent < 0 or NODE_KINDS[view.kind[parent]] not in _CLASSES:
        return ""
    name, known = view.name(node), all_conventions()
    if name in known.constructors or _is_private(name):
        return ""
    seen, stack = {parent}, [parent]
    while stack:
        for base in view.dst[view.out_edges(stack.pop(), (EdgeKind.INHERITS,))].tolist():
            if view.label[base] == EXTERNAL and view.qualname(base) not in known.idle_bases:
                return view.qualname(base)
            if base not in seen:
                seen.add(base)
                stack.append(base)
    return ""
