"""Answer types of all operations, shared by every interface.

The types are frozen dataclasses of strings, numbers, lists and each other. `to_json` converts an answer to the output of `--json`, which
the Python client decodes. Paths start at the repository's root and use '/'. Lines are 1-based. Confidences are above 0 and at most 1.

Only the types in `__all__` can be imported from here. Import all others from the module that defines them, such as
`graphmem.answers.semantic`. A module is loaded at the first use of one of its names, because a command needs few of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from graphmem.answers.plain import json_text, to_json

if TYPE_CHECKING:
    from graphmem.answers.code import (
        DiagnosticInfo,
        FileInfo,
        FilePage,
        IndexState,
        IndexSummary,
        Missed,
        PathAnswer,
        PathStep,
        Picture,
        Project,
        Site,
        Subgraph,
        SymbolDetail,
        SymbolInfo,
        SymbolPage,
    )
    from graphmem.answers.history import CoAccessAnswer, CoAccessHit, FileHistory, Recorded
    from graphmem.answers.impact import (
        Cause,
        ChangedSymbol,
        DiffImpact,
        EarlierState,
        ImpactGroup,
        ImpactHit,
        ImpactReport,
        Possible,
        Risk,
        RiskFactor,
    )
    from graphmem.answers.memory import (
        Forgotten,
        MemoryAnchor,
        MemoryChange,
        MemoryInfo,
        MemoryPage,
        MemoryRelation,
        NearbyMemories,
        NearbyMemory,
        Noted,
        Refusal,
        RememberAnswer,
        Remembered,
        RememberManyAnswer,
        ReviewItem,
        ReviewQueue,
        Rule,
        RuleSet,
        TermAlias,
        Timeline,
    )
    from graphmem.answers.memory_care import (
        AuditEntry,
        AuditPage,
        DeleteAnswer,
        FileSecrets,
        ImportAnswer,
        PruneAnswer,
        Pruned,
        RebuildAnswer,
        ScanAnswer,
        SecretsFound,
        SyncAnswer,
        SyncConflict,
    )
    from graphmem.answers.search import FacetCount, Factor, HitGroup, MatchedLine, NearMiss, PathScore, SearchAnswer, SearchHit
    from graphmem.answers.sessions import Experiment, FindingVerdict, GroupMeasures, PhaseWeight, PhaseWeights, Receipt, SessionSummary

__all__ = [
    "AuditEntry",
    "AuditPage",
    "Cause",
    "ChangedSymbol",
    "CoAccessAnswer",
    "CoAccessHit",
    "DeleteAnswer",
    "DiagnosticInfo",
    "DiffImpact",
    "EarlierState",
    "Experiment",
    "FacetCount",
    "Factor",
    "FileHistory",
    "FileInfo",
    "FilePage",
    "FileSecrets",
    "FindingVerdict",
    "Forgotten",
    "GroupMeasures",
    "HitGroup",
    "ImpactGroup",
    "ImpactHit",
    "ImpactReport",
    "ImportAnswer",
    "IndexState",
    "IndexSummary",
    "MatchedLine",
    "MemoryAnchor",
    "MemoryChange",
    "MemoryInfo",
    "MemoryPage",
    "MemoryRelation",
    "Missed",
    "NearMiss",
    "NearbyMemories",
    "NearbyMemory",
    "Noted",
    "PathAnswer",
    "PathScore",
    "PathStep",
    "PhaseWeight",
    "PhaseWeights",
    "Picture",
    "Possible",
    "Project",
    "PruneAnswer",
    "Pruned",
    "RebuildAnswer",
    "Receipt",
    "Recorded",
    "Refusal",
    "RememberAnswer",
    "RememberManyAnswer",
    "Remembered",
    "ReviewItem",
    "ReviewQueue",
    "Risk",
    "RiskFactor",
    "Rule",
    "RuleSet",
    "ScanAnswer",
    "SearchAnswer",
    "SearchHit",
    "SecretsFound",
    "SessionSummary",
    "Site",
    "Subgraph",
    "SymbolDetail",
    "SymbolInfo",
    "SymbolPage",
    "SyncAnswer",
    "SyncConflict",
    "TermAlias",
    "Timeline",
    "json_text",
    "to_json",
]

_NAMES: Final = {
    "code": (
        "DiagnosticInfo FileInfo FilePage IndexState IndexSummary Missed PathAnswer PathStep Picture Project Site "
        "Subgraph SymbolDetail SymbolInfo SymbolPage"
    ),
    "history": "CoAccessAnswer CoAccessHit FileHistory Recorded",
    "impact": "Cause ChangedSymbol DiffImpact EarlierState ImpactGroup ImpactHit ImpactReport Possible Risk RiskFactor",
    "memory": (
        "Forgotten MemoryAnchor MemoryChange MemoryInfo MemoryPage MemoryRelation NearbyMemories NearbyMemory Noted Refusal RememberAnswer "
        "Remembered RememberManyAnswer ReviewItem ReviewQueue Rule RuleSet TermAlias Timeline"
    ),
    "memory_care": (
        "AuditEntry AuditPage DeleteAnswer FileSecrets ImportAnswer PruneAnswer Pruned RebuildAnswer ScanAnswer "
        "SecretsFound SyncAnswer SyncConflict"
    ),
    "search": "FacetCount Factor HitGroup MatchedLine NearMiss PathScore SearchAnswer SearchHit",
    "sessions": "Experiment FindingVerdict GroupMeasures PhaseWeight PhaseWeights Receipt SessionSummary",
}
"""Module -> names defined in it."""
_MODULES: Final = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
    return found
