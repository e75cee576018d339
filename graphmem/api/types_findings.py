"""GraphQL types of what is found wrong, or has changed: hot spots, central symbols, dead code, duplicates, drift, commits."""

from __future__ import annotations

from enum import StrEnum

import strawberry

from graphmem.answers import semantic as answers
from graphmem.api.complexity import assumed
from graphmem.api.describe import field, gql_type, resolved
from graphmem.api.types_index import Count, IndexState, Row, counts, state
from graphmem.api.types_report import PathStep
from graphmem.api.types_semantic import Cycle
from graphmem.api.types_symbol import Symbol


@strawberry.enum(description="What hot spots are looked for.")
class HotspotLevel(StrEnum):
    """See `service.semantic.HOT_LEVELS`."""

    FILES = "files"
    SYMBOLS = "symbols"


@gql_type
class Hotspot:
    """Where change hurts: often changed, complex, and depended upon."""

    symbol: Symbol = field("a file on the level of files")
    churn: float = field("commits that touched the file, old ones counting less; 0 without history")
    complexity: int
    dependents: int = field("other symbols, on the level of files other files, that depend on it directly")
    score: float = field("0 to 100")


@gql_type
class HotspotPage:
    """Hot spots, hottest first."""

    level: HotspotLevel
    hotspots: list[Hotspot]
    total: int
    churn_known: bool
    notes: list[str]
    index_state: IndexState = state()


@gql_type
class CentralSymbol:
    """A symbol much of the rest leans on."""

    symbol: Symbol
    rank: float = field("PageRank, as a multiple of the average symbol's")
    dependents: int


@gql_type
class CentralPage:
    """The most central symbols first."""

    symbols: list[CentralSymbol]
    index_state: IndexState = state()


@gql_type
class DeadSymbol:
    """A definition nothing seems to need."""

    symbol: Symbol
    reason: str = field("unreferenced, only_itself, only_dead or only_tests")
    confidence: float = field("that it can go, in (0, 1]")
    lines: int
    why: list[str] = field("what was weighed")


@gql_type
class DeadCodePage:
    """Dead code, most certain first."""

    symbols: list[DeadSymbol]
    total: int
    lines: int = field("of all of them")
    notes: list[str] = field("what was left out, with counts")
    index_state: IndexState = state()


@gql_type
class Duplicate:
    """One of the places of a duplicate."""

    path: str
    start_line: int
    end_line: int
    qualname: str = field("of the definition it is in; empty for none")


@gql_type
class DuplicateGroup:
    """Pieces of code that say the same."""

    kind: str = field("exact, renamed or near")
    similarity: float = field("lowest to the first place; 1 for the same")
    lines: int = field("that could go")
    places: list[Duplicate] = field("by path and line", directives=[assumed(4)])


@gql_type
class DuplicatePage:
    """Duplicates, those with the most lines to save first."""

    groups: list[DuplicateGroup]
    total: int
    lines: int = field("that could go, over all groups")
    index_state: IndexState = state()


@gql_type
class ModuleChange:
    """What became of a module between two revisions."""

    name: str
    change: str = field("added, removed or changed")
    files_before: int
    files_after: int
    came: list[str] = field("files that are new in it, at most 20")
    left: list[str] = field("files that were in it, at most 20")


@gql_type
class DependencyChange:
    """What became of a dependency between two modules."""

    src: str
    dst: str
    change: str = field("added, removed, heavier or lighter")
    before: int
    after: int
    sites: list[PathStep] = field("of an added one, the first few", directives=[assumed(3)])


@gql_type
class ApiChange:
    """What became of a public definition."""

    symbol: Symbol
    change: str = field("added, removed, signature or moved")
    before: str = field("its signature, or where it was")


@gql_type
class Drift:
    """How the architecture changed from one revision to another."""

    base: str
    head: str
    modules: list[ModuleChange] = field("those that changed", directives=[assumed(20)])
    dependencies: list[DependencyChange] = field("those that changed", directives=[assumed(50)])
    new_cycles: list[Cycle] = field("that were not there", directives=[assumed(3)])
    resolved_cycles: list[Cycle] = field("that are not there any more", directives=[assumed(3)])
    api: list[ApiChange] = field("of public definitions, at most 500", directives=[assumed(100)])
    modularity_before: float
    modularity_after: float
    notes: list[str]

    @resolved(list[Count], [assumed(4)])
    @staticmethod
    def api_counts(parent: strawberry.Parent[answers.Drift]) -> list[Row]:
        """Changes of public definitions by kind, exact."""
        return counts(parent.api_counts)


@gql_type
class Commit:
    """A commit, as what it did to files."""

    sha: str
    at: str = field("ISO 8601, UTC")
    subject: str
    files: int = field("how many it touched, exact")
    paths: list[str] = field("of them, at most 30")
    modules: list[str] = field("names of the modules all those files are in now; none of a commit of more than 2,000 files")


@gql_type
class CommitPage:
    """Commits, newest first; merges are left out."""

    commits: list[Commit]
    notes: list[str] = field("why there are none, or not all")
