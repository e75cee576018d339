"""What tests of several rooms share."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from graphmem.embedding.hashed import HashedEmbedder
from graphmem.knowledge import MemoryRow
from graphmem.model import stable_id

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def _memory(one: str, content: str, **changes) -> MemoryRow:
    row = MemoryRow(
        id=one,
        short_id=stable_id(content)[:8],
        fingerprint=stable_id("fp", content),
        type="fact",
        title=content[:40],
        citation=content[:20],
        content=content,
        confidence=0.8,
        importance=0.5,
        strength=1,
        source="user_taught",
        scope="global",
        visibility="project",
        status="confirmed",
        needs_review=False,
        user_verified=False,
        disputed=False,
        contaminated=False,
        tags=(),
        created_at=NOON,
        updated_at=NOON,
        last_accessed_at=None,
        valid_from=NOON,
        valid_to=None,
        stale_at=None,
        deprecated_at=None,
        injected_count=0,
        used_count=0,
        confirmed_count=0,
        origin="user",
        half_life_days=None,
        commit_sha=None,
        work_unit=None,
        details=None,
        text_hash=stable_id("text", content),
        embedding_model=HashedEmbedder().model_id,
    )
    return row._replace(**changes)


@pytest.fixture(scope="session")
def memory():
    """Makes the row of a memory: memory(id, content, **whatever else is not as usual)."""
    return _memory


FIRST = ("test_other_engine.py",)  # one test of minutes: begun last, every other worker would wait for it


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest file first; the others in their order."""
    items.sort(key=lambda item: item.path.name not in FIRST)
