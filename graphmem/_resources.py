"""Where `queries/` and `grammars/` are: inside the installed package, or beside it in a checkout."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path


@cache
def data_root() -> Traversable:
    """The directory that holds `queries/` and `grammars/`.

    Raises:
        FileNotFoundError: neither place has them; the message names both.
    """
    packaged = files("graphmem") / "_data"
    if (packaged / "queries").is_dir():
        return packaged
    checkout = Path(__file__).resolve().parent.parent
    if (checkout / "queries").is_dir() and (checkout / "pyproject.toml").is_file():
        return checkout
    raise FileNotFoundError(f"graphmem's data files are in neither {packaged} nor {checkout}; reinstall graphmem")
