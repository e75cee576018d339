"""Names of external values: results and attributes of library objects.

For example, the name `requests.get().json()` stands for the value of this expression. The length of names is limited. Without a limit,
`node = node.next` in a loop would add a longer name to the type of `node` in each round.
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
    """Return the name for the result of an external call: `f()` for `f`.

    The suffix is `()`, or `[]` for a subscript. A long name is returned unchanged.
    """
    return dotted + suffix if dotted.count("(") + dotted.count("[") < MAX_RESULTS else dotted


def attribute_name(dotted: str, name: str) -> str:
    """Return the name for an attribute of an external value: `a.b` for `a`.

    `dotted` is the name of the value, and `name` is that of the attribute. If `dotted` is too long already, it is returned without the
    attribute.
    """
    if not dotted:
        return name
    first_result = min((dotted.index(sign) for sign in "([" if sign in dotted), default=len(dotted))
    is_long = dotted.count(".") >= MAX_ATTRIBUTES or dotted.count(".", first_result) >= MAX_ATTRIBUTES_OF_RESULTS
    return dotted if is_long else f"{dotted}.{name}"
