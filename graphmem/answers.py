"""The answers of the service, as every door shows them.

Plain frozen dataclasses of strings, numbers, lists and each other: `to_json` turns one into what
`--json` prints and what the Python client rebuilds. Paths are from the repository's root with '/',
lines are 1-based, confidences are in (0, 1].
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from graphmem.answers_injection import PackedText


def to_json(answer: Any) -> Any:
    """Dataclasses, lists and dicts as plain JSON values; field order is kept."""
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        return {f.name: to_json(getattr(answer, f.name)) for f in dataclasses.fields(answer)}
    if isinstance(answer, (list, tuple)):
        return [to_json(item) for item in answer]
    if isinstance(answer, dict):
        return {str(key): to_json(value) for key, value in answer.items()}
    return answer


@dataclass(frozen=True, slots=True)
class SymbolInfo:
    """A symbol, as short as it can be shown."""

    id: str
    kind: str  # SymbolKind, or "file", or "external"
    name: str
    qualname: str
    path: str  # "" for externals
    start_line: int
    end_line: int
    signature: str = ""
    is_test: bool = False
    entry_point: str = ""

    @property
    def ref(self) -> str:
        """What a person can type to mean exactly this: `path:qualname`."""
        return f"{self.path}:{self.qualname}" if self.path else self.qualname


@dataclass(frozen=True, slots=True)
class Site:
    """An edge seen from one end: the symbol at the other end and the evidence."""

    symbol: SymbolInfo
    kind: str  # EdgeKind
    confidence: float
    source: str
    rule: str
    lines: list[int]  # sites in the file of the edge's source


@dataclass(frozen=True, slots=True)
class IndexState:
    """How far the answer can be trusted to be of today."""

    state: str  # empty | fresh | indexing | stale
    generation: int  # 0 before the first index
    indexed_at: str  # ISO 8601, UTC; "" before the first index
    files: int
    symbols: int
    edges: int
    chunks: int
    vectors: int  # chunks that have a vector of the current model
    stage: str = ""  # of a run that is under way
    done: int = 0
    total: int = 0
    stale_files: int = 0  # known to have changed since they were indexed
    note: str = ""
    stale: list[str] = field(default_factory=list)  # the first 20 of them, by path


@dataclass(frozen=True, slots=True)
class Project:
    """The project a database belongs to."""

    name: str
    root: str
    data_dir: str
    version: str  # of graphmem
    engine: str  # "kuzu 0.11.3"
    state: IndexState


@dataclass(frozen=True, slots=True)
class SymbolDetail:
    """A symbol with what stands around it. Lists are sorted by confidence, then path and line."""

    symbol: SymbolInfo
    doc: str
    modifiers: list[str]
    complexity: int
    parent: SymbolInfo | None
    members: list[SymbolInfo]
    callers: list[Site]
    callees: list[Site]
    references: list[Site]
    bases: list[Site]
    subclasses: list[Site]
    overrides: list[Site]
    overridden_by: list[Site]
    tests: list[Site]
    source: str = ""  # the text, when asked for


@dataclass(frozen=True, slots=True)
class PathStep:
    """One edge of a path, as it stands in the graph: `src` depends on `dst`."""

    src: SymbolInfo
    dst: SymbolInfo
    kind: str
    confidence: float
    source: str
    rule: str
    line: int  # of the first site, in the file of src


@dataclass(frozen=True, slots=True)
class ImpactHit:
    """Somebody who could behave differently."""

    symbol: SymbolInfo
    depth: int  # fewest steps from a target, 1-based
    verdict: str  # "will break" (1) | "likely" (2) | "possible" (3+) | "affected" (tests)
    confidence: float  # product along the best path
    path: list[PathStep]  # the most confident path, from the target's side outwards
    target: str  # id of the target the path ends at


@dataclass(frozen=True, slots=True)
class ImpactGroup:
    """Hits of one file or one module (directory), strongest first."""

    name: str
    hits: int
    max_confidence: float
    min_depth: int


@dataclass(frozen=True, slots=True)
class Cause:
    """Why an answer may be incomplete."""

    kind: str  # unresolved_calls | low_confidence | failed_files | stale | depth | budget
    message: str
    count: int
    examples: list[str] = field(default_factory=list)  # "path:line"


@dataclass(frozen=True, slots=True)
class Possible:
    """A call site that names a target but could not be resolved: kept apart from the hits."""

    caller: SymbolInfo
    name: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Risk:
    """How careful to be, with the numbers that went in (docs/impact.md has the rule)."""

    level: str  # unknown | low | medium | high | critical
    score: float  # 0..100
    reasons: list[str]


@dataclass(frozen=True, slots=True)
class ImpactReport:
    """Everything that could behave differently if the targets change."""

    targets: list[SymbolInfo]
    direction: str  # dependents | dependencies
    max_depth: int
    min_confidence: float
    kinds: list[str]
    hits: list[ImpactHit]  # without tests; by depth, then confidence, then path
    tests: list[ImpactHit]  # tests among them, same order
    total: int  # exact number of dependents within depth and confidence, tests included
    by_depth: list[int]  # totals per depth, index 0 = depth 1
    by_file: list[ImpactGroup]
    by_module: list[ImpactGroup]
    risk: Risk
    epistemic: str  # exact | lower_bound | unknown
    causes: list[Cause]
    possible: list[Possible]
    truncated: bool
    state: IndexState
    also_moves: list[CoAccessHit] = field(default_factory=list)  # no edge joins them with the targets' files, yet they moved together


@dataclass(frozen=True, slots=True)
class ChangedSymbol:
    """A symbol a diff touches."""

    symbol: SymbolInfo
    change: str  # added | removed | signature | body | moved
    lines: list[int]  # changed lines inside it, in the new file (old file when removed)


@dataclass(frozen=True, slots=True)
class DiffImpact:
    """Impact of a diff: its symbols and the united impact of those that existed before."""

    base: str  # revision, or "diff" for a given text
    head: str
    files: list[str]
    changed: list[ChangedSymbol]
    unmapped: list[str]  # changed files without any known symbol
    impact: ImpactReport


@dataclass(frozen=True, slots=True)
class PathAnswer:
    """The most confident dependency path between two symbols, if there is one."""

    source: SymbolInfo
    target: SymbolInfo
    steps: list[PathStep]  # empty when there is none within the bound
    confidence: float
    max_depth: int
    epistemic: str
    state: IndexState


@dataclass(frozen=True, slots=True)
class Subgraph:
    """A piece of the graph: nodes by id, edges by id pairs; columnar for large answers."""

    nodes: list[SymbolInfo]
    edges: list[list[Any]]  # [src index, dst index, kind, confidence, rule]
    truncated: bool
    state: IndexState


@dataclass(frozen=True, slots=True)
class Picture:
    """A piece of the graph with a place for everything in it, in columns: equally long lists by name."""

    columns: dict[str, Any]
    left_out: int  # of what was asked for, because of a limit
    state: IndexState


@dataclass(frozen=True, slots=True)
class PathScore:
    """What one candidate path said of a hit."""

    path: str  # words | names | dense | graph | exact
    rank: int  # 1-based in that path
    raw: float  # BM25, cosine, …
    normalised: float  # 0..1 within the path's candidates
    weight: float


@dataclass(frozen=True, slots=True)
class Factor:
    """One more thing that made the score of a memory."""

    name: str  # relevance | recency | frequency | phase | trust | confidence | …
    value: float
    weight: float  # of what is added; 0 for what is multiplied with


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A search result, as what one can ask on about it."""

    id: str  # of a symbol `path::qualname`, of other text its path, of a memory its id
    kind: str  # code | prose | data | symbol | memory
    path: str
    qualname: str  # of the symbol; "" for prose
    symbol_kind: str
    start_line: int
    end_line: int
    title: str
    snippet: str
    score: float
    parts: list[PathScore]
    boost: float = 0.0
    boosted_by: str = ""
    node: str = ""  # id in the graph: of the symbol, the chunk or the memory
    factors: list[Factor] = field(default_factory=list)  # of a memory: what its score is made of beside the paths
    memory: MemoryInfo | None = None  # the memory that was found, with the code it is about and what contradicts it
    memories: list[MemoryInfo] = field(default_factory=list)  # what is known about the code that was found


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Hits, best first, ties by id; and which paths answered. Iterates over the hits."""

    query: str
    query_type: str  # identifier | semantic | structural
    hits: list[SearchHit]
    answered: list[str]  # paths that answered
    missing: dict[str, str]  # path -> why it did not: "no model", "vectors 12%", "deadline"
    state: IndexState
    notes: list[str] = field(default_factory=list)  # what was made of the query: words left out or replaced
    packed: PackedText | None = None  # the hits as one text, when a budget was given

    def __iter__(self) -> Iterator[SearchHit]:
        return iter(self.hits)

    def __getitem__(self, place: int) -> SearchHit:
        return self.hits[place]


@dataclass(frozen=True, slots=True)
class FileInfo:
    """A file of the index."""

    id: str
    path: str
    language: str
    module: str
    lines: int
    size_bytes: int
    is_test: bool
    error_count: int
    diagnostic: str


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """What one run did."""

    mode: str  # full | incremental | unchanged
    generation: int
    files: int  # in the index afterwards
    changed: int
    removed: int
    skipped: dict[str, int]  # reason -> files
    languages: dict[str, int]
    symbols: int
    chunks: int
    edges_by_kind: dict[str, int]
    edges_by_rule: dict[str, int]
    call_sites: int
    unresolved: int
    unresolved_by_reason: dict[str, int]
    diagnostics: list[dict[str, Any]]  # Diagnostic rows, at most 200; the count is in `diagnostic_count`
    diagnostic_count: int
    seconds: dict[str, float]  # wall by stage, in order
    cpu_seconds: float  # of this process and its workers
    peak_memory_mb: float


# ---- memories


@dataclass(frozen=True, slots=True)
class MemoryAnchor:
    """What a memory is about, and how that has fared since."""

    id: str  # of the node
    label: str  # File | Symbol | External | Module
    name: str  # `path:qualname`, path or module; the id of what the index does not know
    role: str  # about | target | impacts
    confidence: float
    anchor: str  # valid | moved | suspect | orphaned
    commit_sha: str


@dataclass(frozen=True, slots=True)
class MemoryRelation:
    """A link to another memory, seen from one end."""

    id: str  # of the other memory
    short_id: str
    title: str
    status: str
    kind: str  # required_with | conflicts_with | validates | supersedes | derived_from
    outgoing: bool  # False: the other memory points here
    confidence: float
    auto: bool  # found by graphmem, not said by anybody


@dataclass(frozen=True, slots=True)
class MemoryInfo:
    """A memory with everything a reader needs to trust it. Times are ISO 8601 in UTC, "" for never."""

    id: str
    short_id: str
    type: str
    title: str
    citation: str
    content: str
    confidence: float
    confidence_in_use: float  # faded by time, lowered where disputed or where its code changed
    importance: float
    strength: int
    source: str
    trust: float  # of the source, in ranking
    scope: str
    visibility: str
    status: str  # candidate | confirmed | pinned | superseded | deprecated
    needs_review: bool
    user_verified: bool
    disputed: bool
    contaminated: bool
    tags: list[str]
    created_at: str
    updated_at: str
    last_accessed_at: str
    valid_from: str
    valid_to: str
    stale_at: str
    deprecated_at: str
    injected_count: int
    used_count: int
    confirmed_count: int
    origin: str  # user | repository | agent | tool | web
    half_life_days: float | None  # None: never fades
    commit_sha: str
    work_unit: dict[str, Any] | None
    details: dict[str, Any] | None
    files: list[str]  # paths it names, sorted
    about: list[MemoryAnchor]
    relations: list[MemoryRelation]
    sessions: list[str]  # in which it was learnt or confirmed
    aliases: list[str]  # other ids the same text was given under
    embedded: bool  # has a vector of the model in use


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of one text that was to be remembered."""

    id: str  # of the memory that now says it
    short_id: str
    outcome: str  # added | duplicate | consolidated | replaced | superseded | conflicting
    given_id: str  # the caller's own id, "" when none was given
    others: list[str]  # ids of the memories it met: the duplicate, the one it replaced, the ones it contradicts
    redacted: list[str]  # kinds of secrets that were taken out, sorted
    unresolved: list[str]  # names in it that fit several symbols, and so were not linked
    note: str = ""  # one sentence when the outcome is not `added`


