"""The commands of docs/operating.md: a backup is restored, loses nothing and protects what it protected."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import uuid
from pathlib import Path

import psycopg
import pytest

from graphmem.sharing.local_postgres import USER, binaries
from machines import Machine
from organisations import Example

PAGE = Path(__file__).parents[2] / "docs" / "operating.md"


@pytest.fixture
def restored(tmp_path, postgres):
    """Run the page's commands on a database; return the address of the restored one."""

    def restore(name):
        other = f"r{uuid.uuid4().hex}"
        [block] = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
        for line in re.sub(r"\bteam2\b", other, block).replace(" team\n", f" {name}\n").splitlines():
            program, *words = shlex.split(line)
            environ = {**os.environ, "PGHOST": str(postgres.folder), "PGUSER": USER}
            ran = subprocess.run([binaries() / program, *words], cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60)
            assert ran.returncode == 0, ran.stderr
        return postgres.url(other)

    return restore


def test_a_restored_organisation_keeps_its_walls(postgres, restored) -> None:
    name = f"d{uuid.uuid4().hex}"
    example = Example(postgres.make(name), people=4, teams=2, projects=2)
    with psycopg.connect(restored(name), autocommit=True) as db:
        before, example.db = example.db, db
        assert example.memories
        assert example.leaks() == []
        assert example.without("rows of memories")[0]
        example.db = before
        with db.transaction():
            db.execute("DROP SCHEMA graphmem CASCADE")
    before.execute("DROP SCHEMA graphmem CASCADE")
    example.close()


def test_machines_send_back_what_a_backup_did_not_have(tmp_path, postgres, restored) -> None:
    name = f"d{uuid.uuid4().hex}"
    ann = Machine(tmp_path / "ann", "Ann", postgres.make(name))
    ann.say("Carts expire after a day.")
    ann.sync()
    backup = restored(name)
    ann.say("Totals are rounded once, at the end.")
    ann.sync()
    ann.url = backup
    ann.sync()
    ben = Machine(tmp_path / "ben", "Ben", backup)
    ben.sync()
    assert ben.contents() == ann.contents() == ["Carts expire after a day.", "Totals are rounded once, at the end."]
    ann.close()
    ben.close()
