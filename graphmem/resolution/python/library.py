"""Result types of Python library functions that return an argument.

A table lists library functions that return an argument or a part of one. Examples are an element of a list, a wrapped function, a partial
application, and the argument of a cast.
"""

from __future__ import annotations

import builtins
import io
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import ATTR, CALL, NAME, OPERATOR, TermIndex
from graphmem.resolution.python.tables import LIBRARY
from graphmem.resolution.values.declared_types import pending
from graphmem.resolution.values.terms import string_of
from graphmem.resolution.values.types import (
    BOX,
    BUILTINS,
    CLASS,
    EMPTY,
    EXT,
    EXTI,
    INST,
    TUP,
    TYPEVAR,
    UNTYPED,
    Container,
    Package,
    Type,
    box,
    class_of,
    join,
    one,
    ordered,
    partial,
    tuple_of,
)

if TYPE_CHECKING:
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.call import Call
    from graphmem.resolution.interfaces.inference import Inference

MAX_RENAMES: Final = 3
"""Maximum number of variables to follow when looking for the prefix of a computed name."""

_KEEPS_PREFIX: Final = LIBRARY.keeps_prefix
"""Methods of `str` that keep a lowercase prefix without spaces."""

Known = Callable[["Inference", "Call"], Type]

BUILTIN_NAMES: Final = frozenset(name for name in dir(builtins) if not name.startswith("_")) | LIBRARY.more_builtins

_OWN_TYPES: Final = (str, bytes, bytearray, int, float, list, dict, set, frozenset, tuple, io.TextIOWrapper, io.BytesIO, BaseException)

COMMON_METHODS: Final = frozenset(name for own in _OWN_TYPES for name in dir(own)) | LIBRARY.more_common
"""Method names too common to identify a target when the receiver's type is unknown."""


def _first(inference: Inference, call: Call) -> Type:
    return call.argument(0) or EMPTY


def _element_of_first(inference: Inference, call: Call) -> Type:
    return inference.element(inference.expanded(call.argument(0) or EMPTY))


def _elements_of_second(inference: Inference, call: Call) -> Type:
    return box("list", inference.element(inference.expanded(call.argument(1) or EMPTY)))


def _container(kind: str) -> Known:
    def known(inference: Inference, call: Call) -> Type:
        return box(kind, _element_of_first(inference, call))

    return known


def _iterator(inference: Inference, call: Call) -> Type:
    """Return the type of `iter(x)`: an iterator, or the result of `__iter__`."""
    given = inference.expanded(call.argument(0) or EMPTY)
    found = join(box("iter", inference.element(given)), pending(given))
    for atom in ordered(given):
        if atom[0] == INST:
            found = join(found, inference.method_result(atom, "__iter__"))
    return found


def _dictionary(inference: Inference, call: Call) -> Type:
    keys = values = EMPTY
    for atom in ordered(inference.expanded(call.argument(0) or EMPTY)):
        if atom[0] == BOX and atom[1] == "dict":
            keys, values = join(keys, atom[2][0]), join(values, atom[2][1])
        elif atom[0] == BOX:
            for pair in ordered(inference.expanded(atom[2][0])):
                if pair[0] == TUP and len(pair[1]) == 2:
                    keys, values = join(keys, pair[1][0]), join(values, pair[1][1])
    for _, term in call.keywords:
        values = join(values, call.term(term))
    return box("dict", join(keys, one((EXTI, BUILTINS, "str", None))) if call.keywords else keys, values)


def _default_dictionary(inference: Inference, call: Call) -> Type:
    return box("dict", EMPTY, inference.called_blindly(inference.expanded(call.argument(0) or EMPTY), call))


def _next(inference: Inference, call: Call) -> Type:
    return join(_element_of_first(inference, call), call.argument(1) or EMPTY)


def _enumerate(inference: Inference, call: Call) -> Type:
    return box("iter", tuple_of([one((EXTI, BUILTINS, "int", None)), _element_of_first(inference, call)]))


def _zip(inference: Inference, call: Call) -> Type:
    parts = [inference.element(inference.expanded(call.term(term))) for term in call.args]
    return box("iter", tuple_of(parts))


def _map(inference: Inference, call: Call) -> Type:
    return box("iter", inference.called_blindly(inference.expanded(call.argument(0) or EMPTY), call))


def _filter(inference: Inference, call: Call) -> Type:
    return box("iter", inference.element(inference.expanded(call.argument(1) or EMPTY)))


def _any_argument(inference: Inference, call: Call) -> Type:
    given = call.rest(0)
    return join(given, inference.element(inference.expanded(given))) if len(call.args) == 1 else given


