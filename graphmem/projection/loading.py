"""Load, build and save the in-memory copies of the database in a thread.

At the start, the thread reads the saved copies, or builds missing ones from the database. Later it saves changed copies while the process
is idle. It also repeats loads that failed for lack of memory or disk space.
"""

from __future__ import annotations

import logging
import queue
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import pyarrow as pa

from graphmem.errors import GraphMemError, StoreClosedError
from graphmem.projection.chunk_hashes import ChunkHashes
from graphmem.projection.failures import may_pass
from graphmem.projection.graph.view import GraphView
from graphmem.projection.kept_memories import KeptMemories
from graphmem.projection.vectors import VectorIndex
from graphmem.projection.words.index import WordIndex
from graphmem.runtime.files.checksums import SIDES
from graphmem.runtime.process.heap import give_back
from graphmem.runtime.process.limits import kind_of
from graphmem.store.base import GraphReads

GRAPH_FILE: Final = "graph.projection"

_IDLE_SECONDS: Final = 2.0  # without a change before the graph is saved
_AGAIN_SECONDS: Final = 0.2  # between two tries to load data that an answer waits for
_AGAIN_BEHIND_SECONDS: Final = 30.0  # the same for data that answers can do without
_LOOK_SECONDS: Final = 0.1  # between two checks whether this is closed
_RETRIES: Final = 5  # of reading a snapshot during commits

_log = logging.getLogger(__name__)


