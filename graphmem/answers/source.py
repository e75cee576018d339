"""Answers about the text of files, and about the folders that hold them."""

from __future__ import annotations

from typing import Annotated, Any

from graphmem.answers.code import IndexState
from graphmem.answers.marks import Doc, Size
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import Moment


@answer
class FileSource:
    """The text of a file with its colours and the meanings of its names."""

    path: str
    language: str
    text: Annotated[str, Doc("the file as it is now, as UTF-8 with `\\n` at the ends of lines")]
    columns: Annotated[
        dict[str, Any],
        Doc(
            "lists by name: `tokens` (`length` and `kind`) cover the text in order, and `kind` is an index into `kinds`; `names` (`line`, "
            "`column`, `end`, `role`, `ref`) are names with a meaning, and `ref` is an index into `refs` (`ref`, `kind`, `signature`). "
            "Lines are 1-based; lengths and columns are UTF-16 code units"
        ),
    ]
    is_stale: Annotated[bool, Doc("whether the file has changed since it was indexed")]
    note: Annotated[str, Doc("why the text is missing or has no colours; else an empty text")]


@answer
class FolderEntry:
    """A file, or a folder with everything below it."""

    name: Annotated[str, Doc("a folder that holds only one folder is joined with it, as `src/main`")]
    path: str
    is_folder: bool
    files: Annotated[int, Doc("number of indexed files below a folder; 1 for a file")]
    symbols: Annotated[int, Doc("number of symbols in these files")]
    is_test: Annotated[bool, Doc("whether a file defines tests")]


@answer
class Folder:
    """What a folder of the project holds: folders first, then files."""

    path: Annotated[str, Doc("empty for the root of the project")]
    entries: Annotated[list[FolderEntry], Size(50)]
    state: IndexState


@answer
class BlameRun:
    """Neighbouring lines that one commit wrote."""

    line: Annotated[int, Doc("the first line, 1-based")]
    lines: Annotated[int, Doc("number of lines")]
    commit: Annotated[str, Doc("the full hash; empty for lines that are not committed")]
    author: str
    at: Annotated[Moment, Doc("time of the author")]
    subject: Annotated[str, Doc("first line of the commit's message")]


@answer
class Blame:
    """Who last changed each line of a file, by Git."""

    path: str
    runs: Annotated[list[BlameRun], Doc("in the order of the lines"), Size(100)]
    notes: Annotated[list[str], Doc("why lines are missing"), Size(1)]
