"""Tables of special methods that Python and its standard library call.

The tables cover operations without an operator sign (loops, `in`, truth tests, formatting, `del`), builtin functions and functions of the
standard library. Each row names methods in the order in which Python tries them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from graphmem.parsing.facts import FORMAT, REMOVAL, REPR, TEXT, TRUTH
from graphmem.resolution.interfaces.rules_of_calls import Through
from graphmem.resolution.python.tables import LIBRARY

ITERATION: Final = ("__iter__", "__getitem__")
CONTAINMENT: Final = ("__contains__", "__iter__", "__getitem__")
PLAIN_TEXT: Final = ("__str__", "__repr__")
FORMATTED_TEXT: Final = ("__format__", *PLAIN_TEXT)
KEY: Final = ("__hash__", "__eq__")
CONTAINED: Final[Mapping[str, Sequence[str]]] = {
    "__repr__": (),
    "__hash__": ("tuple",),
    **dict.fromkeys(("__eq__", "__lt__", "__gt__"), ("list", "tuple")),
}
"""Special method of a builtin container that calls the method of its elements -> kinds of these containers; empty for all."""

TRUTH_VALUE: Final = ("__bool__", "__len__")
ENTERED: Final = ("__enter__", "__exit__")
ENTERED_LATER: Final = ("__aenter__", "__aexit__")

UNSIGNED: Final[Mapping[str, Sequence[str]]] = {
    TRUTH: TRUTH_VALUE,
    FORMAT: FORMATTED_TEXT,
    TEXT: PLAIN_TEXT,
    REPR: ("__repr__",),
    REMOVAL: ("__delitem__",),
}
"""Operation without a sign -> the methods that Python tries."""

REFLECTED: Final[Mapping[str, str]] = {
    "__eq__": "__eq__",
    "__ne__": "__ne__",
    "__lt__": "__gt__",
    "__le__": "__ge__",
    "__gt__": "__lt__",
    "__ge__": "__le__",
}
"""Special method of the left operand -> its reflected method on the right operand.

