"""Search requests, and the weights of search with their measured values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final, NamedTuple

from graphmem.errors import BadInputError
from graphmem.knowledge import AboutRow, MemoryRow
from graphmem.search.fusion import MINMAX
from graphmem.search.query.query_type import ERROR, IDENTIFIER, QUESTION, SEMANTIC, STRUCTURAL

KINDS: Final = ("code", "prose", "data", "symbol", "memory", "module", "flow")
SYSTEM_KINDS: Final = frozenset({"module", "flow"})  # parts of the derived structure, which have no texts of their own
MAX_K: Final = 200
MAX_QUERY: Final = 10_000  # characters
MAX_FILES: Final = 200

# Weight of each type of memory in each phase of work; unnamed types count 1.
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
    """Weights of the lists of candidates among code, for one type of query.

    For example, `words` is the weight of the list of the search by words, and `dense` that of the search by vectors.
    """

    words: float  # BM25 of the query
    dense: float  # cosine
    exact: float  # symbols that the query names
    graph: float  # their neighbours
    votes: float  # of other hits in the same file
    sentence: float = 0.0  # BM25 of the query's best sentence
    names: float = 0.0  # share of the names of a unit, its enclosing units and its file that the query has
    told: float = 0.0  # share of the query that the first paragraph of a unit's documentation has; fades out as vectors are made
    echo: float = 0.0  # words of the best hits; fades in as vectors are made
    literal: float = 0.0  # names and phrases that code has exactly as the query writes them
    message: float = 0.0  # the run of words of a message that code has as the query writes it
    places: float = 0.0  # files that the query names
    frames: float = 0.0  # definitions around the places given by file and line, as in tracebacks
    alike: float = 0.0  # cosine with the best hits
    joined: float = 0.0  # scores of hits joined by an edge; a full score counts in full, not the best of the list
    files: float = 0.15  # nearness to the active files
    churn: float = 0.0  # how often the file changes; only with weights that a person accepted


_DESCRIBED: Final = Weights(
    words=0.27,
    sentence=0.23,
    dense=0.4,
    exact=0.2,
    names=0.2,
    literal=0.2,
    message=0.4,
    places=0.2,
    frames=0.6,
    graph=0.0,
    votes=0.07,
    alike=0.15,
    joined=0.13,
)


class Fields(NamedTuple):
    """Parameters of the word score (BM25F): weights of name, path and text.

    A word in the text of a symbol has the weight 1. The other fields are, for example, the name of the symbol and the path of the file.
    """

    name: float = 3.0  # a word in the unit's name
    outer: float = 1.0  # in the names of the enclosing units
    path: float = 1.0
    k1: float = 2.0  # how slowly repetition saturates
    b: float = 0.1  # effect of length: long functions are changed and searched more often than short ones
    coverage: float = 0.35  # exponent of the share of the query's weight that a unit has
    rest: float = 0.7  # weight of words after the query's first line: a title names the subject, the rest explains
    sentences: int = 8  # sentences of the query that are scored separately
    name_share: float = 0.175  # part of `names` that the unit's own name contributes
    outer_share: float = 0.325
    file_share: float = 0.5
    focus: float = 0.25  # exponent of the share of words in documentation that the query has


class MemoryWeights(NamedTuple):
    """Weights and factors with which candidate memories are ranked."""

    words: float = 0.5
    dense: float = 0.5
    time: float = 0.4  # memories learnt just before and after a hit
    answer: float = 4.0  # factor on `time` for a memory right after a question
    graph: float = 0.45  # memories about the same code as a hit
    files: float = 0.5  # memories about the active files and their neighbours
    dates: float = 0.4  # memories created in a period that the query names
    echo: float = 0.1  # words of the best hits, if the query is a question
    asking: float = 0.5  # share of its relevance to a question that a memory loses if it only asks itself
    relevance: float = 0.6
    recency: float = 0.25
    frequency: float = 0.15
    volatility: float = 0.01  # per day: ageing of knowledge about code; other knowledge does not age
    doubt: float = 0.1  # share of the score that a memory without any confidence loses
    alike: float = 0.97  # cosine from which a hit repeats a better one
    repeated: float = 0.1  # share of the score that a repeated hit loses


class Tuning(NamedTuple):
    """All adjustable values of search, chosen by measurement.

    The tables are in docs/decisions/0006-fusion.md.
    """

    normaliser: str = MINMAX
    depth: int = 100  # memories of the word path and of the dense path, each
    chunks: int = 120  # code and documents of the word path and of the dense path, each
    units: int = 400  # maximum ranked symbols in those chunks
    graph_depth: int = 15
    exact_alone: float = 2.0  # weight of names if the query is a single name
    outside: float = 3.6  # factor on `dense` for a question that names the project's language: its words are seldom those of the code
    divide: bool = True  # divide chunks among their symbols
    fields: Fields = Fields()
    voters: int = 10  # hits of a file that vote for it
    judged_right: int = 5  # best hits that other candidates are compared with
    others: float = 0.4  # weight of edges other than calls in `joined`
    inner: float = 0.6  # factor for unnamed code inside a function: usually the function is meant
    around: float = 0.93  # factor for an unnamed class, which receives the vectors of all its methods, and for code outside definitions
    faint: float = 0.2  # cosine; nothing is found if no text has a word of the query and no vector is nearer
    tests: float = 0.8  # factor for test code if the query does not mention tests
    written: float = 0.7  # factor for documents and data if a question does not mention them: they repeat the words of the code
    candidates: float = 0.5  # the same when candidates are chosen by words, before vectors are there
    logs: float = 0.4  # the same for release notes and change logs
    tests_of_questions: float = 0.5  # the same for questions: the code answers them, and names of tests are sentences like them
    weights: Mapping[str, Weights] = MappingProxyType(
        {
            IDENTIFIER: _DESCRIBED,
            QUESTION: _DESCRIBED._replace(dense=1.0, names=0.1, joined=0.3, told=0.3, echo=0.2),
            ERROR: _DESCRIBED,
            SEMANTIC: _DESCRIBED,
            STRUCTURAL: Weights(words=0.4, dense=0.2, exact=0.2, graph=0.6, votes=0.0),
        }
    )
    memory: MemoryWeights = MemoryWeights()
    phases: Mapping[str, Mapping[str, float]] = PHASES  # the built-in table, or one accepted by the project: `search.memories.phases`


class Request(NamedTuple):
    """A search request.

    Attributes:
        query: words, an identifier, or a question; not empty.
        k: number of hits, 1 to 200.
        files: the files that are open in the editor, which raise the scores of related hits.
        within: restricts hits to these files and directories, and to memories about code in them; empty for no restriction.
        kinds: kinds of results, from KINDS; "code" means symbols and code outside definitions; empty for all.
        types: restricts memories to these types; empty for all.
        phase: the current phase of work, a key of PHASES, or "".
        retired: include superseded and deprecated memories.
        stale: include memories that are marked as stale.
        as_of: restricts results to what was known at that time; None for now.
        explain: fill in `parts` and `factors` of every hit.
        deadline_s: seconds after which the ways of searching that have not finished are left out.
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
        """Whether the request asks for results other than memories."""
        return not self.types and (not self.kinds or bool(self.kinds - SYSTEM_KINDS - {"memory"}))

    @property
    def wants_memories(self) -> bool:
        """Whether the request asks for memories."""
        return not self.kinds or "memory" in self.kinds


