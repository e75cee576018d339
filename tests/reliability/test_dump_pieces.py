"""A dump is written a piece at a time and read back in a process of its own, so that a server's backup costs it little memory."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pyarrow as pa
import pytest
import starlette

from graphmem.errors import DatabaseDamagedError, SchemaTooNewError, SettingsError
from graphmem.store.engine.engine import Connection
from graphmem.store.file import dump
from graphmem.store.file.dump_process import read_dump_in_process
from graphmem.store.reads import pieces
from graphmem.store.tables.catalog import load_catalog
from graphmem.store.tables.tables import CARRIED_NODES, CODE_NODES, NodeTable
from graphmem.store.writes.write_edges import ends

SIZES = (64 << 20, 1 << 30)
PIECE = 20_000


def written(folder: Path) -> dict[str, pa.Table]:
    tables = {}
    for path in sorted(folder.glob("*.arrow")):
        with pa.OSFile(str(path), "rb") as source, pa.ipc.open_file(source) as reader:
            tables[path.name.split(".")[0]] = reader.read_all()
    return tables


def in_order(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.rename_columns([name.split(".")[-1] for name in table.column_names]).to_pylist()))


@pytest.fixture
def much(open_index, repo):
    """An index of starlette with memories, in which rows of every kind were deleted as well: offsets have gaps."""
    shutil.copytree(Path(starlette.__file__).parent, repo / "starlette", ignore=shutil.ignore_patterns("__pycache__"))
    memory = open_index()
    memory.index(repo)
    memory.remember_many({"id": f"m{n}", "content": f"number {n} of many {'words ' * (n % 50)}", "files": ["m1.py"]} for n in range(300))
    (repo / "starlette" / "routing.py").unlink()
    memory.index(repo)
    for number in range(0, 300, 7):
        memory.forget(f"m{number}", hard=True)
    memory.parts.book.flush()
    return memory


def test_pieces_are_small_and_together_they_are_everything(much, tmp_path, monkeypatch):
    store, catalog = much.parts.store, load_catalog()
    sizes: list[tuple[int, int]] = []
    arrow = Connection.arrow

    def measured(self, text, params=None):
        table = arrow(self, text, params)
        sizes.append((len(table), table.nbytes))
        return table

    with monkeypatch.context() as patched:
        patched.setattr(pieces, "FIRST_PIECE", 10)
        patched.setattr(pieces, "PIECE_BYTES", PIECE)
        patched.setattr(Connection, "arrow", measured)
        rows = store.dump(tmp_path)
    found = written(tmp_path)
    assert {name: len(table) for name, table in found.items()} == rows
    assert rows["Memory"] == 300 - 43
    assert rows["Symbol"] > 500
    assert found["Symbol"].nbytes > 10 * PIECE
    assert max(size for _, size in sizes) < 5 * PIECE, "rows are of different sizes; a piece is as large as those before it tell"
    with store._passage() as connection:
        for label in (*CODE_NODES, *CARRIED_NODES):
            whole = connection.arrow(*catalog["dump_nodes"].bind({"label": label}))
            assert in_order(found.get(str(label), whole.slice(0, 0))) == in_order(whole), label
        for pair in dump.ALL_PAIRS:
            whole = connection.arrow(*catalog["dump_edges"].bind(ends(pair)))
            assert in_order(found.get(dump.pair_name(pair), whole.slice(0, 0))) == in_order(whole), pair


def test_vectors_are_dumped_in_pieces_too(open_index, repo, tmp_path, monkeypatch):
    memory = open_index(embedder="hashed")
    memory.index(repo)
    memory.remember_many({"id": f"m{n}", "content": f"number {n} of many"} for n in range(50))
    memory.parts.book.flush()
    monkeypatch.setattr(pieces, "FIRST_PIECE", 3)
    monkeypatch.setattr(pieces, "PIECE_BYTES", 10_000)
    memory.parts.store.dump(tmp_path)
    vectors = [table for name, table in written(tmp_path).items() if name.startswith("Embedding")]
    assert sum(map(len, vectors)) >= 50
    assert max(chunk.nbytes for table in vectors for chunk in table.to_batches()) < 20_000


def test_a_backup_is_read_back_elsewhere_and_restored(index, open_index, monkeypatch):
    def here(*_: object, **__: object) -> None:
        raise AssertionError("a database is filled in the process that backs up")

    monkeypatch.setattr(dump, "build", here)
    made = index.backup(portable=True)
    other = open_index("other")
    assert other.restore(made.path).memories == 3
    assert other.parts.store.read("file_hashes") == index.parts.store.read("file_hashes")


def test_what_is_wrong_with_a_dump_is_said_as_if_it_was_read_here(index, tmp_path):
    folder = tmp_path / "dumped"
    folder.mkdir()
    index.parts.store.dump(folder)
    with pytest.raises(SettingsError):
        read_dump_in_process(folder, tmp_path / "new.db", "nonsense", *SIZES)
    text = (folder / dump.META_FILE).read_text()
    (folder / dump.META_FILE).write_text(text.replace('"schema": "', '"schema": "9'))
    with pytest.raises((SchemaTooNewError, DatabaseDamagedError)):
        read_dump_in_process(folder, tmp_path / "new.db", "kuzu", *SIZES)
    (folder / dump.META_FILE).write_text(text)
    next(folder.glob(f"{NodeTable.FILE}.*.arrow")).unlink()
    with pytest.raises(DatabaseDamagedError, match="cannot be read") as caught:
        read_dump_in_process(folder, tmp_path / "new.db", "kuzu", *SIZES)
    assert caught.value.path == str(folder)
    assert not list(tmp_path.glob("new.db*"))


def test_an_engine_that_dies_on_a_dump_costs_the_dump_only(index, tmp_path, monkeypatch):
    folder = tmp_path / "dumped"
    folder.mkdir()
    index.parts.store.dump(folder)
    dies = tmp_path / "dies"
    dies.write_text("#!/bin/sh\nkill -9 $$\n")
    dies.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(dies))
    with pytest.raises(DatabaseDamagedError, match="signal 9"):
        read_dump_in_process(folder, tmp_path / "new.db", "kuzu", *SIZES)
    assert index.memories().total == 3
