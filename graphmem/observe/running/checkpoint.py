"""Write the acts of a running session to a log, to continue after a crash.

An act is a complete action of the agent, such as an edit with its outcome. The log also lets graphmem learn from a session whose end was
not reported. Each line of the log is a checksum, a space and JSON. Lines are appended when events arrive, and forced to the disk at each
checkpoint. A line is valid if its checksum matches. Reading ends at the first invalid line, where a crash interrupted a write. To restore a
session, its acts are replayed, which gives the same counts. The log does not contain output of tools or secrets; see `observe.counts.acts`.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple
from zlib import crc32

from graphmem.observe.counts.acts import Act
from graphmem.observe.model import SessionInfo, SessionRecord, as_json, session_info, session_record
from graphmem.runtime.files.checksums import MISMATCH
from graphmem.runtime.files.vault import opened_text, vault_of
from graphmem.runtime.process.system import sync

TRAIL: Final = ".trail"
RECORD: Final = ".record.json"
UNLEARNT: Final = ".unlearnt"  # marker file next to a record that has not been learnt from
FORMAT: Final = 1
MAX_RECORD_BYTES: Final = 256 << 20
_DEFAULTS: Final = dict(zip(Act._fields[4:], Act.__new__(Act, 0, 0, 0.0, "")[4:], strict=True))
_TUPLES: Final = frozenset(name for name, value in _DEFAULTS.items() if isinstance(value, tuple))
_END: Final = b"}\n"  # of a record
log = logging.getLogger("graphmem.observe")


class Line(NamedTuple):
    """One decoded line of a session's checkpoint log: its kind and content."""

    kind: str  # start | act | fork | rival
    body: Mapping[str, Any]


def file_name(session_id: str) -> str:
    """Return the file name of a session's log, without extension.

    Characters of the id other than letters, digits, '.', '_' and '-' are replaced with '-'. A hash of the id makes the name unique.
    """
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", session_id).strip(".-")[:60]
    return f"{plain}-{blake2b(session_id.encode('utf-8', 'replace'), digest_size=6).hexdigest()}"


class Trail:
    """The checkpoint log of one running session, also called its trail.

    The file has one line for each act (complete action of the agent). After a crash, the session continues from this file.

    Args:
        path: the log file; its folder must exist.
        size: number of valid bytes in the file; later bytes are removed.
    """

    def __init__(self, path: Path, size: int | None = None) -> None:
        self.path = path
        self._lines: list[str] = []
        self.dirty = False  # written and not yet forced to the disk
        if size is not None and path.stat().st_size != size:
            with path.open("r+b") as file:
                file.truncate(size)

    def start(self, info: SessionInfo, roots: Sequence[str]) -> None:
        """Add the log's first line: the session's information and its folders.

        Args:
            info: the session's information.
            roots: the folders of the project.
        """
        self.add("start", {"format": FORMAT, "info": as_json(info), "roots": list(roots)})

    def act(self, act: Act, marks: Sequence[int]) -> None:
        """Add a line with one act, such as an edit with its outcome.

        `marks` are hashes of the events from which the act was made. After a restart, an event with one of these hashes is not counted
        again.
        """
        body: dict[str, Any] = {"n": act.n, "s": act.step, "t": act.at, "k": act.kind}
        for name, value in zip(Act._fields[4:], act[4:], strict=True):
            if value != _DEFAULTS[name]:
                body[name] = dict(value) if isinstance(value, Mapping) else value
        if marks:
            body["m"] = list(marks)
        self.add("act", body)

    def fork(self, parent: Path) -> None:
        """Copy the log of the parent session into this session's log.

        A fork is a session that began as a copy of another session, its parent. With the copy, the fork can be restored from its own log
        alone.

        Raises:
            OSError: the copy cannot be written.
        """
        self.write()
        with self.path.open("ab") as file, parent.open("rb") as source:
            shutil.copyfileobj(source, file)
        self.add("fork", {})

    def rival(self, path: str, other: str, apart: float, mark: tuple[int, int]) -> None:
        """Log a conflict: another session edited the same file.

        Args:
            path: the edited file.
            other: id of the other session.
            apart: seconds between the two edits.
            mark: position of this session's edit: (number of the act within the session, step).
        """
        self.add("rival", {"path": path, "other": other, "apart": apart, "mark": list(mark)})

    def add(self, kind: str, body: Mapping[str, object]) -> None:
        """Add a line to the session's log, with the kind and the content `body`."""
        text = json.dumps([kind, body], ensure_ascii=False, separators=(",", ":"))
        self._lines.append(text)

    def write(self) -> None:
        """Append the pending lines to the log file.

        Then the lines survive the end of this process. `force` also makes them survive a failure of the machine.

        Raises:
            OSError: the write failed; the session in memory is unchanged.
        """
        if not self._lines:
            return
        vault = vault_of(self.path.parent.parent)
        data = b"".join(_sealed(line if vault is None else vault.seal_text(line)) for line in self._lines)
        with self.path.open("ab") as file:
            file.write(data)
        self._lines.clear()
        self.dirty = True

    def force(self) -> None:
        """Force the written lines of a session's log to the disk (fsync)."""
        if not self.dirty:
            return
        self.dirty = False
        sync(self.path)


