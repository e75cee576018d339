"""Types of a project that point to a value by implementing `Deref`.

A method that such a type lacks is a method of the value. The type of the value is known, as in `type Target = Item`, or it is the argument
of the pointing type, as in `impl<T> Deref for Padded<T> { type Target = T; }`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphmem.parsing.facts import NAME, UNKNOWN, TermIndex
from graphmem.parsing.languages.rust import POINTED
from graphmem.resolution.interfaces.language import rules_of
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.terms import items_or_itself
from graphmem.resolution.values.types import EMPTY, INST, Receiver, Type, join, join_all, ordered

if TYPE_CHECKING:
    from graphmem.resolution.files.file_entry import FileEntry, Place
    from graphmem.resolution.interfaces.inference import Inference


def pointed(inference: Inference, receiver: Receiver) -> Type:
    """Return the type of the value to which an object points, if known."""
    places = _targets(inference, receiver[1])
    return inference.expanded(join_all(inference.slot(place) for place in places))


def pointed_member(inference: Inference, receiver: Receiver, name: str) -> Type:
    """Return the type of a member of the value to which an object points.

    The value may point to another value, and so on.
    """
    found, seen, pending = EMPTY, {receiver[1]}, [receiver] if receiver[0] == INST else []
    while pending:
        for atom in ordered(pointed(inference, pending.pop())):
            if atom[0] != INST or isinstance(inference.owner(atom[1], name), Symbol):
                found = join(found, inference.attribute_of(atom, name))
            elif atom[1] not in seen:
                seen.add(atom[1])
                pending.append(atom)
    return found


def pointed_argument(inference: Inference, entry: FileEntry, scope: int, objects: Type, key: TermIndex) -> Type:
    """Return the type of the argument `key` in `Padded<key>`.

    `objects` are the types that `Padded` means. The result is empty if they do not point to their type parameter.
    """
    arguments = [item for item in items_or_itself(entry.terms, key) if entry.terms[item][0] != UNKNOWN]
    if len(arguments) != 1:
        return EMPTY
    for atom in ordered(objects):
        if atom[0] == INST and any(_is_parameter(inference, place) for place in _targets(inference, atom[1])):
            return inference.declared(entry, scope, arguments[0])
    return EMPTY


def _targets(inference: Inference, symbol: Symbol) -> Sequence[Place]:
    """Return the bindings that say to which type a pointer type points.

    `symbol` is the pointer type. An example of such a binding is `type Target = Item;` in `impl Deref for Padded`.
    """
    return rules_of(inference.project.entry(symbol)).members_elsewhere(inference, symbol, POINTED)


def _is_parameter(inference: Inference, place: Place) -> bool:
    """Return whether a pointer type points to its own type parameter.

    `place` is the binding that says to which type it points, such as `type Target = T;`.
    """
    entry, scope, slot = place
    annotation = entry.facts.bindings[slot.index].annotation
    return entry.terms[annotation][0] == NAME and not inference.expanded(inference.declared(entry, scope, annotation))
