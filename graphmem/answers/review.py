"""The answer to a review of a change."""

from __future__ import annotations

from typing import Annotated

from graphmem.answers.code import IndexState, SymbolInfo
from graphmem.answers.contracts import Contract
from graphmem.answers.history import CoAccessHit
from graphmem.answers.impact import Cause, ChangedSymbol, ImpactHit, Risk
from graphmem.answers.marks import Doc, Size
from graphmem.answers.memory import MemoryInfo
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import Epistemic


@answer
class TestToRun:
    """A test that a change affects, as its test runner names it."""

    __test__ = False  # pytest collects classes of this name

    runner: Annotated[str, Doc("pytest, unittest, jest, vitest, go, cargo, gradle, maven, rspec, minitest or phpunit; empty when unknown")]
    id: Annotated[str, Doc("the exact id for the runner; the path for an unknown runner")]
    path: str
    name: Annotated[str, Doc("qualified name of the test; empty for a whole file")]
    line: int
    confidence: Annotated[float, Doc("the chance that the test runs changed code; 1 when a recorded run did, or the test itself changed")]
    why: Annotated[
        str,
        Doc(
            "why the test is listed: ran (a recorded run of it executed changed code), changed (the test itself changed) "
            "or reaches (its source leads to the change)"
        ),
    ]


@answer
class TestCommand:
    """A command line that runs the selected tests of a runner."""

    __test__ = False

    runner: str
    command: Annotated[str, Doc("for a POSIX shell, from the root of the repository")]
    tests: int
    whole_files: Annotated[bool, Doc("true when the command runs whole files, because ids of tests would make it too long")]


@answer
class KnownHere:
    """A memory about code that a change touches."""

    memory: MemoryInfo
    about: Annotated[SymbolInfo | None, Doc("the changed symbol; null for a memory about its file")]
    path: str
    line: int


@answer
class Review:
    """What a reviewer must know about a change."""

    base: str
    head: str
    files: Annotated[list[str], Doc("changed files, by path; a deleted file has its old path"), Size(20)]
    changed: Annotated[list[ChangedSymbol], Doc("changed definitions, by path and line"), Size(20)]
    unmapped: Annotated[list[str], Doc("changed files without a changed definition"), Size(5)]
    breaks: Annotated[list[ImpactHit], Doc("code besides tests that could break: by depth, then confidence"), Size(20)]
    break_count: Annotated[int, Doc("number of symbols and files that could break, of which `breaks` may list fewer")]
    tests: Annotated[list[TestToRun], Doc("tests to run, most certain first"), Size(50)]
    test_count: Annotated[int, Doc("number of affected tests, of which `tests` and `commands` may have fewer")]
    commands: Annotated[list[TestCommand], Doc("one command for each runner"), Size(2)]
    untested: Annotated[list[ChangedSymbol], Doc("changed functions that no known test reaches"), Size(5)]
    known: Annotated[list[KnownHere], Doc("traps and decisions first, then other memories"), Size(3)]
    known_count: Annotated[int, Doc("number of memories about the change, of which `known` may list fewer")]
    contracts: Annotated[list[Contract], Doc("routes, procedures and fields that the change removes or changes, with their users"), Size(3)]
    forgotten: Annotated[list[CoAccessHit], Doc("files that usually change with the changed files, and did not"), Size(5)]
    forgotten_count: Annotated[int, Doc("number of such files, of which `forgotten` may list fewer")]
    risk: Risk
    epistemic: Annotated[Epistemic, Doc("how certain the selection of tests is, in one sentence")]
    causes: Annotated[list[Cause], Doc("why the answer may be incomplete"), Size(5)]
    state: IndexState
