"""Find types of values and extension functions by a language's settings.

The settings are in `[resolution]` of `language.toml`.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import ATTR, CALL, INDEX, NAME, STRING, TermIndex
from graphmem.parsing.languages.ruby_blocks import RESULT as BLOCK_RESULT
from graphmem.resolution.files.instantiations import is_class_name
from graphmem.resolution.packages import mapped
from graphmem.resolution.scoped.lambdas import PSEUDO, function_type
from graphmem.resolution.scoped.protocols import ScopedProtocols
from graphmem.resolution.type_inference.extensions import extensions, of_unknown
from graphmem.resolution.type_inference.names import local_names
from graphmem.resolution.values.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.values.terms import call_at, items_or_itself, last_name
from graphmem.resolution.values.types import (
    BOX,
    BUILTIN,
    CLASS,
    EMPTY,
    EXT,
    EXTI,
    FUNC,
    INST,
    TUP,
    UNTYPED,
    Atom,
    Container,
    Instance,
    Outside,
    Package,
    Type,
    box,
    join,
    join_all,
    one,
    tuple_of,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Reference
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.call import Call
    from graphmem.resolution.interfaces.inference import Inference

UNNAMED: Final = Package("")
"""The library of a type of which only the name is known."""


class ScopedRules(ScopedProtocols):
    """Rules that resolve names by the settings in a `language.toml` file.

    One class serves all languages whose `language.toml` has these settings.
    """

    def extensions(self, inference: Inference, entry: FileEntry, receiver: Atom, name: str) -> Sequence[Symbol]:
        """Return the extension functions of a given name that fit a receiver.

        An extension function adds a method to a type from outside, as `fun String.trimmed()` does in Kotlin. In Swift, `append` of an array
        is the library's method, although an extension may add another with different labels.
        """
        if self._reopened is True and not self._extends:
            return self._reopened_members(inference, entry, receiver, name)
        if self._reopened is True and name in self._common and receiver[0] != INST:
            return ()
        return extensions(self, inference, entry, receiver, name) if self._extends else ()

    def _reopened_members(self, inference: Inference, entry: FileEntry, receiver: Atom, name: str) -> Sequence[Symbol]:
        """Return the methods that the project adds to a built-in class.

        `receiver` is an object or a class, and `name` the method. In Ruby, `class String` with `def words` gives every string the method
        `words`. Methods that the project adds to a class in the table `given_to_all`, such as `Kernel`, belong to all objects or to all
        classes.
        """
        if receiver[0] == INST or receiver[0] == CLASS:
            return self.given_to_all(inference, entry, name, on_class=receiver[0] == CLASS)
        if receiver[0] != EXTI or receiver[1] != self.builtin_package or not inference.project.knows_name(name):
            return ()
        own = self.string_type if receiver[2] in ("str", "template") else receiver[2]
        return self.of_reopened(inference, (own,), name) or self.given_to_all(inference, entry, name, on_class=False)

    def unknown_extensions(self, inference: Inference, entry: FileEntry, receiver: Type, name: str) -> Sequence[Symbol]:
        """Return the extension functions that may fit a value of unknown type.

        An extension function adds a method to a type from outside, as `fun String.trimmed()` does in Kotlin.
        """
        return of_unknown(self, inference, entry, receiver, name) if self._extends else ()

    def extended_type(self, entry: FileEntry, position: int) -> str:
        """Return the name of the type that an extension function extends.

        For `fun String.shout()`, the type is `String`. The result is also `String`, and not `A.String`, if the function is declared inside
        the class `A`. `position` is the index of the function among the definitions of the file `entry`.
        """
        definition = entry.definitions[position]
        if self._extends != "parameter":
            around = entry.definitions[definition.parent].qualname if definition.parent else ""
            return definition.qualname.removeprefix(f"{around}.").rpartition(".")[0] or around
        annotation = definition.parameters[0].annotation if definition.parameters else -1
        found = entry.terms[annotation] if annotation >= 0 else None
        if found is not None and found[0] == INDEX:
            found = entry.terms[found[1]]
        return last_name(found) if found is not None else ""

    def objects(self, inference: Inference, entry: FileEntry, scope: int, term: TermIndex) -> Type:
        """Return the classes and external types that a type expression names.

        Some languages import whole packages. There, a name that no file of the project defines stands for a type of an unknown library.
        """
        found = super().objects(inference, entry, scope, term)
        written = entry.terms[term]
        if found or not self.types_are_declared or self._by_path or written[0] != NAME:
            return found
        name = written[1]
        if not is_class_name(name) or name in local_names(entry) or self.may_define(inference, name):
            return EMPTY
        return EMPTY if inference.lookup(entry, scope, name, 1 << 30) else one((EXT, UNNAMED, name, None))

    def may_define(self, inference: Inference, name: str) -> bool:
        """Whether the project may define a type of a given name."""
        return inference.project.knows_name(name)

    def declared(self, inference: Inference, entry: FileEntry, scope: int, term: TermIndex) -> Type:
        """Return the type that an annotation declares.

        For a container without element types, the elements are unknown.
        """
        found = entry.terms[term]
        if found[0] == CALL:
            return function_type(inference, entry, scope, term)
        known = self._containers.get(found[1]) if found[0] == NAME else None
        if self.sides_are_apart:  # only a comment of Ruby declares types, so other values are possible
            return join(one((UNTYPED,)), super().declared(inference, entry, scope, term))
        if known is None or any(atom[0] == CLASS for atom in self.objects(inference, entry, scope, term)):
            return super().declared(inference, entry, scope, term)
        return box(known[0], *(EMPTY for _ in known[1]))

    def generic(self, inference: Inference, entry: FileEntry, scope: int, base: TermIndex, key: TermIndex) -> Type:
        """Return the type of a generic annotation `Base<Key>`.

        The result depends on the table of the language that lists the name `Base`:

        - For a pair, it is a tuple with the types in `Key`.
        - For a container, it is a container with elements of the types in `Key`.
        - For a transparent type, which has the members of its argument, it is the first type in `Key`.

        If the language has names for the parts of pairs, the elements of a map are pairs of a key and a value.
        """
        return self.filled(inference, entry, scope, (base, key), partial(inference.declared, entry, scope))

    def filled(
        self,
        inference: Inference,
        entry: FileEntry,
        scope: int,
        written: tuple[TermIndex, TermIndex],
        declared: Callable[[TermIndex], Type],
    ) -> Type:
        """Return the type of a generic annotation, given its arguments.

        `written` has the indices of `Base` and `Key`, and `declared` returns the type of an argument. See `generic`.
        """
        base, key = written
        name = last_name(entry.terms[base])
        is_known = name in self._containers or name in self._transparent or name in self._pairs
        if is_known and inference.project.knows_name(name):
            count = len(items_or_itself(entry.terms, key))
            if any(atom[0] == CLASS for atom in self.generic_objects(inference, entry, scope, base, count)):  # a class of the project
                return super().generic(inference, entry, scope, base, key)
        if name in self._pairs:
            return tuple_of(declared(one_key) for one_key in items_or_itself(entry.terms, key))
        if name and (name in self._containers or name in self._transparent):
            arguments = items_or_itself(entry.terms, key)
            if name in self._transparent:
                return declared(arguments[0]) if arguments else EMPTY
            kind, order = self._containers[name]
            given = [declared(arguments[i]) if i < len(arguments) else EMPTY for i in order]
            return box(kind, tuple_of(given), *given[1:]) if kind == "map" and self._parts else box(kind, *given)
        return super().generic(inference, entry, scope, base, key)

    def given_outside(self, inference: Inference, atom: Outside, call: Call) -> Collection[Symbol]:
        """Return the project classes that the arguments of an external call name.

        In PHP, an argument names a class by `Name::class`, or by a string with the qualified name of the class.
        """
        terms, found = call.entry.terms, set[Symbol]()
        for argument in call.args if self._class_constant else ():
            term = terms[argument]
            value = EMPTY
            if term[0] == ATTR and term[2] == self._class_constant:
                value = call.term(term[1])
            elif term[0] == STRING and self.separator in term[1].strip(self.separator):
                value = self._named(inference, call.entry, term[1].replace("\\\\", "\\"))
            found.update(atom[1] for atom in inference.expanded(value) if atom[0] == CLASS)
        return found

    def part_of_tuple(self, inference: Inference, receiver: Instance, position: int) -> Type:
        """Return the type of one part that a pattern like `(a, b)` takes.

        `receiver` is the object, and `position` the position of the part. The class has a method for the part, such as `component1` in
        Kotlin. For a data class, the part is a parameter of the constructor.
        """
        if not self._component or position < 0:
            return EMPTY
        name = f"{self._component}{position + 1}"
        if isinstance(inference.owner(receiver[1], name), Symbol):
            return inference.method_result(receiver, name)
        definition = inference.project.definition(receiver[1])
        is_data = "data class" in definition.signature and position < len(definition.parameters)
        return inference.expanded(inference.attribute_of(receiver, definition.parameters[position].name)) if is_data else EMPTY

    def member_of_library(self, member: Atom) -> Type:
        """Return the type of a library type's member, from the language's table."""
        if member[0] == BUILTIN and member[2] in self._parts:
            return self._part(member[1], self._parts[member[2]])
        if not self._results or member[0] != EXT or "." not in member[2]:
            return EMPTY
        *_, owner, name = member[2].split(".")
        owner = self.string_type if owner in ("str", "template") else owner
        kind = self._results.get(f"{owner}.{name}") or self._results.get(name)
        return one((EXTI, self.builtin_package, kind, None)) if kind else EMPTY

    def _part(self, holder: Container, part: int | str) -> Type:
        """Return the type of a part of a pair or a map, which is `holder`.

        `part` is a position in the pair, or in the pairs of the map. For a map, `part` may also be `keys`, `values` or `entries`.
        """
        pairs: Type = frozenset((holder,)) if holder[0] == TUP else holder[2][0] if holder[0] == BOX and holder[1] == "map" else EMPTY
        if part == "entries":
            return box("list", pairs) if holder[0] == BOX else EMPTY
        at = part if isinstance(part, int) else int(part == "values")
        found = join_all(pair[1][at] for pair in pairs if pair[0] == TUP and at < len(pair[1]))
        return found if isinstance(part, int) else box("list", found)

    def type_arguments(self, inference: Inference, symbol: Symbol, call: Call) -> Mapping[str, Type]:
        """Return the type of the result of a call's block, by its reserved name."""
        found = inference.expanded(call.keyword(BLOCK_RESULT) or EMPTY) if self._blocks else EMPTY
        return {BLOCK_RESULT: found} if found else {}

    def call_external(self, inference: Inference, atom: Outside, call: Call) -> Type | None:
        """Return the result type of a library function, from the language's table."""
        if atom[2] in PSEUDO:
            return PSEUDO[atom[2]](inference, call)
        known = self.member_of_library(atom)
        if known:
            return known
        if self._catches and call.args and atom[2].rpartition(".")[2] in self._catches:
            caught = join_all(inference.instances(inference.expanded(call.term(call.args[0]))))
            if caught:
                return caught
        if atom[1] != self.builtin_package:
            return None
        if atom[2] in self._no_result:
            return EMPTY
        if atom[2] in self._itself:
            return self.this(inference, call.entry, call.scope)
        if atom[2] in self._block:
            return mapped(inference, call.term(call.args[-1])) if call.args else EMPTY
        kind = self._makes.get(atom[2])
        if kind is None:
            return None if self.types_are_declared else self._result_of_value(atom)
        return box(kind, call.rest(0)) if kind != "map" else box(kind, EMPTY, EMPTY)

    def _result_of_value(self, atom: Outside) -> Type | None:
        """Return the type of a method call on a string, a number or a call result.

        A method such as `dup` returns its receiver, so the type of `s.dup` is that of `s`. In a chain of calls, only the first call counts:
        the type of `n.to_s.strip.upcase` is that of `n.to_s`. Otherwise, values that go through many calls would have too many
        alternatives. For any other call the result is None.
        """
        owner, _, name = atom[2].rpartition(".")
        if owner and name in self._itself:
            return one((EXTI, atom[1], owner, None))
        first, sign, _ = owner.partition("()")
        return one((EXTI, atom[1], first + sign, None)) if sign else None

    def reached(self, inference: Inference, entry: FileEntry, scope: int, line: int, call: tuple[TermIndex, Type]) -> Type:
        """Return the type of a callee, without classes whose name a function has.

        `call` has the index of the call's expression and the type of the callee. In Ruby, `Code(source)` calls the method `Code`, and only
        `Code.new` creates an object of the class.
        """
        term, callee = call
        if not self._maker or last_name(entry.terms[call_at(entry.terms, term)[1]]) == self._maker:
            return callee
        functions = frozenset(atom for atom in callee if atom[0] != CLASS)
        return functions if any(atom[0] == FUNC for atom in functions) else callee

    def fitting_receiver(self, inference: Inference, entry: FileEntry, reference: Reference, methods: Sequence[Symbol]) -> Sequence[Symbol]:
        """Return the functions among the definitions that a call can run.

        `methods` may also have classes with the name of a function, and their constructors. See `reached`.
        """
        called = last_name(entry.terms[call_at(entry.terms, reference.term)[1]]) if self._maker else ""
        named = [method for method in methods if method.name == called and method.kind not in CLASS_KINDS] if called != self._maker else []
        return named if called[:1].isupper() and named else methods

    def runs_as_call(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """Return the methods that `Name()` calls for an object or interface.

        In Kotlin, they are called `invoke`. Those of an interface are in its companion object. A call of another interface makes an object
        from a lambda and runs nothing.
        """
        if not self._objects or not self.call_method:
            return ()
        project, functions = inference.project, inference.functions(symbol, self.call_method)
        if symbol.kind == "interface":
            return [function for function in functions if project.has_modifier(function, "singleton")]
        return functions if project.has_modifier(symbol, "singleton") else ()

    def made_by_hook(self, inference: Inference, symbol: Symbol, call: Call) -> Type:
        """Return the type of a call `Name()` for an object or an interface `Name`."""
        entry, keywords = inference.project.entry(symbol), [name for name, _ in call.keywords]
        return join_all(
            inference.call_atom((FUNC, function, (INST, symbol, False)), call)
            for function in self.runs_as_call(inference, symbol)
            if self.takes(entry.definitions[function.index], len(call.args), keywords, bound=True)
        )

    def container_method(self, inference: Inference, container: Container, name: str, call: Call) -> Type:
        """Return the type of a method call on a container.

        A table of the language decides whether it is the type of an element, of the container, or of the result of a function that is
        called with the elements.
        """
        if name in self._itself:
            return frozenset((container,))
        if name == self._type_of:
            return one((CLASS, container[1], False)) if container[0] == INST else EMPTY
        if name in self._block:
            return mapped(inference, call.argument(0) or EMPTY)
        if container[0] != BOX:
            return EMPTY
        if name in self._element:
            return container[2][-1]
        if name in self._maps:
            return box("list", mapped(inference, call.argument(0) or EMPTY))
        return frozenset((container,)) if name in self._keep else EMPTY


RULES = ScopedRules
