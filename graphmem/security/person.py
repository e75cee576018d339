"""A person in one project of a server, and the permissions of this person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, cast

from graphmem.answers.organisation import Colleague
from graphmem.errors import GraphMemError
from graphmem.runtime.process.faults import unraised
from graphmem.security.access import Access
from graphmem.security.memory_owners import MemoryOwners
from graphmem.security.people import Holder, People

_WRITES: Final = ("read", "remember", "index")
SCOPES_OF: Final[Mapping[str, frozenset[str]]] = {
    "read": frozenset({"read"}),
    "write": frozenset(_WRITES),
    "curate": frozenset({*_WRITES, "curate"}),
    "admin": frozenset({*_WRITES, "curate", "admin"}),
}
UNFINISHED: Final = "not finished"
"""Details in the audit log of an operation that has not ended."""
SEEN_BY_ALL: Final = frozenset({"project", "organization"})
"""Visibilities of memories that everybody with a role in the project sees."""


class Person:
    """A person in one project, with the memories that they own and see.

    Two objects are equal if login, teams, project and the team of the credential are equal.
    """

    def __init__(self, people: People, login: str, teams: frozenset[str], chosen: str, project: str) -> None:
        self._people, self._owners = people, MemoryOwners(people)
        self.login, self.teams, self.chosen, self.project = login, teams, chosen, project

    @property
    def team(self) -> str:
        """The team that sees the team memories of this person.

        The team of the person's credential is returned. If the credential has none and the person is in exactly one team, that team is
        returned. Otherwise the result is "".
        """
        return self.chosen or (next(iter(self.teams)) if len(self.teams) == 1 else "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Person) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[str, frozenset[str], str, str]:
        return self.login, self.teams, self.chosen, self.project

    def seen(self) -> Mapping[str, frozenset[str]]:
        """Return ids of memories that the person sees as author or team member.

        The result maps "personal" to the memories that the person wrote, and "team" to those that the person's teams see.
        """
        return self._owners.seen(self.project, self.login, self.teams)

    def owns(self, memory: str) -> bool:
        """Whether this person wrote a memory, which is given by its full id."""
        return self._owners.owner(self.project, memory) == self.login

    def authors(self) -> Mapping[str, str]:
        """Map ids of the project's memories to the logins of the authors."""
        return self._owners.authors(self.project)

    def colleagues(self) -> list[Colleague]:
        """Return the people with a role in the project, sorted by login.

        Blocked people are left out.
        """
        found = [one for one in self._people.all() if self.project in one.roles and not one.disabled]
        return [Colleague(one.login, one.name, tuple(one.teams), one.roles[self.project]) for one in found]

    def writes(self, memory: str, visibility: str) -> None:
        """Record this person as the owner of a memory that is written now."""
        self._owners.own(self.project, memory, self.login, self.team if visibility == "team" else "")

    def moves(self, memory: str, visibility: str) -> None:
        """Record the new `visibility` of a memory that this person owns."""
        self._owners.move(self.project, memory, self.team if visibility == "team" else "")

    @contextmanager
    def doing(self, action: str) -> Iterator[list[str]]:
        """Record in the audit log that the person calls an operation (`action`).

        See `Individual.doing`. The entry is made before the operation. So the entry of an operation that the end of the process interrupted
        still says `not finished`.
        """
        entry = self._people.note(self.login, action, self.project, UNFINISHED, by=self.login)
        details: list[str] = []
        try:
            yield details
        except BaseException as error:
            self._end(entry, f"failed: {error.code if isinstance(error, GraphMemError) else 'INTERNAL'}")
            raise
        self._end(entry, "".join(details))

    def _end(self, entry: int, details: str) -> None:
        try:
            self._people.outcome(entry, details)
        except GraphMemError as error:  # the operation has ended, and its caller must learn how
            unraised(error, "the record of an operation's outcome in the audit log")


def access_of(people: People, holder: Holder, project: str) -> Access | None:
    """Return the permissions of a person in a project; None without a role."""
    level = people.level(holder.login, holder.teams, project)
    if not level:
        return None
    return Access(
        holder.login, SCOPES_OF[level], SEEN_BY_ALL, holder.credential, Person(people, holder.login, holder.teams, holder.team, project)
    )


def access_without_project(people: People, holder: Holder) -> Access:
    """Return a person's permissions for operations that need no project."""
    return Access(
        holder.login, SCOPES_OF["read"], SEEN_BY_ALL, holder.credential, Person(people, holder.login, holder.teams, holder.team, "")
    )


def renewed_access(people: People, access: Access, project: str) -> Access | None:
    """Return the current permissions of a caller in a project, or None.

    `access` has permissions that the caller was given before, perhaps in another project. Roles and teams are read again. The result is
    None if the caller has no role in `project`.
    """
    if access.person is None:
        return access
    person = cast("Person", access.person)
    teams = frozenset(row[0] for row in people.rows("SELECT team FROM member WHERE login = ?", person.login))
    return access_of(people, Holder(person.login, "", person.chosen if person.chosen in teams else "", access.token_id, teams), project)
