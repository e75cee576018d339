"""Names of methods that implement operators: `__add__` for `+`.

The table is for languages in which classes can overload operators.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

BINARY: Final[Mapping[str, str]] = {
    "+": "__add__",
    "-": "__sub__",
    "*": "__mul__",
    "/": "__truediv__",
    "//": "__floordiv__",
    "%": "__mod__",
    "**": "__pow__",
    "@": "__matmul__",
    "|": "__or__",
    "&": "__and__",
    "^": "__xor__",
    "<<": "__lshift__",
    ">>": "__rshift__",
    "==": "__eq__",
    "!=": "__ne__",
    "<": "__lt__",
    "<=": "__le__",
    ">": "__gt__",
    ">=": "__ge__",
}
ASSIGNING: Final = frozenset(["%=", "&=", "*=", "+=", "-=", "/=", "<<=", ">>=", "^=", "|="])
"""Operators that change their left operand and have no result."""

UNARY: Final[Mapping[str, str]] = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}
METHODS: Final[Mapping[str, str]] = {**BINARY, "in": "__contains__", "~": UNARY["~"]}
"""Operators whose method determines the type of an expression."""
