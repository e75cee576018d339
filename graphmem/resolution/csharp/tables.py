"""Names of the .NET library, from a table in `grammars/csharp`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from graphmem.runtime.data.tables import read_table


@dataclass(frozen=True, slots=True)
class CSharpLibrary:
    """Names of the .NET library that the rules of C# use.

    The content is that of `grammars/csharp/library.toml`, whose comments explain each key.
    """

    functions: frozenset[str]
    implicit_usings: Mapping[str, tuple[str, ...]]
    members: Mapping[str, frozenset[str]]


LIBRARY: Final = read_table("csharp/library.toml", CSharpLibrary)
