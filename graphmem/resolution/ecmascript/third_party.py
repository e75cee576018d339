"""Result types of known functions and generics of widely used packages.

The functions return values that the project's code passes to them, as `useState(value)` does. A table maps (package, name) to a function
that computes the result type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import TUPLE
from graphmem.parsing.languages.ecmascript_words import TYPE_ARGUMENTS
from graphmem.resolution.values.declared_types import closed
from graphmem.resolution.values.types import (
    EMPTY,
    EXT,
    FUNC,
    LAM,
    MODULE,
    OBJ,
    Package,
    Type,
    box,
    join,
    join_all,
    object_of,
    one,
    ordered,
    tuple_of,
)

if TYPE_CHECKING:
    from graphmem.resolution.interfaces.call import Call
    from graphmem.resolution.interfaces.inference import Inference

Known = Callable[["Inference", "Call"], Type]

_CONTEXT: Final = "<context>"
"""Field that holds the value a context provides."""


def type_arguments(inference: Inference, call: Call) -> list[Type]:
    """Return the types in the angle brackets of a call: `A` for `f<A>()`.

    Each item of the result is a type. It is empty for a type such as `any`, which gives no information.
    """
    for name, term in call.keywords:
        if name == TYPE_ARGUMENTS:
            said = call.entry.terms[term]
            return [closed(inference.declared(call.entry, call.scope, part)) for part in (said[1] if said[0] == TUPLE else (term,))]
    return []


def first(inference: Inference, call: Call) -> Type:
    """Return the type of the first argument of a call."""
    return call.argument(0) or EMPTY


def called(inference: Inference, call: Call) -> Type:
    """Return the type of the result of calling a call's first argument.

    An example is `useMemo(f)`, which returns the result of `f()`.
    """
    return inference.expanded(inference.called_blindly(inference.expanded(first(inference, call)), call))


def _said_or_first(inference: Inference, call: Call) -> Type:
    said = type_arguments(inference, call)
    return said[0] if said and said[0] else first(inference, call)


def _state(inference: Inference, call: Call) -> Type:
    """Return the type of a call `useState(value)` or `useState(() => value)`.

    The result is a pair: the type of the value, and an external function.
    """
    said = type_arguments(inference, call)
    given = inference.expanded(first(inference, call))
    value = said[0] if said and said[0] else join(frozenset(a for a in given if a[0] not in (FUNC, LAM)), called(inference, call))
    return tuple_of([value, EMPTY])


def _reducer(inference: Inference, call: Call) -> Type:
    return tuple_of([join(called(inference, call), call.argument(1) or EMPTY), EMPTY])


def _field(name: str) -> Known:
    def known(inference: Inference, call: Call) -> Type:
        return object_of({name: _said_or_first(inference, call)})

    return known


def _computed(inference: Inference, call: Call) -> Type:
    said = type_arguments(inference, call)
    return object_of({"value": said[0] if said and said[0] else called(inference, call)})


def _signal(inference: Inference, call: Call) -> Type:
    return box("callable", _said_or_first(inference, call))


def _memo(inference: Inference, call: Call) -> Type:
    return box("callable", called(inference, call))


def _signal_pair(inference: Inference, call: Call) -> Type:
    return tuple_of([box("callable", _said_or_first(inference, call)), EMPTY])


def _create_context(inference: Inference, call: Call) -> Type:
    parts = {part: one((EXT, Package("react"), f"Context.{part}", None)) for part in ("Provider", "Consumer")}
    return object_of({_CONTEXT: _said_or_first(inference, call), **parts})


def _use_context(inference: Inference, call: Call) -> Type:
    found = EMPTY
    for atom in ordered(inference.expanded(first(inference, call))):
        if atom[0] == OBJ:
            found = join(found, dict(atom[1]).get(_CONTEXT, EMPTY))
    return found


def _lazy(inference: Inference, call: Call) -> Type:
    """Return the type of `lazy(() => import("a"))`: the default export of `a`."""
    modules = inference.awaited(called(inference, call))
    return join_all(inference.module_member(atom, "default") if atom[0] == MODULE else frozenset((atom,)) for atom in ordered(modules))


def _instance(inference: Inference, call: Call) -> Type:
    return join_all(inference.instances(inference.expanded(first(inference, call))))


_REACT: Final[Mapping[str, Known]] = {
    **dict.fromkeys(("memo", "forwardRef", "useCallback", "useEffectEvent", "useDeferredValue", "cache"), first),
    "useMemo": called,
    "useState": _state,
    "useReducer": _reducer,
    "useRef": _field("current"),
    "createRef": _field("current"),
    "createContext": _create_context,
    "useContext": _use_context,
    "use": _use_context,
    "lazy": _lazy,
}

CALLS: Final[Mapping[tuple[str, str], Known]] = {
    **{(package, name): known for package in ("react", "preact", "preact/compat", "preact/hooks") for name, known in _REACT.items()},
    **{("solid-js", name): known for name, known in {"createContext": _create_context, "useContext": _use_context, "lazy": _lazy}.items()},
    ("solid-js", "createMemo"): _memo,
    ("solid-js", "createSignal"): _signal_pair,
    ("solid-js", "untrack"): called,
    **{("vue", name): _field("value") for name in ("ref", "shallowRef", "customRef")},
    **{("vue", name): first for name in ("reactive", "shallowReactive", "readonly", "markRaw", "toRaw", "unref", "defineComponent")},
    ("vue", "computed"): _computed,
    ("@angular/core", "signal"): _signal,
    ("@angular/core", "computed"): _memo,
    ("@angular/core", "inject"): _instance,
    ("@angular/core", "untracked"): called,
    ("next/dynamic", ""): _lazy,
    ("mobx-react", "observer"): first,
    ("mobx-react-lite", "observer"): first,
    ("vitest", "vi.fn"): first,
    ("node:util", "promisify"): first,
}
"""(package, name) of an external function → its result type."""


def _holder(name: str) -> Callable[[Sequence[Type]], Type]:
    return lambda parts: object_of({name: parts[0]})


GENERICS: Final[Mapping[tuple[str, str], Callable[[Sequence[Type]], Type]]] = {
    **{("react", name): _holder("current") for name in ("RefObject", "MutableRefObject", "Ref", "ForwardedRef", "LegacyRef")},
    ("react", "Context"): _holder(_CONTEXT),
    **{("vue", name): _holder("value") for name in ("Ref", "ShallowRef", "ComputedRef", "WritableComputedRef")},
    **{("@angular/core", name): lambda parts: box("callable", parts[0]) for name in ("Signal", "WritableSignal", "InputSignal")},
    **{("solid-js", name): lambda parts: box("callable", parts[0]) for name in ("Accessor",)},
    **{("react", name): lambda parts: parts[0] for name in ("PropsWithChildren",)},
}
"""(package, name) of a generic type → function from its arguments to the type."""