def _sealed(line: str) -> bytes:
    data = line.encode("utf-8", "replace")
    return b"%08x " % crc32(data) + data + b"\n"


class Reader:
    """Reads the checkpoint log of a session up to the first damaged line.

    Args:
        path: the log file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0  # intact bytes, once the file has been read

    def __iter__(self) -> Iterator[Line]:
        with self.path.open("rb") as file:
            for raw in file:
                if not raw.endswith(b"\n") or raw[8:9] != b" ":
                    return
                data = raw[9:-1]
                try:
                    if int(raw[:8], 16) != crc32(data):
                        return
                    kind, body = json.loads(opened_text(data.decode("utf-8", "replace")))
                except ValueError:
                    return
                self.size += len(raw)
                yield Line(kind, body)


def damage_of_trail(path: Path) -> str:
    """Describe the damage of a session's checkpoint log; "" if it is intact."""
    reader = Reader(path)
    kinds = [line.kind for line in reader]
    size = path.stat().st_size
    if reader.size == size and kinds[:1] == ["start"]:
        return ""
    return "it was emptied" if not size else f"{size - reader.size:,} of its {size:,} bytes do not match their checksums"


def act_of(body: Mapping[str, Any]) -> tuple[Act, list[int]]:
    """Return the action and the event hashes in a line of a session's log.

    An event is a report of the agent, such as a tool call. The hashes are those of the events from which the action was read. If such an
    event is reported again, its hash shows that it was already counted. `body` is the JSON content of the line.
    """
    told: dict[str, Any] = {name: tuple(value) if name in _TUPLES else value for name, value in body.items() if name in _DEFAULTS}
    return Act(body["n"], body["s"], body["t"], body["k"], **told), list(body.get("m", ()))


def info_of(body: Mapping[str, Any]) -> tuple[SessionInfo, list[str]]:
    """Decode a log's first line, `body`, to (session information, roots).

    Roots are the folders of the project.

    Raises:
        BadInputError, KeyError: the line has another format.
    """
    if body["format"] != FORMAT:
        raise KeyError(
            f"the session log has the unknown format {body['format']}, so this graphmem cannot read it; "
            "graphmem keeps the file for a newer version, so you need not do anything"
        )
    return session_info(body["info"]), list(body["roots"])


# ---- records of sessions that have ended


def keep_record(folder: Path, record: SessionRecord) -> Path:
    """Write the record of an ended session to the sessions' folder.

    An existing file is replaced in one step, so that no reader sees half a record.

    Raises:
        OSError: the write failed; the checkpoint log is kept.
    """
    name = file_name(record.info.id)
    path = folder / (name + RECORD)
    (folder / (name + UNLEARNT)).touch()
    data = json.dumps(as_json(record), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    if (vault := vault_of(folder.parent)) is not None:
        data = json.dumps(vault.seal_text(data.decode())).encode()
    passing = path.with_suffix(".new")
    with passing.open("wb") as file:
        file.write(_encoded_record(data))
        file.flush()
        os.fsync(file.fileno())
    passing.replace(path)
    return path


def read_record(path: Path) -> SessionRecord | None:
    """Read the record of an ended session from a file.

    The result is None, with a warning in the log, if the file is damaged or unreadable.
    """
    try:
        if path.stat().st_size > MAX_RECORD_BYTES:
            raise ValueError(
                f"the session record has more than {MAX_RECORD_BYTES} bytes, which is too many; graphmem skips "
                "this record, so you need not do anything"
            )
        raw = path.read_bytes()
        data = raw.partition(b',"record":')[2][: -len(_END)]
        if raw != _encoded_record(data):
            raise ValueError(MISMATCH)
        found = json.loads(data)
        return session_record(json.loads(opened_text(found)) if isinstance(found, str) else found)
    except (OSError, ValueError, KeyError, TypeError) as error:
        log.warning("the record %s cannot be read and is skipped: %s", path.name, error)
        return None


def damage_of_record(path: Path) -> str:
    """Describe the damage of a session record's file; "" if it is intact."""
    raw = path.read_bytes()
    return (
        "" if raw == _encoded_record(raw.partition(b',"record":')[2][: -len(_END)]) else "the bytes of the file do not match its checksum"
    )


def _encoded_record(data: bytes) -> bytes:
    return b'{"crc":"%08x","record":' % crc32(data) + data + _END
