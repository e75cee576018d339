"""Rewrite constructs of TypeScript that the grammar does not support.

All code keeps its position.

- In TypeScript, a line end may separate two members of an interface or an object type. But the grammar needs a semicolon if the next member
  begins with `(`, `<` or `[`, or is named `in`. Without a semicolon, the grammar takes the line for a part of the type above. The
  parser then often fails for the rest of the file.
- `export type * from`, a re-export of types, is not supported.
- The type of a module as the type argument of a call without arguments, as in `original<typeof import("./cart")>()`, is not supported.
"""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = re.compile(
    rb"""(?P<skip>//[^\n]*|/\*.*?\*/)|(?P<line>\n)|(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)"""
    rb"""|(?P<word>[\w$#\x80-\xff]+)|(?P<sign>=>|[^\s])""",
    re.DOTALL,
)
_DECLARES: Final = re.compile(rb"(?:interface|type)[ \t]+[\w$\x80-\xff]")
_EXPORTED_TYPES: Final = re.compile(rb"^(export[ \t]+)type(?=[ \t]*\*)", re.MULTILINE)

_MODULE_TYPE: Final = re.compile(rb"""<\s*(?:typeof\s+)?import\(\s*(?:'[^'\n]*'|"[^"\n]*")\s*\)(?:\.[\w.]+)?\s*>(?=\(\s*\))""")


def _words(text: str) -> frozenset[bytes]:
    return frozenset(text.encode().split())


_STATEMENT: Final = _words("abstract async class const declare enum export function import interface let module namespace type var")
"""Words that begin a statement at the left margin, whatever is open above."""

_GOES_ON: Final = _words("abstract as asserts extends get in infer instanceof is keyof new readonly set typeof unique") | _STATEMENT
"""Words that cannot end a type or a member."""

_MODIFIERS: Final = _words("export declare default")
_BEFORE_TYPE: Final = _words(": | & <")
_MEMBER: Final = _words("( < [ in instanceof")
"""Tokens that the grammar reads as part of the line above."""

_OPEN: Final = _words("( [ {")
_CLOSE: Final = _words(") ] }")
_BLANK: Final = frozenset(b" \t")
_SEMICOLON: Final = ord(";")


def mended(source: bytes) -> bytes:
    """Return TypeScript source, rewritten so that the grammar can parse it.

    The length stays the same. If no change is needed, `source` itself is returned.
    """
    found = _Members(source).blanks()
    if found:
        rewritten = bytearray(source)
        for position in found:
            rewritten[position] = _SEMICOLON
        source = bytes(rewritten)
    source = _MODULE_TYPE.sub(lambda match: b" " * len(match[0]), source)
    return _EXPORTED_TYPES.sub(rb"\1    ", source)


class _Members:
    """Finds the places where members of a type need a semicolon between them.

    The types are interfaces and object types. Their tokens are scanned, without a parser.
    """

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.types: list[bool] = []  # of each open bracket: whether it contains members of a type
        self.header = b""  # `interface` or `type` before its body
        self.angles = 0  # open type parameters of the header
        self.before = b""  # the previous sign or word
        self.ends = False  # whether a member can end with it

    def blanks(self) -> list[int]:
        """Return the offsets of blanks that must become semicolons, in order."""
        found: list[int] = []
        is_first = True  # on its line
        for match in _TOKEN.finditer(self.source):
            kind, start, token = match.lastgroup, match.start(), match[0]
            if kind == "skip":
                continue
            if kind == "line":
                is_first = True
                continue
            if is_first and self._is_at_margin(start):
                if token in _STATEMENT:
                    self.types, self.header, self.before = [], b"", b""
            elif is_first and self.ends and token in _MEMBER and self.types and self.types[-1] and self.source[start - 1] in _BLANK:
                found.append(start - 1)
            if kind == "sign":
                self._sign(token)
            else:
                if (is_first or self.before in _MODIFIERS) and _DECLARES.match(self.source, start):
                    self.header, self.angles = token, 0
                self.ends = kind == "text" or token not in _GOES_ON
            self.before, is_first = token, False
        return found

    def _is_at_margin(self, start: int) -> bool:
        return not start or self.source[start - 1 : start] == b"\n"

    def _sign(self, token: bytes) -> None:
        if token in _OPEN:
            is_body = not self.angles and (self.header == b"interface" or (self.header == b"type" and self.before == b"="))
            is_inside = bool(self.types) and self.types[-1]
            is_type = token == b"{" and (is_body or is_inside or self.before in _BEFORE_TYPE)
            if is_type and self.header == b"interface" and is_body:
                self.header = b""
            self.types.append(is_type)
        elif token in _CLOSE:
            if self.types:
                self.types.pop()
        elif token == b";" and not self.types:
            self.header = b""
        elif self.header:
            self.angles = max(0, self.angles + (token == b"<") - (token == b">"))
        self.ends = token in _CLOSE or token == b">"
