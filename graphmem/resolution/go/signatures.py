"""Compare the signatures of Go methods with those that interfaces require."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from graphmem.parsing.facts import ATTR, INDEX, NAME, TUPLE, TermIndex
from graphmem.resolution.values.terms import items_or_itself

if TYPE_CHECKING:
    from graphmem.parsing.facts import Definition, Term
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference
    from graphmem.resolution.values.symbol import Symbol


class _Parameter(NamedTuple):
    """A type parameter in the signature of a method, such as `T`."""

    name: str


def shape(entry: FileEntry, method: Symbol) -> tuple[Any, ...]:
    """Return the types of a method's parameters and results as source text.

    The receiver and the qualifiers of packages are left out. Two methods with equal results have the same signature.
    """
    definition = entry.definitions[method.index]
    owner = entry.definitions[definition.parent]
    is_demanded = owner.kind == "interface"
    parameters = definition.parameters if is_demanded else definition.parameters[1:]
    of_types = _type_parameters(owner.signature) if is_demanded else _receiver_types(entry.terms, definition)
    return (
        tuple((parameter.kind, _written(entry.terms, parameter.annotation, of_types)) for parameter in parameters),
        _written(entry.terms, definition.returns, of_types),
    )


def _written(terms: Sequence[Term], index: TermIndex, of_types: Collection[str] = ()) -> Any:
    """Return a type as nested tuples of names; None for no type.

    `of_types` are the names of type parameters; each becomes a `_Parameter`.
    """
    if index < 0:
        return None
    found = terms[index]
    if found[0] == NAME and found[1] in of_types:
        return _Parameter(found[1])
    if found[0] in (NAME, ATTR):
        return found[-1]
    if found[0] == INDEX:
        return (_written(terms, found[1], of_types), _written(terms, found[2], of_types))
    if found[0] == TUPLE:
        return tuple(_written(terms, item, of_types) for item in found[1])
    return found[0]


def _type_parameters(signature: str) -> list[str]:
    """Return the names of the type parameters in a type's signature.

    For `type Map[K comparable, V any]`, the names are `K` and `V`.
    """
    match = re.match(r"(?:type\s+)?\w+\[", signature)
    found: list[str] = []
    depth, is_next = 0, True
    for word in re.findall(r"\w+|[^\w\s]", signature[match.end() :]) if match else ():
        if word == "]" and not depth:
            break
        depth += (word in "([{") - (word in ")]}")
        if is_next and word.isidentifier():
            found.append(word)
        is_next = word == "," and not depth
    return found


def _receiver_types(terms: Sequence[Term], definition: Definition) -> list[str]:
    """Return the names of the type parameters of a method's receiver.

    For `func (m *Map[K, V]) Len()`, the names are `K` and `V`.
    """
    annotation = definition.parameters[0].annotation if definition.parameters else -1
    found = terms[annotation] if annotation >= 0 else None
    if found is None or found[0] != INDEX:
        return []
    named = (terms[item] for item in items_or_itself(terms, found[2]))
    return [term[1] for term in named if term[0] == NAME]


def given_types(inference: Inference, interface: Symbol, part: Symbol) -> dict[_Parameter, object]:
    """Return the type arguments that an interface gives an embedded interface.

    For `type Albums interface { Searchable[Album] }` and the part `Searchable`, whose type parameter is `T`, `T` is `Album`.
    """
    if part == interface:
        return {}
    entry, other = inference.project.entry(interface), inference.project.entry(part)
    names = [_Parameter(name) for name in _type_parameters(other.definitions[part.index].signature)]
    for _, base in entry.definitions[interface.index].bases if names else ():
        found = entry.terms[base]
        if found[0] == INDEX and _written(entry.terms, found[1]) == part.name:
            given = _written(entry.terms, found[2], _type_parameters(entry.definitions[interface.index].signature))
            types = given if len(names) > 1 and isinstance(given, tuple) else (given,)
            return {name: one for name, one in zip(names, types, strict=False) if not isinstance(one, _Parameter)}
    return {}


def same(wanted: object, given: object, types: dict[_Parameter, Any]) -> bool:
    """Return whether a type in a method equals the type an interface requires.

    `wanted` is the type in the interface, and `given` the type in the method. `types` maps type parameters of the interface to types, and
    is extended: if `wanted` is `T` and `given` is `Album`, `T` becomes `Album`. If `given` is a type parameter of the method's receiver,
    as `V` in `func (m *Map[K, V]) Get() V`, it equals any type.
    """
    if isinstance(given, _Parameter):
        return wanted is not None
    if isinstance(wanted, _Parameter):
        return given is not None and same(types.setdefault(wanted, given), given, {})
    if isinstance(wanted, tuple) and isinstance(given, tuple):
        return len(wanted) == len(given) and all(same(one, other, types) for one, other in zip(wanted, given, strict=True))
    return bool(wanted == given)
