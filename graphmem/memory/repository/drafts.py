"""Turn input for new memories into drafts: remove secrets and validate.

A draft is a complete memory that has not been compared with existing memories yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from graphmem.errors import SecretError
from graphmem.memory.repository.fields import refuse
from graphmem.memory.repository.validate import CONTENT_CHARACTERS, Draft, checked
from graphmem.memory.texts.redact import find, is_mostly_secret, redact_all

if TYPE_CHECKING:
    from graphmem.embedding.base import Embedder

MANY_ITEMS: Final = 100_000  # items of one bulk write
# What of an item may hold words of people, and so secrets. Names of things are not looked into: an id must stay what it is.
_WORDS: Final = ("content", "title", "tags", "details", "work_unit", "session")


def listed(items: Iterable[Mapping[str, object]]) -> list[Any]:
    """Return the input for one bulk write of memories as a list.

    Raises:
        BadInputError: the items are not a list, or there are too many.
    """
    if isinstance(items, (str, bytes, Mapping)) or not isinstance(items, Iterable):
        raise refuse(
            "items",
            f"items must be a list of memories, but its type is {type(items).__name__}; pass a list of objects",
            value=type(items).__name__,
        )
    found: list[Any] = []
    for one in items:
        found.append(one)
        if len(found) > MANY_ITEMS:
            raise refuse("items", f"the write has more than {MANY_ITEMS:,} memories; split it into several writes")
    return found


def drafted(item: object, root: str, source: str, dim: int | None = None) -> Draft:
    """Redact and validate the input for one memory; return its draft.

    Args:
        item: the caller's input.
        root: root directory of the project; "" when it is unknown.
        source: source of the memory if `item` does not give one.
        dim: required length of a vector; None if unknown.

    Raises:
        BadInputError, SecretError: the item is rejected; the message names the field, the limit and the input.
    """
    if not isinstance(item, Mapping):
        raise refuse(
            "item",
            f"each memory must be an object with a `content`, not of type {type(item).__name__}; pass an object",
            value=type(item).__name__,
        )
    content = item.get("content")
    kinds: list[str] = []
    clean = dict(item)
    if isinstance(content, str) and len(content) <= CONTENT_CHARACTERS * 2:
        found = find(content)
        if found and is_mostly_secret(content, found):
            secret = sorted({one.kind for one in found})
            raise SecretError(
                f"the content of the memory is mostly a secret ({', '.join(secret)}) and was not stored; write "
                "where the secret is kept instead of the secret",
                argument="content",
                field="content",
                kinds=secret,
            )
        for name in _WORDS:
            if item.get(name):
                clean[name] = redact_all(item[name], kinds)
    return checked(clean, root=root, dim=dim, default_source=source, redacted=kinds)


def dim_of(model: object, embedder: Embedder | None) -> int | None:
    """Return the vector length of an embedding model; None if it is unknown.

    If `model` is None or the model of `embedder`, the result is the embedder's vector length. For any other model, and without an embedder,
    the length is unknown.
    """
    if model is not None and (not isinstance(model, str) or not model):
        raise refuse(
            "embedding_model",
            f"embedding_model must be the id of an embedding model, not {repr(model)[:60]}; name the model of the vectors",
            value=model,
        )
    return embedder.dim if embedder is not None and model in (None, embedder.model_id) else None


def model_of(model: str | None, drafts: Sequence[Draft], embedder: Embedder | None) -> str:
    """Return the name of the model that computed the vectors of `drafts`.

    The name is `model` if it is given, else the name of the embedder's model. It is "" if no draft has a vector.
    """
    sizes = {one.vector.size for one in drafts if one.vector is not None}
    if not sizes:
        return ""
    if len(sizes) > 1:
        raise refuse(
            "vector",
            f"the vectors in one write have {len(sizes)} different lengths; write the vectors of each model separately",
            value=len(sizes),
        )
    name = model or (embedder.model_id if embedder is not None else "")
    if not name:
        raise refuse(
            "embedding_model", "memories with a vector must name its embedding_model; give the id of the model that computed the vectors"
        )
    return name
