"""Names of the standard library, from `grammars/java/library.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from graphmem.runtime.tables import read_table


@dataclass(frozen=True, slots=True)
class JavaLibrary:
    """The content of `library.toml`, which explains each key."""

    lang: frozenset[str]
    object_methods: frozenset[str]
    standard: frozenset[str]
    lists: tuple[str, ...]
    maps: tuple[str, ...]
    holders: tuple[str, ...]
    common: frozenset[str]
    same: frozenset[str]
    values: frozenset[str]
    arguments: frozenset[str]
    factories: frozenset[str]
    elements: Mapping[str, frozenset[str]]
    kinds: Mapping[str, frozenset[str]]
    results: Mapping[str, frozenset[str]]
    arrays: Mapping[str, str]
    boxes: Mapping[str, str]
    above: Mapping[str, tuple[str, ...]]


LIBRARY: Final = read_table("java/library.toml", JavaLibrary)
