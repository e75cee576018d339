"""Targets of calls, and confidences for implicit calls."""

from __future__ import annotations

from typing import Final, NamedTuple

from graphmem.model import EdgeKind
from graphmem.resolution.files.project import Project
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.types import EXTI, INST, PENDING, Type

SEVERAL_CLASSES: Final = 0.57
"""Confidence in an implicit call if the operand may be of several classes."""

SELDOM: Final = 0.25
"""Confidence in an implicit call that seldom happens.

A dictionary compares a key only if another has its hash. A class is asked for an attribute with a computed name only if it lacks it.
"""


class Target(NamedTuple):
    """A definition or external function that a call may run, and its rule.

    A rule names how the target was found. Either `symbol` is set, a definition of the project, or `outside`, the (package, name) of an
    external function.
    """

    symbol: Symbol | None
    outside: tuple[str, str] | None
    rule: str
    confidence: float = 0.0  # 0: the default of the rule
    kind: str = EdgeKind.CALLS
    is_extension: bool = False  # the receiver of the call is the first parameter


def shared_among(value: Type) -> float:
    """Return the confidence of an implicit call on an object of a given type.

    An implicit call is one that the source does not write, such as `__add__` for `a + b`. If `value` has several classes, the confidence is
    `SEVERAL_CLASSES`. Otherwise the result is 0, which means the default confidence of the rule.
    """
    if len(value) < 2:
        return 0.0
    classes = sum(atom[0] in (INST, PENDING, EXTI) for atom in value)
    return 0.0 if classes < 2 else SEVERAL_CLASSES


def extension_target(project: Project, symbol: Symbol, rule: str) -> Target:
    """Return the target for a call of an extension function on an object.

    An extension function, `symbol`, adds a method to a type from outside. `rule` is the rule that found the function.
    """
    entry = project.entry(symbol)
    return Target(symbol, None, rule, is_extension=rules_of(entry).extended_by_parameter(entry.definitions[symbol.index]))
