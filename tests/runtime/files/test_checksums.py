"""A SQLite file that was closed properly says of each of its bytes whether it is still what it was."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from graphmem.runtime.files.checksums import Proof, proof, seal, unseal


@pytest.fixture
def sealed(tmp_path):
    path = tmp_path / "kept.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE kept (key TEXT PRIMARY KEY, value BLOB)")
        db.execute("BEGIN")
        db.executemany("INSERT INTO kept VALUES (?, ?)", [(f"key {n}", os.urandom(300)) for n in range(100)])
        db.execute("DELETE FROM kept WHERE rowid > 60")  # so that there are free pages
        db.execute("COMMIT")
        assert proof(path) is Proof.OPEN
    seal(path)
    assert proof(path) is Proof.SOUND
    return path


def test_every_byte_is_proven(sealed):
    whole = sealed.read_bytes()
    for at in range(0, len(whole), 37):
        sealed.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :])
        assert proof(sealed) is Proof.DAMAGED, at
    for end in (0, 1, 99, 100, 4096, len(whole) - 1):
        sealed.write_bytes(whole[:end])
        assert proof(sealed) is Proof.DAMAGED, end


def test_a_reader_leaves_the_seal_and_a_writer_renews_it(sealed):
    before = sealed.read_bytes()
    with closing(sqlite3.connect(sealed)) as db:
        assert db.execute("SELECT count(*) FROM kept").fetchone() == (60,)
    seal(sealed)
    assert sealed.read_bytes() == before
    with closing(sqlite3.connect(sealed, isolation_level=None)) as db:
        db.execute("BEGIN")
        unseal(db)
        db.execute("DELETE FROM kept WHERE key = 'key 1'")
        db.execute("COMMIT")
    assert proof(sealed) is Proof.OPEN
    seal(sealed)
    assert proof(sealed) is Proof.SOUND
    assert sealed.read_bytes() != before


def test_a_file_that_somebody_has_open_is_not_sealed(sealed):
    with closing(sqlite3.connect(sealed, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        unseal(db)
        db.execute("DELETE FROM kept WHERE key = 'key 1'")
        seal(sealed)
        db.execute("COMMIT")
        seal(sealed)
    assert proof(sealed) is Proof.OPEN


def test_a_crash_is_not_damage(sealed):
    writer = f"""
import os, sqlite3
from graphmem.runtime.files.checksums import unseal
db = sqlite3.connect({str(sealed)!r}, isolation_level=None)
db.execute("BEGIN")
unseal(db)
db.execute("DELETE FROM kept WHERE rowid > 20")
db.execute("COMMIT")
db.execute("BEGIN")
db.execute("DELETE FROM kept")
os.kill(os.getpid(), {int(signal.SIGKILL)})
"""
    subprocess.run([sys.executable, "-c", writer], check=False)
    assert proof(sealed) is not Proof.DAMAGED
    with closing(sqlite3.connect(sealed)) as db:
        assert db.execute("SELECT count(*) FROM kept").fetchone() == (20,)
    seal(sealed)
    assert proof(sealed) is Proof.SOUND
