"""Read the names that `use` declarations of Rust bind, with their places."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.parsing.facts import NOWHERE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from graphmem.parsing.facts import Import, Spot

MAX_NESTED: Final = 50
"""Most nested braces of one `use` that are read."""

_TOKEN: Final = re.compile(r"//[^\n]*|/\*.*?\*/|(?:r#)?(\w+|[{},*])", re.DOTALL)


class _Word(NamedTuple):
    """A word of a `use` declaration, and its offset in the text."""

    text: str
    at: int


def used_names(found: Import) -> Iterator[Import]:
    """Yield one import for each name that a `use` declaration binds.

    `found` has the text of the declaration as its module. `use a::{b, c as d, e::*}` imports `b` and `c` from `a`, and all of `a::e`.
    """
    outer: list[list[_Word]] = [[]]  # the path before each open brace
    path: list[_Word] = []
    alias: _Word | None = None
    is_alias = False
    tokens = (_Word(one[1], one.start(1)) for one in _TOKEN.finditer(found.module) if one[1])
    for token in (*tokens, _Word(",", len(found.module))):
        if token.text in "{},":
            if token.text != "{" and len(path) > len(outer[-1]):
                yield _import(found, path, alias)
            if token.text == "{":
                outer.append(path)
            elif token.text == "}" and len(outer) > 1:
                outer.pop()
            if len(outer) > MAX_NESTED:
                return
            path, alias = list(outer[-1]), None
        elif token.text == "as":
            is_alias = True
        elif is_alias:
            alias, is_alias = token, False
        else:
            path.append(token)


def _import(found: Import, path: Sequence[_Word], alias: _Word | None) -> Import:
    """Return the import of the last name of a path, such as `c` of `a::b::c`.

    `alias` is the new name after `as`, if any. A last name `self` is that of the module before it.
    """
    if path[-1].text == "self" and len(path) > 1:
        path = path[:-1]
    before, last = path[:-1], path[-1]
    is_all = last.text == "*"
    return found._replace(
        module="::".join(one.text for one in before) or last.text,
        name=last.text if before else "",
        alias="" if is_all else alias.text if alias is not None else last.text,
        module_spot=_spot(found, before[-1] if before else last),
        name_spot=_spot(found, last) if before and not is_all else NOWHERE,
        alias_spot=_spot(found, alias) if alias is not None else NOWHERE,
    )


def _spot(found: Import, word: _Word) -> Spot:
    """Return the (line, column, length) of a word of a `use` declaration."""
    line, column, _ = found.module_spot
    lines = found.module.count("\n", 0, word.at)
    start = found.module.rfind("\n", 0, word.at) + 1
    return line + lines, word.at - start if lines else column + word.at, len(word.text)
