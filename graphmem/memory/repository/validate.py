"""Validate the input for a memory before anything is written.

Every field is checked against its limit. An error names the field, the limit and the input. For an invalid content it gives only the
length, never the text.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from graphmem.embedding.base import F32
from graphmem.memory.repository.fields import (
    choice,
    details_of,
    encoded_json,
    moment,
    number,
    path,
    quoted,
    refuse,
    text,
    texts,
    type_of,
    vector_of,
)
from graphmem.memory.texts.text import TITLE_CHARACTERS, title_of
from graphmem.memory.texts.types import (
    CONTAMINATING,
    DEFAULT_IMPORTANCE,
    ORIGINS,
    SCOPES,
    SOURCES,
    TAUGHT_HALF_LIFE_DAYS,
    UNTYPED,
    VISIBILITIES,
)

CONTENT_CHARACTERS: Final = 8_000
MAX_TAGS: Final = 64
TAG_CHARACTERS: Final = 64
MAX_FILES: Final = 256
MAX_LINKS: Final = 256
ID_CHARACTERS: Final = 200
MAX_HALF_LIFE_DAYS: Final = 36_500.0


class Draft(NamedTuple):
    """A complete, validated new memory, not yet compared with stored ones."""

    content: str
    type: str
    title: str
    source: str
    origin: str
    scope: str
    visibility: str
    tags: tuple[str, ...]
    files: tuple[str, ...]
    symbols: tuple[str, ...]
    confidence: float
    importance: float
    details: str | None
    work_unit: str | None
    session: str
    commit_sha: str | None
    created_at: datetime | None  # None: now
    half_life_days: float | None
    contaminated: bool
    derived_from: tuple[str, ...]
    required_with: tuple[str, ...]
    given_id: str
    vector: F32 | None
    redacted: tuple[str, ...]


_KNOWN: Final = frozenset(Draft._fields) - {"given_id", "redacted"} | {"id", "embedding_model"}
RENAMED: Final = {"related_files": "files"}
"""Earlier name of a field -> its name; both are taken for one more release."""


def checked(item: Mapping[str, object], *, root: str, dim: int | None, default_source: str, redacted: Sequence[str] = ()) -> Draft:
    """Validate the input for one memory, after its secrets were redacted.

    Returns the complete memory. The keys of `item` are named as the parameters of `GraphMem.remember`.

    Args:
        item: the caller's input.
        root: the project's root, "" when it is unknown.
        dim: required dimension of the item's vector; None for any.
        default_source: source of the memory if `item` does not give one.
        redacted: kinds of the secrets that were removed.

    Raises:
        BadInputError: a field is invalid; the error is about the first invalid field.
    """
    item = renamed(item)
    if unknown := sorted(set(item) - _KNOWN):
        raise refuse("item", f"unknown field {quoted(unknown[0])} of a memory; use {', '.join(sorted(_KNOWN))}", value=quoted(unknown[0]))

    def given(name: str, default: object = None) -> Any:
        value = item.get(name)
        return default if value is None else value

    content = text("content", item.get("content"), CONTENT_CHARACTERS)
    kind = type_of(item.get("type"), content)
    source = SOURCES[choice("source", given("source", default_source), tuple(SOURCES))]
    origin = choice("origin", given("origin", source.origin), ORIGINS)
    contaminated = given("contaminated", False)
    if not isinstance(contaminated, bool):
        raise refuse("contaminated", f"contaminated is {quoted(contaminated)}; use true or false", value=quoted(contaminated))
    half_life = item.get("half_life_days")
    if half_life is None and kind == UNTYPED and not item.get("type") and source.status == "confirmed":
        half_life = TAUGHT_HALF_LIFE_DAYS
    work_unit = item.get("work_unit")
    return Draft(
        content=content,
        type=kind,
        title=title_of(content) if not given("title", "") else text("title", item["title"], TITLE_CHARACTERS, lines=False),
        source=source.name,
        origin=origin,
        scope=choice("scope", given("scope", "global"), SCOPES),
        visibility=choice("visibility", given("visibility", "project"), VISIBILITIES),
        tags=texts("tags", given("tags", ()), MAX_TAGS, TAG_CHARACTERS),
        files=tuple(dict.fromkeys(path("files", one, root) for one in _list("files", given("files", ())))),
        symbols=texts("symbols", given("symbols", ()), MAX_LINKS, 1_000),
        confidence=number("confidence", given("confidence", source.confidence), 0, 1),
        importance=number("importance", given("importance", DEFAULT_IMPORTANCE), 0, 1),
        details=details_of(item.get("details"), kind),
        work_unit=None if work_unit is None else encoded_json("work_unit", work_unit),
        session=text("session", given("session", ""), ID_CHARACTERS * 5, least=0, lines=False),
        commit_sha=text("commit_sha", given("commit_sha", ""), 64, least=0, lines=False) or None,
        created_at=None if item.get("created_at") is None else moment("created_at", item["created_at"]),
        half_life_days=None if half_life is None else number("half_life_days", half_life, 0.01, MAX_HALF_LIFE_DAYS),
        contaminated=contaminated or origin in CONTAMINATING,
        derived_from=texts("derived_from", given("derived_from", ()), MAX_LINKS, ID_CHARACTERS),
        required_with=texts("required_with", given("required_with", ()), MAX_LINKS, ID_CHARACTERS),
        given_id=_given_id(item.get("id")),
        vector=None if item.get("vector") is None else vector_of(item["vector"], dim),
        redacted=tuple(sorted(set(redacted))),
    )


def renamed(item: Mapping[str, object]) -> Mapping[str, Any]:
    """Return the input for a memory with old field names replaced by new ones."""
    if not RENAMED.keys() & item.keys():
        return item
    for old, new in RENAMED.items():
        if old in item:
            warnings.warn(f"the field {old} of a memory is now {new}", DeprecationWarning, stacklevel=2)
    return {RENAMED.get(name, name): value for name, value in item.items()}


def _list(field: str, value: object) -> Sequence[object]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise refuse(field, f"{field} must be a list of paths, not of type {type(value).__name__}; pass a list", value=type(value).__name__)
    if len(value) > MAX_FILES:
        raise refuse(field, f"{field} has {len(value):,} paths; give at most {MAX_FILES}", value=len(value))
    return value


def _given_id(value: object) -> str:
    if value is None:
        return ""
    return text("id", str(value) if isinstance(value, int) and not isinstance(value, bool) else value, ID_CHARACTERS, lines=False)
