"""Find base classes, and the class that defines an attribute.

Classes are searched in method resolution order, as the C3 algorithm gives it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.parsing.facts import LITERAL
from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.types import (
    CLASS,
    EXT,
    EXTI,
    Base,
    Ext,
)
from graphmem.runtime.data.conventions import all_conventions

if TYPE_CHECKING:
    from graphmem.resolution.interfaces.inference import Inference


class Ancestors:
    """Finds the base classes of a class, and the class that defines a member."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.project = inference.project
        self.ask = inference.project.solver.ask

    def mro(self, symbol: Symbol) -> tuple[Base, ...]:
        """Return the class and its ancestors in method resolution order.

        Ancestors in the project are symbols. Ancestors outside the project are external names (`EXT` tuples).
        """
        return tuple(self.ask(self.project.files[symbol.path].memo, ("m", symbol.index), self._mro, symbol))

    def _mro(self, symbol: Symbol) -> tuple[Base, ...]:
        parents: list[list[Base]] = []
        direct: list[Base] = []
        entry = self.project.entry(symbol)
        for base in (*self.bases(symbol), *rules_of(entry).bases_elsewhere(self.inference, symbol)):
            if base is symbol or base in direct:
                continue
            direct.append(base)
            parents.append(list(self.mro(base)) if isinstance(base, Symbol) else [base])
        return (symbol, *_merge([*parents, direct], symbol))

    def bases(self, symbol: Symbol) -> tuple[Base, ...]:
        """Return the direct base classes of a class, in source order.

        Bases in the project are symbols. Bases outside the project are external names (`EXT` tuples).
        """
        return tuple(self.ask(self.project.files[symbol.path].memo, ("B", symbol.index), self._bases, symbol))

    def _bases(self, symbol: Symbol) -> tuple[Base, ...]:
        entry = self.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        found: list[Base] = []
        named = [rules_of(entry).base(self.inference, entry, symbol, term) for keyword, term in definition.bases if not keyword]
        for atoms in (*named, rules_of(entry).given_bases(self.inference, entry, symbol)):
            for atom in sorted(atoms, key=repr):
                base: Base | None = None
                if atom[0] == CLASS:
                    base = atom[1]
                elif atom[0] == EXT or atom[0] == EXTI:
                    _, package, dotted, given = atom
                    base = (EXT, package, dotted, given)
                if base is not None and base not in found:
                    found.append(base)
        found += (base for base in rules_of(entry).more_bases(self.inference, symbol) if base not in found)
        return tuple(found)

    def project_classes(self, symbol: Symbol) -> frozenset[Symbol]:
        """Return a class and its ancestors, without those outside the project."""
        return frozenset(c for c in self.mro(symbol) if isinstance(c, Symbol))

    def is_enum(self, symbol: Symbol) -> bool:
        """Whether a class is an enumeration, whose members are its instances."""
        known = all_conventions().enum_classes
        return symbol.kind == "enum" or any(not isinstance(c, Symbol) and c[2].rpartition(".")[2] in known for c in self.mro(symbol))

    def owner(self, symbol: Symbol, name: str, after: Symbol | None = None) -> Base | None:
        """Return the class that defines an attribute, in method resolution order.

        If no class of the project defines it, the result is the first base class outside the project (an `EXT` tuple). None if the class
        has no such base.

        Args:
            symbol: the class at which the look-up begins.
            name: name of the attribute.
            after: search only the classes after this one in the resolution order, as `super()` does.
        """
        if after is None:
            memo = self.project.files[symbol.path].memo
            return self.ask(memo, ("w", symbol.index, name), self._owner, symbol, name, None) or None
        return self._owner(symbol, name, after)

    def _owner(self, symbol: Symbol, name: str, after: Symbol | None) -> Base | None:
        outside: Ext | None = None
        rules = rules_of(self.project.files[symbol.path])
        # class whose methods only assign the attribute; this calls the setter if a base has it as a property
        assigned: Symbol | None = None
        skipping = after is not None
        for candidate in self.mro(symbol):
            if skipping:
                skipping = candidate is not after
            elif not isinstance(candidate, Symbol):
                if outside is None and rules.may_give(candidate, name):
                    outside = candidate
            elif assigned is not None:
                if self._is_property(candidate, name):
                    return candidate
            elif self._has(candidate, name):
                if self.project.files[candidate.path].names(candidate.index).get(name):
                    return candidate
                assigned = candidate
        return assigned or outside

    def _is_property(self, symbol: Symbol, name: str) -> bool:
        """Whether a class of a resolution order defines a property of a name."""
        entry = self.project.files[symbol.path]
        self.project.touch_member(entry, name)
        slots = entry.names(symbol.index).get(name, ()) if entry.defines(symbol.index, name) else ()
        return any(slot.kind == "definition" and "property" in entry.definitions[slot.index].modifiers for slot in slots)

    def _has(self, symbol: Symbol, name: str) -> bool:
        """Whether a class itself, not a base, defines or assigns an attribute.

        A placeholder such as `name = None` is ignored, unless other code assigns the attribute, too. The caller found the class by `mro`,
        so its answer already depends on the definition of the class.
        """
        entry = self.project.files[symbol.path]
        self.project.touch_member(entry, name)
        is_reserved = entry.defines(symbol.index, name)
        if is_reserved:
            slots = entry.names(symbol.index).get(name, ())
            if any(slot.kind != "binding" or _informs(entry, slot.index) for slot in slots):
                return True
            if any(_informs(entry, position) for position in entry.members.get(symbol.index, {}).get(name, ())):
                return True
        if rules_of(entry).members_elsewhere(self.inference, symbol, name):
            return True
        return bool(is_reserved and rules_of(entry).attributes_are_set_anywhere and self.project.call_sites(f"={name}")[0])


def _informs(entry: FileEntry, position: int) -> bool:
    """Whether an assignment helps to infer the type of its target.

    `position` is the assignment's position in the file. An assignment `x = None` without an annotation does not help. Any other assignment
    helps, such as `x: A = None` or `x = f()`.
    """
    binding = entry.facts.bindings[position]
    return binding.annotation >= 0 or binding.value < 0 or entry.terms[binding.value] != (LITERAL, "none")


def _merge(lines: list[list[Base]], head: Symbol) -> list[Base]:
    """Merge the resolution orders of the bases of a class by the C3 algorithm.

    `lines` has the resolution order of each base, and at the end the list of the direct bases. `head` is the class itself, which is not in
    the result. In an inconsistent hierarchy, C3 finds no next class. Then the next class is the first one that remains.
    """
    found: list[Base] = []
    lines = [[c for c in line if c is not head] for line in lines]
    while lines := [line for line in lines if line]:
        for line in lines:
            if not any(line[0] in other[1:] for other in lines):
                chosen = line[0]
                break
        else:
            chosen = lines[0][0]
        found.append(chosen)
        lines = [[c for c in line if c != chosen] for line in lines]
    return found
