"""Edges for names in annotations and in re-exporting imports.

The type of an annotation (`Inference.declared`) does not contain aliases or parameters of a function type. Therefore this module follows
the names in the source text. A change of `Handler = Callable[[Request], str]` affects the functions declared with `Handler`. It also
affects a package that re-exports `Handler`.

A term is an expression as the parser stores it: a tuple that begins with an operator, such as `call` for `f(x)`.

`scope` is a function, a class or the module, given as its position among the definitions of its file; 0 is the module.
"""

from __future__ import annotations

from collections.abc import Iterator

from graphmem.model import EdgeKind
from graphmem.parsing.facts import ATTR, NAME, Import, Reference, TermIndex
from graphmem.resolution.edges.context import FileContext
from graphmem.resolution.edges.reads import Reads
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.type_inference import definitions
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.types import BOX, CLASS, EXT, EXTI, INST, TUP, Atom, Type, ordered


class Annotations:
    """Adds edges for the annotations and re-exports in one file.

    The edges lead from a definition to the types and aliases that the definition names.
    """

    def __init__(self, context: FileContext, reads: Reads) -> None:
        self.context = context
        self.inference = context.inference
        self.entry = context.entry
        self.terms = context.terms
        self.reads = reads
        self._named_types: dict[tuple[int, str], frozenset[Symbol]] = {}  # by scope and name

    def type_use(self, src: Symbol, scope: int, term: TermIndex, line: int) -> None:
        """Add edges to the types and the aliases that an annotation names.

        Args:
            src: the symbol that has the annotation.
            scope: the scope in which the names of the annotation are looked up.
            term: position of the annotation in the file's list of expressions; -1 without an annotation.
            line: line of the annotation.
        """
        if term < 0:
            return
        edge = self.context.evidence.edge
        for atom in _flat(self.inference.declared(self.entry, scope, term)):
            if atom[0] in (INST, CLASS) and atom[1] is not src and not self._adds_to_platform(atom[1]):
                edge(EdgeKind.USES_TYPE, src.id, atom[1].id, "annotation", line)
            elif atom[0] in (EXTI, EXT) and atom[1] != rules_of(self.entry).builtin_package:
                edge(EdgeKind.USES_TYPE, src.id, self.context.evidence.outside(atom[1], atom[2]), "annotation", line)
        for symbol in self.named_in(scope, term, line):
            if symbol is not src:
                edge(EdgeKind.USES_TYPE, src.id, symbol.id, "annotation", line)

    def named_type(self, reference: Reference) -> None:
        """Add edges to a type that is named outside of annotations.

        Examples are `A` in a cast `(A) x`, in a test `x instanceof A`, in a type argument `f<A>()`, or the value in `typeof value`.
        """
        value = rules_of(self.entry).value_in_type(self.entry, self.terms[reference.term])
        if value >= 0:
            self.reads.read(reference._replace(kind="read", term=TermIndex(value)))
            return
        self.type_use(self.context.caller(reference), reference.scope, reference.term, reference.line)

    def alias(self, symbol: Symbol) -> None:
        """Add edges from a type alias, such as `type A = B`, to the types in it."""
        definition = self.entry.definitions[symbol.index]
        for slot in self.entry.names(definition.parent).get(definition.name, ()):
            if slot.kind == "binding":
                binding = self.entry.facts.bindings[slot.index]
                if definition.start_line <= binding.line <= definition.end_line:
                    self.type_use(symbol, definition.parent, binding.value, definition.name_line)

    def pass_on(self, found: Import) -> None:
        """Add edges from a file to the definitions of a name that it re-exports.

        An example is `export { a } from "module"`.
        """
        module = self.entry.symbols[0]
        for symbol in definitions.imported(self.inference, self.entry, found, anything=True):
            if symbol.path != self.entry.path:
                self.context.evidence.edge(EdgeKind.REFERENCES, module.id, symbol.id, "import", found.line)

    def named_in(self, scope: int, term: TermIndex, line: int) -> Iterator[Symbol]:
        """Yield the definition of every type that an annotation names."""
        pending = [term]
        while pending:
            current = pending.pop()
            found = self.terms[current]
            if found[0] == NAME:
                if not self._is_parameter(scope, found[1], line):
                    yield from self._type_named(scope, found[1])
            elif found[0] == ATTR:
                value = self.inference.expanded(self.inference.term(self.entry, scope, found[1], definitions.LAST_LINE))
                for atom in ordered(rules_of(self.entry).owner_in_type(self.inference, self.terms[found[1]], value)):
                    yield from definitions.member(self.inference, self.entry, atom, found[2], anything=False)
            else:
                pending += rules_of(self.entry).parts_of_type(self.inference, self.entry, scope, found)

    def _adds_to_platform(self, symbol: Symbol) -> bool:
        """Whether a type only adds members to a type of the browser or Node.

        An example is `interface Window {…}` in another file. A use of `Window` is not a use of that file.
        """
        entry = self.inference.project.entry(symbol)
        return symbol.path != self.entry.path and rules_of(entry).adds_to_platform(entry, symbol)

    def _type_named(self, scope: int, name: str) -> definitions.Symbols:
        symbols = self._named_types.get((scope, name))
        if symbols is None:
            symbols = self._named_types[scope, name] = definitions.type_named(self.inference, self.entry, scope, name)
        return symbols

    def _is_parameter(self, scope: int, name: str, line: int) -> bool:
        """Whether a name in an annotation refers to a type parameter, such as `T`."""
        while scope >= 0:
            for position in self.entry.locals.get((scope, name), ()):
                binding = self.entry.facts.bindings[position]
                if binding.value < 0 and binding.line <= line <= binding.end_line:
                    return True
            scope = self.entry.definitions[scope].parent
        return False


def _flat(value: Type) -> Iterator[Atom]:
    """Yield the alternatives of a type and the types inside its containers.

    For `list[A] | B`, these are the list, `A` and `B`. The order is stable.
    """
    for atom in ordered(value):
        yield atom
        for part in atom[2] if atom[0] == BOX else atom[1] if atom[0] == TUP else ():
            yield from _flat(part)
