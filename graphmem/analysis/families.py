"""Families of languages that can name each other's definitions.

For example, TypeScript and JavaScript are one family. Code of another family cannot use a symbol by its name.
"""

from __future__ import annotations

from functools import cache

from graphmem.runtime.data.conventions import conventions_by_language, conventions_of


@cache
def family_of(language: str) -> str:
    """Return the family of a language; TypeScript and JavaScript share one.

    By default the family has the language's own name. The result is "" for plain text, which cannot name a definition.
    """
    if language == "text":
        return ""
    family = conventions_of(language).family
    if not family:
        return language
    return "+".join(sorted(name for name, one in conventions_by_language().items() if one.family == family))
