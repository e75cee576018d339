"""The closed sets of words of answers and operations. GraphQL shows each as an enum; all else uses the words themselves."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from graphmem.answers.marks import Time, Vocabulary

Moment: TypeAlias = Annotated[str, Time(always=True)]
MomentOrNone: TypeAlias = Annotated[str, Time()]

SymbolKind: TypeAlias = Annotated[
    Literal["module", "class", "interface", "enum", "type", "function", "method", "variable", "file", "external"],
    Vocabulary("SymbolKind", "What a symbol is, in one vocabulary for all languages."),
]
EdgeKind: TypeAlias = Annotated[
    Literal["DEFINES", "IMPORTS", "CALLS", "REFERENCES", "INHERITS", "OVERRIDES", "USES_TYPE", "TESTS"],
    Vocabulary("EdgeKind", "Kinds of edges; the edge points from who depends to what is depended upon."),
]
EdgeSource: TypeAlias = Annotated[
    Literal["ast", "scip", "runtime", "git", "llm", "agent"], Vocabulary("EdgeSource", "Who says that an edge exists.")
]
Relation: TypeAlias = Literal["callers", "callees", "references", "bases", "subclasses", "overrides", "overridden_by", "members", "tests"]
Direction: TypeAlias = Annotated[Literal["dependents", "dependencies"], Vocabulary("Direction", "Which way an impact is followed.")]
Epistemic: TypeAlias = Annotated[
    Literal["exact", "lower_bound", "unknown"],
    Vocabulary("Epistemic", "How far an answer can be relied upon: exact, at least this much, or unknown."),
]
Verdict: TypeAlias = Annotated[
    Literal["will break", "likely", "possible", "affected"],
    Vocabulary("Verdict", "How likely a hit is to notice the change: one step away, two, more; a test is affected."),
]
RiskLevel: TypeAlias = Annotated[Literal["unknown", "low", "medium", "high", "critical"], Vocabulary("RiskLevel", "How careful to be.")]
ChangeKind: TypeAlias = Annotated[
    Literal["added", "removed", "signature", "body", "moved"], Vocabulary("ChangeKind", "What a diff does to a symbol.")
]
IndexStatus: TypeAlias = Annotated[
    Literal["empty", "fresh", "indexing", "stale"],
    Vocabulary("IndexStatus", "Whether the index equals the files: empty before the first run, indexing while one is under way."),
]
SearchKind: TypeAlias = Annotated[
    Literal["code", "prose", "data", "symbol", "memory"], Vocabulary("SearchKind", "What kind of text a search hit is.")
]
CycleLevel: TypeAlias = Annotated[Literal["files", "modules"], Vocabulary("CycleLevel", "Between what cycles are looked for.")]
HotspotLevel: TypeAlias = Annotated[Literal["files", "symbols"], Vocabulary("HotspotLevel", "What is ranked.")]
EntryKind: TypeAlias = Annotated[
    Literal["main", "command", "route", "event", "task", "export", "test", "fixture"],
    Vocabulary("EntryKind", "Kinds of entry points."),
]
ViewKind: TypeAlias = Annotated[Literal["modules", "impact"], Vocabulary("ViewKind", "What is drawn.")]
ViewFormat: TypeAlias = Annotated[
    Literal["svg", "mermaid", "dot", "graphml", "json"], Vocabulary("ViewFormat", "The format of a drawn view.")
]
MemorySort: TypeAlias = Annotated[
    Literal["newest", "oldest", "updated", "importance", "confidence", "strength", "used"],
    Vocabulary("MemorySort", "Order of a list of memories."),
]
MemoryUse: TypeAlias = Annotated[Literal["injected", "used", "confirmed"], Vocabulary("MemoryUse", "What somebody did with a memory.")]
ExportFormat: TypeAlias = Annotated[
    Literal["json", "markdown", "claude"], Vocabulary("ExportFormat", "How memories are written down: json loses nothing.")
]
InjectionFormat: TypeAlias = Annotated[
    Literal["xml", "markdown", "text", "json"], Vocabulary("InjectionFormat", "How the text for an agent is written.")
]
InjectionPoint: TypeAlias = Annotated[
    Literal["start", "prompt", "tool", "step"],
    Vocabulary("InjectionPoint", "A moment of a session at which something may be put in front of an agent."),
]
TrustLevel: TypeAlias = Annotated[
    Literal["auto", "cautious", "standard", "confident", "autonomous"],
    Vocabulary("TrustLevel", "How sure a memory must be to be shown unasked."),
]
PhaseChoice: TypeAlias = Annotated[
    Literal["proposed", "built-in"], Vocabulary("PhaseChoice", "Which weights of phases are to be in force.")
]
SessionKind: TypeAlias = Annotated[
    Literal["build", "insights", "roadmap", "terminal", "changelog", "spec", "pr_review"],
    Vocabulary("SessionKind", "What a session is for; it decides how much may be learnt from it."),
]
SessionOutcome: TypeAlias = Annotated[
    Literal["", "validated", "failed", "accepted", "abandoned"],
    Vocabulary("SessionOutcome", "How a session, or a unit of work in it, came out."),
]
SessionState: TypeAlias = Annotated[Literal["", "running", "ended"], Vocabulary("SessionState", "Whether a session still runs.")]
