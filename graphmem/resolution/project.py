"""The facts of all files, indexed, with every look-up that crosses files recorded as an input.

An input is a key such as "the definition named X at the top of file F" or "the classes that derive from C".
`Project.replace` swaps the facts of files and answers which keys now have another content; whatever was
computed from one of them is out of date, everything else is not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.model import symbol_id
from graphmem.parsing.facts import ATTR, CALL, NAME, Binding, Definition, FileFacts
from graphmem.parsing.language import language_spec
from graphmem.resolution.fingerprint import Fingerprints, Key
from graphmem.resolution.frameworks import frameworks_of
from graphmem.resolution.instantiations import class_names, is_class_name
from graphmem.resolution.solver import Memo, Solver
from graphmem.resolution.terms import call_at, last_name
from graphmem.runtime.faults import CODE, fault

if TYPE_CHECKING:
    from graphmem.resolution.language import Rules

CLASS_KINDS: Final = frozenset({"class", "interface", "enum"})
FUNCTION_KINDS: Final = frozenset({"function", "method"})
_CALLABLE_KINDS: Final = CLASS_KINDS | FUNCTION_KINDS

MAX_SAID: Final = 32
"""Files of which it is remembered what they say to others."""

MAX_CALL_SITES: Final = 40
"""Call sites of one name that are looked at to type an undeclared parameter."""


class Symbol:
    """A definition as other files know it: stays the same object while the file is edited around it."""

    __slots__ = ("id", "index", "key", "kind", "name", "ordinal", "path", "qualname")

    def __init__(self, id_: str, path: str, qualname: str, kind: str, ordinal: int, key: int) -> None:
        self.id = id_
        self.path = path
        self.qualname = qualname
        self.name = qualname.rpartition(".")[2]
        self.kind = kind
        self.ordinal = ordinal
        self.key = key  # input that changes when what it says to other files does
        self.index = -1  # in its file's definitions; -1 while it does not exist

    def __repr__(self) -> str:
        return f"{self.path}:{self.qualname}#{self.ordinal}"

    @property
    def place(self) -> tuple[str, str, str, int]:
        """Sort key that does not depend on anything but the source."""
        return (self.path, self.qualname, self.kind, self.ordinal)


class Slot(NamedTuple):
    """One way a scope gives a name a meaning."""

    kind: str  # definition | binding | import | parameter
    index: int  # type: ignore[assignment]  # shadows tuple.index, which nobody needs
    line: int  # from which line on; 0 for parameters
    last: int  # last line of the block it stands in


class FileEntry:
    """One file's facts with the look-ups inference needs; built once, thrown away when the file changes."""

    def __init__(self, facts: FileFacts, rules: Rules, symbols: list[Symbol]) -> None:
        self.facts = facts
        self.path = facts.path
        self.rules = rules
        self.symbols = symbols
        self.memo: Memo = {}
        self.tops: dict[str, int] = {}  # name -> input, as `Project.key` gives it
        self.in_tests = language_spec(facts.language).tests.is_test_path(facts.path)
        self.frameworks = frameworks_of(language_spec(facts.language).frameworks)
        self.terms = facts.terms
        self.definitions = facts.definitions
        self.parts = part_names(facts.definitions, apart=rules.methods_are_inputs)  # of each definition
        self.around = rules.scopes_around(facts.definitions)  # of each definition the scope in which its names are looked up next
        self.slots: dict[int, dict[str, list[Slot]]] = {}
        self.stars: list[int] = []
        self.members: dict[int, dict[str, list[int]]] = {}  # class -> attribute -> bindings through its receiver
        self.results: dict[int, list[int]] = {}  # scope -> return bindings
        self.yields: dict[int, list[int]] = {}
        self.narrows: dict[tuple[int, int], list[int]] = {}  # (scope, term) -> narrow bindings
        self.variables: dict[tuple[int, str], Symbol] = {}  # by scope and name
        self.locals: dict[tuple[int, str], list[int]] = {}  # names bound inside one expression
        self.made = class_names(facts, rules.type_tests) if rules.classes_are_made_by_name else frozenset()
        self.calls: dict[str, list[int]] = {}  # name of what is called -> references; decorated definitions as -1 - index
        self.meanings: dict[tuple[int, str], Any] = {}  # `names.Meaning` by scope and name, while the file is being looked at
        self.kept: dict[str, Any] = {}  # what the rules of the language derive from this file alone
        self.clause = next((found.module for found in facts.imports if found.kind == "package"), "")
        self._index()

    def _index(self) -> None:
        for position, definition in enumerate(self.definitions):
            if position == 0:
                continue
            if definition.kind == "variable":
                for scope in self._seen_in(definition.parent):
                    self.variables.setdefault((scope, definition.name), self.symbols[position])
            else:
                scope, name = self.rules.definition_slot(self, position)
                self.slot(scope, name, Slot("definition", position, definition.start_line, 1 << 30))
            for number, parameter in enumerate(definition.parameters):
                self.slot(position, parameter.name, Slot("parameter", number, 0, 1 << 30))
        for position, found in enumerate(self.facts.imports):
            if found.name == "*":
                self.stars.append(position)
            elif found.alias:
                self.slot(found.scope, found.alias, Slot("import", position, found.line, 1 << 30))
        for position, binding in enumerate(self.facts.bindings):
            self._index_binding(position, binding)
        for names in self.slots.values():
            for slots in names.values():
                if len(slots) > 1:
                    slots.sort(key=_slot_line)
        self._index_calls()

    def _index_calls(self) -> None:
        terms, connecting = self.terms, self.frameworks.connecting
        for position, reference in enumerate(self.facts.references):
            if reference.kind == "call":
                call = call_at(terms, reference.term)
                _, called, _, _ = call
                name = last_name(terms[called])
                if name:
                    self.calls.setdefault(name, []).append(position)
                if name in connecting and terms[called][0] == ATTR:
                    for event in self.frameworks.events_of_call(terms, call):
                        self.calls.setdefault(event, []).append(position)
        for position, definition in enumerate(self.definitions):
            for decorator in definition.decorators:
                for name in self._decorator_names(decorator):
                    self.calls.setdefault(name, []).append(-1 - position)

    def _decorator_names(self, decorator: int) -> Iterator[str]:
        """The names a decorator is found by: the bare one, after a "@" that of what gives it, after a "!" those of events."""
        term = self.terms[decorator]
        name = last_name(self.terms[term[1]] if term[0] == CALL else term)
        if name:
            yield f"@{name}" if term[0] == CALL else name
        yield from self.frameworks.events_of_decorator(self.terms, term)

    def call_sites(self, name: str) -> Iterator[CallSite]:
        """Where something of that bare name is called, or applied as a decorator; with a "@" where what it gives is applied.

        With a "!" where a function is connected with an event of that name.
        """
        for position in self.calls.get(name, ()):
            if position >= 0:
                reference = self.facts.references[position]
                yield CallSite(self.path, reference.scope, reference.term, reference.line, -1)
                continue
            definition = self.definitions[-1 - position]
            for decorator in definition.decorators:
                if name in self._decorator_names(decorator):
                    yield CallSite(self.path, definition.parent, decorator, definition.start_line, -1 - position)

    def slot(self, scope: int, name: str, slot: Slot) -> None:
        """Note one more meaning of a name in a scope."""
        self.slots.setdefault(scope, {}).setdefault(name, []).append(slot)

    def _index_binding(self, position: int, binding: Binding) -> None:
        op = binding.op
        if op == "return":
            self.results.setdefault(binding.scope, []).append(position)
        elif op == "yield":
            self.yields.setdefault(binding.scope, []).append(position)
        elif op == "narrow":
            self.narrows.setdefault((binding.scope, binding.target), []).append(position)
        elif op not in ("delete", "export"):
            target = self.terms[binding.target]
            if target[0] == NAME:
                if op == "local":
                    self.locals.setdefault((binding.scope, target[1]), []).append(position)
                else:
                    for scope in self._seen_in(binding.scope):
                        self.slot(scope, target[1], Slot("binding", position, binding.end_line, binding.block_end))
            elif target[0] == ATTR:
                owner = self.rules.receiver_class(self, binding.scope, target[1])
                if owner >= 0:
                    self.members.setdefault(owner, {}).setdefault(target[2], []).append(position)

    def _seen_in(self, scope: int) -> Sequence[int]:
        """The scope, and the one around it where its names are names of that, too."""
        definition = self.definitions[scope]
        return (scope, definition.parent) if definition.kind == "enum" and self.rules.is_open_enum(definition) else (scope,)

    def names(self, scope: int) -> Mapping[str, list[Slot]]:
        """What a scope itself binds."""
        return self.slots.get(scope, _NOTHING)

    def enclosing(self, scope: int, kinds: Collection[str]) -> int:
        """The innermost definition of one of the kinds around a scope, itself included; -1 for none."""
        while scope >= 0 and self.definitions[scope].kind not in kinds:
            scope = self.definitions[scope].parent
        return scope

    def top_name(self, scope: int) -> str:
        """Name of the part of the file a scope is in, of which others have an input; "<module>" for the module's own code.

        That of the outermost definition around it; inside a method, where methods are inputs, that of the method.
        """
        return self.parts[scope]


