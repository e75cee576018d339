"""Every file of an index proves itself: by what, what it costs when it is damaged, and what is done about it.

What can be made again (projections, caches) is made again by whoever reads it. What cannot is put aside when the index is opened, before
anybody reads it, and a sentence says what is lost. `verify` reads every byte of all of them.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

from graphmem.errors import DatabaseDamagedError
from graphmem.maintenance import backup
from graphmem.observe.checkpoint import RECORD, TRAIL, damage_of_record, damage_of_trail
from graphmem.projection.container import DamagedFileError, read_container
from graphmem.runtime.checksums import SIDES, Proof, proof, read_sealed_json
from graphmem.runtime.limits import unless_refused
from graphmem.store.files import quarantine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_DIFFERENT: Final = "its bytes do not match its checksum"


class Kind(NamedTuple):
    """A kind of file."""

    pattern: str  # of its path in the index directory
    damage: Callable[[Path], str]  # what is wrong with it; "" when nothing is
    lost: str = ""  # what the damage costs; "" when whoever reads it makes it again
    stays: bool = False  # where it is: whoever reads it takes what is whole, or refuses


def _damage_of_sqlite(path: Path) -> str:
    found = proof(path)
    if found is not Proof.OPEN:
        return _DIFFERENT if found is Proof.DAMAGED else ""
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=rw", uri=True)) as db:
            said = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
            return "" if said == "ok" else said
    except sqlite3.OperationalError:  # it may only be read, and has a log: whoever opens it says so
        return ""
    except sqlite3.DatabaseError as error:
        return str(error)


def _damage_of_json(path: Path) -> str:
    try:
        read_sealed_json(path.read_bytes())
    except (ValueError, RecursionError) as error:
        return str(error)
    return ""


def _damage_of_container(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(20)
            head = file.read(1 << 20)
        said, _ = json.JSONDecoder().raw_decode(head.decode("utf-8", "replace"))
        read_container(path, said["what"], said["format"])
    except (DamagedFileError, ValueError, KeyError, TypeError) as error:
        return str(error) if isinstance(error, DamagedFileError) else "its header is damaged"
    return ""


def _damage_of_backup(path: Path) -> str:
    try:
        backup.check_bytes(path)
    except DatabaseDamagedError as error:
        return str(error.facts.get("reason", error.message))
    return ""


KINDS: Final = (
    Kind("words-*.sqlite", _damage_of_sqlite),
    Kind("facts.sqlite", _damage_of_sqlite),
    Kind("inputs.sqlite", _damage_of_sqlite),
    Kind("parsing.json", _damage_of_json),
    Kind("*.projection", _damage_of_container),
    Kind("history.sqlite", _damage_of_sqlite, "commits are read again at the next index run, what sessions showed is lost"),
    Kind("ledger.sqlite", _damage_of_sqlite, "counting across sessions begins again, memories stay"),
    Kind("evidence.sqlite", _damage_of_sqlite, "take the outside evidence in again"),
    Kind("paragraphs.sqlite", _damage_of_sqlite, "paragraphs are written again when they are asked for"),
    Kind("trust.json", _damage_of_json, "what is shown unasked is chosen as cautiously as in a new project"),
    Kind("phases.json", _damage_of_json, "the built-in weights of phases are in force"),
    Kind("memory-md.json", _damage_of_json, "differences at the next sync count as the person's"),
    Kind("tokens.json", _damage_of_json, "no token of it is accepted; move it away and make new ones", stays=True),
    Kind(f"trails/*{TRAIL}", damage_of_trail, "what that session did from there on is not known", stays=True),
    Kind(f"trails/*{RECORD}", damage_of_record, "nothing is learnt from that session", stays=True),
    Kind("backups/*.zip", _damage_of_backup),
)
"""The table; the database, its lock and the journal have proofs of their own (`store.lock`, `memory.journal`)."""


def put_aside_damaged(data_dir: Path) -> list[str]:
    """Put aside what is damaged and cannot be made again, before anybody reads it; one sentence for each file.

    A file that cannot be read now is not proven to be damaged: it stays, and whoever reads it says so.
    """
    said = []
    for path, kind in _files(data_dir):
        try:
            why = kind.damage(path) if kind.lost else ""
        except OSError:
            continue
        if why:
            if kind.stays:
                said.append(f"{path.relative_to(data_dir).as_posix()} is damaged: {why}; {kind.lost}")
                continue
            try:
                said += quarantine([path], f"{why}; {kind.lost}")
                for side in SIDES:
                    path.with_name(path.name + side).unlink(missing_ok=True)
            except OSError as error:
                said.append(f"{path.name} is damaged ({why}) and could not be put aside ({error.strerror}); {kind.lost}")
    return said


def damaged_files(data_dir: Path) -> tuple[list[tuple[str, str]], int, int]:
    """Read every byte: (name, what is wrong) of each damaged file, how many files there are, and bytes.

    Raises:
        ResourceError: this process lacks memory or descriptors to read them.
    """
    found, files, size = [], 0, 0
    for path, kind in _files(data_dir):
        name = path.relative_to(data_dir).as_posix()
        try:
            size += path.stat().st_size
            why = kind.damage(path)
        except FileNotFoundError:  # its owner has deleted it meanwhile
            continue
        except OSError as error:
            unless_refused(error, f"reading {name}", path)
            why = f"it cannot be read: {error.strerror or error}"
        files += 1
        if why:
            found.append((name, why))
    return found, files, size


def _files(data_dir: Path) -> Iterator[tuple[Path, Kind]]:
    for folder in (data_dir, data_dir / "trails", data_dir / backup.FOLDER):
        names = sorted(os.listdir(folder)) if folder.is_dir() else []  # noqa: PTH208 - names are all that is looked at
        for name in names:
            path = folder / name
            kind = next((one for one in KINDS if fnmatch(path.relative_to(data_dir).as_posix(), one.pattern)), None)
            if kind is not None and path.is_file():
                yield path, kind
