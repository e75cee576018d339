"""Base of the answer types, and their conversion to plain JSON values."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar, dataclass_transform, overload

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Class = TypeVar("_Class", bound=type)

# A number of an indented document that orjson writes in another way than Python. It is the last word of its line; a string ends in a quote.
_SMALL: Final = re.compile(rb"(?<= )-?(?:0\.0000[0-9]+|[0-9.]+e-[0-9])(?=,?$)", re.MULTILINE)


@overload
def answer(cls: _Class, /) -> _Class: ...
@overload
def answer(*, name: str = "", node: bool = False, page: str = "") -> Callable[[_Class], _Class]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def answer(cls: Any = None, /, *, name: str = "", node: bool = False, page: str = "") -> Any:
    """Make a class a frozen dataclass with slots, compiled on first use.

    The class behaves as with `dataclass(frozen=True, slots=True)`, which would compile four functions for each class at once. Here all
    classes share one comparison and one `repr`. `__init__` is compiled when the first object is made. There are a hundred classes, and a
    command needs few of them.

    Args:
        cls: the class.
        name: name of the GraphQL type; default: the name of the class.
        node: whether GraphQL's `node` finds the object by its `id`.
        page: name of the field with the rows of a page; GraphQL shows the page as a connection.
    """
    if cls is None:
        return lambda decorated: _answer(decorated, name, node, page)
    return _answer(cls, name, node, page)


def _answer(cls: Any, name: str, node: bool, page: str) -> Any:
    cls.__eq__, cls.__hash__, cls.__repr__ = _equal, _hash, _shown
    cls.__setattr__, cls.__delattr__ = _refused, _refused
    cls.__getstate__, cls.__setstate__ = _values, _filled
    made = dataclasses.dataclass(init=False, slots=True, eq=False, repr=False)(cls)
    made.__init__ = _made_when_needed(made)
    made.__shape__ = Shape(name or cls.__name__, node, page)
    return made


def _made_when_needed(cls: type) -> Callable[..., None]:
    """Return an `__init__` that compiles the real one when it is first called.

    From then on the class has the compiled `__init__`.
    """

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        compiled = _compiled_init(cls)
        cls.__init__ = compiled  # type: ignore[misc]
        compiled(self, *args, **kwargs)

    return __init__


def _compiled_init(cls: type) -> Callable[..., None]:
    """Compile the `__init__` that `dataclass` would write for a frozen class."""
    names: dict[str, Any] = {"_set": object.__setattr__, "_missing": dataclasses.MISSING}
    taken, lines = [], []
    for one in dataclasses.fields(cls):
        value = one.name
        if one.default is not dataclasses.MISSING:
            names[f"_default_{one.name}"] = one.default
            taken.append(f"{one.name}=_default_{one.name}")
        elif one.default_factory is not dataclasses.MISSING:
            names[f"_make_{one.name}"] = one.default_factory
            taken.append(f"{one.name}=_missing")
            value = f"_make_{one.name}() if {one.name} is _missing else {one.name}"
        else:
            taken.append(one.name)
        lines.append(f"    _set(self, {one.name!r}, {value})")
    exec(f"def __init__(self, {', '.join(taken)}):\n" + "\n".join(lines or ["    pass"]), names)  # noqa: S102 - names of fields alone
    compiled: Callable[..., None] = names["__init__"]
    compiled.__qualname__ = f"{cls.__qualname__}.__init__"
    return compiled


def _refused(self: object, name: str, *value: object) -> None:
    """Raise the error for an attempt to change an answer, which is frozen."""
    raise dataclasses.FrozenInstanceError(
        f"the field {name!r} of an answer cannot be changed, because answers are immutable; make a changed copy with dataclasses.replace"
    )


def _filled(self: DataclassInstance, state: tuple[Any, ...]) -> None:
    """Restore the fields of a copied or unpickled answer."""
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


@dataclasses.dataclass(frozen=True, slots=True)
class Shape:
    """The form of an answer class in GraphQL, from the arguments of `answer`.

    Attributes:
        name: name of the GraphQL type.
        node: whether the type is a node of Relay, with a global id.
        page: name of the field that holds a page of a list; "" without one.
    """

    name: str
    node: bool
    page: str


class Unpacks:
    """Base of answers that unpack into their fields: `rules, notes = answer`."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return iter(_values(self))

    def __getitem__(self, place: int) -> Any:
        return _values(self)[place]


def _values(one: Any) -> tuple[Any, ...]:
    return tuple(getattr(one, field.name) for field in dataclasses.fields(one))


def _equal(self: object, other: object) -> bool:
    return _values(self) == _values(other) if other.__class__ is self.__class__ else NotImplemented


def _hash(self: object) -> int:
    return hash(_values(self))


def _shown(self: DataclassInstance) -> str:
    values = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self))
    return f"{self.__class__.__qualname__}({values})"


def to_json(answer: Any) -> Any:
    """Convert dataclasses, lists and dicts to JSON values, in field order."""
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        return {f.name: to_json(getattr(answer, f.name)) for f in dataclasses.fields(answer)}
    if isinstance(answer, (list, tuple)):
        return [to_json(item) for item in answer]
    if isinstance(answer, dict):
        return {str(key): to_json(value) for key, value in answer.items()}
    return answer


def json_text(answer: Any) -> str:
    """Write an answer as an indented JSON document.

    The text is that of `json.dumps(to_json(answer), indent=2, ensure_ascii=False)`, but orjson writes it, because Python takes half a
    second for a report of a thousand symbols. If orjson refuses a value, Python writes the whole document. Such values are long integers,
    lone surrogates and keys that are not strings.
    """
    import orjson

    try:
        text = orjson.dumps(answer, default=_listed, option=orjson.OPT_INDENT_2)
    except orjson.JSONEncodeError:
        return json.dumps(to_json(answer), indent=2, ensure_ascii=False)
    if b"0.0000" in text or b"e-" in text:
        text = _SMALL.sub(lambda number: repr(float(number[0])).encode(), text)
    return text.decode()


def _listed(value: object) -> list[Any]:
    """Convert a tuple with named fields for orjson."""
    if isinstance(value, tuple):
        return list(value)
    raise TypeError(f"a value of the type {type(value).__name__} cannot be converted to JSON; use a dataclass, a list or a dict")
