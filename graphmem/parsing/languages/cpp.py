"""C++: blank macros around declarations; find objects they create."""

from __future__ import annotations

import re
from typing import Final

from graphmem.parsing.languages import Helper

_MACRO: Final = rb"[A-Z][A-Z0-9_]{3,}"
_ARGUMENTS: Final = rb"\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\)"
_ATTRIBUTE: Final = rb"(?:(?:__attribute__|__declspec|alignas)[ \t]*" + _ARGUMENTS + rb"|" + _MACRO + rb"(?:[ \t]*" + _ARGUMENTS + rb")?)"
_CLASS: Final = re.compile(
    rb"\b(?:class|struct|union)(?P<macro>(?:\s+" + _ATTRIBUTE + rb")+)(?=\s+\w[\w:]*(?:\s*<[^;{}()]*>)?(?:\s+\w+)?\s*(?::[^:;]|\{))"
)
"""`class EXPORT Name : Base {`: the macro stands where the grammar expects the name."""

_FORWARD: Final = re.compile(rb"^class(?P<macro>(?:[ \t]+" + _ATTRIBUTE + rb")+)(?=[ \t]+\w+;)", re.MULTILINE)
"""`class EXPORT Name;`"""

_AFTER: Final = re.compile(rb"(?P<before>[\w>)]\s+)(?P<macro>(?:" + _MACRO + rb"(?:[ \t]*" + _ARGUMENTS + rb")?\s*)+)(?=[;{]|:[^:])")
"""`int n GUARDED_BY(lock);`, `void f() REQUIRES(lock) {`: an annotation behind a declaration."""

_STATEMENT: Final = re.compile(
    rb"\b(?:return|else|do|new|throw|case|goto|co_return|co_yield|co_await|delete|typedef|using|enum|class|struct|union)\s+$"
)
_BEFORE: Final = re.compile(
    rb"^[ \t]*(?P<macro>(?:(?:" + _MACRO + rb"|__attribute__|__declspec)(?:[ \t]*" + _ARGUMENTS + rb")?\s+)+)"
    rb"(?=(?!operator\b)[A-Za-z_][\w:]*(?:<[^;{}()]*>)?[\s*&]+(?:[\w:<>]+[\s*&]+)*[~\w][\w:]*\s*[(=;\[]|(?:class|struct|template|auto|~)\b)",
    re.MULTILINE,
)
"""`EXPORT void f(…)`: a macro before a declaration that is whole without it."""


def _blank(match: re.Match[bytes]) -> bytes:
    first, last = match.span("macro")
    text, begin = match[0], match.start()
    blank = re.sub(rb"[^\s]", b" ", text[first - begin : last - begin])
    return text[: first - begin] + blank + text[last - begin :]


def _blank_after(match: re.Match[bytes]) -> bytes:
    line = match.string[match.string.rfind(b"\n", 0, match.start("macro")) + 1 : match.start("macro")]
    if line.lstrip().startswith(b"#") or _STATEMENT.search(line):
        return match[0]
    return _blank(match)


class CppHelper(Helper):
    """Macros around declarations."""

    def prepared(self, source: bytes) -> bytes:
        """Blank the macros between `class` and a name.

        With them, the grammar reads a function.
        """
        return _FORWARD.sub(_blank, _CLASS.sub(_blank, source))

    def mended(self, source: bytes) -> bytes:
        """Blank macros that stand before or behind a declaration."""
        return _BEFORE.sub(_blank, _AFTER.sub(_blank_after, self.prepared(source)))


HELPER = CppHelper()
