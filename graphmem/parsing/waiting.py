"""Share files among parsing processes, by language.

A process compiles the queries of each language that it meets. For C++, TypeScript and Ruby this takes as long as parsing 50 files. So few
processes get files of each language.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Set
from typing import Final

from graphmem.parsing.discovery import FoundFile

WORTH_HELP: Final = 64
"""Waiting files of a language for which one more process compiles its queries."""

_WITHOUT_QUERIES: Final = "text"


class WaitingFiles:
    """The files that wait to be parsed, in the given order for each language."""

    def __init__(self, files: Iterable[FoundFile]) -> None:
        self._by_language: dict[str, deque[FoundFile]] = {}
        for file in files:
            self._by_language.setdefault(file.language, deque()).append(file)

    def __bool__(self) -> bool:
        return any(self._by_language.values())

    def put_back(self, files: Iterable[FoundFile]) -> None:
        """Add files that a process got but did not parse; they come first."""
        for file in reversed(list(files)):
            self._by_language.setdefault(file.language, deque()).appendleft(file)

    def take(self, most: int, known: Set[str], known_elsewhere: Set[str]) -> list[FoundFile]:
        """Remove and return the next files of one language for a process.

        A process gets files of its own languages first. Then it gets a language that no process knows, then text. At last it helps with a
        language of other processes, if many files of it wait. Of several languages, that with the most files is chosen.

        Args:
            most: maximum number of files.
            known: languages of which the process has got files.
            known_elsewhere: languages of which other living processes have got files.

        Returns:
            The files; none if the files that wait are better left to the other processes.
        """
        waiting = {language: len(files) for language, files in self._by_language.items() if files}
        choices = (
            known - {_WITHOUT_QUERIES},
            waiting.keys() - known_elsewhere - {_WITHOUT_QUERIES},
            {_WITHOUT_QUERIES},
            {language for language, files in waiting.items() if files >= WORTH_HELP},
        )
        for languages in choices:
            language = max(waiting.keys() & languages, key=lambda one: (waiting[one], one), default=None)
            if language is not None:
                files = self._by_language[language]
                return [files.popleft() for _ in range(min(most, len(files)))]
        return []
