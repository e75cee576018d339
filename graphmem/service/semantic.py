"""The verbs of the semantic layer: what the system is made of, where it hurts, what could go."""

from __future__ import annotations

import contextlib
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphmem.analysis.semantic import central, heat
from graphmem.analysis.semantic.cochange import together
from graphmem.analysis.semantic.dead import Mentions, find, judged
from graphmem.analysis.semantic.drift import State
from graphmem.analysis.semantic.duplicates import LEAST_TOKENS, SIMILAR, Piece, duplicates
from graphmem.analysis.semantic.entries import ENTRY_KINDS, Calls, Entries
from graphmem.analysis.semantic.flows import MAX_STEPS, flows
from graphmem.analysis.semantic.modules import Modules
from graphmem.analysis.semantic.naming import Known
from graphmem.answers_semantic import (
    CentralPage,
    CentralSymbol,
    CyclesAnswer,
    DeadCodePage,
    Document,
    Drift,
    DuplicatePage,
    EntryPoint,
    EntryPointPage,
    FlowPage,
    Hotspot,
    HotspotPage,
    ModuleDetail,
    ModuleMap,
)
from graphmem.errors import BadInputError, SymbolNotFoundError
from graphmem.service import diagram
from graphmem.service.diagram import Diagram, of_impact, of_modules
from graphmem.service.drift import drift
from graphmem.service.history import CHURN_HALF_LIFE_S
from graphmem.service.report import report
from graphmem.service.svg import svg
from graphmem.store.base import FlowRow, ModuleRow

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from graphmem.analysis.semantic.heat import F64
    from graphmem.answers import ImpactReport, IndexState, Project
    from graphmem.answers_semantic import DeadSymbol, DuplicateGroup, Flow
    from graphmem.observe.history import History
    from graphmem.projection.graph import GraphView
    from graphmem.settings import Settings
    from graphmem.store.base import GraphStore

LEVELS: Final = ("files", "modules")
HOT_LEVELS: Final = ("files", "symbols")
MAX_ROWS: Final = 10_000
VIEWS: Final = ("modules", "impact")
FORMATS: Final[dict[str, tuple[Callable[[Diagram], str], str, str]]] = {
    "svg": (svg, "image/svg+xml", "svg"),
    "mermaid": (diagram.mermaid, "text/vnd.mermaid", "mmd"),
    "dot": (diagram.dot, "text/vnd.graphviz", "dot"),
    "graphml": (diagram.graphml, "application/graphml+xml", "graphml"),
    "json": (diagram.as_json, "application/json", "json"),
}
DEAD_CONFIDENCE: Final = 0.6  # at and above it, dead code is listed unless asked otherwise
_BEGINNING: Final = re.compile(r"""["'`]([^\W\d]\w+_)(?:["'`{%]|\$\{)""")  # "visit_" + kind, f"visit_{kind}", "visit_%s" % kind
_WORD: Final = re.compile(r"[^\W\d]\w*")


