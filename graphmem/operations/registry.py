"""All operations, by name."""

from __future__ import annotations

from functools import cache
from typing import Any

from graphmem.operations.code import CodeOperations
from graphmem.operations.context import ContextOperations
from graphmem.operations.declare import Bounds, Operation, accepting, operations_of, within_bounds
from graphmem.operations.history import HistoryOperations
from graphmem.operations.memory import MemoryOperations
from graphmem.operations.semantic import SemanticOperations
from graphmem.operations.sessions import SessionOperations
from graphmem.operations.upkeep import UpkeepOperations

DECLARED = (
    CodeOperations,
    SemanticOperations,
    HistoryOperations,
    MemoryOperations,
    ContextOperations,
    SessionOperations,
    UpkeepOperations,
)


class Operations(
    CodeOperations,
    SemanticOperations,
    HistoryOperations,
    MemoryOperations,
    ContextOperations,
    SessionOperations,
    UpkeepOperations,
):
    """An open project, as every interface knows it. All are synchronous and may be called from any thread."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Let the implementations be called by earlier names of their parameters, and hold them to the declared bounds."""
        super().__init_subclass__(**options)
        for one in registry().values():
            if any(parameter.has(Bounds) for parameter in one.parameters):
                setattr(cls, one.name, within_bounds(getattr(cls, one.name), one))
            if one.hints.renamed:
                setattr(cls, one.name, accepting(getattr(cls, one.name), one.hints.renamed))


@cache
def registry() -> dict[str, Operation]:
    """Every operation by name, in the order of declaration."""
    return operations_of(*DECLARED)
