"""Fit lines of an answer into a budget of tokens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from graphmem.runtime.texts.safe_text import inert

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_PIECE: Final = re.compile(r"[^\W_]{1,4}|_|[^\w\s]")

_CUT: Final = "… "  # start of the line about omitted rows
_LAST_LINE: Final = 30  # tokens reserved for the line about omitted rows
_SHARED: Final = 4 * _LAST_LINE  # tokens; with fewer, sections of an answer do not get shares of their own


def tokens(text: str) -> int:
    """Return an upper bound of the number of tokens in an answer.

    Four letters count as one token. Every other character and every line end counts as one token, too. Real counts are lower, because
    byte-pair vocabularies contain most English words and many parts of identifiers. So an answer never exceeds its budget.
    """
    return len(_PIECE.findall(text)) + text.count("\n")


def fitted(head: Iterable[str], rows: Sequence[str], budget: int, more: str) -> str:
    """Join lines to an answer within a budget of tokens.

    All lines of `head` are included, then rows until the first that does not fit. A last line then counts the omitted rows.

    Args:
        head: lines that are always included.
        rows: lines in order of importance.
        budget: maximum number of tokens.
        more: instruction for getting the omitted rows.
    """
    lines = [inert(line) for line in head]
    left = budget - tokens("\n".join(lines)) - _LAST_LINE
    for shown, row in enumerate(map(inert, rows)):
        left -= tokens(row) + 1
        if left < 0:
            return "\n".join([*lines, f"{_CUT}{len(rows) - shown} more lines: {more}"])
        lines.append(row)
    return "\n".join(lines)


def shared(sections: Sequence[tuple[Sequence[str], float]], budget: int, more: str) -> str:
    """Join sections of lines, in order, to an answer within a token budget.

    If too few tokens are left to be divided, the remaining sections are joined to one. If a section does not fit, its last line states how
    many lines were omitted.

    Args:
        sections: (lines, share) of each section. A section gets at most this share of the tokens that are left. The last section gets all
            of them.
        budget: maximum number of tokens.
        more: instruction for getting the omitted lines.
    """
    parts: list[str] = []
    left = [one for one in sections if one[0]]
    while left:
        if len(left) == 1 or budget < _SHARED:
            part = fitted((), [line for rows, _ in left for line in rows], budget, more)
            left = []
        else:
            (rows, share), *left = left
            part = fitted((), rows, int(share * budget), more)
        budget -= tokens(part) + 1
        parts.append(part)
        if part.rpartition("\n")[2].startswith(_CUT):
            more = "likewise"
    return "\n".join(parts)
