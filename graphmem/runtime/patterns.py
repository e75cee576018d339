"""Regular expressions that are compiled at their first use.

graphmem has many expressions that recognise what people and tools write. Compiling all of them takes a thirtieth of the start of a server,
and most servers and commands never use them.
"""

from __future__ import annotations

import re
from typing import cast


def lazy_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a regular expression that is compiled at its first use.

    `flags` are those of `re.compile`. An invalid expression raises its error at the first use, and not here.
    """
    return cast("re.Pattern[str]", _Pattern(text, flags))


class _Pattern:
    """A regular expression that is compiled when it is first used."""

    def __init__(self, text: str, flags: int) -> None:
        self._given = text, flags

    def __getattr__(self, name: str) -> object:
        compiled = re.compile(*self._given)
        # The next use finds the method here, as fast as that of a compiled expression.
        value = getattr(compiled, name)
        self.__dict__[name] = value
        return value
