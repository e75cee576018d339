"""GraphQL types of people's files: imports, rules, MEMORY.md, exports."""

from __future__ import annotations

from enum import StrEnum

import strawberry

from graphmem import answers
from graphmem.api.complexity import assumed
from graphmem.api.describe import field, gql_type, resolved
from graphmem.api.ids import MEMORY, global_id
from graphmem.api.types_index import Count, Row


@gql_type
class ImportAnswer:
    """What reading a document of memories, or a file of another tool, did."""

    source: str = field("what it was taken for")
    notes: list[str]

    @resolved(list[Count], [assumed(6)])
    @staticmethod
    def counts(parent: strawberry.Parent[answers.ImportAnswer]) -> list[Row]:
        """Memories by outcome."""
        return [Row(name, count=count) for name, count in parent.counts.items()]

    @resolved(list[strawberry.ID])
    @staticmethod
    def ids(parent: strawberry.Parent[answers.ImportAnswer]) -> list[str]:
        """Global ids of the memories that are new or changed."""
        return [global_id(MEMORY, one) for one in parent.ids]


@gql_type
class Rule:
    """A text that is always put in front of an agent, verbatim."""

    name: str
    scope: str = field("a glob of paths; empty for everywhere")
    origin: str = field("user or project")
    text: str


@gql_type
class RuleSet:
    """The rules that apply, the most specific last."""

    rules: list[Rule] = field("the user's first", directives=[assumed(20)])
    notes: list[str] = field("what could not be read")


@gql_type
class SyncConflict:
    """A memory that was changed in the file and in the graph; both are kept."""

    in_file: str = field("empty when its line was deleted")
    in_graph: str

    @resolved(strawberry.ID)
    @staticmethod
    def id(parent: strawberry.Parent[answers.SyncConflict]) -> str:
        """Global id of the memory."""
        return global_id(MEMORY, parent.id)

    @resolved(strawberry.ID | None)
    @staticmethod
    def kept_as(parent: strawberry.Parent[answers.SyncConflict]) -> str | None:
        """Global id of the memory that holds what the file said."""
        return global_id(MEMORY, parent.kept_as) if parent.kept_as else None


@gql_type
class SyncAnswer:
    """What carrying changes between MEMORY.md and the graph did."""

    path: str
    written: int = field("lines the file has now")
    conflicts: list[SyncConflict] = field("changed on both sides", directives=[assumed(5)])
    notes: list[str]
    dry_run: bool

    @resolved(list[strawberry.ID])
    @staticmethod
    def added(parent: strawberry.Parent[answers.SyncAnswer]) -> list[str]:
        """Global ids of memories that are new from the file."""
        return [global_id(MEMORY, one) for one in parent.added]

    @resolved(list[strawberry.ID])
    @staticmethod
    def changed(parent: strawberry.Parent[answers.SyncAnswer]) -> list[str]:
        """Global ids of memories whose text the file changed."""
        return [global_id(MEMORY, one) for one in parent.changed]

    @resolved(list[strawberry.ID])
    @staticmethod
    def forgotten(parent: strawberry.Parent[answers.SyncAnswer]) -> list[str]:
        """Global ids of memories whose line was deleted."""
        return [global_id(MEMORY, one) for one in parent.forgotten]


@gql_type
class MemoriesText:
    """Memories, written down."""

    text: str


@strawberry.enum(description="How memories are written down.")
class ExportFormat(StrEnum):
    """See `PeopleVerbs.export_memories`."""

    JSON = "json"
    MARKDOWN = "markdown"
    CLAUDE = "claude"
