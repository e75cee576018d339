"""Import a database engine without asyncio, which saves start time."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any, Final

NAME: Final = "AsyncConnection"


def import_engine(package: str) -> ModuleType:
    """Import and return a database engine, without its asynchronous module.

    graphmem does not use the asynchronous module, which imports asyncio. The import of asyncio takes a twelfth of the processor time of a
    short command. If other code uses the asynchronous module, it is imported then.

    Raises:
        ImportError: the package is not installed.
    """
    part = f"{package}.async_connection"
    if package in sys.modules or "asyncio" in sys.modules:
        return importlib.import_module(package)
    stand_in = ModuleType(part)
    setattr(stand_in, NAME, None)
    sys.modules[part] = stand_in
    try:
        module = importlib.import_module(package)
    finally:
        del sys.modules[part]
    names = vars(module)
    for name in (NAME, "async_connection"):
        names.pop(name, None)
    others = names.get("__getattr__")

    def attribute(name: str) -> Any:
        if name == NAME:
            return getattr(importlib.import_module(part), NAME)
        if others is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return others(name)

    names["__getattr__"] = attribute
    return module
