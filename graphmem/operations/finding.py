"""Find one operation by name, loading as few declarations as possible.

A command that sends a server one request starts faster this way.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from typing import Final

from graphmem.operations.declare import Operation, operations_of

# Module and class, the most often used first. `registry.DECLARED` has the same classes in the order of the documentation.
DECLARED_IN: Final = (
    ("code", "CodeOperations"),
    ("memory", "MemoryOperations"),
    ("context", "ContextOperations"),
    ("history", "HistoryOperations"),
    ("sessions", "SessionOperations"),
    ("upkeep", "UpkeepOperations"),
    ("sharing", "SharingOperations"),
    ("organisation", "OrganisationOperations"),
    ("projects", "ProjectsOperations"),
    ("semantic", "SemanticOperations"),
)


# Module -> its derived commands, so that only this module is loaded. Commands missing here are still found, but later.
COMMANDS_IN: Final = {
    "code": "path search symbol-at occurrences",
    "memory": "rules sync-file",
    "context": "plan",
    "history": "coaccess reviewers",
    "upkeep": "verify compact",
    "projects": "projects search-projects impact-projects",
    "semantic": "ask contracts cycles entry-points flows hotspots central dead-code duplicates commits boundary people",
}
FAMILIES_IN: Final = {"memory": "memory", "session": "sessions", "organisation": "organisation"}


def find(name: str) -> Operation | None:
    """The operation with this name; None when it is not declared."""
    return next((found for module, cls in _in_order() if (found := _declared(module, cls).get(name)) is not None), None)


def find_command(name: str) -> Operation | None:
    """The operation that a command is derived from; None when there is none."""
    family, _, rest = name.partition(" ")
    likely = FAMILIES_IN.get(family, "") if rest else next((one for one, names in COMMANDS_IN.items() if name in names.split()), "")
    every = (one for module, cls in _in_order(likely) for one in _declared(module, cls).values())
    return next((one for one in every if one.hints.command == name), None)


def _in_order(likely: str = "") -> list[tuple[str, str]]:
    """Return the (module, class) pairs to search for a declared operation.

    The pair of the module `likely` comes first, then those of modules that are already imported.
    """
    return sorted(DECLARED_IN, key=lambda one: (one[0] != likely, f"graphmem.operations.{one[0]}" not in sys.modules))


@cache
def _declared(module: str, cls: str) -> dict[str, Operation]:
    return operations_of(getattr(import_module(f"graphmem.operations.{module}"), cls))
