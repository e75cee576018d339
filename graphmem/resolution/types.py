"""What an expression may be, as far as resolution cares: small sets of atoms, joined and bounded.

A `Type` is a frozenset of atoms, an atom is a tuple whose first item is its tag. The empty set means
"nothing is known"; `TOP` means "too many things". Joining is monotone and the height is bounded (at most
`MAX_ATOMS` atoms, containers nested at most `MAX_DEPTH` deep), so fixpoints exist, are unique, and end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from graphmem.resolution.symbol import Symbol

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
ANYTHING: Final = 99

Class = tuple[Literal[0], Symbol, bool]
"""A class of the project: the class; True where it or one below is meant, as with `cls` and `type[...]`."""

Instance = tuple[Literal[1], Symbol, bool]
"""An instance of a class of the project: the class; True where it is of no subclass."""

Func = tuple[Literal[2], Symbol, "Atom | None"]
"""A function: its definition; the receiver it is bound to."""

Module = tuple[Literal[3], str]
"""A file of the project: its path."""

Namespace = tuple[Literal[4], str, str]
"""A folder that only holds modules: its dotted name; the language."""

Ext = tuple[Literal[5], str, str, "Symbol | None"]
"""Something outside: the package; the dotted name in it, "" for the package itself; the class it was given, see `ExtInstance`."""

ExtInstance = tuple[Literal[6], str, str, "Symbol | None"]
"""An instance, or a call's result, of something outside: package; dotted name; a class of the project that the call was given.

Beside one with a class there is always the same without.
"""

Box = tuple[Literal[7], str, tuple["Type", ...], int]
"""A container or a wrapper: list set tuple iter dict await enter callable; what is inside; how deep it is nested."""

Tup = tuple[Literal[8], tuple["Type", ...], int]
"""A tuple of known length: its items; how deep it is nested."""

Lam = tuple[Literal[9], "Type", int]
"""A function without a name: what it gives; how deep it is nested."""

SuperObject = tuple[Literal[10], Symbol, "Class | Instance"]
"""`super()`: the class whose method says it; the receiver."""

Param = tuple[Literal[11], Symbol, int]
"""A parameter, not yet looked into: the function; the parameter's position."""

Builtin = tuple[Literal[12], "Container", str]
"""A method that the language's library gives to a value: the value; the method's name."""

Obj = tuple[Literal[13], tuple[tuple[str, "Type"], ...], int]
"""An object literal: its fields; how deep it is nested."""

TypeVariable = tuple[Literal[14], str]
"""A type parameter of a signature: its name."""

Partial = tuple[Literal[15], "Type", int]
"""A call that still waits for arguments: the function; how deep it is nested."""

SelfType = tuple[Literal[16]]
"""The receiver's own type, in a signature."""

Untyped = tuple[Literal[17]]
"""An annotation that says nothing: Any, object, Callable."""

Made = tuple[Literal[18], Symbol, int]
"""A new object of the class that a parameter is, or is an instance of: the function; the parameter's position."""

Anything = tuple[Literal[99]]
"""The only atom of `TOP`."""

Container = Box | Tup | Class | Instance
"""What has methods of the language's library. Rust gives some of them to every class and object."""

Outside = Ext | ExtInstance
"""What is not of the project."""

Receiver = Class | Instance
"""What an attribute of the project is taken from."""

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
    | Anything
)
"""One thing a value may be: a tuple whose first part is its tag, so that reading the tag tells the other parts."""

Type = frozenset[Atom]
Base = Symbol | Ext
"""What a class derives from: a class of the project, or something outside."""

EMPTY: Final[Type] = frozenset()
TOP: Final[Type] = frozenset({(ANYTHING,)})

MAX_ATOMS: Final = 64
"""Alternatives beyond which a value is TOP: nobody can use a longer list."""

MAX_DEPTH: Final = 3
"""How deep containers of containers are followed."""


def one(atom: Atom) -> Type:
    """The type with a single atom."""
    return frozenset((atom,))


def join(left: Type, right: Type) -> Type:
    """Either of two; containers of one kind become one container of the joined elements."""
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
    """Either of many."""
    found = EMPTY
    for one_type in types:
        found = join(found, one_type)
    return found