class Judge(NamedTuple):
    """Functions that return a memory's trust and confidence, and the time.

    `trust` is the trust in the memory's source, and `confidence` the memory's current confidence. The package that uses search provides the
    functions.
    """

    trust: Callable[[MemoryRow], float] = lambda row: 1.0  # trust in its source
    confidence: Callable[[MemoryRow, datetime, Sequence[AboutRow]], float] = lambda row, now, about: row.confidence  # current confidence
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


def check(request: Request) -> None:
    """Validate a request.

    Raises:
        BadInputError: the query is empty or too long, `k` is out of range, a kind or phase is unknown, or there are too many files.
    """
    if not request.query.strip():
        raise BadInputError("the search query is empty; write words, a name or a question", argument="query")
    if len(request.query) > MAX_QUERY:
        raise BadInputError(
            f"the search query has {len(request.query):,} characters; write at most {MAX_QUERY:,} characters",
            argument="query",
            allowed=MAX_QUERY,
        )
    if not 1 <= request.k <= MAX_K:
        raise BadInputError(f"limit is {request.k}; use 1 to {MAX_K} results", argument="limit", allowed=MAX_K, found=request.k)
    unknown = sorted(request.kinds - set(KINDS))
    if unknown:
        raise BadInputError(f"unknown kind of result {unknown[0]!r}; use one of {', '.join(KINDS)}", argument="kinds", found=unknown)
    if request.phase and request.phase not in PHASES:
        raise BadInputError(
            f"unknown phase of work {request.phase!r}; use one of {', '.join(PHASES)}", argument="phase", found=request.phase
        )
    for name, paths in (("files", request.files), ("within", request.within)):
        if len(paths) > MAX_FILES:
            raise BadInputError(
                f"the list {name} has {len(paths):,} paths; give at most {MAX_FILES} paths",
                argument=name,
                allowed=MAX_FILES,
                found=len(paths),
            )
    if request.as_of is not None and request.as_of.tzinfo is None:
        raise BadInputError(
            "the time `as_of` has no time zone; add a zone, such as Z for UTC", argument="as_of", found=request.as_of.isoformat()
        )
