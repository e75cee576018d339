"""Infer the classes of values from the attributes that code reads."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from graphmem.resolution.python.library import COMMON_METHODS
from graphmem.resolution.python.tables import LIBRARY
from graphmem.resolution.values.symbol import Symbol
from graphmem.resolution.values.types import EMPTY, INST, PYTHON, Type

KNOWN: Final = LIBRARY.passive
"""Packages whose classes have no attributes but those of the builtin types."""

MAX_FITTING: Final = 2
"""Most classes that a value may have; a single attribute tells only one."""

MAX_OWNERS: Final = 40
"""Classes with an attribute, from which on it tells nothing."""

if TYPE_CHECKING:
    from graphmem.resolution.interfaces.inference import Inference


def used_as(inference: Inference, symbol: Symbol, index: int) -> Type:
    """Infer the type of an unannotated parameter from its used attributes.

    If a function uses `x.read()` and `x.close()`, `x` is an object of the classes that have both methods. A single attribute identifies a
    class only if it is a method or a property. A test class is considered only in its own file. The result is empty in these cases:

    - All of the attributes are common methods of builtin types, such as `append`.
    - Too many classes have the attributes.
    - The function is a test.
    """
    entry = inference.project.entry(symbol)
    names = entry.uses().get((symbol.index, index))
    if not names or (len(names) == 1 and not _is_method(inference, *names)) or (entry.in_tests and symbol.name.startswith("test")):
        return EMPTY
    inference.project.touch("uses", symbol.path, symbol.qualname)
    telling = [
        owners for name in sorted(names - COMMON_METHODS) if not name.startswith("__") and (owners := _owners(inference, symbol.path, name))
    ]
    if not telling:
        return EMPTY
    fitting = {owner for owner in min(telling, key=len) if _has_all(inference, owner, sorted(names))}
    return frozenset((INST, owner, False) for owner in fitting) if len(fitting) <= min(MAX_FITTING, len(names)) else EMPTY


def _is_method(inference: Inference, name: str) -> bool:
    return any(symbol.kind == "method" for symbol in inference.project.named(name))


def _owners(inference: Inference, path: str, name: str) -> list[Symbol]:
    """Return the topmost classes that define the attribute `name`.

    A class is left out if one of its bases defines the attribute, too. Classes in tests are considered only if they are in the file
    `path`. The result is empty if too many classes define the attribute.
    """
    files = inference.project.files
    found = {
        symbol
        for symbol in inference.project.having(name)
        if files[symbol.path].language == PYTHON and (not files[symbol.path].in_tests or symbol.path == path)
    }
    if len(found) >= MAX_OWNERS:
        return []
    ranked = sorted(found, key=lambda symbol: symbol.place)
    return [symbol for symbol in ranked if inference.project_classes(symbol).isdisjoint(found - {symbol})]


def _has_all(inference: Inference, owner: Symbol, names: Collection[str]) -> bool:
    """Whether objects of a class may have all attributes in `names`.

    `owner` is the class. An attribute may be in `owner` or in one of its subclasses. Names that begin with `__` are not checked.
    """
    return all(
        name.startswith("__") or _has(inference, owner, name) or any(_has(inference, below, name) for below in inference.below(owner))
        for name in names
    )


def _has(inference: Inference, symbol: Symbol, name: str) -> bool:
    found = inference.owner(symbol, name)
    return found is not None and (isinstance(found, Symbol) or found[1] not in KNOWN or name in COMMON_METHODS)
