"""Convert the bytes of a file from any encoding to UTF-8.

Spans and offsets elsewhere count bytes of the converted text, without a byte order mark. They are therefore valid only in the result of
`to_utf8`, and not in the original file.
"""

from __future__ import annotations

import codecs
import re
from functools import cache
from typing import Final, NamedTuple

from graphmem.runtime.data.conventions import conventions_of

_MARKS: Final = (
    # UTF-32 first: its little-endian mark begins with UTF-16's.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Utf8Text(NamedTuple):
    """The content of a file as UTF-8, with its original encoding."""

    source: bytes  # valid UTF-8, without byte order mark
    encoding: str  # Python's name of the file's encoding; "utf-8-sig" for UTF-8 with a mark
    note: str  # "" or one sentence about a problem of decoding


def is_marked_wide(data: bytes) -> bool:
    """Whether bytes begin with a UTF-16 or UTF-32 byte order mark.

    A file with such a mark is text, although it may contain NUL bytes.
    """
    return data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))


def to_utf8(data: bytes, language: str = "text") -> Utf8Text:
    """Convert the content of a file to UTF-8; never fails.

    The encoding is found by a byte order mark, or else by the declaration that a language has for it. Otherwise UTF-8 is tried, and then
    Latin-1. Latin-1 reads any bytes; the field `note` of the result reports its use.

    Args:
        data: the bytes of the file.
        language: name of the language's folder in `grammars/`; its conventions say how a file declares its encoding.
    """
    if data.startswith(codecs.BOM_UTF8):
        return _marked_utf8(data[len(codecs.BOM_UTF8) :])
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _marked_wide(data[len(mark) :], name)
    declared_problem = ""
    if (declaration := _declaration(language)) and (match := declaration.match(data[:512])):
        declared = match[1].decode("ascii", "replace")
        text, declared_problem = _declared(data, declared)
        if text is not None:
            return text
    if _is_utf8(data):
        return Utf8Text(data, "utf-8", declared_problem)
    note = declared_problem or "it is not valid UTF-8"
    return Utf8Text(data.decode("latin-1").encode("utf-8"), "iso8859-1", f"{note}; read as Latin-1, so letters beyond ASCII may be wrong")


@cache
def _declaration(language: str) -> re.Pattern[bytes] | None:
    found = conventions_of(language).encoding_declaration
    return re.compile(found.encode()) if found else None


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _marked_utf8(rest: bytes) -> Utf8Text:
    if _is_utf8(rest):
        return Utf8Text(rest, "utf-8-sig", "")
    repaired = rest.decode("utf-8", "replace").encode("utf-8")
    return Utf8Text(repaired, "utf-8-sig", "it is marked as UTF-8 but holds invalid bytes; they are replaced")


def _marked_wide(rest: bytes, name: str) -> Utf8Text:
    try:
        return Utf8Text(rest.decode(name).encode("utf-8"), name, "")
    except UnicodeError:
        repaired = rest.decode(name, "replace").encode("utf-8", "replace")
        return Utf8Text(repaired, name, f"it is marked as {name} but holds invalid units; they are replaced")


def _declared(data: bytes, declared: str) -> tuple[Utf8Text | None, str]:
    """Decode `data` from the encoding named `declared`.

    Returns:
        (converted text, ""), or (None, reason) if the encoding is unknown or does not fit the bytes.
    """
    try:
        # A trial decode, because codecs.lookup also finds codecs that are not text encodings (hex, zlib).
        name = codecs.lookup(declared).name
        text = data.decode(name)
        utf8 = data if name == "utf-8" else text.encode("utf-8")
    except LookupError:
        return None, f"it declares the encoding {declared!r}, which Python does not know"
    except UnicodeError:
        return None, f"it declares the encoding {declared!r}, which its bytes do not follow"
    return Utf8Text(utf8, name, ""), ""
