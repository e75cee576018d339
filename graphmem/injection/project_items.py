"""Convert files, search hits and sessions to items for an agent.

Only files in the directory of the project are read.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphmem.answers import SearchHit
from graphmem.injection.items import Item, clean, of_memory, plain_path
from graphmem.injection.tokens import count_once, count_tokens
from graphmem.runtime.files.inside import inside
from graphmem.search.query.places import named_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graphmem.answers import SessionSummary
    from graphmem.answers.injection import PrefetchedFile
    from graphmem.projection.graph.view import GraphView

MAX_LINES: Final = 80  # of one piece of code
COUNTED: Final = 4_096  # files whose token counts are cached while unchanged


def of_summary(one: SessionSummary, room: int) -> Item:
    """Return the summary of a session as an item for an agent.

    The full summary is used if it takes at most half of `room` tokens; otherwise the short form.
    """
    whole = clean(one.markdown)
    text = whole if count_tokens(whole) <= room // 2 else clean(one.short)
    return Item("summaries", "summary", f"session:{one.session}", text, title=clean(one.title), untrusted=one.contaminated)


def of_prefetch(module: str, files: Sequence[PrefetchedFile]) -> Item:
    """Return one line that names files to read before work on a module."""
    listed = ", ".join(f"{plain_path(one.path)} ({one.why})" for one in files)
    return Item("editor", "file", f"prefetch:{module}", f"Work on {plain_path(module)} usually begins with: {listed}")


def of_places(hits: Sequence[SearchHit]) -> Item:
    """Return one line that names the code a task most likely concerns."""
    listed = ", ".join(plain_path(one.path) + (f":{_range(one)} {plain_path(one.qualname)}" if one.qualname else "") for one in hits)
    return Item("editor", "file", "places", f"Code that this task most likely concerns, likeliest first: {listed}")


def named_places(view: GraphView, text: str, found: Mapping[str, SearchHit]) -> list[SearchHit]:
    """Return the files that a message names, such as `app/base.py`.

    Only a name that one file has counts. `found` has search hits by file; another file is returned as a whole.
    """
    named = [path for path, sure in named_files(view, text).items() if sure == 1.0 and view.file_node(path) is not None]
    return [found.get(path) or SearchHit(path, "code", path, "", "file", 1, 1, path, "", 0.0, []) for path in named]


def _range(hit: SearchHit) -> str:
    return f"{hit.start_line}-{hit.end_line}" if hit.end_line > hit.start_line else str(hit.start_line)


def tokens_of(root: Path | None, path: str) -> int | None:
    """Return the number of tokens of a project's file.

    The result is None if the file is missing, unreadable or outside the project.
    """
    if root is None:
        return None
    file = inside(root, path)
    if file is None or not file.is_file():
        return None
    try:
        found = file.stat()
        return _tokens_in(file, found.st_mtime_ns, found.st_size)
    except OSError:
        return None


@lru_cache(maxsize=COUNTED)
def _tokens_in(file: Path, changed_ns: int, size: int) -> int:
    """Return the number of tokens in the first mebibyte of a file.

    The result is cached until the file's time or size changes. The rest of a larger file is not counted, because such a file fits into no
    budget.
    """
    with file.open("rb") as opened:
        return count_once(opened.read(1 << 20).decode("utf-8", "replace"))


def of_hit(hit: SearchHit, root: Path | None, stale: set[str]) -> Item:
    """Convert a search hit to an item for an agent.

    A memory is shown in full. Code is shown with its current lines. If the file of the code is in `stale` (changed since it was indexed),
    the stored snippet is shown instead.
    """
    if hit.memory is not None:
        return of_memory(hit.memory, "retrieval", hit.score)
    lines = _lines(root, hit) if hit.path and hit.path not in stale else None
    item = Item("retrieval", "code", hit.node or hit.id, clean(hit.snippet), title=hit.title, path=hit.path, score=hit.score)
    if lines is None:
        return item._replace(start_line=hit.start_line, end_line=hit.end_line)
    return item._replace(text="\n".join(lines), start_line=hit.start_line, end_line=hit.start_line + len(lines) - 1)


def _lines(root: Path | None, hit: SearchHit) -> list[str] | None:
    if root is None or not hit.start_line:
        return None
    file = inside(root, hit.path)
    if file is None or not file.is_file():  # a pipe would block
        return None
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = clean(text).split("\n")[hit.start_line - 1 : min(hit.end_line, hit.start_line + MAX_LINES - 1)]
    return [line.rstrip() for line in found] or None
