"""Install graphmem in agents' settings, and uninstall it.

All changes are planned first and shown as a diff. Each file is written atomically. The previous content is stored. Uninstalling restores
the exact bytes of a file that was not changed after the installation. In a changed file, only graphmem's entries are removed. Entries of
other programs are never changed.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import stat
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from graphmem.errors import BadInputError
from graphmem.hooks.jsontext import JsonText
from graphmem.hooks.targets import SERVER, Target, is_our_element, is_our_server
from graphmem.runtime import own_block
from graphmem.runtime.replacing import replace_file
from graphmem.runtime.safe_text import inert

MAX_BYTES: Final = 8 << 20
PRIVATE: Final = 0o600  # of copies: settings of agents may hold keys
OWN_FOLDERS: Final = frozenset(
    {".claude", ".cursor", ".codex", ".gemini", ".opencode", "plugins", "commands", "command", "prompts", "agents"}
)  # removed when they are empty
BEGIN: Final = "# >>> graphmem: written by `graphmem install`, taken out by `graphmem uninstall` >>>"
END: Final = "# <<< graphmem <<<"
_TEXT_BLOCK: Final = re.compile(rf"(?:\r?\n)?{re.escape(own_block.BEGIN)}\r?\n.*?{re.escape(own_block.END)}\r?\n?", re.DOTALL)
_WRITTEN: Final = b"ritten by `graphmem install"  # in each file that only graphmem writes
_BLOCK: Final = re.compile(rf"(?:\r?\n)?{re.escape(BEGIN)}\r?\n.*?{re.escape(END)}\r?\n?", re.DOTALL)


class Change(NamedTuple):
    """A change of one settings file that an installation plans."""

    agent: str
    path: Path
    before: bytes | None  # None: the file does not exist
    after: bytes | None  # None: the file is removed
    base: bytes | None = None  # content without graphmem
    notes: tuple[str, ...] = ()
    shared_with: str = ""  # another installed agent that uses the file, which therefore stays

    @property
    def changes(self) -> bool:
        """Whether the planned content differs from the current one."""
        return self.before != self.after

    def diff(self) -> str:
        """Unified diff of the planned change; "" if nothing changes."""
        before, after = (
            one.decode("utf-8", "replace").splitlines(keepends=True) if one is not None else [] for one in (self.before, self.after)
        )
        name = inert(str(self.path))
        lines = difflib.unified_diff(
            before, after, name if self.before is not None else "/dev/null", name if self.after is not None else "/dev/null"
        )
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


class Vault:
    """Stores the content of settings files from before the installation.

    Args:
        folder: folder of the user's data; created when the first file is kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def before(self, path: Path, now: bytes | None) -> tuple[bool, bytes | None]:
        """Return (is_as_installed, former content) of a settings file.

        `is_as_installed` is True if the file was not changed after the installation. The former content is the content before the
        installation. It is None if the file did not exist before, or was changed after the installation. It is also None if the content is
        unknown.

        Args:
            path: path of the file.
            now: current content of the file; None if it does not exist.
        """
        try:
            record = json.loads(self._record(path).read_text(encoding="utf-8"))
            if now is None or record["installed"] != _sha(now):
                return False, None
            return True, self.backup(path).read_bytes() if record["existed"] else None
        except (OSError, ValueError, KeyError, TypeError):
            return False, None

    def made(self, path: Path) -> bool:
        """Return whether the file did not exist before graphmem wrote it."""
        try:
            return json.loads(self._record(path).read_text(encoding="utf-8"))["existed"] is False
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def keep(self, path: Path, before: bytes | None, installed: bytes) -> None:
        """Store a settings file's previous content, and a hash of the new one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if before is not None:
            _write(self.backup(path), before, PRIVATE)
        record = {"path": str(path), "existed": before is not None, "installed": _sha(installed)}
        _write(self._record(path), json.dumps(record, indent=1).encode())

    def forget(self, path: Path) -> None:
        """Delete the record of a file; keep the copy of its former content."""
        self._record(path).unlink(missing_ok=True)

    def backup(self, path: Path) -> Path:
        """Path of the copy of a file's former content."""
        return self.folder / f"{self._name(path)}-{path.name}.before"

    def _record(self, path: Path) -> Path:
        return self.folder / f"{self._name(path)}.json"

    def _name(self, path: Path) -> str:
        return hashlib.blake2b(os.fsencode(path), digest_size=8).hexdigest()


def plan_install(targets: Sequence[Target], vault: Vault) -> list[Change]:
    """Plan to add graphmem to some settings files, without writing.

    Raises:
        BadInputError: a file cannot be read or changed.
    """
    changes = []
    for target in targets:
        now = _read(target.path)
        untouched, before = vault.before(_real(target.path), now)
        base = before if untouched else _without(target, now)[0]
        after, notes = _with(target, base)
        changes.append(Change(target.agent, target.path, now, after, base, tuple(notes)))
    return changes


