"""Receivers of JavaScript and TypeScript: objects that `this` refers to.

A receiver is an instance, a class, a constructor function or an object literal.

A term is an expression as the parser stores it: a tuple that begins with an operator, such as `call` for `f(x)`.

`entry` is a parsed file. `scope` is a function, a class or the module in it, given as its position among the file's definitions; 0 is the
module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.parsing.facts import NO_TERM, SELF, TermIndex
from graphmem.resolution.ecmascript.contextual_types import literals
from graphmem.resolution.interfaces.rules_of_classes import ClassRules
from graphmem.resolution.values.declared_types import closed
from graphmem.resolution.values.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.values.types import (
    CLASS,
    EMPTY,
    INST,
    Receiver,
    SuperObject,
    Type,
    join,
    join_all,
    one,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Definition
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference


class Receivers(ClassRules):
    """Rules that find the object to which `this` refers."""

    def receiver_class(self, entry: FileEntry, scope: int, base: TermIndex) -> int:
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
            if parent.kind in CLASS_KINDS or (parent.kind == "function" and not lies_in(definition, parent)):
                return definition.parent
            return -1
        return here if definition.kind in CLASS_KINDS or _constructs(definition) else -1

    def this(self, inference: Inference, entry: FileEntry, scope: int) -> Type:
        """Return the type of `this` in a scope.

        The value is the receiver of the enclosing method, or an instance of the enclosing class or constructor function.
        """
        here = _owner_of_this(entry, scope)
        annotation = _annotations_of_this(entry).get(here, NO_TERM)
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
        if literal is not None and lies_in(definition, parent):
            ask = inference.project.solver.ask
            return ask(entry.memo, ("literal", literal), self._literal, inference, entry, definition, literal)
        if lies_in(definition, parent):
            return EMPTY
        if owner.kind == "variable":
            slots = entry.names(parent.parent).get(owner.name, ())
            value = join_all(inference.binding(entry, slot.index) for slot in slots if slot.kind == "binding")
            return join(value, one((INST, owner, False)))
        return one((INST, owner, False)) if owner.kind == "function" else EMPTY

    def _literal(self, inference: Inference, entry: FileEntry, definition: Definition, literal: TermIndex) -> Type:
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

    def is_member_of(self, entry: FileEntry, position: int, receiver: Receiver | SuperObject) -> bool:
        """Return whether a definition inside a class is a member of a receiver.

        `position` is the definition, and `receiver` is the class or an instance of it. Static members belong only to the class, and other
        members only to instances. All members of a namespace belong to it.
        """
        definition = entry.definitions[position]
        parent = entry.definitions[definition.parent]
        if receiver[0] not in (CLASS, INST) or parent.kind != "class" or "namespace" in parent.modifiers or not lies_in(definition, parent):
            return True
        return ("static" in definition.modifiers) is (receiver[0] == CLASS)


def lies_in(definition: Definition, parent: Definition) -> bool:
    """Return whether a definition is written inside its parent definition.

    The result is False for a member assigned to a function from outside, such as a prototype method or a static member.
    """
    return definition.start_byte >= parent.start_byte and definition.end_byte <= parent.end_byte


def _is_arrow(definition: Definition) -> bool:
    """Return whether a function is an arrow function, without its own `this`.

    The signature of an arrow function ends with the arrow.
    """
    return definition.signature.endswith("=>")


def _constructs(definition: Definition) -> bool:
    """Return whether a function is a constructor by its name, as `User` is.

    The name begins with a capital letter. An arrow function is not a constructor.
    """
    return definition.kind == "function" and definition.name[:1].isupper() and not _is_arrow(definition)


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


def _annotations_of_this(entry: FileEntry) -> dict[int, TermIndex]:
    """Map functions to the annotation of their parameter `this`.

    Both are indices: of the function among the definitions of the file, and of the annotation among its terms. The function is in the
    scope of the annotation, and its lines include the line of the annotation. If this holds for several functions, none is in the result.
    """
    known: dict[int, TermIndex] | None = entry.kept.get("annotations of this")
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
