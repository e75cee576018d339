"""Names of the standard library, from `grammars/rust/library.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from graphmem.runtime.data.tables import read_table


@dataclass(frozen=True, slots=True)
class RustLibrary:
    """Names of Rust's standard library that the rules of Rust use.

    The content is that of `grammars/rust/library.toml`, whose comments explain each key.
    """

    prelude: frozenset[str]
    macros: frozenset[str]
    crates: frozenset[str]
    lists: tuple[str, ...]
    maps: tuple[str, ...]
    transparent: frozenset[str]
    wrapper_makers: frozenset[str]
    empty_makers: frozenset[str]
    object_makers: frozenset[str]
    common: frozenset[str]
    numbers: frozenset[str]
    sizes: frozenset[str]
    bits: frozenset[str]
    checked: tuple[str, ...]
    inherent_methods: frozenset[str]
    same: frozenset[str]
    same_items: frozenset[str]
    unwraps: frozenset[str]
    to_option: frozenset[str]
    to_item: frozenset[str]
    to_parts: frozenset[str]
    to_halves: frozenset[str]
    one_and_rest: frozenset[str]
    mapping: frozenset[str]
    other: frozenset[str]
    counts: frozenset[str]
    entries: frozenset[str]
    closures_of_pairs: frozenset[str]
    closures_with_state: frozenset[str]
    closures_of_error: frozenset[str]
    closures_of_nothing: frozenset[str]
    strings: Mapping[str, str]
    traits: Mapping[str, frozenset[str]]


LIBRARY: Final = read_table("rust/library.toml", RustLibrary)
