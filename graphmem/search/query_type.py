"""Classify a query and find the code it names, to choose path weights."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

IDENTIFIER: Final = "identifier"  # names code
SEMANTIC: Final = "semantic"  # describes code
STRUCTURAL: Final = "structural"  # asks for related code

_STRUCTURAL: Final = re.compile(
    r"\b(call(s|ed|ers?|ing)? (by|of|to|from)|who calls|callers?|callees?|depends? on|dependenc(y|ies)|dependents?|used by|uses of|"
    r"usages?|references? (to|of)|impact(ed)?|affected|inherits?( from)?|subclass(es)?|implement(s|ed|ations?) of|overrid(es|den|ing))\b",
    re.IGNORECASE,
)
# How a query for relations begins, or how one ends that names a symbol and the wanted relation. Descriptions of a change
# ("fix overriding of `x`", "depending on Click 8 makes it hard ...") contain such words as well, but ask for nothing.
# They are one in thirteen of those.
_ASKS: Final = re.compile(
    r"^\W*(who|what|which|where|how|find|list|show|give|get|is|are|does|do|all|any|every(thing|one)?|anything|"
    r"functions?|methods?|class(es)?|modules?|files?|code|tests?|call(s|ed|ers?|ees?|ing)|usages?|used|uses|references?|"
    r"depend(s|ents?|ing)|dependenc(y|ies)|impact|affected|inherit(s|ing|ed)|subclass(es)?|implementations?|overrid(es|ers?))\b"
    r"|^\S+ (callers?|callees?|usages?|references|depend(ents?|encies)|subclasses|implementations|overrides|impact)\W*$",
    re.IGNORECASE,
)
_LONGEST_QUESTION: Final = 15  # words
_QUOTED: Final = re.compile(r"`([^`\n]{1,200})`|\"([^\"\n]{1,200})\"|(?<!\w)'([^'\n]{1,200})'(?!\w)")
_TOKEN: Final = re.compile(r"[^\W\d]\w*(?:(?:\.|::)[^\W\d]\w*)*(?:\(\))?")
_PATH: Final = re.compile(r"(?<![\w:/.@-])(?:[\w.@-]+/)+[\w.@-]+")
_CODE_SHAPE: Final = re.compile(r"[a-z0-9][A-Z]|\w_\w|^_+\w|\w_+$|\(\)$|::|^[A-Z][A-Z0-9]+_|\w\.\w")
_PROSE: Final = frozenset({"e.g", "i.e"})


class Mention(NamedTuple):
    """A word of the query that may name code."""

    text: str  # as written in code, without brackets and quotes
    is_explicit: bool  # quoted, or in a shape that only code has


def classify(query: str) -> str:
    """Classify a query as STRUCTURAL, IDENTIFIER or SEMANTIC.

    A STRUCTURAL query asks for relations of a named symbol. An IDENTIFIER query names code. All other queries are SEMANTIC.
    """
    named = any(mention.is_explicit for mention in mentions(query)) or _PATH.search(query) is not None
    words = query.split()
    if named and len(words) <= _LONGEST_QUESTION and _ASKS.search(query.strip()) and _STRUCTURAL.search(query):
        return STRUCTURAL
    # A single word is searched as a name, whatever its shape.
    return IDENTIFIER if named or len(words) == 1 else SEMANTIC


def mentions(query: str) -> list[Mention]:
    """Return the words of a query that may name code, without repeats.

    They are in the order of the query. A mention written as code takes precedence over the same word as plain text.
    """
    found: dict[str, bool] = {}
    for quoted in _quoted(query):
        for token in _TOKEN.findall(quoted) if len(quoted.split()) == 1 else ():
            found[_bare(token)] = True
    for token in _TOKEN.findall(query):
        bare = _bare(token)
        explicit = bare not in _PROSE and _CODE_SHAPE.search(token) is not None
        found[bare] = found.get(bare, False) or explicit
    return [Mention(text, explicit) for text, explicit in found.items()]


def phrases(query: str) -> list[str]:
    """Return the quoted texts of several words: messages or lines of code."""
    return [quoted for quoted in _quoted(query) if len(quoted.split()) > 1]


def _quoted(query: str) -> Iterator[str]:
    return (next(group for group in match.groups() if group is not None) for match in _QUOTED.finditer(query))


def _bare(token: str) -> str:
    return token.removesuffix("()").replace("::", ".")
