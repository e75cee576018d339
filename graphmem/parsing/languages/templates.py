"""Reduce a template, such as ERB, to the code in its tags.

The code keeps its position. All other bytes except line ends become blanks.
"""

from __future__ import annotations

import re
from typing import Final

_ERB: Final = re.compile(rb"<%(?P<sign>%|#|=|-)?(?P<code>.*?)-?%>", re.DOTALL)
_IS_RUBY: Final = re.compile(rb"^\s*(?:require|class|module|def|describe|begin|namespace|task)\b|\A#!", re.MULTILINE)
_PAGE: Final = re.compile(rb"\s*<(?:!|[a-zA-Z][\w-]*[\s>])")
"""The beginning of a page; no Ruby code begins so."""


def _blank(source: bytes) -> bytearray:
    return bytearray(re.sub(rb"[^\r\n]", b" ", source))


def erb_code(source: bytes) -> bytes:
    """Return the Ruby code of an ERB template, padded with blanks.

    The result has the length of the source. Source that is not a template is returned unchanged.
    """
    first = source.find(b"<%")
    if first < 0 or b"%>" not in source:
        return bytes(_blank(source)) if _PAGE.match(source) else source  # a page may have no code
    if not source.lstrip().startswith(b"<") and _IS_RUBY.search(source, 0, first):
        return source
    code = _blank(source)
    for match in _ERB.finditer(source, 0, source.rfind(b"%>") + 2):
        if match["sign"] in (b"%", b"#") or not match["code"].strip():
            continue
        begin, end = match.span("code")
        code[begin:end] = match["code"]
        code[end] = 0x3B  # a semicolon
    return bytes(code)
