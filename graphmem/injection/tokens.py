"""Count tokens offline with the vocabulary of the bundled embedding model.

The module uses the `tokenizers` library. Tokenisers of published language models are not available on every machine. The bundled vocabulary
counts 6 to 20 % more tokens than two such tokenisers on code, prose and memories (docs/decisions/0010-token-counting.md). So context that
is within a budget by this count is also within it for those two models.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from graphmem.embedding.packaged import TOKENIZER

Counter = Callable[[str], int]

_PIECE: Final = re.compile(r"[^\W_]{1,4}|_|[^\w\s]")  # without a vocabulary: four letters a token, each sign one token
LINES: Final = 16_384  # lines that are cached, of about a hundred characters each
_lock = threading.Lock()
_loaded: list[Any] = []  # the tokeniser or None, after the first request


def count_tokens(text: str) -> int:
    """Count the tokens of a string, usually more than a language model counts.

    The count is the sum over the lines, where a line end counts as one token. An unknown word counts as many tokens as its UTF-8 bytes,
    which is the maximum in any byte-level vocabulary. Counts are cached by line, because the same memories are counted repeatedly.
    """
    lines = text.split("\n")
    return sum(map(_count_line, lines)) + len(lines) - 1


def count_once(text: str) -> int:
    """Count tokens without caching, for a string that will not repeat."""
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
    """Whether the vocabulary is installed, so that tokens can be counted.

    Without the vocabulary, counts are estimates: up to four letters count as one token, and each other sign as one.
    """
    return _tokenizer() is not None


def _tokenizer() -> Any:
    if not _loaded:
        with _lock:
            if not _loaded:
                _loaded.append(_load())
    return _loaded[0]


def _load() -> Any:
    file = TOKENIZER.path()
    if file is None:
        return None
    try:
        import tokenizers
    except ImportError:
        return None
    tokenizer = tokenizers.Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
