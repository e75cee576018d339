"""The checks of `graphmem verify`: journal, graph, database, backups.

The journal is the log of all writes of memories. Each check compares data with the source of the data. A failed check names the command
that repairs the data.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from graphmem.answers.upkeep import Check
from graphmem.errors import GraphMemError
from graphmem.indexing.tree import Tree
from graphmem.maintenance import backup as archives
from graphmem.maintenance.proving import damaged_files
from graphmem.maintenance.recovery import lost_code
from graphmem.projection.graph.view import GraphView
from graphmem.runtime.arrow import pc
from graphmem.runtime.process.limits import is_disk_full
from graphmem.store.file.files import checksum
from graphmem.store.file.lock import read_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.parsing.ignore import DiscoveryOptions
    from graphmem.projection.projections import Projections
    from graphmem.settings import Settings
    from graphmem.store.base import GraphReads, GraphStore, GraphTables

REBUILD = "run `graphmem rebuild`"
_SHOWN = 3
_OPEN = "open, so its pages have no checksum until it is closed; the contents of its tables are checked below"


def journal(book: MemoryRepository) -> list[Check]:
    """Check the hashes of the journal; compare the memories with its entries.

    The journal is the log of all writes of memories.
    """
    with book.writing():
        findings, settled, gaps = book.journal.examine()
        entries = book.journal.head.number
        if findings:
            # A line exchanged for another with valid hashes of its own cannot be detected with local data.
            is_mendable = len(findings) == len(gaps) or any("does not match its hash" in one for one in findings)
            mend = "run `graphmem memory rebuild`: the graph's content is written to the journal again"
            found = [Check("journal", "bad", _some(findings), mend if is_mendable else "restore a backup: `graphmem backup --list`")]
        elif settled:
            found = [Check("journal", "note", f"{entries:,} entries; {_some(settled)}", "")]
        else:
            found = [Check("journal", "ok", f"{entries:,} entries; all hashes and links are correct", "")]
        missing, different, unknown = book.recovery.compare()
        count = len(book.index())
    if missing or different or unknown:
        said = f"of {count:,} memories {missing:,} are missing, {different:,} differ and {unknown:,} are not in the journal"
        return [*found, Check("memories", "bad", said, REBUILD)]
    return [*found, Check("memories", "ok", f"{count:,} in the graph, each equal to the journal", "")]


def _some(findings: list[str]) -> str:
    return "; ".join(findings[:_SHOWN]) + (f" and {len(findings) - _SHOWN} more" if len(findings) > _SHOWN else "")


def graph(store: GraphReads) -> list[Check]:
    """Check that edges join stored nodes, and that ids are unique.

    Symbols and chunks must belong to a stored file. If the database has lost the indexed code, only this loss is reported.
    """
    if why := lost_code(store):
        return [Check("graph", "bad", f"it has lost the code: {why}", "run `graphmem index`")]
    tables = store.tables()
    columns = [table["id"] for table in (tables.files, tables.symbols, tables.externals)]
    nodes = pa.concat_arrays([piece for column in columns for piece in column.chunks] or [pa.array([], pa.string())])
    twice = len(nodes) - pc.count_distinct(nodes).as_py()
    loose = sum(_outside(tables.edges[end], nodes) for end in ("src", "dst"))
    homeless = _outside(tables.symbols["path"], tables.files["path"].combine_chunks())
    chunks = store.chunks()
    astray = _outside(chunks["path"], tables.files["path"].combine_chunks())
    if twice or loose or homeless or astray:
        said = (
            f"{twice:,} ids are repeated, {loose:,} ends of edges are missing nodes, {homeless:,} symbols and {astray:,} chunks lack a file"
        )
        return [Check("graph", "bad", said, REBUILD)]
    said = f"{len(nodes):,} nodes, {len(tables.edges):,} edges and {len(chunks):,} chunks, consistent"
    return [Check("graph", "ok", said, "")]


def projections(store: GraphReads, held: Projections, book: MemoryRepository) -> list[Check]:
    """Compare the database with its projections, the copies in memory.

    The projections are copies of the code graph, the word index and the memories. They make reading fast.
    """
    found: list[Check] = []
    if store.generation():
        held.wait()
        shot = held.snapshot()
        tables = store.tables()
        different = (
            shot.graph.arrays.difference(GraphView.from_tables(tables).arrays) if shot.generation == tables.generation else "generation"
        )
        found.append(
            Check("graph projection", "bad", f"differs from the database in {different}", REBUILD)
            if different
            else Check("graph projection", "ok", f"equal to the database, generation {tables.generation}", "")
        )
        found.append(_words(store, shot.words, shot.words_note))
    index = book.index()
    with book.writing():
        book.flush()
        stored = {row.id: row for row in store.knowledge().memories}
        shown = {row.id: row for row in index.all_rows()}
    off = sum(_plain(stored.get(one)) != _plain(shown.get(one)) for one in stored.keys() | shown.keys())
    found.append(
        Check("memory projection", "bad", f"{off:,} memories differ from the database", "close and open the index again")
        if off
        else Check("memory projection", "ok", f"equal to the database, {len(stored):,} memories", "")
    )
    return found


def mended(notes: Sequence[str]) -> list[Check]:
    """Report damage that was repaired since the index was opened.

    `notes` has one sentence for each repair. The result has one entry for each sentence.
    """
    return [Check("mended", "note", note, "") for note in notes]


def room(data_dir: Path) -> list[Check]:
    """Report a full disk; the result is empty if the disk has room."""
    if not is_disk_full(data_dir):
        return []
    said = f"the disk of {data_dir} is full; questions are answered, but nothing new can be stored"
    return [Check("disk", "note", said, "make room and try again")]


def database(store: GraphStore) -> list[Check]:
    """Check the bytes of the database file against its checksum.

    The checksum is written when the database is closed.
    """
    local = store.local
    if local is None:
        return [Check("database", "note", f"{store.engine.name} keeps it on a server, where its bytes cannot be checked from here", "")]
    path = Path(local.path)
    left = read_record(path)
    size = path.stat().st_size
    if left is None or not left.clean or not left.checksum:
        then = f"its bytes matched the checksum when it was opened; now it is {_OPEN}" if local.proven else f"it is {_OPEN}"
        return [Check("database", "ok", then, "")]
    if size != left.size or checksum(path) != left.checksum:
        return [Check("database", "bad", f"the bytes of {path.name} do not match the checksum of the last close", REBUILD)]
    return [Check("database", "ok", f"{size:,} bytes, which match the checksum of the last close", "")]


def derived(data_dir: Path) -> list[Check]:
    """Check every file of an index except the database against its checksum."""
    damaged, files, size = damaged_files(data_dir)
    if damaged:
        return [Check("files of the index", "bad", _some([f"{name}: {why}" for name, why in damaged]), REBUILD)]
    return [Check("files of the index", "ok", f"{files:,} files, {size:,} bytes, which all match their checksums", "")]


def files(store: GraphReads, options: DiscoveryOptions) -> list[Check]:
    """Check that the indexed files match the current working tree."""
    root = store.meta().get("root", "")
    if not root:
        return [Check("files", "note", "nothing is indexed yet", "run `graphmem index`")]
    known = store.file_hashes()
    try:
        look = Tree(Path(root), options).look(known, None, lambda: False)
    except GraphMemError as error:
        return [Check("files", "note", error.message, "index again where the files are now")]
    new = sum(file.path not in known for file in look.changed)
    changed, removed = len(look.changed) - new, len(look.removed)
    if new or changed or removed:
        said = f"{changed:,} changed, {new:,} new, {removed:,} gone since they were indexed"
        return [Check("files", "note", said, "run `graphmem index`, or leave it to a server that follows the files")]
    return [Check("files", "ok", f"{len(known):,}, all with the indexed content", "")]


def backups(data_dir: Path, settings: Settings) -> list[Check]:
    """Check that the newest backup of an index can be read and opened."""
    newest = archives.listed(data_dir)[-1:]
    if not newest:
        return [Check("backup", "note", "none in the index directory", "run `graphmem backup`")]
    try:
        manifest = archives.check(newest[0], settings)
    except GraphMemError as error:
        return [Check("backup", "bad", error.message, "run `graphmem backup`")]
    return [Check("backup", "ok", f"{newest[0].name} of {manifest.made_at} opens, {manifest.memories:,} memories", "")]


def same_graph(held: GraphTables, fresh: GraphTables) -> list[Check]:
    """Compare the index with a fresh one that was built from the same files.

    `held` has the tables of the index, and `fresh` those of the fresh one.
    """
    off = []
    for name in ("files", "symbols", "externals", "edges", "unresolved"):
        mine, other = getattr(held, name), getattr(fresh, name)
        left, right = ({tuple(row.values()) for row in table.to_pylist()} for table in (mine, other))
        if left != right:
            off.append(f"{name}: {len(left - right):,} only here, {len(right - left):,} only in the fresh one")
    if off:
        return [Check("fresh index", "bad", "; ".join(off), REBUILD + " (edges from outside evidence are only here)")]
    return [Check("fresh index", "ok", "a fresh index of the tree has the same nodes and edges", "")]


def _words(store: GraphReads, words: object, note: str) -> Check:
    keys = getattr(words, "chunk_keys", None)
    if keys is None:
        return Check("word index", "note", note, "ask again in a moment")
    chunks = store.chunks()
    stored = set(zip(chunks["id"].to_pylist(), chunks["text_hash"].to_pylist(), strict=True))
    found = {(chunk, text) for chunk, text, _ in keys()}
    if stored != found:
        return Check("word index", "bad", f"{len(stored ^ found):,} chunks differ from the database", REBUILD)
    return Check("word index", "ok", f"equal to the database, {len(stored):,} chunks", "")


def _plain(row: object) -> object:
    return row._replace(embedding_model="") if hasattr(row, "_replace") else row


def _outside(column: pa.ChunkedArray, among: pa.Array) -> int:
    return len(column) - (pc.sum(pc.is_in(column, among)).as_py() or 0)
