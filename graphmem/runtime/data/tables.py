"""Read the TOML tables of `grammars/` into dataclasses.

A dataclass describes each file: its fields are the keys, their annotations the types of the values. Unknown keys and wrong types are errors
that name the file. A long list of words may be one string, which is divided at white space.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from graphmem.errors import GrammarError
from graphmem.runtime.data.resources import data_root, is_updated

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Table = TypeVar("_Table", bound="DataclassInstance")


class _Value(NamedTuple):
    """Description of how the values of a field are written in TOML and read."""

    form: str  # for messages
    fits: Callable[[Any], bool]
    read: Callable[[Any], Any]


def _listed(value: object) -> tuple[str, ...] | None:
    """Return a list of strings, or the words of one string; None for others."""
    if isinstance(value, str):
        return tuple(value.split())
    return tuple(value) if isinstance(value, list) and all(isinstance(one, str) for one in value) else None


def _are_words(value: object) -> bool:
    words = _listed(value)
    return words is not None and len(frozenset(words)) == len(words)


def _table_of(part: _Value) -> _Value:
    def fits(value: object) -> bool:
        return isinstance(value, dict) and all(map(part.fits, value.values()))

    return _Value(f"a table of {part.form}", fits, lambda value: {key: part.read(one) for key, one in value.items()})


_STRING: Final = _Value("strings", lambda value: isinstance(value, str), str)
_STRINGS: Final = _Value("a list of strings", lambda value: _listed(value) is not None, _listed)
_WORDS: Final = _Value("a list of strings without repeats", _are_words, lambda value: frozenset(_listed(value) or ()))
_VALUES: Final[Mapping[str, _Value]] = {
    "str": _STRING._replace(form="a string"),
    "bool": _Value("true or false", lambda value: isinstance(value, bool), bool),
    "tuple[str, ...]": _STRINGS,
    "frozenset[str]": _WORDS,
    "Mapping[str, str]": _table_of(_STRING),
    "Mapping[str, tuple[str, ...]]": _table_of(_STRINGS._replace(form="lists of strings")),
    "Mapping[str, frozenset[str]]": _table_of(_WORDS._replace(form="lists of strings without repeats")),
}
"""Values by the annotation of a field, as it is written."""


def has_table(path: str) -> bool:
    """Whether `grammars/` has a file; `path` is relative to this folder."""
    return (data_root() / "grammars" / path).is_file()


def refused(path: str, message: str) -> GrammarError:
    """Return the error for a table that this code cannot use.

    If an update replaced the table while this process runs, the error says to restart. `path` begins with `grammars/`.
    """
    if is_updated(path):
        reason = message.partition("; ")[0]
        message = f"graphmem was updated while this process runs, and its older code cannot read a file ({reason}); restart graphmem"
    return GrammarError(message, path=path, line=0)


def read_table(path: str, kind: type[_Table]) -> _Table:
    """Read a TOML file of `grammars/` into a dataclass.

    Args:
        path: path of the file, relative to `grammars/`.
        kind: the dataclass. Fields without a default are required keys.

    Raises:
        GrammarError: the file is missing or invalid; the message gives the reason.
    """
    origin = f"grammars/{path}"
    try:
        raw = tomllib.loads((data_root() / origin).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise refused(origin, f"{origin}: {error}") from error
    known = {field.name: field for field in fields(kind)}
    if unknown := sorted(raw.keys() - known.keys()):
        raise refused(origin, f"{origin} has the unknown keys {', '.join(unknown)}; use {', '.join(sorted(known))}")
    required = {name for name, field in known.items() if field.default is MISSING and field.default_factory is MISSING}
    if missing := sorted(required - raw.keys()):
        raise refused(origin, f"{origin} lacks the keys {', '.join(missing)}; add these keys")
    made: dict[str, Any] = {}
    for key, value in raw.items():
        expected = _VALUES[str(known[key].type)]
        if not expected.fits(value):
            raise refused(origin, f"{origin} has a wrong value for {key}; use {expected.form}")
        made[key] = expected.read(value)
    return kind(**made)
