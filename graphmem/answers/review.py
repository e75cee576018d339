"""Answers of a review: what a change affects, and which tests to run."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Final

from graphmem.answers.code import IndexState, KnownCalls, SymbolInfo
from graphmem.answers.contracts import Contract
from graphmem.answers.history import CoAccessHit
from graphmem.answers.impact import Cause, ChangedSymbol, ImpactHit, Risk
from graphmem.answers.marks import Doc, Size
from graphmem.answers.memory import MemoryInfo
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import Epistemic

WORKING_TREE: Final = "working tree"  # the later side of a change that is not committed
DIFF_TEXT: Final = "diff"  # both sides of a change that was given as text


@answer
class TestToRun:
    """A test that a change affects, with its id in the test runner."""

    __test__ = False  # pytest collects classes of this name

    runner: Annotated[
        str,
        Doc(
            "test runner: pytest, unittest, jest, vitest, deno, bun, go, cargo, gradle, maven, rspec, minitest or phpunit; "
            "empty when unknown"
        ),
    ]
    id: Annotated[str, Doc("id by which the runner selects the test; the path of the file for an unknown runner")]
    path: str
    name: Annotated[str, Doc("qualified name of the test; empty for a whole file")]
    line: int
    confidence: Annotated[
        float,
        Doc("probability, 0 to 1, that the test executes changed code; 1 if a recorded run did, or if the test itself was changed"),
    ]
    why: Annotated[
        str,
        Doc(
            "why the test is listed: ran (a recorded run of it executed changed code), changed (the test itself changed), "
            "reaches (its source leads to the change), maybe (it calls the name of a changed method on an unknown receiver) "
            "or named (no known test reaches a changed function, and this one is named after it or its file)"
        ),
    ]


@answer
class TestCommand:
    """A command line that runs the selected tests of a runner."""

    __test__ = False

    runner: str
    command: Annotated[str, Doc("command line for a POSIX shell in the root of the repository")]
    tests: int
    whole_files: Annotated[
        bool,
        Doc(
            "true when the command runs whole files, because the names of all tests would make it too long, "
            "or a test cannot be selected by name"
        ),
    ]
    recording: Annotated[str, Doc("command that runs all tests and records which code each of them runs; empty when none is known")] = ""


@answer
class TestSelection:
    """The tests that reach some code, and command lines that run them."""

    __test__ = False

    tests: Annotated[list[TestToRun], Doc("tests to run, most certain first"), Size(50)]
    total: Annotated[int, Doc("total number of tests that may run the code; `tests` and `commands` may list fewer")]
    commands: Annotated[list[TestCommand], Doc("command lines that run the tests, one for each runner"), Size(2)]
    known_calls: Annotated[
        list[KnownCalls],
        Doc("for each language of the code and its tests, the share of its calls that graphmem finds, as measured on other projects"),
        Size(2),
    ] = field(default_factory=list)


@answer
class KnownHere:
    """A memory about code that a change touches."""

    memory: MemoryInfo
    about: Annotated[SymbolInfo | None, Doc("the changed symbol that the memory is about; null for a memory about the file")]
    path: str
    line: int


@answer
class Review:
    """Everything that a reviewer must know about a change."""

    base: str
    head: str
    files: Annotated[list[str], Doc("changed files, by path; a deleted file is listed by its old path"), Size(20)]
    changed: Annotated[list[ChangedSymbol], Doc("changed definitions, by path and line"), Size(20)]
    unmapped: Annotated[list[str], Doc("changed files in which no definition changed, such as configuration files"), Size(5)]
    breaks: Annotated[
        list[ImpactHit], Doc("symbols and files that the change could break, without tests; nearest first, then most confident"), Size(20)
    ]
    break_count: Annotated[int, Doc("total number of symbols and files that the change could break; `breaks` may list fewer")]
    tests: Annotated[list[TestToRun], Doc("tests to run, most certain first"), Size(50)]
    test_count: Annotated[int, Doc("total number of affected tests; `tests` and `commands` may list fewer")]
    commands: Annotated[list[TestCommand], Doc("command lines that run the tests, one for each runner"), Size(2)]
    untested: Annotated[list[ChangedSymbol], Doc("changed functions that no known test reaches"), Size(5)]
    known: Annotated[
        list[KnownHere], Doc("memories about the change: warnings (traps, error patterns, dead ends) and decisions first"), Size(3)
    ]
    known_count: Annotated[int, Doc("total number of memories about the change; `known` may list fewer")]
    contracts: Annotated[list[Contract], Doc("routes, procedures and fields that the change removes or alters, with their users"), Size(3)]
    forgotten: Annotated[list[CoAccessHit], Doc("files that often change with the changed files, but are not in the change"), Size(5)]
    forgotten_count: Annotated[
        int, Doc("total number of files that often change with the changed files but are not in the change; `forgotten` may list fewer")
    ]
    risk: Risk
    epistemic: Annotated[Epistemic, Doc("certainty of the selection of tests: exact, a lower bound, or unknown")]
    causes: Annotated[list[Cause], Doc("why the answer may be incomplete"), Size(5)]
    state: IndexState
    known_calls: Annotated[
        list[KnownCalls],
        Doc(
            "for each language of the changed code and its dependents, the share of its calls that graphmem "
            "finds, as measured on other projects"
        ),
        Size(2),
    ] = field(default_factory=list)
