"""Add graphmem's entries to an agent's settings, and remove them."""

from __future__ import annotations

import re
import tomllib
from typing import Any, Final

from graphmem.errors import BadInputError
from graphmem.hooks.jsontext import JsonText
from graphmem.hooks.targets import SERVER, Target, is_our_element, is_our_server
from graphmem.runtime.files import own_block

BEGIN: Final = "# >>> graphmem: written by `graphmem install`, taken out by `graphmem uninstall` >>>"
END: Final = "# <<< graphmem <<<"
_TEXT_BLOCK: Final = re.compile(rf"(?:\r?\n)?{re.escape(own_block.BEGIN)}\r?\n.*?{re.escape(own_block.END)}\r?\n?", re.DOTALL)
_WRITTEN: Final = b"ritten by `graphmem install"  # in each file that only graphmem writes
_BLOCK: Final = re.compile(rf"(?:\r?\n)?{re.escape(BEGIN)}\r?\n.*?{re.escape(END)}\r?\n?", re.DOTALL)


def with_entries(target: Target, base: bytes | None) -> tuple[bytes, list[str]]:
    """Add graphmem's entries to a settings file; return (content, notes).

    Each note is a sentence about a file or an entry that exists already and stays unchanged. `base` is the content of the file without
    graphmem's entries; None if the file does not exist.
    """
    if target.kind == "file":
        if base is not None and base.decode("utf-8", "replace") != target.content:
            if target.optional:
                return base, [f"{target.path} already exists; it stays unchanged"]
            raise BadInputError(
                f"{target.path} already exists and was not written by graphmem; move it and try again",
                argument="path",
                path=str(target.path),
            )
        return target.content.encode(), []
    text = _text(target, base)
    if target.kind == "toml":
        return _with_block(target, text)
    if target.kind == "markdown":
        return _fenced(text, own_block.BEGIN, target.block, own_block.END).encode("utf-8"), []
    document = _document(target, text)
    notes: list[str] = []
    for entry in target.defaults:
        if document.get((*entry.path, entry.key)) is None and (base is None or not text.strip("\ufeff \t\r\n") or entry.key == "version"):
            document.add_member(entry.path, entry.key, entry.value)
    try:
        for entry in target.entries:
            there = document.get((*entry.path, entry.key))
            if there is None:
                document.add_member(entry.path, entry.key, entry.value)
            elif there != entry.value:
                notes.append(f"{target.path} has a server named {entry.key} already, which stays unchanged")
        for element in target.elements:
            document.add_element(element.path, element.value)
    except BadInputError as error:
        raise _refused(target, error) from error
    return document.text.encode("utf-8"), notes


def without_entries(target: Target, now: bytes | None) -> tuple[bytes | None, bool]:
    """Remove graphmem's entries from a settings file's content.

    `now` is the current content; None if the file does not exist. The result is (rest of the content, whether there were such entries). The
    rest is None if the file does not exist, or if graphmem wrote the whole file.
    """
    if now is None:
        return None, False
    if target.kind == "file":
        return (None, True) if _WRITTEN in now else (now, False)
    text = _text(target, now)
    if target.kind in ("toml", "markdown"):
        rest, count = (_BLOCK if target.kind == "toml" else _TEXT_BLOCK).subn("", text)
        return rest.encode("utf-8"), bool(count)
    document = _document(target, text)
    ours = False
    for folder in dict.fromkeys(element.path[:-1] for element in target.elements):
        events = document.get(folder)
        for event in events if isinstance(events, dict) else ():  # also those of another version
            ours |= _drop_elements(document, (*folder, event))
    for entry in target.entries:
        if is_our_server(document.get((*entry.path, entry.key))):
            document.remove_member(entry.path, entry.key)
            _drop_empty(document, entry.path)
            ours = True
    return (document.text.encode("utf-8") if ours else now), ours


def _drop_elements(document: JsonText, path: tuple[str, ...]) -> bool:
    """Remove graphmem's elements from the array at `path` in a settings file.

    Arrays and objects that become empty are removed, too. Returns whether there were such elements.
    """
    found = document.get(path)
    places = [index for index, one in enumerate(found) if is_our_element(one)] if isinstance(found, list) else []
    for index in reversed(places):
        document.remove(path, index)
    if places:
        _drop_empty(document, path)
    return bool(places)


def _drop_empty(document: JsonText, path: tuple[str, ...]) -> None:
    while path and document.get(path) in ([], {}):
        document.remove_member(path[:-1], path[-1])
        path = path[:-1]


def is_bare(target: Target, after: bytes) -> bool:
    """Whether a settings file contains nothing that a person wrote.

    Uninstalling removes such a file. `after` is the file's content without graphmem's entries. Defaults that graphmem writes into a new
    file do not count as written by a person.
    """
    text = after.decode("utf-8")
    if target.kind in ("toml", "markdown"):
        return not text.strip()
    left: Any = _document(target, text).get(())
    return all(any(entry.key == key and entry.value == value for entry in target.defaults) for key, value in left.items())


def _with_block(target: Target, text: str) -> tuple[bytes, list[str]]:
    known = _toml(target, text)
    block, notes = target.block, []
    if isinstance(known.get("mcp_servers"), dict) and SERVER in known["mcp_servers"]:
        block = block[: block.index(f"[mcp_servers.{SERVER}]")].rstrip("\n")
        notes.append(f"{target.path} has a server named {SERVER} already, which stays unchanged")
    written = _fenced(text, BEGIN, block, END)
    try:
        tomllib.loads(written.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise BadInputError(
            f"graphmem's hooks cannot be added to {target.path} ({error}); write the existing hooks in the file as TOML arrays of tables, "
            "such as [[hooks.PreToolUse]], and try again",
            argument="path",
            path=str(target.path),
        ) from error
    return written.encode("utf-8"), notes


def _fenced(text: str, begin: str, block: str, end: str) -> str:
    """Append `block`, between two marking lines, to a file's content.

    `text` is the content, and `begin` and `end` are the marking lines. The added lines have the same line ends as `text`.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    lead = "" if not text or text.endswith("\n") else newline
    gap = newline if text else ""
    return text + lead + gap + newline.join([begin, *block.split("\n"), end]) + newline


def _toml(target: Target, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise BadInputError(
            f"{target.path} is not TOML: {error}; correct the file and try again", argument="path", path=str(target.path)
        ) from error


def _document(target: Target, text: str) -> JsonText:
    try:
        return JsonText(text, comments=target.comments)
    except BadInputError as error:
        raise _refused(target, error) from error


def _refused(target: Target, error: BadInputError) -> BadInputError:
    return BadInputError(f"{target.path} cannot be changed: {error.message}, and try again", **{**error.facts, "path": str(target.path)})


def _text(target: Target, data: bytes | None) -> str:
    try:
        return (data or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInputError(
            f"{target.path} is not UTF-8 ({error.reason} at byte {error.start:,}); save the file as UTF-8 and try again",
            argument="path",
            path=str(target.path),
        ) from error
