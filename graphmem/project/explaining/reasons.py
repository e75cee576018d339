"""Find written reasons for a question that begins with "why".

Memories, documents, comments and commit messages are searched. A passage gives a reason if it has a word such as "because" and enough words
of the question. If no passage gives a reason, the passages nearest to the question are returned, marked as such.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from graphmem.answers import SearchAnswer, SearchHit
from graphmem.answers.semantic import Reason
from graphmem.errors import GitError
from graphmem.history import messages
from graphmem.knowledge import is_held
from graphmem.memory.texts.text import clipped
from graphmem.parsing.contents import read_inside
from graphmem.projection.words.text import STOP_WORDS, query_words
from graphmem.runtime.git import is_no_repository
from graphmem.runtime.texts.lines import lines_of
from graphmem.search.units.stems import stems_of

MOST: Final = 6  # reasons of an answer
_EACH: Final = 3  # of one kind
_SAME: Final = 80  # letters with which texts that are told twice begin
_SEARCHED: Final = 8  # hits of each further search
_ABOVE: Final = 15  # lines above a definition that may be its comment
_LONGEST: Final = 400  # characters of a reason
_SHORTEST: Final = 20
_MOST_LINES: Final = 400  # lines of a hit that are read
_STATED: Final = 2  # words of the question that a passage must have, if the question has as many; of long questions half
_DECISION: Final = 0.5  # more for a memory of this type
_KEPT: Final = 0.25  # more for other memories, which somebody kept on purpose
_BROUGHT: Final = 0.5  # score of the commit that brought the code, if its message has no word of the question
_LEAST_STEM: Final = 4
_GENERAL: Final = frozenset(
    (
        *("choice", "choose", "chosen", "decide", "decision", "grund", "gründe", "need", "purpose", "rationale", "reason", "reasons"),
        *("use", "used", "uses", "using", "warum", "weshalb", "why", "wieso"),
    )
)
_WHY: Final = re.compile(
    r"^\W*(?:(?:and|but|so|und|aber)\s+)?(?:why|how come|warum|wieso|weshalb)\b|\b(?:reasons?|rationale|motivation) (?:for|of|behind|why)\b"
    r"|\bgr(?:u|ü)nde? (?:für|dafür|warum)\b",
    re.IGNORECASE,
)
_CAUSE: Final = re.compile(
    r"\b(?:because|since (?!v?\d)|so that|in order to|to (?:avoid|prevent|keep|ensure|allow|make sure)|instead of|rather than|otherwise"
    r"|therefore|due to|reason|rationale|motivation|purpose|decided|chose|chosen|we (?:use|prefer|want|need|do not|don't)"
    r"|needed (?:for|to|because|when)|required (?:by|for|because)|avoids?|prevents?|allows?|enabl(?:es|ing)|trade-?offs?"
    r"|(?<!how )(?<!want )(?<!wants )(?<!used )(?<!need )(?<!have )(?<!has )(?<!able )(?<!trying )to "
    r"(?:support|handle|fix|reduce|improve|speed up|work around|protect|guarantee|enable|preserve|detect|catch|match|maintain|simplify"
    r"|share|reuse|minimi[sz]e|maximi[sz]e|free|return|distinguish|limit|satisfy|comply)"
    r"|leads? to|results? in|would (?:otherwise |never |not )?(?:be|break|fail|cause|lead|lose|leak)|leaks?|leaked|exhausts?|work-?around"
    r"|hence|thus|this is why|that is why|that's why|must (?:be|not|never)|for (?:performance|security|safety|compat\w+|backwards?"
    r"|consistency|convenience|simplicity|historical|legacy)|backwards?[- ]compatib\w+|race conditions?|dead-?locks?|make sure"
    r"|for (?:better|greater|more|less|improved|simpler|easier|faster) \w+|makes? (?:it )?(?:easier|simpler|faster|possible)|in favou?r of"
    r"|weil|damit|deshalb|daher|um zu|statt|sonst)\b",
    re.IGNORECASE,
)
_MARK: Final = re.compile(r"^\s*(?://+!?|/\*+!?|\*+/?|#+|--+|;+|\"\"\"|'''|<!--)\s?")
_END: Final = re.compile(r"\s*(?:\*+/|\"\"\"|'''|-->)\s*$")
_QUOTES: Final = ('"""', "'''")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(])")
_NAME: Final = re.compile(r"\w*(?:[a-z0-9][A-Z]|\w_\w)\w*")
_DOTTED: Final = re.compile(r"\w+(?:\.\w+)*")
_ITEM: Final = re.compile(r"^(?:[-*+]\s+)+")
_CODE_FENCE: Final = ("```", "~~~")