def plan_uninstall(targets: Sequence[Target], vault: Vault, others: Sequence[Target] = ()) -> list[Change]:
    """Plan to remove graphmem from some settings files, without writing.

    An instruction file that another installed agent also reads is kept.

    Args:
        targets: files of the agents to uninstall.
        vault: former content of the files.
        others: files of all other agents.

    Raises:
        BadInputError: a file cannot be read.
    """
    users = _users_of_blocks(others)
    changes = []
    for target in targets:
        now = _read(target.path)
        path = _real(target.path)
        if now is not None and (user := users.get(path)):
            note = f"{target.path} keeps its block, which {user} reads too"
            changes.append(Change(target.agent, target.path, now, now, notes=(note,), shared_with=user))
            continue
        untouched, before = vault.before(path, now)
        if untouched:
            changes.append(Change(target.agent, target.path, now, before))
            continue
        after, ours = _without(target, now)
        if ours and vault.made(path) and after is not None and _is_bare(target, after):
            after = None
        changes.append(Change(target.agent, target.path, now, after))
    return changes


def apply(changes: Sequence[Change], vault: Vault, *, installing: bool) -> None:
    """Write planned changes of settings files, each atomically, all or none.

    With `installing`, the former contents are kept in `vault`; else its records of the files are deleted.

    Raises:
        BadInputError: a file cannot be written. Files that were already written are restored.
    """
    done: list[Change] = []
    try:
        for change in changes:
            path = _real(change.path)
            if installing and change.after is not None:
                vault.keep(path, change.base, change.after)
            if change.changes:
                _put(path, change.after)
                done.append(change)
    except OSError as error:
        for change in reversed(done):
            _put(_real(change.path), change.before)
        raise BadInputError(
            f"{change.path} cannot be written: {error.strerror}, and nothing was changed; correct the permissions of the file",
            argument="path",
            path=str(change.path),
        ) from error
    if not installing:
        for change in changes:
            if not change.shared_with:
                vault.forget(_real(change.path))


def _users_of_blocks(targets: Sequence[Target]) -> dict[Path, str]:
    """Map each instruction file to an installed agent that reads the file.

    An agent is installed if its settings have graphmem's hooks. Files without such an agent are left out.
    """
    installed = {one.agent for one in targets if one.kind != "markdown" and not one.optional and _is_installed(one)}
    return {_real(one.path): one.agent for one in targets if one.kind == "markdown" and one.agent in installed}


def _is_installed(target: Target) -> bool:
    """Whether an agent's settings file has entries of graphmem."""
    try:
        return _without(target, _read(target.path))[1]
    except BadInputError:  # of an agent that is not uninstalled: its block stays
        return True


def _with(target: Target, base: bytes | None) -> tuple[bytes, list[str]]:
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


def _without(target: Target, now: bytes | None) -> tuple[bytes | None, bool]:
    """Return (content, had_entries) of a settings file without graphmem.

    `content` is the file without graphmem's entries; None if the file is missing or graphmem's own. `had_entries` is whether the file had
    such entries. `now` is the current content; None if the file does not exist.
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
    for path in dict.fromkeys(element.path for element in target.elements):
        ours |= _drop_elements(document, path)
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


def _is_bare(target: Target, after: bytes) -> bool:
    """Return whether a settings file has nothing that a person wrote.

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
    except tomllib.TOMLDecodeError as error:
        raise BadInputError(
            f"graphmem's hooks cannot be added to {target.path} ({error}); change the existing hooks in the file to [[hooks.Event]] tables "
            "and try again",
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
    except tomllib.TOMLDecodeError as error:
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


def _read(path: Path) -> bytes | None:
    try:
        if path.is_dir():
            raise BadInputError(
                f"{path} is a directory where a settings file should be; move the directory to another place",
                argument="path",
                path=str(path),
            )
        if not path.exists():
            return None
        if path.stat().st_size > MAX_BYTES:
            raise BadInputError(
                f"the settings file {path} has more than {MAX_BYTES:,} bytes, which is too large; check the content of the file",
                argument="path",
                path=str(path),
            )
        return path.read_bytes()
    except OSError as error:
        raise BadInputError(
            f"the settings file {path} cannot be read: {error.strerror}; correct the permissions of the file",
            argument="path",
            path=str(path),
        ) from error


def _real(path: Path) -> Path:
    """Return the target of a symbolic link; other paths are unchanged.

    Writing to the target does not replace the link.
    """
    return path.resolve() if path.is_symlink() else path


def _put(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink(missing_ok=True)
        for folder in (path.parent, path.parent.parent):  # .opencode/plugins
            if folder.name not in OWN_FOLDERS or any(folder.iterdir()):
                return
            folder.rmdir()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(path, content)


def _write(path: Path, content: bytes, mode: int | None = None) -> None:
    """Write a file atomically; keep its mode unless one is given."""
    if mode is None and path.exists():
        mode = stat.S_IMODE(path.stat().st_mode)
    if mode is None:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    replace_file(path, content, mode=mode, durable=True)


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
