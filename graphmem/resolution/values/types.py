"""Types of expressions: small, bounded sets of alternatives (atoms).

A `Type` is a frozenset of atoms. An atom is one possible value, such as an instance of a class. Each atom is a tuple whose first item is
its tag. The empty set means "nothing is known"; `TOP` means "too many alternatives". Joining types is monotone and the size is limited (at
most `MAX_ATOMS` atoms, containers nested at most `MAX_DEPTH` deep). Therefore a least fixpoint exists, and the iteration ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final, Literal, NewType

from graphmem.resolution.values.symbol import Symbol

CLASS: Final = 0
INST: Final = 1
FUNC: Final = 2
MODULE: Final = 3
NAMESPACE: Final = 4
EXT: Final = 5
EXTI: Final = 6
BOX: Final = 7
TUP: Final = 8
LAM: Final = 9
SUPEROBJ: Final = 10
PARAM: Final = 11
BUILTIN: Final = 12
OBJ: Final = 13
TYPEVAR: Final = 14
PARTIAL: Final = 15
SELFTYPE: Final = 16
UNTYPED: Final = 17
MADE: Final = 18
METHODS: Final = 19
PENDING: Final = 20
ANYTHING: Final = 99

Package = NewType("Package", str)
"""The name of an external package, such as `requests` or `node:fs`.

It is a type of its own, so that mypy reports a package and a dotted name that are swapped.
"""

Language = NewType("Language", str)
"""The name of a language, as in the name of its folder in `grammars/`."""

PYTHON: Final = Language("python")
BUILTINS: Final = Package("builtins")
"""The package of Python's builtin names."""

Class = tuple[Literal[0], Symbol, bool]
"""A class of the project.

The third item is True if the class or a subclass of it is meant, as with `cls` and `type[...]`.
"""

Instance = tuple[Literal[1], Symbol, bool]
"""An instance of a class of the project. The third item is True if the instance is not one of a subclass."""

Func = tuple[Literal[2], Symbol, "Atom | None"]
"""A function: its definition and its bound receiver."""

Module = tuple[Literal[3], str]
"""A file of the project: its path."""

Namespace = tuple[Literal[4], str, Language]
"""A folder that contains only modules: its dotted name; the language."""

Ext = tuple[Literal[5], Package, str, "Symbol | None"]
"""An external name: package, dotted name, and the class it was given.

The name is "" for the package itself. For the class see `ExtInstance`.
"""

ExtInstance = tuple[Literal[6], Package, str, "Symbol | None"]
"""An instance of an external class, or the result of an external call.

It has the package, the dotted name, and a class of the project passed to the call. An atom with a class always accompanies the same
atom without one.
"""

Box = tuple[Literal[7], str, tuple["Type", ...], int]
"""A container or a wrapper: list set tuple iter dict await enter callable.

It has the contents and the nesting depth.
"""

Tup = tuple[Literal[8], tuple["Type", ...], int]
"""A tuple of known length: its items; its nesting depth."""

Lam = tuple[Literal[9], "Type", int]
"""An anonymous function: its result; its nesting depth."""

SuperObject = tuple[Literal[10], Symbol, "Class | Instance"]
"""`super()`: the class of the method around it; the receiver."""

Param = tuple[Literal[11], Symbol, int]
"""A parameter without a known value: the function; its position."""

Builtin = tuple[Literal[12], "Container", str]
"""A built-in method of a value: the value; the method's name."""

Obj = tuple[Literal[13], tuple[tuple[str, "Type"], ...], int]
"""An object literal: its fields; its nesting depth."""

TypeVariable = tuple[Literal[14], str]
"""A type parameter of a signature: its name."""

Partial = tuple[Literal[15], "Type", int]
"""A function with some arguments already bound: the function; its nesting depth."""

SelfType = tuple[Literal[16]]
"""The receiver's own type, in a signature."""

Untyped = tuple[Literal[17]]
"""An uninformative annotation: Any, object, Callable."""

Methods = tuple[Literal[19], "Class | Instance", str]
"""One of the methods of an object: the object and the prefix of the name."""

Pending = tuple[Literal[20], Symbol]
"""A call whose body runs later, when the result is iterated or awaited: the generator or coroutine function.

It accompanies the box `iter` or `await` of the same call.
"""

Made = tuple[Literal[18], Symbol, int, str]
"""A new object of the class that a parameter is, or is an instance of.

It has the function and the position of the parameter. With the name of an attribute, the parameter's attribute holds the class.
"""

Anything = tuple[Literal[99]]
"""The only atom of `TOP`."""

Container = Box | Tup | Class | Instance
"""Values with methods of the language's library.

In Rust some of them belong to every class and object.
"""

Outside = Ext | ExtInstance
"""External values."""

Receiver = Class | Instance
"""A class of the project or an object of it, as the owner of an attribute."""

Atom = (
    Class
    | Instance
    | Func
    | Module
    | Namespace
    | Ext
    | ExtInstance
    | Box
    | Tup
    | Lam
    | SuperObject
    | Param
    | Builtin
    | Obj
    | TypeVariable
    | Partial
    | SelfType
    | Untyped
    | Made
    | Methods
    | Pending
    | Anything
)
"""One possible value: a tuple whose tag determines the other parts."""

