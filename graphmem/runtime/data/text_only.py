"""Programming languages whose files are searched as text, without symbols."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from graphmem.runtime.data.resources import data_root

LANGUAGE = "text"
"""The language of such files in the index."""

_NAMED: Final = 4  # most languages in a sentence


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
    """Count the files of each language for which graphmem has no grammar.

    `paths` are the files. The result maps a language to its number of files.
    """
    return Counter(filter(None, map(text_only_language, paths)))


def text_only_note(files: Mapping[str, int]) -> str:
    """Return a sentence on the files of languages without a grammar.

    `files` has the number of files of each language. The languages with the most files are named.
    """
    ordered = sorted(files.items(), key=lambda one: (-one[1], one[0]))
    named = [f"{count:,} {name}" for name, count in ordered[:_NAMED]]
    if len(ordered) > _NAMED:
        named.append(f"{sum(count for _, count in ordered[_NAMED:]):,} other")
    said = f"{', '.join(named[:-1])} and {named[-1]}" if named[1:] else named[0]
    is_one = sum(files.values()) == 1
    verb, whose = ("file is", "its") if is_one else ("files are", "their")
    return f"{said} {verb} searched as text only; {whose} names are not in the graph"
