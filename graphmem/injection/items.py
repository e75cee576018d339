"""Items to show to an agent: memories, code, rules, summaries, notes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.answers.memory import code_since
from graphmem.memory.seeds.seeds import SEEDED_FROM
from graphmem.memory.texts.text import clipped
from graphmem.memory.texts.types import SEEDED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from graphmem.answers import MemoryInfo, Rule

# Invisible characters could hide words from a person or reverse a line: control, format, private-use and surrogate characters.
# Line ends and tabs are kept.
_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff\U000e0000-\U000e007f\ud800-\udfff]"
)


EXTRA_CHARACTERS: Final = 240  # of one extra
# Typed extras that an agent acts on, with their heading.
EXTRAS: Final = {
    "fix": "fix",
    "rationale": "why",
    "alternatives": "not chosen",
    "why_failed": "why it failed",
    "alternative": "instead",
    "steps": "steps",
    "ratio": "actual over planned steps",
}


RULE: Final = "rule:"  # before the id of a rule


class Item(NamedTuple):
    """A memory, rule, piece of code or note that may be shown to an agent.

    Its text is data, never an instruction, regardless of the author.
    """

    section: str  # one of budgets.SECTIONS
    kind: str  # memory | code | rule | summary | note | file
    id: str  # of the memory, or a name; breaks ties
    text: str
    type: str = ""  # of a memory
    title: str = ""
    citation: str = ""
    path: str = ""  # of code
    start_line: int = 0  # 1-based; 0: unknown
    end_line: int = 0
    score: float = 0.0
    confidence: float = 1.0
    pinned: bool = False
    session: str = ""  # in which it was learnt; "" for none or several
    untrusted: bool = False  # contains untrusted words
    files: tuple[str, ...] = ()
    disputed: bool = False
    conflicts: tuple[tuple[str, str, str], ...] = ()  # (own short id, other's short id, other's title)
    short_id: str = ""
    suspect: str = ""  # outcome of a change to its code; "" while the code is unchanged


def clean(text: str) -> str:
    """Remove invisible characters; all line ends become line feeds."""
    return _HIDDEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip("\n")


def plain_path(path: str) -> str:
    """Put a file's path on one line; replace `[^`, which begins a citation.

    A malicious file name may contain line ends, followed by instructions to an agent. Brackets, as in `app/[id]/page.tsx`, are kept.
    """
    return " ".join(clean(path).split()).replace("[^", "(^")


def cited_path(path: str) -> str:
    """Put a file's path on one line, and replace `]`, which ends a citation."""
    return plain_path(path).replace("]", ")")


def of_memory(info: MemoryInfo, section: str, score: float = 0.0) -> Item:
    """Convert a memory to an item that can be shown to an agent.

    `section` is one of `budgets.SECTIONS`; `score` ranks the item.
    """
    conflicts = tuple(
        (info.short_id, one.short_id, "not reviewed" if one.status == "candidate" else clean(one.title))
        for one in info.relations
        if one.kind == "conflicts_with" and one.status not in ("superseded", "deprecated")
    )
    return Item(
        section=section,
        kind="memory",
        id=info.id,
        short_id=info.short_id,
        text=with_extras(clean(info.content), info.details),
        type=info.type,
        title=clean(info.title),
        citation=_seeded_from(info) or clean(info.citation) or clean(info.title),
        score=score,
        confidence=info.confidence_in_use,
        pinned=info.status == "pinned",
        session=info.sessions[0] if len(info.sessions) == 1 else "",
        untrusted=info.contaminated,
        files=tuple(info.files),
        disputed=info.disputed,
        conflicts=conflicts,
        suspect=cited_path(code_since(info)),
    )


def with_extras(content: str, details: Mapping[str, object] | None) -> str:
    """Append the additional fields of a memory to its text.

    `details` has the values of the fields, such as the fix of an error. The memory's type defines the fields; see `memory.texts.types`.
    Fields that the text already mentions are not appended.
    """
    said: list[str] = []
    for name, words in EXTRAS.items():
        value = (details or {}).get(name)
        if isinstance(value, list):
            told = "; ".join(str(one.get("description", "")) if isinstance(one, dict) else str(one) for one in value)
        else:
            told = f"{value:g}" if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value or "")
        told = clipped(" ".join(clean(told).split()), EXTRA_CHARACTERS)
        if told and told.casefold().rstrip("…") not in content.casefold() and not _has_all(content, value):
            said.append(f"{words}: {told}")
    return f"{content} ({'; '.join(said)})" if said else content


def _has_all(content: str, value: object) -> bool:
    """Return whether the content of a memory mentions every item of a list.

    The result is False for an empty list, and for a value that is not a list.
    """
    entries = [str(one.get("description", "")) if isinstance(one, dict) else str(one) for one in value] if isinstance(value, list) else []
    return bool(entries) and all(one.casefold() in content.casefold() for one in entries)


def _seeded_from(info: MemoryInfo) -> str:
    """Return the file from which a memory was seeded; "" if it was not.

    A seeded memory was made from a project's own files.
    """
    if info.source != SEEDED:
        return ""
    return next((cited_path(one.removeprefix(SEEDED_FROM)) for one in info.tags if one.startswith(SEEDED_FROM)), "")


def of_rules(rules: Iterable[Rule]) -> list[Item]:
    """Convert rules to items for an agent, word for word and in order."""
    return [
        Item(section="always", kind="rule", id=f"{RULE}{one.origin}:{one.name}", text=clean(one.text), title=clean(one.name))
        for one in rules
    ]


def note(text: str) -> Item:
    """Return an item with a sentence that graphmem itself wrote."""
    return Item(section="always", kind="note", id=f"note:{text}", text=text)


def distinct(items: Sequence[Item], without: Iterable[str] = ()) -> list[Item]:
    """Drop repeated items, and items with the ids in `without`.

    An item is a memory, rule or piece of code. Of several items with the same id, the first is kept.
    """
    seen = set(without)
    kept = []
    for one in items:
        if one.id not in seen:
            seen.add(one.id)
            kept.append(one)
    return kept
