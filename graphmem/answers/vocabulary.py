"""Closed sets of words in answers and operations.

GraphQL shows each as an enum; other interfaces use the words themselves.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from graphmem.answers.marks import Time, Vocabulary

Moment: TypeAlias = Annotated[str, Time(always=True)]
MomentOrNone: TypeAlias = Annotated[str, Time()]

SymbolKind: TypeAlias = Annotated[
    Literal["module", "class", "interface", "enum", "type", "function", "method", "variable", "file", "external"],
    Vocabulary("SymbolKind", "Kinds of symbols, the same for all languages."),
]
EdgeKind: TypeAlias = Annotated[
    Literal["DEFINES", "IMPORTS", "CALLS", "REFERENCES", "INHERITS", "OVERRIDES", "USES_TYPE", "TESTS"],
    Vocabulary("EdgeKind", "Kinds of edges of the code graph. An edge points from the dependent to its dependency."),
]
EdgeSource: TypeAlias = Annotated[
    Literal["ast", "scip", "runtime", "git", "llm", "agent"],
    Vocabulary(
        "EdgeSource", "The origin of an edge, such as source text (`ast`), an imported SCIP index or a recorded test run (`runtime`)."
    ),
]
Relation: TypeAlias = Literal["callers", "callees", "references", "bases", "subclasses", "overrides", "overridden_by", "members", "tests"]
Direction: TypeAlias = Annotated[
    Literal["dependents", "dependencies"],
    Vocabulary("Direction", "Whether an answer lists code that depends on the target, or code that the target depends on."),
]
OccurrenceRole: TypeAlias = Annotated[
    Literal["definition", "use", "import"],
    Vocabulary("OccurrenceRole", "Whether a name defines, uses or imports its symbol at a place."),
]
ColumnUnit: TypeAlias = Annotated[
    Literal["characters", "utf16", "utf8"],
    Vocabulary("ColumnUnit", "Unit of a column: characters (code points), UTF-16 code units or UTF-8 bytes."),
]
Epistemic: TypeAlias = Annotated[
    Literal["exact", "lower_bound", "unknown"],
    Vocabulary("Epistemic", "The certainty of an answer: exact, a lower bound, or unknown."),
]
Verdict: TypeAlias = Annotated[
    Literal["will break", "likely", "possible", "affected"],
    Vocabulary(
        "Verdict",
        "How likely a hit is to break: `WILL_BREAK` is one step from a target, `LIKELY` two, `POSSIBLE` more; a test is `AFFECTED`.",
    ),
]
RiskLevel: TypeAlias = Annotated[Literal["unknown", "low", "medium", "high", "critical"], Vocabulary("RiskLevel", "The risk of a change.")]
ChangeKind: TypeAlias = Annotated[
    Literal["added", "removed", "signature", "body", "moved"], Vocabulary("ChangeKind", "How a diff changes a symbol.")
]
IndexStatus: TypeAlias = Annotated[
    Literal["empty", "fresh", "indexing", "stale"],
    Vocabulary(
        "IndexStatus", "Whether the index matches the files. The status is `empty` before the first run and `indexing` during a run."
    ),
]
SearchKind: TypeAlias = Annotated[
    Literal["code", "prose", "data", "symbol", "memory", "module", "flow"],
    Vocabulary("SearchKind", "Kinds of results that a search finds."),
]
ReasonKind: TypeAlias = Annotated[
    Literal["memory", "text", "comment", "commit"],
    Vocabulary("ReasonKind", "Places where a reason may be written: a memory, a document, a comment, or the message of a commit."),
]
SearchFacet: TypeAlias = Annotated[
    Literal["code", "tests", "docs", "configuration", "modules", "flows", "memories"],
    Vocabulary("SearchFacet", "Kinds of content by which search results are counted."),
]
CycleLevel: TypeAlias = Annotated[
    Literal["files", "modules"], Vocabulary("CycleLevel", "Whether cycles are searched between files or between modules.")
]
HotspotLevel: TypeAlias = Annotated[
    Literal["files", "symbols"], Vocabulary("HotspotLevel", "Whether hot spots are ranked by file or by symbol.")
]
EntryKind: TypeAlias = Annotated[
    Literal["main", "command", "route", "event", "task", "export", "test", "fixture"],
    Vocabulary("EntryKind", "Kinds of entry points: code that users, frameworks, test runners or other projects start."),
]
FileRole: TypeAlias = Annotated[
    Literal["code", "test", "migration", "translation", "generated", "no_code"],
    Vocabulary("FileRole", "What a file is: code, a test, a migration, translated texts, generated code, or without code."),
]
ViewKind: TypeAlias = Annotated[
    Literal["modules", "impact"],
    Vocabulary("ViewKind", "What an exported drawing shows: the map of modules, or what depends on given code."),
]
ViewFormat: TypeAlias = Annotated[
    Literal["svg", "mermaid", "dot", "graphml", "json"], Vocabulary("ViewFormat", "The file format of an exported drawing.")
]
MemorySort: TypeAlias = Annotated[
    Literal["newest", "oldest", "updated", "importance", "confidence", "strength", "used", "worth"],
    Vocabulary(
        "MemorySort",
        "Order of a list of memories; `worth` puts pinned memories first, then warnings and decisions. "
        "`worth` and `newest` put memories from the project's own files last.",
    ),
]
MemoryUse: TypeAlias = Annotated[
    Literal["injected", "used", "confirmed"], Vocabulary("MemoryUse", "How a memory was used: shown to an agent, used by it, or confirmed.")
]
ExportFormat: TypeAlias = Annotated[
    Literal["json", "markdown", "claude"], Vocabulary("ExportFormat", "The format of exported memories; json is lossless.")
]
InjectionFormat: TypeAlias = Annotated[
    Literal["xml", "markdown", "text", "json"], Vocabulary("InjectionFormat", "The format of the context for an agent.")
]
InjectionPoint: TypeAlias = Annotated[
    Literal["start", "prompt", "tool", "step"],
    Vocabulary("InjectionPoint", "A moment of a session at which context may be given to the agent."),
]
TrustLevel: TypeAlias = Annotated[
    Literal["auto", "cautious", "standard", "confident", "autonomous"],
    Vocabulary("TrustLevel", "How certain a memory must be to be shown to agents."),
]
LearningChoice: TypeAlias = Annotated[
    Literal["on", "off", "paused"],
    Vocabulary("LearningChoice", "Whether graphmem observes agents' sessions and learns from them."),
]
PhaseChoice: TypeAlias = Annotated[
    Literal["proposed", "built-in"],
    Vocabulary("PhaseChoice", "Which weights of memory types, by phase of work, rank memories: the proposed or the built-in ones."),
]
WeightChoice: TypeAlias = Annotated[
    Literal["proposed", "built-in"], Vocabulary("WeightChoice", "Which weights search uses: the proposed or the built-in ones.")
]
SessionKind: TypeAlias = Annotated[
    Literal["build", "insights", "roadmap", "terminal", "changelog", "spec", "pr_review"],
    Vocabulary("SessionKind", "The purpose of a session, which decides how much may be learnt from it."),
]
SessionOutcome: TypeAlias = Annotated[
    Literal["", "validated", "failed", "accepted", "abandoned"],
    Vocabulary("SessionOutcome", "How a session, or a piece of work in it, ended."),
]
SessionState: TypeAlias = Annotated[Literal["", "running", "ended"], Vocabulary("SessionState", "Whether a session is running.")]
