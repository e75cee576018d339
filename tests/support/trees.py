"""Real source trees of installed packages, found without importing them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

_FOUND = find_spec("networkx")
assert _FOUND is not None
assert _FOUND.origin is not None
NETWORKX = Path(_FOUND.origin).parent
