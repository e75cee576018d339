"""The answer to a check of a project's own architecture rules."""

from __future__ import annotations

from typing import Annotated

from graphmem.answers.code import IndexState, PathStep
from graphmem.answers.marks import Doc, Size
from graphmem.answers.plain import answer


@answer
class RuleResult:
    """An architecture rule and the number of dependencies that break it."""

    name: str
    because: Annotated[str, Doc("why the project has the rule; empty if the rule gives no reason")]
    files: Annotated[int, Doc("files that the rule limits")]
    checked: Annotated[int, Doc("dependencies of these files on other files")]
    broken: Annotated[int, Doc("dependencies that break the rule")]
    accepted: Annotated[int, Doc("of these, the ones in the baseline")]


@answer
class BrokenRule:
    """A dependency between two files that breaks an architecture rule."""

    rule: str
    because: str
    src: Annotated[str, Doc("path of the file that depends")]
    dst: Annotated[str, Doc("path of the file it depends on")]
    edges: Annotated[int, Doc("number of edges between them that break the rule")]
    sites: Annotated[list[PathStep], Doc("the first edges, at most 3: imports first, then the most confident"), Size(3)]
    accepted: Annotated[bool, Doc("true when the baseline lists it")]


@answer
class ArchitectureCheck:
    """The dependencies that break the project's architecture rules."""

    rules: Annotated[list[RuleResult], Doc("in the order of the file"), Size(20)]
    broken: Annotated[list[BrokenRule], Doc("those outside the baseline first, then by rule and path"), Size(50)]
    total: Annotated[int, Doc("number of dependencies that break a rule")]
    new: Annotated[int, Doc("of these, the ones outside the baseline")]
    resolved: Annotated[list[str], Doc("lines of the baseline that break no rule any more"), Size(20)]
    notes: Annotated[list[str], Doc("patterns that match no file"), Size(5)]
    state: IndexState
