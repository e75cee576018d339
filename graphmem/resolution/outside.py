"""Names of external values: results and attributes of library objects.

`requests.get().json()` is the name of a value. Every name is one alternative of a type, so a name has a limited length:
otherwise `node = node.next` in a loop gives a new alternative each time, until the type counts as unknown.
"""

from __future__ import annotations

from typing import Final

MAX_RESULTS: Final = 3
"""Most calls and subscripts in a name."""

MAX_ATTRIBUTES: Final = 8
"""Most attributes in a name."""

MAX_ATTRIBUTES_OF_RESULTS: Final = 3
"""Most attributes in a name after its first call or subscript."""


def result_name(dotted: str, suffix: str) -> str:
    """Return the name of the result of an external call: `f()` for `f`.

    The suffix is `()`, or `[]` for a subscript. A long name is returned unchanged.
    """
    return dotted + suffix if dotted.count("(") + dotted.count("[") < MAX_RESULTS else dotted


def attribute_name(dotted: str, name: str) -> str:
    """Return the name of an attribute of an external value: `a.b` for `a`.

    A long name is returned unchanged.
    """
    if not dotted:
        return name
    first_result = min((dotted.index(sign) for sign in "([" if sign in dotted), default=len(dotted))
    is_long = dotted.count(".") >= MAX_ATTRIBUTES or dotted.count(".", first_result) >= MAX_ATTRIBUTES_OF_RESULTS
    return dotted if is_long else f"{dotted}.{name}"