class Semantics:
    """What is derived from one generation of the graph, each part worked out when it is first asked for."""

    def __init__(self, view: GraphView, store: GraphStore, history: History) -> None:
        self.view = view
        self.commits = sum(history.from_git)
        self.notes: list[str] = []
        self._store = store
        self._history = history
        self._flows: dict[tuple[str, ...] | None, list[Flow]] = {}
        self.lock = threading.RLock()

    @cached_property
    def modules(self) -> Modules:
        """The partition and what follows from it."""
        churn, co_change = self._changes()
        generation, stored = self._store.modules()
        known = [Known(one.id, one.name, frozenset(one.paths)) for one in stored]
        current = generation == self.view.generation
        made = Modules(self.view, known, self._store.meta().get("project", ""), churn, co_change, current)
        if not current:
            self._keep(made)
        return made

    def _changes(self) -> tuple[dict[str, float] | None, dict[tuple[str, str], float]]:
        """Churn by path, None when there is no history, and what changes together."""
        history = self._history
        with history.lock:
            paths = [node.path for node in history.nodes]
            changes = [[paths[one] for one in group] for group in history.groups]
            churn = {one.path: one.recent for one in history.files(CHURN_HALF_LIFE_S)} if any(history.from_git) else None
        if churn is None:
            self.notes.append("there is no history of commits: heat is made of complexity and dependents alone")
        return churn, together(changes)

    def _keep(self, made: Modules) -> None:
        """Write the modules down, so that the next generation's keep their names and ids; a graph that went on meanwhile is not told."""
        if self._store.generation() != self.view.generation:
            return
        view, infos = self.view, {one.id: one for one in made.infos}
        rows = []
        for group in made.groups:
            nodes = [view.file_node(path) for path in group.paths]
            files = [view.ids[node] for node in nodes if node is not None]
            rows.append(ModuleRow(group.id, group.name, group.path, infos[group.id].summary, files))
        self._store.put_modules(self.view.generation, rows, [(one.src, one.dst, one.weight) for one in made.dependencies])

    @cached_property
    def entries(self) -> Entries:
        """Entry points."""
        return Entries(self.modules.files)

    @cached_property
    def calls(self) -> Calls:
        """Confident calls."""
        return Calls(self.view)

    @cached_property
    def rank(self) -> F64:
        """Rank of each node."""
        return central.page_rank(self.view)

    @cached_property
    def dead(self) -> tuple[list[DeadSymbol], int]:
        """Dead code of any confidence, and how many public definitions were spared."""
        found = find(self.entries)
        names = {self.view.name(node) for node in found.nodes}
        return judged(self.entries, found, self._mentions(names)), found.spared

    def flows(self, kinds: tuple[str, ...] | None) -> list[Flow]:
        """Flows of these kinds of entry points."""
        if kinds not in self._flows:
            self._flows[kinds] = flows(self.modules, self.entries, kinds)
            if kinds is None and self._store.meta().get("flows_generation") != str(self.view.generation) == str(self._store.generation()):
                self._store.put_flows(self.view.generation, [_flow_row(one) for one in self._flows[kinds]])
        return self._flows[kinds]

    @cached_property
    def pieces(self) -> list[Piece]:
        """Code chunks, to be compared."""
        view = self.view
        language = dict(zip(view.paths, view.arrays.paths.language.to_pylist(), strict=True))
        qualname = view.arrays.nodes.qualname
        found = []
        for row in self._chunks():
            if row["kind"] == "code":
                node = view.index_of.get(row["symbol_id"])
                name = str(qualname[node].as_py()) if node is not None else ""
                found.append(Piece(row["path"], name, row["start_line"], row["end_line"], language.get(row["path"], ""), row["text"]))
        return found

    def duplicates(self, least_tokens: int, similar: float, tests: bool) -> list[DuplicateGroup]:
        """Groups of duplicates."""
        files = self.modules.files
        testing = {files.paths[i] for i in np.flatnonzero(files.is_test).tolist()}
        return duplicates((one for one in self.pieces if tests or one.path not in testing), least_tokens, similar)

    def _mentions(self, names: set[str]) -> Mentions:
        """How often these names stand in the texts of the index."""
        counts: dict[str, Counter[str]] = {"code": Counter(), "prose": Counter()}
        beginnings: set[str] = set()
        for row in self._chunks():
            counts["code" if row["kind"] == "code" else "prose"].update(word for word in _WORD.findall(row["text"]) if word in names)
            if row["kind"] == "code":
                beginnings.update(_BEGINNING.findall(row["text"]))
        return Mentions(counts["code"], counts["prose"], frozenset(beginnings))

    def _chunks(self) -> Iterator[dict[str, Any]]:
        table = self._store.chunks().select(["path", "symbol_id", "kind", "start_line", "end_line", "text"])
        for batch in table.to_batches(max_chunksize=2_000):
            yield from batch.to_pylist()


