"""Read from a Vitest configuration which files it runs as tests.

The configuration is a program, so only its lists of literal strings are read. Where it has none, Vitest's defaults hold.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

DEFAULT: Final = ("**/*.{test,spec}.?(c|m)[jt]s?(x)",)
_LIST: Final = re.compile(r"\b(include|exclude|coverage)\s*:\s*([\[{])")
_TOKEN: Final = re.compile(r"""'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`[^`]*`|//[^\n]*|([\[{(])|([\]})])""")


def runs(config: str, path: str) -> bool:
    """Whether a configuration makes Vitest run a file.

    A file is run if a list `include` has it and no list `exclude` has it. Lists about coverage are ignored.

    Args:
        config: the text of the configuration.
        path: the file, from the directory of the configuration.
    """
    wanted: list[str] = []
    unwanted: list[str] = []
    at = 0
    while found := _LIST.search(config, at):
        strings, at = _strings(config, found.end())
        if found[1] == "include" and found[2] == "[":
            wanted += strings
        elif found[1] == "exclude" and found[2] == "[":
            unwanted += strings
    return any(_matches(one, path) for one in wanted or DEFAULT) and not any(_matches(one, path) for one in unwanted)


def _strings(text: str, start: int) -> tuple[list[str], int]:
    """Return the strings up to the closing bracket, and its position."""
    found: list[str] = []
    depth = 1
    for token in _TOKEN.finditer(text, start):
        single, double, opening, closing = token.groups()
        if single is not None or double is not None:
            found.append(single if single is not None else double)
        depth += bool(opening) - bool(closing)
        if not depth:
            return found, token.end()
    return found, len(text)


def _matches(pattern: str, path: str) -> bool:
    compiled = _compiled(pattern.removeprefix("./"))
    return compiled is None or compiled.fullmatch(path) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """Translate a glob, with the signs of picomatch; None if it cannot be."""
    out: list[str] = []
    closings: list[str] = []
    i = 0
    while i < len(pattern):
        sign, rest = pattern[i], pattern[i:]
        if rest.startswith("**/"):
            out.append(r"(?:[^/]+/)*")
            i += 3
        elif rest.startswith("**"):
            out.append(".*")
            i += 2
        elif sign in "?*+@" and rest[1:2] == "(":
            out.append("(?:")
            closings.append(")" + ("" if sign == "@" else sign))
            i += 2
        elif sign in "({":
            out.append("(?:")
            closings.append(")")
            i += 1
        elif sign in ")}" and closings:
            out.append(closings.pop())
            i += 1
        elif sign == "[" and "]" in rest:
            end = rest.index("]") + 1
            out.append(rest[:end].replace("[!", "[^"))
            i += end
        else:
            plain = {"*": "[^/]*", "?": "[^/]", "|": "|", ",": "|" if closings else ","}
            out.append(plain.get(sign) or re.escape(sign))
            i += 1
    try:
        return re.compile("".join(out))
    except re.error:
        return None
