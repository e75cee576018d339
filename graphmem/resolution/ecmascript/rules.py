"""Rules that resolve JavaScript and TypeScript names to definitions.

The rules cover scopes, calls and promises. `receivers` has the rules of `this`, and `prototypes` those of constructor functions.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import SELF
from graphmem.parsing.languages.ecmascript_words import ANCHOR, ATTRIBUTE, CAST, PARAMETER, RETURNED, SIGNATURE
from graphmem.resolution.ecmascript.annotations import EcmascriptTypes
from graphmem.resolution.ecmascript.contextual_types import callback, handler, implied_parameter, returned
from graphmem.resolution.ecmascript.exports import exports_of
from graphmem.resolution.ecmascript.imports import type_slot
from graphmem.resolution.ecmascript.library import (
    CALLS,
    COMMON_METHODS,
    EXTENDED_TYPES,
    GLOBAL_TYPES,
    GLOBALS,
    PACKAGE,
    container_method,
)
from graphmem.resolution.ecmascript.prototypes import Prototypes, name_at
from graphmem.resolution.ecmascript.receivers import Receivers, lies_in
from graphmem.resolution.ecmascript.third_party import type_arguments
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.values.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.values.types import (
    BOX,
    EMPTY,
    EXT,
    INST,
    SELFTYPE,
    Container,
    Outside,
    Type,
    box,
    join,
    join_all,
    one,
    ordered,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Definition
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.call import Call
    from graphmem.resolution.interfaces.inference import Inference


MAX_WINDOWS: Final = 8
"""Maximum number of declarations of `Window` to read; a repository of many applications has many."""


class EcmascriptRules(Prototypes, Receivers, EcmascriptTypes):
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
        if definition.kind == "method" and parent.kind not in CLASS_KINDS and lies_in(definition, parent):
            return 0, f"{ANCHOR}{definition.start_byte}"
        return definition.parent, definition.name

    def scopes_around(self, definitions: Sequence[Definition]) -> Sequence[int]:
        """Return the enclosing scope of each definition of a file.

        A function assigned to a member of another object (`app.use = function …`) sees the scope around the assignment.
        """
        around = [definition.parent for definition in definitions]
        for position, definition in enumerate(definitions):
            while around[position] > 0 and not lies_in(definition, definitions[around[position]]):
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

    def call_external(self, inference: Inference, atom: Outside, call: Call) -> Type | None:
        """Return the result type of an external call; None if it is unknown.

        `require("module")` and `import("module")` return modules. Other results come from the table in the module `library`.
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
        """Return the type of a method call on an array, set, map or promise."""
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

        `keywords` and `bound` are ignored. A call may have fewer arguments than the function has parameters, but not more. Tests and
        overload signatures are never called, so the result is False for them.
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

        For example, `interface Window {…}` adds members to the browser's `Window`. An exported interface of the same name is a separate
        type, and the result is False.
        """
        is_own = symbol.kind != "interface" or "exported" in entry.definitions[symbol.index].modifiers
        return not is_own and symbol.name in EXTENDED_TYPES | GLOBAL_TYPES

    def is_common_name(self, name: str) -> bool:
        """Return whether a name is a common method name.

        Common names are the names of methods of arrays, strings, promises, DOM elements and event emitters.
        """
        return name in COMMON_METHODS


def _type_parameters(entry: FileEntry) -> Mapping[tuple[int, int], Sequence[str]]:
    """Map (enclosing scope, last line) of definitions to type parameters.

    The parameters are names, in their order.
    """
    kept: dict[tuple[int, int], list[str]] | None = entry.kept.get("type parameters")
    if kept is None:
        kept = entry.kept["type parameters"] = {}
        for binding in entry.facts.bindings:
            if binding.op == "local" and binding.value < 0 and (name := name_at(entry.terms, binding.target)):
                kept.setdefault((binding.scope, binding.end_line), []).append(name)
    return kept


RULES = EcmascriptRules
