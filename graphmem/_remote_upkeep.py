"""The verbs of upkeep over a running server. A server takes no paths: files travel through its own folder of backups."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

from graphmem._wire import Wire, rebuild
from graphmem.answers import Project
from graphmem.answers.upkeep import BackupInfo, CompactAnswer, CypherAnswer, Health, RebuildAllAnswer, RestoreAnswer, VerifyAnswer
from graphmem.errors import BadInputError, DiskFullError
from graphmem.model import IndexProgress

LONG_S: Final = 0.0  # for ever: a large index takes minutes, and the server ends by itself what cannot end
FOLDER: Final = "backups"


class RemoteUpkeepVerbs:
    """Part of `RemoteGraphMem`; the verbs and answers of `graphmem.service.upkeep.UpkeepVerbs`."""

    _wire: Wire
    _followed: Callable[[Callable[[IndexProgress], None] | None], AbstractContextManager[None]]

    def health(self) -> Health:
        """See `HealthVerbs.health`."""
        return rebuild(Health, self._wire.ask("Health")["health"])

    def cypher(self, query: str, params: Mapping[str, Any] | None = None, limit: int | None = None) -> CypherAnswer:
        """See `CypherVerbs.cypher`."""
        return CypherAnswer(**self._wire.ask("Cypher", query=query, params=dict(params) if params else None, limit=limit)["cypher"])

    def backups(self) -> list[BackupInfo]:
        """See `UpkeepVerbs.backups`."""
        return [_info(one) for one in self._wire.ask("Backups")["backups"]]

    def backup(self, dest: str | Path | None = None, portable: bool = False) -> BackupInfo:
        """See `UpkeepVerbs.backup`. The server writes it into its own folder; from there it is copied to `dest`."""
        target = Path(dest).expanduser().absolute() if dest is not None else None
        if target is not None and target.suffix == ".zip" and target.exists() and not target.is_dir():
            raise BadInputError(f"{target} is there already; name a new file or a folder", argument="dest", path=str(target))
        made = _info(self._wire.ask("Backup", timeout_s=LONG_S, portable=portable)["backup"])
        if target is None:
            return made
        source = _here(Path(made.path))
        if target.suffix == ".zip" and not target.is_dir():
            target.parent.mkdir(parents=True, exist_ok=True)
        else:
            target.mkdir(parents=True, exist_ok=True)
            target = target / source.name
        try:
            shutil.copyfile(source, target)
        except OSError as error:
            target.unlink(missing_ok=True)
            raise DiskFullError(
                f"the backup could not be copied to {target} ({error.strerror or error}); it is at {source}", path=str(target)
            ) from error
        source.unlink()
        return dataclasses.replace(made, path=str(target))

    def restore(self, file: str | Path, rules: bool = False) -> RestoreAnswer:
        """See `UpkeepVerbs.restore`. The file is copied into the server's own folder for the time of the restore."""
        path = Path(file).expanduser()
        data_dir = Path(rebuild(Project, self._wire.ask("Project")["project"]).data_dir)
        own = data_dir / FOLDER
        known = own / path.name
        if (path.name == str(file) and not path.exists()) or (known.exists() and path.exists() and known.samefile(path)):
            return rebuild(RestoreAnswer, self._wire.ask("Restore", timeout_s=LONG_S, name=path.name, rules=rules)["restore"])
        if not path.is_file():
            raise BadInputError(
                f"{path} is not there; `graphmem backup --list` shows the backups there are", argument="file", path=str(path)
            )
        _here(data_dir)
        own.mkdir(exist_ok=True)
        given = own / f"given-{path.name}"
        try:
            shutil.copyfile(path, given)
            return rebuild(RestoreAnswer, self._wire.ask("Restore", timeout_s=LONG_S, name=given.name, rules=rules)["restore"])
        except OSError as error:
            raise DiskFullError(f"there is no room for {path.name} in {own} ({error}); make room and try again", path=str(own)) from error
        finally:
            given.unlink(missing_ok=True)

    def verify_index(self, deep: bool = False) -> VerifyAnswer:
        """See `UpkeepVerbs.verify_index`."""
        return rebuild(VerifyAnswer, self._wire.ask("VerifyIndex", timeout_s=LONG_S, deep=deep)["verifyIndex"])

    def rebuild(self, repo: str | Path | None = None, on_progress: Callable[[IndexProgress], None] | None = None) -> RebuildAllAnswer:
        """See `UpkeepVerbs.rebuild`; of the project the server has."""
        with self._followed(on_progress):
            return rebuild(RebuildAllAnswer, self._wire.ask("Rebuild", timeout_s=LONG_S)["rebuild"])

    def compact(self) -> CompactAnswer:
        """See `UpkeepVerbs.compact`."""
        found = self._wire.ask("Compact", timeout_s=LONG_S)["compact"]
        return rebuild(CompactAnswer, {**found, "before": int(found["before"]), "after": int(found["after"])})


def _info(found: dict[str, object]) -> BackupInfo:
    return rebuild(BackupInfo, {**found, "bytes": int(str(found["bytes"]).partition(".")[0])})


def _here(path: Path) -> Path:
    """A path of the server, if this is its machine.

    Raises:
        BadInputError: it is not.
    """
    if not path.exists():
        raise BadInputError(
            f"the server is on another machine, where {path} is; run the command there, or without a path", argument="path", path=str(path)
        )
    return path
