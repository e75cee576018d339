"""Names of the standard library, from `grammars/python/library.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from graphmem.runtime.data.tables import read_table


@dataclass(frozen=True, slots=True)
class PythonLibrary:
    """Names of Python's standard library, of unittest, pytest and attrs.

    The content is that of `grammars/python/library.toml`, whose comments explain each key.
    """

    more_builtins: frozenset[str]
    more_common: frozenset[str]
    keeps_prefix: frozenset[str]
    passive: frozenset[str]
    typing: frozenset[str]
    mappings: frozenset[str]
    open: frozenset[str]
    transparent: frozenset[str]
    silent: frozenset[str]
    variables: frozenset[str]
    dataclasses: frozenset[str]
    field_makers: frozenset[str]
    class_hooks: tuple[str, ...]
    module_hooks: tuple[str, ...]
    function_hooks: tuple[str, ...]
    sequences: Mapping[str, frozenset[str]]
    demands: Mapping[str, str]


LIBRARY: Final = read_table("python/library.toml", PythonLibrary)