def class_made(inference: Inference, call: Call) -> Type:
    """Return the bases of a class made by `type(name, bases, members)`.

    The new class itself has no definition, so its bases stand for it. The result is empty if the call has no argument `bases`.
    """
    bases = inference.element(inference.expanded(call.argument(1) or EMPTY)) if len(call.args) > 1 else EMPTY
    return frozenset((CLASS, atom[1], True) for atom in inference.expanded(bases) if atom[0] == CLASS)


def _type(inference: Inference, call: Call) -> Type:
    if len(call.args) > 1:
        return class_made(inference, call)
    found = EMPTY
    for atom in ordered(inference.expanded(call.argument(0) or EMPTY)):
        if atom[0] == INST:
            found = join(found, one(class_of(atom)))
        elif atom[0] == EXTI:
            found = join(found, one((EXT, atom[1], atom[2], None)))
    return found


def _getattr(inference: Inference, call: Call) -> Type:
    name = call.literal(1)
    value = inference.expanded(call.argument(0) or EMPTY)
    if name:
        found = inference.attribute(value, name)
    else:
        prefix = _prefix(inference, call.entry, call.scope, call.args[1], call.line) if len(call.args) > 1 else ""
        found = inference.methods_beginning(value, prefix) if prefix.strip("_") else EMPTY  # nearly all methods begin with "_"
    return join(found, call.argument(2) or EMPTY)


def _prefix(inference: Inference, entry: FileEntry, scope: int, term: TermIndex, line: int, depth: int = 0) -> str:
    """Return the literal with which a computed string begins; "" without one.

    For `"do_" + name`, `"do_%s" % name`, `f"do_{name}".lower()` and `"do_{}".format(name)`, the result is `do_`. A variable is replaced by
    its value, at most `MAX_RENAMES` times; `depth` counts these replacements.
    """
    found = entry.terms[term]
    if found[0] == CALL:
        callee = entry.terms[found[1]]
        if callee[0] != ATTR:
            return ""
        _, text, method = callee
        if method == "format":
            return string_of(entry.terms[text]).partition("{")[0]
        return _prefix(inference, entry, scope, text, line, depth) if method in _KEEPS_PREFIX else ""
    if found[0] == OPERATOR:
        _, sign, left, _ = found
        if sign == "+" and entry.terms[left][0] == OPERATOR:  # "do_" + name + "_field"
            return _prefix(inference, entry, scope, left, line, depth)
        return string_of(entry.terms[left]).partition("%")[0] if sign in ("+", "%") else ""
    if found[0] == NAME and depth < MAX_RENAMES:
        places = inference.lookup(entry, scope, found[1], line) or []
        if len(places) == 1 and places[0].entry is entry and places[0].slot.kind == "binding":
            binding = entry.facts.bindings[places[0].slot.index]
            if binding.value >= 0:
                return _prefix(inference, entry, binding.scope, binding.value, binding.line, depth + 1)
    return ""


def _partial(inference: Inference, call: Call) -> Type:
    return partial(call.argument(0) or EMPTY)


def _wraps(inference: Inference, call: Call) -> Type:
    """Return the type of the decorator that `functools.wraps(f)` returns.

    The decorator is treated as a function that returns the decorated function unchanged.
    """
    return one((EXT, Package("graphmem"), "identity", None))


def _cast(inference: Inference, call: Call) -> Type:
    if len(call.args) < 2:
        return EMPTY
    declared = inference.declared(call.entry, call.scope, call.args[0])
    text = call.literal(0)
    if text is not None or not declared:
        return call.argument(1) or EMPTY
    kept = frozenset(atom for atom in declared if atom[0] not in (TYPEVAR, UNTYPED))
    return kept if kept == declared else join(kept, call.argument(1) or EMPTY)


def _gather(inference: Inference, call: Call) -> Type:
    return box("await", tuple_of([inference.awaited(inference.expanded(call.term(term))) for term in call.args]))


def _run(inference: Inference, call: Call) -> Type:
    return inference.awaited(inference.expanded(call.argument(0) or EMPTY))


def _run_function(inference: Inference, call: Call) -> Type:
    return inference.called_blindly(inference.expanded(call.argument(0) or EMPTY), call)


def _enter_first(inference: Inference, call: Call) -> Type:
    return box("enter", call.argument(0) or EMPTY)


def _entered(inference: Inference, call: Call) -> Type:
    """Return the type of `x` in `with a as x`, for the first argument `a`.

    A library function such as `ExitStack.enter_context(a)` enters `a` like a `with` statement and returns `x`.
    """
    return inference.entered(inference.expanded(call.argument(0) or EMPTY))


