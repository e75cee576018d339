"""Parts of the sentences of `wording`: code, names, numbers, sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from graphmem.memory.texts.text import clipped

QUOTED: Final = 200  # characters of an error or of an agent's words
NAMED: Final = 3  # files named in a sentence
_CODE_NAME: Final = re.compile(r"[_`(./\\<]|[a-z][A-Z]|\d")
SECOND_THOUGHT: Final = re.compile(
    r"^(?:(?:oh|hmm|ah|no|so)[ ,]+)?(?:wait|actually|correction|let me reconsider)\b[ ,.:;!…—–-]*", re.IGNORECASE
)


def code(text: object) -> str:
    """Return a string as code, on one line between backticks."""
    return "`" + " ".join(str(text).split()).replace("`", "'") + "`"


def codes(texts: Sequence[str] | Iterable[str]) -> str:
    """Join the first texts as code, with the number of the others."""
    listed = list(dict.fromkeys(texts))
    quoted = [code(one) for one in listed[:NAMED]]
    more = len(listed) - len(quoted)
    if more:
        return f"{', '.join(quoted)} and {more} more"
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def quoted(text: object) -> str:
    """Return the beginning of a string as code."""
    return code(clipped(" ".join(str(text).split()), QUOTED))


def module_name(facts: Mapping[str, object]) -> str:
    """Return the module in the facts of a finding, as code."""
    module = str(facts.get("module") or "").strip("./")
    return code(module) if module else "this project"


def step_name(step: str) -> str:
    """Format one step of a sequence of tools for a sentence.

    For example, `test:pytest` gives "test with `pytest`".
    """
    kind, _, name = step.partition(":")
    return {"test": "test", "run": "run"}.get(kind, kind) + (f" with {code(name)}" if name else "")


def rounded(value: Any) -> str:
    """Format a number as an integer: `1234` gives "1,200".

    Only the first two digits of a large number are kept, and the others are rounded to 0.
    """
    number = float(value)
    digits = len(str(int(number)))
    return f"{round(number, 2 - digits) if digits > 2 else round(number):,.0f}"


def unpunctuated(text: str) -> str:
    """Return a sentence on one line without its final punctuation."""
    return " ".join(text.split()).rstrip(".!;, ")


def sentence(text: str) -> str:
    """Return a sentence on one line, with a capital and a full stop.

    A name from code, such as `max_redirects`, is not changed.
    """
    said = clipped(unpunctuated(SECOND_THOUGHT.sub("", text)), 2 * QUOTED)
    first = said.split(" ", 1)[0]
    return (said if _CODE_NAME.search(first) else said[:1].upper() + said[1:]) + "."
