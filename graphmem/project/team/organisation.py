"""People and teams that share a project's memories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from graphmem.answers.organisation import Comments, OrganisationAudit
from graphmem.errors import BadInputError, SharingError
from graphmem.memory.repository.fields import text as checked_text
from graphmem.memory.texts.redact import redact
from graphmem.operations.memory import TO_KNOW
from graphmem.sharing.organisation import LEVELS, STANDINGS, OrganisationDesk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.answers.organisation import Erased, Exported, Invited, Organisation, TeamNews
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.project.memories.writing import Memories
    from graphmem.project.team.sharing import Sharing
    from graphmem.settings import Settings

COMMENT_CHARACTERS: Final = 4_000
IMPORTANT: Final = 10  # memories for a newcomer
NAME_CHARACTERS: Final = 63  # of a role in PostgreSQL


@dataclass(eq=False, repr=False)
class Organisations:
    """Answers questions about people, teams and the changes that others made.

    The answers come from the team's database.
    """

    book: MemoryRepository
    sharing: Sharing
    memories: Memories
    settings: Settings

    def found_organisation(self, url: str = "") -> Organisation:
        with self._desk(url, new=True) as desk:
            return desk.found()

    def organisation_people(self, url: str = "") -> Organisation:
        with self._desk(url) as desk:
            return desk.people()

    def invite_person(
        self, login: str, name: str = "", team: str = "", key: str = "", level: str = "write", admin: bool = False, url: str = ""
    ) -> Invited:
        _name("login", login)
        _one_of("level", level, LEVELS)
        with self._desk(url) as desk:
            return desk.invite(login, name, team=team, project=key, level=level, admin=admin)

    def set_team_member(self, team: str, login: str, standing: str = "member", url: str = "") -> Organisation:
        _name("team", team)
        _one_of("standing", standing, STANDINGS)
        with self._desk(url) as desk:
            return desk.set_member(team, login, standing)

    def set_project_role(self, key: str, level: str, login: str = "", team: str = "", url: str = "") -> Organisation:
        _one_of("level", level, LEVELS)
        with self._desk(url) as desk:
            return desk.set_role(key, login, team, level)

    def enable_person(self, login: str, off: bool = False, url: str = "") -> Organisation:
        with self._desk(url) as desk:
            return desk.enable(login, on=not off)

    def organisation_audit(self, person: str = "", limit: int = 100, url: str = "") -> OrganisationAudit:
        with self._desk(url) as desk:
            return OrganisationAudit(desk.audit(person, limit))

    def team_news(self, days: int = 7, limit: int = 50) -> TeamNews:
        page = self.memories.memories(TO_KNOW, sort="worth", limit=IMPORTANT)
        return self.sharing.news(days, limit, [one.id for one in page.memories])

    def memory_comments(self, id: str, url: str = "") -> Comments:  # noqa: A002
        row = self.book.row(id)
        with self._desk(url) as desk:
            return Comments(desk.comments(self.sharing.known_key(), [row.id]))

    def comment_memory(self, id: str, text: str, reply: str = "", url: str = "") -> Comments:  # noqa: A002
        row, said = self.book.row(id), redact(checked_text("text", text, COMMENT_CHARACTERS))[0]
        with self._desk(url) as desk:
            desk.comment(self.sharing.known_key(), row.id, said, reply)
            return Comments(desk.comments(self.sharing.known_key(), [row.id]))

    def export_organisation(self, login: str = "", url: str = "") -> Exported:
        with self._desk(url) as desk:
            return desk.export(login)

    def erase_person(self, login: str, confirm: str = "", url: str = "") -> Erased:
        if confirm != login:
            raise BadInputError(
                f"this command permanently deletes the account and personal data of {login}; repeat it with --confirm {login} "
                "to delete them",
                argument="confirm",
                value=confirm,
            )
        with self._desk(url) as desk:
            return desk.erase(login)

    def erase_organisation(self, confirm: str = "", url: str = "") -> Erased:
        with self._desk(url) as desk:
            return desk.dissolve(confirm)

    # ---- inside

    def _desk(self, url: str, *, new: bool = False) -> OrganisationDesk:
        address = url or self.settings.sync_url
        if not address:
            raise SharingError(
                "the address of the team's database is not known; set GRAPHMEM_SYNC_URL=postgresql://… or the setting sync_url",
                reason="address",
            )
        return OrganisationDesk(address, new=new)


def _name(argument: str, value: str) -> None:
    if not 0 < len(value.encode()) <= NAME_CHARACTERS or not value.isprintable() or value != value.strip():
        raise BadInputError(f"invalid {argument}; use 1 to {NAME_CHARACTERS} printable characters", argument=argument, value=value[:200])


def _one_of(argument: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise BadInputError(f"unknown {argument} {value[:40]!r}; use one of {', '.join(allowed)}", argument=argument, value=value[:200])
