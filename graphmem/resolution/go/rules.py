"""The rules of Go: packages are folders, methods have receivers, interfaces are satisfied by having their methods."""

# ruff: noqa: SIM905

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from graphmem.parsing.facts import ATTR, INDEX, ITER, NAME, TUPLE, TYPED, UNPACK
from graphmem.resolution.packages import PackageRules, classes_in, methods_of
from graphmem.resolution.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.types import BOX, EMPTY, EXT, INST, NAMESPACE, TUP, Atom, Outside, Type, join, join_all, one

if TYPE_CHECKING:
    from graphmem.parsing.facts import Binding, Definition, Import, Term
    from graphmem.resolution.call import Call
    from graphmem.resolution.file_entry import FileEntry
    from graphmem.resolution.inference import Inference
    from graphmem.resolution.layout import Layout

_TYPES: Final = frozenset(
    "any bool byte comparable complex128 complex64 error float32 float64 int int16 int32 int64 int8 rune string uint uint16 uint32 uint64 "
    "uint8 uintptr".split()
)
_FUNCTIONS: Final = frozenset(
    "append cap clear close complex copy delete imag len make max min new panic print println real recover".split()
)
_GENERIC: Final = frozenset("iter maps slices sync sync/atomic unique weak".split())
"""Packages of the standard library with generic functions and types."""


