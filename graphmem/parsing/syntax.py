"""The parsers of one language, and the node types of its grammar."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from threading import Lock
from typing import Final

from tree_sitter import Language, Parser, Point, Range, Tree

from graphmem.parsing.language import LanguageSpec

PARSE_TIMEOUT_MICROS: Final = 5_000_000
"""Processor time for parsing a file, which is reported if it takes more.

Typical source parses at 10 MB/s.
"""

HASTE_MICROS: Final = 250_000
"""Processor time after which a file goes to a process of its own.

Some sources of a few kilobytes make a parser request gigabytes within seconds.
"""


_USED_UP: Final = 0.9  # share of the limit: the library's clock and that of the thread differ a little


class Syntax:
    """The parsers of one grammar, and the ids of its node types."""

    def __init__(self, spec: LanguageSpec, language: Language) -> None:
        self.spec = spec
        self.language = language
        self._parser = Bounded(language, PARSE_TIMEOUT_MICROS)
        self._hasty = Bounded(language, HASTE_MICROS)
        self._part = Bounded(language, HASTE_MICROS)

    def parse(self, source: bytes, *, hasty: bool = False, old: Tree | None = None) -> Tree | None:
        """Parse UTF-8 bytes to a syntax tree; None if the time limit is reached.

        The limit is `PARSE_TIMEOUT_MICROS` of processor time, or `HASTE_MICROS` if `hasty` is true. `old` is the tree of an earlier
        version, with the changes applied by `Tree.edit`. Its unchanged parts are taken over.
        """
        parser = self._hasty if hasty else self._parser
        return parser.parse(source, old)

    def parse_part(self, source: bytes, start: int, end: int) -> Tree | None:
        """Parse the text from byte `start` to `end`; nodes keep their positions.

        Returns None if parsing takes more processor time than `HASTE_MICROS`.
        """
        points = [Point(source.count(b"\n", 0, at), at - source.rfind(b"\n", 0, at) - 1) for at in (start, end)]
        self._part.parser.included_ranges = [Range(points[0], points[1], start, end)]
        return self._part.parse(source)

    def kind_ids(self, node_type: str) -> list[int]:
        """Return all numeric ids that a grammar has for a node type.

        A node type, such as `call`, may have several ids, because of aliases. `node_type` in double quotes, such as `"this"`, is a token of
        the source and not a named type.
        """
        count: int = self.language.node_kind_count
        is_named, plain = not node_type.startswith('"'), node_type.strip('"')
        return [i for i in range(count) if self.language.node_kind_for_id(i) == plain and self.language.node_kind_is_named(i) == is_named]

    def kinds(self, node_types: Iterable[str]) -> frozenset[int]:
        """Return the ids of several node types in the grammar."""
        return frozenset(i for node_type in node_types for i in self.kind_ids(node_type))


class Bounded:
    """A parser that gives up after a limit of its thread's processor time.

    The library can only limit elapsed time. Such a limit alone would lose files on a busy machine. So a parse that reaches the elapsed time
    before the processor time begins again, with twice the elapsed time. It does not continue: after syntax errors, the tree of a continued
    parse can differ from the tree of an uninterrupted one.

    Threads may share a parser.
    """

    def __init__(self, language: Language, limit_micros: int, first_micros: int | None = None) -> None:
        """Create a parser for a grammar.

        Args:
            language: the grammar.
            limit_micros: processor time of one parse.
            first_micros: elapsed time of the first attempt; by default the limit.
        """
        self.parser = Parser(language)
        self._limit_s = limit_micros / 1e6
        self._first_micros = first_micros or limit_micros
        self._micros = 0  # elapsed time that is set
        self._lock = Lock()

    def parse(self, source: bytes, old: Tree | None = None) -> Tree | None:
        """Parse UTF-8 bytes to a syntax tree; None if the time limit is reached.

        `old` is the tree of an earlier version, with the changes applied by `Tree.edit`; its unchanged parts are taken over.
        """
        micros = self._first_micros
        with self._lock:
            while True:
                self._limit_elapsed(micros)
                started = time.thread_time()
                try:
                    return self.parser.parse(source, old) if old is not None else self.parser.parse(source)
                except ValueError:  # the elapsed time is used up
                    self.parser.reset()  # the next parse would otherwise continue this one
                    if time.thread_time() - started >= self._limit_s * _USED_UP:
                        return None
                    micros *= 2

    def _limit_elapsed(self, micros: int) -> None:
        if self._micros != micros:
            self._micros = micros
            with warnings.catch_warnings():
                # The replacement, a progress callback that cancels, crashes the pinned core.
                warnings.simplefilter("ignore", DeprecationWarning)
                self.parser.timeout_micros = micros  # type: ignore[misc]  # the stubs forget the setter
