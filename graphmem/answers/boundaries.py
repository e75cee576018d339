"""The answer to a check of a project's own architecture rules."""

from __future__ import annotations

from typing import Annotated

from graphmem.answers.code import IndexState, PathStep
from graphmem.answers.marks import Doc, Size
from graphmem.answers.plain import answer


@answer
class RuleResult:
    """An architecture rule, with the number of dependencies that break it."""

    name: str
    because: Annotated[str, Doc("reason for the architecture rule, from the rules file; empty if the file gives none")]
    files: Annotated[int, Doc("number of files that the architecture rule applies to")]
    checked: Annotated[
        int, Doc("number of dependencies that were checked against the architecture rule: uses of other files by the rule's files")
    ]
    broken: Annotated[int, Doc("number of dependencies that break the architecture rule")]
    accepted: Annotated[
        int, Doc("number of dependencies that break the architecture rule but are accepted, because the baseline file lists them")
    ]


@answer
class BrokenRule:
    """A dependency between two files that breaks an architecture rule."""

    rule: str
    because: str
    src: Annotated[str, Doc("path of the file that depends on the other file")]
    dst: Annotated[str, Doc("path of the file on which the other file depends")]
    edges: Annotated[int, Doc("number of calls, imports and other edges between the two files that break the architecture rule")]
    sites: Annotated[
        list[PathStep],
        Doc("the first calls, imports and other edges that break the architecture rule, at most 3: imports first, then by confidence"),
        Size(3),
    ]
    accepted: Annotated[bool, Doc("true when the dependency is accepted, because the baseline file lists it")]


@answer
class ArchitectureCheck:
    """The dependencies that break the project's architecture rules."""

    rules: Annotated[list[RuleResult], Doc("the project's architecture rules, in the order of the rules file"), Size(20)]
    broken: Annotated[
        list[BrokenRule],
        Doc("the dependencies that break an architecture rule, sorted by rule and path; those that the baseline accepts come last"),
        Size(50),
    ]
    total: Annotated[int, Doc("number of dependencies that break an architecture rule, including accepted ones")]
    new: Annotated[int, Doc("number of dependencies that break an architecture rule and are not accepted by the baseline file")]
    resolved: Annotated[list[str], Doc("dependencies that the baseline file accepts and that no longer break a rule"), Size(20)]
    notes: Annotated[list[str], Doc("file patterns in the architecture rules that match no file of the project"), Size(5)]
    state: IndexState
