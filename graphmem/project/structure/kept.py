"""Save results such as modules and call flows on disk, to load at start.

The results are derived from the graph. `graphmem index` derives them after a large run, so that the first visitor of the explorer does not
wait. The file is valid for one graph, one list of commits and one version of graphmem's code; see `key_of`. A file that is damaged or does
not match is ignored and later replaced.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
import zlib
from collections.abc import Callable
from functools import cache, cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphmem.answers import SymbolInfo
from graphmem.projection.container import DamagedFileError, OtherFormatError, read_container, write_container
from graphmem.runtime.data.resources import digest

if TYPE_CHECKING:
    from pathlib import Path

    from graphmem.projection.graph.view import GraphView

FILE: Final = "explorer.projection"
_KIND: Final = "explorer"
_VERSION: Final = 2  # increase it when the form of the file changes; its content is marked by the code
_LEVEL: Final = 1  # of zlib
_REST: Final = "rest"
_Restore = Callable[[Any, list[SymbolInfo]], Any]


def key_of(view: GraphView, commits: int) -> str:
    """Return a key for saved results; results with another key are outdated.

    The key depends on the graph, the number of commits and graphmem's own code.
    """
    arrays = view.arrays
    found = blake2b(f"{digest('analysis')} {digest('answers')} {commits} {view.n}\n".encode(), digest_size=16)
    for text in (arrays.paths.content_hash.to_pylist(), view.paths):
        found.update("\n".join(map(str, text)).encode("utf-8", "surrogateescape"))
    for part in (view.src, view.dst, view.edge_kind, view.confidence, view.start_line):
        found.update(np.ascontiguousarray(part).tobytes())
    return found.hexdigest()


def save(path: Path, generation: int, key: str, parts: dict[str, Any]) -> None:
    """Write derived results, such as modules, to a file.

    `generation` is the number of changes of the graph. `key` is the result of `key_of`; it shows later whether the results are outdated.
    `parts` has the results by name. A reader sees either the whole old file or the whole new file.

    Raises:
        OSError: the file cannot be written; the old file still exists.
    """
    symbols: dict[str, int] = {}
    plain = {name: _plain(value, symbols) for name, value in parts.items()}
    data = json.dumps({"parts": plain, "symbols": list(symbols)}, ensure_ascii=False).encode("utf-8", "surrogateescape")
    write_container(path, _KIND, _VERSION, generation, {_REST: np.frombuffer(zlib.compress(data, _LEVEL), np.uint8)}, {"key": key})


class Kept:
    """Derived results of a graph, such as modules, loaded from a file.

    The method `has` returns whether a certain result was saved.

    Args:
        view: the graph.
        parts: the results as JSON values, by name.
        symbols: ids of symbols; a result refers to a symbol by its number in this list.
    """

    def __init__(self, view: GraphView, parts: dict[str, Any], symbols: list[str]) -> None:
        self._view = view
        self._parts = parts
        self._symbols = symbols

    @classmethod
    def load(cls, path: Path | None, key: str, view: GraphView) -> Kept:
        """Read the saved results of a graph.

        `key` is the result of `key_of`. The returned object is empty if the file is missing or damaged, or has another key.
        """
        try:
            saved = read_container(path, _KIND, _VERSION) if path is not None else None
        except (FileNotFoundError, OtherFormatError, DamagedFileError):
            saved = None
        if saved is None or saved.meta != {"key": key}:
            return cls(view, {}, [])
        return cls(view, **json.loads(zlib.decompress(saved.sections[_REST].tobytes()).decode("utf-8", "surrogateescape")))

    def has(self, name: str) -> bool:
        """Whether a result with this name, such as "titles", was saved."""
        return name in self._parts

    def __bool__(self) -> bool:
        return bool(self._parts)

    def of(self, name: str, hint: object) -> Any:
        """Return a saved result, given its name.

        `hint` is the type of the result.
        """
        return _restorer(hint)(self._parts[name], self._infos)

    @cached_property
    def _infos(self) -> list[SymbolInfo]:
        return self._view.infos([self._view.index_of[one] for one in self._symbols])


def _plain(value: object, symbols: dict[str, int]) -> Any:
    """Convert a result to values for JSON.

    A symbol becomes its number in `symbols`, which maps ids to numbers; new symbols are added. A dataclass becomes a list of its fields,
    and a dict a list of pairs.
    """
    if isinstance(value, SymbolInfo):
        return symbols.setdefault(value.id, len(symbols))
    if dataclasses.is_dataclass(value):
        return [_plain(getattr(value, one.name), symbols) for one in dataclasses.fields(value)]
    if isinstance(value, dict):
        return [[_plain(key, symbols), _plain(one, symbols)] for key, one in value.items()]
    if isinstance(value, (set, frozenset)):
        return [_plain(one, symbols) for one in sorted(value)]
    return [_plain(one, symbols) for one in value] if isinstance(value, (list, tuple)) else value


@cache
def _restorer(hint: object) -> _Restore:
    """Return a function that converts JSON back to a value of the type `hint`.

    The returned function reverses `_plain`. Its arguments are the JSON value, and the list of symbols. A number that stands for a symbol is
    a position in this list.
    """
    if hint is SymbolInfo:
        return lambda value, infos: infos[value]
    if dataclasses.is_dataclass(hint):
        hints = typing.get_type_hints(hint)
        return _made(typing.cast("Callable[..., Any]", hint), [_restorer(hints[one.name]) for one in dataclasses.fields(hint)])
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    inner = [_restorer(one) for one in arguments if one is not type(None)] if origin is not typing.Literal else []
    if origin in (types.UnionType, typing.Union):
        return lambda value, infos: None if value is None else inner[0](value, infos)
    if origin is dict:
        return lambda value, infos: {inner[0](key, infos): inner[1](one, infos) for key, one in value}
    if origin is tuple:
        return _made(lambda *parts: parts, inner)
    if origin in (list, frozenset):
        return lambda value, infos: origin([inner[0](one, infos) for one in value])
    return lambda value, infos: value


def _made(make: Callable[..., Any], inner: list[_Restore]) -> _Restore:
    return lambda value, infos: make(*[restore(part, infos) for restore, part in zip(inner, value, strict=True)])