class _Passage(NamedTuple):
    """Neighbouring sentences of a file, with the line of the first."""

    line: int
    text: str


def asks_why(question: str) -> bool:
    """Return whether a question asks for a reason."""
    return _WHY.search(question) is not None


def reasons(question: str, found: Sequence[SearchHit], search: Callable[..., SearchAnswer], root: Path) -> tuple[list[Reason], list[str]]:
    """Return (passages that give a reason for what a question asks, notes).

    If no passage gives a reason, the passages nearest to the question are returned. A note says which of the sources could not be searched.

    Args:
        question: the question as the person asked it.
        found: the hits of a search for the question, best first.
        search: a function that searches again. It is called once for memories, and once for documents.
        root: root directory of the project.
    """
    wanted = _wanted(question)
    if not wanted:
        return [], []
    of_memories = search(question, limit=_SEARCHED, kinds=["memory"], explain=False)
    of_documents = search(question, limit=_SEARCHED, kinds=["prose"], explain=False)
    memories, documents = of_memories.hits, [hit for hit in of_documents.hits if hit.facet == "docs"]
    ranked: list[tuple[float, Reason]] = []
    for hit in memories:
        if hit.memory is not None and not is_held(hit.memory):
            extra = _DECISION if hit.memory.type == "decision" else _KEPT
            reason = Reason("memory", "", False, hit.memory.title, "", 0, hit.memory.short_id, hit.memory.created_at)
            ranked.append(_best(reason, hit.memory.content, wanted, extra))
    places: set[tuple[str, int]] = set()
    for hit in [*documents, *(one for one in found if one.path and one.memory is None and one.facet in ("code", "docs"))]:
        kind = "text" if hit.facet == "docs" else "comment"
        nearest = max((_ranked(one, one.text, wanted) for one in _passages(root, hit, kind)), key=lambda one: one[0], default=None)
        if nearest is not None and (nearest[1].path, nearest[1].line) not in places:
            places.add((nearest[1].path, nearest[1].line))
            ranked.append(nearest)
    code = [hit for hit in found if hit.kind == "symbol" and hit.facet == "code"]
    late = [name for name, answer in (("memories", of_memories), ("documents", of_documents)) if "deadline" in answer.missing.values()]
    commits, notes = _commits(root, wanted, code)
    notes += [f"the search of {' and '.join(late)} took too long, so reasons in them may be missing; ask again"] if late else []
    ranked += commits
    told = [one for _, one in sorted((one for one in ranked if one[0] > 0), key=lambda one: -one[0])]
    best = list(_varied([one for one in told if one.states] or told))[:MOST]
    brought = next(
        (one for _, one in ranked[-1:] if one.kind == "commit" and one not in best and (not told or _CAUSE.search(one.text))), None
    )
    return ([*best[: MOST - 1], brought] if brought is not None and best else best), notes


def _varied(some: Iterable[Reason]) -> Iterator[Reason]:
    """Yield reasons without repeated texts, and not too many of one kind.

    `some` are the reasons. Reasons of one kind have the same source, such as commits. At most `_EACH` reasons of a kind are yielded.
    """
    texts: set[str] = set()
    kinds: Counter[str] = Counter()
    for one in some:
        text = "".join(re.findall(r"\w+", (one.text or one.title).casefold()))[:_SAME]
        if text not in texts and kinds[one.kind] < _EACH:
            texts.add(text)
            kinds[one.kind] += 1
            yield one


def _wanted(question: str) -> dict[str, str]:
    """Map the stem of each important word of a question to the word itself.

    Stop words and words that are frequent in questions are left out.
    """
    words = [word for word in query_words(question) if word not in STOP_WORDS and word not in _GENERAL and len(word) > 1]
    return {stem: word for word, stem in stems_of(words).items()}


