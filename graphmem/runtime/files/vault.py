"""Encryption of memories on disk, by a key outside of the index.

The file `encryption.json` in the index directory shows that encryption is on, and has a hash of the key. The key is read from a file, or
from the output of a command. Every encrypted value starts with the key's hash. So a wrong or missing key causes an error and never an empty
result. The cipher is AES-SIV. It encrypts equal texts at the same place, such as a row of a table, to equal bytes. So unchanged values are
not written again.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import logging
import re
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict

from graphmem.errors import EncryptionError
from graphmem.location import JOURNAL
from graphmem.runtime.files.checksums import read_sealed_json, sealed_json
from graphmem.runtime.files.replacing import replace_file

if TYPE_CHECKING:
    import sqlite3

    from graphmem.settings import Settings

FILE: Final = "encryption.json"  # in the index directory
SEALED: Final = ".sealed"  # suffix of an SQLite file that is encrypted as a whole
MARK: Final = "graphmem-sealed:"  # start of an encrypted value; the key's hash and the bytes follow
_MARK: Final = MARK.encode()
_ID: Final = 16  # hex digits of a key's hash
LEAST: Final = 32  # bytes of a key
COMMAND_S: Final = 30
# States of encryption.json. In all of them encrypted and plain values can be read.
ON: Final = "on"
ENCRYPTING: Final = "encrypting"  # old plain values may be left
DECRYPTING: Final = "decrypting"  # new values are plain
_INFO: Final = b"graphmem memories 1"
_log = logging.getLogger(__name__)
_known: Final[dict[str, Vault]] = {}  # by the key's hash


class Mark(TypedDict):
    """Content of `encryption.json`, which says that memories are encrypted."""

    key_id: str  # hash of the key
    key_file: str  # path of the key's file; "" if a command prints the key
    state: str


class Vault:
    """Encrypts and decrypts memories with one key. Thread-safe."""

    def __init__(self, key: bytes) -> None:
        try:
            from cryptography.hazmat.primitives.ciphers.aead import AESSIV
            from cryptography.hazmat.primitives.hashes import SHA512
            from cryptography.hazmat.primitives.kdf.hkdf import HKDF
        except ImportError:
            raise EncryptionError(
                "encrypting memories needs the package cryptography; install it with `pip install 'graphmem[encryption]'`"
            ) from None
        self.id = hashlib.blake2b(_INFO + key, digest_size=_ID // 2).hexdigest()
        self.head = f"{MARK}{self.id}:".encode()
        self._cipher = AESSIV(HKDF(SHA512(), 64, None, _INFO).derive(key))

    def seal(self, data: bytes, place: str = "") -> bytes:
        """Return bytes in encrypted form; the function `opened` decrypts them.

        `place` identifies where the bytes are stored, such as a row of a table. Decryption needs the same `place`, so bytes that somebody
        moved elsewhere are rejected.
        """
        return self.head + self._cipher.encrypt(data or b"\0", [place.encode(), b"" if data else b"empty"])

    def seal_text(self, text: str, place: str = "") -> str:
        """Encrypt a string to a string of ASCII characters, as `seal` does bytes.

        "" is returned unchanged.
        """
        if not text:
            return ""
        return self.head.decode() + base64.b64encode(self.seal(text.encode("utf-8", "surrogatepass"), place)[len(self.head) :]).decode()

    def _open(self, data: bytes, place: str) -> bytes:
        from cryptography.exceptions import InvalidTag

        for extra in (b"", b"empty"):
            with contextlib.suppress(InvalidTag):
                found = self._cipher.decrypt(data, [place.encode(), extra])
                return b"" if extra else found
        raise ValueError("an encrypted value of a memory was changed by another program; restore the memories from a backup")


def is_sealed(data: bytes) -> bool:
    """Whether bytes are an output of `Vault.seal` or `Vault.seal_text`."""
    return data.startswith(_MARK)


def opened(data: bytes, place: str = "") -> bytes:
    """Decrypt the output of `Vault.seal`; return other bytes unchanged.

    `place` names where the bytes are stored, and must be the value that was given to `Vault.seal`.

    Raises:
        EncryptionError: the key is not loaded.
        ValueError: the bytes were changed, or belong to another place.
    """
    if not is_sealed(data):
        return data
    start = len(_MARK) + _ID + 1
    return _vault(data[len(_MARK) : start - 1].decode("ascii", "replace"))._open(data[start:], place)


def opened_text(text: str, place: str = "") -> str:
    """Decrypt the output of `Vault.seal_text`; return other strings unchanged.

    `place` must be the value that was given to `seal_text`.
    """
    if not text.startswith(MARK):
        return text
    start = len(MARK) + _ID + 1
    return _vault(text[len(MARK) : start - 1])._open(base64.b64decode(text[start:]), place).decode("utf-8", "surrogatepass")


def _vault(key_id: str) -> Vault:
    if key_id not in _known:
        raise EncryptionError(
            f"the memories are encrypted with the key {key_id}, which was not given; set GRAPHMEM_MEMORY_KEY_FILE to its file. If "
            "encryption.json is missing, run `graphmem memory encrypt --key-file FILE` with that key",
            key=key_id,
        )
    return _known[key_id]


def vault_of(data_dir: Path) -> Vault | None:
    """Return the `Vault` of an index directory; None if encryption is off.

    Raises:
        EncryptionError: encryption is on and the key is not loaded.
    """
    mark = read_mark(data_dir)
    return None if mark is None or mark["state"] == DECRYPTING else _vault(mark["key_id"])


def read_mark(data_dir: Path) -> Mark | None:
    """Return the content of `encryption.json`; None if encryption is off.

    Raises:
        EncryptionError: the file cannot be read.
    """
    path = data_dir / FILE
    try:
        found = path.stat()
    except OSError:
        return None
    return _mark(path, found.st_mtime_ns, found.st_ino)


@functools.lru_cache(maxsize=64)
def _mark(path: Path, *_stamp: int) -> Mark:
    try:
        found = read_sealed_json(path.read_bytes())
        return {"key_id": str(found["key_id"]), "key_file": str(found["key_file"]), "state": str(found["state"])}
    except (OSError, ValueError, KeyError) as error:
        raise EncryptionError(
            f"{path}, which describes the encryption of the memories, cannot be read ({error}); run `graphmem memory encrypt "
            "--key-file FILE` with the key that encrypts them",
            path=str(path),
        ) from error


def write_mark(data_dir: Path, vault: Vault, key_file: str, state: str = ON) -> None:
    """Write `encryption.json`: the hash of the key, and the state.

    Args:
        data_dir: the index directory.
        vault: has the key.
        key_file: path of the file with the key; "" if there is none.
        state: `on`, `encrypting` (old values may still be plain) or `decrypting` (new values are plain).
    """
    replace_file(data_dir / FILE, sealed_json({"key_id": vault.id, "key_file": key_file, "state": state}), durable=True)


def unlock(data_dir: Path, settings: Settings, *, is_new: bool = False) -> Vault | None:
    """Load the key that decrypts an index; None if encryption is off.

    Args:
        data_dir: the index directory.
        settings: they name the file of the key, or the command that prints it. If they name neither, the file named in `encryption.json` is
            used.
        is_new: True if the index has no memories yet. If the settings then name a key, encryption is switched on.

    Raises:
        EncryptionError: the key is missing or unreadable, or does not match the index.
    """
    mark = read_mark(data_dir)
    lost = "" if mark is not None else _key_of_journal(data_dir)
    if mark is None and not (settings.memory_key_file or settings.memory_key_command):
        if lost:
            write_mark(data_dir, _vault(lost), "")
        return _vault(lost) if lost else None
    file = settings.memory_key_file or (mark["key_file"] if mark is not None and not settings.memory_key_command else "")
    vault = loaded(key_of(file, settings.memory_key_command))
    if mark is None:
        if lost and lost != vault.id:
            _vault(lost)
        if is_new or lost:
            write_mark(data_dir, vault, settings.memory_key_file)
            return vault
        return None
    if vault.id != mark["key_id"]:
        raise EncryptionError(
            f"the memories are encrypted with the key {mark['key_id']}, but the given key is {vault.id}; name the right key with "
            "GRAPHMEM_MEMORY_KEY_FILE or GRAPHMEM_MEMORY_KEY_COMMAND",
            key=mark["key_id"],
        )
    if mark["state"] != ON:
        how = "encrypt" if mark["state"] == ENCRYPTING else "decrypt"
        _log.info("the memories of %s are partly plain text; `graphmem memory %s` completes it", data_dir, how)
    return vault


def _key_of_journal(data_dir: Path) -> str:
    """Return the hash of the key that encrypted the journal of memories.

    The hash is read from the newest file of the journal. The result is "" if the journal is missing or not encrypted.
    """
    newest = max((data_dir / JOURNAL).glob("journal-*.jsonl"), default=None, key=lambda path: path.name)
    if newest is None:
        return ""
    with newest.open("rb") as file:
        found = re.search(rb'"sealed":"%s([0-9a-f]{%d}):' % (_MARK, _ID), file.read(4_096))
    return found[1].decode() if found is not None else ""


def loaded(key: bytes) -> Vault:
    """Return the `Vault` of a key, and register it for `opened`.

    The function `opened` finds the registered `Vault` by the key's hash.
    """
    vault = Vault(key)
    return _known.setdefault(vault.id, vault)


def key_of(file: str, command: str) -> bytes:
    """Read an encryption key from a file, or from the output of a command.

    Raises:
        EncryptionError: the key is missing, or shorter than 32 bytes.
    """
    remedy = "name the key with GRAPHMEM_MEMORY_KEY_FILE or GRAPHMEM_MEMORY_KEY_COMMAND; without the key the memories cannot be read"
    if file:
        source = f"the key file {file}"
        try:
            key = Path(file).expanduser().read_bytes().strip()
        except (OSError, RuntimeError) as error:
            raise EncryptionError(
                f"the encryption key in {source} cannot be read ({getattr(error, 'strerror', '') or error}); {remedy}", path=file
            ) from error
    elif command:
        source = "the key command"
        try:
            done = subprocess.run(shlex.split(command), capture_output=True, timeout=COMMAND_S, stdin=subprocess.DEVNULL, check=True)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise EncryptionError(
                "the command in the setting memory_key_command, which must print the encryption key, failed "
                f"({type(error).__name__}); run it by hand to see the error. Without the key the memories cannot be read"
            ) from None
        key = done.stdout.strip()
    else:
        raise EncryptionError(f"the memories are encrypted and no key is given; {remedy}")
    if len(key) < LEAST:
        raise EncryptionError(
            f"the encryption key from {source} has {len(key)} bytes and needs at least {LEAST}; create a key with `graphmem memory "
            "encrypt`",
            path=file,
        )
    return key


# ---- SQLite files that are encrypted as a whole


def connected(path: Path, vault: Vault) -> sqlite3.Connection:
    """Open an encrypted SQLite file as a decrypted database in memory.

    Changes stay in memory until `store` writes the database back to the file.

    Raises:
        sqlite3.DatabaseError: the file was changed by another program.
    """
    import sqlite3

    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    file = path.with_name(path.name + SEALED)
    if file.exists():
        try:
            db.deserialize(opened(file.read_bytes(), path.name))
        except ValueError as error:
            raise sqlite3.DatabaseError(str(error)) from error
    return db


def store(path: Path, vault: Vault, db: sqlite3.Connection) -> None:
    """Encrypt an in-memory SQLite database, and write it to a file.

    The file is replaced atomically; see `connected`.
    """
    replace_file(path.with_name(path.name + SEALED), vault.seal(db.serialize(), path.name), durable=True)
