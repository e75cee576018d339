"""Encode answers as JSON; an object that occurs often is encoded once.

Paths of a large impact report share most of their steps and symbols. The second and every later occurrence of an object in an answer is an
`Again`: a dictionary that also keeps its encoded JSON.
"""

from __future__ import annotations

import json
from typing import Any, Final

import orjson


class Again(dict[str, Any]):
    """A rendered object that occurs more than once in an answer.

    The object keeps its encoded JSON and must not be changed.
    """

    __slots__ = ("_json",)

    _json: orjson.Fragment

    @property
    def json(self) -> orjson.Fragment:
        """The JSON of the object, encoded when first used."""
        try:
            return self._json
        except AttributeError:
            self._json = orjson.Fragment(orjson.dumps(dict(self), _default, _OPTIONS))
            return self._json


_OPTIONS: Final = orjson.OPT_PASSTHROUGH_SUBCLASS  # so that `_default` receives each `Again`
_PLAIN: Final[tuple[type[Any], ...]] = (str, int, dict, list)


def encoded(data: object) -> bytes:
    """Return an answer as JSON.

    orjson cannot escape a file name that is not UTF-8. An answer with such a name is encoded by a slower encoder.
    """
    try:
        return orjson.dumps(data, _default, _OPTIONS)
    except TypeError:
        return json.dumps(data, separators=(",", ":")).encode("ascii")


def _default(value: object) -> object:
    if type(value) is Again:
        try:
            return value._json
        except AttributeError:
            return value.json
    for plain in _PLAIN:  # a subclass, encoded as what it is
        if isinstance(value, plain):
            return plain(value)
    raise TypeError(type(value).__name__)
