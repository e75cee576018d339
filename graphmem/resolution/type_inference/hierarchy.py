"""Class hierarchy of a project: base classes mapped to subclasses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final, TypeVar

from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.files.project import Project
from graphmem.resolution.interfaces.inference import Inference
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.values.symbol import CLASS_KINDS, Symbol
from graphmem.runtime.process.faults import fault

MAX_IMPLEMENTED: Final = 8
"""Most methods of the project that a call on a library's type may run."""

MAX_OVERRIDES: Final = 64
"""Maximum number of overriding methods that become edges of one call. Beyond it, only OVERRIDES edges exist."""


B = TypeVar("B", Symbol, str)  # a base class in the project, or the name of one outside


class Hierarchy:
    """Subclasses of every class in a project, updated file by file."""

    def __init__(self, project: Project, inference: Inference) -> None:
        self.project = project
        self.inference = inference
        self._bases: dict[str, dict[Symbol, tuple[Symbol, ...]]] = {}  # path -> class -> direct bases in the project
        self.inputs: dict[str, frozenset[int]] = {}  # path -> the inputs and groups from which these bases were read
        self._below: dict[Symbol, set[Symbol]] = {}  # class -> its direct subclasses
        self._outside: dict[str, dict[Symbol, frozenset[str]]] = {}  # path -> class -> the types and packages of its bases in libraries
        self._implementing: dict[str, set[Symbol]] = {}  # such a type or package -> the classes
        inference.below = self.below

    def refresh(self, stale: set[int], changed: Iterable[str]) -> set[int]:
        """Update the class hierarchy after files changed.

        The base classes of a file are read again if the file changed, or if reading its base classes had used a fact that changed. Facts
        are given by their numbers.

        Args:
            stale: numbers of the changed facts.
            changed: paths of the changed files, also of removed ones.

        Returns:
            The numbers of further facts that changed, because a class got or lost a subclass.
        """
        again = {path for path, inputs in self.inputs.items() if not stale.isdisjoint(inputs)} | set(changed)
        different: set[int] = set()
        for path in sorted(again):
            before, before_outside = self._bases.pop(path, {}), self._outside.pop(path, {})
            self.inputs.pop(path, None)
            entry = self.project.files.get(path)
            if entry is not None:
                self._read_bases(entry)
            different |= self._update_subclasses(self._below, before, self._bases.get(path, {}), attrgetter("id"))
            different |= self._update_subclasses(self._implementing, before_outside, self._outside.get(path, {}), str)
        return different

    def _read_bases(self, entry: FileEntry) -> None:
        """Find the base classes of each class in a file, with the facts used."""
        path = entry.path
        inside: dict[Symbol, tuple[Symbol, ...]] = {}
        outside: dict[Symbol, frozenset[str]] = {}
        reads = self.project.solver.listen()
        try:
            for symbol in entry.symbols:
                if symbol.kind in CLASS_KINDS:
                    bases = self.inference.bases(symbol)
                    own = tuple(base for base in bases if isinstance(base, Symbol))
                    inside[symbol] = (*own, *rules_of(entry).implemented(self.inference, symbol))
                    if len(own) < len(bases) and rules_of(entry).standard_packages:
                        external = [(base[1], base[2]) for base in bases if not isinstance(base, Symbol)]
                        outside[symbol] = frozenset(name for base in external for name in _outside_names(*base))
        except Exception as error:  # noqa: BLE001 - resolving the file raises it again, and reports it
            fault(error, "finding the bases of its classes", path)
            inside, outside = {}, {}
        self._bases[path] = inside
        self._outside[path] = outside
        self.inputs[path] = frozenset(reads)
        self.project.shelf.trim()

    def _update_subclasses(
        self,
        below: dict[B, set[Symbol]],
        before: Mapping[Symbol, Collection[B]],
        after: Mapping[Symbol, Collection[B]],
        id_of: Callable[[B], str],
    ) -> set[int]:
        """Update the subclasses of the bases that a file's classes got or lost.

        Args:
            below: the direct subclasses of each base, which this method updates.
            before: the earlier bases of each class in the file.
            after: the present bases of each class in the file.
            id_of: returns the id of a base.

        Returns:
            The numbers of the facts that changed.
        """
        different: set[int] = set()
        for symbol in before.keys() | after.keys():
            old, new = set(before.get(symbol, ())), set(after.get(symbol, ()))
            for base in old - new:
                below[base].discard(symbol)
            for base in new - old:
                below.setdefault(base, set()).add(symbol)
            different |= {self.project.key("subclasses", id_of(base)) for base in old ^ new}
        return different

    def implementing(self, package: str, dotted: str, name: str, caller: Symbol) -> list[Symbol]:
        """Return the project's methods that a call on a library's type may run.

        For `x.name()`, `package` and `dotted` name the type of `x`. The methods belong to project classes that extend this type. If there
        are none, project classes that extend any type of `package` are used, because their base may extend `dotted`. The calling function
        `caller` and private methods are left out. The result is empty for more than `MAX_IMPLEMENTED` methods.
        """
        in_tests = self.project.files[caller.path].in_tests
        for outside in _outside_names(package, dotted):
            self.project.touch("subclasses", outside)
            found: dict[Symbol, None] = {}
            for symbol in sorted(self._implementing.get(outside, ()), key=lambda one: one.place):
                for child in (symbol, *self.below(symbol)):
                    if child.index >= 0 and (in_tests or not self.project.files[child.path].in_tests):
                        owner = self.inference.owner(child, name)
                        if isinstance(owner, Symbol):
                            found.update(dict.fromkeys(self.inference.functions(owner, name)))
            public = [symbol for symbol in found if "private" not in self.project.definition(symbol).modifiers]
            chosen = [symbol for symbol in public if not self.project.files[symbol.path].in_tests] or public
            if chosen:
                return [symbol for symbol in chosen if symbol is not caller] if len(chosen) <= MAX_IMPLEMENTED else []
        return []

    def below(self, symbol: Symbol) -> Sequence[Symbol]:
        """Return all subclasses of a class, sorted by source position.

        Indirect subclasses are included.
        """
        memo = self.project.files[symbol.path].memo
        return self.project.solver.ask(memo, ("V", symbol.index), self._all_below, symbol)

    def _all_below(self, symbol: Symbol) -> tuple[Symbol, ...]:
        self.project.entry(symbol)
        found: set[Symbol] = set()
        pending = [symbol]
        while pending:
            current = pending.pop()
            self.project.touch("subclasses", current.id)
            for child in self._below.get(current, ()):
                if child not in found:
                    found.add(child)
                    pending.append(child)
        found.discard(symbol)
        return tuple(sorted(found, key=lambda child: child.place))

    def overrides(self, owner: Symbol, name: str, caller: Symbol) -> list[Symbol]:
        """Return the methods of subclasses that override a class's method.

        `owner` is the class, and `name` the method. The calling function `caller` is never returned, because a method that calls its own
        name usually wraps another object. If `caller` is not in a test file, classes in test files are left out. The result is empty for
        more than `MAX_OVERRIDES` methods.
        """
        in_tests = self.project.files[caller.path].in_tests
        memo = self.project.entry(owner).memo
        found = self.project.solver.ask(memo, ("v", owner.index, name, in_tests), self._overrides, owner, name, in_tests)
        return [symbol for symbol in found if symbol is not caller]

    def runs(self, symbol: Symbol, owner: Symbol, name: str) -> bool:
        """Whether a method of a class may run on an object of a given class.

        `symbol` is the class of the object, and `owner` is the class that defines the method `name`. Objects of subclasses are included
        if the project may create them. Subclasses that override the method are ignored.
        """
        memo = self.project.files[symbol.path].memo
        return bool(self.project.solver.ask(memo, ("x", symbol.index, name, owner), self._runs, symbol, owner, name))

    def _runs(self, symbol: Symbol, owner: Symbol, name: str) -> bool:
        classes = (one for one in (symbol, *self.below(symbol)) if one.index >= 0)
        return any(self._is_made(one) and self.inference.owner(one, name) is owner for one in classes)

    def is_made(self, symbol: Symbol) -> bool:
        """Whether objects of a class or of a subclass may exist."""
        memo = self.project.files[symbol.path].memo
        return bool(self.project.solver.ask(memo, ("X", symbol.index), self._is_any_made, symbol))

    def _is_any_made(self, symbol: Symbol) -> bool:
        return any(self._is_made(one) for one in (symbol, *self.below(symbol)) if one.index >= 0)

    def _is_made(self, symbol: Symbol) -> bool:
        return rules_of(self.project.entry(symbol)).is_made(self.inference, symbol)

    def _overrides(self, owner: Symbol, name: str, in_tests: bool) -> tuple[Symbol, ...]:
        """Return the methods that override a method, in classes with objects.

        `owner` is the class, and `name` the method. If the project creates objects of neither `owner` nor any of its subclasses, all
        overriding methods are returned. Classes in test files are considered only if `in_tests` is True. The result is empty for more
        than `MAX_OVERRIDES` methods.
        """
        found: list[Symbol] = []
        running: list[Symbol] = []
        for child in self.below(owner):
            if child.index >= 0 and (in_tests or not self.project.files[child.path].in_tests):
                origin = self._origin(owner, child, name)
                own = self.inference.functions(origin, name)
                found += own
                if own and self.runs(child, origin, name):
                    running += own
                if len(running) > MAX_OVERRIDES:
                    return ()
        chosen = tuple(dict.fromkeys(running if running or self.is_made(owner) else found))
        return chosen if len(chosen) <= MAX_OVERRIDES else ()

    def _origin(self, owner: Symbol, child: Symbol, name: str) -> Symbol:
        """Return the class whose method `name` runs on an object of `child`.

        `child` is a subclass of `owner`, and overrides the method of `owner`. Usually the result is `child`. A class that implements an
        interface may instead inherit the method from a class that does not implement it, or in Go get the method from a type that it
        embeds. In Python, a class may inherit the method from another base, which comes before `owner` in the method resolution order.
        """
        if self.inference.functions(child, name) or not self._may_inherit(owner, child, name):
            return child
        origin = self.inference.owner(child, name)
        is_apart = isinstance(origin, Symbol) and origin is not owner and origin.kind != "interface" and origin not in self.below(owner)
        return origin if isinstance(origin, Symbol) and is_apart else child

    def _may_inherit(self, owner: Symbol, child: Symbol, name: str) -> bool:
        """Whether a subclass may inherit an overriding method from another base.

        The parameters are those of `_origin`. If `owner` is an interface, every class that implements it may. If `owner` is a class, the
        subclass must have several base classes, and the language must be Python. The result is False if a library's base class of `owner`
        may define the method.
        """
        if owner.kind == "interface":
            return child.kind != "interface"
        entry = self.project.files[child.path]  # its facts may be on the disk
        return (
            child.index in entry.mixed
            and rules_of(entry).siblings_are_inferred
            and not isinstance(self.inference.owner(owner, name), tuple)
        )


def _outside_names(package: str, dotted: str) -> tuple[str, ...]:
    """Return the keys under which subclasses of a library's class are indexed.

    For `requests.Session` the keys are `requests:Session`, for the class, and `requests:`, for its package. The result is empty if the base
    is not a named class, but the result of a call or a subscript.
    """
    return (f"{package}:{dotted}", f"{package}:") if "(" not in dotted and "[" not in dotted else ()
