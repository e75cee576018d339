"""Find the functions that a decorator's wrapper replaces and calls.

A decorator such as `def timed(function)` returns a wrapper, which replaces the decorated function and calls it. Calls from a wrapper to
decorated functions have the rule `wrapped` (see `docs/resolution.md`).

`reference` is the use that is resolved: a call, a read, a write or an operation.
"""

from __future__ import annotations

from collections.abc import Iterator

from graphmem.model import WRAPPED
from graphmem.parsing.facts import ATTR, NAME, Reference, TermIndex
from graphmem.resolution.edges.target import Target
from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.interfaces.inference import Inference
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.type_inference.decorating import decorated, decorated_by
from graphmem.resolution.values.symbol import FUNCTION_KINDS, Symbol
from graphmem.resolution.values.types import FUNC, INST


class Wrappers:
    """Relates the wrappers in one file to the functions that they replace."""

    def __init__(self, inference: Inference, entry: FileEntry) -> None:
        self.inference = inference
        self.project = inference.project
        self.entry = entry
        self.terms = entry.terms

    def is_in_wrapper(self, scope: int, function: Symbol) -> bool:
        """Whether a call is inside the wrapper that replaces a decorated function.

        `scope` contains the call, and `function` is the decorated function. The wrapper is the function or callable object that the
        decorator returns.
        """
        if function.kind not in FUNCTION_KINDS or not self.project.definition(function).decorators:
            return False
        places = {atom[1] for atom in self.inference.expanded(self.inference.defined(function)) if atom[0] in (FUNC, INST)}
        places.discard(function)
        while places and scope > 0:
            if self.entry.symbols[scope] in places:
                return True
            scope = self.entry.definitions[scope].parent
        return False

    def wrapped(self, reference: Reference, callee: TermIndex) -> list[Target]:
        """Return the decorated functions that a call inside a wrapper runs.

        A wrapper is the function that a decorator returns in place of the decorated function. `callee` is the called expression. It must be
        a parameter of the decorator, or an attribute to which a constructor assigns its parameter. The result is empty for a decorator with
        few uses, because inference then finds the functions.
        """
        found = (symbol for decorator in self._decorators(reference, callee) for symbol in decorated(self.inference, decorator))
        return [Target(symbol, None, WRAPPED) for symbol in found]

    def held(self, reference: Reference, callee: TermIndex) -> list[Target]:
        """Return the functions that a library's decorator class stores.

        An example is a subclass of `property` that calls `self.fget(…)`: the attribute `fget` has the decorated function. `callee` is the
        called expression, here `self.fget`. The result has the functions that the class around the call, or a subclass, decorates.
        """
        entry, term = self.entry, self.terms[callee]
        position = entry.rules.receiver_class(entry, reference.scope, term[1]) if term[0] == ATTR else -1
        if term[0] != ATTR or position < 0:
            return []
        symbol = entry.symbols[position]
        for base in self.inference.mro(symbol):
            if not isinstance(base, Symbol) and rules_of(entry).wrapped_members.get((base[1], base[2])) == term[2]:
                return [Target(one, None, WRAPPED) for one in decorated_by(self.inference, symbol)]
        return []

    def _decorators(self, reference: Reference, callee: TermIndex) -> Iterator[Symbol]:
        """Yield the decorators whose first argument is the function being called.

        `callee` is the called expression. It is one of the following:

        - the first parameter of a function around the call; that function is yielded;
        - an attribute of `self` to which a constructor assigns its first parameter; the constructor is yielded.

        The parameter `self` is not counted.
        """
        entry, term = self.entry, self.terms[callee]
        if term[0] == NAME:
            for place in self.inference.lookup(entry, reference.scope, term[1], reference.line) or ():
                if place.slot.kind == "parameter" and place.scope != reference.scope:
                    symbol = place.entry.symbols[place.scope]
                    if place.slot.index == (symbol.kind == "method"):
                        yield symbol
        elif term[0] == ATTR and (position := entry.rules.receiver_class(entry, reference.scope, term[1])) >= 0:
            owner = self.inference.owner(entry.symbols[position], term[2])
            if isinstance(owner, Symbol):
                other = self.project.entry(owner)
                for binding in (other.facts.bindings[i] for i in other.members.get(owner.index, {}).get(term[2], ())):
                    method = other.definitions[binding.scope]
                    first = method.parameters[1].name if len(method.parameters) > 1 else ""
                    if method.name in rules_of(other).constructors and binding.value >= 0 and other.terms[binding.value] == (NAME, first):
                        yield other.symbols[binding.scope]
