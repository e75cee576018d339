"""Escape characters that control a terminal or hide text.

Anyone can choose the names of files, symbols and memories, and the messages of commits. So everything that the command line, agents' tools,
logs, reports and exports print passes through one of these functions. A name stays on one line, because line ends in it are escaped. Tabs
are kept.
"""

from __future__ import annotations

import re
from typing import Final

# C0 and C1 controls but tab, marks and overrides of direction, line and paragraph separators, characters without width but those that
# join letters, annotations, tags and the selectors that can spell words nobody sees, halves of surrogate pairs.
_SIGNS: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\U000e0100-\U000e01ef\ud800-\udfff"
)
_IN_LINES: Final = re.compile(f"[{_SIGNS}]")
_IN_A_LINE: Final = re.compile(f"[{_SIGNS}\n]")
_IN_JSON: Final = re.compile(f"[{_SIGNS}]")
_SHORT: Final = {"\n": "\\n", "\r": "\\r"}


def inert(text: str) -> str:
    r"""Escape control and hidden characters; the result is one safe line.

    For example, a line feed becomes `\n`, and the escape character becomes `\x1b`.
    """
    return text if text.isprintable() else _IN_A_LINE.sub(_escaped, text)


def inert_lines(text: str) -> str:
    """Escape control and hidden characters in a string of several lines.

    Line ends become line feeds.
    """
    return text if text.isprintable() else _IN_LINES.sub(_escaped, text.replace("\r\n", "\n"))


def inert_json(text: str) -> str:
    """Escape control and hidden characters in a JSON document."""
    return text if text.isascii() and "\x7f" not in text else _IN_JSON.sub(_escaped_json, text)


def _escaped(match: re.Match[str]) -> str:
    sign = match.group()
    code = ord(sign)
    return _SHORT.get(sign) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


def _escaped_json(match: re.Match[str]) -> str:
    sign = match.group()
    if sign in "\r\x0b\x0c":  # between values, outside of strings
        return " "
    units = sign.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
