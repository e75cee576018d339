"""Index the results of parsing all files, and record look-ups.

An input is a key such as "the definition named X at the top of file F" or "the classes that derive from C". Each look-up records the inputs
that it used. `Project.replace` replaces the facts of files and returns the numbers of the changed inputs. Only answers computed from
changed inputs are out of date.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Final

from graphmem.model import symbol_id
from graphmem.parsing.facts import Definition, FileFacts
from graphmem.resolution.cache.solver import Memo, Solver
from graphmem.resolution.files.call_sites import CallSites
from graphmem.resolution.files.file_entry import FileEntry, FileRules
from graphmem.resolution.files.fingerprint import Key
from graphmem.resolution.files.input_contents import InputContents, demanded_methods, embedded_bases, input_of, outer_folders
from graphmem.resolution.files.instantiations import is_class_name
from graphmem.resolution.files.shelf import Shelf
from graphmem.resolution.values.parts import part_names
from graphmem.resolution.values.symbol import CLASS_KINDS, FUNCTION_KINDS, Symbol
from graphmem.runtime.process.faults import CODE, fault

_CALLABLE_KINDS: Final = CLASS_KINDS | FUNCTION_KINDS

MANY_DEFINITIONS: Final = 8
"""Most definitions of a name that are sorted again at each look-up. For more definitions, the sorted list is cached."""

_NO_NAMES: Final[Mapping[str, set[str]]] = {}


class Project:
    """All files of a project by path, with indexes over their facts.

    Args:
        name: name of the project, which is part of the id of every symbol.
        rules_of: returns the rules of a language, or None if files of the language are not resolved.
        shelf: limits the facts kept in memory.
    """

    def __init__(self, name: str, rules_of: Callable[[str], FileRules | None], shelf: Shelf) -> None:
        self.name = name
        self.shelf = shelf
        self.solver = Solver()
        self.files: dict[str, FileEntry] = {}
        self.rules_of = rules_of
        self._keys: dict[tuple[str, ...], int] = {}
        self._symbols: dict[tuple[str, str, str, int], Symbol] = {}
        self._modules: dict[str, set[str]] = {}  # dotted name -> paths
        self._folders: dict[str, int] = {}  # dotted name of a directory -> number of modules below it
        self._named: dict[str, set[Symbol]] = {}
        self._having: dict[str, set[Symbol]] = {}  # name of an attribute -> the classes that define or assign it
        self._binders: dict[str, dict[str, set[str]]] = {}  # dotted name -> top-level name -> paths, where files share names
        self._demanded: dict[str, set[Symbol]] = {}  # name -> interface methods, in languages with structural interfaces
        self._embedding: dict[str, set[Symbol]] = {}  # bare name -> interfaces with a base of that name, in the same languages
        self._made: dict[str, set[str]] = {}  # name of a class -> paths of the files that may instantiate it
        self._sorted: dict[tuple[str, str], Sequence[Symbol]] = {}  # (kind of input, name) -> answers of `named` and `having`
        self.shared: Memo = {}  # answers that hold places in files; valid until a file is replaced
        self.faults: dict[str, str] = {}  # path -> the unexpected error because of which only the module is known
        self._contents = InputContents(self.files, lambda: self._keys)
        self._calls = CallSites(self.files, self.solver, self.touch, self.shared)
        self.call_sites = self._calls.of
        self.decorations = self._calls.decorations
        self.is_called = self._calls.is_called

    # inputs

    def key(self, *parts: str) -> int:
        """Return the integer id of an input: a fact that answers depend on.

        A cached answer, such as an inferred type, is outdated when one of its inputs changes. `parts` are strings that identify the input.
        The first is the kind of the input, such as `file`. The others depend on the kind, and are in brackets in this list:

        - `top` (path, name): the visible content of a top-level definition, or of a method if `methods_are_inputs` is True.
        - `clause` (path): the package that the file declares, and its build constraint (a `//go:build` line).
        - `file` (path): whether the file exists.
        - `module` (dotted name): the files of a module.
        - `shared` (dotted name, name): the files of a package that define the name for the package's other files.
        - `named` (name): the definitions with this bare name.
        - `having` (name): the classes with an attribute of this name.
        - `demands` (name): the methods of this name in structural interfaces, which a class satisfies by having their methods.
        - `embeds` (name): the structural interfaces that extend (in Go: embed) an interface of this name.
        - `calls` (name): the calls of this bare name.
        - `passed` (path, scope, name): the arguments that the scope passes in calls of this name.
        - `made` (name): whether any file uses a class of this name.
        - `subclasses` (symbol id or library type): the direct subclasses.
        - `member` (name): the classes with a plain method of this name.
        - `prefix` (text): the plain methods of classes whose names begin with the text.
        - `members` (path, class): all plain methods of a top-level class.
        - `uses` (path, function): the attributes that the function reads from its parameters.
        """
        found = self._keys.get(parts)
        if found is None:
            found = self._keys[parts] = len(self._keys)
        return found

    def keys(self, first: int = 0) -> list[Key]:
        """Return the keys of all inputs in the order of their numbers.

        An input is a fact of a file that answers depend on. `first` is the lowest number to include.
        """
        return list(islice(self._keys, first, None))

    def number(self, keys: Iterable[Key]) -> None:
        """Give the inputs of an earlier resolver the same numbers again.

        An input is a fact of a file that answers depend on. `keys` are the inputs in the order of their numbers 0, 1, … Call this method
        before other inputs get numbers.
        """
        self._keys = {key: position for position, key in enumerate(keys)}

    def touch(self, *parts: str) -> None:
        """Record that the answer being computed depends on an input.

        An input is a fact of a file that answers depend on. `parts` identify the input; the method `key` explains them.
        """
        self.solver.reads.add(self.key(*parts))

    def top_key(self, entry: FileEntry, name: str) -> int:
        """Return the number that stands for a top-level definition of a file.

        `name` is the name of the definition. An answer that depends on the definition's visible content records the number.
        """
        key = entry.tops.get(name)
        if key is None:
            key = entry.tops[name] = self.key("top", entry.path, name)
        return key

    def touch_top(self, entry: FileEntry, name: str) -> None:
        """Record that the answer being computed depends on a top-level name.

        `entry` is the file that defines the name.
        """
        self.solver.reads.add(self.top_key(entry, name))

    # look-ups, each recorded

    def package_clause(self, entry: FileEntry) -> str:
        """Return the package that a file declares; "" if it declares none."""
        self.touch("clause", entry.path)
        return entry.clause

    def build_constraint(self, entry: FileEntry) -> str:
        """Return the condition under which a Go file is built; "" for always.

        The condition is the file's `//go:build` line.
        """
        self.touch("clause", entry.path)
        return entry.constraint

    def file(self, path: str) -> FileEntry | None:
        """Return the results of parsing the file at a path; None if unknown."""
        self.touch("file", path)
        return self.files.get(path)

    def modules(self, dotted: str) -> list[str]:
        """Return the sorted paths of the files that `import a.b` refers to.

        `dotted` is the dotted name of the imported module, here `a.b`.
        """
        self.touch("module", dotted)
        return sorted(self._modules.get(dotted, ()))

    def binders(self, dotted: str, name: str) -> list[str]:
        """Return the sorted paths of a package's files that bind a name.

        `dotted` is the package. Only bindings at the top level of a file are considered. The method serves languages whose files share
        names.
        """
        self.touch("shared", dotted, name)
        return sorted(self._binders.get(dotted, _NO_NAMES).get(name, ()))

    def demanded(self, name: str) -> list[Symbol]:
        """Return the methods of a given name that structural interfaces declare.

        A class satisfies a structural interface, without naming it, if it has all methods of the interface.
        """
        self.touch("demands", name)
        return sorted(self._demanded.get(name, ()), key=_place)

    def embedding(self, name: str) -> list[Symbol]:
        """Return the structural interfaces that have a base with a given name.

        A class satisfies a structural interface, without naming it, if it has all methods of the interface.
        """
        self.touch("embeds", name)
        return sorted(self._embedding.get(name, ()), key=_place)

    def is_folder(self, dotted: str) -> bool:
        """Whether any module is inside a folder with a given dotted name.

        For example, `a.b` is the folder of the module `a.b.c`.
        """
        self.touch("module", dotted)
        return self._folders.get(dotted, 0) > 0

    def named(self, name: str) -> Sequence[Symbol]:
        """Return the functions, methods and classes of a given name, sorted.

        The name has no dots. The order depends only on the source code.
        """
        self.touch("named", name)
        return self._in_order("named", name, self._named)

    def _in_order(self, kind: str, name: str, known: Mapping[str, set[Symbol]]) -> Sequence[Symbol]:
        found = self._sorted.get((kind, name))
        if found is None:
            found = sorted(known.get(name, ()), key=_place)
            if len(found) > MANY_DEFINITIONS:
                self._sorted[kind, name] = found
        return found

    def having(self, name: str) -> Sequence[Symbol]:
        """Return the classes that define or assign an attribute, in source order.

        Only languages are included in which graphmem infers the class of a value from the attributes that code reads.
        """
        self.touch("having", name)
        return self._in_order("having", name, self._having)

    def knows_name(self, name: str) -> bool:
        """Whether a function, method or class of the project has a given name."""
        self.touch("named", name)
        return bool(self._named.get(name))

    def is_made(self, name: str) -> bool:
        """Whether any file calls a class of a given name or uses it as a value.

        If not, the class is never instantiated. For a name that is not spelled like a class, such as `item`, the result is always True.
        """
        if not is_class_name(name):
            return True
        self.touch("made", name)
        return bool(self._made.get(name))

    def entry(self, symbol: Symbol) -> FileEntry:
        """Return the file that defines a symbol.

        This records that the answer being computed depends on the definition.
        """
        self.solver.reads.add(symbol.key)
        return self.files[symbol.path]

    def touch_member(self, entry: FileEntry, name: str) -> None:
        """Record a dependency on the set of classes that have a given method.

        The answer being computed depends on this set. `name` is the name of the method. `entry` is the file of a class in which the name
        was looked up. In languages that do not track each method separately, nothing is recorded.
        """
        if entry.rules.methods_are_inputs:
            self.touch("member", name)

    def touch_members(self, symbol: Symbol, prefix: str = "") -> None:
        """Record a dependency on the set of methods that a class has.

        The answer being computed depends on this set. If a prefix is given, the set has only methods with a name that begins with it.
        """
        if prefix:
            self.touch("prefix", prefix)
        else:
            self.touch("members", symbol.path, symbol.qualname.partition(".")[0])

    def definition(self, symbol: Symbol) -> Definition:
        """Return the definition of a symbol."""
        self.solver.touch(symbol.key)
        return self.files[symbol.path].definitions[symbol.index]

    def has_modifier(self, symbol: Symbol, modifier: str) -> bool:
        """Whether a definition has a modifier, such as `abstract` or `property`."""
        return modifier in self.definition(symbol).modifiers

    def exists(self, symbol: Symbol) -> bool:
        """Whether a definition that was cached still exists in its file."""
        self.solver.touch(symbol.key)
        return symbol.index >= 0

    # changes

    def replace(self, changed: Mapping[str, FileFacts], removed: Collection[str], *, compare: bool) -> set[int]:
        """Replace and remove the facts of files; return the changed inputs.

        Args:
            changed: maps paths to facts, also of new files.
            removed: paths of removed files.
            compare: whether to find the changed inputs; not needed before the first query.

        Returns:
            The numbers of the inputs (see `key`) whose content changed; empty if `compare` is False.
        """
        paths = sorted(set(removed) | set(changed))
        self.shared.clear()
        self._calls.forget_answers()
        self._sorted.clear()
        before = {path: self._contents.of(path) for path in paths} if compare else {}
        for path in paths:
            self._remove(path)
        for path in sorted(changed):
            facts = changed[path]
            rules = self.rules_of(facts.language)
            if rules is not None:
                self._take_in(facts, rules)
            self.shelf.trim()
        stale: set[int] = set()
        for path, old in before.items():
            new = self._contents.of(path)
            for key in old.keys() | new.keys():
                if old.get(key) != new.get(key):
                    stale.add(self.key(*input_of(key)))
                    if key[0] == "member":
                        known = (self._keys.get(("prefix", key[1][:end])) for end in range(1, len(key[1]) + 1))
                        stale |= {number for number in known if number is not None}
        return stale

    def _take_in(self, facts: FileFacts, rules: FileRules) -> None:
        """Add the facts of a file to the indexes over all files.

        `rules` are the rules of the file's language. After an unexpected error, only its module is added, without definitions.
        """
        try:
            self._add(facts, rules)
        except Exception as error:  # noqa: BLE001 - only this file fails, and the error is reported
            said = self.faults[facts.path] = fault(error, "knowing its definitions", facts.path)
            diagnostics = (*facts.diagnostics, ("error", CODE, said, 0))
            bare = facts._replace(definitions=facts.definitions[:1], terms=[], imports=[], bindings=[], references=[], exports=None)
            self._add(bare._replace(diagnostics=diagnostics), rules)

    def _add(self, facts: FileFacts, rules: FileRules) -> None:
        path = facts.path
        parts = part_names(facts.definitions, apart=rules.methods_are_inputs)
        symbols = [self._symbol(path, definition, part) for definition, part in zip(facts.definitions, parts, strict=True)]
        try:
            for position, symbol in enumerate(symbols):
                symbol.index = position
            entry = FileEntry(facts, rules, symbols)
            names = {dotted: list(rules.shared_names(entry)) for dotted in rules.names_of(facts)}
            listed = rules.listed_as(facts)
        except Exception:
            for symbol in symbols:
                symbol.index = -1
            raise
        # The code below cannot fail because of the file's content.
        self.files[path] = entry
        self.shelf.put(entry)
        for symbol in symbols:
            if symbol.kind in _CALLABLE_KINDS:
                self._named.setdefault(symbol.name, set()).add(symbol)
        for symbol in demanded_methods(entry):
            self._demanded.setdefault(symbol.name, set()).add(symbol)
        for name, symbol in embedded_bases(entry):
            self._embedding.setdefault(name, set()).add(symbol)
        for name, symbol in entry.attributes():
            self._having.setdefault(name, set()).add(symbol)
        for dotted, shared in names.items():
            for name in shared:
                self._binders.setdefault(dotted, {}).setdefault(name, set()).add(path)
            self._modules.setdefault(dotted, set()).add(path)
            for folder in outer_folders(dotted):
                self._folders[folder] = self._folders.get(folder, 0) + 1
        for mark in listed:
            self._modules.setdefault(mark, set()).add(path)
        for name in entry.made:
            self._made.setdefault(name, set()).add(path)
        self._calls.add(entry)

    def _remove(self, path: str) -> None:
        self.faults.pop(path, None)
        entry = self.files.pop(path, None)
        if entry is None:
            return
        self._forget_indexes(entry)
        self.shelf.drop(entry)

    def _forget_indexes(self, entry: FileEntry) -> None:
        path = entry.path
        for name, symbol in embedded_bases(entry):
            self._embedding[name].discard(symbol)
        for name, symbol in entry.attributes():
            self._having[name].discard(symbol)
        for symbol in entry.symbols:
            symbol.index = -1
            self._named.get(symbol.name, set()).discard(symbol)
            self._demanded.get(symbol.name, set()).discard(symbol)
        for dotted in entry.rules.names_of(entry.facts):
            for name in entry.rules.shared_names(entry):
                self._binders[dotted][name].discard(path)
            self._modules[dotted].discard(path)
            for folder in outer_folders(dotted):
                self._folders[folder] -= 1
        for mark in entry.rules.listed_as(entry.facts):
            self._modules[mark].discard(path)
        for name in entry.made:
            self._made[name].discard(path)
        self._calls.remove(entry)

    def _symbol(self, path: str, definition: Definition, part: str) -> Symbol:
        place = (path, definition.qualname, definition.kind, definition.ordinal)
        found = self._symbols.get(place)
        if found is None:
            id_ = symbol_id(self.name, *place)
            found = self._symbols[place] = Symbol(id_, *place, 0)
        found.key = self.key("top", path, part)
        return found


def _place(symbol: Symbol) -> tuple[str, str, str, int]:
    return symbol.place
