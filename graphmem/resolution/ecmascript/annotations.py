"""Evaluate TypeScript annotations such as `Promise<User | null>` to types.

The types are classes, interfaces, aliases, generics, object types, and utility types that keep the members of a type.

A binding of a name is a place that gives the name its meaning, such as `x = f()`, `import x`, `def x` or a parameter.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import ATTR, CALL, EITHER, INDEX, LAMBDA, LIST, NAME, OBJECT, SELF, STRING, TUPLE, UNKNOWN, TermIndex
from graphmem.parsing.languages.ecmascript_words import ATTRIBUTE, CAST, FUNCTION, LOOKUP, PARAMETER, RETURNED
from graphmem.resolution.ecmascript.imports import EcmascriptNames, is_alias, type_slot
from graphmem.resolution.ecmascript.library import GLOBAL_TYPES, PACKAGE, known_generic, outside_type
from graphmem.resolution.ecmascript.third_party import GENERICS
from graphmem.resolution.interfaces.call import Call
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.type_inference.substitution import rewrite
from graphmem.resolution.values.declared_types import closed
from graphmem.resolution.values.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.values.terms import items_or_itself
from graphmem.resolution.values.types import (
    BOX,
    BUILTIN,
    CLASS,
    EMPTY,
    EXT,
    EXTI,
    FUNC,
    INST,
    MODULE,
    SELFTYPE,
    TYPEVAR,
    UNTYPED,
    Atom,
    Ext,
    Type,
    box,
    join,
    join_all,
    object_of,
    one,
    ordered,
    tuple_of,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Term
    from graphmem.resolution.files.file_entry import FileEntry, Place
    from graphmem.resolution.interfaces.inference import Inference

_NEVER: Final = 1 << 30
"""A line number after all others, because an annotation sees the names of its whole scope."""


class EcmascriptTypes(EcmascriptNames):
    """The part of the JavaScript and TypeScript rules that reads annotations."""

    def declared(self, inference: Inference, entry: FileEntry, scope: int, term: TermIndex) -> Type:
        """Return the type that a TypeScript annotation declares.

        `term` is the index of the annotation in the file's list of expressions. If the annotation or a part of it determines no type, such
        as `any`, the result contains `UNTYPED`.
        """
        found = entry.terms[term]
        if found[0] in (NAME, ATTR):
            return self._named(inference, entry, scope, term)
        if found[0] == INDEX:
            _, base, key = found
            return self._generic(inference, entry, scope, base, key)
        if found[0] == EITHER:
            _, items = found
            return join_all(inference.declared(entry, scope, item) for item in items)
        if found[0] in (TUPLE, LIST):
            _, items = found
            return tuple_of([closed(inference.declared(entry, scope, item)) for item in items])
        if found[0] == LAMBDA:
            _, body = found
            given = inference.declared(entry, scope, body) if body >= 0 else EMPTY
            return join(one((UNTYPED,)), box("callable", closed(given)))
        if found[0] == OBJECT:
            _, keys, written = found
            values = [closed(inference.declared(entry, scope, value)) for value in written]
            return object_of(dict(zip(keys, values, strict=True)))
        if found[0] == SELF:
            return one((SELFTYPE,))
        if found[0] == CALL:
            _, callee, arguments, _ = found
            return self._call_type(inference, entry, scope, term, callee, arguments)
        return one((UNTYPED,)) if found[0] == UNKNOWN else EMPTY

    def owner_in_type(self, inference: Inference, found: Term, value: Type) -> Type:
        """Return the type of the value before a dot in an annotation.

        `found` is the expression before the dot, and `value` is its inferred type. For `import("module").Type`, the result is the module
        and not a promise of the module.
        """
        return inference.awaited(value) if found[0] == CALL else value

    def value_in_type(self, entry: FileEntry, found: Term) -> int:
        """Return the index of the expression `value` in the type `typeof value`.

        The result is -1 for any other type.
        """
        if found[0] != CALL:
            return -1
        _, callee, arguments, _ = found
        return arguments[0] if arguments and entry.terms[callee] == (NAME, "typeof") else -1

    def base(self, inference: Inference, entry: FileEntry, symbol: Symbol, term: TermIndex) -> Type:
        """Return the type of a base that a class or interface names.

        In `class A extends B`, `B` is evaluated as a value. If that gives nothing, and in interfaces and after `implements`, `B` is
        evaluated as a type.
        """
        value = EMPTY if symbol.kind == "interface" else super().base(inference, entry, symbol, term)
        return value or self.objects(inference, entry, entry.definitions[symbol.index].parent, term)

    def _call_type(
        self, inference: Inference, entry: FileEntry, scope: int, term: TermIndex, callee: TermIndex, arguments: Sequence[TermIndex]
    ) -> Type:
        """Return the type of an annotation that the parser represents as a call.

        `callee` is the expression that the parser wrote for the kind of annotation, and `arguments` are the expressions in it. Examples are
        `typeof value`, `import("module")`, `Type["member"]` and `(parameter: Type) => Result`.
        """
        if not arguments:
            return EMPTY
        if entry.terms[callee] == (NAME, "import"):
            return self._named(inference, entry, scope, term)
        if entry.terms[callee] == (NAME, FUNCTION):
            return join(one((UNTYPED,)), box("callable", *(closed(inference.declared(entry, scope, part)) for part in arguments)))
        if entry.terms[callee] == (NAME, LOOKUP):
            owner = closed(inference.declared(entry, scope, arguments[0]))
            key: Term = entry.terms[arguments[1]] if len(arguments) > 1 else (UNKNOWN,)
            if key[0] == STRING:
                found = inference.attribute(frozenset(atom for atom in owner if atom[0] != BOX), key[1])
                return frozenset(atom for atom in found if atom[0] != BUILTIN) or one((UNTYPED,))
            return inference.element(owner) or one((UNTYPED,))
        value = inference.expanded(inference.term(entry, scope, arguments[0], _NEVER))
        argument = entry.terms[arguments[0]]
        imported = argument[0] == CALL and entry.terms[argument[1]] == (NAME, "import")
        return inference.awaited(value) if imported else value

    def objects(self, inference: Inference, entry: FileEntry, scope: int, term: TermIndex) -> Type:
        """Return the objects that a name in an annotation refers to.

        The objects are classes, modules and external names. An alias is replaced by the types it stands for.
        """
        found = entry.terms[term]
        if found[0] == INDEX:
            _, generic, _ = found
            return self.objects(inference, entry, scope, generic)
        if found[0] == ATTR:
            _, base, member = found
            return join_all(self._member_type(inference, atom, member) for atom in ordered(self.objects(inference, entry, scope, base)))
        if found[0] == CALL:  # import("module")
            modules = inference.awaited(inference.term(entry, scope, term, _NEVER))
            return join_all(self.whole_module(inference, atom) for atom in ordered(modules))
        if found[0] != NAME:
            return EMPTY
        _, name = found
        inference.project.touch_top(entry, name)
        values = inference.lookup(entry, scope, name, _NEVER)
        types = inference.lookup(entry, scope, type_slot(name), _NEVER)
        if values is None and types is None:
            return self._unknown(inference, entry, scope, name)
        return self.as_types(inference, [*(types or ()), *(values or ())])

    def _unknown(self, inference: Inference, entry: FileEntry, scope: int, name: str) -> Type:
        """Return the type of a name that an annotation uses and no scope binds.

        The name is a type parameter of a surrounding declaration, or a type that is visible in every file.
        """
        parameters = list(_type_parameters(entry, scope, name))
        if parameters:
            bounds = (inference.declared(entry, binding, term) for binding, term in parameters if term >= 0)
            return join(one((TYPEVAR, name)), closed(join_all(bounds)))
        if name not in GLOBAL_TYPES:
            for symbol in inference.project.named(name):
                if symbol.kind in CLASS_KINDS:
                    other = inference.project.entry(symbol)
                    if rules_of(other).builtin_package == PACKAGE and rules_of(other).sees_globals(other):
                        return one((CLASS, symbol, False))  # a declaration file without imports and exports
        return one((EXT, PACKAGE, name, None))

    def _member_type(self, inference: Inference, atom: Atom, name: str) -> Type:
        """Return the type of `Base.name` in an annotation.

        `atom` is one of the values that `Base` may be, such as one class.
        """
        if atom[0] == MODULE:
            return self.from_module(inference, atom, name, as_type=True)
        if atom[0] == CLASS:
            owner = inference.project.entry(atom[1])
            slots = owner.names(atom[1].index)
            return join_all(
                one((CLASS, owner.symbols[slot.index], False))
                for key in (type_slot(name), name)
                for slot in slots.get(key, ())
                if slot.kind == "definition" and owner.definitions[slot.index].kind in CLASS_KINDS
            )
        return inference.attribute_of(atom, name)

    def _named(self, inference: Inference, entry: FileEntry, scope: int, term: TermIndex) -> Type:
        found = EMPTY
        for atom in ordered(inference.expanded(self.objects(inference, entry, scope, term))):
            if atom[0] == CLASS:
                found = join(found, one((INST, atom[1], False)))
            elif atom[0] == EXT:
                found = join(found, outside_type(atom))
            elif atom[0] not in (MODULE, FUNC):
                found = join(found, frozenset((atom,)))
        return found

    def _generic(self, inference: Inference, entry: FileEntry, scope: int, base: TermIndex, key: TermIndex) -> Type:
        """Return the type that a generic annotation such as `Base<Key>` declares.

        `base` and `key` are the indices of the two expressions.
        """
        arguments = items_or_itself(entry.terms, key)
        found = self._alias(inference, entry, scope, base, arguments)
        if found:
            return found
        for atom in ordered(self.objects(inference, entry, scope, base)):
            if atom[0] == CLASS:
                found = join(found, one((INST, atom[1], False)))
            elif atom[0] != EXT:
                found = join(found, frozenset((atom,)) if atom[0] not in (MODULE, FUNC, TYPEVAR) else one((UNTYPED,)))
            else:
                found = join(found, self._outside_generic(inference, entry, scope, atom, arguments))
        return found

    def _alias(self, inference: Inference, entry: FileEntry, scope: int, base: TermIndex, arguments: Sequence[TermIndex]) -> Type:
        """Return the type of a generic alias such as `Maybe<User>`.

        `base` is the name of the alias, and `arguments` are the expressions in the brackets. They replace the type parameters of the alias.
        The result is empty if the name is not a generic alias.
        """
        name = entry.terms[base]
        places = (inference.lookup(entry, scope, name[1], _NEVER) or ()) if name[0] == NAME else ()
        origin = next((found for place in places if (found := self._origin(inference, place)) is not None), None)
        parameters = _parameters_of_alias(origin.entry, origin.slot.index) if origin is not None else []
        if origin is None or not parameters:
            return EMPTY
        given = {one_: closed(inference.declared(entry, scope, term)) for one_, term in zip(parameters, arguments, strict=False)}
        value = inference.declared(origin.entry, origin.scope, origin.entry.facts.bindings[origin.slot.index].value)
        return rewrite(value, lambda atom: given.get(atom[1], EMPTY) if atom[0] == TYPEVAR else frozenset((atom,)))

    def _origin(self, inference: Inference, place: Place) -> Place | None:
        """Return the binding that defines a type alias; None if there is none.

        `place` is where a name is bound. If the name is imported, the alias is searched for in the imported file.
        """
        if place.slot.kind == "binding":
            return place if is_alias(place.entry, place.scope, place.slot.index) else None
        if place.slot.kind != "import":
            return None
        found = place.entry.facts.imports[place.slot.index]
        for atom in ordered(self.import_targets(inference, place.entry, found)):
            for other in (inference.module_places(atom[1], found.name) or ()) if atom[0] == MODULE else ():
                if other.slot.kind == "binding" and is_alias(other.entry, other.scope, other.slot.index):
                    return other
        return None

    def _outside_generic(self, inference: Inference, entry: FileEntry, scope: int, atom: Ext, arguments: Sequence[TermIndex]) -> Type:
        """Return the type of a generic that the language or a library defines.

        `atom` is the generic, and `arguments` are the expressions in its brackets: `Array` and `A` for `Array<A>`.
        """
        _, package, dotted, _ = atom
        known = GENERICS.get((package, dotted))
        if known is None and package != PACKAGE:
            return one((EXTI, package, dotted, None))
        parts = [closed(inference.declared(entry, scope, argument)) for argument in arguments]
        if known is not None:
            return known(parts)
        if dotted == "ReturnType":
            return inference.expanded(inference.called(parts[0], Call(inference, entry, scope, _NEVER)))
        if dotted == "InstanceType":
            return join_all(one((INST, inner[1], False)) if inner[0] == CLASS else frozenset((inner,)) for inner in parts[0])
        return inference.awaited(parts[0]) if dotted == "Awaited" else known_generic(dotted, parts)

    # types in expressions

    def cast(self, inference: Inference, call: Call) -> Type:
        """Return the type of a cast, `value as Type`.

        The result is `Type`. If `Type` is open, as `any` is, the result contains the type of `value` instead of the open part.
        """
        said = inference.declared(call.entry, call.scope, call.args[0])
        value = call.argument(1) or EMPTY
        if not said or any(atom[0] in (UNTYPED, TYPEVAR) for atom in said):
            return join(frozenset(atom for atom in said if atom[0] not in (UNTYPED, TYPEVAR)), value)
        return said

    def builtin(self, name: str) -> Type:
        """Return the internal function that stands for a construct such as a cast.

        `name` is the internal name of the construct, which never occurs in source. The result is empty for any other name.
        """
        return one((EXT, PACKAGE, name, None)) if name in (ATTRIBUTE, CAST, PARAMETER, RETURNED) else EMPTY


def _parameters_of_alias(entry: FileEntry, position: int) -> list[str]:
    """Return the names of an alias's type parameters.

    For `type X<A, B> = …`, they are `A` and `B`. `position` is the alias, as a position among the file's bindings.
    """
    alias = entry.facts.bindings[position]
    kept: dict[tuple[int, int, int], list[str]] | None = entry.kept.get("alias parameters")
    if kept is None:
        kept = entry.kept["alias parameters"] = {}
        for binding in entry.facts.bindings:
            target = entry.terms[binding.target]
            if binding.op == "local" and binding.value < 0 and target[0] == NAME:
                _, name = target
                kept.setdefault((binding.scope, binding.line, binding.end_line), []).append(name)
    return kept.get((alias.scope, alias.line, alias.end_line), [])


def _type_parameters(entry: FileEntry, scope: int, name: str) -> Iterator[tuple[int, TermIndex]]:
    """Yield (scope, bound) for each type parameter of a given name.

    The bound is the index of the expression after `extends`, or -1. The given scope and all enclosing scopes are searched.
    """
    while scope >= 0:
        for position in entry.locals.get((scope, name), ()):
            binding = entry.facts.bindings[position]
            if binding.value < 0:
                yield scope, binding.annotation
        scope = entry.definitions[scope].parent
