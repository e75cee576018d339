"""The text of a file whose positions the index stores.

For most files, this is their content as UTF-8. For a notebook, it is the code of the cells, at the lines that it has in the file.
"""

from __future__ import annotations

from typing import NamedTuple

from graphmem.parsing.encoding import to_utf8
from graphmem.parsing.facts import Note
from graphmem.parsing.language import language_spec, languages
from graphmem.parsing.notebook import EMPTY, Cell, NotebookError, is_notebook, kernel_language, laid_out, read_notebook
from graphmem.runtime.data.conventions import conventions_of


class Source(NamedTuple):
    """The code of a file as UTF-8; for a notebook, also its Markdown cells."""

    text: bytes  # code, without byte order mark
    encoding: str
    notes: tuple[Note, ...]  # problems of reading: (severity, code, message, line)
    documentation: bytes = b""  # Markdown of a notebook, at its lines in the file
    cells: tuple[Cell, ...] = ()  # of a notebook


def source_of(path: str, data: bytes, language: str) -> Source:
    """Return the code of a file and its documentation; never fails.

    Args:
        path: path of the file; its name tells whether it is a notebook.
        data: the bytes of the file.
        language: name of the language's folder in `grammars/`, or "text".
    """
    text = to_utf8(data, language)
    notes: tuple[Note, ...] = (("note", "encoding", text.note, 0),) if text.note else ()
    if not is_notebook(path):
        return Source(text.source, text.encoding, notes)
    try:
        notebook = read_notebook(text.source.decode("utf-8"))
    except NotebookError as error:
        return Source(b"", text.encoding, (*notes, ("error", "notebook", str(error), error.line)))
    if notebook.is_moved:
        reason = "its file has several lines of code on one line, so line numbers differ from the file; save it in Jupyter"
        notes = (*notes, ("note", "notebook", reason, 0))
    if language == "text":
        reason = f"graphmem has no grammar for {notebook.language}; its cells are searched as text, and their names are not in the graph"
        notes = (*notes, ("note", "notebook", reason, 0))
    from graphmem.parsing.languages import helper_named  # only for notebooks: it imports tree-sitter

    spec = language_spec(language) if language in languages() else None
    # Where comments document definitions, a comment with the cell's number would, too.
    is_marked = spec is not None and not spec.line_comment and conventions_of(language).hash_comments
    helper = helper_named(spec.helper if spec is not None else "")
    code: list[list[tuple[int, str]]] = []
    for cell in notebook.cells:
        if cell.is_code:
            lines = helper.cell([line for _, line in cell.lines])
            placed = [(number, line) for (number, _), line in zip(cell.lines, lines, strict=True)]
            above = placed[0][0] - 1
            if is_marked and above > (code[-1][-1][0] if code else 0):
                placed.insert(0, (above, f"# %% cell {cell.number}"))
            code.append(placed)
    documentation = laid_out([cell.lines for cell in notebook.cells if not cell.is_code])
    return Source(laid_out(code), text.encoding, notes, documentation, tuple(notebook.cells))


def notebook_size(data: bytes) -> int:
    """Return the number of bytes of a notebook's code and documentation.

    The result for an unreadable notebook is the size of `data`.
    """
    try:
        notebook = read_notebook(to_utf8(data).source.decode("utf-8"))
    except NotebookError:
        return len(data)
    return sum(len(line) + 1 for cell in notebook.cells for _, line in cell.lines)


def notebook_language(data: bytes) -> str:
    """Return the folder in `grammars/` for the code of a notebook, or "text".

    An unreadable notebook gets the default language. It is then parsed, and a diagnostic reports the fault.
    """
    try:
        return kernel_language(read_notebook(to_utf8(data).source.decode("utf-8")))
    except NotebookError:
        return kernel_language(EMPTY)
