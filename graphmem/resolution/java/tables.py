"""Names of the standard library, from tables in `grammars/java`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from graphmem.runtime.data.tables import read_table


@dataclass(frozen=True, slots=True)
class JavaLibrary:
    """Names of Java's standard library that the rules of Java use.

    The content is that of `grammars/java/library.toml`, whose comments explain each key.
    """

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
    elements: Mapping[str, frozenset[str]]
    kinds: Mapping[str, frozenset[str]]
    results: Mapping[str, frozenset[str]]
    arrays: Mapping[str, str]
    made_of: Mapping[str, frozenset[str]]
    itself: Mapping[str, frozenset[str]]
    of_array: Mapping[str, frozenset[str]]
    enums: Mapping[str, frozenset[str]]
    boxes: Mapping[str, str]
    above: Mapping[str, tuple[str, ...]]
    functions: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Jdk:
    """Types of the JDK by package, and their static methods that make objects.

    The content is that of `grammars/java/jdk.toml`, whose comments explain each key.
    """

    packages: Mapping[str, frozenset[str]]
    factories: Mapping[str, frozenset[str]]


LIBRARY: Final = read_table("java/library.toml", JavaLibrary)
JDK: Final = read_table("java/jdk.toml", Jdk)