@dataclass(frozen=True, slots=True)
class RememberAnswer:
    """A memory as it now is, and what became of the text."""

    memory: MemoryInfo
    result: Remembered


@dataclass(frozen=True, slots=True)
class Refusal:
    """An item of a bulk write that was not taken."""

    index: int  # 0-based
    given_id: str
    message: str
    facts: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RememberManyAnswer:
    """What one bulk write did, in the order of its items."""

    results: list[Remembered]  # of the items that were taken
    refused: list[Refusal]
    counts: dict[str, int]  # outcome -> items
    seconds: float


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """A page of memories and how many there are."""

    memories: list[MemoryInfo]
    total: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """A memory between its neighbours in time, oldest first."""

    before: list[MemoryInfo]
    memory: MemoryInfo
    after: list[MemoryInfo]


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A memory that wants a person's eye, and why."""

    memory: MemoryInfo
    reasons: list[str]  # needs_review | disputed | conflict | suspect | orphaned | contaminated | stale


@dataclass(frozen=True, slots=True)
class ReviewQueue:
    """A page of the review queue, most pressing first."""

    items: list[ReviewItem]
    total: int


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a removal took."""

    ids: list[str]
    hard: bool  # True: gone from graph and journal; False: kept, out of search
    dry_run: bool
    kept: list[str] = field(default_factory=list)  # ids that were in question and stay: they have another origin as well


@dataclass(frozen=True, slots=True)
class Pruned:
    """A memory that pruning retires, and the rule."""

    id: str
    short_id: str
    title: str
    rule: str  # half_lives | ttl | limit | size | policy
    action: str  # deprecate | remove


@dataclass(frozen=True, slots=True)
class PruneAnswer:
    """What pruning did, or with a dry run would do."""

    pruned: list[Pruned]
    kept: int  # live memories afterwards
    dry_run: bool


@dataclass(frozen=True, slots=True)
class RebuildAnswer:
    """What came of making every memory from the journal alone."""

    memories: int
    restored: int  # that the graph had lost or had otherwise
    removed: int  # that the journal does not know
    notes: list[str]  # what of the journal could not be read, one sentence each


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One line of the audit: who did what to which memory."""

    number: int
    at: str
    actor: str
    action: str  # add | update | remove | promote | supersede | evict | pin | unpin | verify | dispute | compact | import | …
    memory_id: str  # "" when it is about no single one
    before: str  # fingerprint
    after: str
    note: str


