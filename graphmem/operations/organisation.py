"""Operations on the people, teams and roles that share memories."""

from __future__ import annotations

from typing import Annotated

from graphmem.answers.marks import MEMORY
from graphmem.answers.organisation import Comments, Erased, Exported, Invited, Organisation, OrganisationAudit, TeamNews
from graphmem.operations.declare import Sight, operation
from graphmem.operations.marks import Argument, Bounds, Ref, Words


class OrganisationOperations:
    """People, teams and roles of the team's database.

    Each address contains a login role. PostgreSQL decides what this role may see and do.
    """

    @operation("mutation", needs="admin", shows=Sight.WHOLE, slow=True, command="organisation found")
    def found_organisation(self, url: str = "") -> Organisation:
        """Add people, teams and roles to the team's database.

        From then on everybody needs a login of their own, and row-level security decides what they see. Earlier memories have no owner.

        Args:
            url: address postgresql://owner@host/name, in which `owner` is the login role that owns the tables; default: the setting
                sync_url.
        """

    @operation("query", needs="admin", shows=Sight.WHOLE, command="organisation people")
    def organisation_people(self, url: str = "") -> Organisation:
        """List people, teams and their roles by project.

        Args:
            url: address postgresql://host/name; default: the setting sync_url.
        """

    @operation("mutation", needs="admin", shows=Sight.WHOLE, command="organisation invite")
    def invite_person(
        self, login: str, name: str = "", team: str = "", key: str = "", level: str = "write", admin: bool = False, url: str = ""
    ) -> Invited:
        """Give somebody a login for the team's database.

        The answer has the person's address with a password, which is not shown again.

        Args:
            login: name of the person's new login role.
            name: name of the person as others see it; default: the login.
            team: name of a team to join, which is created if needed.
            key: project in which the person, or the named team, gets a role: its key, the beginning of it, or its name.
            level: the role in the project: read, write, curate (change the memories of others) or admin.
            admin: make the person an administrator of the organisation.
            url: address postgresql://host/name; default: the setting sync_url.
        """

    @operation("mutation", needs="admin", shows=Sight.WHOLE, command="organisation team")
    def set_team_member(self, team: str, login: str, standing: str = "member", url: str = "") -> Organisation:
        """Put a person into a team, or out of it.

        Stewards of the team and administrators may do this.

        Args:
            team: name of the team, which is created if needed.
            login: login of the person.
            standing: rank of the person in the team: member, steward (may add and remove others), or none to remove the person.
            url: address postgresql://host/name; default: the setting sync_url.
        """

    @operation("mutation", needs="admin", shows=Sight.WHOLE, command="organisation role")
    def set_project_role(self, key: str, level: str, login: str = "", team: str = "", url: str = "") -> Organisation:
        """Give a person or a team a role in a project.

        A person with `read` receives memories, with `write` also sends them, with `curate` may erase and hide
        memories of others, and with `admin` also gives roles.

        Args:
            key: the project's key, as `graphmem organisation status` shows it, or the beginning of it, or the project's name.
            level: role in the project: read, write, curate (change the memories of others) or admin; `none` takes the role away.
            login: login of the person.
            team: name of the team.
            url: address postgresql://host/name; default: the setting sync_url.
        """

    @operation("mutation", needs="admin", shows=Sight.WHOLE, command="organisation enable")
    def enable_person(self, login: str, off: bool = False, url: str = "") -> Organisation:
        """Allow or block a person's access to the team's database.

        Args:
            login: login of the person.
            off: block the person's login; memories of the person stay.
            url: address postgresql://host/name; default: the setting sync_url.
        """

    @operation("query", needs="admin", shows=Sight.WHOLE, command="organisation audit")
    def organisation_audit(self, person: str = "", limit: Annotated[int, Bounds(1, 10_000)] = 100, url: str = "") -> OrganisationAudit:
        """List what people did in the organisation, the newest first.

        Args:
            person: name or login of the person; default: everybody.
            limit: the maximum number of entries.
            url: address postgresql://host/name; default: the setting sync_url.
        """

    @operation("query", needs="read", shows=Sight.SEEN, command="organisation news")
    def team_news(self, days: Annotated[int, Bounds(1, 365)] = 7, limit: Annotated[int, Bounds(1, 1_000)] = 50) -> TeamNews:
        """Show what was learnt recently, and open disagreements.

        The answer also lists who knows what, and the ten memories that a newcomer must know. If this machine exchanges memories with a
        team, the answer covers only memories of the team, as of the last exchange. On a server of many projects, the answer covers all
        memories that the caller may see.

        Args:
            days: length of the period, which begins at midnight UTC, in days.
            limit: the maximum number of memories.
        """

    @operation("query", needs="admin", shows=Sight.WHOLE, command="organisation comments")
    def memory_comments(self, id: Annotated[str, Ref(MEMORY)], url: str = "") -> Comments:  # noqa: A002
        """List the team's comments on a memory.

        Args:
            id: id or short id of the memory.
            url: address postgresql://host/name; default: the setting sync_url.
        """

    @operation("mutation", needs="admin", shows=Sight.WHOLE, command="organisation comment")
    def comment_memory(
        self,
        id: Annotated[str, Ref(MEMORY)],  # noqa: A002
        text: Annotated[str, Words()],
        reply: str = "",
        url: str = "",
    ) -> Comments:
        """Add a comment to a memory that the team has.

        Args:
            id: id or short id of the memory.
            text: text of the comment; secrets in it are removed.
            reply: raw id of the comment that the new comment answers; default: a comment on the memory itself.
            url: address postgresql://host/name; default: the setting sync_url.
        """

    @operation("mutation", needs="admin", shows=Sight.WHOLE, slow=True, command="organisation export")
    def export_organisation(self, login: Annotated[str, Argument()] = "", url: str = "") -> Exported:
        """Export all rows of one person, or of the organisation.

        The audit log records the export. A person may export their own rows, administrators all rows.

        Args:
            login: login of the person; default: the whole organisation.
            url: address postgresql://host/name; default: the setting sync_url.
        """

    @operation("mutation", needs="admin", shows=Sight.WHOLE, slow=True, command="organisation erase")
    def erase_person(self, login: str, confirm: str = "", url: str = "") -> Erased:
        """Erase one person from the team's database, for good.

        Memories that the person owns are erased on every machine. The person's name is removed from changes of other people's memories.

        Args:
            login: login of the person.
            confirm: the login of the person again, to confirm the erasure.
            url: address postgresql://host/name; default: the setting sync_url.
        """

    @operation("mutation", needs="admin", shows=Sight.WHOLE, slow=True, command="organisation dissolve")
    def erase_organisation(self, confirm: str = "", url: str = "") -> Erased:
        """Erase the organisation from the database, for good.

        Only the owner of the tables may do this. Copies on people's machines stay.

        Args:
            confirm: the name of the database, to confirm the erasure.
            url: address postgresql://owner@host/name; default: the setting sync_url.
        """
