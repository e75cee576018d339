"""The credentials that one project of a server accepts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from graphmem.security.access import FULL, Access
from graphmem.security.person import access_of, access_without_project, renewed_access
from graphmem.security.tokens import Keys

if TYPE_CHECKING:
    from graphmem.security.people import People


class PersonKeys(Keys):
    """The credentials that a server of many projects accepts for one project.

    Args:
        people: the people of the server.
        project: name of the project; "" for the server itself.
        keys: the credentials of the server's operator.
    """

    advice = "log in with an invitation, `graphmem login URL CODE`, or send a token as `Authorization: Bearer …`"

    def __init__(self, people: People, project: str, keys: Keys) -> None:
        super().__init__()
        self._people, self._project, self._operator = people, project, keys

    @property
    def required(self) -> bool:
        """Whether callers must present a credential."""
        return self._people.exist or self._operator.required

    def access(self, authorization: str | None) -> Access | None:
        """Return the permissions that an `Authorization` header gives, or None.

        The result is None without a valid credential if one is required, and for a person without a role in the project.
        """
        if self._operator.is_whole(authorization):
            return FULL
        if not self._people.exist:
            return self._operator.access(authorization)
        scheme, _, given = (authorization or "").partition(" ")
        holder = self._people.holder(given.strip()) if scheme.lower() == "bearer" else None
        if holder is None:
            return None
        found = access_of(self._people, holder, self._project) if self._project else access_without_project(self._people, holder)
        return replace(found, credential=given.strip()) if found is not None else None

    def stands(self, access: Access) -> bool:
        """Whether the permissions that a caller was given before are still valid.

        They end when the credential ends, or when the person's roles or teams change.
        """
        if access.person is None:
            return not access.token_id
        return self._people.stands(access.token_id) and (not self._project or renewed_access(self._people, access, self._project) == access)