@dataclass(frozen=True, slots=True)
class AuditPage:
    """A page of the audit, newest first."""

    entries: list[AuditEntry]
    total: int  # entries that are kept
    head: str  # hash of the newest entry, which seals all before it
    sound: bool  # False when an entry was changed or taken out; `notes` says where
    notes: list[str]


@dataclass(frozen=True, slots=True)
class TermAlias:
    """Words a search for a term also looks for."""

    term: str
    means: list[str]


@dataclass(frozen=True, slots=True)
class SecretsFound:
    """A memory in which a later scan found a secret; never the secret."""

    id: str
    short_id: str
    kinds: list[str]
    fields: list[str]


@dataclass(frozen=True, slots=True)
class ScanAnswer:
    """What a scan of everything stored found, and whether it was taken out."""

    scanned: int
    found: list[SecretsFound]
    dry_run: bool


@dataclass(frozen=True, slots=True)
class DeleteAnswer:
    """What deleting everything deleted."""

    memories: int
    sessions: int
    files: list[str]  # names of files that are gone


@dataclass(frozen=True, slots=True)
class ImportAnswer:
    """What reading a document of memories, or a file of another tool, did."""

    source: str  # what it was taken for
    counts: dict[str, int]  # outcome -> memories
    ids: list[str]  # of the memories that are new or changed
    notes: list[str]


