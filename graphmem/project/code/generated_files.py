"""Count the generated files outside the index that may use a symbol.

If nothing is known to depend on a symbol, such a file may be the only one that uses it. An example is a server that go-swagger writes
around functions for a person to complete.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

from graphmem.analysis.families import family_of
from graphmem.answers import Cause
from graphmem.model import GENERATED


def cause(able: Collection[str], meta: Mapping[str, str]) -> Cause | None:
    """Return a note about left-out files that may use some symbols, or None.

    Args:
        able: families of languages (see `families`) whose code can name the symbols; generated files in other languages do not count.
        meta: metadata of the database.
    """
    counts: dict[str, int] = json.loads(meta.get(GENERATED, "{}"))
    count = sum(files for language, files in counts.items() if family_of(language) in able)
    if not count:
        return None
    are, them = ("generated file is", "it") if count == 1 else ("generated files are", "them")
    included = "a `!` pattern in .graphmemignore, or the setting `include_vendored`, includes"
    return Cause("generated", f"{are} not in the index and may use this code; {included} {them}", count)
