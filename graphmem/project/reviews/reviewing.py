"""Review a change of code: what it could break, and what to do first."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphmem.analysis.impact import ran_target
from graphmem.analysis.named_tests import NamedCases, most_cases
from graphmem.analysis.walk import forward, step_values, walk
from graphmem.analysis.weights import IMPACT_KINDS, WEIGHTS
from graphmem.answers import Cause
from graphmem.answers.review import WORKING_TREE, KnownHere, Review, TestSelection, TestToRun
from graphmem.errors import HistoryError
from graphmem.history.git_log import only_in
from graphmem.knowledge import is_held
from graphmem.memory.texts.types import COMMIT, LIVE_STATUSES
from graphmem.model import FUNCTION_KINDS, file_id
from graphmem.project.code.questions import DEFAULT_CONFIDENCE, DEFAULT_DEPTH
from graphmem.project.history.co_changes import MOST_JUDGED
from graphmem.project.reviews.inherited_tests import classes_of
from graphmem.reports.test_commands import NOT_RUN, Named, commands
from graphmem.reports.test_runners import Place, Project, named

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from graphmem.answers import ChangedSymbol, CoAccessHit, DiffImpact, ImpactHit
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.project.code.contracts import ContractQuestions
    from graphmem.project.code.questions import ImpactQuestions
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.project.history.co_changes import CoAccess
    from graphmem.projection.graph.view import GraphView

EVERY: Final = 100_000  # hits of the impact; the answer lists fewer, and names how many there are
MOST_KNOWN: Final = 30
MOST_FORGOTTEN: Final = 10
MOST_FILES: Final = 100  # changed files whose history is asked
FORGOTTEN_SUPPORT: Final = 3  # common changes; fewer can be chance
FORGOTTEN_CHANCE: Final = 0.5  # minimum of `Evidence.chance`; measured by `benchmarks/forgotten.py`
MOST_EXAMPLES: Final = 5  # of a cause
MAYBE: Final = 0.1  # confidence of a test that calls the name of a changed method on an unknown receiver
TEST_DEPTH: Final = 12  # steps from a test to the code that it runs
_TITLED: Final = re.compile(r"[\w.]+\(\s*['\"`]")  # a test that is a call with a title; a runner knows nested ones
WARNINGS: Final = ("gotcha", "error_pattern", "dead_end", "decision")  # types of memories that come first


@dataclass(eq=False, repr=False)
class Reviews:
    """Reviews a change of code: its impact, tests, memories and gaps."""

    graph: GraphSource
    questions: ImpactQuestions
    co_access: CoAccess
    book: MemoryRepository
    contracts: ContractQuestions

    def review(
        self,
        diff: str | None = None,
        base: str | None = None,
        head: str | None = None,
        max_depth: int = DEFAULT_DEPTH,
        min_confidence: float = DEFAULT_CONFIDENCE,
        limit: int = 200,
        tests: int = 1000,
    ) -> Review:
        """Review a diff or the changes since a revision.

        See `CodeOperations.review`.

        Raises:
            BadInputError: both or neither of diff and base are given, or the diff is invalid.
            GitError: git is missing, or does not know a revision.
        """
        if diff is None and base is None:
            base = "HEAD"
        found = self.questions.impact_of_diff(diff, base, head, max_depth, min_confidence, EVERY)
        view = self.graph.view()
        untested = _untested(view, found, min_confidence)
        by_name, common = _by_name(view, _method_names(found))
        after, named_alike = _named_after(view, untested, by_name)
        common += named_alike
        possible = dict.fromkeys(after, "named") | {case: "maybe" for cases in by_name.values() for case in cases}
        selected, names = self._tests(view, found.changed, found.impact.tests, possible)
        kept = selected[:tests]
        of_tree = found.head == WORKING_TREE
        own = frozenset(only_in(self.graph.root(), "HEAD" if of_tree else found.head, found.base)) if base is not None else frozenset()
        known = self._memories_of_change(found, own)
        forgotten, unsure = self._forgotten(found)
        return Review(
            base=found.base,
            head=found.head,
            files=found.files,
            changed=found.changed,
            unmapped=found.unmapped,
            breaks=found.impact.hits[:limit],
            break_count=len(found.impact.hits),
            tests=kept,
            test_count=len(selected),
            commands=commands(kept, names),
            untested=untested,
            known=known[:MOST_KNOWN],
            known_count=len(known),
            contracts=self.contracts.broken(base, found.files) if base is not None and of_tree else [],
            forgotten=forgotten[:MOST_FORGOTTEN],
            forgotten_count=len(forgotten),
            risk=found.impact.risk,
            epistemic=found.impact.epistemic,
            causes=[*found.impact.causes, *common, *unsure],
            state=found.impact.state,
            known_calls=found.impact.known_calls,
        )

    def tests_to_run(
        self,
        targets: str | Sequence[str],
        max_depth: int = DEFAULT_DEPTH,
        min_confidence: float = DEFAULT_CONFIDENCE,
        limit: int = 1000,
    ) -> TestSelection:
        report = self.questions.impact(targets, "dependents", max_depth, min_confidence, limit=EVERY)
        selected, names = self._tests(self.graph.view(), [], report.tests, {})
        return TestSelection(selected[:limit], len(selected), commands(selected[:limit], names), report.known_calls)

    def _tests(
        self, view: GraphView, changed: Sequence[ChangedSymbol], hits: Sequence[ImpactHit], possible: Mapping[int, str]
    ) -> tuple[list[TestToRun], dict[str, Named]]:
        """Return the tests to run for a change, most certain first.

        The second result maps the id of each test to the runner of the test, and to the name by which the runner selects the test.

        Args:
            view: the graph.
            changed: the changed symbols.
            hits: code of tests that reaches the change in the graph.
            possible: tests that may reach the change, as graph nodes, with the reason.
        """
        project = Project(self.graph.root())
        best: dict[str, TestToRun] = {}
        names: dict[str, Named] = {}
        cases = self._cases(view, changed, hits, possible)
        found = [(place, confidence, why) for node, confidence, why in cases for place in _places(view, node)]
        for place, confidence, why in [*found, *((place, 1.0, "changed") for place in _unindexed(view, changed))]:
            name = named(project, place)
            if name == NOT_RUN:
                continue
            known = best.get(name.id)
            if known is None or (confidence, why) > (known.confidence, known.why):
                names[name.id] = name
                best[name.id] = TestToRun(name.runner, name.id, place.path, place.qualname, place.line, confidence, why)
        outer = {(one.path, one.name[:at]) for one in best.values() for at, sign in enumerate(one.name) if sign == "."}
        with_tests = {one.path for one in best.values() if one.name}  # running one of its tests also runs the file's own code
        listed = [one for one in best.values() if (one.path, one.name) not in outer and (one.name or one.path not in with_tests)]
        listed.sort(key=lambda one: (-one.confidence, one.path, one.line, one.id))
        return listed, names

    def _cases(
        self, view: GraphView, changed: Sequence[ChangedSymbol], hits: Sequence[ImpactHit], possible: Mapping[int, str]
    ) -> Iterable[tuple[int, float, str]]:
        """Yield the tests to run for a diff, as (node, confidence, reason).

        `hits` are the affected tests. The reason is "changed" if the diff changes the test itself, and "ran" if the test ran changed code
        in a recorded run. It is "reaches" if a path of edges leads from the test to changed code. The tests in `possible`, which may reach
        the change, have the reason that is given there. A test may be yielded several times.
        """
        for one in changed:
            node = view.index_of.get(one.symbol.id)
            if node is None or one.change == "removed" or (case := _case_of(view, node)) < 0:
                continue
            yield case, 1.0, "changed"
        for hit in hits:
            case = _case_of(view, view.index_of[hit.symbol.id])
            if case >= 0:
                yield case, hit.confidence, "ran" if ran_target(hit) else "reaches"
        yield from ((case, MAYBE, why) for case, why in possible.items())

    def _memories_of_change(self, found: DiffImpact, own: frozenset[str]) -> list[KnownHere]:
        """Return memories about changed symbols and files, warnings first.

        Superseded and deprecated memories are left out. `own` has the hashes of the reviewed commits. Memories made from the messages of
        these commits are left out, because they only repeat the messages.
        """
        index, describe = self.book.index(), self.book.describer().info
        project = self.graph.project
        places: dict[str, tuple[ChangedSymbol | None, str, int]] = {}
        view = self.graph.view()
        own_tests = {path for path in found.files if view.in_tests(path)}
        for path in sorted(found.files, key=own_tests.__contains__, reverse=True):  # a later place is kept: one in the code itself
            places[file_id(project, path)] = (None, path, 1)
        for one in found.changed:
            places[one.symbol.id] = (one, one.symbol.path, min(one.lines, default=one.symbol.start_line))
        rows: dict[str, KnownHere] = {}
        for node, (changed, path, line) in places.items():
            for memory in index.about_target(node):
                row = index.row(memory)
                if row is None or row.status not in LIVE_STATUSES or (row.source == COMMIT and row.commit_sha in own):
                    continue
                info = describe(row)
                if not is_held(info):
                    rows[memory] = KnownHere(info, changed.symbol if changed else None, path, line)
        order = {name: place for place, name in enumerate(WARNINGS)}
        return sorted(
            rows.values(),
            key=lambda one: (order.get(one.memory.type, len(order)), one.about is None, -one.memory.confidence_in_use, one.memory.id),
        )

    def _forgotten(self, found: DiffImpact) -> tuple[list[CoAccessHit], list[Cause]]:
        """Return files that often change with a diff's files, but are not in it.

        The second result gives reasons why the list may be incomplete, such as a damaged history. A damaged history raises no error.
        """
        if not found.files:
            return [], []
        try:
            history = self.co_access.history.known()
        except HistoryError as error:
            return [], [Cause("history", f"files that often change along are not known: {error.message}", 0)]
        there, changed = self.graph.root(), frozenset(found.files)
        often = self.co_access.often(
            found.files[:MOST_FILES], FORGOTTEN_CHANCE, lambda path: path not in changed and (there / path).exists(), MOST_JUDGED
        )
        left = len(found.files) - MOST_FILES
        message = f"of the changed files were not compared with the history, which is done for the first {MOST_FILES}"
        gaps = self.co_access.history.gaps()
        if not gaps and not len(history):
            gaps = ["files that often change along are not known, because the history is empty; `graphmem index` reads it from git"]
        unsure = [*([Cause("history", message, left)] if left > 0 else []), *(Cause("history", gap, 0) for gap in gaps)]
        return [hit for hit, its in often if its.chance >= FORGOTTEN_CHANCE and hit.support >= FORGOTTEN_SUPPORT], unsure


def _case_of(view: GraphView, node: int) -> int:
    """Return the test that contains a node of the graph; -1 if there is none.

    The node can be the test itself. If tests are nested, the innermost test that is a call with a title, such as `it("adds")`, is returned.
    If no test has a title, the outermost test is returned. A module of test code counts as a test.
    """
    first, found = node, -1
    while node >= 0:
        if view.is_test_case[node]:
            found = node
            if _TITLED.match(view.signature(node)):
                break
        node = int(view.parent[node])
    if found >= 0:
        return found
    return first if view.is_test[first] and view.info(first).kind == "module" else -1


def _unindexed(view: GraphView, changed: Sequence[ChangedSymbol]) -> Iterable[Place]:
    """Yield tests in a diff that are not in the graph yet.

    `changed` are the changed symbols.
    """
    for one in changed:
        symbol = one.symbol
        if symbol.entry_point == "test" and one.change != "removed" and symbol.id not in view.index_of:
            yield Place(symbol.path, symbol.qualname, symbol.start_line, symbol.kind == "method")


def _method_names(found: DiffImpact) -> frozenset[str]:
    """Return the names of changed methods and removed functions.

    A method that ran in a recorded test run is skipped, because the tests that run it are known.
    """
    ran = {hit.target for hit in found.impact.tests if ran_target(hit)}
    return frozenset(
        one.symbol.name
        for one in found.changed
        if one.symbol.id not in ran
        and not one.symbol.is_test
        and (one.symbol.kind == "method" or (one.symbol.kind == "function" and one.change == "removed"))
    )


def _by_name(view: GraphView, names: frozenset[str]) -> tuple[dict[str, list[int]], list[Cause]]:
    """Return the tests that call one of `names` on an object of unknown type.

    The tests are listed by name. A name that too many tests call, such as `get`, is left out, because it selects most of the suite. The
    second result tells which names these are.
    """
    most = most_cases(int(np.count_nonzero(view.is_test_case)))
    found = {name: cases for name in sorted(names) if (cases := list(dict.fromkeys(_callers_of_name(view, name))))}
    common = [name for name, cases in found.items() if len(cases) > most]
    message = "changed methods have names that many tests call on objects of unknown type, so no test was selected by them"
    causes = [Cause("common_names", message, len(common), common[:MOST_EXAMPLES])] if common else []
    return {name: cases for name, cases in found.items() if len(cases) <= most}, causes


def _callers_of_name(view: GraphView, name: str) -> Iterable[int]:
    """Yield the tests that call a name whose definition is not known."""
    return (case for call in view.unresolved_named(name) if (case := _case_of(view, call.caller)) >= 0)


def _named_after(view: GraphView, untested: Sequence[ChangedSymbol], by_name: Container[str]) -> tuple[list[int], list[Cause]]:
    """Return tests that are named after an untested function or its file.

    Such tests may call the function through a table or another indirection that the graph lacks. A symbol for whose name `_by_name`
    has tests is left out; `by_name` has the names. The second result tells which names too many tests contain.
    """
    left = [one.symbol for one in untested if one.symbol.name not in by_name]
    if not left:
        return [], []
    nodes = np.flatnonzero(view.is_test_case).tolist()
    cases = NamedCases([(view.path(node), view.qualname(node)) for node in nodes])
    found = {symbol.path: cases.of_file(symbol.path) for symbol in left} | {symbol.name: cases.of_function(symbol.name) for symbol in left}
    common = [name for name, places in found.items() if places is None]
    causes = []
    if common:
        have = "file or function has a name" if len(common) == 1 else "files or functions have names"
        message = f"changed {have} that many tests contain, so no test was selected by it"
        causes.append(Cause("common_names", message, len(common), common[:MOST_EXAMPLES]))
    return list(dict.fromkeys(nodes[at] for places in found.values() for at in places or ())), causes


def _places(view: GraphView, node: int) -> Iterable[Place]:
    """Yield each place of a test for its runner: file, qualified name, line.

    Most tests have one place. If several classes inherit a test method, the method has one place for each class that runs it; see
    `classes_of`.
    """
    info = view.info(node)
    classes = classes_of(view, node)
    for one in classes:
        owner = view.info(one)
        yield Place(owner.path, f"{owner.qualname}.{info.name}", info.start_line if one == view.parent[node] else owner.start_line, True)
    if not classes:
        whole = info.kind == "module" or not info.qualname
        yield Place(info.path, "" if whole else info.qualname, info.start_line, info.kind == "method")


def _untested(view: GraphView, found: DiffImpact, floor: float) -> list[ChangedSymbol]:
    """Return changed functions that no known test reaches.

    Removed functions and tests are left out. `floor` is the minimum confidence of the path from a test.
    """
    nodes = {
        node: one
        for one in found.changed
        if one.change != "removed"
        and one.symbol.kind in FUNCTION_KINDS
        and not one.symbol.is_test
        and (node := view.index_of.get(one.symbol.id)) is not None
    }
    if not nodes:
        return []
    reached = np.zeros(len(view.ids), dtype=bool)
    seeds = np.flatnonzero(view.is_test).tolist()
    if seeds:
        values = step_values(view, IMPACT_KINDS, WEIGHTS)
        reached[walk(forward(view), values, seeds, TEST_DEPTH, floor).nodes] = True
    known = {hit.target for hit in found.impact.tests}
    return [one for node, one in nodes.items() if not reached[node] and one.symbol.id not in known]