@dataclass(frozen=True, slots=True)
class Rule:
    """A text that is always put in front of an agent, verbatim."""

    name: str
    scope: str  # a glob of paths; "" for everywhere
    origin: str  # user | project
    text: str


@dataclass(frozen=True, slots=True)
class SyncConflict:
    """A memory that was changed in the file and in the graph; both are kept."""

    id: str
    in_file: str  # "" when its line was deleted
    in_graph: str
    kept_as: str  # id of the memory that holds what the file said; "" when the line was deleted


@dataclass(frozen=True, slots=True)
class SyncAnswer:
    """What carrying changes between MEMORY.md and the graph did."""

    path: str
    added: list[str]  # ids of memories that are new from the file
    changed: list[str]  # ids whose text the file changed
    forgotten: list[str]  # ids whose line was deleted
    written: int  # lines the file has now
    conflicts: list[SyncConflict]
    notes: list[str]
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """One accepted write of memories."""

    changed: list[str]  # ids of memories that are new, changed or linked otherwise
    removed: list[str]  # ids of memories that are gone for good


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class CoAccessAnswer:
    """Files that move with these, best first, ties by path. Iterates over the hits."""

    files: list[str]
    hits: list[CoAccessHit]
    commits: int  # in the history
    sessions: int
    notes: list[str]  # what is missing from the answer, and why

    def __iter__(self) -> Iterator[CoAccessHit]:
        return iter(self.hits)

    def __getitem__(self, place: int) -> CoAccessHit:
        return self.hits[place]


