"""What commits and sessions know of files."""

from __future__ import annotations

from collections.abc import Iterator

from graphmem.answers.plain import answer


@answer
class CoAccessHit:
    """A file that moves with the files that were asked about."""

    path: str
    score: float  # what the list is ordered by; comparable within one answer only
    support: int  # changes, commits and sessions together, that touched it with one of the files
    sessions: int  # of them sessions of agents
    commits: int  # of them commits
    confidence: float  # P(it | these): share of the changes of these files that touched it too; 0 when there are none
    lift: float  # how many times more often than by chance; 0 when there are none
    direction: str  # follows | leads | mixed: in sessions that say when, by four fifths of them; "" when none says
    delay_s: float  # average time from these files to it in those sessions, seconds; negative when it comes first
    last_seen: str  # ISO 8601, UTC; "" when they never moved together
    explained: list[str]  # kinds of edges of the code between them; none: only history knows
    depth: int  # 1: moved with these; 2: only with files that moved with these
    via: str  # at depth 2 the file between, the strongest; else ""
    parts: dict[str, float]  # what the score adds up


def without_support(hit: CoAccessHit) -> str:
    """Why a file is named that never moved with those asked about; "" for one that did."""
    if hit.support:
        return ""
    return f"by way of {hit.via}" if hit.via else "by its name" if hit.parts.get("names") else "edited lately, no more is known"


@answer
class CoAccessAnswer:
    """Files that move with these, best first, ties by path. Iterates over the hits."""

    files: list[str]
    unknown: list[str]  # of these those that neither the index nor the history has: hits for them are guessed from names
    hits: list[CoAccessHit]
    commits: int  # in the history
    sessions: int
    notes: list[str]  # what is missing from the answer, and why

    def __iter__(self) -> Iterator[CoAccessHit]:
        return iter(self.hits)

    def __getitem__(self, place: int) -> CoAccessHit:
        return self.hits[place]


@answer
class FileHistory:
    """What history knows of a file under all its names."""

    path: str
    changes: int  # commits and sessions that touched it
    commits: int
    churn: float  # commits, each halved for every year of its age
    first_at: str  # ISO 8601, UTC
    last_at: str
    authors: dict[str, int]  # hash of an e-mail address -> commits
