"""Advice for an agent that is about to edit: what the edit affects.

An agent waits for the answer, so only data in memory is used. A graph or history that is not loaded is left out.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

import numpy as np

from graphmem.analysis.impact import impact
from graphmem.analysis.impact_question import Question
from graphmem.analysis.named_tests import find_named_tests
from graphmem.answers import IndexState
from graphmem.answers.review import TestToRun
from graphmem.errors import GraphMemError
from graphmem.injection.consequences import (
    DOCUMENTED,
    LIKELY_CHANCE,
    MOVES_CHANCE,
    MOVES_SHARE,
    NAMED,
    REMOVED,
    Consequences,
    Dependent,
    Edit,
    TestCase,
)
from graphmem.memory.reading.nearby import TARGET
from graphmem.model import LIBRARY_HOOK, WRAPPED, EdgeKind
from graphmem.parsing.language import language_of_path
from graphmem.parsing.sources import source_of
from graphmem.project.reviews.use_lines import fails_without, shown_line, with_code
from graphmem.projection.graph.arrays import CLASS_CODES, FUNCTION_CODES, NODE_KINDS, SYMBOL
from graphmem.reports import test_commands, test_runners
from graphmem.reports.test_commands import NOT_RUN
from graphmem.runtime.data.conventions import conventions_of
from graphmem.runtime.files.inside import inside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from graphmem.answers import CoAccessHit, ImpactHit, ImpactReport
    from graphmem.history.coaccess import Evidence
    from graphmem.parsing.versions import Versions
    from graphmem.project.code.contracts import ContractQuestions
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.project.graph.outside_evidence import OutsideEvidence
    from graphmem.project.history.co_changes import CoAccess
    from graphmem.project.memories.known import KnownCode
    from graphmem.project.reviews.edited_code import EditedCode
    from graphmem.project.reviews.signatures import Lost
    from graphmem.projection.graph.view import GraphView
    from graphmem.projection.projections import Projections

MAX_BYTES: Final = 1 << 20  # of an edited file that is read to find the edited lines
TEST_SHARE: Final = 0.1  # least share of the small changes of a file that touched a test file as well
MAX_TARGETS: Final = 20
_FUNCTIONS: Final = frozenset(NODE_KINDS[code] for code in FUNCTION_CODES)
_CLASSES: Final = frozenset(NODE_KINDS[code] for code in CLASS_CODES)
_QUESTION: Final = Question(max_depth=1, min_confidence=0.5, limit=100, estimates=False)
_ANY_STATE: Final = IndexState("fresh", 0, "", 0, 0, 0, 0, 0)  # the report's state is not shown
_log = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)
class EditAdvice:
    """Finds what an edit affects: dependents, tests, files, memories."""

    graph: GraphSource
    projections: Projections
    evidence: OutsideEvidence
    co_access: CoAccess
    known: KnownCode
    contracts: ContractQuestions
    soon: Callable[[Callable[[], object]], object]  # runs work after the answer
    _rehearsed: bool = field(default=False, init=False)
    _versions: Versions | None = field(default=None, init=False)  # of files that were edited

    def rehearse(self) -> None:
        """Load the graph, compute one piece of advice, and discard it.

        The first advice of a process takes three times as long as later ones, and often longer than an agent waits, because it loads
        modules and fills caches. So this runs in the background when a session starts. Later calls do nothing. A server that
        lacks the source code does nothing, because nobody edits there.

        Raises:
            GraphMemError: the graph could not be built.
        """
        if self._rehearsed or self.graph.root_or_none() is None:
            return
        view = self.projections.graph()
        self._rehearsed = True
        edit = self._frequent_edit(view)
        found = self.consequences([edit]) if edit is not None else None
        if found is not None:
            self.command(found.tests)

    def _frequent_edit(self, view: GraphView) -> Edit | None:
        """Return an edit of the definition with the most incoming edges.

        The edit adds a character to the definition's first line. The result is None without such a definition.
        """
        able = (view.label == SYMBOL) & ~view.is_test & np.isin(view.kind, [*FUNCTION_CODES, *CLASS_CODES])
        if not able.any():
            return None
        node = int(np.argmax(np.where(able, np.diff(view.in_ptr), -1)))
        path = view.path(node)
        line = shown_line(self._lines(path), int(view.start_line[node]))
        return Edit(path, line, f"{line}_") if path and line else None

    def consequences(self, edits: Sequence[Edit]) -> Consequences | None:
        """Return what the given edits affect; None if the code is not indexed.

        The result is also None while the graph is not in memory.
        """
        view = self.projections.graph_if_ready()
        if view is None:
            return None
        files = list(dict.fromkeys(one.path for one in edits if one.path in view.path_number))
        from graphmem.parsing.versions import Versions  # other questions need no parser
        from graphmem.project.reviews.edited_code import edited_code

        self._versions = self._versions or Versions()
        found = [edited_code(view, edit, self._text(view, edit), self._versions) for edit in edits]
        if files and all(one.is_silent for one in found):
            return self._of_documentation(view, files, [node for one in found for node in one.nodes])
        removed = [one.path for one in edits if one.is_removal and one.path in view.path_number]
        nodes = _edited(view, found, removed)
        chosen = list(nodes)[:MAX_TARGETS]
        if not files:
            return None
        often = self._moving(view, files)
        moving = [one for one, _ in often]
        likely = tuple((one.path, its.chance) for one, its in often if its.chance >= LIKELY_CHANCE)
        moves = tuple((one.path, its.focus) for one, its in often)
        named = tuple(dict.fromkeys(test for path in files for test in find_named_tests(path, view.paths, view.in_tests)))
        if not chosen:
            known = self.known.of_files(view, files, moving)
            moves += () if named else self._test_by_history(view, files, moves)
            return Consequences(tuple(files), moves=moves, likely=likely, memories=tuple(one.id for one in known.memories), named=named)
        report = impact(view, chosen, _QUESTION, _ANY_STATE, self.evidence.runs(view, self.graph.project))
        report = replace(report, also_moves=moving)
        report = replace(report, known=self.known.of_impact(view, report, chosen))
        broken = [node for node in chosen if nodes[node]]
        dependents = _dependents(view, report, set(files), broken)
        lost = {node: its for one in found for node, its in one.lost.items()}
        if len(broken) == 1 and broken[0] in lost:
            dependents = self._failing_without(dependents, lost[broken[0]])
        if removed:  # their imports break, whatever they use of it
            dependents = tuple(one for one in dependents if not one.name) or dependents
        moves += () if named or report.tests else self._test_by_history(view, files, moves)
        return Consequences(
            targets=tuple(f"{one.path}{REMOVED}" if one.path in removed and not one.qualname else one.ref for one in report.targets),
            dependents=self._with_code(dependents) if broken else dependents,
            tests=self._run_by_a_runner(_tests(view, sorted(report.tests, key=lambda hit: hit.symbol.path not in named))),
            moves=moves,
            likely=likely,
            memories=tuple(one.id for one in report.known.memories),
            breaks=bool(broken) and (broken[0] not in lost or any(one.breaks for one in dependents)),
            outside=tuple(self._outside(report)),
            named=named,
            alike=_alike(view, broken),
        )

    def _of_documentation(self, view: GraphView, files: Sequence[str], nodes: Sequence[int]) -> Consequences | None:
        """Return the memories about code of which only documentation changes.

        No code depends on the documentation, so nothing else is returned. The memories are about the definitions `nodes`, or about the
        files if the documentation belongs to no definition. The result is None without memories.
        """
        whole = [file for path in files if (file := view.file_node(path)) is not None]
        places = [view.ids[node] for node in nodes or whole]
        known = self.known.of_nodes(view, places).values()
        memories = dict.fromkeys(one.id for found in known for one in found.memories if one.place == TARGET)
        return Consequences(tuple(f"{place}{DOCUMENTED}" for place in places), memories=tuple(memories)) if memories else None

    def _moving(self, view: GraphView, files: Sequence[str]) -> list[tuple[CoAccessHit, Evidence]]:
        """Return files that often change together with `files` and still exist.

        Each file comes with its evidence, such as the chance that it changes this time, too. The chance is at least `MOVES_CHANCE`.

        Files that the index leaves out, such as lock files, are named only for an edit without code, such as one of a manifest. If the
        history is not in memory, the list is empty, and the history is loaded in the background.
        """
        if self.co_access.history.is_known:
            is_code = any(len(view.by_path(path)) for path in files)
            found = self.co_access.often(files, MOVES_SHARE, lambda path: (not is_code or path in view.path_number) and self._exists(path))
            return [(one, its) for one, its in found if its.chance >= MOVES_CHANCE]
        if self.co_access.history.log().exists:
            self.soon(self.co_access.history.known)
        return []

    def _test_by_history(
        self, view: GraphView, files: Sequence[str], moves: tuple[tuple[str, float], ...]
    ) -> tuple[tuple[str, float], ...]:
        """Return the test file that changed most often with the edited files.

        Call this if no other way has found a test of the edited code. The test file may have changed less often than the files in `moves`.
        The result is empty if `moves` already has a test file, or if an edited file is a test or not in the index.

        Args:
            view: the graph.
            files: paths of the edited files.
            moves: (path, share) of each file that often changes with `files`. If half of the changes of `files` also changed the path, the
                share is 0.5.

        Returns:
            At most one (path, share), whose share is at least `TEST_SHARE`.
        """
        is_code = all(len(view.by_path(path)) and not view.in_tests(path) for path in files)
        if not is_code or any(view.in_tests(path) for path, _ in moves) or not self.co_access.history.is_known:
            return ()
        found = self.co_access.often(files, TEST_SHARE, lambda path: view.in_tests(path) and self._exists(path))
        return tuple((one.path, its.focus) for one, its in found[:1])

    def _run_by_a_runner(self, tests: Sequence[TestCase]) -> tuple[TestCase, ...]:
        """Return those of `tests` that the project's test runner runs.

        A file of helpers, for example, is left out.
        """
        root = self.graph.root_or_none()
        if root is None:
            return tuple(tests)
        project = test_runners.Project(root)
        return tuple(one for one in tests if test_runners.named(project, test_runners.Place(*one)) != NOT_RUN)

    def command(self, tests: Sequence[TestCase]) -> str:
        """Return the command line that runs tests.

        The result is "" if the test runner of a test is unknown.
        """
        root = self.graph.root_or_none()
        if root is None:
            return ""
        project = test_runners.Project(root)
        names: dict[str, test_commands.Named] = {}
        rows = []
        for one in tests:
            name = test_runners.named(project, test_runners.Place(*one))
            if not name.runner:
                return ""
            names[name.id] = name
            rows.append(TestToRun(name.runner, name.id, one.path, one.name, one.line, 1.0, "reaches"))
        # `&` is an entity in the XML around it
        return "; ".join(one.command.replace(" && ", "; ") for one in test_commands.commands(rows, names))

    def _outside(self, report: ImpactReport) -> Iterator[str]:
        """Yield code of other projects that uses a contract of edited symbols.

        A contract is a name that two programs share, such as a route.
        """
        try:
            for use in self.contracts.outside({one.id: 1.0 for one in report.targets}):
                yield f"{use.place.project}: {use.place.path}:{use.place.line} ({use.name})"
        except GraphMemError as error:
            _log.warning("advice without other projects: %s", error)

    def _exists(self, path: str) -> bool:
        file = inside(self.graph.root(), path)
        return file is not None and file.is_file()

    def _with_code(self, found: tuple[Dependent, ...]) -> tuple[Dependent, ...]:
        """Complete the first `NAMED` dependents with their line of code.

        The line uses the edited code. The further dependents are returned unchanged.
        """
        return tuple(with_code(one, self._lines(one.path)) for one in found[:NAMED]) + found[NAMED:]

    def _failing_without(self, found: tuple[Dependent, ...], lost: Lost) -> tuple[Dependent, ...]:
        """Return dependents, first those that pass one of some lost parameters.

        Only these still break.
        """
        told = [with_code(one, self._lines(one.path)) if one.breaks else one for one in found]
        told = [one._replace(breaks=one.breaks and fails_without(one, lost)) for one in told]
        return tuple(sorted(told, key=lambda one: not one.breaks))

    def _lines(self, path: str) -> list[str]:
        """Return the lines of a file; an empty list if missing or too large."""
        file = inside(self.graph.root(), path)
        if file is None or not file.is_file() or file.stat().st_size > MAX_BYTES:
            return []
        return source_of(path, file.read_bytes(), language_of_path(path)).text.decode("utf-8").split("\n")

    def _text(self, view: GraphView, edit: Edit) -> str:
        """Return the content of the file that an edit changes, or "".

        The result is "" if the file is missing, too large or not indexed, or if the edit removes the file or has an empty old text.
        """
        is_placed = edit.old != "" and not edit.is_removal
        file = inside(self.graph.root(), edit.path) if is_placed and edit.path in view.path_number else None
        if file is None or not file.is_file() or file.stat().st_size > MAX_BYTES:
            return ""
        return file.read_text(encoding="utf-8", errors="replace")


def _edited(view: GraphView, found: Sequence[EditedCode], removed: Sequence[str]) -> dict[int, bool]:
    """Map each edited symbol and removed file to whether its old uses fail."""
    nodes: dict[int, bool] = {}
    for one in found:
        for node, is_broken in {} if one.is_silent else one.nodes.items():
            nodes[node] = nodes.get(node, False) or is_broken
    return nodes | {file: True for path in removed if (file := view.file_node(path)) is not None}


def _alike(view: GraphView, nodes: Sequence[int]) -> tuple[str, ...]:
    """Return methods that must keep the same signature as one in `nodes`.

    The results are the methods that a method in `nodes` overrides or implements, and the methods that override or implement a method in
    `nodes`.
    """
    kinds = (EdgeKind.OVERRIDES,)
    found = [int(view.dst[edge]) for node in nodes for edge in view.out_edges(node, kinds)]
    found += [int(view.src[edge]) for node in nodes for edge in view.in_edges(node, kinds)]
    own = dict.fromkeys(node for node in found if view.path(node) and node not in nodes)
    return tuple(f"{view.path(node)}:{view.start_line[node]} {view.qualname(node)}" for node in own)


def _dependents(view: GraphView, report: ImpactReport, edited: set[str], broken: Sequence[int]) -> tuple[Dependent, ...]:
    """Return the code that directly uses edited code.

    Code that uses one of the nodes in `broken` comes first, then code in files other than `edited`. Left out are members of a named or
    edited class, classes whose base class in a library calls the edited method, and decorators that wrap it. If nothing breaks, other
    members of the class around edited code are left out, too, and code that only passes an edited function on, such as a table of routes.
    """
    inside = tuple(f"{one.ref}." for one in report.targets if one.qualname)
    lost = {view.ids[node] for node in broken}
    users = {view.ids[int(view.src[edge])] for node in broken for edge in view.in_edges(node)}
    failing = {hit.symbol.id for hit in report.hits if hit.symbol.id in users or (hit.path and hit.path[-1].dst.id in lost)}
    ordered = sorted(report.hits, key=lambda hit: (hit.symbol.id not in failing, hit.symbol.path in edited))
    around = {(one.path, one.qualname.partition(".")[0]) for one in report.targets if one.qualname}
    own = {hit.symbol.id for hit in ordered if (hit.symbol.path, hit.symbol.qualname.partition(".")[0]) in around}
    classes = [(PurePosixPath(one.path).parent, f"{one.qualname}.") for one in report.targets if one.kind in _CLASSES]
    own |= {hit.symbol.id for hit in ordered if _is_member(hit, classes)}
    ordered = [hit for hit in ordered if hit.symbol.id in failing or not (hit.symbol.id in own or _only_passes_on(hit))]
    inside += tuple(f"{hit.symbol.ref}." for hit in ordered if hit.symbol.kind in _CLASSES)
    return tuple(
        Dependent(
            hit.symbol.path,
            hit.path[-1].line if hit.path else hit.symbol.start_line,
            "" if hit.symbol.qualname == "<module>" else hit.symbol.qualname,
            uses=_names_in_code(view, hit),
            begins=0 if hit.symbol.qualname == "<module>" else hit.symbol.start_line,
            breaks=hit.symbol.id in failing,
        )
        for hit in ordered
        if hit.symbol.path and not hit.symbol.ref.startswith(inside) and not (hit.path and hit.path[-1].rule in (LIBRARY_HOOK, WRAPPED))
    )


def _is_member(hit: ImpactHit, classes: Sequence[tuple[PurePosixPath, str]]) -> bool:
    """Whether code is a member of a class, also in another file of its folder.

    Each class is (folder, qualified name with a dot at the end). Go, for example, spreads the methods of a type over files.
    """
    return any(hit.symbol.qualname.startswith(name) and PurePosixPath(hit.symbol.path).parent == folder for folder, name in classes)


def _names_in_code(view: GraphView, hit: ImpactHit) -> tuple[str, ...]:
    """Return the names by which a dependent may use the edited code.

    `hit` is the dependent. A constructor is used by the name of its class.
    """
    if not hit.path:
        return ()
    used = hit.path[-1].dst
    owner = used.qualname.rpartition(".")[0].rpartition(".")[2]
    return (used.name, owner) if owner and used.name in conventions_of(view.language_of(used.path)).constructors else (used.name,)


def _only_passes_on(hit: ImpactHit) -> bool:
    """Whether code names a function without calling it."""
    return bool(hit.path) and hit.path[-1].kind == EdgeKind.REFERENCES and hit.path[-1].dst.kind in _FUNCTIONS


def _tests(view: GraphView, hits: Sequence[ImpactHit]) -> tuple[TestCase, ...]:
    """Return the tests to run, in the order of `hits`.

    `hits` are symbols in test files. A runner cannot run a symbol such as a fixture or a helper alone. For such a symbol, the whole test
    file is returned instead.
    """
    found = [_test(view, hit) for hit in hits]
    whole = {one.path for one in found if not one.name}
    return tuple(dict.fromkeys(TestCase(one.path, "", 0, is_method=False) if one.path in whole else one for one in found))


def _test(view: GraphView, hit: ImpactHit) -> TestCase:
    one = hit.symbol
    collected = conventions_of(view.language_of(one.path)).collected_tests
    is_whole = one.qualname == "<module>" or not one.is_runnable or (collected != "" and not re.fullmatch(collected, one.qualname))
    return (
        TestCase(one.path, "", 0, is_method=False) if is_whole else TestCase(one.path, one.qualname, one.start_line, one.kind == "method")
    )