def part_names(definitions: Sequence[Definition], *, apart: bool) -> list[str]:
    """Of each definition the name of the part of the file it belongs to: see `FileEntry.top_name`."""
    found: list[str | None] = [None] * len(definitions)
    for position in range(len(definitions)):
        inside: list[int] = []
        at = position
        while found[at] is None:
            definition = definitions[at]
            around = definition.parent
            if around <= 0:
                found[at] = definition.qualname.partition(".")[0]
            elif apart and definition.kind in FUNCTION_KINDS and _is_in_classes(definitions, around):
                found[at] = definition.qualname
            else:  # a method may stand before its type
                inside.append(at)
                at = around
        for one in inside:
            found[one] = found[at]
    return [name or "" for name in found]


def _is_in_classes(definitions: Sequence[Definition], scope: int) -> bool:
    while scope > 0:
        if definitions[scope].kind not in CLASS_KINDS:
            return False
        scope = definitions[scope].parent
    return True


_NOTHING: Final[Mapping[str, list[Slot]]] = {}
_NO_NAMES: Final[Mapping[str, set[str]]] = {}


def _slot_line(slot: Slot) -> int:
    return slot.line


class CallSite(NamedTuple):
    """A place that calls something of a certain name."""

    path: str
    scope: int
    term: int  # the call; for a decorated definition the decorator
    line: int
    decorated: int  # the definition a decorator is applied to, else -1


