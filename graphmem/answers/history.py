"""Answers about the history of files in commits and sessions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Annotated

from graphmem.answers.marks import Doc, Size
from graphmem.answers.memory import NearbyMemories
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import MomentOrNone


@answer
class CoAccessHit:
    """A file that changes together with the requested files."""

    path: str
    score: Annotated[float, Doc("the list is sorted by it; comparable only within one answer")]
    support: Annotated[int, Doc("number of commits and sessions that touched this file together with a requested file")]
    sessions: Annotated[int, Doc("number of sessions in `support`")]
    commits: Annotated[int, Doc("number of commits in `support`")]
    confidence: Annotated[float, Doc("P(this file | requested files): share of the changes of the requested files that also touched it")]
    lift: Annotated[float, Doc("`confidence` divided by the share of all changes that touch this file")]
    direction: Annotated[
        str,
        Doc(
            "follows or leads: this file changes after or before the requested files in four fifths of the sessions with times; "
            "else mixed; empty without such sessions"
        ),
    ]
    delay_s: Annotated[
        float,
        Doc("average seconds from the requested files to this file in these sessions; negative when this file is first"),
    ]
    last_seen: Annotated[MomentOrNone, Doc("time of the last common change; none when the files never changed together")]
    explained: Annotated[
        list[str], Doc("kinds of code edges between this file and the requested ones; empty when only history relates them")
    ]
    depth: Annotated[int, Doc("1: changed with the requested files; 2: changed only with files of depth 1")]
    via: Annotated[str, Doc("at depth 2 the file of depth 1 that connects it most strongly")]
    parts: Annotated[dict[str, float], Doc("The terms of the score"), Size(4)]


def without_support(hit: CoAccessHit) -> str:
    """Why a file without common changes is listed; "" for one that has some."""
    if hit.support:
        return ""
    return f"by way of {hit.via}" if hit.via else "by its name" if hit.parts.get("names") else "edited recently; nothing else is known"


@answer
class CoAccessAnswer:
    """Files that change together with some files, best first, then by path.

    Iterates over the hits.
    """

    files: list[str]
    unknown: Annotated[list[str], Doc("requested files missing in the index and the history; their hits are guessed from names")]
    hits: list[CoAccessHit]
    commits: Annotated[int, Doc("commits in the history")]
    sessions: Annotated[int, Doc("sessions in the history")]
    notes: Annotated[list[str], Doc("what is missing from the answer, and why")]
    known: Annotated[NearbyMemories, Doc("memories about the requested files and the hits")] = field(default_factory=NearbyMemories)

    def __iter__(self) -> Iterator[CoAccessHit]:
        return iter(self.hits)

    def __getitem__(self, place: int) -> CoAccessHit:
        return self.hits[place]


@answer
class Recorded:
    """The number of files that were recorded as touched."""

    files: int


@answer
class FileHistory:
    """The history of a file under all its names."""

    path: str
    changes: Annotated[int, Doc("number of commits and sessions that touched the file")]
    commits: int
    churn: Annotated[float, Doc("weighted number of commits; the weight of a commit halves every year")]
    first_at: MomentOrNone
    last_at: MomentOrNone
    authors: Annotated[dict[str, int], Doc("Commits by hash of an e-mail address"), Size(10)]


@answer
class Reviewer:
    """A person who knows a file."""

    name: Annotated[str, Doc("author name in git")]
    commits: Annotated[int, Doc("commits that touched the file")]
    share: Annotated[float, Doc("share of all commits to the file, 0 to 1; the weight of a commit halves every year")]
    last_at: Annotated[MomentOrNone, Doc("time of the newest of these commits")]


@answer
class Reviewers:
    """People who know a file, best first, then by name."""

    file: str
    people: list[Reviewer]
    notes: Annotated[list[str], Doc("why the list is empty or incomplete")]


@answer
class KnownPart:
    """People who know a module or a file."""

    name: Annotated[str, Doc("name of the module, or path of the file")]
    commits: Annotated[int, Doc("commits that touched it; large ones do not count")]
    bus_factor: Annotated[int, Doc("least number of people who together have half of the knowledge; 0 when nobody is known")]
    people: Annotated[list[Reviewer], Doc("those with the largest share first"), Size(5)]


@answer
class Knowledge:
    """Modules, or the files of one, with the people who know them."""

    parts: Annotated[list[KnownPart], Doc("lowest bus factor first, then most commits"), Size(50)]
    total: int
    notes: Annotated[list[str], Doc("why the list is empty or incomplete")]
