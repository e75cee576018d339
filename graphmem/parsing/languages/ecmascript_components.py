"""Reduce a single-file component of Vue or Svelte to its code.

Scripts and expressions of the markup keep their positions. All other bytes except line ends become blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_IS_MARKUP: Final = re.compile(rb"\s*(?:<!--|<[A-Za-z][\w.:-]*(?=[\s/>])|\{[#@])")
_ATTRIBUTES: Final = rb"(?:[^>\"']|\"[^\"]{0,500}\"|'[^']{0,500}'){0,500}"
_SCRIPT: Final = re.compile(rb"<script\b" + _ATTRIBUTES + rb">(?P<code>.*?)</script\s*>", re.DOTALL | re.IGNORECASE)
_END_OF_SCRIPT: Final = re.compile(rb"</script\s*>", re.IGNORECASE)
_COMMENT: Final = re.compile(rb"<!--.*?-->", re.DOTALL)
_END_OF_COMMENT: Final = re.compile(rb"-->")
_STYLE: Final = re.compile(rb"<style\b.*?</style\s*>", re.DOTALL | re.IGNORECASE)
_END_OF_STYLE: Final = re.compile(rb"</style\s*>", re.IGNORECASE)
_TEMPLATE: Final = re.compile(rb"^<template\b", re.MULTILINE)
_COMPONENT: Final = re.compile(rb"<(?P<code>[A-Z]\w*(?:\.\w+)*)(?=[\s/>])")
_NESTED: Final = rb"(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*"
_BRACES: Final = re.compile(rb"\{(?:[#:](?:else\s+)?(?:if|each|await|key)\b|@\w+\b)?(?P<code>" + _NESTED + rb"?)(?:\bas\b[^{}]{0,200})?\}")
_DOUBLE_BRACES: Final = re.compile(rb"\{\{(?P<code>.*?)\}\}", re.DOTALL)
_END_OF_BRACES: Final = re.compile(rb"\}\}")
_DIRECTIVE: Final = re.compile(
    rb"(?<=\s)(?:[@:][\w.:\[\]-]+|v-(?!slot|for)[\w.:-]+)\s*=\s*(?P<quote>[\"'])(?P<code>[^\"']*?|(?<=\")[^\"]*?|(?<=')[^']*?)(?P=quote)"
)
_LOOP: Final = re.compile(rb"(?<=\s)v-for\s*=\s*\"[^\"]{0,200}?\s(?:in|of)\s(?P<code>[^\"]{0,1000})\"")
_PARTS: Final = (_COMMENT, _STYLE, _SCRIPT)
# For each begin mark without an end mark, the whole rest of the text would be searched. So the search stops at the last end mark.
_ENDS: Final = {_SCRIPT: _END_OF_SCRIPT, _COMMENT: _END_OF_COMMENT, _STYLE: _END_OF_STYLE, _DOUBLE_BRACES: _END_OF_BRACES}


def code_of(source: bytes) -> bytes:
    """Return the code of a Vue or Svelte component, padded with blanks.

    The code keeps its position, and the result is as long as `source`. Source without markup is returned unchanged.
    """
    if not _IS_MARKUP.match(source) or (b"</" not in source and b"/>" not in source):
        return source
    code = bytearray(re.sub(rb"[^\r\n]", b" ", source))
    markup = bytearray(source)
    end = 0
    for match in sorted((match for pattern in _PARTS for match in _found(pattern, source)), key=_start):
        if match.start() < end:
            continue  # a script in a comment, or a comment in a script
        end = match.end()
        markup[match.start() : end] = re.sub(rb"[^\r\n]", b" ", match[0])
        if match.re is _SCRIPT:
            code[match.start("code") : match.end("code") + 1] = match["code"] + b";"
    patterns = (_DOUBLE_BRACES, _DIRECTIVE, _LOOP) if _TEMPLATE.search(source) else (_BRACES,)
    for pattern in (_COMPONENT, *patterns):
        for match in _found(pattern, bytes(markup)):
            first, last = match.span("code")
            if not match["code"].strip() or match["code"].lstrip().startswith((b"/", b":")):
                continue
            code[first:last] = match["code"]
            ends_line = bytes(code[last + 1 : last + 2]) in (b"\r", b"\n")
            around = code[first - 1 : first] + code[last : last + 1] + (b" " if ends_line else code[last + 1 : last + 2])
            if b";" not in match["code"] and around == b"   ":
                code[first - 1], code[last] = b"()"
                if not ends_line:
                    code[last + 1] = ord(";")
                if code[first - 2 : first - 1] == b" ":
                    code[first - 2] = ord(";")  # the line before may lack a semicolon
            elif code[last] not in b"\r\n":
                code[last] = ord(";")
    return bytes(code)


def _start(match: re.Match[bytes]) -> int:
    return match.start()


def _found(pattern: re.Pattern[bytes], text: bytes) -> Iterator[re.Match[bytes]]:
    """Yield all matches of a pattern, in time linear in the text.

    The text after the last end mark, such as `</script>`, is not searched. Otherwise a begin mark without an end mark would cause a
    search to the end of the text, once for each begin mark.
    """
    end = _ENDS.get(pattern)
    last = len(text) if end is None else max((match.end() for match in end.finditer(text)), default=0)
    return pattern.finditer(text, 0, last)
