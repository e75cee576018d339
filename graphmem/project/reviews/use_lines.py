"""Find the lines that use edited code, in the present content of a file.

The index may have an older version: an agent edits a file several times in a row.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from graphmem.project.reviews.signatures import passes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.injection.consequences import Dependent
    from graphmem.project.reviews.signatures import Lost

MAX_LINE: Final = 90  # characters of a shown line of code
CALL_LINES: Final = 8  # of a call, in which the name of the called code is searched
MOVED_LINES: Final = 60  # by which edits since the last index run may have moved a call
_BRACKETS: Final = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def with_code(one: Dependent, lines: Sequence[str]) -> Dependent:
    """Return a dependent with the line of code that names what it uses.

    `lines` is its file. A call that is written over several lines begins at a line that may not have the name. If edits have moved the
    dependent or its use since the file was indexed, the line is moved, too. If they have removed the use, the line has no code.
    """
    moved = _moved(lines, one)
    if moved is None:
        return one
    first = one.line + moved
    begin = one.begins + moved
    end = _end(lines, begin, one.name.rpartition(".")[2]) if one.begins else len(lines)
    name = _any_of(one.uses)
    line = next((at for at in range(first, min(first + CALL_LINES, end + 1)) if name and name.search(shown_line(lines, at))), 0)
    line = line or _nearest_use(lines, one, first, (begin, end))
    call = _call(lines, line)
    every = [one.strip() for one in lines]
    marks = frozenset(one for one in call if every.count(one) == 1)
    return one._replace(line=line or first, code=shown_line(lines, line), call=call, marks=marks)


def shown_line(lines: Sequence[str], number: int) -> str:
    """Return line `number`, stripped; "" if missing or too long.

    The first line has the number 1.
    """
    line = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    return line if len(line) <= MAX_LINE else ""


def _any_of(names: Sequence[str]) -> re.Pattern[str] | None:
    """Return an expression that finds any of some names, as whole words."""
    found = "|".join(map(re.escape, filter(None, names)))
    return re.compile(rf"(?<!\w)(?:{found})(?!\w)") if found else None


def _moved(lines: Sequence[str], one: Dependent) -> int | None:
    """Return by how many lines a definition has moved since it was indexed.

    The result is None if it is not found near its old place in `lines`, the lines of its file.
    """
    name = re.compile(rf"\b{re.escape(one.name.rpartition('.')[2])}\b")
    if not one.begins or any(name.search(line) for line in lines[one.begins - 1 : one.begins - 1 + CALL_LINES]):
        return 0  # decorators may stand before the name
    near = [at - one.begins for at, line in enumerate(lines, 1) if abs(at - one.begins) <= MOVED_LINES and name.search(line)]
    return min(near, key=abs, default=None)


def _nearest_use(lines: Sequence[str], one: Dependent, first: int, body: tuple[int, int]) -> int:
    """Return the line nearest to `first` that names what a dependent uses.

    The line is in `body`, the first and last line of the dependent. The result is 0 if no such line is near, but another line of the file
    has the name. If no line has it, the dependent uses it by another name, such as an alias, and `first` is returned.
    """
    name = _any_of(one.uses)
    found = [at for at, line in enumerate(lines, 1) if name and name.search(line)]
    near = (at for at in found if body[0] <= at <= body[1] and abs(at - first) <= MOVED_LINES)
    return min(near, key=lambda at: abs(at - first), default=0) if found else first


def _end(lines: Sequence[str], begin: int, name: str) -> int:
    """Return the last line of a definition that begins at line `begin`.

    It ends before the next line that is not indented more than the line with its name. Lines such as `)` belong to it.
    """
    head = next((at for at in range(begin, begin + CALL_LINES) if at <= len(lines) and name in lines[at - 1]), begin)
    indent = _indent(lines[head - 1]) if head <= len(lines) else 0
    after = (at for at in range(head + 1, len(lines) + 1) if re.match(r"\s*[\w@#/]", lines[at - 1]) and _indent(lines[at - 1]) <= indent)
    return next(after, len(lines) + 1) - 1


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _call(lines: Sequence[str], first: int) -> tuple[str, ...]:
    """Return the lines of a use from line `first`, without indents.

    They end where the brackets of the use close.
    """
    found: list[str] = []
    depth = 0
    for line in lines[first - 1 : first - 1 + CALL_LINES] if first else ():
        found.append(line.strip())
        depth += sum(_BRACKETS.get(sign, 0) for sign in line)
        if depth <= 0:
            break
    return tuple(found)


def fails_without(one: Dependent, lost: Lost) -> bool:
    """Whether a dependent may fail if a function loses parameters.

    This holds if its call passes one of them, or if the call is not found.
    """
    text = "\n".join(one.call)
    name = _any_of(one.uses)
    calls = [text[found.end() + 1 :] for found in name.finditer(text) if text[found.end() : found.end() + 1] == "("] if name else []
    return not calls or any(passes(call, lost) for call in calls)
