"""Answers about the people, teams and roles that share memories."""

from __future__ import annotations

from typing import Annotated

from graphmem.answers.marks import MEMORY, Doc, GlobalId, Size
from graphmem.answers.plain import answer
from graphmem.answers.sharing import Disagreement
from graphmem.answers.vocabulary import Moment, MomentOrNone


@answer
class ProjectAccess:
    """A role in one project."""

    project: Annotated[str, Doc("key of the project")]
    level: Annotated[str, Doc("read, write, curate or admin")]


@answer
class Person:
    """Somebody who shares memories."""

    login: Annotated[str, Doc("the login role in PostgreSQL")]
    name: Annotated[str, Doc("as others see it")]
    is_admin: bool
    is_disabled: bool
    teams: Annotated[list[str], Size(5)]
    roles: Annotated[list[ProjectAccess], Doc("own roles, besides those of the teams"), Size(20)]
    last: Annotated[MomentOrNone, Doc("time of the last exchange, if the caller may know it")]
    operations: Annotated[int, Doc("written operations on memories that the caller may see")]


@answer
class Team:
    """People who share memories among themselves."""

    name: str
    members: Annotated[list[str], Doc("logins"), Size(20)]
    stewards: Annotated[list[str], Doc("members who may add and remove others"), Size(2)]
    roles: Annotated[list[ProjectAccess], Size(20)]


@answer
class Organisation:
    """The people and teams of the shared database."""

    address: Annotated[str, Doc("the database, without its password")]
    login: Annotated[str, Doc("login of the caller")]
    name: Annotated[str, Doc("name of the caller")]
    is_admin: Annotated[bool, Doc("whether the caller administers the organisation")]
    people: Annotated[list[Person], Size(100)]
    teams: Annotated[list[Team], Size(20)]


@answer
class Invited:
    """An invitation. The address contains a password, which is shown once."""

    login: str
    address: Annotated[str, Doc("value for GRAPHMEM_SYNC_URL of the invited person")]
    has_password: Annotated[bool, Doc("False: the login role existed and keeps its password")]


@answer
class AuditedAct:
    """Something that a person did in the organisation."""

    at: Moment
    person: str
    action: str
    target: str
    details: str


@answer
class OrganisationAudit:
    """What people did in the organisation."""

    entries: Annotated[list[AuditedAct], Doc("the newest first"), Size(100)]


@answer
class Comment:
    """A comment on a memory."""

    id: Annotated[str, Doc("raw id, for an answer to it")]
    parent: Annotated[str, Doc("raw id of the comment that it answers; empty: none")]
    memory: Annotated[str, Doc("raw id of the memory")]
    person: str
    at: Moment
    text: str
    depth: Annotated[int, Doc("id of the comment that this one answers; 0 for a comment on the memory itself")]


@answer
class Comments:
    """The comments on a memory, each answer below what it answers."""

    comments: Annotated[list[Comment], Size(20)]


@answer
class Exported:
    """Everything of one person, or of the organisation."""

    login: Annotated[str, Doc("empty: the organisation")]
    rows: int
    content: Annotated[str, Doc("one JSON object a line")]


@answer
class Erased:
    """Receipt for the erasure of one person, or of the organisation."""

    memories: Annotated[int, Doc("erased memories; those that the person owned")]
    operations: Annotated[int, Doc("erased operations; of a person: those from which the name was removed")]
    comments: Annotated[int, Doc("erased comments")]
    role_dropped: Annotated[bool, Doc("whether all login roles that graphmem made were removed from PostgreSQL")]
    at: Moment
    by: str
    digest: Annotated[str, Doc("SHA-256 of the erased operations, before the erasure")]


@answer
class Learnt:
    """A memory that is new or changed."""

    id: Annotated[str, Doc("Global id"), GlobalId(MEMORY)]
    short_id: str
    title: str
    type: str
    person: Annotated[str, Doc("author of the text; empty: unknown")]
    at: Moment
    is_new: Annotated[bool, Doc("False: it existed before, and was changed")]


@answer
class Knows:
    """What one person taught the team."""

    person: str
    memories: Annotated[int, Doc("live memories with a text of this person")]
    files: Annotated[list[str], Doc("files that most of them are about"), Size(3)]


@answer
class TeamNews:
    """What the team learnt of late, and what it does not agree on."""

    since: Moment
    learnt: Annotated[list[Learnt], Doc("the newest first"), Size(50)]
    total: Annotated[int, Doc("memories learnt, including those beyond the limit")]
    disagreements: Annotated[list[Disagreement], Size(20)]
    knows: Annotated[list[Knows], Size(20)]
    important: Annotated[list[Learnt], Doc("what a newcomer must know, by trust and use"), Size(10)]
