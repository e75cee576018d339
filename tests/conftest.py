"""What concerns all tests."""

from __future__ import annotations

import pytest

FIRST = ("test_other_engine.py",)  # one test of minutes: begun last, every other worker would wait for it


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest file first; the others in their order."""
    items.sort(key=lambda item: item.path.name not in FIRST)
