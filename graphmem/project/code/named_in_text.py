"""Find places that name a symbol in a string or in a plain text file.

`getattr(view, "get_" + kind)`, a configuration key or a generated table can call a symbol, and no edge shows it. If nothing is known to
depend on a symbol, these places are where to look.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from graphmem.answers import Cause
from graphmem.parsing.language import languages
from graphmem.projection.graph.arrays import EXTERNAL
from graphmem.projection.words.entries import DamagedWordsError
from graphmem.projection.words.text import query_words
from graphmem.runtime.texts.lines import lines_of

if TYPE_CHECKING:
    from graphmem.projection.graph.view import GraphView
    from graphmem.projection.projections import Projections
    from graphmem.projection.words.entries import Entry

MAX_CHUNKS: Final = 100
"""Chunks with a name above which it is taken for an ordinary word."""

MAX_PLACES: Final = 20
"""Places of a name above which it is taken for an ordinary word."""

MAX_EXAMPLES: Final = 5
"""Most places that an answer shows."""

_MIN_LETTERS: Final = 5
_LONG: Final = 9  # letters of a plain word that is rarely prose


@dataclass(eq=False, repr=False)
class NamedInText:
    """Finds places where text names a symbol, but no edge leads to the symbol.

    An example is the name of a function inside a string.
    """

    projections: Projections

    def cause(self, names: Sequence[str]) -> Cause | None:
        """Return a note with the places in text that have one of `names`.

        `names` are names of symbols. Methods that are called on the value of a library's function count as places, too. Names that are also
        ordinary words, and names in more than `MAX_PLACES` places, are left out. The result is None if no place is found, or while the
        index of words is being built.
        """
        snapshot = self.projections.snapshot()
        view, words = snapshot.graph, snapshot.words
        if words is None:  # the index is being made
            return None
        places: list[str] = []
        on_values = [place for name in names if is_distinct(name) for place in _on_values(view, name)]
        try:
            for name in names:
                searched = query_words(name) if is_distinct(name) else ()
                if searched:  # a very long name has no words in the index
                    chunks = words.chunks_with(searched[0], MAX_CHUNKS)  # the first word is the name as a whole
                    here = sorted({place for entry in chunks for place in _places(view, entry, name)})
                    places += [f"{path}:{line}" for path, line in here] if len(here) <= MAX_PLACES else []
        except DamagedWordsError as error:
            snapshot.report_damage(words, 0.0)
            return Cause("named_in_text", f"places that only name a target are not known: {error}", 0)
        on_values = [place for place in on_values if place not in places] if len(on_values) <= MAX_PLACES else []
        where = "in a string, or in a file that is read as text" if not on_values else "in text, or on a value that a library returned"
        places += on_values
        if not places:
            return None
        name_it = "place names" if len(places) == 1 else "places name"
        message = f"{name_it} a target {where}; look there"
        return Cause("named_in_text", message, len(places), places[:MAX_EXAMPLES])


def _on_values(view: GraphView, name: str) -> list[str]:
    """Return the places that call a method `name` on what a library returns.

    An example is a call on the value of `get_object_or_404(Image)`. Such a value may be an object of the project. The places are
    `path:line`, ascending.
    """
    found: set[tuple[str, int]] = set()
    for node in view.by_name(name).tolist():
        if view.label[node] == EXTERNAL and "()" in view.qualname(node):
            for row in view.in_edges(node, ("CALLS",)).tolist():
                found.update((view.path(int(view.src[row])), line) for line in view.lines_of(row))
    return [f"{path}:{line}" for path, line in sorted(found)]


def is_distinct(name: str) -> bool:
    """Whether a name, such as `get_key`, is unlikely to be an ordinary word."""
    has_parts = "_" in name.strip("_") or any(left.islower() and right.isupper() for left, right in pairwise(name))
    return len(name) >= _MIN_LETTERS and (has_parts or len(name) >= _LONG) and not name.startswith("__")


def _places(view: GraphView, entry: Entry, name: str) -> Iterator[tuple[str, int]]:
    """Yield (path, line) of each line of the chunk `entry` that has `name`.

    A chunk is a piece of a file. If graphmem resolves calls in the file's language, only names inside strings are reported. A chunk of
    prose, such as documentation, yields nothing.
    """
    if entry.kind == "prose":
        return
    number = view.path_number.get(entry.path)
    spec = languages().get(view.languages[number]) if number is not None else None
    word = rf"(?<![\w]){re.escape(name)}(?!\w)"
    quoted = rf"""(["'`])(?:(?!\1).)*{word}(?:(?!\1).)*\1"""
    pattern = re.compile(quoted if spec is not None and spec.rules else word)
    for line, text in enumerate(lines_of(entry.text), entry.start_line):
        if name in text and pattern.search(text):
            yield entry.path, line
