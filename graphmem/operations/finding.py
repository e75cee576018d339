"""One operation by its name. A command that asks a server one question loads only the declarations up to that operation."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Final

from graphmem.operations.declare import Operation, operations_of

# Module and class, the most often asked first. `registry.DECLARED` has the same classes in the order in which they are documented.
DECLARED_IN: Final = (
    ("code", "CodeOperations"),
    ("memory", "MemoryOperations"),
    ("context", "ContextOperations"),
    ("history", "HistoryOperations"),
    ("sessions", "SessionOperations"),
    ("upkeep", "UpkeepOperations"),
    ("semantic", "SemanticOperations"),
)


def find(name: str) -> Operation | None:
    """The operation of that name; None when none is declared."""
    return next((found for module, cls in DECLARED_IN if (found := _declared(module, cls).get(name)) is not None), None)


def find_command(name: str) -> Operation | None:
    """The operation that is the command of that name; None when none is."""
    for module, cls in DECLARED_IN:
        for one in _declared(module, cls).values():
            if one.hints.command == name:
                return one
    return None


@cache
def _declared(module: str, cls: str) -> dict[str, Operation]:
    return operations_of(getattr(import_module(f"graphmem.operations.{module}"), cls))