class SemanticVerbs:
    """Part of `GraphMem`."""

    _store: GraphStore
    _view: Callable[[], GraphView]
    state: Callable[[], IndexState]
    _known_history: Callable[[], History]
    project: Callable[[], Project]
    _root: Callable[[], Path]
    _data_dir: Path
    _settings: Settings
    impact: Callable[..., ImpactReport]
    _semantic: Semantics | None = None
    _semantic_turn = threading.Lock()

    def modules(self) -> ModuleMap:
        """What the system is made of: modules, most lines first, and their dependencies, heaviest first.

        Raises:
            NotIndexedError: there is no index yet; so do all verbs of this class.
        """
        here = self._semantics()
        with here.lock:
            return here.modules.map(list(here.notes), self.state())

    def module(self, ref: str) -> ModuleDetail:
        """One module with its files and their links.

        Args:
            ref: its name or id, or the path of a file in it.

        Raises:
            SymbolNotFoundError: no module answers to that.
        """
        here = self._semantics()
        with here.lock:
            at = here.modules.find(ref)
            if at is None:
                at = here.modules.find(here.modules.name_of(ref) or ref)
            if at is None:
                names = sorted(group.name for group in here.modules.groups)
                near = [name for name in names if ref.casefold() in name.casefold()][:10] or names[:10]
                raise SymbolNotFoundError(f"no module is called {ref!r}; `graphmem modules` lists them", ref=ref, suggestions=near)
            return here.modules.detail(at, self.state())

    def cycles(self, level: str = "files", limit: int = 50) -> CyclesAnswer:
        """Import cycles between files, or dependency cycles between modules, largest first, with where to cut them."""
        _one_of("level", level, LEVELS)
        _check_limit(limit)
        here = self._semantics()
        with here.lock:
            found = here.modules.file_cycles if level == "files" else here.modules.module_cycles
        return CyclesAnswer(level, found[:limit], len(found), self.state())

    def entry_points(self, kinds: Sequence[str] | None = None, limit: int = 100, offset: int = 0) -> EntryPointPage:
        """Where somebody outside comes in: by kind (main, command, route, export, test, fixture), then path and line."""
        wanted = _kinds(kinds)
        _check_limit(limit, offset)
        here = self._semantics()
        with here.lock:
            view, entries = here.view, here.entries
            by_kind = Counter(entries.kind.values())
            chosen = sorted(
                (node for node, kind in entries.kind.items() if wanted is None or kind in wanted),
                key=lambda node: (_place(entries.kind[node]), view.path(node), int(view.start_line[node]), node),
            )
            page = chosen[offset : offset + limit]
            found = [
                EntryPoint(info, entries.kind[node], here.modules.name_of(info.path), here.calls.reach(node, MAX_STEPS))
                for node, info in zip(page, view.infos(page), strict=True)
            ]
        counts = {kind: by_kind[kind] for kind in sorted(by_kind, key=_place)}
        return EntryPointPage(found, len(chosen), counts, self.state())

    def flows(self, kinds: Sequence[str] | None = None, module: str | None = None, limit: int = 50, offset: int = 0) -> FlowPage:
        """Ways through the code from entry points (default: all but tests and fixtures), through the most modules first.

        Args:
            kinds: of entry points.
            module: only flows that pass this module: its name, its id, or the path of a file in it.
            limit: rows of the page, 1 to 10,000.
            offset: of its first row.
        """
        wanted = _kinds(kinds)
        _check_limit(limit, offset)
        here = self._semantics()
        with here.lock:
            if module is not None and module not in {group.name for group in here.modules.groups}:
                module = self.module(module).module.name
            found = here.flows(wanted)
        found = [one for one in found if module is None or module in one.modules]
        return FlowPage(found[offset : offset + limit], len(found), self.state())

    def hotspots(self, level: str = "files", limit: int = 50, offset: int = 0) -> HotspotPage:
        """Where change hurts: files or symbols by churn, complexity and dependents, hottest first."""
        _one_of("level", level, HOT_LEVELS)
        _check_limit(limit, offset)
        here = self._semantics()
        with here.lock:
            modules, view = here.modules, here.view
            files, churn = modules.files, modules.churn
            if level == "files":
                score, dependents, complexity, nodes = modules.heat, heat.file_dependents(files), files.complexity, files.node.tolist()
                of = range(len(files))
            else:
                score, dependents = heat.symbol_heat(files, churn)
                complexity, nodes = view.complexity.astype(np.int64), list(range(view.n))
                of = files.file_of(np.arange(view.n, dtype=np.int32)).tolist()
            order = [i for i in np.lexsort((np.arange(len(score)), -score)).tolist() if score[i] > 0]
            rows = order[offset : offset + limit]
            found = [
                Hotspot(
                    info,
                    round(float(churn[of[i]]), 2) if churn is not None else 0.0,
                    int(complexity[i]),
                    int(dependents[i]),
                    float(score[i]),
                )
                for i, info in zip(rows, view.infos([nodes[i] for i in rows]), strict=True)
            ]
        return HotspotPage(level, found, len(order), churn is not None, list(here.notes), self.state())

    def central_symbols(self, limit: int = 50) -> CentralPage:
        """The definitions much of the rest leans on, directly or not."""
        _check_limit(limit)
        here = self._semantics()
        with here.lock:
            nodes = central.central(here.view, here.rank, limit)
            used = here.modules.used
            found = [
                CentralSymbol(info, round(float(here.rank[node]), 2), int(used[node]))
                for node, info in zip(nodes, here.view.infos(nodes), strict=True)
            ]
        return CentralPage(found, self.state())

    def dead_code(self, min_confidence: float = DEAD_CONFIDENCE, limit: int = 100, offset: int = 0) -> DeadCodePage:
        """Definitions nothing seems to need, most certain first, with the reason.

        Args:
            min_confidence: of what is listed, in [0, 1].
            limit: rows of the page, 1 to 10,000.
            offset: of its first row.
        """
        if not 0 <= min_confidence <= 1:
            raise BadInputError(f"min_confidence is {min_confidence}, allowed is 0 to 1", argument="min_confidence", value=min_confidence)
        _check_limit(limit, offset)
        here = self._semantics()
        with here.lock:
            found, spared = here.dead
        kept = [one for one in found if one.confidence >= min_confidence]
        notes = []
        if spared:
            notes.append(f"{spared:,} public definitions nothing here uses are left out: code outside may")
        if len(found) > len(kept):
            notes.append(f"{len(found) - len(kept):,} more are less certain than {min_confidence}")
        lines = sum(one.lines for one in kept)
        return DeadCodePage(kept[offset : offset + limit], len(kept), lines, notes, self.state())

    def duplicates(
        self,
        min_tokens: int = LEAST_TOKENS,
        similarity: float = SIMILAR,
        tests: bool = False,
        limit: int = 50,
        offset: int = 0,
    ) -> DuplicatePage:
        """Pieces of code that say the same, those with the most lines to save first.

        Args:
            min_tokens: shorter pieces are passed over, 20 to 10,000.
            similarity: least Jaccard similarity of near duplicates, 0.5 to 1.
            tests: look in tests as well.
            limit: rows of the page, 1 to 10,000.
            offset: of its first row.
        """
        if not 20 <= min_tokens <= 10_000:
            raise BadInputError(f"min_tokens is {min_tokens}, allowed is 20 to 10,000", argument="min_tokens", value=min_tokens)
        if not 0.5 <= similarity <= 1:
            raise BadInputError(f"similarity is {similarity}, allowed is 0.5 to 1", argument="similarity", value=similarity)
        _check_limit(limit, offset)
        here = self._semantics()
        with here.lock:
            found = here.duplicates(min_tokens, similarity, tests)
        return DuplicatePage(found[offset : offset + limit], len(found), sum(one.lines for one in found), self.state())

    def drift(self, base: str, head: str | None = None) -> Drift:
        """How modules, dependencies, cycles and public API changed between two revisions. Reads a tree for each, which takes a while.

        Args:
            base: the older revision.
            head: the newer one; default: the index as it is.

        Raises:
            GitError: git is not there, or does not know a revision.
        """
        here = self._semantics()
        with here.lock:
            state = State(here.modules, here.entries)
        return drift(self._root(), self._data_dir, self.project().name, base, head, state, self._tree_view)

    @contextlib.contextmanager
    def _tree_view(self, tree: Path, folder: Path) -> Iterator[GraphView]:
        """The graph of another tree, in an index of its own."""
        with type(self).open(folder, settings=self._settings, keep_warm=False) as other:  # type: ignore[attr-defined]
            other.index(tree)
            yield other._view()

    def report(self) -> Document:
        """One HTML document that says what the system is made of and where it hurts; needs nothing else to be read."""
        return Document(report(self), "text/html", f"{self.project().name or 'project'}.html")

    def export_view(self, view: str = "modules", format: str = "svg", targets: Sequence[str] | None = None) -> Document:  # noqa: A002
        """A view as a picture or in the language of another tool.

        Args:
            view: modules (the map), or impact (three zones around the targets).
            format: svg, mermaid, dot, graphml or json.
            targets: references, for impact.

        Raises:
            BadInputError: no such view or format, or targets where none belong.
            SymbolNotFoundError, AmbiguousSymbolError: for a target.
        """
        _one_of("view", view, VIEWS)
        _one_of("format", format, tuple(FORMATS))
        if (view == "impact") != bool(targets):
            says = (
                "impact is the impact of something: name what"
                if view == "impact"
                else "the map of modules is of everything: name no target"
            )
            raise BadInputError(says, argument="targets", value=list(targets or ()))
        if view == "impact":
            up, down = self.impact(list(targets or ())), self.impact(list(targets or ()), direction="dependencies")
            drawn = of_impact(up, down, "Impact of " + ", ".join(one.ref for one in up.targets))
        else:
            drawn = of_modules(self.modules(), f"Modules of {self.project().name}")
        write, media_type, ending = FORMATS[format]
        return Document(write(drawn), media_type, f"{view}.{ending}")

    def _semantics(self) -> Semantics:
        """What is derived from the newest graph."""
        view, history = self._view(), self._known_history()
        with self._semantic_turn:
            here = self._semantic
            if here is None or here.view is not view or here.commits != sum(history.from_git):
                here = self._semantic = Semantics(view, self._store, history)
            return here


def _flow_row(flow: Flow) -> FlowRow:
    steps = [(step.dst.id, step.confidence, step.rule, step.line) for step in flow.steps]
    return FlowRow(flow.id, flow.name, flow.kind, flow.confidence, flow.entry.id, steps)


def _kinds(kinds: Sequence[str] | None) -> tuple[str, ...] | None:
    if kinds is None:
        return None
    for kind in kinds:
        _one_of("kinds", kind, ENTRY_KINDS)
    return tuple(sorted(set(kinds)))


def _place(kind: str) -> tuple[int, str]:
    return (ENTRY_KINDS.index(kind) if kind in ENTRY_KINDS else len(ENTRY_KINDS)), kind


def _one_of(argument: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise BadInputError(f"{value!r} is no {argument}; there are {', '.join(allowed)}", argument=argument, value=value)


def _check_limit(limit: int, offset: int = 0) -> None:
    if not 1 <= limit <= MAX_ROWS:
        raise BadInputError(f"limit is {limit}, allowed is 1 to {MAX_ROWS:,}", argument="limit", value=limit)
    if offset < 0:
        raise BadInputError(f"offset is {offset}, it cannot be negative", argument="offset", value=offset)
