"""Encrypt the memories of an index on disk, or decrypt them.

Every text of a memory is written again: in the journal, the database, the caches, and the files of sessions. An interrupted run leaves some
texts encrypted and others plain. graphmem can still read all of them with the key, and another run completes the work.
"""

from __future__ import annotations

import secrets
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.errors import EncryptionError
from graphmem.location import BACKUPS
from graphmem.maintenance.backup import readable
from graphmem.memory.files.sync_state import BASE
from graphmem.observe.learning.summary import FOLDER as SUMMARIES
from graphmem.observe.ledger.ledger import LEDGER
from graphmem.observe.running.checkpoint import RECORD, TRAIL, Reader, Trail, keep_record, read_record
from graphmem.project.opening import open_project
from graphmem.project.sessions.session_learner import TRAILS
from graphmem.runtime.files import vault as vaults
from graphmem.runtime.files.checksums import SIDES
from graphmem.runtime.files.sqlite_file import private
from graphmem.sharing.sidecar import FILE as SHARING

if TYPE_CHECKING:
    from graphmem.settings import Settings

PARTS: Final = (LEDGER, SHARING)  # SQLite files that are encrypted as a whole
_GONE: Final = (SUMMARIES, "sandbox", "server.log", BASE)  # plain texts that are written again, or not needed


class Encryption(NamedTuple):
    """The state of an index's encryption after `encrypt` or `decrypt`."""

    on: bool
    key: str  # hash that names the key
    key_file: str  # "" if a command gives the key
    memories: int
    removed: int  # deleted files with plain text


def encrypt(data_dir: Path, settings: Settings, key_file: Path | None, *, remove_copies: bool = False) -> Encryption:
    """Encrypt all texts of an index's memories; return the new state.

    Args:
        data_dir: the index directory, which no process may use.
        settings: used to find the key file if `key_file` is None.
        key_file: file of the key; created with a random key if it is missing.
        remove_copies: delete old backups and quarantined files, which hold plain text.

    Raises:
        EncryptionError: the key is missing, or the memories are encrypted with another key; or plain copies exist and `remove_copies` is
            false.
        StoreBusyError: a server or another process has the index open.
    """
    home = data_dir.resolve()
    file = key_file.expanduser().absolute() if key_file is not None else None
    if file is not None and not file.exists():
        _make_key(file, home)
    source = str(file or settings.memory_key_file)
    vault = vaults.loaded(vaults.key_of(source, settings.memory_key_command))
    try:
        mark = vaults.read_mark(home)
    except EncryptionError:  # it is damaged, and written again
        mark = None
    if mark is not None and mark["key_id"] != vault.id:
        raise EncryptionError(
            f"the memories are encrypted with the key {mark['key_id']}, but the given key is {vault.id}; first run "
            f"`graphmem memory decrypt` with the key {mark['key_id']}",
            key=mark["key_id"],
        )
    copies = [] if mark is not None and mark["state"] == vaults.ON else _copies(home)
    if copies and not remove_copies:
        names = ", ".join(one.relative_to(home).as_posix() for one in copies[:5])
        raise EncryptionError(
            f"{names} also contain unencrypted text of memories; move these files to another place, or add --remove-copies to delete them"
        )
    vaults.write_mark(home, vault, source, vaults.ENCRYPTING)
    count = _written_again(home, settings)
    for name in _GONE:
        path = home / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    for path in copies:
        path.unlink(missing_ok=True)
    for name in PARTS:
        _seal_file(home / name, vault)
    vaults.write_mark(home, vault, source)
    return Encryption(on=True, key=vault.id, key_file=source, memories=count, removed=len(copies))


def decrypt(data_dir: Path, settings: Settings) -> Encryption:
    """Decrypt all texts of an index's memories; return the new state.

    The memories are written again as plain text.

    Raises:
        EncryptionError: the key is missing, or differs from the key in use.
        StoreBusyError: a server or another process has the index open.
    """
    home = data_dir.resolve()
    vault = vaults.unlock(home, settings)
    mark = vaults.read_mark(home)
    if vault is None or mark is None:
        return Encryption(on=False, key="", key_file="", memories=0, removed=0)
    vaults.write_mark(home, vault, mark["key_file"], vaults.DECRYPTING)
    count = _written_again(home, settings)
    for name in PARTS:
        sealed = home / (name + vaults.SEALED)
        if sealed.exists():
            with open(home / name, "wb", opener=private) as out:
                out.write(vaults.opened(sealed.read_bytes(), name))
            sealed.unlink()
    (home / vaults.FILE).unlink()
    return Encryption(on=False, key=vault.id, key_file=mark["key_file"], memories=count, removed=0)


def _written_again(home: Path, settings: Settings) -> int:
    """Rewrite journal, database and session files, encrypted or as plain text.

    The texts are encrypted if the index is marked as encrypted at the time of the call. Returns the number of memories.
    """
    (home / "memories.projection").unlink(missing_ok=True)
    with closing(open_project(db=home, settings=settings)) as parts:
        book = parts.book
        with book.writing():
            count = len(book.index())
            if book.journal.head.number:
                book.recovery.rewrite_as_is("the encryption of the memories changed")
                book.recovery.rebuild()
            book.flush()
        if parts.store.local is not None:
            parts.store.local.compact()
    for path in sorted((home / TRAILS).glob("*")):
        if path.name.endswith(TRAIL):
            _trail_again(path)
        elif path.name.endswith(RECORD) and (record := read_record(path)) is not None:
            waits = path.with_name(path.name.removesuffix(RECORD) + ".unlearnt").exists()
            keep_record(path.parent, record)
            if not waits:
                path.with_name(path.name.removesuffix(RECORD) + ".unlearnt").unlink(missing_ok=True)
    return count


def _trail_again(path: Path) -> None:
    lines = list(Reader(path))
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)
    fresh = Trail(part)
    for line in lines:
        fresh.add(line.kind, line.body)
    fresh.write()
    fresh.force()
    if lines:
        part.replace(path)


def _seal_file(path: Path, vault: vaults.Vault) -> None:
    if not path.exists():
        return
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = DELETE")  # a copy in memory cannot have a log
        db.execute("PRAGMA application_id = 0")
        vaults.store(path, vault, db)
    for side in ("", *SIDES):
        path.with_name(path.name + side).unlink(missing_ok=True)


def _copies(home: Path) -> list[Path]:
    """Return old backups and quarantined files, which hold plain texts.

    Encrypted backups are left out. The files are deleted only on request, because a person may need them.
    """
    sealed = {path for path, manifest in readable(home) if vaults.FILE in manifest.files}
    kept = [path for path in (home / BACKUPS).glob("*") if path.is_file() and path not in sealed]
    return sorted([*kept, *home.rglob("*.quarantine"), *home.glob("*.damaged*"), *(home / TRAILS).glob("*.damaged")])


def _make_key(file: Path, home: Path) -> None:
    if file.is_relative_to(home.parent if home.name == ".graphmem" else home):
        raise EncryptionError(
            f"the key file {file} would lie in the project, beside the data that it encrypts; choose a file outside the project",
            path=str(file),
        )
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(file, "xb", opener=private) as out:
            out.write(secrets.token_hex(32).encode() + b"\n")
    except OSError as error:
        raise EncryptionError(f"the key file {file} cannot be created ({error.strerror}); choose another file", path=str(file)) from error
