"""Results derived from the graph, such as modules, flows and dead code.

Modules are groups of files. Flows are paths of calls from entry points. Each result is computed when it is first requested, once for each
committed change of the graph.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphmem.analysis.semantic import central
from graphmem.analysis.semantic.cochange import together
from graphmem.analysis.semantic.dead import Mentions, find, judged
from graphmem.analysis.semantic.duplicates import Piece, duplicates
from graphmem.analysis.semantic.entries import Calls, Entries
from graphmem.analysis.semantic.files import Packages
from graphmem.analysis.semantic.flows import flows
from graphmem.analysis.semantic.modules import Modules
from graphmem.analysis.semantic.naming import Known
from graphmem.analysis.semantic.roles import roles
from graphmem.analysis.semantic.titles import Title, folder_descriptions, titles
from graphmem.answers.findings import DeadSymbol, Flow, FrameworkName
from graphmem.answers.modules import Cycle, ModuleDependency, ModuleInfo
from graphmem.model import PackedChunkRow
from graphmem.parsing.language import namespaced_languages, packaged_languages
from graphmem.project.history.history_source import CHURN_HALF_LIFE_S
from graphmem.project.structure.kept import Kept, key_of, save
from graphmem.runtime.arrow import pc
from graphmem.runtime.data.text_only import text_only_note
from graphmem.runtime.process.limits import kept_if_possible
from graphmem.runtime.texts.compression import inflated
from graphmem.store.base import FlowRow, ModuleRow
from graphmem.store.tables.meta_names import MODULES_OF

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from graphmem.analysis.semantic.heat import F64
    from graphmem.answers.findings import DuplicateGroup
    from graphmem.answers.vocabulary import FileRole
    from graphmem.history.co_edits import History
    from graphmem.projection.graph.view import GraphView
    from graphmem.store.base import GraphStore

# Results of the modules that are kept, with their types.
_OF_MODULES: Final[dict[str, object]] = {
    "upward": frozenset[tuple[int, int]],
    "layer": dict[int, int],
    "knots": list[list[int]],
    "stratum": dict[int, int],
    "worth_cutting": frozenset[tuple[int, int]],
    "infos": list[ModuleInfo],
    "module_cycles": list[Cycle],
    "dependencies": list[ModuleDependency],
    "modularity": float,
}

_BEGINNING: Final = re.compile(r"""["'`]([^\W\d]\w+_)(?:["'`{%]|\$\{)""")  # "visit_" + kind, f"visit_{kind}", "visit_%s" % kind
_OVERVIEW: Final = r"(?i)(^|/)(readme|architecture|overview|contributing)[^/]*\.(md|markdown|rst)$"  # pages that describe folders
_WORD: Final = re.compile(r"[^\W\d]\w*")


def packages_of(languages: Collection[str]) -> Packages:
    """Return languages whose packages are folders, and those with namespaces."""
    return Packages(packaged_languages(languages), namespaced_languages(languages))


class Semantics:
    """Modules, flows and other results for one state of the graph.

    Modules are groups of files, and flows are paths of calls from entry points. A result is computed when it is first used, so two threads
    must not use the object at once. Hold `lock` during every use, except a call of `ready`.
    """

    def __init__(
        self,
        view: GraphView,
        store: GraphStore,
        history: Callable[[], History],
        commits: int = 0,
        file: Path | None = None,
        gaps: Callable[[], list[str]] = list,
    ) -> None:
        self.view = view
        self.commits = commits
        self.notes: list[str] = []
        self._store = store
        self._history = history
        self._file = file  # of kept results
        self._gaps = gaps  # sentences on what the history lacks
        self._flows: dict[tuple[str, ...] | None, list[Flow]] = {}
        self._unpacked: dict[str, Any] = {}  # saved results by name
        self.lock = threading.RLock()

    @cached_property
    def _key(self) -> str:
        return key_of(self.view, self.commits)

    @cached_property
    def _saved(self) -> Kept:
        """Modules, call flows and other results that an earlier process saved."""
        return Kept.load(self._file, self._key if self._file is not None else "", self.view)

    def _saved_of(self, made: Modules) -> bool:
        """Whether results saved on disk still apply to the modules in `made`.

        The saved results apply if they were derived from modules with the same ids, names and files.
        """
        return self._saved.has("groups") and self._saved.of("groups", str) == _groups(made)

    @cached_property
    def _are_saved(self) -> bool:
        """Whether the modules saved on disk belong to the present graph.

        If so, modules and flows (paths of calls) are loaded, and the files need not be divided into modules again.
        """
        return self._division_is_saved() and self._saved.has("settled") and self._saved.of("settled", bool)

    def _restored(self, name: str, hint: object) -> Any:
        """Return the saved result `name`, converted to its type `hint`.

        The converted object is cached, and later calls return the same object.
        """
        if name not in self._unpacked:
            self._unpacked[name] = self._saved.of(name, hint)
        return self._unpacked[name]

    def _division_is_saved(self) -> bool:
        """Whether the saved modules are those of the database for this graph."""
        generation = self.view.generation
        return (
            self._store.meta().get(MODULES_OF) == str(generation)
            and self._saved.has("stored")
            and self._saved.of("generation", int) == generation
        )

    def keep(self) -> None:
        """Save modules, call flows and more, which the explorer shows first.

        If results were loaded from disk, nothing is saved.
        """
        if self._file is None or self._saved:
            return
        made = self.modules
        parts = {
            "churn": self._churn,
            "groups": _groups(made),
            "generation": self.view.generation,
            "settled": made.is_settled(),
            "framework_names": self.framework_names,
            "stored": [(one.id, one.name, list(one.paths)) for one in sorted(made.groups, key=lambda group: group.id)],
            **{name: getattr(made, name) for name in _OF_MODULES},
            "titles": self.titles,
            "dead": self.dead,
            "flows": self.flows(None),
        }
        with kept_if_possible("results for the explorer"):
            save(self._file, self.view.generation, self._key, parts)

    @cached_property
    def modules(self) -> Modules:
        """The division of files into modules, and the results derived from it."""
        known, current = self._known_modules()
        if self._churn is None:
            self.notes.append("no commit history found; heat uses complexity and dependents only")
        self.notes += [text_only_note(self.view.text_only)] if self.view.text_only else []
        self.notes += self._gaps()
        co_change = {} if current else self._together()
        packages = packages_of(self.view.languages)
        made = Modules(self.view, known, self._store.meta().get("project", ""), self._churn, co_change, current, packages)
        if not current or {(one.name, frozenset(one.paths)) for one in made.groups} != {(one.name, one.paths) for one in known}:
            self._keep(made)
        elif self._saved_of(made):
            for name, hint in _OF_MODULES.items():
                made.__dict__[name] = self._restored(name, hint)
        return made

    def _known_modules(self) -> tuple[list[Known], bool]:
        """Return the stored modules, and whether they are up to date.

        Stored modules are up to date if they were computed from the graph's current state. If the file of saved results has up-to-date
        modules, the database is not opened. This makes the first page of the explorer fast.
        """
        if self._division_is_saved():
            return [
                Known(one, name, frozenset(paths)) for one, name, paths in self._saved.of("stored", list[tuple[str, str, list[str]]])
            ], True
        of_generation, stored = self._store.modules()
        return [Known(one.id, one.name, frozenset(one.paths)) for one in stored], of_generation == self.view.generation

    @cached_property
    def _churn(self) -> dict[str, float] | None:
        """Churn (frequency of change) of each file by path; None without commits."""
        if self._saved.has("churn"):
            found: dict[str, float] | None = self._saved.of("churn", dict[str, float] | None)
            return found
        history = self._history()
        with history.lock:
            return {one.path: one.recent for one in history.files(CHURN_HALF_LIFE_S)} if any(history.from_git) else None

    def _together(self) -> dict[tuple[str, str], float]:
        """Return how strongly pairs of files change together, 0 to 1.

        The keys are pairs of paths. The function `together` computes the strength.
        """
        history = self._history()
        with history.lock:
            paths = [node.path for node in history.nodes]
            changes = [[paths[one] for one in group] for group in history.groups]
        return together(changes)

    def _keep(self, made: Modules) -> None:
        """Store the modules in the database, so that names and ids can be reused.

        When the graph has changed, new modules are compared with the stored ones. A new module that is similar to a stored one gets the
        name and id of the stored one. Nothing is stored if the graph has changed since `made` was derived.
        """
        if self._store.generation() != self.view.generation:
            return
        view, infos = self.view, {one.id: one for one in made.infos}
        rows = []
        for group in made.groups:
            nodes = [view.file_node(path) for path in group.paths]
            files = [view.ids[node] for node in nodes if node is not None]
            rows.append(ModuleRow(group.id, group.name, group.path, infos[group.id].summary, files))
        with kept_if_possible("modules"):
            self._store.put_modules(self.view.generation, rows, [(one.src, one.dst, one.weight) for one in made.dependencies])

    @cached_property
    def roles(self) -> dict[str, FileRole]:
        """The role of each indexed file, such as code or tests, by path."""
        return roles(self.modules)

    @cached_property
    def entries(self) -> Entries:
        """The entry points of the project: code that is called from outside.

        Examples are routes and commands.
        """
        return Entries(self.modules.files)

    @cached_property
    def framework_names(self) -> dict[str, list[FrameworkName]]:
        """The names that frameworks use for symbols, by the id of the symbol.

        An example is the route "/users/<id>" of the function that handles it.
        """
        if self._saved.has("framework_names") and self._saved.of("generation", int) == self.view.generation:
            saved: dict[str, list[FrameworkName]] = self._saved.of("framework_names", dict[str, list[FrameworkName]])
            return saved
        found: dict[str, list[FrameworkName]] = {}
        for row in self._store.framework_keys():
            name = FrameworkName(row.kind, row.name, row.framework, row.confidence, row.rule, row.line)
            found.setdefault(row.symbol_id, []).append(name)
        return found

    @cached_property
    def calls(self) -> Calls:
        """The graph's calls between symbols that are certain enough to follow.

        Each call has a confidence, and calls below a minimum are left out.
        """
        return Calls(self.view)

    @cached_property
    def rank(self) -> F64:
        """Importance of each symbol, by the code that depends on it.

        The importance is a page rank. The array is in the order of the graph's nodes. Tests are not dependents here.
        """
        return central.page_rank(self.view)

    @cached_property
    def dead(self) -> tuple[list[DeadSymbol], int]:
        """Dead code of any confidence, and the number of unused public symbols.

        Public symbols are only counted, because code outside the project may use them.
        """
        if self._saved.has("dead"):
            dead: tuple[list[DeadSymbol], int] = self._saved.of("dead", tuple[list[DeadSymbol], int])
            return dead
        found = find(self.entries)
        names = {self.view.name(node) for node in found.nodes}
        return judged(self.entries, found, self._mentions(names)), found.spared

    def ready(self, *, wanted: bool) -> tuple[list[ModuleInfo] | None, list[Flow] | None]:
        """Return the modules and the flows; None in place of missing ones.

        Flows are paths of calls. Modules or flows are missing if they were not derived yet. Results that an earlier process saved count as
        derived.

        Args:
            wanted: True to wait for `lock`, and derive missing results. False to return at once, even while another thread derives results.
        """
        if self.lock.acquire(blocking=wanted):
            try:
                if self._are_saved:
                    return self._restored("infos", _OF_MODULES["infos"]), self.flows(None)
                if wanted or self._saved:
                    return self.modules.infos, self.flows(None)
            finally:
                self.lock.release()
        made = self.__dict__.get("modules")
        return made.infos if made is not None and "infos" in made.__dict__ else None, self._flows.get(None)

    def flows(self, kinds: tuple[str, ...] | None) -> list[Flow]:
        """Return the flows: the call paths from entry points of given kinds.

        None stands for all kinds except tests and fixtures.
        """
        if kinds is None and kinds not in self._flows and (self._are_saved or self._saved_of(self.modules)):
            self._flows[None] = self._restored("flows", list[Flow])
        if kinds not in self._flows:
            self._flows[kinds] = flows(self.modules, self.entries, kinds)
            if kinds is None and self._store.meta().get("flows_generation") != str(self.view.generation) == str(self._store.generation()):
                with kept_if_possible("flows"):
                    self._store.put_flows(self.view.generation, [_flow_row(one) for one in self._flows[kinds]])
        return self._flows[kinds]

    @cached_property
    def titles(self) -> list[Title]:
        """A short title of each module, in the order of `modules.groups`."""
        if self._saved_of(self.modules):
            return [Title(text, source) for text, source in self._saved.of("titles", list[tuple[str, str]])]
        tables = (table.select(PackedChunkRow._fields) for table in self._store.packed_chunks())
        pages = [row for table in tables for row in table.filter(pc.match_substring_regex(table["path"], _OVERVIEW)).to_pylist()]
        pages.sort(key=lambda row: (row["path"].count("/"), row["path"], row["start_line"]))
        texts = (inflated(row["packed"], row["start_line"], row["end_line"])[1] for row in pages)
        folders = {path.rpartition("/")[0] for path in self.view.paths} - {""}
        return titles(self.modules, folder_descriptions(texts, folders))

    @cached_property
    def pieces(self) -> list[Piece]:
        """The pieces of code that are compared to find duplicates."""
        view = self.view
        language = dict(zip(view.paths, view.arrays.paths.language.to_pylist(), strict=True))
        qualname = view.arrays.nodes.qualname
        found = []
        for row in self._chunks():
            if row.kind == "code":
                node = view.index_of.get(row.symbol_id)
                name = str(qualname[node].as_py()) if node is not None else ""
                _, text = inflated(row.packed, row.start_line, row.end_line)
                found.append(Piece(row.path, name, row.start_line, row.end_line, language.get(row.path, ""), text))
        return found

    def duplicates(self, least_tokens: int, similar: float, tests: bool) -> list[DuplicateGroup]:
        """Return the groups of duplicated code.

        Args:
            least_tokens: the minimum length of a duplicate, in tokens.
            similar: the minimum similarity of two duplicates, from 0 to 1.
            tests: whether the code of tests is compared, too.
        """
        files = self.modules.files
        testing = {files.paths[i] for i in np.flatnonzero(files.is_test).tolist()}
        return duplicates((one for one in self.pieces if tests or one.path not in testing), least_tokens, similar)

    def _mentions(self, names: set[str]) -> Mentions:
        """Count how often given names occur in the indexed code and texts.

        Beginnings of computed names in the code are also returned: f"visit_{kind}" gives "visit_".
        """
        code, prose = Counter[str](), Counter[str]()
        beginnings: set[str] = set()
        for row in self._chunks():
            _, text = inflated(row.packed, row.start_line, row.end_line)
            (code if row.kind == "code" else prose).update(filter(names.__contains__, _WORD.findall(text)))
            if row.kind == "code":
                beginnings.update(_BEGINNING.findall(text))
        return Mentions(code, prose, frozenset(beginnings))

    def _chunks(self) -> Iterator[PackedChunkRow]:
        """Yield all pieces of text in the index, decompressed one at a time."""
        for table in self._store.packed_chunks():
            for batch in table.select(PackedChunkRow._fields).to_batches(max_chunksize=2_000):
                yield from map(PackedChunkRow._make, zip(*(column.to_pylist() for column in batch.columns), strict=True))

    def derive_first_screen(self) -> None:
        """Derive the results that the explorer shows first, such as modules.

        After each result, the lock is released, so that a waiting question waits for one result at most.
        """
        for part in (
            lambda: self.modules.infos,
            lambda: self.titles,
            lambda: self.modules.module_cycles,
            lambda: self.flows(None),
            lambda: self.calls,
            lambda: self.dead,
            self.keep,
        ):
            with self.lock:
                part()


def _groups(made: Modules) -> str:
    """Return a hash of all modules with their names and files.

    Two divisions of the files into modules are equal if their hashes are equal.
    """
    text = "\n".join(f"{one.id} {one.name} {' '.join(one.paths)}" for one in made.groups)
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def _flow_row(flow: Flow) -> FlowRow:
    steps = [(step.dst.id, step.confidence, step.rule, step.line) for step in flow.steps]
    return FlowRow(flow.id, flow.name, flow.kind, flow.confidence, flow.entry.id, steps)
