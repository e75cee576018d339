"""Operations on the graph: impact of symbols and diffs, and subgraphs."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from graphmem.analysis import diff as diffing
from graphmem.analysis.completeness import families, runnable
from graphmem.analysis.impact import expand, impact, united_impact
from graphmem.analysis.impact_question import Question, Start
from graphmem.analysis.impact_reach import case_of
from graphmem.analysis.paths import best_path, subgraph
from graphmem.analysis.refs import MAX_REF_CHARACTERS, resolve_ref
from graphmem.analysis.weights import BODY_KINDS, IMPACT_KINDS
from graphmem.answers import Cause, ChangedSymbol, DiffImpact, Missed, SymbolInfo
from graphmem.answers.review import WORKING_TREE
from graphmem.errors import AmbiguousSymbolError, BadInputError, GraphMemError, SymbolNotFoundError
from graphmem.model import EdgeSource, symbol_id
from graphmem.parsing.contents import read_inside
from graphmem.parsing.discovery import content_hash
from graphmem.parsing.language import language_of_path
from graphmem.project.code import generated_files
from graphmem.project.graph.graph_source import with_stale
from graphmem.projection.graph.arrays import SYMBOL
from graphmem.resolution.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from graphmem.analysis.completeness import Runs
    from graphmem.answers import ImpactReport, PathAnswer, Subgraph
    from graphmem.answers.vocabulary import ChangeKind, SymbolKind
    from graphmem.project.code.cells import NotebookCells
    from graphmem.project.code.contracts import ContractQuestions
    from graphmem.project.code.diffs import Diff
    from graphmem.project.code.named_in_text import NamedInText
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.project.graph.outside_evidence import OutsideEvidence
    from graphmem.project.history.co_changes import CoAccess
    from graphmem.project.history.earlier import EarlierGraphs
    from graphmem.project.memories.known import KnownCode
    from graphmem.projection.graph.view import GraphView

DEFAULT_DEPTH: Final = 5
DEFAULT_CONFIDENCE: Final = 0.3
DEFAULT_LIMIT: Final = 1000


@dataclass(eq=False, repr=False)
class ImpactQuestions:
    """Answers what may break if symbols, files or a diff change."""

    graph: GraphSource
    evidence: OutsideEvidence  # evidence of tests that ran
    co_access: CoAccess  # finds files that change with the targets but have no edge to them
    known: KnownCode  # memories about the code of an answer
    contracts: ContractQuestions  # finds code of other projects
    earlier: EarlierGraphs
    cells: NotebookCells
    text: NamedInText  # finds places that name a symbol without an edge

    def impact(
        self,
        targets: str | Sequence[str],
        direction: str = "dependents",
        max_depth: int = DEFAULT_DEPTH,
        min_confidence: float = DEFAULT_CONFIDENCE,
        kinds: Sequence[str] | None = None,
        limit: int = DEFAULT_LIMIT,
        as_of: str | None = None,
    ) -> ImpactReport:
        """Return everything that may behave differently if the targets change.

        Raises:
            BadInputError: a bound is out of range, no target is given, or the graph of `as_of` is not kept.
            SymbolNotFoundError, AmbiguousSymbolError: no target matches exactly one symbol or file; the error is about the first target. If
                at least one target is found, the others are listed in `missed` of the answer.
        """
        question = Question(direction, max_depth, min_confidence, tuple(kinds) if kinds is not None else IMPACT_KINDS, limit)
        earlier = self.earlier.of(as_of) if as_of is not None else None
        view = earlier.view if earlier is not None else self.graph.view()
        refs = [targets] if isinstance(targets, str) else list(targets)
        if not refs:
            raise BadInputError(
                "the targets of the impact analysis are missing; give at least one symbol or file that changes", argument="targets"
            )
        nodes, missed = self._targets(view, refs)
        if earlier is not None:  # what runs, history and memories say is about the current code
            now = self.graph.state()
            then = dataclasses.replace(now, generation=view.generation, indexed_at=earlier.state.indexed_at, stale_files=0, stale=[])
            return dataclasses.replace(impact(view, nodes, question, then), missed=missed, earlier=earlier.state)
        report = dataclasses.replace(impact(view, nodes, question, self.graph.state(), self._runs(view)), missed=missed)
        report = self.co_access.with_also_moves(view, report, sorted({view.path(node) for node in nodes} - {""}))
        if direction == "dependents" and not any(report.by_depth[:1]):
            named = self.text.cause([view.name(node) for node in nodes if view.label[node] == SYMBOL])
            left_out = generated_files.cause(families(view, nodes), self.graph.store.meta())
            report = dataclasses.replace(report, causes=[*filter(None, (named, left_out)), *report.causes])
        return self._beside(view, report, nodes)

    def _beside(self, view: GraphView, report: ImpactReport, targets: Sequence[int]) -> ImpactReport:
        """Add memories, and code of other projects, to an impact report.

        `targets` are the nodes of the question. The memories are about the code in the report. The code of other projects shares contracts
        (such as routes) with the code in the report.
        """
        reached = {one.symbol.id: one.confidence for one in (*report.hits, *report.tests)}
        reached |= dict.fromkeys((one.id for one in report.targets), 1.0)
        report = dataclasses.replace(report, hits=self.cells.of_hits(view, report.hits), tests=self.cells.of_hits(view, report.tests))
        known = self.known.of_impact(view, report, targets)
        try:
            outside = self.contracts.outside(reached, dependents=report.direction == "dependents")
        except GraphMemError as error:  # the list of projects is damaged: the rest of the answer does not depend on it
            causes = [*report.causes, Cause("projects", f"other projects were not asked: {error.message}", 0, [])]
            return dataclasses.replace(report, known=known, causes=causes)
        return dataclasses.replace(report, known=known, outside=outside)

    def _targets(self, view: GraphView, refs: Sequence[str]) -> tuple[list[int], list[Missed]]:
        """Return the graph nodes of symbols and files, given as people name them.

        An example of a name in `refs` is `Cart.total`. The second result has the names that are unknown or ambiguous.

        Raises:
            BadInputError, SymbolNotFoundError, AmbiguousSymbolError: none of the names has a node; the error is about the first name.
        """
        nodes: dict[int, None] = {}
        failures: list[tuple[str, GraphMemError]] = []
        for ref in refs:
            try:
                nodes |= dict.fromkeys(resolve_ref(view, ref, self.graph.root()))
            except (BadInputError, SymbolNotFoundError, AmbiguousSymbolError) as error:
                failures.append((ref, error))
        if failures and not nodes:
            raise failures[0][1]
        return list(nodes), [Missed(ref[:MAX_REF_CHARACTERS], error.code, error.message) for ref, error in failures]

    def impact_of_diff(
        self,
        diff: str | None = None,
        base: str | None = None,
        head: str | None = None,
        max_depth: int = DEFAULT_DEPTH,
        min_confidence: float = DEFAULT_CONFIDENCE,
        limit: int = DEFAULT_LIMIT,
    ) -> DiffImpact:
        """Return what a unified diff or a range of commits may break.

        Give either `diff`, or `base` for a range. Without `head`, the range ends at the working tree.

        Raises:
            BadInputError: both or neither of `diff` and `base` are given, or `diff` is invalid or does not fit the working tree.
            GitError: git is not installed, or the revision is unknown.
        """
        _expect_one_change(diff, base)
        question = Question("dependents", max_depth, min_confidence, IMPACT_KINDS, limit)
        view = self.graph.view()
        root = self.graph.root()
        from graphmem.project.code import diffs

        read = diffs.of_text(root, diff) if diff is not None else diffs.of_range(root, base or "HEAD", head)
        project = self.graph.project
        changed = [(one, _info(view, project, one)) for one in read.changes]
        seeds: dict[str, list[int]] = {"body": [], "name": []}
        targets: list[int] = []
        new = {view.index_of.get(info.id, -1) for one, info in changed if one.change == "added"}
        for one, info in changed:
            node = view.index_of.get(info.id)
            if node is None or (one.change == "added" and not _is_hiding(view, node, new)):
                continue
            targets.append(node)
            body = one.change in ("body", "added")
            seeds["body" if body else "name"].extend([node] if body else expand(view, [node]))
        runs = self._runs(view)
        if runs.judged:
            users, runs = _users_of_added(view, runs, [node for node in targets if node in new])
            seeds["body"] += users
        starts = [Start(seeds["body"], BODY_KINDS), Start(seeds["name"], IMPACT_KINDS)]
        state = self.graph.state()
        if read.head == WORKING_TREE:
            state = with_stale(state, _behind(view, root, read))
        report = united_impact(view, targets, starts, question, state, runs)
        report = _with_untracked(report, [one for one in read.untracked if one in view.path_number or language_of_path(one)])
        report = self.co_access.with_also_moves(view, report, read.files)
        return DiffImpact(
            base=read.base,
            head=read.head,
            files=read.files,
            changed=[ChangedSymbol(info, cast("ChangeKind", one.change), one.lines) for one, info in changed],
            unmapped=read.unmapped,
            impact=self._beside(view, report, targets),
        )

    def path(
        self, source: str, target: str, max_depth: int = 10, min_confidence: float = 0.05, kinds: Sequence[str] | None = None
    ) -> PathAnswer:
        view = self.graph.view()
        from_nodes, to_nodes = resolve_ref(view, source, self.graph.root()), resolve_ref(view, target, self.graph.root())
        answer = best_path(
            view,
            from_nodes,
            to_nodes,
            self.graph.state(),
            max_depth=max_depth,
            min_confidence=min_confidence,
            kinds=tuple(kinds) if kinds is not None else IMPACT_KINDS,
        )
        rules = {step.rule: RULES[step.rule].sentence for step in answer.steps if step.rule in RULES}
        return dataclasses.replace(answer, known=self.known.of_path(view, answer), rules=rules)

    def subgraph(self, seeds: Sequence[str], depth: int = 1, kinds: Sequence[str] | None = None, limit: int = 500) -> Subgraph:
        """Return the graph around symbols and files, up to `depth` steps away.

        Raises:
            BadInputError: a bound is out of range.
            SymbolNotFoundError, AmbiguousSymbolError: no seed (symbol or file in the middle) matches exactly one symbol or file. The error
                is about the first seed. If at least one seed is found, the others are listed in `missed` of the answer.
        """
        view = self.graph.view()
        nodes, missed = self._targets(view, seeds)
        return dataclasses.replace(subgraph(view, nodes, self.graph.state(), depth=depth, kinds=kinds, limit=limit), missed=missed)

    def _runs(self, view: GraphView) -> Runs:
        """Return recorded test runs: the functions that each test ran.

        The records decide which tests an answer lists.
        """
        return self.evidence.runs(view, self.graph.project)


def _with_untracked(report: ImpactReport, paths: Sequence[str]) -> ImpactReport:
    """Add a note to a report: untracked files are not part of the diff.

    `paths` are the untracked files of the project.
    """
    if not paths:
        return report
    verb, them = ("file is", "includes it") if len(paths) == 1 else ("files are", "includes them")
    some = ", ".join([*paths[:3], *(["…"] if len(paths) > 3 else [])])
    message = f"{verb} not tracked by git, and so not part of the change ({some}); `git add --intent-to-add` {them}"
    cause = Cause("untracked", message, len(paths), list(paths[:5]))
    return dataclasses.replace(report, causes=[*report.causes, cause])


def _behind(view: GraphView, root: Path, read: Diff) -> set[str]:
    """Return files of a diff whose current content differs from the graph.

    A file that the graph lacks is returned only if it is new and the diff adds definitions in it. Other such files are not indexed on
    purpose.
    """
    missed = {one.path for one in read.changes if one.change == "added"} & read.new
    hashes = view.arrays.paths.content_hash
    found = set()
    for path in read.files:
        number = view.path_number.get(path)
        data = read_inside(root, path)
        if number is None or view.file_node(path) is None:
            if path in missed:
                found.add(path)
        elif content_hash(data) != hashes[number].as_py():
            found.add(path)
    return found


def _is_hiding(view: GraphView, node: int, new: set[int]) -> bool:
    """Whether an added definition is a method of a class that is not new.

    `new` has all definitions that the diff adds, as graph nodes. A method added to an existing class may override an inherited method, so
    unchanged calls may now reach it. Unchanged code cannot use any other added definition.
    """
    owner = int(view.parent[node])
    return owner >= 0 and owner not in new and view.info(owner).kind == "class" and view.info(node).kind == "method"


def _users_of_added(view: GraphView, runs: Runs, added: list[int]) -> tuple[list[int], Runs]:
    """Find functions that use added methods, and discard outdated test runs.

    `added` has the added methods. `runs` were recorded before these methods existed. A test with an edge to an added method may now run
    this method, so its recorded run is no longer valid.

    Returns:
        The functions and methods outside tests that have an edge to an added method, as graph nodes. Then `runs` without the runs that are
        no longer valid.
    """
    users: list[int] = []
    cases: set[str] = set()
    for row in (row for node in added for row in view.in_edges(node, BODY_KINDS).tolist()):
        user = int(view.src[row])
        case = case_of(view, user)
        if case >= 0:
            cases.add(view.ids[case])
        elif view.source_of(row) != EdgeSource.RUNTIME.value and runnable(view, [user]):
            users.append(user)
    return users, runs._replace(judged=frozenset(runs.judged) - cases)


def _info(view: GraphView, project: str, change: diffing.DefinitionChange) -> SymbolInfo:
    """Return a description of a symbol that a diff changes.

    The information comes from the graph, or from the diff if the graph lacks the symbol.
    """
    one = change.definition
    key = symbol_id(project, change.path, one.qualname, one.kind, one.ordinal)
    if key in view.index_of:
        return view.info(view.index_of[key])
    return SymbolInfo(
        id=key,
        kind=cast("SymbolKind", one.kind),
        name=one.name,
        qualname=one.qualname,
        path=change.path,
        start_line=one.start_line,
        end_line=one.end_line,
        signature=one.signature,
        is_test=change.is_test or "test" in one.modifiers,
        entry_point="test" if change.is_test else "",
    )


def _expect_one_change(diff: str | None, base: str | None) -> None:
    """Raise an error unless exactly one of `diff` and `base` is given."""
    if diff is not None and base is not None:
        raise BadInputError("`diff` and `base` cannot be combined; give only one of them", argument="diff")
    if diff is None and base is None:
        raise BadInputError("the change to examine is missing; give a unified diff as `diff`, or a git revision as `base`", argument="diff")
