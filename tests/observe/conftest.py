"""Servers that play a language model, for the tests of observation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def other_server(playing: Any) -> Iterator[Any]:
    """One more of them."""
    with playing() as made:
        yield made


@pytest.fixture
def server(playing: Any) -> Iterator[Any]:
    """A language model's server."""
    with playing() as made:
        yield made
