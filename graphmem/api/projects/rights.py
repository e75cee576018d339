"""Access rights of the callers of a server with many projects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.security.access import Access
from graphmem.security.person import renewed_access
from graphmem.security.person_keys import PersonKeys

if TYPE_CHECKING:
    from graphmem.security.people import People
    from graphmem.security.tokens import Keys


class Rights:
    """Access rights to a server that has no list of people.

    A caller has the same permissions in every project.

    Args:
        keys: the credentials that the options of the server accept.
    """

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    def keys(self, project: str) -> Keys:
        """Return the accepted credentials of a project, or of the whole server.

        `project` is "" for the whole server.
        """
        return self._keys

    def access_to(self, project: str, access: Access) -> Access | None:
        """Return the permissions in a project: the same as in every project."""
        return access


class PeopleRights(Rights):
    """Access rights to a server for which people, teams and roles are kept.

    Until the first person is invited, only the operator's credentials are accepted.

    Args:
        people: people, teams and roles.
        keys: the credentials of the server's operator.
    """

    def __init__(self, people: People, keys: Keys) -> None:
        super().__init__(keys)
        self.people = people

    def keys(self, project: str) -> Keys:
        """Return the accepted credentials of a project, or of the whole server.

        `project` is "" for the whole server.
        """
        return PersonKeys(self.people, project, self._keys)

    def access_to(self, project: str, access: Access) -> Access | None:
        """Return the permissions of a caller in a project; None without any."""
        return renewed_access(self.people, access, project)
