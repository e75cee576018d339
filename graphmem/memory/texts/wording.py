"""Decide whether one text says all that another says, word for word.

Only then may one text replace both. The replaced text leaves the search, so the decision must be nearly certain. Every word counts except
articles and a few words of emphasis. The order of the words counts as well: "the read lock before the write lock" is not "the write lock
before the read lock". Differences are allowed in case, number ("build", "builds"), the gerund, a well-known short form ("config"),
punctuation, and a clause that one of the two adds at its end.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

_PIECE: Final = re.compile(r"\n|\S+")
_OPENING: Final = "([{\"'“‘«"
_CLOSING: Final = ".,;:!\"'”’»]}"
_BREAKING: Final = frozenset(".,;:!")
_BULLETS: Final = frozenset("-–—•*")
_HYPHEN: Final = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")

# "that" and the articles carry no meaning; a plural, or a rule, implies all and always.
_EMPTY: Final = frozenset("a an the that all always just also please really simply do".split())  # noqa: SIM905 - a list of quoted words reads worse
_FORMS: Final = {
    "am": "be",
    "are": "be",
    "is": "be",
    "has": "have",
    "does": "do",
    "cannot": "can not",
    "can't": "can not",
    "won't": "will not",
}
_SHORT: Final = {
    "app": "application",
    "apps": "application",
    "arg": "argument",
    "args": "argument",
    "config": "configuration",
    "configs": "configuration",
    "db": "database",
    "dbs": "database",
    "dir": "directory",
    "dirs": "directory",
    "docs": "documentation",
    "env": "environment",
    "envs": "environment",
    "k8s": "kubernetes",
    "lib": "library",
    "libs": "library",
    "max": "maximum",
    "min": "minimum",
    "param": "parameter",
    "params": "parameter",
    "postgresql": "postgres",
    "prod": "production",
    "repo": "repository",
    "repos": "repository",
}
# Words that end in s but are not plurals.
_NO_PLURALS: Final = frozenset("customs does goods https lens news series species this thus whereas windows".split())  # noqa: SIM905
_STARTING: Final = frozenset({"and", "because", "so", "which"})  # the start of a clause without a comma before it
# A clause with one of these words limits the text it is added to.
_LIMITING: Final = frozenset(
    """
    after although before but despite during except however if instead never no not only since than though unless until when where whereas
    while without
    """.split()  # noqa: SIM905 - a list of quoted words reads worse
)


class _Word(NamedTuple):
    word: str
    ends: bool  # a clause may begin after it


def says_all_of(one: str, other: str) -> bool:
    """Return whether `one` has all words of `other`, in the same order.

    After them, `one` may have one more clause, unless it limits the statement ("only", "except").
    """
    mine, theirs = _words(one), _words(other)
    if not theirs or len(mine) < len(theirs) or not all(map(_equal, mine, theirs)):
        return False
    added = mine[len(theirs) :]
    if not added:
        return True
    begins = mine[len(theirs) - 1].ends or added[0].word in _STARTING
    return begins and not any(one.word in _LIMITING for one in added)


def _equal(one: _Word, other: _Word) -> bool:
    return one.word == other.word or _is_gerund(one.word, other.word) or _is_gerund(other.word, one.word)


def _is_gerund(one: str, other: str) -> bool:
    """Return whether `one` is the gerund of `other`.

    Examples are "caching" of "cache" and "running" of "run".
    """
    if not one.endswith("ing") or len(one) < 6:
        return False
    base = one[:-3]
    return other in (base, f"{base}e") or (base[-1] == base[-2] and other == base[:-1])


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[_Word, ...]:
    """Return the words of a memory that matter, normalised for comparison.

    Articles and words of emphasis are left out.
    """
    words: list[_Word] = []
    first = True  # of a sentence, where a capital does not make a name
    for piece in _PIECE.findall(text.replace("’", "'")):
        bare = piece.lstrip(_OPENING)
        opened = bare != piece and piece[0] != "'"
        if (opened or piece == "\n") and words:
            words[-1] = words[-1]._replace(ends=True)
        stripped = bare.rstrip(_CLOSING)
        if stripped.endswith(")") and "(" not in stripped:
            stripped = stripped.rstrip(")" + _CLOSING)
        if not stripped or set(stripped) <= _BULLETS:
            if words:
                words[-1] = words[-1]._replace(ends=True)
            continue
        for part in _HYPHEN.split(stripped) if stripped.replace("-", "").isalpha() else [stripped]:
            words += [_Word(word, ends=False) for word in _compared(part, first=first).split()]
            first = False
        if piece[-1] in _BREAKING or piece[-1] == ")":
            first = piece[-1] not in ",)"
            if words:
                words[-1] = words[-1]._replace(ends=True)
    return tuple(words)


def _compared(word: str, *, first: bool) -> str:
    """Return the normalised form of a word, for comparisons.

    The result is "" for an insignificant word, and two words for a contraction: "doesn't" gives "do not". Names in the form of code keep
    their case. `first` marks the first word of a sentence, where "A" is an article.
    """
    if not word.replace("'", "").isalpha():  # with digits, dots, underscores, signs: a fact
        plain = not any(sign.isupper() for sign in word[1:])
        return _SHORT.get(word.casefold(), word.casefold()) if plain else word
    if any(sign.isupper() for sign in word[1:]):
        return word.casefold() if word.isupper() else word  # "UTC" is "utc"; "userId" keeps its case
    if word == "A" and not first:  # "shard A"
        return "a"
    folded = word.casefold()
    if folded in _EMPTY:
        return ""
    if folded.endswith("n't") and folded not in _FORMS:
        base = _compared(folded[:-3], first=False)
        return f"{base} not".strip()
    found = _FORMS.get(folded) or _SHORT.get(folded)
    if found:
        return "" if found in _EMPTY else found
    return _SHORT.get(singular := _singular(folded), singular)


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")) or word in _NO_PLURALS:
        return word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("sses", "shes", "ches", "xes")) else word[:-1]
