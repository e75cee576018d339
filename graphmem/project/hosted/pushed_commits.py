"""The commits of a pushed project, which the server cannot read from Git.

A push sends the commits that the server lacks: time, paths, and a hash of the author. So the server knows which files change together and
how often. The server keeps the commits of all clones and branches.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from graphmem.errors import BadInputError
from graphmem.history.change_log import GIT, Change
from graphmem.runtime.network.pushes import PART_BYTES, is_inside

if TYPE_CHECKING:
    from graphmem.history.change_log import HistoryLog

MOST: Final = 50_000  # commits of one push; the next pushes send the others
_KEY: Final = re.compile(r"[0-9a-f]{40,64}")
_AUTHOR: Final = 64  # characters


def digest_of(keys: Iterable[str]) -> str:
    """Return a hash of a set of commits; `keys` are their Git hashes."""
    return hashlib.blake2b("\n".join(sorted(keys)).encode(), digest_size=16).hexdigest()


def lacking(log: HistoryLog, known: Iterable[str]) -> Iterator[list[list[Any]]]:
    """Yield the logged commits that a server does not have, in parts.

    A part is a list of commits that is small enough for one request. A commit is a list of JSON values, which `commit_of` reads. If the
    server lacks more than `MOST` commits, only the newest `MOST` are yielded. The next push then sends older commits.

    Args:
        log: the log of this machine.
        known: the Git hashes of the commits that the server has.
    """
    there = set(known)
    commits = [one.change for one in log.since(0) if one.change.source == GIT and one.change.key not in there]
    commits.sort(key=lambda one: (one.at, one.key))
    part: list[list[Any]] = []
    size = 0
    for one in commits[-MOST:]:
        part.append([one.key, one.at, one.author, one.files, one.deleted, one.renamed, one.counted])
        size += sum(map(len, (*one.files, *one.deleted))) + 100
        if size >= PART_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part


def commit_of(row: list[Any]) -> Change:
    """Convert a commit that another machine sent to a `Change`.

    `row` is the commit as a list of JSON values; see `lacking`.

    Raises:
        BadInputError: a value is invalid, or a path is outside the project.
    """
    key, at, author, files, deleted, renamed, counted = row
    pairs = tuple((str(old), str(new)) for old, new in renamed)
    paths = [*files, *deleted, *(path for pair in pairs for path in pair)]
    time = float(at)
    if not _KEY.fullmatch(str(key)) or not isfinite(time) or len(str(author)) > _AUTHOR or not all(is_inside(str(one)) for one in paths):
        raise BadInputError(
            f"the pushed commit id {str(key)[:64]!r} is not valid; update graphmem on both machines, then run `graphmem push` again",
            argument="body",
        )
    return Change(GIT, time, tuple(map(str, files)), str(key), str(author), tuple(map(str, deleted)), pairs, counted=bool(counted))
