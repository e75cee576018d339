"""Derive texts from a memory: fingerprint, ids, title, citation.

The text from which the vector of a memory is made is derived here too.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
import uuid
from collections.abc import Container, Iterable, Sequence
from datetime import datetime
from pathlib import PurePosixPath
from typing import Final

TITLE_CHARACTERS: Final = 80
CITATION_CHARACTERS: Final = 40
_SHORTEST_ID: Final = 4
_SENTENCE_ENDS: Final = (". ", "! ", "? ", "; ", "\n")

# Markdown before a line (heading, quotation, item) and around words (strong text, link): group 1 or 2 is what people read.
_MARKS: Final = re.compile(r"^[ \t]*(?:#{1,6}|>|[-*+])[ \t]+|\*\*(\S(?:[^*\n]*\S)?)\*\*|(?<!!)\[([^\]\[\n]+)\]\([^)\s]+\)", re.MULTILINE)

_lock = threading.Lock()
_last = 0  # (milliseconds << 12 | counter) of the last id


def uuid7(moment: datetime) -> str:
    """Return a UUID that sorts by the time `moment`.

    UUIDs of the same millisecond sort by order of creation. Source: RFC 9562, section 5.7, with a counter in rand_a (method 1 of section
    6.2).
    """
    global _last
    wanted = int(moment.timestamp() * 1000) << 12
    with _lock:
        _last = wanted if wanted > _last or wanted < _last - (1 << 24) else _last + 1  # a jump in time starts a new count
        stamp = _last
    random = int.from_bytes(os.urandom(8), "big") & ((1 << 62) - 1)
    return str(uuid.UUID(int=(stamp >> 12 & (1 << 48) - 1) << 80 | 0x7 << 76 | (stamp & 0xFFF) << 64 | 0b10 << 62 | random))


def fingerprint(content: str) -> str:
    """Return a hash of a memory's content; equal contents have equal hashes.

    The content is compared in lower case, with white space folded, and trimmed.
    """
    return hashlib.blake2b(" ".join(content.casefold().split()).encode(), digest_size=16).hexdigest()


def short_id(content: str, memory_id: str, taken: Container[str]) -> str:
    """Return a short id for a memory, such as `a1b2`, that is not in `taken`.

    It is the shortest unused prefix of the SHA-256 of the content, in hex, with at least four digits.
    """
    digest = hashlib.sha256(content.encode()).hexdigest()
    digest += hashlib.sha256(memory_id.encode()).hexdigest()  # for the second of two equal texts, if both are kept
    return next((digest[:n] for n in range(_SHORTEST_ID, len(digest)) if digest[:n] not in taken), digest)


def clipped(text: str, characters: int) -> str:
    """Shorten a string to a number of characters; mark the cut with "…".

    The cut is between words if possible.
    """
    if len(text) <= characters:
        return text
    at = text.rfind(" ", 0, characters)
    return text[: at if at > characters // 2 else characters - 1].rstrip(" ,;:.-") + "…"


def title_of(content: str) -> str:
    """Return the title of a memory: its first sentence, on one line.

    It has at most 80 characters, and no Markdown except code in backticks.
    """
    text = _MARKS.sub(lambda mark: mark[1] or mark[2] or "", content).strip()
    ends = [at + 1 for end in _SENTENCE_ENDS if (at := text.find(end)) > 0]
    return clipped(" ".join(text[: min(ends, default=len(text))].split()).rstrip(".;"), TITLE_CHARACTERS)


def citation_of(title: str, files: Sequence[str], created_at: datetime) -> str:
    """Return the text by which a memory is cited, at most 40 characters.

    The text is the name of the first file and the day of `created_at`. Without files it is the beginning of the title.
    """
    if files:
        day = f" · {created_at:%Y-%m-%d}"
        return clipped(PurePosixPath(files[0]).name, CITATION_CHARACTERS - len(day)) + day
    return clipped(title, CITATION_CHARACTERS)


def contextual_text(content: str, type_: str, files: Iterable[str], modules: Iterable[str]) -> str:
    """Return the text from which a memory's vector is computed.

    The text is `Files: … | Module: … | Type: …`, followed by the content. Empty parts are left out.
    """
    parts = [("Files", ", ".join(files)), ("Module", ", ".join(modules)), ("Type", type_)]
    return " | ".join(f"{name}: {value}" for name, value in parts if value) + "\n" + content


def text_hash(contextual: str) -> str:
    """Return the key under which the vector of a memory is stored.

    The key is the blake2b-128 of the text that `contextual_text` makes.
    """
    return hashlib.blake2b(contextual.encode(), digest_size=16).hexdigest()
