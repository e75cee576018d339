"""Find the code of a commit that still exists, with its definitions.

The message of an old fix often explains code that was rewritten since. Lines that the commit added, and that its files still contain, show
which definitions the message is about.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphmem.analysis.unified_diff import parse
from graphmem.errors import GitError
from graphmem.memory.texts.link import definition_at
from graphmem.runtime import git
from graphmem.runtime.files.inside import inside

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from graphmem.projection.graph.view import GraphView

LEAST: Final = 0.5  # share of a commit's added lines that its files must still contain
MOST_DEFINITIONS: Final = 3
SHORTEST: Final = 8  # characters of a line that is compared; shorter ones, such as `else:`, are in every file
PATIENCE_S: Final = 5.0


def definitions_left(root: Path, sha: str, files: Sequence[str], view: GraphView) -> list[str] | None:
    """Return the ids of the definitions that contain what a commit added.

    The ones with the most added lines come first. The result is None if less than `LEAST` of the added lines still exist. It is empty if
    the commit added no line that can be recognised, for example because it only deleted lines.

    Args:
        root: root of the working tree.
        sha: hash of the commit.
        files: paths of existing files that the commit changed.
        view: the code graph of the working tree.

    Raises:
        GitError: Git cannot show the commit, for example in a partial clone, or takes more than `PATIENCE_S`.
        BadInputError: the change is too large to be read.
    """
    added = _added(root, sha, files)
    total, left = 0, 0
    found: Counter[int] = Counter()
    for path, lines in added.items():
        places = _places(inside(root, path))
        file = view.file_node(path)
        for line in lines:
            total += 1
            numbers = places.get(line, [])
            left += bool(numbers)
            if len(numbers) == 1 and file is not None and (around := definition_at(view, file, numbers[0])) is not None:
                found[around] += 1
    if total and left < LEAST * total:
        return None
    return [view.ids[node] for node, _ in found.most_common(MOST_DEFINITIONS)]


def _added(root: Path, sha: str, files: Sequence[str]) -> dict[str, Collection[str]]:
    """Map each of the files to the lines that a commit added to it.

    The lines have no indentation. Very short lines, and lines without a letter, are left out.
    """
    # Without the old path among the paths that are asked for, every line of a renamed file would look added.
    options = ("--patch", "--unified=0", "-M", "--diff-filter=d", "--no-color", "--no-ext-diff", "--no-textconv", "--relative")
    command = ("log", "-1", *options, "--format=", sha, "--")
    shown = git.answer(root, command, timeout_s=PATIENCE_S)
    if shown.returncode:
        stderr = shown.stderr.decode("utf-8", "replace")
        raise GitError(
            f"git cannot show the commit {sha[:12]} ({git.reason(shown.stderr)}); run `git fsck` to find the cause",
            command=command,
            stderr=stderr,
        )
    return {
        change.new_path: [
            line.strip()
            for hunk in change.hunks
            for number, line in enumerate(hunk.new.lines, hunk.new.start)
            if number in change.new_lines and _is_told_apart(line.strip())  # diff.interHunkContext may add other lines
        ]
        for change in parse(os.fsdecode(shown.stdout).lstrip("\n"))
        if change.new_path in files
    }


def _places(file: Path | None) -> dict[str, list[int]]:
    """Map each line of a file, without indentation, to its line numbers.

    The result is empty for None, and for what is not a regular file.
    """
    found: dict[str, list[int]] = {}
    if file is None or not file.is_file():
        return {}
    try:
        text = file.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return {}
    for number, line in enumerate(text.split("\n"), 1):
        if _is_told_apart(line := line.strip()):
            found.setdefault(line, []).append(number)
    return found


def _is_told_apart(line: str) -> bool:
    return len(line) >= SHORTEST and any(map(str.isalpha, line))
