"""What an expression may be, as far as resolution cares: small sets of atoms, joined and bounded.

A `Type` is a frozenset of atoms, an atom is a tuple whose first item is its tag. The empty set means
"nothing is known"; `TOP` means "too many things". Joining is monotone and the height is bounded (at most
`MAX_ATOMS` atoms, containers nested at most `MAX_DEPTH` deep), so fixpoints exist, are unique, and end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable


CLASS: Final = 0  # (CLASS, symbol[, True])              the class itself; with True, it or one below: `cls`, `type[…]`
INST: Final = 1  # (INST, symbol, exact)                 an instance of a class of the project; exact: of no subclass
FUNC: Final = 2  # (FUNC, symbol, receiver | None)       a function; bound to an atom or not
MODULE: Final = 3  # (MODULE, path)                      a file of the project
NAMESPACE: Final = 4  # (NAMESPACE, dotted, language)    a folder that only holds modules
EXT: Final = 5  # (EXT, package, dotted[, symbol])       something outside; dotted "" is the package itself
EXTI: Final = 6  # (EXTI, package, dotted[, symbol])     an instance, or the result of calling, something outside; with a symbol,
#                                                         beside the same without: it was given that class
BOX: Final = 7  # (BOX, kind, (Type, …), depth)          list set tuple iter dict await enter callable
TUP: Final = 8  # (TUP, (Type, …), depth)                a tuple of known length
LAM: Final = 9  # (LAM, Type, depth)                     an anonymous function and what it gives
SUPEROBJ: Final = 10  # (SUPEROBJ, symbol, receiver)     `super()` in a method of that class
PARAM: Final = 11  # (PARAM, symbol, index)              a parameter, not yet looked into
BUILTIN: Final = 12  # (BUILTIN, box, name)              a method of a container, bound
OBJ: Final = 13  # (OBJ, ((key, Type), …), depth)        an object literal
TYPEVAR: Final = 14  # (TYPEVAR, name)                   a type parameter of a signature
PARTIAL: Final = 15  # (PARTIAL, Type, depth)            a call that still waits for arguments
SELFTYPE: Final = 16  # (SELFTYPE,)                      the receiver's own type, in a signature
MADE: Final = 18  # (MADE, symbol, index)               a new object of the class a parameter is, or is an instance of
UNTYPED: Final = 17  # (UNTYPED,)                        an annotation that says nothing: Any, object, Callable

Atom = tuple[Any, ...]
Type = frozenset[Atom]

EMPTY: Final[Type] = frozenset()
TOP: Final[Type] = frozenset({(99,)})

MAX_ATOMS: Final = 64
"""Alternatives beyond which a value is TOP: nobody can use a longer list."""

MAX_DEPTH: Final = 3
"""How deep containers of containers are followed."""


def one(*atom: Any) -> Type:
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


def _normal(atoms: Type) -> Type:
    containers: dict[Any, list[Atom]] = {}
    for atom in atoms:
        if atom[0] in _CONTAINERS:
            containers.setdefault((BOX, atom[1]) if atom[0] == BOX else atom[0], []).append(atom)
    for key, group in containers.items():
        if len(group) > 1:
            atoms = (atoms - frozenset(group)) | _merged(key, group)
    return atoms if len(atoms) <= MAX_ATOMS else TOP


def _merged(key: Any, group: list[Atom]) -> Type:
    if key == LAM:
        return anonymous(join_all(atom[1] for atom in group))
    if key == PARTIAL:
        return partial(join_all(atom[1] for atom in group))
    if key == TUP:
        if len({len(atom[1]) for atom in group}) == 1:
            return tuple_of([join_all(parts) for parts in zip(*(atom[1] for atom in group), strict=True)])
        return box("tuple", join_all(part for atom in group for part in atom[1]))
    if key == OBJ:
        fields: dict[str, Type] = {}
        for atom in group:
            for name, value in atom[1]:
                fields[name] = join(fields.get(name, EMPTY), value)
        return object_of(fields)
    width = max(len(atom[2]) for atom in group)
    return box(key[1], *(join_all(atom[2][i] for atom in group if i < len(atom[2])) for i in range(width)))


_NESTING: Final = frozenset({BOX, TUP, OBJ, LAM, PARTIAL})


def depth(value: Type) -> int:
    """How deep containers are nested in a type."""
    found = 0
    for atom in value:
        tag = atom[0]
        if tag in _NESTING:
            found = max(found, atom[-1])
        elif tag == BUILTIN:
            found = max(found, atom[1][-1])
    return found


def _shallow(value: Type) -> Type:
    """The value, without what lies deeper than a container inside may hold."""
    if depth(value) < MAX_DEPTH:
        return value
    return frozenset(atom for atom in value if depth(frozenset((atom,))) < MAX_DEPTH)


def anonymous(result: Type) -> Type:
    """A function without a name that gives this."""
    kept = _shallow(result)
    return one(LAM, kept, 1 + depth(kept))


def partial(function: Type) -> Type:
    """A function some of whose arguments are given already."""
    kept = _shallow(frozenset(inner for atom in function for inner in (atom[1] if atom[0] == PARTIAL else (atom,))))
    return one(PARTIAL, kept, 1 + depth(kept))


def box(kind: str, *elements: Type) -> Type:
    """A container: `list`, `set`, `tuple`, `iter` of one element type, `dict` of keys and values, or a wrapper.

    Wrappers give their content back when awaited, entered or called: `await`, `enter`, `callable`.
    """
    kept = tuple(_shallow(element) for element in elements)
    return one(BOX, kind, kept, 1 + max(map(depth, kept), default=0))


def tuple_of(parts: Iterable[Type]) -> Type:
    """A tuple with these items."""
    kept = tuple(_shallow(part) for part in parts)
    return one(TUP, kept, 1 + max(map(depth, kept), default=0))


def object_of(fields: dict[str, Type]) -> Type:
    """An object literal with these fields."""
    kept = tuple((name, _shallow(fields[name])) for name in sorted(fields))
    return one(OBJ, kept, 1 + max((depth(value) for _, value in kept), default=0))


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


def class_of(instance: Atom) -> Type:
    """The class of an instance of the project."""
    return frozenset((((CLASS, instance[1]) if instance[2] else (CLASS, instance[1], True)),))


def is_handed_back(atom: Atom) -> bool:
    """True for what a library gave that was given a class of the project before: it may be an object of that class."""
    return atom[0] == EXTI and len(atom) > 3 and ("(" in atom[2] or "[" in atom[2])


def made(value: Type) -> Type:
    """New objects of the classes a type stands for, or is an instance of."""
    return frozenset((INST, atom[1], False) for atom in value if atom[0] in (CLASS, INST))
