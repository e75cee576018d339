"""Read READMEs, instructions and decisions for first memories."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from graphmem.memory.files.importers import FORMATS, passages
from graphmem.memory.files.importers import read as read_rules
from graphmem.memory.seeds.seed import Seed
from graphmem.memory.texts.text import clipped
from graphmem.runtime.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphmem.memory.files.markdown import Item

SHORTEST: Final = 24

_IMAGE_OR_CODE: Final = lazy_pattern(r"(`+[^`\n]+`+)|\[?!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?(?:\](?:\([^)]*\)|\[[^\]]*\]))?|<[^>]+>")
_LINK: Final = lazy_pattern(r"\[([^\]]+)\]\([^)]*\)|\[([^\]]+)\]\[[^\]]*\]")
_RST_LINK: Final = lazy_pattern(r"`([^`<]+?)\s*<[^>]+>`_+")  # may span lines
_RST_REFERENCE: Final = lazy_pattern(r"(?<!`)`([^`<>]+)`__?(?!\w)")
_RST_BLOCK: Final = lazy_pattern(r"\.\.(?:\s|$)")  # a directive or a comment
_RST_LITERAL: Final = lazy_pattern(r"(?<!`)``(?!`)")
_RST_ROLE: Final = lazy_pattern(r":[a-z]+(?::[a-z]+)?:(?=`[^`])")  # before a name
_TELLING: Final = lazy_pattern(
    r"architect|structure|layout|convention|contribut|develop|test|design|principle|guideline|style|requirement|caveat|limitation|gotcha",
    re.IGNORECASE,
)
# The start of a paragraph that tells nothing by itself: a greeting, or words that continue another paragraph.
_GREETING: Final = lazy_pattern(r"(?:please|thank|thanks|welcome|hi\b|hello|note|see |and |but |or |then |so |:)", re.IGNORECASE)
_OFFER: Final = lazy_pattern(r"[^\w\s`*_\"'(\[]")  # an emoji or another sign begins an advertisement, not a description
_SOCIAL: Final = lazy_pattern(
    r"\b(?:issues?|bugs?|report\w*|conduct|questions?|community|sponsor\w*|licen[cs]e|financial|donat\w*|backers?|collective)\b",
    re.IGNORECASE,
)
_LINKS: Final = lazy_pattern(r"[|·•].+[|·•]")  # a row of links, such as "Demo | Blog | FAQ"
_DEFINES: Final = lazy_pattern(r"[\w .`'-]{1,40}\bis (?:an?|the) ", re.IGNORECASE)
_DESCRIBES: Final = lazy_pattern(r"\b(?:is|are|has|have|represents?|provides?|contains?|supports?|holds|handles|uses)\b", re.IGNORECASE)
_DIRECTIVE: Final = lazy_pattern(
    r"\b(?:must|never|always|ensure|make sure|do not|don't|avoid|prefer|should|required?|run|use|only|before)\b", re.IGNORECASE
)
_WORK: Final = lazy_pattern(
    r"\b(?:tests?|tested|lint\w*|format\w*|builds?|commits?|branch(?:es)?|typ(?:es?|ing)|docs?|docstrings?|documentation|changelog|code|api"
    r"|dependenc\w+|versions?|releases?|compatib\w+|imports?|modules?|packages?|director\w+|folders?)\b",
    re.IGNORECASE,
)
_REASSURING: Final = lazy_pattern(
    r"\b(?:do not|don't) (?:worry|hesitate|be (?:afraid|shy))|\bfeel free\b|\bI(?:'ll|'m| am| will)\b", re.IGNORECASE
)
_MIDDLE: Final = lazy_pattern(
    r"[a-z][\w-]*_? (?:to|for|which|that|and|or)\b|[Ii]f (?:this is your first|you(?:'re| are) new)\b"
    r"|(?:Concretely|This means|That means|For example|Otherwise|However|Therefore|In (?:this|that) case|In addition|Also),? "
)
_LED: Final = lazy_pattern(r"\**(?P<name>[A-Z][\w ]{2,30}?)[.:]\**\s")
_UNDERLINE: Final = lazy_pattern(r"([=\-~^\"'#*+])\1{2,}[ \t]*")
_OPEN_STATUS: Final = lazy_pattern(r"\b(?:superseded|rejected|deprecated|withdrawn|obsolete|draft|proposed)\b", re.IGNORECASE)
_STATUS: Final = lazy_pattern(r"^[*\-\s]*\**status\**\s*:\**\s*(.+)$", re.IGNORECASE | re.MULTILINE)
_TITLE: Final = lazy_pattern(r"^#[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_NUMBER: Final = lazy_pattern(r"^(?:ADR[- ]?)?\d+\s*[.:)\-–—]*\s*", re.IGNORECASE)


def readme(path: str, text: str) -> Iterator[Seed]:
    """Yield texts for first memories (seeds) from a README.

    They are its first paragraph and its directives, such as "Run the tests before each commit".
    """
    said = _prose(path, text)
    about = next(
        (
            one
            for one in said
            if len(one.text) >= 40
            and not _OFFER.match(one.text)
            and one.text.count(" ") >= 5
            and not _GREETING.match(one.text)
            and not _LINKS.search(one.text)
            and (_DEFINES.match(one.text) or not _SOCIAL.search(one.text))
        ),
        None,
    )
    if about is not None:
        yield Seed(f"About this project: {about.text}", "module_insight", is_orientation=True)
    for one in said:
        if one is not about and _TELLING.search(one.heading) and _directs(one):
            yield Seed(one.text, "fact")


def _prose(path: str, text: str) -> list[Item]:
    """Return the paragraphs and list items of a document as plain words.

    Badges, markup and link addresses are removed.
    """
    source = text
    if path.lower().endswith((".rst", ".txt")) or "." not in PurePosixPath(path).name:
        source = _from_rst(text)
    return [one._replace(text=plain) for one in passages(source) if len(plain := _plain(one.text)) >= SHORTEST]


def _plain(text: str) -> str:
    said = _LINK.sub(lambda found: found[1] or found[2], _IMAGE_OR_CODE.sub(lambda found: found[1] or "", text)).replace("**", "")
    return " ".join(_RST_ROLE.sub("", _RST_LITERAL.sub("`", said)).split()).strip(" |·")


def _directs(one: Item) -> bool:
    """Return whether a paragraph instructs people how to work on the code.

    For example, "Run the tests before each commit".
    """
    if _SOCIAL.search(one.heading) or _GREETING.match(one.text) or _REASSURING.search(one.text) or _leads(one.text):
        return False
    return "`" in one.text or (_DIRECTIVE.search(one.text) is not None and _WORK.search(one.text) is not None)


def _leads(text: str) -> bool:
    """Return whether a sentence only introduces the next, or is incomplete.

    It ends with a colon or a question mark, or it begins in the middle: "poethepoet_ to run tasks".
    """
    return text.rstrip("*_ ").endswith((":", "?")) or _MIDDLE.match(text) is not None


def _from_rst(text: str) -> str:
    """Convert reStructuredText to Markdown; keep only headings and paragraphs."""
    lines = _RST_REFERENCE.sub(r"\1", _RST_LINK.sub(r"\1", text)).splitlines()
    out: list[str] = []
    is_block = False  # indented lines belong to the directive or comment above them
    for number, line in enumerate(lines):
        after = lines[number + 1] if number + 1 < len(lines) else ""
        is_block = _RST_BLOCK.match(line) is not None or (is_block and line[:1] in ("", " ", "\t"))
        if is_block or _UNDERLINE.fullmatch(line) or line.lstrip().startswith((".. ", "|", ":")) or line.endswith("::"):
            out.append("")
        elif line.strip() and _UNDERLINE.fullmatch(after) and len(after.strip()) >= len(line.strip()):
            out += ["", f"# {line.strip()}", ""]
        else:
            out.append(line.replace("``", "`"))
    return "\n".join(out)


def instructions(path: str, text: str) -> Iterator[Seed]:
    """Yield a seed (text for a first memory) for each rule in a file."""
    form = next((one.name for one in FORMATS if one.fits(path.lower())), "agents")
    for one in read_rules(text, form if form not in ("markdown", "facts") else "agents").items:
        if _leads(one["content"]):
            continue
        told = _DESCRIBES.search(one["content"]) and not _DIRECTIVE.search(one["content"])
        yield Seed(one["content"], one.get("type") or ("fact" if told else "preference"))


def contributing(path: str, text: str) -> Iterator[Seed]:
    """Yield the directives of a contributing page as seeds for memories."""
    for one in _prose(path, text):
        if one.text.count(" ") >= 4 and _directs(one):
            yield Seed(one.text, "pattern")


def decision(path: str, text: str) -> Iterator[Seed]:
    """Yield the title and decision of a decision record, if it is in force.

    A record that is only proposed, or that was rejected or replaced, is not in force.
    """
    title = _TITLE.search(text)
    stem = PurePosixPath(path).stem
    if title is None or stem.lower() in ("readme", "index", "template", "0000-template") or "template" in stem.lower():
        return
    found = passages(text)
    status = _STATUS.search(text)
    state = status[1] if status is not None else next((one.text for one in found if one.heading.lower().strip() == "status"), "")
    if _OPEN_STATUS.search(state):
        return
    led = [
        one.text for one in found if (begun := _LED.match(one.text)) and begun["name"].lower().startswith(("decision", "chosen", "choice"))
    ]
    chosen = led or [one.text for one in found if one.heading.lower().startswith(("decision", "we decide", "outcome"))]
    body = (
        chosen
        or [one.text for one in found if not _STATUS.match(one.text) and one.heading.lower() != "status" and one.text.count(" ") >= 6][:1]
    )
    name = _NUMBER.sub("", _plain(title[1]))
    if body:
        said = _LED.sub("", _plain(body[0]), count=1)
        yield Seed(f"Decided: {name}. {said}", "decision", title=clipped(name, 80))
