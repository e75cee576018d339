"""Programming languages whose files are searched as text, without symbols."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable
from functools import cache

from graphmem.runtime.resources import data_root

LANGUAGE = "text"
"""The language of such files in the index."""


@cache
def _by_suffix() -> dict[str, str]:
    table = tomllib.loads((data_root() / "grammars" / "text_only.toml").read_text(encoding="utf-8"))
    return {suffix: name for name, suffixes in table.items() for suffix in suffixes}


def text_only_language(path: str) -> str:
    """Return the language of a file without a grammar; "" if unknown.

    The file must be in the index as text.
    """
    name = path.rpartition("/")[2]
    return _by_suffix().get(name.rpartition(".")[2].lower(), "") if "." in name else ""


def text_only_files(paths: Iterable[str]) -> Counter[str]:
    """Count the files of each language for which graphmem has no grammar."""
    return Counter(filter(None, map(text_only_language, paths)))


def text_only_note(language: str, files: int) -> str:
    """Return a sentence on the files of a language without a grammar."""
    return f"{files:,} {language} file{'s are' if files != 1 else ' is'} searched as text only; their names are not in the graph"
