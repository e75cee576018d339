"""Refusals by the system: reported with their cause, without damage.

They end as soon as the limit is gone.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from forked import Forks
from graphmem.client.remote import RemoteGraphMem
from graphmem.errors import GraphMemError
from graphmem.store import open_store
from graphmem.store.file.dump import META_FILE, read_dump

Run = Callable[..., subprocess.CompletedProcess[str]]
MB = 1 << 20
STRICT = {"ulimit -v": 1_200 * MB, "ulimit -n": 16}  # up to these, importing is part of the test
NAMES = {"ulimit -v": resource.RLIMIT_AS, "ulimit -n": resource.RLIMIT_NOFILE, "ulimit -f": resource.RLIMIT_FSIZE}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, environ: Mapping[str, str]) -> Path:
    """A project with an index, made once; tests copy it."""
    root = tmp_path_factory.mktemp("made") / "repo"
    root.mkdir()
    for number in range(6):
        (root / f"m{number}.py").write_text(
            f"from m{(number + 1) % 6} import f{(number + 1) % 6}\n\n\ndef f{number}(value):\n    return 1\n"
        )
    for command in (["index"], ["remember", "the ring begins at f0"]):
        subprocess.run(
            [sys.executable, "-P", "-m", "graphmem", *command], cwd=root, env=dict(environ), check=True, capture_output=True, timeout=100
        )
    return root


@pytest.fixture
def db(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / ".graphmem", tmp_path / "index"))


@pytest.fixture
def run(made: Path, db: Path, environ: Mapping[str, str], here: Run, forks: Forks) -> Run:
    """Run `graphmem ARGS` on a copy of the index, with the settings there are by default.

    Below soft limits it is a process of its own; without limits it runs in this one, which takes a third of the time. Below the strictest
    limits the process is a new interpreter, which has to import everything below them, too.
    """

    def runner(*args: str, limits: Mapping[str, int] | None = None) -> subprocess.CompletedProcess[str]:
        if limits is None:
            return here(*args, "--db", db, cwd=made)
        if all(most > STRICT.get(name, 0) for name, most in limits.items()):
            return forks.run(*args, "--db", db, cwd=made, limits={NAMES[name]: most for name, most in limits.items()})

        def limited() -> None:
            for name, most in limits.items():
                resource.setrlimit(NAMES[name], (most, resource.getrlimit(NAMES[name])[1]))

        return subprocess.run(
            [sys.executable, "-P", "-m", "graphmem", *args, "--db", str(db)],
            cwd=made,
            env=dict(environ),
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
            preexec_fn=limited,
        )

    return runner


def moved(db: Path) -> list[str]:
    return sorted(path.name for path in db.rglob("*.quarantine"))


def told(done: subprocess.CompletedProcess[str], remedy: str) -> None:
    """Refused in a sentence that names the limit, not in a traceback, nor with the wrong advice."""
    assert done.returncode == 1, (done.returncode, done.stderr)
    assert remedy in done.stderr
    for word in ("Traceback", "internal error", "max_db_gb", "index again", "was missing"):
        assert word not in done.stderr, done.stderr


def leave_unclean(db: Path) -> None:
    """A database of which nobody knows whether it was closed: it is examined before it is opened."""
    (db / "graph.db.lock").unlink()


@pytest.mark.parametrize("unclean", [False, True])
@pytest.mark.parametrize("megabytes", [300, 1_000])  # below more of it, a larger index is tried below
def test_no_limit_of_address_space_costs_an_index(run, db, megabytes, unclean):
    if unclean:
        leave_unclean(db)
    limits = {"ulimit -v": megabytes * MB}
    for command in (["search", "ring"], ["symbol", "f0"], ["remember", "a limited process remembers"]):
        done = run(*command, limits=limits)
        if done.returncode:  # a question that needs no engine is answered below any limit
            assert megabytes < 1_000, (command, done.stderr)
            told(done, "ulimit -v")
        assert not moved(db)
    assert "f0" in run("symbol", "f0").stdout
    assert "the ring begins" in run("search", "where the ring begins").stdout
    assert not moved(db)


def test_an_index_run_that_does_not_fit_below_the_limit_is_told_so(run, db):
    told(run("index", "--full", limits={"ulimit -v": 700 * MB}), "ulimit -v")
    assert run("index", "--full").returncode == 0


def test_few_descriptors_are_enough_for_every_command(run, db):
    limits = {"ulimit -n": 64}
    for command in (["search", "ring"], ["symbol", "f0"], ["index"], ["index", "--full"], ["remember", "with few files"], ["backup"]):
        done = run(*command, limits=limits)
        assert done.returncode == 0, (command, done.stderr)
        assert "Traceback" not in done.stderr
    assert not moved(db)


@pytest.mark.parametrize("descriptors", [12, 15, 18, 22, 26])
def test_too_few_descriptors_are_named_and_cost_nothing(run, db, made, descriptors):
    limits = {"ulimit -n": descriptors}
    for command in (["search", "ring"], ["symbol", "f0"], ["index", "--full"], ["remember", "with few files"], ["backup"]):
        done = run(*command, limits=limits)
        for untrue in ("Traceback", "internal error", "contains no files", "unreadable", "no room", "make room", "was missing"):
            assert untrue not in done.stderr, (command, done.stderr)
        if done.returncode:
            assert done.returncode == 1, (command, done.stderr)
            assert "ulimit -n" in done.stderr, (command, done.stderr)
        assert not moved(db)
    for command in (["index"], ["symbol", "f0"], ["remember", "with enough files"], ["backup"], ["verify"]):
        done = run(*command)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    assert not moved(db)


@pytest.mark.parametrize("kilobytes", [64, 1_024])
def test_a_memory_that_was_kept_below_a_limit_of_file_size_is_said_to_be_kept(run, db, kilobytes):
    done = run("remember", "the limit of a file did not cost this", limits={"ulimit -f": kilobytes << 10})
    assert done.returncode == 0, done.stderr
    assert "Remembered" in done.stdout
    assert "ulimit -f" in done.stderr
    assert "it is in the journal" in done.stderr
    found = run("search", "the limit of a file")
    assert "did not cost this" in found.stdout
    assert run("remember", "without a limit").returncode == 0
    assert run("verify").returncode == 0
    assert not moved(db)


def test_json_of_a_refusal_by_the_system_has_its_code(run):
    done = run("index", "--full", "--json", limits={"ulimit -n": 16})
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["error"]["code"] == "LIMIT"


@contextmanager
def served(made: Path, db: Path, environ: Mapping[str, str], limits: Mapping[str, int]) -> Iterator[RemoteGraphMem]:
    """A server below soft limits; it ends properly and leaves no trace of an error behind."""

    def limited() -> None:
        for name, most in limits.items():
            resource.setrlimit(NAMES[name], (most, resource.getrlimit(NAMES[name])[1]))

    command = [sys.executable, "-P", "-m", "graphmem", "serve", str(made), "--db", str(db), "--port", "0", "--quiet"]
    process = subprocess.Popen(
        command, env=dict(environ), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=limited
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address, process.communicate(timeout=60)[1]
        with RemoteGraphMem(address) as service:
            yield service
    finally:
        process.terminate()
        _, said = process.communicate(timeout=60)
    assert process.returncode in (0, 130), said  # the second when its first index run was still under way
    for word in ("Traceback", "internal error", "this is a fault"):
        assert word not in said, said


@pytest.mark.parametrize("descriptors", [64, 256])
def test_a_server_with_few_descriptors_answers_and_writes(made, db, environ, descriptors):
    with served(made, db, environ, {"ulimit -n": descriptors}) as service:
        for number in range(12):
            assert service.search("ring", limit=3).hits
            assert service.symbol("f0").symbol.name == "f0"
            assert service.impact("f1").risk.level
            assert list(service.export())
            assert service.remember(f"number {number} with few files is remembered as itself").memory.id
        assert service.index().mode == "unchanged"
        assert service.index(full=True).mode == "full"
        assert service.backup().path
        assert service.verify_index().sound
    assert not moved(db)


@pytest.fixture(scope="module")
def large(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The index of `made` with vectors of another model, which make its database larger than 100 MB."""
    db = Path(shutil.copytree(made / ".graphmem", tmp_path_factory.mktemp("large") / "index"))
    dump = tmp_path_factory.mktemp("dump")
    rows, dim = 75_000, 384
    vectors = pa.FixedSizeListArray.from_arrays(np.random.default_rng(1).random(rows * dim, dtype=np.float32), dim)
    names = pa.array([f"{number:032x}" for number in range(rows)])
    table = pa.table({"id": names, "model": pa.array(["large"] * rows), "text_hash": names, "vec": vectors})
    with open_store(db / "graph.db") as store:
        store.dump(dump)
    with pa.OSFile(str(dump / f"Embedding_{dim}.00000.arrow"), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    said = json.loads((dump / META_FILE).read_text())
    said["rows"][f"Embedding_{dim}"] = rows
    (dump / META_FILE).write_text(json.dumps(said))
    read_dump(dump, db / "graph.db", "kuzu", 256 << 20, 1 << 30, replace=True)  # by COPY, in seconds
    leave_unclean(db)
    with open_store(db / "graph.db") as store:
        assert store.vector_models() == {"large": rows}
    assert (db / "graph.db").stat().st_size > 100 * MB
    return db


@pytest.mark.slow
@pytest.mark.parametrize(("megabytes", "unclean"), [(1_000, True), (2_500, True), (2_500, False), (8_000, True)])
def test_no_limit_of_address_space_costs_a_large_index(run, db, large, megabytes, unclean):
    shutil.rmtree(db)
    shutil.copytree(large, db)
    if unclean:
        leave_unclean(db)
    size = (db / "graph.db").stat().st_size
    for command in (["search", "ring"], ["symbol", "f0"], ["remember", "a limited process remembers"], ["verify"]):
        done = run(*command, limits={"ulimit -v": megabytes * MB})
        if done.returncode:
            assert megabytes < 2_500, (command, done.stderr)
            told(done, "ulimit -v")
        assert not moved(db)
    assert "f0" in run("symbol", "f0").stdout
    assert "the ring begins" in run("search", "where the ring begins").stdout
    assert run("verify").returncode == 0
    assert (db / "graph.db").stat().st_size > size // 2
    assert not moved(db)


@pytest.mark.slow
@pytest.mark.parametrize("megabytes", [1_024, 2_500, 8_000])
def test_a_server_of_a_large_index_below_a_limit_of_address_space_answers_or_says_why(made, db, large, environ, megabytes):
    shutil.rmtree(db)
    shutil.copytree(large, db)
    with served(made, db, environ, {"ulimit -v": megabytes * MB}) as service:
        refused = []
        for ask in (
            lambda: service.search("ring", limit=3).hits,
            lambda: service.symbol("f0"),
            lambda: service.impact("f1").risk.level,
            lambda: service.remember("a limited server remembers").memory.id,
            lambda: service.verify_index().sound,
        ):
            try:
                assert ask()
            except GraphMemError as error:
                refused.append(error)
        assert megabytes < 2_500 or not refused
        for error in refused:
            assert error.code == "LIMIT", error
            assert "ulimit -v" in error.message
    assert not moved(db)
