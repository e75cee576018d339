"""Find the command that answers a question better than a search does.

A search finds text that is similar to the question. Questions about callers, dependents, cycles and commits have exact answers in the
graph. For each of them there is a command.
"""

from __future__ import annotations

import re
import shlex
import sys
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.analysis.refs import MAX_REF_CHARACTERS, is_known, resolve_ref
from graphmem.analysis.relations import sites
from graphmem.errors import AmbiguousSymbolError

if TYPE_CHECKING:
    from graphmem.answers.code import Site
    from graphmem.projection.graph.view import GraphView

_CODE: Final = re.compile(r"[./_:]|[a-z0-9][A-Z]")
_OF_QUESTIONS: Final = re.compile(
    r"about|affected|along|also|break|breaks|call|called|callers|calling|calls|change|changed|changes|"
    r"class|code|cover|covers|delete|depend|depends|does|edit|else|file|files|from|function|have|impact|"
    r"impacted|import|imported|imports|into|know|known|method|module|modules|modify|move|need|referenced|"
    r"references|remove|rename|safe|should|still|tell|test|tests|that|them|there|these|this|those|together|"
    r"touch|usages|used|uses|what|when|where|which|will|with|would",
    re.IGNORECASE,
)
LEAST: Final = 4  # characters of a plain word that may name the symbol of a question
NAMED: Final = 3  # callers that an answer names
CALLERS: Final = "its callers"
CALLEES: Final = "the code that it calls"
_ENDS: Final = {CALLERS: "callers", CALLEES: "callees"}


class _Suited(NamedTuple):
    """A command, and the pattern of the questions that it answers."""

    pattern: re.Pattern[str]
    command: str
    prints: str
    is_about: bool  # whether the command takes a symbol


def _suited(pattern: str, command: str, prints: str, *, is_about: bool = True) -> _Suited:
    return _Suited(re.compile(pattern, re.IGNORECASE), command, prints, is_about)


_COMMANDS: Final = (
    _suited(r"\b(what|which|where|who)\b.*\b(breaks?|affected|impacted)\b", "impact", "the code that a change could break"),
    _suited(
        r"\bimpact of\b|\bblast radius\b|\bsafe to (change|delete|edit|move|remove|rename)\b",
        "impact",
        "the code that a change could break",
    ),
    _suited(r"\b(what|who|which)\b.*\bdepends? on\b|\bdependents of\b", "impact", "everything that depends on it"),
    _suited(r"\b(what|which)\b.*\btests?\b.*\b(run|cover|check|exercise)", "impact", "the tests to run"),
    _suited(r"\bknown about\b|\bwhat do (we|you) know about\b", "symbol", "what is known about it, and its callers"),
    _suited(r"\bwhat (does|do)\b.*\bcall\b", "symbol", CALLEES),
    _suited(r"\b(who|what|which|where)\b.*\b(calls?|called|calling)\b|\bcallers?\b", "symbol", CALLERS),
    _suited(r"\b(who|what|which|where)\b.*\b(uses?|used|imports?|imported|references?|referenced)\b|\busages of\b", "usages", "its uses"),
    _suited(r"\bchang(e|es|ed)\b.*\b(together|along) with\b", "coaccess", "files that change together"),
    _suited(r"\bwho\b.*\b(knows?|owns?|wrote|maintains?)\b|\bexperts?\b|\bbus factor\b", "people", "who knows each module", is_about=False),
    _suited(
        r"\bwhere\b.*\b(begins?|starts?|started)\b|\bentry ?points?\b|\bmain (function|program)\b",
        "entry-points",
        "where execution starts, the project's commands first",
        is_about=False,
    ),
    _suited(
        r"\bhow\b.*\bmodules?\b.*\b(depend|related?|connect)|\blayers\b.*\bmodules\b", "modules", "modules and dependencies", is_about=False
    ),
    _suited(r"\btangl|\bcycl(e|es|ic)\b|\bcircular\b", "cycles", "cycles and the edges to cut", is_about=False),
    _suited(
        r"\bwhat\b.*\bchanged\b|\b(recent|latest|newest) (changes|commits)\b|\bchanged? recently\b",
        "commits",
        "the newest commits",
        is_about=False,
    ),
    _suited(r"\bhot ?spots?\b|\b(riskiest|most risky)\b", "hotspots", "where changes are risky", is_about=False),
    _suited(
        r"\b(what|which|list|show)\b.*\b(routes|endpoints)\b", "entry-points --kind route", "the handlers of all routes", is_about=False
    ),
    _suited(r"^\W*(what (does|do) \S+ do\b|what is (an? |the )?\S+\s*\W*$|explain \S+\s*$)", "symbol", "its definition, callers and bases"),
    _suited(r"\b(dead|unused) code\b", "dead-code", "definitions that appear to be unused", is_about=False),
)


def suited_command(view: GraphView, question: str) -> str:
    """Return a sentence that names the best command for a question.

    Some commands need a symbol or file as argument. Such a command is named only if the question contains a name of the index. If there are
    several such names, the one that is most likely a name of code is the argument. A question about callers also gets the first callers.
    The result is "" if no command answers the question.
    """
    for one in _COMMANDS:
        if not one.pattern.search(question):
            continue
        if not one.is_about:
            return f"`graphmem {one.command}` shows {one.prints}"
        if subject := next((name for name in _names(question) if is_known(view, name)), ""):
            return f"`graphmem {one.command} {shlex.quote(subject)}` shows {one.prints}{_first(view, subject, one.prints)}"
    return ""


def _first(view: GraphView, subject: str, prints: str) -> str:
    """Return the first results of a command, as the end of a sentence.

    The results are callers of a symbol, or functions that the symbol calls. The result is "" for a command that prints anything else. It
    is also "" if several symbols have the name, because the command then lists these symbols.
    """
    if prints not in _ENDS:
        return ""
    try:
        nodes = resolve_ref(view, subject)
    except AmbiguousSymbolError:
        return ""
    found = sorted(sites(view, nodes[0], _ENDS[prints], sys.maxsize), key=lambda one: not one.symbol.path)  # the project's own first
    named = [one.symbol.qualname if prints == CALLEES else f"{_called_from(one)} ({_place(one)})" for one in found[:NAMED]]
    more = f" and {len(found) - len(named):,} more" if len(found) > len(named) else ""
    return f": {', '.join(named)}{more}" if named else "; none is known"


def _called_from(caller: Site) -> str:
    """Return a caller's name; "top-level code" for code outside functions."""
    return "top-level code" if caller.symbol.kind == "module" else caller.symbol.qualname


def _place(caller: Site) -> str:
    """Return the line of a call, as path:line."""
    return f"{caller.symbol.path}:{caller.lines[0] if caller.lines else caller.symbol.start_line}"


def _names(question: str) -> list[str]:
    """Return words of a question that may be code names, the likeliest first.

    The first of these groups that has any words is returned:

    - words between backticks;
    - words with an inner capital or punctuation;
    - other words, without short ones and words such as `change`, which are common in questions.

    A later word of the question is likelier than an earlier one. In the last group, capitalised words come first.
    """
    words = [word.strip("`\"'()[]{}<>?!.,;") for word in question.split()]
    marked = re.findall(r"`([^`]+)`", question) or [word for word in words if _CODE.search(word)]
    plain = [word for word in words if len(word) >= LEAST and not _OF_QUESTIONS.fullmatch(word)]
    names = marked or sorted(plain, key=lambda word: word[:1].isupper())
    return [word for word in reversed(names) if len(word) <= MAX_REF_CHARACTERS]
