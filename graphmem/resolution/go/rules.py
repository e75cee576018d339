"""Rules that resolve names and calls in Go code to definitions.

Packages are folders and methods have receivers. A type satisfies an interface if it has all methods of the interface.

The package clause of a file is the line that names its package, such as `package shop`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final, Self

from graphmem.parsing.facts import INDEX, ITER, TYPED, UNPACK
from graphmem.resolution.go.constraints import are_built_together
from graphmem.resolution.go.signatures import given_types, same, shape
from graphmem.resolution.packages import PackageRules, classes_in, methods_of, resolution_table
from graphmem.resolution.values.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.values.types import (
    BOX,
    EMPTY,
    EXT,
    INST,
    NAMESPACE,
    TUP,
    Atom,
    Language,
    Outside,
    Package,
    Type,
    join,
    join_all,
    one,
    ordered,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Binding, Definition, Import
    from graphmem.parsing.language import LanguageSpec
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.call import Call
    from graphmem.resolution.interfaces.inference import Inference
    from graphmem.resolution.interfaces.layout import Layout

_KEYS: Final = frozenset({"types", "functions", "common", "generic", "demanded", "exported"})


class GoRules(PackageRules):
    """Rules that resolve names and calls in Go code to definitions.

    The project's `go.mod` files give the names of modules. `[resolution]` of `language.toml` lists names of Go and its libraries.

    Raises:
        GrammarError: `[resolution]` has an unknown key.
    """

    name = Language("go")
    builtin_package = Package("builtin")
    containers: ClassVar = {"[]": ("list", (0,)), "map": ("map", (0, 1)), "chan": ("chan", (0,))}
    variables_begin_late = True
    variables_end_with_blocks = True
    first_parameter_is_receiver = True
    interfaces_are_structural = True
    functions_take_types = True
    libraries_hand_back = True

    def __init__(self, layout: Layout, spec: LanguageSpec) -> None:
        super().__init__(layout)
        table = resolution_table(spec, _KEYS)
        self.builtin_types = frozenset(table["types"])
        self.builtin_functions = frozenset(table["functions"])
        self.common_names = frozenset(table["common"])
        self._generic = frozenset(table["generic"])
        self._demanded: Mapping[str, Sequence[str]] = table["demanded"]
        self._exported = {package: frozenset(names) for package, names in table["exported"].items()}
        self._modules = {
            path.rpartition("/")[0]: str(document["module"])
            for path, document in layout.documents.items()
            if path.rpartition("/")[2] == "go.mod" and document["module"]
        }

    @classmethod
    def of_language(cls, layout: Layout, spec: LanguageSpec) -> Self:
        """Create the rules from `language.toml`."""
        return cls(layout, spec)

    # packages

    def module_names(self, path: str) -> Sequence[str]:
        """Return the import path of a file's folder.

        If no folder above the file has a `go.mod`, the result is the path of the folder ("." for the root).
        """
        folder = path.rpartition("/")[0]
        above = folder
        while above not in self._modules and above:
            above = above.rpartition("/")[0]
        if above not in self._modules:
            return (folder or ".",)
        below = folder[len(above) :].strip("/")
        return (f"{self._modules[above]}/{below}" if below else self._modules[above],)

    def sees(self, inference: Inference, entry: FileEntry, other: FileEntry) -> bool:
        """Return whether one file sees the top-level names of another file.

        Both files must have the same package clause, and one build must be able to contain both. Definitions in test files are visible only
        to test files.
        """
        clause, constraint = inference.project.package_clause, inference.project.build_constraint
        if clause(entry) != clause(other) or not super().sees(inference, entry, other):
            return False
        return are_built_together(entry.path, constraint(entry), other.path, constraint(other))

    def import_targets(self, inference: Inference, entry: FileEntry, found: Import) -> Type:
        """Return the package of an import: a folder, or an external package."""
        if found.kind in ("package", "constraint") or not found.module:
            return EMPTY
        if inference.project.modules(found.module):
            return one((NAMESPACE, found.module, self.name))
        return one((EXT, Package(found.module), "", None))

    def unbound(self, inference: Inference, entry: FileEntry, scope: int, name: str) -> Type:
        """Return the type of a name that no scope of its Go file binds.

        It is a built-in name, or an exported name of a library that the file imports as in `import . "github.com/onsi/gomega"`. There may
        be several such libraries. The result has those for which the table `exported` lists the name. If there are none, it has all
        libraries that the table does not list.
        """
        found = super().unbound(inference, entry, scope, name)
        if found or not name[:1].isupper():
            return found
        imported = join_all(self.import_targets(inference, entry, entry.facts.imports[position]) for position in entry.stars)
        packages = [atom[1] for atom in imported if atom[0] == EXT]
        names = {package: self._names_of(package) for package in packages}
        having = [package for package in packages if name in (names[package] or ())]
        return frozenset((EXT, package, name, None) for package in having or packages if having or names[package] is None)

    def _names_of(self, package: Package) -> frozenset[str] | None:
        """Return the exported names of a library; None if they are not listed."""
        return next((names for prefix, names in self._exported.items() if package.startswith(prefix)), None)

    # methods

    def receiver(self, inference: Inference, symbol: Symbol) -> Type:
        """Return the declared type of a method's receiver.

        For `func (t T) f()`, the type is `T`.
        """
        entry = inference.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        if entry.definitions[definition.parent].kind in CLASS_KINDS:
            return one((INST, entry.symbols[definition.parent], False))
        return inference.declared(entry, definition.parent, definition.parameters[0].annotation) if definition.parameters else EMPTY

    def is_virtual(self, symbol: Symbol) -> bool:
        """Return whether a method call on a type is dynamically dispatched.

        In Go, this is true only for interfaces.
        """
        return symbol.kind == "interface"

    def takes(self, definition: Definition, positional: int, keywords: Sequence[str], *, bound: bool) -> bool:
        """Return whether a function accepts a given number of arguments.

        `positional` is the number; for the others, see `CallRules.takes`. A single argument is always accepted, because it may be a call
        that returns several values, one for each parameter.
        """
        return super().takes(definition, positional, keywords, bound=bound) or positional == 1

    # interfaces

    def satisfied(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """Return the interfaces of the project that a type satisfies."""
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
        pending = list(candidates)
        while pending:  # an interface that embeds a candidate may have no methods of its own
            for interface in project.embedding(pending.pop().name):
                if interface not in candidates:
                    candidates[interface] = None
                    pending.append(interface)
        found = [interface for interface in candidates if interface.index >= 0 and self._has_all(inference, symbol, interface)]
        return tuple(sorted(found, key=lambda interface: interface.place))

    def satisfied_methods(self, inference: Inference, method: Symbol) -> Sequence[Symbol]:
        """Return the interface methods that a method implements.

        They belong to the interfaces of the project that the receiver's type satisfies.
        """
        if method.kind != "method":
            return ()
        entry = inference.project.entry(method)
        owners = [atom[1] for atom in ordered(self.receiver(inference, method)) if atom[0] == INST and atom[1].kind != "interface"]
        return [
            demanded
            for owner in owners
            if entry.definitions[method.index].kind == "method"
            for interface in self.satisfied(inference, owner)
            for demanded in inference.functions(interface, method.name)
        ]

    def _method_names(self, inference: Inference, symbol: Symbol) -> Iterator[str]:
        """Return the names of the methods of a type and of its embedded types."""
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
        """Return whether a type has every method of an interface.

        The parameters and results of the methods must have the same types. `interface` may embed a library's interface, such as
        `fmt.Stringer`. The methods of a library's interface are known only if the table `demanded` lists them, and are compared by name. An
        interface of a library that is not listed requires no methods. The result is False if the project defines no method of `interface`.

        A type parameter of an interface is one type in all of its methods. It is the argument that an embedding interface gives, as in
        `Searchable[Albums]`, or else any type.
        """
        is_known = False
        for part in inference.mro(interface):
            if not isinstance(part, Symbol):
                names = self._demanded.get(f"{part[1]}.{part[2]}", ())
                if not all(isinstance(inference.owner(symbol, name), Symbol) for name in names):
                    return False
                continue
            types = given_types(inference, interface, part)
            for name in methods_of(inference.project.entry(part), part):
                owner = inference.owner(symbol, name)
                functions = inference.functions(owner, name) if isinstance(owner, Symbol) else []
                given = [shape(inference.project.entry(method), method) for method in functions]
                wanted = [shape(inference.project.entry(method), method) for method in inference.functions(part, name)]
                if not any(same(one, other, types) for one in wanted for other in given):
                    return False
                is_known = True
        return is_known

    # values

    def bound(self, inference: Inference, entry: FileEntry, binding: Binding, value: Type) -> Type:
        """Return the type of a variable in a `range` loop or comma-ok assignment.

        In `for k, v := range x`, the variables are keys and elements of `x`. In `v, ok := m[key]`, `v` gets the type of the value, and the
        type of `ok` is unknown.
        """
        found = entry.terms[binding.value]
        position = found[2] if found[0] == UNPACK else 0
        inner = entry.terms[found[1]] if found[0] == UNPACK else found
        if binding.op == "for" and inner[0] == ITER:
            ranged = inference.expanded(inference.term(entry, binding.scope, inner[1], binding.line))
            return join_all(_ranged(atom, position) for atom in ordered(ranged))
        if found[0] == UNPACK and inner[0] in (TYPED, INDEX, ITER):
            return inference.term(entry, binding.scope, found[1], binding.line) if position == 0 else EMPTY
        return value

    def call_external(self, inference: Inference, atom: Outside, call: Call) -> Type | None:
        """Return the result type of a Go builtin function; None if it is unknown.

        `make` and `new` return the type named by their first argument. `append` returns the type of its first argument.
        """
        if atom[1] != self.builtin_package or not call.args:
            return None
        if atom[2] in ("make", "new"):
            return inference.declared(call.entry, call.scope, call.args[0])
        return call.argument(0) or EMPTY if atom[2] == "append" else None

    def given_outside(self, inference: Inference, atom: Outside, call: Call) -> Collection[Symbol]:
        """Return the project classes that a call passes to a library function.

        The classes are the call's type arguments and the types of its arguments. A generic library function may return objects of these
        classes. The result is empty for a function of the standard library, unless the table `generic` contains its package.
        """
        if "." not in atom[1].partition("/")[0] and atom[1] not in self._generic:
            return ()
        callee = call.entry.terms[call.callee] if call.callee >= 0 else ()
        types = inference.declared(call.entry, call.scope, callee[2]) if callee and callee[0] == INDEX else EMPTY
        return classes_in(inference, join(types, call.rest(0)))


def _ranged(atom: Atom, position: int) -> Type:
    """Return the type of a loop variable in `for k, v := range x`.

    `atom` is one of the types that `x` may have. `position` is 0 for the first loop variable and 1 for the second.
    """
    if atom[0] == TUP:
        return join_all(atom[1]) if position == 1 else EMPTY
    if atom[0] != BOX:
        return EMPTY
    elements: tuple[Type, ...] = atom[2]
    if atom[1] == "map":
        return elements[position] if position < 2 else EMPTY
    return elements[0] if position == (0 if atom[1] == "chan" else 1) else EMPTY


RULES = GoRules
