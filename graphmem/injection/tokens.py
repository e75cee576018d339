"""Counting tokens without a network: the vocabulary of the packaged embedding model, by the `tokenizers` library.

No published tokeniser of a language model lies on every machine, this one does. It counts more than they do: 6 to 20 % above those of
two language models on code, prose and memories (docs/decisions/0010-token-counting.md), so a budget that holds here holds there.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from graphmem.embedding.sentence import packaged_folder

Counter = Callable[[str], int]

_PIECE: Final = re.compile(r"[^\W_]{1,4}|_|[^\w\s]")  # without a vocabulary: four letters a token, every sign one
LINES: Final = 16_384  # that are remembered, of some hundred characters each
_lock = threading.Lock()
_loaded: list[Any] = []  # the tokeniser, or None, once somebody asked


def count_tokens(text: str) -> int:
    """Tokens of a text, at least as many as a language model's tokeniser makes of it; lines add up: a line end counts one.

    A word the vocabulary does not know counts its bytes in UTF-8, which no byte-level vocabulary exceeds. What was counted before is
    known by its lines, for the same memories are weighed again and again.
    """
    lines = text.split("\n")
    return sum(map(_count_line, lines)) + len(lines) - 1


def count_once(text: str) -> int:
    """The same for a text that will not come again: counted at once, and not remembered."""
    return _count(text) + text.count("\n")


@lru_cache(maxsize=LINES)
def _count_line(line: str) -> int:
    return _count(line)


def _count(text: str) -> int:
    if not text:
        return 0
    tokenizer = _tokenizer()
    if tokenizer is None:
        return len(_PIECE.findall(text))
    encoded = tokenizer.encode(text, add_special_tokens=False)
    unknown = tokenizer.token_to_id("[UNK]")
    ids: list[int] = encoded.ids
    more = 0
    if unknown in ids:
        spans = encoded.offsets
        more = sum(
            len(text[spans[at][0] : spans[at][1]].encode("utf-8", "surrogatepass")) - 1 for at, one in enumerate(ids) if one == unknown
        )
    return len(ids) + max(0, more)


def is_exact() -> bool:
    """Whether there is a vocabulary; otherwise counts are the coarser bound of four letters a token."""
    return _tokenizer() is not None


def _tokenizer() -> Any:
    if not _loaded:
        with _lock:
            if not _loaded:
                _loaded.append(_load())
    return _loaded[0]


def _load() -> Any:
    folder = packaged_folder()
    if folder is None:
        return None
    try:
        import tokenizers
    except ImportError:
        return None
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
