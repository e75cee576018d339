"""Location of `queries/` and `grammars/`, and hashes of graphmem's code.

Both folders are in the installed package, or next to the package in a checkout.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

_STARTED: Final = time.time()


@cache
def data_root() -> Traversable:
    """Return the directory that holds `queries/` and `grammars/`.

    Raises:
        FileNotFoundError: neither the package nor the checkout has them; the message names both places.
    """
    packaged = files("graphmem") / "_data"
    if (packaged / "queries").is_dir():
        return packaged
    checkout = Path(__file__).resolve().parents[3]
    if (checkout / "queries").is_dir() and (checkout / "pyproject.toml").is_file():
        return checkout
    raise FileNotFoundError(f"the data files of graphmem are in neither {packaged} nor {checkout}; reinstall graphmem")


def is_updated(path: str) -> bool:
    """Whether a data file changed after this process began.

    `path` begins with `queries/` or `grammars/`. An update of the package replaces the files while a server still runs the older code.
    """
    try:
        return Path(str(data_root() / path)).stat().st_ctime > _STARTED
    except OSError:
        return False


@cache
def digest(folder: str) -> str:
    """Return a hash of the code in a folder.

    Cached data is stored with the hash of the code that made it. If that code has changed, the hash differs, and the cached data is not
    used.

    Args:
        folder: `parsing`, `grammars`, …; the hash covers its `.py`, `.scm` and `.toml` files at any depth.
    """
    packaged = files("graphmem") / folder
    found = hashlib.blake2b(digest_size=6)
    for name, content in _contents(packaged if packaged.is_dir() else data_root() / folder, ""):
        found.update(f"{name}\0{len(content)}\0".encode() + content)
    return found.hexdigest()


def _contents(folder: Traversable, before: str) -> Iterator[tuple[str, bytes]]:
    for one in sorted(folder.iterdir(), key=lambda one: one.name):
        if one.is_dir():
            yield from _contents(one, f"{before}{one.name}/")
        elif one.name.endswith((".py", ".scm", ".toml")):
            yield before + one.name, one.read_bytes()
