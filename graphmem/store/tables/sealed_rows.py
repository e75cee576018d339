"""Encrypt and decrypt texts of memories and sessions for the engine.

Numbers, times, kinds, ids, links and vectors are not encrypted, because the engine compares them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from graphmem.knowledge import KnowledgeDelta, MemoryRow, SessionRow
from graphmem.runtime.files.vault import opened_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from graphmem.runtime.files.vault import Vault
    from graphmem.store.base import Knowledge

_TEXTS: Final[dict[type[Any], tuple[str, ...]]] = {
    MemoryRow: ("fingerprint", "title", "citation", "content", "tags", "work_unit", "details"),
    SessionRow: ("title", "details"),
}
_META: Final = ("memory_aliases",)


def sealed(delta: KnowledgeDelta, vault: Vault) -> KnowledgeDelta:
    """Return a change of memories with encrypted texts."""
    return delta._replace(memories=_each(delta.memories, vault.seal_text), sessions=_each(delta.sessions, vault.seal_text))


def unsealed(knowledge: Knowledge) -> Knowledge:
    """Return memories and sessions with decrypted texts.

    Raises:
        EncryptionError: the key is not available.
    """
    return knowledge._replace(memories=_each(knowledge.memories, opened_text), sessions=_each(knowledge.sessions, opened_text))


def sealed_meta(meta: Mapping[str, str], vault: Vault | None) -> dict[str, str]:
    """Return metadata of the database, with secret values encrypted.

    Only the aliases of search terms are encrypted, because people write them. `vault` does the encryption. If it is None, the values are
    returned unchanged.
    """
    return {name: vault.seal_text(value, name) if vault is not None and name in _META else value for name, value in meta.items()}


def unsealed_meta(meta: Mapping[str, str]) -> dict[str, str]:
    """Return metadata of the database, with encrypted values decrypted."""
    return {name: opened_text(value, name) if name in _META else value for name, value in meta.items()}


def _each(rows: Sequence[Any], change: Callable[[str, str], str]) -> list[Any]:
    return [row._replace(**{name: _changed(row, name, change) for name in _TEXTS[type(row)]}) for row in rows]


def _changed(row: Any, name: str, change: Callable[[str, str], str]) -> Any:
    value, place = getattr(row, name), f"{row.id}:{name}"
    return tuple(change(one, place) for one in value) if isinstance(value, tuple) else value and change(value, place)
