"""Many readers, one writer, deadlines, forks."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from graphmem.errors import DeadlineError, GraphMemError, StoreBusyError, StoreClosedError
from graphmem.store.file import live_file
from graphmem.store.file.gate import Gate
from graphmem.store.tables.catalog import parse_queries
from graphmem.store.tables.transaction import Transaction
from graphmem.store.writes.writer import Writer


def test_readers_see_whole_generations_while_changes_files_and_checkpoints_go_on(store, new_world):
    world = new_world(1)
    states = {1: world.state()}
    deltas = []
    for generation in range(2, 10):
        deltas.append(world.edit(2))
        states[generation] = world.state()
    first = new_world(1)
    store.apply(first.full())
    done, seen, wrong = threading.Event(), set(), []

    def read():
        while not done.is_set():
            tables = store.tables()
            expected = states[tables.generation]
            seen.add(tables.generation)
            found = (tables.files, tables.symbols, tables.externals, tables.edges, tables.unresolved)
            for table, rows in zip(found, (expected[0], expected[1], expected[2], expected[4], expected[5]), strict=True):
                if [tuple(row.values()) for row in table.to_pylist()] != [tuple(rows[key]) for key in sorted(rows)]:
                    wrong.append(tables.generation)

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        try:
            for number, delta in enumerate(deltas):
                if number == 4:
                    store._write(lambda change=delta: store._rebuild(change, {}, keep_code=True))
                else:
                    store.apply(delta)
                if number % 3 == 0:
                    store.checkpoint()
        finally:
            done.set()
        for reader in readers:
            reader.result()
    assert not wrong
    assert max(seen) >= 2


def test_writes_of_many_threads_are_done_one_after_another(store):
    def write(number):
        store.set_meta({f"k{number}": str(number)})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(64)))
    assert store.meta() == {f"k{number}": str(number) for number in range(64)}


@pytest.mark.begun
def test_reads_of_many_threads_do_not_disturb_each_other(store, world):
    ids = sorted(world.symbols)

    def read(number):
        one = ids[number % len(ids)]
        return store.read("symbol_by_id", symbol_id=one) == [world.symbols[one]._asdict()]

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(read, range(400)))


def test_a_full_queue_says_busy_and_a_stopped_writer_says_closed():
    writer = Writer("test", capacity=2, busy_timeout_s=0.05)
    hold, started = threading.Event(), threading.Event()

    def slow():
        started.set()
        return hold.wait()

    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(writer.run, slow)]
        started.wait()
        running += [pool.submit(writer.run, lambda: 1) for _ in range(2)]
        while len(writer._jobs) < 2:
            time.sleep(0.005)
        with pytest.raises(StoreBusyError):
            writer.run(lambda: 2)
        hold.set()
        assert [job.result() for job in running] == [True, 1, 1]
    writer.stop()
    writer.stop()
    with pytest.raises(StoreClosedError):
        writer.run(lambda: 3)


def test_a_writer_hands_back_what_a_job_raised_and_goes_on():
    writer = Writer("test", capacity=2, busy_timeout_s=1)

    def fail():
        raise KeyError("x")

    with pytest.raises(KeyError):
        writer.run(fail)
    assert writer.run(lambda: 4) == 4
    writer.stop()


def test_the_gate_lets_one_in_alone_and_says_busy():
    gate = Gate()
    with gate.shared(1), gate.shared(1), pytest.raises(StoreBusyError), gate.exclusive(0.05):
        pass
    with gate.exclusive(1), pytest.raises(StoreBusyError), gate.shared(0.05):
        pass
    with gate.shared(1):
        pass


@pytest.mark.begun
def test_a_checkpoint_waits_for_a_read_instead_of_failing(store, world):
    store.apply(world.edit(1))
    inside, go = threading.Event(), threading.Event()

    def long_read():
        with store._snapshot() as (ask, _):
            inside.set()
            go.wait()
            return ask("all_files").num_rows

    with ThreadPoolExecutor(2) as pool:
        reading = pool.submit(long_read)
        inside.wait()
        checkpoint = pool.submit(store.checkpoint)
        time.sleep(0.1)
        assert not checkpoint.done()
        go.set()
        assert reading.result() == len(world.files)
        checkpoint.result()
    assert not store._file.with_name("graph.db.wal").exists()


@pytest.mark.begun
def test_a_change_does_not_wait_for_readers(store, world):
    with store._snapshot() as (ask, meta):
        assert store.apply(world.edit(1)) == 2
        assert meta["store.generation"] == "1"
        assert ask("meta_all").num_rows > 0


@pytest.mark.begun
def test_a_query_that_takes_too_long_is_ended(store, world, monkeypatch):
    (slow,) = parse_queries(
        """// name: slow()
