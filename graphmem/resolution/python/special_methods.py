"""Special methods that Python calls for syntax, such as `__add__` for `+`.

Loops, operators, subscripts, conditions, formatted strings and properties call them, and so do library functions such as `sorted`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import AWAIT, ENTER, INDEX, ITER, OPERATOR, STRING, TermIndex
from graphmem.resolution.interfaces.rules_of_calls import CallRules, Run, Through
from graphmem.resolution.interfaces.rules_of_classes import ClassRules
from graphmem.resolution.python.made_properties import GETTER, made_accessors
from graphmem.resolution.python.protocols import (
    CALLED_THROUGH,
    CONTAINED,
    CONTAINMENT,
    ENTERED,
    ENTERED_LATER,
    ITERATION,
    KEY,
    PLAIN_TEXT,
    REFLECTED,
    UNSIGNED,
)
from graphmem.resolution.values.operators import ASSIGNING, BINARY, METHODS, UNARY
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.terms import items_or_itself, string_of
from graphmem.resolution.values.types import (
    BOX,
    BUILTINS,
    EMPTY,
    INST,
    Instance,
    Type,
    join,
    ordered,
)

if TYPE_CHECKING:
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference


_ACCESSORS: Final = {"read": GETTER, "write": (1, "fset"), "delete": (2, "fdel")}
"""Kind of use of a property -> the parameter of `property` with the function that runs, by position and name."""

_CONVERSION: Final = re.compile(r"%(?:\(\w*\))?[-#0 +]*[\d*]*(?:\.[\d*]+)?([a-zA-Z])")
"""A conversion in a format such as `"%s: %r"`; its group is the kind."""

_CONVERTED: Final[Mapping[str, Sequence[str]]] = {"r": ("__repr__",), "a": ("__repr__",), "d": ("__int__",), "i": ("__int__",)}
"""Kind of a conversion -> the special methods that it calls, if they are not those of plain text."""


class SpecialMethods(ClassRules, CallRules):
    """Rules that find the special methods which Python code runs."""

    item_method = "__getitem__"
    item_setters = ("__setitem__",)
    key_methods = KEY
    contained_methods = CONTAINED
    resuming = frozenset({"__iter__", "__next__", "__aiter__", "__anext__", "__contains__", "__await__"})
    attribute_hooks: Mapping[str, str] = {"write": "__setattr__", "delete": "__delattr__"}
    descriptor_methods: Mapping[str, str] = {"read": "__get__", "write": "__set__", "delete": "__delete__"}
    wrapped_members: Mapping[tuple[str, str], str] = {(BUILTINS, "property"): "fget", ("functools", "cached_property"): "func"}
    identity_signs = frozenset({"is", "is not"})

    def operations(self, entry: FileEntry, scope: int, term: TermIndex) -> Sequence[Run]:
        """Return the special methods that an expression calls, such as `__add__`.

        Loops, `await`, `with`, subscripts, operators, conditions and formatted strings call special methods. Only a coroutine function can
        contain `async for` and `async with`.
        """
        found = entry.terms[term]
        is_async = "async" in entry.definitions[scope].modifiers
        if found[0] == ITER:
            _, iterable = found
            return (Run(iterable, ITERATION), Run(iterable, ("__aiter__",)))[: 1 + is_async]
        if found[0] == AWAIT:
            _, awaitable = found
            return (Run(awaitable, ("__await__",)),)
        if found[0] == ENTER:
            _, manager = found
            return tuple(Run(manager, (name,)) for name in (*ENTERED, *(ENTERED_LATER if is_async else ())))
        if found[0] == INDEX:
            _, base, key = found
            return (Run(base, ("__getitem__",)), Run(base, ("__missing__",)), Run(key, KEY, base))
        if found[0] != OPERATOR:
            return ()
        _, sign, left, right = found
        if right < 0:
            return (Run(left, UNSIGNED[sign]),) if sign in UNSIGNED else (Run(left, (UNARY[sign],)),) if sign in UNARY else ()
        if sign in ("in", "not in"):
            return (Run(right, CONTAINMENT), Run(left, KEY, right))
        if sign == "%" and entry.terms[left][0] == STRING:
            items = items_or_itself(entry.terms, right)
            kinds = _CONVERSION.findall(string_of(entry.terms[left]).replace("%%", ""))
            written = [_CONVERTED.get(kind, PLAIN_TEXT) for kind in kinds] if len(kinds) == len(items) else [PLAIN_TEXT] * len(items)
            return tuple(Run(item, names) for item, names in zip(items, written, strict=True))
        name = BINARY.get(sign.removesuffix("=") if sign in ASSIGNING else sign)
        if name is None:
            return ()
        reflected = REFLECTED.get(name, f"__r{name[2:]}")
        names = (f"__i{name[2:]}", name) if sign in ASSIGNING else (name, "__eq__") if name == "__ne__" else (name,)
        item = entry.terms[left]
        read = (Run(item[1], ("__getitem__",)),) if sign in ASSIGNING and item[0] == INDEX else ()
        return (*read, Run(left, names), Run(right, (reflected,), first=(left, names)))

    def accessor_functions(self, inference: Inference, entry: FileEntry, position: int, kind: str) -> Sequence[Symbol]:
        """Return the functions that a use of an attribute calls.

        The attribute is made by a call `x = property(get, set)` in a class, or by a function that returns such a call. `position` is the
        position of its binding, and `kind` is `read`, `write` or `delete`.
        """
        return made_accessors(inference, entry, entry.facts.bindings[position], _ACCESSORS[kind]) if kind in _ACCESSORS else ()

    def operated(self, inference: Inference, receiver: Instance, sign: str, *, is_unary: bool) -> Type:
        """Return the type of an operator's result: `a.__add__(b)` for `a + b`.

        `receiver` is the left operand, `sign` the operator, and `is_unary` tells whether there is no other operand.
        """
        method = METHODS.get(sign)
        return inference.method_result(receiver, method) if method else EMPTY

    def iterated(self, inference: Inference, receiver: Instance) -> Type:
        """Return the element type of a loop over an object of a class.

        The type is the result of `__next__` of the iterator that `__iter__` returns. Asynchronous loops are included.
        """
        given = join(inference.method_result(receiver, "__iter__"), inference.method_result(receiver, "__aiter__"))
        found = EMPTY
        for inner in ordered(inference.expanded(given)):
            if inner[0] == BOX:
                found = join(found, inner[2][0])
            elif inner[0] == INST:
                found = join(found, inference.method_result(inner, "__next__"))
                found = join(found, inference.awaited(inference.method_result(inner, "__anext__")))
        return found

    def next_step(self, name: str) -> str:
        """Return the method that fetches the next element of an iterator.

        `name` is the method that made the iterator. For `__iter__` the result is `__next__`, for `__aiter__` it is `__anext__`, and
        otherwise "".
        """
        return {"__iter__": "__next__", "__aiter__": "__anext__"}.get(name, "")

    def called_through(self, package: str, dotted: str) -> Sequence[Through]:
        """Return the calls that a library function makes to its arguments.

        For `sorted(items, key=f)`, these are `f()` and `__lt__` of the items. The function is given by its package and dotted name.
        """
        return CALLED_THROUGH.get((package, dotted), ())
