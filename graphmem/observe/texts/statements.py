"""Find decisions, conventions and requirements stated in a message.

Only explicit sentences count: "we decided", "the convention here is", "acceptance criteria". Only English is supported, as in
`observe.texts.words`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from graphmem.observe.texts.words import SENTENCE_CHARACTERS, sentences, spoken
from graphmem.runtime.patterns import lazy_pattern

FEWEST_WORDS: Final = 5
MOST_REQUIREMENTS: Final = 12  # of one message


class Statement(NamedTuple):
    """A sentence that states a decision, a convention or a requirement."""

    type: str  # decision | pattern | requirement
    sentence: str
    why: str = ""
    instead: str = ""  # the alternative that was not chosen


_REASON: Final = r"\b(?:because|since|so that|due to|as it|as they|in order to)\b"
_DECIDED: Final = lazy_pattern(
    r"(?:so |okay,? |ok,? |then |finally,? |for now,? )?(?:(?:we|I|we've|I've|we have|I have|the team|it was|it is)\s+(?:have |has |also )?"
    r"(?:decided|agreed|settled|chose|chosen|opted)\b|(?:the |our |my )?(?:final |design )?decision(?: here)?(?: is)?\s*[:–—-])",
    re.IGNORECASE,
)
_CHOSEN: Final = lazy_pattern(r"(?:let's|let us|we'll|we will|we should) (?:use|go with|keep|stick (?:with|to)|switch to)\b", re.IGNORECASE)
_INSTEAD: Final = lazy_pattern(
    r"\b(?:instead of|rather than|and not|over)\s+(?P<other>.+?)(?=[,.;:]|\s+(?:because|since|so that|as|due to)\b|$)", re.IGNORECASE
)
_WHY: Final = lazy_pattern(_REASON + r"\s*(?P<why>.+)$", re.IGNORECASE)
_CONVENTION: Final = lazy_pattern(
    r"(?:(?:the|our|this project's|its) (?:\w+ )?(?:convention|idiom|house style|pattern|rule)s?"
    r"(?: (?:here|in|for|of|throughout|across)\b.{0,40}?)? (?:is|are)\b"
    r"|by convention,? "
    r"|(?:this|the) (?:code ?base|project|repo(?:sitory)?|package|module) (?:always |consistently |uniformly )(?:\w+s)\b"
    r"|(?:this|the) (?:code ?base|project|repo(?:sitory)?) follows (?:the|a|an)\b"
    r"|(?:all|every) (?:of the )?(?:\w+ ){1,3}(?:here|in this (?:code ?base|project|repo(?:sitory)?|package|module)) (?:\w+)\b)",
    re.IGNORECASE,
)
_MAYBE: Final = lazy_pattern(
    r"\b(?:if|whether|maybe|perhaps|might|could|not sure|haven't|have not|undecided|should we|until)\b", re.IGNORECASE
)
_HEADED: Final = lazy_pattern(
    r"^\W{0,4}(?:(?:non-?functional |functional |hard |new )?requirements?|acceptance criteri(?:a|on)|must[- ]haves?)"
    r"\b[^:\n]{0,40}:\s*(?P<said>.*)$",
    re.IGNORECASE,
)
_ITEM: Final = lazy_pattern(r"^\s*(?:[-*•]|\d+[.)]|\[[ x]\])\s+(?P<said>\S.*)$")
_SHALL: Final = lazy_pattern(
    r"(?:the|our|every|each|all|an?|no) (?!(?:test|build|lint|pull|pr|commit)\b)[\w/'’-]+"
    r"(?: [\w/'’-]+){0,6}? (?:must|shall|has to|have to)(?: not| never| always)? \w+",
    re.IGNORECASE,
)


def statements(text: str, *, person: bool) -> Iterator[Statement]:
    """Return decisions and conventions that a message states, in order.

    Args:
        text: text of the message.
        person: whether a person wrote the text; an agent's decision counts only if a reason or an alternative is stated.
    """
    for sentence in sentences(spoken(text)):
        said = sentence.rstrip(".!\n ")
        if sentence.endswith("?") or len(said) > SENTENCE_CHARACTERS or len(said.split()) < FEWEST_WORDS:
            continue
        why, instead = _WHY.search(said), _INSTEAD.search(said)
        is_reasoned = why is not None or instead is not None
        head = said[: len(said) // 2 + 20]
        is_decided = _DECIDED.match(said) is not None and (person or is_reasoned)
        is_chosen = person and is_reasoned and _CHOSEN.match(said) is not None
        if (is_decided or is_chosen) and not _MAYBE.search(head):
            yield Statement("decision", said, _of(why, "why"), _of(instead, "other"))
        elif _CONVENTION.match(said) and not _MAYBE.search(head):
            yield Statement("pattern", said, _of(why, "why"))


def requirements(text: str) -> list[Statement]:
    """Return requirements that a person's message states, in order.

    A requirement is an item under a heading that names requirements. It can also be a sentence about what a part of the system must do.
    """
    found: dict[str, None] = {}
    is_listed = False
    for line in spoken(text).splitlines():
        headed = _HEADED.match(line)
        item = _ITEM.match(line)
        if headed is not None:
            is_listed = True
            said = headed["said"].strip()
        elif is_listed and item is not None:
            said = item["said"].strip()
        else:
            is_listed = is_listed and not line.strip()
            for sentence in sentences(line):
                if _SHALL.match(sentence) and not sentence.endswith("?"):
                    found[sentence.rstrip(".! ")] = None
            continue
        if len(said.split()) >= FEWEST_WORDS and not said.endswith("?"):
            found[said.rstrip(".! ")] = None
    fits = [one for one in found if len(one.split()) >= FEWEST_WORDS and len(one) <= SENTENCE_CHARACTERS]
    return [Statement("requirement", one) for one in fits[:MOST_REQUIREMENTS]]


def _of(match: re.Match[str] | None, name: str) -> str:
    return match[name].strip().rstrip(".") if match is not None else ""
