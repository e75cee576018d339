"""Root fields of upkeep: health, checks, backups. No field takes a path: backups lie in the index's own folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

import strawberry

from graphmem.answers import to_json
from graphmem.answers import upkeep as answers
from graphmem.api import types_upkeep
from graphmem.api.complexity import assumed
from graphmem.api.context import Info
from graphmem.api.describe import resolved
from graphmem.errors import BadInputError


@dataclass(frozen=True, slots=True)
class Examined:
    """What `doctor` answers."""

    said: object


@strawberry.type
class UpkeepQueries:
    """Questions about the index itself."""

    @resolved(types_upkeep.Health)
    @staticmethod
    async def health(info: Info) -> answers.Health:
        """Whether the index answers, and what it does without meanwhile."""
        return await info.context.call(info.context.service.health)

    @resolved(types_upkeep.Examination)
    @staticmethod
    async def doctor(info: Info) -> Examined:
        """What the index is made of and what is missing from it, for `graphmem doctor`."""
        return Examined(to_json(await info.context.wait_for(info.context.service.doctor)))

    @resolved(list[types_upkeep.BackupInfo], [assumed(20)])
    @staticmethod
    async def backups(info: Info) -> list[answers.BackupInfo]:
        """Backups in the index's own folder, newest first."""
        return await info.context.call(info.context.service.backups)

    @resolved(types_upkeep.VerifyAnswer | None)
    @staticmethod
    async def verify_index(info: Info, deep: bool = False) -> answers.VerifyAnswer:
        """Check journal, graph, files, projections and the newest backup for consistency; `deep` also indexes the tree anew."""
        return await info.context.wait_for(info.context.service.verify_index, deep)


@strawberry.type
class UpkeepMutations:
    """Changes of the index itself."""

    @resolved(types_upkeep.BackupInfo | None)
    @staticmethod
    async def backup(info: Info, portable: bool = False) -> answers.BackupInfo:
        """Write a backup into the index's own folder, read it back and open it; `portable` for every engine."""
        return await info.context.wait_for(info.context.service.backup, None, portable)

    @resolved(types_upkeep.RestoreAnswer | None)
    @staticmethod
    async def restore(info: Info, name: str, rules: bool = False) -> answers.RestoreAnswer:
        """Go back to a backup in the index's own folder, by its file name; what is here now is backed up first.

        `rules` takes its rules, too: texts that are put in front of every agent.
        """
        if not name or PurePath(name).name != name or "\\" in name:
            raise BadInputError(
                f"{name[:200]!r} is no name of a backup; give the file's name, as `backups` lists them", argument="name", value=name[:200]
            )
        return await info.context.wait_for(info.context.service.restore, name, rules)

    @resolved(types_upkeep.RebuildAllAnswer | None)
    @staticmethod
    async def rebuild(info: Info) -> answers.RebuildAllAnswer:
        """Make every memory anew from the journal, and the code graph from the files; `indexProgress` tells how it goes."""
        return await info.context.wait_for(info.context.service.rebuild)

    @resolved(types_upkeep.CompactAnswer | None)
    @staticmethod
    async def compact(info: Info) -> answers.CompactAnswer:
        """Write the database into a new file, without the room that deleted and overwritten rows take."""
        return await info.context.wait_for(info.context.service.compact)