class GoRules(PackageRules):
    """Go, with modules as their `go.mod` files name them."""

    name = "go"
    builtin_package = "builtin"
    builtin_types: ClassVar = _TYPES
    builtin_functions: ClassVar = _FUNCTIONS
    containers: ClassVar = {"[]": ("list", (0,)), "map": ("map", (0, 1)), "chan": ("chan", (0,))}
    common_names: ClassVar = frozenset("Close Error Len Less Lock Read String Swap Unlock Unwrap Write".split())
    first_parameter_is_receiver = True
    interfaces_are_structural = True
    functions_take_types = True
    libraries_hand_back = True

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self._modules = {
            path.rpartition("/")[0]: str(document["module"])
            for path, document in layout.documents.items()
            if path.rpartition("/")[2] == "go.mod" and document["module"]
        }

    # packages

    def module_names(self, path: str) -> Sequence[str]:
        """The import path of the file's folder; the folder itself where no `go.mod` says more."""
        folder = path.rpartition("/")[0]
        above = folder
        while above not in self._modules and above:
            above = above.rpartition("/")[0]
        if above not in self._modules:
            return (folder or ".",)
        below = folder[len(above) :].strip("/")
        return (f"{self._modules[above]}/{below}" if below else self._modules[above],)

    def sees(self, inference: Inference, entry: FileEntry, other: FileEntry) -> bool:
        """Files see each other when their package clauses agree; what tests define is for tests."""
        clause = inference.project.package_clause
        return clause(entry) == clause(other) and super().sees(inference, entry, other)

    def import_targets(self, inference: Inference, entry: FileEntry, found: Import) -> Type:
        """A package of the project or one outside."""
        if found.kind == "package" or not found.module:
            return EMPTY
        if inference.project.modules(found.module):
            return one((NAMESPACE, found.module, self.name))
        return one((EXT, found.module, "", None))

    # methods

    def receiver(self, inference: Inference, symbol: Symbol) -> Type:
        """What the receiver is declared to be."""
        entry = inference.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        if entry.definitions[definition.parent].kind in CLASS_KINDS:
            return one((INST, entry.symbols[definition.parent], False))
        return inference.declared(entry, definition.parent, definition.parameters[0].annotation) if definition.parameters else EMPTY

    def is_virtual(self, symbol: Symbol) -> bool:
        """Only interfaces leave open whose method runs."""
        return symbol.kind == "interface"

    def takes(self, definition: Definition, positional: int, keywords: Sequence[str], *, bound: bool) -> bool:
        """As many arguments as parameters; one call may give them all."""
        return super().takes(definition, positional, keywords, bound=bound) or positional == 1

    # interfaces

    def satisfied(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """The interfaces of the project whose methods the type has."""
        if symbol.kind == "interface":
            return ()
        memo = inference.project.entry(symbol).memo
        return inference.project.solver.ask(memo, ("satisfied", symbol.index), self._satisfied, inference, symbol) or ()

    def _satisfied(self, inference: Inference, symbol: Symbol) -> tuple[Symbol, ...]:
        project = inference.project
        candidates: dict[Symbol, None] = {}
        for name in sorted(set(self._method_names(inference, symbol))):
            for method in project.demanded(name):
                other = project.entry(method)
                candidates[other.symbols[other.definitions[method.index].parent]] = None
        found = [interface for interface in candidates if interface.index >= 0 and self._has_all(inference, symbol, interface)]
        return tuple(sorted(found, key=lambda interface: interface.place))

    def satisfied_methods(self, inference: Inference, method: Symbol) -> Sequence[Symbol]:
        """Methods of the interfaces its type satisfies."""
        if method.kind != "method":
            return ()
        entry = inference.project.entry(method)
        owners = [atom[1] for atom in self.receiver(inference, method) if atom[0] == INST and atom[1].kind != "interface"]
        return [
            demanded
            for owner in owners
            if entry.definitions[method.index].kind == "method"
            for interface in self.satisfied(inference, owner)
            for demanded in inference.functions(interface, method.name)
        ]

    def _method_names(self, inference: Inference, symbol: Symbol) -> Iterator[str]:
        """Names of the methods of a type, those of what it embeds included."""
        project = inference.project
        for part in inference.mro(symbol):
            if isinstance(part, Symbol):
                entry = project.entry(part)
                yield from methods_of(entry, part)
                for place in () if "." in part.qualname else self._apart(inference, entry, part):
                    yield place.rpartition(".")[2]

    def _apart(self, inference: Inference, entry: FileEntry, symbol: Symbol) -> Iterator[str]:
        prefix = f"{symbol.name}."
        for path in inference.project.binders(self.names_of(entry.facts)[0], prefix):
            other = inference.project.files[path]
            inference.project.touch_top(other, symbol.name)
            yield from (name for name in other.names(0) if name.startswith(prefix))

    def _has_all(self, inference: Inference, symbol: Symbol, interface: Symbol) -> bool:
        """True when a type has every method of an interface, with parameters and results of the same types."""
        for part in inference.mro(interface):
            if not isinstance(part, Symbol):
                return False  # what an interface outside asks for is not known
            for name in methods_of(inference.project.entry(part), part):
                owner = inference.owner(symbol, name)
                functions = inference.functions(owner, name) if isinstance(owner, Symbol) else []
                wanted = {_shape(inference.project.entry(method), method) for method in inference.functions(part, name)}
                if wanted.isdisjoint(_shape(inference.project.entry(method), method) for method in functions):
                    return False
        return True

    # values

    def bound(self, inference: Inference, entry: FileEntry, binding: Binding, value: Type) -> Type:
        """Loops over keys and elements; the first of two names that take a value and whether there is one."""
        found = entry.terms[binding.value]
        position = found[2] if found[0] == UNPACK else 0
        inner = entry.terms[found[1]] if found[0] == UNPACK else found
        if binding.op == "for" and inner[0] == ITER:
            ranged = inference.expanded(inference.term(entry, binding.scope, inner[1], binding.line))
            return join_all(_ranged(atom, position) for atom in ranged)
        if found[0] == UNPACK and inner[0] in (TYPED, INDEX, ITER):
            return inference.term(entry, binding.scope, found[1], binding.line) if position == 0 else EMPTY
        return value

    def call_external(self, inference: Inference, atom: Outside, call: Call) -> Type | None:
        """`make` and `new` give what they are asked for; `append` what it is given."""
        if atom[1] != self.builtin_package or not call.args:
            return None
        if atom[2] in ("make", "new"):
            return inference.declared(call.entry, call.scope, call.args[0])
        return call.argument(0) or EMPTY if atom[2] == "append" else None

    def given_outside(self, inference: Inference, atom: Outside, call: Call) -> Collection[Symbol]:
        """What a generic function is given, as types or as values; of the standard library it is known where these are."""
        if "." not in atom[1].partition("/")[0] and atom[1] not in _GENERIC:
            return ()
        callee = call.entry.terms[call.callee] if call.callee >= 0 else ()
        types = inference.declared(call.entry, call.scope, callee[2]) if callee and callee[0] == INDEX else EMPTY
        return classes_in(inference, join(types, call.rest(0)))


def _shape(entry: FileEntry, method: Symbol) -> tuple[Any, ...]:
    """The types of a method's parameters and results as they are written, without packages and without the receiver."""
    definition = entry.definitions[method.index]
    is_demanded = entry.definitions[definition.parent].kind == "interface"
    parameters = definition.parameters if is_demanded else definition.parameters[1:]
    return (
        tuple((parameter.kind, _written(entry.terms, parameter.annotation)) for parameter in parameters),
        _written(entry.terms, definition.returns),
    )


def _written(terms: Sequence[Term], index: int) -> Any:
    if index < 0:
        return None
    found = terms[index]
    if found[0] in (NAME, ATTR):
        return found[-1]
    if found[0] == INDEX:
        return (_written(terms, found[1]), _written(terms, found[2]))
    if found[0] == TUPLE:
        return tuple(_written(terms, item) for item in found[1])
    return found[0]


def _ranged(atom: Atom, position: int) -> Type:
    """What the first or second name of `for … range` gets from one thing."""
    if atom[0] == TUP:
        return join_all(atom[1]) if position == 1 else EMPTY
    if atom[0] != BOX:
        return EMPTY
    elements: tuple[Type, ...] = atom[2]
    if atom[1] == "map":
        return elements[position] if position < 2 else EMPTY
    return elements[0] if position == (0 if atom[1] == "chan" else 1) else EMPTY


RULES = GoRules
