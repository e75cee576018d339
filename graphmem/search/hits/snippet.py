"""Extract the few lines of a hit that best answer a query."""

from __future__ import annotations

from typing import Final

from graphmem.projection.words.text import STOP_WORDS, query_words

LINES: Final = 6
WIDTH: Final = 200  # characters of a line
_MAX_SCANNED: Final = 400  # lines


def snippet(text: str, query: str) -> str:
    """Return the LINES consecutive lines of a hit that best match the query.

    A line matches by the words of the query that it contains. If no line has such a word, the first lines are returned. Truncated lines end
    in "…". Common indentation is removed.
    """
    lines = text.split("\n")
    start = _best_window(lines[:_MAX_SCANNED], query) if len(lines) > LINES else 0
    shown = lines[start : start + LINES]
    indent = min((len(line) - len(line.lstrip()) for line in shown if line.strip()), default=0)
    return "\n".join(line if len(line) <= WIDTH else f"{line[:WIDTH]}…" for line in (line[indent:].rstrip() for line in shown)).strip("\n")


def _best_window(lines: list[str], query: str) -> int:
    """Return the index of the line at which the best matching lines begin.

    The best match is a run of LINES consecutive lines. Runs are compared by three criteria, in this order: the number of distinct words of
    the query, the number of all words of the query, and whether the first line has such a word. Of equal runs, the first is chosen.
    """
    folded = "\n".join(lines).casefold()
    wanted = {word for word in set(query_words(query)) - STOP_WORDS if word in folded}
    if not wanted:
        return 0
    none: set[str] = set()
    found = [
        wanted.intersection(query_words(line)) if any(map(low.__contains__, wanted)) else none
        for line, low in zip(lines, folded.split("\n"), strict=True)
    ]

    def worth(start: int) -> tuple[int, int, bool]:
        window = found[start : start + LINES]
        return len(set().union(*window)), sum(map(len, window)), bool(window[0])

    last = max(0, len(lines) - LINES)
    near = {start for at, words in enumerate(found) if words for start in range(max(0, at - LINES + 1), min(at, last) + 1)}
    # max returns the first of equals.
    return max(sorted(near), key=worth, default=0)
