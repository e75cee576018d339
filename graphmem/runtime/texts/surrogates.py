"""Decode JSON in which a string was cut inside an emoji.

A program whose strings are UTF-16, such as one in JavaScript, may send half of a pair. JSON allows it, but UTF-8 has no bytes for it.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def decoded(text: str) -> Any:
    """Decode JSON; in its strings, U+FFFD replaces halves without partner.

    Raises:
        ValueError: the text is not JSON.
        RecursionError: the text is nested too deeply.
    """
    found = json.loads(text)
    if _HALF.search(text) is None:
        return found
    joined = json.dumps(found, ensure_ascii=False).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return json.loads(joined)
