"""What answers are made of, and an answer as plain values: what `--json` prints and what the Python client rebuilds."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, dataclass_transform, overload

_Class = TypeVar("_Class", bound=type)


@overload
def answer(cls: _Class, /) -> _Class: ...
@overload
def answer(*, name: str = "", node: bool = False, page: str = "") -> Callable[[_Class], _Class]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def answer(cls: Any = None, /, *, name: str = "", node: bool = False, page: str = "") -> Any:
    """A frozen dataclass with slots, like `dataclass(frozen=True, slots=True)`.

    All share one way to be compared and shown, where `dataclass` writes and compiles some for each: there are a hundred of them, and every
    command loads them all.

    Args:
        cls: the class.
        name: of the GraphQL type; default the class's own.
        node: GraphQL's `node` finds the object again by its `id`.
        page: the field with the rows of a page; GraphQL shows the page as a connection.
    """
    if cls is None:
        return lambda decorated: _answer(decorated, name, node, page)
    return _answer(cls, name, node, page)


def _answer(cls: Any, name: str, node: bool, page: str) -> Any:
    cls.__eq__, cls.__hash__, cls.__repr__ = _equal, _hash, _shown
    made = dataclasses.dataclass(frozen=True, slots=True, eq=False, repr=False)(cls)
    made.__shape__ = Shape(name or cls.__name__, node, page)
    return made


@dataclasses.dataclass(frozen=True, slots=True)
class Shape:
    """How interfaces show an answer; see `answer`."""

    name: str
    node: bool
    page: str


class Unpacks:
    """An answer that unpacks into its fields, as the tuple did that was answered before."""

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


def _shown(self: object) -> str:
    values = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self))  # type: ignore[arg-type]
    return f"{self.__class__.__qualname__}({values})"


def to_json(answer: Any) -> Any:
    """Dataclasses, lists and dicts as plain JSON values; field order is kept."""
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        return {f.name: to_json(getattr(answer, f.name)) for f in dataclasses.fields(answer)}
    if isinstance(answer, (list, tuple)):
        return [to_json(item) for item in answer]
    if isinstance(answer, dict):
        return {str(key): to_json(value) for key, value in answer.items()}
    return answer
