"""GraphQL types of the reports: impact, paths, pieces of the graph, search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import strawberry
from strawberry.scalars import JSON

from graphmem import answers
from graphmem.api.complexity import assumed
from graphmem.api.context import Info
from graphmem.api.describe import field, gql_type, resolved
from graphmem.api.enums import ChangeKind, Direction, EdgeKind, EdgeSource, Epistemic, RiskLevel, SearchKind, Verdict
from graphmem.api.ids import MEMORY, SYMBOL, global_id
from graphmem.api.types_history import CoAccessHit
from graphmem.api.types_index import IndexState
from graphmem.api.types_injection import PackedText
from graphmem.api.types_memory import Memory
from graphmem.api.types_symbol import Symbol


@gql_type
class PathStep:
    """One edge of a path as it stands in the graph: `src` depends on `dst`."""

    src: Symbol
    dst: Symbol
    kind: EdgeKind
    confidence: float
    source: EdgeSource
    rule: str
    line: int = field("of the first site, in the file of `src`; 1-based")

    @resolved()
    @staticmethod
    def lines(parent: strawberry.Parent[answers.PathStep]) -> list[int]:
        """The site as a list, as on other edges; empty where a line means nothing."""
        return [parent.line] if parent.line else []


@gql_type
class ImpactHit:
    """Somebody who could behave differently."""

    symbol: Symbol
    depth: int = field("fewest steps from a target, from 1")
    verdict: Verdict
    confidence: float = field("product along the most confident path")
    path: list[PathStep] = field("the most confident path, from the target outwards", directives=[assumed(3)])

    @resolved(strawberry.ID)
    @staticmethod
    def target(parent: strawberry.Parent[answers.ImpactHit]) -> str:
        """The target the path ends at."""
        return global_id(SYMBOL, parent.target)


@gql_type
class ImpactGroup:
    """Hits of one file or one directory."""

    name: str
    hits: int
    max_confidence: float
    min_depth: int


@gql_type
class Cause:
    """Why an answer may be incomplete."""

    kind: str = field("unresolved_calls, failed_files, dynamic, budget, depth, stale, not_run or no_index")
    message: str
    count: int
    examples: list[str] = field("`path:line`")


@gql_type
class Possible:
    """A call site that names a target but could not be resolved: kept apart from the hits."""

    caller: Symbol
    name: str
    line: int
    reason: str


@gql_type
class Risk:
    """How careful to be, and why."""

    level: RiskLevel
    score: float = field("0 to 100")
    reasons: list[str]


@gql_type
class ImpactReport:
    """Everything that could behave differently if the targets change."""

    targets: list[Symbol]
    direction: Direction
    max_depth: int
    min_confidence: float
    kinds: list[EdgeKind]
    hits: list[ImpactHit] = field("without tests; by depth, then confidence, then path")
    tests: list[ImpactHit] = field("the tests among the dependents, in the same order")
    total: int = field("exact number of dependents within depth and confidence, tests included")
    by_depth: list[int] = field("totals by depth, from depth 1")
    by_file: list[ImpactGroup] = field("strongest first", directives=[assumed(100)])
    by_module: list[ImpactGroup] = field("strongest first", directives=[assumed(30)])
    risk: Risk
    epistemic: Epistemic
    causes: list[Cause] = field("why the answer may be incomplete", directives=[assumed(5)])
    possible: list[Possible] = field("unresolved call sites that may be meant", directives=[assumed(20)])
    truncated: bool = field("`hits` and `tests` hold fewer than `total`, because of `limit`")
    also_moves: list[CoAccessHit] = field(
        "files no edge joins with the targets' files, which moved with them all the same", directives=[assumed(5)]
    )

    @resolved(IndexState)
    @staticmethod
    def index_state(parent: strawberry.Parent[answers.ImpactReport]) -> answers.IndexState:
        """State of the index that answered."""
        return parent.state


@gql_type
class ChangedSymbol:
    """A symbol a diff touches."""

    symbol: Symbol
    change: ChangeKind
    lines: list[int] = field("changed lines inside it, in the new file (in the old one when removed)")


@gql_type
class DiffImpact:
    """Impact of a diff: its symbols, and the united impact of those that existed before."""

    base: str = field("revision, or diff for a given text")
    head: str
    files: list[str]
    changed: list[ChangedSymbol] = field("symbols the diff touches", directives=[assumed(50)])
    unmapped: list[str] = field("changed files without any known symbol")
    impact: ImpactReport

    @resolved(IndexState)
    @staticmethod
    def index_state(parent: strawberry.Parent[answers.DiffImpact]) -> answers.IndexState:
        """State of the index that answered."""
        return parent.impact.state


@gql_type
class PathAnswer:
    """The most confident dependency path between two symbols, if there is one."""

    source: Symbol
    target: Symbol
    steps: list[PathStep] = field("empty when there is none within the bound", directives=[assumed(5)])
    confidence: float
    max_depth: int
    epistemic: Epistemic

    @resolved(IndexState)
    @staticmethod
    def index_state(parent: strawberry.Parent[answers.PathAnswer]) -> answers.IndexState:
        """State of the index that answered."""
        return parent.state


@dataclass(frozen=True, slots=True)
class EdgeOfSubgraph:
    """A row of `answers.Subgraph.edges` with its ends looked up."""

    src: answers.SymbolInfo
    dst: answers.SymbolInfo
    kind: str
    confidence: float
    rule: str


@gql_type
class SubgraphEdge:
    """An edge between two nodes of a subgraph: `src` depends on `dst`."""

    src: Symbol
    dst: Symbol
    kind: EdgeKind
    confidence: float
    rule: str


@gql_type
class Subgraph:
    """A piece of the graph."""

    nodes: list[Symbol]
    truncated: bool

    @resolved(list[SubgraphEdge])
    @staticmethod
    def edges(parent: strawberry.Parent[answers.Subgraph]) -> list[EdgeOfSubgraph]:
        """Edges among the nodes; use `columns` for more than a few hundred."""
        nodes = parent.nodes
        return [EdgeOfSubgraph(nodes[src], nodes[dst], kind, sure, rule) for src, dst, kind, sure, rule in parent.edges]

    @resolved(JSON)
    @staticmethod
    def columns(parent: strawberry.Parent[answers.Subgraph]) -> Any:
        """The whole piece in columns, compact enough to draw thousands of nodes.

        `nodes` holds equally long lists id, kind, name, qualname, path, startLine, isTest; `edges`
        holds src and dst (positions in `nodes`), kind, confidence, rule.
        """
        nodes = parent.nodes
        src, dst, kind, confidence, rule = (list(column) for column in zip(*parent.edges, strict=True)) if parent.edges else ([],) * 5
        return {
            "nodes": {
                "id": [global_id(SYMBOL, node.id) for node in nodes],
                "kind": [node.kind for node in nodes],
                "name": [node.name for node in nodes],
                "qualname": [node.qualname for node in nodes],
                "path": [node.path for node in nodes],
                "startLine": [node.start_line for node in nodes],
                "isTest": [node.is_test for node in nodes],
            },
            "edges": {"src": src, "dst": dst, "kind": kind, "confidence": confidence, "rule": rule},
        }

    @resolved(IndexState)
    @staticmethod
    def index_state(parent: strawberry.Parent[answers.Subgraph]) -> answers.IndexState:
        """State of the index that answered."""
        return parent.state


@gql_type
class PathScore:
    """What one way of searching said of a hit."""

    path: str = field("words, names, dense, graph or exact")
    rank: int = field("from 1, in that way's list")
    raw: float = field("BM25, cosine, …")
    normalised: float = field("0 to 1 among that way's candidates")
    weight: float


@gql_type
class Factor:
    """One more thing that made the score of a memory."""

    name: str
    value: float
    weight: float = field("of what is added; 0 for what is multiplied with")


@gql_type
class SearchHit:
    """A search result."""

    kind: SearchKind
    path: str
    qualname: str = field("of the symbol; empty for prose")
    symbol_kind: str
    start_line: int
    end_line: int
    title: str
    snippet: str
    score: float
    parts: list[PathScore] = field("how the score came about; empty without `explain`", directives=[assumed(3)])
    boost: float
    boosted_by: str = field("id in the graph of the neighbour that raised it most; empty for none")
    factors: list[Factor] = field("of a memory: what its score is made of beside the paths", directives=[assumed(6)])
    memory: Memory | None = field("the memory that was found")
    memories: list[Memory] = field("what is known about the code that was found, most important first", directives=[assumed(2)])

    @resolved(strawberry.ID)
    @staticmethod
    def id(parent: strawberry.Parent[answers.SearchHit]) -> str:
        """Identity of what was found; `symbol` is the definition it belongs to."""
        return global_id({"symbol": SYMBOL, "memory": MEMORY}.get(parent.kind, "Chunk"), parent.node)

    @resolved()
    @staticmethod
    def ref(parent: strawberry.Parent[answers.SearchHit]) -> str:
        """How one asks on about it: `path::qualname`, a path, or the id of a memory."""
        return parent.id

    @resolved("Symbol | None")
    @staticmethod
    async def symbol(parent: strawberry.Parent[answers.SearchHit], info: Info) -> answers.SymbolInfo | None:
        """The definition the hit was cut at; null for prose and data."""
        return await info.context.loaders.symbols.load(parent.node)


@gql_type
class Missing:
    """A way of searching that did not answer."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class MissingRow:
    """One entry of `answers.SearchAnswer.missing`."""

    path: str
    reason: str


@gql_type
class SearchAnswer:
    """Hits, best first, and which ways of searching answered."""

    query: str
    query_type: str = field("identifier, semantic or structural")
    hits: list[SearchHit]
    answered: list[str]
    notes: list[str] = field("what was made of the query: words left out or replaced")
    packed: PackedText | None = field("the hits as one text, when a budget was given")

    @resolved(list[Missing], [assumed(3)])
    @staticmethod
    def missing(parent: strawberry.Parent[answers.SearchAnswer]) -> list[MissingRow]:
        """Which did not, and why."""
        return [MissingRow(path, reason) for path, reason in parent.missing.items()]

    @resolved(IndexState)
    @staticmethod
    def index_state(parent: strawberry.Parent[answers.SearchAnswer]) -> answers.IndexState:
        """State of the index that answered."""
        return parent.state
