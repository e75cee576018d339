"""Answers about the people, teams and roles that share memories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from graphmem.answers.marks import MEMORY, Doc, GlobalId, Size
from graphmem.answers.plain import answer
from graphmem.answers.sharing import Disagreement
from graphmem.answers.vocabulary import Moment, MomentOrNone


@answer
class ProjectAccess:
    """The role of a person or a team in one project."""

    project: Annotated[str, Doc("identifier of the project in the team's database")]
    level: Annotated[str, Doc("role of the person or team in the project: read, write, curate (change the memories of others) or admin")]


@answer
class Person:
    """A person who shares memories."""

    login: Annotated[str, Doc("name of the person's login role in PostgreSQL")]
    name: Annotated[str, Doc("name of the person as others see it")]
    is_admin: bool
    is_disabled: bool
    teams: Annotated[list[str], Size(5)]
    roles: Annotated[list[ProjectAccess], Doc("the person's own roles in projects, without the roles of teams"), Size(20)]
    last: Annotated[
        MomentOrNone,
        Doc("time when the person's graphmem last exchanged memories with the database; null if never, or if the caller may not know"),
    ]
    operations: Annotated[int, Doc("number of changes of memories that the person made and that the caller may see")]


@answer
class Team:
    """A team: people who share memories among themselves."""

    name: str
    members: Annotated[list[str], Doc("logins of the members of the team"), Size(20)]
    stewards: Annotated[list[str], Doc("logins of the members who may add members to the team and remove them"), Size(2)]
    roles: Annotated[list[ProjectAccess], Size(20)]


@answer
class Organisation:
    """The people and teams of the shared database."""

    address: Annotated[str, Doc("address of the shared database, without its password")]
    login: Annotated[str, Doc("login of the person who asked")]
    name: Annotated[str, Doc("name of the person who asked")]
    is_admin: Annotated[bool, Doc("true when the person who asked administers the organisation")]
    people: Annotated[list[Person], Size(100)]
    teams: Annotated[list[Team], Size(20)]


@answer
class Invited:
    """An invitation. Its address has a password, which is shown only once."""

    login: str
    address: Annotated[str, Doc("address for the setting GRAPHMEM_SYNC_URL of the invited person")]
    has_password: Annotated[
        bool,
        Doc("true when the login role is new and the address contains its password; false when the role existed and keeps its password"),
    ]


@answer
class AuditedAct:
    """A recorded action of a person in the organisation."""

    at: Moment
    person: str
    action: str
    target: str
    details: str


@answer
class OrganisationAudit:
    """Recorded actions of people in the organisation."""

    entries: Annotated[list[AuditedAct], Doc("the recorded actions of people in the organisation, newest first"), Size(100)]


@answer
class Comment:
    """A comment on a memory."""

    id: Annotated[str, Doc("database id of the comment; give it to add a reply")]
    parent: Annotated[str, Doc("database id of the comment to which this comment replies; empty for a comment on the memory itself")]
    memory: Annotated[str, Doc("database id of the memory that the comment is about")]
    person: str
    at: Moment
    text: str
    depth: Annotated[int, Doc("number of comments above this comment in its thread; 0 for a comment on the memory itself")]


@answer
class Comments:
    """The comments on a memory, each answer after the comment it answers."""

    comments: Annotated[list[Comment], Size(20)]


@answer
class Exported:
    """All stored data of one person, or of the organisation."""

    login: Annotated[str, Doc("login of the exported person; empty for the whole organisation")]
    rows: int
    content: Annotated[str, Doc("the exported rows, one JSON object per line")]


@answer
class Erased:
    """Receipt for the erasure of one person, or of the organisation."""

    memories: Annotated[int, Doc("number of erased memories; for a person the memories that the person owned")]
    operations: Annotated[int, Doc("number of changes of memories that were erased, or from which the erased person's name was removed")]
    comments: Annotated[int, Doc("number of erased comments")]
    role_dropped: Annotated[bool, Doc("true when all login roles that graphmem made were removed from PostgreSQL")]
    at: Moment
    by: str
    digest: Annotated[str, Doc("SHA-256 hash of the erased changes, as evidence of the erasure")]


@answer
class Learnt:
    """A memory that a person of the team added or changed."""

    id: Annotated[str, Doc("Global id of the memory, for the GraphQL query `node`"), GlobalId(MEMORY)]
    short_id: str
    title: str
    type: str
    person: Annotated[str, Doc("author of the memory's text; empty if unknown")]
    at: Moment
    is_new: Annotated[bool, Doc("true for a new memory; false for a memory that existed before and was changed")]
    content: str
    files: Annotated[list[str], Doc("paths of files that the memory is about, at most 3"), Size(3)]
    seeded: Annotated[bool, Doc("true for a memory that graphmem read from the project's own files, such as the README")] = False


@dataclass(frozen=True, slots=True)
class Colleague:
    """A person with a role in a project of a server.

    The class is used inside graphmem; no answer has it.
    """

    login: str
    name: str
    teams: tuple[str, ...]
    level: str


@answer
class Knows:
    """The memories that one person contributed to the team."""

    person: str
    memories: Annotated[int, Doc("number of current memories whose text this person wrote")]
    files: Annotated[list[str], Doc("the files with the most memories by this person"), Size(3)]
    teams: Annotated[list[str], Doc("teams of the person on a server of many projects"), Size(3)]
    level: Annotated[
        str,
        Doc(
            "role of the person in the project of a server: read, write, curate (change the memories of others) or admin; empty without a "
            "server"
        ),
    ]


@answer
class TeamNews:
    """Recent memories of the team, and open disagreements."""

    since: Moment
    learnt: Annotated[list[Learnt], Doc("memories learnt in the period, newest first"), Size(50)]
    total: Annotated[int, Doc("number of memories learnt in the period, including those beyond the limit")]
    disagreements: Annotated[list[Disagreement], Size(20)]
    knows: Annotated[list[Knows], Size(20)]
    important: Annotated[
        list[Learnt],
        Doc(
            "memories that a newcomer should read: warnings and decisions first, then by trust and use; "
            "those read from files of the project last"
        ),
        Size(10),
    ]
