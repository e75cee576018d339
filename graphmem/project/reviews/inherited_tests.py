"""Find the classes for which a test runner runs a test method.

A runner identifies a test by class and method. So a method of a base class is one test for each subclass that inherits the method. A class
that the runner does not collect has no tests.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from graphmem.runtime.data.conventions import conventions_of

if TYPE_CHECKING:
    from graphmem.projection.graph.view import GraphView

_INHERITS: Final = frozenset({"INHERITS"})


def classes_of(view: GraphView, case: int) -> list[int]:
    """Return the classes that run the test method `case`, as graph nodes.

    The class that defines the method comes first, unless test runners skip that class. Subclasses that inherit the method follow, sorted by
    name. The list is empty if `case` is not a method, or if no subclass inherits it.
    """
    owner = int(view.parent[case])
    if owner < 0 or view.info(case).kind != "method":
        return []
    name = view.name(case)
    found, waiting = [owner], [owner]
    while waiting:
        for row in view.in_edges(waiting.pop(), _INHERITS).tolist():
            one = int(view.src[row])
            if one not in found and not _defines(view, one, name):
                found.append(one)
                waiting.append(one)
    inheriting = found[1:]
    return [*([owner] if _is_collected(view, owner) else []), *sorted(inheriting, key=view.qualname)] if inheriting else []


def _defines(view: GraphView, owner: int, name: str) -> bool:
    """Whether the class `owner` defines `name` itself, not just inherits it."""
    return any(int(view.parent[node]) == owner for node in view.by_name(name).tolist())


def _is_collected(view: GraphView, owner: int) -> bool:
    """Whether a test runner collects tests from a class.

    `owner` is the node of the class. pytest and unittest skip classes, such as mixins, that are not named `Test…` and do not inherit
    `TestCase`. The runners of languages without `collected_classes` in their conventions skip abstract classes.
    """
    known = conventions_of(view.language_of(view.path(owner)))
    if not known.collected_classes:
        return "abstract" not in view.modifiers(owner)
    seen, waiting = {owner}, [owner]
    if re.fullmatch(known.collected_classes, view.name(owner)):
        return True
    while waiting:
        for row in view.out_edges(waiting.pop(), _INHERITS).tolist():
            base = int(view.dst[row])
            if re.fullmatch(known.collected_bases, view.name(base)):
                return True
            if base not in seen:
                seen.add(base)
                waiting.append(base)
    return False
