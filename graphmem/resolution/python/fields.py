"""Infer attributes that generated constructors assign, as in data classes.

A decorator such as `dataclass`, or the base `NamedTuple`, generates a constructor from the fields of a class. The arguments of the
constructor become the attributes of the object.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import ATTR, CALL, INDEX, NAME, written_name
from graphmem.resolution.interfaces.call import Call
from graphmem.resolution.python.tables import LIBRARY
from graphmem.resolution.values.declared_types import is_open
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.terms import call_at
from graphmem.resolution.values.types import BOX, CLASS, EMPTY, EXTI, Type, join

if TYPE_CHECKING:
    from graphmem.parsing.facts import Binding
    from graphmem.resolution.files.call_index import CallSite
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference
    from graphmem.resolution.values.types import Instance

_DECORATORS: Final = LIBRARY.dataclasses
"""Names of decorators that write a constructor, including `attr.s`."""

_BASE: Final = "NamedTuple"

_SPECIFIERS: Final = LIBRARY.field_makers
"""Functions whose call describes a field, such as `field(default=1)`."""


def field_value(inference: Inference, owner: Symbol, binding: Binding, value: Type) -> Type:
    """Return the type of a class attribute that may be a field.

    `value` is the type of the assigned value, and `owner` is the class. Types are added to `value` if the class has a generated
    constructor, as a data class has, and the declared type of the field is missing or open (`Any`, `Callable`). The added types are those
    that calls such as `A(x=1)` pass for the field `x`. In all other cases the result is `value`.
    """
    entry = inference.project.entry(owner)
    if not _is_field(entry, binding) or not _is_generated(inference, owner):
        return value
    if binding.annotation >= 0 and not _is_open(inference.declared(entry, binding.scope, binding.annotation)):
        return value
    if _is_specified(entry, binding):
        value = frozenset(atom for atom in value if atom[0] == EXTI)
    given = _defaults(inference, entry, binding)
    for made in (owner, *inference.below(owner)):
        position = next((index for index, name in enumerate(_fields(inference, made)) if name == _name(entry, binding)), -1)
        if position >= 0:
            given = join(given, _passed(inference, made, position, _name(entry, binding).lstrip("_")))
    given = inference.expanded(given)
    return join(frozenset(atom for atom in value if atom[0] != EXTI), given) if given else value


def part_of_tuple(inference: Inference, receiver: Instance, position: int) -> Type:
    """Return the type of one item of an object of a `NamedTuple` class.

    `position` is the position of the item among the fields. The result is empty for other classes and beyond the last field.
    """
    if position < 0 or not any(isinstance(part, Symbol) and _is_tuple(inference, part) for part in inference.mro(receiver[1])):
        return EMPTY
    names = list(_fields(inference, receiver[1]))
    return inference.expanded(inference.attribute_of(receiver, names[position])) if position < len(names) else EMPTY


def _is_open(declared: Type) -> bool:
    return is_open(declared) or any(atom[0] == BOX and atom[1] == "callable" for atom in declared)


def _name(entry: FileEntry, binding: Binding) -> str:
    target = entry.terms[binding.target]
    return target[1] if target[0] == NAME else ""


def _is_field(entry: FileEntry, binding: Binding) -> bool:
    return entry.terms[binding.target][0] == NAME and (binding.annotation >= 0 or _is_specified(entry, binding))


def _is_specified(entry: FileEntry, binding: Binding) -> bool:
    term = entry.terms[binding.value] if binding.value >= 0 else None
    return term is not None and term[0] == CALL and written_name(entry.terms, term[1]) in _SPECIFIERS


def _is_generated(inference: Inference, symbol: Symbol) -> bool:
    """Whether the constructor of a class is generated from its fields."""
    return any(isinstance(part, Symbol) and _writes_constructor(inference, part) for part in inference.mro(symbol)) and not isinstance(
        inference.owner(symbol, "__init__"), Symbol
    )


def _writes_constructor(inference: Inference, symbol: Symbol) -> bool:
    entry = inference.project.entry(symbol)
    definition = entry.definitions[symbol.index]
    for decorator in definition.decorators:
        term = entry.terms[decorator]
        term = entry.terms[term[1]] if term[0] == CALL else term
        if term[0] == NAME and term[1] in _DECORATORS:
            return True
        if term[0] == ATTR and (term[2] in _DECORATORS or (term[2] == "s" and entry.terms[term[1]] == (NAME, "attr"))):
            return True
    return _is_tuple(inference, symbol)


def _is_tuple(inference: Inference, symbol: Symbol) -> bool:
    """Whether `NamedTuple` is a base in the header of a class."""
    entry = inference.project.entry(symbol)
    bases = entry.definitions[symbol.index].bases
    return any(written_name(entry.terms, term) == _BASE and entry.terms[term][0] != INDEX for _, term in bases)


def _fields(inference: Inference, symbol: Symbol) -> Iterator[str]:
    """Yield the names of the fields of a class, those of its bases first."""
    seen: set[str] = set()
    for part in reversed(inference.mro(symbol)):
        if isinstance(part, Symbol) and _writes_constructor(inference, part):
            entry = inference.project.entry(part)
            for name, slots in entry.names(part.index).items():
                if name not in seen and any(s.kind == "binding" and _is_field(entry, entry.facts.bindings[s.index]) for s in slots):
                    seen.add(name)
                    yield name


def _passed(inference: Inference, symbol: Symbol, position: int, name: str) -> Type:
    """Return the type of the values that a field gets in calls of its class.

    `position` is the field's position among the arguments, and `name` is the keyword for the field.
    """
    found = EMPTY
    sites, _ = inference.project.call_sites(symbol.name, symbol.path)
    for site in sites:
        found = join(found, _passed_at(inference, site, symbol, position, name))
    return found


def _passed_at(inference: Inference, site: CallSite, symbol: Symbol, position: int, name: str) -> Type:
    project = inference.project
    entry = project.files[site.path]
    if site.decorated >= 0:
        return EMPTY
    project.touch("passed", site.path, entry.symbols[site.scope].qualname, symbol.name)
    _, called, positional, keywords = call_at(entry.terms, site.term)
    callee = inference.expanded(inference.term(entry, site.scope, called, site.line))
    if not any(atom[0] == CLASS and atom[1] is symbol for atom in callee):
        return EMPTY
    call = Call(inference, entry, site.scope, site.line, called, positional, keywords)
    given = call.keyword(name)
    return (given if given is not None else call.argument(position)) or EMPTY


def _defaults(inference: Inference, entry: FileEntry, binding: Binding) -> Type:
    """Return the type of the default value that `field(…)` states for a field.

    For `field(default_factory=list)`, this is the result of `list()`. The result is empty for a field without such a call.
    """
    if not _is_specified(entry, binding):
        return EMPTY
    _, called, positional, keywords = call_at(entry.terms, binding.value)
    call = Call(inference, entry, binding.scope, binding.line, called, positional, keywords)
    found = call.keyword("default") or EMPTY
    for name in ("factory", "default_factory"):
        made_by = call.keyword(name)
        if made_by:
            found = join(found, inference.called_blindly(inference.expanded(made_by), call))
    return found
