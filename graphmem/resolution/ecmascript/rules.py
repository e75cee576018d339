"""Rules that resolve JavaScript and TypeScript names to definitions.

The rules cover scopes, `this`, prototypes, object literals and promises.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import ATTR, CALL, NAME, NEW, SELF
from graphmem.parsing.languages.ecmascript_words import ANCHOR, ATTRIBUTE, CAST, PARAMETER, RETURNED, SIGNATURE
from graphmem.resolution.declared_types import closed
from graphmem.resolution.ecmascript.annotations import EcmascriptTypes
from graphmem.resolution.ecmascript.contextual_types import callback, handler, implied_parameter, literals, returned
from graphmem.resolution.ecmascript.exports import exports_of
from graphmem.resolution.ecmascript.imports import type_slot
from graphmem.resolution.ecmascript.library import (
    CALLS,
    COMMON_METHODS,
    EXTENDED_TYPES,
    GLOBAL_TYPES,
    GLOBALS,
    METHODS_OF_FUNCTIONS,
    PACKAGE,
    container_method,
)
from graphmem.resolution.ecmascript.third_party import type_arguments
from graphmem.resolution.language import rules_of
from graphmem.resolution.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.terms import arguments_of, last_name
from graphmem.resolution.types import (
    BOX,
    BUILTIN,
    CLASS,
    EMPTY,
    EXT,
    FUNC,
    INST,
    PARTIAL,
    SELFTYPE,
    Container,
    Func,
    Outside,
    Receiver,
    SuperObject,
    Type,
    box,
    join,
    join_all,
    one,
    ordered,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Binding, Definition, Term
    from graphmem.resolution.call import Call
    from graphmem.resolution.file_entry import FileEntry
    from graphmem.resolution.inference import Inference


MAX_WINDOWS: Final = 8
"""Maximum number of declarations of `Window` to read; a repository of many applications has many."""


class EcmascriptRules(EcmascriptTypes):
    """Rules that resolve JavaScript, TypeScript and TSX names to definitions."""

    constructors = ("constructor",)
    components = (".vue", ".svelte")
    call_method = SIGNATURE
    builtin_package = PACKAGE

    # scopes and receivers

    def definition_slot(self, entry: FileEntry, position: int) -> tuple[int, str]:
        """Return the (scope, name) under which look-ups find a definition.

        `position` is the definition's position in the file. Usually the result is the enclosing scope and the definition's own name. A
        test with a title and a function in an object literal have an artificial name instead, because no scope binds their own name.
        """
        definition = entry.definitions[position]
        parent = entry.definitions[definition.parent]
        if "test" in definition.modifiers:
            return definition.parent, f'"{definition.name}"'
        if definition.kind == "interface":
            return definition.parent, type_slot(definition.name)
        if definition.kind == "method" and parent.kind not in CLASS_KINDS and _lies_in(definition, parent):
            return 0, f"{ANCHOR}{definition.start_byte}"
        return definition.parent, definition.name

    def scopes_around(self, definitions: Sequence[Definition]) -> Sequence[int]:
        """Return the enclosing scope of each definition of a file.

        A function assigned to a member of another object (`app.use = function …`) sees the scope around the assignment.
        """
        around = [definition.parent for definition in definitions]
        for position, definition in enumerate(definitions):
            while around[position] > 0 and not _lies_in(definition, definitions[around[position]]):
                around[position] = definitions[around[position]].parent
        return around

    def unbound(self, inference: Inference, entry: FileEntry, scope: int, name: str) -> Type:
        """Return the type of a name, such as `window`, that its file never binds.

        The name belongs to the language or its platforms. If a project extends the interface `Window`, the new members are added to
        `window`, `globalThis` and `self`.
        """
        found = super().unbound(inference, entry, scope, name)
        if name in ("window", "globalThis", "self"):
            for symbol in inference.project.named("Window")[:MAX_WINDOWS]:
                if symbol.kind == "interface" and rules_of(inference.project.entry(symbol)).builtin_package == PACKAGE:
                    found = join(found, one((INST, symbol, False)))
        return found

    def is_visible(self, entry: FileEntry, scope: int) -> bool:
        """Return whether inner scopes see a scope's names without a prefix.

        Names of a namespace are visible inside it, but members of a class are not.
        """
        return super().is_visible(entry, scope) or "namespace" in entry.definitions[scope].modifiers

    def sees_own_names(self, entry: FileEntry, scope: int) -> bool:
        """Return whether a scope sees its own names without a prefix.

        In `interface Api { retry: typeof retry }`, the second `retry` is a name of the scope around the interface. Members of an enum see
        each other.
        """
        return entry.definitions[scope].kind == "enum" or self.is_visible(entry, scope)

    def builtin(self, name: str) -> Type:
        """Return the type of a global name that JavaScript or a platform defines."""
        return one((EXT, PACKAGE, name, None)) if name in GLOBALS else super().builtin(name)

    def receiver_class(self, entry: FileEntry, scope: int, base: int) -> int:
        """Return the class or constructor function that determines `this`.

        The result is its position among the definitions of the file. It is -1 if the expression `base` is not `this`, or if no class or
        constructor function surrounds `scope`.
        """
        if entry.terms[base][0] != SELF:
            return -1
        here = _owner_of_this(entry, scope)
        definition = entry.definitions[here]
        if definition.kind == "method":
            parent = entry.definitions[definition.parent]
            if parent.kind in CLASS_KINDS or (parent.kind == "function" and not _lies_in(definition, parent)):
                return definition.parent
            return -1
        return here if definition.kind in CLASS_KINDS or _constructs(definition) else -1

    def this(self, inference: Inference, entry: FileEntry, scope: int) -> Type:
        """Return the type of `this` in a scope.

        The value is the receiver of the enclosing method, or an instance of the enclosing class or constructor function.
        """
        here = _owner_of_this(entry, scope)
        annotation = _annotations_of_this(entry).get(here, -1)
        declared = closed(inference.declared(entry, here, annotation)) if annotation >= 0 else EMPTY
        if declared:
            return declared
        definition = entry.definitions[here]
        if definition.kind == "method":
            return self.receiver(inference, entry.symbols[here])
        return one((INST, entry.symbols[here], False)) if definition.kind in CLASS_KINDS or _constructs(definition) else EMPTY

    def receiver(self, inference: Inference, symbol: Symbol) -> Type:
        """Return the receiver of a method.

        The receiver is an instance, the class for static methods, or the object literal that contains the method.
        """
        entry = inference.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        owner = entry.symbols[definition.parent]
        if owner.kind in CLASS_KINDS:
            return one((CLASS, owner, False)) if "static" in definition.modifiers else one((INST, owner, False))
        parent = entry.definitions[definition.parent]
        literal = literals(entry).get(definition.start_byte)
        if literal is not None and _lies_in(definition, parent):
            ask = inference.project.solver.ask
            return ask(entry.memo, ("literal", literal), self._literal, inference, entry, definition, literal)
        if _lies_in(definition, parent):
            return EMPTY
        if owner.kind == "variable":
            slots = entry.names(parent.parent).get(owner.name, ())
            value = join_all(inference.binding(entry, slot.index) for slot in slots if slot.kind == "binding")
            return join(value, one((INST, owner, False)))
        return one((INST, owner, False)) if owner.kind == "function" else EMPTY

    def _literal(self, inference: Inference, entry: FileEntry, definition: Definition, literal: int) -> Type:
        """Return the type of the object literal that contains a method.

        `definition` is the method, and `literal` the index of the literal's expression. If a variable holds the object, members that are
        assigned to it later are included.
        """
        value = inference.term(entry, definition.parent, literal, definition.start_line)
        owner = entry.definitions[definition.parent]
        slots = entry.names(owner.parent).get(owner.name, ()) if owner.kind == "variable" else ()
        for slot in slots:
            if slot.kind == "binding" and entry.facts.bindings[slot.index].value == literal:
                value = join(value, inference.binding(entry, slot.index))
        return value

    def given_bases(self, inference: Inference, entry: FileEntry, symbol: Symbol) -> Type:
        """Return the bases that statements give to a constructor function.

        Examples of such statements are `util.inherits(A, B)` and `A.prototype = Object.create(B.prototype)`.
        """
        if symbol.kind != "function":
            return EMPTY
        for name in ("inherits", "setPrototypeOf"):
            inference.project.touch("calls", name)
        inference.project.touch_top(entry, "*")
        given = _given_bases(entry).get((entry.definitions[symbol.index].parent, symbol.name), ())
        values = (inference.expanded(inference.term(entry, scope, term, line)) for scope, term, line in given)
        return join_all(
            join_all(one((CLASS, atom[1], False)) if atom[0] == FUNC else frozenset((atom,)) for atom in value) for value in values
        )

    def is_member_of(self, entry: FileEntry, position: int, receiver: Receiver | SuperObject) -> bool:
        """Return whether a definition inside a class is a member of a receiver.

        `receiver` is the class or an instance of it. Static members belong only to the class, and other members only to instances. All
        members of a namespace belong to it.
        """
        definition = entry.definitions[position]
        parent = entry.definitions[definition.parent]
        if (
            receiver[0] not in (CLASS, INST)
            or parent.kind != "class"
            or "namespace" in parent.modifiers
            or not _lies_in(definition, parent)
        ):
            return True
        return ("static" in definition.modifiers) is (receiver[0] == CLASS)

    def constructed(self, inference: Inference, function: Symbol) -> Type:
        """Return the instance that `new f()` creates, for a function `f`."""
        return one((INST, function, True)) if function.kind == "function" else EMPTY

    def bound(self, inference: Inference, entry: FileEntry, binding: Binding, value: Type) -> Type:
        """Return the type of a variable, with members assigned to it later.

        For example, `app.use = function …` adds the member `use` to `app`.
        """
        target = entry.terms[binding.target]
        if target[0] != NAME or binding.op != "assign":
            return value
        position = self._extended(entry).get((binding.scope, target[1]))
        return value if position is None else join(value, one((INST, entry.symbols[position], False)))

    def _extended(self, entry: FileEntry) -> dict[tuple[int, str], int]:
        """Return the variables to which code adds methods later.

        For example, `app.use = function …` adds a method to `app`. The result maps (scope, name) of each variable to the variable's
        definition, which is a position in the file. The result is cached in `entry`.
        """
        kept: dict[tuple[int, str], int] | None = entry.kept.get("extended")
        if kept is None:
            kept = entry.kept["extended"] = {}
            for definition in entry.definitions:
                parent = entry.definitions[definition.parent]
                if definition.kind == "method" and parent.kind == "variable" and not _lies_in(definition, parent):
                    kept[parent.parent, parent.name] = definition.parent
        return kept

    def function_attribute(self, inference: Inference, function: Func, name: str) -> Type:
        """Return the type of an attribute of a function, such as `Name.create`.

        The attribute is assigned (`Name.create = …`), or is one of `call`, `apply` and `bind`.
        """
        _, symbol, _ = function
        entry = inference.project.entry(symbol)
        found = EMPTY
        for slot in entry.names(symbol.index).get(name, ()):
            if slot.kind == "definition" and not _lies_in(entry.definitions[slot.index], entry.definitions[symbol.index]):
                found = join(found, inference.defined(entry.symbols[slot.index]))
        if not found and name in ("call", "apply"):
            return one((PARTIAL, frozenset((function,)), 1))
        if not found and name == "bind":
            return one((BUILTIN, (BOX, METHODS_OF_FUNCTIONS, (frozenset((function,)),), 1), name))
        return found

    def call_external(self, inference: Inference, atom: Outside, call: Call) -> Type | None:
        """Return the result type of an external call; None if it is unknown.

        `require("module")` and `import("module")` return modules. Other results come from the table in `library`.
        """
        if atom[1] == PACKAGE and atom[2] == CAST:
            return self.cast(inference, call)
        implied = {ATTRIBUTE: handler, PARAMETER: callback, RETURNED: returned}.get(atom[2]) if atom[1] == PACKAGE else None
        if implied is not None:
            return implied(inference, call)
        if atom[1] == PACKAGE and atom[2] in ("require", "import"):
            specifier = call.literal(0)
            if specifier is None:
                return EMPTY
            modules = self.module_of(inference, call.entry, specifier)
            if atom[2] == "import":
                return box("await", modules)
            return join_all(self.whole_module(inference, module) for module in ordered(modules))
        known = CALLS.get((atom[1], atom[2]))
        return known(inference, call) if known is not None else None

    def implicit_argument(self, inference: Inference, symbol: Symbol, index: int) -> Type:
        """Return the type that the surrounding code gives to a parameter.

        In `names.sort((a, b) => …)`, `a` has the type of the elements of `names`.
        """
        return implied_parameter(inference, symbol, index)

    def container_method(self, inference: Inference, container: Container, name: str, call: Call) -> Type:
        """Return the result of a method of an array, set, map or promise."""
        return container_method(inference, container, name, call)

    def result(self, inference: Inference, symbol: Symbol, value: Type) -> Type:
        """Return the result type of a function; for an async function, a promise."""
        entry = inference.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        modifiers = definition.modifiers
        bindings = entry.facts.bindings
        owner = entry.symbols[definition.parent]
        names_other = definition.returns >= 0 and any(atom[0] == INST and atom[1] is not owner for atom in value)
        returned = () if names_other else entry.results.get(symbol.index, ())
        if any(bindings[i].value >= 0 and entry.terms[bindings[i].value] == (SELF,) for i in returned):
            # `return this` returns the type of the receiver, which may be a subclass of the method's class. A declared class is believed.
            value = join(frozenset(atom for atom in value if atom[0] != INST), one((SELFTYPE,)))
        if "async" not in modifiers or any(atom[0] == BOX and atom[1] in ("await", "iter") for atom in value):
            return value
        return box("await", value)

    def type_arguments(self, inference: Inference, symbol: Symbol, call: Call) -> Mapping[str, Type]:
        """Return the types in the angle brackets of a call, by type parameter.

        For `load<Author>(key)` and `function load<T>(key: string): Promise<T>`, `T` is `Author`.
        """
        written = type_arguments(inference, call)
        if not written:
            return {}
        entry = inference.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        names = _type_parameters(entry).get((definition.parent, definition.end_line), ())
        return {name: value for name, value in zip(names, written, strict=False) if value}

    def takes(self, definition: Definition, positional: int, keywords: Sequence[str], *, bound: bool) -> bool:
        """Return whether a function accepts a call with `positional` arguments.

        A call may have fewer arguments than the function has parameters, but not more. Tests and overload signatures are never called, so
        the result is False for them.
        """
        if "test" in definition.modifiers or "overload" in definition.modifiers:
            return False
        return positional <= len(definition.parameters) or any(parameter.kind == "rest" for parameter in definition.parameters)

    def sees_globals(self, entry: FileEntry) -> bool:
        """Return whether a file sees the global names of other files.

        Scripts share their names; modules do not.
        """
        return not entry.facts.imports and not exports_of(entry).is_module

    def adds_to_platform(self, entry: FileEntry, symbol: Symbol) -> bool:
        """Return whether a type only adds members to a type of the platform.

        An exported interface of such a name is a type of its own.
        """
        is_own = symbol.kind != "interface" or "exported" in entry.definitions[symbol.index].modifiers
        return not is_own and symbol.name in EXTENDED_TYPES | GLOBAL_TYPES

    def is_common_name(self, name: str) -> bool:
        """Return whether a name is a common method name.

        Common names are the names of methods of arrays, strings, promises, DOM elements and event emitters.
        """
        return name in COMMON_METHODS


def _lies_in(definition: Definition, parent: Definition) -> bool:
    """Return whether a definition is written inside its parent definition.

    The result is False for a member assigned to a function from outside, such as a prototype method or a static member.
    """
    return definition.start_byte >= parent.start_byte and definition.end_byte <= parent.end_byte


def _is_arrow(definition: Definition) -> bool:
    """Return whether a function is an arrow function, without its own `this`.

    The signature of an arrow function ends with the arrow.
    """
    return definition.signature.endswith("=>")


def _owner_of_this(entry: FileEntry, scope: int) -> int:
    """Return the method, function or class that determines `this` in a scope.

    The result is an index into the definitions of the file, 0 if there is none.
    """
    here = scope
    while here > 0:
        definition = entry.definitions[here]
        if definition.kind in CLASS_KINDS or definition.kind not in ("function", "method"):
            if definition.kind in CLASS_KINDS:
                return here
        elif not _is_arrow(definition) or entry.definitions[definition.parent].kind in CLASS_KINDS:
            return here
        here = definition.parent
    return 0


def _annotations_of_this(entry: FileEntry) -> dict[int, int]:
    """Map functions to the annotation of their parameter `this`.

    Both are indices: of the function among the definitions of the file, and of the annotation among its terms. The annotation lies in the
    header of the function, so the function is the last one of the scope that begins before. Two functions on one line are left out.
    """
    known: dict[int, int] | None = entry.kept.get("annotations of this")
    if known is None:
        known = entry.kept["annotations of this"] = {}
        for binding in entry.facts.bindings:
            if binding.op != "annotate" or entry.terms[binding.target] != (SELF,):
                continue
            starts = [
                (definition.start_line, position)
                for position, definition in enumerate(entry.definitions)
                if definition.parent == binding.scope and definition.start_line <= binding.line <= definition.end_line
            ]
            if len(starts) == 1:
                known[starts[0][1]] = binding.annotation
    return known


def _constructs(definition: Definition) -> bool:
    """Return whether a function is a constructor by its name, as `User` is.

    The name begins with a capital letter. An arrow function is not a constructor.
    """
    return definition.kind == "function" and definition.name[:1].isupper() and not _is_arrow(definition)


def _type_parameters(entry: FileEntry) -> Mapping[tuple[int, int], Sequence[str]]:
    """Map (enclosing scope, last line) of definitions to type parameters.

    The parameters are names, in their order.
    """
    kept: dict[tuple[int, int], list[str]] | None = entry.kept.get("type parameters")
    if kept is None:
        kept = entry.kept["type parameters"] = {}
        for binding in entry.facts.bindings:
            if binding.op == "local" and binding.value < 0 and (name := _name_at(entry.terms, binding.target)):
                kept.setdefault((binding.scope, binding.end_line), []).append(name)
    return kept


def _given_bases(entry: FileEntry) -> Mapping[tuple[int, str], list[tuple[int, int, int]]]:
    """Map (scope, function name) to the bases of a constructor function.

    Each base is (scope, index of its expression, line). Before classes, code such as `A.prototype = Object.create(B.prototype)` gave the
    function `A` the base `B`.
    """
    kept: dict[tuple[int, str], list[tuple[int, int, int]]] | None = entry.kept.get("bases")
    if kept is not None:
        return kept
    kept = entry.kept["bases"] = {}
    terms = entry.terms
    for binding in entry.facts.bindings:
        target = terms[binding.target]
        if binding.op != "assign" or target[0] != ATTR or binding.value < 0:
            continue
        value = terms[binding.value]
        _, holder, member = target
        base = -1
        if member == "prototype" and (held := terms[holder])[0] == NAME:  # A.prototype = Object.create(B.prototype), new B()
            _, name = held
            if value[0] == NEW:
                _, base, _, _ = value
            elif value[0] == CALL:
                _, callee, given, _ = value
                base = _prototype_of(terms, given[0]) if given and last_name(terms[callee]) == "create" else -1
        elif member == "__proto__":  # A.prototype.__proto__ = B.prototype
            maker, base = _prototype_of(terms, holder), _prototype_of(terms, binding.value)
            name = _name_at(terms, maker)
        else:
            continue
        if base >= 0 and name:
            kept.setdefault((binding.scope, name), []).append((binding.scope, base, binding.line))
    for called in ("inherits", "setPrototypeOf"):  # util.inherits(A, B), Object.setPrototypeOf(A.prototype, B.prototype)
        for site in entry.call_sites(called):
            given = arguments_of(terms[site.term])
            if len(given) == 2:
                maker, base = given if called == "inherits" else (_prototype_of(terms, argument) for argument in given)
                name = _name_at(terms, maker)
                if base >= 0 and name:
                    kept.setdefault((site.scope, name), []).append((site.scope, base, site.line))
    return kept


def _name_at(terms: Sequence[Term], index: int) -> str:
    """Return the name if an expression is a bare name such as `a`; else ""."""
    term = terms[index] if index >= 0 else None
    return term[1] if term is not None and term[0] == NAME else ""


def _prototype_of(terms: Sequence[Term], term: int) -> int:
    """Return the index of the expression `X` in `X.prototype`, or -1."""
    found = terms[term]
    if found[0] != ATTR:
        return -1
    _, base, name = found
    return base if name == "prototype" else -1


RULES = EcmascriptRules
