"""What can be asked, and the numbers that were chosen by measurement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final, NamedTuple

from graphmem.errors import BadInputError
from graphmem.knowledge import AboutRow, MemoryRow
from graphmem.search.fusion import MINMAX
from graphmem.search.query_type import IDENTIFIER, SEMANTIC, STRUCTURAL

KINDS: Final = ("code", "prose", "data", "symbol", "memory")
MAX_K: Final = 200
MAX_QUERY: Final = 10_000  # characters
MAX_FILES: Final = 200

# What each phase of work wants of each type of memory; types that are not named count 1.
PHASES: Final[Mapping[str, Mapping[str, float]]] = MappingProxyType(
    {
        "define": {"workflow_recipe": 1.4, "dead_end": 1.2, "requirement": 1.2, "decision": 1.1, "task_calibration": 1.1}
        | {"gotcha": 0.8, "error_pattern": 0.8},
        "implement": {
            "gotcha": 1.4,
            "error_pattern": 1.3,
            "causal_dependency": 1.2,
            "dead_end": 1.2,
            "pattern": 1.1,
            "prefetch_pattern": 1.1,
        },
        "validate": {"error_pattern": 1.4, "e2e_observation": 1.4, "requirement": 1.2, "work_unit_outcome": 1.1},
        "refine": {"error_pattern": 1.3, "gotcha": 1.2, "dead_end": 1.2},
        "explore": {"module_insight": 1.4, "decision": 1.2, "pattern": 1.1},
        "reflect": {"work_unit_outcome": 1.4, "task_calibration": 1.3, "dead_end": 1.1},
    }
)


class Weights(NamedTuple):
    """How much each path says of code for one type of query."""

    words: float  # BM25 of the query
    dense: float  # cosine
    exact: float  # symbols the query names
    graph: float  # their neighbours
    votes: float  # of other hits in the same file
    sentence: float = 0.0  # BM25 of the query's best sentence
    names: float = 0.0  # share of the names of a unit, of what it is in and of its file that the query has
    literal: float = 0.0  # names and phrases that stand in code as the query writes them
    places: float = 0.0  # files the query names
    frames: float = 0.0  # definitions around the places it gives by file and line, as tracebacks do
    alike: float = 0.0  # cosine with the best hits
    joined: float = 0.0  # of other hits that an edge joins it with; of what they score, not of the best of the list
    files: float = 0.15  # nearness to the active files


_DESCRIBED: Final = Weights(
    words=0.27,
    sentence=0.23,
    dense=0.4,
    exact=0.2,
    names=0.2,
    literal=0.2,
    places=0.2,
    frames=0.6,
    graph=0.0,
    votes=0.07,
    alike=0.15,
    joined=0.13,
)


class Fields(NamedTuple):
    """How the words of code count (BM25F); one in the text counts 1."""

    name: float = 3.0  # a word in the unit's name
    outer: float = 1.0  # in the names of what it is in
    path: float = 1.0
    k1: float = 2.0  # how slowly repetition saturates
    b: float = 0.1  # how much length counts: a long function is changed and asked for more often than a short one
    coverage: float = 0.35  # power of the share of the query's weight that a unit has
    rest: float = 0.7  # of a word that is not in the query's first line: a title says what it is about, the rest explains
    sentences: int = 8  # of the query that are looked at by themselves
    name_share: float = 0.175  # of `names`, what the share of a unit's own name counts
    outer_share: float = 0.325
    file_share: float = 0.5


class MemoryWeights(NamedTuple):
    """How much each path says of a memory, and how its score is made of that."""

    words: float = 0.5
    dense: float = 0.5
    time: float = 0.4  # what was learnt just before and after a hit
    answer: float = 4.0  # of it, how much more what came right after a question counts
    graph: float = 0.45  # what is about the same code as a hit
    files: float = 0.5  # what is about the active files and their neighbours
    relevance: float = 0.6
    recency: float = 0.25
    frequency: float = 0.15
    volatility: float = 0.01  # a day: how fast what is known of code ages; what is not about code does not
    doubt: float = 0.1  # of the score, what a memory without any confidence loses
    alike: float = 0.97  # cosine from which a hit says what a better one has said
    repeated: float = 0.1  # of the score, what it then loses


class Tuning(NamedTuple):
    """What was chosen by measurement; docs/decisions/0006-fusion.md has the tables."""

    normaliser: str = MINMAX
    depth: int = 100  # memories of the word and the dense path, each
    chunks: int = 120  # of code and documents, of the word and the dense path, each
    units: int = 400  # symbols in them that are ranked
    graph_depth: int = 15
    exact_alone: float = 2.0  # weight of names when the query is nothing but one name
    divide: bool = True  # chunks among the symbols in them
    fields: Fields = Fields()
    voters: int = 10  # of a file, the hits that vote for it
    judged_right: int = 5  # of the best hits, those that others are compared with
    others: float = 0.4  # of `joined`, what edges that are no calls count
    inner: float = 0.6  # factor for what is written inside a function and not named in the query: its function is what is meant
    around: float = 0.93  # factor for a class that is not named, which has the vectors of all its methods, and for code outside definitions
    faint: float = 0.2  # cosine; where no text has a word of the query and none comes nearer, nothing is found
    tests: float = 0.8  # factor for code of tests when the query does not speak of tests
    weights: Mapping[str, Weights] = MappingProxyType(
        {
            IDENTIFIER: _DESCRIBED,
            SEMANTIC: _DESCRIBED,
            STRUCTURAL: Weights(words=0.4, dense=0.2, exact=0.2, graph=0.6, votes=0.0),
        }
    )
    memory: MemoryWeights = MemoryWeights()
    phases: Mapping[str, Mapping[str, float]] = PHASES  # the built-in table, or what a project accepted: `search.phases`


class Request(NamedTuple):
    """What is asked.

    Attributes:
        query: words, an identifier, or a question; not empty.
        k: hits wanted, 1 to 200.
        files: the active files: they lift what is near them and exclude nothing.
        within: only in these files and below these directories; everywhere when empty. Memories: only those about code there.
        kinds: of KINDS; "code" means symbols and code outside definitions; all when empty.
        types: only memories of these types; all when empty.
        phase: of work, a key of PHASES, or "".
        retired: also memories that were superseded or deprecated.
        stale: also memories that are marked stale: they are shown with their mark.
        as_of: only what was known at that time; None for now.
        explain: fill in `parts` and `factors` of every hit.
        deadline_s: seconds after which a path that has not answered is left out.
    """

    query: str
    k: int = 10
    files: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    phase: str = ""
    retired: bool = False
    stale: bool = True
    as_of: datetime | None = None
    explain: bool = True
    deadline_s: float = 2.0

    @property
    def wants_code(self) -> bool:
        """Anything but memories is asked for."""
        return not self.types and (not self.kinds or bool(self.kinds - {"memory"}))

    @property
    def wants_memories(self) -> bool:
        """Memories are asked for."""
        return not self.kinds or "memory" in self.kinds


class Judge(NamedTuple):
    """What the rules of memories say of one, handed in because they lie in another room."""

    trust: Callable[[MemoryRow], float] = lambda row: 1.0  # of its source
    confidence: Callable[[MemoryRow, datetime, Sequence[AboutRow]], float] = lambda row, now, about: row.confidence  # in use
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


def check(request: Request) -> None:
    """Refuse what cannot be answered.

    Raises:
        BadInputError: an empty or overlong query, `k` out of range, an unknown kind or phase, too many files.
    """
    if not request.query.strip():
        raise BadInputError("the query is empty; say what to look for", argument="query")
    if len(request.query) > MAX_QUERY:
        raise BadInputError(
            f"the query has {len(request.query):,} characters; at most {MAX_QUERY:,} are read", argument="query", allowed=MAX_QUERY
        )
    if not 1 <= request.k <= MAX_K:
        raise BadInputError(f"limit must be 1 to {MAX_K}, not {request.k}", argument="limit", allowed=MAX_K, found=request.k)
    unknown = sorted(request.kinds - set(KINDS))
    if unknown:
        raise BadInputError(f"unknown kind {unknown[0]!r}; kinds are {', '.join(KINDS)}", argument="kinds", found=unknown)
    if request.phase and request.phase not in PHASES:
        raise BadInputError(f"unknown phase {request.phase!r}; phases are {', '.join(PHASES)}", argument="phase", found=request.phase)
    for name, paths in (("files", request.files), ("within", request.within)):
        if len(paths) > MAX_FILES:
            raise BadInputError(
                f"{len(paths):,} {name} are too many; name at most {MAX_FILES}", argument=name, allowed=MAX_FILES, found=len(paths)
            )
    if request.as_of is not None and request.as_of.tzinfo is None:
        raise BadInputError("as_of must say its time zone; write it in UTC", argument="as_of", found=request.as_of.isoformat())
