"""Classify a search query, and find the words in it that may name code.

The class of a query decides the weights of words, vectors and other ways to search.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from graphmem.projection.words.text import query_words
from graphmem.runtime.data.conventions import conventions_of

IDENTIFIER: Final = "identifier"  # names code
QUESTION: Final = "question"  # asks about behaviour, or names it in a few words
ERROR: Final = "error"  # is the text of an error
SEMANTIC: Final = "semantic"  # describes a change
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
_ASKED: Final = re.compile(
    r"^\W*(how|where|why|what|whats|when|which|who|whose|is|are|was|does|do|did|can|could|should|would|will|has|have)\b|\?\W*$",
    re.IGNORECASE,
)
_MOST_ASKED: Final = 20  # words of a question
_MOST_NAMED: Final = 10  # words that name a behaviour without asking
# How the description of a change begins, and the scope in front of it.
_CHANGE: Final = re.compile(
    r"^\W*(fix|add|remove|delete|drop|use|make|support|allow|update|upgrade|improve|handle|don't|do not|rename|move|refactor|revert|bump|"
    r"merge|deprecate|document|clean|correct|avoid|prevent|replace|simplify|switch|introduce|implement|enable|disable|ensure|raise|"
    r"change|extend|expose|restore|reduce|increase|speed|split|extract|test|tests|typo|minor|release|prepare|set|pass|include|ignore)"
    r"(s|es|ed|d|ing)?\b|^\W*[\w()./-]+:\s|[.:;!]\W*$",
    re.IGNORECASE,
)
_ERROR: Final = re.compile(
    r"(^|[\s(])[\w.]*(Error|Exception|Warning|Fault|Expired)\b\W*:|^\W*(error|fatal|panic|warning|exception|traceback)\b\W*[:(]|"
    r"^\W*(can(not|'t| not)|could not|couldn't|unable to|failed to|invalid|unexpected|no such|missing|unknown|undefined)\b",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(r"`([^`\n]{1,200})`|\"([^\"\n]{1,200})\"|(?<!\w)'([^'\n]{1,200})'(?!\w)")
_TOKEN: Final = re.compile(r"[^\W\d]\w*(?:(?:\.|::)[^\W\d]\w*)*(?:\(\))?")
_PATH: Final = re.compile(r"(?<![\w:/.@-])(?:[\w.@-]+/)+[\w.@-]+")
_CODE_SHAPE: Final = re.compile(r"[a-z0-9][A-Z]|\w_\w|^_+\w|\w_+$|\(\)$|::|^[A-Z][A-Z0-9]+_|\w\.\w")
_PROSE: Final = frozenset({"e.g", "i.e"})


_LEAST_LEFT: Final = 2  # other words that a query must have, for the name of the language to be dropped


class Mention(NamedTuple):
    """A word of the query that may name code."""

    text: str  # as written in code, without brackets and quotes
    is_explicit: bool  # quoted, or in a shape that only code has


@lru_cache(maxsize=64)
def classify(query: str) -> str:
    """Classify a query as STRUCTURAL, IDENTIFIER, ERROR, QUESTION or SEMANTIC.

    * STRUCTURAL: asks for relations of a named symbol.
    * IDENTIFIER: names code, or is a single word.
    * ERROR: is a message as a program prints it.
    * QUESTION: asks about behaviour, or describes behaviour in a few words.
    * SEMANTIC: all other queries, mostly descriptions of changes.
    """
    named = any(mention.is_explicit for mention in mentions(query)) or _PATH.search(query) is not None
    words = query.split()
    if named and len(words) <= _LONGEST_QUESTION and _ASKS.search(query.strip()) and _STRUCTURAL.search(query):
        return STRUCTURAL
    if len(words) > 1 and _ASKED.search(query) is None and _ERROR.search(query):
        return ERROR
    # A single word is searched as a name, whatever its shape.
    if named or len(words) == 1:
        return IDENTIFIER
    if len(words) > _MOST_ASKED or "\n" in query.strip():
        return SEMANTIC
    asks = is_asked(query) or (len(words) <= _MOST_NAMED and _CHANGE.search(query) is None)
    return QUESTION if asks else SEMANTIC


def is_asked(query: str) -> bool:
    """Whether a query has the form of a question."""
    return _ASKED.search(query.strip()) is not None


def without_language(query: str, language: str) -> str:
    """Return a query without the name of the project's own language.

    In a Python project, for example, the word "python" distinguishes no results, but would count most, because it is rare in the texts. The
    name is kept in two cases: the query has several lines, or fewer than two other words would remain.

    Args:
        query: the search text.
        language: id of the language of most of the project; "" if unknown.
    """
    if not language or "\n" in query.strip():
        return query
    name = "|".join(map(re.escape, conventions_of(language).spoken or (language,)))
    left = re.sub(rf"(?<![\w./-])(?:(?:in|using|with|for) )?(?:{name})(?:\s?[23](?:\.\d+)?)?(?![\w./-])", " ", query, flags=re.IGNORECASE)
    return left if len(query_words(left)) >= _LEAST_LEFT else query


def mentions(query: str) -> list[Mention]:
    """Return the words of a query that may name code, without repeats.

    The words are in the order of the query. If a word occurs both as code, such as `` `get` ``, and as plain text, the mention as code is
    kept.
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
    """Return the quoted texts in a query that have several words.

    Such texts usually are messages or lines of code.
    """
    return [quoted for quoted in _quoted(query) if len(quoted.split()) > 1]


def _quoted(query: str) -> Iterator[str]:
    return (next(group for group in match.groups() if group is not None) for match in _QUOTED.finditer(query))


def _bare(token: str) -> str:
    return token.removesuffix("()").replace("::", ".")
