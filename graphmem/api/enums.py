"""The closed vocabularies of the schema. Values are what the service says; names are what clients read."""

from __future__ import annotations

from enum import StrEnum

import strawberry


@strawberry.enum(description="What a symbol is, in one vocabulary for all languages.")
class SymbolKind(StrEnum):
    """See `graphmem.model.SymbolKind`; `file` and `external` are ends of edges that are no definitions."""

    MODULE = "module"
    CLASS = "class"
    INTERFACE = "interface"
    ENUM = "enum"
    TYPE = "type"
    FUNCTION = "function"
    METHOD = "method"
    VARIABLE = "variable"
    FILE = "file"
    EXTERNAL = "external"


@strawberry.enum(description="Kinds of edges; the edge points from who depends to what is depended upon.")
class EdgeKind(StrEnum):
    """See `graphmem.model.EdgeKind`."""

    DEFINES = "DEFINES"
    IMPORTS = "IMPORTS"
    CALLS = "CALLS"
    REFERENCES = "REFERENCES"
    INHERITS = "INHERITS"
    OVERRIDES = "OVERRIDES"
    USES_TYPE = "USES_TYPE"
    TESTS = "TESTS"


@strawberry.enum(description="Who says that an edge exists.")
class EdgeSource(StrEnum):
    """See `graphmem.model.EdgeSource`."""

    AST = "ast"
    SCIP = "scip"
    RUNTIME = "runtime"
    GIT = "git"
    LLM = "llm"
    AGENT = "agent"


@strawberry.enum(description="Which way an impact is followed.")
class Direction(StrEnum):
    """Of an impact question."""

    DEPENDENTS = "dependents"
    DEPENDENCIES = "dependencies"


@strawberry.enum(description="How much an answer can be relied upon: complete, at least this much, or unknown.")
class Epistemic(StrEnum):
    """See `graphmem.answers.ImpactReport.epistemic`."""

    EXACT = "exact"
    LOWER_BOUND = "lower_bound"
    UNKNOWN = "unknown"


@strawberry.enum(description="How likely a hit is to notice the change.")
class Verdict(StrEnum):
    """See `graphmem.answers.ImpactHit.verdict`."""

    WILL_BREAK = "will break"
    LIKELY = "likely"
    POSSIBLE = "possible"
    AFFECTED = "affected"


@strawberry.enum(description="How careful to be.")
class RiskLevel(StrEnum):
    """See `graphmem.answers.Risk.level`."""

    UNKNOWN = "unknown"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


@strawberry.enum(description="What a diff does to a symbol.")
class ChangeKind(StrEnum):
    """See `graphmem.answers.ChangedSymbol.change`."""

    ADDED = "added"
    REMOVED = "removed"
    SIGNATURE = "signature"
    BODY = "body"
    MOVED = "moved"


@strawberry.enum(description="Whether the index is of today.")
class IndexStatus(StrEnum):
    """See `graphmem.answers.IndexState.state`."""

    EMPTY = "empty"
    FRESH = "fresh"
    INDEXING = "indexing"
    STALE = "stale"


@strawberry.enum(description="What kind of text a search hit is.")
class SearchKind(StrEnum):
    """See `graphmem.answers.SearchHit.kind`."""

    CODE = "code"
    PROSE = "prose"
    DATA = "data"
    SYMBOL = "symbol"
    MEMORY = "memory"
