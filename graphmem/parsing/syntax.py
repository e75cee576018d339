"""The parsers of one language, and the node types of its grammar."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Final

from tree_sitter import Language, Parser, Point, Range, Tree

from graphmem.parsing.language import LanguageSpec

PARSE_TIMEOUT_MICROS: Final = 5_000_000
"""Timeout of parsing a file, which is then reported.

Typical source parses at 10 MB/s.
"""

HASTE_MICROS: Final = 250_000
"""Timeout after which a file goes to a process of its own.

Some sources of a few kilobytes make a parser request gigabytes within seconds.
"""


class Syntax:
    """The parsers of one grammar, and the ids of its node types."""

    def __init__(self, spec: LanguageSpec, language: Language) -> None:
        self.spec = spec
        self.language = language
        self._parser = _parser(language, PARSE_TIMEOUT_MICROS)
        self._hasty = _parser(language, HASTE_MICROS)
        self._part = _parser(language, HASTE_MICROS)

    def parse(self, source: bytes, *, hasty: bool = False) -> Tree | None:
        """Parse UTF-8 bytes to a syntax tree; None after a timeout.

        The timeout is `PARSE_TIMEOUT_MICROS`, or `HASTE_MICROS` if hasty.
        """
        parser = self._hasty if hasty else self._parser
        try:
            return parser.parse(source)
        except ValueError:  # after a timeout; the parser would otherwise continue where it stopped
            parser.reset()
            return None

    def parse_part(self, source: bytes, start: int, end: int) -> Tree | None:
        """Parse the text between two byte offsets; nodes keep their positions.

        None if it takes longer than `HASTE_MICROS`.
        """
        points = [Point(source.count(b"\n", 0, at), at - source.rfind(b"\n", 0, at) - 1) for at in (start, end)]
        self._part.included_ranges = [Range(points[0], points[1], start, end)]
        try:
            return self._part.parse(source)
        except ValueError:
            self._part.reset()
            return None

    def kind_ids(self, node_type: str) -> list[int]:
        """All ids of a node type in the grammar, such as `call`.

        Aliases give some types several ids. `"this"` with quotes is a token.
        """
        count: int = self.language.node_kind_count
        is_named, plain = not node_type.startswith('"'), node_type.strip('"')
        return [i for i in range(count) if self.language.node_kind_for_id(i) == plain and self.language.node_kind_is_named(i) == is_named]

    def kinds(self, node_types: Iterable[str]) -> frozenset[int]:
        """Return the ids of several node types in the grammar."""
        return frozenset(i for node_type in node_types for i in self.kind_ids(node_type))


def _parser(language: Language, timeout_micros: int) -> Parser:
    parser = Parser(language)
    with warnings.catch_warnings():
        # The replacement, a progress callback that cancels, crashes the pinned core.
        warnings.simplefilter("ignore", DeprecationWarning)
        parser.timeout_micros = timeout_micros  # type: ignore[misc]  # the stubs forget the setter
    return parser