Type = frozenset[Atom]
Base = Symbol | Ext
"""Base of a class: a class of the project, or an external one."""

EMPTY: Final[Type] = frozenset()
TOP: Final[Type] = frozenset({(ANYTHING,)})

MAX_ATOMS: Final = 64
"""Most alternatives of a type. A type with more becomes `TOP`."""

MAX_DEPTH: Final = 3
"""Deepest nesting of containers that is followed."""


def one(atom: Atom) -> Type:
    """Return the type that has a single alternative, such as one class."""
    return frozenset((atom,))


def join(left: Type, right: Type) -> Type:
    """Return the union of two types; merge containers of the same kind.

    The union of `list[A]` and `list[B]` is `list[A | B]`.
    """
    if left is right or not right:
        return left
    if not left:
        return right
    if left is TOP or right is TOP:
        return TOP
    united = left | right
    if len(united) == len(left):
        return left
    if len(united) == len(right):
        return right
    return _normal(united)


def join_all(types: Iterable[Type]) -> Type:
    """Return the union of several types."""
    found = EMPTY
    for one_type in types:
        found = join(found, one_type)
    return found


_CONTAINERS: Final = frozenset((BOX, TUP, LAM, OBJ, PARTIAL))
"""Tags of atoms that are merged with others of their kind."""


_NESTING: Final = frozenset((BOX, TUP, LAM, OBJ, PARTIAL))
"""Tags of atoms that contain types, merged with others of their kind."""


def _normal(atoms: Type) -> Type:
    """Merge containers of the same kind in a type.

    `list[A] | list[B]` becomes `list[A | B]`. The result is `TOP` for more than `MAX_ATOMS` alternatives.
    """
    nesting = [atom for atom in atoms if atom[0] in _NESTING]
    if len(nesting) > 1:
        atoms = _merged(atoms, nesting)
    return atoms if len(atoms) <= MAX_ATOMS else TOP


def _merged(atoms: Type, nesting: Sequence[Atom]) -> Type:
    boxes: dict[str, list[Box]] = {}
    tuples: list[Tup] = []
    lambdas: list[Lam] = []
    objects: list[Obj] = []
    partials: list[Partial] = []
    for atom in nesting:
        if atom[0] == BOX:
            boxes.setdefault(atom[1], []).append(atom)
        elif atom[0] == TUP:
            tuples.append(atom)
        elif atom[0] == LAM:
            lambdas.append(atom)
        elif atom[0] == OBJ:
            objects.append(atom)
        elif atom[0] == PARTIAL:
            partials.append(atom)
    for kind, group in boxes.items():
        if len(group) > 1:
            atoms = (atoms - frozenset(group)) | _merged_boxes(kind, group)
    if len(tuples) > 1:
        atoms = (atoms - frozenset(tuples)) | _merged_tuples(tuples)
    if len(lambdas) > 1:
        atoms = (atoms - frozenset(lambdas)) | anonymous(join_all(result for _, result, _ in lambdas))
    if len(objects) > 1:
        atoms = (atoms - frozenset(objects)) | _merged_objects(objects)
    if len(partials) > 1:
        atoms = (atoms - frozenset(partials)) | partial(join_all(function for _, function, _ in partials))
    return atoms


def _merged_boxes(kind: str, group: Sequence[Box]) -> Type:
    width = max(len(inside) for _, _, inside, _ in group)
    return box(kind, *(join_all(inside[i] for _, _, inside, _ in group if i < len(inside)) for i in range(width)))


def _merged_tuples(group: Sequence[Tup]) -> Type:
    rows: list[tuple[Type, ...]] = [items for _, items, _ in group]
    if len({len(row) for row in rows}) == 1:
        return tuple_of([join_all(parts) for parts in zip(*rows, strict=True)])
    return box("tuple", join_all(chain.from_iterable(rows)))


def _merged_objects(group: Sequence[Obj]) -> Type:
    fields: dict[str, Type] = {}
    for _, written, _ in group:
        for name, value in written:
            fields[name] = join(fields.get(name, EMPTY), value)
    return object_of(fields)


def depth(value: Type) -> int:
    """Return the nesting depth of containers: 2 for `list[list[A]]`."""
    found = 0
    for atom in value:
        if atom[0] in _NESTING:
            found = max(found, _levels(atom))
        elif atom[0] == BUILTIN:
            found = max(found, depth(one(atom[1])))
    return found


def _levels(atom: Atom) -> int:
    if atom[0] == BOX:
        return atom[3]
    return atom[2] if atom[0] in (TUP, LAM, OBJ, PARTIAL) else 0


def _shallow(value: Type, limit: int = MAX_DEPTH - 1) -> Type:
    """Return a type without the containers that are nested too deep.

    For the `limit` 1, `list[set[A]]` becomes a `list` of unknown elements. The outer containers are kept, so that a growing type never
    loses a container. Otherwise, type inference might not end.
    """
    if depth(value) <= limit:
        return value
    found = EMPTY
    for atom in value:
        found = join(found, one(atom) if depth(one(atom)) <= limit else _cut(atom, limit))
    return found