Python tries the reflected method if the left operand does not support the operation. Other operators use `__r…__`.
"""

STANDS_FOR: Final[Mapping[str, str]] = LIBRARY.demands
"""Abstract class -> the method that makes an object one of its instances."""

_ALL: Final = 1 << 10
_COPIED: Final = ("__reduce_ex__", "__reduce__", "__getstate__")
_ITERATES: Final = (Through(ITERATION),)
_ITERATES_ALL: Final = (Through(ITERATION, last=_ALL),)
_SIZES: Final = (Through(ITERATION), Through(("__len__",)))  # a list is made of it: Python asks for the length first
_SIZES_ALL: Final = (Through(ITERATION, last=_ALL), Through(("__len__",), last=_ALL))
_FINDS: Final = (Through(("__hash__",)), Through(("__eq__",)))
_COMPARES: Final = (Through(("__eq__",)), Through(("__eq__",), elements=True))
_HASHES: Final = Through(("__hash__",), elements=True)
_JUDGES: Final = Through(TRUTH_VALUE, elements=True)
_ORDERS: Final = Through(("__lt__",), elements=True)
_KEYED: Final = Through((), first=_ALL, keyword="key")
_CALLS_FIRST: Final = Through(())


def _iterates(first: int) -> Through:
    return Through(ITERATION, first, first + 1)


def _calls(*names: str) -> tuple[Through, ...]:
    return (Through(names),)


_BUILTINS: Final[Mapping[str, Sequence[Through]]] = {
    "len": _calls("__len__"),
    "iter": _calls(*ITERATION),
    "next": _calls("__next__"),
    "aiter": _calls("__aiter__"),
    "anext": _calls("__anext__"),
    "str": _calls(*PLAIN_TEXT),
    "repr": _calls("__repr__"),
    "ascii": _calls("__repr__"),
    "format": _calls(*FORMATTED_TEXT),
    "print": (Through(PLAIN_TEXT, last=_ALL),),
    "bool": _calls(*TRUTH_VALUE),
    "bytes": _calls("__bytes__", *ITERATION),
    "bytearray": _ITERATES,
    "hash": _calls("__hash__"),  # and of the elements of a tuple
    "int": _calls("__int__", "__index__", "__trunc__"),
    "float": _calls("__float__", "__index__"),
    "complex": _calls("__complex__", "__float__"),
    "abs": _calls("__abs__"),
    "round": _calls("__round__"),
    "divmod": _calls("__divmod__"),
    "pow": _calls("__pow__"),
    "reversed": _calls("__reversed__", "__getitem__"),
    "dir": _calls("__dir__"),
    "setattr": _calls("__setattr__"),
    "delattr": _calls("__delattr__"),
    "open": _calls("__fspath__"),
    "dict": (Through(("keys", *ITERATION)), Through(("__getitem__",), needs="keys")),
    "dict.fromkeys": _ITERATES,
    "dict.update": (Through(("keys", *ITERATION)), Through(("__getitem__",), needs="keys")),
    "list": _SIZES,
    "tuple": _SIZES,
    "list.extend": _SIZES,
    "set": (*_ITERATES, _HASHES),
    "frozenset": (*_ITERATES, _HASHES),
    "set.update": (*_ITERATES_ALL, _HASHES),
    "set.union": _ITERATES_ALL,
    "set.intersection": _ITERATES_ALL,
    "set.difference": _ITERATES_ALL,
    "str.join": _SIZES,
    "bytes.join": _SIZES,
    "str.format": (Through(FORMATTED_TEXT, last=_ALL, keyword="*"),),
    "sum": (*_ITERATES, Through(("__radd__",), elements=True), Through(("__add__",), elements=True)),
    "any": (*_ITERATES, _JUDGES),
    "all": (*_ITERATES, _JUDGES),
    "enumerate": _ITERATES,
    "zip": _ITERATES_ALL,
    **dict.fromkeys(("dict.get", "dict.pop", "dict.setdefault", "set.add", "set.remove", "set.discard"), _FINDS),
    **dict.fromkeys(("list.index", "list.remove", "list.count", "tuple.index", "tuple.count"), _COMPARES),
    "sorted": (*_SIZES, _KEYED, _ORDERS),
    "min": (*_ITERATES, _KEYED, _ORDERS),
    "max": (*_ITERATES, _KEYED, Through(("__gt__", "__lt__"), elements=True)),
    "list.sort": (_KEYED, Through(("__lt__",), elements=True, receiver=True)),
    "map": (_CALLS_FIRST, Through(ITERATION, 1, _ALL)),
    "filter": (_CALLS_FIRST, _iterates(1)),
}

_LIBRARY: Final[Mapping[str, Mapping[str, Sequence[Through]]]] = {
    "collections": {
        **dict.fromkeys(("deque", "Counter"), _ITERATES),
        "OrderedDict": _calls("keys", *ITERATION),
        "defaultdict": (_iterates(1),),
    },
    "contextlib": {"closing": _calls("close")},
    "copy": {"copy": _calls("__copy__", *_COPIED), "deepcopy": _calls("__deepcopy__", *_COPIED)},
    "functools": {"reduce": (_CALLS_FIRST, _iterates(1))},
    "bisect": dict.fromkeys(("bisect", "bisect_left", "bisect_right", "insort", "insort_left", "insort_right"), (_ORDERS,)),
    "heapq": {
        **dict.fromkeys(("heapify", "heappop", "heappush", "heappushpop", "heapreplace"), (_ORDERS,)),
        **dict.fromkeys(("nlargest", "nsmallest"), (_iterates(1), _KEYED)),
        "merge": (*_ITERATES_ALL, _KEYED),
    },
    "itertools": {
        **dict.fromkeys(("accumulate", "cycle", "islice", "pairwise", "tee"), _ITERATES),
        **dict.fromkeys(("chain", "zip_longest"), _ITERATES_ALL),
        "chain.from_iterable": _ITERATES,
        **dict.fromkeys(("combinations", "combinations_with_replacement", "permutations"), _SIZES),
        "product": _SIZES_ALL,
        **dict.fromkeys(("dropwhile", "filterfalse", "starmap", "takewhile"), (_CALLS_FIRST, _iterates(1))),
        "groupby": (*_ITERATES, _KEYED, Through((), 1, 2)),
    },
    "math": {**dict.fromkeys(("fsum", "prod"), _ITERATES), "ceil": _calls("__ceil__"), "floor": _calls("__floor__")},
    "operator": {"index": _calls("__index__"), "length_hint": _calls("__len__", "__length_hint__")},
    "os": {"fspath": _calls("__fspath__"), "path.join": (Through(("__fspath__",), last=_ALL),)},
    "pathlib": {"Path": (Through(("__fspath__",), last=_ALL),)},
    "pickle": dict.fromkeys(("dump", "dumps"), _calls(*_COPIED)),
    "re": {
        **dict.fromkeys(("sub", "subn"), (Through((), 1, 2),)),
        **dict.fromkeys(("compile().sub", "compile().subn"), (_CALLS_FIRST,)),
    },
}

CALLED_THROUGH: Final[Mapping[tuple[str, str], Sequence[Through]]] = {
    **{("builtins", name): through for name, through in _BUILTINS.items()},
    **{(package, name): through for package, rows in _LIBRARY.items() for name, through in rows.items()},
}
"""(package, name) of a function of the standard library -> what it calls of its arguments."""
