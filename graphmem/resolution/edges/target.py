"""One possible target of a call."""

from __future__ import annotations

from typing import NamedTuple

from graphmem.model import EdgeKind
from graphmem.resolution.symbol import Symbol


class Target(NamedTuple):
    """One definition that a call may run, with the rule that found it.

    Either `symbol` is set, a definition of the project, or `outside`, the (package, name) of an external function.
    """

    symbol: Symbol | None
    outside: tuple[str, str] | None
    rule: str
    confidence: float = 0.0  # 0: the default of the rule
    kind: str = EdgeKind.CALLS
    is_extension: bool = False  # the receiver of the call is the first parameter