def _ranked(reason: Reason, text: str, wanted: dict[str, str], extra: float = 0.0) -> tuple[float, Reason]:
    """Return a score for a passage, and the passage with `states` set.

    The score is the number of the question's words in the passage and its title, plus `extra`, plus 1 if the passage has a word such as
    "because". For a passage without any word of the question, the score is `extra`. `states` means that the passage gives a reason. It is
    True if the passage has a word such as "because" and enough words of the question.

    Args:
        reason: the passage with its title and place.
        text: the whole text of the passage.
        wanted: words of the question, by stem.
        extra: bonus for a passage that probably gives a reason, such as a decision.
    """
    about = reason.title if reason.kind in ("comment", "text") else ""  # the name of the code, or the heading, that the passage is about
    having = len(_words(f"{text} {'' if about else reason.title}", wanted, about).intersection(wanted))
    has_cause = _CAUSE.search(text) is not None
    if len(wanted) == 1:  # the word may be anywhere, so the sentence with the cause must have it
        states = any(_CAUSE.search(one) and _words(one, wanted).intersection(wanted) for one in _SENTENCE.split(text))
    else:
        states = has_cause and having >= max(_STATED, math.ceil(len(wanted) / 2))
    score = having + extra + has_cause if having else extra
    return score, Reason(reason.kind, reason.text, states, reason.title, reason.path, reason.line, reason.ref, reason.at)


def _words(text: str, wanted: dict[str, str], title: str = "") -> set[str]:
    """Return the stems of the words of a passage and of its title.

    A name in the passage, such as `OS_SUPPORTED`, is considered only if `wanted` has the whole name, or all words of it: "query runner"
    means `QueryRunner`. The words inside any other name are ignored, because the use of a name explains nothing about them.
    """
    asked = set(wanted.values())

    def counted(name: str) -> str:
        parts = [word for part in name.split(".") for word in query_words(part)[1:] or query_words(part)]
        if len(parts) > 1 and set(stems_of(parts).values()) <= wanted.keys():
            return name
        return _NAME.sub(lambda found: found.group() if asked.intersection(query_words(found.group())[:1]) else " ", name)

    prose = _DOTTED.sub(lambda found: counted(found.group()), text)
    return set(stems_of(query_words(f"{title} {prose}")).values())


def _passages(root: Path, hit: SearchHit, kind: str) -> Iterator[Reason]:
    """Yield the sentences of a hit's prose, each with the sentence before it.

    `kind` is "text" for a document; otherwise, the prose is the comments in code.
    """
    lines = lines_of(read_inside(root, hit.path).decode("utf-8", "replace"))  # none if the file was removed since it was indexed
    first = max(hit.start_line, 1)
    last = min(max(hit.end_line, first), first + _MOST_LINES, len(lines))
    blocks = _paragraphs(lines, first, last) if kind == "text" else _comments(lines, max(1, first - _ABOVE), last, first)
    for line, text in blocks:
        for said in _pairs(text):
            yield Reason("text" if kind == "text" else "comment", clipped(said, _LONGEST), False, hit.title, hit.path, line, hit.id)


def _pairs(text: str) -> Iterator[str]:
    """Yield each sentence, joined to the sentence before it.

    Very short results are left out. A sentence is yielded alone if both sentences together are too long.
    """
    sentences = _SENTENCE.split(text)
    for number, sentence in enumerate(sentences):
        before = sentences[number - 1] if number else ""
        said = f"{before} {sentence}".strip() if len(before) + len(sentence) < _LONGEST else sentence
        if len(said) >= _SHORTEST:
            yield said


def _paragraphs(lines: Sequence[str], first: int, last: int) -> Iterator[_Passage]:
    """Yield the paragraphs in the lines `first` to `last` of a document.

    Code, headings, tables and markup are left out. An item of a list is a paragraph of its own.
    """
    block: list[str] = []
    start, fenced = first, sum(line.lstrip().startswith(_CODE_FENCE) for line in lines[: first - 1]) % 2 == 1
    for number in range(first, last + 1):
        line = lines[number - 1].strip()
        if line.startswith(_CODE_FENCE):
            fenced = not fenced
            line = ""
        if not line or fenced or line.startswith(("#", "|", "<", "..")) or (block and line.startswith(("- ", "* ", "+ "))):
            if block:
                yield _Passage(start, " ".join(block))
            block = []
        if line and not fenced and not line.startswith(("#", "|", "<", "..")):
            start = start if block else number
            block.append((line if block else _ITEM.sub("", line)).replace("**", ""))
    if block:
        yield _Passage(start, " ".join(block))


