"""The verbs that look after an index: back it up, bring it back, check it, make it anew, make it small, say how it is."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import threading
import time
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar, Final

from graphmem.answers.upkeep import BackupInfo, Check, CompactAnswer, RebuildAllAnswer, RestoreAnswer, VerifyAnswer
from graphmem.errors import BadInputError, NotIndexedError
from graphmem.maintenance import backup as backups
from graphmem.maintenance import checks
from graphmem.memory import retention
from graphmem.memory.rules import FOLDER as RULES
from graphmem.store.capabilities import local_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from graphmem.answers import IndexSummary
    from graphmem.indexing.pipeline import Indexer
    from graphmem.memory.repository import MemoryRepository
    from graphmem.model import IndexProgress
    from graphmem.parsing.ignore import DiscoveryOptions
    from graphmem.projection.projections import Projections
    from graphmem.settings import Settings
    from graphmem.store.base import GraphStore
    from graphmem.vectors.filler import VectorFiller

_log = logging.getLogger(__name__)

WASTE_BYTES: Final = 24 << 20  # with less than this to give back, a file is left as it is
CHECKPOINT_BYTES: Final = 1 << 20  # of the log, below which the next start is fast anyway
CHECKPOINT_CHANGES: Final = 8  # of the code, below which what they hold in memory is little
WASTE_SHARE: Final = 0.5  # of the file, that has to be waste before it is written anew by itself


def _is_rule(name: str) -> bool:
    """Whether a file of a backup is one of the project's rules, whatever the case of its folder."""
    return name.partition("/")[0].casefold() == RULES


def _new_rules(manifest: backups.Manifest, staging: Path, data_dir: Path) -> list[str]:
    """Names of the rules a backup brings that are not here word for word."""
    return sorted(
        name.partition("/")[2] or name
        for name in manifest.files
        if _is_rule(name) and not ((data_dir / name).is_file() and (data_dir / name).read_bytes() == (staging / name).read_bytes())
    )


