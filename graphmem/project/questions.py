"""Verbs that ask the graph: impact, of symbols and of a diff, paths, neighbourhoods, and search."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, cast

from graphmem.analysis import diff as diffing
from graphmem.analysis.impact import Question, Start, expand, impact, united_impact
from graphmem.analysis.paths import best_path, subgraph
from graphmem.analysis.refs import MAX_REF_CHARACTERS, resolve_ref
from graphmem.analysis.weights import BODY_KINDS, IMPACT_KINDS
from graphmem.answers import ChangedSymbol, DiffImpact, Missed, SymbolInfo
from graphmem.errors import AmbiguousSymbolError, BadInputError, GraphMemError, SymbolNotFoundError
from graphmem.memory.validate import moment
from graphmem.model import symbol_id
from graphmem.project import diffs
from graphmem.runtime.naming import in_project
from graphmem.search.request import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime
    from pathlib import Path

    from graphmem.answers import ImpactReport, IndexState, PathAnswer, SearchAnswer, Subgraph
    from graphmem.answers.vocabulary import ChangeKind, SymbolKind
    from graphmem.injection.injector import Injector
    from graphmem.project.outside_evidence import OutsideEvidence
    from graphmem.projection.graph import GraphView
    from graphmem.projection.projections import Projections
    from graphmem.search.searcher import Searcher
    from graphmem.store.base import GraphStore

DEFAULT_DEPTH: Final = 5
DEFAULT_CONFIDENCE: Final = 0.3
DEFAULT_LIMIT: Final = 1000


class QuestionVerbs:
    """Part of `GraphMem`."""

    _store: GraphStore
    _projections: Projections
    _searcher: Searcher
    _injector: Injector
    _evidence: OutsideEvidence
    _view: Callable[[], GraphView]
    _root: Callable[[], Path]
    _with_also_moves: Callable[[GraphView, ImpactReport, Sequence[str]], ImpactReport]
    state: Callable[[], IndexState]

    def impact(
        self,
        targets: str | Sequence[str],
        direction: str = "dependents",
        max_depth: int = DEFAULT_DEPTH,
        min_confidence: float = DEFAULT_CONFIDENCE,
        kinds: Sequence[str] | None = None,
        limit: int = DEFAULT_LIMIT,
    ) -> ImpactReport:
        """Everything that could behave differently if the targets change, with the evidence.

        Raises:
            BadInputError: a bound is out of range, or there is no target.
            SymbolNotFoundError, AmbiguousSymbolError: no target is one symbol or file; for the first. Of several targets those that
                are none are in `missed`.
        """
        question = Question(direction, max_depth, min_confidence, tuple(kinds) if kinds is not None else IMPACT_KINDS, limit)
        view = self._view()
        refs = [targets] if isinstance(targets, str) else list(targets)
        if not refs:
            raise BadInputError("say what changes: at least one target is needed", argument="targets")
        nodes, missed = self._targets(view, refs)
        report = dataclasses.replace(impact(view, nodes, question, self.state(), self._judged(view)), missed=missed)
        return self._with_also_moves(view, report, sorted({view.path(node) for node in nodes} - {""}))

    def _paths(self, given: Iterable[str] | None) -> tuple[str, ...]:
        """Paths from the root, however they were given; what can be none is refused later."""
        root = self._store.meta().get("root", "")
        return tuple(in_project(one, root) if isinstance(one, str) else one for one in given or ())

    def _targets(self, view: GraphView, refs: Sequence[str]) -> tuple[list[int], list[Missed]]:
        """The nodes some references mean, and the references that mean none.

        Raises:
            BadInputError, SymbolNotFoundError, AmbiguousSymbolError: none means any; for the first.
        """
        nodes: dict[int, None] = {}
        failures: list[tuple[str, GraphMemError]] = []
        for ref in refs:
            try:
                nodes |= dict.fromkeys(resolve_ref(view, ref, self._root()))
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
        """The united impact of what a diff changes: a unified diff, or a git range (`base` alone: to the working tree).

        Raises:
            BadInputError: both or none are given, the diff is none, or fits the working tree on neither side.
            GitError: git is not there, or does not know a revision.
        """
        if (diff is None) == (base is None):
            raise BadInputError("give either a diff or a base revision", argument="diff")
        question = Question("dependents", max_depth, min_confidence, IMPACT_KINDS, limit)
        view = self._view()
        root = self._root()
        read = diffs.of_text(root, diff) if diff is not None else diffs.of_range(root, base or "HEAD", head)
        project = self._store.meta().get("project", "")
        changed = [(one, _info(view, project, one)) for one in read.changes]
        seeds: dict[str, list[int]] = {"body": [], "name": []}
        targets: list[int] = []
        for one, info in changed:
            node = view.index_of.get(info.id)
            if node is None or one.change == "added":
                continue
            targets.append(node)
            body = one.change == "body"
            seeds["body" if body else "name"].extend([node] if body else expand(view, [node]))
        starts = [Start(seeds["body"], BODY_KINDS), Start(seeds["name"], IMPACT_KINDS)]
        report = united_impact(view, targets, starts, question, self.state(), self._judged(view))
        return DiffImpact(
            base=read.base,
            head=read.head,
            files=read.files,
            changed=[ChangedSymbol(info, cast("ChangeKind", one.change), one.lines) for one, info in changed],
            unmapped=read.unmapped,
            impact=self._with_also_moves(view, report, read.files),
        )

    def path(
        self, source: str, target: str, max_depth: int = 10, min_confidence: float = 0.05, kinds: Sequence[str] | None = None
    ) -> PathAnswer:
        """How `source` depends on `target`: the most confident path."""
        view = self._view()
        from_nodes, to_nodes = resolve_ref(view, source, self._root()), resolve_ref(view, target, self._root())
        return best_path(
            view,
            from_nodes,
            to_nodes,
            self.state(),
            max_depth=max_depth,
            min_confidence=min_confidence,
            kinds=tuple(kinds) if kinds is not None else IMPACT_KINDS,
        )

    def subgraph(self, seeds: Sequence[str], depth: int = 1, kinds: Sequence[str] | None = None, limit: int = 500) -> Subgraph:
        """The nodes around some symbols and the edges among them.

        Raises:
            BadInputError: a bound is out of range.
            SymbolNotFoundError, AmbiguousSymbolError: no seed is one symbol or file; for the first. Of several seeds those that are
                none are in `missed`.
        """
        view = self._view()
        nodes, missed = self._targets(view, seeds)
        return dataclasses.replace(subgraph(view, nodes, self.state(), depth=depth, kinds=kinds, limit=limit), missed=missed)

    def search(
        self,
        query: str,
        limit: int = 10,
        files: Iterable[str] | None = None,
        within: Iterable[str] | None = None,
        kinds: Iterable[str] | None = None,
        types: Iterable[str] | None = None,
        phase: str = "",
        retired: bool = False,
        as_of: datetime | str | None = None,
        explain: bool = True,
        budget_tokens: int | None = None,
    ) -> SearchAnswer:
        """Hybrid search in code and memories, best hit first; the answer iterates over its hits.

        Args:
            query: words, an identifier, or a question.
            limit: hits wanted, 1 to 200.
            files: paths that are open right now: what is near them rises, nothing is left out.
            within: only in these files and below these directories.
            kinds: of code, prose, data, symbol, memory; default all.
            types: only memories of these types.
            phase: of work: define, implement, validate, refine, explore or reflect; decides which types of memories rise.
            retired: also memories that were superseded or deprecated.
            as_of: only memories that were believed at that time.
            explain: fill in `parts` and `factors` of every hit.
            budget_tokens: also write the hits as one text of at most so many tokens: code by file, memories with citations (`packed`).

        Raises:
            BadInputError: see `search.request.check`.
            NotIndexedError: there is neither code nor a memory.
        """
        request = Request(
            query=query,
            k=limit,
            files=self._paths(files),
            within=self._paths(within),
            kinds=frozenset(kinds or ()),
            types=frozenset(types or ()),
            phase=phase,
            retired=retired,
            as_of=None if as_of is None else moment("as_of", as_of),
            explain=explain,
        )
        if request.wants_code and not (request.wants_memories and len(self._projections.memories())):
            self._view()
        answer = self._searcher.search(request, self.state)
        if budget_tokens is None:
            return answer
        return dataclasses.replace(answer, packed=self._injector.packed(answer, budget_tokens))

    def _judged(self, view: GraphView) -> frozenset[str]:
        """Tests that impact judges by their last run."""
        return self._evidence.judged(view, self._store.meta().get("project", ""))


def _info(view: GraphView, project: str, change: diffing.DefinitionChange) -> SymbolInfo:
    """The symbol a change is about: as the graph has it, else as the diff tells it."""
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
        is_test="test" in one.modifiers,
    )
