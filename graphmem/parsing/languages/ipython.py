"""Remove the commands of IPython from the code of a notebook cell.

Commands are lines such as `%matplotlib inline`, `!pip install x` or `name?`. `%%bash` makes the whole cell a script of another language.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from graphmem.parsing.notebook import notebook_table

_CELL: Final = re.compile(r"\s*%%(\w+)")
_LINE: Final = re.compile(r"(\s*)%(\w+)((?:[ \t]+-[a-zA-Z]\w*(?:[ \t]+\d+)?)*)[ \t]*")
_SHELL: Final = re.compile(r"\s*!")
_ASSIGNED: Final = re.compile(r"(\s*+[\w.,\[\]][\w.,\[\] \t]*=[ \t]*)(![^=]|%[a-zA-Z]).*")
_HELP: Final = re.compile(r"\s*(?:\?{1,2}[%\w.*]+|[%\w.*]+\?{1,2})\s*+;?\s*+$")
_TOKEN: Final = re.compile(r"""\\.|#.*|\"\"\"|'''|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|[(\[{]|[)\]}]""")


def without_commands(lines: Sequence[str]) -> list[str]:
    """Return the lines of a cell, where commands of IPython are replaced.

    A command becomes an empty line. Code that a command such as `%time` runs is kept. A variable that gets the output of a command gets an
    empty list.
    """
    table = notebook_table()
    first = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    found = list(lines)
    if first < len(lines) and (command := _CELL.match(lines[first])):
        if command[1] not in table.running_cells:
            return [""] * len(lines)
        found[first] = ""
    state = _State()
    is_continued = False
    for number, line in enumerate(found):
        if is_continued or (not state.is_inside and (code := _command(line, table.running_lines)) is not None):
            found[number] = "" if is_continued else code or ""
            is_continued = line.endswith("\\")
        state.read(found[number])
    return found


def _command(line: str, running: frozenset[str]) -> str | None:
    """Return the Python code of a command; None if the line is not a command.

    `running` has the names of commands that run code, such as `%time`.
    """
    if _SHELL.match(line) or _HELP.match(line):
        return ""
    if command := _LINE.match(line):
        return command[1] + line[command.end() :] if command[2] in running else ""
    assigned = _ASSIGNED.match(line)
    return f"{assigned[1]}[]" if assigned else None


class _State:
    """Tracks whether the next line continues a statement.

    It does inside brackets, inside a long string, and after a backslash.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._quote = ""
        self._is_joined = False  # the last line ends with a backslash

    @property
    def is_inside(self) -> bool:
        return bool(self._depth or self._quote or self._is_joined)

    def read(self, line: str) -> None:
        """Update the state with the next line of the cell."""
        at = 0
        self._is_joined = line.endswith("\\")
        while at < len(line):
            if self._quote:
                end = line.find(self._quote, at)
                if end < 0:
                    return
                at, self._quote = end + 3, ""
                continue
            token = _TOKEN.search(line, at)
            if token is None:
                return
            at, sign = token.end(), token[0]
            if sign in ('"""', "'''"):
                self._quote = sign
            elif sign in ("(", "[", "{"):
                self._depth += 1
            elif sign in (")", "]", "}"):
                self._depth = max(0, self._depth - 1)
            elif sign.startswith("#"):
                self._is_joined = False
