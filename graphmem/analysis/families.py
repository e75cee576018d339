"""Families of languages that can name each other's definitions.

For example, TypeScript and JavaScript are one family. Code of another family cannot use a symbol by its name.
"""

from __future__ import annotations

from typing import Final

_TOGETHER: Final = (
    frozenset({"javascript", "tsx", "typescript"}),
    frozenset({"c", "cpp"}),
    frozenset({"java", "kotlin", "scala"}),  # import each other's classes by package name
)
_FAMILIES: Final = {language: "+".join(sorted(group)) for group in _TOGETHER for language in group}


def family_of(language: str) -> str:
    """Return the family of a language; TypeScript and JavaScript share one.

    By default the family has the language's own name. The result is "" for plain text, which cannot name a definition.
    """
    return "" if language == "text" else _FAMILIES.get(language, language)