def _comments(lines: Sequence[str], first: int, last: int, own: int) -> Iterator[_Passage]:
    """Yield each comment of a range of lines as one string.

    The range goes from line `first` to line `last`. Line `own` is the first line of the code that a search found. A comment above line
    `own` is left out unless it ends directly above the line.
    """
    block: list[str] = []
    start, quote = first, ""
    for number in range(first, last + 1):
        line = lines[number - 1]
        bare = line.strip()
        opened = next((one for one in _QUOTES if bare.lstrip("rRuUbBfF").startswith(one)), "") if not quote else ""
        is_comment = bool(quote) or bool(opened) or (_MARK.match(line) is not None and not bare.startswith("#!"))
        if is_comment and bare.strip("/*#-; \"'"):
            start = start if block else number
            block.append(_END.sub("", _MARK.sub("", line.lstrip())).strip())
        elif block and not (is_comment and quote):
            if start >= own or number >= own:
                yield _Passage(start, " ".join(block))
            block = []
        if opened and bare.count(opened) == 1:
            quote = opened
        elif quote and quote in bare:
            quote = ""
    if block:
        yield _Passage(start, " ".join(block))


def _commits(root: Path, wanted: dict[str, str], code: Sequence[SearchHit]) -> tuple[list[tuple[float, Reason]], list[str]]:
    """Find commits that may answer the question, as (score, reason).

    A commit is found in one of two cases: its message has words of the question (`wanted`), or it added the symbol of the first search hit
    in `code` to the project. The second result has a note if commits were not searched, or not all of them.
    """
    words = sorted((stem if word.startswith(stem) and len(stem) >= _LEAST_STEM else word for stem, word in wanted.items()), key=len)[::-1]
    found: list[tuple[float, Reason]] = []
    named: list[messages.Message] = []
    try:
        named = messages.with_words(root, words, _EACH) if len(words) > 1 else []
        named = named or (messages.with_words(root, words[:2], _EACH) if len(words) > 2 else [])
        found += [_best(_of_commit(one, one.subject), one.body, wanted) for one in named]
        first = next((hit for hit in code if hit.qualname), None)
        name = _told_apart(first.qualname) if first is not None else ""
        brought = messages.introduced(root, first.path, name) if first is not None else None
    except GitError as error:  # not under Git, a long history, or a partial clone without old contents; the other sources remain
        if is_no_repository(error):
            return [], ["no commits were searched, because the project is not under Git"]
        return found, [f"commits were not searched completely: {error.message}"]
    if brought is not None and all(one.sha != brought.sha for one in named):
        score, best = _best(_of_commit(brought, brought.subject), brought.body, wanted, _BROUGHT)
        found.append((score, replace(best, title=f"{brought.subject} (brought {name})")))
    return found, []


def _told_apart(qualname: str) -> str:
    """Return the last part of a dotted name that does not begin with "__".

    For `Cart.__init__`, the result is `Cart`.
    """
    parts = qualname.split(".")
    return next((part for part in reversed(parts) if not part.startswith("__")), parts[-1])


def _of_commit(one: messages.Message, title: str) -> Reason:
    """Convert a commit to a `Reason` with title, hash and time, without text."""
    return Reason("commit", "", False, title, "", 0, one.sha, one.at)


def _best(reason: Reason, text: str, wanted: dict[str, str], extra: float = 0.0) -> tuple[float, Reason]:
    """Return (score, reason) of the best part of a memory or commit message.

    A part is a sentence with the sentence before it. A memory that is short enough is shown as a whole. `reason` has the title and place;
    `wanted` and `extra` are as in `_ranked`.
    """
    whole = clipped(text, _LONGEST) if reason.kind == "memory" and len(text) <= _LONGEST else ""
    some = [" ".join(said.split()) for part in re.split(r"\n\s*\n|\n(?=\s*[-*] )", text) for said in _pairs(part)] or [""]
    ranked = (_ranked(replace(reason, text=whole or clipped(one, _LONGEST)), one, wanted, extra) for one in some)
    return max(ranked, key=lambda one: one[0])
