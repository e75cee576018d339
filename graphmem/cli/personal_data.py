"""Export and erase the data of one person, while the server is stopped.

The export and the erasure open all projects in which the person wrote memories or pushed branches.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from graphmem.answers import to_json
from graphmem.errors import BadInputError, StoreBusyError
from graphmem.runtime.process.system import account
from graphmem.security import personal_data
from graphmem.security.memory_owners import MemoryOwners
from graphmem.security.people import People
from graphmem.server.hosting import Hosting

if TYPE_CHECKING:
    from graphmem.project.graphmem import GraphMem
    from graphmem.settings import Settings


class Receipt(TypedDict):
    """Proof that a person's data were erased."""

    memories: int  # number of erased memories
    lines: int  # number of erased objects: lines of the person's export
    digest: str  # hash of these objects


class PersonalData:
    """The data of one person on a server.

    Args:
        folder: the server's directory.
        settings: settings of the projects; `store` has the address of the graphs' database, if there is one.
        login: login of the person.
    """

    def __init__(self, folder: Path, settings: Settings, login: str) -> None:
        self.people = People(folder, account())
        self._hosting = Hosting(folder, replace(settings, embedder="none"))
        self.login = login

    def close(self) -> None:
        """Close the projects and the file of the people."""
        self._hosting.close()
        self.people.close()

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield all data of the person: the person, then memories and branches.

        Each earlier version of a memory's text is yielded as a memory of its own. Branches are those that are private or that the person
        pushed, without their code.

        Raises:
            BadInputError: the person is unknown, or the server is running.
        """
        with self._opened() as projects:
            yield from personal_data.data_of(self.people, self.login)
            for project, (service, memories) in projects.items():
                for one in memories:
                    yield {"kind": "memory", "project": project, **to_json(service.memory(one))}
                for branch in service.parts.overlays.branches.named(self.login):
                    said = {"name": branch.key.name, "private": bool(branch.key.person), "pushed_at": branch.pushed_at}
                    yield {"kind": "branch", "project": project, **said}

    def erase(self) -> Receipt:
        """Erase all data of the person for good; return a receipt.

        The receipt proves the erasure. The receipt has the number of erased memories, the number of objects from `lines`, and a hash of
        these objects. The audit log keeps the receipt, without the login.

        Raises:
            BadInputError: the person is unknown, or the server is running.
        """
        found = [json.dumps(one, sort_keys=True) for one in self.lines()]
        with self._opened() as projects:
            for service, memories in projects.values():
                for one in memories:
                    service.forget(one, hard=True, actor="server")
                service.parts.overlays.branches.erase(self.login)
                service.parts.book.flush()
                if service.parts.store.local is not None:
                    service.compact()  # deleted rows stay in the file until then
            erased = sum(len(memories) for _, memories in projects.values())
        receipt: Receipt = {"memories": erased, "lines": len(found), "digest": hashlib.sha256("\n".join(found).encode()).hexdigest()}
        personal_data.erase(self.people, self.login, f"{erased} memories, {len(found)} lines, sha256 {receipt['digest']}")
        return receipt

    # ---- inside

    @contextmanager
    def _opened(self) -> Iterator[dict[str, tuple[GraphMem, list[str]]]]:
        """Open the projects with memories or branches of the person, for a block.

        Yields a mapping from a project's name to (open project, ids of memories). The ids are those of the person's memories that still
        exist, and of their earlier versions.

        Raises:
            BadInputError: the server is running.
        """
        with ExitStack() as stack:
            found = {}
            owned = MemoryOwners(self.people).owned(self.login)
            for project in self._hosting.names():
                memories = owned.get(project, [])
                if not memories and not self._has_branches(project):
                    continue
                try:
                    service = stack.enter_context(self._hosting.using(project))
                except StoreBusyError as error:
                    raise BadInputError(
                        f"the server is running ({error.message.split(';')[0]}); stop it, then run the command again",
                        argument="projects",
                    ) from error
                found[project] = (service, _with_versions(service, memories))
            yield found

    def _has_branches(self, project: str) -> bool:
        """Whether a project has branches that name the person."""
        with self._hosting.branches(project) as stored:
            return bool(stored.named(self.login))


def _with_versions(service: GraphMem, memories: list[str]) -> list[str]:
    """Return ids of existing memories and of their earlier versions, sorted.

    `memories` are ids; those that no longer exist are left out. An edit keeps the earlier text of a memory as an earlier version with an id
    of its own.
    """
    index, found = service.parts.book.index(), {}
    waiting = list(memories)
    while waiting:
        row = index.row(waiting.pop())
        if row is None or row.id in found:
            continue
        found[row.id] = row
        olds = (index.row(link.dst) for link in index.relates(row.id) if link.src == row.id and link.kind == "supersedes")
        waiting += [old.id for old in olds if old is not None and old.created_at == row.created_at]  # others are versions of other memories
    return sorted(found)
