"""Derive facts from a path: the file's module, and whether it is config."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from graphmem.runtime.data.tables import read_table


def module_of(path: str) -> str:
    """Return the module of a file: its folder, at most two levels deep.

    The module of `src/auth/tokens.py` is `src/auth`. The module of a file at the root is ".".
    """
    parts = path.split("/", 3)[:-1] if path.count("/") < 3 else path.split("/", 3)[:3]
    return "/".join(parts[:2]) or "."


@dataclass(frozen=True, slots=True)
class ConfigFiles:
    """Names by which configuration files are recognised.

    The content is that of `grammars/configuration.toml`, whose comments explain each key.
    """

    names: frozenset[str]
    endings: tuple[str, ...]
    parts: tuple[str, ...]
    lock_files: frozenset[str]


CONFIG_FILES: Final = read_table("configuration.toml", ConfigFiles)


def is_config(path: str) -> bool:
    """Whether a file is configuration; the result is False for lock files."""
    name = path.rpartition("/")[2].lower()
    if name in CONFIG_FILES.lock_files:
        return False
    return name in CONFIG_FILES.names or name.endswith(CONFIG_FILES.endings) or any(part in name for part in CONFIG_FILES.parts)
