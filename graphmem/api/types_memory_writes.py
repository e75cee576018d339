"""GraphQL types of writing memories: what comes in, and what became of it."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import strawberry
from strawberry.scalars import JSON

from graphmem import answers
from graphmem.api.complexity import assumed
from graphmem.api.describe import field, gql_type, resolved
from graphmem.api.ids import MEMORY, global_id
from graphmem.api.types_index import Count, Row
from graphmem.api.types_memory import Memory


@gql_type
class Remembered:
    """What became of one text that was to be remembered."""

    short_id: str
    outcome: str = field("added, duplicate, consolidated, replaced, superseded or conflicting")
    given_id: str = field("the caller's own id, empty when none was given")
    others: list[str] = field("raw ids of the memories it met")
    redacted: list[str] = field("kinds of secrets that were taken out")
    unresolved: list[str] = field("names in it that fit several symbols, and so were not linked")
    note: str

    @resolved(strawberry.ID)
    @staticmethod
    def id(parent: strawberry.Parent[answers.Remembered]) -> str:
        """Global id of the memory that now says it."""
        return global_id(MEMORY, parent.id)


@gql_type
class RememberAnswer:
    """A memory as it now is, and what became of the text."""

    memory: Memory
    result: Remembered


@gql_type
class Refusal:
    """An item of a bulk write that was not taken."""

    index: int = field("its place, from 0")
    given_id: str
    message: str
    facts: JSON


@gql_type
class RememberManyAnswer:
    """What one bulk write did, in the order of its items."""

    results: list[Remembered] = field("of the items that were taken", directives=[assumed(100)])
    refused: list[Refusal] = field("of the others", directives=[assumed(10)])
    seconds: float

    @resolved(list[Count], [assumed(6)])
    @staticmethod
    def counts(parent: strawberry.Parent[answers.RememberManyAnswer]) -> list[Row]:
        """Items by outcome."""
        return [Row(name, count=count) for name, count in parent.counts.items()]


@gql_type
class Forgotten:
    """What a removal took."""

    hard: bool = field("gone from graph and journal, not only out of search")
    dry_run: bool

    @resolved(list[strawberry.ID])
    @staticmethod
    def ids(parent: strawberry.Parent[answers.Forgotten]) -> list[str]:
        """Global ids of what was taken."""
        return [global_id(MEMORY, one) for one in parent.ids]

    @resolved(list[strawberry.ID])
    @staticmethod
    def kept(parent: strawberry.Parent[answers.Forgotten]) -> list[str]:
        """Global ids of what was in question and stays, because it has another origin as well."""
        return [global_id(MEMORY, one) for one in parent.kept]


@gql_type
class TermAlias:
    """Words a search for a term also looks for."""

    term: str
    means: list[str]


@gql_type
class Noted:
    """Uses that were counted."""

    ids: list[str] = field("as they were given")


@strawberry.input(description="A piece of knowledge to keep.")
class RememberInput:
    """Arguments of the verb `remember`; those left out have its defaults."""

    content: str = strawberry.field(description="1 to 8,000 characters; 500 or fewer are best")
    type: str | None = strawberry.field(default=None, description="default by its words")
    title: str | None = None
    source: str | None = None
    origin: str | None = None
    scope: str | None = None
    visibility: str | None = None
    tags: list[str] | None = None
    related_files: list[str] | None = None
    symbols: list[str] | None = None
    confidence: float | None = None
    importance: float | None = None
    details: JSON | None = None
    work_unit: JSON | None = None
    session: str | None = None
    commit_sha: str | None = None
    created_at: str | None = None
    half_life_days: float | None = None
    contaminated: bool | None = None
    derived_from: list[str] | None = None
    required_with: list[str] | None = None
    id: str | None = None
    vector: list[float] | None = None
    embedding_model: str | None = None


@strawberry.input(description="Fields of a memory to change; those left out stay.")
class MemoryChanges:
    """Arguments of the verb `update_memory`."""

    content: str | None = None
    title: str | None = None
    type: str | None = None
    tags: list[str] | None = None
    related_files: list[str] | None = None
    confidence: float | None = None
    importance: float | None = None
    details: JSON | None = None
    work_unit: JSON | None = None
    scope: str | None = None
    visibility: str | None = None


@strawberry.enum(description="What somebody did with a memory.")
class MemoryUse(StrEnum):
    """See `MemoryVerbs.note_use`."""

    INJECTED = "injected"
    USED = "used"
    CONFIRMED = "confirmed"


def given(value: Any) -> dict[str, Any]:
    """The fields of an input object that hold something, by their Python names."""
    return {name: one for name, one in vars(value).items() if one is not None}
