"""Remove `<private>…</private>` blocks from texts before any use.

The case and the attributes of tags are ignored. Blocks may be nested. The text may have been cut. So a start tag without an end tag opens a
block up to the end of the text, and an end tag alone closes a block from the start of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

_TAG: Final = re.compile(r"<\s*(?P<end>/?)\s*private(?=[\s/>])[^<>]*>", re.IGNORECASE)
_HINT: Final = re.compile(r"private", re.IGNORECASE)


def private_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each `<private>…</private>` block in a string.

    The block includes its tags. The spans are in order and do not overlap; nested blocks give only the outer one.
    """
    if _HINT.search(text) is None:
        return
    depth = begun = 0
    for tag in _TAG.finditer(text):
        if tag["end"]:
            if depth <= 1:
                yield begun, tag.end()
                begun = tag.end()
            depth = max(0, depth - 1)
        elif not tag.group().rstrip("> ").endswith("/"):  # `<private/>` holds nothing
            begun = begun if depth else tag.start()
            depth += 1
    if depth:
        yield begun, len(text)


def without_private(text: str) -> str:
    """Return a string without its `<private>…</private>` blocks."""
    parts, at = [], 0
    for start, end in private_spans(text):
        parts.append(text[at:start])
        at = max(at, end)
    return "".join([*parts, text[at:]]) if at else text


def all_without_private(value: object) -> Any:
    """Return a value whose strings have no `<private>…</private>` blocks.

    The strings in lists and mappings are changed at any depth; keys are not.
    """
    if isinstance(value, str):
        return without_private(value)
    if isinstance(value, dict):
        return {key: all_without_private(inner) for key, inner in value.items()}
    return [all_without_private(inner) for inner in value] if isinstance(value, (list, tuple)) else value
