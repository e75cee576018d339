"""Find addresses in attributes of objects, such as `self.url` in a test.

A test class often assigns the address in `setUp` and requests it in its tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from graphmem.model import CLASS_KINDS
from graphmem.parsing.contracts.habits import own_object
from graphmem.parsing.facts import NAME, STRING

if TYPE_CHECKING:
    from graphmem.parsing.contracts.source import Source
    from graphmem.parsing.contracts.written import Lookup

MOST: Final = 4
"""Most values of an attribute; more are not followed."""


@cache
def _read() -> re.Pattern[str]:
    """Return a pattern for a use of an object's own attribute: `self.url`."""
    return re.compile(own_object() + r"([A-Za-z_]\w*)(?![\w(])")


@cache
def _given() -> re.Pattern[str]:
    """Return a pattern for the beginning of an assignment: `self.url =`."""
    return re.compile(own_object() + r"([A-Za-z_]\w*)[^\S\n]*(?::[^\S\n]*[\w.<>\[\]| ]+)?[^\S\n]*=(?![=>~])\s*")


class Fields:
    """The values that a file assigns to attributes of its classes."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._given: dict[str, list[int]] | None = None

    def readings(self, text: str, scope: int) -> Iterator[Lookup]:
        """Yield one look-up for each value that an attribute in `text` may have.

        A look-up is a function that maps a name in an expression to the source of the name's value.

        Args:
            text: an expression, such as `self.url + "?page=2"`.
            scope: index of the definition that contains the expression.
        """
        names = dict.fromkeys(_read().findall(text))
        varied = next((name for name in names if len(self.values(name, scope)) > 1), "")
        for value in self.values(varied, scope) if varied else ("",):
            yield _Reading(self, scope, varied, value)

    def values(self, name: str, scope: int) -> Sequence[str]:
        """Return the values of an attribute in a class, as source text.

        The class is the innermost one around the definition `scope`. If the class does not assign the attribute, its base classes in the
        same file are searched. The result is empty if there are more than `MOST` values.
        """
        seen: set[int] = set()
        left = [self.class_around(scope)]
        while left:
            owner = left.pop(0)
            if owner < 0 or owner in seen:
                continue
            seen.add(owner)
            texts = dict.fromkeys(self.source.expression(at) for at in self._assigned(name, owner))
            useful = [text for text in texts if not re.fullmatch(r"(?:None|null|undefined)?", text)]
            if useful:
                return useful if len(useful) <= MOST else ()
            left += [position for base in self.bases(owner) if (position := self._class_named(base)) >= 0]
        return ()

    def default(self, name: str, scope: int) -> str | None:
        """Return the default value of a parameter, a string, as source text.

        `scope` is the function. The result is None without such a default.
        """
        for one in self.source.facts.definitions[scope].parameters:
            default = self.source.terms[one.default] if one.name == name and one.default >= 0 else None
            if default is not None and default[0] == STRING:
                _, text = default
                return f'"{text}"'
        return None

    def class_around(self, scope: int) -> int:
        """Return the index of the innermost class around a definition, or -1."""
        definitions = self.source.facts.definitions
        while scope > 0 and definitions[scope].kind not in CLASS_KINDS:
            scope = definitions[scope].parent
        return scope if scope > 0 else -1

    def bases(self, owner: int) -> list[str]:
        """Return the base classes that a class names without a prefix or brackets.

        `owner` is the class, as a position among the definitions of its file.
        """
        terms = self.source.terms
        found = []
        for keyword, index in self.source.facts.definitions[owner].bases:
            term = terms[index]
            if not keyword and term[0] == NAME:
                found.append(term[1])
        return found

    def _class_named(self, name: str) -> int:
        definitions = self.source.facts.definitions
        return next((at for at, one in enumerate(definitions) if one.name == name and one.kind in CLASS_KINDS), -1)

    def _assigned(self, name: str, owner: int) -> list[int]:
        """Return the offsets of the values that a class assigns to an attribute.

        `owner` is the class, as a position among the definitions of its file.
        """
        if self._given is None:
            self._given = {}
            for match in _given().finditer(self.source.text):
                self._given.setdefault(match[1], []).append(match.end())
        one, starts = self.source.facts.definitions[owner], self.source.starts
        first, last = starts[one.start_line - 1], starts[one.end_line] if one.end_line < len(starts) else len(self.source.text)
        inside = [at for at in self._given.get(name, ()) if first < at < last]
        inside += [at for at in self.source.values(name) if first < at < last and self.source.scope_at(at) == owner]
        return sorted(dict.fromkeys(inside))


class _Reading:
    """A look-up of the values of names inside one function.

    Names are parameters of the function, attributes of its class, or other names of the file. For the attribute `varied`, which has
    several values, this look-up returns `value`.
    """

    def __init__(self, fields: Fields, scope: int, varied: str, value: str) -> None:
        self._fields, self._scope, self._varied, self._value = fields, scope, varied, value

    def __call__(self, name: str) -> str | None:
        own = _read().fullmatch(name)
        if own is not None:
            if own[1] == self._varied:
                return self._value
            values = self._fields.values(own[1], self._scope)
            if len(values) == 1:
                return values[0]
        return self._fields.default(name, self._scope) or self._fields.source.look_up(name)
