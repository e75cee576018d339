"""Find errors, corrections, abandoned approaches and file names in texts.

Only English is supported, because agents reason in English in conversations of any language. Code blocks and quoted lines are removed
first, because they are not the agent's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from graphmem.runtime.patterns import lazy_pattern

FINGERPRINT_CHARACTERS: Final = 200
_LEAST_CUT: Final = 20  # shortest cut fingerprint that is compared; a shorter one says too little
MESSAGE_CHARACTERS: Final = 300
SENTENCE_CHARACTERS: Final = 400

# ---- errors

_ERROR_LINES: Final = (
    lazy_pattern(r"^E\s{2,}(?P<line>(?:[\w.]+(?:Error|Exception|Warning|Failed|Exit)\b|assert\b).*)$", re.MULTILINE),  # pytest
    lazy_pattern(
        r"^\s*(?P<line>(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit|NotFound|Refused)\b(?::| at | \["
        r"|$).*)$",
        re.MULTILINE,
    ),
    lazy_pattern(r"^(?:FAILED|ERROR) \S+(?:\[[^\]\n]*\])? - (?P<line>.+)$", re.MULTILINE),  # pytest's summary, the error without its test
    lazy_pattern(r"^(?P<line>error(?:\[[A-Z]\d+\])?: .+)$", re.MULTILINE),  # rustc, gcc's fatal lines, uv
    lazy_pattern(r"^\S+?:\d+(?::\d+)?:? (?:fatal )?(?P<line>error:? .+)$", re.MULTILINE | re.IGNORECASE),  # compilers, linters
    lazy_pattern(r"^.*?(?P<line>error TS\d+: .+)$", re.MULTILINE),
    lazy_pattern(r"^panic: (?P<line>.+)$", re.MULTILINE),
    lazy_pattern(r"^(?:npm (?:ERR!|error)|ERROR:?|FATAL:?|fatal:|Error:) ?(?P<line>\S.*)$", re.MULTILINE),
    lazy_pattern(r"^(?P<line>.*(?:command not found|No such file or directory|Permission denied|not recognized as).*)$", re.MULTILINE),
)
_FAILED_TESTS: Final = lazy_pattern(
    r"\b[1-9]\d* (?:failed|failing|failures?|errors?)\b|^FAILED\b|^--- FAIL:|^FAIL\b|\btest result: FAILED"
    r"|\bBUILD FAILURE\b|✕|Tests:\s+[1-9]\d* failed",
    re.MULTILINE,
)
_PASSED_TESTS: Final = lazy_pattern(
    r"\b\d+ pass(?:ed|ing)\b|^ok\s+\S|^PASS\b|\btest result: ok|\bBUILD SUCCESS|\bOK \(|^OK$|\b0 failures\b", re.MULTILINE
)
_EXIT: Final = lazy_pattern(r"\bexit(?:ed)?(?: with)?(?: code| status)?[:= ]+\(?(?P<code>-?\d{1,3})\b", re.IGNORECASE)
_EXPECTED: Final = lazy_pattern(r"^(?:AssertionError|assert\b|ComparisonFailure|expect\(|Failed: DID NOT RAISE)", re.IGNORECASE)
_TRACEBACK: Final = lazy_pattern(r"^Traceback \(most recent call last\)|^thread '.*' panicked at|^panic: ", re.MULTILINE)

_NORMALISE: Final = (
    (lazy_pattern(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE), "<id>"),
    (lazy_pattern(r"\b0x[0-9a-f]+\b", re.IGNORECASE), "<addr>"),
    (lazy_pattern(r"(?:[A-Za-z]:)?(?:[\w.@~+-]*[/\\])+[\w.@+-]+"), "<path>"),
    (
        lazy_pattern(
            r"\b[\w-]+\.(?:py|pyi|ts|tsx|js|jsx|mjs|go|rs|java|rb|php|c|cc|cpp|h|hpp|cs|kt|swift|scala|lua|sh|json|toml"
            r"|ya?ml|md)\b(?::\d+)*"
        ),
        "<path>",
    ),
    (lazy_pattern(r"\b[0-9a-f]{12,}\b"), "<hash>"),
    (lazy_pattern(r"\d+(?:[.,:]\d+)*"), "<n>"),
)


def fingerprint(message: str) -> str:
    """Normalise an error's text, so that the same error gives the same text.

    Paths, numbers, addresses and ids are replaced with placeholders such as `<n>`. Extra spacing is removed.
    """
    text = message[:600]
    for pattern, stand_in in _NORMALISE:
        text = pattern.sub(stand_in, text)
    return " ".join(text.split())[:FINGERPRINT_CHARACTERS]


def same_error(one: str, other: str) -> bool:
    """Whether two normalised errors are equal, or one is the other cut short.

    An error that was cut ends in "...", as in pytest's summary.
    """
    short, whole = sorted((one, other), key=len)
    return one == other or (short.endswith("...") and len(short) >= _LEAST_CUT and whole.startswith(short[:-3]))


def error_line(text: str) -> str:
    """Return the line of an output that describes the error best.

    If no line looks like an error, the last line is returned. The result is "" for an empty output.
    """
    for pattern in _ERROR_LINES:
        last = None
        for last in pattern.finditer(text):  # noqa: B007 - the last one is the one that counts
            pass
        if last is not None:
            return " ".join(last["line"].split())[:MESSAGE_CHARACTERS]
    lines = text.strip().rsplit("\n", 1)
    return " ".join(lines[-1].split())[:MESSAGE_CHARACTERS]


def outcome(text: str, *, test: bool) -> tuple[bool | None, int | None]:
    """Return (whether a command succeeded, exit code), as its output tells.

    Each value is None if the output does not tell it. `test` says whether the command runs tests.
    """
    found = _EXIT.search(text) if "exit" in text or "Exit" in text else None
    if found:
        return int(found["code"]) == 0, int(found["code"])
    if test:
        if _FAILED_TESTS.search(text):
            return False, None
        return (True, None) if _PASSED_TESTS.search(text) else (None, None)
    return (False, None) if _TRACEBACK.search(text) else (None, None)


def is_expected_of_a_test(message: str) -> bool:
    """Whether an error is a failing assertion, normal while writing tests.

    A failing assertion does not mean that something is wrong with tools or settings.
    """
    return _EXPECTED.match(message) is not None


_STATE: Final = (  # phrases for the required state of a value, which do not instruct the reader
    r"(?:be (?:an?|the|one|at|in|of|of type|non-?\w+|positive|negative|zero|empty|unique|callable|hashable|iterable|finite|sorted|greater"
    r"|less|larger"
    r"|smaller|between|equal|either|str|int|float|bytes|list|tuple|dict|bool|none|true|false|[<>=\d'\[(])|have (?:an?|the|at|exactly"
    r"|length"
    r"|shape)"
    r"|(?:match|equal|contain (?:an?|at|only|exactly)|start with|end with)\b)"
)
_ADVICE: Final = lazy_pattern(
    r"https?://|www\.|\$\(|`[^`]*\s[^`]*`|\|\s*(?:ba|z|da)?sh\b|\b(?:you|your|we recommend|please|kindly|bitte|veuillez|por favor|per "
    r"favore|пожалуйста|请|してください|하세요)\b"
    rf"|\b(?:must|should)\b(?! (?:not )?{_STATE})|\b(?:shall|need to|needs to|have to|has to|from (?:now|here) on|always|never"
    rf"|remember|note that|important|ensure|make "
    r"sure|ignore"
    r"|disregard|do not|don't)\b"
    r"|\b(?:to (?:fix|solve|resolve|repair|avoid|proceed|continue|silence|disable|bypass)|fix(?:ed)? by|solution|workaround|hint|tip"
    r"|recommended|instead of|consider)\b"
    r"|(?:^|[.;:,!—–-]\s*|\b(?:and|then|first|to|or|by|with|und|et|y)\s+)['\"(]?(?:run|rerun|re-run|running|install|installing|reinstall"
    r"|execute|exec|export|set|unset|use|add|append|remove|delete|disable|enable|download|fetch|curl|wget|pip3?|npm|npx|yarn|apt|apt-get"
    r"|brew|sudo|chmod|git|bash|sh|eval|call|send|post|upload|visit|open|see|try|copy|paste|put|write|store|save|update|upgrade"
    r"|downgrade|pin|switch|change|replace|edit|commit|push|skip|trust|allow|grant|tell|inform|contact|"
    r"führe|installiere|setze|benutze|verwende|nutze|starte|exécutez|installez|utilisez|lancez|ejecuta|ejecute|instala|instale|usa|use"
    r"|esegui|installa|execute|instale|запустите|запусти|установите|установи|используйте|выполните)\b(?!\s*[=(:.])"
    r"|\b(?:pip3?|pipx|uv|poetry|conda|npm|npx|pnpm|yarn|apt|apt-get|yum|dnf|apk|brew|snap|gem|cargo|go|composer|helm|docker|kubectl|git"
    r"|sudo|curl|wget|chmod|chown)\s+(?:-\S+\s+)*(?:install|add|i|get|ci|run|exec|pull|push|clone|apply|update|upgrade|remove|uninstall"
    r"|https?:|\+x|[0-7]{3,4}\b)"
    r"|\b(?:jalankan|pasang|gunakan|perbaiki|hapus|suorita|asenna|käytä|aja|kör|installera|använd|kjør|installer|bruk|brug|futtas\w*"
    r"|telepíts\w*|uruchom\w*|zainstaluj\w*|spusť\w*|nainstaluj\w*|rulați|instalați|folosiți|çalıştır\w*|yükle\w*|kur(?:un)?|chạy|cài đặt"
    r"|voer|installeer|gebruik|стартирайте|инсталирайте|запустіть|встановіть|εκτελέστε|εγκαταστήστε|τρέξτε|شغ[ّ]?ل\w*|ثب[ّ]?ت\w*|הריצ\w*"
    r"|הרץ|התקינ\w*|اجرا کن\w*|نصب کن\w*|चलाएँ|चलाएं|इंस्टॉल)\b|รัน|ติดตั้ง"
    r"|(?:运行|安装|执行|使用|设置|必须|应该|实行|インストール|実行|設定|설치|실행)|\b(?:execut|installier|install|ausführ)\w*\s+(?:sie|vous|usted)\b|\b(?:for|to|dear"
    r"|attention|hey|note to|message to)?\s?(?:ai|llm|agents?|assistants?|claude|copilot|codex)\b\s*[:,]",
    re.IGNORECASE,
)


def advises(message: str) -> bool:
    """Whether an error message also instructs its reader what to do.

    Such a message may come from an author outside the project, so it is not trusted.
    """
    return _ADVICE.search(message) is not None


# ---- what an agent says

_CODE: Final = lazy_pattern(r"```[\s\S]*?(?:```|\Z)|^\s{0,3}>[^\n]*$|^(?: {4}|\t)[^\n]*$", re.MULTILINE)
_SENTENCE: Final = lazy_pattern(r"[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?\n]?")
# Every correction or abandonment contains one of these, in lower case: most texts need no further search.
_TAKES_BACK: Final = (
    "wrong", "actually", "wait", "correction", "thought", "assumed", "believed", "reconsider", "mistaken", "misread", "misunderstood",
)  # fmt: skip
_LEAD_CHARACTERS: Final = 48  # such a word must be within these first characters of a sentence to make a correction
_GIVES_UP: Final = ("approach", "strategy", "route", "abandon", "dead end", "available", " way", " path", " idea")


def spoken(text: str) -> str:
    """Return a message without code blocks and quoted lines."""
    return _CODE.sub("\n", text) if "```" in text or ">" in text or "    " in text or "\t" in text else text


def sentences(text: str) -> Iterator[str]:
    """Split a message into sentences; dots inside names do not end one."""
    for match in _SENTENCE.finditer(text):
        if sentence := match.group().strip(" \t\n-*#•"):
            yield sentence


class Claim(NamedTuple):
    """A sentence in which an agent corrects its own belief."""

    sentence: str
    wrong: str  # the former belief; "" if not stated
    right: str  # the truth


# Each begins a sentence that states a fact: "Wait for the server" and "Actually, great" do not.
_CORRECTIONS: Final = (
    lazy_pattern(
        r"(?:oh,? |hmm,? |ah,? |no,? |so )?I was (?:wrong|mistaken) (?:about|in|to"
        r"|that) (?P<wrong>.+?)(?:[.;:,—–-]+ ?(?P<right>.+))?$",
        re.IGNORECASE,
    ),
    lazy_pattern(
        r"I (?:initially|first|originally|previously) (?:thought|assumed|believed) (?P<wrong>.+?),? (?:but|however,?"
        r"|yet) (?P<right>.+)$",
        re.IGNORECASE,
    ),
    lazy_pattern(
        r"I (?:misread|misunderstood|had assumed|wrongly assumed"
        r"|incorrectly assumed) (?P<wrong>.+?)(?:[,;:—–] ?(?:but )?(?P<right>.+))?$",
        re.IGNORECASE,
    ),
    lazy_pattern(r"correction ?[:—–-] ?(?P<right>.+)$", re.IGNORECASE),
    lazy_pattern(r"(?:let me|I (?:need|have) to) reconsider ?[.:,—–-]? ?(?P<right>.+)$", re.IGNORECASE),
    lazy_pattern(
        r"(?:hmm,? )?actually,? (?P<right>.+?\b(?:not|instead of|rather than|isn't|doesn't|don't|aren't|wasn't|never"
        r"|no longer|but|only|already)\b.+)$",
        re.IGNORECASE,
    ),
    lazy_pattern(r"(?:hmm,? |oh,? |no,? )?wait ?(?:[,.!—–-]+|\.\.\.|…) ?(?P<right>.+)$", re.IGNORECASE),
)
# A statement contains one of these; a wish or an exclamation does not.
_STATES: Final = (
    "is are was were isn't aren't wasn't doesn't don't does do has have had need needs must should use uses take takes return returns "
    "expect expects lives can't cannot won't will only never not require requires comes come happens means run runs read "
    "reads holds call calls"
)
_VERBS: Final = frozenset(_STATES.split())
_PLAN: Final = lazy_pattern(
    r"(?i)^(?:let(?:'s| me)\b|I(?:'ll| will| should| need to| want to| can| could| have to)\b|maybe\b|what about\b"
    r"|how about\b|first\b|perhaps\b)"
)
MIN_CLAIM_WORDS: Final = 4


def claims(text: str) -> list[Claim]:
    """Return corrections in an agent's words, such as "I was wrong about …".

    A question, a plan and a polite "actually" do not count.
    """
    lower = text.lower()
    there = [word for word in _TAKES_BACK if word in lower]
    if not there:
        return []
    found: list[Claim] = []
    told = list(sentences(spoken(text)))
    for i, sentence in enumerate(told):
        if sentence.endswith("?") or len(sentence) > 4 * SENTENCE_CHARACTERS:
            continue
        lead = sentence[:_LEAD_CHARACTERS].lower()
        if not any(word in lead for word in there):
            continue
        body = sentence.rstrip(".!\n ")
        for pattern in _CORRECTIONS:
            match = pattern.match(body)
            if match is None:
                continue
            parts = match.groupdict()
            wrong, right = (parts.get("wrong") or "").strip(), (parts.get("right") or "").strip()
            following = told[i + 1].rstrip(".! \n") if i + 1 < len(told) and not told[i + 1].endswith("?") else ""
            if not _is_claim(right) and wrong and _is_claim(following):  # "I was wrong about the cache. It is keyed by tenant."
                right = following
            if not _is_claim(right) and not (wrong and len(wrong.split()) >= MIN_CLAIM_WORDS):
                continue
            sentence_ = body if right in body or not right else f"{body}. {right}"
            found.append(Claim(sentence_[:SENTENCE_CHARACTERS], wrong[:MESSAGE_CHARACTERS], right[:MESSAGE_CHARACTERS]))
            break
    return found


def _is_claim(text: str) -> bool:
    words = text.lower().split()
    return len(words) >= MIN_CLAIM_WORDS and not _VERBS.isdisjoint(words) and _PLAN.match(text) is None


_GIVEN_UP: Final = lazy_pattern(
    r"(?i)\b(?:this|that|the (?:current|first|previous|above)|my) (?:approach|strategy|route|path|idea) (?:won't"
    r"|will not|cannot|can't|does not|doesn't|isn't going to) work\b"
    r"|\bI(?:'ll| will| need to| have to|'m going to| should)? ?abandon (?:this|that|the \w+)(?: \w+)? ?(?:approach"
    r"|strategy|idea|route)?\b"
    r"|\blet me try (?:a|an) (?:different|another|alternative|other) (?:approach|strategy|way|route)\b"
    r"|\b(?:not available|unavailable) in (?:this|the|test|ci|production)(?: test| ci| sandbox(?:ed)?)?(?: environment)?\b"
    r"|\bthis (?:is|was) a dead end\b"
)
_WHY: Final = lazy_pattern(r"(?i)\b(?:because|since|as it|due to|the problem is(?: that)?|given that)\b[ :,]*(?P<why>.+)$")
_NOT_MEANT: Final = lazy_pattern(r"(?i)\b(?:if|unless|whether|in case|should) (?:this|that|the|it)\b.{0,60}$|\bwould\b.{0,30}$")


class GivenUp(NamedTuple):
    """An approach that an agent abandons, and why, in the agent's words."""

    approach: str
    why: str


