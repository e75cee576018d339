"""Search for secrets in the files of an index.

Every file that can hold texts of people, agents or sessions is searched. Such files inside backups are searched, too. Data made from the
repository's source (chunks, facts, words, vectors) is not searched, because the repository holds the same texts.
"""

from __future__ import annotations

import json
import logging
import re
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from graphmem.answers import FileSecrets
from graphmem.location import BACKUPS, DATABASE
from graphmem.maintenance.archive import SUFFIX
from graphmem.memory.files.sync_state import BASE, cleaned_state
from graphmem.memory.texts.redact import find, redact
from graphmem.memory.texts.secret_shapes import personal_kinds
from graphmem.observe.learning.summary import FOLDER as SUMMARIES

_log = logging.getLogger(__name__)

# Made from source, or from files that are searched themselves. Memories in `graph.db` are read as rows, and are in the journal.
_OF_SOURCE: Final = (
    DATABASE,
    "graph.projection",
    "memories.projection",
    "explorer.projection",
    "words-",
    "facts.sqlite",
    "unfinished.sqlite",
    "inputs.sqlite",
    "past.sqlite",
    "sandbox",
    "dump/",
    "parsing.json",
)
# Secrets by design, in private files: the running server's token, and hashes.
_OWN: Final = ("owner.json", "tokens.json", ".tokens-", ".owner-")
MAX_BYTES: Final = 64 << 20  # of one searched text
TOO_LARGE: Final = "too_large"  # instead of a kind: the rest of the file was not read
UNREADABLE: Final = "unreadable"
DAMAGED: Final = "damaged"
_RUN: Final = re.compile(rb"[\x20-\x7e\t\n\r\x80-\xf4]{8,}")
_SQLITE: Final = b"SQLite format 3\0"


def scan_files(data_dir: Path, *, clean: bool = False) -> list[FileSecrets]:
    """Return an index's files that have secrets, with the kinds of secrets.

    The files are sorted by name. A file that cannot be read is included, too.

    Args:
        data_dir: the data directory of the index.
        clean: remove secrets from text files: summaries, and the copy of MEMORY.md from the last sync. Other files have checksums and are
            not changed; a person must delete them.
    """
    found: list[FileSecrets] = []
    for path in sorted(data_dir.rglob("*")):
        name = path.relative_to(data_dir).as_posix()
        if path.is_symlink() or not path.is_file() or name.startswith((*_OF_SOURCE, *_OWN)) or path.suffix == ".lock":
            continue
        try:
            if name.startswith(BACKUPS + "/") and name.endswith(SUFFIX):
                found += _archive(path, name)
            elif kinds := _kinds_in(path):
                found.append(_cleaned(path, name, kinds) if clean else FileSecrets(name, kinds, cleaned=False))
        except OSError as error:
            _log.warning("%s could not be looked through: %s", name, error)
            found.append(FileSecrets(name, [UNREADABLE], cleaned=False))
    return found


def _archive(path: Path, name: str) -> Iterator[FileSecrets]:
    """Yield the files in a backup that have secrets, unpacked one at a time.

    A file that is too large to search is yielded as well. For a damaged backup, only the backup itself is yielded.
    """
    try:
        with zipfile.ZipFile(path) as zipped, tempfile.TemporaryDirectory(prefix="graphmem-scan-") as folder:
            for one in zipped.infolist():
                if one.is_dir() or one.filename.startswith((*_OF_SOURCE, *_OWN)):
                    continue
                if one.file_size > MAX_BYTES:
                    yield FileSecrets(f"{name}: {one.filename}", [TOO_LARGE], cleaned=False)
                    continue
                passing = Path(folder) / "file"
                passing.write_bytes(zipped.read(one))
                if kinds := _kinds_in(passing):
                    yield FileSecrets(f"{name}: {one.filename}", kinds, cleaned=False)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError):
        yield FileSecrets(name, [UNREADABLE], cleaned=False)


