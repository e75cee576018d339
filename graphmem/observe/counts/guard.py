"""Recognise memories that an agent only repeats, which prove nothing.

graphmem shows memories to an agent (injection). If the agent repeats a shown memory, that is an echo and not independent evidence. Injected
text has marks. `stripped` removes marked text from the agent's words and inputs before detectors get them. `Guard.echoes` then searches for
an existing memory that says the same as the remaining text, first among the memories shown to the session.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from graphmem.memory.texts.text import fingerprint

if TYPE_CHECKING:
    from graphmem.knowledge import MemoryRow
    from graphmem.projection.memories.index import MemoryIndex

MARK: Final = "[^ Memory:"
_BLOCK: Final = re.compile(r"<project_memory>.*?(?:</project_memory>|\Z)", re.DOTALL)
_END: Final = "</project_memory>"  # an end without a beginning: the text was cut earlier
_OURS: Final = ("[⚠ CONFLICT] #", "[disputed] #", "## Project memory", "PROJECT MEMORY. ", '{"about": "Notes from this project')
_INTRODUCTION: Final = "Notes from this project's memory."
_ITEM: Final = re.compile(r"\s*[-*] ")
_FENCE: Final = re.compile(r"\s*(`{3,}|~{3,})")
_LINES: Final = 60  # of one injected item, at most
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_FEWEST: Final = 4  # a sentence with fewer words cannot be recognised
_WITHIN: Final = 0.9  # share of a sentence's words in a memory that makes it a repetition
_LOOK: Final = 8  # nearest memories to compare


def stripped(text: str) -> str:
    """Remove quoted memories from the text of an agent.

    graphmem showed these memories to the agent. Blocks of memories are removed. So are list items and lines with a memory's mark, such as
    `[^ Memory: … #a1b2]`.
    """
    if MARK not in text and "project_memory>" not in text and _INTRODUCTION not in text and "[⚠ CONFLICT] #" not in text:
        return text
    lines = _BLOCK.sub("", text).rpartition(_END)[2].split("\n")
    drop = [False] * len(lines)
    for number, line in enumerate(lines):
        if MARK in line:
            drop[number] = True
            _drop_item(lines, drop, number)
        elif line.lstrip().startswith(_OURS) or _INTRODUCTION in line:
            drop[number] = True
    return "\n".join(line for line, gone in zip(lines, drop, strict=True) if not gone).strip()


def _drop_item(lines: list[str], drop: list[bool], number: int) -> None:
    """Set `drop` to True for the lines of a list item that quotes a memory.

    Line `number` has the memory's mark. The item begins at the nearest bullet, in this line or above. It ends with this line, or with the
    code fence or table rows (lines that begin with `|`) directly below.
    """
    if not _ITEM.match(lines[number]):
        for back in range(number - 1, max(-1, number - _LINES), -1):
            if not lines[back].strip() or drop[back]:
                break
            if _ITEM.match(lines[back]):
                for between in range(back, number):
                    drop[between] = True
                break
    after = number + 1
    if after < len(lines) and (fence := _FENCE.match(lines[after])):
        for place in range(after, min(len(lines), after + _LINES)):
            drop[place] = True
            if place > after and lines[place].strip() == fence.group(1):
                break
    while after < min(len(lines), number + _LINES) and lines[after].lstrip().startswith(("|", "│")):
        drop[after] = True
        after += 1


class Guard:
    """Finds memories that an agent's message repeats.

    Memories that the session was shown are compared first.

    Args:
        index: the index of all memories.
        shown: ids of the memories that the session was shown.
    """

    def __init__(self, index: MemoryIndex, shown: Iterable[str] = ()) -> None:
        self._index = index
        self._shown = {row.id: row for one in shown if (row := index.row(one) or index.row(index.by_short_id(one) or "")) is not None}

    def was_shown(self, memory_id: str) -> bool:
        """Whether the session was shown the memory with this id."""
        return memory_id in self._shown

    @staticmethod
    def is_marked(facts: Mapping[str, object]) -> bool:
        """Whether a finding quotes memories that graphmem showed to the agent.

        graphmem puts marks in the text of memories that it shows to an agent. Marked text is not evidence. `facts` has the finding's
        sentences and other values by name.
        """
        return any(isinstance(value, str) and MARK in value for value in facts.values())

    def echoes(self, text: str) -> str:
        """Return the id of a memory that a message repeats; "" if none.

        Sentences are compared one by one. Memories that the session was shown are compared first.
        """
        from graphmem.memory.texts.similar import OVERLAP, overlap, words_of  # imports numpy, which receiving events does not need

        if MARK in text:
            return self._marked(text)
        for sentence in _SENTENCE.split(text):
            words = words_of(sentence)
            if len(words) < _FEWEST or len(sentence.split()) < _FEWEST:  # names and paths are not sentences
                continue
            for row in self._near(sentence):
                theirs = words_of(row.content)
                if overlap(words, theirs) > OVERLAP or len(words & theirs) >= _WITHIN * len(words):
                    return row.id
        return ""

    def echoes_any(self, facts: Mapping[str, object], names: Iterable[str]) -> str:
        """Return the id of a memory that a finding repeats; "" if none.

        The finding has values with names, `facts`. Only the values called `names` are compared: sentences of a person or an agent. The
        result is "" if no memory says the same as one of them.
        """
        for name in names:
            value = facts.get(name)
            for text in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(text, str) and (found := self.echoes(text)):
                    return found
        return ""

    def _near(self, sentence: str) -> list[MemoryRow]:
        same = self._index.by_fingerprint(fingerprint(sentence))
        ids = dict.fromkeys([*self._shown, *same, *(one for one, _ in self._index.words(sentence, _LOOK))])
        return [row for one in ids if (row := self._shown.get(one) or self._index.row(one)) is not None]

    def _marked(self, text: str) -> str:
        """Return the id of the memory that a citation in a message names.

        A citation looks like `[^ Memory: … #a1b2]`. If no memory has the cited id, the result is the id of any memory that the session was
        shown. If the session was shown none, the result is "marked".
        """
        named = re.search(r"\[\^ Memory:[^\]]*#([0-9a-f]{4,64})\]", text)
        known = self._index.by_short_id(named.group(1)) if named else None
        return known or next(iter(sorted(self._shown)), "") or "marked"