def _reduce(inference: Inference, call: Call) -> Type:
    return inference.called_blindly(inference.expanded(call.argument(0) or EMPTY), call)


CALLS: Final[Mapping[tuple[str, str], Known]] = {
    ("builtins", "list"): _container("list"),
    ("builtins", "set"): _container("set"),
    ("builtins", "frozenset"): _container("set"),
    ("builtins", "tuple"): _container("tuple"),
    ("builtins", "sorted"): _container("list"),
    ("builtins", "reversed"): _container("iter"),
    ("builtins", "iter"): _iterator,
    ("builtins", "aiter"): _iterator,
    ("builtins", "dict"): _dictionary,
    ("builtins", "next"): _next,
    ("builtins", "anext"): _next,
    ("builtins", "enumerate"): _enumerate,
    ("builtins", "zip"): _zip,
    ("builtins", "map"): _map,
    ("builtins", "filter"): _filter,
    ("builtins", "max"): _any_argument,
    ("builtins", "min"): _any_argument,
    ("builtins", "staticmethod"): _first,
    ("builtins", "type"): _type,
    ("builtins", "getattr"): _getattr,
    ("collections", "OrderedDict"): _dictionary,
    ("collections", "defaultdict"): _default_dictionary,
    ("collections", "deque"): _container("list"),
    ("collections", "ChainMap"): _dictionary,
    ("types", "MappingProxyType"): _dictionary,
    ("itertools", "chain"): lambda inference, call: box("iter", inference.element(inference.expanded(call.rest(0)))),
    ("itertools", "chain.from_iterable"): lambda inference, call: box(
        "iter", inference.element(inference.expanded(_element_of_first(inference, call)))
    ),
    ("itertools", "islice"): _container("iter"),
    ("itertools", "cycle"): _container("iter"),
    ("functools", "partial"): _partial,
    ("functools", "partialmethod"): _partial,
    ("functools", "wraps"): _wraps,
    ("functools", "update_wrapper"): _first,
    ("functools", "reduce"): _reduce,
    ("functools", "lru_cache"): _wraps,
    ("graphmem", "identity"): _first,
    ("typing", "cast"): _cast,
    ("copy", "copy"): _first,
    ("copy", "deepcopy"): _first,
    ("copy", "replace"): _first,
    ("dataclasses", "replace"): _first,
    ("weakref", "ref"): lambda inference, call: box("callable", call.argument(0) or EMPTY),
    ("weakref", "proxy"): _first,
    ("contextlib", "closing"): _enter_first,
    ("contextlib", "nullcontext"): _enter_first,
    ("contextlib", "ExitStack.enter_context"): _entered,
    ("contextlib", "AsyncExitStack.enter_context"): _entered,
    ("contextlib", "AsyncExitStack.enter_async_context"): lambda inference, call: box("await", _entered(inference, call)),
    **dict.fromkeys((("heapq", name) for name in ("heappop", "heappushpop", "heapreplace")), _element_of_first),
    **dict.fromkeys((("heapq", name) for name in ("nlargest", "nsmallest")), _elements_of_second),
    ("asyncio", "gather"): _gather,
    ("asyncio", "run"): _run,
    ("asyncio", "create_task"): _first,
    ("asyncio", "ensure_future"): _first,
    ("asyncio", "wait_for"): _first,
    ("asyncio", "shield"): _first,
    ("asyncio", "to_thread"): lambda inference, call: box("await", _run_function(inference, call)),
    ("anyio", "run"): _run_function,
    ("trio", "run"): _run_function,
}
"""(package, name) of an external function -> its result type, if the result can be a value from the project."""


def container_method(inference: Inference, container: Container, name: str, call: Call) -> Type:
    """Return the type of a method call on a list, set or other container."""
    same: Type = frozenset((container,))
    kind = container[1] if container[0] == BOX else "tuple"
    if container[0] == BOX and kind == "dict":
        keys, values = container[2]
        if name in ("get", "setdefault", "pop"):
            return join(values, call.argument(1) or EMPTY)
        if name == "__getitem__":
            return values
        if name == "items":
            return box("iter", tuple_of([keys, values]))
        if name == "values":
            return box("iter", values)
        if name == "keys":
            return box("iter", keys)
        if name == "popitem":
            return tuple_of([keys, values])
        return same if name == "copy" else EMPTY
    if name in ("copy", "union", "intersection", "difference", "__iter__", "symmetric_difference"):
        return same
    if kind == "cell":
        return join(inference.element(same), call.argument(0) or EMPTY) if name == "get" else EMPTY
    if name in ("pop", "popleft", "__next__", "send", "__getitem__", "__anext__"):
        return inference.element(same)
    return EMPTY