class UpkeepVerbs:
    """Part of `GraphMem`."""

    _store: GraphStore
    _put_aside: list[str]
    _book: MemoryRepository
    _projections: Projections
    _data_dir: Path
    _settings: Settings
    _vectors: VectorFiller
    _turn: threading.Lock
    _indexer: Indexer | None
    _discovery_options: Callable[[], DiscoveryOptions]
    index: Callable[..., IndexSummary]
    open: ClassVar[Callable[..., AbstractContextManager[UpkeepVerbs]]]

    @property
    def damage(self) -> list[str]:
        """What was found damaged since this was opened, and what was done about it, one sentence each; empty when all was whole."""
        return [*self._store.notes, *self._book.journal.notes, *self._put_aside, *self._projections.notes]

    def backup(self, dest: str | Path | None = None, portable: bool = False, kind: str = "") -> BackupInfo:
        """Write a backup of everything that cannot be made again, read it back, open it, and only then say that there is one.

        Questions go on meanwhile; memories that are written wait while the file is copied, or not at all with `portable`.

        Args:
            dest: a folder, or the name of a new .zip; default `backups` in the index directory.
            portable: readable by every engine and every later graphmem; slower.
            kind: a word for its name.

        Raises:
            BadInputError, DiskFullError, DatabaseDamagedError: see `maintenance.backup.make`.
        """
        path = Path(dest).expanduser() if dest is not None else None
        self._book.flush()
        return backups.make(self._store, self._book, self._data_dir, self._settings, path, portable=portable, kind=kind)

    def backups(self) -> list[BackupInfo]:
        """What lies in the index's own folder of backups, newest first."""
        found = []
        for path, said in backups.readable(self._data_dir):
            facts = (said.made_at, said.project, said.engine, path.stat().st_size, said.generation, said.memories, said.entries, 0.0)
            found.append(BackupInfo(str(path), *facts))
        return found

    def restore(self, file: str | Path, rules: bool = False) -> RestoreAnswer:
        """Go back to a backup: code, memories and what else it holds. What is here now is backed up first.

        Args:
            file: a path, or the name of one in the index's own folder of backups.
            rules: take its rules, too: texts that are put in front of every agent. Otherwise the answer names them.

        Raises:
            BadInputError: it is no backup, or of another project.
            DatabaseDamagedError, SettingsError: it is not whole, or of another engine; nothing was changed.
            UnsupportedError: the store has no file.
        """
        local = local_file(self._store, "restoring a backup")
        try:
            archive = Path(file).expanduser()
            archive.stat()
        except FileNotFoundError:
            pass  # said below, or it lies in the index's own folder
        except (OSError, ValueError, RuntimeError) as error:  # a name that is too long, has a null in it, or an unknown ~user
            raise BadInputError(f"{str(file)[:200]!r} cannot be looked at ({error}); name a backup", argument="file") from error
        own = self._data_dir / backups.FOLDER / archive.name
        archive = own.absolute() if archive.name == str(file) and not archive.exists() and own.exists() else archive.absolute()
        manifest = backups.read_manifest(archive)
        backups.expect_engine(manifest, archive, self._settings.engine)
        with self._turn:
            here = self._store.meta().get("project", "")
            if here and manifest.project != here and (self._store.generation() or len(self._book.index())):
                raise BadInputError(
                    f"{archive.name} is of {manifest.project}, this index is of {here}; restore it into another directory with --db",
                    argument="file",
                    project=manifest.project,
                )
            self._vectors.pause()
            with backups.opened(archive, self._settings, beside=self._data_dir) as (manifest, staging):
                something = bool(self._store.generation() or self._book.journal.head.number)
                before = self.backup(kind="before-restore").path if something else ""
                with self._book.writing():
                    self._book.flush()
                    local.exchange(staging / backups.DATABASE)
                    journal = staging / backups.JOURNAL
                    journal.mkdir(exist_ok=True)
                    adopted = self._data_dir / (backups.JOURNAL + ".new")
                    shutil.rmtree(adopted, ignore_errors=True)
                    journal.rename(adopted)
                    self._book.adopt_journal(adopted)
                self._let_go_of_logs()
                brought = _new_rules(manifest, staging, self._data_dir)
                for name in manifest.files:
                    if not rules and _is_rule(name):
                        continue
                    if name != backups.DATABASE and not name.startswith((backups.JOURNAL + "/", backups.DUMP + "/")):
                        target = self._data_dir / name
                        target.parent.mkdir(parents=True, exist_ok=True)
                        (staging / name).replace(target)
                        for side in ("-wal", "-shm"):  # of the file it was; in another one they would be replayed
                            target.with_name(target.name + side).unlink(missing_ok=True)
            self._vectors.look_again()
            self._indexer = None
            if self._store.generation():
                self._projections.refresh(self._store.generation(), None)
        self._vectors.resume()
        files = len(self._store.read("file_hashes"))
        return RestoreAnswer(str(archive), manifest.made_at, files, len(self._book.index()), before, list(self._book.notes), brought, rules)

    def verify_index(self, deep: bool = False) -> VerifyAnswer:
        """Hold everything against what it was made of: journal, graph, files, projections, backups.

        Args:
            deep: also index the tree anew, in a temporary directory, and compare node by node and edge by edge.
        """
        begun = perf_counter()
        with self._turn:
            found = [
                *checks.database(self._store),  # first: while it lies closed, its bytes can be held against their checksum
                *checks.mended(self.damage),
                *checks.derived(self._data_dir),
                *checks.journal(self._book),
                *checks.graph(self._store),
                *checks.projections(self._store, self._projections, self._book),
            ]
            found += checks.files(self._store, self._discovery_options())
            found += checks.backups(self._data_dir, self._settings)
        if deep:
            found += self._checked_anew()
        return VerifyAnswer(all(one.level != "bad" for one in found), found, round(perf_counter() - begun, 3))

    def rebuild(self, repo: str | Path | None = None, on_progress: Callable[[IndexProgress], None] | None = None) -> RebuildAllAnswer:
        """Make everything anew: every memory from the journal, the code graph and all projections from the files.

        Raises:
            RepositoryError: the files are not there; the memories have been made anew.
        """
        begun = perf_counter()
        told = retention.rebuild(self._book)
        run = self.index(repo, full=True, on_progress=on_progress)
        return RebuildAllAnswer(
            files=run.files,
            symbols=run.symbols,
            edges=sum(run.edges_by_kind.values()),
            memories=told.memories,
            restored=told.restored,
            removed=told.removed,
            notes=told.notes,
            seconds=round(perf_counter() - begun, 3),
        )

    def compact(self) -> CompactAnswer:
        """Write the database into a new file, without the room that deleted and overwritten rows still take.

        Raises:
            UnsupportedError: the store has no file.
        """
        begun = perf_counter()
        local = local_file(self._store, "compaction")
        file = Path(local.path)
        with self._turn:
            before = file.stat().st_size
            with self._book.writing():
                self._book.flush()
                generation = local.compact()
            if self._projections.graph_if_ready() is not None:
                self._projections.refresh(generation, None)
        return CompactAnswer(before, file.stat().st_size, round(perf_counter() - begun, 3))

    def compact_when_wasteful(self) -> CompactAnswer | None:
        """`compact`, if at least half of the file and 24 MB of it would be given back."""
        local = self._store.local
        if local is None:
            return None
        size, waste = Path(local.path).stat().st_size, local.waste()
        return self.compact() if waste >= max(WASTE_BYTES, WASTE_SHARE * size) else None

    def checkpoint_when_due(self) -> int:
        """Bring the database file up to date, if its log is long or changes hold memory; bytes of the log that were merged."""
        local = self._store.local
        if local is None:
            return 0
        file = Path(local.path)
        log = file.with_name(file.name + ".wal")
        size = log.stat().st_size if log.exists() else 0
        if size < CHECKPOINT_BYTES and local.held_changes() < CHECKPOINT_CHANGES:
            return 0
        self._book.flush()
        local.checkpoint()
        return size

    def rest(self, unused_s: float) -> bool:
        """Close the database until somebody needs it, if nobody did for so long; whether it was closed now."""
        local = self._store.local
        return local is not None and local.rest(unused_s)

    def cool(self) -> bool:
        """Give back the memory of what can be had again; whether there was some."""
        with self._book.writing():
            self._book.flush()
            return self._projections.cool()

    def unload_model(self) -> str:
        """Give back the memory of the embedding model, if it is loaded; the next query loads it again. Its name, or ""."""
        return self._vectors.unload()

    def let_go(self) -> bool:
        """Give back the memory that is kept for the next index run, if no run is under way; whether there was some."""
        if not self._turn.acquire(blocking=False):
            return False
        try:
            return self._indexer is not None and self._indexer.let_go()
        finally:
            self._turn.release()

    def backup_when_due(self) -> BackupInfo | None:
        """A portable backup, if the setting wants one by now and something has changed since the last; older ones than `backup_keep` go."""
        hours = self._settings.backup_hours
        newest = backups.listed(self._data_dir)[-1:]
        if not hours or (newest and time.time() - newest[0].stat().st_mtime < hours * 3600):
            return None
        here = (self._store.generation(), self._book.journal.head.number)
        if here == (0, 0):
            return None
        if newest:
            said = backups.read_manifest(newest[0])
            if (said.generation, said.entries) == here:
                os.utime(newest[0])  # as good as new
                return None
        made = self.backup(portable=True, kind=backups.AUTO)  # the one that is there when the engine's storage format has changed
        for gone in backups.rotate(self._data_dir, self._settings.backup_keep):
            _log.info("the backup %s gave way to a newer one", gone.name)
        return made

    def _let_go_of_logs(self) -> None:
        """Close what mixins keep open beside the database; each opens its own again when it is asked."""
        for name in ("_history_log", "_history"):
            held = getattr(self, name, None)
            if held is not None and hasattr(held, "close"):
                held.close()
            setattr(self, name, None)

    def _checked_anew(self) -> list[Check]:
        root = self._store.meta().get("root", "")
        if not root or not self._store.generation():
            raise NotIndexedError("there is no code graph to compare; run `graphmem index` first", path=str(self._data_dir))
        with (
            tempfile.TemporaryDirectory(prefix="graphmem-verify-") as folder,
            self.open(folder, settings=self._settings, keep_warm=False) as fresh,
        ):
            fresh._store.set_meta({"project": self._store.meta().get("project", "")})  # ids are made with it
            fresh.index(root)
            return checks.same_graph(self._store.tables(), fresh._store.tables())