@dataclass(frozen=True, slots=True)
class FileHistory:
    """What history knows of a file under all its names."""

    path: str
    changes: int  # commits and sessions that touched it
    commits: int
    churn: float  # commits, each halved for every year of its age
    first_at: str  # ISO 8601, UTC
    last_at: str
    authors: dict[str, int]  # hash of an e-mail address -> commits


@dataclass(frozen=True, slots=True)
class FindingVerdict:
    """What became of one finding of a session."""

    key: str  # the same in every session that finds the same
    signal: str  # that made it
    memory_type: str
    outcome: str  # a key of observe.gates.OUTCOMES
    why: str  # one sentence
    text: str  # as it would be remembered; "" when nobody came to word it
    memory_id: str  # that it became, or that says it already; ""
    short_id: str
    sessions: int  # independent ones that found it
    min_sessions: int  # asked for
    score: float  # 0 to 1; 0 when it was not reached
    points: list[str]  # what spoke for it: names of observe.gates.POINTS
    contaminated: bool
    files: list[str]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of all findings of a session, or of one unit of work in it."""

    session: str
    part: str  # label of the unit of work; "" for the session
    kind: str
    is_open: bool  # its gate
    gate: str  # why
    at: str  # ISO 8601, UTC
    verdicts: list[FindingVerdict]  # learnt ones first, then by outcome
    counts: dict[str, int]  # verdicts of each outcome
    notes: list[str]  # what could not be done, and why
    undone: bool = False

    @property
    def learnt(self) -> list[str]:
        """Ids of the memories that were made."""
        return [one.memory_id for one in self.verdicts if one.outcome == "learnt"]


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """What a session did, taken from its events."""

    session: str
    agent: str
    kind: str
    title: str
    status: str  # validated | failed | accepted | abandoned | ""
    started_at: str  # ISO 8601, UTC; ""
    ended_at: str
    duration_s: float
    contaminated: bool  # words of strangers may be in it
    short: str  # one line
    markdown: str
