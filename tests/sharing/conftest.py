"""Machines that share memories through a real PostgreSQL."""

from __future__ import annotations

import uuid

import pytest


@pytest.fixture
def url(postgres):
    """A new, empty database."""
    return postgres.make(f"d{uuid.uuid4().hex}")