def _kinds_in(path: Path) -> list[str]:
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    is_table = data.startswith(_SQLITE)
    texts = _rows(path) if is_table else iter((data[:MAX_BYTES],))
    cut = {TOO_LARGE} if len(data) > MAX_BYTES and not is_table else set()
    return sorted({kind for text in texts for piece in _texts(text) for kind in _kinds(piece)} | cut)


def _rows(path: Path) -> Iterator[Any]:
    """Yield every text and binary value of all tables of an SQLite file.

    If SQLite cannot read the file, the file's bytes are yielded.
    """
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=0", uri=True)) as db:
            tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for table in tables:
                for row in db.execute('SELECT * FROM "{}"'.format(table.replace('"', '""'))):  # noqa: S608 - the file's own names
                    yield from (value for value in row if isinstance(value, (str, bytes)))
    except sqlite3.Error:
        yield path.read_bytes()[:MAX_BYTES]


def _texts(value: str | bytes) -> Iterator[str]:
    """Yield the texts in a stored value, to search them for secrets.

    * Compressed bytes are decompressed, and the result is treated as a string.
    * Of other bytes, each run of printable characters is treated as a string.
    * Of a string that is a JSON document, the strings in the document are yielded.
    * If only some lines of a string are JSON, the strings in these lines are yielded, and the other lines unchanged.
    * Any other string is yielded unchanged.
    """
    if isinstance(value, bytes):
        for way in (-15, 15):
            try:
                yield from _texts(zlib.decompressobj(way).decompress(value, MAX_BYTES).decode("utf-8"))
                return
            except (zlib.error, UnicodeDecodeError):
                continue
        for run in _RUN.findall(value):
            yield from _texts(run.decode("utf-8", "replace"))
        return
    if (whole := _parsed(value)) is not None:
        yield from _strings(whole)
        return
    lines = value.splitlines()
    parsed = [_parsed(line) for line in lines]
    if any(one is not None for one in parsed):  # a journal or a trail: a document a line
        for line, one in zip(lines, parsed, strict=True):
            yield from (line,) if one is None else _strings(one)
    else:
        yield value


def _parsed(text: str) -> object:
    """Parse JSON that may follow a checksum in `text`; None for other text."""
    start = min((at for at in (text.find("{", 0, 80), text.find("[", 0, 80)) if at >= 0), default=-1)
    try:
        return json.loads(text[start:]) if start >= 0 else None
    except (ValueError, RecursionError):
        return None


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield f"{key}: {inner}" if isinstance(inner, str) else str(key)
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def _kinds(text: str) -> set[str]:
    """Return the kinds of secrets in a string from a file.

    Personal data does not count as a secret. Random-looking text does not count either, because ids, hashes and checksums look random.
    """
    return {one.kind for one in find(text)} - personal_kinds() - {"high_entropy"}


def _cleaned(path: Path, name: str, kinds: list[str]) -> FileSecrets:
    """Remove secrets from a text file; return whether it was cleaned.

    Only summaries and the copy of MEMORY.md are cleaned. Other files, and files that are damaged or too large, are not changed. The result
    also has the file's name and the kinds of secrets.
    """
    if TOO_LARGE in kinds or not (name == BASE or (name.startswith(SUMMARIES + "/") and name.endswith(".md"))):
        return FileSecrets(name, kinds, cleaned=False)
    if name == BASE:
        try:
            new = cleaned_state(path)
        except ValueError as error:
            _log.warning("%s is damaged (%s) and stays as it is; delete it, and the next sync-file writes a new one", name, error)
            return FileSecrets(name, [*kinds, DAMAGED], cleaned=False)
    else:
        new = redact(path.read_text(encoding="utf-8", errors="replace"))[0].encode("utf-8")
    part = path.with_name(path.name + ".part")
    part.write_bytes(new)
    part.chmod(path.stat().st_mode & 0o777)
    part.replace(path)
    return FileSecrets(name, kinds, cleaned=True)
