"""Find the addresses that callers pass to a function which sends requests.

For `load(url) { return $http({method: "get", url}) }` and `load("/carts")` in the same file, the second call requests `GET /carts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from graphmem.model import FUNCTION_KINDS
from graphmem.parsing.contracts.habits import is_own_object
from graphmem.parsing.contracts.source import Site, Source, callee_of
from graphmem.parsing.facts import ATTR, NAME

if TYPE_CHECKING:
    from graphmem.parsing.contracts.written import Lookup

_POSITIONAL: Final = frozenset({"positional", "normal"})
_WORDS: Final = re.compile(r"[A-Za-z_$][\w$]*")


class Passed:
    """The arguments that calls in a file pass to the functions of the file."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._calls: dict[str, list[Site]] | None = None

    def parameter(self, text: str, scope: int) -> tuple[str, int] | None:
        """Return a parameter in an expression, and the function that has it.

        The function is the innermost one around the definition `scope` with such a parameter. The result is None for an expression
        without parameters.
        """
        words = set(_WORDS.findall(text))
        definitions = self.source.facts.definitions
        while scope > 0:
            if definitions[scope].kind in FUNCTION_KINDS:
                for one in definitions[scope].parameters:
                    if one.name in words and one.kind in _POSITIONAL and not is_own_object(one.name):
                        return one.name, scope
            scope = definitions[scope].parent
        return None

    def arguments(self, name: str, owner: int) -> Iterator[tuple[Site, str]]:
        """Yield each call of a function in the file, and what it passes.

        Args:
            name: a parameter of the function. The second item is the source text of its argument.
            owner: index of the function.
        """
        function = self.source.facts.definitions[owner]
        names = [one.name for one in function.parameters if not is_own_object(one.name)]
        for site in self._sites().get(function.name, ()):
            text = self.source.text_of(site, (name, names.index(name)))
            if text and not function.start_line <= site.reference.line <= function.end_line:
                yield site, text

    def _sites(self) -> dict[str, list[Site]]:
        """Return the calls of the file's functions, by the function's name."""
        if self._calls is None:
            self._calls = {}
            own = {one.name for one in self.source.facts.definitions if one.kind in FUNCTION_KINDS}
            for reference in self.source.facts.references:
                callee = callee_of(self.source.terms, reference.term) if reference.kind == "call" else None
                if callee is not None and (callee[0] == ATTR or callee[0] == NAME) and callee[-1] in own:
                    site = self.source.site(reference, str(callee[-1]))
                    if site is not None:
                        self._calls.setdefault(site.name, []).append(site)
        return self._calls


def with_argument(look_up: Lookup, name: str, text: str) -> Lookup:
    """Return a look-up of names in which one parameter has a given value.

    A look-up is a function that maps a name to the source of the name's value. The new one maps the parameter `name` to `text`, and other
    names as `look_up` does.
    """
    return lambda one: text if one == name else look_up(one)