def _cut(atom: Atom, limit: int) -> Type:
    """Return an alternative of a type without containers that are too deep.

    For the `limit` 1, `list[set[A]]` becomes a `list` of unknown elements. For the limit 0 the result is empty.
    """
    if limit <= 0:
        return EMPTY
    if atom[0] == BOX:
        return box(atom[1], *(_shallow(part, limit - 1) for part in atom[2]))
    if atom[0] == TUP:
        return tuple_of([_shallow(part, limit - 1) for part in atom[1]])
    if atom[0] == LAM:
        return anonymous(_shallow(atom[1], limit - 1))
    if atom[0] == PARTIAL:
        return partial(_shallow(atom[1], limit - 1))
    if atom[0] == OBJ:
        return object_of({name: _shallow(field, limit - 1) for name, field in atom[1]})
    if atom[0] == BUILTIN and atom[1][0] in (BOX, TUP):
        return frozenset((BUILTIN, container, atom[2]) for container in _cut(atom[1], limit) if container[0] in (BOX, TUP))
    return one(atom)


def anonymous(result: Type) -> Type:
    """Return the type of an anonymous function, given its result type."""
    kept = _shallow(result)
    return one((LAM, kept, 1 + depth(kept)))


def partial(function: Type) -> Type:
    """Return the type of a function with some arguments already bound.

    `function` is the type of the function, as in `functools.partial(f, 1)`.
    """
    kept = _shallow(frozenset(inner for atom in function for inner in (atom[1] if atom[0] == PARTIAL else (atom,))))
    return one((PARTIAL, kept, 1 + depth(kept)))


def box(kind: str, *elements: Type) -> Type:
    """Return the type of a container such as `list[A]`, or of a wrapper.

    The containers `list`, `set`, `tuple` and `iter` have one element type. A `dict` has a type of keys and a type of values. The wrappers
    are `await`, `enter` and `callable`. A wrapper gives its content when awaited, entered by `with`, or called.
    """
    kept = tuple(_shallow(element) for element in elements)
    return one((BOX, kind, kept, 1 + max(map(depth, kept), default=0)))


def tuple_of(parts: Iterable[Type]) -> Type:
    """Return the type of a tuple whose items have the types `parts`."""
    kept = tuple(_shallow(part) for part in parts)
    return one((TUP, kept, 1 + max(map(depth, kept), default=0)))


def object_of(fields: dict[str, Type]) -> Type:
    """Return the type of an object literal `{a: b}` with given fields."""
    kept = tuple((name, _shallow(fields[name])) for name in sorted(fields))
    return one((OBJ, kept, 1 + max((depth(value) for _, value in kept), default=0)))


def order(atom: Atom) -> str:
    """Return a sort key for one member of a union type.

    The key is the same in every process. The order of a set differs between processes, so a set inside `atom` is sorted first.
    """
    return repr(_listed(atom) if any(type(part) is tuple or isinstance(part, frozenset) for part in atom) else atom)


def _listed(value: object) -> object:
    """Return a value with each set inside it as a sorted list."""
    if isinstance(value, frozenset):
        return sorted(map(_listed, value), key=repr)
    return tuple(map(_listed, value)) if type(value) is tuple else value


def ordered(value: Type) -> Iterable[Atom]:
    """Return the alternatives of a type in an order that is always the same.

    The order is the same in every process. Code that asks a question for each alternative uses this order, because the order of the
    questions affects how the solver answers questions that depend on each other.
    """
    if len(value) < 2:
        return value
    known = _ORDERED.get(value)
    if known is None:
        if len(_ORDERED) >= _MOST_ORDERED:
            _ORDERED.clear()
        known = _ORDERED[value] = tuple(sorted(value, key=order))
    return known


_ORDERED: Final[dict[Type, tuple[Atom, ...]]] = {}
_MOST_ORDERED: Final = 20_000  # types whose order is kept


def bottom_for(value: Type) -> Type:
    """Return the initial value of a union of result types.

    The caller adds to the union one result type for each alternative of `value`. If `value` is `TOP` (too many alternatives), the initial
    value is `TOP`. Otherwise it is the empty type.
    """
    return TOP if value is TOP else EMPTY


def class_of(instance: Instance) -> Class:
    """Return the project class of an instance."""
    _, symbol, exact = instance
    return (CLASS, symbol, not exact)


def handed_back(atom: Atom) -> Symbol | None:
    """Return the class whose object a library function may return.

    `atom` is the type of the result of a call. For the call `load(User)` of a library's `load`, the class is `User`, because the class was
    passed to the function. The result is None if the call passes no class, or if `atom` is another type.
    """
    if atom[0] != EXTI:
        return None
    _, _, dotted, given = atom
    return given if "(" in dotted or "[" in dotted else None


def made(value: Type) -> Type:
    """Return new objects of the classes in a type.

    For the class `A` and for an object of `A`, the result is an object of `A`. All other alternatives are left out.
    """
    return frozenset((INST, atom[1], False) for atom in value if atom[0] in (CLASS, INST))