class Project:
    """All files, by path, and the indexes over them.

    Args:
        name: part of every id.
        rules_of: the rules for a language, or None when its files are not resolved.
    """

    def __init__(self, name: str, rules_of: Callable[[str], Rules | None]) -> None:
        self.name = name
        self.solver = Solver()
        self.files: dict[str, FileEntry] = {}
        self.rules_of = rules_of
        self._keys: dict[tuple[str, ...], int] = {}
        self._symbols: dict[tuple[str, str, str, int], Symbol] = {}
        self._modules: dict[str, set[str]] = {}  # dotted name -> paths
        self._folders: dict[str, int] = {}  # dotted name of a folder -> modules below
        self._named: dict[str, set[Symbol]] = {}
        self._binders: dict[str, dict[str, set[str]]] = {}  # dotted name -> name at the top -> paths, where files share names
        self._demanded: dict[str, set[Symbol]] = {}  # name -> methods of interfaces, where these are satisfied by having them
        self._made: dict[str, set[str]] = {}  # name of a class -> paths of the files that can make objects of it
        self._called: dict[str, dict[str, int]] = {}  # bare name -> path -> number of calls
        self.faults: dict[str, str] = {}  # path -> why nothing of it but the module is known: an error nobody foresaw
        self._said: dict[str, tuple[FileEntry, dict[Key, Any]]] = {}  # path -> what `_contents` said of the file as it was then

    # inputs

    def key(self, *parts: str) -> int:
        """The small integer of an input; the first part says what it is about.

        `top`: what (path, name) says to other files; where `methods_are_inputs`, a class without what (path, Class.method) says ·
        `passed`: what (path, scope) passes to callees of a bare name ·
        `module`: which files answer to a dotted name · `named`: definitions of a bare name ·
        `shared`: which files that answer to (dotted name) bind (name) · `calls`: call sites of a bare name ·
        `made`: whether a class's name is used ·
        `subclasses`: of (symbol id) · `file`: whether a path exists · `clause`: what (path) says it belongs to.
        """
        found = self._keys.get(parts)
        if found is None:
            found = self._keys[parts] = len(self._keys)
        return found

    def keys(self) -> list[Key]:
        """Every input that was named, in the order of its number."""
        return list(self._keys)

    def number(self, keys: Iterable[Key]) -> None:
        """Give inputs the numbers 0, 1, …; before any other is named."""
        self._keys = {key: position for position, key in enumerate(keys)}

    def touch(self, *parts: str) -> None:
        """Record that the answer being made depends on an input."""
        self.solver.reads.add(self.key(*parts))

    def top_key(self, entry: FileEntry, name: str) -> int:
        """The input that says what a name at the top of a file means."""
        key = entry.tops.get(name)
        if key is None:
            key = entry.tops[name] = self.key("top", entry.path, name)
        return key

    def touch_top(self, entry: FileEntry, name: str) -> None:
        """Record that the answer being made depends on what a name at the top of a file means."""
        self.solver.reads.add(self.top_key(entry, name))

    # look-ups, each recorded

    def package_clause(self, entry: FileEntry) -> str:
        """What a file says it belongs to; "" when it does not say."""
        self.touch("clause", entry.path)
        return entry.clause

    def file(self, path: str) -> FileEntry | None:
        """The file at a path."""
        self.touch("file", path)
        return self.files.get(path)

    def modules(self, dotted: str) -> list[str]:
        """Paths of the files that answer to a dotted module name, sorted."""
        self.touch("module", dotted)
        return sorted(self._modules.get(dotted, ()))

    def binders(self, dotted: str, name: str) -> list[str]:
        """Paths of the files answering to a dotted name that bind a name at their top, sorted; where files share names."""
        self.touch("shared", dotted, name)
        return sorted(self._binders.get(dotted, _NO_NAMES).get(name, ()))

    def demanded(self, name: str) -> list[Symbol]:
        """Methods of that name which interfaces ask for, where having them is enough to satisfy the interface."""
        self.touch("named", name)
        return sorted(self._demanded.get(name, ()), key=_place)

    def is_folder(self, dotted: str) -> bool:
        """True when some module's dotted name begins with this one."""
        self.touch("module", dotted)
        return self._folders.get(dotted, 0) > 0

    def named(self, name: str) -> list[Symbol]:
        """Functions, methods and classes of that bare name, in the order of their places."""
        self.touch("named", name)
        return sorted(self._named.get(name, ()), key=_place)

    def knows_name(self, name: str) -> bool:
        """True when any function, method or class of the project has that name."""
        self.touch("named", name)
        return bool(self._named.get(name))

    def is_made(self, name: str) -> bool:
        """False for the name of a class that no file calls or uses as a value, so that nobody makes objects of it."""
        if not is_class_name(name):
            return True
        self.touch("made", name)
        return bool(self._made.get(name))

    def call_sites(self, name: str) -> tuple[list[CallSite], bool]:
        """Where something of that bare name is called, outside of tests first; False when these are not all.

        At most `MAX_CALL_SITES` are given.
        """
        self.touch("calls", name)
        paths = self._called.get(name, {})
        found: list[CallSite] = []
        for path in sorted(paths, key=lambda path: (self.files[path].in_tests, path)):
            found += self.files[path].call_sites(name)
            if len(found) > MAX_CALL_SITES:
                return found[:MAX_CALL_SITES], False
        return found, True

    def entry(self, symbol: Symbol) -> FileEntry:
        """The file of a symbol; what the symbol says becomes an input."""
        self.solver.reads.add(symbol.key)
        return self.files[symbol.path]

    def definition(self, symbol: Symbol) -> Definition:
        """What a symbol's definition says."""
        self.solver.touch(symbol.key)
        return self.files[symbol.path].definitions[symbol.index]

    def exists(self, symbol: Symbol) -> bool:
        """False for a symbol that was removed since somebody remembered it."""
        self.solver.touch(symbol.key)
        return symbol.index >= 0

    # changes

    def replace(self, changed: Mapping[str, FileFacts], removed: Collection[str], *, compare: bool) -> set[int]:
        """Take new facts in and forget files.

        Args:
            changed: path to facts, new files too.
            removed: paths that are gone.
            compare: False when nobody has asked anything yet, so that no difference matters.

        Returns:
            The inputs whose content is now different.
        """
        paths = sorted(set(removed) | set(changed))
        before = {path: self._contents_kept(path) for path in paths} if compare else {}
        for path in paths:
            self._remove(path)
        for path in sorted(changed):
            rules = self.rules_of(changed[path].language)
            if rules is not None:
                self._take_in(changed[path], rules)
        stale: set[int] = set()
        for path, old in before.items():
            new = self._contents_kept(path)
            stale |= {self.key(*_index_key(key)) for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
        return stale

    def _contents_kept(self, path: str) -> dict[Key, Any]:
        """`_contents`, remembered for the files that changed last: whoever types changes the same few again and again."""
        entry = self.files.get(path)
        known = self._said.pop(path, None)
        if entry is None:
            return {}
        if known is None or known[0] is not entry:
            known = (entry, self._contents(path))
        self._said[path] = known
        while len(self._said) > MAX_SAID:
            del self._said[next(iter(self._said))]
        return known[1]

    def _contents(self, path: str) -> dict[Key, Any]:
        """What one file contributes to every input, by key."""
        entry = self.files.get(path)
        if entry is None:
            return {}
        contents = self._fingerprints(entry)
        contents["file", path] = True
        contents["clause", path] = entry.clause
        for name in entry.made:
            contents["made", name, path] = True
        for dotted in entry.rules.names_of(entry.facts):
            contents["module", dotted, path] = True
            for name in entry.rules.shared_names(entry):
                contents["shared", dotted, name, path] = True
            for folder in _folders(dotted):
                contents["module", folder, path, "below"] = True
        for symbol in entry.symbols:
            if symbol.kind in _CALLABLE_KINDS:
                # What a fallback by name looks at: where it is, and how it may be called.
                definition = entry.definitions[symbol.index]
                signature = (definition.modifiers, tuple((p.name, p.kind, p.default < 0) for p in definition.parameters))
                contents["named", symbol.name, symbol.id] = signature
        return contents

    def _fingerprints(self, entry: FileEntry) -> dict[Key, Any]:
        try:
            return dict(Fingerprints(entry).hashes)
        except Exception as error:  # noqa: BLE001 - whatever was read of the file counts as changed, now and every time
            fault(error, "comparing it with what it was", entry.path)
            known: list[Key] = [key for key in self._keys if entry.path in key[1:2]]
            return {key: object() for key in [*known, *(("calls", name, entry.path) for name in entry.calls)]}

    def _take_in(self, facts: FileFacts, rules: Rules) -> None:
        """Add a file; of one that brings about an error nobody foresaw the module alone."""
        try:
            self._add(facts, rules)
        except Exception as error:  # noqa: BLE001 - it stays with that file, and is said
            said = self.faults[facts.path] = fault(error, "knowing its definitions", facts.path)
            diagnostics = (*facts.diagnostics, ("error", CODE, said, 0))
            bare = facts._replace(definitions=facts.definitions[:1], terms=[], imports=[], bindings=[], references=[], exports=None)
            self._add(bare._replace(diagnostics=diagnostics), rules)

    def _add(self, facts: FileFacts, rules: Rules) -> None:
        path = facts.path
        parts = part_names(facts.definitions, apart=rules.methods_are_inputs)
        symbols = [self._symbol(path, definition, part) for definition, part in zip(facts.definitions, parts, strict=True)]
        try:
            for position, symbol in enumerate(symbols):
                symbol.index = position
            entry = FileEntry(facts, rules, symbols)
            names = {dotted: list(rules.shared_names(entry)) for dotted in rules.names_of(facts)}
        except Exception:
            for symbol in symbols:
                symbol.index = -1
            raise
        # From here on nothing of the file is looked at that could bring about an error.
        self.files[path] = entry
        for symbol in symbols:
            if symbol.kind in _CALLABLE_KINDS:
                self._named.setdefault(symbol.name, set()).add(symbol)
        if rules.interfaces_are_structural:
            for symbol in entry.symbols:
                if symbol.kind == "method" and entry.definitions[entry.definitions[symbol.index].parent].kind == "interface":
                    self._demanded.setdefault(symbol.name, set()).add(symbol)
        for dotted, shared in names.items():
            for name in shared:
                self._binders.setdefault(dotted, {}).setdefault(name, set()).add(path)
            self._modules.setdefault(dotted, set()).add(path)
            for folder in _folders(dotted):
                self._folders[folder] = self._folders.get(folder, 0) + 1
        for name in entry.made:
            self._made.setdefault(name, set()).add(path)
        for name, sites in entry.calls.items():
            self._called.setdefault(name, {})[path] = len(sites)

    def _remove(self, path: str) -> None:
        self.faults.pop(path, None)
        entry = self.files.pop(path, None)
        if entry is None:
            return
        for symbol in entry.symbols:
            symbol.index = -1
            self._named.get(symbol.name, set()).discard(symbol)
            self._demanded.get(symbol.name, set()).discard(symbol)
        for dotted in entry.rules.names_of(entry.facts):
            for name in entry.rules.shared_names(entry):
                self._binders[dotted][name].discard(path)
            self._modules[dotted].discard(path)
            for folder in _folders(dotted):
                self._folders[folder] -= 1
        for name in entry.made:
            self._made[name].discard(path)
        for name in entry.calls:
            self._called[name].pop(path)

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


def _folders(dotted: str) -> list[str]:
    parts = dotted.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def _index_key(key: Key) -> Key:
    """The input a contribution belongs to: `named`, `module`, `calls` and `made` unite the contributions of many files."""
    if key[0] == "shared":
        return key[:3]
    return key[:2] if key[0] in ("named", "module", "calls", "made") else key
