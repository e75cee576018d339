"""The compute functions of Arrow, imported when the first of them is used.

The import wraps three hundred functions, which takes a tenth of the processor time of a short command. Most commands call none of them.
"""

from __future__ import annotations

import importlib
from typing import Any, Final


class LazyModule:
    """A stand-in for a module; the first use of a name imports the module.

    Args:
        name: full name of the module.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(importlib.import_module(self._name), attribute)
        setattr(self, attribute, value)
        return value


def computed(function: str, *arguments: object) -> Any:
    """Call one compute function of Arrow; do not import the others.

    `function` is the name of the function in Arrow, such as "equal". Use this function in place of a method of an Arrow array, because a
    method that computes something imports all compute functions.
    """
    from pyarrow._compute import call_function

    return call_function(function, list(arguments))


def containing(column: object, part: str) -> Any:
    """Return whether each string of a column contains `part`, as booleans.

    Like `computed`, this imports no other compute functions of Arrow.
    """
    from pyarrow._compute import MatchSubstringOptions, call_function

    return call_function("match_substring", [column], MatchSubstringOptions(part))


pc: Final = LazyModule("pyarrow.compute")
