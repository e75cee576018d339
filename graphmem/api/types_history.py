"""GraphQL types of history: what moves together, and how often files change."""

from __future__ import annotations

from dataclasses import dataclass

import strawberry

from graphmem import answers
from graphmem.api.complexity import assumed
from graphmem.api.describe import field, gql_type, resolved
from graphmem.api.types_index import Count, Row


@gql_type
class ScorePart:
    """One term of a sum."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    value: float


@gql_type
class CoAccessHit:
    """A file that moves with the files that were asked about."""

    path: str
    score: float = field("what the list is ordered by; comparable within one answer only")
    support: int = field("commits and sessions that touched it with one of the files")
    sessions: int = field("of them sessions of agents")
    commits: int = field("of them commits")
    confidence: float = field("P(it | these): share of the changes of these files that touched it too")
    lift: float = field("how many times more often than by chance")
    direction: str = field("follows, leads or mixed, by four fifths of the sessions that say when; empty when none does")
    delay_s: float = field("average seconds from these files to it in those sessions; negative when it comes first")
    last_seen: str = field("ISO 8601, UTC; empty when they never moved together")
    explained: list[str] = field("kinds of edges of the code between them; none: only history knows")
    depth: int = field("1: moved with these; 2: only with files that moved with these")
    via: str = field("at depth 2 the strongest file between")

    @resolved(list[ScorePart], [assumed(4)])
    @staticmethod
    def parts(parent: strawberry.Parent[answers.CoAccessHit]) -> list[_Part]:
        """What the score adds up."""
        return [_Part(name, value) for name, value in parent.parts.items()]


@gql_type
class CoAccessAnswer:
    """Files that move with these, best first."""

    files: list[str]
    unknown: list[str] = field("of these those that neither the index nor the history has: hits for them are guessed from names")
    hits: list[CoAccessHit]
    commits: int = field("in the history")
    sessions: int = field("in the history")
    notes: list[str] = field("what is missing from the answer, and why")


@gql_type
class FileHistory:
    """What history knows of a file under all its names."""

    path: str
    changes: int = field("commits and sessions that touched it")
    commits: int
    churn: float = field("commits, each halved for every year of its age")
    first_at: str = field("ISO 8601, UTC")
    last_at: str

    @resolved(list[Count], [assumed(10)])
    @staticmethod
    def authors(parent: strawberry.Parent[answers.FileHistory]) -> list[Row]:
        """Commits by hash of an e-mail address."""
        return [Row(name, count=count) for name, count in parent.authors.items()]
