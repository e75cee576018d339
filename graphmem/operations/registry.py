"""All operations, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final

from graphmem.operations.code import CodeOperations
from graphmem.operations.context import ContextOperations
from graphmem.operations.declare import Operation, held_to, operations_of
from graphmem.operations.history import HistoryOperations
from graphmem.operations.memory import MemoryOperations
from graphmem.operations.organisation import OrganisationOperations
from graphmem.operations.projects import ProjectsOperations
from graphmem.operations.semantic import SemanticOperations
from graphmem.operations.sessions import SessionOperations
from graphmem.operations.sharing import SharingOperations
from graphmem.operations.upkeep import UpkeepOperations


class Operations(
    CodeOperations,
    SemanticOperations,
    HistoryOperations,
    MemoryOperations,
    ContextOperations,
    SessionOperations,
    SharingOperations,
    OrganisationOperations,
    ProjectsOperations,
    UpkeepOperations,
):
    """All operations of an open project, as one type.

    All calls are synchronous and thread-safe.
    """


DECLARED: Final = Operations.__bases__  # in the order of the documentation


@cache
def registry() -> dict[str, Operation]:
    """Return every operation by its name, in the order of declaration."""
    return operations_of(*DECLARED)


def implementations(parts: Iterable[object]) -> dict[str, Callable[..., Any]]:
    """Map the name of each operation to the method that implements it.

    Each method checks the declared bounds of its arguments, and accepts earlier names of its parameters.

    Args:
        parts: objects whose own methods implement the operations of the same names.

    Raises:
        LookupError: an operation has two implementations or none.
    """
    found: dict[str, Callable[..., Any]] = {}
    for part in parts:
        for name in vars(type(part)).keys() & registry().keys():
            if name in found:
                raise LookupError(
                    f"two parts of the project implement the operation {name}, and the second is {type(part).__name__}; remove one "
                    "implementation"
                )
            found[name] = held_to(registry()[name], getattr(part, name))
    if missing := registry().keys() - found.keys():
        raise LookupError(f"no part of the project implements the operations {', '.join(sorted(missing))}; add a part that does")
    return found
