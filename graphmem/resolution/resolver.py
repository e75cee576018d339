"""Resolve the names and calls in all files to edges, incrementally.

    resolver = Resolver("project", layout)
    for path in resolver.update(changed, removed): resolution = resolver.resolve(path)

The edges of a file depend on the file and on inputs, which are facts of other files (see `project`). `update` returns exactly the files to
resolve again. After any sequence of updates, the edges are therefore the same as those of a new resolver.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from graphmem.model import EdgeRow, SymbolRow
from graphmem.parsing.facts import FileFacts
from graphmem.parsing.language import LanguageSpec, languages
from graphmem.parsing.packing import collector_paused
from graphmem.resolution.cache.dependents import AnswersOf
from graphmem.resolution.cache.solver import Members
from graphmem.resolution.edges.file import definitions_alone, resolve_file
from graphmem.resolution.edges.rows import FileResolution
from graphmem.resolution.files.fingerprint import Key
from graphmem.resolution.files.project import Project
from graphmem.resolution.files.shelf import ReadFacts, Shelf
from graphmem.resolution.interfaces.language import Rules, rules_class, rules_of
from graphmem.resolution.interfaces.layout import Layout
from graphmem.resolution.symbol_rows import plain_rows, symbol_rows
from graphmem.resolution.type_inference.evaluation import Evaluation
from graphmem.resolution.type_inference.hierarchy import Hierarchy
from graphmem.resolution.values.symbol import CLASS_KINDS, FUNCTION_KINDS, Symbol
from graphmem.runtime.process.faults import fault

RECURSION_LIMIT: Final = 12_000
"""Python frames for `solver.MAX_STACK` open questions with nested terms."""

FEW_GROUPS: Final = 100_000
"""Number of groups of inputs that are kept without a check for use."""


CALLABLE_KINDS: Final = CLASS_KINDS | FUNCTION_KINDS

MAX_ANSWERS: Final = 1_500_000
"""Number of cached answers, some 400 MB, above which all are dropped."""

MAX_SHARED: Final = 20_000
"""Number of lists of callers that are kept between files."""

_LOOK: Final = 256  # files resolved between two counts of the answers
_NO_INPUT: Final = 2**31 - 1  # number that no input has


class Dependencies(NamedTuple):
    """The facts of other files on which the edges of each file depend."""

    keys: list[Key]  # inputs; the number of an input is its position
    groups: list[Members | None]  # groups of inputs and groups (see `solver.Groups`); the first one is NOTHING
    inputs: Mapping[str, frozenset[int]]  # path -> numbers of inputs and groups


class Resolver:
    """Resolves the names and calls of one project to edges. Not thread-safe.

    Args:
        project: name of the project, which is part of every id.
        layout: contents of the project's configuration files.
        shelf: limits the facts kept in memory; by default all facts stay in memory.
    """

    def __init__(self, project: str, layout: Layout | None = None, shelf: Shelf | None = None) -> None:
        self.layout = layout or Layout()
        self.faults: dict[str, str] = {}
        self._rules: dict[str, Rules | None] = {}
        self._shelf = shelf or Shelf(None)
        self._project = Project(project, self._rules_of, self._shelf)
        self._inference = Evaluation(self._project)
        self._hierarchy = Hierarchy(self._project, self._inference)
        self._inputs: dict[str, frozenset[int]] = {}  # path -> inputs and groups of its edges
        self._answers = AnswersOf()
        self._started = False
        self._groups_kept = FEW_GROUPS
        self._until_count = _LOOK
        self._processes = 1

    def _rules_of(self, language: str) -> Rules | None:
        if language not in self._rules:
            spec = languages().get(language)
            found = rules_class(spec.rules) if spec is not None else None
            self._rules[language] = self._made(found, spec) if found is not None and spec is not None else None
        return self._rules[language]

    def _made(self, rules: type[Rules], spec: LanguageSpec) -> Rules:
        """Create the resolution rules of a language.

        Configuration files that cause an unexpected error are ignored.
        """
        try:
            return rules.of_language(self.layout, spec)
        except Exception as error:  # noqa: BLE001 - the file that causes it is found below, and reported
            first = fault(error, "reading configuration files", "")
        usable = {path: document for path, document in self.layout.documents.items() if self._is_usable(rules, spec, path)}
        try:
            return rules.of_language(replace(self.layout, documents=usable), spec)
        except Exception:  # noqa: BLE001 - no single file causes it
            self.faults.update(dict.fromkeys(usable, first))
            return rules.of_language(replace(self.layout, documents={}), spec)

    def _is_usable(self, rules: type[Rules], spec: LanguageSpec, path: str) -> bool:
        try:
            rules.of_language(replace(self.layout, documents={path: self.layout.documents[path]}), spec)
        except Exception as error:  # noqa: BLE001 - as above
            self.faults[path] = fault(error, "reading it as a configuration file", path)
            return False
        return True

    def update(self, changed: Mapping[str, FileFacts], removed: Collection[str]) -> set[str]:
        """Add, replace and remove files, given the results of parsing them.

        Args:
            changed: results of parsing new and changed files, by path; files of languages without rules are ignored.
            removed: removed paths; unknown paths are ignored.

        Returns:
            The files whose edges may have changed, including the changed files. Call `resolve` for each of them.
        """
        _allow_recursion()
        for path in changed:
            self.faults.pop(path, None)
        with collector_paused():
            stale = self._project.replace(changed, removed, compare=self._started)
        paths = {path for path in changed if path in self._project.files}
        for path in removed:
            self._inputs.pop(path, None)
        if self._started:
            self._forget(stale)
        again = {*paths, *removed}
        while different := self._hierarchy.refresh(stale, again) - stale:
            # Needed in the first update, too: questions about bases were answered before all subclasses were known.
            stale |= different
            self._forget(stale)
            again = set()
        self._started = True
        return paths | {path for path, inputs in self._inputs.items() if not stale.isdisjoint(inputs)}

    def _forget(self, stale: set[int]) -> None:
        """Drop the cached answers, such as types, that used a changed fact.

        An input is a fact of a file, and a group is a set of inputs. `stale` has the numbers of changed inputs. Groups that contain one of
        them become stale, too, and are added to `stale`.
        """
        groups = self._project.solver.groups
        if not stale:
            return
        groups.spread(stale)
        self._project.shared.clear()
        files = self._project.files
        for path in self._answers.files({path: entry.memo for path, entry in files.items()}, stale):
            memo = files[path].memo
            gone = [key for key, (_, number) in memo.items() if number in stale]
            for key in gone:
                del memo[key]
            if gone:
                self._answers.changed(path)
        if len(groups) > self._groups_kept * 2:
            used = {number for entry in self._project.files.values() for _, number in entry.memo.values()}
            used = used.union(*self._inputs.values(), *self._hierarchy.inputs.values())
            groups.keep(used)
            self._groups_kept = max(len(groups), FEW_GROUPS)

    def resolve(self, path: str) -> FileResolution:
        """Resolve the references in a file.

        The result has the edges out of the file, its external symbols and its unresolved calls. After an unexpected error, it has only the
        definitions of the file and the error.

        Raises:
            KeyError: `update` never got that file, or its language has no rules.
        """
        _allow_recursion()
        entry = self._project.files[path]
        self._shelf.put(entry)
        self._shelf.trim()
        solver = self._project.solver
        reads = solver.listen()
        with collector_paused():
            try:
                resolution = resolve_file(self._inference, self._hierarchy, entry)
            except Exception as error:  # noqa: BLE001 - only this file fails, and is resolved again when the facts that it read change
                said = fault(error, "resolving what it uses", path)
                resolution = definitions_alone(self._inference, self._hierarchy, entry, said)
        self._inputs[path] = frozenset(reads)
        solver.listen()
        # Results of single calls are rarely asked for again; they are two thirds of all answers.
        entry.memo = {key: answer for key, answer in entry.memo.items() if key[0] != "t"}
        entry.meanings.clear()
        if len(self._project.shared) > MAX_SHARED:
            self._project.shared.clear()
        self._until_count -= 1
        if not self._until_count:
            self._until_count = _LOOK
            if sum(len(one.memo) for one in self._project.files.values()) > MAX_ANSWERS // self._processes:
                self.forget_answers()  # most answers belong to files that are resolved already
        return resolution

    def answer_ahead(self, path: str) -> None:
        """Resolve a file only to cache the answers that it needs.

        Files that are resolved later need many of the same answers. The edges of `path` are already known, so the new result is discarded.
        An unknown file is ignored.
        """
        if path in self._project.files:
            self.resolve(path)

    def index_answers(self) -> None:
        """Build the indexes that find outdated answers, before the next `update`.

        An answer is a cached result of type inference, such as the type of a name.
        """
        self._forget({_NO_INPUT})

    def symbols(self, path: str) -> list[SymbolRow]:
        """Return the definitions of a file, the module first, in source order.

        Raises:
            KeyError: `update` never got that file, or its language has no rules.
        """
        entry = self._project.files[path]
        try:
            return symbol_rows(entry)
        except Exception as error:  # noqa: BLE001 - edges of other files lead to these definitions, so the graph needs them
            self.faults[path] = fault(error, "describing its definitions", path)
            return plain_rows(entry)

    def place(self, path: str, scope: int, handler: str, near: Callable[[str], str]) -> tuple[str, str, bool]:
        """Return (id, qualified name, is in tests) of a definition in a file.

        `is in tests` tells whether `path` is a test file. For an unknown file or definition, the result is ("", "", False).

        Args:
            path: the file.
            scope: index of the definition in the file.
            handler: name of a function to return instead, also with its class, as `CartController.show`; "" for none. The search covers
                this file, then its folder, then its part of the project. In the folder or the part, the function must be the only one of
                this name. A function that is named with its class may also be in another part. If no function is found, the definition at
                `scope` is returned.
            near: maps a path to its part of the project, such as a service.
        """
        entry = self._project.files.get(path)
        if entry is None or scope >= len(entry.symbols):
            return "", "", False
        found = entry.symbols[scope]
        if handler:
            named = self._handlers(handler)
            here = [one for one in named if one.path == path]
            around = [one for one in named if near(one.path) == near(path) and not self._project.files[one.path].in_tests]
            beside = [one for one in around if one.path.rpartition("/")[0] == path.rpartition("/")[0]]
            choice = here or beside or around
            if not choice and "." in handler:  # a function named with its class may be in another part of the project
                choice = [one for one in named if not self._project.files[one.path].in_tests]
            found = choice[0] if len(choice) == 1 or (choice and choice is here) else found
        return found.id, found.qualname, entry.in_tests

    def _handlers(self, name: str) -> list[Symbol]:
        """Return the functions of a name, which may begin with a class.

        An example is `CartController.show`.
        """
        owner, _, last = name.rpartition(".")
        found = [one for one in self._project.named(last) if one.kind in CALLABLE_KINDS]
        return [one for one in found if f".{one.qualname}".endswith(f".{name}")] if owner else found

    def handler(self, path: str, scope: int, line: int, name: str, edges: Iterable[EdgeRow]) -> tuple[str, str] | None:
        """Return (id, qualified name) of the handler that a line of code names.

        In `router.POST("/message", messages.create)`, the handler is `messages.create`. Several functions may have the handler's name.
        The edge with the highest confidence decides between them. The result is None if no edge leads to such a function, or if the best
        edges lead to several.

        Args:
            path: the file.
            scope: index of the definition that contains the line.
            line: the line; if no function of that name is used on it, the other lines of the definition are searched.
            name: name of the function.
            edges: edges out of the file.
        """
        entry = self._project.files.get(path)
        if entry is None or scope >= len(entry.symbols):
            return None
        named = {one.id: one for one in self._handlers(name)}
        used = [edge for edge in edges if edge.dst in named] if named else []
        at = [edge for edge in used if str(line) in edge.lines.split(",")] or [edge for edge in used if edge.src == entry.symbols[scope].id]
        most = max((edge.confidence for edge in at), default=0.0)
        best = {edge.dst for edge in at if edge.confidence == most}
        return (named[found].id, named[found].qualname) if len(best) == 1 and (found := best.pop()) else None

    def is_left_out(self, path: str) -> bool:
        """Whether an unexpected error keeps a file's definitions out of the graph.

        The graph then has only the module of the file. `fault` returns the error.
        """
        return path in self._project.faults

    def fault(self, path: str) -> str:
        """Return the unexpected error that keeps parts of a file out of the graph.

        The result is "" for a file without an error.
        """
        return self.faults.get(path, "") or self._project.faults.get(path, "")

    def facts(self, path: str) -> FileFacts | None:
        """Return the results of parsing a file.

        Returns None if the file is unknown, or if its language has no rules.
        """
        entry = self._project.files.get(path)
        return entry.facts if entry is not None else None

    def paths(self) -> Iterable[str]:
        """Return the paths of all known files."""
        return self._project.files.keys()

    def module_name(self, path: str) -> str:
        """Return the name by which other files import a file; "" if unknown."""
        entry = self._project.files.get(path)
        names = rules_of(entry).module_names(path) if entry is not None else ()
        return names[0] if names else ""

    def dependencies(self, paths: Iterable[str] | None = None, first_key: int = 0, first_group: int = 0) -> Dependencies:
        """Return the facts of other files on which the edges of files depend.

        An input is a fact of some file, and a group is a set of inputs. Both have numbers, which do not change during the life of a
        resolver. New inputs and groups get the next numbers. The arguments limit the result to new data.

        Args:
            paths: return the inputs of these files only.
            first_key: leave out the inputs with lower numbers.
            first_group: leave out the groups before this position.
        """
        inputs = self._inputs if paths is None else {path: self._inputs[path] for path in paths}
        return Dependencies(self._project.keys(first_key), self._project.solver.groups.members(first_group), inputs)

    def take_inputs(self, paths: Iterable[str]) -> Iterable[tuple[str, frozenset[int]]]:
        """Yield (path, numbers of used facts) for each given file; forget them.

        The edges of a file depend on facts of other files, called inputs. A number stands for one input, or for a group of inputs.
        """
        for path in paths:
            yield path, self._inputs.pop(path)

    def group_count(self) -> int:
        """Return the number of groups, which are distinct sets of inputs.

        An input is a fact of a file that was read to resolve another file. Results that depend on the same inputs share one group.
        """
        return len(self._project.solver.groups)

    def remember(self, kept: Dependencies) -> None:
        """Restore the dependencies that an old resolver's `dependencies` returned.

        Call this first, before `update`. The first `update` must then contain the same facts as the last state of the earlier resolver. The
        files that this `update` returns need not be resolved, because their edges are known. Later updates return the same files as the
        earlier resolver would.
        """
        self._project.number(kept.keys)
        self._project.solver.groups.restore(kept.groups)
        self._inputs = dict(kept.inputs)

    def divide(self, read: ReadFacts, processes: int) -> None:
        """Prepare this object for work in one of several forked processes.

        Each process may keep only its share of the parsed files in memory.

        Args:
            read: reads parsed files in this process.
            processes: number of the processes.
        """
        self._processes = processes
        self._shelf.divide(read, processes)

    def forget_answers(self) -> None:
        """Free the memory of cached answers, which are recomputed when needed."""
        for entry in self._project.files.values():
            entry.memo.clear()
        self._project.shared.clear()
        self._project.solver.forget_interned()
        self._answers = AnswersOf()

    def release_memory(self) -> None:
        """Free all memory at once; the resolver is unusable afterwards.

        Without this call, the cyclic garbage collector would scan a million objects and free none.
        """
        self._shelf.clear()
        for entry in self._project.files.values():
            vars(entry).clear()
        for part in (self._project.solver, self._project, self._inference, self._hierarchy, self):
            vars(part).clear()


def _allow_recursion() -> None:
    """Raise Python's recursion limit to `RECURSION_LIMIT`.

    This is safe, because recursion of Python functions uses heap memory, and no C stack.
    """
    if sys.getrecursionlimit() < RECURSION_LIMIT:
        sys.setrecursionlimit(RECURSION_LIMIT)
