"""What answers are made of, and an answer as plain values: what `--json` prints and what the Python client rebuilds."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar, dataclass_transform

_Class = TypeVar("_Class", bound=type)


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def answer(cls: _Class) -> _Class:
    """A frozen dataclass with slots, like `dataclass(frozen=True, slots=True)`.

    All share one way to be compared and shown, where `dataclass` writes and compiles some for each: there are a hundred of them, and every
    command loads them all.
    """
    cls.__eq__, cls.__hash__, cls.__repr__ = _equal, _hash, _shown  # type: ignore[assignment]
    return dataclasses.dataclass(frozen=True, slots=True, eq=False, repr=False)(cls)  # type: ignore[return-value]


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
