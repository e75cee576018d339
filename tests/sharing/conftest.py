"""A real PostgreSQL for this folder, and machines that share memories through it."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from pathlib import Path

import pytest

from graphmem.sharing.local_postgres import LocalPostgres, missing


@pytest.fixture(scope="session")
def postgres():
    """One server for the run, with its files in memory where that is possible."""
    if reason := missing():
        if os.environ.get("NEED_POSTGRESQL"):
            pytest.fail(reason)
        pytest.skip(f"{reason} (NEED_POSTGRESQL=1 makes this a failure)")
    base = "/dev/shm" if Path("/dev/shm").is_dir() else None
    folder = Path(tempfile.mkdtemp(prefix="gm-pg-", dir=base))
    server = LocalPostgres(folder, durable=False)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def url(postgres):
    """A new, empty database."""
    return postgres.make(f"d{uuid.uuid4().hex}")
