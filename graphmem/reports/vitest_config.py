"""Read from a Vitest configuration which files Vitest runs as tests.

The configuration is a program, which is not run. Only lists of literal strings in it are read. Without such lists, Vitest's defaults apply.
"""

from __future__ import annotations

import re
from typing import Final

DEFAULT: Final = ("**/*.{test,spec}.?(c|m)[jt]s?(x)",)
_PLAIN_GROUP: Final = re.compile(r"(?<![?*+@!\\])\(")
_LIST: Final = re.compile(r"\b(include|exclude|coverage)\s*:\s*([\[{])")
_TOKEN: Final = re.compile(r"""'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`[^`]*`|//[^\n]*|([\[{(])|([\]})])""")


def runs(config: str, path: str) -> bool:
    """Whether Vitest, with a given configuration, runs a file as a test.

    A file is run if a pattern in an `include` list matches it, and no pattern in an `exclude` list does. Without an `include` list,
    Vitest's default patterns apply. Lists about coverage are ignored.

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
    """Return the literal strings of a list, and the position after the list.

    The list begins at `start`, after its opening bracket.
    """
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
    from wcmatch import glob

    as_picomatch = glob.EXTGLOB | glob.BRACE | glob.GLOBSTAR | glob.DOTGLOB | glob.FORCEUNIX
    # Picomatch, which Vitest uses, reads plain parentheses as a group; wcmatch only those after a sign.
    grouped = _PLAIN_GROUP.sub("@(", pattern.removeprefix("./"))
    return glob.globmatch(path, grouped, flags=as_picomatch)
