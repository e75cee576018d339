"""Which languages can name each other's definitions: what is written in any other says nothing about who uses something."""

from __future__ import annotations

from typing import Final

_TOGETHER: Final = (
    frozenset({"javascript", "tsx", "typescript"}),
    frozenset({"c", "cpp"}),
    frozenset({"java", "kotlin", "scala"}),  # import each other's classes by the name of their package
)
_FAMILIES: Final = {language: "+".join(sorted(group)) for group in _TOGETHER for language in group}


def family_of(language: str) -> str:
    """The family of a language: its own name where no other can name what it defines; "" for text, which names nothing."""
    return "" if language == "text" else _FAMILIES.get(language, language)
