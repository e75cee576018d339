"""Find a request to remember at the start of a person's prompt.

People paste mails, review comments, issues and logs. A request inside pasted text is not the person's own. So only a request in the first
sentence of a prompt, in the person's own words, is accepted. A prompt with marks of pasted text counts as external text. Some marks show
where pasted text begins and ends (a fence, a quotation, tags). They do not affect the first sentence. Other marks (a signature, the header
of a mail) do not show where the pasted text begins. They make a request doubtful, unless the person first announces pasted text.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from graphmem.observe.texts.asking import asks, begins, ends, polite, rules
from graphmem.observe.texts.prompt_patterns import (
    BACK,
    BINDING,
    DENIAL,
    EDGED,
    EDGELESS,
    FOLLOWS,
    MOMENT,
    SENT,
    SENTENCE,
    SHAPED,
    SPACELESS,
    STATES,
    THAT,
)

LONG: Final = 2_000  # a longer prompt was not typed
MANY_LINES: Final = 30
LONGEST_RULE: Final = 200  # characters of a sentence that only its end makes a rule
KEPT: Final = 400  # characters of a request
LOOKED: Final = 16_384
FEWEST_WORDS: Final = 3
FEWEST_NAMED: Final = 2  # words of the content after an explicit "remember"; some languages need no more
SHORT: Final = 300  # characters of a message of one line in which a weak mark needs a sentence that binds
FEWEST_SIGNS: Final = 4  # characters, in a language without spaces between words


class Heard(NamedTuple):
    """A request to remember in a prompt, and the mark of pasted text, if any."""

    wish: str = ""  # text that the person asks to be kept
    corrects: bool = False  # it says that something was wrong
    is_doubtful: bool = False  # it may be part of pasted text
    pasted: str = ""  # the mark that shows pasted text; "" for none
    claim: str = ""  # statement that corrects the agent, without a request to keep it


class _Head(NamedTuple):
    wish: str
    corrects: bool
    end: int  # end of the sentence in the text
    is_named: bool = False  # it begins with a request phrase, so that the rest may have any form


def request_in(text: str) -> Heard:
    """Find a request to remember at the start of a prompt, and pasted text.

    A question ("Do you remember that …?") and an order for the current task ("Remember to …") are not requests.
    """
    said = text[:LOOKED].replace("’", "'")
    if not said.strip():
        return Heard()
    head = _head(said)
    rest = said[head.end :] if head is not None else said
    pasted, first, is_edged = _mark(rest)
    if head is None:
        mark = pasted or _asks(said)
        return Heard(pasted=mark, claim="" if mark else _claim(said))
    own = _mark(said[: head.end], is_head=head.is_named)[0]
    opening = SENTENCE.search(rest)
    is_told = opening is not None and opening.start() <= first and FOLLOWS.search(opening.group()) is not None
    is_own = not own and (not pasted or is_edged or is_told)
    return Heard(head.wish[:KEPT], head.corrects, not is_own, own or pasted or _asks(rest))


def _mark(text: str, *, is_head: bool = False) -> tuple[str, int, bool]:
    """Find the first mark that shows that part of a prompt was pasted.

    A mark is, for example, a quotation, a diff or a fence around code.

    `is_head` is True if `text` is the beginning of a prompt, where some marks are ignored.

    Returns:
        (name of the mark, position, bounded). The name is "" if no mark was found. `bounded` is True if each mark in `text`
        shows where the pasted text begins and ends.
    """
    found: list[tuple[int, str, bool]] = []
    near = text[:LONG]
    is_plain = not is_head and _is_plain(near)
    for marks, is_edged in ((EDGED, True), (SHAPED, True), (EDGELESS, False)):
        for name, pattern in marks:
            if (is_head and name in _NOT_AT_HEAD) or (is_plain and name in _WEAK):
                continue
            if (match := pattern.search(near)) is not None:
                found.append((match.start(), name, is_edged))
    if not is_head and (len(text) > LONG or text.count("\n") > MANY_LINES):
        found.append((len(near), "a long text", False))
    if not found:
        return "", 0, True
    at, name, _ = min(found)
    return name, at, all(is_edged for _, _, is_edged in found)


# A person's own sentence may contain these: a name in markup or quotes, "what the reviewer said".
_NOT_AT_HEAD: Final = frozenset({"a comment of code", "data", "a fence", "markup", "something pasted"})


# Words that a person's own sentence about code has as often: "limit the requests", "the docs say", "fix: typo", "security: …", `<Button>`.
_WEAK: Final = frozenset(
    {
        "a comment of code",
        "a link with a title",
        "a role",
        "a signature",
        "a trailer of a commit",
        "data",
        "markup",
        "quoted text",
        "somebody's words",
        "something pasted",
        "the header of a mail",
    }
)
_QUOTES_WORDS: Final = re.compile(
    r"\b(?:says?|said|wrote|writes|commented|replied|insists|suggests)\s*[:：]"
    r"|(?<!\bi )(?<!\bwe )(?<!\bit )(?<!\byou )\b(?:said|wrote|told (?:me|us))\b",
    re.IGNORECASE,
)


def _is_plain(text: str) -> bool:
    """Whether a message is one short line of Latin letters without a rule.

    Such a message does not ask to remember anything, names no address or mail, and quotes nobody.
    """
    said = text.strip()
    is_line = "\n" not in said and len(said) <= SHORT and not any(sign > "\u024f" and sign.isalpha() for sign in said)
    return is_line and not any(marks.search(said) for marks in (BINDING, SENT, _QUOTES_WORDS)) and not _asks(said)


def _asks(text: str) -> str:
    """Return "a request after its beginning" if a message asks to remember.

    The message asks if a later sentence is a request to remember something. Otherwise, the result is "". Such a sentence is reported
    because the person may have pasted it, and then somebody else wrote the request.
    """
    return next(
        (
            "a request after its beginning"
            for sentence in SENTENCE.findall(text)
            if asks().search(sentence) and not _is_order(sentence) and not BACK.match(sentence.strip())
        ),
        "",
    )


def _claim(text: str) -> str:
    """Return the statement that follows a denial at the start of a prompt.

    For example, "No. The tests use pytest here." gives the second sentence. Only a general statement about the code is returned. The result
    is "" for an order, a question or a report such as "it still fails".
    """
    place, denied = 0, False
    for sentence in [match.group().strip(" \t\n-*•_") for match in SENTENCE.finditer(text)][:3]:
        if not sentence:
            continue
        denial = DENIAL.match(sentence)
        denied = denied or denial is not None
        rest = (sentence[denial.end() :] if denial is not None else sentence).strip()
        if not denied or place > 1:
            return ""
        if rest.strip(" .!"):
            states = STATES.match(rest) and not MOMENT.search(rest) and not rest.endswith(("?", "？"))
            return rest[:KEPT] if states and len(rest.split()) > FEWEST_WORDS else ""
        place += 1
    return ""


def _is_order(sentence: str) -> bool:
    return (
        re.search(
            r"\b(?:do|does|did|don't|can't) (?:you|i|we) (?:still )?remember\b|\bI (?:don't |do not |can't )?remember\b|\bremember to\b"
            r"|\bforget to\b",
            sentence,
            re.IGNORECASE,
        )
        is not None
    )


def _head(text: str) -> _Head | None:
    """Find a request to remember at the start of a person's prompt.

    Polite words and a denial ("No.") may come before the request. The result is None if the prompt does not start with a request.
    """
    sentences = [match for match in SENTENCE.finditer(text) if match.group().strip(" \t\n-*#•_")]
    place, corrects = 0, False
    while place < len(sentences) and place < 2:
        bare = sentences[place].group().strip(" \t\n-*•_")
        if polite().fullmatch(bare):
            place += 1
            continue
        denial = DENIAL.match(bare)
        if denial is None or len(bare[denial.end() :].strip(" .!")) > 0:
            break
        corrects, place = True, place + 1
    if place >= len(sentences):
        return None
    first = sentences[place]
    bare = first.group().strip(" \t\n*•_").removeprefix("- ")
    if denial := DENIAL.match(bare):
        corrects, bare = True, bare[denial.end() :]
    end = first.end()
    following = sentences[place + 1] if place + 1 < len(sentences) else None
    is_question = bare.rstrip("\"')").endswith(("?", "？"))
    if following is not None and not is_question and BACK.match(following.group().strip(" \t\n*_")) and _says_enough(bare):
        return _Head(bare, corrects, following.end())
    wish, is_named = "", False
    if (match := begins().match(bare)) is not None and not BACK.match(bare):
        is_named = True
        wish = THAT.sub("", match["what"].strip(" \t\n*_:：,，"))
        if is_question:
            wish = (
                wish.rstrip("?？ ")
                if re.match(
                    r"(?:\W|\w+,? ){0,3}?(?:can|could|will|would) you\b|(?:\w+,? )?(?:kannst du|peux-tu|puedes)\b", bare, re.IGNORECASE
                )
                else ""
            )
        if (
            not wish.strip(" .!")
            and following is not None
            and not is_question
            and (not match["what"].strip() or bare.endswith((":", "：")))
        ):
            wish, end = following.group().strip(" \t\n*_-"), following.end()  # "Remember:" on a line of its own
    elif not is_question and (
        (match := rules().match(bare)) is not None or (len(bare) <= LONGEST_RULE and (match := ends().match(bare)) is not None)
    ):
        wish = match["what"].strip() if match.re is ends() and not match["what"].isascii() else bare
    wish = wish.strip()
    return _Head(wish, corrects, end, is_named) if _says_enough(wish, FEWEST_NAMED if is_named else FEWEST_WORDS) else None


def _says_enough(text: str, fewest: int = FEWEST_WORDS) -> bool:
    return len(text.split()) >= fewest or (SPACELESS.search(text) is not None and len(text) >= FEWEST_SIGNS)
