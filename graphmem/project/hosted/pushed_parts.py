"""Keep the parts of a push in files until all parts have arrived."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from graphmem.errors import BadInputError
from graphmem.runtime.files.replacing import replace_file
from graphmem.runtime.network.pushes import MOST_KEPT, MOST_PART, MOST_PARTS, MOST_PUSH
from graphmem.runtime.process.limits import disk_refusal
from graphmem.store.wire import inflated, value_in

FOLDER: Final = "pushing"
LEFT_S: Final = 3_600  # without a new part, after which the parts of an interrupted push are deleted
_NAME: Final = re.compile(r"[0-9a-f]{32}")


class PushedParts:
    """The parts of one push, in the index directory of its project.

    Args:
        data_dir: the index directory.
        push: name of the push.

    Raises:
        BadInputError: the name of the push is invalid.
    """

    def __init__(self, data_dir: Path, push: str) -> None:
        if not _NAME.fullmatch(push):
            raise BadInputError(
                "the id of the push has an unknown form; install the graphmem version of this server, and run `graphmem push` again",
                argument="push",
            )
        self._all = data_dir / FOLDER
        self.folder = self._all / push

    def keep(self, number: int, body: bytes) -> None:
        """Store the part at position `number`, from 0.

        Raises:
            BadInputError: the push has too many parts, or the pushes of the project are too large.
            DiskFullError: the part cannot be written.
        """
        if number >= MOST_PARTS:
            raise BadInputError(
                f"the push has more than {MOST_PARTS:,} parts; exclude large files from the index, then run `graphmem push` again",
                argument="number",
                value=number,
                limit=MOST_PARTS,
            )
        try:
            if not self.folder.exists():
                self._clean()
                self.folder.mkdir(parents=True, mode=0o700)
            if self._size() + len(body) > MOST_KEPT:
                raise BadInputError(
                    f"unfinished pushes of the project have more than {MOST_KEPT:,} bytes; exclude large files from the index, or try "
                    f"again in {LEFT_S // 60} minutes, when interrupted pushes are deleted",
                    argument="body",
                    limit=MOST_KEPT,
                )
            replace_file(self.folder / str(number), body)
        except OSError as error:
            raise disk_refusal(error, "keeping a part of a push", self.folder) from error

    def read(self, count: int) -> Reading:
        """Return the first `count` parts, which are read when they are needed."""
        return Reading(self.folder, count)

    def drop(self) -> None:
        """Delete the parts."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _clean(self) -> None:
        """Delete the parts of interrupted pushes."""
        for one in self._all.glob("*"):
            with suppress(FileNotFoundError):  # the push has ended meanwhile
                if time.time() - one.stat().st_mtime > LEFT_S:
                    shutil.rmtree(one, ignore_errors=True)

    def _size(self) -> int:
        """Return the number of bytes in the parts of all unfinished pushes."""
        size = 0
        for one in self._all.glob("*/*"):
            with suppress(FileNotFoundError):  # its push has ended meanwhile
                size += one.stat().st_size
        return size


@dataclass(frozen=True)
class Reading:
    """The content of a push's parts; only one part is in memory at a time."""

    folder: Path
    count: int

    def __iter__(self) -> Iterator[Any]:
        """Yield the content of each part.

        Raises:
            BadInputError: a part is missing, damaged or too large, or all parts together are too large.
        """
        size = 0
        for number in range(self.count):
            try:
                data = (self.folder / str(number)).read_bytes()
            except FileNotFoundError as error:
                raise BadInputError("a part of the pushed index is missing; run `graphmem push` again", argument="body") from error
            content = inflated(data, MOST_PART)
            size += len(content)
            if size > MOST_PUSH:
                raise BadInputError(
                    f"the push has more than {MOST_PUSH:,} bytes; exclude large files from the index, then run `graphmem push` again",
                    argument="body",
                    limit=MOST_PUSH,
                )
            yield value_in(content)
