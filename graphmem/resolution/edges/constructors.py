"""Find the constructors that run when code creates an object.

Examples are `__init__` for `A()`, constructors of subclasses for `cls()`, and the next constructor for `super().__init__()`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from graphmem.resolution.edges.target import Target
from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.interfaces.inference import Inference
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.type_inference.hierarchy import Hierarchy
from graphmem.resolution.values.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.values.types import SuperObject


class Constructors:
    """Finds the constructors that the calls of one file can run."""

    def __init__(self, inference: Inference, hierarchy: Hierarchy, entry: FileEntry) -> None:
        self.inference = inference
        self.project = inference.project
        self.hierarchy = hierarchy
        self.entry = entry

    def of_class(self, symbol: Symbol) -> Iterator[Symbol]:
        """Yield the methods, such as `__init__`, that run when a class is called."""
        for name in rules_of(self.entry).constructors:
            owner = self.inference.owner(symbol, name)
            if isinstance(owner, Symbol):
                yield from self.inference.functions(owner, name)

    def of_subclasses(self, symbol: Symbol, caller: Symbol) -> Iterator[Target]:
        """Yield constructors of subclasses, because `cls()` may run any of them.

        `symbol` is the class of `cls`, and `caller` the function that contains the call, which is never yielded. If the subclasses have
        more than `hierarchy.MAX_OVERRIDES` constructors, none is yielded.
        """
        for name in rules_of(self.entry).constructors:
            found = self.hierarchy.overrides(symbol, name, caller)
            yield from (Target(constructor, None, "override") for constructor in found)

    def after_super(self, atom: SuperObject) -> Iterator[Target]:
        """Yield the constructors that `super().__init__()` runs.

        They belong to the next class in the method resolution order that has a constructor. `atom` is the type of `super()`.
        """
        _, after, (_, symbol, _) = atom
        for constructor in rules_of(self.entry).constructors:
            owner = self.inference.owner(symbol, constructor, after=after)
            if isinstance(owner, Symbol):
                for function in self.inference.functions(owner, constructor):
                    yield Target(function, None, "super")
                continue
            line = self.inference.mro(symbol)
            following = line[line.index(after) + 1 :] if after in line else ()
            if following and isinstance(following[0], Symbol):  # it has only an implicit constructor
                yield Target(following[0], None, "super")
            elif owner is not None:
                yield Target(None, (owner[1], owner[2]), "external")

    def one_of_parts(self, targets: Iterable[Target]) -> list[Target]:
        """Keep one of the targets that are parts of the same split class.

        An example of a split class is a `partial class` in C#. The first part with a constructor is kept. If no part has one, the first
        part is kept.
        """
        found = list(targets)
        parts: dict[str, list[Symbol]] = {}
        for target in found:
            if (
                target.symbol is not None
                and target.symbol.kind in CLASS_KINDS
                and "partial" in self.project.definition(target.symbol).modifiers
            ):
                parts.setdefault(target.symbol.qualname, []).append(target.symbol)
        left_out: set[Symbol] = set()
        for several in parts.values():
            made_by = rules_of(self.entry).constructors
            makers = (one for one in several if any(name in self.project.entry(one).names(one.index) for name in made_by))
            left_out.update(several)
            left_out.discard(next(makers, several[0]))
        return [target for target in found if target.symbol not in left_out] if left_out else found
