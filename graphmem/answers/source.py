"""Answers about the text of files, and about the folders that hold them."""

from __future__ import annotations

from typing import Annotated, Any

from graphmem.answers.code import IndexState
from graphmem.answers.marks import Doc, Size
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import Moment


@answer
class FileSource:
    """The text of a file, its syntax colours, and what each name refers to."""

    path: str
    language: str
    text: Annotated[str, Doc("current text of the file, as UTF-8 with `\\n` at the ends of lines")]
    columns: Annotated[
        dict[str, Any],
        Doc(
            "tables, by name. `tokens` has the columns `length` and `kind` (an index into the list `kinds`); its rows cover the "
            "text from start to end. `names` has a row for each name that refers to a symbol: `line`, `column`, `end`, `role` "
            "and `ref` (an index into the table `refs`). `refs` has `ref`, `kind` and `signature`. Lines count from 1; lengths "
            "and columns are UTF-16 code units"
        ),
    ]
    is_stale: Annotated[bool, Doc("true when the file has changed since it was indexed")]
    note: Annotated[str, Doc("why the text is missing or has no colours; empty otherwise")]


@answer
class FolderEntry:
    """A file, or a folder with all files in and below it."""

    name: Annotated[str, Doc("name of the file or folder; a folder that holds only one folder is joined with it, as `src/main`")]
    path: str
    is_folder: bool
    files: Annotated[int, Doc("number of indexed files in the folder and below; 1 for a file")]
    symbols: Annotated[int, Doc("number of symbols in the file, or in all files of the folder")]
    is_test: Annotated[bool, Doc("true when the file defines tests")]


@answer
class Folder:
    """The contents of a folder of the project: folders first, then files."""

    path: Annotated[str, Doc("path of the folder; empty for the root of the project")]
    entries: Annotated[list[FolderEntry], Size(50)]
    state: IndexState


@answer
class BlameRun:
    """Neighbouring lines that one commit wrote."""

    line: Annotated[int, Doc("number of the first line of the group in the file; the first line of a file is 1")]
    lines: Annotated[int, Doc("number of neighbouring lines in the group, all written by one commit")]
    commit: Annotated[str, Doc("full hash of the commit; empty for lines that are not committed")]
    author: str
    at: Annotated[Moment, Doc("time at which the author made the commit")]
    subject: Annotated[str, Doc("first line of the commit's message")]


@answer
class Blame:
    """The last change of each line of a file, according to Git."""

    path: str
    runs: Annotated[list[BlameRun], Doc("groups of neighbouring lines that one commit wrote, in the order of the lines"), Size(100)]
    notes: Annotated[list[str], Doc("why the answer lacks lines of the file; empty if it is complete"), Size(1)]
