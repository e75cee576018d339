"""Reduce a single-file component of Vue or Svelte to its code.

Scripts and the expressions of the markup stay in their places. All other bytes except ends of lines become blanks.
"""

from __future__ import annotations

import re
from typing import Final

_IS_MARKUP: Final = re.compile(rb"\s*(?:<!--|<[A-Za-z][\w.:-]*(?=[\s/>])|\{[#@])")
_SCRIPT: Final = re.compile(rb"<script\b(?:[^>\"']|\"[^\"]*\"|'[^']*')*>(?P<code>.*?)</script\s*>", re.DOTALL | re.IGNORECASE)
_SKIPPED: Final = re.compile(rb"<!--.*?-->|<style\b.*?</style\s*>", re.DOTALL | re.IGNORECASE)
_TEMPLATE: Final = re.compile(rb"^<template\b", re.MULTILINE)
_COMPONENT: Final = re.compile(rb"<(?P<code>[A-Z]\w*(?:\.\w+)*)(?=[\s/>])")
_NESTED: Final = rb"(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*"
_BRACES: Final = re.compile(rb"\{(?:[#:](?:else\s+)?(?:if|each|await|key)\b|@\w+\b)?(?P<code>" + _NESTED + rb"?)(?:\bas\b[^{}]*)?\}")
_DOUBLE_BRACES: Final = re.compile(rb"\{\{(?P<code>.*?)\}\}", re.DOTALL)
_DIRECTIVE: Final = re.compile(
    rb"(?<=\s)(?:[@:][\w.:\[\]-]+|v-(?!slot|for)[\w.:-]+)\s*=\s*(?P<quote>[\"'])(?P<code>[^\"']*?|(?<=\")[^\"]*?|(?<=')[^']*?)(?P=quote)"
)
_LOOP: Final = re.compile(rb"(?<=\s)v-for\s*=\s*\"[^\"]*?\s(?:in|of)\s(?P<code>[^\"]*)\"")


def code_of(source: bytes) -> bytes:
    """Return the code of a component, with as many bytes as the source.

    Source without markup is returned unchanged.
    """
    if not _IS_MARKUP.match(source) or (b"</" not in source and b"/>" not in source):
        return source
    code = bytearray(re.sub(rb"[^\r\n]", b" ", source))
    markup = source
    for match in (*_SKIPPED.finditer(source), *_SCRIPT.finditer(source)):
        blank = re.sub(rb"[^\r\n]", b" ", match[0])
        markup = markup[: match.start()] + blank + markup[match.end() :]
    for match in _SCRIPT.finditer(source):
        code[match.start("code") : match.end("code") + 1] = match["code"] + b";"
    patterns = (_DOUBLE_BRACES, _DIRECTIVE, _LOOP) if _TEMPLATE.search(source) else (_BRACES,)
    for pattern in (_COMPONENT, *patterns):
        for match in pattern.finditer(markup):
            first, last = match.span("code")
            if not match["code"].strip() or match["code"].lstrip().startswith((b"/", b":")):
                continue
            code[first:last] = match["code"]
            is_group = b";" not in match["code"] and code[first - 1 : first] + code[last : last + 2] == b"   "
            if is_group:
                code[first - 1], code[last], code[last + 1] = b"();"
                if code[first - 2 : first - 1] == b" ":
                    code[first - 2] = ord(";")  # a line without a semicolon may stand before
            elif code[last] not in b"\r\n":
                code[last] = ord(";")
    return bytes(code)
