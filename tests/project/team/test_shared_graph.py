"""A project whose graph lies in PostgreSQL, from the command line to the answers."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import psycopg
import pytest
import starlette

from editions import compare, editions
from graphmem.api.app import build_app
from graphmem.api.serve import Server
from graphmem.client.connecting import connect
from graphmem.errors import BadInputError, NotIndexedError, StoreBusyError, StoreUnreachableError, UnsupportedError
from graphmem.location import SHARED, Location
from graphmem.project.encrypting import decrypt, encrypt
from graphmem.project.graphmem import GraphMem
from graphmem.server import owner
from graphmem.settings import Settings
from graphmem.store.postgres.connections import driver

CODE = "def check(amount):\n    return amount > 0\n\n\ndef withdraw(amount):\n    return check(amount)\n"


@pytest.fixture
def url(postgres, request):
    """A database of this test alone."""
    return postgres.make(f"shared_{abs(hash(request.node.nodeid))}")


@pytest.fixture
def bank(tmp_path):
    """A project under Git, so that every clone of it has the same key."""
    root = tmp_path / "bank"
    root.mkdir()
    (root / "account.py").write_text(CODE)
    committed(root)
    return root


def committed(root: Path) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@localhost")
    for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-qm", "one"], [*who, "commit", "-qm", "two", "--allow-empty"]):
        subprocess.run(["git", "-C", str(root), *words], check=True)


def opened(folder, root, url="", **changes):
    return GraphMem.open(folder, repo=root, settings=Settings(embedder="none", workers=1, seeds=False, store=url, **changes))


def names(memory, target):
    return {one.symbol.name for one in memory.impact(target).hits}


def test_every_committed_question_is_answered_as_by_the_embedded_edition(tmp_path, url):
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in ("background", "concurrency", "datastructures", "exceptions", "requests", "routing"):
        shutil.copy(Path(starlette.__file__).with_name(f"{name}.py"), tree)
    committed(tree)
    with editions(tree, tmp_path, url) as (embedded, shared):
        found = compare(embedded, shared, 2)
    assert not found.different, "\n".join(found.different)
    assert found.documents > 60
    assert found.identical > 0.8 * found.asked
    assert found.refused < 0.2 * found.asked


def test_an_index_remembers_where_its_graph_is(bank, tmp_path, url):
    folder = tmp_path / "index"
    with opened(folder, bank, url) as memory:
        memory.index(bank)
        kept = memory.remember("Amounts of withdraw() are positive.", type="gotcha").memory.id
    assert not (folder / "graph.db").exists()
    assert json.loads((folder / SHARED).read_text())["address"] == url
    with opened(folder, bank) as memory:  # without --store
        assert names(memory, "check") == {"withdraw"}
        assert memory.memory(kept).content == "Amounts of withdraw() are positive."
        assert memory.project().engine.startswith("postgresql ")
        (bank / "teller.py").write_text("from account import withdraw\n\n\ndef serve():\n    return withdraw(1)\n")
        assert memory.index(bank).files == 2
        assert names(memory, "check") == {"withdraw", "serve"}


def test_an_address_of_the_last_run_that_does_not_answer_is_said_to_be_of_it(bank, tmp_path):
    folder = tmp_path / "index"
    folder.mkdir()
    (folder / SHARED).write_text(json.dumps({"address": "postgresql://ann@localhost:1/x", "home": "h", "database": "d"}))
    with pytest.raises(
        StoreUnreachableError, match=r"localhost:1/x cannot be used .*; start it or .*\. The address is that of the last run"
    ):
        opened(folder, bank)


def test_another_machine_goes_on_where_the_first_one_stopped(bank, tmp_path, url):
    clone = tmp_path / "elsewhere" / "clone"
    subprocess.run(["git", "clone", "-q", str(bank), str(clone)], check=True)
    with opened(tmp_path / "one", bank, url) as memory:
        memory.index(bank)
        kept = memory.remember("Amounts are positive.", type="gotcha").memory.id
        with pytest.raises(StoreBusyError, match="writing to this project in postgresql"):
            opened(tmp_path / "two", clone, url)
    with opened(tmp_path / "two", clone, url) as memory:
        assert names(memory, "check") == {"withdraw"}  # without an index run of its own
        assert memory.project().root == str(clone)
        assert [row.id for row in memory.memories(limit=5).memories] == [kept]
        memory.forget(kept, hard=True)
        other = memory.remember("Amounts are whole cents.", type="gotcha").memory.id
    with opened(tmp_path / "one", bank, url) as memory:  # what the second one forgot does not come back from the journal of the first
        assert [row.id for row in memory.memories(limit=5).memories] == [other]
        assert any("written from another index directory" in note for note in memory.damage)
    assert len(list((tmp_path / "one").glob("memories-*"))) == 1


def until(true, timeout_s=60):
    end = time.monotonic() + timeout_s
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def test_a_second_server_follows_the_one_that_writes(bank, tmp_path, url):
    clone = tmp_path / "elsewhere" / "clone"
    subprocess.run(["git", "clone", "-q", str(bank), str(clone)], check=True)
    with opened(tmp_path / "one", bank, url) as memory:
        memory.index(bank)
        with opened(tmp_path / "two", clone, url, follow=True) as follower:
            assert names(follower, "check") == {"withdraw"}
            (bank / "teller.py").write_text("from account import withdraw\n\n\ndef serve():\n    return withdraw(1)\n")
            memory.index(bank)
            kept = memory.remember("Amounts are positive.", type="gotcha").memory.id
            until(lambda: names(follower, "check") == {"withdraw", "serve"})
            until(lambda: kept in {row.id for row in follower.memories(limit=5).memories})
            assert follower.search("serve").hits
            for refused in (
                lambda: follower.index(clone),
                lambda: follower.remember("x y z", type="gotcha"),
                lambda: follower.forget(kept),
            ):
                with pytest.raises(StoreBusyError, match="only reads"):
                    refused()
            memory.forget(kept, hard=True)
            until(lambda: not follower.memories(limit=5).memories)
        assert memory.memories(limit=5).memories == []
    assert not list((tmp_path / "two").glob("memories/journal-*"))


def test_a_follower_of_a_missing_or_dropped_project_says_so_and_goes_on_when_it_is_there(bank, tmp_path, url, caplog):
    clone = tmp_path / "elsewhere" / "clone"
    subprocess.run(["git", "clone", "-q", str(bank), str(clone)], check=True)

    def part(memory):
        [found] = [one for one in memory.health().parts if one.name == "following the writer"]
        return found

    def warnings(words):
        return [one for one in caplog.messages if words in one]

    with opened(tmp_path / "two", clone, url, follow=True) as follower:
        assert warnings("has no graph")
        for said in (follower.state().note, part(follower).degraded, *warnings("has no graph")):
            assert "has no graph of the project git:" in said
            assert "run `graphmem serve --store`" in said
        assert (follower.health().ready, follower.health().status) == (False, "starting")
        with pytest.raises(NotIndexedError, match="has no graph of the project git:"):
            follower.impact("check")
        with opened(tmp_path / "one", bank, url) as memory:
            memory.index(bank)
            until(lambda: follower.health().ready and "no graph" not in follower.state().note + part(follower).degraded)
            until(lambda: names(follower, "check") == {"withdraw"})
        with psycopg.connect(url, autocommit=True) as db:
            db.execute(f"DROP SCHEMA {follower.parts.store._connections._schema} CASCADE")
        until(lambda: "has no graph of this project any more" in follower.state().note)
        assert "answers show the graph of" in part(follower).degraded
        assert names(follower, "check") == {"withdraw"}
        assert follower.health().status == "degraded"
        time.sleep(2.5)  # it looks every second, and does not log each time
        assert len(warnings("any more")) == len(warnings("has no graph of the project")) == 1
        (bank / "account.py").write_text(CODE.replace("withdraw", "deposit"))
        with opened(tmp_path / "one", bank, url) as memory:
            memory.index(bank)
            assert memory.state().generation == 1  # as before it was dropped
            until(lambda: names(follower, "check") == {"deposit"})
            until(lambda: "no graph" not in follower.state().note + part(follower).degraded)


def test_projections_of_another_graph_are_not_used(bank, tmp_path, url, postgres):
    with opened(tmp_path / "index", bank, url) as memory:
        memory.index(bank)
    (bank / "account.py").write_text(CODE.replace("withdraw", "deposit"))
    again = postgres.make(f"again_{abs(hash(str(tmp_path)))}")
    with opened(tmp_path / "index", bank, again) as memory:
        memory.index(bank)
        assert memory.project().state.generation == 1
        assert names(memory, "check") == {"deposit"}


def test_an_index_with_a_file_stays_with_it(bank, tmp_path, url):
    with opened(tmp_path / "index", bank) as memory:
        memory.index(bank)
    with pytest.raises(BadInputError, match="keeps its graph in a file, not in PostgreSQL; choose another directory with --db"):
        opened(tmp_path / "index", bank, url)
    with pytest.raises(BadInputError, match="postgresql://host/name"):
        opened(tmp_path / "other", bank, "mysql://localhost/x")


def test_what_needs_a_file_is_refused(bank, tmp_path, url):
    with opened(tmp_path / "index", bank, url, cypher=True) as memory:
        memory.index(bank)
        for call in (memory.backup, memory.compact, lambda: memory.cypher("RETURN 1 AS one")):
            with pytest.raises(UnsupportedError):
                call()
        assert not [one for one in memory.verify_index().checks if one.level == "error"]


def test_encrypted_memories_are_encrypted_in_the_database_too(bank, tmp_path, url):
    pytest.importorskip("cryptography")
    key = tmp_path / "key"
    key.write_bytes(b"k" * 32)
    key.chmod(0o600)
    with opened(tmp_path / "index", bank, url, memory_key_file=str(key)) as memory:
        memory.index(bank)
        kept = memory.remember("Zebrafish never balance the ledger.", type="gotcha").memory.id
    with driver().connect(url) as connection:
        schema = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'graph\\_%%'").fetchall()[0][0]
        ((stored,),) = connection.execute(f"SELECT m::text FROM {schema}.memory m").fetchall()
    assert kept in stored
    assert "graphmem-sealed:" in stored
    assert "ebrafish" not in stored
    with opened(tmp_path / "index", bank, memory_key_file=str(key)) as memory:
        assert memory.memory(kept).content == "Zebrafish never balance the ledger."


def test_an_index_with_its_graph_in_a_database_is_encrypted_and_decrypted(bank, tmp_path, url):
    pytest.importorskip("cryptography")
    settings = Settings(embedder="none", workers=1, seeds=False)

    def stored() -> str:
        with driver().connect(url) as connection:
            schema = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'graph\\_%%'").fetchall()[0][0]
            return str(connection.execute(f"SELECT m::text FROM {schema}.memory m").fetchall())

    with opened(tmp_path / "index", bank, url) as memory:
        memory.index(bank)
        kept = memory.remember("Zebrafish never balance the ledger.", type="gotcha").memory.id
    assert "ebrafish" in stored()
    assert encrypt(tmp_path / "index", settings, tmp_path / "key").memories == 1
    assert "ebrafish" not in stored()
    with opened(tmp_path / "index", bank) as memory:
        assert memory.memory(kept).content == "Zebrafish never balance the ledger."
        assert "unfinished" not in str(memory.doctor())
    assert decrypt(tmp_path / "index", settings).memories == 1
    assert "ebrafish" in stored()


def test_another_store_than_a_running_server_has_is_refused(bank, tmp_path, url):
    location = Location(tmp_path / "index", bank)
    with opened(location.data_dir, bank) as memory:
        server, ready = Server(build_app(memory), "127.0.0.1", 0), threading.Event()
        thread = threading.Thread(target=server.run, args=(lambda *_: ready.set(),))
        thread.start()
        try:
            assert ready.wait(60)
            owner.publish(location.owner_file, f"http://127.0.0.1:{server.port}", "", "0")
            with pytest.raises(BadInputError, match="serves this project from a file"):
                connect(location, Settings(store=url))
            assert connect(location, Settings()).project().state.files == 0
        finally:
            server.stop()
            thread.join(60)


def test_the_command_line_takes_the_address_once(bank, url):
    def run(*words):
        done = subprocess.run([sys.executable, "-m", "graphmem", *words], cwd=bank, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("index", "--store", url, "--embedder", "none", "--quiet")
    assert "withdraw" in run("impact", "check")
    said = run("doctor")
    assert "postgresql" in said
    assert "no backup" not in said
