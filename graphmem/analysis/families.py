"""Families of languages that can name each other's definitions.

Code in another family says nothing about who uses a symbol.
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
    """Language family of a language; by default the language itself.

    It is "" for plain text, which cannot name a definition.
    """
    return "" if language == "text" else _FAMILIES.get(language, language)
