"""Apply an edit of a notebook, and compare its code before and after.

Agents name a cell by its id, or by its position as in `cell-3`, which counts from 0. Both versions are written the way Jupyter writes them,
so unchanged cells keep their lines relative to each other.
"""

from __future__ import annotations

import copy
import json
import re
from typing import TYPE_CHECKING, Any, Final

from graphmem.parsing.sources import notebook_language, source_of

if TYPE_CHECKING:
    from graphmem.injection.consequences import Edit

_PLACE: Final = re.compile(r"(?:cell-)?(\d{1,6})")


def code_versions(edit: Edit, content: str) -> tuple[str, str]:
    """Return the code of a notebook before and after an edit.

    `content` is the notebook as JSON, before the edit. Both results are "" if it is damaged, and equal if it lacks the edited cell or text.
    """
    before = _parsed(content)
    after = _edited(copy.deepcopy(before), edit, content)
    return _code(edit.path, before), _code(edit.path, after)


def _parsed(content: str) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("cells"), list) else {}


def _edited(notebook: dict[str, Any], edit: Edit, content: str) -> dict[str, Any]:
    """Return a notebook after an edit.

    `notebook` is the parsed notebook before the edit, and may be changed. `content` is its JSON text. An edit that does not fit changes
    nothing.
    """
    cells = notebook.get("cells", [])
    if edit.cell or edit.is_insertion:
        at = _index(cells, edit.cell)
        source = edit.new.splitlines(keepends=True)
        if edit.is_insertion:
            cells.insert(0 if at is None else at + 1, {"cell_type": "code", "source": source})
        elif at is not None:
            cells[at]["source"] = source
        return notebook
    if edit.old is None:
        return _parsed(edit.new)
    for cell in cells:
        if edit.old and edit.old in (written := _source(cell)):
            cell["source"] = written.replace(edit.old, edit.new, 1).splitlines(keepends=True)
            return notebook
    return _parsed(content.replace(edit.old, edit.new, 1)) if edit.old else notebook


def _index(cells: list[Any], name: str) -> int | None:
    named = next((at for at, cell in enumerate(cells) if isinstance(cell, dict) and cell.get("id") == name), None)
    place = _PLACE.fullmatch(name)
    return int(place[1]) if named is None and place is not None and int(place[1]) < len(cells) else named


def _source(cell: object) -> str:
    source = cell.get("source", "") if isinstance(cell, dict) else ""
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def _code(path: str, notebook: dict[str, Any]) -> str:
    """Return the code of a notebook, as `source_of` lays it out."""
    if not notebook:
        return ""
    lines = [
        {**cell, "outputs": [], "source": _source(cell).splitlines(keepends=True)} for cell in notebook["cells"] if isinstance(cell, dict)
    ]
    written = json.dumps({**notebook, "cells": lines}, indent=1, ensure_ascii=False).encode("utf-8", "replace")
    return source_of(path, written, notebook_language(written)).text.decode("utf-8")
