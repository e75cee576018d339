"""Recognise declared types that leave the class of an object open.

A declaration such as `Any`, `Iterator` or `list` says little about the object. The classes of the assigned or returned objects are
included.

A type is a set of alternatives: the type of `x` may be `A | B`.
"""

from __future__ import annotations

from typing import Final

from graphmem.resolution.values.types import BOX, INST, PENDING, TYPEVAR, UNTYPED, Type

OPEN_TAGS: Final = frozenset({UNTYPED, TYPEVAR})
"""Tags for parts of an annotation that do not determine a type."""


def is_open(declared: Type) -> bool:
    """Whether a declared type is empty or has an open alternative (`Any`).

    A type is a set of alternatives. An open alternative says nothing about the class of the object.
    """
    return not declared or any(atom[0] in OPEN_TAGS for atom in declared)


def is_callable(declared: Type) -> bool:
    """Whether a declared type says at most that the value can be called.

    `declared` is without its open alternatives (see `closed`).
    """
    return all(atom[0] == BOX and atom[1] == "callable" for atom in declared)


def closed(declared: Type) -> Type:
    """Return a declared type without its open alternatives, such as `Any`.

    An open alternative says nothing about the class of the object.
    """
    return frozenset(atom for atom in declared if atom[0] not in OPEN_TAGS)


def is_deferred(declared: Type) -> bool:
    """Whether a declared type may be an iterator or a coroutine."""
    return any(atom[0] == BOX and atom[1] in ("iter", "await") for atom in declared)


def is_container(declared: Type) -> bool:
    """Whether a declared type may be a container or an iterator.

    If so, the value may also be an object of a project class: `cache: MutableMapping = Cache()`.
    """
    return any(atom[0] == BOX and atom[1] in ("iter", "dict", "list", "set") for atom in declared)


def behind(declared: Type, value: Type) -> Type:
    """Return the alternatives of a value that its declared type leaves out.

    For example, a function declared as `-> Iterator` may return a generator. The result has the calls of generators and coroutines in
    `value`. If `declared` is a container or an iterator, it also has the objects of project classes in `value`.
    """
    if is_container(declared):
        return frozenset(atom for atom in value if atom[0] == PENDING or atom[0] == INST)
    return pending(value)


def pending(value: Type) -> Type:
    """Return the `PENDING` tuples that a type contains.

    Such a tuple is a call of a generator or coroutine. The body of the called function has not run yet.
    """
    return frozenset(atom for atom in value if atom[0] == PENDING)
