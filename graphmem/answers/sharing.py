"""Answers about memories that are shared with a team."""

from __future__ import annotations

from typing import Annotated

from graphmem.answers.marks import MEMORY, Doc, GlobalId, Size
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import Moment, MomentOrNone


@answer
class Said:
    """One of the values in a disagreement about a memory."""

    value: Annotated[str, Doc("the value of the field that the person chose; for the field `text`, the text of the memory")]
    person: Annotated[str, Doc("person who gave the memory, or its field, this value")]
    at: Moment
    memory: Annotated[str, Doc("database id of the memory whose text is `value`; empty if `value` is not the text of a memory")]
    short_id: Annotated[str, Doc("short id of the memory whose text is `value`; empty if `value` is not the text of a memory")]


@answer
class Disagreement:
    """Different values that people chose for the same field of a memory."""

    id: Annotated[str, Doc("Global id of the memory about which people disagree, for the GraphQL query `node`"), GlobalId(MEMORY)]
    short_id: str
    title: str
    field: Annotated[str, Doc("name of the field about which people disagree: text, type, status, …")]
    sides: Annotated[list[Said], Doc("all values that people chose for the field; the first one applies until people decide"), Size(2)]


@answer
class SharingAnswer:
    """The outcome of an exchange of memories with the team."""

    project: Annotated[str, Doc("identifier of the project in the team's database, the same on every machine")]
    person: Annotated[str, Doc("the name under which others see this user's changes")]
    pushed: Annotated[int, Doc("number of changes of memories that were sent to the team")]
    pulled: Annotated[int, Doc("number of changes of memories that were received from other machines")]
    added: Annotated[int, Doc("number of received memories that this machine did not have before")]
    changed: Annotated[int, Doc("number of memories that changed on this machine, because others changed them")]
    forgotten: Annotated[int, Doc("number of memories removed on this machine, because members of the team forgot or erased them")]
    waiting: Annotated[int, Doc("number of changes of memories that have not been sent to the team yet")]
    disagreements: Annotated[list[Disagreement], Size(20)]
    notes: list[str]


@answer
class SharingStatus:
    """State of the exchange of memories with the team's database."""

    address: Annotated[str, Doc("address of the team's database, without its password; empty if none is configured")]
    project: Annotated[str, Doc("identifier of the project in the team's database; empty before the first exchange")]
    person: str
    last: Annotated[MomentOrNone, Doc("time of the last successful exchange of memories with the team; null if there was none")]
    waiting: Annotated[int, Doc("number of changes of memories that have not been sent to the team yet")]
    error: Annotated[str, Doc("why the last exchange of memories failed; empty if it succeeded")]
    disagreements: Annotated[list[Disagreement], Size(20)]
