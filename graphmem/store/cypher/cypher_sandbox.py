"""Run user-written Cypher in a subprocess on a snapshot of the database.

When the graph has changed, the next query gets a new snapshot. If the engine crashes or a limit ends the subprocess, the database and its
server continue.
"""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from graphmem.errors import BadInputError, DeadlineError, GraphMemError, LimitError, StoreBusyError
from graphmem.runtime.process.limits import disk_refusal
from graphmem.runtime.process.system import IS_WINDOWS
from graphmem.store.base import AskedRows
from graphmem.store.cypher.cypher_filter import checked
from graphmem.store.cypher.cypher_process import MOST_BYTES

FOLDER: Final = "sandbox"  # next to the database file
START_SECONDS: Final = 30.0  # for the start of a process on a busy machine, in addition to the query's own time
WAIT_SECONDS: Final = 30.0  # wait for the previous query
KEPT_SECONDS: Final = 60.0  # without a query until the copy is removed, because it may hold data that was deleted meanwhile
_SEEN: Final = 300  # characters of an engine's message that are reported

_log = logging.getLogger(__name__)


class CypherSandbox:
    """Answers user-written queries one after the other. Thread-safe.

    Args:
        database: path of the database file.
        engine: name of the engine.
        max_db_bytes: address space that the engine reserves.
        copy_to: writes a copy of the database, complete and on disk.
        state: returns the version of the graph; if it changed, the copy is made again.
    """

    def __init__(
        self, database: Path, engine: str, max_db_bytes: int, copy_to: Callable[[Path], None], state: Callable[[], tuple[int, int]]
    ) -> None:
        self._folder = database.parent / FOLDER
        self._engine = engine
        self._max_db_bytes = max_db_bytes
        self._copy_to = copy_to
        self._state = state
        self._turn = threading.Lock()
        self._copied: tuple[int, int] | None = None
        self._removal: threading.Timer | None = None

    def ask(self, query: str, params: Mapping[str, object], most_rows: int, timeout_s: float) -> AskedRows:
        """Run a user-written query in the sandbox process; return its rows.

        `params` are the query's parameters. At most `most_rows` rows are returned, and the query may take `timeout_s` seconds.
        """
        text, values = checked(query, params, most_rows)
        _log.info("a person asks a Cypher query of %d characters", len(query))  # not its text, which may name a person or a secret
        if not self._turn.acquire(timeout=WAIT_SECONDS):
            raise StoreBusyError(
                "another Cypher query is running; try again when it has ended", path=str(self._folder), owner=None, retry_after=1.0
            )
        try:
            if self._removal is not None:
                self._removal.cancel()
            return self._run(self._copy(), {"text": text, "params": values, "rows": most_rows, "seconds": timeout_s})
        finally:
            self._removal = threading.Timer(KEPT_SECONDS, self._remove)
            self._removal.daemon = True
            self._removal.start()
            self._turn.release()

    def close(self) -> None:
        """Delete the copy of the database on which queries run."""
        if self._removal is not None:
            self._removal.cancel()
        self._clear()

    def _remove(self) -> None:
        if self._turn.acquire(blocking=False):
            try:
                self._clear()
            finally:
                self._turn.release()

    def _clear(self) -> None:
        self._copied = None
        try:
            shutil.rmtree(self._folder)
        except FileNotFoundError:
            return  # no copy existed, or its last file vanished during the deletion
        except OSError as error:
            _log.warning("%s could not be deleted, and holds a copy of the graph as it was (%s); delete it by hand", self._folder, error)

    def _copy(self) -> Path:
        state = self._state()
        path = self._folder / "graph.db"
        if state != self._copied or not path.exists():
            self._clear()
            try:
                self._folder.mkdir(mode=0o700, exist_ok=True)
            except OSError as error:
                raise disk_refusal(error, "copying the database", self._folder) from error
            self._copy_to(path)
            self._copied = state
        return path

    def _run(self, copy: Path, request: dict[str, Any]) -> AskedRows:
        if IS_WINDOWS:
            raise BadInputError(
                "Cypher queries cannot run on Windows, which cannot limit the memory of a process; use another operation", argument="query"
            )
        command = [sys.executable, "-P", "-m", "graphmem.store.cypher.cypher_process", self._engine, str(copy), str(self._max_db_bytes)]
        seconds: float = request["seconds"]
        late = DeadlineError(
            f"the query did not finish in {seconds:g} s; write a query that reads less, or raise the setting limits.cypher_seconds",
            seconds=seconds,
        )
        try:
            done = subprocess.run(
                command, input=json.dumps(request), capture_output=True, text=True, timeout=seconds + START_SECONDS, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise late from error
        if done.returncode:
            _log.warning("a query ended its process (%d): %s", done.returncode, done.stderr[-_SEEN:].strip())
            how = f"signal {-done.returncode}" if done.returncode < 0 else f"code {done.returncode}"
            raise BadInputError(
                f"the database engine crashed on this Cypher query ({how}); rewrite the query. The query ran on a copy, so the index is "
                "unchanged",
                argument="query",
            )
        answer = json.loads(done.stdout)
        if "error" not in answer:
            return AskedRows(answer["columns"], answer["rows"], answer["cut"])
        said = str(answer["message"])
        errors: dict[str, GraphMemError] = {
            "time": late,
            "memory": LimitError(
                "the query needs more memory than allowed; write a query that reads or returns less", limit="cypher_memory", reason=said
            ),
            "bytes": LimitError(
                f"the answer has more than {MOST_BYTES:,} bytes; ask for fewer rows or columns", limit="cypher_bytes", allowed=MOST_BYTES
            ),
            "query": BadInputError(f"the database engine cannot run the Cypher query ({said}); correct the query", argument="query"),
        }
        raise errors.get(str(answer["error"])) or GraphMemError(
            f"the database copy on which Cypher queries run cannot be opened ({said}); try again", path=str(copy), reason=said
        )