class Loading:
    """The in-memory copies of one database, with the thread that loads them.

    Args:
        store: the open database.
        data_dir: directory of the saved copies.
        made: the code graph and the word index of the database's current state, if the caller has just built them. The file of the word
            index must be in `data_dir`. If `made` is None, saved copies are opened, and missing ones are built.
    """

    def __init__(self, store: GraphReads, data_dir: Path, made: tuple[GraphView, WordIndex] | None = None) -> None:
        self._store = store
        self._dir = data_dir
        self._made = made
        self._writing = threading.Lock()  # of making a new generation
        self._state = threading.Lock()  # of the fields below
        self._using = threading.Lock()
        self._graph: GraphView | None = None
        self._ahead: GraphView | None = None  # the graph that readers see before its commit
        self._is_level = threading.Event()  # set while no graph is published before its commit
        self._is_level.set()
        self._words: WordIndex | None = None
        self._vectors: VectorIndex | None = None
        self._hashes = ChunkHashes(())
        self._words_note = "the word index is being opened"
        self._failure: Exception | None = None
        self._trying = threading.Lock()  # for loading again after a failure
        self._tried = -_AGAIN_BEHIND_SECONDS
        self._unsaved = False
        self._temporary: tempfile.TemporaryDirectory[str] | None = None  # of words for which their directory had no space
        self._closing = threading.Event()
        self._graph_settled = threading.Event()  # ready, or failed
        self._words_opened = threading.Event()  # or they are being built, or failed
        self._settled = threading.Event()  # graph and words
        self._renewed = threading.Event()  # a damaged word index was replaced
        self.no_vectors = "no vectors yet"  # why vectors are missing; the model may replace it by a better reason
        self.notes: list[str] = []  # one sentence for each damaged file
        self._memories = KeptMemories(store, data_dir, self.notes, self._model_in_use)
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._worker = threading.Thread(target=self._work, name="graphmem-projections", daemon=True)
        self._jobs.put(self._load)
        self._jobs.put(self._memories.load)
        self._worker.start()

    def _model_in_use(self) -> str | None:
        with self._state:
            return self._vectors.model_id if self._vectors is not None else None

    def _try_again(self, load: Callable[[], None], *, wait: bool = True) -> None:
        """Retry a load that failed for lack of memory, descriptors or disk space.

        The method does nothing if the last load did not fail in this way, or if the last retry was a moment ago.

        Args:
            load: the load to retry.
            wait: whether to return only when the load is ready or has failed again.
        """
        with self._trying:
            failure = self._memories.failure if load == self._memories.load else self._failure
            since = time.monotonic() - self._tried
            if failure is None or not may_pass(failure) or since < (_AGAIN_SECONDS if wait else _AGAIN_BEHIND_SECONDS):
                return
            done = threading.Event()
            self._jobs.put(load)
            self._jobs.put(done.set)
            while wait and not done.wait(_LOOK_SECONDS) and not self._closing.is_set():
                pass
            self._tried = time.monotonic()

    def _work(self) -> None:
        """Run the background thread, which loads, saves and rebuilds the copies."""
        while True:
            try:
                job = self._jobs.get(timeout=_IDLE_SECONDS if self._unsaved else None)
            except queue.Empty:
                job = self._save
            if job is None:
                return
            try:
                job()
            except StoreClosedError:
                if not self._closing.is_set():
                    raise
                return
            except Exception as error:  # noqa: BLE001 - this thread has no caller; `note()` and the log report the error
                # A full disk, or a lack of memory, is reported in a sentence.
                ours = not (isinstance(error, (OSError, sqlite3.OperationalError)) or may_pass(error))
                _log.error("a projection could not follow a commit: %s", error, exc_info=ours)
                if job == self._memories.load:
                    self._memories.fail(error)
                else:
                    with self._state:
                        self._failure = error
                        self._words_note = f"the word index could not be built: {error}"
            finally:
                self._graph_settled.set()
                self._words_opened.set()
                self._settled.set()
                if job == self._memories.load:
                    self._memories.settled.set()

    def _load(self) -> None:
        """Load the saved code graph and word index; build missing ones."""
        if self._made is not None:
            made, self._made = self._made, None
            self._publish(*made)
            made[0].warm()
            return
        generation = self._store.generation()
        graph = GraphView.load(self._dir / GRAPH_FILE, generation, self.notes)
        if graph is not None:
            with self._state:
                self._graph = graph  # before the words are ready, because most first questions need none
            self._graph_settled.set()
        words = WordIndex.open(self._dir, generation, self.notes) if graph is not None else None
        if graph is not None and words is not None:
            self._publish(graph, words)
            graph.warm()
        else:
            with self._writing:
                self._rebuild(elsewhere=True)

    def _rebuild(self, *, elsewhere: bool = False) -> None:
        """Build the code graph and then the word index from the database.

        Readers get the old snapshot (copies of one state of the database) until the new one is ready.

        Args:
            elsewhere: whether to put the word index in a temporary directory if its own directory cannot be written.
        """
        for _ in range(_RETRIES):
            tables = self._store.tables()
            generation, graph = tables.generation, GraphView.from_tables(tables)
            del tables
            give_back(between=True)
            if self._graph is None or self._graph.n == 0 or not self._words_opened.is_set():
                with self._state:
                    self._graph, self._words = graph, None
                    self._words_note = "the word index is being built"
                self._graph_settled.set()
                self._words_opened.set()
            words, read = self._built_words(generation, elsewhere=elsewhere)
            if read == generation:
                break
            words.close()
            words.delete_files()
        else:
            raise GraphMemError("other programs change the database faster than graphmem can read it; close those programs")
        give_back(between=True)
        self._publish(graph, words)
        with self._state:
            self._unsaved = True
        self._save()
        graph.warm()

    def _built_words(self, generation: int, *, elsewhere: bool) -> tuple[WordIndex, int]:
        """Build the word index from the chunks (pieces of files) in the database.

        `generation` is the number of changes that the index stores as its state. With `elsewhere`, a temporary directory is
        used if the index cannot be written to the usual one.
        The second result is the generation of the database (number of its last change) after the last chunk was read.
        """
        read: list[int] = []

        def chunks() -> Iterator[pa.Table]:
            yield from self._store.packed_chunks()
            read.append(self._store.generation())

        try:
            return WordIndex.build(self._dir, generation, chunks(), self._progress), read[-1]
        except (OSError, sqlite3.OperationalError):
            if not elsewhere:
                raise
            self._temporary = tempfile.TemporaryDirectory(prefix="graphmem-")
            return WordIndex.build(Path(self._temporary.name), generation, chunks(), self._progress), read[-1]

    def _publish(self, graph: GraphView, words: WordIndex) -> None:
        hashes = ChunkHashes(words.hash_of_each())
        with self._state:
            hashes.count(self._vectors)
            self._graph, self._words, self._hashes, self._words_note, self._failure = graph, words, hashes, "", None
        self._graph_settled.set()
        self._words_opened.set()
        for path in self._dir.glob("words-*.sqlite"):
            if path != words.path:
                for side in ("", *SIDES):  # readers that have it open keep it
                    with suppress(OSError):  # on a read-only disk it stays
                        path.with_name(path.name + side).unlink(missing_ok=True)

    def _progress(self, rows: int) -> None:
        if self._closing.is_set():
            raise StoreClosedError(
                "the index was closed while its word index was being written, so the word index is incomplete; open the index again"
            )
        self._words_note = f"the word index is being built ({rows:,} rows)"

    def _save(self) -> None:
        with self._state:
            graph, unsaved, self._unsaved = self._graph, self._unsaved, False
        if graph is not None and unsaved:
            try:
                graph.save(self._dir / GRAPH_FILE)
            except OSError as error:  # a full disk is reported by `verify` and `doctor`
                level = logging.INFO if kind_of(error) == "room" else logging.WARNING
                _log.log(level, "the graph projection could not be saved (%s); it will be rebuilt", error)
