"""Find the classes and the extension methods to which C# code refers.

Two classes may have the same name and a different number of type parameters, such as `Row<A, B>` and `Row<A, B, C>`.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphmem.parsing.facts import INDEX, LAMBDA, NAME, TermIndex
from graphmem.resolution.csharp.tables import LIBRARY
from graphmem.resolution.csharp.usings import CSharpUsings
from graphmem.resolution.csharp.written import Fitting, declares_parameter, is_inferred, names_of_parameters, of_annotation
from graphmem.resolution.files.file_entry import Place
from graphmem.resolution.type_inference.extensions import packages_seen
from graphmem.resolution.values.declared_types import closed
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.terms import arguments_of, items_or_itself, last_name
from graphmem.resolution.values.types import CLASS, EMPTY, EXTI, Atom, Type, box, join_all

if TYPE_CHECKING:
    from graphmem.parsing.facts import Reference
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.call import Argument
    from graphmem.resolution.interfaces.inference import Inference


class CSharpRules(CSharpUsings):
    """Rules that resolve names and calls in C# to definitions."""

    extensions_come_last = True

    def objects(self, inference: Inference, entry: FileEntry, scope: int, term: TermIndex) -> Type:
        """Return the classes and external types that a type expression names.

        Several classes may have the same name. Those with as many type parameters as the expression has type arguments are returned.
        """
        written = entry.terms[term]
        if written[0] != INDEX:
            return self._with_parameters(inference, entry, super().objects(inference, entry, scope, term), (scope, term), 0)
        return self.generic_objects(inference, entry, scope, written[1], len(items_or_itself(entry.terms, written[2])))

    def generic_objects(self, inference: Inference, entry: FileEntry, scope: int, base: TermIndex, count: int) -> Type:
        """Return the classes and external types that `Base<…>` names.

        `base` is the expression `Base`, and `count` is the number of type arguments.
        """
        return self._with_parameters(inference, entry, super().objects(inference, entry, scope, base), (scope, base), count)

    def new_objects(self, inference: Inference, entry: FileEntry, scope: int, called: TermIndex) -> Type:
        """Return the classes that `new Type(…)` names.

        `called` is the expression `Type`. A property with the same name as its class is ignored.
        """
        found = self.objects(inference, entry, scope, called)
        return found if any(atom[0] == CLASS for atom in found) else EMPTY

    def may_define(self, inference: Inference, name: str) -> bool:
        """Whether the project may define a type of a given name.

        Properties, which often have the name of a type, are ignored.
        """
        return super().may_define(inference, name) and any(
            symbol.kind not in ("method", "variable") for symbol in inference.project.named(name)
        )

    def overload_group(self, entry: FileEntry, symbol: Symbol) -> tuple[str, int, str]:
        """Return the key that all overloads of a method share.

        The key is (path, position of the enclosing scope, name). The methods of a `partial class` may be in several files, so their key has
        "" in place of the path, 0 in place of the position, and the qualified name.
        """
        parent = entry.definitions[symbol.index].parent
        is_split = symbol.kind == "method" and "partial" in entry.definitions[parent].modifiers
        return ("", 0, symbol.qualname) if is_split else super().overload_group(entry, symbol)

    def fitting_receiver(self, inference: Inference, entry: FileEntry, reference: Reference, methods: Sequence[Symbol]) -> Sequence[Symbol]:
        """Return the best of several methods that fit the arguments equally well.

        If the types of all arguments are known, a method without type parameters is preferred to a method whose type parameters follow
        from the arguments.
        """
        for argument in arguments_of(entry.terms[reference.term]):
            if (
                not inference.expanded(inference.term(entry, reference.scope, argument, reference.line))
                or entry.terms[argument][0] == LAMBDA
            ):
                return methods
        plain = [method for method in methods if not is_inferred(inference.project.entry(method), method)]
        return plain or methods

    def is_same_class(self, entry: FileEntry, symbol: Symbol, other_entry: FileEntry, other: Symbol) -> bool:
        """Whether two declarations of one name may be parts of one class.

        The parts must have equally many type parameters.
        """
        return type_parameters(entry, symbol) == type_parameters(other_entry, other)

    def fit_argument(self, inference: Inference, argument: Argument, function: Symbol, annotation: TermIndex) -> int | None:
        """Score how well an argument, as written in the source, fits a parameter.

        `annotation` is the declared type of the parameter of `function`. None stands for no score. The caller then compares
        the type of the argument with the declared type.
        """
        if annotation < 0:
            return None
        return Fitting(inference, argument, self.final_types).points(function, annotation)

    def function_type(self, inference: Inference, entry: FileEntry, scope: int, annotation: TermIndex) -> Type:
        """Return the type of the function that a delegate stands for.

        `annotation` is the index of the delegate's type among the expressions of the file `entry`, such as `Func<A, B>` or
        `Expression<Func<A, B>>`. The table `delegates` of the grammar tells how many of a delegate's last type arguments are results.
        """
        found = entry.terms[annotation] if annotation >= 0 else None
        if found is None or found[0] != INDEX:
            return EMPTY
        arguments = items_or_itself(entry.terms, found[2])
        name = last_name(entry.terms[found[1]])
        if name in self._expressions:
            return self.function_type(inference, entry, scope, arguments[0])
        if name not in self._delegates or inference.project.knows_name(name):
            return EMPTY
        parameters = arguments[: len(arguments) - self._delegates[name]]
        return box("callable", EMPTY, EMPTY, *(closed(inference.declared(entry, scope, argument)) for argument in parameters))

    def overrides(self, inference: Inference, base: Symbol, method: Symbol) -> bool:
        """Return whether a method overrides a base's method of the same name.

        A method that overrides a method of a class has the modifier `override`. Without the modifier, it is a separate method, which hides
        the base's method.
        """
        entry = inference.project.entry(base)
        if entry.definitions[entry.definitions[base.index].parent].kind == "class":
            definition = inference.project.definition(method)
            if definition.kind == "method" and "override" not in definition.signature.partition("(")[0].split():
                return False
        return super().overrides(inference, base, method)

    def extensions(self, inference: Inference, entry: FileEntry, receiver: Atom, name: str) -> Sequence[Symbol]:
        """Return the extension methods of a given name that fit a receiver.

        Type inference reduces a wrapper such as `Task<T>` to `T`. So extensions of `Task<T>` are also returned for a receiver of type `T`.
        """
        found = super().extensions(inference, entry, receiver, name)
        return self._runnable(inference, found or self.unwrapped(inference, entry, name))

    def unknown_extensions(self, inference: Inference, entry: FileEntry, receiver: Type, name: str) -> Sequence[Symbol]:
        """Return the extension methods that may fit a value of unknown type.

        Most results of library methods have an unknown type. The result is empty for the name of a method that collections have, such as
        `Where`.
        """
        if name in self._keep or self.is_common_name(name):
            return ()
        is_result = all(atom[0] == EXTI and "." in atom[2] and atom[1] in ("", self.builtin_package) for atom in receiver)
        return self._runnable(inference, super().unknown_extensions(inference, entry, EMPTY if is_result else receiver, name))

    def _runnable(self, inference: Inference, found: Sequence[Symbol]) -> Sequence[Symbol]:
        """Return the extension methods that a call can run.

        `found` are the extension methods that fit. One is left out if the extended type has a method with the same name and parameters,
        because C# then prefers the method of the type.
        """
        return [symbol for symbol in found if not self._is_hidden(inference.project.entry(symbol), symbol)]

    def _is_hidden(self, entry: FileEntry, symbol: Symbol) -> bool:
        """Whether a type already has the method that an extension would add.

        `symbol` is the extension method. The method of the type must have the same name and parameter types.
        """
        members = LIBRARY.members.get(self.extended_type(entry, symbol.index), ())
        if not members:
            return False
        given = (of_annotation(entry, symbol.index, one.annotation).name for one in entry.definitions[symbol.index].parameters[1:])
        return f"{symbol.name}({','.join(given)})" in members

    def unwrapped(self, inference: Inference, entry: FileEntry, name: str) -> Sequence[Symbol]:
        """Return the extension methods of wrapper types, such as `Task<T>`.

        Type inference usually treats such a type as its argument `T`. Extension methods for values of every type, `this T value`, are
        returned, too.
        """
        if not inference.project.knows_name(name):
            return ()
        seen = packages_seen(self, inference, entry)
        found: list[Symbol] = []
        for symbol in inference.project.named(name):
            other = inference.project.entry(symbol)
            if other.rules is not entry.rules or "extension" not in other.definitions[symbol.index].modifiers:
                continue
            extended = self.extended_type(other, symbol.index)
            is_wrapper = extended in self._transparent or declares_parameter(other, symbol.index, extended) == symbol.index
            if is_wrapper and not seen.isdisjoint(self.names_of(other.facts)):
                found.append(symbol)
        return found

    def _with_parameters(self, inference: Inference, entry: FileEntry, found: Type, named: tuple[int, int], count: int) -> Type:
        """Return the classes in `found` that have `count` type parameters.

        `found` is the type of a name, and `named` has the scope and the expression that names it. If `found` has no such class, other
        declarations of the name are tried, in this file and then in others. If there is none, `found` is returned.
        """
        classes = [atom for atom in found if atom[0] == CLASS]
        fitting = _fitting(inference, found, count)
        scope, term = named
        written = entry.terms[term]
        if fitting or not classes or written[0] != NAME:
            return fitting or found
        while not fitting and scope >= 0:
            places = (Place(entry, scope, slot) for slot in entry.names(scope).get(written[1], ()) if slot.kind == "definition")
            fitting = _fitting(inference, join_all(inference.slot(place) for place in places), count)
            scope = entry.definitions[scope].parent
        if not fitting:
            others = join_all(inference.slot(place) for place in self.shared(inference, entry, written[1]) or ())
            fitting = _fitting(inference, inference.expanded(others), count)
        return fitting or found


def _fitting(inference: Inference, found: Type, count: int) -> Type:
    """Return the classes in `found` that have `count` type parameters.

    `found` is the type of a name: the set of everything that the name may stand for, such as the classes `Box` and `Box<T>`.
    """
    return frozenset(atom for atom in found if atom[0] == CLASS and type_parameters(inference.project.entry(atom[1]), atom[1]) == count)


def type_parameters(entry: FileEntry, symbol: Symbol) -> int:
    """Return the number of type parameters in the header of a class."""
    return len(names_of_parameters(entry, symbol))


RULES = CSharpRules
