"""What commits and sessions know of files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from graphmem.answers.marks import Doc, Size
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import MomentOrNone


@answer
class CoAccessHit:
    """A file that moves with the files that were asked about."""

    path: str
    score: Annotated[float, Doc("what the list is ordered by; comparable within one answer only")]
    support: Annotated[int, Doc("commits and sessions that touched it with one of the files")]
    sessions: Annotated[int, Doc("of them sessions of agents")]
    commits: Annotated[int, Doc("of them commits")]
    confidence: Annotated[float, Doc("P(it | these): share of the changes of these files that touched it too")]
    lift: Annotated[float, Doc("how many times more often than by chance")]
    direction: Annotated[str, Doc("follows, leads or mixed, by four fifths of the sessions that say when; empty when none does")]
    delay_s: Annotated[float, Doc("average seconds from these files to it in those sessions; negative when it comes first")]
    last_seen: Annotated[MomentOrNone, Doc("none when they never moved together")]
    explained: Annotated[list[str], Doc("kinds of edges of the code between them; none: only history knows")]
    depth: Annotated[int, Doc("1: moved with these; 2: only with files that moved with these")]
    via: Annotated[str, Doc("at depth 2 the strongest file between")]
    parts: Annotated[dict[str, float], Doc("What the score adds up"), Size(4)]


def without_support(hit: CoAccessHit) -> str:
    """Why a file is named that never moved with those asked about; "" for one that did."""
    if hit.support:
        return ""
    return f"by way of {hit.via}" if hit.via else "by its name" if hit.parts.get("names") else "edited recently; nothing else is known"


@answer
class CoAccessAnswer:
    """Files that move with these, best first, ties by path. Iterates over the hits."""

    files: list[str]
    unknown: Annotated[list[str], Doc("of these those that neither the index nor the history has: hits for them are guessed from names")]
    hits: list[CoAccessHit]
    commits: Annotated[int, Doc("in the history")]
    sessions: Annotated[int, Doc("in the history")]
    notes: Annotated[list[str], Doc("what is missing from the answer, and why")]

    def __iter__(self) -> Iterator[CoAccessHit]:
        return iter(self.hits)

    def __getitem__(self, place: int) -> CoAccessHit:
        return self.hits[place]


@answer
class Recorded:
    """Files that were recorded as touched."""

    files: int


@answer
class FileHistory:
    """What history knows of a file under all its names."""

    path: str
    changes: Annotated[int, Doc("commits and sessions that touched it")]
    commits: int
    churn: Annotated[float, Doc("commits, each halved for every year of its age")]
    first_at: MomentOrNone
    last_at: MomentOrNone
    authors: Annotated[dict[str, int], Doc("Commits by hash of an e-mail address"), Size(10)]


@answer
class Reviewer:
    """A person who knows a file."""

    name: Annotated[str, Doc("as git has it")]
    commits: Annotated[int, Doc("that touched the file")]
    share: Annotated[float, Doc("of all commits to the file, each halved for every year of its age; 0 to 1")]
    last_at: Annotated[MomentOrNone, Doc("of the newest of them")]


@answer
class Reviewers:
    """People who know a file, best first, ties by name."""

    file: str
    people: list[Reviewer]
    notes: Annotated[list[str], Doc("why there are none, or not all")]
