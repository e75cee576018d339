"""Known problems of an index and its agents' hooks, for `graphmem doctor`.

Each problem has a name, a cause on this machine, and a fix.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.cli.output import plural
from graphmem.hooks.outdated import outdated_hooks
from graphmem.location import JOURNAL, SHARED, Location
from graphmem.maintenance.archive import PORTABLE
from graphmem.maintenance.backup import listed, readable
from graphmem.maintenance.place import open_to_others
from graphmem.runtime.files.home import home
from graphmem.server import owner

if TYPE_CHECKING:
    from graphmem.answers.doctor import DoctorReport

ROOM_BYTES: Final = 256 << 20  # free bytes, below which a compaction or a full index may fail
OLD_BACKUP_S: Final = 14 * 86_400.0
LARGE_LOG: Final = 64 << 20
MENDED: Final = ("quarantined files", "repaired at open")  # problems that report damage, which may be repaired already
SEARCHED_AS_TEXT: Final = "searched as text"  # the finding about files without names; its data: `languages`, `kinds` and `parsed` files
READ_IN_PART: Final = "files in part"  # the finding about partly parsed files; its data: `in_part` of `files`
REMOTE_FS: Final = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "afs", "ceph", "glusterfs"})


class Trap(NamedTuple):
    """A known problem of an index or of agents' hooks, with a fix."""

    name: str
    level: str  # note | bad
    cause: str
    fix: str


def find_traps(location: Location, report: DoctorReport) -> list[Trap]:
    """Return the known problems of embedded databases found in an index.

    Args:
        location: location of the index.
        report: the answer of the operation `doctor`.
    """
    folder, health = location.data_dir, report.get("health") or {}
    return [
        *_damage(folder, health),
        *_earlier_schemas(folder),
        *_place(folder),
        *_database(folder, health),
        *_owners(location),
        *_backups(folder, report),
        *_hooks(location),
    ]


def _damage(folder: Path, health: Mapping[str, Any]) -> Iterator[Trap]:
    quarantined = sorted(
        path.relative_to(folder).as_posix() for path in (*folder.glob("*.quarantine"), *folder.glob(f"{JOURNAL}/quarantine-*"))
    )
    if quarantined:
        cause = f"{len(quarantined)} could not be used, in full or in part: {', '.join(quarantined[:3])}"
        yield Trap(MENDED[0], "note", cause, "run `graphmem verify` to check whether the index is sound, then delete them")
    for note in health.get("notes", []):
        yield Trap(MENDED[1], "note", str(note), "run `graphmem verify` to check whether the index is sound")


def _earlier_schemas(folder: Path) -> Iterator[Trap]:
    kept = sorted(path.name for path in folder.glob("*.before-*"))
    if kept:
        cause = f"{', '.join(kept)} is the database before its schema changed"
        yield Trap("earlier schema kept", "note", cause, "delete it unless you want to return to the earlier version of graphmem")


def _place(folder: Path) -> Iterator[Trap]:
    """Yield problems of the directory: its permissions and its file system."""
    if folder.is_dir() and open_to_others(folder):
        cause = f"{folder} contains other files than the index, so its permissions are not changed, and other accounts may read it"
        yield Trap("open to other accounts", "note", cause, f"`chmod 700 {folder}`, or store the index in its own directory with --db")
    kind = filesystem_of(folder)
    if kind in REMOTE_FS:
        cause = f"{folder} is on {kind}, where locks and renames are not reliable between machines"
        yield Trap("network file system", "bad", cause, "store the index on a disk of this machine, with --home or --db")


def _database(folder: Path, health: Mapping[str, Any]) -> Iterator[Trap]:
    """Yield problems with the size of the database, and with the disk space.

    `folder` is the index directory, and `health` has sizes of the database in bytes, by name.
    """
    free = _free(folder)
    size = int(health.get("database_bytes") or 0)
    if free is not None and free < max(ROOM_BYTES, 2 * size):
        cause = f"{free / 1e6:,.0f} MB are free; rewriting the graph needs as much as its current size"
        level = "bad" if free < ROOM_BYTES else "note"
        yield Trap("little disk space", level, cause, "free disk space, or store the index elsewhere with --db")
    waste = int(health.get("waste_bytes") or 0)
    if waste > max(24 << 20, size // 2):
        cause = f"a rewrite would free about {waste / 1e6:,.0f} of the {size / 1e6:,.0f} MB of the database"
        yield Trap("unused space", "note", cause, "run `graphmem compact`")
    log = int(health.get("wal_bytes") or 0)
    if log > LARGE_LOG:
        cause = f"{log / 1e6:,.0f} MB wait to be merged into the database"
        yield Trap("long log", "note", cause, "close the index, or keep its server idle for a minute")


def _hooks(location: Location) -> Iterator[Trap]:
    for one in outdated_hooks(location.root, home()):
        cause = f"{one.path} has no hook of graphmem for {', '.join(one.missing)}"
        yield Trap("outdated hooks", "note", cause, f"run `graphmem install {one.agent}{' --user' * (one.scope == 'user')}`")


def _owners(location: Location) -> Iterator[Trap]:
    written = owner.read(location.owner_file)
    if written is not None and not owner.is_running(written):
        cause = f"process {written.pid} ended without removing it"
        yield Trap("stale owner file", "note", cause, "the next server replaces it")


def filesystem_of(folder: Path) -> str:
    """Return the file system's type for a folder, such as `ext4`.

    The result is "" if the system does not report the type.
    """
    try:
        mounts = [line.split() for line in Path("/proc/mounts").read_text(encoding="utf-8", errors="replace").splitlines()]
    except OSError:
        return ""
    path = folder.resolve()
    best = max(((len(point), kind) for _, point, kind, *_ in mounts if path == Path(point) or Path(point) in path.parents), default=(0, ""))
    return best[1]


def _backups(folder: Path, report: DoctorReport) -> list[Trap]:
    if (folder / SHARED).exists():  # the database of the graph has its own backups
        return []
    newest = listed(folder)[-1:]
    if newest and not any(known.engine == PORTABLE for _, known in readable(folder)):
        return [
            Trap(
                "no portable backup",
                "note",
                "the backups are files of this engine; after a change of its storage format the code must be indexed again",
                "run `graphmem backup --portable`; a server makes one every day",
            )
        ]
    memories = (report.get("memories") or {}).get("memories", 0)
    if memories and not newest:
        return [
            Trap(
                "no backup",
                "note",
                f"{plural(memories, 'memory exists', 'memories exist')} only on this disk",
                "run `graphmem backup DEST`, preferably to another disk",
            )
        ]
    if newest and (age := time.time() - newest[0].stat().st_mtime) > OLD_BACKUP_S:
        return [Trap("old backup", "note", f"the newest is {age / 86_400:.0f} days old", "run `graphmem backup`")]
    return []


def _free(folder: Path) -> int | None:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None
