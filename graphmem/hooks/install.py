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
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from graphmem.errors import BadInputError
from graphmem.hooks.entries import is_bare, with_entries, without_entries
from graphmem.hooks.targets import Target
from graphmem.runtime.files.replacing import replace_file
from graphmem.runtime.texts.safe_text import inert

MAX_BYTES: Final = 8 << 20
PRIVATE: Final = 0o600  # of copies: settings of agents may hold keys
OWN_FOLDERS: Final = frozenset(
    {".claude", ".cursor", ".codex", ".gemini", ".opencode", "plugins", "commands", "command", "prompts", "agents"}
)  # removed when they are empty


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
        """Store a settings file's content from before the installation.

        `before` is that content; None if the file did not exist. A hash of the content `installed` is stored, too, to detect later changes.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        if before is not None:
            _write(self.backup(path), before, PRIVATE)
        record = {"path": str(path), "existed": before is not None, "installed": _sha(installed)}
        _write(self._record(path), json.dumps(record, indent=1).encode())

    def forget(self, path: Path) -> None:
        """Delete the record of a file, and the copy of its former content.

        The copy, which may contain passwords, is deleted only if the file has this content again.
        """
        self._record(path).unlink(missing_ok=True)
        copy = self.backup(path)
        if copy.exists() and path.exists() and copy.read_bytes() == path.read_bytes():
            copy.unlink()

    def backup(self, path: Path) -> Path:
        """Path of the copy of a file's former content."""
        return self.folder / f"{self._name(path)}-{path.name}.before"

    def _record(self, path: Path) -> Path:
        return self.folder / f"{self._name(path)}.json"

    def _name(self, path: Path) -> str:
        return hashlib.blake2b(os.fsencode(path), digest_size=8).hexdigest()


def plan_install(targets: Sequence[Target], vault: Vault) -> list[Change]:
    """Plan to add graphmem to the settings files `targets`; write nothing.

    Raises:
        BadInputError: a file cannot be read or changed.
    """
    changes = []
    for target in targets:
        now = _read(target.path)
        untouched, before = vault.before(_real(target.path), now)
        base = before if untouched else without_entries(target, now)[0]
        after, notes = with_entries(target, base)
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
        after, ours = without_entries(target, now)
        if ours and vault.made(path) and after is not None and is_bare(target, after):
            after = None
        changes.append(Change(target.agent, target.path, now, after))
    return changes


def apply(changes: Sequence[Change], vault: Vault, *, installing: bool) -> None:
    """Write all planned changes of settings files, or none if one fails.

    Each file is written atomically. If `installing`, `vault` keeps the former contents. Otherwise `vault` forgets the files, except files
    that another installed agent uses.

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
    """Map each instruction file to an agent that has graphmem and reads it.

    `targets` are the settings files of all agents. An agent has graphmem if its settings have graphmem's hooks. Files without such an agent
    are left out.
    """
    installed = {one.agent for one in targets if one.kind != "markdown" and not one.optional and _is_installed(one)}
    return {_real(one.path): one.agent for one in targets if one.kind == "markdown" and one.agent in installed}


def _is_installed(target: Target) -> bool:
    """Whether an agent's settings file has entries of graphmem."""
    try:
        return without_entries(target, _read(target.path))[1]
    except BadInputError:  # of an agent that is not uninstalled: its block stays
        return True


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
