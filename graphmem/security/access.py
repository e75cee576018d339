"""Permissions of a caller: scopes (actions) and visibilities (memories)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from graphmem.answers.organisation import Colleague

SCOPES: Final = ("read", "remember", "curate", "index", "admin")
"""read: ask. remember: add memories and tell of sessions. curate: change and retire memories, and import. index: index the project,
tell its history. admin: everything, upkeep and deletion among it."""

GROUPS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({"write": ("read", "remember", "curate", "index")})
"""Names for several scopes."""

VISIBILITIES: Final = ("personal", "project", "team", "organization")
SHARED: Final = frozenset(VISIBILITIES[1:])
"""What a token sees unless it says otherwise: what is personal is the index's owner's."""

ACCESS: Final = "graphmem.access"
"""Key of the ASGI scope: the `Access` of a request, or None when it brought no token that is good."""


class Individual(Protocol):
    """Interface of a person who calls operations of a project.

    `security.person` implements it.
    """

    @property
    def team(self) -> str:
        """The team that sees the team memories of this person; "" for none."""

    def seen(self) -> Mapping[str, frozenset[str]]:
        """Return ids of memories that the person may see, in two groups.

        The group "personal" has the memories that the person wrote. The group "team" has the memories that the person's teams may see.
        """

    def owns(self, memory: str) -> bool:
        """Whether the person wrote a memory, which is given by its full id."""

    def authors(self) -> Mapping[str, str]:
        """Map ids of the project's memories to the logins of the authors."""

    def colleagues(self) -> Sequence[Colleague]:
        """Return the people with a role in the project, sorted by login."""

    def writes(self, memory: str, visibility: str) -> None:
        """Record the person as the owner of a new memory.

        `memory` is the full id of the memory.
        """

    def moves(self, memory: str, visibility: str) -> None:
        """Record the new `visibility` of a memory that the person owns.

        `memory` is the full id of the memory.
        """

    def doing(self, action: str) -> AbstractContextManager[list[str]]:
        """Record in the audit log that the person calls an operation (`action`).

        The operation runs in the `with` block. The block may add details of the entry to the list. At the end of the block, the entry gets
        these details, or the code of the error.
        """


@dataclass(frozen=True, slots=True)
class Access:
    """The permissions of a caller.

    `name` is the name of the caller's token, or the login. It is "" for the owner of the index, who has all permissions.
    """

    name: str = ""
    scopes: frozenset[str] = frozenset(SCOPES)
    visibilities: frozenset[str] = frozenset(VISIBILITIES)
    token_id: str = ""
    person: Individual | None = None  # sees their own memories and those of their teams, too
    credential: str = field(default="", repr=False, compare=False)  # of a person, to ask another server of the same directory for them

    def may(self, scope: str) -> bool:
        """Whether the caller has a scope; the scope `admin` includes all others.

        Operations that need no scope have the scope "", for which the result is always True.
        """
        return not scope or scope in self.scopes or "admin" in self.scopes

    @property
    def sees_all(self) -> bool:
        """Whether the caller sees memories of every visibility."""
        return self.visibilities.issuperset(VISIBILITIES)


FULL: Final = Access()
"""Permissions of the index's owner, who can read its files anyway."""


current_caller: ContextVar[Access] = ContextVar("graphmem_caller", default=FULL)


def caller() -> Access:
    """Return the permissions of the caller whose operation runs now."""
    return current_caller.get()
