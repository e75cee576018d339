"""Types of method calls on options, results, collections and iterators.

An iterator is a list of its items here, and so is a slice. A map is a list of pairs whose last part is the type of its values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import ATTR, INDEX, LITERAL
from graphmem.resolution.packages import mapped
from graphmem.resolution.rust.tables import LIBRARY
from graphmem.resolution.values.terms import items_or_itself
from graphmem.resolution.values.types import (
    BOX,
    CLASS,
    EMPTY,
    EXTI,
    INST,
    TUP,
    Box,
    Container,
    Package,
    Type,
    box,
    join,
    join_all,
    one,
    ordered,
    tuple_of,
)

if TYPE_CHECKING:
    from graphmem.resolution.interfaces.call import Call
    from graphmem.resolution.interfaces.inference import Inference

SAME: Final = LIBRARY.same
"""Methods whose result has the members of the receiver or of the value it wraps."""

_SAME_ITEMS: Final = SAME | LIBRARY.same_items
_UNWRAPS: Final = LIBRARY.unwraps
_TO_OPTION: Final = LIBRARY.to_option
_TO_ITEM: Final = LIBRARY.to_item
_TO_PARTS: Final = LIBRARY.to_parts
_TO_HALVES: Final = LIBRARY.to_halves
_ONE_AND_REST: Final = LIBRARY.one_and_rest
_MAPS: Final = LIBRARY.mapping
_INNER: Final = _MAPS - {"map"}
_OTHER: Final = LIBRARY.other
"""Methods that return a value of the library, whatever the items are."""

_COUNTS: Final = LIBRARY.counts
_ENTRIES: Final = LIBRARY.entries

ITERATES: Final = _MAPS | _SAME_ITEMS | _TO_OPTION | {"enumerate", "flatten", "fold", "partition", "unzip", "zip"}
"""Methods whose result follows from the items of an iterator."""


_SIZE: Final = one((EXTI, Package("std"), "usize", None))


def result_of_method(inference: Inference, container: Container, name: str, call: Call) -> Type:
    """Return the type of a method call on an `Option`, `Result` or collection.

    `name` is the method. Iterators are included. For a plain value, only methods that return the value itself are known.
    """
    if container[0] == CLASS:
        return one((INST, container[1], True))
    if container[0] == INST:
        if name in SAME:
            return frozenset((container,))
        items = inference.element(frozenset((container,)))
        return _of_items(inference, (BOX, "list", (items,), 0), name, call)
    if container[0] != BOX:
        return frozenset((container,)) if name in SAME else EMPTY
    kind = container[1]
    if kind in ("option", "result"):
        found = _of_choice(inference, container, name, call)
    else:
        found = _of_map(inference, container, name, call) if kind == "map" else None
    return _of_items(inference, container, name, call) if found is None else found


def _of_choice(inference: Inference, container: Box, name: str, call: Call) -> Type | None:
    """Return the type of a method call on an `Option` or `Result`, if known.

    `name` is the method, and `container` the type of the object. The result is None for other methods.
    """
    kind, parts = container[1], container[2]
    if name in _UNWRAPS:
        return parts[0] or (_result(inference, call, 0) if name in ("unwrap_or_else", "get_or_insert_with") else EMPTY)
    if name in ("ok", "filter", "xor"):
        return box("option", parts[0])
    if name in ("ok_or", "context", "with_context"):
        return box("result", parts[0], _given(call, 0))
    if name in ("ok_or_else", "map_err"):
        return box("result", parts[0], _result(inference, call, 0))
    if name == "or_else":
        return frozenset((container,))
    if name == "err" and len(parts) > 1:
        return box("option", parts[1])
    if name in ("unwrap_err", "expect_err") and len(parts) > 1:
        return parts[1]
    if name == "map_or":
        return join(_given(call, 0), _result(inference, call, 1))
    if name == "map_or_else":
        return join(_result(inference, call, 0), _result(inference, call, 1))
    if name in ("iter", "iter_mut", "into_iter"):
        return box("list", parts[0])
    if name == "zip":
        return box("option", tuple_of((parts[0], _first_parts(inference, _given(call, 0)))))
    return box(kind, _result(inference, call, 0), *parts[1:]) if name == "map" and call.args else None


def _of_map(inference: Inference, container: Box, name: str, call: Call) -> Type | None:
    """Return the type of a call of a map's own method; None for other methods.

    `name` is the method, and `container` the type of the map.
    """
    pairs, values = container[2]
    if name in ("get", "get_mut", "remove", "insert"):
        return box("option", values)
    if name in ("values", "values_mut", "into_values"):
        return box("list", values)
    if name in ("keys", "into_keys"):
        return box("list", join_all(atom[1][0] for atom in pairs if atom[0] == TUP and atom[1]))
    if name in ("iter", "iter_mut", "into_iter", "drain", "range", "range_mut"):
        return box("list", pairs)
    if name in ("or_insert", "or_insert_with", "or_default", "or_insert_with_key"):
        return values or (_result(inference, call, 0) if name != "or_insert" else _given(call, 0))
    if name in _ENTRIES:
        return box("option", pairs)
    return frozenset((container,)) if name in ("entry", "and_modify", "clone") else None


def _of_items(inference: Inference, container: Box, name: str, call: Call) -> Type:
    """Return the type of a method call on an iterator or another sequence.

    `name` is the method, and `container` the type of the sequence. The result is empty for an unknown method.
    """
    kind, parts = container[1], container[2]
    items = parts[0]
    if name in _COUNTS:
        return _SIZE
    if name in _OTHER:
        return one((EXTI, Package("std"), f"{name}()", None))
    if name == "enumerate":
        return box("list", tuple_of((_SIZE, items)))
    if name == "zip":
        return box("list", tuple_of((items, inference.element(inference.expanded(_given(call, 0))))))
    if name in _INNER and call.args:
        return box(kind, _first_parts(inference, _result(inference, call, 1 if name == "scan" else 0)), *parts[1:])
    if name == "map" and call.args:
        return box(kind, _result(inference, call, 0), *parts[1:])
    if name == "flatten":
        return box(kind, _first_parts(inference, items), *parts[1:])
    if name == "fold":
        return _given(call, 0)
    if kind == "list":
        if name in ("get", "get_mut") and call.args and call.entry.terms[call.args[0]] == (LITERAL, "slice"):
            return box("option", frozenset((container,)))
        if name in _TO_OPTION:
            return box("option", items)
        if name in _TO_ITEM:
            return items
        if name in _TO_PARTS:
            return box("list", frozenset((container,)))
        if name in _TO_HALVES:
            return tuple_of((frozenset((container,)), frozenset((container,))))
        if name in _ONE_AND_REST:
            return box("option", tuple_of((items, frozenset((container,)))))
        if name == "unzip":
            pairs = [atom[1] for atom in ordered(items) if atom[0] == TUP and len(atom[1]) == 2]
            return tuple_of([box("list", join_all(pair[place] for pair in pairs)) for place in (0, 1)])
    return frozenset((container,)) if name in _SAME_ITEMS else EMPTY


def _given(call: Call, position: int) -> Type:
    """Return the type of a call's argument; a class becomes its object.

    `position` is the position of the argument. In Rust, the name of a struct without fields is also its only value.
    """
    return _objects(call.argument(position) or EMPTY)


def _objects(given: Type) -> Type:
    return frozenset((INST, atom[1], True) if atom[0] == CLASS else atom for atom in given)


def _result(inference: Inference, call: Call, position: int) -> Type:
    """Return the result type of the function that is a call's argument.

    `position` is the position of the argument.
    """
    return _objects(mapped(inference, call.argument(position) or EMPTY))


def _first_parts(inference: Inference, value: Type) -> Type:
    """Return the type of the values inside options, results and iterators.

    For `Option<A>`, it is `A`.
    """
    return inference.element(frozenset(atom for atom in inference.expanded(value) if atom[0] in (BOX, INST)))


def new_container(inference: Inference, described: tuple[str, tuple[int, ...]], call: Call) -> Type:
    """Return the type of `Vec::new()`, or of `Vec::<Type>::new()`.

    `described` has the kind of the container, and the positions of the types of its parts among the type arguments.
    """
    kind, order = described
    terms = call.entry.terms
    callee = terms[call.callee] if call.callee >= 0 else None
    base = terms[callee[1]] if callee is not None and callee[0] == ATTR else None
    given = items_or_itself(terms, base[2]) if base is not None and base[0] == INDEX else ()
    parts = [inference.declared(call.entry, call.scope, given[i]) if i < len(given) else EMPTY for i in order]
    return box(kind, tuple_of(parts), parts[1]) if kind == "map" else box(kind, *parts)