// Every path between everything.
// returns: paths INT64
MATCH (a:Symbol)-[e:CALLS|REFERENCES|DEFINES|USES_TYPE*1..9]-(b:Symbol) RETURN count(*) AS paths
""",
        "test.cypher",
    )
    monkeypatch.setattr(store, "_catalog", {**store._catalog, "slow": slow})
    began = time.monotonic()
    with pytest.raises(DeadlineError, match=r"slow did not finish within 0\.2 s") as caught:
        store.read("slow", timeout_s=0.2)
    assert caught.value.code == "TIMEOUT"
    assert caught.value.seconds == 0.2
    assert time.monotonic() - began < 10
    assert store.read("chunk_count") == [{"chunks": len(world.chunks)}]


@pytest.mark.begun
def test_a_failed_statement_ends_its_transaction_and_nothing_leaks_out(store, world, equal):
    one = next(iter(world.symbols))
    with Transaction(store._connection, store._catalog) as transaction:
        transaction.run("meta_put", name="leak", value="1")
        with pytest.raises(GraphMemError):
            transaction.statement("CREATE (:Symbol {id: $id})", {"id": one})  # the key is taken
        with pytest.raises(GraphMemError, match="dead"):
            transaction.run("meta_put", name="leak", value="2")  # would run, and stay, on its own
    assert "leak" not in [row["name"] for row in store.read("meta_all")]
    equal(store, world)


def test_an_error_between_statements_rolls_back(store):
    transaction = Transaction(store._connection, store._catalog)

    def fail():
        with transaction:
            transaction.run("meta_put", name="leak", value="1")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert store.meta() == {}
    with pytest.raises(GraphMemError, match="done"):
        transaction.run("meta_put", name="leak", value="2")


@pytest.mark.parametrize("statement", ["COPY CALLS FROM $rows", "CHECKPOINT", "COMMIT", "begin transaction"])
def test_what_must_not_run_in_a_transaction_does_not(store, statement):
    with pytest.raises(GraphMemError, match="inside a transaction"), Transaction(store._connection, store._catalog) as transaction:
        transaction.statement(statement)


@pytest.mark.begun
def test_a_forked_child_is_told_and_does_not_hang(store, world):

    def child(results):
        found = []
        for call in (store.generation, store.tables, lambda: store.set_meta({"a": "b"}), lambda: store.read("files")):
            try:
                call()
                found.append("worked")
            except StoreClosedError as error:
                found.append("fork" if "fork" in str(error) else str(error))
        store.close()
        results.send(found)

    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=child, args=(theirs,))
    process.start()
    assert ours.poll(20)
    assert ours.recv() == ["fork"] * 4
    process.join(20)
    assert process.exitcode == 0
    assert store.apply(world.edit(1)) == 2


def test_a_forked_child_that_ends_like_any_program_does_not_hang(child):
    process = child("""
        import os
        store = reopen()
        store.apply(suite.World(1).full())
        pid = os.fork()
        if pid == 0:
            try:
                reopen()
            except StoreBusyError:
                say("busy")
            sys.exit(0)
        say(os.waitpid(pid, 0)[1])
        store.close()
        say("closed")
    """)
    code, out, err = process.end(30)
    assert code == 0, err
    assert sorted(out.split()) == ["0", "busy", "closed"]


@pytest.mark.begun
def test_a_spawned_pool_beside_an_open_store_works(store, world):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(os.getpid) != os.getpid()
    assert store.generation() == 1


@pytest.mark.own
def test_more_readers_than_places_wait_and_then_say_busy(store, monkeypatch):
    monkeypatch.setattr(live_file, "BUSY_S", 0.05)
    with pytest.raises(StoreBusyError), _many(store, live_file.MAX_READERS + 1):
        pass
    assert store.read("files") == []


class _many:  # noqa: N801 -- reads as a word
    def __init__(self, store, count):
        self._store, self._count, self._open = store, count, []

    def __enter__(self):
        try:
            for _ in range(self._count):
                passage = self._store._passage()
                passage.__enter__()
                self._open.append(passage)
        except BaseException:
            self.__exit__(None, None, None)
            raise

    def __exit__(self, *_):
        while self._open:
            self._open.pop().__exit__(None, None, None)
