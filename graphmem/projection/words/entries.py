"""Rows of the word index, and the error for a damaged index."""

from __future__ import annotations

import zlib
from typing import NamedTuple

from graphmem.runtime.texts.compression import inflated


class DamagedWordsError(Exception):
    """Error: the file of the word index is damaged.

    The index must be built again.
    """


class Entry(NamedTuple):
    """A row of the word index: a piece of a file, with its path and lines."""

    id: str
    kind: str  # code | prose | data
    path: str
    symbol: str  # id of the definition it was cut at, or ""
    title: str
    start_line: int
    end_line: int
    text_hash: str
    packed: bytes  # prefix and text, deflated; empty if it was not requested
    stems: bytes = b""  # numbers of the stems of its words, line by line, as `stem_numbers` packs them; empty like `packed`

    @property
    def text(self) -> str:
        """Return the text of the chunk; "" if the row was read without its text.

        Raises:
            DamagedWordsError: the stored bytes are not those that were written.
        """
        try:
            return inflated(self.packed, self.start_line, self.end_line)[1] if self.packed else ""
        except (zlib.error, ValueError) as error:
            raise DamagedWordsError(
                f"text in the word index {self.path} cannot be read ({error}); you need not do anything, because graphmem rebuilds it"
            ) from error
