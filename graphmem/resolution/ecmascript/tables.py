"""Names of the standard library, from `grammars/ecmascript/library.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from graphmem.runtime.data.tables import read_table


@dataclass(frozen=True, slots=True)
class EcmascriptLibrary:
    """Names of the standard library of JavaScript, of browsers and of Node.

    The content is that of `grammars/ecmascript/library.toml`, whose comments explain each key.
    """

    globals: frozenset[str]
    common: frozenset[str]
    maps: frozenset[str]
    transparent: frozenset[str]
    type_helpers: frozenset[str]
    extended_types: frozenset[str]
    same: frozenset[str]
    each: frozenset[str]
    elements: frozenset[str]
    node_modules: frozenset[str]
    built_folders: frozenset[str]
    source_folders: tuple[str, ...]
    conditions: tuple[str, ...]
    main_fields: tuple[str, ...]
    default_entries: tuple[str, ...]
    typescript: tuple[str, ...]
    javascript: tuple[str, ...]
    components: tuple[str, ...]
    containers: Mapping[str, frozenset[str]]
    compiled_from: Mapping[str, tuple[str, ...]]


LIBRARY: Final = read_table("ecmascript/library.toml", EcmascriptLibrary)
