"""Divide events of agents' sessions into requests that a server accepts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final

BATCH_BYTES: Final = 512 << 10  # of events in one request; every server accepts it, see settings.LEAST_BODY_KB
BATCH_EVENTS: Final = 5_000
TEXT_CHARACTERS: Final = 32_768  # maximum sent of an event's text; the server keeps an eighth of it


def batches(events: Iterable[Mapping[str, object]]) -> Iterator[list[Any]]:
    """Divide events into lists that one request can send, in order.

    Long strings and lists of an event are shortened.
    """
    batch: list[Any] = []
    size = 0
    for event in events:
        sent = _sendable(event)
        weight = len(json.dumps(sent))
        if batch and (size + weight > BATCH_BYTES or len(batch) >= BATCH_EVENTS):
            yield batch
            batch, size = [], 0
        batch.append(sent)
        size += weight
    if batch:
        yield batch


def _sendable(value: object, depth: int = 4) -> object:
    """Convert a value to JSON, and shorten long strings and lists.

    A long string loses its middle, as it would on the server. Values nested deeper than `depth`, and values without an equivalent in JSON,
    become None.
    """
    if isinstance(value, str):
        half = TEXT_CHARACTERS // 2
        return value if len(value) <= TEXT_CHARACTERS else f"{value[:half]}\n…\n{value[-half:]}"
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if depth and isinstance(value, Mapping):
        return {str(name): _sendable(inner, depth - 1) for name, inner in value.items()}
    if depth and isinstance(value, (list, tuple)):
        return [_sendable(inner, depth - 1) for inner in value[:1_000]]
    return None
