"""Rules of Python for classes that satisfy a `typing.Protocol`.

A class with all members of a protocol satisfies it, without naming it as a base.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphmem.parsing.facts import INDEX, TermIndex
from graphmem.resolution.python.fixtures import PythonFixtures
from graphmem.resolution.values.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.values.terms import last_name

if TYPE_CHECKING:
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference


class StructuralClasses(PythonFixtures):
    """Finds the protocols that the classes of a project satisfy."""

    def is_protocol(self, inference: Inference, symbol: Symbol) -> bool:
        """Return whether `typing.Protocol` is a direct base of a class."""
        return any(not isinstance(base, Symbol) and base[2] == "Protocol" for base in inference.bases(symbol))

    def is_structural(self, entry: FileEntry, position: int) -> bool:
        """Return whether `Protocol` is a base of a class.

        `position` is the class, as a position among the definitions of the file.
        """
        return any(_header_name(entry, term) == "Protocol" for _, term in entry.definitions[position].bases)

    def implemented(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """Return the protocols that a class satisfies without naming them.

        Protocols with a method `__call__` are left out, because they stand for functions.
        """
        entry = inference.project.entry(symbol)
        found: dict[Symbol, None] = {}
        for slots in entry.names(symbol.index).values():
            for slot in slots:
                if slot.kind == "definition":
                    for method in self.satisfied_methods(inference, entry.symbols[slot.index]):
                        other = inference.project.entry(method)
                        found[other.symbols[other.definitions[method.index].parent]] = None
        protocols = (one for one in found if self.call_method not in inference.project.entry(one).names(one.index))
        return sorted(protocols, key=lambda one: one.place)

    def satisfied_methods(self, inference: Inference, method: Symbol) -> Sequence[Symbol]:
        """Return the methods of protocols that a method implements.

        The class of `method` must have every member of the protocol, without naming the protocol as a base. Each method of the class must
        accept the arguments that the protocol's method accepts. Types are not compared.
        """
        project = inference.project
        demanded = project.demanded(method.name) if method.kind == "method" else []
        if not demanded:
            return ()
        entry = project.entry(method)
        position = entry.definitions[method.index].parent
        if entry.definitions[position].kind not in CLASS_KINDS or self.is_structural(entry, position):
            return ()
        owner, found = entry.symbols[position], []
        for one_of_protocol in demanded:
            other = project.entry(one_of_protocol)
            protocol = other.symbols[other.definitions[one_of_protocol.index].parent]
            is_seen = not other.in_tests or other is entry
            if is_seen and protocol not in inference.mro(owner) and self._satisfies(inference, owner, protocol):
                found.append(one_of_protocol)
        return found

    def _satisfies(self, inference: Inference, symbol: Symbol, protocol: Symbol) -> bool:
        """Return whether a class has every member of a protocol."""
        if not self.is_protocol(inference, protocol):
            return False
        for part in inference.mro(protocol):
            if not isinstance(part, Symbol):
                continue
            entry = inference.project.entry(part)
            inference.project.touch_members(part)
            for name in entry.names(part.index):
                owner = inference.owner(symbol, name)
                if not isinstance(owner, Symbol):
                    return False
                wanted = inference.functions(part, name)
                given = inference.functions(owner, name)
                if wanted and given and not any(self._accepts(inference, one, wanted[0]) for one in given):
                    return False
        return True

    def _accepts(self, inference: Inference, method: Symbol, demanded: Symbol) -> bool:
        """Return whether a method accepts the arguments of a protocol's method.

        `demanded` is the method that the protocol requires of its classes. Calls of it with all arguments, and with only the required ones,
        must fit `method`.
        """
        kinds = inference.project.definition(demanded).parameters[1:]
        positional = sum(one.kind in ("normal", "positional") for one in kinds)
        needed = sum(one.kind in ("normal", "positional") and one.default < 0 for one in kinds)
        keywords = tuple(one.name for one in kinds if one.kind == "keyword")
        asked = tuple(one.name for one in kinds if one.kind == "keyword" and one.default < 0)
        definition = inference.project.definition(method)
        most = self.takes(definition, positional, keywords, bound=True)
        return most and (needed == positional or self.takes(definition, needed, asked, bound=True))


def _header_name(entry: FileEntry, term: TermIndex) -> str:
    """Return the name of a base class: `Protocol` for `typing.Protocol[T]`."""
    base = entry.terms[term]
    return last_name(entry.terms[base[1]] if base[0] == INDEX else base)
