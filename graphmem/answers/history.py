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
    score: Annotated[float, Doc("score by which files that change together are ranked; comparable only within one answer")]
    support: Annotated[int, Doc("number of commits and sessions that touched this file together with a requested file")]
    sessions: Annotated[int, Doc("number of the changes counted in `support` that agents made in sessions")]
    commits: Annotated[int, Doc("number of the changes counted in `support` that are commits")]
    confidence: Annotated[float, Doc("share of the changes of the requested files that also changed this file, 0 to 1")]
    lift: Annotated[float, Doc("lift: `confidence` divided by the share of all changes that touch this file")]
    direction: Annotated[
        str,
        Doc(
            "order of the edits in sessions: follows (at least four fifths edit this file after the requested files), leads (at least "
            "four fifths edit it before them) or mixed; empty if no session recorded when it edited both"
        ),
    ]
    delay_s: Annotated[
        float,
        Doc(
            "average seconds from the change of the requested files to the change of this file, in sessions that recorded "
            "the times; negative when this file changes first"
        ),
    ]
    last_seen: Annotated[
        MomentOrNone, Doc("time of the last commit or session that touched this file and a requested file; null if there is none")
    ]
    explained: Annotated[
        list[str],
        Doc("kinds of dependencies in the code between this file and the requested files; empty when only the history connects them"),
    ]
    depth: Annotated[int, Doc("1 when the file changed with a requested file; 2 when the file changed only with files of depth 1")]
    via: Annotated[str, Doc("if `depth` is 2: the file with depth 1 that is the strongest link between this file and the requested files")]
    parts: Annotated[dict[str, float], Doc("The parts that add up to `score`, by name"), Size(4)]


def without_support(hit: CoAccessHit) -> str:
    """Explain why a file is listed that never changed with requested files.

    Returns "" for a file that did change with them.
    """
    if hit.support:
        return ""
    return f"by way of {hit.via}" if hit.via else "by its name" if hit.parts.get("names") else "edited recently; no other reason is known"


@answer
class CoAccessAnswer:
    """Files that often change together with the requested files, best first.

    Iterating over the answer gives its hits.
    """

    files: list[str]
    unknown: Annotated[
        list[str],
        Doc("requested files that are neither in the index nor in the history; the results for these files are guessed from file names"),
    ]
    hits: list[CoAccessHit]
    commits: Annotated[int, Doc("number of commits that the history contains")]
    sessions: Annotated[int, Doc("number of agents' sessions that the history contains")]
    notes: Annotated[list[str], Doc("data that is missing in the answer, and why")]
    known: Annotated[NearbyMemories, Doc("memories about the requested files and the files that were found")] = field(
        default_factory=NearbyMemories
    )

    def __iter__(self) -> Iterator[CoAccessHit]:
        return iter(self.hits)

    def __getitem__(self, place: int) -> CoAccessHit:
        return self.hits[place]


@answer
class Recorded:
    """The number of files that were recorded as changed."""

    files: int


@answer
class FileHistory:
    """The history of a file under all its names."""

    path: str
    changes: Annotated[int, Doc("number of commits and sessions that touched the file")]
    commits: int
    churn: Annotated[float, Doc("weighted number of commits; the weight of a commit halves with each year of its age")]
    first_at: MomentOrNone
    last_at: MomentOrNone
    authors: Annotated[
        dict[str, int], Doc("Number of commits of each author; an author is named by a hash of the e-mail address"), Size(10)
    ]


@answer
class Reviewer:
    """A person who knows a file."""

    name: Annotated[str, Doc("name of the author in git")]
    commits: Annotated[int, Doc("number of commits of the person that touched the file")]
    share: Annotated[float, Doc("the person's share of the commits to the file, 0 to 1; the weight of a commit halves every year")]
    last_at: Annotated[MomentOrNone, Doc("time of the person's newest commit to the file")]


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
    commits: Annotated[int, Doc("number of commits that touched the module or file; very large commits and those of bots are not counted")]
    bus_factor: Annotated[
        int, Doc("bus factor: least number of people who together made half of the weighted commits; 0 when nobody is known")
    ]
    people: Annotated[list[Reviewer], Doc("people who know the module or file, largest share first"), Size(5)]


@answer
class Knowledge:
    """Modules, or the files of one module, with the people who know them."""

    parts: Annotated[list[KnownPart], Doc("the modules or files, lowest bus factor first, then most commits"), Size(50)]
    total: int
    notes: Annotated[list[str], Doc("why the list is empty or incomplete")]
    whole: Annotated[
        KnownPart | None, Doc("the module or directory whose files are listed; null if all modules are listed, or if nobody is known")
    ] = None