def given_up(text: str) -> GivenUp | None:
    """Return the first approach that an agent abandons; None if there is none.

    A condition such as "If this approach won't work, …" does not count.
    """
    lower = text.lower()
    if not any(word in lower for word in _GIVES_UP):
        return None
    told = list(sentences(spoken(text)))
    for i, sentence in enumerate(told):
        match = _GIVEN_UP.search(sentence)
        if match is None or sentence.endswith("?") or _NOT_MEANT.search(sentence[: match.start() + 12]):
            continue
        before = told[i - 1].rstrip(".! \n") if i else ""
        why = _WHY.search(sentence.rstrip(".! \n")) or _WHY.search(before)
        reason = why["why"] if why else before
        approach = f"{before}. {sentence}" if before else sentence
        return GivenUp(approach.rstrip(".! \n")[:SENTENCE_CHARACTERS], reason[:MESSAGE_CHARACTERS])
    return None


# ---- names in texts

_FILE_NAME: Final = lazy_pattern(r"(?<![\w@.+/-])/?(?:[\w@.+-]+/)*[\w@+-][\w@.+-]*\.[A-Za-z][A-Za-z0-9]{0,7}\b")
# The line may begin with a number that a tool added.
_IMPORT_LINE: Final = lazy_pattern(
    r"\s*(?:\d+[\t→|: ]+)?\s*(?:from\s+([.\w]+)\s+import|import\s+(?:\w+\s+)?\"([^\"]+)\"|import\s+([\w.]+)\s*(?:as\b|,|;|$)"
    r"|use\s+([\w:]+)"
    r"|#include\s+[\"<]([^\">]+))"
)
_IMPORT_CALL: Final = lazy_pattern(r"\b(?:from|require\(|import\()\s*[\"']([^\"']+)[\"']")


def file_names(text: str, most: int = 200) -> tuple[str, ...]:
    """Return at most `most` file names in a message, as written, once each."""
    return tuple(dict.fromkeys(_FILE_NAME.findall(text)[:most]))


_IMPORT_WORDS: Final = ("import", "require(", "use ", "#include", "from ")
_ENDING: Final = lazy_pattern(r"\.(?:[jt]sx?|mjs|hpp|h)\Z")


def imported(text: str, most: int) -> tuple[str, ...]:
    """Return the last part of the name of each module that code imports.

    For example, `from shop.cart import x` gives "cart". At most `most` names are returned.
    """
    found: dict[str, None] = {}
    if not any(word in text for word in _IMPORT_WORDS):
        return ()
    for line in text.split("\n"):
        if not any(word in line for word in _IMPORT_WORDS):
            continue
        match = _IMPORT_LINE.match(line) or _IMPORT_CALL.search(line)
        if match is None:
            continue
        name = next(value for value in match.groups() if value)
        stem = re.split(r"[./:\\]+", _ENDING.sub("", name).rstrip("/."))[-1]
        if stem:
            found[stem] = None
        if len(found) >= most:
            break
    return tuple(found)
