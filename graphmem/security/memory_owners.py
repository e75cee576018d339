"""Owners of memories on a server, and the teams that see the memories."""

from __future__ import annotations

from collections.abc import Mapping

from graphmem.security.people_file import PeopleFile


class MemoryOwners:
    """The owners of the memories of all projects of a server."""

    def __init__(self, file: PeopleFile) -> None:
        self._file = file

    def own(self, project: str, memory: str, login: str, team: str) -> None:
        """Record owner and team of a new memory.

        `memory` is the id of the memory, and `login` is the owner. `team` is the team that sees the memory; "" for none. An earlier record
        is of a memory that was not stored, or was erased.
        """
        self._file.change("INSERT OR REPLACE INTO owner VALUES (?, ?, ?, ?)", project, memory, login, team)

    def owner(self, project: str, memory: str) -> str:
        """Return the login of a memory's owner; "" if unknown."""
        rows = self._file.rows("SELECT login FROM owner WHERE project = ? AND memory = ?", project, memory)
        return rows[0][0] if rows else ""

    def authors(self, project: str) -> dict[str, str]:
        """Map ids of a project's memories to the logins of their owners."""
        return dict(self._file.rows("SELECT memory, login FROM owner WHERE project = ?", project))

    def move(self, project: str, memory: str, team: str) -> None:
        """Record `team` as the team that sees a memory; "" for no team."""
        self._file.change("UPDATE owner SET team = ? WHERE project = ? AND memory = ?", team, project, memory)

    def seen(self, project: str, login: str, teams: frozenset[str]) -> Mapping[str, frozenset[str]]:
        """Return ids of memories that a person sees as author or team member.

        The result maps "personal" to the memories that the person wrote, and "team" to those that one of `teams` sees.
        """
        own = frozenset(row[0] for row in self._file.rows("SELECT memory FROM owner WHERE project = ? AND login = ?", project, login))
        marks = ", ".join("?" * len(teams))
        theirs = self._file.rows(f"SELECT memory FROM owner WHERE project = ? AND team IN ({marks})", project, *teams)  # noqa: S608
        return {"personal": own, "team": frozenset(row[0] for row in theirs)}

    def owned(self, login: str) -> dict[str, list[str]]:
        """Map names of projects to the ids of a person's memories there."""
        found: dict[str, list[str]] = {}
        for project, memory in self._file.rows("SELECT project, memory FROM owner WHERE login = ? ORDER BY project, memory", login):
            found.setdefault(project, []).append(memory)
        return found
