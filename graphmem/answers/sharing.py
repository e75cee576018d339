"""Answers about memories that are shared with a team."""

from __future__ import annotations

from typing import Annotated

from graphmem.answers.marks import MEMORY, Doc, GlobalId, Size
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import Moment, MomentOrNone


@answer
class Said:
    """One side of a disagreement."""

    value: Annotated[str, Doc("the text, or the value of the field")]
    person: Annotated[str, Doc("who chose it")]
    at: Moment
    memory: Annotated[str, Doc("raw id of the memory with this text; empty for other fields")]


@answer
class Disagreement:
    """Values of a memory that people chose without knowing of each other."""

    id: Annotated[str, Doc("Global id"), GlobalId(MEMORY)]
    short_id: str
    title: str
    field: Annotated[str, Doc("text, type, status, …")]
    sides: Annotated[list[Said], Doc("all values; the first is in force"), Size(2)]


@answer
class SharingAnswer:
    """The outcome of an exchange of memories with the team."""

    project: Annotated[str, Doc("key of the project, the same on every machine")]
    person: Annotated[str, Doc("the name under which others see this user's changes")]
    pushed: Annotated[int, Doc("operations sent")]
    pulled: Annotated[int, Doc("operations of other machines")]
    added: Annotated[int, Doc("memories that are new here")]
    changed: Annotated[int, Doc("memories that changed here")]
    forgotten: Annotated[int, Doc("memories that others erased")]
    waiting: Annotated[int, Doc("operations that are not sent yet")]
    disagreements: Annotated[list[Disagreement], Size(20)]
    notes: list[str]


@answer
class SharingStatus:
    """State of the exchange with the team."""

    address: Annotated[str, Doc("the configured database, without its password; empty: none")]
    project: Annotated[str, Doc("key of the project; empty before the first exchange")]
    person: str
    last: Annotated[MomentOrNone, Doc("time of the last exchange that succeeded; empty: none")]
    waiting: Annotated[int, Doc("operations that are not sent yet")]
    error: Annotated[str, Doc("reason for the failure of the last exchange; empty: none")]
    disagreements: Annotated[list[Disagreement], Size(20)]
