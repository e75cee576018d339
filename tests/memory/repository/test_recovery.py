"""Killed at any moment, a process loses no memory that it acknowledged, and shows none by halves."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from graphmem import GraphMem
from graphmem.settings import Settings

KILLS = 100
BUDGET_S = 60.0  # on a busy machine there are fewer kills
LEAST = 20  # but never less than this, however long they take

# One process imports everything and forks the writers it kills, so that a kill costs a tenth of a second. The examination in a process of
# its own that an open after a crash begins with is left out: store/file/test_files tests it, and it would take half of the time.
NURSERY = """
import json, os, signal, sys, time
import kuzu, numpy, pyarrow
from graphmem import GraphMem
from graphmem.settings import Settings
import graphmem.memory.repository.repository, graphmem.store.kuzu_store, graphmem.projection.memories.index
from graphmem.store.file import opening

opening._after_crash = lambda *_: []
folder, kills, budget, least = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])

def write(number, tell):
    hold = (0.0, 0.002, 0.02, 0.2)[number % 4]
    with GraphMem.open(folder, settings=Settings(embedder="none")) as memory:
        commit = memory.parts.book.store.apply_knowledge
        def slow(*args):  # the moment between journal and graph, made longer
            time.sleep(hold)
            return commit(*args)
        memory.parts.book.store.apply_knowledge = slow
        for i in range(10_000):
            if i % 3 == 2:
                ids = [f"{number}-{i}-{j}" for j in range(4)]
                memory.remember_many([{"id": one, "content": f"bulk note {one} of a round"} for one in ids])
            else:
                ids = [f"{number}-{i}"]
                memory.remember(f"note number {i} of round {number}", id=ids[0], files=["src/a.py"], tags=["crash"])
            os.write(tell, (" ".join(ids) + "\\n").encode())

acknowledged, done, begun = [], 0, time.monotonic()
while done < kills and (done < least or time.monotonic() - begun < budget):
    read, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            write(done, tell)
        finally:
            os._exit(9)
    os.close(tell)
    data = b""
    while data.count(b"\\n") < 1 + done % 7:
        more = os.read(read, 65536)
        if not more:
            sys.exit(f"the writer of round {done} ended by itself")
        data += more
    time.sleep(done % 5 * 0.003)
    os.kill(child, signal.SIGKILL)
    while more := os.read(read, 65536):
        data += more
    os.close(read)
    os.waitpid(child, 0)
    acknowledged += data[: data.rfind(b"\\n") + 1].decode().split()
    done += 1
print(json.dumps({"kills": done, "acknowledged": acknowledged}))
"""


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_hundred_kills_lose_nothing_acknowledged_and_leave_nothing_half_visible(tmp_path):
    folder = tmp_path / "index"
    run = subprocess.run(
        [sys.executable, "-c", NURSERY, str(folder), str(KILLS), str(BUDGET_S), str(LEAST)],
        capture_output=True,
        text=True,
        timeout=840,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    acknowledged = set(told["acknowledged"])
    assert told["kills"] >= LEAST
    assert len(acknowledged) > told["kills"]
    with GraphMem.open(folder, settings=Settings(embedder="none")) as memory:
        index = memory.parts.book.index()
        rows = {row.id: row for row in index.all_rows()}
        assert acknowledged <= rows.keys()
        bulks: dict[str, int] = {}
        for one, row in rows.items():
            if one.count("-") == 2:
                assert one in row.content
                batch = one.rpartition("-")[0]
                bulks[batch] = bulks.get(batch, 0) + 1
            else:
                assert [link.label for link in index.about(one)] == ["File"]
                assert row.tags == ("crash",)
        assert set(bulks.values()) <= {4}, "a bulk write is whole or not there"
        assert memory.audit().sound
        assert {row.id for row in memory.parts.book.store.knowledge().memories} == rows.keys()
        assert memory.rebuild_memories().restored == 0
