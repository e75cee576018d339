"""Interpret events as acts: a call and its result become one act.

An event is one report of an agent, such as a tool call, its result or a message. An act is a complete action, for example an edit with its
outcome. Only acts are kept, in memory and in the session's checkpoint log on disk. The output of tools and the content of files are dropped
in this module. Secrets are removed from the remaining text. Every path is relative to the project's root.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from graphmem.memory.texts.redact import redact
from graphmem.observe.texts.words import MESSAGE_CHARACTERS

PATH_CHARACTERS: Final = 512
NOTHING: Final[Mapping[str, object]] = MappingProxyType({})


class Act(NamedTuple):
    """One complete action of a coding agent, such as an edit or a test run.

    An act joins the agent's tool call with the call's result. A message of a person or of the agent is an act too.
    """

    n: int  # counted from 1 in order of arrival
    step: int
    at: float  # seconds since 1970, time of the call
    kind: str  # tool | result (of an act counted without one) | say | user | approval | failure | diff | step | start | end | inherit
    action: str = ""  # of a tool: see observe.tools
    label: str = ""  # of a tool: "edit", "test", "run:npm run build"
    paths: tuple[str, ...] = ()  # relative to the project's root
    pattern: str = ""
    command: str = ""
    urls: tuple[str, ...] = ()
    ok: bool | None = None
    exit_code: int | None = None
    error: str = ""  # one line of the error
    seconds: float = -1.0  # from call to result; -1: unknown
    tokens: int = 0
    added: int = 0  # lines
    removed: int = 0
    before: str = ""  # hash of the replaced text; "" if unknown
    after: str = ""  # hash of the new text
    reverted: tuple[str, ...] = ()  # files restored from git; ALL_FILES
    listed: tuple[str, ...] = ()  # files named in a listing or in search results
    imports: tuple[str, ...] = ()  # imports of a source that was read
    text: str = ""  # the words of a message
    web: bool = False  # text from outside the project was read
    stranger: str = ""  # its source: a page, tool, command, file, or the origin of pasted text
    later_page: bool = False
    wish: str = ""  # text at the head of a prompt that a person asks to be kept
    corrects: bool = False  # the wish says that something was wrong
    doubtful: bool = False  # it is unclear whether the wish is the person's or was pasted
    claim: str = ""  # statement with which a person corrects the agent
    info: Mapping[str, Any] = NOTHING


def clean(text: str, most: int = MESSAGE_CHARACTERS) -> str:
    """Redact secrets in `text`, then cut it to `most` characters."""
    return redact(text[: most + 200])[0][:most]


class Paths:
    """Converts file names in the output of agents to project paths.

    Args:
        roots: folders of the project and of its working copies, written with '/'.
    """

    def __init__(self, roots: Iterable[str] = ()) -> None:
        self._roots: list[str] = []
        self._known: dict[str, str] = {}
        for root in roots:
            self.add_root(root)

    def add_root(self, root: str) -> None:
        """Add a folder that contains the project's files."""
        plain = root.replace("\\", "/").rstrip("/")
        if plain and plain not in self._roots and len(self._roots) < 8:
            self._roots.append(plain)
            self._roots.sort(key=len, reverse=True)
            self._known.clear()

    def roots(self) -> Sequence[str]:
        """The known folders of the project."""
        return self._roots

    def of(self, name: str) -> str:
        """Convert a file name to a path relative to the project's root, with '/'.

        The result is "" for a file outside the project or an invalid name.
        """
        known = self._known.get(name)
        if known is None:
            known = self._find(name)
            if len(self._known) >= 20_000:
                self._known.clear()
            self._known[name] = known
        return known

    def _find(self, name: str) -> str:
        plain = name.strip().replace("\\", "/").removeprefix("file://")
        if not plain or len(plain) > PATH_CHARACTERS or "\n" in plain or "\0" in plain or "://" in plain:
            return ""
        if plain[0] in "/~" or plain[1:3] == ":/":
            root = next((root for root in self._roots if plain.startswith(root + "/")), None)
            if root is None:
                return ""
            plain = plain[len(root) + 1 :]
        parts: list[str] = []
        for part in plain.split("/"):
            if part == "..":
                if not parts:
                    return ""
                parts.pop()
            elif part not in ("", "."):
                parts.append(part)
        return "/".join(parts) if parts and parts[0] != ".git" else ""
