"""Marks of an operation's parameters, for types in `Annotated`.

Marks are not tuples, because tuples of different classes may be equal. Python 3.11.2 makes one `Annotated` for equal marks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Bounds:
    """Inclusive bounds of a number, checked before the implementation runs."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Within:
    """Mark of a number or list whose value or length the server limits.

    Args:
        limit: the name of the server's limit.
    """

    limit: str


@dataclass(frozen=True, slots=True)
class Ref:
    """Mark of a reference to a node of the graph.

    A reference is a name that a person types, a raw id, or a global id of GraphQL.

    Args:
        to: the type of the node, such as `Memory`; "" for any.
    """

    to: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """Mark of a string that a command accepts as several words."""


@dataclass(frozen=True, slots=True)
class Argument:
    """Mark of an optional parameter that is positional in a command."""


@dataclass(frozen=True, slots=True)
class Spelled:
    """Mark of a parameter that has another name on the command line.

    `graphmem.cli.derived` derives options from the parameters of operations. This mark replaces parts of a derived option.

    Args:
        flags: flags of the option.
        default: the command's default; people want fewer results than programs.
        metavar: placeholder of the value in the help.
        was: earlier flags, which work for one more release.
    """

    flags: tuple[str, ...] = ()
    default: Any = None
    metavar: str = ""
    was: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Filled:
    """Mark of a parameter that callers do not give: the interface fills it in.

    Args:
        by: the kind of value that the interface fills in. `actor` is the caller, for the audit. `clock` is the arrival of the request, by
            `time.monotonic`. `network` is whether the caller is remote.
    """

    by: Literal["actor", "clock", "network"]


@dataclass(frozen=True, slots=True)
class Local:
    """Mark of a parameter for callers in the same process, such as a callback.

    The operation has no such parameter in GraphQL.

    Args:
        by_command: whether the command derived from the operation has the parameter, too.
    """

    by_command: bool = False


@dataclass(frozen=True, slots=True)
class FileName:
    """Mark of a parameter that names a file.

    A local caller gives a path. A remote caller gives the name of a file in the index's directory.
    """


@dataclass(frozen=True, slots=True)
class Place:
    """Mark of a file parameter whose command also accepts a position.

    Compilers and searches print `path:line:column:`. The command uses the position to fill the parameters `line` and `column`. If the
    operation lacks them, the position is dropped.
    """
