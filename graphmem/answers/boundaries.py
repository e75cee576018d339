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
    because: Annotated[str, Doc("why the project has the rule; empty if the rule gives no reason")]
    files: Annotated[int, Doc("number of files that the rule applies to")]
    checked: Annotated[int, Doc("number of dependencies that the rule checks: uses of other files by the files of the rule")]
    broken: Annotated[int, Doc("number of dependencies that break the rule")]
    accepted: Annotated[int, Doc("number of the dependencies that break the rule and are in the baseline, the list of accepted ones")]


@answer
class BrokenRule:
    """A dependency between two files that breaks an architecture rule."""

    rule: str
    because: str
    src: Annotated[str, Doc("path of the file that uses the other file")]
    dst: Annotated[str, Doc("path of the file that is used")]
    edges: Annotated[int, Doc("number of edges between the two files that break the rule")]
    sites: Annotated[list[PathStep], Doc("the first edges that break the rule, at most 3: imports first, then the most confident"), Size(3)]
    accepted: Annotated[bool, Doc("true when the dependency is in the baseline, the list of accepted ones")]


@answer
class ArchitectureCheck:
    """The dependencies that break the project's architecture rules."""

    rules: Annotated[list[RuleResult], Doc("the architecture rules, in the order of the rules file"), Size(20)]
    broken: Annotated[list[BrokenRule], Doc("the dependencies that break a rule: new ones first, then by rule and path"), Size(50)]
    total: Annotated[int, Doc("number of dependencies that break a rule")]
    new: Annotated[int, Doc("number of dependencies that break a rule and are not in the baseline, the list of accepted ones")]
    resolved: Annotated[list[str], Doc("accepted dependencies (in the baseline) that no longer break a rule"), Size(20)]
    notes: Annotated[list[str], Doc("file patterns in the rules that match no file"), Size(5)]
    state: IndexState