_CONTAINERS: Final = frozenset((BOX, TUP, LAM, OBJ, PARTIAL))
"""Tags of what is merged with others of its kind."""


_NESTING: Final = frozenset((BOX, TUP, LAM, OBJ, PARTIAL))
"""Tags of what holds types: it is merged with others of its kind."""


def _normal(atoms: Type) -> Type:
    """The same atoms, with those of one kind of container merged into one; too many are `TOP`."""
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
    if len({len(items) for _, items, _ in group}) == 1:
        return tuple_of([join_all(parts) for parts in zip(*(items for _, items, _ in group), strict=True)])
    return box("tuple", join_all(item for _, items, _ in group for item in items))


def _merged_objects(group: Sequence[Obj]) -> Type:
    fields: dict[str, Type] = {}
    for _, written, _ in group:
        for name, value in written:
            fields[name] = join(fields.get(name, EMPTY), value)
    return object_of(fields)


def depth(value: Type) -> int:
    """How deep containers are nested in a type."""
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


def _shallow(value: Type) -> Type:
    """The value, without what lies deeper than a container inside may hold."""
    if depth(value) < MAX_DEPTH:
        return value
    return frozenset(atom for atom in value if depth(frozenset((atom,))) < MAX_DEPTH)


def anonymous(result: Type) -> Type:
    """A function without a name that gives this."""
    kept = _shallow(result)
    return one((LAM, kept, 1 + depth(kept)))


def partial(function: Type) -> Type:
    """A function some of whose arguments are given already."""
    kept = _shallow(frozenset(inner for atom in function for inner in (atom[1] if atom[0] == PARTIAL else (atom,))))
    return one((PARTIAL, kept, 1 + depth(kept)))


def box(kind: str, *elements: Type) -> Type:
    """A container: `list`, `set`, `tuple`, `iter` of one element type, `dict` of keys and values, or a wrapper.

    Wrappers give their content back when awaited, entered or called: `await`, `enter`, `callable`.
    """
    kept = tuple(_shallow(element) for element in elements)
    return one((BOX, kind, kept, 1 + max(map(depth, kept), default=0)))


def tuple_of(parts: Iterable[Type]) -> Type:
    """A tuple with these items."""
    kept = tuple(_shallow(part) for part in parts)
    return one((TUP, kept, 1 + max(map(depth, kept), default=0)))


def object_of(fields: dict[str, Type]) -> Type:
    """An object literal with these fields."""
    kept = tuple((name, _shallow(fields[name])) for name in sorted(fields))
    return one((OBJ, kept, 1 + max((depth(value) for _, value in kept), default=0)))


def order(atom: Atom) -> str:
    """A sort key that does not depend on addresses or hashes, for everything that is shown."""
    return repr(atom)


def ordered(value: Type) -> Iterable[Atom]:
    """The atoms of a type in an order that does not depend on addresses or hashes."""
    return value if len(value) < 2 else sorted(value, key=order)


def bottom_for(value: Type) -> Type:
    """What to begin with when taking something from each atom of a type: from too many things come too many."""
    return TOP if value is TOP else EMPTY


OPEN_TAGS: Final = frozenset({UNTYPED, TYPEVAR})
"""What an annotation leaves to be found out elsewhere."""


def is_open(declared: Type) -> bool:
    """True when an annotation leaves something to be found out elsewhere."""
    return not declared or any(atom[0] in OPEN_TAGS for atom in declared)


def closed(declared: Type) -> Type:
    """The part of an annotation that says something."""
    return frozenset(atom for atom in declared if atom[0] not in OPEN_TAGS)


def class_of(instance: Instance) -> Class:
    """The class of an instance of the project."""
    _, symbol, exact = instance
    return (CLASS, symbol, not exact)


def handed_back(atom: Atom) -> Symbol | None:
    """A class of the project that a library was given before it gave this: it may be an object of that class."""
    if atom[0] != EXTI:
        return None
    _, _, dotted, given = atom
    return given if "(" in dotted or "[" in dotted else None


def made(value: Type) -> Type:
    """New objects of the classes a type stands for, or is an instance of."""
    return frozenset((INST, atom[1], False) for atom in value if atom[0] in (CLASS, INST))
