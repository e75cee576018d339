"""The answer of the operation `doctor`: facts about the parts of an index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from graphmem.answers.code import Project


class DoctorReport(TypedDict, total=False):
    """Facts about an index, with one entry for each part of the index.

    An entry may be missing or empty if there is nothing to report.
    """

    project: Project
    served_at: str  # address of the server that answered; only from a client
    engine: dict[str, Any]
    files: dict[str, int]  # bytes of each file in the index directory
    projections: dict[str, Any]
    embedder: Mapping[str, Any]
    memories: Mapping[str, Any]
    rules: list[dict[str, Any]]  # edges by kind, rule, source and confidence
    text_files: dict[str, int]  # number of files that are searched as text by the end of their name, most first
    skipped: list[dict[str, Any]]  # reasons for which the last look at the whole tree skipped files, with count and remedy
    known_calls: list[dict[str, Any]]  # share of calls that graphmem finds, for each language
    call_rules: list[dict[str, Any]]  # edges and call sites of each rule
    call_sites: int
    unresolved: list[dict[str, Any]]  # call sites of each reason
    failed_files: list[str]
    failures: dict[str, str]  # path -> reason, for the first of `failed_files`
    evidence: Mapping[str, Any]
    history: Mapping[str, Any]
    learning: Mapping[str, Any]
    sharing: dict[str, Any]
    encryption: Mapping[str, Any]
    health: Mapping[str, Any]
    lost_code: str  # why the index no longer contains its code; "" if it does
