"""Integrity checks of all files of an index.

A table lists each kind of file with its check, the consequences of damage, and the action taken.

Files that can be rebuilt, such as caches, are rebuilt by their readers. Other damaged files are quarantined when the index is opened,
before they are read, and a sentence reports the loss. `graphmem verify` reads every byte of all files.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from contextlib import closing
from fnmatch import translate
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

from graphmem.errors import DatabaseDamagedError
from graphmem.location import BACKUPS
from graphmem.maintenance.archive import check_bytes
from graphmem.observe.running.checkpoint import RECORD, TRAIL, damage_of_record, damage_of_trail
from graphmem.projection.container import DamagedFileError, read_container
from graphmem.runtime.files.checksums import SIDES, Proof, proof, read_sealed_json
from graphmem.runtime.process.limits import unless_refused
from graphmem.store.file.files import quarantine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_DIFFERENT: Final = "the bytes of the file do not match its checksum"


class Kind(NamedTuple):
    """A kind of file in an index: its check, and the effect of damage."""

    pattern: str  # of its path in the index directory
    damage: Callable[[Path], str]  # describes the damage; "" if there is none
    lost: str = ""  # the cost of the damage; "" if the reader rebuilds the file
    stays: bool = False  # not quarantined: its reader uses the intact part, or refuses


def _damage_of_sqlite(path: Path) -> str:
    found = proof(path)
    if found is not Proof.OPEN:
        return _DIFFERENT if found is Proof.DAMAGED else ""
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=rw", uri=True)) as db:
            said = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
            return "" if said == "ok" else said
    except sqlite3.OperationalError:  # a read-only file with a log: its next open reports it
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
        check_bytes(path)
    except DatabaseDamagedError as error:
        return str(error.facts.get("reason", error.message))
    return ""


KINDS: Final = (
    Kind("words-*.sqlite", _damage_of_sqlite),
    Kind("facts.sqlite", _damage_of_sqlite),
    Kind("inputs.sqlite", _damage_of_sqlite),
    Kind("past.sqlite", _damage_of_sqlite, "earlier states of the graph are lost; states from now on are kept"),
    Kind("parsing.json", _damage_of_json),
    Kind("contracts.json", _damage_of_json, "the next index run collects contracts again"),
    Kind("*.projection", _damage_of_container),
    Kind("history.sqlite", _damage_of_sqlite, "the next index run reads commits again; data from sessions is lost"),
    Kind("ledger.sqlite", _damage_of_sqlite, "counts across sessions start again; memories stay"),
    Kind("branches.sqlite", _damage_of_sqlite, "push the branches again; memories lose links to code that only a branch has"),
    Kind("evidence.sqlite", _damage_of_sqlite, "import the outside evidence again"),
    Kind("paragraphs.sqlite", _damage_of_sqlite, "paragraphs are written again when they are asked for"),
    Kind("learning.json", _damage_of_json, "learning is paused until a person switches it on", stays=True),
    Kind("trust.json", _damage_of_json, "injection is as cautious as in a new project"),
    Kind("phases.json", _damage_of_json, "the built-in weights of phases are in force"),
    Kind("weights.json", _damage_of_json, "the built-in weights of search are in force"),
    Kind("memory-md.json", _damage_of_json, "differences at the next sync count as the person's"),
    Kind("tokens.json", _damage_of_json, "its tokens are refused; move the file away and create new tokens", stays=True),
    Kind(f"trails/*{TRAIL}", damage_of_trail, "later events of that session are unknown", stays=True),
    Kind(f"trails/*{RECORD}", damage_of_record, "nothing is learnt from that session", stays=True),
    Kind("backups/*.zip", _damage_of_backup),
)
"""The table; the database, its lock and the journal have proofs of their own (`store.file.lock`, `memory.journal.journal`)."""


def put_aside_damaged(data_dir: Path) -> list[str]:
    """Quarantine (rename) an index's damaged files that cannot be rebuilt.

    The check runs before the files are read. Some kinds of damaged files stay in place and are only reported, because their readers use the
    intact part or refuse the file. A file that the system does not let this process read stays in place, too. That file may be intact, and
    its first use reports the error.

    Returns:
        One sentence for each damaged file.
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
                said.append(f"{path.name} is damaged ({why}) and could not be quarantined ({error.strerror}); {kind.lost}")
    return said


def damaged_files(data_dir: Path) -> tuple[list[tuple[str, str]], int, int]:
    """Check all bytes of an index's files; return damaged files and totals.

    Returns:
        The damaged files as (name, damage), the number of all files, and their total size in bytes.

    Raises:
        ResourceError: the process lacks memory or descriptors to read the files.
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


@cache
def _patterns() -> re.Pattern[str]:
    """Return one regular expression for the paths of all kinds of files.

    The expression has one group for each kind of file. Each opening of an index uses the expression, because a loop over the kinds would
    take ten times as long.
    """
    return re.compile("|".join(f"({translate(kind.pattern)})" for kind in KINDS))


def _files(data_dir: Path) -> Iterator[tuple[Path, Kind]]:
    for inner in ("", "trails/", f"{BACKUPS}/"):
        folder = data_dir / inner
        names = sorted(os.listdir(folder)) if folder.is_dir() else []  # noqa: PTH208 - names are all that is looked at
        for name in names:
            found = _patterns().match(inner + (name.lower() if os.name == "nt" else name))
            if found is not None and found.lastindex is not None and (path := folder / name).is_file():
                yield path, KINDS[found.lastindex - 1]
